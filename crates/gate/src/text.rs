//! Text rules on a response: matches are masked while the text streams, or the response is stopped.
//!
//! Text in pieces goes through a flow, one per block or choice. A flow holds back only what may
//! still become a match; that text leaves with the next piece, or, if there is none, in one more
//! copy of its own frame. Text that comes whole is scanned whole.

mod masks;
mod pending;
mod side_texts;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use callgate_dialect::{
    After, Blame, Block, BlockStep, Carrier, Channel, Delivery, Departure, Host, Lane, Order, Part,
    Reading, Rest, Slot, What,
};
use callgate_json::{Span, decode_into, escape_into, has_escape};
use callgate_policy::{TextFlow, TextGuard, TextHit, TextOutcome};
use callgate_wire::{Frame, OwnedFrame};

use crate::core::Core;
use crate::draft::Draft;
use crate::gate::Note;
use crate::slot::{CallSlot, CallState};
use masks::Masks;
use pending::PendingText;

pub(crate) use pending::Scanned;

/// How many kinds of hits are remembered, so that a repeated text is not reported again.
const MAX_REPORTED: usize = 64;

/// The text rules of one response.
#[derive(Debug)]
pub(crate) struct TextScanner {
    guard: TextGuard,
    flows: Vec<StreamingText>,
    /// The flows of the model's thinking, which is never changed.
    thinking: Vec<StreamingText>,
    pending: PendingText,
    /// Policy, rule and kind of the reported hits.
    reported: Vec<(String, String, String)>,
}

/// The text rules of a response, if there are any.
#[derive(Debug)]
pub(crate) enum TextRules {
    None,
    Here(Box<TextScanner>),
    /// Taken out while a frame is scanned. Nothing may leave meanwhile.
    Scanning,
}

/// The text rules, taken out of the core.
enum TakenRules {
    /// There are none.
    Absent,
    Here(Box<TextScanner>),
    AlreadyTaken,
}

impl TextRules {
    pub(crate) fn new(guard: Option<TextGuard>) -> Self {
        guard.map_or(Self::None, |guard| Self::Here(Box::new(TextScanner::new(guard))))
    }

    #[inline]
    pub(crate) fn are_absent(&self) -> bool {
        matches!(self, Self::None)
    }

    #[inline]
    fn take(&mut self) -> TakenRules {
        match std::mem::replace(self, Self::Scanning) {
            Self::None => {
                *self = Self::None;
                TakenRules::Absent
            }
            Self::Here(texts) => TakenRules::Here(texts),
            Self::Scanning => TakenRules::AlreadyTaken,
        }
    }

    fn put_back(&mut self, texts: Box<TextScanner>) {
        *self = Self::Here(texts);
    }

    #[inline]
    fn here(&self) -> Option<&TextScanner> {
        match self {
            Self::Here(texts) => Some(texts),
            Self::None | Self::Scanning => None,
        }
    }

    #[inline]
    fn here_mut(&mut self) -> Option<&mut TextScanner> {
        match self {
            Self::Here(texts) => Some(texts),
            Self::None | Self::Scanning => None,
        }
    }
}

/// Why a response ends of which the text rules have not seen everything. It cannot happen; if it
/// does, nothing unseen leaves.
const UNSCANNED: &str = "a text of the response could not be scanned";

/// What a text belongs to: a choice, or a block of it, and a channel there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct TextPlace {
    lane: Lane,
    block: Option<Slot>,
    channel: Channel,
}

/// A text that is being streamed.
#[derive(Debug)]
struct StreamingText {
    place: TextPlace,
    flow: TextFlow,
    /// Half a surrogate pair at the end of the last piece.
    half: Option<u16>,
    /// The last frame, while some of its text may be held back.
    last: Option<LastFrame>,
}

/// A text frame, to be written once more with the text that was held back.
#[derive(Debug)]
struct LastFrame {
    frame: OwnedFrame,
    order: Order,
    block: Option<Block>,
    rename: Option<&'static str>,
    skipped_by_some_clients: bool,
    /// Whether it is part of the answer itself.
    is_answer: bool,
    /// The span of the text.
    text: Span,
    /// Other texts in the frame, which have left.
    others: Vec<Span>,
}

/// The result for a piece of text.
struct PieceResult {
    /// The replacement, raw between quotes; `None` if the piece is unchanged.
    raw: Option<String>,
    hits: Vec<TextHit>,
    blocked: bool,
}

impl TextScanner {
    pub(crate) fn new(guard: TextGuard) -> Self {
        let (flows, thinking, reported) = (Vec::new(), Vec::new(), Vec::new());
        Self { guard, flows, thinking, pending: PendingText::default(), reported }
    }

