//! Putting a set together.

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};

use super::{Begin, Inner, Pattern, Set, Words};
use crate::ahead::{Ahead, beginnings, bytes, unicode};
use crate::detector::Detector;
use crate::detectors::{self, Chosen};
use crate::find::Machine;
use crate::replace::Replace;

/// A set that is being put together.
#[derive(Debug, Default)]
pub struct Builder {
    detectors: Vec<(usize, Chosen)>,
    patterns: Vec<Pattern>,
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
        /// The one that was probably meant.
        near: Option<&'static str>,
    },
    /// The pattern is no regular expression, with what is wrong about it.
    Pattern(String),
    /// The pattern takes too much memory.
    TooLarge,
    /// The pattern matches nothing at all, and so it would match everywhere.
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
            Self::Pattern(why) => write!(f, "cannot read the regular expression: {why}"),
            Self::TooLarge => f.write_str("the regular expression is too large"),
            Self::MatchesNothing => f.write_str("the regular expression matches the empty text"),
            Self::EmptyWord => f.write_str("the word is empty"),
        }
    }
}

impl std::error::Error for Unusable {}

/// A regular expression that compiles to more than this is refused.
const REGEX_SIZE: usize = 1 << 20;

/// The longest word or phrase, in bytes.
const MAX_WORD: usize = 256;

impl Builder {
    /// Asks for a detector, or for all detectors of a group (`secret`, `personal`).
    pub fn detector(&mut self, source: usize, name: &str) -> Result<&mut Self, Unusable> {
        let chosen = detectors::choose(name).ok_or_else(|| Unusable::UnknownDetector {
            name: name.to_owned(),
            near: detectors::near(name),
        })?;
        self.detectors.push((source, chosen));
        Ok(self)
    }

    /// Asks for what a regular expression matches; `kind` names it in hits.
    pub fn regex(
        &mut self,
        source: usize,
        kind: &str,
        pattern: &str,
    ) -> Result<&mut Self, Unusable> {
        let regex = compile(pattern)?;
        self.patterns.push(Pattern { source, kind: Arc::from(kind), regex });
        Ok(self)
    }

    /// Asks for a word or a phrase, whatever its case, where no letter or digit stands beside it;
    /// `kind` names it in hits.
    pub fn word(&mut self, source: usize, kind: &str, word: &str) -> Result<&mut Self, Unusable> {
        let word = word.trim();
        if word.is_empty() {
            return Err(Unusable::EmptyWord);
        }
        if word.len() > MAX_WORD {
            return Err(Unusable::TooLarge);
        }
        // The automaton takes ASCII letters of any case for the same, so the other scripts' cases
        // are words of their own.
        let mut forms = vec![word.to_lowercase(), word.to_uppercase(), word.to_owned()];
        forms.sort_unstable_by_key(|form| form.to_ascii_lowercase());
        forms.dedup_by_key(|form| form.to_ascii_lowercase());
        let kind: Arc<str> = Arc::from(kind);
        self.words.extend(forms.into_iter().map(|form| (source, Arc::clone(&kind), form)));
        Ok(self)
    }

    /// Says what becomes of the hits of a source. It is [`Replace::Typed`] otherwise.
    pub fn replace(&mut self, source: usize, how: Replace) -> &mut Self {
        if self.replaces.len() <= source {
            self.replaces.resize(source + 1, Replace::default());
        }
        if let Some(place) = self.replaces.get_mut(source) {
            *place = how;
        }
        self
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.detectors.is_empty() && self.patterns.is_empty() && self.words.is_empty()
    }

    /// The set.
    pub fn build(self) -> Result<Set, Unusable> {
        let wants = |detector: &Detector| {
            let asking = self.detectors.iter().filter(|(_, chosen)| chosen.has(detector));
            let mut sources: Vec<usize> = asking.map(|(source, _)| *source).collect();
            sources.dedup();
            sources
        };
        let machine = Machine::new(&|detector| !wants(detector).is_empty());
        let asked = machine.detectors().iter().map(|loaded| {
            let detector = loaded.detector;
            (Arc::from(detector.name), wants(detector))
        });
        let asked = asked.collect();
        let words = words(&self.words)?;
        let (patterns, replaces) = (self.patterns, self.replaces);
        let begin = begin(&machine, &patterns, words.as_ref());
        let ahead = OnceLock::new();
        Ok(Set(Arc::new(Inner { machine, asked, patterns, words, replaces, ahead, begin })))
    }
}

fn begin(machine: &Machine, patterns: &[Pattern], words: Option<&Words>) -> Vec<Begin> {
    let ranked = (0..).zip(machine.detectors());
    let detectors =
        ranked.map(|(rank, loaded)| Begin::Detector { rank, edge: loaded.detector.edge });
    let words = words.map_or(0, |words| words.of.len());
    detectors
        .chain((0..patterns.len()).map(Begin::Pattern))
        .chain((0..words).map(Begin::Word))
        .collect()
}

impl Inner {
    /// How all that is searched for begins. `None` if that takes too much memory: then nothing can
    /// be said about the end of a text, and everything is held back.
    pub(crate) fn ahead(&self) -> Option<&Ahead> {
        self.ahead.get_or_init(|| self.build_ahead()).as_ref()
    }

    fn build_ahead(&self) -> Option<Ahead> {
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
        Ahead::new(hirs).ok()
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
