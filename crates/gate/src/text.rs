//! Text rules on what a response says: masked as it flows, or the response is cut.
//!
//! Text in pieces goes through a flow, one per block or choice. A flow holds back only what may
//! still become a match; that goes in front of the next piece, or, where none comes, in one more
//! copy of the frame that brought it. Text that stands whole is looked at whole.

mod beside;
mod masks;
mod pending;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use callgate_call::json::{Span, decode_into, escape_into, has_escape};
use callgate_dialect::{
    Blame, Block, BlockStep, Carrier, Comes, Host, Lane, Order, Part, Reading, Slot, Voice, What,
};
use callgate_policy::{TextFlow, TextGuard, TextHit, TextOutcome};
use callgate_wire::{Frame, OwnedFrame};

use crate::core::{Core, Stream};
use crate::gate::{Ending, Note};
use crate::slot::{CallSlot, State};
use masks::Masks;
use pending::Pending;

/// Kinds of hits that are remembered, so that a text said again is not told of again.
const MAX_TOLD: usize = 64;

/// The text rules of one response.
#[derive(Debug)]
pub(crate) struct Texts {
    guard: TextGuard,
    flows: Vec<Flowing>,
    /// What is thought, which nothing is done to.
    thoughts: Vec<Flowing>,
    pending: Pending,
    /// Policy, rule and kind of what was told of.
    told: Vec<(String, String, String)>,
}

/// What a text belongs to: a choice, or a block of it, and one of the voices there.
type Place = (Lane, Option<Slot>, Voice);

/// A text on its way.
#[derive(Debug)]
struct Flowing {
    place: Place,
    flow: TextFlow,
    /// Half a surrogate pair at the end of the last piece.
    half: Option<u16>,
    /// The frame that came last, while some of its text may be held back.
    last: Option<Last>,
}

/// A frame of text, to be said once more with what was held back.
#[derive(Debug)]
struct Last {
    frame: OwnedFrame,
    order: Order,
    block: Option<Block>,
    rename: Option<&'static str>,
    uneven: bool,
    /// It is of the answer, and not beside it.
    is_answer: bool,
    /// The place of the text.
    text: Span,
    /// Other texts in the frame, which were said.
    others: Vec<Span>,
}

/// What became of a piece of text.
struct Passed {
    /// What leaves in its place, raw between quotes; `None` if it leaves as it came.
    raw: Option<String>,
    hits: Vec<TextHit>,
    blocked: bool,
}

impl Texts {
    pub(crate) fn new(guard: TextGuard) -> Self {
        let (flows, thoughts, told) = (Vec::new(), Vec::new(), Vec::new());
        Self { guard, flows, thoughts, pending: Pending::default(), told }
    }

    /// Sends a piece through its flow. `None` if there are more flows than `max`.
    fn piece(&mut self, place: Place, raw: &str, ends: bool, max: usize) -> Option<Passed> {
        let at = self.flowing(place, max)?;
        let flowing = self.flows.get_mut(at)?;
        let passed = flowing.piece(raw, ends);
        if ends {
            self.flows.swap_remove(at);
        }
        Some(passed)
    }

    /// Where the flow of a place is; a new one if there is none yet. `None` if there are `max`.
    #[inline]
    fn flowing(&mut self, place: Place, max: usize) -> Option<usize> {
        match self.flows.iter().position(|flowing| flowing.place == place) {
            Some(at) => Some(at),
            None if self.flows.len() >= max => None,
            None => {
                let flow = self.guard.flow();
                self.flows.push(Flowing { place, flow, half: None, last: None });
                Some(self.flows.len() - 1)
            }
        }
    }

    /// Keeps the frame of a text of which some may be held back.
    fn keep(&mut self, place: Place, last: Option<Last>) {
        if let Some(flowing) = self.flows.iter_mut().find(|flowing| flowing.place == place) {
            flowing.last = last;
        }
    }

    /// Takes out the flows that end with this frame. Those with text in it end there.
    fn take_ended(&mut self, ends: &Ends, last: &HashMap<Place, usize>) -> Vec<Flowing> {
        let is_over =
            |flowing: &mut Flowing| !last.contains_key(&flowing.place) && ends.with(flowing.place);
        self.flows.extract_if(.., is_over).collect()
    }

    /// A text that stands whole.
    fn whole(&self, raw: &str) -> Passed {
        let mut text = String::new();
        let plain = match has_escape(raw) {
            false => raw,
            true => {
                decode_into(raw, &mut None, &mut text);
                text.as_str()
            }
        };
        let TextOutcome { text, hits, blocked } = self.guard.whole(plain);
        Passed { raw: text.map(|text| escaped(&text)), hits, blocked }
    }

