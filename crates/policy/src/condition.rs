//! A rule's `when`: a tree of tests on arguments and context.

use callgate_call::json::Value;
use callgate_call::{Arguments, EmbeddedJson, ToolCall};

use crate::denial::cut;
use crate::extra::ExtraInput;
use crate::finding::{FindingTest, Findings};
use crate::judgement::Matched;
use crate::moment::Moment;
use crate::number::{describe, may_become_null};
use crate::operator::{Operator, OperatorName, Scalar};
use crate::path::{ContextField, Path, PathItem, everything};
use crate::secret::SecretTest;
use crate::tri::{Possible, Tri};

/// A compiled condition.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Test(Test),
    Secret(SecretTest),
    Finding(FindingTest),
}

/// One argument with one operator.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) path: Path,
    /// The path as the rule says it.
    pub(crate) written: String,
    pub(crate) name: OperatorName,
    pub(crate) operator: Operator,
    /// What it compares with as the rule says it, in JSON.
    pub(crate) operand: String,
}

/// What a condition looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'c> {
    pub(crate) call: &'c ToolCall,
    pub(crate) moment: &'c Moment,
    /// Whether what the client merely claims (agent, session) counts.
    pub(crate) claims: Claims,
    /// What an inspection of the server's texts found.
    pub(crate) findings: Findings<'c>,
    /// What goes along with the call. Whoever looks at all of its input looks at this, too.
    pub(crate) extra: &'c [ExtraInput],
    /// The arguments that are texts and nothing else.
    pub(crate) texts: &'c [String],
}

impl<'c> Scene<'c> {
    /// All of the input: the arguments, and what goes along with them.
    pub(crate) fn input(&self) -> impl Iterator<Item = &'c Arguments> + use<'c> {
        std::iter::once(&self.call.arguments).chain(self.extra.iter().map(|extra| &extra.input))
    }

    /// What an argument that is a string holds for programs that parse its text. Nobody parses what is
    /// written to a file.
    fn inside(&self, input: &'c Arguments, argument: &Value) -> Option<&'c EmbeddedJson> {
        let (key, inside) = input.embedded_json(argument)?;
        (!self.texts.iter().any(|text| text == key)).then_some(inside)
    }

    /// What a path leads into.
    fn inputs(&self, path: &Path) -> impl Iterator<Item = &'c Arguments> + use<'c> {
        self.input().take(if path.is_all() { usize::MAX } else { 1 })
    }
}

/// What a claim is worth to the rule that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// A rule that restricts believes them.
    Believed,
    /// To a rule that allows they are unknown.
    Unknown,
}

impl Condition {
    /// Whether the condition holds.
    pub(crate) fn holds(&self, scene: &Scene<'_>) -> Tri {
        match self {
            Self::Any(parts) => Tri::any(parts.iter().map(|part| part.holds(scene))),
            Self::All(parts) => Tri::all(parts.iter().map(|part| part.holds(scene))),
            Self::Not(part) => !part.holds(scene),
            Self::Test(test) => test.holds(scene),
            Self::Secret(test) => test.holds(scene),
            Self::Finding(test) => test.holds(scene.findings),
        }
    }

    /// What the condition may come to, whatever the arguments are.
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
            Self::Not(part) => !part.possible(scene),
            Self::Test(test) => match test.path {
                Path::Argument(_) => Possible::OPEN,
                Path::Context(_) => Possible::only(test.holds(scene)),
            },
            Self::Secret(_) => Possible::OPEN,
            Self::Finding(test) => Possible::only(test.holds(scene.findings)),
        }
    }

    /// Whether any test looks at the arguments.
    pub(crate) fn needs_arguments(&self) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::needs_arguments),
            Self::Not(part) => part.needs_arguments(),
            Self::Test(test) => matches!(test.path, Path::Argument(_)),
            Self::Secret(_) => true,
            Self::Finding(_) => false,
        }
    }

    /// Whether any test looks at all of the input, and not only at one argument.
    pub(crate) fn looks_at_all(&self) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::looks_at_all),
            Self::Not(part) => part.looks_at_all(),
            Self::Test(test) => test.path.is_all(),
            Self::Secret(_) => true,
            Self::Finding(_) => false,
        }
    }

    /// Whether any test asks what an inspection found.
    pub(crate) fn asks_findings(&self) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::asks_findings),
            Self::Not(part) => part.asks_findings(),
            Self::Test(_) | Self::Secret(_) => false,
            Self::Finding(_) => true,
        }
    }

    /// The first argument that made this condition hold.
    pub(crate) fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        match self {
            Self::Any(parts) => {
                let holding = parts.iter().filter(|part| part.holds(scene) == Tri::True);
                holding.flat_map(|part| part.matched(scene)).next()
            }
            Self::All(parts) => parts.iter().find_map(|part| part.matched(scene)),
            Self::Not(_) => None,
            Self::Test(test) => test.matched(scene),
            Self::Secret(test) => test.matched(scene),
            Self::Finding(test) => test.matched(scene.findings),
        }
    }

    /// Why this condition is unknown, for the record.
    pub(crate) fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().find_map(|part| part.why_unknown(scene))
            }
            Self::Not(part) => part.why_unknown(scene),
            Self::Test(test) => {
                (test.holds(scene) == Tri::Unknown).then(|| test.why_unknown(scene))
            }
            Self::Secret(_) => {
                scene.input().find_map(|input| input.value().err()).map(ToString::to_string)
            }
            Self::Finding(_) if scene.findings == Findings::NotInspected => {
                Some("nothing of the tool was inspected".to_owned())
            }
            Self::Finding(_) => None,
        }
    }
}

