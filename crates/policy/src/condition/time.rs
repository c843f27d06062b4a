//! The condition `time`: the hours of the day and the days of the week at which a rule applies.

use callgate_json::quote;

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::moment::Weekday;
use crate::time_window::{DayMinute, TimeWindow, Zone};
use crate::tri::Tri;
use callgate_document::{At, Mapping, list, text, texts};
use callgate_document::{Node, Yaml};
use callgate_document::{Problems, did_you_mean};

/// The time of the call.
#[derive(Debug, Clone)]
pub(crate) struct TimeCondition {
    window: TimeWindow,
    written: String,
}

impl LeafCondition for TimeCondition {
    const HEADS: &'static [&'static str] = &["time"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["time"],
        meaning: "`{ between: [\"22:00\", \"06:30\"], days: [mon-fri], zone: Europe/Berlin }`: the \
                  [time](#time) of the call; takes no operator",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("time")?;
        let inner = Mapping::of(node, "`time`", problems)?;
        inner.check(&["between", "days", "zone"], &[], problems);
        if inner.get("between").is_none() && inner.get("days").is_none() {
            problems
                .add(node.span, "`time` needs `between` or `days`")
                .hint("write `between: [\"22:00\", \"06:30\"]` or `days: [mon-fri]`");
            return None;
        }
        let hours = match inner.get("between") {
            Some(node) => between(node, problems),
            None => Some((DayMinute::START, DayMinute::END)),
        };
        let days = match inner.get("days") {
            Some(node) => days(node, problems),
            None => Some(Weekday::ALL.to_vec()),
        };
        let zone = match inner.get("zone") {
            Some(node) => zone(node, problems),
            None => Some(Zone::utc()),
        };
        let ((from, to), days, zone) = (hours?, days?, zone?);
        Some(Self { window: TimeWindow { from, to, days, zone }, written: node.to_json() })
    }

    fn evidence(&self) -> Evidence {
        Evidence::Context
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        self.window.contains(*scene.moment)
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        Some(Matched::new("time", &self.seen(scene)?))
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        let shown = (self.holds(scene) == Tri::Unknown).then(|| self.seen(scene))?;
        Some(match shown {
            Some(local) => format!("it is {local}, a local time that comes twice on this day"),
            None => "the time is not known".to_owned(),
        })
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let seen = self.seen(scene).map(|local| quote(&local));
        TestExplanation::new("time", "in", self.written.clone(), seen.into_iter())
    }

    fn canonical(&self) -> String {
        let TimeWindow { from, to, days, zone } = &self.window;
        format!("time {from} {to} {days:?} {}", zone.name())
    }
}

impl TimeCondition {
    /// The time of the call in the zone of the rule.
    fn seen(&self, scene: &Scene<'_>) -> Option<String> {
        let local = self.window.local_text(*scene.moment)?;
        Some(format!("{local} in {}", self.window.zone.name()))
    }
}

/// Reads the two ends of the window.
fn between(node: &Node, problems: &mut Problems<'_>) -> Option<(DayMinute, DayMinute)> {
    let nodes = list(node, "`between`", problems);
    let [from, to] = nodes else {
        if matches!(node.value, Yaml::List(_)) {
            problems
                .add(node.span, "`between` needs two times: the beginning and the end")
                .hint("write `between: [\"22:00\", \"06:30\"]`");
        }
        return None;
    };
    let (from, to) = (minute(from, problems), minute(to, problems));
    let (from, to) = (from?, to?);
    if from == to || from == DayMinute::END {
        problems
            .add(node.span, "this window has no length")
            .hint("for the whole day leave `between` out; the end of a day is `24:00`");
        return None;
    }
    Some((from, to))
}

fn minute(node: &Node, problems: &mut Problems<'_>) -> Option<DayMinute> {
    let written = text(node, "a time", problems)?;
    let minute = DayMinute::parse(&written.value);
    if minute.is_none() {
        problems
            .add(node.span, format!("`{}` is not a time of the day", written.value))
            .hint("write hours and minutes in quotes, from \"00:00\" to \"24:00\"");
    }
    minute
}

/// Reads days and ranges of days: `sat`, `mon-fri`, `fri-mon`.
fn days(node: &Node, problems: &mut Problems<'_>) -> Option<Vec<Weekday>> {
    let before = problems.len();
    let mut found: Vec<Weekday> = Vec::new();
    for written in texts(node, "`days`", problems) {
        let (first, last) = match written.value.split_once('-') {
            Some((first, last)) => (day(first, &written, problems), day(last, &written, problems)),
            None => {
                let only = day(&written.value, &written, problems);
                (only, only)
            }
        };
        if let (Some(first), Some(last)) = (first, last) {
            found.extend(range(first, last));
        }
    }
    found.sort_by_key(|day| *day as usize);
    found.dedup();
    (problems.len() == before).then_some(found)
}

/// Every day from one to another, over the end of the week if need be.
fn range(first: Weekday, last: Weekday) -> impl Iterator<Item = Weekday> {
    let (first, last) = (first as usize, last as usize);
    let length = (last + Weekday::ALL.len() - first) % Weekday::ALL.len() + 1;
    Weekday::ALL.into_iter().cycle().skip(first).take(length)
}

fn day(word: &str, written: &At<String>, problems: &mut Problems<'_>) -> Option<Weekday> {
    let word = word.trim().to_ascii_lowercase();
    let is_it =
        |day: &&Weekday| word == day.as_str() || Some(word.as_str()) == day.as_str().get(..3);
    let found = Weekday::ALL.iter().find(is_it).copied();
    if found.is_none() {
        let hint = did_you_mean(&word, Weekday::ALL.iter().map(|day| day.as_str()));
        let hint =
            hint.unwrap_or_else(|| "write days like `mon`, or ranges like `mon-fri`".to_owned());
        problems.add(written.span, format!("`{word}` is not a day of the week")).hint(hint);
    }
    found
}

fn zone(node: &Node, problems: &mut Problems<'_>) -> Option<Zone> {
    let written = text(node, "`zone`", problems)?;
    let hint = match Zone::find(&written.value) {
        Ok(zone) => return Some(zone),
        Err(hint) => hint.unwrap_or_else(|| ANY_ZONE.to_owned()),
    };
    problems.add(node.span, format!("unknown time zone `{}`", written.value)).hint(hint);
    None
}

const ANY_ZONE: &str = "use a name from the IANA time zone database, like `Europe/Berlin` or `UTC`";
