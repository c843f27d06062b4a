//! The condition `arg`: one argument, or one field of the context, with one operator.

mod compile;
mod explain;
mod role;
mod unknown;

use callgate_call::{Arguments, EmbeddedJson};
use callgate_document::{Mapping, Problems, SourceSpan};
use callgate_effects::Role;
use callgate_json::Value;

use super::{Claims, Evidence, IndexHint, KeyDoc, LeafCondition, Scene};
use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::number::may_become_null;
use crate::operator::{Operator, OperatorName, Scalar};
use crate::path::{ArgumentPath, ContextField, PathItem, everything};
use crate::tri::{Possible, Tri};

pub(super) use compile::compile_path;
pub(crate) use compile::regex_hint;

/// One argument with one operator.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentCondition {
    path: ArgumentPath,
    /// The path as written in the rule, and where.
    written: String,
    span: SourceSpan,
    name: OperatorName,
    operator: Operator,
    /// The operand as written in the rule, as JSON.
    operand: String,
}

impl LeafCondition for ArgumentCondition {
    const HEADS: &'static [&'static str] = &["arg", "param_path"];

    const KEYS: &'static [KeyDoc] = compile::KEYS;

    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        compile::compile(fields, problems)
    }

    fn evidence(&self) -> Evidence {
        match &self.path {
            ArgumentPath::Context(_) => Evidence::Context,
            path if path.is_all() => Evidence::WholeInput,
            ArgumentPath::Argument(_) | ArgumentPath::Role(_) => Evidence::Arguments,
        }
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        let positive = match &self.path {
            ArgumentPath::Context(field) => self.holds_in_context(*field, scene),
            ArgumentPath::Role(role) => self.holds_in_role(*role, scene),
            ArgumentPath::Argument(_) => Tri::any(scene.inputs(&self.path).map(|input| {
                input.value().map_or(Tri::Unknown, |root| self.holds_in(root, input, scene))
            })),
        };
        if self.name.negated { !positive } else { positive }
    }

    fn possible(&self, scene: &Scene<'_>) -> Possible {
        match self.path {
            ArgumentPath::Context(_) => Possible::only(self.holds(scene)),
            ArgumentPath::Argument(_) => Possible::OPEN,
            ArgumentPath::Role(role) => self.possible_in_role(role, scene),
        }
    }

    /// The first value for which the operator holds.
    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        if let ArgumentPath::Role(role) = self.path {
            return self.matched_in_role(role, scene);
        }
        let mut matched = None;
        for root in scene.inputs(&self.path).filter_map(|input| input.value().ok()) {
            self.path.each(root, &mut |item| {
                if matched.is_none() {
                    matched = self.matched_at(item);
                }
            });
        }
        matched
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        (self.holds(scene) == Tri::Unknown).then(|| self.reason_unknown(scene))
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        self.explanation(scene)
    }

    /// Only what looks for something in an argument: a negation, a comparison of numbers and
    /// `exists` also hold for arguments in which there is nothing to find.
    fn index_hint(&self) -> Option<IndexHint<'_>> {
        let searches = !matches!(self.operator, Operator::Exists(_) | Operator::Compare(..));
        let in_arguments = !matches!(self.path, ArgumentPath::Context(_));
        (in_arguments && searches && !self.name.negated)
            .then_some(IndexHint { path: &self.path, operator: &self.operator })
    }

    fn canonical(&self) -> String {
        let operand = match &self.operator {
            Operator::Matches(regex) => regex.as_str().to_owned(),
            Operator::Glob(glob) => glob.glob().glob().to_owned(),
            other => format!("{other:?}"),
        };
        format!("{:?} {} {operand:?}", self.path, self.name.as_str())
    }
}

impl ArgumentCondition {
    /// Reads `arg: command` as `arg: "@command"`. Rules on `@shell` mean the command, whatever a tool
    /// calls it.
    pub(super) fn read_command_as_role(&mut self) {
        if self.path
            == ArgumentPath::parse(Role::Command.as_str())
                .unwrap_or(ArgumentPath::Role(Role::Command))
        {
            self.path = ArgumentPath::Role(Role::Command);
        }
    }

