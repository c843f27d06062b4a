//! A quick filter for the stretches of a text that may contain a keyword. It saves most of the text
//! from the keyword automaton, in which every step waits for the previous one.

use std::ops::Range;

/// How many bytes of a keyword are used.
const TRACE: usize = 3;

/// How many bytes of a text are filtered between two checks for a result.
const BLOCK: usize = 32;

/// One bit is one group of keywords.
const GROUPS: usize = u64::BITS as usize;

/// Bytes of ordinary text, the most frequent first. All others are rarer.
const FREQUENT: &[u8] = b" etaoinrhsldcumfpgwybv-.k:/xjqz";

/// The trace of each keyword, a few consecutive bytes, is searched for at every place of a text at
/// once. A text with a keyword contains its trace; the automaton checks the reverse.
#[derive(Debug)]
pub(crate) struct Sieve {
    /// For each place in a trace and each byte, the groups that allow it there.
    allow: Box<[[u64; 256]; TRACE]>,
    /// The groups that allow anything at the first place, and at the first two: a short keyword is
    /// at the end of its trace.
    open: [u64; TRACE - 1],
    /// How many bytes of a keyword are before the end of its trace, at most, and after it.
    before: usize,
    behind: usize,
}

impl Sieve {
    /// A filter for keywords in lower case, none of them empty. Letters match in any case.
    pub(crate) fn new(keywords: &[&str]) -> Self {
        let mut made =
            Self { allow: Box::new([[0; 256]; TRACE]), open: [0; TRACE - 1], before: 0, behind: 0 };
        // Traces with the same beginning differ only in their last byte, so that one bit is enough
        // for them.
        let mut beginnings = Vec::new();
        for keyword in keywords {
            let (trace, end) = trace(keyword.as_bytes());
            made.before = made.before.max(end);
            made.behind = made.behind.max(keyword.len() - end);
            let beginning = trace.get(..trace.len().saturating_sub(1)).unwrap_or(&[]);
            let known = beginnings.iter().position(|it| *it == beginning);
            let group = known.unwrap_or_else(|| {
                beginnings.push(beginning);
                beginnings.len() - 1
            });
            // If there are more groups than bits, some share one: more is found then, never less.
            made.add(trace, 1 << (group % GROUPS));
        }
        made
    }

    fn add(&mut self, trace: &[u8], group: u64) {
        let missing = TRACE - trace.len();
        for (at, allow) in self.allow.iter_mut().enumerate() {
            match at.checked_sub(missing).and_then(|at| trace.get(at)) {
                None => allow.iter_mut().for_each(|allow| *allow |= group),
                Some(wanted) => {
                    let is_it = |byte: u8| byte.eq_ignore_ascii_case(wanted);
                    let allowed = (0..=u8::MAX).zip(allow).filter(|(byte, _)| is_it(*byte));
                    allowed.for_each(|(_, allow)| *allow |= group);
                }
            }
        }
        let open = (1..).zip(&mut self.open).filter(|(length, _)| *length <= missing);
        open.for_each(|(_, open)| *open |= group);
    }

    /// Reports the stretches from `from` on, in order and separate from each other, outside of
    /// which there is no keyword.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a byte is less than 256")]
    pub(crate) fn each(&self, text: &[u8], from: usize, mut report: impl FnMut(Range<usize>)) {
        let [first, second, third] = &*self.allow;
        let [mut one, mut two] = self.open;
        let mut start = from;
        let mut found: Option<Range<usize>> = None;
        for block in text.get(from..).unwrap_or(&[]).chunks(BLOCK) {
            let mut all = 0;
            let mut step = |byte: &u8| {
                let byte = usize::from(*byte);
                all |= two & third[byte];
                two = one & second[byte];
                one = first[byte];
            };
            // In groups of eight, so that the next place is not computed for each.
            let (eights, rest) = block.as_chunks::<8>();
            eights.iter().for_each(|eight| eight.iter().for_each(&mut step));
            rest.iter().for_each(&mut step);
            let end = start + block.len();
            if all != 0 {
                let near =
                    start.saturating_sub(self.before).max(from)..text.len().min(end + self.behind);
                found = match found {
                    Some(last) if near.start <= last.end => Some(last.start..near.end),
                    last => {
                        last.into_iter().for_each(&mut report);
                        Some(near)
                    }
                };
            }
            start = end;
        }
        found.into_iter().for_each(report);
    }
}

