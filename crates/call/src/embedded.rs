//! What a string argument is to programs that parse it once more. The Python MCP SDK takes the text of
//! an argument for JSON wherever the tool expects anything but a string, because some models write
//! lists and objects like that.

use crate::json::{Problem, Value};

/// What the text of an argument holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddedJson {
    /// A list, an object or `null`. The SDK leaves other values in their text.
    Value(Value),
    /// Only some parsers read it, or they read different things: a key stands twice in it, `NaN`, half a
    /// character, too many levels.
    Unclear,
}

/// More of them than this in one call are not read: each is then unclear. Tools have a handful.
const MAX_READ: usize = 64;

/// All string arguments of a call that hold something.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddedArguments {
    /// By the argument's place.
    read: Vec<(usize, EmbeddedJson)>,
    /// There are more, which were not read.
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

    /// What this argument of `root` holds, with its key. The argument is known by its address.
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

/// The space that JSON knows.
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

/// What this project's reader refuses and others accept.
fn is_lax(problem: Problem) -> bool {
    match problem {
        Problem::DuplicateKey | Problem::LoneSurrogate | Problem::TooDeep => true,
        Problem::Truncated | Problem::Unexpected | Problem::Trailing | Problem::WrongType => false,
    }
}

/// The same text with a zero for each `NaN` and `Infinity`; `None` if it has none.
fn without_odd_numbers(text: &str) -> Option<String> {
    const ODD: [&str; 2] = ["NaN", "Infinity"];
    if !ODD.iter().any(|word| text.contains(word)) {
        return None;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let (mut in_string, mut escaped) = (false, false);
    while let Some(c) = rest.chars().next() {
        let odd = ODD.iter().find_map(|word| rest.strip_prefix(word)).filter(|_| !in_string);
        if let Some(behind) = odd {
            out.push('0');
            rest = behind;
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
        let quoted = crate::json::quote(argument);
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
