//! The calls of a response: how each is opened, extended, asked about and answered.

use callgate_dialect::{
    Added, After, ArgumentsPiece, Assembly, Blame, COPIES_DIFFER, CallKind, Carrier, Host, Lane,
    Part, Piece, PieceRole, Reading, Slot, TurnFacts, What,
};
use callgate_json::Value;
use callgate_policy::{Decision, Denial, NameDecision};

use crate::core::{Core, TurnState};
use crate::gate::{CallQuestion, NameQuestion, Note, Step};
use crate::slot::{Allowed, CallPhase, CallSlot, CallState, LanePosition};

impl Core {
    pub(super) fn is_second_lane(&self, part: &Part) -> bool {
        match &part.what {
            What::Piece(piece) => {
                self.call(piece.slot).is_some_and(CallSlot::is_behind_other_lanes)
            }
            _ => false,
        }
    }

    pub(super) fn a_call_streams(&self) -> bool {
        self.calls.any_streams()
    }

    /// Updates the calls that a frame has parts of. Returns the indices of the parts that are
    /// refused outright.
    pub(super) fn update_calls(&mut self, reading: &Reading) -> Vec<usize> {
        let mut refused = Vec::new();
        // A frame with a call in an unexpected place is dropped as a whole, and would take along a
        // piece of another call that was already counted.
        let is_stray = |part: &Part| matches!(&part.what, What::Piece(piece) if piece.carrier == Carrier::Stray);
        let has_stray = reading.parts.iter().any(is_stray);
        for (place, part) in reading.parts.iter().enumerate() {
            match &part.what {
                What::Piece(piece) => {
                    if !self.add_piece(part, piece) {
                        refused.push(place);
                    }
                    if piece.carrier == Carrier::Listed && piece.host == Host::Client {
                        if has_stray {
                            let why = "another call is next to a piece of it";
                            self.refuse_piece(piece.slot, why);
                        } else if reading.skipped_by_some_clients {
                            self.mark_skipped_by_some(piece.slot);
                        }
                    }
                    if piece.ends() {
                        self.note_end(piece.slot);
                    }
                }
                // Its turn has ended before: the end was written there, or will be.
                What::End(slot) if self.call(*slot).is_some_and(CallSlot::has_ended) => {
                    refused.push(place);
                }
                What::End(slot) => {
                    if has_stray {
                        self.refuse_end(*slot, "another call is next to its end");
                    }
                    self.note_end(*slot);
                }
                What::Finish(_) => self.end_turn(part.lane),
                What::Text | What::Signature => {}
            }
        }
        if reading.after == After::Done {
            let lanes: Vec<Lane> = self.calls.iter().map(|call| call.lane).collect();
            lanes.into_iter().for_each(|lane| self.end_turn(lane));
        }
        if reading.after == After::Failure {
            self.drop_unfinished();
            let is_cut =
                |call: &CallSlot| !call.has_ended() && matches!(call.state(), CallState::Streaming);
            if self.calls.iter().any(is_cut) {
                self.turn = TurnState::FailedInsideCall;
            }
            // Calls that stream end with the error.
            self.end_all();
        }
        refused
    }

    /// Adds a piece to its call. Returns `false` if the piece is left out of its frame.
    pub(super) fn add_piece(&mut self, part: &Part, piece: &Piece) -> bool {
        if let PieceRole::Open(kind) = piece.role {
            self.open_call(part.lane, kind, piece);
        } else if let Some(agrees) = self.repeats(piece) {
            return agrees;
        }
        let facts = self.api().facts();
        let Some(call) = self.call(piece.slot) else { return false };
        match classify(call, piece, facts) {
            PieceVerdict::Add => {}
            PieceVerdict::Pass => return true,
            PieceVerdict::LeaveOut(why) => {
                if let Some(why) = why {
                    self.refuse_piece(piece.slot, why);
                }
                return false;
            }
            PieceVerdict::Refuse(why) => {
                self.refuse_piece(piece.slot, why);
                // With its first piece the whole call is refused, and leaves as a denied call does.
                return piece.opens();
            }
        }
        let limit = self.limits().arguments;
        let added = self.calls.change(piece.slot, |call| call.assembly.add(piece, limit));
        let Some(call) = self.call(piece.slot) else { return false };
        let has_name = call.assembly.is_named();
        let is_named = has_name && (call.assembly.arguments_begun() || !facts.name_may_grow);
        let complete = added == Some(Added::Completes);
        // If the call's own end is still to come, the verdict need not wait for it: only white
        // space may be added now. The call itself does wait for its end. A call that is rewritten
        // needs all of its frames.
        let early = complete && (facts.arguments_end_a_call || !call.leaves_whole());
        match call.state() {
            CallState::Naming | CallState::NameAsked if complete && facts.arguments_end_a_call => {
                self.ask(piece.slot);
            }
            CallState::Naming if is_named => self.ask_name(piece.slot),
            CallState::Held if early => self.ask(piece.slot),
            CallState::Streaming if complete => self.ask(piece.slot),
            _ => {}
        }
        self.check_stored();
        true
    }

