//! A turn that continues after its calls were denied.
//!
//! If every call of an answer was denied, its end is held, and the driver decides: the turn ends as
//! it would with [`OnDeny::Explain`](crate::OnDeny::Explain), or the provider answers once more and
//! the client receives both answers as one.
//!
//! ```text
//!            end of the answer        end of the upstream           conclude
//!   Reading ──────────────────► Held ────────────────────► Offered ─────────► Concluded
//!      ▲                                                     │
//!      └─────────────────────────────────────────────────────┘ next answer
//! ```
//!
//! The writer and the lane stay the same: blocks are numbered on, and the digest of the text, which
//! identifies the turn later, is of everything that the client received.

use std::borrow::Cow;

use callgate_dialect::request::{RemovedCall, call_digest};
use callgate_dialect::{
    After, Blame, BlockStep, Carrier, Finish, Lane, Order, Part, Reading, Slot, What,
};
use callgate_wire::{Framing, OwnedFrame};

use crate::core::{Core, TurnState};
use crate::draft::Draft;
use crate::gate::{Close, Note, Step};
use crate::lanes::Lanes;
use crate::queue::{QueuedBytes, QueuedFrame};
use crate::release::UNKNOWN_FORM;
use crate::slot::CallState;
use crate::{DeniedCall, Notice, OnlyDenied, RequestedForm};

/// The lane of the turn. Only APIs with one turn per response continue it.
const LANE: Lane = Lane(0);

/// The answers of one turn.
#[derive(Debug)]
pub(crate) struct Rounds {
    state: RoundState,
    /// Denied calls of this turn without a notice yet: which one they get depends on whether the
    /// turn continues.
    deferred: Vec<DeferredNotice>,
    /// What happens if the current answer fails; `None` in the first one.
    fallback: Option<LastAnswerEnd>,
    /// The earlier answers, if they were bodies.
    bodies: Vec<String>,
    /// The framing of the first answer.
    framing: Option<Framing>,
    /// How a denied call is shown if the turn continues.
    notice: Notice,
    is_handed_out: bool,
    /// How many events of the current answer have ended the turn.
    ends: usize,
}

#[derive(Debug)]
enum RoundState {
    /// An answer is being read.
    Reading,
    /// The end of an answer has arrived, and every call of it was denied.
    Held(Vec<QueuedFrame>),
    /// The driver decides what comes next.
    Offered(Vec<QueuedFrame>),
    /// The driver has decided that the turn ends.
    Concluding(Vec<QueuedFrame>),
    /// The turn ends with this answer.
    Concluded,
}

impl Rounds {
    /// Before the first answer.
    pub(crate) fn new() -> Self {
        Self {
            state: RoundState::Reading,
            deferred: Vec::new(),
            fallback: None,
            bodies: Vec::new(),
            framing: None,
            notice: Notice::default(),
            is_handed_out: false,
            ends: 0,
        }
    }

    /// Offers the held end of an answer to the driver, if there is one.
    fn offer(&mut self) -> bool {
        let RoundState::Held(frames) = &mut self.state else { return false };
        self.state = RoundState::Offered(std::mem::take(frames));
        true
    }

    /// Takes the held end of the turn that is to be written, if there is one: no other answer
    /// follows.
    fn take_end(&mut self) -> Option<Vec<QueuedFrame>> {
        let (RoundState::Held(frames) | RoundState::Concluding(frames)) = &mut self.state else {
            return None;
        };
        let frames = std::mem::take(frames);
        self.state = RoundState::Concluded;
        Some(frames)
    }

    /// Takes the end that was offered to the driver, which reads on instead.
    fn take_offered(&mut self) -> Option<Vec<QueuedFrame>> {
        let RoundState::Offered(frames) = &mut self.state else { return None };
        let frames = std::mem::take(frames);
        self.state = RoundState::Reading;
        Some(frames)
    }
}

/// The end of the last complete answer.
#[derive(Debug)]
enum LastAnswerEnd {
    Events(Vec<QueuedFrame>),
    /// The last body, as if it were the only one, and the lanes after it.
    Body(String, Lanes),
}

/// A notice that has not left.
#[derive(Debug)]
struct DeferredNotice {
    slot: Slot,
    full: String,
    line: String,
}

