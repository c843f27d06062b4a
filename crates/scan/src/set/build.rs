//! Builds a set.

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};

use super::{Begin, CallerPattern, CompiledSet, Set, Words};
use crate::detector::Detector;
use crate::detectors::{self, Selection};
use crate::find::Machine;
use crate::partial::{PartialMatches, beginnings, bytes, unicode};
use crate::replace::Replace;

/// A set that is being built.
#[derive(Debug, Default)]
pub struct SetBuilder {
    detectors: Vec<(usize, Selection)>,
    patterns: Vec<CallerPattern>,
    words: Vec<(usize, Arc<str>, String)>,
    replaces: Vec<Replace>,
}

/// Why something cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// No detector and no group has this name.
    UnknownDetector {
        /// The name as given.
        name: String,
        /// The name that was probably meant.
        near: Option<&'static str>,
    },
    /// The pattern is not a valid regular expression, with the reason.
    Pattern(String),
    /// The pattern takes too much memory.
    TooLarge,
    /// The pattern matches the empty text, and so it would match everywhere.
    MatchesNothing,
    /// The word is empty.
    EmptyWord,
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownDetector { name, near: None } => write!(f, "unknown detector `{name}`"),
            Self::UnknownDetector { name, near: Some(near) } => {
                write!(f, "unknown detector `{name}`, did you mean `{near}`?")
            }
            Self::Pattern(why) => write!(f, "the regular expression is not valid: {why}"),
            Self::TooLarge => f.write_str("the regular expression is too large"),
            Self::MatchesNothing => f.write_str("the regular expression matches the empty text"),
            Self::EmptyWord => f.write_str("the word is empty"),
        }
    }
}

impl std::error::Error for Unusable {}

/// The largest compiled regular expression.
const REGEX_SIZE: usize = 1 << 20;

/// The longest word or phrase, in bytes.
const MAX_WORD: usize = 256;

impl SetBuilder {
    /// Selects a detector, or all detectors of a group (`secret`, `personal`).
    pub fn detector(&mut self, source: usize, name: &str) -> Result<&mut Self, Unusable> {
        let chosen = detectors::choose(name).ok_or_else(|| Unusable::UnknownDetector {
            name: name.to_owned(),
            near: detectors::near(name),
        })?;
        self.detectors.push((source, chosen));
        Ok(self)
    }

    /// Selects the matches of a regular expression; `kind` names it in hits.
    pub fn regex(
        &mut self,
        source: usize,
        kind: &str,
        pattern: &str,
    ) -> Result<&mut Self, Unusable> {
        let regex = compile(pattern)?;
        self.patterns.push(CallerPattern { source, kind: Arc::from(kind), regex });
        Ok(self)
    }

    /// Selects a word or a phrase, in any case, if no letter or digit is next to it; `kind` names
    /// it in hits.
    pub fn word(&mut self, source: usize, kind: &str, word: &str) -> Result<&mut Self, Unusable> {
        let word = word.trim();
        if word.is_empty() {
            return Err(Unusable::EmptyWord);
        }
        if word.len() > MAX_WORD {
            return Err(Unusable::TooLarge);
        }
        // The automaton ignores the case of ASCII letters, so other scripts need a separate word
        // for each case.
        let mut forms = vec![word.to_lowercase(), word.to_uppercase(), word.to_owned()];
        forms.sort_unstable_by_key(|form| form.to_ascii_lowercase());
        forms.dedup_by_key(|form| form.to_ascii_lowercase());
        let kind: Arc<str> = Arc::from(kind);
        self.words.extend(forms.into_iter().map(|form| (source, Arc::clone(&kind), form)));
        Ok(self)
    }

    /// Sets the replacement for the hits of a source. The default is [`Replace::Typed`].
    pub fn replace(&mut self, source: usize, how: Replace) -> &mut Self {
        if self.replaces.len() <= source {
            self.replaces.resize(source + 1, Replace::default());
        }
        if let Some(place) = self.replaces.get_mut(source) {
            *place = how;
        }
        self
    }

    /// Whether nothing was selected.
    pub fn is_empty(&self) -> bool {
        self.detectors.is_empty() && self.patterns.is_empty() && self.words.is_empty()
    }

    /// Builds the set.
    pub fn build(self) -> Result<Set, Unusable> {
        let wants = |detector: &Detector| {
            let asking = self.detectors.iter().filter(|(_, chosen)| chosen.has(detector));
            let mut sources: Vec<usize> = asking.map(|(source, _)| *source).collect();
            sources.dedup();
            sources
        };
        let machine = Machine::new(&|detector| !wants(detector).is_empty());
        let selected = machine.detectors().iter().map(|loaded| {
            let detector = loaded.detector;
            (Arc::from(detector.name), wants(detector))
        });
        let selected = selected.collect();
        let words = words(&self.words)?;
        let (patterns, replaces) = (self.patterns, self.replaces);
        let begin = begin(&machine, &patterns, words.as_ref());
        let partial = OnceLock::new();
        Ok(Set(Arc::new(CompiledSet {
            machine,
            selected,
            patterns,
            words,
            replaces,
            partial,
            begin,
        })))
    }
}

fn begin(machine: &Machine, patterns: &[CallerPattern], words: Option<&Words>) -> Vec<Begin> {
    let ranked = (0..).zip(machine.detectors());
    let detectors =
        ranked.map(|(rank, loaded)| Begin::Detector { rank, edge: loaded.detector.edge });
    let words = words.map_or(0, |words| words.of.len());
    detectors
        .chain((0..patterns.len()).map(Begin::Pattern))
        .chain((0..words).map(Begin::Word))
        .collect()
}

impl CompiledSet {
    /// The beginnings of everything that is searched for. `None` if that takes too much memory:
    /// then the end of a text is always undecided, and everything is held back.
    pub(crate) fn partial(&self) -> Option<&PartialMatches> {
        self.partial.get_or_init(|| self.build_ahead()).as_ref()
    }

    fn build_ahead(&self) -> Option<PartialMatches> {
        let mut hirs = Vec::with_capacity(self.begin.len());
        for begin in &self.begin {
            let hir = match begin {
                Begin::Detector { rank, .. } => bytes(&self.machine.detectors().get(*rank)?.form()),
                Begin::Pattern(at) => unicode(self.patterns.get(*at)?.regex.as_str()),
                Begin::Word(at) => {
                    let word = regex_syntax::escape(self.words.as_ref()?.texts.get(*at)?);
                    unicode(&format!("(?i:{word})"))
                }
            };
            hirs.push(beginnings(&hir.ok()?));
        }
        PartialMatches::new(hirs).ok()
    }
}

fn compile(pattern: &str) -> Result<Regex, Unusable> {
    let built = RegexBuilder::new(pattern).size_limit(REGEX_SIZE).build();
    let regex = built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => Unusable::TooLarge,
        other => {
            let why = other.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Unusable::Pattern(why.to_owned())
        }
    })?;
    match regex.is_match("") {
        true => Err(Unusable::MatchesNothing),
        false => Ok(regex),
    }
}

fn words(words: &[(usize, Arc<str>, String)]) -> Result<Option<Words>, Unusable> {
    if words.is_empty() {
        return Ok(None);
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(words.iter().map(|(_, _, word)| word))
        .map_err(|_| Unusable::TooLarge)?;
    let of = words.iter().map(|(source, kind, _)| (*source, Arc::clone(kind))).collect();
    let texts = words.iter().map(|(_, _, word)| word.clone()).collect();
    Ok(Some(Words { automaton, of, texts }))
}
