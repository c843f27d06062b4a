//! Text frames that were written and are not decided yet.
//!
//! Nearly every piece of text ends inside of a word that could become a match. While there is more
//! input, its frame is written as it came and stays undecided: what follows will mostly show that
//! it was harmless, and then nothing was ever edited. Before the output is handed out, all of it is
//! decided at once ([`Core::settle`]): what matched is replaced, what may still become a match is
//! cut out of the last frame and goes in front of the next one.

use std::ops::Range;

use callgate_call::json::{Span, decode_into, escape_into, has_escape};
use callgate_dialect::{Block, BlockStep, Lane, Order, Reading, What, echoes, may_echo};
use callgate_policy::{TextFlow, TextSettled};
use callgate_wire::{Frame, Outline, OwnedFrame};

use super::{Ends, Flowing, Last, Place, Texts, beside};
use crate::core::Core;

/// Frames that wait at most. Then they are decided as if the input had ended: a fixed share of what
/// is written, so that the memory for them stays small.
const MAX_FRAMES: usize = 256;

/// Frames for which room is made at once: in steps it would be copied several times.
const AT_ONCE: usize = 64;

/// Bytes of one frame's text at most: a longer one is looked at by itself.
const MAX_TEXT: usize = 64 << 10;

/// Bytes kept for the next time. A stream that falls silent keeps no more.
const KEPT: usize = 1024;

/// Frames of one text that were written and are not decided yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    place: Place,
    /// Where the flow of this place is.
    flow: usize,
    frames: Vec<Undecided>,
    /// Where the text of the first frame begins, in bytes of the whole text.
    from: usize,
    /// Room for what is written anew.
    written: Vec<u8>,
    /// Room for a text without its escapes.
    plain: String,
}

/// A frame in the output.
#[derive(Debug)]
struct Undecided {
    outline: Outline,
    /// Where it stands in the output: from the separator in front of it, if it got one.
    start: usize,
    bytes: usize,
    end: usize,
    /// Where its text stands in its data.
    text: Span,
    /// Where its text ends, in bytes of the whole text.
    upto: usize,
    order: Order,
    block: Option<Block>,
    uneven: bool,
}

impl Undecided {
    fn frame<'o>(&self, out: &'o [u8], base: usize) -> Frame<'o> {
        let bytes = out.get(self.bytes.saturating_sub(base)..self.end.saturating_sub(base));
        self.outline.over(bytes.unwrap_or_default())
    }
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    fn clear(&mut self) {
        self.frames.clear();
        self.frames.shrink_to(KEPT / size_of::<Undecided>());
        self.written.clear();
        self.written.shrink_to(KEPT);
        self.plain.shrink_to(KEPT);
    }

    /// The first frame that does not leave as it came.
    fn first_changed(&self, settled: &TextSettled) -> usize {
        if settled.span.start < self.from {
            return 0;
        }
        let change = settled.changes.first().map(|change| change.span.start);
        let same = change.map_or(settled.span.end, |change| change.min(settled.span.end));
        self.frames.partition_point(|frame| frame.upto <= same)
    }
}

impl Texts {
    /// Adds a piece to the text of a place. Answers from where to where it stands in it; `None` if
    /// that cannot be told (half a surrogate pair, too many texts).
    #[inline]
    fn append(&mut self, place: Place, raw: &str, max: usize) -> Option<(usize, usize)> {
        // Texts come and go only while no frame waits.
        if self.pending.is_empty() {
            self.pending.flow = self.flowing(place, max)?;
        }
        let flowing = self.flows.get_mut(self.pending.flow)?;
        if flowing.half.is_some() {
            return None;
        }
        if has_escape(raw) {
            return append_escaped(&mut flowing.flow, raw, &mut self.pending.plain);
        }
        let upto = flowing.flow.append(raw);
        Some((upto - raw.len(), upto))
    }
}

fn append_escaped(flow: &mut TextFlow, raw: &str, plain: &mut String) -> Option<(usize, usize)> {
    plain.clear();
    let mut half = None;
    decode_into(raw, &mut half, plain);
    if half.is_some() {
        return None;
    }
    let upto = flow.append(plain);
    Some((upto - plain.len(), upto))
}

