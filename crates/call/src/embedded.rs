//! JSON inside string arguments, which some programs parse. The Python MCP SDK parses the text of
//! an argument as JSON if the tool expects anything but a string, because some models write lists
//! and objects as strings.

use callgate_json::{Problem, Value};

/// The JSON in the text of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddedJson {
    /// A list, an object or `null`. The SDK does not convert text with other values.
    Value(Value),
    /// Only some parsers accept it, or they read it differently: a duplicate key, `NaN`, a lone
    /// surrogate, too many levels.
    Unclear,
}

/// The most such arguments that are parsed in one call; the rest are unclear. Tools have only a
/// few.
const MAX_READ: usize = 64;

/// All string arguments of a call that contain JSON.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddedArguments {
    /// The JSON, with the position of its argument.
    read: Vec<(usize, EmbeddedJson)>,
    /// Whether there are more, which were not parsed.
    are_more: bool,
}

impl EmbeddedArguments {
    pub(crate) fn of(root: &Value) -> Self {
        let mut embedded = Self { read: Vec::new(), are_more: false };
        let Value::Object(members) = root else { return embedded };
        for (place, (_, member)) in members.iter().enumerate() {
            let Some(text) = member.as_str().filter(|text| looks_like_json(text)) else { continue };
            if embedded.read.len() == MAX_READ {
                embedded.are_more = true;
                break;
            }
            embedded.read.extend(inside(text).map(|inside| (place, inside)));
        }
        embedded
    }

    /// The JSON in this argument of `root`, and its key. Arguments are compared by address.
    pub(crate) fn find<'v>(
        &'v self,
        root: &'v Value,
        argument: &Value,
    ) -> Option<(&'v str, &'v EmbeddedJson)> {
        if self.read.is_empty() {
            return None;
        }
        let Value::Object(members) = root else { return None };
        let known = self.read.iter().find_map(|(place, inside)| {
            let (key, member) = members.get(*place)?;
            std::ptr::eq(member, argument).then_some((key.as_str(), inside))
        });
        let is_left = || self.are_more && argument.as_str().is_some_and(looks_like_json);
        known.or_else(|| is_left().then_some(("", &EmbeddedJson::Unclear)))
    }
}

/// JSON's white space.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn looks_like_json(text: &str) -> bool {
    let text = text.trim_matches(SPACE);
    let is_in = |open, close| text.starts_with(open) && text.ends_with(close);
    is_in('[', ']') || is_in('{', '}') || text == "null"
}

fn inside(text: &str) -> Option<EmbeddedJson> {
    match Value::parse(text) {
        Ok(value) => Some(EmbeddedJson::Value(value)),
        Err(error) if is_lax(error.what) => Some(EmbeddedJson::Unclear),
        Err(_) => {
            let numbers = without_odd_numbers(text)?;
            let is_json = Value::parse(&numbers).map_or_else(|it| is_lax(it.what), |_| true);
            is_json.then_some(EmbeddedJson::Unclear)
        }
    }
}

/// Whether our reader rejects this and some others accept it.
fn is_lax(problem: Problem) -> bool {
    match problem {
        Problem::DuplicateKey | Problem::LoneSurrogate | Problem::TooDeep => true,
        Problem::Truncated | Problem::Unexpected | Problem::Trailing | Problem::WrongType => false,
    }
}

/// The text with every `NaN` and `Infinity` replaced by a zero; `None` if it has neither.
fn without_odd_numbers(text: &str) -> Option<String> {
    const ODD: [&str; 2] = ["NaN", "Infinity"];
    if !ODD.iter().any(|word| text.contains(word)) {
        return None;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let (mut in_string, mut escaped) = (false, false);
    while let Some(c) = rest.chars().next() {
        let odd = ODD.iter().find_map(|word| rest.strip_prefix(word)).filter(|_| !in_string);
        if let Some(after) = odd {
            out.push('0');
            rest = after;
            continue;
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arguments;

    fn of(argument: &str) -> Option<EmbeddedJson> {
        let quoted = callgate_json::quote(argument);
        let arguments = Arguments::json(format!(r#"{{"n":1,"a":{quoted}}}"#));
        let argument = arguments.value().unwrap().get("a").unwrap();
        let found = arguments.embedded_json(argument);
        assert!(found.is_none_or(|(key, _)| key == "a"));
        found.map(|(_, inside)| inside.clone())
    }

    #[test]
    fn lists_and_objects_in_a_text_are_read() {
        for text in [r#"["rm"]"#, " {\"a\":[1]}\n", "[]", "null", r#"["\u0072m"]"#] {
            assert_eq!(of(text), Some(EmbeddedJson::Value(Value::parse(text).unwrap())), "{text}");
        }
        for text in [
            r#"{"a":1,"a":2}"#,
            "[NaN]",
            r#"{"NaN \" Infinity":-Infinity}"#,
            r#"["\ud83d"]"#,
            &("[".repeat(200) + &"]".repeat(200)),
        ] {
            assert_eq!(of(text), Some(EmbeddedJson::Unclear), "{text}");
        }
    }

    #[test]
    fn other_texts_hold_nothing() {
        for text in [
            "",
            "ls",
            "5",
            "true",
            r#""text""#,
            "[ -f x ] && [ -d y ]",
            "{ echo NaN; }",
            "[1] [2]",
            "[1",
            "[1,]",
            "{a: 1}",
            "\u{feff}[1]",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let nested = Arguments::json(r#"{"a":["[1]"],"b":{"c":"[1]"}}"#);
        let argument = nested.value().unwrap().get("b").unwrap().get("c").unwrap();
        assert_eq!(nested.embedded_json(argument), None);
        assert_eq!(Arguments::text("[1]").embedded_json(&Value::Null), None);
    }

    #[test]
    fn of_many_the_last_are_unclear() {
        let members: Vec<String> = (0..100).map(|n| format!(r#""a{n}":"[{n}]""#)).collect();
        let arguments = Arguments::json(format!(r#"{{{},"b":"ls"}}"#, members.join(",")));
        let root = arguments.value().unwrap();
        let inside = |key: &str| arguments.embedded_json(root.get(key).unwrap()).map(|(_, it)| it);
        assert!(matches!(inside("a63"), Some(EmbeddedJson::Value(_))));
        assert_eq!(inside("a64"), Some(&EmbeddedJson::Unclear));
        assert_eq!(inside("a99"), Some(&EmbeddedJson::Unclear));
        assert_eq!(inside("b"), None);
    }
}
