//! Hours of the day on some days of the week, as the clocks of one time zone show them.
//!
//! The rules of all zones are part of the binary, so that a policy means the same on every machine.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan as _};

use crate::moment::{Moment, Weekday};
use crate::tri::Tri;
use callgate_document::did_you_mean;

/// A time zone with its name.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of that name, or a hint.
    pub(crate) fn find(name: &str) -> Result<Self, Option<String>> {
        let known = TimeZoneDatabase::bundled();
        match known.get(name) {
            Ok(rules) => Ok(Self { name: rules.iana_name().unwrap_or(name).to_owned(), rules }),
            Err(_) => Err(hint(name, &known)),
        }
    }

    pub(crate) fn utc() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn local(&self, at: Timestamp) -> DateTime {
        self.rules.to_datetime(at)
    }

    /// Whether the clocks have reached a local time. They may show it twice, when they are set
    /// back: in between, that is unknown. They may skip it, when they are set forward: they reach
    /// it at that moment.
    fn has_reached(&self, local: DateTime, at: Timestamp) -> Tri {
        let since = |offset: jiff::tz::Offset| {
            offset.to_timestamp(local).is_ok_and(|reached| at >= reached)
        };
        match self.rules.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => since(offset).into(),
            AmbiguousOffset::Gap { .. } => (self.local(at) >= local).into(),
            AmbiguousOffset::Fold { before, after } => match (since(before), since(after)) {
                (true, false) => Tri::Unknown,
                (_, is_past) => is_past.into(),
            },
        }
    }
}

/// People forget the continent (`berlin`), or a letter (`Europe/Berln`).
fn hint(name: &str, known: &TimeZoneDatabase) -> Option<String> {
    let names: Vec<String> = known.available().map(|it| it.as_str().to_owned()).collect();
    let wanted = name.trim().replace(' ', "_");
    let is_city = |zone: &&String| {
        zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&wanted))
    };
    let city = names.iter().find(is_city).map(|zone| format!("did you mean `{zone}`?"));
    city.or_else(|| did_you_mean(name, names.iter().map(String::as_str)))
}

/// A minute of a day, up to its very end: `24:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DayMinute(u16);

impl DayMinute {
    pub(crate) const START: Self = Self(0);
    pub(crate) const END: Self = Self(24 * 60);

    /// Reads `06:30` or `6:30`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let digits = |text: &str, most| {
            let is_number =
                (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| is_number && *number <= most)
        };
        let (hours, minutes) =
            (digits(hours, 24)?, digits(minutes, 59).filter(|_| minutes.len() == 2)?);
        Some(Self(hours * 60 + minutes)).filter(|minute| *minute <= Self::END)
    }

    /// This minute, counted from the beginning of a day.
    fn of(self, day: Date) -> Option<DateTime> {
        let midnight = day.to_datetime(Time::midnight());
        midnight.checked_add(i64::from(self.0).minutes()).ok()
    }
}

impl fmt::Display for DayMinute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// Hours of the day on some days. If it ends before it begins, it lasts over midnight and belongs to
/// the day on which it begins.
#[derive(Debug, Clone)]
pub(crate) struct TimeWindow {
    pub(crate) from: DayMinute,
    pub(crate) to: DayMinute,
    /// The days on which it begins.
    pub(crate) days: Vec<Weekday>,
    pub(crate) zone: Zone,
}

impl TimeWindow {
    /// Whether a moment is in the window; its first minute is, its end is not. Unknown if its local
    /// time comes twice and only one of the two is.
    pub(crate) fn contains(&self, moment: Moment) -> Tri {
        let Ok(at) = Timestamp::from_second(moment.unix_seconds()) else { return Tri::Unknown };
        let today = self.zone.local(at).date();
        // The clocks may be set back across midnight, so the window of the next day may have begun.
        let days = [today.yesterday().ok(), Some(today), today.tomorrow().ok()];
        Tri::any(days.into_iter().flatten().map(|day| self.contains_from(day, at)))
    }

    /// Like [`Self::contains`], for the window that begins on this day.
    fn contains_from(&self, day: Date, at: Timestamp) -> Tri {
        if !self.days.contains(&weekday(day)) {
            return Tri::False;
        }
        let last = if self.to > self.from { Some(day) } else { day.tomorrow().ok() };
        let (Some(from), Some(to)) = (self.from.of(day), last.and_then(|last| self.to.of(last)))
        else {
            return Tri::Unknown;
        };
        self.zone.has_reached(from, at).and(!self.zone.has_reached(to, at))
    }

    /// A moment as the clocks of the zone show it: `tuesday 23:10`.
    pub(crate) fn local_text(&self, moment: Moment) -> Option<String> {
        let local = self.zone.local(Timestamp::from_second(moment.unix_seconds()).ok()?);
        let day = weekday(local.date()).as_str();
        Some(format!("{day} {:02}:{:02}", local.hour(), local.minute()))
    }
}

fn weekday(day: Date) -> Weekday {
    let from_monday = usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(0);
    Weekday::ALL.get(from_monday).copied().unwrap_or(Weekday::Monday)
}
