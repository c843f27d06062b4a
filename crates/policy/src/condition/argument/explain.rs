//! What a condition on an argument looked at.

use callgate_json::{Value, quote};

use super::ArgumentCondition;
use super::role::SeenValue;
use crate::condition::Scene;
use crate::denial::cut;
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::operator::Scalar;
use crate::path::{ArgumentPath, PathItem};
use crate::tri::Tri;
use crate::wrapper;

/// Something the operator was compared with.
enum Compared<'c> {
    Argument(&'c Value),
    /// The key of a member, or the words of a command, joined.
    Key(&'c str),
    Context(Scalar<'c>),
}

impl Compared<'_> {
    /// As JSON, so that `1` and `"1"` look different.
    fn json(&self) -> String {
        match self {
            Self::Context(Scalar::Number(text)) => (*text).to_owned(),
            Self::Context(Scalar::Bool(value)) => value.to_string(),
            Self::Context(Scalar::Text(text)) | Self::Key(text) => quote(text),
            Self::Argument(value) => {
                let mut text = String::new();
                wrapper::write(value, &mut text);
                text
            }
        }
    }
}

impl ArgumentCondition {
    /// The values for which the operator holds come first, then those that it cannot compare.
    pub(super) fn explanation(&self, scene: &Scene<'_>) -> TestExplanation {
        let mut compared = self.compared(scene);
        compared.sort_by_key(|(holds, _)| match holds {
            Tri::True => 0,
            Tri::Unknown => 1,
            Tri::False => 2,
        });
        let shown = compared.iter().map(|(_, value)| cut(&value.json(), Matched::MAX_CHARS));
        TestExplanation::new(&self.written, self.name.as_str(), self.operand.clone(), shown)
    }

    /// Every value at the path, and whether the operator, without its `not_`, holds for it.
    fn compared<'c>(&self, scene: &Scene<'c>) -> Vec<(Tri, Compared<'c>)> {
        if let ArgumentPath::Context(field) = self.path {
            let scalar = scene.context(field).into_iter();
            return scalar
                .map(|it| (self.operator.holds_scalar(it), Compared::Context(it)))
                .collect();
        }
        if let ArgumentPath::Role(role) = self.path {
            let seen = self.compared_in_role(role, scene).into_iter();
            return seen
                .map(|(holds, seen)| match seen {
                    SeenValue::Value(value) => (holds, Compared::Argument(value)),
                    SeenValue::Text(text) => (holds, Compared::Key(text)),
                })
                .collect();
        }
        let mut compared = Vec::new();
        if let Ok(root) = scene.call.arguments.value() {
            self.path.each(root, &mut |item| {
                match item {
                    PathItem::Value(value) => {
                        compared.push((self.operator.holds(value), Compared::Argument(value)));
                    }
                    // Keys that do not matter would only hide the values.
                    PathItem::Key(key) if self.operator.holds_key(key) == Tri::True => {
                        compared.push((Tri::True, Compared::Key(key)));
                    }
                    PathItem::Key(_) | PathItem::WrongType => {}
                }
            });
        }
        compared
    }
}
