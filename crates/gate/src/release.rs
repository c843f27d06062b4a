//! Writes frames: allowed parts as they came, denied ones not at all.

use std::borrow::Cow;

use callgate_dialect::request::{ClientCall, ClientTurn, calls_digest, signature_hash};
use callgate_dialect::{
    Carrier, Departure, Fate, FrameForm, Host, Lane, Leaving, Orders, Part, Piece, Reading, Rest,
    Slot, What,
};
use callgate_json::decode_into;
use callgate_wire::Frame;

use crate::core::Core;
use crate::draft::{Draft, LastEvent};
use crate::gate::Note;
use crate::queue::{QueuedBytes, QueuedFrame};
use crate::rounds::Shown;
use crate::slot::CallState;
use crate::{Announce, OnDeny, RemovedTurn};

/// The text of a turn that would otherwise be empty: agents repeat the request after an empty turn.
const NEUTRAL: &str = "There is nothing further to do in this turn.";

/// The text of a turn if a part of it could not be read and nothing else is left of it.
const WITHHELD: &str = "A part of this response could not be read and was withheld by callgate.";

/// Why a body is refused whose writer could not take out a denied call.
pub(crate) const UNKNOWN_FORM: &str = "it contains a denied call in an unknown form";

/// How many signatures of one turn are stored. A turn with more is not recognised when the client
/// sends it back.
const MAX_SIGNATURES: usize = 256;

impl Core {
    /// Writes a frame, each of its parts as decided for its call.
    pub(crate) fn emit(&mut self, entry: QueuedFrame, out: &mut Draft) {
        // Most responses do not continue after a denial, and their frames need not be moved.
        if self.rounds.is_none() {
            return self.write_frame(entry, out);
        }
        if let Some(entry) = self.hold_end(entry, out) {
            self.output.end_dangling(out);
            self.write_deferred(&entry, out);
            self.write_frame(entry, out);
        }
    }

    fn write_frame(&mut self, entry: QueuedFrame, out: &mut Draft) {
        self.output.end_dangling(out);
        match &entry.bytes {
            QueuedBytes::Frame(_) => self.write_event(&entry, self.shown_in(&entry), out),
            QueuedBytes::Run(run) => self.write_run(run, &entry, self.shown_in(&entry), out),
            QueuedBytes::Body(_) => return self.write_body(entry, out),
        }
        self.finish_lanes(&entry);
    }

    /// Writes a body. One that leaves as it came is not copied.
    fn write_body(&mut self, entry: QueuedFrame, out: &mut Draft) {
        let edited =
            match self.body_text(&entry, Shown::Body).and_then(|body| self.join_bodies(body)) {
                Some(Cow::Owned(edited)) => Some(edited),
                Some(Cow::Borrowed(_)) => None,
                None => {
                    self.refuse_body(UNKNOWN_FORM);
                    return self.finish_lanes(&entry);
                }
            };
        self.finish_lanes(&entry);
        match (edited, entry.bytes) {
            (Some(body), _) | (None, QueuedBytes::Body(body)) => out.append(body.into_bytes()),
            (None, QueuedBytes::Frame(_) | QueuedBytes::Run(_)) => {}
        }
    }

    /// Writes an event. If its end is held back, writes everything else.
    pub(crate) fn write_event(&mut self, entry: &QueuedFrame, shown: Shown, out: &mut Draft) {
        let QueuedBytes::Frame(frame) = &entry.bytes else { return };
        let frame = frame.as_frame();
        let data = frame.text().unwrap_or_default();
        if let Some(text) = entry.text() {
            self.note_text_in(entry.reading.text_lane, entry.departure.leaving(text, data), shown);
        }
        let fates = self.fates(entry, data, shown);
        self.write_announced(out);
        self.write_parts(&frame, data, entry, &fates, out);
    }