impl Core {
    /// Writes a frame that is text and nothing else, as it came: it is decided later. Answers
    /// `false` if it is no such frame.
    #[inline]
    pub(crate) fn pend(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(text) = reading.text else { return false };
        let length = text.end - text.start;
        let is_text = (1..=MAX_TEXT).contains(&length) && frame.terminated() && !reading.retells;
        if !is_text || !self.leaves_at_once(frame, data, reading) {
            return false;
        }
        let Some(outline) = frame.outline() else { return false };
        // What stands beside the answer goes through flows of its own.
        if reading.asides.iter().any(|aside| aside.at != text || aside.thought) {
            return false;
        }
        let voice = beside::voice(reading, text);
        let place = (reading.text_lane, reading.block.map(|block| block.slot), voice);
        let max = self.limits().calls;
        let Some(texts) = &self.texts else { return false };
        let waits = texts.pending.place == place && texts.pending.frames.len() < MAX_FRAMES;
        if !waits && !self.settle(out) {
            return true;
        }
        let Some(texts) = &mut self.texts else { return false };
        let Some((from, upto)) = texts.append(place, text.of(data), max) else { return false };
        let start = out.len();
        frame.keep(out);
        self.dangling = false;
        let pending = &mut texts.pending;
        if pending.is_empty() {
            (pending.place, pending.from) = (place, from);
        }
        let (order, block, uneven) = (reading.order, reading.block, reading.uneven);
        let (bytes, end) = (out.len() - frame.bytes().len(), out.len());
        let written = Undecided { outline, start, bytes, end, text, upto, order, block, uneven };
        if pending.frames.len() == pending.frames.capacity() {
            pending.frames.reserve(AT_ONCE);
        }
        pending.frames.push(written);
        true
    }

    /// Decides the texts that were written. Before this nothing of the output may be handed out.
    /// Answers `false` if the response ends here.
    #[inline]
    pub(crate) fn settle(&mut self, out: &mut Vec<u8>) -> bool {
        match &self.texts {
            Some(texts) if !texts.pending.is_empty() => self.settle_by(TextFlow::settle, out),
            _ => true,
        }
    }

    /// The same, where the text has come to its end.
    pub(crate) fn settle_all(&mut self, out: &mut Vec<u8>) -> bool {
        self.settle_by(TextFlow::settle_all, out)
    }

    /// Whether the text that was written comes to its end with this frame, which has none itself.
    pub(crate) fn ends_pending(&self, reading: &Reading) -> bool {
        let has_text = || reading.parts.iter().any(|part| matches!(part.what, What::Text));
        let pending = self.texts.as_ref().map(|texts| &texts.pending);
        pending.filter(|pending| !pending.is_empty()).is_some_and(|pending| {
            let is_silent = reading.text.is_none() && reading.asides.is_empty() && !has_text();
            is_silent && Ends::of(reading).with(pending.place)
        })
    }

    fn settle_by(&mut self, settle: fn(&mut TextFlow) -> TextSettled, out: &mut Vec<u8>) -> bool {
        let Some(mut texts) = self.texts.take() else { return true };
        let mut pending = std::mem::take(&mut texts.pending);
        let goes_on = match texts.flows.get_mut(pending.flow) {
            Some(flowing) => {
                let settled = settle(&mut flowing.flow);
                self.decide(&mut texts, settled, &mut pending, out)
            }
            // Every frame was put to its text.
            None => true,
        };
        pending.clear();
        texts.pending = pending;
        self.texts = Some(texts);
        goes_on
    }

    fn decide(
        &mut self,
        texts: &mut Texts,
        mut settled: TextSettled,
        pending: &mut Pending,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(flowing) = texts.flows.get_mut(pending.flow) else { return true };
        let hits = std::mem::take(&mut settled.hits);
        let first = pending.first_changed(&settled);
        self.say_kept(pending.place.0, pending.frames.get(..first).unwrap_or_default(), out, 0);
        let stop = self.write_changed(flowing, &settled, pending, first, out);
        self.tell(texts, hits, false);
        if !settled.blocked {
            return true;
        }
        let base = pending.frames.get(first).map_or(0, |frame| frame.start);
        let stopped = stop.or(pending.frames.len().checked_sub(1));
        let Some(frame) = stopped.and_then(|at| pending.frames.get(at)) else { return false };
        self.cut(&frame.frame(&pending.written, base), None, pending.place.0, out)
    }

    /// Frames leave as they came.
    fn say_kept(&mut self, lane: Lane, kept: &[Undecided], out: &[u8], base: usize) {
        for undecided in kept {
            let data = undecided.frame(out, base).data();
            let data = data.and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
            self.say(lane, undecided.text.of(data));
        }
    }

    /// Writes the frames from `first` on anew, with what leaves of their texts. Answers at which
    /// frame a rule stopped the response.
    fn write_changed(
        &mut self,
        flowing: &mut Flowing,
        settled: &TextSettled,
        pending: &mut Pending,
        first: usize,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let Pending { place, frames, from, written, .. } = pending;
        let base = frames.get(first)?.start;
        written.extend_from_slice(out.get(base..).unwrap_or_default());
        out.truncate(base);
        let mut leaving = Leaving { flow: &flowing.flow, settled, next: 0 };
        let mut begin = match first.checked_sub(1).and_then(|before| frames.get(before)) {
            Some(before) => before.upto,
            None => *from,
        };
        let mut next = first;
        while let Some(undecided) = frames.get(next) {
            let number = next;
            let kept = leaving.kept(frames, number);
            if let (Some(first), Some(last)) = (kept.first(), kept.last()) {
                let bytes = first.start - base..last.end - base;
                out.extend_from_slice(written.get(bytes).unwrap_or_default());
                self.say_kept(place.0, kept, written, base);
                begin = last.upto;
                next += kept.len();
                continue;
            }
            next += 1;
            let frame = undecided.frame(written, base);
            let data = frame.data().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
            let held = if number == 0 { settled.span.start } else { begin };
            let piece = Piece { held, from: begin, upto: undecided.upto };
            let new = leaving.of(&piece, undecided.text.of(data));
            let nothing = new.as_ref().is_some_and(String::is_empty);
            if settled.blocked && nothing {
                return Some(number);
            }
            let separator = undecided.start - base..undecided.bytes - base;
            out.extend_from_slice(written.get(separator).unwrap_or_default());
            match &new {
                None => frame.keep(out),
                Some(new) => write(&frame, data, undecided.text, new, out),
            }
            self.say(place.0, new.as_deref().unwrap_or(undecided.text.of(data)));
            if settled.blocked && settled.span.end < undecided.upto {
                return Some(number);
            }
            begin = undecided.upto;
        }
        if let Some(last) = frames.last().filter(|last| settled.span.end < last.upto) {
            flowing.keep_last(last, &last.frame(written, base));
        }
        None
    }
}

