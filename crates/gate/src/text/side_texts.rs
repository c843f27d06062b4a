//! Texts that are not part of the answer: each channel is a separate text. The model's thinking is
//! scanned but never changed.

use callgate_dialect::{Channel, Delivery, Reading, SideText, Slot, What};
use callgate_json::Span;

use super::{FrameEnds, StreamingText, TextPlace, TextScanner};
use crate::core::Core;

/// The channel of a text of the answer.
pub(super) fn channel(reading: &Reading, text: Span) -> Channel {
    let side_text = reading.side_texts.iter().find(|side_text| side_text.at == text);
    side_text.map_or(0, |side_text| side_text.channel)
}

/// Whether a text is part of the answer.
pub(super) fn is_answer(reading: &Reading, text: Span) -> bool {
    let in_part = |span: Span| span.start <= text.start && text.end <= span.end;
    let mut parts = reading.parts.iter().filter(|part| matches!(part.what, What::Text));
    reading.text == Some(text) || parts.any(|part| in_part(part.at))
}

/// Adds the texts that are not part of the answer.
pub(super) fn add(
    reading: &Reading,
    block: Option<Slot>,
    pieces: &mut Vec<(TextPlace, Span)>,
    wholes: &mut Vec<Span>,
) {
    for side_text in reading.side_texts.iter().filter(|side_text| !side_text.is_thinking) {
        let known =
            wholes.contains(&side_text.at) || pieces.iter().any(|(_, at)| *at == side_text.at);
        match side_text.delivery {
            _ if known => {}
            Delivery::InPieces => {
                pieces.push((place_of(side_text, block), side_text.at));
            }
            Delivery::Whole => wholes.push(side_text.at),
        }
    }
}

fn place_of(text: &SideText, block: Option<Slot>) -> TextPlace {
    TextPlace { lane: text.lane, block, channel: text.channel }
}

impl Core {
    /// Reports what audit rules match in the model's thinking.
    pub(super) fn scan_thinking(&mut self, texts: &mut TextScanner, data: &str, reading: &Reading) {
        let block = reading.block.map(|block| block.slot);
        for side_text in reading.side_texts.iter().filter(|side_text| side_text.is_thinking) {
            let hits = match side_text.delivery {
                Delivery::InPieces => {
                    let place = place_of(side_text, block);
                    texts.thinking_piece(place, side_text.at.of(data), self.limits().texts)
                }
                Delivery::Whole => texts.scan_whole_thinking(side_text.at.of(data)),
            };
            self.report_hits(texts, hits, side_text.delivery == Delivery::Whole);
        }
        if texts.thinking.is_empty() {
            return;
        }
        let (ends, mut ended) = (FrameEnds::of(reading), Vec::new());
        texts.thinking.retain_mut(|flowing| {
            let is_over = ends.with(flowing.place);
            if is_over {
                ended.extend(flowing.finish().hits);
            }
            !is_over
        });
        self.report_hits(texts, ended, false);
    }

    /// The model's thinking has ended.
    pub(super) fn end_thinking(&mut self, texts: &mut TextScanner) {
        for mut flowing in std::mem::take(&mut texts.thinking) {
            let hits = flowing.finish().hits;
            self.report_hits(texts, hits, false);
        }
    }

    /// The texts of a whole body that are not part of the answer; scans the thinking in it.
    pub(super) fn side_texts_in_body(&mut self, texts: &mut TextScanner, body: &str) -> Vec<Span> {
        let (thought, shown): (Vec<_>, Vec<_>) =
            self.reader.side_texts(body).into_iter().partition(|side_text| side_text.is_thinking);
        for side_text in thought {
            let hits = texts.scan_whole_thinking(side_text.at.of(body));
            self.report_hits(texts, hits, false);
        }
        shown.into_iter().map(|side_text| side_text.at).collect()
    }
}

impl TextScanner {
    /// Scans a piece of thinking. If there are more than `max` at once, the piece is scanned on its
    /// own.
    fn thinking_piece(
        &mut self,
        place: TextPlace,
        raw: &str,
        max: usize,
    ) -> Vec<callgate_policy::TextHit> {
        if !self.thinking.iter().any(|flowing| flowing.place == place) {
            if self.thinking.len() >= max {
                return self.scan_whole_thinking(raw);
            }
            let flow = self.guard.fixed_flow();
            self.thinking.push(StreamingText { place, flow, half: None, last: None });
        }
        let flowing = self.thinking.iter_mut().find(|flowing| flowing.place == place);
        flowing.map(|flowing| flowing.piece(raw, false).hits).unwrap_or_default()
    }

    fn scan_whole_thinking(&self, raw: &str) -> Vec<callgate_policy::TextHit> {
        let mut text = String::new();
        callgate_json::decode_into(raw, &mut None, &mut text);
        self.guard.fixed(&text)
    }
}