impl Test {
    fn holds(&self, scene: &Scene<'_>) -> Tri {
        let positive = match &self.path {
            Path::Context(field) => self.holds_in_context(*field, scene),
            Path::Argument(_) => Tri::any(scene.inputs(&self.path).map(|input| {
                input.value().map_or(Tri::Unknown, |root| self.holds_in(root, input, scene))
            })),
        };
        if self.name.negated { !positive } else { positive }
    }

    fn holds_in(&self, root: &Value, input: &Arguments, scene: &Scene<'_>) -> Tri {
        let inside = |value: &Value| scene.inside(input, value);
        if let Operator::Exists(wanted) = self.operator {
            return self.exists_in(root, wanted, inside);
        }
        self.path.any(root, &mut |found| match found {
            PathItem::Value(value) => match inside(value) {
                None => self.operator.holds(value),
                Some(inside) => self.operator.holds(value).agree(self.holds_inside(inside)),
            },
            other => self.holds_for(other),
        })
    }

    fn holds_for(&self, found: PathItem<'_>) -> Tri {
        match found {
            PathItem::Value(value) => self.operator.holds(value),
            PathItem::Key(key) => self.operator.holds_key(key),
            PathItem::WrongType => Tri::Unknown,
        }
    }

    /// Whether it holds for anything that stands inside of a text. Any key and value counts, as for `$`:
    /// were an object unknown here, as it is elsewhere, no text could be JSON under a rule that looks
    /// at it.
    fn holds_inside(&self, inside: &EmbeddedJson) -> Tri {
        match inside {
            EmbeddedJson::Unclear => Tri::Unknown,
            EmbeddedJson::Value(value) => everything(value, &mut |found| self.holds_for(found)),
        }
    }

