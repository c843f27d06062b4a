//! Which texts stand where.

use super::word::Word;
use super::{Comes, Event, Names, Path, Voice};

/// A place for a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) voice: Voice,
    pub(super) comes: Comes,
    pub(super) thought: bool,
    /// It is one only if something beside it says that it is thought.
    pub(super) unsure: bool,
}

const REFUSAL: Voice = 1;
const TRANSCRIPT: Voice = 2;
const SUMMARY: Voice = 3;
const QUOTE: Voice = 4;
const THOUGHT: Voice = 5;
/// An answer under another name than the usual one.
const OTHER_ANSWER: Voice = 6;
/// Names of models that only say text follow here.
const PLAIN: Voice = 16;

fn piece(voice: Voice) -> Option<Place> {
    Some(Place { voice, comes: Comes::InPieces, thought: false, unsure: false })
}

fn whole(voice: Voice) -> Option<Place> {
    piece(voice).map(|place| Place { comes: Comes::Whole, ..place })
}

fn thought(place: Option<Place>) -> Option<Place> {
    place.map(|place| Place { thought: true, ..place })
}

/// The place at the end of a path, if a text stands there.
pub(super) fn place(names: Names, event: Event, path: Path) -> Option<Place> {
    let own = match names {
        Names::Usual => None,
        Names::Responses => of_event(event, path),
        Names::Ollama => matches!(path.words, [Word::Response, ..] if path.depth == 1)
            .then(|| piece(OTHER_ANSWER))
            .flatten(),
        Names::Plain => plain(path),
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
        | [Word::Thinking, ..] => thought(piece(THOUGHT)),
        [Word::Text, Word::Parts | Word::Content, _] => {
            piece(THOUGHT).map(|place| Place { unsure: true, ..place })
        }
        _ => None,
    }
}

/// The texts of an event of Responses: pieces in its `delta`, and all of it at the end.
fn of_event(event: Event, path: Path) -> Option<Place> {
    let is_piece = match path.words {
        [Word::Delta, ..] if path.depth == 1 => true,
        [Word::Text | Word::Transcript, ..] if path.depth == 1 => false,
        [Word::Text, Word::Part, _] if path.depth == 2 => false,
        _ => return None,
    };
    let comes = |voice| if is_piece { piece(voice) } else { whole(voice) };
    match event {
        Event::Answer if is_piece => piece(OTHER_ANSWER),
        Event::Refusal if is_piece => piece(REFUSAL),
        Event::Transcript => comes(TRANSCRIPT),
        Event::Summary => comes(SUMMARY),
        Event::Thought => thought(comes(THOUGHT)),
        Event::Answer | Event::Refusal | Event::Other => None,
    }
}

/// Models that say nothing but text say it under these names, at the top or in a list.
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
    // What says again what came in pieces.
    let again = |word| matches!(word, Word::Citation | Word::Response | Word::ChatHistory);
    match again(parent) || again(grand) {
        true => whole(QUOTE),
        false => piece(PLAIN + place),
    }
}