    /// Whether a hit of this kind was told of before; from now on it was.
    fn was_told(&mut self, hit: &TextHit) -> bool {
        let is = |(policy, rule, kind): &(String, String, String)| {
            *policy == hit.policy && *rule == hit.rule && *kind == hit.kind
        };
        if self.told.iter().any(is) {
            return true;
        }
        if self.told.len() < MAX_TOLD {
            self.told.push((hit.policy.clone(), hit.rule.clone(), hit.kind.clone()));
        }
        false
    }
}

impl Flowing {
    fn piece(&mut self, raw: &str, ends: bool) -> Passed {
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
        // A pair that was cut in two leaves whole, in the later piece.
        let cut = had_half || (self.half.is_some() && !ends);
        let mut text = text.or_else(|| cut.then(|| plain.to_owned()));
        if ends {
            let end = self.flow.finish();
            hits.extend(end.hits);
            blocked |= end.blocked;
            if let Some(rest) = end.text.filter(|rest| !rest.is_empty()) {
                text.get_or_insert_with(|| plain.to_owned()).push_str(&rest);
            }
        }
        Passed { raw: text.map(|text| escaped(&text)), hits, blocked }
    }

    /// What was held back, now that nothing follows.
    fn finish(&mut self) -> Passed {
        let TextOutcome { text, hits, blocked } = self.flow.finish();
        let text = text.filter(|text| !text.is_empty());
        Passed { raw: text.map(|text| escaped(&text)), hits, blocked }
    }
}

/// What ends with a frame.
struct Ends {
    /// Everything does.
    all: bool,
    /// The block of the frame.
    block: Option<Slot>,
    /// Whether that block does, or is said once more as a whole.
    block_is_over: bool,
    /// Texts beside the answer that stand whole in the frame.
    wholes: Vec<(Lane, Voice)>,
    /// The turns that do.
    turns: HashSet<Lane>,
    /// The lanes in which a call begins behind the text.
    calls: HashSet<Lane>,
}

impl Ends {
    fn of(reading: &Reading) -> Self {
        let is_over = |block: Block| block.does == BlockStep::Close || reading.retells;
        let whole = reading.asides.iter().filter(|aside| aside.comes == Comes::Whole);
        let mut ends = Self {
            all: reading.done || reading.failure,
            block: reading.block.map(|block| block.slot),
            block_is_over: reading.block.is_some_and(is_over),
            wholes: whole.map(|aside| (aside.lane, aside.voice)).collect(),
            turns: HashSet::new(),
            calls: HashSet::new(),
        };
        for part in &reading.parts {
            match &part.what {
                What::Finish(_) => drop(ends.turns.insert(part.lane)),
                What::Piece(piece) if piece.opens && piece.carrier == Carrier::Listed => {
                    ends.calls.insert(part.lane);
                }
                _ => {}
            }
        }
        ends
    }

    /// Whether a text of this place does.
    fn with(&self, (lane, block, voice): Place) -> bool {
        let is_same =
            |whole: &(Lane, Voice)| whole.1 == voice && (block.is_some() || whole.0 == lane);
        let is_whole = || self.wholes.iter().any(is_same);
        let of_block = match block {
            Some(_) => self.block == block && (self.block_is_over || is_whole()),
            None => self.calls.contains(&lane) || is_whole(),
        };
        self.all || of_block || self.turns.contains(&lane)
    }
}