    /// The whole input always exists; elsewhere anything but `null` does.
    fn exists_in<'i>(
        &self,
        root: &Value,
        wanted: bool,
        inside: impl Fn(&Value) -> Option<&'i EmbeddedJson>,
    ) -> Tri {
        let exists = match self.path.is_all() {
            true => Tri::True,
            false => self.path.any(root, &mut |found| match found {
                PathItem::Value(Value::Null) => Tri::False,
                PathItem::Value(Value::Number(text)) if may_become_null(text) => Tri::Unknown,
                PathItem::Value(value)
                    if inside(value) == Some(&EmbeddedJson::Value(Value::Null)) =>
                {
                    Tri::Unknown
                }
                PathItem::Value(_) | PathItem::Key(_) => Tri::True,
                PathItem::WrongType => Tri::Unknown,
            }),
        };
        if wanted { exists } else { !exists }
    }

    fn holds_in_context(&self, field: ContextField, scene: &Scene<'_>) -> Tri {
        let claimed = field == ContextField::Session && !scene.call.origin.agent_proven;
        if claimed && scene.claims == Claims::Unknown {
            return Tri::Unknown;
        }
        match (context(field, scene), &self.operator) {
            (found, Operator::Exists(wanted)) => (found.is_some() == *wanted).into(),
            (Some(scalar), operator) => operator.holds_scalar(scalar),
            (None, _) => Tri::False,
        }
    }

    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let mut matched = None;
        for root in scene.inputs(&self.path).filter_map(|input| input.value().ok()) {
            self.path.each(root, &mut |found| {
                if matched.is_none() {
                    matched = self.matched_at(found);
                }
            });
        }
        matched
    }

    fn matched_at(&self, found: PathItem<'_>) -> Option<Matched> {
        match found {
            PathItem::Value(value) => self.first_holding(value),
            PathItem::Key(key) => {
                let holds = !self.name.negated && self.operator.holds_key(key) == Tri::True;
                holds.then(|| Matched::new(&self.written, key))
            }
            PathItem::WrongType => None,
        }
    }

    /// The scalar that holds: inside a list, the first such element.
    fn first_holding(&self, value: &Value) -> Option<Matched> {
        if let Value::Array(items) = value {
            return items.iter().find_map(|item| self.first_holding(item));
        }
        let scalar = Scalar::of(value)?;
        let holds = self.name.negated || self.operator.holds_scalar(scalar) == Tri::True;
        holds.then(|| Matched::new(&self.written, scalar.text()))
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> String {
        let (path, word) = (&self.written, self.name.as_str());
        let unreadable = scene.inputs(&self.path).find_map(|input| input.value().err());
        match (&self.path, unreadable) {
            (Path::Context(ContextField::Session), _) if !scene.call.origin.agent_proven => {
                "the session is only claimed".to_owned()
            }
            (Path::Argument(_), Some(unreadable)) => unreadable.to_string(),
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
        let roots = scene.inputs(&self.path).filter_map(|input| input.value().ok());
        let mut keys = roots.filter_map(|root| self.path.unclear_key(root));
        keys.next().map(|key| cut(key, 40))
    }

    /// What is unclear about the first value for which the answer depends on who reads it.
    fn unclear_value(&self, scene: &Scene<'_>) -> Option<String> {
        let mut unclear = None;
        for input in scene.inputs(&self.path) {
            let Ok(root) = input.value() else { continue };
            self.path.each(root, &mut |found| {
                if let (PathItem::Value(value), None) = (found, &unclear) {
                    let inside = scene.inside(input, value);
                    let inside = inside.and_then(|inside| self.unclear_inside(value, inside));
                    unclear = self.unclear_in(value).or(inside);
                }
            });
        }
        unclear
    }

    fn unclear_inside(&self, value: &Value, inside: &EmbeddedJson) -> Option<String> {
        let is_null = *inside == EmbeddedJson::Value(Value::Null);
        let differs = match self.operator {
            Operator::Exists(_) => is_null,
            _ => self.operator.holds(value) != self.holds_inside(inside),
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
                let shown = cut(scalar.text(), 40);
                Some(format!("some programs read `{shown}` as what the rule names"))
            }
            Scalar::Number(text) => Some(describe(text)),
            Scalar::Text(_) | Scalar::Bool(_) => None,
        }
    }
}

/// What the call's context has to say, if anything.
pub(crate) fn context<'c>(field: ContextField, scene: &Scene<'c>) -> Option<Scalar<'c>> {
    let origin = &scene.call.origin;
    let text = match field {
        ContextField::Session => origin.session.as_deref(),
        ContextField::Cwd => origin.cwd.as_deref(),
        ContextField::Model => origin.model.as_deref(),
        ContextField::Provider => origin.provider.as_deref(),
        ContextField::Weekday => Some(scene.moment.weekday.as_str()),
        ContextField::Hour => {
            return HOURS.get(usize::from(scene.moment.hour)).map(|hour| Scalar::Number(hour));
        }
    };
    text.map(Scalar::Text)
}

const HOURS: [&str; 24] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22", "23",
];

impl Condition {
    /// The condition as text, equal for equal conditions.
    pub(crate) fn canonical(&self) -> String {
        let join = |parts: &[Self]| parts.iter().map(Self::canonical).collect::<Vec<_>>().join(",");
        match self {
            Self::Any(parts) => format!("any({})", join(parts)),
            Self::All(parts) => format!("all({})", join(parts)),
            Self::Not(part) => format!("not({})", part.canonical()),
            Self::Test(test) => {
                let operand = match &test.operator {
                    Operator::Matches(regex) => regex.as_str().to_owned(),
                    Operator::Glob(glob) => glob.glob().glob().to_owned(),
                    other => format!("{other:?}"),
                };
                format!("{:?} {} {operand:?}", test.path, test.name.as_str())
            }
            Self::Secret(test) => format!("secret {:?}", test.names()),
            Self::Finding(test) => format!("finding {}", test.written()),
        }
    }
}
