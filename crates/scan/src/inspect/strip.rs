//! Removes what has no honest use: tag characters, bidi controls, terminal sequences.
//!
//! Other hidden characters are only reported. Everything else stays byte for byte.

use std::ops::Range;

use callgate_json::{Error, Kind, Reader, Text};

use super::pieces::{self, CharOrHalf, WrittenChar};
use super::{chars, terminal};

/// The text without tag characters, bidi controls and terminal sequences; `None` if it has none.
///
/// A JSON document stays valid: only the contents of its strings are changed, in any spelling
/// (`\u202e`, `\udb40\udc41`, `\u001b`). Keys stay unchanged, because two keys must not become
/// equal; the inspection reports them. Anything that is not one JSON object, array or string is
/// treated as plain text. Flags of regions that are spelled with tags stay.
pub fn strip(text: &str) -> Option<String> {
    strip_with(text, StripFrom::Keys)
}

/// The same for the definition of a tool: its name, the names in `required` and references also
/// stay, because they must still equal what they refer to.
pub fn strip_definition(json: &str) -> Option<String> {
    strip_with(json, StripFrom::Names)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StripFrom {
    Keys,
    Names,
}

/// Members of a definition whose strings are names.
const NAMES: [&str; 5] = ["name", "required", "$ref", "$id", "$anchor"];

fn strip_with(text: &str, keep: StripFrom) -> Option<String> {
    if !may_need_it(text) {
        return None;
    }
    if let Some(cuts) = document_cuts(text, keep) {
        return (!cuts.is_empty()).then(|| without(text, cuts));
    }
    let mut cuts = Vec::new();
    cut(pieces::plain(text), &mut cuts);
    if cuts.is_empty() {
        return None;
    }
    let clean = without(text, cuts);
    // The removed characters may have been what made the document invalid.
    match document_cuts(&clean, keep) {
        Some(cuts) if !cuts.is_empty() => Some(without(&clean, cuts)),
        _ => Some(clean),
    }
}

/// The spans to remove from a document; `None` if the text is not one.
fn document_cuts(text: &str, keep: StripFrom) -> Option<Vec<Range<usize>>> {
    let begins = text.trim_start_matches([' ', '\t', '\r', '\n']);
    if !begins.starts_with(['{', '[', '"']) {
        return None;
    }
    let mut cuts = Vec::new();
    document(text, keep, &mut cuts).ok()?;
    Some(cuts)
}

/// Most texts are plain, and have no escape that could be anything else.
fn may_need_it(text: &str) -> bool {
    !text.is_ascii() || text.contains('\u{1b}') || text.contains("\\u")
}

fn document(text: &str, keep: StripFrom, cuts: &mut Vec<Range<usize>>) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    value(&mut reader, keep, false, cuts)?;
    reader.end()
}

/// The reader limits the depth, and so the recursion.
fn value(
    reader: &mut Reader<'_>,
    keep: StripFrom,
    named: bool,
    cuts: &mut Vec<Range<usize>>,
) -> Result<(), Error> {
    match reader.kind()? {
        Kind::String => {
            let string = reader.string()?;
            if !named {
                cut_string(&string, cuts);
            }
        }
        Kind::Array => {
            let mut elements = reader.array()?;
            while elements.next(reader)? {
                value(reader, keep, named, cuts)?;
            }
        }
        Kind::Object => {
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                let named = keep == StripFrom::Names && NAMES.iter().any(|name| key.is(name));
                value(reader, keep, named, cuts)?;
            }
        }
        Kind::Number | Kind::Bool | Kind::Null => {
            reader.skip()?;
        }
    }
    Ok(())
}

fn cut_string(string: &Text<'_>, cuts: &mut Vec<Range<usize>>) {
    let raw = string.raw();
    if may_need_it(raw) {
        cut(pieces::escaped(raw, string.span().start + 1), cuts);
    }
}

/// Finds the spans to remove. Two halves of surrogate pairs that become neighbours when the text
/// between them is removed could form a tag: then they are removed as well.
fn cut(mut pieces: impl Iterator<Item = WrittenChar> + Clone, cuts: &mut Vec<Range<usize>>) {
    // High halves at the end of the text that stays.
    let mut halves: Vec<WrittenChar> = Vec::new();
    loop {
        let ahead = pieces.clone();
        let Some(piece) = pieces.next() else { return };
        match piece.sign {
            CharOrHalf::High(_) => halves.push(piece),
            CharOrHalf::Low(low) => match halves.pop() {
                Some(WrittenChar { sign: CharOrHalf::High(high), span })
                    if is_cut(pieces::joined(high, low)) =>
                {
                    cuts.extend([span, piece.span]);
                }
                _ => halves.clear(),
            },
            CharOrHalf::Char('\u{1F3F4}') => {
                halves.clear();
                skip_flag(&mut pieces, ahead);
            }
            CharOrHalf::Char(c) if terminal::begins(c) => {
                let count = sequence_count(ahead);
                let last = pieces.by_ref().take(count.saturating_sub(1)).last();
                let end = last.map_or(piece.span.end, |last| last.span.end);
                cuts.push(piece.span.start..end);
            }
            CharOrHalf::Char(c) if is_cut(c) => cuts.push(piece.span),
            CharOrHalf::Char(_) => halves.clear(),
        }
    }
}

fn is_cut(c: char) -> bool {
    chars::is_tag(c) || chars::is_bidi(c)
}

/// Skips the tags of a flag.
fn skip_flag(
    pieces: &mut (impl Iterator<Item = WrittenChar> + Clone),
    ahead: impl Iterator<Item = WrittenChar>,
) {
    let spelled: String = ahead.take(7).map_while(|piece| piece.sign.char()).collect();
    if chars::flag_len(&spelled) == Some(spelled.len()) {
        pieces.by_ref().take(6).for_each(drop);
    }
}

/// The number of pieces in the sequence at the start of `ahead`. A lone half counts as some
/// character.
fn sequence_count(ahead: impl Iterator<Item = WrittenChar>) -> usize {
    let signs = ahead.map(|piece| piece.sign.char().unwrap_or('\u{FFFD}'));
    terminal::sequence(signs).map_or(1, |(count, _)| count)
}

fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    // Halves are removed when their other half is seen.
    cuts.sort_by_key(|cut| cut.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        out.push_str(text.get(from..cut.start).unwrap_or(""));
        from = cut.end;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests;
