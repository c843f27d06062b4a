//! A rule's `when`: a tree of conditions.
//!
//! `any`, `all` and `not` join conditions. Every other condition is a [`Leaf`]: a kind with a file of
//! its own in this folder. `leaf.rs` says what a kind provides, `list.rs` lists them all.

mod after;
mod argument;
mod compile;
mod connects;
mod deletes;
mod denied;
mod effect;
mod effect_lists;
mod escalates;
mod finding;
mod leaf;
mod list;
mod marked;
mod opaque;
mod origin;
mod reads;
mod runs;
mod scene;
mod secret;
mod sets;
mod sql;
#[cfg(test)]
mod tests;
mod time;
mod writes;

use crate::judgement::Matched;
use crate::tri::{Possible, Tri};

pub(crate) use after::AfterCondition;
pub(crate) use argument::{ArgumentCondition, regex_hint};
pub(crate) use compile::compile;
pub use compile::condition_keys;
pub(crate) use denied::event_of as denial_event;
pub(crate) use effect::{argument_text, shown as shown_action};
use escalates::EscalatesCondition;
pub use leaf::KeyDoc;
pub(crate) use leaf::{Evidence, IndexHint, LeafCondition};
pub(crate) use list::Leaf;
pub(crate) use origin::OriginCondition;
pub(crate) use scene::{Claims, EffectReading, Scene, SceneEffects};

/// A compiled condition.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Leaf(Leaf),
}

