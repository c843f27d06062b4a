//! Characters that are not seen: which of them are there for a reason, and what the others say.

use std::ops::Range;

use super::class::{Class, Severity};
use super::finding::{Findings, excerpt};
use super::fold::sequence_len;
use super::{Context, chars, terminal};

/// A text that only such characters spell, found while looking for them.
pub(super) struct Spelled {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) how: &'static str,
}

/// Runs of invisible characters from this length on carry data: no script, no editor and no emoji
/// puts so many in a row.
const LONG_RUN: usize = 8;
const SHORT_RUN: usize = 4;

/// A text that is split by so many of them in single places is marked or obfuscated.
const MANY: usize = 16;

/// So many empty lines before more text push that text out of sight of who reads a description.
const PUSHED_LINES: usize = 30;

/// And so many blanks push it over the right edge.
const PUSHED_BLANKS: usize = 300;

pub(super) fn look(text: &str, context: &Context<'_>, findings: &mut Findings) -> Vec<Spelled> {
    let mut look = Look { text, context, findings, spelled: Vec::new(), strewn: None, count: 0 };
    if context.place.is_told() {
        look.pushed_away();
    }
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if !text.bytes().all(plain) {
        look.all();
    }
    look.spelled
}

struct Look<'l, 'f> {
    text: &'l str,
    context: &'l Context<'l>,
    findings: &'f mut Findings,
    spelled: Vec<Spelled>,
    /// The first invisible character that stands alone where it has no use.
    strewn: Option<Range<usize>>,
    count: usize,
}

impl Look<'_, '_> {
    fn all(&mut self) {
        let right_to_left = self.text.chars().any(chars::is_right_to_left);
        let mut before = None;
        let mut at = 0;
        while let Some(c) = self.char_at(at) {
            let length = match c {
                '\u{1F3F4}' => chars::flag_len(self.rest(at)).unwrap_or(c.len_utf8()),
                c if terminal::begins(c) => self.sequence(at),
                c if chars::is_tag(c) => self.tags(at),
                c if chars::is_variation_selector(c) => self.selectors(at),
                c if chars::is_bidi(c) => self.bidi(at, c, right_to_left),
                c if is_nothing(c) => self.nothing(at, before),
                c if chars::is_filler(c) => self.filler(at, before),
                c if chars::is_private(c) => self.private(at),
                c if chars::is_annotation(c) => {
                    self.say(
                        self.told_or(Severity::Medium),
                        at..at + c.len_utf8(),
                        "annotation marks",
                    );
                    c.len_utf8()
                }
                c if chars::is_odd_control(c) => self.control(at, c),
                c => c.len_utf8(),
            };
            before = Some(c);
            at += length;
        }
        if let Some(span) = self.strewn.take().filter(|_| self.count > MANY) {
            let what = format!("{} invisible characters in the text", self.count);
            self.findings.add(Class::HiddenText, Severity::Medium, span, what);
        }
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.rest(at).chars().next()
    }

    /// How many bytes and characters from `at` on are of one sort.
    fn run(&self, at: usize, sort: impl Fn(char) -> bool) -> (usize, usize) {
        let run = self.rest(at).chars().take_while(|c| sort(*c));
        run.fold((0, 0), |(bytes, count), c| (bytes + c.len_utf8(), count + 1))
    }

    fn say(&mut self, severity: Severity, span: Range<usize>, what: &str) {
        self.findings.add(Class::HiddenText, severity, span, what.into());
    }

    /// High in what a server says itself, where nothing like it belongs; else as given.
    fn told_or(&self, data: Severity) -> Severity {
        if self.context.place.is_told() { Severity::High } else { data }
    }

    fn sequence(&mut self, at: usize) -> usize {
        let length = sequence_len(self.rest(at));
        let kind = terminal::sequence(self.rest(at).chars()).map(|(_, kind)| kind);
        let Some(kind) = kind else { return length };
        if let Some(severity) = sequence_severity(kind, self.context.place.is_told()) {
            let what = format!("terminal sequence: {}", kind.what());
            self.findings.add(Class::TerminalEscape, severity, at..at + length, what);
        }
        length
    }

    /// Tags have no honest use but the three flags, which are stepped over before.
    fn tags(&mut self, at: usize) -> usize {
        let (length, _) = self.run(at, chars::is_tag);
        let spelled: String = self.rest(at).chars().map_while(chars::tag_letter).collect();
        let spelled: String = spelled.chars().filter(|c| !c.is_control()).collect();
        let what = format!("tag characters that spell `{}`", excerpt(&spelled));
        self.say(Severity::High, at..at + length, &what);
        self.spelled.push(Spelled { span: at..at + length, text: spelled, how: "tag characters" });
        length
    }

