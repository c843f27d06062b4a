//! Why a condition on an argument is unknown.

use callgate_call::EmbeddedJson;
use callgate_json::Value;

use super::{ArgumentCondition, is_claim};
use crate::condition::Scene;
use crate::denial::cut;
use crate::number::{describe, may_become_null};
use crate::operator::{Operator, Scalar};
use crate::path::{ArgumentPath, PathItem};
use crate::roles::RoleArgument;
use crate::tri::Tri;

/// The most characters of a key or a value that a reason repeats.
const MAX_SHOWN: usize = 40;

impl ArgumentCondition {
    /// Why the condition, which is unknown, is unknown.
    pub(super) fn reason_unknown(&self, scene: &Scene<'_>) -> String {
        let (path, word) = (&self.written, self.name.as_str());
        let unreadable = scene.inputs(&self.path).find_map(|input| input.value().err());
        match (&self.path, unreadable) {
            (ArgumentPath::Context(field), _) if is_claim(*field, scene) => {
                "the session is only claimed".to_owned()
            }
            (ArgumentPath::Argument(_) | ArgumentPath::Role(_), Some(unreadable)) => {
                unreadable.to_string()
            }
            _ => match (self.unclear_value(scene), self.unclear_key(scene)) {
                (Some(why), _) => format!("`{path}`: {why}"),
                (None, Some(key)) => {
                    format!("`{path}`: some programs read the key `{key}` there, others do not")
                }
                (None, None) => format!("`{path}` has a type that `{word}` cannot compare"),
            },
        }
    }

    fn unclear_key(&self, scene: &Scene<'_>) -> Option<String> {
        if let ArgumentPath::Role(role) = self.path {
            let mut carriers = scene.effects.carriers(role).iter();
            return carriers.find_map(RoleArgument::unclear_key).map(|key| cut(key, MAX_SHOWN));
        }
        let roots = scene.inputs(&self.path).filter_map(|input| input.value().ok());
        let mut keys = roots.filter_map(|root| self.path.unclear_key(root));
        keys.next().map(|key| cut(key, MAX_SHOWN))
    }

    /// What is unclear about the first value that programs read in different ways.
    fn unclear_value(&self, scene: &Scene<'_>) -> Option<String> {
        let mut unclear = None;
        if let (ArgumentPath::Role(role), Ok(root)) = (&self.path, scene.call.arguments.value()) {
            let input = &scene.call.arguments;
            let carriers = scene.effects.carriers(*role).iter();
            let mut values = carriers.filter_map(|carrier| carrier.value(root));
            return values.find_map(|value| {
                let embedded = scene.embedded_json(input, value);
                let embedded = embedded.and_then(|it| self.unclear_embedded(value, it));
                self.unclear_in(value).or(embedded)
            });
        }
        for input in scene.inputs(&self.path) {
            let Ok(root) = input.value() else { continue };
            self.path.each(root, &mut |item| {
                if let (PathItem::Value(value), None) = (item, &unclear) {
                    let embedded = scene.embedded_json(input, value);
                    let embedded = embedded.and_then(|it| self.unclear_embedded(value, it));
                    unclear = self.unclear_in(value).or(embedded);
                }
            });
        }
        unclear
    }

    fn unclear_embedded(&self, value: &Value, embedded: &EmbeddedJson) -> Option<String> {
        let differs = match self.operator {
            Operator::Exists(_) => *embedded == EmbeddedJson::Value(Value::Null),
            _ => self.operator.holds(value) != self.holds_embedded(embedded),
        };
        differs.then(|| "some programs parse this text as JSON, others do not".to_owned())
    }

    fn unclear_in(&self, value: &Value) -> Option<String> {
        if let Value::Array(items) = value {
            return items.iter().find_map(|item| self.unclear_in(item));
        }
        let scalar = Scalar::of(value)?;
        let unclear = match (self.operator.holds_scalar(scalar), value) {
            (_, Value::Number(text)) if matches!(self.operator, Operator::Exists(_)) => {
                may_become_null(text)
            }
            (holds, _) => holds == Tri::Unknown,
        };
        match scalar {
            _ if !unclear => None,
            _ if self.operator.is_lax(scalar) => {
                let shown = cut(scalar.text(), MAX_SHOWN);
                Some(format!("some programs read `{shown}` as a value that the rule names"))
            }
            Scalar::Number(text) => Some(describe(text)),
            Scalar::Text(_) | Scalar::Bool(_) => None,
        }
    }
}
