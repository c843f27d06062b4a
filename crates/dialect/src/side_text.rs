//! Texts beside the answer: refusals, transcripts, quotes of sources, summaries of reasoning, and
//! what was thought.
//!
//! Rules about text read them too. They are found by the last names on the way to them, which are
//! few and mean the same in every API; so a place that one API takes over from another is found as
//! well. Only a response with text rules is looked through.

mod place;
mod word;

use callgate_call::json::{Error, Kind, Reader, Span};

use crate::event::Lane;
use crate::json::{document, inside, member};
use place::{Place, place};
use word::Word;

/// A text beside the answer, or one of the answer that keeps apart from the others of its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    /// Where it stands, raw between its quotes.
    pub at: Span,
    /// The choice it belongs to.
    pub lane: Lane,
    /// Which of the texts of its choice or block it is.
    pub voice: Voice,
    /// How it comes.
    pub comes: Comes,
    /// It is thinking. Providers sign that, so it can be recorded and not changed.
    pub thought: bool,
}

/// One of the texts that go on beside each other in a choice or a block: pieces of one voice are
/// one text. The voice of the answer is 0.
pub type Voice = u64;

/// How a text comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comes {
    /// A piece, of which more may follow.
    InPieces,
    /// Whole: what came of its voice in pieces is over.
    Whole,
}

/// Which names a response has for its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Those that mean the same everywhere.
    Usual,
    /// Events say what their `delta` is.
    Responses,
    /// A line may have two answers.
    Ollama,
    /// A model that says nothing but text.
    Plain,
}

/// The texts beside the answer in a frame or a body, in the order they stand.
pub(crate) fn asides(data: &str, names: Names) -> Vec<Aside> {
    let mut look = Look { data, names, event: event(data, names), found: Vec::new() };
    // Whoever asks has read it to its end before: it is JSON.
    match look.value(&mut Reader::new(data), Path::default()) {
        Ok(()) => look.sure(),
        Err(_) => Vec::new(),
    }
}

/// The last names on the way to a value, the nearest first.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    words: [Word; 3],
    depth: u32,
}

impl Path {
    fn under(self, word: Word) -> Self {
        let [first, second, _] = self.words;
        Self { words: [word, first, second], depth: self.depth + 1 }
    }
}

/// What an event of Responses is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Event {
    Answer,
    Refusal,
    Transcript,
    Summary,
    Thought,
    #[default]
    Other,
}

/// What the type of an event says its texts are.
fn event(data: &str, names: Names) -> Event {
    if names != Names::Responses {
        return Event::Other;
    }
    let kind = member(data, document(data), "type");
    let kind = kind.and_then(|span| Reader::at(data, span).string().ok());
    let kind = kind.and_then(|kind| kind.decode().ok()).unwrap_or_default();
    let is = |word: &str| kind.contains(word);
    match () {
        () if is("output_text") => Event::Answer,
        () if is("refusal") => Event::Refusal,
        () if is("transcript") => Event::Transcript,
        () if is("reasoning_summary") => Event::Summary,
        () if is("reasoning") => Event::Thought,
        () => Event::Other,
    }
}

struct Look<'a> {
    data: &'a str,
    names: Names,
    event: Event,
    /// Each with whether it is one only if it is thought.
    found: Vec<(Aside, bool)>,
}

/// What the members of an object say of all texts in it. They may stand behind the texts.
#[derive(Default)]
struct About {
    index: Option<Lane>,
    voice: Voice,
    thought: bool,
}

impl Look<'_> {
    fn value(&mut self, json: &mut Reader<'_>, path: Path) -> Result<(), Error> {
        match json.kind()? {
            Kind::Object => self.object(json, path),
            Kind::Array => {
                let mut array = json.array()?;
                while array.next(json)? {
                    self.value(json, path)?;
                }
                Ok(())
            }
            Kind::String => {
                let text = json.string()?;
                let place = place(self.names, self.event, path).filter(|_| !text.is_empty());
                self.found.extend(place.map(|place| place.at(inside(&text))));
                Ok(())
            }
            _ => json.skip().map(|_| ()),
        }
    }

    fn object(&mut self, json: &mut Reader<'_>, path: Path) -> Result<(), Error> {
        let before = self.found.len();
        let mut about = About::default();
        let mut object = json.object()?;
        while let Some(key) = object.next(json)? {
            match Word::of(&key) {
                // The arguments of a call are for the rules about calls.
                Word::Call => drop(json.skip()?),
                word @ (Word::Index | Word::OtherIndex) => {
                    let number = json.skip()?.of(self.data).parse::<Lane>().ok();
                    if word == Word::Index {
                        about.index = number;
                    }
                    about.voice = mix(about.voice, number.unwrap_or(0).into());
                }
                Word::Thought if json.kind()? == Kind::Bool => {
                    about.thought |= json.skip()?.of(self.data) == "true";
                }
                Word::Type if json.kind()? == Kind::String => {
                    let kind = json.string()?;
                    about.thought |= THOUGHTS.iter().any(|thought| kind.is(thought));
                }
                word => self.value(json, path.under(word))?,
            }
        }
        let is_choice = matches!(path.words, [Word::Choices | Word::Candidates, ..]);
        for (aside, _) in self.found.iter_mut().skip(before) {
            aside.thought |= about.thought;
            match about.index.filter(|_| is_choice) {
                Some(lane) => aside.lane = lane,
                None if about.voice != 0 => aside.voice = mix(aside.voice, about.voice),
                None => {}
            }
        }
        Ok(())
    }

    fn sure(self) -> Vec<Aside> {
        let sure = |(aside, unsure): (Aside, bool)| (aside.thought || !unsure).then_some(aside);
        self.found.into_iter().filter_map(sure).collect()
    }
}

/// Types of parts and steps that are thought: Responses, and Interactions with its two.
const THOUGHTS: [&str; 3] = ["reasoning_text", "thought", "thought_summary"];

/// Tells voices apart by the numbers on the way to them.
fn mix(voice: Voice, number: u64) -> Voice {
    voice.wrapping_mul(1_000_003).wrapping_add(number).wrapping_add(1)
}

impl Place {
    fn at(self, at: Span) -> (Aside, bool) {
        let Self { voice, comes, thought, unsure } = self;
        (Aside { at, lane: 0, voice, comes, thought }, unsure)
    }
}

#[cfg(test)]
mod tests;
