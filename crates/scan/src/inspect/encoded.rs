//! Decodes encoded text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::base64;

/// A decoded text, and its encoding.
pub(super) struct DecodedText {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) how: &'static str,
}

/// Shorter runs are words, identifiers and digests.
const MIN_RUN: usize = 20;

/// How much of one payload is decoded. An instruction for a model is short; images are not text and
/// are rejected by their first bytes.
const MAX_PAYLOAD: usize = 64 * 1024;

/// How many payloads of one text are inspected, not counting those that are not text. It limits the
/// work for a text of tiny payloads; further ones are not decoded.
const MAX_PAYLOADS: usize = 256;

/// Calls `report` with each text that is encoded in `text`.
pub(super) fn each(text: &str, report: &mut dyn FnMut(DecodedText)) {
    let mut left = MAX_PAYLOADS;
    let mut give = |span: Range<usize>, inside: String, how: &'static str| {
        if left > 0 {
            left -= 1;
            report(DecodedText { span, text: inside, how });
        }
    };
    runs(text, &mut give);
    escapes(text, &mut give);
    mirrored(text, &mut give);
    spaced(text, &mut give);
}

type Give<'g> = dyn FnMut(Range<usize>, String, &'static str) + 'g;

/// Base64 and hex: long runs of their alphabets.
fn runs(text: &str, give: &mut Give<'_>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes.get(at..).and_then(|rest| rest.iter().position(is_base64)) {
        let start = at + start;
        let end = run_end(bytes, start);
        at = end.max(start + 1);
        if end - start < MIN_RUN {
            continue;
        }
        let run = text.get(start..end.min(start + MAX_PAYLOAD)).unwrap_or("");
        if let Some(inside) = hex(run) {
            give(start..end, inside, "hex");
        } else if let Some(inside) = base64_text(run) {
            give(start..end, inside, "base64");
        }
    }
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Lines of base64 have 60 to 76 characters; a run continues after the end of such a line.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    let mut line = start;
    loop {
        let rest = bytes.get(end..).unwrap_or(&[]);
        end += rest.iter().take_while(|byte| is_base64(byte)).count();
        let wraps = match bytes.get(end..) {
            Some([b'\n', next, ..]) if is_base64(next) => 1,
            Some([b'\r', b'\n', next, ..]) if is_base64(next) => 2,
            _ => 0,
        };
        if wraps == 0 || end - line < 60 {
            return end;
        }
        end += wraps;
        line = end;
    }
}

fn base64_text(run: &str) -> Option<String> {
    let digits: String = run.chars().filter(|c| !c.is_whitespace()).collect();
    let digits = digits.trim_end_matches('=').split('=').next_back().unwrap_or("");
    // The first bytes distinguish text from anything else.
    let head = digits.get(..digits.len().min(32) / 4 * 4)?;
    readable(base64::decode(head)?, true)?;
    let whole = match digits.len() % 4 {
        1 => digits.get(..digits.len() - 1)?,
        _ => digits,
    };
    readable(base64::decode(whole)?, false)
}

fn hex(run: &str) -> Option<String> {
    let digits = run.strip_prefix("0x").unwrap_or(run).as_bytes();
    let bytes: Option<Vec<u8>> = digits.chunks_exact(2).map(|pair| two_digits(pair, 16)).collect();
    readable(bytes?, false)
}

fn two_digits(pair: &[u8], radix: u32) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(pair).ok()?, radix).ok()
}

/// The bytes as text, if they look like one: mostly letters, and not too short.
fn readable(bytes: Vec<u8>, truncated: bool) -> Option<String> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // A head may end inside a character.
        Err(error) if truncated && error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).ok()?
        }
        Err(_) => return None,
    };
    let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (text.len() >= 12 && odd * 10 <= text.len()).then_some(text)
}

/// Escapes in plain text: `%69`, `&#105;`, `\x69`, `\u0069`. A stretch with enough of them is
/// decoded as a whole.
fn escapes(text: &str, give: &mut Give<'_>) {
    if !text.contains(['%', '&', '\\']) {
        return;
    }
    let mut stretch = Stretch::default();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((c, length)) = escape(rest) {
            stretch.escape(at, c, length);
            at += length;
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            // A few plain letters may be between escapes; more end the stretch.
            if !stretch.plain(c) {
                stretch.end(give);
            }
            at += c.len_utf8();
        }
    }
    stretch.end(give);
}

/// Consecutive escapes, with the text between them.
#[derive(Default)]
struct Stretch {
    start: usize,
    end: usize,
    count: usize,
    bytes: Vec<u8>,
    /// Plain bytes since the last escape.
    plain: usize,
}

/// Fewer escapes than this are punctuation in a URL.
const MIN_ESCAPES: usize = 6;

/// How many plain letters may be between two escapes of one stretch.
const MAX_BETWEEN: usize = 6;

