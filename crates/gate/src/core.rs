//! The gate without its input: takes a frame, updates its calls, and releases or holds it.

use callgate_call::Origin;
use callgate_dialect::{
    After, Blame, Departure, Dialect, Lane, Order, Reader, Reading, Tally, Unreadable, Writer,
};
use callgate_wire::{Frame, Framing, Framings};

use crate::call_table::CallTable;
use crate::draft::{Draft, Output};
use crate::gate::{Note, Outbox, Step, Usage};
use crate::lanes::Lanes;
use crate::progress::ResponseProgress;
use crate::queue::{FrameQueue, QueuedBytes, QueuedFrame, ReleaseOrder};
use crate::rounds::Rounds;
use crate::settings::GateLimits;
use crate::slot::{CallSlot, CallState};
use crate::text::TextRules;
use crate::{Malformed, OnDeny, Settings};

/// The gate without its input.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) dialect: Dialect,
    pub(crate) settings: Settings,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    pub(crate) calls: CallTable,
    pub(crate) lanes: Lanes,
    pub(crate) queue: FrameQueue,
    pub(crate) outbox: Outbox,
    pub(crate) turn: TurnState,
    /// A call was dropped at the end of the response, while the verdict on another is pending.
    pub(crate) truncated: bool,
    /// Something other than white space has arrived.
    pub(crate) received_any: bool,
    /// The metadata of the response so far.
    pub(crate) tally: Tally,
    /// The model that the response names, until a call needs it in its origin.
    model: Option<String>,
    /// The kinds of irregularity that were reported, in all answers of the turn.
    reported: Vec<(String, &'static str)>,
    /// The text rules for the response.
    pub(crate) texts: TextRules,
    pub(crate) output: Output,
    pub(crate) progress: ResponseProgress,
    /// The answers of the turn, if it may continue after a denial.
    pub(crate) rounds: Option<Box<Rounds>>,
    /// The records of denied calls that the next frame would have begun.
    pub(crate) announced: Vec<String>,
}

/// The state of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnState {
    Open,
    /// A turn or the response has ended: no more ends of blocks are expected.
    Over,
    /// Over, and the upstream reported a failure inside a call that had begun to leave.
    FailedInsideCall,
}

impl TurnState {
    pub(crate) fn end(&mut self) {
        if *self == Self::Open {
            *self = Self::Over;
        }
    }

    /// Another answer of the turn begins.
    pub(crate) fn reopen(&mut self) {
        if *self == Self::Over {
            *self = Self::Open;
        }
    }
}

impl Core {
    pub(crate) fn new(dialect: Dialect, settings: Settings) -> Self {
        let continues = settings.on_deny == OnDeny::Continue && dialect.continuing().is_some();
        let limits = callgate_dialect::Limits { max_calls: settings.limits.calls };
        let mut reader = dialect.reader(&limits);
        if settings.text.is_some() {
            reader.include_side_texts();
        }
        Self {
            dialect,
            reader,
            writer: dialect.writer(),
            texts: TextRules::new(settings.text.clone()),
            settings,
            calls: CallTable::default(),
            lanes: Lanes::default(),
            queue: FrameQueue::default(),
            outbox: Outbox::default(),
            turn: TurnState::Open,
            truncated: false,
            received_any: false,
            tally: Tally::default(),
            model: None,
            reported: Vec::new(),
            output: Output::new(usual_framing(dialect)),
            progress: ResponseProgress::new(),
            rounds: continues.then(|| Box::new(Rounds::new())),
            announced: Vec::new(),
        }
    }

    /// Begins to read an answer.
    pub(crate) fn start_reading(&mut self) {
        let limits = callgate_dialect::Limits { max_calls: self.settings.limits.calls };
        self.reader = self.dialect.reader(&limits);
        if self.settings.text.is_some() {
            self.reader.include_side_texts();
        }
        self.texts = TextRules::new(self.settings.text.clone());
    }

    /// The usual framing of the dialect.
    pub(crate) fn usual_framing(&self) -> Framing {
        usual_framing(self.dialect)
    }