    /// Fails the response if too much is stored of its calls.
    pub(super) fn check_stored(&mut self) {
        let stored = self.calls.stored();
        if stored.arguments > self.limits().arguments.saturating_mul(LARGEST_CALLS) {
            self.fail(Blame::Refused, "the arguments of its calls are larger than the limit");
        }
        if stored.originals > self.limits().held {
            self.fail(Blame::Refused, "more bytes are held than the limit");
        }
    }

    /// A piece that repeats all of the arguments, or the whole call. Returns whether it matches
    /// what came before; `None` if nothing did, so that it is the call's own piece.
    fn repeats(&mut self, piece: &Piece) -> Option<bool> {
        let ArgumentsPiece::Again(text) = &piece.arguments else { return None };
        let call = self.call(piece.slot)?;
        let phase = call.phase();
        let judged = matches!(phase, CallPhase::Judged | CallPhase::Dropped);
        let first = !judged && !call.has_ended() && !call.assembly.arguments_begun();
        if matches!(phase, CallPhase::Denied | CallPhase::Provider | CallPhase::Dropped) {
            return (!first).then_some(true);
        }
        let why = match piece.refuse {
            Some(why) => Some(why),
            None if call.assembly.renames(piece) => Some("its name changes"),
            None if call.assembly.changes_id(piece) => Some("its id changes"),
            None if !first && !call.assembly.matches_copy(text) => Some(COPIES_DIFFER),
            None => None,
        };
        match why {
            Some(why) => {
                self.refuse_judged(piece.slot, why);
                Some(false)
            }
            None => (!first).then_some(true),
        }
    }

    /// Refuses a call, whether it was judged or not. If it was allowed, some of it may have left,
    /// and only an error can stop the client from using it.
    fn refuse_judged(&mut self, slot: Slot, why: &'static str) {
        let Some(call) = self.call(slot) else { return };
        if !matches!(call.state(), CallState::Allowed) {
            return self.refuse(slot, why);
        }
        let tool = call.assembly.name().to_owned();
        self.outbox.note(Note::Refused { tool: tool.clone(), why: why.to_owned() });
        self.fail(Blame::Refused, &format!("`{tool}` was refused after it had begun: {why}"));
    }

    /// Frees the arguments of a call.
    pub(crate) fn forget_arguments(&mut self, slot: Slot) {
        self.calls.change(slot, |call| call.assembly.forget_arguments());
    }

    /// Frees what is stored of a call only to put it back: it is not removed.
    fn forget_original(&mut self, slot: Slot) {
        self.calls.change(slot, |call| call.assembly.forget_original());
    }

    pub(super) fn open_call(&mut self, lane: Lane, kind: CallKind, piece: &Piece) {
        let first = self.calls.first_lane(lane);
        let place = match self.api().facts().counts_blocks {
            true => piece.slot.0 as usize - self.calls.strays_before(piece.slot),
            false => self.calls.iter().filter(|call| call.lane == lane).count(),
        };
        let is_behind =
            lane != first && piece.carrier == Carrier::Listed && self.api().facts().mixes_lanes;
        let beside_a_stream = is_behind && self.a_call_streams();
        let position = if is_behind { LanePosition::Behind } else { LanePosition::Only };
        self.calls.push(CallSlot::new(lane, kind, piece, place, position));
        if beside_a_stream {
            self.refuse(piece.slot, "it is mixed with a call of another choice");
        }
    }

