//! Text frames that were written to the output but not decided yet.
//!
//! Nearly every piece of text ends inside a word that could become a match. While there is more
//! input, its frame is written unchanged and stays undecided: what follows mostly shows that it was
//! harmless, and then nothing was ever edited. Before the output is handed out, all of it is
//! decided at once ([`Core::scan_pending`]): matches are replaced, and text that may still become a match
//! is cut from the last frame and goes into the next one.

use std::ops::Range;

use callgate_dialect::{
    Blame, Block, BlockStep, Departure, Lane, Order, Reading, What, echoes, may_echo,
};
use callgate_json::{Span, decode_into, escape_into, has_escape};
use callgate_policy::{TextFlow, TextSettled};
use callgate_wire::{Frame, Outline, OwnedFrame};

use super::{
    FrameEnds, LastFrame, StreamingText, TakenRules, TextPlace, TextScanner, UNSCANNED, side_texts,
};
use crate::core::Core;
use crate::draft::{Draft, LastEvent};

/// How many frames may wait. Then they are decided as if no more input were available: a fixed
/// share of the output, so that the memory for them stays small.
const MAX_FRAMES: usize = 256;

/// For how many frames memory is allocated at once: in steps it would be copied several times.
const AT_ONCE: usize = 64;

/// The longest text of one frame: a longer one is scanned on its own.
const MAX_TEXT: usize = 64 << 10;

/// How much memory is kept for the next frames. An idle stream keeps no more.
const KEPT: usize = 1024;

/// Frames of one text that were written but not decided yet.
#[derive(Debug, Default)]
pub(super) struct PendingText {
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
    /// The frame in `out`, which begins at the offset `base` of the output.
    #[inline]
    fn frame<'o>(&self, out: &'o [u8], base: usize) -> Result<Frame<'o>, Misplaced> {
        Ok(self.outline.over(part(out, self.bytes..self.end, base)?))
    }
}

/// A frame is not where it was written. It cannot happen; if it does, nothing that was not decided
/// leaves.
#[derive(Debug)]
struct Misplaced;

#[inline]
fn data_of<'o>(frame: &Frame<'o>) -> Result<&'o str, Misplaced> {
    frame.text().ok_or(Misplaced)
}

/// A part of `out`, which begins at the offset `base` of the output.
#[inline]
fn part(out: &[u8], span: Range<usize>, base: usize) -> Result<&[u8], Misplaced> {
    let start = span.start.checked_sub(base).ok_or(Misplaced)?;
    let end = span.end.checked_sub(base).ok_or(Misplaced)?;
    out.get(start..end).ok_or(Misplaced)
}

pub(crate) use proof::Scanned;

mod proof {
    use super::{Blame, Core, Draft, PendingText, UNSCANNED};

    /// The proof that the text rules have seen everything in a draft: what they could not see was
    /// taken out again.
    #[derive(Debug)]
    #[must_use]
    pub(crate) struct Scanned(GoesOn);

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum GoesOn {
        Yes,
        No,
    }

    impl Scanned {
        /// Whether the response goes on.
        #[inline]
        pub(crate) fn goes_on(&self) -> bool {
            self.0 == GoesOn::Yes
        }
    }

    impl PendingText {
        /// If no frame waits, everything was seen.
        #[inline]
        pub(super) fn nothing_waits(&self) -> Option<Scanned> {
            self.is_empty().then_some(Scanned(GoesOn::Yes))
        }
    }

    impl Core {
        /// Without text rules, nothing has to be seen.
        #[inline]
        pub(super) fn without_rules(&self) -> Option<Scanned> {
            self.texts.are_absent().then_some(Scanned(GoesOn::Yes))
        }

        /// The frames were decided. `Err` if one was not found.
        pub(super) fn decided(
            &mut self,
            decided: Result<bool, super::Misplaced>,
            pending: &PendingText,
            out: &mut Draft,
        ) -> Scanned {
            match decided {
                Ok(true) => Scanned(GoesOn::Yes),
                Ok(false) => Scanned(GoesOn::No),
                Err(super::Misplaced) => {
                    let first = pending.frames.first().map(|frame| frame.start);
                    self.take_back(first, out)
                }
            }
        }

        /// Takes back everything from this offset on, or all that this step has written, and ends
        /// the response.
        #[cold]
        pub(super) fn take_back(&mut self, from: Option<usize>, out: &mut Draft) -> Scanned {
            out.take_back(from);
            self.fail(Blame::Refused, UNSCANNED);
            Scanned(GoesOn::No)
        }
    }
}

