//! Text that code puts together from a pattern and values: `"a%s" % b`, `"a{}".format(b)`,
//! `".".join([a, b])`, `[a, b].join(".")`.

use super::Scanner;
use crate::model::Language;
use crate::word::{Fill, Word};

/// Values of one text that are looked at.
const MAX_VALUES: usize = 16;

impl Scanner<'_> {
    /// The text that a literal becomes with the values behind it, or the literal itself.
    pub(super) fn filled(&mut self, literal: Word, depth: usize) -> Word {
        let is_python = self.language == Language::Python;
        if !is_python && self.language != Language::Ruby || depth > 3 {
            return literal;
        }
        let Some(pattern) = literal.text() else { return literal };
        let start = self.pos;
        if self.rest().trim_start().starts_with('%') && pattern.contains('%') {
            self.blanks();
            self.pos += 1;
            self.blanks();
            return percent(pattern, &self.values(depth));
        }
        if is_python && pattern.contains('{') && self.rest().starts_with(".format(") {
            self.pos += ".format".len();
            return braces(pattern, &self.values(depth));
        }
        if is_python && self.rest().starts_with(".join(") {
            self.pos += ".join(".len();
            self.blanks();
            let mut closing = 1;
            if self.rest().starts_with("map(str,") {
                self.pos += "map(str,".len();
                closing = 2;
            } else if let Some(at) = self.rest().find(" in [").filter(|at| *at < 32) {
                self.pos += at + " in ".len();
            }
            self.blanks();
            if matches!(self.peek(), b'[' | b'(') {
                let values = self.values(depth);
                for _ in 0..closing {
                    self.blanks();
                    self.pos += usize::from(self.peek() == b')');
                }
                return joined(&values, pattern);
            }
        }
        self.pos = start;
        literal
    }

    /// `[169, 254].join(".")`, which begins here.
    pub(super) fn joined_list(&mut self, depth: usize) -> Option<Word> {
        let start = self.pos;
        if depth < 3 {
            let values = self.values(depth);
            if self.rest().starts_with(".join(") {
                self.pos += ".join(".len();
                let is_literal = matches!(self.peek(), b'\'' | b'"');
                let separator = if is_literal { self.string() } else { Word::known(",") };
                if self.peek() == b')' {
                    self.pos += 1;
                    return separator.text().map(|between| joined(&values, between));
                }
            }
        }
        self.pos = start;
        None
    }

    /// The values in parentheses or brackets, or the one that is written without them.
    fn values(&mut self, depth: usize) -> Vec<Word> {
        let close = match self.peek() {
            b'(' => b')',
            b'[' => b']',
            _ => return vec![self.expression_at(depth + 1)],
        };
        self.pos += 1;
        let mut values = Vec::new();
        while values.len() < MAX_VALUES {
            self.blanks();
            if self.peek() == close {
                self.pos += 1;
                break;
            }
            values.push(self.expression_at(depth + 1));
            self.blanks();
            match self.peek() {
                b',' => self.pos += 1,
                byte if byte == close => {}
                _ => {
                    values.push(Word::unknown());
                    break;
                }
            }
        }
        values
    }
}

fn joined(values: &[Word], between: &str) -> Word {
    let mut word = Word::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            word.push_str(between);
        }
        word.push_word(value);
    }
    word
}

/// `"http://%s:%d" % (host, port)`
fn percent(pattern: &str, values: &[Word]) -> Word {
    let mut word = Word::default();
    let mut values = values.iter();
    let mut rest = pattern;
    while let Some((before, mark)) = rest.split_once('%') {
        word.push_str(before);
        if let Some(after) = mark.strip_prefix('%') {
            word.push('%');
            rest = after;
            continue;
        }
        // `%(name)s` names a value of a dictionary.
        let is_named = mark.starts_with('(');
        let mark = if is_named { mark.split_once(')').map_or("", |(_, mark)| mark) } else { mark };
        match values.next().filter(|_| !is_named) {
            Some(value) => word.push_word(value),
            None => word.push_gap(Fill::Anything),
        }
        let end = mark.find(|letter: char| letter.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        rest = mark.get(end..).unwrap_or_default();
    }
    word.push_str(rest);
    word
}

/// `"http://{}:{1}".format(host, port)`
fn braces(pattern: &str, values: &[Word]) -> Word {
    let mut word = Word::default();
    let mut next = 0;
    let mut rest = pattern;
    while let Some((before, inside)) = rest.split_once('{') {
        word.push_str(before);
        if let Some(after) = inside.strip_prefix('{') {
            word.push('{');
            rest = after;
            continue;
        }
        let (inside, after) = inside.split_once('}').unwrap_or((inside, ""));
        let name = inside.split(':').next().unwrap_or_default();
        let at = if name.is_empty() { Some(next) } else { name.parse::<usize>().ok() };
        next += 1;
        match at.and_then(|at| values.get(at)) {
            Some(value) => word.push_word(value),
            None => word.push_gap(Fill::Anything),
        }
        rest = after;
    }
    word.push_str(rest);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_filled_with_values() {
        let values = [Word::known("a"), Word::known("1")];
        assert_eq!(percent("x%s:%02d 5%%", &values).text(), Some("xa:1 5%"));
        assert_eq!(braces("x{}:{:d}{{", &values).text(), Some("xa:1{"));
        assert_eq!(braces("{1}{0}", &values).text(), Some("1a"));
        assert!(!percent("%(name)s", &values).is_known());
        assert!(!braces("{name}", &values).is_known() && !percent("%", &[]).is_known());
        assert_eq!(joined(&values, ".").text(), Some("a.1"));
    }
}