impl Flowing {
    /// Keeps the frame that came last, in the memory of the one before.
    fn keep_last(&mut self, undecided: &Undecided, frame: &Frame<'_>) {
        let mut owned: Option<OwnedFrame> = self.last.take().map(|last| last.frame);
        match &mut owned {
            Some(owned) => owned.copy_from(frame),
            None => owned = Some(frame.to_owned()),
        }
        self.last = owned.map(|frame| Last {
            frame,
            order: undecided.order,
            block: undecided.block.map(|block| Block { does: BlockStep::Add, ..block }),
            rename: None,
            uneven: undecided.uneven,
            text: undecided.text,
            others: Vec::new(),
            is_answer: true,
        });
    }
}

/// A piece of the whole text, in its bytes.
struct Piece {
    /// What was held back before it and was decided now begins here.
    held: usize,
    from: usize,
    upto: usize,
}

/// What leaves of one piece after the other.
struct Leaving<'s> {
    flow: &'s TextFlow,
    settled: &'s TextSettled,
    /// The first change that reaches into the next piece, or stands behind.
    next: usize,
}

impl Leaving<'_> {
    /// Whether a piece that ends here, and before which nothing is held back, leaves as it came.
    fn keeps(&self, upto: usize) -> bool {
        let change = self.settled.changes.get(self.next);
        upto <= self.settled.span.end && change.is_none_or(|change| change.span.start >= upto)
    }

    /// The frames from this one on that leave as they came. Before the first of all something may
    /// be held back.
    fn kept<'f>(&self, frames: &'f [Undecided], from: usize) -> &'f [Undecided] {
        let frames = frames.get(from..).filter(|_| from > 0).unwrap_or_default();
        let count = frames.partition_point(|frame| self.keeps(frame.upto));
        frames.get(..count).unwrap_or_default()
    }

    /// What leaves in the place of the piece, raw between quotes; `None` if it leaves as it came.
    /// What replaces a match leaves where the match began.
    fn of(&mut self, piece: &Piece, raw: &str) -> Option<String> {
        let until = self.settled.span.end;
        let changes = &self.settled.changes;
        if piece.held == piece.from && self.keeps(piece.upto) {
            return None;
        }
        let end = piece.upto.min(until);
        let mut new = String::with_capacity(raw.len() + piece.from - piece.held);
        let mut at = piece.held;
        while let Some(change) = changes.get(self.next).filter(|it| it.span.start < end) {
            if change.span.start >= piece.held {
                self.copy(piece, at..change.span.start, raw, &mut new);
                escape_into(&change.text, &mut new);
            }
            at = change.span.end;
            if at > piece.upto {
                break;
            }
            self.next += 1;
        }
        self.copy(piece, at..end, raw, &mut new);
        Some(new)
    }

    /// Writes what leaves as it came: from the piece itself, if it has no escapes.
    fn copy(&self, piece: &Piece, span: Range<usize>, raw: &str, out: &mut String) {
        let held = span.start..span.end.min(piece.from);
        if !held.is_empty() {
            escape_into(self.flow.text(held), out);
        }
        let own = span.start.max(piece.from)..span.end;
        if own.is_empty() {
            return;
        }
        match raw.len() == piece.upto - piece.from {
            true => {
                let own = own.start - piece.from..own.end - piece.from;
                out.push_str(raw.get(own).unwrap_or(""));
            }
            false => escape_into(self.flow.text(own), out),
        }
    }
}

/// Writes a frame with another text, and without what says the other one in tokens.
fn write(frame: &Frame<'_>, data: &str, text: Span, new: &str, out: &mut Vec<u8>) {
    if !may_echo(data, text) {
        let text = callgate_wire::Span { start: text.start, end: text.end };
        return frame.splice(text, new.as_bytes(), out);
    }
    let mut masks = echoes(data);
    masks.push((text, new.to_owned()));
    masks.sort_by_key(|(at, _)| at.start);
    let reading = Reading { masks, ..Reading::default() };
    frame.rewrite(None, reading.masked(data).as_bytes(), out);
}