impl Core {
    /// Whether this is not the first answer of the turn.
    pub(crate) fn is_later_answer(&self) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| rounds.fallback.is_some())
    }

    /// Notes the framing of an answer.
    pub(crate) fn note_framing(&mut self, framing: Framing) -> Result<(), OtherFraming> {
        let is_body = self.settings.requested_form == RequestedForm::Body;
        if framing == Framing::Lines && is_body && !self.is_later_answer() {
            // One line that is a body must not become several.
            self.rounds = None;
        }
        let first = self.rounds.as_mut().map(|it| *it.framing.get_or_insert(framing));
        match first {
            Some(first) if first != framing => Err(OtherFraming),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the thinking of later answers leaves.
    pub(crate) fn keeps_thinking(&self) -> bool {
        self.dialect.continuing().is_some_and(|it| it.keeps_thinking())
    }

    /// Whether a denied call has no notice yet.
    pub(crate) fn has_deferred(&self) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| !rounds.deferred.is_empty())
    }

    /// How denied calls are shown in a frame.
    pub(crate) fn shown_in(&self, entry: &QueuedFrame) -> Shown {
        let is_left = |part: &Part| match &part.what {
            What::Finish(_) => true,
            What::Piece(piece) => {
                let state = self.call(piece.slot).map(|call| call.state());
                matches!(state, Some(CallState::Allowed | CallState::Streaming))
            }
            What::End(_) | What::Text | What::Signature => false,
        };
        // Such a turn does not continue, and there may be no later frame.
        let is_last = self.rounds.is_some() && entry.reading.parts.iter().any(is_left);
        if is_last { Shown::Explained } else { Shown::Events }
    }

    /// Whether the driver has to decide how the turn continues.
    pub(crate) fn is_offered(&self) -> bool {
        let state = self.rounds.as_ref().map(|rounds| &rounds.state);
        matches!(state, Some(RoundState::Offered(_)))
    }

    /// Keeps the end of an answer whose calls were all denied, and everything after it. Returns
    /// any other frame.
    pub(crate) fn hold_end(&mut self, entry: QueuedFrame, out: &mut Draft) -> Option<QueuedFrame> {
        let ends = self.rounds.is_some() && self.ends_with_denials(&entry);
        let Some(rounds) = &mut self.rounds else { return Some(entry) };
        match &mut rounds.state {
            RoundState::Held(frames) => frames.push(entry),
            RoundState::Reading if ends => {
                let entry = self.write_before_end(entry, out);
                if let Some(rounds) = &mut self.rounds {
                    rounds.state = RoundState::Held(vec![entry]);
                }
            }
            _ => return Some(entry),
        }
        None
    }

    /// Writes the content of the frame that ends the turn, in APIs in which it may have some.
    /// Returns what is left of it.
    fn write_before_end(&mut self, entry: QueuedFrame, out: &mut Draft) -> QueuedFrame {
        let has_content = self.dialect.continuing().is_some_and(|it| it.end_has_content());
        if !has_content || !matches!(entry.bytes, QueuedBytes::Frame(_)) {
            return entry;
        }
        self.output.end_dangling(out);
        if has_text(&entry) {
            self.write_deferred(&entry, out);
        }
        self.write_event(&entry, Shown::BeforeEnd, out);
        entry.into_end()
    }

    /// Whether the frame announces calls at the end of the turn, and all of them were denied.
    fn ends_with_denials(&mut self, entry: &QueuedFrame) -> bool {
        let announces = |part: &Part| {
            matches!(part.what, What::Finish(Finish { announces_calls: true })) && part.lane == LANE
        };
        let parts = &entry.reading.parts;
        let opens = |part: &Part| matches!(&part.what, What::Piece(piece) if piece.opens());
        let is_first = matches!(entry.bytes, QueuedBytes::Frame(_)) && parts.iter().any(opens);
        if is_first && !self.dialect.continuing().is_some_and(|it| it.end_has_content()) {
            // Nothing that the client has stands for this call.
            return false;
        }
        if !parts.iter().any(announces)
            || self.calls.are_in_several_lanes()
            || self.has_other_lanes(parts)
        {
            return false;
        }
        let lane = self.lane(LANE);
        let all_known = lane.removed == lane.removed_calls.len();
        if lane.finished || !all_known || !lane.survivors.is_empty() {
            return false;
        }
        let mut of_client = self
            .calls
            .iter()
            .filter(|call| !matches!(call.state(), CallState::Provider))
            .peekable();
        of_client.peek().is_some()
            && of_client.all(|call| {
                let denied = matches!(call.state(), CallState::Denied(_));
                denied && call.carrier == Carrier::Listed && !call.is_irregular()
            })
    }

    /// Whether the response has another turn besides this one.
    fn has_other_lanes(&self, parts: &[Part]) -> bool {
        let plan = self.api().facts().plan_lane;
        let mut lanes = self.lanes.all().into_iter().chain(parts.iter().map(|part| part.lane));
        lanes.any(|lane| lane != LANE && Some(lane) != plan)
    }

    /// What replaces a denied call where it was. In a stream, a notice is deferred until it is
    /// known which one it is.
    pub(crate) fn notice_in_place(
        &mut self,
        slot: Slot,
        full: String,
        shown: Shown,
    ) -> Option<String> {
        let line = match (&self.rounds, self.call(slot).map(|call| call.state())) {
            (Some(_), Some(CallState::Denied(denial))) => self.settings.denial.line(denial),
            _ => return Some(full),
        };
        match (shown, &mut self.rounds) {
            (Shown::Events | Shown::BeforeEnd, Some(rounds)) => {
                rounds.deferred.push(DeferredNotice { slot, full, line });
                None
            }
            (Shown::EarlierBody(Notice::Line), _) => Some(line),
            (Shown::EarlierBody(Notice::None), _) => None,
            (Shown::Events | Shown::BeforeEnd | Shown::Explained | Shown::Body, _) => Some(full),
        }
    }

    /// Writes the deferred notices if the frame begins another block or ends the turn.
    pub(crate) fn write_deferred(&mut self, entry: &QueuedFrame, out: &mut Draft) {
        let Some(rounds) = &self.rounds else { return };
        let QueuedBytes::Frame(frame) = &entry.bytes else { return };
        if rounds.deferred.is_empty() || !self.follows_notices(entry) {
            return;
        }
        let behind = if has_text(entry) { GAP } else { "" };
        self.write_notices(frame, behind, out);
    }

    fn follows_notices(&self, entry: &QueuedFrame) -> bool {
        let is_removed = |slot: Slot| {
            let state = self.call(slot).map(|call| call.state());
            matches!(state, Some(CallState::Denied(_) | CallState::Dropped))
        };
        let follows = |part: &Part| match &part.what {
            What::Finish(_) => true,
            What::Piece(piece) => piece.opens() && !is_removed(piece.slot),
            What::End(_) | What::Text | What::Signature => false,
        };
        match entry.reading.block {
            Some(block) => block.does == BlockStep::Open && !is_removed(block.slot),
            None => entry.reading.parts.iter().any(follows) || has_text(entry),
        }
    }

    /// Writes the deferred notices. `behind` separates them from the text that follows.
    fn write_notices(&mut self, frame: &OwnedFrame, behind: &str, out: &mut Draft) {
        let is_later = self.is_later_answer();
        let is_separate = self.api().facts().notice_is_separate;
        let Some(rounds) = &mut self.rounds else { return };
        let (deferred, notice) = (std::mem::take(&mut rounds.deferred), rounds.notice);
        let goes_on = is_later && !matches!(rounds.state, RoundState::Concluded);
        for DeferredNotice { slot, full, line } in deferred {
            let text = match (goes_on, notice) {
                (false, _) => full,
                (true, Notice::Line) => line,
                (true, Notice::None) => continue,
            };
            let lane = self.lane(LANE);
            let before = if lane.text && !is_separate { GAP } else { "" };
            lane.text = true;
            lane.digest.add(&text);
            self.writer.add_text(&frame.as_frame(), &format!("{before}{text}"), out.buffer());
            // In a later answer, the slot is that of another call.
            if let (false, Some(call)) = (is_later, self.call_mut(slot)) {
                call.notice = Some(text);
            }
        }
        if goes_on && !is_separate && !behind.is_empty() && self.lane(LANE).text {
            self.writer.add_text(&frame.as_frame(), behind, out.buffer());
        }
    }

    /// The upstream has ended. Returns whether the turn waits for the driver.
    pub(crate) fn end_round(&mut self, how: Close, out: &mut Draft) -> bool {
        if self.is_offered() {
            return true;
        }
        if how == Close::End && self.rounds.as_mut().is_some_and(|rounds| rounds.offer()) {
            let calls = self.denied_calls();
            self.outbox.push(Step::OnlyDenied(OnlyDenied { calls }));
            return true;
        }
        self.write_held_end(out);
        false
    }

    /// Writes the held end, if there is one: no other answer follows.
    pub(crate) fn write_held_end(&mut self, out: &mut Draft) {
        let frames = self.rounds.as_mut().and_then(|rounds| rounds.take_end());
        for entry in frames.unwrap_or_default() {
            self.emit(entry, out);
        }
    }

    /// The driver ends the turn.
    pub(crate) fn conclude(&mut self) {
        let Some(rounds) = &mut self.rounds else { return };
        if let RoundState::Offered(frames) = &mut rounds.state {
            rounds.state = RoundState::Concluding(std::mem::take(frames));
        }
    }

    /// The driver has another answer to the turn. `spent` is the usage of the answers so far.
    pub(crate) fn next_answer(&mut self, spent: &str, notice: Notice) {
        let Some(rounds) = &mut self.rounds else { return };
        let Some(frames) = rounds.take_offered() else { return };
        // What is held began with the frame that ended the answer.
        let Some(first) = frames.first() else { return self.refuse_body(UNKNOWN_FORM) };
        (rounds.notice, rounds.ends) = (notice, 0);
        // It repeats texts, and a text rule may have masked some of them.
        let end = first.departure.masked(first.data()).into_owned();
        let fallback = match &first.bytes {
            QueuedBytes::Body(_) => self.keep_body(first, notice),
            QueuedBytes::Frame(_) | QueuedBytes::Run(_) => Some(LastAnswerEnd::Events(frames)),
        };
        let Some(fallback) = fallback else { return self.refuse_body(UNKNOWN_FORM) };
        if let Some(rounds) = &mut self.rounds {
            rounds.fallback = Some(fallback);
        }
        let lane = self.lane(LANE);
        lane.earlier += std::mem::take(&mut lane.removed);
        lane.removed_calls.clear();
        lane.finished = false;
        self.calls.clear();
        self.queue.clear();
        self.turn.reopen();
        self.received_any = false;
        self.tally = callgate_dialect::Tally::default();
        self.start_reading();
        self.writer.next_answer(spent, &end);
    }

    /// Keeps two versions of a body: one to use if another answer follows, one to use if it fails.
    /// `None` if a denied call in it has an unknown form.
    fn keep_body(&mut self, entry: &QueuedFrame, notice: Notice) -> Option<LastAnswerEnd> {
        let before = self.lanes.clone();
        let alone = self.body_text(entry, Shown::Body)?.into_owned();
        let behind = std::mem::replace(&mut self.lanes, before);
        let body = self.body_text(entry, Shown::EarlierBody(notice))?.into_owned();
        self.rounds.as_mut()?.bodies.push(body);
        Some(LastAnswerEnd::Body(alone, behind))
    }

    /// All answers as one body, if there were several.
    pub(crate) fn join_bodies<'b>(&self, body: Cow<'b, str>) -> Option<Cow<'b, str>> {
        let bodies = self.rounds.as_ref().map(|rounds| rounds.bodies.as_slice()).unwrap_or(&[]);
        if bodies.is_empty() {
            return Some(body);
        }
        let bodies: Vec<String> = bodies.iter().cloned().chain([body.into_owned()]).collect();
        self.dialect.continuing()?.join(&bodies).map(Cow::Owned)
    }

    /// Each answer before the current one as it left, in APIs whose provider stores it.
    pub(crate) fn shown_answers(&self) -> Vec<String> {
        let bodies = self.rounds.as_ref().map(|rounds| rounds.bodies.as_slice()).unwrap_or(&[]);
        if bodies.is_empty() { self.writer.shown_answers() } else { bodies.to_vec() }
    }

    /// Ends the turn without the answer that failed. If that is not possible, the response stays
    /// failed: it is the first answer, a part of a call has left, or the earlier answers cannot be
    /// joined.
    pub(crate) fn give_up_answer(&mut self, why: &str, out: &mut Draft) {
        let streams = self.a_call_streams() || self.turn == TurnState::FailedInsideCall;
        let Some(rounds) = &mut self.rounds else { return };
        if streams || matches!(rounds.state, RoundState::Concluded) {
            return;
        }
        let Some(fallback) = rounds.fallback.take() else { return };
        rounds.state = RoundState::Concluded;
        self.output.end_dangling(out);
        self.drop_queued("the answer ended before it could be sent");
        self.drop_unfinished();
        self.end_all();
        self.queue.clear();
        match fallback {
            LastAnswerEnd::Events(frames) => {
                self.end_without_answer(why);
                self.writer.give_up_answer();
                if let Some(QueuedFrame { bytes: QueuedBytes::Frame(frame), .. }) = frames.first() {
                    self.writer.close_call(&frame.as_frame(), out.buffer());
                    self.writer.close_blocks(&frame.as_frame(), out.buffer());
                }
                self.write_rest_of_end(frames, |_| true, out);
            }
            LastAnswerEnd::Body(alone, lanes) => {
                self.rounds.iter_mut().for_each(|rounds| drop(rounds.bodies.pop()));
                let Some(body) = self.join_bodies(alone.into()) else { return };
                self.end_without_answer(why);
                self.lanes = lanes;
                out.buffer().extend_from_slice(body.as_bytes());
                self.hand_out_removed(LANE);
            }
        }
    }

    /// The response ends well, without the answer that failed.
    fn end_without_answer(&mut self, why: &str) {
        self.outbox.note(Note::AnswerFailed { why: why.to_owned() });
        self.progress.end_without_answer();
    }

    /// Whether a later answer has no end: an earlier one's end must take its place.
    pub(crate) fn answer_lacks_its_end(&mut self) -> bool {
        self.is_later_answer() && !self.lane(LANE).finished
    }

    /// Counts a frame that has left, if it is a part of the end of the turn.
    pub(crate) fn count_end(&mut self, entry: &QueuedFrame) {
        if self.rounds.is_some() && self.lane(LANE).finished && is_end(entry) {
            self.rounds.iter_mut().for_each(|rounds| rounds.ends += 1);
        }
    }

    /// Completes the end of a later answer that was cut off between the events that end it.
    pub(crate) fn complete_end(&mut self, out: &mut Draft) {
        let Some(rounds) = &mut self.rounds else { return };
        if let Some(LastAnswerEnd::Events(frames)) = rounds.fallback.take() {
            rounds.state = RoundState::Concluded;
            self.writer.give_up_answer();
            self.write_rest_of_end(frames, is_end, out);
        }
    }

    /// Writes those of the held frames that are wanted, without the ends that have left.
    fn write_rest_of_end(
        &mut self,
        frames: Vec<QueuedFrame>,
        is_wanted: fn(&QueuedFrame) -> bool,
        out: &mut Draft,
    ) {
        let mut left = self.rounds.as_ref().map_or(0, |rounds| rounds.ends);
        for entry in frames.into_iter().filter(is_wanted) {
            match left.checked_sub(1).filter(|_| is_end(&entry)) {
                Some(fewer) => left = fewer,
                None => self.emit(entry, out),
            }
        }
    }

    /// Fails a later answer that cannot be a part of the turn.
    pub(crate) fn fail_answer(&mut self, reading: &Reading) {
        let why = match reading.after == After::Failure {
            true => "the upstream failed within its next answer",
            false => "the next answer begins with whole blocks",
        };
        self.fail(Blame::Upstream, why);
    }

    /// Whether a turn of several answers must be handed out, although its last one lost no call. It
    /// is handed out once.
    pub(crate) fn take_unreported_answers(&mut self) -> bool {
        match &mut self.rounds {
            Some(rounds) if !rounds.is_handed_out => {
                let has_earlier =
                    rounds.fallback.is_some() || matches!(rounds.state, RoundState::Concluded);
                rounds.is_handed_out = has_earlier;
                has_earlier
            }
            _ => false,
        }
    }

    /// The denied calls of the answer, in order.
    fn denied_calls(&self) -> Vec<DeniedCall> {
        let denied = |slot: Slot| {
            let call = self.call(slot)?;
            let CallState::Denied(denial) = call.state() else { return None };
            let canonical = call.assembly.canonical();
            Some(DeniedCall {
                call: self.removed_call(slot)?,
                digest: call_digest(&canonical.name, &canonical.arguments),
                name: canonical.name,
                record: denial.record.clone(),
            })
        };
        self.calls.iter().filter_map(|call| denied(call.slot)).collect()
    }

    /// A denied call as it is put back later.
    pub(crate) fn removed_call(&self, slot: Slot) -> Option<RemovedCall> {
        let call = self.call(slot)?;
        let CallState::Denied(denial) = call.state() else { return None };
        let canonical = call.assembly.canonical();
        Some(RemovedCall {
            id: call.assembly.id().to_owned(),
            original: self.dialect.original(call.assembly.original(), &canonical),
            place: call.place,
            notice: call.notice.clone(),
            why: self.settings.denial.notice(denial),
        })
    }
}

