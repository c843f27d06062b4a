//! JSON, also with comments and trailing commas: as YAML, of which it is a part once the comments
//! are blanked out.

use callgate_policy::Source;
use callgate_policy::yaml::{Node, Problems, parse};

/// Reads JSON with or without comments.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Node> {
    let blanked = Source { name: source.name.clone(), text: without_comments(&source.text) };
    parse(&blanked, problems)
}

/// The text with blanks in the place of comments and tabs, so that everything keeps its place.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut state = State::Plain;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        state = match (state, letter) {
            (State::Plain, '"') => State::Text,
            (State::Plain, '/') if next == Some('/') => State::Line,
            (State::Plain, '/') if next == Some('*') => {
                letters.next();
                out.push_str("  ");
                state = State::Block;
                continue;
            }
            (State::Text, '\\') => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            (State::Text, '"') | (State::Line, '\n') => State::Plain,
            (State::Block, '*') if next == Some('/') => {
                letters.next();
                out.push_str("  ");
                state = State::Plain;
                continue;
            }
            (state, _) => state,
        };
        match (state, letter) {
            (_, '\n' | '\r') => out.push(letter),
            (State::Line | State::Block, _) => blank(letter, &mut out),
            (State::Plain, '\t' | '\u{feff}') => blank(letter, &mut out),
            _ => out.push(letter),
        }
    }
    out
}

#[derive(Clone, Copy)]
enum State {
    Plain,
    Text,
    Line,
    Block,
}

fn blank(letter: char, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', letter.len_utf8()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_leave_everything_in_its_place() {
        let text = "{ // a \"b\n\t\"x\": \"// no /* no\", /* é */ \"y\": [1, 2,],\n}\n";
        let blanked = without_comments(text);
        assert_eq!(blanked.len(), text.len());
        let source = Source { name: "a".into(), text: text.into() };
        let mut problems = Problems::new(&source);
        let node = read(&source, &mut problems).unwrap();
        assert_eq!(node.to_json(), r#"{"x":"// no /* no","y":[1,2]}"#);
        assert_eq!(crate::read::get(&node, "y").unwrap().span.line, 2);
    }
}
