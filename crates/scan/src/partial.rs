//! Finds what may still become a match: an end of the text that is the beginning of a match.
//!
//! For each pattern, the beginnings of its matches are a pattern too. All of them together form one
//! automaton, which runs backwards from the end of the text. Ordinary text stops it within a word.

mod beginnings;

use std::panic::{RefUnwindSafe, UnwindSafe};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID};
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

pub(crate) use beginnings::{beginnings, bytes, unicode};

/// The beginnings of several patterns.
#[derive(Debug)]
pub(crate) struct PartialMatches {
    dfa: DFA,
    caches: Caches,
    patterns: Vec<Hir>,
}

type Caches = Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>>;

/// The automaton would take too much memory.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// The most memory for the beginnings of all patterns of a set, before any text comes.
const MAX_NFA: usize = 32 << 20;

impl PartialMatches {
    /// An automaton for these patterns, each as returned by [`beginnings`].
    pub(crate) fn new(patterns: Vec<Hir>) -> Result<Self, TooLarge> {
        let dfa = automaton(&patterns, Way::Back)?;
        let again = dfa.clone();
        let caches: Caches = Pool::new(Box::new(move || again.create_cache()));
        Ok(Self { dfa, caches, patterns })
    }

    /// Checks for each place from the end of the text back to `from` whether the text after it is
    /// the beginning of a match, and reports place and pattern, nearest to the end first. An error
    /// means that there were too many to check.
    pub(crate) fn each(
        &self,
        text: &[u8],
        from: usize,
        report: &mut dyn FnMut(usize, usize),
    ) -> Result<(), CacheError> {
        let mut cache = self.caches.get();
        let cache = &mut *cache;
        let config = start::Config::new().anchored(Anchored::Yes);
        let Ok(mut state) = self.dfa.start_state(cache, &config) else { return Ok(()) };
        let pending = text.get(from..).unwrap_or(&[]);
        for (at, byte) in pending.iter().enumerate().rev() {
            state = self.dfa.next_state(cache, state, *byte)?;
            if state.is_dead() {
                return Ok(());
            }
            // The automaton reports a match one byte late: it ended before this one. The empty
            // match at the very end does not count.
            if state.is_match() && at + 1 < pending.len() {
                self.report_state(cache, state, from + at + 1, report);
            }
        }
        state = self.dfa.next_eoi_state(cache, state)?;
        if state.is_match() && !pending.is_empty() {
            self.report_state(cache, state, from, report);
        }
        Ok(())
    }

    fn report_state(
        &self,
        cache: &Cache,
        state: LazyStateID,
        at: usize,
        report: &mut dyn FnMut(usize, usize),
    ) {
        for index in 0..self.dfa.match_len(cache, state) {
            report(at, self.dfa.match_pattern(cache, state, index).as_usize());
        }
    }

    /// Follows one pattern forward from where it begins.
    pub(crate) fn follow(&self, pattern: usize) -> Option<Follower> {
        let hir = self.patterns.get(pattern)?.clone();
        let dfa = automaton(&[hir], Way::Forward).ok()?;
        let mut cache = dfa.create_cache();
        let config = start::Config::new().anchored(Anchored::Yes);
        let state = dfa.start_state(&mut cache, &config).ok()?;
        Some(Follower { dfa, cache, state })
    }
}

/// One pattern whose beginning was seen, as long as it may still become a match.
#[derive(Debug)]
pub(crate) struct Follower {
    dfa: DFA,
    cache: Cache,
    state: LazyStateID,
}

impl Follower {
    /// How many bytes of `text` may still belong to the match; `None` if all of it, and more.
    pub(crate) fn push(&mut self, text: &[u8]) -> Option<usize> {
        for (at, byte) in text.iter().enumerate() {
            // A match that cannot be followed has not ended.
            let Ok(next) = self.dfa.next_state(&mut self.cache, self.state, *byte) else {
                return None;
            };
            self.state = next;
            // Every beginning is a match of the automaton, and it reports them one byte late.
            let end = self.dfa.next_eoi_state(&mut self.cache, next);
            if end.is_ok_and(|end| !end.is_match()) {
                return Some(at);
            }
        }
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Back,
}

fn automaton(patterns: &[Hir], way: Way) -> Result<DFA, TooLarge> {
    let config = NFA::config()
        .reverse(way == Way::Back)
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(MAX_NFA));
    let nfa = NFA::compiler().configure(config).build_many_from_hir(patterns);
    let nfa = nfa.map_err(|_| TooLarge)?;
    let config =
        DFA::config().match_kind(MatchKind::All).prefilter(None).skip_cache_capacity_check(true);
    DFA::builder().configure(config).build_from_nfa(nfa).map_err(|_| TooLarge)
}

#[cfg(test)]
mod tests {
    use super::{PartialMatches, beginnings, unicode};

    fn partial(patterns: &[&str]) -> PartialMatches {
        let patterns = patterns.iter().map(|it| beginnings(&unicode(it).unwrap()));
        PartialMatches::new(patterns.collect()).unwrap()
    }

    /// The place of the first beginning, and the number of patterns that begin there.
    fn first(partial: &PartialMatches, text: &str) -> Option<(usize, usize)> {
        let mut first = None;
        partial.each(text.as_bytes(), 0, &mut |at, pattern| first = Some((at, pattern))).unwrap();
        first
    }

    #[test]
    fn beginnings_at_the_end() {
        let partial = partial(&["key-[a-z]{4}", r"\b\d+-\d{2}(?:é|x)$", "(?i)straße"]);
        for (text, expected) in [
            ("", None),
            ("nothing of it", None),
            ("a k", Some((2, 0))),
            ("a key-", Some((2, 0))),
            ("a key-ab", Some((2, 0))),
            ("a key-abcd", Some((2, 0))),
            ("a key-abcde", None),
            ("a key-1", Some((6, 1))),
            ("12", Some((0, 1))),
            ("12-3", Some((0, 1))),
            ("12-34é", Some((0, 1))),
            ("12-345", Some((3, 1))),
            ("STRASSE", None),
            ("die STRAẞ", Some((4, 2))),
        ] {
            assert_eq!(first(&partial, text), expected, "{text}");
        }
    }

    #[test]
    fn a_pattern_is_followed_to_its_end() {
        let partial = partial(&["a.*z", "b"]);
        let mut follower = partial.follow(0).unwrap();
        assert_eq!(follower.push(b"abcdz and on"), None);
        assert_eq!(follower.push(b" and on\nand"), Some(7));
    }
}
