//! Arguments as rules read them, and what is said where they cannot be read.

use callgate_call::json::{Edits, Span};
use callgate_call::{Arguments, ArgumentsForm, Unreadable};
use callgate_policy::Judgement;

/// Arguments, and the other way in which they may be read.
#[derive(Debug)]
pub struct Readings {
    /// As rules read them.
    pub arguments: Arguments,
    /// Without the halves of characters that some readers leave out.
    pub shorter: Option<Arguments>,
}

/// The arguments with a reading, where the only thing that kept them from one is half a character.
///
/// JavaScript cuts an emoji in two and writes the half that is left as `\ud83d`, which is no text. A server
/// that goes on with it puts U+FFFD in its place sooner or later, or leaves it out. Rules read both; what is
/// handed on stays as it came.
pub fn readable(arguments: Arguments) -> Readings {
    if !matches!(arguments.form(), ArgumentsForm::Json(_)) || arguments.value().is_ok() {
        return Readings { arguments, shorter: None };
    }
    let with = |other: &str| {
        let read = without_halves(arguments.raw(), other).map(Arguments::json);
        // Two keys may be one now: then there is still no reading.
        read.filter(|read| read.value().is_ok())
    };
    match (with("\\ufffd"), with("")) {
        (Some(replaced), Some(shorter)) => Readings { arguments: replaced, shorter: Some(shorter) },
        _ => Readings { arguments, shorter: None },
    }
}

/// The same JSON with this for each half of a pair that has no other half. `None` if there is none.
fn without_halves(raw: &str, other: &str) -> Option<String> {
    let mut edits = Edits::default();
    let mut at = 0;
    while let Some(next) = raw.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + next;
        at = match (unit(raw, start), unit(raw, start + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => start + 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                edits.replace(Span { start, end: start + ESCAPE }, other);
                start + ESCAPE
            }
            // Any other escape: what stands behind the backslash begins none.
            _ => start + 2,
        };
    }
    (!edits.is_empty()).then(|| edits.apply(raw))
}

/// What is said of a rule that stops only what some servers read.
pub(crate) const HALVES: &str = "without the half of a character that its arguments hold";

/// The length of `\ud83d`.
const ESCAPE: usize = 6;

/// The UTF-16 unit that is written here.
fn unit(raw: &str, at: usize) -> Option<u16> {
    let digits = raw.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

/// What is added to the reason of a rule that stopped a call only because its arguments cannot be read:
/// whoever reads the rule's own reason would look for something that may not be there.
pub(crate) fn unread(arguments: &Arguments, judgement: &Judgement) -> Option<String> {
    let decided = |error: &callgate_policy::RuleError| {
        let is = |name: &str, of: &Option<String>| of.as_deref() == Some(name);
        is(&error.policy, &judgement.policy) && is(&error.rule, &judgement.rule)
    };
    if judgement.verdict.passes() || !judgement.errors.iter().any(decided) {
        return None;
    }
    let why = match arguments.value() {
        Ok(_) => return None,
        Err(Unreadable::Oversize) => "its arguments are larger than the limit".to_owned(),
        Err(why) => why.to_string(),
    };
    Some(format!("The rule could not be checked and counts as met: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_read_as_a_replacement() {
        for (raw, read) in [
            (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
            (r#"{"a":"\uDE00y"}"#, r#"{"a":"\ufffdy"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"\ud83d":"\\\ud83d"}"#, r#"{"\ufffd":"\\\ufffd"}"#),
            (r#"{"a":"\ud83d\n\ude00"}"#, r#"{"a":"\ufffd\n\ufffd"}"#),
        ] {
            let found = readable(Arguments::json(raw));
            assert_eq!(found.arguments.raw(), read);
            assert_eq!(found.shorter.unwrap().raw(), read.replace("\\ufffd", ""));
        }
        // Nothing to read otherwise: a whole pair, an escaped backslash, no JSON, one key for two.
        for raw in [
            r#"{"a":"\ud83d\ude00"}"#,
            r#"{"a":"\\ud83d"}"#,
            r#"{"a":"\ud83d"#,
            r#"{"a":"\ud83"}"#,
            r#"{"a\ud83d":1,"a\ud83e":2}"#,
            r#"{"a\ud83d":1,"a":2}"#,
            r#"{"a":"\u+83d"}"#,
        ] {
            let found = readable(Arguments::json(raw));
            assert_eq!((found.arguments.raw(), found.shorter), (raw, None));
        }
    }
}
