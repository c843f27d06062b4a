//! Hints for the most common slips in YAML.

/// What to do about a syntax error on this line (counted from 1), if it looks like a common slip.
pub(crate) fn hint(message: &str, line: usize, text: &str) -> Option<String> {
    let at = |line: usize| text.lines().nth(line.checked_sub(1)?);
    // Some errors are found only on the line after the slip.
    let near = [at(line), at(line.saturating_sub(1))];
    let found = near.into_iter().flatten().find_map(|written| {
        escape(message, written)
            .or_else(|| tab(written))
            .or_else(|| unquoted(written))
            .or_else(|| colon(message, written))
    });
    // A tab may count as the continuation of the line before it.
    found.or_else(|| at(line + 1).filter(|_| message.contains("tab")).and_then(tab))
}

/// `"git\s+push"`: in double quotes a backslash begins an escape.
fn escape(message: &str, line: &str) -> Option<String> {
    if !message.contains("escape") {
        return None;
    }
    let mut quoted = line.split('"').skip(1).step_by(2).filter(|text| text.contains('\\'));
    let pattern = quoted.next().unwrap_or(r"\s");
    Some(format!("write patterns in single quotes: '{}'", pattern.replace('\'', "''")))
}

fn tab(line: &str) -> Option<String> {
    let indent = line.get(..line.len() - line.trim_start().len())?;
    indent.contains('\t').then(|| "indent with spaces; YAML does not allow tabs".to_owned())
}

/// `tool: @shell`, `tool: *`: a value that begins with a sign of YAML's own.
fn unquoted(line: &str) -> Option<String> {
    let code = line.split(" #").next().unwrap_or(line);
    let begins_value = |before: &str| {
        let before = before.trim_end();
        before.ends_with([':', '-', '[', ',', '{']) || before.is_empty()
    };
    let at = code
        .char_indices()
        .find(|(at, c)| SIGNS.contains(c) && code.get(..*at).is_some_and(begins_value));
    let (at, sign) = at?;
    let value = code.get(at..)?.split([',', ']', '}']).next()?.trim();
    Some(format!("a value that begins with `{sign}` needs quotes: \"{value}\""))
}

const SIGNS: [char; 6] = ['@', '*', '&', '!', '%', '`'];

/// `reason: Stop: never`: a colon inside a value.
fn colon(message: &str, line: &str) -> Option<String> {
    if !message.contains("mapping values are not allowed") {
        return None;
    }
    let (key, value) = line.trim().trim_start_matches("- ").split_once(": ")?;
    let value = value.trim();
    if !value.contains(": ") && !value.ends_with(':') {
        return None;
    }
    let value = value.replace('\\', r"\\").replace('"', "\\\"");
    Some(format!("a value with a colon in it needs quotes: {key}: \"{value}\""))
}

#[cfg(test)]
mod tests {
    use crate::{Problems, Source, parse};

    fn hint(text: &str) -> Option<String> {
        let source = Source { name: "test".into(), text: text.into() };
        let mut problems = Problems::new(&source);
        assert_eq!(parse(&source, &mut problems), None, "{text} is valid YAML");
        problems.into_list().remove(0).hint
    }

    #[test]
    fn common_slips_get_a_hint() {
        let table = [
            ("tool: @shell\n", "a value that begins with `@` needs quotes: \"@shell\""),
            (
                "rules:\n  - id: a\n    tool: [Read, @shell]\n",
                "a value that begins with `@` needs quotes: \"@shell\"",
            ),
            (
                "rules:\n  - tool: *\n    verdict: deny\n",
                "a value that begins with `*` needs quotes: \"*\"",
            ),
            (
                "tool: *_delete\nverdict: deny\n",
                "a value that begins with `*` needs quotes: \"*_delete\"",
            ),
            ("matches: \"git\\s+push\"\n", "write patterns in single quotes: 'git\\s+push'"),
            (
                "reason: Stop: never\n",
                "a value with a colon in it needs quotes: reason: \"Stop: never\"",
            ),
            (
                "- id: a\n  reason: Stop: never\n",
                "a value with a colon in it needs quotes: reason: \"Stop: never\"",
            ),
            ("rules:\n\t- id: a\n", "indent with spaces; YAML does not allow tabs"),
        ];
        for (text, expected) in table {
            assert_eq!(hint(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_mistakes_get_none() {
        for text in ["a: [1, 2\n", "a: 'x\n", "a: b\n c\n  d: e\n"] {
            assert_eq!(hint(text), None, "{text}");
        }
    }
}
