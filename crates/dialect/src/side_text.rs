//! Texts that are not part of the answer: refusals, transcripts, quotes of sources, summaries of
//! reasoning, and thinking.
//!
//! Text rules apply to them too. They are found by the last member names on the path to them, which
//! are few and mean the same in every API; so a place that one API adopts from another is found as
//! well. Only responses with text rules are searched.

mod place;
mod word;

use callgate_json::{Error, Kind, Reader, Span};

use crate::event::Lane;
use crate::json::{document, inside, member};
use place::{Place, place};
use word::Word;

/// A text that is not part of the answer, or a text of the answer that is separate from the others
/// in its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideText {
    /// Its span, raw between its quotes.
    pub at: Span,
    /// The choice it belongs to.
    pub lane: Lane,
    /// Which of the texts of its choice or block it is.
    pub channel: Channel,
    /// Whether it comes whole or in pieces.
    pub delivery: Delivery,
    /// Whether it is thinking. Providers sign that, so it can be recorded but not changed.
    pub is_thinking: bool,
}

/// Identifies one of several parallel texts in a choice or a block: pieces on one channel are one
/// text. The channel of the answer is 0.
pub type Channel = u64;

/// Whether a text comes whole or in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// A piece; more may follow.
    InPieces,
    /// Whole: this ends the pieces on its channel.
    Whole,
}

/// The member names that a response uses for its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextNames {
    /// Names that mean the same in every API.
    Usual,
    /// The type of an event determines the meaning of its `delta`.
    Responses,
    /// A line may have two answers.
    Ollama,
    /// A model that only writes text.
    Plain,
}

/// The texts in a frame or a body that are not part of the answer, in order.
pub(crate) fn side_texts(data: &str, names: TextNames) -> Vec<SideText> {
    let mut look = SideTextFinder { data, names, event: event(data, names), found: Vec::new() };
    // The caller has parsed it before: it is valid JSON.
    match look.value(&mut Reader::new(data), Path::default()) {
        Ok(()) => look.sure(),
        Err(_) => Vec::new(),
    }
}

/// The last member names on the path to a value, the nearest first.
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

/// The subject of a Responses event.
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

/// The subject of an event, by its type.
fn event(data: &str, names: TextNames) -> Event {
    if names != TextNames::Responses {
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

struct SideTextFinder<'a> {
    data: &'a str,
    names: TextNames,
    event: Event,
    /// Each text, with whether it counts only if it is thinking.
    found: Vec<(SideText, bool)>,
}

/// What the members of an object determine for all texts in it. They may come after the texts.
#[derive(Default)]
struct ObjectTraits {
    index: Option<Lane>,
    channel: Channel,
    is_thinking: bool,
}

impl SideTextFinder<'_> {
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
        let mut about = ObjectTraits::default();
        let mut object = json.object()?;
        while let Some(key) = object.next(json)? {
            match Word::of(&key) {
                // Call rules apply to the arguments of a call.
                Word::Call => drop(json.skip()?),
                word @ (Word::Index | Word::OtherIndex) => {
                    let number = json.skip()?.of(self.data).parse().ok().map(Lane);
                    if word == Word::Index {
                        about.index = number;
                    }
                    about.channel = mix(about.channel, number.unwrap_or_default().0.into());
                }
                Word::Thought if json.kind()? == Kind::Bool => {
                    about.is_thinking |= json.skip()?.of(self.data) == "true";
                }
                Word::Type if json.kind()? == Kind::String => {
                    let kind = json.string()?;
                    about.is_thinking |= THINKING.iter().any(|is_thinking| kind.is(is_thinking));
                }
                word => self.value(json, path.under(word))?,
            }
        }
        let is_choice = matches!(path.words, [Word::Choices | Word::Candidates, ..]);
        for (side_text, _) in self.found.iter_mut().skip(before) {
            side_text.is_thinking |= about.is_thinking;
            match about.index.filter(|_| is_choice) {
                Some(lane) => side_text.lane = lane,
                None if about.channel != 0 => {
                    side_text.channel = mix(side_text.channel, about.channel)
                }
                None => {}
            }
        }
        Ok(())
    }

    fn sure(self) -> Vec<SideText> {
        let sure = |(side_text, unsure): (SideText, bool)| {
            (side_text.is_thinking || !unsure).then_some(side_text)
        };
        self.found.into_iter().filter_map(sure).collect()
    }
}

/// Types of parts and steps that are thinking: in Responses, and the two of Interactions.
const THINKING: [&str; 3] = ["reasoning_text", "thought", "thought_summary"];

/// Derives a channel from the numbers on its path.
fn mix(channel: Channel, number: u64) -> Channel {
    channel.wrapping_mul(1_000_003).wrapping_add(number).wrapping_add(1)
}

impl Place {
    fn at(self, at: Span) -> (SideText, bool) {
        let Self { channel, delivery, is_thinking, unsure } = self;
        (SideText { at, lane: Lane::default(), channel, delivery, is_thinking }, unsure)
    }
}

#[cfg(test)]
mod tests;