    /// One behind an emoji or an ideograph chooses its form. A run of them carries bytes.
    fn selectors(&mut self, at: usize) -> usize {
        let (length, count) = self.run(at, chars::is_variation_selector);
        let span = at..at + length;
        if count < 2 {
            return length;
        }
        let bytes: Vec<u8> = self.rest(at).chars().map_while(chars::selector_byte).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let severity = if count < SHORT_RUN { Severity::Medium } else { Severity::High };
        let what = format!("{count} variation selectors that spell `{}`", excerpt(&text));
        self.say(severity, span.clone(), &what);
        self.spelled.push(Spelled { span, text, how: "variation selectors" });
        length
    }

    /// Text from right to left needs isolates and embeddings; an override reorders what is read.
    fn bidi(&mut self, at: usize, c: char, right_to_left: bool) -> usize {
        let overrides = matches!(c, '\u{202D}' | '\u{202E}');
        let severity = match (overrides, right_to_left) {
            (true, false) => Some(Severity::High),
            (true, true) | (false, false) => Some(Severity::Medium),
            (false, true) => None,
        };
        if let Some(severity) = severity.filter(|_| c != '\u{061C}') {
            let what = format!("text reordered by U+{:04X}", u32::from(c));
            self.say(severity, at..at + c.len_utf8(), &what);
        }
        c.len_utf8()
    }

    fn nothing(&mut self, at: usize, before: Option<char>) -> usize {
        let (length, count) = self.run(at, is_nothing);
        let span = at..at + length;
        let behind = self.char_at(at + length);
        if count >= SHORT_RUN {
            let severity = if count < LONG_RUN { Severity::Medium } else { Severity::High };
            self.say(severity, span, &format!("{count} characters of no width in a row"));
            return length;
        }
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if inside(before) && inside(behind) {
            self.say(Severity::Medium, span.clone(), "a character of no width inside a word");
        }
        // At the start of a text it is a byte order mark; joiners beside letters of scripts that
        // join, and beside emoji, are spelling.
        let joins = self.char_at(at).is_some_and(chars::is_joiner)
            && [before, behind].into_iter().flatten().any(|c| !c.is_ascii());
        if at > 0 && !joins {
            self.strewn.get_or_insert(span);
            self.count += count;
        }
        length
    }

    fn filler(&mut self, at: usize, before: Option<char>) -> usize {
        let (length, count) = self.run(at, chars::is_filler);
        let script = |c: char| {
            matches!(c, '\u{1100}'..='\u{11FF}' | '\u{2800}'..='\u{28FF}'
            | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7FF}')
        };
        let behind = self.char_at(at + length);
        let spelling = [before, behind].into_iter().flatten().any(script);
        if !spelling || count >= LONG_RUN {
            let severity = if count < LONG_RUN { Severity::Medium } else { Severity::High };
            self.say(severity, at..at + length, &format!("{count} letters drawn as nothing"));
        }
        length
    }

    /// Icon fonts live there; long runs are data.
    fn private(&mut self, at: usize) -> usize {
        let (length, count) = self.run(at, chars::is_private);
        if count >= LONG_RUN {
            let what = format!("{count} characters of private use in a row");
            self.say(Severity::Medium, at..at + length, &what);
        }
        length
    }

    fn control(&mut self, at: usize, c: char) -> usize {
        let (length, _) = self.run(at, |other| other == c);
        let overwrites = matches!(c, '\u{8}' | '\u{7f}');
        let milder = if overwrites { Severity::Medium } else { Severity::Low };
        let severity = if overwrites { self.told_or(milder) } else { milder };
        let what = format!("control character U+{:04X}", u32::from(c));
        self.say(severity, at..at + length, &what);
        length
    }

    /// Text far below or far to the right of what is shown.
    fn pushed_away(&mut self) {
        let mut at = 0;
        for piece in self.text.split_inclusive(|c: char| !c.is_whitespace()) {
            let blank = piece.trim_end_matches(|c: char| !c.is_whitespace());
            let lines = blank.bytes().filter(|byte| *byte == b'\n').count();
            let more = blank.len() < piece.len() && at > 0;
            if more && (lines >= PUSHED_LINES || blank.len() >= PUSHED_BLANKS) {
                let what = "text pushed out of sight by blanks";
                self.say(Severity::High, at..at + blank.len(), what);
            }
            at += piece.len();
        }
    }
}

fn is_nothing(c: char) -> bool {
    chars::is_zero_width(c) || chars::is_joiner(c)
}

/// Output of programs is full of colours and of bars that redraw themselves; a definition is not.
fn sequence_severity(kind: terminal::Kind, told: bool) -> Option<Severity> {
    use terminal::Kind;
    match (kind, told) {
        (Kind::Clipboard, _) => Some(Severity::High),
        (Kind::Conceal, false) => Some(Severity::Medium),
        (Kind::Style, true) => Some(Severity::Medium),
        (_, true) => Some(Severity::High),
        (Kind::Link, false) => Some(Severity::Low),
        (Kind::Style | Kind::Move | Kind::Other, false) => None,
    }
}
