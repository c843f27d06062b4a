//! Writes frames: allowed parts as they came, denied ones not at all.

use callgate_call::json::decode_into;
use callgate_dialect::request::{ClientCall, ClientTurn, calls_digest, signature_hash};
use callgate_dialect::{Carrier, Fate, Finish, Host, Lane, Part, Piece, Reading, Slot, What};

use crate::core::Core;
use crate::gate::Note;
use crate::queue::{Held, QueuedFrame};
use crate::slot::State;
use crate::{OnDeny, RemovedCall, RemovedTurn};

/// The text of a turn that would otherwise be empty: agents repeat the request after an empty turn.
const NEUTRAL: &str = "There is nothing further to do in this turn.";

/// The text of a turn if a part of it could not be read and nothing else is left of it.
const WITHHELD: &str = "A part of this response could not be read and was withheld by callgate.";

/// How many signatures of one turn are stored. A turn with more is not recognised when the client
/// sends it back.
const MAX_SIGNATURES: usize = 256;

impl Core {
    /// Ends the event that left without its blank line, before anything follows it.
    pub(crate) fn end_dangling(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.dangling) {
            self.style.end_event(out);
        }
    }

    /// Writes a frame, each of its parts as decided for its call.
    pub(crate) fn emit(&mut self, mut entry: QueuedFrame, out: &mut Vec<u8>) {
        self.end_dangling(out);
        let data = match &entry.bytes {
            Held::Body(body) => body.as_str(),
            Held::Frame(frame) => {
                frame.data().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or("")
            }
        };
        if let Some(text) = entry.reading.text.take() {
            self.note_text(entry.reading.text_lane, entry.reading.leaving(text, data));
        }
        let mut fates = Vec::with_capacity(entry.reading.parts.len());
        for (place, part) in entry.reading.parts.iter().enumerate() {
            let fate = match entry.refused.contains(&place) {
                true => Fate::Drop,
                false => self.fate(part, &entry.reading, data),
            };
            fates.push(fate);
        }
        match &entry.bytes {
            Held::Frame(frame) => {
                let frame = frame.as_frame();
                let start = out.len();
                match frame.data() {
                    Some(_) => self.writer.write(&frame, data, &entry.reading, &fates, out),
                    None => frame.keep(out),
                }
                let kept = frame.is_kept(out.get(start..).unwrap_or(&[]));
                self.dangling = !frame.terminated() && kept;
                if !kept {
                    self.report_change(&entry.reading, &fates);
                }
            }
            Held::Body(body) => match self.writer.write_body(body, &entry.reading, &fates) {
                Some(body) if self.holds_only(&body, &entry.reading, &fates) => {
                    out.extend_from_slice(body.as_bytes());
                }
                _ => self.refuse_body("it contains a denied call in an unknown form"),
            },
        }
        for part in &entry.reading.parts {
            if let What::Finish(_) = part.what {
                self.lane(part.lane).finished = true;
                self.hand_out_removed(part.lane);
            }
        }
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
    fn report_change(&mut self, reading: &Reading, fates: &[Fate]) {
        let denied = fates.iter().any(|fate| !matches!(fate, Fate::Keep));
        let masked = !reading.masks.is_empty();
        if denied || masked || reading.text_left || self.lanes.iter().any(|lane| lane.removed > 0) {
            return;
        }
        let call = reading.parts.iter().find_map(|part| match &part.what {
            What::Piece(piece) => self.call(piece.slot),
            What::End(slot) => self.call(*slot),
            _ => None,
        });
        let tool = call.map(|call| call.assembly.name().to_owned()).unwrap_or_default();
        self.normalised(&tool, "clients disagree about its shape: it left in canonical form");
    }

    fn fate(&mut self, part: &Part, reading: &Reading, data: &str) -> Fate {
        match &part.what {
            What::Piece(piece) => self.piece_fate(part.lane, piece),
            What::End(slot) => match self.call(*slot).map(|call| &call.state) {
                Some(State::Denied(_) | State::Dropped) | None => Fate::Drop,
                Some(_) => Fate::Keep,
            },
            What::Finish(finish) => self.finish_fate(part.lane, *finish),
            What::Text => {
                self.note_text(part.lane, reading.leaving(part.at, data));
                Fate::Keep
            }
            What::Signature => {
                if self.lane(part.lane).signatures.len() < MAX_SIGNATURES {
                    let mut text = String::new();
                    decode_into(part.at.of(data), &mut None, &mut text);
                    self.lane(part.lane).signatures.push(signature_hash(&text));
                }
                Fate::Keep
            }
        }
    }

    fn piece_fate(&mut self, lane: Lane, piece: &Piece) -> Fate {
        let Some(call) = self.call(piece.slot) else { return Fate::Drop };
        let whole = call.leaves_whole();
        match &call.state {
            State::Denied(denial) => {
                let notice = self.settings.denial.notice(denial);
                match (piece.opens, &call.notice) {
                    (true, _) => self.take_out(lane, piece, notice),
                    // A repetition shows the same notice.
                    (false, Some(shown)) if piece.copy => Fate::Notice(shown.clone()),
                    (false, _) => Fate::Drop,
                }
            }
            State::Dropped => {
                if piece.opens {
                    self.lane(lane).removed += 1;
                }
                Fate::Drop
            }
            State::Allowed | State::Live if piece.opens => {
                let canonical = call.canonical();
                if piece.host == Host::Client && piece.carrier == Carrier::Listed {
                    self.lane(lane).survivors.push(piece.slot);
                }
                if whole { Fate::Whole(canonical) } else { Fate::Keep }
            }
            State::Allowed if whole && piece.copy => Fate::Whole(call.canonical()),
            State::Allowed if whole => Fate::Drop,
            State::Allowed | State::Live | State::Provider => Fate::Keep,
            // Not settled: it cannot be here, and if it is, it does not leave.
            State::Naming | State::NameAsked | State::Held | State::Asked(_) | State::Permitted => {
                Fate::Drop
            }
        }
    }

    /// Removes a denied call and inserts a notice, if a text is allowed there: not after the end,
    /// and after a call that the client received only in some APIs.
    fn take_out(&mut self, lane: Lane, piece: &Piece, notice: String) -> Fate {
        let explain = self.settings.on_deny == OnDeny::Explain;
        let alone = self.api().notice_is_separate();
        let may_follow_calls = self.api().text_follows_calls();
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
        let set_off = if state.text && !alone { "\n\n" } else { "" };
        state.text = true;
        state.digest.add(&notice);
        let said = format!("{set_off}{notice}");
        if let Some(call) = self.call_mut(piece.slot) {
            call.notice = Some(notice);
        }
        Fate::Notice(said)
    }

    fn finish_fate(&mut self, lane: Lane, _: Finish) -> Fate {
        let state = self.lane(lane);
        if state.removed == 0 || !state.survivors.is_empty() {
            return Fate::Keep;
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

    /// Hands out the calls that were removed from a turn, to be put back into a later request.
    pub(crate) fn hand_out_removed(&mut self, lane: Lane) {
        let dialect = self.dialect;
        let (response, conversation) = self.stored_ids();
        let state = self.lane(lane);
        let slots = std::mem::take(&mut state.removed_calls);
        if slots.is_empty() {
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
            let Some(call) = self.call(slot) else { continue };
            let State::Denied(denial) = &call.state else { continue };
            let canonical = call.assembly.canonical();
            turn.calls.push(RemovedCall {
                id: call.assembly.id().to_owned(),
                original: dialect.original(call.assembly.original(), &canonical),
                place: call.place,
                notice: call.notice.clone(),
                why: self.settings.denial.notice(denial),
            });
            removed.push((call.place, canonical));
            self.forget_arguments(slot);
        }
        let calls = removed.iter().map(|(place, call)| (*place, &*call.name, &*call.arguments));
        turn.removed = calls_digest(calls);
        self.outbox.note(Note::Removed(turn));
    }

    /// The turn as the client received it; `None` if one of its calls was too large to be
    /// recognised later.
    fn client_turn(&mut self, lane: Lane) -> Option<ClientTurn> {
        let plan = self.api().plan_lane();
        let plan = plan.map(|plan| self.lane(plan).digest.finish().unwrap_or_default());
        let state = self.lane(lane);
        let (text, signatures) = (state.digest.finish(), state.signatures.clone());
        let survivors = state.survivors.clone();
        let call = |slot: Slot| {
            let call = self.call(slot)?;
            Some(ClientCall { id: call.assembly.id().to_owned(), digest: call.digest? })
        };
        let calls = survivors.into_iter().map(call).collect::<Option<_>>()?;
        Some(ClientTurn { text, plan, calls, signatures })
    }
}