    /// A piece came in a frame that some clients skip: the call has to leave whole, in a frame that
    /// every client reads. If some of it has left already, it is refused.
    pub(super) fn mark_skipped_by_some(&mut self, slot: Slot) {
        let Some(call) = self.call_mut(slot) else { return };
        if call.streams() {
            self.refuse(slot, "a piece of it is in a frame that some clients skip");
        } else if !matches!(call.state(), CallState::Allowed) {
            call.skip_for_some_clients();
        }
    }

    /// Refuses a call whose end may be left out, unless it has left: without its end it is not
    /// complete.
    fn refuse_end(&mut self, slot: Slot, why: &'static str) {
        match self.call(slot).map(|call| call.state()) {
            Some(CallState::Asked(_) | CallState::Permitted) => self.refuse(slot, why),
            _ => self.refuse_piece(slot, why),
        }
    }

    /// Refuses a piece of a call, and with it the whole call if it has not been judged.
    pub(super) fn refuse_piece(&mut self, slot: Slot, why: &'static str) {
        let Some(call) = self.call_mut(slot) else { return };
        match call.phase() {
            CallPhase::Open => self.refuse(slot, why),
            CallPhase::Judged | CallPhase::Denied | CallPhase::Dropped | CallPhase::Provider => {
                let tool = call.assembly.name().to_owned();
                self.outbox.note(Note::Refused { tool, why: why.to_owned() });
            }
        }
    }

    /// The call's own end has arrived.
    pub(super) fn note_end(&mut self, slot: Slot) {
        let Some(call) = self.call_mut(slot) else { return };
        if call.has_ended() {
            return;
        }
        call.end();
        match call.state() {
            CallState::Naming | CallState::NameAsked | CallState::Held | CallState::Streaming => {
                self.ask(slot)
            }
            CallState::Provider => self.observe(slot),
            CallState::Denied(_) => self.report_completed(slot),
            CallState::Permitted => self.allow_call(slot),
            CallState::Asked(_) | CallState::Allowed | CallState::Dropped => {}
        }
        if !self.queue.is_empty() {
            self.queue.mark_dirty();
        }
    }

    /// Ends all calls: no more pieces are expected.
    pub(crate) fn end_all(&mut self) {
        self.turn.end();
        self.calls.iter_mut().for_each(CallSlot::end);
        let slots = self.calls.slots_where(|_| true);
        slots.into_iter().for_each(|slot| self.report_completed(slot));
    }

    /// Reports the arguments of a call that was denied by its name.
    fn report_completed(&mut self, slot: Slot) {
        let Some(call) = self.call_mut(slot) else { return };
        let Some(mut whole) = call.incomplete.take() else { return };
        // An id may come after the name.
        whole.id = call.assembly.id().into();
        whole.arguments = call.assembly.arguments();
        self.outbox.note(Note::Completed { slot, call: *whole });
    }

    /// The end of a turn ends all of its calls.
    pub(super) fn end_turn(&mut self, lane: Lane) {
        self.turn.end();
        let open = self.calls.slots_where(|call| call.lane == lane && !call.has_ended());
        open.into_iter().for_each(|slot| self.note_end(slot));
    }

    /// Reports a call that the provider has run.
    pub(super) fn observe(&mut self, slot: Slot) {
        let origin = self.origin();
        let Some(call) = self.call_mut(slot) else { return };
        if let Ok(call) = call.assembly.whole(&origin) {
            self.outbox.note(Note::Observed(call));
        }
        self.forget_original(slot);
    }

    /// Asks for a verdict by the name alone.
    pub(super) fn ask_name(&mut self, slot: Slot) {
        let origin = self.origin();
        let Some(call) = self.call_mut(slot) else { return };
        if let Some(why) = call.assembly.refusal() {
            return self.refuse(slot, why);
        }
        match call.assembly.named(&origin) {
            Ok(named) => {
                call.ask_by_name();
                self.outbox.push(Step::Name(NameQuestion { slot, call: named }));
            }
            Err(why) => self.refuse(slot, &why.to_string()),
        }
    }

