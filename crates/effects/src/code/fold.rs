//! Texts that code puts together from literals, as one literal: `["a", "b"].join("/")` is `"a/b"`.

use std::borrow::Cow;

/// Lists of one text that are joined.
const MAX_LISTS: usize = 32;
/// Bytes of one list.
const MAX_LIST: usize = 512;

/// What stands for the home directory in code. It is `~` in a path.
const HOMES: &[&str] = &[
    "process.env.HOME",
    "process.env.USERPROFILE",
    "os.homedir()",
    "require('os').homedir()",
    "require(\"os\").homedir()",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "Dir.home",
    "os.environ['HOME']",
    "os.environ[\"HOME\"]",
    "os.path.expanduser('~')",
    "os.path.expanduser(\"~\")",
    "str(Path.home())",
];

/// The text with each joined list of literals as one literal.
pub(super) fn joined_lists(text: &str) -> Cow<'_, str> {
    if !text.contains("join(") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    for _ in 0..MAX_LISTS {
        let Some((from, to, literal)) = next_list(rest) else { break };
        whole.push_str(rest.get(..from).unwrap_or_default());
        whole.push_str(&literal);
        rest = rest.get(to..).unwrap_or_default();
    }
    if whole.is_empty() {
        return Cow::Borrowed(text);
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// The next list that can be joined: its place, and the literal that it is.
fn next_list(text: &str) -> Option<(usize, usize, String)> {
    let mut calls = text.match_indices("join(").take(MAX_LISTS);
    calls.find_map(|(at, _)| behind_list(text, at).or_else(|| before_list(text, at)))
}

/// `[…].join("/")`
fn behind_list(text: &str, at: usize) -> Option<(usize, usize, String)> {
    let end = text.get(..at)?.strip_suffix("].")?.len();
    let from = opening(text, end)?;
    let argument = text.get(at + "join(".len()..)?;
    let separator = literal(argument.get(..argument.find(')')?)?.trim())?;
    let to = at + "join(".len() + argument.find(')')? + 1;
    Some((from, to, quoted(elements(text.get(from + 1..end)?)?.join(separator))?))
}

/// `"/".join([…])`
fn before_list(text: &str, at: usize) -> Option<(usize, usize, String)> {
    let before = text.get(..at)?.strip_suffix('.')?;
    let quote = before.chars().next_back().filter(|quote| matches!(quote, '"' | '\''))?;
    let from = before.get(..before.len() - 1)?.rfind(quote)?;
    let separator = before.get(from + 1..before.len() - 1)?;
    let start = at + "join([".len();
    let inside = text.get(at..start).filter(|call| *call == "join([").and(text.get(start..))?;
    let end = closing(inside)?;
    let to = start + end + 1;
    let after = text.get(to..)?.strip_prefix(')').map(|_| to + 1)?;
    Some((from, after, quoted(elements(inside.get(..end)?)?.join(separator))?))
}

/// The bracket that opens the list which ends here.
fn opening(text: &str, end: usize) -> Option<usize> {
    let start = text.floor_char_boundary(end.saturating_sub(MAX_LIST));
    let mut depth = 0_usize;
    for (at, letter) in text.get(start..end)?.char_indices().rev() {
        match letter {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(start + at),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The bracket that closes the list which begins here.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().take(MAX_LIST) {
        match letter {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The values of a list, if all of them are in the text.
fn elements(list: &str) -> Option<Vec<String>> {
    list.split(',').map(|element| element.split('+').map(part).collect()).collect()
}

fn part(text: &str) -> Option<&str> {
    let text = text.trim();
    if HOMES.contains(&text) { Some("~") } else { literal(text) }
}

/// What is between quotes, without anything that has a meaning there.
fn literal(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.contains([quote, '\\', '$', '#', '{', ',', '+'])).then_some(inside)
}

fn quoted(text: String) -> Option<String> {
    (!text.contains('"')).then(|| format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::joined_lists;

    #[test]
    fn lists_of_literals_become_one_literal() {
        for (code, expected) in [
            (r#"r = ["", "mnt", "nas"].join("/"); d(r)"#, r#"r = "/mnt/nas"; d(r)"#),
            (r#"p=[process.env.HOME,".gem"+"ini","a.json"].join("/")"#, r#"p="~/.gemini/a.json""#),
            (r#"open('/'.join(['etc', 'passwd']))"#, r#"open("etc/passwd")"#),
            (r#"x(["a"].join("-"), ["b", "c"].join(""))"#, r#"x("a", "bc")"#),
        ] {
            assert_eq!(joined_lists(code), expected);
        }
    }

    #[test]
    fn what_is_not_known_stays_as_it_is() {
        for code in [
            "names.join(', ')",
            "[a, \"b\"].join(\"/\")",
            "','.join([str(x) for x in y])",
            "path.join(__dirname, 'a')",
            "[\"a\\\\b\"].join(\"/\")",
            "].join(",
            "\".join([",
            "join(",
        ] {
            assert_eq!(joined_lists(code), code);
        }
    }
}
