//! The operators of argument conditions. Each is defined once, here, with its meaning.

use std::cmp::Ordering;

use callgate_call::json::{Value, each_spelling};
use globset::GlobMatcher;
use regex::Regex;

use crate::number::{Number, spelled};
use crate::tri::Tri;

/// An operator as a rule names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatorName {
    pub(crate) base: Base,
    /// `not_x` is not(any x).
    pub(crate) negated: bool,
}

/// What an operator asks, without its `not_`.
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

/// Every operator by its word.
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
    /// The word a rule uses.
    pub(crate) fn as_str(self) -> &'static str {
        OPERATORS.iter().find(|(_, name)| *name == self).map_or("", |(word, _)| word)
    }
}

/// An operator with its operand, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) enum Operator {
    /// The same number, or the same text.
    Equals(Literal),
    /// Equal to one of these.
    In(Vec<Literal>),
    /// Has this text somewhere, case-sensitive.
    Contains(String),
    /// Begins with this text.
    StartsWith(String),
    /// The regular expression is found somewhere: unanchored, case-sensitive, linear time.
    Matches(Regex),
    /// A path glob: `*` stops at `/`, `**` does not.
    Glob(GlobMatcher),
    /// There is a value that is not `null` (or, if false, there is none).
    Exists(bool),
    /// A number beyond this one.
    Compare(Comparison, Number),
}

/// Which side of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Gt,
    Gte,
    Lt,
    Lte,
}

/// A value in a rule: its text, and its number if it is one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) number: Option<Number>,
}

/// A scalar argument, by its JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar<'v> {
    Text(&'v str),
    Number(&'v str),
}

impl<'v> Scalar<'v> {
    /// The scalar, unless the value is a list, an object or nothing.
    pub(crate) fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(text) => Some(Self::Number(text)),
            Value::Bool(true) => Some(Self::Text("true")),
            Value::Bool(false) => Some(Self::Text("false")),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn text(self) -> &'v str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }

    /// Hands out every text that programs may make of it.
    pub(crate) fn each_text(self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Text(text) => visit(text),
            Self::Number(text) => each_spelling(text, visit),
        }
    }

    /// Whether something holds for its text; unknown if that depends on how a program spells it.
    fn as_text(self, mut holds: impl FnMut(&str) -> bool) -> Tri {
        match self {
            Self::Text(text) => holds(text).into(),
            Self::Number(text) => spelled(text, holds),
        }
    }
}

impl Operator {
    /// Whether the operator holds for a value. On a list it holds if any element does; `null` is
    /// as good as missing; an object is nothing an operator can compare.
    pub(crate) fn holds(&self, value: &Value) -> Tri {
        match value {
            Value::Null => Tri::False,
            Value::Object(_) => Tri::Unknown,
            Value::Array(items) => Tri::any(items.iter().map(|item| self.holds(item))),
            scalar => Scalar::of(scalar).map_or(Tri::Unknown, |scalar| self.holds_scalar(scalar)),
        }
    }

    /// Whether the operator holds for a key of an object. A key is a text, so there is nothing to
    /// compare with a number.
    pub(crate) fn holds_key(&self, key: &str) -> Tri {
        match self {
            Self::Compare(..) => Tri::False,
            _ => self.holds_scalar(Scalar::Text(key)),
        }
    }

    /// Whether the operator holds for one scalar.
    pub(crate) fn holds_scalar(&self, scalar: Scalar<'_>) -> Tri {
        match self {
            Self::Equals(literal) => literal.equals(scalar),
            Self::In(literals) => Tri::any(literals.iter().map(|literal| literal.equals(scalar))),
            Self::Contains(part) => scalar.as_text(|text| text.contains(part.as_str())),
            Self::StartsWith(start) => scalar.as_text(|text| text.starts_with(start.as_str())),
            Self::Matches(regex) => scalar.as_text(|text| regex.is_match(text)),
            Self::Glob(glob) => scalar.as_text(|text| glob.is_match(text)),
            Self::Exists(wanted) => (*wanted).into(),
            Self::Compare(comparison, bound) => match scalar {
                Scalar::Number(text) => comparison.holds(text, bound),
                Scalar::Text(_) => Tri::Unknown,
            },
        }
    }
}

impl Comparison {
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
    /// Two numbers are compared as numbers (1 is 1.0), anything else by text (1 is "1").
    fn equals(&self, scalar: Scalar<'_>) -> Tri {
        match (scalar, &self.number) {
            (Scalar::Number(text), Some(rule)) => {
                let number = Number::parse(text);
                number.map_or(Tri::Unknown, |number| number.compare(rule, Ordering::is_eq))
            }
            _ => scalar.as_text(|text| self.text == text),
        }
    }
}
