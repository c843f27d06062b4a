//! How programs print a number after reading it.

/// Visits a number as written, as JavaScript and Python print it, and in plain digits. For most
/// numbers these are all the same.
pub fn each_spelling(text: &str, visit: &mut impl FnMut(&str)) {
    visit(text);
    if is_short_integer(text) {
        return;
    }
    let Ok(double) = text.parse::<f64>() else { return };
    let mut others = match Shortest::of(double) {
        Some(shortest) => vec![shortest.javascript(), shortest.fixed()],
        None if double > 0.0 => vec!["Infinity".to_owned(), "inf".to_owned()],
        None => vec!["-Infinity".to_owned(), "-inf".to_owned()],
    };
    // Python keeps every digit of a number without point and exponent.
    if text.contains(['.', 'e', 'E']) {
        others.extend(Shortest::of(double).map(|shortest| shortest.python()));
    }
    others.retain(|other| other != text);
    others.sort_unstable();
    others.dedup();
    others.iter().for_each(|other| visit(other));
}

/// A double as JavaScript prints it; `None` if it is infinite.
pub fn printed(double: f64) -> Option<String> {
    Shortest::of(double).map(|shortest| shortest.javascript())
}

/// Whether every program prints this number as written.
fn is_short_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let zero = text.starts_with("-0");
    digits.len() <= 15 && !zero && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The shortest decimal that parses to a given double, which JavaScript and Python print.
struct Shortest {
    negative: bool,
    digits: String,
    /// The value is `0.digits` times ten to this power.
    point: i32,
}

impl Shortest {
    /// `None` for an infinite number.
    fn of(double: f64) -> Option<Self> {
        let text = format!("{:e}", double.abs());
        let (mantissa, power) = text.split_once('e')?;
        let (digits, power) = (mantissa.replace('.', ""), power.parse::<i32>().ok()?);
        Some(Self { negative: double.is_sign_negative(), digits, point: power + 1 })
    }

    fn javascript(&self) -> String {
        if (-5..=21).contains(&self.point) { self.fixed() } else { self.scientific(1) }
    }

    fn python(&self) -> String {
        if !(-3..=16).contains(&self.point) {
            return self.scientific(2);
        }
        let sign = if self.negative { "-" } else { "" };
        let digits = self.unsigned();
        let whole = if digits.contains('.') { "" } else { ".0" };
        format!("{sign}{digits}{whole}")
    }

    /// Without an exponent. Zero has no sign.
    fn fixed(&self) -> String {
        let sign = if self.negative && self.digits != "0" { "-" } else { "" };
        format!("{sign}{}", self.unsigned())
    }

    fn unsigned(&self) -> String {
        let digits = &self.digits;
        match usize::try_from(self.point) {
            Err(_) | Ok(0) => {
                let zeros = usize::try_from(self.point.unsigned_abs()).unwrap_or(0);
                format!("0.{}{digits}", "0".repeat(zeros))
            }
            Ok(point) => match digits.split_at_checked(point) {
                Some((whole, fraction)) if !fraction.is_empty() => format!("{whole}.{fraction}"),
                _ => format!("{digits:0<point$}"),
            },
        }
    }

    /// With an exponent that has at least this many digits.
    fn scientific(&self, width: usize) -> String {
        let minus = if self.negative { "-" } else { "" };
        let power = self.point - 1;
        let sign = if power < 0 { '-' } else { '+' };
        let (first, rest) = self.digits.split_at_checked(1).unwrap_or((&self.digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        format!("{minus}{first}{point}{rest}e{sign}{:0width$}", power.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_javascript_and_python() {
        let spellings = |text: &str| {
            let mut all = Vec::new();
            each_spelling(text, &mut |spelling| all.push(spelling.to_owned()));
            all
        };
        for (text, expected) in [
            ("22", vec!["22"]),
            ("-7", vec!["-7"]),
            ("0", vec!["0"]),
            ("22.5", vec!["22.5"]),
            ("22.0", vec!["22.0", "22"]),
            ("2.2e1", vec!["2.2e1", "22", "22.0"]),
            ("-0", vec!["-0", "0"]),
            ("-0.0", vec!["-0.0", "0"]),
            ("-1.50", vec!["-1.50", "-1.5"]),
            ("9007199254740993", vec!["9007199254740993", "9007199254740992"]),
            ("1e16", vec!["1e16", "10000000000000000", "1e+16"]),
            ("1e15", vec!["1e15", "1000000000000000", "1000000000000000.0"]),
            ("1e21", vec!["1e21", "1000000000000000000000", "1e+21"]),
            ("1.5E21", vec!["1.5E21", "1.5e+21", "1500000000000000000000"]),
            ("0.00001", vec!["0.00001", "1e-05"]),
            ("0.0001", vec!["0.0001"]),
            ("0.000001", vec!["0.000001", "1e-06"]),
            ("0.0000001", vec!["0.0000001", "1e-07", "1e-7"]),
            ("1e-400", vec!["1e-400", "0", "0.0"]),
            ("1e400", vec!["1e400", "Infinity", "inf"]),
            ("-1e400", vec!["-1e400", "-Infinity", "-inf"]),
        ] {
            assert_eq!(spellings(text), expected, "{text}");
        }
    }
}