/// Whether a part is more than text: such a frame is not said twice.
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
    /// Looks at the texts of a frame. Answers `false` if the response ends here.
    #[inline]
    pub(crate) fn guard_frame(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &mut Reading,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(mut texts) = self.texts.take() else { return true };
        let goes_on = self.guard_texts(&mut texts, frame, data, reading, out);
        self.texts = Some(texts);
        goes_on
    }

    fn guard_texts(
        &mut self,
        texts: &mut Texts,
        frame: &Frame<'_>,
        data: &str,
        reading: &mut Reading,
        out: &mut Vec<u8>,
    ) -> bool {
        self.hear_thoughts(texts, data, reading);
        let (pieces, wholes) = self.find_texts(data, reading);
        let ends = Ends::of(reading);
        let last: HashMap<Place, usize> =
            pieces.iter().enumerate().map(|(at, (place, _))| (*place, at)).collect();
        for flowing in texts.take_ended(&ends, &last) {
            if !self.say_held(texts, flowing, (frame, Some(reading)), out) {
                return false;
            }
        }
        let more = reading.parts.iter().any(is_more);
        let mut masks = Masks::default();
        for (at, (place, span)) in pieces.iter().enumerate() {
            let is_last = last.get(place) == Some(&at);
            let ends = is_last && (more || ends.with(*place));
            let max = self.limits().calls;
            let Some(passed) = texts.piece(*place, span.of(data), ends, max) else {
                self.fail(Blame::Refused, "more texts at once than the limit");
                return false;
            };
            if is_last {
                let held = passed.raw.is_some() && !ends;
                let others = || pieces.iter().map(|(_, at)| *at).filter(|other| other != span);
                let last = held.then(|| Last::of(frame, reading, *span, others().collect()));
                texts.keep(*place, last);
            }
            self.tell(texts, passed.hits, false);
            if passed.blocked {
                return self.cut(frame, Some(reading), place.0, out);
            }
            if let Some(raw) = passed.raw {
                masks.add(data, *span, raw);
            }
        }
        for span in wholes {
            let passed = texts.whole(span.of(data));
            self.tell(texts, passed.hits, reading.retells || !reading.asides.is_empty());
            if passed.blocked {
                return self.cut(frame, Some(reading), reading.text_lane, out);
            }
            if let Some(raw) = passed.raw {
                masks.add(data, span, raw);
            }
        }
        reading.masks = masks.into_list();
        true
    }

    /// The texts of a frame: those in pieces, and those that stand whole.
    fn find_texts(&self, data: &str, reading: &Reading) -> (Vec<(Place, Span)>, Vec<Span>) {
        let block = reading.block.map(|block| block.slot);
        let (mut pieces, mut wholes) = (Vec::new(), Vec::new());
        // All texts of the frame, by their places: looked for once, and only where they are needed.
        let all = std::cell::LazyCell::new(|| {
            let mut all = self.reader.texts(data);
            all.sort_by_key(|span| span.start);
            all
        });
        if let Some(span) = reading.text {
            pieces.push(((reading.text_lane, block, beside::voice(reading, span)), span));
        }
        for part in reading.parts.iter().filter(|part| matches!(part.what, What::Text)) {
            if reading.content.is_some() {
                wholes.push(part.at);
            } else if is_string(part.at, data) {
                pieces.push(((part.lane, block, beside::voice(reading, part.at)), part.at));
            } else {
                // A list of texts.
                let first = all.partition_point(|span| span.start < part.at.start);
                let inside = all.iter().skip(first).take_while(|span| span.end <= part.at.end);
                pieces.extend(inside.map(|span| ((part.lane, block, 0), *span)));
            }
        }
        if reading.retells {
            let said: HashSet<usize> = pieces.iter().map(|(_, piece)| piece.start).collect();
            wholes.extend(all.iter().filter(|span| !said.contains(&span.start)));
        }
        beside::add(reading, block, &mut pieces, &mut wholes);
        (pieces, wholes)
    }

    /// Says what was held back of a text, in one more copy of its last frame.
    fn say_held(
        &mut self,
        texts: &mut Texts,
        mut flowing: Flowing,
        (behind, reading): (&Frame<'_>, Option<&Reading>),
        out: &mut Vec<u8>,
    ) -> bool {
        let passed = flowing.finish();
        self.tell(texts, passed.hits, false);
        if passed.blocked {
            return self.cut(behind, reading, flowing.place.0, out);
        }
        if let (Some(raw), Some(last)) = (passed.raw, flowing.last) {
            self.say_again(&last, flowing.place.0, raw, out);
        }
        true
    }

    fn say_again(&mut self, last: &Last, lane: Lane, raw: String, out: &mut Vec<u8>) {
        let frame = last.frame.as_frame();
        let Some(data) = frame.data().and_then(|data| std::str::from_utf8(data).ok()) else {
            return;
        };
        let mut reading = Reading {
            order: last.order,
            block: last.block,
            text: last.is_answer.then_some(last.text),
            text_lane: lane,
            rename: last.rename,
            uneven: last.uneven,
            again: true,
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
        reading.masks = masks.into_list();
        self.deliver(&frame, data, reading, out);
    }

    /// The response ends: what is held back of any text is said.
    pub(crate) fn say_all_held(&mut self, out: &mut Vec<u8>) {
        let Some(mut texts) = self.texts.take() else { return };
        self.end_thoughts(&mut texts);
        for flowing in std::mem::take(&mut texts.flows) {
            // Without a frame nothing is held back.
            let Some(frame) = flowing.last.as_ref().map(|last| last.frame.clone()) else {
                continue;
            };
            if !self.say_held(&mut texts, flowing, (&frame.as_frame(), None), out) {
                break;
            }
        }
        self.texts = Some(texts);
    }

    /// Looks at the texts of a whole body. Answers `false` if it may not leave.
    pub(crate) fn guard_body(
        &mut self,
        body: &str,
        reading: &mut Reading,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(mut texts) = self.texts.take() else { return true };
        let goes_on = self.guard_whole(&mut texts, body, reading, out);
        self.texts = Some(texts);
        goes_on
    }

    fn guard_whole(
        &mut self,
        texts: &mut Texts,
        body: &str,
        reading: &mut Reading,
        out: &mut Vec<u8>,
    ) -> bool {
        let mut spans = self.reader.texts(body);
        let parts = reading.parts.iter().filter(|part| matches!(part.what, What::Text));
        spans.extend(reading.text.into_iter().chain(parts.map(|part| part.at)));
        spans.extend(self.beside_in_body(texts, body));
        spans.retain(|span| is_string(*span, body));
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        let mut masks = Masks::default();
        for span in spans {
            let passed = texts.whole(span.of(body));
            self.tell(texts, passed.hits, false);
            if passed.blocked {
                self.drop_parts(reading);
                let body = self.dialect.blocked_body(self.settings.denial.content());
                out.extend_from_slice(body.as_bytes());
                self.stream = Stream::Closed(Ending::Blocked);
                return false;
            }
            if let Some(raw) = passed.raw {
                masks.add(body, span, raw);
            }
        }
        reading.masks = masks.into_list();
        true
    }

    /// Tells of hits; those in a text that is said again only if they were not seen before.
    fn tell(&mut self, texts: &mut Texts, hits: Vec<TextHit>, again: bool) {
        for hit in hits {
            let known = texts.was_told(&hit);
            if !(again && known) {
                self.outbox.note(Note::Guardrail(hit));
            }
        }
    }

    /// A rule stops the response: what is held goes nowhere, and nothing leaves any more but the
    /// words that end it. Answers `false`, for the response ends here.
    fn cut(
        &mut self,
        frame: &Frame<'_>,
        reading: Option<&Reading>,
        lane: Lane,
        out: &mut Vec<u8>,
    ) -> bool {
        if let Some(reading) = reading {
            self.drop_parts(reading);
        }
        let denial = Arc::clone(&self.settings.denial);
        let told = denial.content();
        // A client could take the ordinary end of a turn for the end of a call that streams.
        if self.a_call_streams() {
            self.fail(Blame::Refused, told);
            return false;
        }
        self.drop_held();
        self.queue.clear();
        self.queued = 0;
        self.moved = false;
        self.end_dangling(out);
        let before = out.len();
        self.writer.cut_short(frame, told, out);
        if out.len() == before {
            self.fail(Blame::Refused, told);
            return false;
        }
        self.style.end_stream(out);
        self.say(lane, told);
        let lanes: Vec<Lane> = self.lanes.iter().map(|lane| lane.lane).collect();
        lanes.into_iter().for_each(|lane| self.hand_out_removed(lane));
        self.stream = Stream::Closed(Ending::Blocked);
        false
    }

    /// Calls that are held, or allowed and still queued, go nowhere.
    fn drop_held(&mut self) {
        self.drop_queued(CUT);
        let held = |call: &&CallSlot| match call.state {
            State::Naming | State::NameAsked | State::Held | State::Asked(_) | State::Permitted => {
                true
            }
            State::Live | State::Allowed | State::Denied(_) | State::Dropped | State::Provider => {
                false
            }
        };
        let dropped = self.calls.iter().filter(held).map(|call| call.slot);
        for slot in dropped.collect::<Vec<_>>() {
            self.drop_call(slot, CUT);
        }
        self.end_all();
    }

    /// Tells of the calls in a frame that never leaves.
    fn drop_parts(&mut self, reading: &Reading) {
        for part in &reading.parts {
            if let What::Piece(piece) = &part.what
                && piece.opens
                && piece.host == Host::Client
            {
                let tool = piece.name.clone().unwrap_or_default();
                self.outbox.note(Note::Dropped { tool, why: CUT });
            }
        }
    }
}

/// Why a call went nowhere that a cut response held.
pub(crate) const CUT: &str = "the response was stopped by a text rule";

impl Last {
    fn of(frame: &Frame<'_>, reading: &Reading, text: Span, others: Vec<Span>) -> Self {
        Self {
            frame: frame.to_owned(),
            order: reading.order,
            // Said once more, it begins nothing.
            block: reading.block.map(|block| match block.does {
                BlockStep::Open => Block { does: BlockStep::Add, ..block },
                _ => block,
            }),
            rename: reading.rename,
            uneven: reading.uneven,
            is_answer: beside::is_answer(reading, text),
            text,
            others,
        }
    }
}
