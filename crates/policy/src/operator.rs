//! The operators of argument conditions. Each is defined once, here, with its meaning.

use std::cmp::Ordering;

use callgate_call::json::{Value, each_spelling};
use globset::GlobMatcher;
use regex::Regex;

use crate::number::{Number, lax, spelled};
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

/// A value in a rule: its text, and what it means beyond that.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) value: LiteralValue,
}

/// What a value in a rule means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LiteralValue {
    Text,
    Number(Number),
    Bool(bool),
}

/// A scalar argument, by its JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar<'v> {
    Text(&'v str),
    Number(&'v str),
    Bool(bool),
}

impl<'v> Scalar<'v> {
    /// The scalar, unless the value is a list, an object or nothing.
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

    /// Hands out every text that programs may make of it.
    pub(crate) fn each_text(self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Number(text) => each_spelling(text, visit),
            Self::Text(_) | Self::Bool(_) => visit(self.text()),
        }
    }

    /// Whether something holds for its text; unknown if that depends on how a program spells it.
    fn as_text(self, mut holds: impl FnMut(&str) -> bool) -> Tri {
        match self {
            Self::Number(text) => spelled(text, holds),
            Self::Text(_) | Self::Bool(_) => holds(self.text()).into(),
        }
    }

    /// The number that it is, or that a lax reader makes of it.
    pub(crate) fn lax_number(self) -> Option<Number> {
        match self {
            Self::Number(text) => Number::parse(text),
            Self::Text(text) => lax(text),
            Self::Bool(value) => Some(value.into()),
        }
    }

    /// The truth value that it is, or that a lax reader makes of it. The words are pydantic's.
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

    /// Whether the operator holds for a key of an object. A key is a text, and nobody reads it as
    /// anything else.
    pub(crate) fn holds_key(&self, key: &str) -> Tri {
        match self {
            Self::Compare(..) => Tri::False,
            Self::Equals(literal) => (literal.text == key).into(),
            Self::In(literals) => literals.iter().any(|literal| literal.text == key).into(),
            _ => self.holds_scalar(Scalar::Text(key)),
        }
    }

    /// Whether only a lax reader finds the scalar equal to what the rule names.
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
            Self::Matches(regex) => scalar.as_text(|text| regex.is_match(text)),
            Self::Glob(glob) => scalar.as_text(|text| glob.is_match(text)),
            Self::Exists(wanted) => (*wanted).into(),
            Self::Compare(comparison, bound) => match scalar {
                Scalar::Number(text) => comparison.holds(text, bound),
                Scalar::Text(_) | Scalar::Bool(_) => Tri::Unknown,
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
    /// Two numbers are compared as numbers (1 is 1.0), anything else by text (1 is "1"). Unknown if
    /// only a lax reader finds them equal (1 is "01", and true is "yes").
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
