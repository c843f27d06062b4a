//! The gate without its input: takes in a frame, has its calls moved, lets it go or keeps it.

use callgate_call::Origin;
use callgate_dialect::request::TextDigest;
use callgate_dialect::{
    Blame, Dialect, Lane, Order, Reader, Reading, Slot, Tally, Unreadable, Writer,
};
use callgate_wire::{Forms, Frame, Framing, Style};

use crate::gate::{Note, Outbox, Step, Usage};
use crate::held::{Blocked, Entry, Held, Pace};
use crate::settings::Limits;
use crate::slot::{CallSlot, State};
use crate::text::Texts;
use crate::{Malformed, Settings};

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
    /// Every call so far, by rising slot.
    pub(crate) calls: Vec<CallSlot>,
    pub(crate) lanes: Vec<LaneState>,
    /// Frames that wait, in the order they came.
    pub(crate) queue: Vec<Entry>,
    pub(crate) queued: usize,
    /// Bytes of arguments kept, of calls that are held or were taken out.
    pub(crate) kept: usize,
    /// How much of the queue was looked through for what may overtake, and what it blocks.
    pub(crate) looked_at: usize,
    pub(crate) blocked: Blocked,
    /// Something came, or is awaited, that others may overtake or be overtaken by.
    pub(crate) restless: bool,
    /// A call was settled or ended since the queue was last looked through.
    pub(crate) moved: bool,
    pub(crate) outbox: Outbox,
    /// The first lane in which a call stood.
    pub(crate) first_lane: Option<Lane>,
    /// Calls stand in more than one lane.
    pub(crate) several_lanes: bool,
    /// A turn has ended, or the response has: no end of a block is awaited any more.
    pub(crate) turn_over: bool,
    /// The upstream told of a failure inside a call that had begun to leave.
    pub(crate) failed_inside_call: bool,
    /// A call was dropped at the end, while another's verdict is awaited.
    pub(crate) cut: bool,
    /// The last event left without the blank line that ends it.
    pub(crate) dangling: bool,
    /// Anything but white space has come.
    pub(crate) heard: bool,
    /// Anything has left.
    pub(crate) begun: bool,
    /// What the frames told of the response.
    tally: Tally,
    /// Kinds of oddity that were told of.
    told: Vec<(String, &'static str)>,
    /// Rules on what the response says. Boxed, for few responses have any.
    pub(crate) texts: Option<Box<Texts>>,
    /// How the upstream writes its events, for those of our own.
    pub(crate) style: Style,
    pub(crate) stream: Stream,
}

/// Where the whole response stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Frames are read.
    Passing,
    /// An error ends it: it is said next, and nothing is read any more.
    Failing { blame: Blame, message: String, as_body: bool },
    /// All was said; the driver is told next.
    Closed(crate::Ending),
    /// The driver was told.
    Ended(crate::Ending),
}

/// One turn.
#[derive(Debug)]
pub(crate) struct LaneState {
    pub(crate) lane: Lane,
    /// Text has left that the user sees.
    pub(crate) text: bool,
    /// The text that has left, notices included: by it the turn is known again later.
    pub(crate) digest: TextDigest,
    /// The calls that have left.
    pub(crate) survivors: Vec<Slot>,
    /// How many calls, or frames that may have been calls, were taken out.
    pub(crate) removed: usize,
    /// The calls among them that can be put back.
    pub(crate) removed_calls: Vec<Slot>,
    /// Hashes of the signatures that have left.
    pub(crate) signatures: Vec<[u8; 32]>,
    pub(crate) finished: bool,
}

impl Core {
    pub(crate) fn new(dialect: Dialect, settings: Settings) -> Self {
        let limits = callgate_dialect::Limits { max_calls: settings.limits.calls };
        let mut reader = dialect.reader(&limits);
        if settings.text.is_some() {
            reader.look_beside();
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
            kept: 0,
            looked_at: 0,
            blocked: Blocked::default(),
            restless: false,
            moved: false,
            outbox: Outbox::default(),
            first_lane: None,
            several_lanes: false,
            turn_over: false,
            failed_inside_call: false,
            cut: false,
            dangling: false,
            heard: false,
            begun: false,
            tally: Tally::default(),
            told: Vec::new(),
            style: Style::default_of(usual_framing(dialect)),
            stream: Stream::Passing,
        }
    }

