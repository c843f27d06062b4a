//! The text of strings: its digest, and the notices in it.

use std::borrow::Cow;
use std::ops::Range;

use callgate_call::RecordLine;
use callgate_json::{Span, Text};
use sha2::{Digest, Sha256};

use super::RemovedCall;

/// The SHA-256 of a text that comes in pieces, without its white space: clients trim, join and
/// split texts. Half of a surrogate pair counts as U+FFFD, because clients that cannot keep it send
/// that back.
///
/// Most turns lose no call, and then the digest is not needed. So pieces are collected, and hashed
/// only when there are more than in most turns, or when the digest is requested.
#[derive(Debug, Clone, Default)]
pub struct TextDigest {
    /// Raw JSON string contents that are not hashed yet.
    pending: String,
    hash: Sha256,
    half: Half,
    is_begun: bool,
}

/// How many bytes are collected before they are hashed: four thousand tokens, which few turns
/// exceed. A stream stores at most twice its text.
const GATHERED: usize = 16 << 10;

/// The initial buffer for the text of a turn that makes calls, so that its pieces allocate once.
const FIRST: usize = 2 << 10;

impl TextDigest {
    /// The digest of no text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the raw content of a JSON string: decoded, wherever the text was split.
    pub fn add_raw(&mut self, raw: &str) {
        if self.pending.len().saturating_add(raw.len()) > GATHERED {
            self.hash_pending();
            if raw.len() > GATHERED {
                return self.hash_raw(raw);
            }
        }
        if self.pending.capacity() == 0 {
            self.pending.reserve_exact(FIRST);
        }
        self.pending.push_str(raw);
    }

    /// Adds plain text.
    pub fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.hash_pending();
            let Self { hash, half, is_begun, .. } = self;
            half.give_up(|_, lost| *is_begun |= add_visible(hash, lost));
            *is_begun |= add_visible(hash, text);
        }
    }

    /// The digest of everything that was added; `None` if that was only white space.
    pub fn finish(&self) -> Option<[u8; 32]> {
        let mut all = self.clone();
        all.hash_pending();
        let Self { mut hash, mut half, mut is_begun, .. } = all;
        half.give_up(|_, lost| is_begun |= add_visible(&mut hash, lost));
        is_begun.then(|| hash.finalize().into())
    }

    fn hash_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        self.hash_raw(&pending);
        // Its memory is reused.
        pending.clear();
        self.pending = pending;
    }

    fn hash_raw(&mut self, raw: &str) {
        let Self { hash, half, is_begun, .. } = self;
        walk(raw, half, |_, text| *is_begun |= add_visible(hash, text));
    }
}

/// Adds everything that is not white space. Returns whether there was any.
fn add_visible(hash: &mut Sha256, text: &str) -> bool {
    if text.is_ascii() {
        return add_visible_ascii(hash, text.as_bytes());
    }
    let mut is_begun = false;
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        hash.update(word);
        is_begun = true;
    }
    is_begun
}

/// Like [`add_visible`], for most text: no characters to decode, and one update for many words.
fn add_visible_ascii(hash: &mut Sha256, text: &[u8]) -> bool {
    let mut is_begun = false;
    let mut visible = [0; 256];
    for piece in text.chunks(visible.len()) {
        let graphic = piece.iter().filter(|byte| byte.is_ascii_graphic());
        let count = visible.iter_mut().zip(graphic).map(|(to, from)| *to = *from).count();
        hash.update(visible.get(..count).unwrap_or_default());
        is_begun |= count > 0;
    }
    is_begun
}

/// Whether some client trims the character, or cannot keep it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{FEFF}'
}

/// The decoded text of a string, and the place of each part of it in the document.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Where the string's content starts in the document.
    start: usize,
    /// Where each escape and each run between them starts: in the text, and in the raw content.
    /// Empty if nothing is escaped; else the last one is the end of both.
    marks: Vec<(usize, usize)>,
    /// Where paragraphs may start: at the start, and after each [`GAP`]. Stored because a request
    /// can be megabytes long, and there can be hundreds of notices to look for.
    starts: Vec<usize>,
}