    /// Writes one event, of whose parts the fates are known.
    pub(crate) fn write_parts(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        QueuedFrame { reading, departure, .. }: &QueuedFrame,
        fates: &[Fate],
        out: &mut Draft,
    ) {
        let start = out.buffer().len();
        match frame.data() {
            Some(_) if reading.form == FrameForm::LeaveOut => frame.leave_out(out.buffer()),
            Some(_) => {
                let orders = Orders { departure, fates };
                self.writer.write(&Leaving { frame, data, reading, orders }, out.buffer());
            }
            None => frame.keep(out.buffer()),
        }
        let unchanged = frame.is_kept(out.buffer().get(start..).unwrap_or(&[]));
        let dangles = !frame.terminated() && unchanged;
        self.output.note_written(if dangles { LastEvent::Dangling } else { LastEvent::Ended });
        if !unchanged {
            self.report_change(reading, departure, fates);
        }
    }

    /// Notes a denied call for a comment in the stream.
    fn announce(&mut self, slot: Slot, shown: Shown) {
        let wanted = self.settings.announce == Announce::Denials && shown.is_event();
        if let (true, Some(CallState::Denied(denial))) =
            (wanted, self.call(slot).map(|it| it.state()))
        {
            let record = denial.record.clone();
            self.announced.extend(record);
        }
    }

    /// Says in comments which calls are left out of the next frame.
    pub(crate) fn write_announced(&mut self, out: &mut Draft) {
        if self.announced.is_empty() {
            return;
        }
        for record in std::mem::take(&mut self.announced) {
            if self.api().accepts_comments() {
                self.output.style().comment(&format!("callgate denied {record}"), out.buffer());
            }
        }
    }

    /// The fate of each part of a frame or a body.
    pub(crate) fn fates(&mut self, entry: &QueuedFrame, data: &str, shown: Shown) -> Vec<Fate> {
        let mut fates = Vec::with_capacity(entry.reading.parts.len());
        for (place, part) in entry.reading.parts.iter().enumerate() {
            let fate = match entry.refused.contains(&place) {
                true => Fate::Drop,
                false => self.fate(part, &entry.departure, data, shown),
            };
            fates.push(fate);
        }
        fates
    }

