//! How a frame leaves, as the gate has ordered it.

use std::borrow::Cow;

use callgate_json::Span;

use crate::event::{Fate, FrameForm, Reading, What};
use crate::json::Edits;
use crate::leave::finish_body;

/// What the gate has ordered for the departure of one frame. What the frame contains is its
/// [`Reading`].
#[derive(Debug, Default)]
pub struct Departure {
    /// What is left to write.
    pub rest: Rest,
    /// The replacements of texts, raw between their quotes, sorted by place.
    pub masks: Vec<(Span, String)>,
}

/// What the gate orders a writer to do with a frame.
#[derive(Debug, Clone, Copy)]
pub struct Orders<'a> {
    /// What is left to write, and with which texts.
    pub departure: &'a Departure,
    /// What happens to each part, in the order of the parts.
    pub fates: &'a [Fate],
}

impl Orders<'_> {
    /// Whether a frame without calls leaves exactly as it came. With calls, a writer may have to
    /// number them again.
    pub fn keep_all(&self, reading: &Reading) -> bool {
        let is_regular = reading.form == FrameForm::Regular && !reading.skipped_by_some_clients;
        let has_calls = reading.parts.iter().any(|part| matches!(part.what, What::Piece(_)));
        is_regular
            && !has_calls
            && reading.rename.is_none()
            && self.departure.rest == Rest::All
            && self.departure.masks.is_empty()
            && self.fates.iter().all(|fate| matches!(fate, Fate::Keep))
    }
}

/// What is left to write of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rest {
    /// All of it.
    #[default]
    All,
    /// Its calls: its text was already sent while a verdict was pending.
    Calls,
    /// The end of the turn: everything else in it has left.
    End,
    /// One of its texts: the frame was already sent with another text. It is sent as an added
    /// frame.
    Text,
}

impl Departure {
    /// The text at `span` as it leaves, raw between its quotes.
    pub fn leaving<'a>(&'a self, span: Span, data: &'a str) -> &'a str {
        let mask = self.masks.binary_search_by_key(&span.start, |(at, _)| at.start);
        let mask = mask.ok().and_then(|at| self.masks.get(at)).filter(|(at, _)| *at == span);
        mask.map_or_else(|| span.of(data), |(_, text)| text.as_str())
    }

    /// The data with its texts masked.
    pub fn masked<'a>(&self, data: &'a str) -> Cow<'a, str> {
        match self.masks.is_empty() {
            true => Cow::Borrowed(data),
            false => Cow::Owned(finish_body(data, self, Edits::default())),
        }
    }

    /// The text of the frame has left: only its calls are left to write.
    pub fn sent_text(&mut self, text: Span, reading: &Reading) {
        self.rest = Rest::Calls;
        let parts = reading.parts.iter().filter(|part| matches!(part.what, What::Text));
        let mut sent: Vec<Span> = parts.map(|part| part.at).chain([text]).collect();
        sent.sort_by_key(|text| text.start);
        // Texts are next to each other, never nested.
        self.masks.retain(|(at, _)| {
            let before = sent.partition_point(|text| text.start <= at.start).checked_sub(1);
            before.and_then(|place| sent.get(place)).is_none_or(|text| at.end > text.end)
        });
    }

    /// The departure of a frame of which only the end of the turn is left.
    pub fn of_end() -> Self {
        Self { rest: Rest::End, masks: Vec::new() }
    }
}