impl<'a> Decoded<'a> {
    pub(crate) fn new(string: &Text<'a>) -> Self {
        let start = string.span().start + 1;
        if !string.is_escaped() {
            let text = Cow::Borrowed(string.raw());
            // A line end inside a JSON string is always escaped.
            return Self { text, start, marks: Vec::new(), starts: vec![0] };
        }
        let (mut text, mut marks) = (String::new(), Vec::new());
        let mut half = Half::default();
        let mut push = |at: usize, part: &str| {
            marks.push((text.len(), at));
            text.push_str(part);
        };
        walk(string.raw(), &mut half, &mut push);
        half.give_up(&mut push);
        marks.push((text.len(), string.raw().len()));
        let gap = |at: &usize| text.get(..*at).is_some_and(|before| before.ends_with(GAP));
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(behind.filter(gap)).collect();
        Self { text: Cow::Owned(text), start, marks, starts }
    }

    /// The first place of `notice` that is not `taken` yet, as a separate paragraph, or at the
    /// beginning of one if it cannot be the beginning of another notice. A notice that names its
    /// record may be anywhere, if it occurs once: clients join texts with less than a blank line,
    /// and no model can quote a record that did not exist when it wrote.
    fn paragraph(&self, notice: &str, taken: &[(usize, Range<usize>)]) -> Option<Range<usize>> {
        if notice.is_empty() {
            return None;
        }
        let is_free = |at: &Range<usize>| {
            taken.iter().all(|(_, other)| at.end <= other.start || other.end <= at.start)
        };
        let names_record = ends_with_record(notice);
        let mut starts = self.starts.iter().map(|start| *start..start + notice.len());
        let paragraph = starts.find(|at| {
            let behind = self.text.get(at.start..).and_then(|text| text.strip_prefix(notice));
            let ends = |behind: &str| {
                // Text that follows it directly continues its last line, in APIs that join all
                // text.
                behind.is_empty() || behind.starts_with(GAP) || names_record
            };
            behind.is_some_and(ends) && is_free(at)
        });
        paragraph.or_else(|| {
            let mut places = self.text.match_indices(notice).filter(|_| names_record);
            let at = places.next().map(|(start, _)| start..start + notice.len())?;
            (places.next().is_none() && is_free(&at)).then_some(at)
        })
    }

    /// The span of a part of the text in the document. Its ends are on character boundaries.
    pub(crate) fn span(&self, part: &Range<usize>) -> Span {
        Span { start: self.place(part.start), end: self.place(part.end) }
    }

    fn place(&self, at: usize) -> usize {
        let behind = self.marks.partition_point(|(text, _)| *text <= at);
        let mark = behind.checked_sub(1).and_then(|before| self.marks.get(before));
        match mark {
            Some((text, raw)) => self.start + raw + (at - text),
            None => self.start + at,
        }
    }
}

/// The ids of the records that notices in `text` name. Text that follows an id directly is not part
/// of it, if the id shows its own end.
pub(super) fn records(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let RecordLine { id } = RecordLine::read(line)?;
        Some(leading_uuid(id).unwrap_or(id.trim_end()))
    })
}

/// Whether the last line of a notice names its record by an id that ends where the notice ends. No
/// such notice is a prefix of another.
fn ends_with_record(notice: &str) -> bool {
    let line = notice.lines().next_back().and_then(RecordLine::read);
    line.is_some_and(|RecordLine { id }| leading_uuid(id) == Some(id))
}

/// The UUID at the beginning of `text`.
fn leading_uuid(text: &str) -> Option<&str> {
    let id = text.get(..36)?;
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    id.bytes().enumerate().all(fits).then_some(id)
}

/// A notice to be removed from a text.
pub(crate) struct ShownNotice {
    /// The index of its call.
    pub(crate) call: usize,
    /// The notice, with its separator.
    pub(crate) cut: Range<usize>,
    /// Whether no remaining text is before it.
    pub(crate) leads: bool,
}

