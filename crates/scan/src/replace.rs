//! The replacements of hits.

use std::ops::Range;

use crate::set::{CompiledSet, Hit};

/// What replaces a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replace {
    /// `[REDACTED:kind]`.
    #[default]
    Typed,
    /// A mask of the same length: its first and last characters stay, at most a quarter of them and
    /// four on each side, and all others become `*`.
    Mask,
    /// Nothing: it is removed.
    Drop,
    /// Nothing, and all text after it is removed too.
    Stop,
}

/// Reports the replacement of each hit, and its span. Hits are sorted by their beginnings;
/// overlapping ones are replaced as one. Returns where the text ends, if a hit has `Stop`.
pub(crate) fn replacements(
    text: &str,
    hits: &[Hit],
    set: &CompiledSet,
    report: &mut dyn FnMut(Range<usize>, String),
) -> Option<usize> {
    let mut rest = hits;
    while let Some((first, behind)) = rest.split_first() {
        let mut end = first.span.end;
        let joined = behind.iter().take_while(|hit| {
            let joins = hit.span.start < end;
            end = if joins { end.max(hit.span.end) } else { end };
            joins
        });
        let count = joined.count();
        let cluster = rest.get(..count + 1).unwrap_or(&[]);
        if cluster.iter().any(|hit| set.replace_of(hit.source) == Replace::Stop) {
            return Some(first.span.start);
        }
        let span = first.span.start..end;
        let name = cluster.iter().min_by_key(|hit| hit.rank).unwrap_or(first);
        let mut new = String::new();
        let found = text.get(span.clone()).unwrap_or("");
        write(set.replace_of(name.source), &name.kind, found, &mut new);
        report(span, new);
        rest = behind.get(count..).unwrap_or(&[]);
    }
    None
}

/// Writes the text with the hits replaced.
pub(crate) fn replace(text: &str, hits: &[Hit], set: &CompiledSet, out: &mut String) {
    let mut at = 0;
    let stop = replacements(text, hits, set, &mut |span, new| {
        out.push_str(text.get(at..span.start).unwrap_or(""));
        out.push_str(&new);
        at = span.end;
    });
    out.push_str(text.get(at..stop.unwrap_or(text.len())).unwrap_or(""));
}

/// Writes the replacement of `found`.
pub(crate) fn write(how: Replace, kind: &str, found: &str, out: &mut String) {
    match how {
        Replace::Typed => out.push_str(&crate::redact::mark(kind)),
        Replace::Mask => mask(found, out),
        Replace::Drop | Replace::Stop => {}
    }
}

/// Masks a text. An eighth of the characters, and four at most, stay visible on each side.
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
