//! What stands in the place of a hit.

use std::ops::Range;

use crate::set::{Hit, Inner};

/// What becomes of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replace {
    /// `[REDACTED:kind]` stands in its place.
    #[default]
    Typed,
    /// It keeps its length: its first and last characters stay, never more than a quarter of them
    /// and four on each side, all others become `*`.
    Mask,
    /// Nothing stands in its place.
    Drop,
    /// Nothing stands in its place, and nothing of the text behind it leaves either.
    Stop,
}

/// What a replacement came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    Whole,
    /// A hit said stop.
    Stopped,
}

/// Writes `text[range]` with the hits replaced. Hits are in the order of their beginnings, and none
/// crosses an end of the range.
pub(crate) fn replace(
    text: &str,
    range: Range<usize>,
    hits: &[Hit],
    set: &Inner,
    out: &mut String,
) -> Replaced {
    let mut at = range.start;
    let mut rest = hits;
    while let Some((first, behind)) = rest.split_first() {
        let mut end = first.span.end;
        let joined = behind.iter().take_while(|hit| {
            let joins = hit.span.start < end;
            end = if joins { end.max(hit.span.end) } else { end };
            joins
        });
        let count = joined.count();
        out.push_str(text.get(at..first.span.start).unwrap_or(""));
        let cluster = rest.get(..count + 1).unwrap_or(&[]);
        if cluster.iter().any(|hit| set.replace_of(hit.source) == Replace::Stop) {
            return Replaced::Stopped;
        }
        let found = text.get(first.span.start..end).unwrap_or("");
        let name = cluster.iter().min_by_key(|hit| hit.rank).unwrap_or(first);
        write(set.replace_of(name.source), &name.kind, found, out);
        at = end;
        rest = behind.get(count..).unwrap_or(&[]);
    }
    out.push_str(text.get(at..range.end).unwrap_or(""));
    Replaced::Whole
}

/// Writes what stands for `found`.
pub(crate) fn write(how: Replace, kind: &str, found: &str, out: &mut String) {
    match how {
        Replace::Typed => out.push_str(&crate::redact::mark(kind)),
        Replace::Mask => mask(found, out),
        Replace::Drop | Replace::Stop => {}
    }
}

/// Characters that stay visible on each side: an eighth, and four at most.
fn mask(found: &str, out: &mut String) {
    let count = found.chars().count();
    let shown = (count / 8).min(4);
    for (at, letter) in found.chars().enumerate() {
        let visible = at < shown || at >= count - shown;
        out.push(if visible { letter } else { '*' });
    }
}

#[cfg(test)]
mod tests {
    use super::{Replace, write};

    fn shown(how: Replace, found: &str) -> String {
        let mut out = String::new();
        write(how, "kind", found, &mut out);
        out
    }

    #[test]
    fn the_three_ways() {
        assert_eq!(shown(Replace::Typed, "secret"), "[REDACTED:kind]");
        assert_eq!(shown(Replace::Drop, "secret"), "");
        assert_eq!(shown(Replace::Mask, "4111 1111 1111 1111"), "41***************11");
        assert_eq!(shown(Replace::Mask, "ann@acme.org"), "a**********g");
        assert_eq!(shown(Replace::Mask, "hunter2"), "*******");
    }

    #[test]
    fn a_mask_shows_a_quarter_at_most() {
        for length in 0..200 {
            let found = "a".repeat(length);
            let visible = shown(Replace::Mask, &found).matches('a').count();
            assert!(visible * 4 <= length, "{visible} of {length}");
            assert!(visible <= 8);
        }
    }
}
