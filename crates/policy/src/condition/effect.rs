//! What all conditions on effects have in common. Each of them is one question about one effect; this
//! file asks it about every effect of the call.

use callgate_call::Arguments;
use callgate_document::{Mapping, Problems};
use callgate_effects::{
    Action, Bound, Effect, EffectKind, Effects, Knowledge, Opaque, Run, Truth, Why,
};
use callgate_json::{Value, quote};

use super::{Claims, EffectReading, Evidence, KeyDoc, LeafCondition, Scene};
use crate::denial::cut;
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::path::{ArgumentPath, PathItem};
use crate::tri::{Possible, Tri};

/// A condition on one kind of effects.
pub(crate) trait EffectCondition: Sized {
    /// Its key in a rule.
    const KEY: &'static str;

    /// Its row in the reference.
    const MEANING: &'static str;

    const ROWS: &'static [KeyDoc] = &[KeyDoc { keys: &[Self::KEY], meaning: Self::MEANING }];

    /// The kind of effects that it asks about.
    const KIND: EffectKind;

    /// Compiles the condition, or reports what is wrong with it.
    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self>;

    /// Whether it holds for this effect; `None` if it does not ask about such an effect at all.
    fn fits(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<Tri>;

    /// Whether what it asks about all of these effects together holds.
    fn total(&self, scene: &Scene<'_>) -> Tri {
        let _ = scene;
        Tri::True
    }

    /// Why that is unknown.
    fn why_total_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        let _ = scene;
        None
    }

    /// What else is known about an effect, for explanations.
    fn note(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<String> {
        let _ = (found, scene);
        None
    }

    /// What a tool must be able to do so that the condition can hold.
    fn needs(&self) -> Bound {
        Bound::just(Self::KIND)
    }

    /// The value of the key as written, as JSON.
    fn operand(&self) -> &str;
}

/// An effect, among the others of the same call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundEffect<'e> {
    pub(super) list: &'e Effects,
    pub(super) effect: &'e Effect,
    /// Its place among all effects.
    pub(super) at: usize,
}

impl<'e> FoundEffect<'e> {
    pub(super) fn action(self) -> &'e Action {
        &self.effect.action
    }

    /// The command that has this effect.
    pub(super) fn run(self) -> Option<&'e Run> {
        let command = self.effect.at.command?;
        self.list.of(EffectKind::Runs).find_map(|it| match &it.action {
            Action::Runs(run) if it.at.command == Some(command) => Some(run),
            _ => None,
        })
    }
}

impl<C: EffectCondition> LeafCondition for C {
    const HEADS: &'static [&'static str] = &[C::KEY];

    const KEYS: &'static [KeyDoc] = C::ROWS;

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        C::read(fields, problems)
    }

    fn evidence(&self) -> Evidence {
        Evidence::Effects
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        let mut answers = of(C::KIND, scene).filter_map(|found| self.fits(found, scene));
        let known = match (scene.reading, answers.next()) {
            (_, None) => Tri::False,
            (EffectReading::Some, Some(first)) => first.or(Tri::any(answers)),
            (EffectReading::Every, Some(Tri::False)) => return Tri::False,
            (EffectReading::Every, Some(first)) => match first.and(Tri::all(answers)) {
                Tri::False => return Tri::False,
                known => known,
            },
        };
        let known = if known == Tri::False { known } else { known.and(self.total(scene)) };
        let is_settled = scene.reading == EffectReading::Some && known == Tri::True;
        let hides = |found: FoundEffect<'_>| hides(found.effect, C::KIND, scene);
        let hidden =
            || of(EffectKind::Opaque, scene).any(hides) || of(EffectKind::Runs, scene).any(hides);
        if !is_settled && hidden() { Tri::Unknown } else { known }
    }

    /// A tool that cannot have such an effect cannot match.
    fn possible(&self, scene: &Scene<'_>) -> Possible {
        match scene.effects.bound().and(self.needs()).is_empty() {
            true => Possible::only(Tri::False),
            false => Possible::OPEN,
        }
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let fits =
            |wanted| of(C::KIND, scene).find(|found| self.fits(*found, scene) == Some(wanted));
        fits(Tri::True).or_else(|| fits(Tri::Unknown)).map(|found| matched(found, scene))
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        if self.holds(scene) != Tri::Unknown {
            return None;
        }
        let unclear = all(scene).find(|found| self.fits(*found, scene) == Some(Tri::Unknown));
        Some(match unclear {
            Some(found) => format!("`{}` is not known in full", shown(found.action())),
            None if self.total(scene) == Tri::Unknown => {
                self.why_total_unknown(scene).unwrap_or_else(|| UNREADABLE.to_owned())
            }
            None => {
                let hidden = all(scene).find(|it| hides(it.effect, C::KIND, scene));
                hidden.map_or_else(|| UNREADABLE.to_owned(), |it| hidden_by(it.effect))
            }
        })
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let shown = |found: FoundEffect<'_>| match self.note(found, scene) {
            Some(note) => format!("{} ({note})", shown(found.action())),
            None => shown(found.action()),
        };
        let mut seen: Vec<(Tri, String)> =
            all(scene).filter_map(|found| Some((self.fits(found, scene)?, shown(found)))).collect();
        seen.sort_by_key(|(holds, _)| match holds {
            Tri::True => 0,
            Tri::Unknown => 1,
            Tri::False => 2,
        });
        let seen = seen.iter().map(|(_, shown)| quote(shown));
        TestExplanation::new(C::KEY, "in", self.operand().to_owned(), seen)
    }

    fn canonical(&self) -> String {
        format!("{} {}", C::KEY, self.operand())
    }
}