impl Condition {
    /// Reads `arg: command` as `arg: "@command"`, everywhere in this condition.
    pub(crate) fn read_command_as_role(&mut self) {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter_mut().for_each(Self::read_command_as_role);
            }
            Self::Not(part) => part.read_command_as_role(),
            Self::Leaf(Leaf::Argument(argument)) => argument.read_command_as_role(),
            Self::Leaf(_) => {}
        }
    }

    /// The same condition, for calls that leave the sandbox of their agent.
    pub(crate) fn escalates_and(when: Option<Self>) -> Self {
        let escalates = Self::Leaf(Leaf::Escalates(EscalatesCondition));
        match when {
            None => escalates,
            Some(when) => Self::All(vec![escalates, when]),
        }
    }

    /// Every condition on an argument in it.
    pub(crate) fn arguments(&self) -> Vec<&ArgumentCondition> {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().flat_map(Self::arguments).collect(),
            Self::Not(part) => part.arguments(),
            Self::Leaf(Leaf::Argument(argument)) => vec![argument],
            Self::Leaf(_) => Vec::new(),
        }
    }

    /// Whether the condition holds.
    pub(crate) fn holds(&self, scene: &Scene<'_>) -> Tri {
        match self {
            Self::Any(parts) => Tri::any(parts.iter().map(|part| part.holds(scene))),
            Self::All(parts) => Tri::all(parts.iter().map(|part| part.holds(scene))),
            Self::Not(part) => !part.holds(&scene.negated()),
            Self::Leaf(leaf) => leaf.holds(scene),
        }
    }

    /// What the condition can still come to when only the call's name is known.
    pub(crate) fn possible(&self, scene: &Scene<'_>) -> Possible {
        match self {
            Self::Any(parts) => {
                let none = Possible::only(Tri::False);
                parts.iter().fold(none, |set, part| set.or(part.possible(scene)))
            }
            Self::All(parts) => {
                let all = Possible::only(Tri::True);
                parts.iter().fold(all, |set, part| set.and(part.possible(scene)))
            }
            Self::Not(part) => !part.possible(&scene.negated()),
            Self::Leaf(leaf) => leaf.possible(scene),
        }
    }

    /// Whether any part of it needs the arguments.
    pub(crate) fn needs_arguments(&self) -> bool {
        self.any_evidence(Evidence::needs_arguments)
    }

    /// Whether any part of it looks at the whole input, and not only at one argument.
    pub(crate) fn looks_at_whole_input(&self) -> bool {
        self.any_evidence(|evidence| evidence == Evidence::WholeInput)
    }

    /// Whether any part of it depends on what a call would do.
    pub(crate) fn looks_at_effects(&self) -> bool {
        self.any_evidence(|evidence| evidence == Evidence::Effects)
    }

    /// Whether every part of it is about what a call does.
    pub(crate) fn is_about_effects(&self) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().all(Self::is_about_effects),
            Self::Not(part) => part.is_about_effects(),
            Self::Leaf(leaf) => leaf.evidence() == Evidence::Effects,
        }
    }

    /// Whether any part of it depends on earlier calls.
    pub(crate) fn looks_at_history(&self) -> bool {
        self.any_evidence(|evidence| evidence == Evidence::History)
    }

    /// Whether any part of it depends on the conversation before the call.
    pub(crate) fn looks_at_conversation(&self) -> bool {
        self.any_evidence(|evidence| evidence == Evidence::Conversation)
    }

    /// Whether any part of it asks how much a deletion touches.
    pub(crate) fn asks_how_much(&self) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::asks_how_much),
            Self::Not(part) => part.asks_how_much(),
            Self::Leaf(Leaf::Deletes(deletes)) => deletes.asks_how_much(),
            Self::Leaf(_) => false,
        }
    }

    /// Every condition on the origin of a value in it.
    pub(crate) fn on_origins(&self) -> Vec<&OriginCondition> {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().flat_map(Self::on_origins).collect()
            }
            Self::Not(part) => part.on_origins(),
            Self::Leaf(Leaf::Origin(origin)) => vec![origin],
            Self::Leaf(_) => Vec::new(),
        }
    }

    /// Every condition on an earlier call in it.
    pub(crate) fn on_earlier_calls(&self) -> Vec<&AfterCondition> {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().flat_map(Self::on_earlier_calls).collect()
            }
            Self::Not(part) => part.on_earlier_calls(),
            Self::Leaf(Leaf::After(after)) => vec![after],
            Self::Leaf(_) => Vec::new(),
        }
    }

    /// Whether any part of it depends on what an inspection found.
    pub(crate) fn needs_findings(&self) -> bool {
        self.any_evidence(|evidence| evidence == Evidence::Findings)
    }

    fn any_evidence(&self, is_it: fn(Evidence) -> bool) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(|it| it.any_evidence(is_it)),
            Self::Not(part) => part.any_evidence(is_it),
            Self::Leaf(leaf) => is_it(leaf.evidence()),
        }
    }

    /// The reason why this condition holds: from the first leaf that has one.
    pub(crate) fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        match self {
            Self::Any(parts) => {
                let holding = parts.iter().filter(|part| part.holds(scene) == Tri::True);
                holding.flat_map(|part| part.matched(scene)).next()
            }
            Self::All(parts) => parts.iter().find_map(|part| part.matched(scene)),
            Self::Not(_) => None,
            Self::Leaf(leaf) => leaf.matched(scene),
        }
    }

    /// Why this condition is unknown, for the record.
    pub(crate) fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().find_map(|part| part.why_unknown(scene))
            }
            Self::Not(part) => part.why_unknown(&scene.negated()),
            Self::Leaf(leaf) => leaf.why_unknown(scene),
        }
    }

    /// Hints of which at least one must hold, or be unknown, or else the condition is false. `None`
    /// if there is no such list, as for a negation.
    pub(crate) fn index_hints(&self) -> Option<Vec<IndexHint<'_>>> {
        match self {
            Self::Any(parts) => {
                let lists: Option<Vec<_>> = parts.iter().map(Self::index_hints).collect();
                lists.map(|lists| lists.into_iter().flatten().collect())
            }
            Self::All(parts) => parts.iter().filter_map(Self::index_hints).min_by_key(Vec::len),
            Self::Not(_) => None,
            Self::Leaf(leaf) => leaf.index_hint().map(|hint| vec![hint]),
        }
    }

    /// The condition as a text that is the same for the same condition.
    pub(crate) fn canonical(&self) -> String {
        let join = |parts: &[Self]| parts.iter().map(Self::canonical).collect::<Vec<_>>().join(",");
        match self {
            Self::Any(parts) => format!("any({})", join(parts)),
            Self::All(parts) => format!("all({})", join(parts)),
            Self::Not(part) => format!("not({})", part.canonical()),
            Self::Leaf(leaf) => leaf.canonical(),
        }
    }
}
