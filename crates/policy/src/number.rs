//! Numbers as tools may read them. Some programs keep every digit of the JSON text, most convert it
//! to a double, and two numbers may be equal in one reading and differ in the other.

use std::cmp::Ordering;

use callgate_json::{each_spelling, printed};

use crate::denial::cut;
use crate::tri::Tri;

/// A JSON number in both readings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    exact: Decimal,
    /// Infinite if the number is too large for a double. Never NaN.
    double: f64,
}

impl Number {
    /// Parses a number in JSON's grammar and no other.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let exact = Decimal::parse(text)?;
        Some(Self { exact, double: double(text)? })
    }

    /// Whether comparing this number with a rule's number gives what is `wanted`. Unknown if that
    /// depends on the reading.
    pub(crate) fn compare(&self, rule: &Self, wanted: impl Fn(Ordering) -> bool) -> Tri {
        let exact = Tri::from(wanted(self.exact.cmp(&rule.exact)));
        let double = self.double.partial_cmp(&rule.double).is_some_and(wanted);
        let result = exact.agree(double.into());
        if self.double.is_finite() { result } else { result.agree(INFINITE_AS_NULL) }
    }

    /// The double's bits. Numbers that are equal in any reading have the same bits.
    pub(crate) fn bits(&self) -> u64 {
        // Minus zero becomes zero.
        (self.double + 0.0).to_bits()
    }
}

impl From<bool> for Number {
    /// The number that programs convert a boolean to.
    fn from(value: bool) -> Self {
        let digits = if value { "1".to_owned() } else { String::new() };
        let exponent = i64::from(value);
        let exact = Decimal { negative: false, digits, exponent };
        Self { exact, double: f64::from(u8::from(value)) }
    }
}

/// JavaScript writes an infinite number as `null`, for which no operator holds.
const INFINITE_AS_NULL: Tri = Tri::False;

/// Whether some programs pass on `null` instead of this number.
pub(crate) fn may_become_null(text: &str) -> bool {
    double(text).is_some_and(f64::is_infinite)
}

fn double(text: &str) -> Option<f64> {
    text.parse().ok().filter(|double: &f64| !double.is_nan())
}

/// The number that a lax reader converts a text to. pydantic ignores surrounding white space, a
/// plus sign, leading zeros and underscores between digits. JavaScript's `Number`, which zod uses
/// for coercion, accepts other bases, treats a byte order mark as white space, and converts an
/// empty text to zero.
pub(crate) fn lax(text: &str) -> Option<Number> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Some(false.into());
    }
    if !text.starts_with(['+', '-', '.']) && !text.starts_with(|first: char| first.is_ascii_digit())
    {
        return None;
    }
    if let Some(number) = in_other_base(text) {
        return Number::parse(&number.to_string());
    }
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.replace('_', "");
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, format!("e{power}")),
        None => (text.as_str(), String::new()),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // A zero before the point replaces an empty whole part, and a zero at the end an empty
    // fraction.
    let whole = whole.trim_start_matches('0');
    let zero = if whole.is_empty() { "0" } else { "" };
    Number::parse(&format!("{sign}{zero}{whole}.{fraction}0{power}"))
}

fn in_other_base(text: &str) -> Option<u64> {
    let (prefix, digits) = text.split_at_checked(2)?;
    let base = match prefix {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| u64::from_str_radix(digits, base).ok()).flatten()
}

/// Why programs read a number differently, for the record.
pub(crate) fn describe(text: &str) -> String {
    let cut = cut(text, 40);
    match double(text).and_then(printed) {
        Some(printed) => format!("{cut} is {printed} to some programs"),
        None => format!("{cut} is too large for some programs"),
    }
}

/// Whether `holds` is true for a number's text. Unknown if that depends on the spelling.
pub(crate) fn spelled(text: &str, mut holds: impl FnMut(&str) -> bool) -> Tri {
    let mut result: Option<Tri> = None;
    each_spelling(text, &mut |spelling| {
        let holds = Tri::from(holds(spelling));
        result = Some(result.map_or(holds, |before| before.agree(holds)));
    });
    let result = result.unwrap_or(Tri::Unknown);
    if may_become_null(text) { result.agree(INFINITE_AS_NULL) } else { result }
}

