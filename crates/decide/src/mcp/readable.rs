//! Makes arguments with lone surrogates readable for rules, and explains arguments that are
//! unreadable.

use callgate_call::{Arguments, ArgumentsForm, UnreadableArguments};
use callgate_json::{Edits, Span};
use callgate_policy::Judgement;

/// Arguments in the one or two ways they may be read.
#[derive(Debug)]
pub struct ArgumentReadings {
    /// The arguments as rules read them.
    pub arguments: Arguments,
    /// The arguments without lone surrogates, as some servers read them.
    pub without_surrogates: Option<Arguments>,
}

/// Makes arguments readable whose only fault is a lone surrogate.
///
/// JavaScript cuts an emoji in half and writes the remaining half as `\ud83d`, which is not valid
/// text. A server that accepts it replaces it with U+FFFD, or drops it. Rules read both versions.
/// The forwarded arguments stay unchanged.
pub fn readable(arguments: Arguments) -> ArgumentReadings {
    if !matches!(arguments.form(), ArgumentsForm::Json(_)) || arguments.value().is_ok() {
        return ArgumentReadings { arguments, without_surrogates: None };
    }
    let with = |other: &str| {
        let read = replace_lone_surrogates(arguments.raw(), other).map(Arguments::json);
        // Two keys may have become equal: then the arguments are still unreadable.
        read.filter(|read| read.value().is_ok())
    };
    match (with("\\ufffd"), with("")) {
        (Some(replaced), Some(without_surrogates)) => {
            ArgumentReadings { arguments: replaced, without_surrogates: Some(without_surrogates) }
        }
        _ => ArgumentReadings { arguments, without_surrogates: None },
    }
}

/// The same JSON with each lone surrogate replaced; `None` if it has none.
fn replace_lone_surrogates(raw: &str, other: &str) -> Option<String> {
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
            // Any other escape: skip the escaped character, which starts no escape itself.
            _ => start + 2,
        };
    }
    (!edits.is_empty()).then(|| edits.apply(raw))
}

/// Explains why a rule matched that applies only to what some servers read.
pub(crate) const LONE_SURROGATE_NOTE: &str = "without the lone surrogate in its arguments";

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// The UTF-16 unit that is escaped at this position.
fn unit(raw: &str, at: usize) -> Option<u16> {
    let digits = raw.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

/// An addition to the reason of a rule that stopped a call only because its arguments are
/// unreadable. Without it, a reader would look for something that the arguments may not contain.
pub(crate) fn unreadable_note(arguments: &Arguments, judgement: &Judgement) -> Option<String> {
    let decided = |error: &callgate_policy::RuleError| {
        let is = |name: &str, of: &Option<String>| of.as_deref() == Some(name);
        is(&error.policy, &judgement.policy) && is(&error.rule, &judgement.rule)
    };
    if judgement.verdict.passes() || !judgement.errors.iter().any(decided) {
        return None;
    }
    let why = match arguments.value() {
        Ok(_) => return None,
        Err(UnreadableArguments::Oversize) => "its arguments are larger than the limit".to_owned(),
        Err(why) => why.to_string(),
    };
    Some(format!("The rule could not be evaluated, which counts as a match: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_read_as_a_replacement_character() {
        for (raw, read) in [
            (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
            (r#"{"a":"\uDE00y"}"#, r#"{"a":"\ufffdy"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"\ud83d":"\\\ud83d"}"#, r#"{"\ufffd":"\\\ufffd"}"#),
            (r#"{"a":"\ud83d\n\ude00"}"#, r#"{"a":"\ufffd\n\ufffd"}"#),
        ] {
            let found = readable(Arguments::json(raw));
            assert_eq!(found.arguments.raw(), read);
            assert_eq!(found.without_surrogates.unwrap().raw(), read.replace("\\ufffd", ""));
        }
        // Nothing else to read: a complete pair, an escaped backslash, invalid JSON, two keys that
        // become equal.
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
            assert_eq!((found.arguments.raw(), found.without_surrogates), (raw, None));
        }
    }
}
