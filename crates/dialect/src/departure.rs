//! How a frame leaves, as the gate has ordered it.

use std::borrow::Cow;

use callgate_json::Span;
use callgate_wire::Frame;

use crate::event::{Fate, FrameForm, Lane, Part, Piece, Reading, What};
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

/// A frame on its way out.
#[derive(Debug, Clone, Copy)]
pub struct Leaving<'a> {
    /// The frame.
    pub frame: &'a Frame<'a>,
    /// Its data.
    pub data: &'a str,
    /// What was found in it.
    pub reading: &'a Reading,
    /// What the gate orders.
    pub orders: Orders<'a>,
}

impl<'a> Leaving<'a> {
    pub(crate) fn fates(&self) -> Fates<'a> {
        Fates { reading: self.reading, orders: self.orders }
    }

    /// Whether the turn ends in it.
    pub(crate) fn ends(&self) -> bool {
        self.reading.parts.iter().any(|part| matches!(part.what, What::Finish(_)))
    }
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

/// The parts of a frame, each with its fate.
#[derive(Clone, Copy)]
pub(crate) struct Fates<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) orders: Orders<'a>,
}

impl<'a> Fates<'a> {
    /// Whether only the end of the turn is left to write.
    pub(crate) fn is_only_end(&self) -> bool {
        self.orders.departure.rest == Rest::End
    }

    /// Whether the text has left: only the calls are left to write.
    pub(crate) fn is_without_text(&self) -> bool {
        self.orders.departure.rest == Rest::Calls
    }

    /// Whether the end of the turn leaves later.
    pub(crate) fn end_leaves_later(&self) -> bool {
        self.orders.fates.iter().any(|fate| matches!(fate, Fate::Later))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'a Part, &'a Fate)> {
        self.reading.parts.iter().zip(self.orders.fates)
    }

    /// The part at this place.
    pub(crate) fn at(&self, span: Span) -> Option<(&'a Part, &'a Fate)> {
        self.all().find(|(part, _)| part.at == span)
    }

    /// The piece of a call at this place.
    pub(crate) fn piece(&self, span: Span) -> Option<(&'a Piece, &'a Fate)> {
        self.all().find_map(|(part, fate)| match &part.what {
            What::Piece(piece) if part.at == span => Some((piece, fate)),
            _ => None,
        })
    }

    /// The end of the lane's turn, if it is here.
    pub(crate) fn finish(&self, lane: Lane) -> Option<&'a Fate> {
        let ends = |part: &Part| part.lane == lane && matches!(part.what, What::Finish(_));
        self.all().find(|(part, _)| ends(part)).map(|(_, fate)| fate)
    }

    /// The text that keeps the lane's turn from being empty.
    pub(crate) fn neutral(&self, lane: Lane) -> Option<&'a str> {
        self.all().find_map(|(part, fate)| match (&part.what, fate) {
            (What::Finish(_), Fate::Ordinary(Some(text))) if part.lane == lane => {
                Some(text.as_str())
            }
            _ => None,
        })
    }
}
