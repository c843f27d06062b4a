//! Texts beside the answer: each voice is a text of its own. What is thought is heard and stays.

use callgate_call::json::Span;
use callgate_dialect::{Comes, Reading, Slot, Voice, What};

use super::{Ends, Flowing, Place, Texts};
use crate::core::Core;

/// The voice of a text of the answer.
pub(super) fn voice(reading: &Reading, text: Span) -> Voice {
    let aside = reading.asides.iter().find(|aside| aside.at == text);
    aside.map_or(0, |aside| aside.voice)
}

/// Whether a text is of the answer.
pub(super) fn is_answer(reading: &Reading, text: Span) -> bool {
    let in_part = |span: Span| span.start <= text.start && text.end <= span.end;
    let mut parts = reading.parts.iter().filter(|part| matches!(part.what, What::Text));
    reading.text == Some(text) || parts.any(|part| in_part(part.at))
}

/// Adds the texts beside the answer to those of it.
pub(super) fn add(
    reading: &Reading,
    block: Option<Slot>,
    pieces: &mut Vec<(Place, Span)>,
    wholes: &mut Vec<Span>,
) {
    for aside in reading.asides.iter().filter(|aside| !aside.thought) {
        let known = wholes.contains(&aside.at) || pieces.iter().any(|(_, at)| *at == aside.at);
        match aside.comes {
            _ if known => {}
            Comes::InPieces => pieces.push(((aside.lane, block, aside.voice), aside.at)),
            Comes::Whole => wholes.push(aside.at),
        }
    }
}

impl Core {
    /// Tells of what rules that audit find in what is thought.
    pub(super) fn hear_thoughts(&mut self, texts: &mut Texts, data: &str, reading: &Reading) {
        let block = reading.block.map(|block| block.slot);
        for aside in reading.asides.iter().filter(|aside| aside.thought) {
            let hits = match aside.comes {
                Comes::InPieces => {
                    let place = (aside.lane, block, aside.voice);
                    texts.thought(place, aside.at.of(data), self.limits().calls)
                }
                Comes::Whole => texts.whole_thought(aside.at.of(data)),
            };
            self.tell(texts, hits, aside.comes == Comes::Whole);
        }
        if texts.thoughts.is_empty() {
            return;
        }
        let (ends, mut ended) = (Ends::of(reading), Vec::new());
        texts.thoughts.retain_mut(|flowing| {
            let is_over = ends.with(flowing.place);
            if is_over {
                ended.extend(flowing.finish().hits);
            }
            !is_over
        });
        self.tell(texts, ended, false);
    }

    /// Nothing more is thought.
    pub(super) fn end_thoughts(&mut self, texts: &mut Texts) {
        for mut flowing in std::mem::take(&mut texts.thoughts) {
            let hits = flowing.finish().hits;
            self.tell(texts, hits, false);
        }
    }

    /// The texts beside the answer of a whole body; what is thought in it is heard.
    pub(super) fn beside_in_body(&mut self, texts: &mut Texts, body: &str) -> Vec<Span> {
        let (thought, shown): (Vec<_>, Vec<_>) =
            self.reader.asides(body).into_iter().partition(|aside| aside.thought);
        for aside in thought {
            let hits = texts.whole_thought(aside.at.of(body));
            self.tell(texts, hits, false);
        }
        shown.into_iter().map(|aside| aside.at).collect()
    }
}

impl Texts {
    /// A piece of what is thought. With more at once than `max` a piece is heard by itself.
    fn thought(&mut self, place: Place, raw: &str, max: usize) -> Vec<callgate_policy::TextHit> {
        if !self.thoughts.iter().any(|flowing| flowing.place == place) {
            if self.thoughts.len() >= max {
                return self.whole_thought(raw);
            }
            let flow = self.guard.fixed_flow();
            self.thoughts.push(Flowing { place, flow, half: None, last: None });
        }
        let flowing = self.thoughts.iter_mut().find(|flowing| flowing.place == place);
        flowing.map(|flowing| flowing.piece(raw, false).hits).unwrap_or_default()
    }

    fn whole_thought(&self, raw: &str) -> Vec<callgate_policy::TextHit> {
        let mut text = String::new();
        callgate_call::json::decode_into(raw, &mut None, &mut text);
        self.guard.fixed(&text)
    }
}