impl PendingText {
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

impl TextScanner {
    /// Adds a piece to the text of a place. Returns its range in that text; `None` if it is unknown
    /// (half a surrogate pair, too many texts).
    #[inline]
    fn append(&mut self, place: TextPlace, raw: &str, max: usize) -> Option<(usize, usize)> {
        // Flows are added and removed only while no frame waits.
        if self.pending.is_empty() {
            self.pending.flow = self.flowing(place, max)?;
        }
        // The scan checks that it is the flow of this place.
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

/// The flow at this index, if it is that of the place.
#[inline]
fn flow_at(
    flows: &mut [StreamingText],
    index: usize,
    place: TextPlace,
) -> Option<&mut StreamingText> {
    flows.get_mut(index).filter(|flowing| flowing.place == place)
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
        let max = self.limits().texts;
        let Some(texts) = self.texts.here() else { return false };
        let waits = texts.pending.place == place && texts.pending.frames.len() < MAX_FRAMES;
        if !waits && !self.scan_pending(out) {
            return true;
        }
        let Some(texts) = self.texts.here_mut() else { return false };
        let Some((from, upto)) = texts.append(place, text.of(data), max) else { return false };
        let out = out.buffer();
        let start = out.len();
        frame.keep(out);
        self.output.note_written(LastEvent::Ended);
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
        self.scan_all(out).goes_on()
    }

    /// Decides everything that the draft contains.
    #[inline]
    pub(crate) fn scan_all(&mut self, out: &mut Draft) -> Scanned {
        if let Some(scanned) = self.without_rules() {
            return scanned;
        }
        let waiting = self.texts.here().map(|texts| texts.pending.nothing_waits());
        match waiting {
            Some(Some(scanned)) => scanned,
            Some(None) => self.scan_pending_by(TextFlow::settle, out),
            None => self.take_back(None, out),
        }
    }

    /// Like [`Self::scan_pending`], at the end of the text.
    pub(crate) fn scan_pending_to_end(&mut self, out: &mut Draft) -> bool {
        self.scan_pending_by(TextFlow::settle_all, out).goes_on()
    }

    /// Whether the written text ends with this frame, which has no text itself.
    pub(crate) fn ends_pending(&self, reading: &Reading) -> bool {
        let has_text = || reading.parts.iter().any(|part| matches!(part.what, What::Text));
        let pending = self.texts.here().map(|texts| &texts.pending);
        pending.filter(|pending| !pending.is_empty()).is_some_and(|pending| {
            let is_silent = reading.text.is_none() && reading.side_texts.is_empty() && !has_text();
            is_silent && FrameEnds::of(reading).with(pending.place)
        })
    }

    fn scan_pending_by(
        &mut self,
        settle: fn(&mut TextFlow) -> TextSettled,
        out: &mut Draft,
    ) -> Scanned {
        let TakenRules::Here(mut texts) = self.texts.take() else {
            return self.take_back(None, out);
        };
        let mut pending = std::mem::take(&mut texts.pending);
        let decided = match flow_at(&mut texts.flows, pending.flow, pending.place) {
            Some(flowing) => {
                let settled = settle(&mut flowing.flow);
                self.decide(&mut texts, settled, &mut pending, out)
            }
            None => Err(Misplaced),
        };
        let scanned = self.decided(decided, &pending, out);
        pending.clear();
        texts.pending = pending;
        self.texts.put_back(texts);
        scanned
    }

    fn decide(
        &mut self,
        texts: &mut TextScanner,
        mut settled: TextSettled,
        pending: &mut PendingText,
        out: &mut Draft,
    ) -> Result<bool, Misplaced> {
        let flowing = flow_at(&mut texts.flows, pending.flow, pending.place).ok_or(Misplaced)?;
        let hits = std::mem::take(&mut settled.hits);
        let first = pending.first_changed(&settled);
        let unchanged = pending.frames.get(..first).ok_or(Misplaced)?;
        self.note_unchanged(pending.place.lane, unchanged, out.buffer(), 0)?;
        let stop = self.write_changed(flowing, &settled, pending, first, out)?;
        self.report_hits(texts, hits, false);
        if !settled.blocked {
            return Ok(true);
        }
        let base = pending.frames.get(first).map_or(0, |frame| frame.start);
        let stopped = stop.or(pending.frames.len().checked_sub(1));
        let frame = stopped.and_then(|at| pending.frames.get(at)).ok_or(Misplaced)?;
        let frame = frame.frame(&pending.written, base)?;
        self.stop_response(&frame, None, pending.place.lane, out);
        Ok(false)
    }

    /// Notes frames that leave unchanged.
    fn note_unchanged(
        &mut self,
        lane: Lane,
        unchanged: &[Undecided],
        out: &[u8],
        base: usize,
    ) -> Result<(), Misplaced> {
        for undecided in unchanged {
            let frame = undecided.frame(out, base)?;
            self.note_text(lane, undecided.text.of(data_of(&frame)?));
        }
        Ok(())
    }

    /// Rewrites the frames from `first` on with the decided texts. Returns the frame at which a
    /// rule stopped the response.
    fn write_changed(
        &mut self,
        flowing: &mut StreamingText,
        settled: &TextSettled,
        pending: &mut PendingText,
        first: usize,
        out: &mut Draft,
    ) -> Result<Option<usize>, Misplaced> {
        let PendingText { place, frames, from, written, .. } = pending;
        let Some(base) = frames.get(first).map(|frame| frame.start) else { return Ok(None) };
        let out = out.buffer();
        written.extend_from_slice(out.get(base..).ok_or(Misplaced)?);
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
                out.extend_from_slice(part(written, first.start..last.end, base)?);
                self.note_unchanged(place.lane, unchanged, written, base)?;
                begin = last.upto;
                next += unchanged.len();
                continue;
            }
            next += 1;
            let frame = undecided.frame(written, base)?;
            let data = data_of(&frame)?;
            let held = if number == 0 { settled.span.start } else { begin };
            let piece = TextPiece { held, from: begin, upto: undecided.upto };
            let new = leaving.of(&piece, undecided.text.of(data));
            let nothing = new.as_ref().is_some_and(String::is_empty);
            if settled.blocked && nothing {
                return Ok(Some(number));
            }
            out.extend_from_slice(part(written, undecided.start..undecided.bytes, base)?);
            match &new {
                None => frame.keep(out),
                Some(new) => write(&frame, data, undecided.text, new, out),
            }
            self.note_text(place.lane, new.as_deref().unwrap_or(undecided.text.of(data)));
            if settled.blocked && settled.span.end < undecided.upto {
                return Ok(Some(number));
            }
            begin = undecided.upto;
        }
        if let Some(last) = frames.last().filter(|last| settled.span.end < last.upto) {
            flowing.keep_last(last, &last.frame(written, base)?);
        }
        Ok(None)
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
        let is_plain = raw.len() == piece.upto - piece.from;
        let inside = own.start - piece.from..own.end - piece.from;
        match raw.get(inside).filter(|_| is_plain) {
            Some(text) => out.push_str(text),
            None => escape_into(self.flow.text(own), out),
        }
    }
}

