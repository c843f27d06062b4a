//! What a call would do, for people and programs: every effect with the text it was read from.

use std::ops::Range;

use callgate_call::ToolCall;
use callgate_effects::{Action, Bound, Effect, EffectKind, Effects, Mark};

use crate::condition::{argument_text, shown_action};
use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::policies::Policies;

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
        }
    }
}

const OPAQUE: &str = "opaque";

impl EffectReport {
    fn add(&mut self, list: &Effects, call: &ToolCall) {
        for effect in list.all().iter().take(MAX_EFFECTS) {
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
                let found = ReportedEffect::of(effect, &argument.text);
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
        for list in question.effects.list(&question.name) {
            report.add(list, call);
        }
        for argument in &mut report.arguments {
            argument.effects.sort_by_key(|effect| (effect.span.start, effect.span.end));
        }
        report
    }
}