/// A JSON number: its sign, its digits without zeros at either end, and its exponent. Zero has no
/// digits. Equal numbers have equal fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    /// The value is `0.digits` times ten to this power.
    exponent: i64,
}

impl Decimal {
    /// Parses a number in JSON's grammar and no other.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, parse_power(power)?),
            None => (text, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || leading_zero || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        Some(Self::normal(negative, whole, fraction, power))
    }

    fn normal(negative: bool, whole: &str, fraction: &str, power: i64) -> Self {
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let leading = all.len() - significant.len();
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        let point = signed(whole.len()) - signed(leading);
        Self { negative, digits, exponent: power.saturating_add(point) }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Digits have no leading zeros, so fractions sort like their text.
            (false, false) => {
                self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits))
            }
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An exponent that does not fit into 64 bits becomes the largest one.
fn parse_power(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) if text.starts_with('-') => (-1, rest),
        Some(rest) => (1, rest),
        None => (1, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(sign * digits.parse().unwrap_or(i64::MAX / 2))
}

fn signed(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn one_number_in_many_spellings() {
        for text in ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000"] {
            assert_eq!(number(text), number("1"), "{text}");
        }
        assert_eq!(number("-0"), number("0.0"));
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
    }

    #[test]
    fn order() {
        let sorted = [
            "-1e400",
            "-20",
            "-3",
            "-0.5",
            "0",
            "0.05",
            "0.5",
            "1",
            "9",
            "10",
            "1e99999999999999999999",
        ];
        for pair in sorted.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn readings_that_disagree_are_unknown() {
        let equal = |a: &str, b: &str| {
            Number::parse(a).unwrap().compare(&Number::parse(b).unwrap(), Ordering::is_eq)
        };
        for (a, b, expected) in [
            ("22", "22.0", Tri::True),
            ("22", "23", Tri::False),
            ("0", "-0.0", Tri::True),
            ("9007199254740993", "9007199254740992", Tri::Unknown),
            ("9007199254740993", "9007199254740993", Tri::True),
            ("1e-400", "0", Tri::Unknown),
            ("1e400", "1e400", Tri::Unknown),
            ("1e400", "1e401", Tri::Unknown),
            ("1e400", "5", Tri::False),
        ] {
            assert_eq!(equal(a, b), expected, "{a} and {b}");
        }
        let bits = |text: &str| Number::parse(text).unwrap().bits();
        assert_eq!(bits("-0"), bits("1e-400"));
    }

    /// How pydantic 2.14 reads these as `int` or `float`, and JavaScript as `Number(text)`.
    #[test]
    fn texts_that_lax_readers_take_for_numbers() {
        for text in [
            "5",
            "05",
            " 5",
            "5\u{a0}",
            "5.0",
            "5.",
            "+5",
            "0005.00",
            "5e0",
            "50e-1",
            "0x5",
            "0b101",
            "\n5\t",
            "\u{feff}5",
            "5 \u{feff}",
        ] {
            assert_eq!(lax(text), Number::parse("5"), "{text}");
        }
        assert_eq!(lax("1_000"), Number::parse("1000"));
        assert_eq!(lax("-.5"), Number::parse("-0.5"));
        for text in ["00", "", " ", "\u{feff}", "\u{feff}0"] {
            assert_eq!(lax(text), Number::parse("0"), "{text:?}");
        }
        for text in ["five", "5 apples", "- 5", "--5", ".", "+", "5,0", "0x", "0x+5", "e5", "5e"] {
            assert_eq!(lax(text), None, "{text}");
        }
    }

    #[test]
    fn only_json_numbers() {
        for text in ["", "-", "01", "1.", ".5", "+1", "1e", "0x10", "NaN", "1_000", " 1", "e5"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