    /// Sends a piece through its flow. `None` if there are more flows than `max`.
    fn piece(
        &mut self,
        place: TextPlace,
        raw: &str,
        ends: bool,
        max: usize,
    ) -> Option<PieceResult> {
        let at = self.flowing(place, max)?;
        let flowing = self.flows.get_mut(at)?;
        let passed = flowing.piece(raw, ends);
        if ends {
            self.flows.swap_remove(at);
        }
        Some(passed)
    }

    /// The index of the flow of a place; adds a new one if there is none. `None` if there are `max`
    /// already.
    #[inline]
    fn flowing(&mut self, place: TextPlace, max: usize) -> Option<usize> {
        match self.flows.iter().position(|flowing| flowing.place == place) {
            Some(at) => Some(at),
            None if self.flows.len() >= max => None,
            None => {
                let flow = self.guard.flow();
                self.flows.push(StreamingText { place, flow, half: None, last: None });
                Some(self.flows.len() - 1)
            }
        }
    }

    /// Stores the last frame of a text, if some of it may be held back.
    fn keep(&mut self, place: TextPlace, last: Option<LastFrame>) {
        if let Some(flowing) = self.flows.iter_mut().find(|flowing| flowing.place == place) {
            flowing.last = last;
        }
    }

    /// Removes the flows that end with this frame. Those with text in it end there.
    fn take_ended(
        &mut self,
        ends: &FrameEnds,
        last: &HashMap<TextPlace, usize>,
    ) -> Vec<StreamingText> {
        let is_over = |flowing: &mut StreamingText| {
            !last.contains_key(&flowing.place) && ends.with(flowing.place)
        };
        self.flows.extract_if(.., is_over).collect()
    }

    /// Scans a text that came whole.
    fn whole(&self, raw: &str) -> PieceResult {
        let mut text = String::new();
        let plain = match has_escape(raw) {
            false => raw,
            true => {
                decode_into(raw, &mut None, &mut text);
                text.as_str()
            }
        };
        let TextOutcome { text, hits, blocked } = self.guard.whole(plain);
        PieceResult { raw: text.map(|text| escaped(&text)), hits, blocked }
    }

    /// Whether a hit of this kind was reported before; marks it as reported.
    fn was_reported(&mut self, hit: &TextHit) -> bool {
        let is = |(policy, rule, kind): &(String, String, String)| {
            *policy == hit.policy && *rule == hit.rule && *kind == hit.kind
        };
        if self.reported.iter().any(is) {
            return true;
        }
        if self.reported.len() < MAX_REPORTED {
            self.reported.push((hit.policy.clone(), hit.rule.clone(), hit.kind.clone()));
        }
        false
    }
}

impl StreamingText {
    fn piece(&mut self, raw: &str, ends: bool) -> PieceResult {
        let had_half = self.half.is_some();
        let mut decoded = String::new();
        let plain = match had_half || has_escape(raw) {
            false => raw,
            true => {
                decode_into(raw, &mut self.half, &mut decoded);
                decoded.as_str()
            }
        };
        let TextOutcome { text, mut hits, mut blocked } = self.flow.push(plain);
        // A surrogate pair that was split leaves whole, in the later piece.
        let was_split = had_half || (self.half.is_some() && !ends);
        let mut text = text.or_else(|| was_split.then(|| plain.to_owned()));
        if ends {
            let end = self.flow.finish();
            hits.extend(end.hits);
            blocked |= end.blocked;
            if let Some(rest) = end.text.filter(|rest| !rest.is_empty()) {
                text.get_or_insert_with(|| plain.to_owned()).push_str(&rest);
            }
        }
        PieceResult { raw: text.map(|text| escaped(&text)), hits, blocked }
    }

    /// The text that was held back, now that nothing follows.
    fn finish(&mut self) -> PieceResult {
        let TextOutcome { text, hits, blocked } = self.flow.finish();
        let text = text.filter(|text| !text.is_empty());
        PieceResult { raw: text.map(|text| escaped(&text)), hits, blocked }
    }
}

/// What ends with a frame.
struct FrameEnds {
    /// Everything ends.
    all: bool,
    /// The block of the frame.
    block: Option<Slot>,
    /// Whether that block ends, or is repeated as a whole.
    block_is_over: bool,
    /// Whole texts in the frame that are not part of the answer.
    wholes: Vec<(Lane, Channel)>,
    /// The turns that end.
    turns: HashSet<Lane>,
    /// The lanes in which a call begins after the text.
    calls: HashSet<Lane>,
}

