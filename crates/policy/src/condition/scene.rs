//! Everything a condition can look at.

use callgate_call::{Arguments, EmbeddedJson, ToolCall};
use callgate_effects::{Bound, EffectKind, Effects, Extent, Path, Role, Scope};
use callgate_json::Value;

use crate::effects::{CallEffects, EffectPosition, PathForms};
use crate::extra::ExtraInput;
use crate::finding::Findings;
use crate::moment::Moment;
use crate::names::CallName;
use crate::operator::Scalar;
use crate::path::{ArgumentPath, ContextField};
use crate::roles::RoleArgument;

/// Everything a condition can look at. Cheap to copy: one is made for each rule that is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'c> {
    pub(crate) call: &'c ToolCall,
    pub(crate) moment: &'c Moment,
    /// Whether the rule believes what the client claims about itself (agent, session).
    pub(crate) claims: Claims,
    /// What the inspection of the server's texts found.
    pub(crate) findings: Findings<'c>,
    /// Input that is sent in addition to the arguments. Conditions on the whole input cover it too.
    pub(crate) extra: &'c [ExtraInput],
    /// The names of the arguments that are plain text (file contents), which no program parses.
    pub(crate) plain_texts: &'c [String],
    /// What the call would do.
    pub(crate) effects: SceneEffects<'c>,
    /// How many effects of a kind a condition must hold for.
    pub(crate) reading: EffectReading,
}

/// How many effects of a kind a condition on effects must hold for. A rule that restricts matches
/// if one of them is bad, a rule that allows only if all of them are good; `not` turns that around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectReading {
    /// One is enough.
    Some,
    /// There is one, and no other.
    Every,
}

/// What the call would do, analysed when it is first asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SceneEffects<'c> {
    call: &'c CallEffects<'c>,
    name: &'c CallName<'c>,
}

impl<'c> SceneEffects<'c> {
    pub(crate) fn new(call: &'c CallEffects<'c>, name: &'c CallName<'c>) -> Self {
        Self { call, name }
    }

    /// The effects, once for every way to read the call's name.
    pub(crate) fn list(&self) -> &'c [Effects] {
        self.call.list(self.name)
    }

    /// Where the effects of a kind are.
    pub(crate) fn places(&self, kind: EffectKind) -> &'c [EffectPosition] {
        self.call.places(kind, self.list())
    }

    /// The path of the effect at that place, ready to be compared.
    pub(crate) fn path(&self, at: usize, path: &Path) -> Option<&'c PathForms> {
        self.call.path(at, path, self.list())
    }

    /// What the deletion at that place touches.
    pub(crate) fn extent(&self, at: usize, path: &Path, scope: Scope) -> Extent {
        self.call.extent(at, path, scope, self.list())
    }

    /// What a tool of this name can do at most.
    pub(crate) fn bound(&self) -> Bound {
        self.call.bound(self.name)
    }

    /// The arguments that carry a role.
    pub(crate) fn carriers(&self, role: Role) -> &'c [RoleArgument] {
        self.call.carriers(role, self.name)
    }

    /// Whether a tool of this name can have an argument of this role.
    pub(crate) fn may_carry(&self, role: Role) -> bool {
        self.call.may_carry(role, self.name)
    }

    /// Whether a tool of this name can leave the sandbox: it runs commands, or starts agents.
    pub(crate) fn may_escalate(&self) -> bool {
        self.bound().contains(EffectKind::Runs) || self.name.is_agent_tool()
    }
}

/// Whether a rule believes claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// For a rule that restricts.
    Believed,
    /// For a rule that allows: a condition on a claim is unknown.
    Unknown,
}

impl<'c> Scene<'c> {
    /// The scene for a condition under `not`.
    pub(crate) fn negated(self) -> Self {
        let reading = match self.reading {
            EffectReading::Some => EffectReading::Every,
            EffectReading::Every => EffectReading::Some,
        };
        Self { reading, ..self }
    }

    /// The whole input: the arguments, then the extra input.
    pub(crate) fn input(&self) -> impl Iterator<Item = &'c Arguments> + use<'c> {
        std::iter::once(&self.call.arguments).chain(self.extra.iter().map(|extra| &extra.input))
    }

    /// The part of the input that a path leads into: all of it for `$`, else the arguments.
    pub(crate) fn inputs(
        &self,
        path: &ArgumentPath,
    ) -> impl Iterator<Item = &'c Arguments> + use<'c> {
        self.input().take(if path.is_all() { usize::MAX } else { 1 })
    }

    /// The JSON in a string argument, for programs that parse such text. `None` for the content of a
    /// file, which no program parses.
    pub(crate) fn embedded_json(
        &self,
        input: &'c Arguments,
        argument: &Value,
    ) -> Option<&'c EmbeddedJson> {
        let (key, embedded) = input.embedded_json(argument)?;
        (!self.plain_texts.iter().any(|text| text == key)).then_some(embedded)
    }

    /// A field of the context, if it is known.
    pub(crate) fn context(&self, field: ContextField) -> Option<Scalar<'c>> {
        let origin = &self.call.origin;
        let text = match field {
            ContextField::Session => origin.session.as_deref(),
            ContextField::Cwd => origin.cwd.as_deref(),
            ContextField::Model => origin.model.as_deref(),
            ContextField::Provider => origin.provider.as_deref(),
            ContextField::Weekday => Some(self.moment.weekday().as_str()),
            ContextField::Hour => {
                return HOURS.get(usize::from(self.moment.hour())).map(|hour| Scalar::Number(hour));
            }
        };
        text.map(Scalar::Text)
    }
}

/// Every hour as text, so that reading it allocates nothing.
const HOURS: [&str; 24] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22", "23",
];
