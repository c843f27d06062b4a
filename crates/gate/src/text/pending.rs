//! Text frames that were written to the output but not decided yet.
//!
//! Nearly every piece of text ends inside a word that could become a match. While there is more
//! input, its frame is written unchanged and stays undecided: what follows mostly shows that it was
//! harmless, and then nothing was ever edited. Before the output is handed out, all of it is
//! decided at once ([`Core::scan_pending`]): matches are replaced, and text that may still become a match
//! is cut from the last frame and goes into the next one.

use std::ops::Range;

use callgate_dialect::{Block, BlockStep, Departure, Lane, Order, Reading, What, echoes, may_echo};
use callgate_json::{Span, decode_into, escape_into, has_escape};
use callgate_policy::{TextFlow, TextSettled};
use callgate_wire::{Frame, Outline, OwnedFrame};

use super::{Ends, LastFrame, Scanned, StreamingText, TextPlace, Texts, side_texts};
use crate::core::Core;
use crate::draft::{Draft, LastEvent};

/// How many frames may wait. Then they are decided as if no more input were available: a fixed
/// share of the output, so that the memory for them stays small.
const MAX_FRAMES: usize = 256;

/// For how many frames memory is allocated at once: in steps it would be copied several times.
const AT_ONCE: usize = 64;

/// The longest text of one frame: a longer one is scanned on its own.
const MAX_TEXT: usize = 64 << 10;

/// How many bytes are unchanged for the next time. An idle stream keeps no more.
const KEPT: usize = 1024;

/// Frames of one text that were written but not decided yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    place: TextPlace,
    /// The index of the flow.
    flow: usize,
    frames: Vec<Undecided>,
    /// The offset of the first frame's text in the whole text.
    from: usize,
    /// A buffer for rewritten frames.
    written: Vec<u8>,
    /// A buffer for unescaped text.
    plain: String,
}

/// A frame in the output.
#[derive(Debug)]
struct Undecided {
    outline: Outline,
    /// Its offset in the output, including the separator before it, if it got one.
    start: usize,
    bytes: usize,
    end: usize,
    /// The span of its text in its data.
    text: Span,
    /// The end of its text, as an offset in the whole text.
    upto: usize,
    order: Order,
    block: Option<Block>,
    skipped_by_some_clients: bool,
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