impl FrameEnds {
    fn of(reading: &Reading) -> Self {
        let is_over = |block: Block| block.does == BlockStep::Close || reading.repeats_texts;
        let whole =
            reading.side_texts.iter().filter(|side_text| side_text.delivery == Delivery::Whole);
        let mut ends = Self {
            all: reading.after != After::More,
            block: reading.block.map(|block| block.slot),
            block_is_over: reading.block.is_some_and(is_over),
            wholes: whole.map(|side_text| (side_text.lane, side_text.channel)).collect(),
            turns: HashSet::new(),
            calls: HashSet::new(),
        };
        for part in &reading.parts {
            match &part.what {
                What::Finish(_) => drop(ends.turns.insert(part.lane)),
                What::Piece(piece) if piece.opens() && piece.carrier == Carrier::Listed => {
                    ends.calls.insert(part.lane);
                }
                _ => {}
            }
        }
        ends
    }

    /// Whether the text of this place ends.
    fn with(&self, TextPlace { lane, block, channel }: TextPlace) -> bool {
        let is_same =
            |whole: &(Lane, Channel)| whole.1 == channel && (block.is_some() || whole.0 == lane);
        let is_whole = || self.wholes.iter().any(is_same);
        let of_block = match block {
            Some(_) => self.block == block && (self.block_is_over || is_whole()),
            None => self.calls.contains(&lane) || is_whole(),
        };
        self.all || of_block || self.turns.contains(&lane)
    }
}

/// Whether a part is more than text: such a frame is not written twice.
fn is_more(part: &Part) -> bool {
    !matches!(part.what, What::Text | What::Signature)
}

fn escaped(text: &str) -> String {
    let mut raw = String::with_capacity(text.len());
    escape_into(text, &mut raw);
    raw
}

/// Whether the span is the inside of a string.
fn is_string(span: Span, data: &str) -> bool {
    let quote = |at: Option<usize>| at.and_then(|at| data.as_bytes().get(at)) == Some(&b'"');
    quote(span.start.checked_sub(1)) && quote(Some(span.end))
}

impl Core {
    /// Scans the texts of a frame. Returns how they leave; `None` if the response ends here.
    #[inline]
    pub(crate) fn guard_frame(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        out: &mut Draft,
    ) -> Option<Departure> {
        let mut texts = match self.texts.take() {
            TakenRules::Absent => return Some(Departure::default()),
            TakenRules::Here(texts) => texts,
            TakenRules::AlreadyTaken => return self.refuse_unscanned(),
        };
        let departure = self.guard_texts(&mut texts, frame, data, reading, out);
        self.texts.put_back(texts);
        departure
    }

    fn guard_texts(
        &mut self,
        texts: &mut TextScanner,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        out: &mut Draft,
    ) -> Option<Departure> {
        self.scan_thinking(texts, data, reading);
        let (pieces, wholes) = self.find_texts(data, reading);
        let ends = FrameEnds::of(reading);
        let last: HashMap<TextPlace, usize> =
            pieces.iter().enumerate().map(|(at, (place, _))| (*place, at)).collect();
        for flowing in texts.take_ended(&ends, &last) {
            if !self.write_held_back(texts, flowing, (frame, Some(reading)), out) {
                return None;
            }
        }
        let more = reading.parts.iter().any(is_more);
        let mut masks = Masks::default();
        for (at, (place, span)) in pieces.iter().enumerate() {
            let is_last = last.get(place) == Some(&at);
            let ends = is_last && (more || ends.with(*place));
            let max = self.limits().texts;
            let Some(passed) = texts.piece(*place, span.of(data), ends, max) else {
                self.fail(Blame::Refused, "more texts are open at once than the limit");
                return None;
            };
            if is_last {
                let held = passed.raw.is_some() && !ends;
                let others = || pieces.iter().map(|(_, at)| *at).filter(|other| other != span);
                let last = held.then(|| LastFrame::of(frame, reading, *span, others().collect()));
                texts.keep(*place, last);
            }
            self.report_hits(texts, passed.hits, false);
            if passed.blocked {
                self.stop_response(frame, Some(reading), place.lane, out);
                return None;
            }
            if let Some(raw) = passed.raw {
                masks.add(data, *span, raw);
            }
        }
        for span in wholes {
            let passed = texts.whole(span.of(data));
            self.report_hits(
                texts,
                passed.hits,
                reading.repeats_texts || !reading.side_texts.is_empty(),
            );
            if passed.blocked {
                self.stop_response(frame, Some(reading), reading.text_lane, out);
                return None;
            }
            if let Some(raw) = passed.raw {
                masks.add(data, span, raw);
            }
        }
        Some(masks.into_departure())
    }

