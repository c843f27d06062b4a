//! JSON, also with comments and trailing commas: as YAML, of which it is a part once the comments
//! are blanked out.

use callgate_document::{Node, Problems, Source, parse};
use serde::de::IgnoredAny;

use super::span;

/// Reads JSON with or without comments.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Node> {
    let text = without_comments(&source.text);
    // YAML accepts more than JSON.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(&text) {
        let start = offset(&text, error.line(), error.column());
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        problems
            .add(span(&source.text, start, start + 1), format!("cannot read this JSON: {message}"));
        return None;
    }
    parse(&Source { name: source.name.clone(), text }, problems)
}

/// The first byte of a place that is given as a line and a column in bytes, both from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before + column.saturating_sub(1)
}

/// The text with blanks instead of comments, tabs and trailing commas, so that everything keeps
/// its place.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut comma = None;
    let mut state = CommentState::Plain;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        state = match (state, letter) {
            (CommentState::Plain, '"') => CommentState::Text,
            (CommentState::Plain, '/') if next == Some('/') => CommentState::Line,
            (CommentState::Plain, '/') if next == Some('*') => {
                letters.next();
                out.push_str("  ");
                state = CommentState::Block;
                continue;
            }
            (CommentState::Text, '\\') => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            (CommentState::Text, '"') | (CommentState::Line, '\n') => CommentState::Plain,
            (CommentState::Block, '*') if next == Some('/') => {
                letters.next();
                out.push_str("  ");
                state = CommentState::Plain;
                continue;
            }
            (state, _) => state,
        };
        if let (CommentState::Plain, Some(at), ']' | '}') = (state, comma, letter) {
            out.replace_range(at..=at, " ");
        }
        if matches!(state, CommentState::Plain | CommentState::Text) && !letter.is_whitespace() {
            comma = (letter == ',' && matches!(state, CommentState::Plain)).then_some(out.len());
        }
        match (state, letter) {
            (_, '\n' | '\r') => out.push(letter),
            (CommentState::Line | CommentState::Block, _) => blank(letter, &mut out),
            (CommentState::Plain, '\t' | '\u{feff}') => blank(letter, &mut out),
            _ => out.push(letter),
        }
    }
    out
}

#[derive(Clone, Copy)]
enum CommentState {
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

    #[test]
    fn what_only_yaml_accepts_is_an_error() {
        let table = [
            ("{\"a\": }", (1, 7)),
            ("{\n\"a\": yes}", (2, 6)),
            ("{a: 1}", (1, 2)),
            ("[\"é\", x]", (1, 7)),
        ];
        for (text, place) in table {
            let source = Source { name: "a".into(), text: text.into() };
            let mut problems = Problems::new(&source);
            assert!(read(&source, &mut problems).is_none(), "{text}");
            let found = problems.into_list().remove(0);
            assert_eq!((found.span.line, found.span.column), place, "{text}: {}", found.message);
        }
    }
}
