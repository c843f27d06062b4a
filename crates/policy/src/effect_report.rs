//! What a call would do, for people and programs: every effect with the text it was read from.

use std::ops::Range;

use callgate_call::ToolCall;
use callgate_effects::{Action, Bound, Count, Effect, EffectKind, Effects, Extent, Mark, Truth};

use crate::condition::{argument_text, shown_action};
use crate::effects::MAX_ENTRIES;
use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::policies::Policies;
use crate::policy::Policy;

/// The effects of a call, by argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectReport {
    /// The arguments with effects, in the order of the call.
    pub arguments: Vec<ArgumentEffects>,
}

/// The effects that were read from one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentEffects {
    /// Its path: `command`, `edits[0].path`, `$`.
    pub argument: String,
    /// Its text; the words of a list are joined.
    pub text: String,
    /// Its effects, in the order of the text.
    pub effects: Vec<ReportedEffect>,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedEffect {
    /// The word of the condition that asks for it: `runs`, `deletes`, `opaque`.
    pub kind: &'static str,
    /// What it does in one line, without secrets: `deletes-tree build`. For an opaque part, why it
    /// cannot be read.
    pub what: String,
    /// The bytes of the argument's text that it was read from.
    pub span: Range<usize>,
    /// What is known about the command as a whole.
    pub marks: Vec<&'static str>,
    /// What an opaque part could do.
    pub could: Vec<&'static str>,
    /// What a deletion touches, if a rule asks for that and the disk can be seen.
    pub extent: Option<ReportedExtent>,
}

/// What a deletion touches: for each number the least and the most that it can be; `None` if there is
/// no most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedExtent {
    /// Files and links.
    pub files: (u64, Option<u64>),
    /// Their size together.
    pub bytes: (u64, Option<u64>),
    /// How many of the files git does not have.
    pub untracked: (u64, Option<u64>),
    /// Whether some are on another file system; `None` if that is not known.
    pub crosses_mounts: Option<bool>,
    /// All of it in words.
    pub text: String,
}

impl ReportedExtent {
    fn of(extent: Extent) -> Self {
        let count = |count: Count| (count.low, count.high);
        Self {
            files: count(extent.files),
            bytes: count(extent.bytes),
            untracked: count(extent.untracked),
            crosses_mounts: match extent.crosses_mounts {
                Truth::Yes => Some(true),
                Truth::No => Some(false),
                Truth::Unknown => None,
            },
            text: extent.to_string(),
        }
    }
}

impl ReportedEffect {
    /// Whether this is a part that could not be read.
    pub fn is_opaque(&self) -> bool {
        self.kind == OPAQUE
    }

    fn of(effect: &Effect, text: &str) -> Self {
        let kind = effect.action.kind();
        let word = EffectKind::WORDS.iter().find(|(_, known)| *known == kind);
        let (marks, could): (Vec<Mark>, Bound) = match &effect.action {
            Action::Runs(run) => (run.marks.iter().collect(), Bound::NONE),
            Action::Opaque(opaque) => (Vec::new(), opaque.could),
            _ => (Vec::new(), Bound::NONE),
        };
        let what = match &effect.action {
            Action::Opaque(opaque) => opaque.why.as_str().to_owned(),
            action => shown_action(action),
        };
        let could = EffectKind::WORDS.iter().filter(|(_, kind)| could.contains(*kind));
        Self {
            kind: word.map_or(OPAQUE, |(word, _)| word),
            what,
            span: match text.get(effect.at.span.clone()) {
                Some(_) => effect.at.span.clone(),
                None => 0..text.len(),
            },
            marks: marks.into_iter().map(Mark::as_str).collect(),
            could: could.map(|(word, _)| *word).collect(),
            extent: None,
        }
    }
}

const OPAQUE: &str = "opaque";

impl EffectReport {
    /// The most entries of folders that are counted to find out what a call deletes.
    pub const MAX_ENTRIES: usize = MAX_ENTRIES;

    fn add(
        &mut self,
        list: &Effects,
        call: &ToolCall,
        extent: impl Fn(usize, &Effect) -> Option<Extent>,
    ) {
        for (at, effect) in list.all().iter().enumerate().take(MAX_EFFECTS) {
            let extent = extent(at, effect).map(ReportedExtent::of);
            let argument = list.arguments.get(effect.at.argument).map_or("$", String::as_str);
            let at = match self.arguments.iter().position(|known| known.argument == argument) {
                Some(at) => at,
                None => {
                    let text = argument_text(argument, &call.arguments).unwrap_or_default();
                    let (argument, effects) = (argument.to_owned(), Vec::new());
                    self.arguments.push(ArgumentEffects { argument, text, effects });
                    self.arguments.len() - 1
                }
            };
            if let Some(argument) = self.arguments.get_mut(at) {
                let found = ReportedEffect { extent, ..ReportedEffect::of(effect, &argument.text) };
                if !argument.effects.contains(&found) {
                    argument.effects.push(found);
                }
            }
        }
    }

    /// Every effect with its argument.
    pub fn all(&self) -> impl Iterator<Item = (&ArgumentEffects, &ReportedEffect)> {
        self.arguments.iter().flat_map(|it| it.effects.iter().map(move |effect| (it, effect)))
    }
}

/// Effects that are reported for one way to read a call.
const MAX_EFFECTS: usize = 256;

impl Policies {
    /// What a call would do, whichever rules ask for it.
    pub fn effects(&self, call: &ToolCall, moment: &Moment) -> EffectReport {
        let limits = SpentLimits::none();
        let question = self.question(call, moment, &limits);
        let mut report = EffectReport::default();
        let asks =
            question.effects.disk.is_some() && self.policies().iter().any(Policy::asks_how_much);
        let lists = question.effects.list(&question.name);
        let mut before = 0;
        for list in lists {
            report.add(list, call, |at, effect| match &effect.action {
                Action::Deletes(path, scope) if asks => {
                    Some(question.effects.extent(before + at, path, *scope, lists))
                }
                _ => None,
            });
            before += list.all().len();
        }
        for argument in &mut report.arguments {
            argument.effects.sort_by_key(|effect| (effect.span.start, effect.span.end));
        }
        report
    }
}