    /// The path, and where it is in the rule.
    pub(crate) fn path(&self) -> (&ArgumentPath, SourceSpan) {
        (&self.path, self.span)
    }

    /// Whether the operator, without its `not_`, holds for a value in this input.
    fn holds_in(&self, root: &Value, input: &Arguments, scene: &Scene<'_>) -> Tri {
        let embedded = |value: &Value| scene.embedded_json(input, value);
        if let Operator::Exists(wanted) = self.operator {
            return self.exists_in(root, wanted, embedded);
        }
        self.path.any(root, &mut |item| match item {
            PathItem::Value(value) => match embedded(value) {
                None => self.operator.holds(value),
                Some(embedded) => self.operator.holds(value).agree(self.holds_embedded(embedded)),
            },
            other => self.holds_at(other),
        })
    }

    fn holds_at(&self, item: PathItem<'_>) -> Tri {
        match item {
            PathItem::Value(value) => self.operator.holds(value),
            PathItem::Key(key) => self.operator.holds_key(key),
            PathItem::WrongType => Tri::Unknown,
        }
    }

    /// Whether the operator holds for any key or value in the JSON inside a text. Elsewhere an object
    /// makes the operator unknown; here it would make every text with JSON in it unknown.
    fn holds_embedded(&self, embedded: &EmbeddedJson) -> Tri {
        match embedded {
            EmbeddedJson::Unclear => Tri::Unknown,
            EmbeddedJson::Value(value) => everything(value, &mut |item| self.holds_at(item)),
        }
    }

    /// The whole input always exists; at any other path, everything but `null` does.
    fn exists_in<'i>(
        &self,
        root: &Value,
        wanted: bool,
        embedded: impl Fn(&Value) -> Option<&'i EmbeddedJson>,
    ) -> Tri {
        let is_null_to_some = |value: &Value| match value {
            Value::Number(text) => may_become_null(text),
            _ => embedded(value) == Some(&EmbeddedJson::Value(Value::Null)),
        };
        let exists = match self.path.is_all() {
            true => Tri::True,
            false => self.path.any(root, &mut |item| match item {
                PathItem::Value(Value::Null) => Tri::False,
                PathItem::Value(value) if is_null_to_some(value) => Tri::Unknown,
                PathItem::Value(_) | PathItem::Key(_) => Tri::True,
                PathItem::WrongType => Tri::Unknown,
            }),
        };
        if wanted { exists } else { !exists }
    }

    fn holds_in_context(&self, field: ContextField, scene: &Scene<'_>) -> Tri {
        if is_claim(field, scene) && scene.claims == Claims::Unknown {
            return Tri::Unknown;
        }
        match (scene.context(field), &self.operator) {
            (found, Operator::Exists(wanted)) => (found.is_some() == *wanted).into(),
            (Some(scalar), operator) => operator.holds_scalar(scalar),
            (None, _) => Tri::False,
        }
    }

    fn matched_at(&self, item: PathItem<'_>) -> Option<Matched> {
        match item {
            PathItem::Value(value) => self.first_holding(value, &self.written),
            PathItem::Key(key) => {
                let holds = !self.name.negated && self.operator.holds_key(key) == Tri::True;
                holds.then(|| Matched::new(&self.written, key))
            }
            PathItem::WrongType => None,
        }
    }

    /// The scalar for which the operator holds: in a list, the first such element.
    fn first_holding(&self, value: &Value, path: &str) -> Option<Matched> {
        if let Value::Array(items) = value {
            return items.iter().find_map(|item| self.first_holding(item, path));
        }
        let scalar = Scalar::of(value)?;
        let holds = self.name.negated || self.operator.holds_scalar(scalar) == Tri::True;
        holds.then(|| Matched::new(path, scalar.text()))
    }
}

/// Whether the field is only the client's claim about itself.
fn is_claim(field: ContextField, scene: &Scene<'_>) -> bool {
    field == ContextField::Session && !scene.call.origin.agent_proven
}