/// The rarest bytes of a keyword, and where they end in it.
fn trace(keyword: &[u8]) -> (&[u8], usize) {
    let rarity = |bytes: &&[u8]| -> usize {
        let of = |byte| FREQUENT.iter().position(|it| it == byte).unwrap_or(FREQUENT.len());
        bytes.iter().map(of).sum()
    };
    let traces = (TRACE..).zip(keyword.windows(TRACE));
    let rarest = traces.max_by_key(|(_, bytes)| rarity(bytes));
    rarest.map_or((keyword, keyword.len()), |(end, bytes)| (bytes, end))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::{BLOCK, GROUPS, Sieve};

    const WORDS: [&str; 8] = ["@", "-u", "sk-", "secret", "api_key", "://", "ghp_", "ghs_"];

    fn found(sieve: &Sieve, text: &str, from: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        sieve.each(text.as_bytes(), from, |range| found.push(range));
        found
    }

    /// Wherever a keyword is, in any case, alone or among others.
    #[test]
    fn every_keyword_is_in_a_stretch() {
        let keywords = crate::detectors::all().flat_map(|detector| detector.keywords);
        let keywords: Vec<&str> = keywords.copied().collect();
        let sieve = Sieve::new(&keywords);
        for word in keywords.iter().flat_map(|word| [word.to_string(), word.to_uppercase()]) {
            for before in 0..3 * BLOCK {
                for behind in [0, 1, BLOCK] {
                    let text = format!("{}{word}{}", "n".repeat(before), "n".repeat(behind));
                    let inside = |range: &Range<usize>| {
                        range.start <= before && before + word.len() <= range.end
                    };
                    assert!(found(&sieve, &text, 0).iter().any(inside), "{text}");
                    assert!(found(&sieve, &text, before).iter().any(inside), "{text}");
                }
            }
        }
    }

    #[test]
    fn ordinary_text_falls_through() {
        let sieve = Sieve::new(&WORDS);
        let text = "the answer goes on for a while with words that nobody reads at this hour, \
            and then it names the file in which the function lives; a desk - under it a sketch.";
        assert!(found(&sieve, text, 0).is_empty());
        assert!(found(&sieve, "", 0).is_empty());
        assert!(found(&Sieve::new(&[]), text, 0).is_empty());
    }

    #[test]
    fn more_keywords_than_bits() {
        let words: Vec<String> = (0..3 * GROUPS).map(|at| format!("{:03}x", at * 5)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let sieve = Sieve::new(&words);
        for word in words {
            assert_eq!(found(&sieve, word, 0).first(), Some(&(0..word.len())), "{word}");
        }
    }

    proptest! {
        /// Like a search of the whole text: each keyword in one stretch, and none in two.
        #[test]
        fn stretches_are_apart_and_hold_every_keyword(text in "[@\\-uskSKecretapi_y:/ghn ]{0,200}", from in 0_usize..40) {
            let sieve = Sieve::new(&WORDS);
            let stretches = found(&sieve, &text, from);
            prop_assert!(stretches.windows(2).all(|two| two[0].end < two[1].start));
            let lower = text.to_ascii_lowercase();
            for word in WORDS {
                for (at, _) in lower.match_indices(word).filter(|(at, _)| *at >= from) {
                    let holds = |range: &&Range<usize>| {
                        range.start <= at && at + word.len() <= range.end
                    };
                    prop_assert_eq!(stretches.iter().filter(holds).count(), 1, "{} {}", word, at);
                }
            }
        }
    }
}