    /// Asks for a verdict on the whole call.
    pub(super) fn ask(&mut self, slot: Slot) {
        self.outbox.withdraw_name(slot);
        let origin = self.origin();
        let Some(call) = self.call_mut(slot) else { return };
        let streaming = call.streams();
        if let Some(why) = call.assembly.refusal() {
            return self.refuse(slot, why);
        }
        if call.assembly.is_oversize() && call.leaves_whole() {
            return self.refuse(slot, "it is too large to be reassembled");
        }
        if self.calls.are_in_several_lanes() && self.lacks_distinct_id(slot) {
            return self
                .refuse(slot, "calls in several choices cannot be distinguished by their ids");
        }
        let several_lanes = self.calls.are_in_several_lanes();
        let Some(call) = self.call_mut(slot) else { return };
        if several_lanes && !streaming {
            call.mix_with_other_lanes();
        }
        match call.assembly.whole(&origin) {
            Ok(whole) => {
                call.ask(whole.clone());
                self.queue.allow_overtaking();
                let question = CallQuestion { slot, call: whole };
                self.outbox.push(Step::Judge(question));
            }
            Err(why) => self.refuse(slot, &why.to_string()),
        }
    }

    /// Whether a call has no id, or that of a call in another choice: some clients do not
    /// distinguish choices, and then only the id separates their calls.
    pub(super) fn lacks_distinct_id(&self, slot: Slot) -> bool {
        let Some(call) = self.call(slot) else { return true };
        let id = call.assembly.id();
        let twin = |other: &CallSlot| other.lane != call.lane && other.assembly.id() == id;
        id.is_empty() || self.calls.iter().any(twin)
    }

    /// Refuses a call that no rule can read.
    pub(super) fn refuse(&mut self, slot: Slot, why: &str) {
        let Some(call) = self.call_mut(slot) else { return };
        let tool = call.assembly.name().to_owned();
        let streams = call.streams();
        self.outbox.withdraw_name(slot);
        self.outbox.note(Note::Refused { tool: tool.clone(), why: why.to_owned() });
        self.deny(slot, Denial::refused(&tool, why));
        if streams {
            self.fail(Blame::Refused, &format!("`{tool}` was refused after it had begun: {why}"));
        }
    }

    pub(crate) fn answer_name(&mut self, slot: Slot, decision: NameDecision) {
        let several_lanes = self.calls.are_in_several_lanes();
        let origin = self.origin();
        let Some(call) = self.call_mut(slot) else { return };
        if !matches!(call.state(), CallState::NameAsked) {
            return;
        }
        match decision {
            NameDecision::Deny(denial) => {
                call.incomplete = call.assembly.named(&origin).ok().map(Box::new);
                self.deny(slot, denial);
            }
            NameDecision::NeedArguments => call.hold(),
            NameDecision::Stream(permit) => {
                // A call is held if its shape may still change or another copy may follow. A call
                // that came complete is held too: otherwise all of it would leave without a verdict.
                let odd = call.leaves_whole()
                    || several_lanes
                    || call.assembly.lacks_id()
                    || call.assembly.waits()
                    || call.assembly.came_whole()
                    || call.assembly.is_complete()
                    || call.carrier == Carrier::Stray;
                let names_it = callgate_call::ToolName::parse(call.assembly.name())
                    .is_ok_and(|name| permit.covers(&call.assembly.id().into(), &name));
                match names_it && !odd {
                    true => call.stream(),
                    false => call.hold(),
                }
                self.queue.mark_dirty();
            }
        }
    }

    pub(crate) fn answer(&mut self, slot: Slot, decision: Decision) {
        let Some(call) = self.call_mut(slot) else { return };
        let CallState::Asked(asked) = call.state() else { return };
        let streaming = asked.streaming;
        let tool = call.assembly.name().to_owned();
        match decision {
            Decision::Allow(permit) if permit.covers(&asked.call) => {
                let rewritten = permit.rewritten().map(str::to_owned);
                if let Some(arguments) = rewritten {
                    return self.rewrite(slot, arguments);
                }
                self.permit(slot);
            }
            Decision::Allow(_) => self.refuse(slot, "the permit is for another call"),
            Decision::Deny(denial) if streaming => {
                let why = format!("`{tool}` was refused after it had begun: {}", denial.reason);
                self.deny(slot, denial);
                self.fail(Blame::Refused, &why);
            }
            Decision::Deny(denial) => self.deny(slot, denial),
        }
    }