/// An answer of this framing cannot follow the answers so far.
#[derive(Debug)]
pub(crate) struct OtherFraming;

/// Separates texts that clients join.
const GAP: &str = "\n\n";

/// Whether a frame at the end of a turn is a part of the end.
fn is_end(entry: &QueuedFrame) -> bool {
    let finishes = || entry.reading.parts.iter().any(|part| matches!(part.what, What::Finish(_)));
    entry.order == Order::Stream || finishes()
}

/// Whether the frame has text that the user sees.
fn has_text(entry: &QueuedFrame) -> bool {
    let is_text = |part: &Part| matches!(part.what, What::Text);
    entry.text().is_some() || entry.reading.parts.iter().any(is_text)
}

/// Where denied calls are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Among the events of a stream: a notice waits until it is known whether the turn continues.
    Events,
    /// In the event that ends the turn, whose end leaves later.
    BeforeEnd,
    /// In an event of a turn that does not continue.
    Explained,
    /// In the only body, or the last one.
    Body,
    /// In a body that another one follows.
    EarlierBody(Notice),
}

impl Shown {
    pub(crate) fn is_event(self) -> bool {
        matches!(self, Self::Events | Self::BeforeEnd | Self::Explained)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use callgate_call::{Origin, Surface};
    use callgate_dialect::{CallKind, Dialect, Piece, PieceRole};
    use callgate_policy::Denial;

    use super::*;
    use crate::slot::{CallSlot, LanePosition};
    use crate::{Ending, OnDeny, Settings};

    fn core() -> Core {
        let settings =
            Settings { on_deny: OnDeny::Continue, ..Settings::new(Origin::at(Surface::Response)) };
        Core::new(Dialect::OpenAiChat, settings)
    }

    /// How a response ends that has failed, and what the client receives.
    fn end_of(mut core: Core) -> (Ending, String) {
        let mut draft = Draft::continuing(&mut Vec::new());
        loop {
            if let Some(Step::Ended(ending)) = core.next_step(&mut draft) {
                let out = core.hand_out(draft);
                return (ending, String::from_utf8(out).unwrap());
            }
        }
    }

    #[test]
    fn answers_that_cannot_be_joined_end_with_an_error() {
        let mut core = core();
        let rounds = core.rounds.as_mut().unwrap();
        rounds.bodies = vec!["not JSON".to_owned(), "not JSON".to_owned()];
        rounds.fallback = Some(LastAnswerEnd::Body("{}".to_owned(), Lanes::default()));
        core.refuse_body("the next answer is broken");
        let (ending, out) = end_of(core);
        assert!(matches!(ending, Ending::Error(_)), "{ending:?}: {out}");
        assert!(out.contains("the next answer is broken"), "{out}");
    }

    /// A body that is read as one and cannot be written, with a denied call.
    fn unwritable(core: &mut Core) -> QueuedFrame {
        let role = PieceRole::Open(CallKind::default());
        let piece = Piece { role, name: Some("rm".to_owned()), ..Piece::default() };
        core.calls.push(CallSlot::new(LANE, CallKind::default(), &piece, 0, LanePosition::Only));
        core.deny(piece.slot, Denial::refused("rm", "no"));
        let part =
            Part { lane: LANE, at: callgate_json::Span::default(), what: What::Piece(piece) };
        let reading = Reading { parts: vec![part], ..Reading::default() };
        QueuedFrame::new(QueuedBytes::Body("not JSON".to_owned()), reading)
    }

    #[test]
    fn a_body_that_cannot_be_written_is_not_kept_as_an_empty_one() {
        let mut core = core();
        let entry = unwritable(&mut core);
        core.rounds.as_mut().unwrap().state = RoundState::Offered(vec![entry]);
        core.next_answer("{}", Notice::Line);
        let (ending, out) = end_of(core);
        assert!(matches!(ending, Ending::Error(_)), "{ending:?}: {out}");
        assert!(out.contains(UNKNOWN_FORM), "{out}");
    }

    #[test]
    fn a_body_that_cannot_be_written_at_the_end_is_an_error() {
        let mut core = core();
        let body =
            r#"{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a"}}]}"#;
        core.reader.read_body(body).unwrap();
        let entry = unwritable(&mut core);
        core.rounds.as_mut().unwrap().state = RoundState::Offered(vec![entry]);
        core.conclude();
        core.end(Close::End, &mut Draft::continuing(&mut Vec::new()));
        let (ending, out) = end_of(core);
        assert!(matches!(ending, Ending::Error(_)), "{ending:?}: {out}");
        assert!(out.contains(UNKNOWN_FORM), "{out}");
    }
}