    /// How the dialect writes its streams, as long as none has come.
    pub(crate) fn usual_framing(&self) -> Framing {
        usual_framing(self.dialect)
    }

    /// The API whose rules for calls hold: the dialect, or what it is an envelope around.
    pub(crate) fn api(&self) -> Dialect {
        self.reader.api().unwrap_or(self.dialect)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// What the driver must do before anything else is read.
    #[inline]
    pub(crate) fn next_step(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        if !self.moved && self.outbox.steps.is_empty() && self.stream == Stream::Passing {
            return None;
        }
        // What is written is handed out with the step.
        self.settle(out);
        // Once an error ends the stream, nothing that was held leaves before it.
        if self.moved && self.stream == Stream::Passing {
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

    /// Takes in one frame.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if self.stream != Stream::Passing {
            return;
        }
        self.style.follow(frame.style());
        let Some(data) = frame.data() else {
            if self.settle(out) {
                self.empty_frame(frame, out);
            }
            return;
        };
        self.heard = true;
        let reading = match std::str::from_utf8(data) {
            Ok(data) => self.reader.read(frame.event(), data).map(|reading| (reading, data)),
            Err(_) => Err(Unreadable::NotUtf8),
        };
        match reading {
            Ok((reading, data)) => self.reading(frame, data, reading, out),
            Err(why) if self.settle(out) => self.unreadable(frame, &why, out),
            Err(_) => {}
        }
    }

    /// Takes in a frame without data: a comment or a blank line keeps the connection alive, a
    /// bracket begins or ends the list. Lines that only some clients read are not passed on.
    fn empty_frame(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.heard |= !frame.bytes().trim_ascii().is_empty();
        if !self.dialect.reads_alike(frame) {
            if self.dialect.is_bare_error(frame.bytes()) {
                return self.fail(Blame::Upstream, "the upstream failed within its response");
            }
            return self.normalised("", "lines that only some clients read were left out");
        }
        self.begun = true;
        if frame.keeps_its_place() {
            self.say_all_held(out);
        }
        if !self.queue.is_empty() && frame.keeps_its_place() {
            let reading = Reading { order: Order::Stream, ..Reading::default() };
            let bytes = Held::Frame(frame.to_owned());
            return self.hold(Entry { bytes, reading, refused: Vec::new() });
        }
        self.dangling = !frame.terminated();
        frame.keep(out);
    }

    /// Takes in a whole body.
    pub(crate) fn body(&mut self, body: Vec<u8>, out: &mut Vec<u8>) {
        let Ok(body) = String::from_utf8(body) else {
            return self.refuse_body("the response is not UTF-8");
        };
        // Some clients strip a byte order mark and others fail on it.
        let body = body.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(body);
        match self.reader.read_body(&body) {
            Ok(mut reading) => {
                self.learn(&mut reading, &body);
                if !self.guard_body(&body, &mut reading, out) {
                    return;
                }
                let refused = self.parts(&reading);
                self.hold(Entry { bytes: Held::Body(body), reading, refused });
                self.moved = true;
            }
            Err(why) if self.settings.malformed == Malformed::Pass => {
                self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
                self.begun = true;
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
        self.learn(&mut reading, data);
        if self.texts.is_some() {
            if self.pend(frame, data, &reading, out) {
                return;
            }
            let settled = match self.ends_pending(&reading) {
                true => self.settle_all(out),
                false => self.settle(out),
            };
            if !settled || !self.guard_frame(frame, data, &mut reading, out) {
                return;
            }
        }
        self.deliver(frame, data, reading, out);
    }

    /// Whether a frame goes the way of nearly every one: text, with nothing held and nothing to
    /// change.
    #[inline]
    pub(crate) fn leaves_at_once(&self, frame: &Frame<'_>, data: &str, reading: &Reading) -> bool {
        let plain = reading.parts.is_empty()
            && reading.rename.is_none()
            && !reading.odd
            && !reading.failure
            && !reading.done
            && reading.masks.is_empty()
            && reading.content.is_none();
        plain
            && self.dialect.reads_alike(frame)
            && self.queue.is_empty()
            && self.writer.leaves_as_it_came(reading, data)
    }

    /// Lets a frame go, or keeps it.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        mut reading: Reading,
        out: &mut Vec<u8>,
    ) {
        if self.failed_inside_call && reading.may_end_call() {
            return self.withhold_behind_failure(frame, out);
        }
        if self.leaves_at_once(frame, data, &reading) {
            if let Some(text) = reading.text {
                self.say(reading.text_lane, text.of(data));
            }
            self.dangling = !frame.terminated();
            return frame.keep(out);
        }
        if !self.queue.is_empty() && reading.ends_turn() {
            // What goes on with a block that is out leaves before the turn's end closes the block.
            self.flush(Pace::InOrder, out);
        }
        let refused = self.parts(&reading);
        if self.several_lanes && reading.parts.iter().any(|part| self.is_second_lane(part)) {
            // To clients that do not tell choices apart the order of their calls matters.
            reading.order = Order::Stream;
        }
        let entry = Entry { bytes: Held::Frame(frame.to_owned()), reading, refused };
        if self.queue.is_empty() && self.is_ready(&entry, out) {
            self.emit(entry, out);
        } else {
            self.hold(entry);
        }
        if self.queued > self.limits().held {
            self.fail(Blame::Refused, "more is held back than the limit");
        }
    }

    /// Some clients read on behind an error, and would take what comes for the end of the call that
    /// the error cut off: a call that nobody judged.
    #[cold]
    fn withhold_behind_failure(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let why = "it came behind an error inside a call";
        self.outbox.note(Note::Withheld { why: why.to_owned() });
        frame.leave_out(out);
    }

    /// Keeps what the frame tells of the response as a whole.
    #[inline]
    fn learn(&mut self, reading: &mut Reading, data: &str) {
        if let Some(model) = reading.model
            && self.settings.origin.model.is_none()
        {
            self.learn_model(model.of(data));
        }
        if let Some(tally) = reading.tally.take() {
            self.tally.add(*tally);
        }
    }

    /// What the response told so far.
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

    /// The ids under which the provider keeps the response and its conversation.
    pub(crate) fn kept_as(&self) -> (Option<String>, Option<String>) {
        (self.tally.response.clone(), self.tally.conversation.clone())
    }

    #[cold]
    fn learn_model(&mut self, model: &str) {
        let mut facts = (*self.settings.origin).clone();
        facts.model = Some(model.to_owned());
        self.settings.origin = Origin::new(facts);
    }

    /// A frame that cannot be read is withheld, with all it may belong to.
    pub(super) fn unreadable(&mut self, frame: &Frame<'_>, why: &Unreadable, out: &mut Vec<u8>) {
        if self.settings.malformed == Malformed::Pass {
            self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
            self.begun = true;
            return frame.keep(out);
        }
        self.outbox.note(Note::Withheld { why: why.to_string() });
        frame.leave_out(out);
        match why {
            Unreadable::Nothing | Unreadable::Orphan => return,
            Unreadable::Foreign if self.reader.has_spoken() => return,
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

    /// Tells once of each oddity that was put right.
    pub(crate) fn normalised(&mut self, tool: &str, why: &'static str) {
        // A hostile stream could be odd in every frame.
        let known = self.told.iter().any(|(t, w)| t == tool && *w == why);
        if known || self.told.len() >= 64 {
            return;
        }
        self.told.push((tool.to_owned(), why));
        self.outbox.note(Note::Normalised { tool: tool.to_owned(), why: why.to_owned() });
    }

    /// Text leaves.
    pub(crate) fn say(&mut self, lane: Lane, raw: &str) {
        if raw.is_empty() {
            return;
        }
        let lane = self.lane(lane);
        lane.text = true;
        lane.digest.add_raw(raw);
    }
}

fn usual_framing(dialect: Dialect) -> Framing {
    match dialect.forms() {
        Forms::Events | Forms::EventsOrArray => Framing::Sse,
        Forms::Lines => Framing::Lines,
        Forms::EventStream => Framing::EventStream,
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
            removed_calls: Vec::new(),
            signatures: Vec::new(),
            finished: false,
        }
    }
}