impl Stretch {
    fn escape(&mut self, at: usize, c: DecodedEscape, length: usize) {
        if self.count == 0 {
            self.start = at;
        }
        self.count += 1;
        self.plain = 0;
        self.end = at + length;
        if self.bytes.len() < MAX_PAYLOAD {
            match c {
                DecodedEscape::Byte(byte) => self.bytes.push(byte),
                DecodedEscape::Char(c) => self.bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    /// Whether the stretch continues after `c`.
    fn plain(&mut self, c: char) -> bool {
        self.plain += 1;
        if self.count == 0 || self.plain > MAX_BETWEEN {
            return false;
        }
        self.bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
        true
    }

    fn end(&mut self, give: &mut Give<'_>) {
        let done = std::mem::take(self);
        if done.count >= MIN_ESCAPES {
            let text = String::from_utf8_lossy(&done.bytes).into_owned();
            give(done.start..done.end, text, "escaped characters");
        }
    }
}

enum DecodedEscape {
    Byte(u8),
    Char(char),
}

/// The escape at the start of `rest`, and its length.
fn escape(rest: &str) -> Option<(DecodedEscape, usize)> {
    let digits = |from: usize, count: usize| {
        let hex = rest.get(from..from + count)?;
        hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(hex)
    };
    let code = |hex: &str| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    match rest.as_bytes() {
        [b'%', ..] => {
            let byte = u8::from_str_radix(digits(1, 2)?, 16).ok()?;
            Some((DecodedEscape::Byte(byte), 3))
        }
        [b'\\', b'x', ..] => {
            let byte = u8::from_str_radix(digits(2, 2)?, 16).ok()?;
            Some((DecodedEscape::Byte(byte), 4))
        }
        [b'\\', b'u', b'{', ..] => {
            let (hex, _) = rest.get(3..12.min(rest.len()))?.split_once('}')?;
            Some((DecodedEscape::Char(code(hex)?), hex.len() + 4))
        }
        [b'\\', b'u', ..] => Some((DecodedEscape::Char(code(digits(2, 4)?)?), 6)),
        [b'&', b'#', ..] => {
            let (number, _) =
                rest.get(2..rest.floor_char_boundary(12.min(rest.len())))?.split_once(';')?;
            let c = match number.strip_prefix(['x', 'X']) {
                Some(hex) => code(hex),
                None => number.parse().ok().and_then(char::from_u32),
            };
            Some((DecodedEscape::Char(c?), number.len() + 3))
        }
        _ => None,
    }
}

/// Words that reveal text in rot13, and text that is written backwards.
const ROT13: [&str; 8] = [
    "vafgehpgvba",
    "vtaber",
    "cerivbhf",
    "flfgrz cebzcg",
    "gur hfre",
    "cnffjbeq",
    "perqragvny",
    "qb abg gryy",
];
const BACKWARDS: [&str; 7] = [
    "snoitcurtsni",
    "erongi",
    "suoiverp",
    "tpmorp metsys",
    "resu eht llet",
    "drowssap",
    "slaitnederc",
];

/// How much text around such a word is decoded.
const AROUND: usize = 400;

fn mirrored(text: &str, give: &mut Give<'_>) {
    #[expect(clippy::expect_used, reason = "fixed words that every test builds")]
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let words = ROT13.iter().chain(&BACKWARDS);
        let dfa = Some(aho_corasick::AhoCorasickKind::DFA);
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(dfa)
            .build(words)
            .expect("fixed words")
    });
    let mut done = 0;
    for hit in WORDS.find_iter(text).take(MAX_PAYLOADS) {
        if hit.start() < done {
            continue;
        }
        let from = text.floor_char_boundary(hit.start().saturating_sub(AROUND).max(done));
        let to = text.ceil_char_boundary((hit.end() + AROUND).min(text.len()));
        let piece = text.get(from..to).unwrap_or("");
        match hit.pattern().as_usize() < ROT13.len() {
            true => give(from..to, piece.chars().map(rot13).collect(), "rot13"),
            false => give(from..to, piece.chars().rev().collect(), "text written backwards"),
        }
        done = to;
    }
}

fn rot13(c: char) -> char {
    let turn = |first: u8, byte: u8| char::from(first + (byte - first + 13) % 26);
    match c {
        'a'..='z' => turn(b'a', c as u8),
        'A'..='Z' => turn(b'A', c as u8),
        c => c,
    }
}

/// How many letters a text with something between each two must have: `i g n o r e`.
const MIN_SPACED: usize = 12;

fn spaced(text: &str, give: &mut Give<'_>) {
    let mut run = Spaced::default();
    for (at, c) in text.char_indices() {
        match c {
            c if c.is_alphanumeric() => run.letter(at, c, give),
            c if is_separator(c) => run.separator(give),
            _ => run.end(give),
        }
    }
    run.end(give);
}

/// Single letters in a row.
#[derive(Default)]
struct Spaced {
    joined: String,
    start: usize,
    end: usize,
    /// Separators since the last letter.
    between: usize,
    /// Inside a word of several letters, which is not part of a run.
    in_word: bool,
}

impl Spaced {
    fn letter(&mut self, at: usize, c: char, give: &mut Give<'_>) {
        if self.in_word {
            return;
        }
        if !self.joined.is_empty() && self.between == 0 {
            // The previous letter was the first of a word.
            self.joined.pop();
            self.end(give);
            self.in_word = true;
            return;
        }
        if self.joined.is_empty() {
            self.start = at;
        } else if self.between > 1 {
            self.joined.push(' ');
        }
        if self.joined.len() < MAX_PAYLOAD {
            self.joined.push(c);
        }
        self.end = at + c.len_utf8();
        self.between = 0;
    }

    /// One separator is within a word, more are between two words.
    fn separator(&mut self, give: &mut Give<'_>) {
        self.in_word = false;
        self.between += 1;
        if self.between > 4 {
            self.end(give);
        }
    }

    fn end(&mut self, give: &mut Give<'_>) {
        let done = std::mem::take(self);
        if done.joined.len() >= MIN_SPACED {
            give(done.start..done.end, done.joined, "separated letters");
        }
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '.' | '-' | '_' | '*' | '|' | '/' | '\u{a0}')
}
