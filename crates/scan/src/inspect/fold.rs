//! Folds a text for comparison: removes invisible characters, replaces look-alike letters, and
//! converts to lower case.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::confusable::plain_letter;
use super::{chars, terminal};

/// A folded text with the origin of each of its bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// From each of these places on, folded and original bytes advance together.
    anchors: Vec<(usize, usize)>,
}

impl Folded {
    pub(super) fn new(text: &str) -> Self {
        let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        if text.bytes().all(plain) {
            return Self { text: text.to_ascii_lowercase(), anchors: Vec::new() };
        }
        let mut folded = Self { text: String::with_capacity(text.len()), anchors: Vec::new() };
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            at = match c {
                c if terminal::begins(c) => at + sequence_len(text.get(at..).unwrap_or("")),
                c if is_word(c) => folded.word(text, at),
                c => {
                    folded.sign(c, at, false);
                    at + c.len_utf8()
                }
            };
        }
        folded
    }

    /// Folds a word: if it has Latin letters, or only look-alikes of them, it is read as Latin. So
    /// a Russian word stays Russian.
    fn word(&mut self, text: &str, start: usize) -> usize {
        let rest = text.get(start..).unwrap_or("");
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("");
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        let latin = word.bytes().any(|byte| byte.is_ascii_alphabetic())
            || letters.all(|c| plain_letter(c).is_some());
        for (at, c) in word.char_indices() {
            self.sign(c, start + at, latin);
        }
        start + length
    }

    fn sign(&mut self, c: char, at: usize, latin: bool) {
        if c.is_ascii() {
            if !chars::is_odd_control(c) {
                self.push(c.to_ascii_lowercase(), at);
            }
            return;
        }
        if chars::is_invisible(c) {
            return;
        }
        if let Some(plain) = plain_letter(c).filter(|_| latin) {
            self.push(plain, at);
            return;
        }
        for part in std::iter::once(c).nfkd().flat_map(char::to_lowercase) {
            match plain_letter(part).filter(|_| latin) {
                _ if is_combining(part) => {}
                Some(plain) => self.push(plain, at),
                None => self.push(part, at),
            }
        }
    }

    fn push(&mut self, c: char, at: usize) {
        if self.origin(self.text.len()) != at {
            self.anchors.push((self.text.len(), at));
        }
        self.text.push(c);
    }

    /// The origin of the folded byte `at`.
    fn origin(&self, at: usize) -> usize {
        let next = self.anchors.partition_point(|(folded, _)| *folded <= at);
        let before = next.checked_sub(1).and_then(|before| self.anchors.get(before));
        before.map_or(at, |(folded, original)| original + (at - folded))
    }

    /// The bytes of `text` for a folded span, in whole characters.
    pub(super) fn span(&self, text: &str, span: &Range<usize>) -> Range<usize> {
        let start = text.floor_char_boundary(self.origin(span.start).min(text.len()));
        let last = self.origin(span.end.saturating_sub(1)).min(text.len());
        let end = text.ceil_char_boundary((last + 1).min(text.len()));
        start..end.max(start)
    }

    /// The same text with digits and symbols read as the letters that they look like, in words that
    /// have both. `None` if there is no such word.
    pub(super) fn unleeted(&self, one: u8) -> Option<Self> {
        if !has_leet(self.text.as_bytes(), one) {
            return None;
        }
        let mut bytes = self.text.clone().into_bytes();
        let mut changed = false;
        for word in bytes.split_mut(|byte| !is_leet_word(*byte)) {
            let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
            let signs = word.iter().filter(|byte| leet(**byte, one).is_some()).count();
            // `v1` and `utf8` stay; `1gn0r3` does not.
            if word.len() < MIN_LEET || letters == 0 || signs == 0 || signs > letters * 2 {
                continue;
            }
            word.iter_mut().for_each(|byte| *byte = leet(*byte, one).unwrap_or(*byte));
            changed = true;
        }
        let text = String::from_utf8(bytes).ok().filter(|_| changed)?;
        Some(Self { text, anchors: self.anchors.clone() })
    }
}

/// Shorter words are numbers, units and versions.
const MIN_LEET: usize = 3;

/// Whether a symbol that may be a letter is next to a letter. For `l`, only ones matter: the other
/// symbols were read before.
fn has_leet(bytes: &[u8], one: u8) -> bool {
    let sign = |byte: u8| match one {
        b'l' => matches!(byte, b'1' | b'|'),
        _ => leet(byte, one).is_some(),
    };
    bytes.windows(2).any(|pair| match pair {
        [a, b] => {
            sign(*a) && b.is_ascii_alphabetic()
                || sign(*b) && b.ne(&b'!') && a.is_ascii_alphabetic()
        }
        _ => false,
    })
}

fn is_leet_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'$' | b'!' | b'|')
}

fn leet(byte: u8, one: u8) -> Option<u8> {
    Some(match byte {
        b'0' => b'o',
        b'1' | b'|' => one,
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        b'!' => b'i',
        _ => return None,
    })
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || (chars::is_invisible(c) && !c.is_ascii()) || is_combining(c)
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// The length of the terminal sequence at the start of `rest`.
pub(super) fn sequence_len(rest: &str) -> usize {
    let count = terminal::sequence(rest.chars()).map_or(1, |(count, _)| count);
    rest.chars().take(count).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        Folded::new(text).text
    }

    #[test]
    fn disguises_fall() {
        for text in [
            "IGNORE",
            "ig\u{200b}no\u{ad}re",
            "\u{ff29}\u{ff27}\u{ff2e}\u{ff2f}\u{ff32}\u{ff25}",
            "\u{1d422}\u{1d420}\u{1d427}\u{1d428}\u{1d42b}\u{1d41e}",
            "ign\u{43e}r\u{435}",
            "\u{456}gn\u{3bf}re",
            "i\u{301}gno\u{308}re",
            "ig\u{1b}[31mnore",
            "\u{e0041}ignore\u{fe0f}",
            "ɪɢɴᴏʀᴇ",
        ] {
            assert_eq!(folded(text), "ignore", "{text:?}");
        }
    }

    #[test]
    fn other_scripts_stay() {
        assert_eq!(folded("Игнорируи"), "игнорируи");
        assert_eq!(folded("Größe"), "große");
        assert_eq!(folded("忽略"), "忽略");
    }

    #[test]
    fn spans_lead_back() {
        let text = "é\u{200b} ig\u{200b}nörę me";
        let folded = Folded::new(text);
        assert_eq!(folded.text, "e ignore me");
        let at = folded.text.find("ignore").unwrap();
        assert_eq!(&text[folded.span(text, &(at..at + 6))], "ig\u{200b}nörę");
    }

    #[test]
    fn digits_for_letters() {
        let text = Folded::new("1gn0r3 4ll pr3v10u5 utf8 12:30");
        assert_eq!(text.unleeted(b'i').unwrap().text, "ignore all previous utf8 12:30");
        assert!(Folded::new("v1 12:30 plain").unleeted(b'i').is_none());
    }
}