    /// The texts of a frame: those in pieces, and whole ones.
    fn find_texts(&self, data: &str, reading: &Reading) -> (Vec<(TextPlace, Span)>, Vec<Span>) {
        let block = reading.block.map(|block| block.slot);
        let (mut pieces, mut wholes) = (Vec::new(), Vec::new());
        // All texts of the frame, sorted: looked up once, and only if needed.
        let all = std::cell::LazyCell::new(|| {
            let mut all = self.reader.texts(data);
            all.sort_by_key(|span| span.start);
            all
        });
        if let Some(span) = reading.text {
            let channel = side_texts::channel(reading, span);
            pieces.push((TextPlace { lane: reading.text_lane, block, channel }, span));
        }
        for part in reading.parts.iter().filter(|part| matches!(part.what, What::Text)) {
            if reading.content.is_some() {
                wholes.push(part.at);
            } else if is_string(part.at, data) {
                let channel = side_texts::channel(reading, part.at);
                pieces.push((TextPlace { lane: part.lane, block, channel }, part.at));
            } else {
                // A list of texts.
                let first = all.partition_point(|span| span.start < part.at.start);
                let inside = all.iter().skip(first).take_while(|span| span.end <= part.at.end);
                pieces.extend(
                    inside.map(|span| (TextPlace { lane: part.lane, block, channel: 0 }, *span)),
                );
            }
        }
        if reading.repeats_texts {
            let said: HashSet<usize> = pieces.iter().map(|(_, piece)| piece.start).collect();
            wholes.extend(all.iter().filter(|span| !said.contains(&span.start)));
        }
        side_texts::add(reading, block, &mut pieces, &mut wholes);
        (pieces, wholes)
    }