/// The notices of `calls` in `texts`: for each text what is to be removed, in order. Equal notices
/// are assigned in the order of the calls.
pub(crate) fn shown(
    texts: &[(usize, Decoded<'_>)],
    calls: &[&RemovedCall],
) -> Vec<Vec<ShownNotice>> {
    let mut found: Vec<Vec<(usize, Range<usize>)>> = texts.iter().map(|_| Vec::new()).collect();
    for (call, removed) in calls.iter().enumerate() {
        let Some(notice) = removed.notice.as_deref() else { continue };
        for ((_, decoded), found) in texts.iter().zip(&mut found) {
            if let Some(at) = decoded.paragraph(notice, found) {
                found.push((call, at));
                break;
            }
        }
    }
    texts.iter().zip(found).map(|((_, decoded), found)| set_off(&decoded.text, found)).collect()
}

/// The rest of `text` without the removed notices.
pub(crate) fn rest(text: &str, shown: &[ShownNotice]) -> String {
    let (mut rest, mut at) = (String::new(), 0);
    for ShownNotice { cut, .. } in shown {
        rest.push_str(text.get(at..cut.start).unwrap_or(""));
        at = cut.end;
    }
    rest.push_str(text.get(at..).unwrap_or(""));
    rest
}

/// Extends each notice over its separator: the one before it, or the one after it if none is left
/// before it. So the remaining paragraphs keep one separator between them.
fn set_off(text: &str, mut found: Vec<(usize, Range<usize>)>) -> Vec<ShownNotice> {
    found.sort_by_key(|(_, at)| at.start);
    let (mut list, mut last, mut leads) = (Vec::with_capacity(found.len()), 0, true);
    for (call, at) in found {
        let ahead = text.get(last..at.start).unwrap_or("");
        let before = [GAP, LINE_END].into_iter().find(|gap| ahead.ends_with(gap));
        let before = before.map(|gap| at.start - gap.len());
        let gap_behind = text.get(at.end..).is_some_and(|behind| behind.starts_with(GAP));
        let cut = match before {
            Some(start) => start..at.end,
            None if gap_behind => at.start..at.end + GAP.len(),
            None => at,
        };
        leads &= cut.start == last;
        last = cut.end;
        list.push(ShownNotice { call, cut, leads });
    }
    list
}

/// A high surrogate that waits for the low one: its code unit and its place.
#[derive(Debug, Clone, Default)]
struct Half(Option<(u16, usize)>);

impl Half {
    fn give_up(&mut self, mut each: impl FnMut(usize, &str)) {
        if let Some((_, at)) = self.0.take() {
            each(at, LOST);
        }
    }
}

/// Decodes the content of a string that was already parsed. `each` gets every run and every escaped
/// character, with its start.
fn walk(raw: &str, half: &mut Half, mut each: impl FnMut(usize, &str)) {
    let (mut rest, mut at) = (raw, 0);
    loop {
        let (run, escape) = match rest.split_once('\\') {
            Some((run, escape)) => (run, Some(escape)),
            None => (rest, None),
        };
        if !run.is_empty() {
            half.give_up(&mut each);
            each(at, run);
            at += run.len();
        }
        let Some(escape) = escape else { return };
        let mut chars = escape.chars();
        let kind = chars.next();
        rest = chars.as_str();
        if kind == Some('u') {
            let (digits, behind) = rest.split_at_checked(4).unwrap_or((rest, ""));
            rest = behind;
            unit(u16::from_str_radix(digits, 16).unwrap_or(0xFFFD), at, half, &mut each);
        } else {
            half.give_up(&mut each);
            let c = match kind {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            };
            each(at, c.encode_utf8(&mut [0; 4]));
        }
        at = raw.len() - rest.len();
    }
}

fn unit(unit: u16, at: usize, half: &mut Half, mut each: impl FnMut(usize, &str)) {
    if let (Some((high, start)), 0xDC00..=0xDFFF) = (half.0, unit) {
        half.0 = None;
        let pair = char::decode_utf16([high, unit]).next().and_then(Result::ok);
        let c = pair.unwrap_or(char::REPLACEMENT_CHARACTER);
        return each(start, c.encode_utf8(&mut [0; 4]));
    }
    half.give_up(&mut each);
    match unit {
        0xD800..=0xDBFF => half.0 = Some((unit, at)),
        _ => {
            let c = char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
            each(at, c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// The separator between a notice and the text around it.
const GAP: &str = "\n\n";

/// The separator with which some clients join texts.
const LINE_END: &str = "\n";

/// The replacement for half of a surrogate pair.
const LOST: &str = "\u{FFFD}";

#[cfg(test)]
mod tests;
