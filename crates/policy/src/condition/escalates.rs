//! The condition `escalates`: calls that leave the sandbox of their agent or skip its questions.

use callgate_document::{Mapping, Problems, Yaml};
use callgate_effects::{Action, EffectKind, Effects, Mark, escalating_argument};
use callgate_json::quote;

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::tri::{Possible, Tri};

/// An argument that switches the sandbox off, or a command that starts an agent without its guards.
#[derive(Debug, Clone)]
pub(crate) struct EscalatesCondition;

impl LeafCondition for EscalatesCondition {
    const HEADS: &'static [&'static str] = &["escalates"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["escalates"],
        meaning: "`true`: the call leaves the sandbox of its agent (`dangerouslyDisableSandbox`, \
                  `with_escalated_permissions`, …), or starts another agent without its guards",
    }];

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("escalates")?;
        if node.value == Yaml::Bool(true) {
            return Some(Self);
        }
        problems
            .add(node.span, "`escalates` can only be `true`")
            .hint("for the opposite, write `not: { escalates: true }`");
        None
    }

    fn evidence(&self) -> Evidence {
        Evidence::Arguments
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        match scene.call.arguments.value() {
            _ if !scene.effects.may_escalate() => Tri::False,
            Err(_) => Tri::Unknown,
            Ok(value) => (escalating_argument(value).is_some() || starts_agent(scene)).into(),
        }
    }

    fn possible(&self, scene: &Scene<'_>) -> Possible {
        match scene.effects.may_escalate() {
            true => Possible::OPEN,
            false => Possible::only(Tri::False),
        }
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let argument = escalating_argument(scene.call.arguments.value().ok()?);
        match argument {
            Some(argument) => Some(Matched::new(argument, argument)),
            None => starts_agent(scene).then(|| Matched::new("escalates", "another agent")),
        }
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        scene.call.arguments.value().err().map(ToString::to_string)
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let found = self.matched(scene).map(|matched| quote(&matched.value));
        let found: Vec<String> = found.into_iter().collect();
        TestExplanation::new("escalates", "equals", "true".to_owned(), found.into_iter())
    }

    fn canonical(&self) -> String {
        "escalates".to_owned()
    }
}

fn starts_agent(scene: &Scene<'_>) -> bool {
    let runs = |list: &Effects| {
        list.of(EffectKind::Runs).any(|effect| match &effect.action {
            Action::Runs(run) => run.marks.contains(Mark::Escalates),
            _ => false,
        })
    };
    scene.effects.bound().contains(EffectKind::Runs) && scene.effects.list().iter().any(runs)
}