/// Writes a frame with another text, and without fields that repeat the old text as tokens.
fn write(frame: &Frame<'_>, data: &str, text: Span, new: &str, out: &mut Vec<u8>) {
    if !may_echo(data, text) {
        let text = callgate_wire::ByteRange { start: text.start, end: text.end };
        return frame.splice(text, new.as_bytes(), out);
    }
    let mut masks = echoes(data);
    masks.push((text, new.to_owned()));
    masks.sort_by_key(|(at, _)| at.start);
    let departure = Departure { masks, ..Departure::default() };
    frame.rewrite(None, departure.masked(data).as_bytes(), out);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use callgate_call::{Origin, OriginFields, Surface};
    use callgate_dialect::Dialect;
    use callgate_effects::Catalogue;
    use callgate_policy::{Direction, Policies, Source};
    use callgate_wire::{Framing, Splitter};

    use super::*;
    use crate::Settings;
    use crate::progress::ResponseProgress;

    const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

    fn core() -> Core {
        let text = "policy: p\nrules: []\ntext: [{ id: no-keys, detect: [secret], verdict: mask, reason: No keys. }]\n";
        let source = Source { name: "p.yaml".into(), text: text.into() };
        let (policies, _) = Policies::compile(&[source], &Catalogue::builtin()).unwrap();
        let text = policies.text_guard(Direction::Response, &OriginFields::at(Surface::Response));
        let settings = Settings { text, ..Settings::new(Origin::at(Surface::Response)) };
        Core::new(Dialect::OpenAiChat, settings)
    }

    /// What leaves of a stream with a secret, if the scan meets a state that cannot occur.
    fn what_leaves(spoil: fn(&mut PendingText)) -> (String, ResponseProgress) {
        let mut core = core();
        let mut draft = Draft::continuing(&mut Vec::new());
        let mut splitter = Splitter::new(Framing::Sse, 1 << 20);
        for text in ["Hello ", SECRET, " and goodbye."] {
            let event = format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
            );
            splitter.push(event.as_bytes());
            let frame = splitter.next_frame().unwrap().unwrap();
            core.handle_frame(&frame, &mut draft);
        }
        let pending = &mut core.texts.here_mut().unwrap().pending;
        assert!(!pending.is_empty());
        spoil(pending);
        let out = core.hand_out(draft);
        (String::from_utf8(out).unwrap(), core.progress)
    }

    #[test]
    fn text_that_cannot_be_scanned_does_not_leave() {
        let (out, progress) = what_leaves(|_| {});
        assert!(out.contains("Hello") && !out.contains(SECRET), "{out}");
        assert!(progress.is_passing());
        let spoils: [fn(&mut PendingText); 4] = [
            |pending| pending.flow = 7,
            |pending| pending.place.lane = Lane(3),
            |pending| pending.frames.iter_mut().for_each(|frame| frame.end += 100_000),
            |pending| pending.frames.iter_mut().skip(1).for_each(|frame| frame.bytes = frame.end),
        ];
        for (number, spoil) in spoils.into_iter().enumerate() {
            let (out, progress) = what_leaves(spoil);
            assert!(!out.contains("ghp_"), "{number}: {out}");
            assert!(progress.failure().is_some(), "{number}: {progress:?}");
        }
    }
}
