//! The operators of conditions on arguments. Each is defined once, here, with its meaning.

use std::cmp::Ordering;

use callgate_json::{Value, each_spelling};
use globset::GlobMatcher;

use crate::lazy_regex::LazyRegex;
use crate::number::{Number, lax, spelled};
use crate::tri::Tri;

/// The name of an operator in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatorName {
    pub(crate) base: Base,
    /// `not_x` is not(any x).
    pub(crate) negated: bool,
}

/// An operator without its `not_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Equals,
    In,
    Contains,
    StartsWith,
    Matches,
    Glob,
    Exists,
    Gt,
    Gte,
    Lt,
    Lte,
}

const fn plain(base: Base) -> OperatorName {
    OperatorName { base, negated: false }
}

const fn negated(base: Base) -> OperatorName {
    OperatorName { base, negated: true }
}

/// Every operator by its key.
pub(crate) const OPERATORS: &[(&str, OperatorName)] = &[
    ("equals", plain(Base::Equals)),
    ("not_equals", negated(Base::Equals)),
    ("in", plain(Base::In)),
    ("not_in", negated(Base::In)),
    ("contains", plain(Base::Contains)),
    ("not_contains", negated(Base::Contains)),
    ("starts_with", plain(Base::StartsWith)),
    ("not_starts_with", negated(Base::StartsWith)),
    ("matches", plain(Base::Matches)),
    ("not_matches", negated(Base::Matches)),
    ("glob", plain(Base::Glob)),
    ("not_glob", negated(Base::Glob)),
    ("exists", plain(Base::Exists)),
    ("gt", plain(Base::Gt)),
    ("gte", plain(Base::Gte)),
    ("lt", plain(Base::Lt)),
    ("lte", plain(Base::Lte)),
];

impl OperatorName {
    /// The key in a rule.
    pub(crate) fn as_str(self) -> &'static str {
        OPERATORS.iter().find(|(_, name)| *name == self).map_or("", |(word, _)| word)
    }
}

/// An operator with its operand, ready to be evaluated.
#[derive(Debug, Clone)]
pub(crate) enum Operator {
    /// The same number, or the same text.
    Equals(Literal),
    /// Equal to one of these.
    In(Vec<Literal>),
    /// Contains this text; case-sensitive.
    Contains(String),
    /// Begins with this text.
    StartsWith(String),
    /// The regular expression is found somewhere: unanchored, case-sensitive, linear time.
    Matches(LazyRegex),
    /// A path glob: `*` stops at `/`, `**` does not.
    Glob(GlobMatcher),
    /// There is a value that is not `null`; if false, there is no such value.
    Exists(bool),
    /// A number that compares like this with the operand.
    Compare(NumberComparison, Number),
}

/// How two numbers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberComparison {
    Gt,
    Gte,
    Lt,
    Lte,
}

/// A value in a rule: its text, and its typed value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) value: LiteralValue,
}

/// The typed value of a literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LiteralValue {
    Text,
    Number(Number),
    Bool(bool),
}

/// A scalar argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar<'v> {
    Text(&'v str),
    Number(&'v str),
    Bool(bool),
}

impl<'v> Scalar<'v> {
    /// The scalar, unless the value is a list, an object or `null`.
    pub(crate) fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(text) => Some(Self::Number(text)),
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn text(self) -> &'v str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
        }
    }

    /// Visits every text that programs may convert it to.
    pub(crate) fn each_text(self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Number(text) => each_spelling(text, visit),
            Self::Text(_) | Self::Bool(_) => visit(self.text()),
        }
    }

    /// Whether `holds` is true for its text; unknown if that depends on how a program spells a
    /// number.
    fn as_text(self, mut holds: impl FnMut(&str) -> bool) -> Tri {
        match self {
            Self::Number(text) => spelled(text, holds),
            Self::Text(_) | Self::Bool(_) => holds(self.text()).into(),
        }
    }

    /// Its number, or the number that a lax reader converts it to.
    pub(crate) fn lax_number(self) -> Option<Number> {
        match self {
            Self::Number(text) => Number::parse(text),
            Self::Text(text) => lax(text),
            Self::Bool(value) => Some(value.into()),
        }
    }

    /// Its boolean, or the boolean that a lax reader converts it to. The words are those of
    /// pydantic.
    pub(crate) fn lax_bool(self) -> Option<bool> {
        const TRUE: [&str; 6] = ["true", "1", "t", "y", "yes", "on"];
        const FALSE: [&str; 6] = ["false", "0", "f", "n", "no", "off"];
        if let Self::Number(text) = self {
            let bits = Number::parse(text)?.bits();
            return [true, false].into_iter().find(|it| Number::from(*it).bits() == bits);
        }
        let is = |word: &&str| word.eq_ignore_ascii_case(self.text());
        if TRUE.iter().any(is) { Some(true) } else { FALSE.iter().any(is).then_some(false) }
    }
}

