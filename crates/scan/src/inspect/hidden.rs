//! Finds hidden characters: distinguishes the legitimate ones, and decodes the others.

use std::ops::Range;

use super::class::{FindingClass, Severity};
use super::finding::{FindingList, excerpt};
use super::fold::sequence_len;
use super::{InspectionContext, chars, terminal};

/// A text spelled with hidden characters.
pub(super) struct Spelled {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) how: &'static str,
}

/// Runs of invisible characters from this length on carry data: no script, editor or emoji uses
/// this many in a row.
const LONG_RUN: usize = 8;
const SHORT_RUN: usize = 4;

/// A text with this many single ones is watermarked or obfuscated.
const MANY: usize = 16;

/// This many empty lines before more text push that text out of sight of a reader.
const PUSHED_LINES: usize = 30;

/// This many blanks push it over the right edge.
const PUSHED_BLANKS: usize = 300;

pub(super) fn look(
    text: &str,
    context: &InspectionContext<'_>,
    findings: &mut FindingList,
) -> Vec<Spelled> {
    let mut look =
        HiddenSearch { text, context, findings, spelled: Vec::new(), strewn: None, count: 0 };
    if context.place.is_own_text() {
        look.pushed_away();
    }
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if !text.bytes().all(plain) {
        look.all();
    }
    look.spelled
}

struct HiddenSearch<'l, 'f> {
    text: &'l str,
    context: &'l InspectionContext<'l>,
    findings: &'f mut FindingList,
    spelled: Vec<Spelled>,
    /// The first single invisible character without a legitimate use.
    strewn: Option<Range<usize>>,
    count: usize,
}

impl HiddenSearch<'_, '_> {
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
                    self.report(
                        self.high_if_own(Severity::Medium),
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
            self.findings.add(FindingClass::HiddenText, Severity::Medium, span, what);
        }
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.rest(at).chars().next()
    }

    /// How many bytes and characters from `at` on are of one kind.
    fn run(&self, at: usize, sort: impl Fn(char) -> bool) -> (usize, usize) {
        let run = self.rest(at).chars().take_while(|c| sort(*c));
        run.fold((0, 0), |(bytes, count), c| (bytes + c.len_utf8(), count + 1))
    }

    fn report(&mut self, severity: Severity, span: Range<usize>, what: &str) {
        self.findings.add(FindingClass::HiddenText, severity, span, what.into());
    }

    /// High in a text that the server itself wrote, where this never belongs; else as given.
    fn high_if_own(&self, data: Severity) -> Severity {
        if self.context.place.is_own_text() { Severity::High } else { data }
    }

    fn sequence(&mut self, at: usize) -> usize {
        let length = sequence_len(self.rest(at));
        let kind = terminal::sequence(self.rest(at).chars()).map(|(_, kind)| kind);
        let Some(kind) = kind else { return length };
        if let Some(severity) = sequence_severity(kind, self.context.place.is_own_text()) {
            let what = format!("terminal sequence: {}", kind.what());
            self.findings.add(FindingClass::TerminalEscape, severity, at..at + length, what);
        }
        length
    }

    /// Tags have no honest use except for the three flags, which are skipped before.
    fn tags(&mut self, at: usize) -> usize {
        let (length, _) = self.run(at, chars::is_tag);
        let spelled: String = self.rest(at).chars().map_while(chars::tag_letter).collect();
        let spelled: String = spelled.chars().filter(|c| !c.is_control()).collect();
        let what = format!("tag characters that spell `{}`", excerpt(&spelled));
        self.report(Severity::High, at..at + length, &what);
        self.spelled.push(Spelled { span: at..at + length, text: spelled, how: "tag characters" });
        length
    }

    /// A single one after an emoji or an ideograph selects its form. A run of them carries bytes.
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
        self.report(severity, span.clone(), &what);
        self.spelled.push(Spelled { span, text, how: "variation selectors" });
        length
    }

    /// Right-to-left text needs isolates and embeddings; an override changes the order of what is
    /// read.
    fn bidi(&mut self, at: usize, c: char, right_to_left: bool) -> usize {
        let overrides = matches!(c, '\u{202D}' | '\u{202E}');
        let severity = match (overrides, right_to_left) {
            (true, false) => Some(Severity::High),
            (true, true) | (false, false) => Some(Severity::Medium),
            (false, true) => None,
        };
        if let Some(severity) = severity.filter(|_| c != '\u{061C}') {
            let what = format!("text reordered by U+{:04X}", u32::from(c));
            self.report(severity, at..at + c.len_utf8(), &what);
        }
        c.len_utf8()
    }

    fn nothing(&mut self, at: usize, before: Option<char>) -> usize {
        let (length, count) = self.run(at, is_nothing);
        let span = at..at + length;
        let behind = self.char_at(at + length);
        if count >= SHORT_RUN {
            let severity = if count < LONG_RUN { Severity::Medium } else { Severity::High };
            self.report(severity, span, &format!("{count} zero-width characters in a row"));
            return length;
        }
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if inside(before) && inside(behind) {
            self.report(Severity::Medium, span.clone(), "a zero-width character inside a word");
        }
        // At the start of a text it is a byte order mark; joiners next to letters of scripts that
        // join, and next to emoji, are spelling.
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
            self.report(severity, at..at + length, &format!("{count} invisible letters"));
        }
        length
    }

    /// Icon fonts use these characters; long runs are data.
    fn private(&mut self, at: usize) -> usize {
        let (length, count) = self.run(at, chars::is_private);
        if count >= LONG_RUN {
            let what = format!("{count} private-use characters in a row");
            self.report(Severity::Medium, at..at + length, &what);
        }
        length
    }

    fn control(&mut self, at: usize, c: char) -> usize {
        let (length, _) = self.run(at, |other| other == c);
        let overwrites = matches!(c, '\u{8}' | '\u{7f}');
        let milder = if overwrites { Severity::Medium } else { Severity::Low };
        let severity = if overwrites { self.high_if_own(milder) } else { milder };
        let what = format!("control character U+{:04X}", u32::from(c));
        self.report(severity, at..at + length, &what);
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
                self.report(Severity::High, at..at + blank.len(), what);
            }
            at += piece.len();
        }
    }
}

fn is_nothing(c: char) -> bool {
    chars::is_zero_width(c) || chars::is_joiner(c)
}

/// Output of programs is full of colours and progress bars that redraw themselves; a definition is
/// not.
fn sequence_severity(kind: terminal::SequencePurpose, own_text: bool) -> Option<Severity> {
    use terminal::SequencePurpose;
    match (kind, own_text) {
        (SequencePurpose::Clipboard, _) => Some(Severity::High),
        (SequencePurpose::Conceal, false) => Some(Severity::Medium),
        (SequencePurpose::Style, true) => Some(Severity::Medium),
        (_, true) => Some(Severity::High),
        (SequencePurpose::Link, false) => Some(Severity::Low),
        (SequencePurpose::Style | SequencePurpose::Move | SequencePurpose::Other, false) => None,
    }
}