    /// The first frame that does not leave unchanged.
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
    /// Adds a piece to the text of a place. Returns its range in that text; `None` if it is unknown
    /// (half a surrogate pair, too many texts).
    #[inline]
    fn append(&mut self, place: TextPlace, raw: &str, max: usize) -> Option<(usize, usize)> {
        // Flows are added and removed only while no frame waits.
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
    /// Writes a frame that contains only text, unchanged: it is decided later. Returns `false` if
    /// the frame contains anything else.
    #[inline]
    pub(crate) fn write_undecided(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        out: &mut Draft,
    ) -> bool {
        let Some(text) = reading.text else { return false };
        let length = text.end - text.start;
        let is_text =
            (1..=MAX_TEXT).contains(&length) && frame.terminated() && !reading.repeats_texts;
        if !is_text || !self.leaves_at_once(frame, data, reading) {
            return false;
        }
        let Some(outline) = frame.outline() else { return false };
        // Texts that are not part of the answer have their own flows.
        if reading.side_texts.iter().any(|side_text| side_text.at != text || side_text.is_thinking)
        {
            return false;
        }
        let channel = side_texts::channel(reading, text);
        let block = reading.block.map(|block| block.slot);
        let place = TextPlace { lane: reading.text_lane, block, channel };
        let max = self.limits().calls;
        let Some(texts) = &self.texts else { return false };
        let waits = texts.pending.place == place && texts.pending.frames.len() < MAX_FRAMES;
        if !waits && !self.scan_pending(out) {
            return true;
        }
        let Some(texts) = &mut self.texts else { return false };
        let Some((from, upto)) = texts.append(place, text.of(data), max) else { return false };
        let out = out.buffer();
        let start = out.len();
        frame.keep(out);
        self.output.wrote(LastEvent::Ended);
        let pending = &mut texts.pending;
        if pending.is_empty() {
            (pending.place, pending.from) = (place, from);
        }
        let (order, block, skipped_by_some_clients) =
            (reading.order, reading.block, reading.skipped_by_some_clients);
        let (bytes, end) = (out.len() - frame.bytes().len(), out.len());
        let written = Undecided {
            outline,
            start,
            bytes,
            end,
            text,
            upto,
            order,
            block,
            skipped_by_some_clients,
        };
        if pending.frames.len() == pending.frames.capacity() {
            pending.frames.reserve(AT_ONCE);
        }
        pending.frames.push(written);
        true
    }

    /// Decides the texts that were written. The output must not be handed out before this. Returns
    /// `false` if the response ends here.
    #[inline]
    pub(crate) fn scan_pending(&mut self, out: &mut Draft) -> bool {
        match &self.texts {
            Some(texts) if !texts.pending.is_empty() => self.scan_pending_by(TextFlow::settle, out),
            _ => true,
        }
    }

    /// Decides everything that the draft contains.
    #[inline]
    pub(crate) fn scan_all(&mut self, out: &mut Draft) -> Scanned {
        self.scan_pending(out);
        Scanned(())
    }

    /// The same at the end of the text.
    pub(crate) fn scan_pending_to_end(&mut self, out: &mut Draft) -> bool {
        self.scan_pending_by(TextFlow::settle_all, out)
    }

    /// Whether the written text ends with this frame, which has no text itself.
    pub(crate) fn ends_pending(&self, reading: &Reading) -> bool {
        let has_text = || reading.parts.iter().any(|part| matches!(part.what, What::Text));
        let pending = self.texts.as_ref().map(|texts| &texts.pending);
        pending.filter(|pending| !pending.is_empty()).is_some_and(|pending| {
            let is_silent = reading.text.is_none() && reading.side_texts.is_empty() && !has_text();
            is_silent && Ends::of(reading).with(pending.place)
        })
    }

    fn scan_pending_by(
        &mut self,
        scan_pending: fn(&mut TextFlow) -> TextSettled,
        out: &mut Draft,
    ) -> bool {
        let Some(mut texts) = self.texts.take() else { return true };
        let mut pending = std::mem::take(&mut texts.pending);
        let goes_on = match texts.flows.get_mut(pending.flow) {
            Some(flowing) => {
                let settled = scan_pending(&mut flowing.flow);
                self.decide(&mut texts, settled, &mut pending, out)
            }
            // Every frame was added to its text.
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
        out: &mut Draft,
    ) -> bool {
        let Some(flowing) = texts.flows.get_mut(pending.flow) else { return true };
        let hits = std::mem::take(&mut settled.hits);
        let first = pending.first_changed(&settled);
        self.note_unchanged(
            pending.place.lane,
            pending.frames.get(..first).unwrap_or_default(),
            out.buffer(),
            0,
        );
        let stop = self.write_changed(flowing, &settled, pending, first, out);
        self.report_hits(texts, hits, false);
        if !settled.blocked {
            return true;
        }
        let base = pending.frames.get(first).map_or(0, |frame| frame.start);
        let stopped = stop.or(pending.frames.len().checked_sub(1));
        let Some(frame) = stopped.and_then(|at| pending.frames.get(at)) else { return false };
        self.stop_response(&frame.frame(&pending.written, base), None, pending.place.lane, out)
    }

    /// Notes frames that leave unchanged.
    fn note_unchanged(&mut self, lane: Lane, unchanged: &[Undecided], out: &[u8], base: usize) {
        for undecided in unchanged {
            let data = undecided.frame(out, base).data();
            let data = data.and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
            self.note_text(lane, undecided.text.of(data));
        }
    }

    /// Rewrites the frames from `first` on with the decided texts. Returns the frame at which a
    /// rule stopped the response.
    fn write_changed(
        &mut self,
        flowing: &mut StreamingText,
        settled: &TextSettled,
        pending: &mut Pending,
        first: usize,
        out: &mut Draft,
    ) -> Option<usize> {
        let Pending { place, frames, from, written, .. } = pending;
        let base = frames.get(first)?.start;
        let out = out.buffer();
        written.extend_from_slice(out.get(base..).unwrap_or_default());
        out.truncate(base);
        let mut leaving = PieceWriter { flow: &flowing.flow, settled, next: 0 };
        let mut begin = match first.checked_sub(1).and_then(|before| frames.get(before)) {
            Some(before) => before.upto,
            None => *from,
        };
        let mut next = first;
        while let Some(undecided) = frames.get(next) {
            let number = next;
            let unchanged = leaving.unchanged(frames, number);
            if let (Some(first), Some(last)) = (unchanged.first(), unchanged.last()) {
                let bytes = first.start - base..last.end - base;
                out.extend_from_slice(written.get(bytes).unwrap_or_default());
                self.note_unchanged(place.lane, unchanged, written, base);
                begin = last.upto;
                next += unchanged.len();
                continue;
            }
            next += 1;
            let frame = undecided.frame(written, base);
            let data = frame.data().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("");
            let held = if number == 0 { settled.span.start } else { begin };
            let piece = TextPiece { held, from: begin, upto: undecided.upto };
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
            self.note_text(place.lane, new.as_deref().unwrap_or(undecided.text.of(data)));
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

impl StreamingText {
    /// Stores the last frame, in the memory of the previous one.
    fn keep_last(&mut self, undecided: &Undecided, frame: &Frame<'_>) {
        let mut owned: Option<OwnedFrame> = self.last.take().map(|last| last.frame);
        match &mut owned {
            Some(owned) => owned.copy_from(frame),
            None => owned = Some(frame.to_owned()),
        }
        self.last = owned.map(|frame| LastFrame {
            frame,
            order: undecided.order,
            block: undecided.block.map(|block| Block { does: BlockStep::Add, ..block }),
            rename: None,
            skipped_by_some_clients: undecided.skipped_by_some_clients,
            text: undecided.text,
            others: Vec::new(),
            is_answer: true,
        });
    }
}

/// A piece of the whole text, by its offsets.
struct TextPiece {
    /// The beginning of the text that was held back before it and is decided now.
    held: usize,
    from: usize,
    upto: usize,
}

/// Computes the output of one piece after the other.
struct PieceWriter<'s> {
    flow: &'s TextFlow,
    settled: &'s TextSettled,
    /// The first change that reaches into the next piece, or comes after it.
    next: usize,
}

impl PieceWriter<'_> {
    /// Whether a piece that ends here, with nothing held back before it, leaves unchanged.
    fn leaves_unchanged(&self, upto: usize) -> bool {
        let change = self.settled.changes.get(self.next);
        upto <= self.settled.span.end && change.is_none_or(|change| change.span.start >= upto)
    }

    /// The frames from this one on that leave unchanged. Some text may be held back before the very
    /// first one.
    fn unchanged<'f>(&self, frames: &'f [Undecided], from: usize) -> &'f [Undecided] {
        let frames = frames.get(from..).filter(|_| from > 0).unwrap_or_default();
        let count = frames.partition_point(|frame| self.leaves_unchanged(frame.upto));
        frames.get(..count).unwrap_or_default()
    }

    /// The replacement of the piece, raw between quotes; `None` if it is unchanged. The replacement
    /// of a match leaves where the match began.
    fn of(&mut self, piece: &TextPiece, raw: &str) -> Option<String> {
        let until = self.settled.span.end;
        let changes = &self.settled.changes;
        if piece.held == piece.from && self.leaves_unchanged(piece.upto) {
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

    /// Copies unchanged text: from the piece itself, if it has no escapes.
    fn copy(&self, piece: &TextPiece, span: Range<usize>, raw: &str, out: &mut String) {
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

/// Writes a frame with another text, and without fields that repeat the old text as tokens.
fn write(frame: &Frame<'_>, data: &str, text: Span, new: &str, out: &mut Vec<u8>) {
    if !may_echo(data, text) {
        let text = callgate_wire::Span { start: text.start, end: text.end };
        return frame.splice(text, new.as_bytes(), out);
    }
    let mut masks = echoes(data);
    masks.push((text, new.to_owned()));
    masks.sort_by_key(|(at, _)| at.start);
    let departure = Departure { masks, ..Departure::default() };
    frame.rewrite(None, departure.masked(data).as_bytes(), out);
}