impl Operator {
    /// Whether the operator holds for a value. It holds for a list if it holds for any element,
    /// `null` counts as missing, and an object is unknown because no operator can compare it.
    pub(crate) fn holds(&self, value: &Value) -> Tri {
        match value {
            Value::Null => Tri::False,
            Value::Object(_) => Tri::Unknown,
            Value::Array(items) => Tri::any(items.iter().map(|item| self.holds(item))),
            scalar => Scalar::of(scalar).map_or(Tri::Unknown, |scalar| self.holds_scalar(scalar)),
        }
    }

    /// Whether the operator holds for a key of an object. A key is always text: no program converts
    /// it.
    pub(crate) fn holds_key(&self, key: &str) -> Tri {
        match self {
            Self::Compare(..) => Tri::False,
            Self::Equals(literal) => (literal.text == key).into(),
            Self::In(literals) => literals.iter().any(|literal| literal.text == key).into(),
            _ => self.holds_scalar(Scalar::Text(key)),
        }
    }

    /// Whether a lax reader finds the scalar equal to a value in the rule.
    pub(crate) fn is_lax(&self, scalar: Scalar<'_>) -> bool {
        let literals = match self {
            Self::Equals(literal) => std::slice::from_ref(literal),
            Self::In(literals) => literals,
            _ => &[],
        };
        literals.iter().any(|literal| literal.equals_laxly(scalar))
    }

    /// Whether the operator holds for one scalar.
    pub(crate) fn holds_scalar(&self, scalar: Scalar<'_>) -> Tri {
        match self {
            Self::Equals(literal) => literal.equals(scalar),
            Self::In(literals) => Tri::any(literals.iter().map(|literal| literal.equals(scalar))),
            Self::Contains(part) => scalar.as_text(|text| text.contains(part.as_str())),
            Self::StartsWith(start) => scalar.as_text(|text| text.starts_with(start.as_str())),
            Self::Matches(pattern) => match pattern.regex() {
                Some(regex) => scalar.as_text(|text| regex.is_match(text)),
                None => Tri::Unknown,
            },
            Self::Glob(glob) => scalar.as_text(|text| glob.is_match(text)),
            Self::Exists(wanted) => (*wanted).into(),
            Self::Compare(comparison, bound) => match scalar {
                Scalar::Number(text) => comparison.holds(text, bound),
                Scalar::Text(_) | Scalar::Bool(_) => Tri::Unknown,
            },
        }
    }
}

impl NumberComparison {
    fn holds(self, text: &str, bound: &Number) -> Tri {
        let Some(number) = Number::parse(text) else { return Tri::Unknown };
        number.compare(
            bound,
            match self {
                Self::Gt => Ordering::is_gt,
                Self::Gte => Ordering::is_ge,
                Self::Lt => Ordering::is_lt,
                Self::Lte => Ordering::is_le,
            },
        )
    }
}

impl Literal {
    /// Numbers are compared as numbers (1 equals 1.0), anything else as text (1 equals "1").
    /// Unknown if only a lax reader finds them equal (1 and "01", true and "yes").
    fn equals(&self, scalar: Scalar<'_>) -> Tri {
        let strictly = match (scalar, &self.value) {
            (Scalar::Number(text), LiteralValue::Number(rule)) => {
                let number = Number::parse(text);
                number.map_or(Tri::Unknown, |number| number.compare(rule, Ordering::is_eq))
            }
            _ => scalar.as_text(|text| self.text == text),
        };
        if strictly == Tri::False && self.equals_laxly(scalar) { Tri::Unknown } else { strictly }
    }

    pub(crate) fn equals_laxly(&self, scalar: Scalar<'_>) -> bool {
        match (&self.value, scalar) {
            (LiteralValue::Text, _) | (LiteralValue::Number(_), Scalar::Number(_)) => false,
            (LiteralValue::Number(rule), _) => {
                let number = scalar.lax_number();
                number.is_some_and(|number| number.compare(rule, Ordering::is_eq) != Tri::False)
            }
            (LiteralValue::Bool(rule), _) => scalar.lax_bool() == Some(*rule),
        }
    }
}