    /// The API whose rules for calls apply: the dialect, or the API that it wraps.
    pub(crate) fn api(&self) -> Dialect {
        self.reader.api().unwrap_or(self.dialect)
    }

    pub(crate) fn limits(&self) -> &GateLimits {
        &self.settings.limits
    }

    /// The step that the driver must take before anything else is read.
    #[inline]
    pub(crate) fn next_step(&mut self, out: &mut Draft) -> Option<Step> {
        if !self.queue.is_dirty() && self.outbox.is_empty() && self.progress.is_passing() {
            return None;
        }
        // The step hands out what was written.
        self.scan_pending(out);
        // After an error has ended the stream, no held frame leaves before it.
        if self.queue.is_dirty() && self.progress.is_passing() {
            self.flush(ReleaseOrder::InOrder, out);
        }
        if let Some(step) = self.outbox.pop() {
            return Some(step);
        }
        match self.progress.is_passing() {
            true => None,
            false => self.ending(out),
        }
    }

    /// Takes one frame.
    pub(crate) fn handle_frame(&mut self, frame: &Frame<'_>, out: &mut Draft) {
        if !self.progress.is_passing() {
            return;
        }
        self.output.follow(frame);
        let Some(data) = frame.data() else {
            if self.scan_pending(out) {
                self.empty_frame(frame, out);
            }
            return;
        };
        self.received_any = true;
        let Ok(data) = std::str::from_utf8(data) else {
            return self.unread(frame, &Unreadable::NotUtf8, out);
        };
        if self.took_piece(frame, data, out) {
            return;
        }
        match self.reader.read(frame.event(), data) {
            Ok(reading) => self.handle_reading(frame, data, reading, out),
            Err(why) => self.unread(frame, &why, out),
        }
    }

    fn unread(&mut self, frame: &Frame<'_>, why: &Unreadable, out: &mut Draft) {
        if self.scan_pending(out) {
            self.unreadable(frame, why, out);
        }
    }

    /// Takes a frame without data: a comment or a blank line keeps the connection alive, a bracket
    /// begins or ends the list. Lines that only some clients read are not passed on.
    fn empty_frame(&mut self, frame: &Frame<'_>, out: &mut Draft) {
        self.received_any |= !frame.bytes().trim_ascii().is_empty();
        if !self.dialect.reads_alike(frame) {
            if self.dialect.is_bare_error(frame.bytes()) {
                return self
                    .fail(Blame::Upstream, "the provider reported an error within its response");
            }
            return self.normalised("", "lines that only some clients read were removed");
        }
        if !frame.terminated() && self.is_later_answer() {
            // It is the beginning of an event, and the end of an earlier answer follows.
            return;
        }
        self.output.note_unread();
        if frame.is_bracket() {
            self.write_all_held_back(out);
        }
        if frame.is_bracket() && (!self.queue.is_empty() || self.rounds.is_some()) {
            return self.bracket(frame, out);
        }
        self.output.write_as_it_came(frame, out);
    }

    /// Handles `[` or `]` of a JSON array. All answers of a turn share one array.
    fn bracket(&mut self, frame: &Frame<'_>, out: &mut Draft) {
        if self.is_later_answer() && frame.bytes().trim_ascii() == b"[" {
            return;
        }
        let reading = Reading { order: Order::Stream, ..Reading::default() };
        let bytes = QueuedBytes::Frame(frame.to_owned());
        let entry = QueuedFrame::new(bytes, reading);
        match self.queue.is_empty() {
            true => self.emit(entry, out),
            false => self.hold(entry),
        }
    }