    /// A permit was given. A held call leaves when it is complete, and not before.
    fn permit(&mut self, slot: Slot) {
        if self.call(slot).is_some_and(|call| self.lacks_its_end(call)) {
            if let Some(call) = self.call_mut(slot) {
                call.permit();
            }
            return;
        }
        self.allow_call(slot);
    }

    /// Whether the end of a call is still to come, and nothing of the call has left.
    fn lacks_its_end(&self, call: &CallSlot) -> bool {
        !call.has_ended() && !call.streams() && !self.api().facts().arguments_end_a_call
    }

    /// The call is complete and may leave.
    fn allow_call(&mut self, slot: Slot) {
        self.queue.mark_dirty();
        let is_much = self.calls.stored().arguments > self.limits().arguments;
        let Some(call) = self.call_mut(slot) else { return };
        if call.allow() == Allowed::No {
            return;
        }
        self.forget_original(slot);
        let Some(call) = self.call_mut(slot) else { return };
        if call.rewritten.is_some() {
            return;
        }
        if call.leaves_whole() {
            let tool = call.assembly.name().to_owned();
            self.normalised(
                &tool,
                "clients would join its pieces differently, so it was sent in one piece",
            );
        } else if call.assembly.kept() > KEPT_ARGUMENTS || is_much {
            call.take_digest();
            self.forget_arguments(slot);
        }
    }

    /// Releases a call with other arguments: all of it is still held.
    fn rewrite(&mut self, slot: Slot, arguments: String) {
        let Some(call) = self.call_mut(slot) else { return };
        if matches!(call.state(), CallState::Asked(asked) if asked.streaming) {
            return self.refuse(slot, "a part that must be removed was already sent");
        }
        let readable = call.assembly.is_free_text() || Value::parse(&arguments).is_ok();
        if !readable {
            return self.refuse(slot, "a part that must be removed cannot be removed");
        }
        self.calls.change(slot, |call| {
            call.rewritten = Some(arguments);
            call.take_digest();
            call.assembly.forget_arguments();
        });
        self.permit(slot);
    }

    pub(super) fn deny(&mut self, slot: Slot, denial: Denial) {
        if let Some(call) = self.call_mut(slot) {
            call.deny(denial);
        }
        self.queue.mark_dirty();
    }

    /// Drops the calls that have begun and will not finish.
    pub(crate) fn drop_unfinished(&mut self) {
        let unfinished = self.calls.slots_where(|call| self.is_unfinished(call));
        for slot in unfinished {
            self.drop_call(slot, "the response ended inside the call");
        }
        self.queue.mark_dirty();
    }

    /// Whether a call is held and incomplete.
    pub(crate) fn is_unfinished(&self, call: &CallSlot) -> bool {
        match call.state() {
            CallState::Naming | CallState::NameAsked | CallState::Held | CallState::Permitted => {
                true
            }
            CallState::Asked(_) => self.lacks_its_end(call),
            CallState::Streaming
            | CallState::Allowed
            | CallState::Denied(_)
            | CallState::Dropped
            | CallState::Provider => false,
        }
    }

    /// Drops a call that no rule has denied.
    pub(crate) fn drop_call(&mut self, slot: Slot, why: &'static str) {
        self.outbox.withdraw(slot);
        let Some(call) = self.call_mut(slot) else { return };
        call.drop_out();
        let tool = call.assembly.name().to_owned();
        self.outbox.note(Note::Dropped { tool, why });
        self.forget_original(slot);
    }

    pub(crate) fn call(&self, slot: Slot) -> Option<&CallSlot> {
        self.calls.get(slot)
    }

    pub(crate) fn call_mut(&mut self, slot: Slot) -> Option<&mut CallSlot> {
        self.calls.get_mut(slot)
    }
}

/// Arguments of an allowed call up to this size are kept until the end of the turn. They are needed
/// again only if another call of the turn is removed, and a digest of each call would cost more.
const KEPT_ARGUMENTS: usize = 16 * 1024;

/// How many calls of the largest size one response may contain. The limit for one call alone would
/// let a response with many of them fill the memory.
const LARGEST_CALLS: usize = 16;

