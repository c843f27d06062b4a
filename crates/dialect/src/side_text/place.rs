//! Which texts are at which path.

use super::word::Word;
use super::{Channel, Delivery, Event, Path, TextNames};

/// A place for a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) channel: Channel,
    pub(super) delivery: Delivery,
    pub(super) is_thinking: bool,
    /// It counts only if another member marks it as thinking.
    pub(super) unsure: bool,
}

const REFUSAL: Channel = 1;
const TRANSCRIPT: Channel = 2;
const SUMMARY: Channel = 3;
const QUOTE: Channel = 4;
const THOUGHT: Channel = 5;
/// An answer under an unusual name.
const OTHER_ANSWER: Channel = 6;
/// The channels of models that only write text start here.
const PLAIN: Channel = 16;

fn piece(channel: Channel) -> Option<Place> {
    Some(Place { channel, delivery: Delivery::InPieces, is_thinking: false, unsure: false })
}

fn whole(channel: Channel) -> Option<Place> {
    piece(channel).map(|place| Place { delivery: Delivery::Whole, ..place })
}

fn is_thinking(place: Option<Place>) -> Option<Place> {
    place.map(|place| Place { is_thinking: true, ..place })
}

/// The place at the end of a path, if there is a text.
pub(super) fn place(names: TextNames, event: Event, path: Path) -> Option<Place> {
    let own = match names {
        TextNames::Usual => None,
        TextNames::Responses => of_event(event, path),
        TextNames::Ollama => matches!(path.words, [Word::Response, ..] if path.depth == 1)
            .then(|| piece(OTHER_ANSWER))
            .flatten(),
        TextNames::Plain => plain(path),
    };
    own.or_else(|| usual(path))
}

fn usual(path: Path) -> Option<Place> {
    match path.words {
        [Word::Refusal, Word::Delta | Word::Message, _] => piece(REFUSAL),
        [Word::Transcript, Word::Audio, _] => piece(TRANSCRIPT),
        [Word::Transcript, Word::Content | Word::Part, _] => whole(TRANSCRIPT),
        [Word::Text, Word::Choices, _] => piece(OTHER_ANSWER),
        [Word::CitedText, ..] => whole(QUOTE),
        [
            Word::Title | Word::Text | Word::Quote | Word::Content,
            Word::Citation | Word::Annotation | Word::Source,
            _,
        ] => whole(QUOTE),
        [Word::Text, Word::Content, Word::CitationsContent] => whole(QUOTE),
        [Word::Text, Word::Summary, _] => whole(SUMMARY),
        [Word::Reasoning | Word::ReasoningContent, Word::Delta | Word::Message, _]
        | [Word::Text | Word::Summary, Word::ReasoningDetails | Word::ReasoningContent, _]
        | [Word::Text, Word::Thinking, _]
        | [Word::Thinking, ..] => is_thinking(piece(THOUGHT)),
        [Word::Text, Word::Parts | Word::Content, _] => {
            piece(THOUGHT).map(|place| Place { unsure: true, ..place })
        }
        _ => None,
    }
}

/// The texts of a Responses event: pieces in its `delta`, and the whole text at the end.
fn of_event(event: Event, path: Path) -> Option<Place> {
    let is_piece = match path.words {
        [Word::Delta, ..] if path.depth == 1 => true,
        [Word::Text | Word::Transcript, ..] if path.depth == 1 => false,
        [Word::Text, Word::Part, _] if path.depth == 2 => false,
        _ => return None,
    };
    let delivery = |channel| if is_piece { piece(channel) } else { whole(channel) };
    match event {
        Event::Answer if is_piece => piece(OTHER_ANSWER),
        Event::Refusal if is_piece => piece(REFUSAL),
        Event::Transcript => delivery(TRANSCRIPT),
        Event::Summary => delivery(SUMMARY),
        Event::Thought => is_thinking(delivery(THOUGHT)),
        Event::Answer | Event::Refusal | Event::Other => None,
    }
}

/// Models that only write text use these names, at the top level or in a list.
fn plain(path: Path) -> Option<Place> {
    let [name, parent, grand] = path.words;
    let place = match name {
        Word::Text => 0,
        Word::OutputText => 1,
        Word::Generation => 2,
        Word::Completion => 3,
        Word::Message if parent == Word::ChatHistory => return whole(QUOTE),
        _ => return None,
    };
    // A repetition of what came in pieces.
    let again = |word| matches!(word, Word::Citation | Word::Response | Word::ChatHistory);
    match again(parent) || again(grand) {
        true => whole(QUOTE),
        false => piece(PLAIN + place),
    }
}