    /// Takes a whole body.
    pub(crate) fn handle_body(&mut self, body: Vec<u8>, out: &mut Draft) {
        let Ok(body) = String::from_utf8(body) else {
            return self.refuse_body("the response is not UTF-8");
        };
        // Some clients strip a byte order mark, others fail on it.
        let body = body.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(body);
        match self.reader.read_body(&body) {
            Ok(mut reading) => {
                self.absorb_metadata(&mut reading, &body);
                let Some(departure) = self.guard_body(&body, &reading, out) else { return };
                let refused = self.update_calls(&reading);
                let entry = QueuedFrame::new(QueuedBytes::Body(body), reading);
                let entry = QueuedFrame { departure, refused, ..entry };
                if self.calls.is_empty() {
                    // There is nothing to wait for.
                    return self.emit(entry, out);
                }
                self.hold(entry);
                self.queue.mark_dirty();
            }
            Err(why) if self.passes_unread(&why) => {
                self.outbox.note(Note::PassedUnread { why: why.to_string() });
                self.output.note_unread();
                out.buffer().extend_from_slice(body.as_bytes());
            }
            Err(why) => {
                self.outbox.note(Note::Withheld { why: why.to_string() });
                self.refuse_body(&format!("the response cannot be read: {why}"));
            }
        }
    }

    #[inline]
    pub(super) fn handle_reading(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        mut reading: Reading,
        out: &mut Draft,
    ) {
        self.absorb_metadata(&mut reading, data);
        if !self.texts.are_absent() {
            if self.write_undecided(frame, data, &reading, out) {
                return;
            }
            let settled = match self.ends_pending(&reading) {
                true => self.scan_pending_to_end(out),
                false => self.scan_pending(out),
            };
            if !settled {
                return;
            }
            if let Some(departure) = self.guard_frame(frame, data, &reading, out) {
                self.deliver(frame, data, reading, departure, out);
            }
            return;
        }
        self.deliver(frame, data, reading, Departure::default(), out);
    }

    /// Whether a frame is the common case: text, with nothing held and nothing to change in it.
    #[inline]
    pub(crate) fn leaves_at_once(&self, frame: &Frame<'_>, data: &str, reading: &Reading) -> bool {
        reading.parts.is_empty()
            && reading.is_plain()
            && self.dialect.reads_alike(frame)
            && self.queue.is_empty()
            && !self.has_deferred()
            && self.writer.leaves_as_it_came(reading, data)
    }

