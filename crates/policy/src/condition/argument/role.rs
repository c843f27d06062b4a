//! An argument by its role: `arg: "@command"`.

use callgate_effects::Role;
use callgate_json::Value;

use super::ArgumentCondition;
use crate::condition::{EffectReading, Scene};
use crate::judgement::Matched;
use crate::number::may_become_null;
use crate::operator::{Operator, Scalar};
use crate::roles::{CommandText, RoleArgument};
use crate::tri::{Possible, Tri};

impl ArgumentCondition {
    /// Whether the operator, without its `not_`, holds for the arguments that carry the role.
    ///
    /// A rule that restricts looks for one that is bad, a rule that allows needs all of them to be
    /// good: a tool may have several paths.
    pub(super) fn holds_in_role(&self, role: Role, scene: &Scene<'_>) -> Tri {
        if !scene.effects.may_carry(role) {
            return matches!(self.operator, Operator::Exists(false)).into();
        }
        let Ok(root) = scene.call.arguments.value() else { return Tri::Unknown };
        let reading = self.reading(scene);
        let holds = |certain: bool| {
            let these = scene.effects.carriers(role).iter();
            let these = these.filter(move |it| it.is_certain() == certain);
            let mut each = these.map(|it| self.holds_for(it, root, reading, scene)).peekable();
            each.peek()?;
            Some(match reading {
                EffectReading::Some => Tri::any(each),
                EffectReading::Every => Tri::all(each),
            })
        };
        let found = match (holds(true), holds(false)) {
            (certain, None) => certain.unwrap_or(Tri::False),
            (certain, Some(other)) => certain.unwrap_or(Tri::False).agree(other),
        };
        match self.operator {
            Operator::Exists(false) => !found,
            _ => found,
        }
    }

    /// What the name alone says: a known tool that has no such argument cannot have a value there.
    pub(super) fn possible_in_role(&self, role: Role, scene: &Scene<'_>) -> Possible {
        if scene.effects.may_carry(role) {
            return Possible::OPEN;
        }
        let missing = matches!(self.operator, Operator::Exists(false));
        Possible::only((missing != self.name.negated).into())
    }

    /// `not_` turns the reading around, as `not` does.
    fn reading(&self, scene: &Scene<'_>) -> EffectReading {
        match self.operator {
            Operator::Exists(_) => EffectReading::Some,
            _ if self.name.negated => scene.negated().reading,
            _ => scene.reading,
        }
    }

    fn holds_for(
        &self,
        carrier: &RoleArgument,
        root: &Value,
        reading: EffectReading,
        scene: &Scene<'_>,
    ) -> Tri {
        let Some(value) = carrier.value(root) else { return Tri::False };
        if matches!(self.operator, Operator::Exists(_)) {
            return match value {
                Value::Null => Tri::False,
                Value::Number(text) if may_become_null(text) => Tri::Unknown,
                _ => Tri::True,
            };
        }
        let input = &scene.call.arguments;
        match (&carrier.command, scene.embedded_json(input, value)) {
            // A rule that restricts also looks at each word, as in any other list.
            (Some(command), _) if reading == EffectReading::Some => {
                self.holds_for_command(command, reading).or(self.operator.holds(value))
            }
            (Some(command), _) => self.holds_for_command(command, reading),
            (None, None) => self.operator.holds(value),
            (None, Some(embedded)) => self.operator.holds(value).agree(match &carrier.embedded {
                Some(command) => self.holds_for_command(command, reading),
                None => self.holds_embedded(embedded),
            }),
        }
    }

    fn holds_for_command(&self, command: &CommandText, reading: EffectReading) -> Tri {
        let holds = |text: &str| self.operator.holds_scalar(Scalar::Text(text));
        match (&command.script, reading) {
            (None, _) => holds(&command.joined),
            (Some(script), EffectReading::Some) => holds(&command.joined).or(holds(script)),
            (Some(script), EffectReading::Every) => holds(script),
        }
    }

    /// The first argument of the role for which the operator holds.
    pub(super) fn matched_in_role(&self, role: Role, scene: &Scene<'_>) -> Option<Matched> {
        let root = scene.call.arguments.value().ok()?;
        let mut carriers = scene.effects.carriers(role).iter();
        carriers.find_map(|carrier| {
            let holds = |text: &&str| {
                self.name.negated || self.operator.holds_scalar(Scalar::Text(text)) == Tri::True
            };
            let command = carrier.commands().find(holds);
            let command = command.map(|text| Matched::new(&carrier.argument, text));
            command.or_else(|| self.first_holding(carrier.value(root)?, &carrier.argument))
        })
    }

    /// Every argument of the role, with what the operator says about it.
    pub(super) fn compared_in_role<'c>(
        &self,
        role: Role,
        scene: &Scene<'c>,
    ) -> Vec<(Tri, SeenValue<'c>)> {
        let Ok(root) = scene.call.arguments.value() else { return Vec::new() };
        let reading = self.reading(scene);
        let of = |carrier: &'c RoleArgument| {
            let seen = match &carrier.command {
                Some(command) => SeenValue::Text(&command.joined),
                None => SeenValue::Value(carrier.value(root)?),
            };
            Some((self.holds_for(carrier, root, reading, scene), seen))
        };
        scene.effects.carriers(role).iter().filter_map(of).collect()
    }
}

/// What a condition looked at.
pub(super) enum SeenValue<'c> {
    Value(&'c Value),
    /// A list of words, joined.
    Text(&'c str),
}