    /// Writes the text that was held back, in one more copy of its last frame.
    fn write_held_back(
        &mut self,
        texts: &mut TextScanner,
        mut flowing: StreamingText,
        (behind, reading): (&Frame<'_>, Option<&Reading>),
        out: &mut Draft,
    ) -> bool {
        let passed = flowing.finish();
        self.report_hits(texts, passed.hits, false);
        if passed.blocked {
            self.stop_response(behind, reading, flowing.place.lane, out);
            return false;
        }
        if let (Some(raw), Some(last)) = (passed.raw, flowing.last) {
            self.write_again(&last, flowing.place.lane, raw, out);
        }
        true
    }

    fn write_again(&mut self, last: &LastFrame, lane: Lane, raw: String, out: &mut Draft) {
        let frame = last.frame.as_frame();
        let Some(data) = frame.text() else { return };
        let reading = Reading {
            order: last.order,
            block: last.block,
            text: last.is_answer.then_some(last.text),
            text_lane: lane,
            rename: last.rename,
            skipped_by_some_clients: last.skipped_by_some_clients,
            ..Reading::default()
        };
        let mut masks = Masks::default();
        masks.add(data, last.text, raw);
        for other in &last.others {
            masks.add(data, *other, String::new());
        }
        for (span, nothing) in self.writer.text_alone(data) {
            masks.add(data, span, nothing);
        }
        let departure = Departure { rest: Rest::Text, ..masks.into_departure() };
        self.deliver(&frame, data, reading, departure, out);
    }

    /// Writes everything that was held back of any text: the response ends.
    pub(crate) fn write_all_held_back(&mut self, out: &mut Draft) {
        let mut texts = match self.texts.take() {
            TakenRules::Absent => return,
            TakenRules::Here(texts) => texts,
            TakenRules::AlreadyTaken => return drop(self.refuse_unscanned()),
        };
        self.end_thinking(&mut texts);
        for flowing in std::mem::take(&mut texts.flows) {
            // Without a frame, nothing is held back.
            let Some(frame) = flowing.last.as_ref().map(|last| last.frame.clone()) else {
                continue;
            };
            if !self.write_held_back(&mut texts, flowing, (&frame.as_frame(), None), out) {
                break;
            }
        }
        self.texts.put_back(texts);
    }

    /// Scans the texts of a whole body. Returns how they leave; `None` if it may not leave.
    pub(crate) fn guard_body(
        &mut self,
        body: &str,
        reading: &Reading,
        out: &mut Draft,
    ) -> Option<Departure> {
        let mut texts = match self.texts.take() {
            TakenRules::Absent => return Some(Departure::default()),
            TakenRules::Here(texts) => texts,
            TakenRules::AlreadyTaken => return self.refuse_unscanned(),
        };
        let departure = self.guard_whole(&mut texts, body, reading, out);
        self.texts.put_back(texts);
        departure
    }

    /// Ends the response, because a text cannot be scanned.
    #[cold]
    fn refuse_unscanned(&mut self) -> Option<Departure> {
        self.fail(Blame::Refused, UNSCANNED);
        None
    }

    fn guard_whole(
        &mut self,
        texts: &mut TextScanner,
        body: &str,
        reading: &Reading,
        out: &mut Draft,
    ) -> Option<Departure> {
        let mut spans = self.reader.texts(body);
        let parts = reading.parts.iter().filter(|part| matches!(part.what, What::Text));
        spans.extend(reading.text.into_iter().chain(parts.map(|part| part.at)));
        spans.extend(self.side_texts_in_body(texts, body));
        spans.retain(|span| is_string(*span, body));
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        let mut masks = Masks::default();
        for span in spans {
            let passed = texts.whole(span.of(body));
            self.report_hits(texts, passed.hits, false);
            if passed.blocked {
                self.drop_parts(reading);
                let body = self.dialect.blocked_body(self.settings.denial.content());
                out.buffer().extend_from_slice(body.as_bytes());
                self.progress.stop();
                return None;
            }
            if let Some(raw) = passed.raw {
                masks.add(body, span, raw);
            }
        }
        Some(masks.into_departure())
    }

    /// Reports hits; those in a repeated text only if they were not reported before.
    fn report_hits(&mut self, texts: &mut TextScanner, hits: Vec<TextHit>, again: bool) {
        for hit in hits {
            let known = texts.was_reported(&hit);
            if !(again && known) {
                self.outbox.note(Note::Guardrail(hit));
            }
        }
    }

    /// Stops the response because of a rule: drops everything that is held, and writes only the
    /// ending.
    fn stop_response(
        &mut self,
        frame: &Frame<'_>,
        reading: Option<&Reading>,
        lane: Lane,
        out: &mut Draft,
    ) {
        if let Some(reading) = reading {
            self.drop_parts(reading);
        }
        let denial = Arc::clone(&self.settings.denial);
        let message = denial.content();
        // A client could take the ordinary end of a turn for the end of a call that streams.
        if self.a_call_streams() {
            return self.fail(Blame::Refused, message);
        }
        self.drop_held();
        self.queue.clear();
        self.output.end_dangling(out);
        let before = out.buffer().len();
        self.writer.stop_early(frame, message, out.buffer());
        if out.buffer().len() == before {
            return self.fail(Blame::Refused, message);
        }
        self.output.style().end_stream(out.buffer());
        self.note_text(lane, message);
        self.hand_out_all_removed();
        self.progress.stop();
    }

    /// Drops the calls that are held, or allowed and still queued.
    fn drop_held(&mut self) {
        self.drop_queued(STOPPED);
        let held = |call: &CallSlot| match call.state() {
            CallState::Naming
            | CallState::NameAsked
            | CallState::Held
            | CallState::Asked(_)
            | CallState::Permitted => true,
            CallState::Streaming
            | CallState::Allowed
            | CallState::Denied(_)
            | CallState::Dropped
            | CallState::Provider => false,
        };
        for slot in self.calls.slots_where(held) {
            self.drop_call(slot, STOPPED);
        }
        self.end_all();
    }

    /// Reports the calls in a frame that never leaves.
    fn drop_parts(&mut self, reading: &Reading) {
        for part in &reading.parts {
            if let What::Piece(piece) = &part.what
                && piece.opens()
                && piece.host == Host::Client
            {
                let tool = piece.name.clone().unwrap_or_default();
                self.outbox.note(Note::Dropped { tool, why: STOPPED });
            }
        }
    }
}

/// Why a call in a stopped response was dropped.
pub(crate) const STOPPED: &str = "the response was stopped by a text rule";

impl LastFrame {
    fn of(frame: &Frame<'_>, reading: &Reading, text: Span, others: Vec<Span>) -> Self {
        Self {
            frame: frame.to_owned(),
            order: reading.order,
            // A repeated frame does not open a block.
            block: reading.block.map(|block| match block.does {
                BlockStep::Open => Block { does: BlockStep::Add, ..block },
                _ => block,
            }),
            rename: reading.rename,
            skipped_by_some_clients: reading.skipped_by_some_clients,
            is_answer: side_texts::is_answer(reading, text),
            text,
            others,
        }
    }
}