    /// A body as it leaves; `None` if no part of it may.
    pub(crate) fn body_text<'e>(
        &mut self,
        entry: &'e QueuedFrame,
        shown: Shown,
    ) -> Option<Cow<'e, str>> {
        let QueuedBytes::Body(body) = &entry.bytes else { return None };
        if let Some(text) = entry.reading.text {
            self.note_text_in(entry.reading.text_lane, entry.departure.leaving(text, body), shown);
        }
        let fates = self.fates(entry, body, shown);
        let orders = Orders { departure: &entry.departure, fates: &fates };
        if orders.keep_all(&entry.reading) {
            debug_assert_eq!(
                self.writer.write_body(body, &entry.reading, orders).as_ref(),
                Some(body)
            );
            return Some(Cow::Borrowed(body));
        }
        let text = self.writer.write_body(body, &entry.reading, orders)?;
        self.holds_only(&text, &entry.reading, &fates).then_some(Cow::Owned(text))
    }

    /// Ends the turns that end with this frame or body.
    fn finish_lanes(&mut self, entry: &QueuedFrame) {
        for part in &entry.reading.parts {
            if let What::Finish(_) = part.what {
                self.lane(part.lane).finished = true;
                self.hand_out_removed(part.lane);
            }
        }
        self.count_end(entry);
    }

    /// Whether an edited body contains as many calls as were allowed: it is read once more, so that
    /// a call that the writer missed does not leave.
    fn holds_only(&self, body: &str, reading: &Reading, fates: &[Fate]) -> bool {
        let is_call =
            |part: &Part| matches!(&part.what, What::Piece(piece) if piece.host == Host::Client);
        let allowed = reading
            .parts
            .iter()
            .zip(fates)
            .filter(|(part, fate)| is_call(part) && matches!(fate, Fate::Keep | Fate::Whole(_)))
            .count();
        if allowed == reading.parts.iter().filter(|part| is_call(part)).count() {
            return true;
        }
        let limits = callgate_dialect::Limits { max_calls: self.limits().calls };
        let again = self.dialect.reader(&limits).read_body(body);
        again.is_ok_and(|again| again.parts.iter().filter(|part| is_call(part)).count() == allowed)
    }

    /// Reports a change that no denial explains: the form was irregular.
    fn report_change(&mut self, reading: &Reading, departure: &Departure, fates: &[Fate]) {
        let denied = fates.iter().any(|fate| !matches!(fate, Fate::Keep));
        let masked = !departure.masks.is_empty();
        if denied || masked || departure.rest == Rest::Calls || self.lanes.lack_a_call() {
            return;
        }
        let call = reading.parts.iter().find_map(|part| match &part.what {
            What::Piece(piece) => self.call(piece.slot),
            What::End(slot) => self.call(*slot),
            _ => None,
        });
        let tool = call.map(|call| call.assembly.name().to_owned()).unwrap_or_default();
        let why = match reading.form {
            FrameForm::Regular | FrameForm::Rewrite => {
                "clients disagree about its form, so it was sent in canonical form"
            }
            FrameForm::LeaveOut => "it ends a block that has not begun, so it was left out",
        };
        self.normalised(&tool, why);
    }

    fn fate(&mut self, part: &Part, departure: &Departure, data: &str, shown: Shown) -> Fate {
        match &part.what {
            What::Piece(piece) => self.piece_fate(part.lane, piece, shown),
            What::End(slot) => match self.call(*slot).map(|call| call.state()) {
                Some(CallState::Denied(_) | CallState::Dropped) | None => Fate::Drop,
                Some(_) => Fate::Keep,
            },
            What::Finish(_) => self.finish_fate(part.lane, shown),
            What::Text => {
                self.note_text_in(part.lane, departure.leaving(part.at, data), shown);
                Fate::Keep
            }
            What::Signature => {
                let leaves = !self.is_later_answer() || self.keeps_thinking();
                if leaves && self.lane(part.lane).signatures.len() < MAX_SIGNATURES {
                    let mut text = String::new();
                    decode_into(part.at.of(data), &mut None, &mut text);
                    self.lane(part.lane).signatures.push(signature_hash(&text));
                }
                Fate::Keep
            }
        }
    }

    fn piece_fate(&mut self, lane: Lane, piece: &Piece, shown: Shown) -> Fate {
        let Some(call) = self.call(piece.slot) else { return Fate::Drop };
        let whole = call.leaves_whole();
        match call.state() {
            CallState::Denied(denial) => {
                let notice = self.settings.denial.notice(denial);
                match (piece.opens(), &call.notice) {
                    (true, _) => self.take_out(lane, piece, notice, shown),
                    // A repetition shows the same notice.
                    (false, Some(notice)) if piece.is_copy() => Fate::Notice(notice.clone()),
                    (false, _) => Fate::Drop,
                }
            }
            CallState::Dropped => {
                if piece.opens() {
                    self.lane(lane).removed += 1;
                }
                Fate::Drop
            }
            CallState::Allowed | CallState::Streaming if piece.opens() => {
                let canonical = call.canonical();
                if piece.host == Host::Client && piece.carrier == Carrier::Listed {
                    self.lane(lane).survivors.push(piece.slot);
                }
                if whole { Fate::Whole(canonical) } else { Fate::Keep }
            }
            CallState::Allowed if whole && piece.is_copy() => Fate::Whole(call.canonical()),
            CallState::Allowed if whole => Fate::Drop,
            CallState::Allowed | CallState::Streaming | CallState::Provider => Fate::Keep,
            // Not settled: it cannot be here, and if it is, it does not leave.
            CallState::Naming
            | CallState::NameAsked
            | CallState::Held
            | CallState::Asked(_)
            | CallState::Permitted => Fate::Drop,
        }
    }

    /// Removes a denied call and inserts a notice, if a text is allowed there: not after the end,
    /// and after a call that the client received only in some APIs.
    fn take_out(&mut self, lane: Lane, piece: &Piece, notice: String, shown: Shown) -> Fate {
        self.announce(piece.slot, shown);
        let explain = self.settings.on_deny != OnDeny::Silent;
        let alone = self.api().facts().notice_is_separate;
        let may_follow_calls = self.api().facts().text_follows_calls;
        let state = self.lane(lane);
        state.removed += 1;
        if piece.carrier == Carrier::Stray {
            return Fate::Drop;
        }
        state.removed_calls.push(piece.slot);
        let follows_a_call = !state.survivors.is_empty();
        if !explain || state.finished || (follows_a_call && !may_follow_calls) {
            return Fate::Drop;
        }
        let Some(notice) = self.notice_in_place(piece.slot, notice, shown) else {
            return Fate::Drop;
        };
        let state = self.lane(lane);
        let set_off = if state.text && !alone { "\n\n" } else { "" };
        state.text = true;
        state.digest.add(&notice);
        let said = format!("{set_off}{notice}");
        if let Some(call) = self.call_mut(piece.slot) {
            call.notice = Some(notice);
        }
        Fate::Notice(said)
    }

    fn finish_fate(&mut self, lane: Lane, shown: Shown) -> Fate {
        if shown == Shown::BeforeEnd {
            return Fate::Later;
        }
        let is_followed = matches!(shown, Shown::EarlierBody(_));
        let state = self.lane(lane);
        if state.removed + state.earlier == 0 || !state.survivors.is_empty() {
            return Fate::Keep;
        }
        if is_followed {
            return Fate::Ordinary(None);
        }
        let empty = !std::mem::replace(&mut state.text, true) && !state.finished;
        let neutral = if state.removed > state.removed_calls.len() { WITHHELD } else { NEUTRAL };
        if empty {
            state.digest.add(neutral);
            // The notice is removed again when the call is put back.
            let first = state.removed_calls.first().copied();
            if let Some(call) = first.and_then(|slot| self.call_mut(slot)) {
                call.notice = Some(neutral.to_owned());
            }
        }
        Fate::Ordinary(empty.then(|| neutral.to_owned()))
    }

    /// Hands out the calls that were removed from any turn.
    pub(crate) fn hand_out_all_removed(&mut self) {
        self.lanes.all().into_iter().for_each(|lane| self.hand_out_removed(lane));
    }

    /// Hands out the calls that were removed from a turn, to be put back into a later request.
    pub(crate) fn hand_out_removed(&mut self, lane: Lane) {
        let (response, conversation) = self.stored_ids();
        let state = self.lane(lane);
        let slots = std::mem::take(&mut state.removed_calls);
        let has_answers = self.take_unreported_answers();
        if slots.is_empty() && !has_answers {
            return;
        }
        let mut removed = Vec::with_capacity(slots.len());
        let mut turn = RemovedTurn {
            client: self.client_turn(lane),
            calls: Vec::with_capacity(slots.len()),
            response,
            conversation,
            ..RemovedTurn::default()
        };
        for slot in slots {
            let Some(removed_call) = self.removed_call(slot) else { continue };
            let Some(call) = self.call(slot) else { continue };
            removed.push((call.place, call.assembly.canonical()));
            turn.calls.push(removed_call);
            self.forget_arguments(slot);
        }
        let calls = removed.iter().map(|(place, call)| (*place, &*call.name, &*call.arguments));
        turn.removed = calls_digest(calls);
        self.outbox.note(Note::Removed(turn));
    }

    /// The turn as the client received it; `None` if one of its calls was too large to be
    /// recognised later.
    fn client_turn(&mut self, lane: Lane) -> Option<ClientTurn> {
        let plan = self.api().facts().plan_lane;
        let plan = plan.map(|plan| self.lane(plan).digest.finish().unwrap_or_default());
        let state = self.lane(lane);
        let (text, signatures) = (state.digest.finish(), state.signatures.clone());
        let survivors = state.survivors.clone();
        let call = |slot: Slot| {
            let call = self.call(slot)?;
            Some(ClientCall { id: call.assembly.id().to_owned(), digest: call.digest()? })
        };
        let calls = survivors.into_iter().map(call).collect::<Option<_>>()?;
        Some(ClientTurn { text, plan, calls, signatures })
    }
}
