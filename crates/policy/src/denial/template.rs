//! A text with placeholders such as `{tool}`.

use std::fmt;

/// A text with placeholders, parsed once when the config is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTemplate {
    lines: Vec<Vec<TemplatePiece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Place(&'static str),
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// It has an unknown placeholder.
    Unknown {
        /// The text between the braces.
        name: String,
        /// The placeholders that are known here.
        known: &'static [&'static str],
    },
    /// A brace is not closed.
    Open,
    /// It is longer than this many characters.
    TooLong(usize),
    /// It is empty.
    Empty,
    /// It contains a control character, which some channels would not transmit unchanged.
    Control,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => write!(f, "unknown placeholder `{{{name}}}`"),
            Self::Open => f.write_str("a `{` is not closed"),
            Self::TooLong(max) => write!(f, "longer than {max} characters"),
            Self::Empty => f.write_str("empty"),
            Self::Control => f.write_str("it contains a control character"),
        }
    }
}

impl TemplateError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known, .. } => {
                let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
                format!("known here: {}; write `{{{{` for a brace", known.join(", "))
            }
            Self::Open => "write `{{` for a brace".to_owned(),
            Self::TooLong(_) => "shorten it, and link to a page with the details".to_owned(),
            Self::Empty => "remove the key to get the built-in text".to_owned(),
            Self::Control => "use plain text".to_owned(),
        }
    }
}

impl TextTemplate {
    /// Parses a text of at most `max` characters with these placeholders. `{{` and `}}` are braces.
    pub(crate) fn read(
        text: &str,
        known: &'static [&'static str],
        max: usize,
    ) -> Result<Self, TemplateError> {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        if text.is_empty() {
            return Err(TemplateError::Empty);
        }
        if text.chars().nth(max).is_some() {
            return Err(TemplateError::TooLong(max));
        }
        if text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(TemplateError::Control);
        }
        let lines = text.lines().map(|line| pieces(line, known)).collect::<Result<_, _>>()?;
        Ok(Self { lines })
    }

    pub(crate) fn empty() -> Self {
        Self { lines: Vec::new() }
    }

    /// The text with its placeholders filled in. A line whose placeholders are all empty is left
    /// out, and so is white space at both ends. Inserted values are not parsed again.
    pub(crate) fn fill<'v>(&'v self, value: impl Fn(&'static str) -> &'v str) -> String {
        let mut filled = String::with_capacity(512);
        for line in self.lines.iter().filter(|line| has_content(line, &value)) {
            line.iter().for_each(|piece| filled.push_str(piece.shown(&value)));
            filled.push('\n');
        }
        filled.trim().to_owned()
    }
}

/// Whether a line has no placeholder, or at least one with a value.
fn has_content<'v>(line: &'v [TemplatePiece], value: impl Fn(&'static str) -> &'v str) -> bool {
    let mut has_place = false;
    for piece in line {
        if let TemplatePiece::Place(name) = piece {
            if !value(name).is_empty() {
                return true;
            }
            has_place = true;
        }
    }
    !has_place
}

impl TemplatePiece {
    fn shown<'v>(&'v self, value: impl Fn(&'static str) -> &'v str) -> &'v str {
        match self {
            Self::Text(text) => text,
            Self::Place(name) => value(name),
        }
    }
}

fn pieces(line: &str, known: &'static [&'static str]) -> Result<Vec<TemplatePiece>, TemplateError> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut rest = line;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            text.extend(brace.chars().next());
            rest = after;
        } else if let Some(after) = brace.strip_prefix('}') {
            text.push('}');
            rest = after;
        } else {
            let inside = brace.get(1..).unwrap_or_default();
            let (name, after) = inside.split_once('}').ok_or(TemplateError::Open)?;
            let found = known.iter().find(|known| **known == name.trim());
            let unknown =
                || TemplateError::Unknown { name: name.chars().take(40).collect(), known };
            pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
            pieces.push(TemplatePiece::Place(found.ok_or_else(unknown)?));
            rest = after;
        }
    }
    text.push_str(rest);
    pieces.push(TemplatePiece::Text(text));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["a", "b"];

    fn filled(text: &str, a: &str, b: &str) -> String {
        let template = TextTemplate::read(text, KNOWN, 100).unwrap();
        template.fill(|name| if name == "a" { a } else { b })
    }

    #[test]
    fn places_are_filled_in_once() {
        assert_eq!(filled("{a} and { b }", "{b}", "2"), "{b} and 2");
        assert_eq!(filled("a {{a}} } }} b", "1", "2"), "a {a} } } b");
    }

    #[test]
    fn a_line_with_empty_placeholders_is_left_out() {
        assert_eq!(filled("x\nA: {a}\n\nB: {b} {a}\ny", "", ""), "x\n\ny");
        assert_eq!(filled("x\r\nA: {a}\nB: {b} {a}", "", "2"), "x\nB: 2");
        assert_eq!(filled("{a}\n\nx", "", ""), "x");
    }

    #[test]
    fn invalid_templates() {
        let read = |text: &str| TextTemplate::read(text, KNOWN, 10).unwrap_err();
        assert_eq!(read("{c}"), TemplateError::Unknown { name: "c".into(), known: KNOWN });
        assert!(read("{c}").hint().starts_with("known here: {a}, {b};"));
        assert_eq!(read("x {a"), TemplateError::Open);
        assert_eq!(read(" \n "), TemplateError::Empty);
        assert_eq!(read("01234567890"), TemplateError::TooLong(10));
        assert_eq!(read("a\u{1b}b"), TemplateError::Control);
    }
}