    /// Releases a frame, or holds it.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: Reading,
        departure: Departure,
        out: &mut Draft,
    ) {
        if self.turn == TurnState::FailedInsideCall && reading.may_end_call() {
            return self.withhold_after_failure(frame, out);
        }
        if departure.masks.is_empty() && self.leaves_at_once(frame, data, &reading) {
            if let Some(text) = reading.text {
                self.note_text(reading.text_lane, text.of(data));
            }
            return self.output.write_as_it_came(frame, out);
        }
        if self.is_later_answer()
            && (reading.after == After::Failure || begins_whole(&reading, data))
        {
            return self.fail_answer(&reading);
        }
        if !self.queue.is_empty() && reading.ends_turn() {
            // A part of a block that has begun to leave must leave before the end of the turn
            // closes the block.
            self.flush(ReleaseOrder::InOrder, out);
        }
        let refused = self.update_calls(&reading);
        let is_mixed = self.calls.are_in_several_lanes()
            && reading.parts.iter().any(|part| self.is_second_lane(part));
        let entry = QueuedFrame::new(QueuedBytes::Frame(frame.to_owned()), reading);
        // For clients that do not distinguish choices, the order of their calls matters.
        let order = if is_mixed { Order::Stream } else { entry.order };
        let entry = QueuedFrame { departure, order, refused, ..entry };
        if self.queue.is_empty() && self.is_ready(&entry, out) {
            self.emit(entry, out);
        } else {
            self.hold(entry);
        }
        if self.queue.bytes() > self.limits().held {
            self.fail(Blame::Refused, "more bytes are held than the limit");
        }
    }

    /// Some clients read on after an error, and would take the next event for the end of the call
    /// that the error interrupted: a call that was never judged.
    #[cold]
    fn withhold_after_failure(&mut self, frame: &Frame<'_>, out: &mut Draft) {
        let why = "it follows an error inside a call";
        self.outbox.note(Note::Withheld { why: why.to_owned() });
        frame.leave_out(out.buffer());
    }

    /// Stores the metadata of the response that the frame contains.
    #[inline]
    fn absorb_metadata(&mut self, reading: &mut Reading, data: &str) {
        if let Some(model) = reading.model
            && self.model().is_none()
        {
            self.model = Some(model.of(data).to_owned());
        }
        if let Some(tally) = reading.tally.take() {
            self.tally.add(*tally);
        }
    }

    /// The usage of the response so far.
    pub(crate) fn usage(&self) -> Usage {
        let of_client = |call: &&CallSlot| !matches!(call.state(), CallState::Provider);
        let calls = self.calls.iter().filter(of_client).count();
        Usage {
            input: self.tally.whole_input(),
            cached: self.tally.from_cache(),
            output: self.tally.output,
            reasoning: self.tally.reasoning,
            stop_reason: self.tally.stop_reason.clone(),
            calls: u32::try_from(calls).unwrap_or(u32::MAX),
        }
    }

    /// The ids under which the provider stores the response and its conversation.
    pub(crate) fn stored_ids(&self) -> (Option<String>, Option<String>) {
        (self.tally.response.clone(), self.tally.conversation.clone())
    }

    /// The model: the one in the origin, or the one that the response reports.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref().or(self.settings.origin.model.as_deref())
    }

    /// The origin of a call, with the model.
    pub(crate) fn origin(&mut self) -> Origin {
        if let Some(model) = self.model.take() {
            let mut facts = (*self.settings.origin).clone();
            facts.model = Some(model);
            self.settings.origin = Origin::new(facts);
        }
        self.settings.origin.clone()
    }

    /// Whether the operator lets this pass, with all the calls that it may contain. The limit on
    /// calls holds whatever the operator thinks of the upstream's JSON.
    fn passes_unread(&self, why: &Unreadable) -> bool {
        let is_limit = matches!(why, Unreadable::TooManyCalls);
        self.settings.malformed == Malformed::Pass && !is_limit
    }

    /// Withholds an unreadable frame, and everything that it may belong to.
    pub(super) fn unreadable(&mut self, frame: &Frame<'_>, why: &Unreadable, out: &mut Draft) {
        if self.passes_unread(why) {
            self.outbox.note(Note::PassedUnread { why: why.to_string() });
            self.output.note_unread();
            return frame.keep(out.buffer());
        }
        self.outbox.note(Note::Withheld { why: why.to_string() });
        frame.leave_out(out.buffer());
        match why {
            Unreadable::Nothing | Unreadable::Orphan => return,
            Unreadable::Foreign if self.reader.has_read_any() => return,
            Unreadable::Foreign => {
                let api = self.dialect.as_str();
                let message = format!("the response is not in the shape of the API `{api}`");
                return self.fail(Blame::Refused, &message);
            }
            Unreadable::TooManyCalls => return self.fail(Blame::Refused, &why.to_string()),
            _ => {}
        }
        if !frame.terminated() {
            return self.fail(Blame::Upstream, "the response was cut off");
        }
        if !self.reader.contain() || self.a_call_streams() {
            let message = format!("a part of the response cannot be read: {why}");
            return self.fail(Blame::Refused, &message);
        }
        for slot in self.calls.slots_where(|call| !call.has_ended()) {
            if self.call(slot).is_some_and(|call| !call.is_settled()) {
                self.refuse(slot, "a part of it cannot be read");
            }
        }
        self.lane(Lane::default()).removed += 1;
    }

    /// Reports each corrected irregularity once.
    pub(crate) fn normalised(&mut self, tool: &str, why: &'static str) {
        // A hostile stream could have one in every frame.
        let known = self.reported.iter().any(|(t, w)| t == tool && *w == why);
        if known || self.reported.len() >= 64 {
            return;
        }
        self.reported.push((tool.to_owned(), why));
        self.outbox.note(Note::Normalised { tool: tool.to_owned(), why: why.to_owned() });
    }
}

/// Whether a frame begins a response that has content already.
fn begins_whole(reading: &Reading, data: &str) -> bool {
    let content = reading.content.filter(|_| reading.block.is_none() && !reading.ends_turn());
    content.is_some_and(|content| content.of(data) != "[]")
}

fn usual_framing(dialect: Dialect) -> Framing {
    match dialect.framings() {
        Framings::Events | Framings::EventsOrArray => Framing::Sse,
        Framings::Lines => Framing::Lines,
        Framings::EventStream => Framing::EventStream,
    }
}