/// What happens to a piece of a call.
#[derive(Debug, PartialEq, Eq)]
enum PieceVerdict {
    /// It is added to the call.
    Add,
    /// It adds nothing, and leaves or stays with the call.
    Pass,
    /// It is left out of its frame. If there is a reason, the call is refused, unless its verdict is
    /// known.
    LeaveOut(Option<&'static str>),
    /// It cannot belong to the call.
    Refuse(&'static str),
}

/// What happens to a piece that does not repeat the whole call.
fn classify(call: &CallSlot, piece: &Piece, facts: &TurnFacts) -> PieceVerdict {
    let phase = call.phase();
    let is_judged_here = !matches!(phase, CallPhase::Denied | CallPhase::Provider);
    let has_name = !matches!(call.state(), CallState::Naming);
    let renamed = || (has_name && call.assembly.renames(piece)).then_some("its name changes");
    let conflict = call.assembly.conflict(piece).or_else(renamed);
    if let (true, Some(why)) = (is_judged_here, conflict) {
        return PieceVerdict::Refuse(why);
    }
    let brings = || Assembly::brings_arguments(piece);
    // If a call has its own end, nothing of it leaves after that.
    let over = call.has_ended() && !piece.opens() && phase != CallPhase::Denied;
    let leaves_in_pieces = matches!(call.state(), CallState::Provider | CallState::Streaming);
    if over && (!facts.arguments_end_a_call || leaves_in_pieces) {
        return PieceVerdict::LeaveOut(brings().then_some("text follows its end"));
    }
    match phase {
        // A judged call must not change.
        CallPhase::Judged | CallPhase::Dropped if brings() => {
            PieceVerdict::LeaveOut(Some("text follows its complete arguments"))
        }
        CallPhase::Judged | CallPhase::Dropped => PieceVerdict::Pass,
        // Another copy of complete arguments, even an empty one, replaces them in some clients.
        _ if call.assembly.came_whole() && !piece.opens() && !brings() => match piece.arguments {
            ArgumentsPiece::None => PieceVerdict::Pass,
            _ => PieceVerdict::LeaveOut(None),
        },
        CallPhase::Open | CallPhase::Denied | CallPhase::Provider => PieceVerdict::Add,
    }
}

#[cfg(test)]
mod tests {
    use callgate_dialect::Dialect;

    use super::*;

    fn call(change: impl FnOnce(&mut CallSlot)) -> CallSlot {
        let role = PieceRole::Open(CallKind::default());
        let first = Piece { role, name: Some("rm".to_owned()), ..Piece::default() };
        let mut call = CallSlot::new(Lane(0), CallKind::default(), &first, 0, LanePosition::Only);
        let _ = call.assembly.add(&first, 1 << 20);
        change(&mut call);
        call
    }

    fn piece(arguments: &str) -> Piece {
        Piece { arguments: ArgumentsPiece::Fragment(arguments.to_owned()), ..Piece::default() }
    }

    #[test]
    fn what_happens_to_a_piece_depends_on_its_call() {
        use PieceVerdict::{Add, LeaveOut, Pass, Refuse};
        let denied = |call: &mut CallSlot| call.deny(Denial::refused("rm", "no"));
        let named = || Piece { name: Some("mv".to_owned()), ..Piece::default() };
        let late = LeaveOut(Some("text follows its end"));
        let messages = Dialect::Anthropic.facts();
        for (what, call, piece, want) in [
            ("of an open call", call(|_| {}), piece("{"), Add),
            ("another name, while it may grow", call(|_| {}), named(), Add),
            ("another name", call(CallSlot::ask_by_name), named(), Refuse("its name changes")),
            ("after the end", call(CallSlot::end), piece("{"), late),
            ("white space after the end", call(CallSlot::end), piece(" "), LeaveOut(None)),
            ("of a dropped call", call(CallSlot::drop_out), piece(" "), LeaveOut(None)),
            ("of a denied call", call(denied), piece("{"), Add),
            ("another name of a denied call", call(denied), named(), Add),
        ] {
            assert_eq!(classify(&call, &piece, messages), want, "{what}");
        }
        let by_arguments = Dialect::OpenAiChat.facts();
        let dropped = call(CallSlot::drop_out);
        assert_eq!(classify(&dropped, &piece(" "), by_arguments), Pass);
        let changed = LeaveOut(Some("text follows its complete arguments"));
        assert_eq!(classify(&dropped, &piece("x"), by_arguments), changed);
    }
}
