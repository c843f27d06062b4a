//! The gate without its input: takes a frame, updates its calls, and releases or holds it.

use callgate_call::Origin;
use callgate_dialect::request::TextDigest;
use callgate_dialect::{
    Blame, Dialect, Lane, Order, Reader, Reading, Slot, Tally, Unreadable, Writer,
};
use callgate_wire::{Frame, Framing, Framings, Style};

use crate::gate::{Note, Outbox, Step, Usage};
use crate::queue::{Blocked, Held, Pace, QueuedFrame};
use crate::rounds::{Rounds, Shown};
use crate::settings::Limits;
use crate::slot::{CallSlot, State};
use crate::text::Texts;
use crate::{Malformed, OnDeny, Settings};

/// The gate without its input.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what has happened so far; any of them go together"
)]
pub(crate) struct Core {
    pub(crate) dialect: Dialect,
    pub(crate) settings: Settings,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    /// All calls so far, sorted by slot.
    pub(crate) calls: Vec<CallSlot>,
    pub(crate) lanes: Vec<LaneState>,
    /// The waiting frames, in order of arrival.
    pub(crate) queue: Vec<QueuedFrame>,
    pub(crate) queued: usize,
    /// Bytes of stored arguments, of calls that are held or were removed.
    pub(crate) argument_bytes: usize,
    /// How many queued frames were already checked for overtaking, and what they block.
    pub(crate) checked: usize,
    pub(crate) blocked: Blocked,
    /// The queue may contain a frame that is allowed to overtake another.
    pub(crate) may_reorder: bool,
    /// A call was settled or has ended since the queue was last checked.
    pub(crate) queue_dirty: bool,
    pub(crate) outbox: Outbox,
    /// The lane of the first call.
    pub(crate) first_lane: Option<Lane>,
    /// There are calls in more than one lane.
    pub(crate) several_lanes: bool,
    /// A turn or the response has ended: no more ends of blocks are expected.
    pub(crate) turn_over: bool,
    /// The upstream reported a failure inside a call that had begun to leave.
    pub(crate) failed_inside_call: bool,
    /// A call was dropped at the end of the response, while the verdict on another is pending.
    pub(crate) truncated: bool,
    /// The last event left without the blank line that ends it.
    pub(crate) dangling: bool,
    /// Something other than white space has arrived.
    pub(crate) received_any: bool,
    /// Some bytes have left.
    pub(crate) emitted_any: bool,
    /// The metadata of the response so far.
    pub(crate) tally: Tally,
    /// The kinds of irregularity that were reported.
    reported: Vec<(String, &'static str)>,
    /// The text rules for the response. Boxed, because few responses have any.
    pub(crate) texts: Option<Box<Texts>>,
    /// How the upstream formats its events, for the events that the gate adds.
    pub(crate) style: Style,
    pub(crate) stream: Stream,
    /// The answers of the turn, if it may continue after a denial.
    pub(crate) rounds: Option<Box<Rounds>>,
    /// Where denied calls are shown.
    pub(crate) shown: Shown,
    /// The records of denied calls that the next frame would have begun.
    pub(crate) announced: Vec<String>,
}

/// The state of the whole response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Frames are read.
    Passing,
    /// An error ends it: the error is written next, and nothing more is read.
    Failing { blame: Blame, message: String, as_body: bool },
    /// Everything was written; the driver gets the ending next.
    Closed(crate::Ending),
    /// The driver has received the ending.
    Ended(crate::Ending),
}