/// Every effect, in every way to read the call's name.
pub(super) fn all<'c>(scene: &Scene<'c>) -> impl Iterator<Item = FoundEffect<'c>> + use<'c> {
    let mut before = 0;
    scene.effects.list().iter().flat_map(move |list| {
        let first = before;
        before += list.all().len();
        let numbered = (first..).zip(list.all());
        numbered.map(move |(at, effect)| FoundEffect { list, effect, at })
    })
}

/// Every effect of a kind. Most calls have none of most kinds.
fn of<'c>(kind: EffectKind, scene: &Scene<'c>) -> impl Iterator<Item = FoundEffect<'c>> + use<'c> {
    let lists = scene.effects.list();
    scene.effects.places(kind).iter().filter_map(move |place| {
        let list = lists.get(place.list)?;
        Some(FoundEffect { list, effect: list.all().get(place.effect)?, at: place.at })
    })
}

const UNREADABLE: &str = "a part of the call cannot be read";

/// Whether an effect may hide others of this kind: one that is opaque, or runs a program. A rule that restricts has `opaque` for what cannot
/// be read: otherwise every script would match every rule. Arguments that cannot be read at all make
/// each condition unknown.
fn hides(effect: &Effect, kind: EffectKind, scene: &Scene<'_>) -> bool {
    let counts = scene.claims == Claims::Unknown || scene.reading == EffectReading::Every;
    match &effect.action {
        Action::Opaque(Opaque { why, could }) if could.contains(kind) => {
            counts || matches!(why, Why::Arguments)
        }
        Action::Runs(run) => run.knowledge == Knowledge::Unmodelled && counts,
        _ => false,
    }
}

/// What it is that hides other effects.
fn hidden_by(effect: &Effect) -> String {
    match &effect.action {
        Action::Opaque(Opaque { why, .. }) => format!("{UNREADABLE} ({})", why.as_str()),
        Action::Runs(run) => {
            format!("it is not known what `{}` does", cut(&run.program.to_string(), 40))
        }
        _ => UNREADABLE.to_owned(),
    }
}

/// The text that the effect was read from.
fn matched(found: FoundEffect<'_>, scene: &Scene<'_>) -> Matched {
    let FoundEffect { list, effect, .. } = found;
    let argument = list.arguments.get(effect.at.argument).map_or("$", String::as_str);
    let text = argument_text(argument, &scene.call.arguments);
    let text = text.as_deref().and_then(|text| text.get(effect.at.span.clone()));
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => Matched::new(argument, text),
        None => Matched::new(argument, &effect.action.to_string()),
    }
}

/// The text of an argument; the words of a list are joined, as the analysis does.
pub(crate) fn argument_text(argument: &str, arguments: &Arguments) -> Option<String> {
    let (path, root) = (ArgumentPath::parse(argument).ok()?, arguments.value().ok()?);
    let mut text = None;
    path.each(root, &mut |item| {
        if let (PathItem::Value(value), None) = (item, &text) {
            text = match value {
                Value::String(text) => Some(text.clone()),
                Value::Array(items) => {
                    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                    words.map(|words| words.join(" "))
                }
                _ => None,
            };
        }
    });
    text
}

/// An effect in one line, without secrets.
pub(crate) fn shown(action: &Action) -> String {
    cut(&callgate_scan::redact(&action.to_string()), Matched::MAX_CHARS)
}

impl From<Truth> for Tri {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::Yes => Self::True,
            Truth::No => Self::False,
            Truth::Unknown => Self::Unknown,
        }
    }
}