/// One turn.
#[derive(Debug, Clone)]
pub(crate) struct LaneState {
    pub(crate) lane: Lane,
    /// Text that the user sees has left.
    pub(crate) text: bool,
    /// The digest of the text that has left, including notices: it identifies the turn later.
    pub(crate) digest: TextDigest,
    /// The calls that have left.
    pub(crate) survivors: Vec<Slot>,
    /// How many calls, or frames that may have been calls, were removed.
    pub(crate) removed: usize,
    /// The same in earlier answers of the turn.
    pub(crate) earlier: usize,
    /// The removed calls that can be put back.
    pub(crate) removed_calls: Vec<Slot>,
    /// Hashes of the signatures that have left.
    pub(crate) signatures: Vec<[u8; 32]>,
    pub(crate) finished: bool,
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
            texts: settings.text.clone().map(|guard| Box::new(Texts::new(guard))),
            settings,
            calls: Vec::new(),
            lanes: Vec::new(),
            queue: Vec::new(),
            queued: 0,
            argument_bytes: 0,
            checked: 0,
            blocked: Blocked::default(),
            may_reorder: false,
            queue_dirty: false,
            outbox: Outbox::default(),
            first_lane: None,
            several_lanes: false,
            turn_over: false,
            failed_inside_call: false,
            truncated: false,
            dangling: false,
            received_any: false,
            emitted_any: false,
            tally: Tally::default(),
            reported: Vec::new(),
            style: Style::default_of(usual_framing(dialect)),
            stream: Stream::Passing,
            rounds: continues.then(Box::default),
            shown: Shown::Events,
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
        self.texts = self.settings.text.clone().map(|guard| Box::new(Texts::new(guard)));
    }

    /// The usual framing of the dialect, as long as no frame has arrived.
    pub(crate) fn usual_framing(&self) -> Framing {
        usual_framing(self.dialect)
    }

    /// The API whose rules for calls apply: the dialect, or the API that it wraps.
    pub(crate) fn api(&self) -> Dialect {
        self.reader.api().unwrap_or(self.dialect)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The step that the driver must take before anything else is read.
    #[inline]
    pub(crate) fn next_step(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        if !self.queue_dirty && self.outbox.steps.is_empty() && self.stream == Stream::Passing {
            return None;
        }
        // The step hands out what was written.
        self.scan_pending(out);
        // After an error has ended the stream, no held frame leaves before it.
        if self.queue_dirty && self.stream == Stream::Passing {
            self.flush(Pace::InOrder, out);
        }
        if let Some(step) = self.outbox.steps.pop_front() {
            return Some(step);
        }
        match self.stream {
            Stream::Passing => None,
            _ => self.ending(out),
        }
    }

    /// Takes one frame.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if self.stream != Stream::Passing {
            return;
        }
        self.style.follow(frame.style());
        let Some(data) = frame.data() else {
            if self.scan_pending(out) {
                self.empty_frame(frame, out);
            }
            return;
        };
        self.received_any = true;
        let reading = match std::str::from_utf8(data) {
            Ok(data) if self.took_piece(frame, data, out) => return,
            Ok(data) => self.reader.read(frame.event(), data).map(|reading| (reading, data)),
            Err(_) => Err(Unreadable::NotUtf8),
        };
        match reading {
            Ok((reading, data)) => self.reading(frame, data, reading, out),
            Err(why) if self.scan_pending(out) => self.unreadable(frame, &why, out),
            Err(_) => {}
        }
    }

    /// Takes a frame without data: a comment or a blank line keeps the connection alive, a bracket
    /// begins or ends the list. Lines that only some clients read are not passed on.
    fn empty_frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
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
        self.emitted_any = true;
        if frame.is_bracket() {
            self.write_all_held_back(out);
        }
        if frame.is_bracket() && (!self.queue.is_empty() || self.rounds.is_some()) {
            return self.bracket(frame, out);
        }
        self.dangling = !frame.terminated();
        frame.keep(out);
    }

    /// Takes a bracket of the list. The answers of one turn are one list.
    fn bracket(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if self.is_later_answer() && frame.bytes().trim_ascii() == b"[" {
            return;
        }
        let reading = Reading { order: Order::Stream, ..Reading::default() };
        let bytes = Held::Frame(frame.to_owned());
        let entry = QueuedFrame { bytes, reading, refused: Vec::new() };
        match self.queue.is_empty() {
            true => self.emit(entry, out),
            false => self.hold(entry),
        }
    }

    /// Takes a whole body.
    pub(crate) fn body(&mut self, body: Vec<u8>, out: &mut Vec<u8>) {
        let Ok(body) = String::from_utf8(body) else {
            return self.refuse_body("the response is not UTF-8");
        };
        // Some clients strip a byte order mark, others fail on it.
        let body = body.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(body);
        match self.reader.read_body(&body) {
            Ok(mut reading) => {
                self.absorb_metadata(&mut reading, &body);
                if !self.guard_body(&body, &mut reading, out) {
                    return;
                }
                let refused = self.update_calls(&reading);
                self.hold(QueuedFrame { bytes: Held::Body(body), reading, refused });
                self.queue_dirty = true;
            }
            Err(why) if self.settings.malformed == Malformed::Pass => {
                self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
                self.emitted_any = true;
                out.extend_from_slice(body.as_bytes());
            }
            Err(why) => {
                self.outbox.note(Note::Withheld { why: why.to_string() });
                self.refuse_body(&format!("the response cannot be read: {why}"));
            }
        }
    }

    #[inline]
    pub(super) fn reading(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        mut reading: Reading,
        out: &mut Vec<u8>,
    ) {
        self.absorb_metadata(&mut reading, data);
        if self.texts.is_some() {
            if self.write_undecided(frame, data, &reading, out) {
                return;
            }
            let settled = match self.ends_pending(&reading) {
                true => self.scan_pending_to_end(out),
                false => self.scan_pending(out),
            };
            if !settled || !self.guard_frame(frame, data, &mut reading, out) {
                return;
            }
        }
        self.deliver(frame, data, reading, out);
    }

    /// Whether a frame is the common case: text, with nothing held and nothing to change.
    #[inline]
    pub(crate) fn leaves_at_once(&self, frame: &Frame<'_>, data: &str, reading: &Reading) -> bool {
        let plain = reading.parts.is_empty()
            && reading.rename.is_none()
            && !reading.irregular
            && !reading.failure
            && !reading.done
            && reading.masks.is_empty()
            && reading.content.is_none();
        plain
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
        mut reading: Reading,
        out: &mut Vec<u8>,
    ) {
        if self.failed_inside_call && reading.may_end_call() {
            return self.withhold_after_failure(frame, out);
        }
        if self.leaves_at_once(frame, data, &reading) {
            if let Some(text) = reading.text {
                self.note_text(reading.text_lane, text.of(data));
            }
            self.dangling = !frame.terminated();
            return frame.keep(out);
        }
        if self.is_later_answer() && (reading.failure || begins_whole(&reading, data)) {
            return self.fail_answer(&reading);
        }
        if !self.queue.is_empty() && reading.ends_turn() {
            // A part of a block that has begun to leave must leave before the end of the turn
            // closes the block.
            self.flush(Pace::InOrder, out);
        }
        let refused = self.update_calls(&reading);
        if self.several_lanes && reading.parts.iter().any(|part| self.is_second_lane(part)) {
            // For clients that do not distinguish choices, the order of their calls matters.
            reading.order = Order::Stream;
        }
        let entry = QueuedFrame { bytes: Held::Frame(frame.to_owned()), reading, refused };
        if self.queue.is_empty() && self.is_ready(&entry, out) {
            self.emit(entry, out);
        } else {
            self.hold(entry);
        }
        if self.queued > self.limits().held {
            self.fail(Blame::Refused, "more bytes are held than the limit");
        }
    }

    /// Some clients read on after an error, and would take the next event for the end of the call
    /// that the error interrupted: a call that was never judged.
    #[cold]
    fn withhold_after_failure(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let why = "it follows an error inside a call";
        self.outbox.note(Note::Withheld { why: why.to_owned() });
        frame.leave_out(out);
    }

    /// Stores the metadata of the response that the frame contains.
    #[inline]
    fn absorb_metadata(&mut self, reading: &mut Reading, data: &str) {
        if let Some(model) = reading.model
            && self.settings.origin.model.is_none()
        {
            self.set_model(model.of(data));
        }
        if let Some(tally) = reading.tally.take() {
            self.tally.add(*tally);
        }
    }

    /// The usage of the response so far.
    pub(crate) fn usage(&self) -> Usage {
        let of_client = |call: &&CallSlot| !matches!(call.state, State::Provider);
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

    #[cold]
    fn set_model(&mut self, model: &str) {
        let mut facts = (*self.settings.origin).clone();
        facts.model = Some(model.to_owned());
        self.settings.origin = Origin::new(facts);
    }

    /// Withholds an unreadable frame, and everything that it may belong to.
    pub(super) fn unreadable(&mut self, frame: &Frame<'_>, why: &Unreadable, out: &mut Vec<u8>) {
        if self.settings.malformed == Malformed::Pass {
            self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
            self.emitted_any = true;
            return frame.keep(out);
        }
        self.outbox.note(Note::Withheld { why: why.to_string() });
        frame.leave_out(out);
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
        let open: Vec<Slot> =
            self.calls.iter().filter(|call| !call.ended).map(|call| call.slot).collect();
        for slot in open {
            if self.call(slot).is_some_and(|call| !call.is_settled()) {
                self.refuse(slot, "a part of it cannot be read");
            }
        }
        self.lane(0).removed += 1;
    }

    pub(crate) fn lane(&mut self, lane: Lane) -> &mut LaneState {
        let place = match self.lanes.iter().position(|state| state.lane == lane) {
            Some(place) => place,
            None => {
                self.lanes.push(LaneState::new(lane));
                self.lanes.len() - 1
            }
        };
        #[expect(clippy::indexing_slicing, reason = "the place was found or made above")]
        &mut self.lanes[place]
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

    /// Notes text that leaves.
    pub(crate) fn note_text(&mut self, lane: Lane, raw: &str) {
        if raw.is_empty() {
            return;
        }
        let lane = self.lane(lane);
        lane.text = true;
        lane.digest.add_raw(raw);
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

impl LaneState {
    fn new(lane: Lane) -> Self {
        Self {
            lane,
            text: false,
            digest: TextDigest::new(),
            survivors: Vec::new(),
            removed: 0,
            earlier: 0,
            removed_calls: Vec::new(),
            signatures: Vec::new(),
            finished: false,
        }
    }
}
