//! What the gate does with a frame: reads it, moves the calls it holds, lets it go or keeps it.

use callgate_call::Origin;
use callgate_dialect::request::TextDigest;
use callgate_dialect::{
    Added, ArgumentsPiece, Assembly, Blame, BlockStep, Carrier, Dialect, Host, Lane, Order, Part,
    Piece, Reader, Reading, Slot, Unreadable, What, Writer,
};
use callgate_policy::Denial;
use callgate_wire::Frame;

use crate::gate::{Answer, NameAnswer, NameQuestion, Note, Outbox, Question, Step};
use crate::held::{Blocked, Entry, Held, Pace};
use crate::settings::Limits;
use crate::slot::{Asked, CallSlot, State};
use crate::{Malformed, OnDeny, Settings};

/// The gate without its input.
#[derive(Debug)]
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
    kept: usize,
    /// How much of the queue was looked through for what may overtake, and what it blocks.
    looked_at: usize,
    blocked: Blocked,
    /// Something came, or is awaited, that others may overtake or be overtaken by.
    pub(crate) restless: bool,
    /// A call was settled or ended since the queue was last looked through.
    pub(crate) moved: bool,
    pub(crate) outbox: Outbox,
    /// The first lane in which a call stood.
    first_lane: Option<Lane>,
    /// Calls stand in more than one lane.
    several_lanes: bool,
    /// A call was dropped at the end, while another's verdict is awaited.
    pub(crate) cut: bool,
    /// The last event left without the blank line that ends it.
    pub(crate) dangling: bool,
    /// Kinds of oddity that were told of.
    told: Vec<(String, &'static str)>,
    /// The line end the upstream uses, for frames of our own.
    pub(crate) line_end: &'static str,
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
    /// The text that has left, where only its digest can name the turn later.
    pub(crate) digest: Option<TextDigest>,
    /// Ids of the calls that have left.
    pub(crate) survivors: Vec<String>,
    /// How many calls, or frames that may have been calls, were taken out.
    pub(crate) removed: usize,
    /// The calls among them that can be put back.
    pub(crate) removed_calls: Vec<Slot>,
    pub(crate) signatures: Vec<String>,
    pub(crate) finished: bool,
}

impl Core {
    pub(crate) fn new(dialect: Dialect, settings: Settings) -> Self {
        let limits = callgate_dialect::Limits { max_calls: settings.limits.calls };
        Self {
            dialect,
            reader: dialect.reader(&limits),
            writer: dialect.writer(),
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
            cut: false,
            dangling: false,
            told: Vec::new(),
            line_end: "\n",
            stream: Stream::Passing,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// What the driver must do before anything else is read.
    #[inline]
    pub(crate) fn next_step(&mut self, out: &mut Vec<u8>) -> Option<Step> {
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
        self.line_end = match frame.line_end() {
            b"\r\n" => "\r\n",
            b"\r" => "\r",
            _ => "\n",
        };
        let Some(data) = frame.data() else {
            // A comment or a blank line keeps the connection alive. Lines that only some clients
            // read are not passed on.
            if frame.clean() {
                self.dangling = !frame.terminated();
                out.extend_from_slice(frame.bytes());
            } else {
                self.normalised("", "lines that only some clients read were left out");
            }
            return;
        };
        let reading = match std::str::from_utf8(data) {
            Ok(data) => self.reader.read(frame.event(), data).map(|reading| (reading, data)),
            Err(_) => Err(Unreadable::NotUtf8),
        };
        match reading {
            Ok((reading, data)) => self.reading(frame, data, reading, out),
            Err(why) => self.unreadable(frame, &why, out),
        }
    }

    /// Takes in a whole body.
    pub(crate) fn body(&mut self, body: Vec<u8>, out: &mut Vec<u8>) {
        let Ok(body) = String::from_utf8(body) else {
            return self.refuse_body("the response is not UTF-8");
        };
        // Some clients strip a byte order mark and others fail on it.
        let body = body.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(body);
        match self.reader.read_body(&body) {
            Ok(reading) => {
                if let Some(model) = reading.model
                    && self.settings.origin.model.is_none()
                {
                    self.learn_model(model.of(&body));
                }
                let refused = self.parts(&reading);
                self.hold(Entry { bytes: Held::Body(body), reading, refused });
                self.moved = true;
            }
            Err(why) if self.settings.malformed == Malformed::Pass => {
                self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
                out.extend_from_slice(body.as_bytes());
            }
            Err(why) => {
                self.outbox.note(Note::Withheld { why: why.to_string() });
                self.refuse_body(&format!("the response cannot be read: {why}"));
            }
        }
    }

    #[inline]
    fn reading(&mut self, frame: &Frame<'_>, data: &str, mut reading: Reading, out: &mut Vec<u8>) {
        if let Some(model) = reading.model
            && self.settings.origin.model.is_none()
        {
            self.learn_model(model.of(data));
        }
        // The way of nearly every frame: text, with nothing held and nothing to change.
        let plain = reading.parts.is_empty()
            && reading.rename.is_none()
            && !reading.odd
            && !reading.failure
            && !reading.done
            && reading.content.is_none();
        if plain
            && frame.clean()
            && self.queue.is_empty()
            && self.writer.leaves_as_it_came(&reading, data)
        {
            if reading.text.is_some() {
                self.say(reading.text_lane, reading.text.map(|span| span.of(data)));
            }
            return out.extend_from_slice(frame.bytes());
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

    fn hold(&mut self, entry: Entry) {
        let order = entry.reading.order;
        let first = self.queue.first().map_or(order, |first| first.reading.order);
        let begun = entry.reading.block.is_some_and(|block| self.writer.is_out(block.slot));
        self.restless |= order == Order::Free || order != first || begun;
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting += 1;
        }
        self.queued += entry.size();
        self.queue.push(entry);
    }

    /// Whether every call in the frame is settled, and the block before it has ended.
    fn is_ready(&mut self, entry: &Entry, out: &mut Vec<u8>) -> bool {
        let settled = entry.reading.parts.iter().all(|part| match &part.what {
            What::Piece(Piece { slot, .. }) | What::End(slot) => {
                self.call(*slot).is_none_or(|call| {
                    call.is_settled() && !(call.second_lane && self.a_call_streams())
                })
            }
            _ => true,
        });
        if !settled {
            return false;
        }
        let opens = entry.reading.block.is_some_and(|block| block.does == BlockStep::Open);
        match self.writer.open_call() {
            Some(before) if opens => {
                let ended = self.call(before).is_none_or(|call| call.ended && call.waiting == 0);
                if let (true, Held::Frame(frame)) = (ended, &entry.bytes) {
                    self.writer.close_call(&frame.as_frame(), out);
                }
                ended
            }
            _ => true,
        }
    }

    fn is_second_lane(&self, part: &Part) -> bool {
        match &part.what {
            What::Piece(piece) => self.call(piece.slot).is_some_and(|call| call.second_lane),
            _ => false,
        }
    }

    fn a_call_streams(&self) -> bool {
        self.calls.iter().any(|call| {
            matches!(call.state, State::Live)
                || matches!(&call.state, State::Asked(asked) if asked.streaming)
        })
    }

    /// Lets go what may leave.
    pub(crate) fn flush(&mut self, pace: Pace, out: &mut Vec<u8>) {
        self.moved = true;
        while std::mem::take(&mut self.moved) {
            let mut blocked = Blocked::default();
            for entry in std::mem::take(&mut self.queue) {
                // A block that has begun to leave goes on, whatever waits behind it.
                let begun = self.has_begun(&entry.reading);
                let free = begun || !blocked.holds(entry.reading.order, pace);
                if free && self.is_ready(&entry, out) {
                    // What leaves may be what another frame waits for.
                    self.moved |= closes(&entry.reading);
                    self.leave_queue(entry, out);
                } else {
                    blocked.add(entry.reading.order);
                    self.queue.push(entry);
                }
            }
            if self.queue.is_empty() {
                self.moved = false;
            }
        }
        (self.looked_at, self.blocked) = (0, Blocked::default());
    }

    /// Lets go what may overtake, among what came since the queue was last looked through: all
    /// before it was found to wait, and nothing has moved since.
    pub(crate) fn overtake(&mut self, out: &mut Vec<u8>) {
        let mut blocked = std::mem::take(&mut self.blocked);
        for entry in self.queue.split_off(self.looked_at.min(self.queue.len())) {
            let begun = self.has_begun(&entry.reading);
            let free = begun || !blocked.holds(entry.reading.order, Pace::Overtake);
            if free && self.is_ready(&entry, out) {
                self.moved |= closes(&entry.reading);
                self.leave_queue(entry, out);
            } else {
                blocked.add(entry.reading.order);
                self.queue.push(entry);
            }
        }
        self.looked_at = self.queue.len();
        self.blocked = blocked;
    }

    /// Whether the frame goes on with a block that has begun to leave.
    fn has_begun(&self, reading: &Reading) -> bool {
        reading
            .block
            .is_some_and(|block| block.does != BlockStep::Open && self.writer.is_out(block.slot))
    }

    fn leave_queue(&mut self, entry: Entry, out: &mut Vec<u8>) {
        self.queued -= entry.size();
        if let Some(call) = entry.reading.block.and_then(|block| self.call_mut(block.slot)) {
            call.waiting -= 1;
        }
        self.emit(entry, out);
    }

    /// Moves the calls a frame has parts of. Answers which parts are refused outright.
    fn parts(&mut self, reading: &Reading) -> Vec<usize> {
        let mut refused = Vec::new();
        // A frame with a call where no call belongs goes as a whole, and would take a piece of
        // another call with it that was counted.
        let is_stray = |part: &Part| matches!(&part.what, What::Piece(piece) if piece.carrier == Carrier::Stray);
        let has_stray = reading.parts.iter().any(is_stray);
        for (place, part) in reading.parts.iter().enumerate() {
            match &part.what {
                What::Piece(piece) => {
                    if !self.piece(part, piece) {
                        refused.push(place);
                    }
                    if piece.carrier == Carrier::Listed && piece.host == Host::Client {
                        if has_stray {
                            self.refuse_piece(
                                piece.slot,
                                "another call stands beside a piece of it",
                            );
                        } else if reading.uneven {
                            self.leaves_unevenly(piece.slot);
                        }
                    }
                    if piece.ends {
                        self.ends(piece.slot);
                    }
                }
                What::End(slot) => {
                    if has_stray {
                        self.refuse_piece(*slot, "another call stands beside its end");
                    }
                    self.ends(*slot);
                }
                What::Finish(_) => self.turn_ends(part.lane),
                What::Text | What::Signature => {}
            }
        }
        if reading.done {
            let lanes: Vec<Lane> = self.calls.iter().map(|call| call.lane).collect();
            lanes.into_iter().for_each(|lane| self.turn_ends(lane));
        }
        if reading.failure {
            self.drop_unfinished();
            // Those that stream end with the error that came.
            self.calls.iter_mut().for_each(|call| call.ended = true);
        }
        refused
    }

    fn learn_model(&mut self, model: &str) {
        let mut facts = (*self.settings.origin).clone();
        facts.model = Some(model.to_owned());
        self.settings.origin = Origin::new(facts);
    }

    /// Adds a piece to its call. Answers `false` if the piece is refused: it adds to a call that
    /// is complete, or gives it another name.
    fn piece(&mut self, part: &Part, piece: &Piece) -> bool {
        let limit = self.limits().arguments;
        if piece.opens {
            self.open(part.lane, piece);
        }
        let grows = self.dialect.name_may_grow();
        let by_arguments = self.dialect.arguments_end_a_call();
        let Some(call) = self.call_mut(piece.slot) else { return false };
        let denied = matches!(call.state, State::Denied(_) | State::Provider);
        let grown_up = !matches!(call.state, State::Naming);
        let conflict = match call.assembly.conflict(piece) {
            None if grown_up && call.assembly.renames(piece) => Some("it was given another name"),
            conflict => conflict,
        };
        if let (false, Some(why)) = (denied, conflict) {
            self.refuse_piece(piece.slot, why);
            return false;
        }
        // What was judged does not change any more.
        if matches!(call.state, State::Asked(_) | State::Allowed | State::Dropped) {
            let brings = Assembly::brings_arguments(piece);
            if brings {
                self.refuse_piece(piece.slot, "text came behind its complete arguments");
            }
            return !brings;
        }
        // Another copy of arguments that came whole, even an empty one, replaces them in some
        // clients.
        if call.assembly.came_whole() && !piece.opens && !Assembly::brings_arguments(piece) {
            return matches!(piece.arguments, ArgumentsPiece::None);
        }
        let kept = call.assembly.kept();
        let added = call.assembly.add(piece, limit);
        let grown = call.assembly.kept().saturating_sub(kept);
        let named = call.assembly.is_named() && (call.assembly.arguments_begun() || !grows);
        let complete = added == Added::Completes && by_arguments;
        match call.state {
            State::Naming if complete => self.ask(piece.slot),
            State::Naming if named => self.ask_name(piece.slot),
            State::NameAsked | State::Held if complete => self.ask(piece.slot),
            State::Live if added == Added::Completes => self.ask(piece.slot),
            _ => {}
        }
        self.kept += grown;
        if self.kept > self.limits().arguments.saturating_mul(16) {
            self.fail(Blame::Refused, "more arguments are kept than the limit");
        }
        true
    }

    /// The arguments of a call are not needed any more.
    pub(crate) fn forget_arguments(&mut self, slot: Slot) {
        let freed = self.call_mut(slot).map_or(0, |call| call.assembly.forget_arguments());
        self.kept = self.kept.saturating_sub(freed);
    }

    fn open(&mut self, lane: Lane, piece: &Piece) {
        // The name of the call before is complete now.
        let unnamed: Vec<Slot> = self
            .calls
            .iter()
            .filter(|call| call.lane == lane && matches!(call.state, State::Naming))
            .filter(|call| call.assembly.is_named())
            .map(|call| call.slot)
            .collect();
        unnamed.into_iter().for_each(|slot| self.ask_name(slot));

        let first = *self.first_lane.get_or_insert(lane);
        let place = match self.dialect {
            Dialect::Anthropic => piece.slot as usize,
            Dialect::OpenAiChat => self.calls.iter().filter(|call| call.lane == lane).count(),
        };
        let second_lane = lane != first && piece.carrier == Carrier::Listed;
        self.several_lanes |= second_lane;
        let beside_a_stream = second_lane && self.a_call_streams();
        self.calls.push(CallSlot {
            slot: piece.slot,
            lane,
            carrier: piece.carrier,
            assembly: Assembly::default(),
            state: match piece.host {
                Host::Client => State::Naming,
                Host::Provider => State::Provider,
            },
            waiting: 0,
            ended: false,
            place,
            second_lane,
            apart: second_lane,
            uneven: false,
            notice: None,
        });
        if beside_a_stream {
            self.refuse(piece.slot, "a call of another choice streams");
        }
    }

    /// A piece came in a frame that some clients skip: the call leaves whole, in a frame that none
    /// does. If some of it has left already, it cannot.
    fn leaves_unevenly(&mut self, slot: Slot) {
        let Some(call) = self.call_mut(slot) else { return };
        match call.state {
            State::Live => self.refuse(slot, "a piece of it came in a frame some clients skip"),
            State::Naming | State::NameAsked | State::Held | State::Asked(_) => call.uneven = true,
            _ => {}
        }
    }

    /// Refuses a piece of a call, and with it all of the call that has not been judged.
    fn refuse_piece(&mut self, slot: Slot, why: &'static str) {
        let Some(call) = self.call_mut(slot) else { return };
        match call.state {
            State::Naming | State::NameAsked | State::Held | State::Live => self.refuse(slot, why),
            _ => {
                let tool = call.assembly.name().to_owned();
                self.outbox.note(Note::Refused { tool, why: why.to_owned() });
            }
        }
    }

    /// The call's own end has come.
    fn ends(&mut self, slot: Slot) {
        let Some(call) = self.call_mut(slot) else { return };
        if std::mem::replace(&mut call.ended, true) {
            return;
        }
        match &call.state {
            State::Naming | State::NameAsked | State::Held | State::Live => self.ask(slot),
            State::Provider => self.observe(slot),
            State::Asked(_) | State::Allowed | State::Denied(_) | State::Dropped => {}
        }
        self.moved |= !self.queue.is_empty();
    }

    /// The turn's end ends every call of it.
    fn turn_ends(&mut self, lane: Lane) {
        let open: Vec<Slot> = self
            .calls
            .iter()
            .filter(|call| call.lane == lane && !call.ended)
            .map(|call| call.slot)
            .collect();
        open.into_iter().for_each(|slot| self.ends(slot));
    }

    /// Tells of a call the provider has run.
    fn observe(&mut self, slot: Slot) {
        let origin = self.settings.origin.clone();
        let Some(call) = self.call_mut(slot) else { return };
        if let Ok(call) = call.assembly.whole(&origin) {
            self.outbox.note(Note::Observed(call));
        }
    }

    /// Asks by the name alone.
    fn ask_name(&mut self, slot: Slot) {
        let origin = self.settings.origin.clone();
        let Some(call) = self.call_mut(slot) else { return };
        if let Some(why) = call.assembly.refusal() {
            return self.refuse(slot, why);
        }
        match call.assembly.named(&origin) {
            Ok(named) => {
                call.state = State::NameAsked;
                self.outbox.steps.push_back(Step::Name(NameQuestion { slot, call: named }));
            }
            Err(why) => self.refuse(slot, &why.to_string()),
        }
    }

    /// Asks about the whole call.
    fn ask(&mut self, slot: Slot) {
        self.outbox.withdraw_name(slot);
        let origin = self.settings.origin.clone();
        let Some(call) = self.call_mut(slot) else { return };
        let streaming = matches!(call.state, State::Live);
        if let Some(why) = call.assembly.refusal() {
            return self.refuse(slot, why);
        }
        if call.assembly.is_oversize() && call.leaves_whole() {
            return self.refuse(slot, "it is too large to be put in order");
        }
        if self.several_lanes && self.blurs_lanes(slot) {
            return self.refuse(slot, "calls in several choices cannot be told apart by their ids");
        }
        let several_lanes = self.several_lanes;
        let Some(call) = self.call_mut(slot) else { return };
        call.apart |= several_lanes && !streaming;
        match call.assembly.whole(&origin) {
            Ok(whole) => {
                call.state = State::Asked(Asked { call: whole.clone(), streaming });
                self.restless = true;
                let question = Question { slot, call: whole, streaming };
                self.outbox.steps.push_back(Step::Judge(question));
            }
            Err(why) => self.refuse(slot, &why.to_string()),
        }
    }

    /// Some clients do not tell choices apart; to them only its id sets this call off from those
    /// of other choices.
    fn blurs_lanes(&self, slot: Slot) -> bool {
        let Some(call) = self.call(slot) else { return true };
        let id = call.assembly.id();
        let twin = |other: &CallSlot| other.lane != call.lane && other.assembly.id() == id;
        id.is_empty() || self.calls.iter().any(twin)
    }

    /// Refuses a call that no rule can read.
    fn refuse(&mut self, slot: Slot, why: &str) {
        let Some(call) = self.call_mut(slot) else { return };
        let tool = call.assembly.name().to_owned();
        let streams = matches!(call.state, State::Live)
            || matches!(&call.state, State::Asked(asked) if asked.streaming);
        self.outbox.withdraw_name(slot);
        self.outbox.note(Note::Refused { tool: tool.clone(), why: why.to_owned() });
        self.deny(slot, Denial::refused(&tool, why));
        if streams {
            self.fail(Blame::Refused, &format!("`{tool}` was refused after it had begun: {why}"));
        }
    }

    pub(crate) fn answer_name(&mut self, slot: Slot, answer: NameAnswer) {
        let several_lanes = self.several_lanes;
        let Some(call) = self.call_mut(slot) else { return };
        if !matches!(call.state, State::NameAsked) {
            return;
        }
        match answer {
            NameAnswer::Deny(denial) => self.deny(slot, denial),
            NameAnswer::NeedArguments => call.state = State::Held,
            NameAnswer::Stream(permit) => {
                // Whatever may still change its shape, or come in another copy, waits.
                let odd = call.leaves_whole()
                    || several_lanes
                    || call.assembly.lacks_id()
                    || call.assembly.came_whole()
                    || call.carrier == Carrier::Stray;
                let names_it = callgate_call::ToolName::parse(call.assembly.name())
                    .is_ok_and(|name| permit.covers(&call.assembly.id().into(), &name));
                call.state = if names_it && !odd { State::Live } else { State::Held };
                self.moved = true;
            }
        }
    }

    pub(crate) fn answer(&mut self, slot: Slot, answer: Answer) {
        let Some(call) = self.call_mut(slot) else { return };
        let State::Asked(asked) = &call.state else { return };
        let streaming = asked.streaming;
        let tool = call.assembly.name().to_owned();
        match answer {
            Answer::Allow(permit) if permit.covers(&asked.call) => {
                call.state = State::Allowed;
                if call.leaves_whole() {
                    let why = "clients disagree about its pieces: it leaves whole";
                    self.normalised(&tool, why);
                } else {
                    self.forget_arguments(slot);
                }
                self.moved = true;
            }
            Answer::Allow(_) => self.refuse(slot, "the permit is for another call"),
            Answer::Deny(denial) if streaming => {
                let why = format!("`{tool}` was refused after it had begun: {}", denial.reason);
                self.deny(slot, denial);
                self.stream =
                    Stream::Failing { blame: Blame::Refused, message: why, as_body: false };
            }
            Answer::Deny(denial) => self.deny(slot, denial),
        }
    }

    fn deny(&mut self, slot: Slot, denial: Denial) {
        if let Some(call) = self.call_mut(slot) {
            call.state = State::Denied(denial);
        }
        self.moved = true;
    }

    /// What has begun and will not finish is taken out.
    pub(crate) fn drop_unfinished(&mut self) {
        for call in &mut self.calls {
            if matches!(call.state, State::Naming | State::NameAsked | State::Held) {
                call.state = State::Dropped;
                call.ended = true;
                self.outbox.withdraw_name(call.slot);
                let tool = call.assembly.name().to_owned();
                self.outbox.note(Note::Dropped { tool });
            }
        }
        self.moved = true;
    }

    /// A frame that cannot be read is withheld, with all it may belong to.
    fn unreadable(&mut self, frame: &Frame<'_>, why: &Unreadable, out: &mut Vec<u8>) {
        if self.settings.malformed == Malformed::Pass {
            self.outbox.note(Note::Withheld { why: format!("passed: {why}") });
            return out.extend_from_slice(frame.bytes());
        }
        self.outbox.note(Note::Withheld { why: why.to_string() });
        match why {
            Unreadable::Nothing | Unreadable::Orphan => return,
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

    pub(crate) fn call(&self, slot: Slot) -> Option<&CallSlot> {
        let place = self.calls.binary_search_by_key(&slot, |call| call.slot).ok()?;
        self.calls.get(place)
    }

    pub(crate) fn call_mut(&mut self, slot: Slot) -> Option<&mut CallSlot> {
        let place = self.calls.binary_search_by_key(&slot, |call| call.slot).ok()?;
        self.calls.get_mut(place)
    }

    pub(crate) fn lane(&mut self, lane: Lane) -> &mut LaneState {
        let place = match self.lanes.iter().position(|state| state.lane == lane) {
            Some(place) => place,
            None => {
                let silent = self.settings.on_deny == OnDeny::Silent;
                self.lanes.push(LaneState::new(lane, silent));
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
    pub(crate) fn say(&mut self, lane: Lane, raw: Option<&str>) {
        let lane = self.lane(lane);
        lane.text = true;
        if let (Some(digest), Some(raw)) = (&mut lane.digest, raw) {
            digest.add_raw(raw);
        }
    }
}

/// Whether a frame ends a block, for which others may have waited.
fn closes(reading: &Reading) -> bool {
    reading.block.is_some_and(|block| block.does == BlockStep::Close)
}

impl LaneState {
    fn new(lane: Lane, silent: bool) -> Self {
        Self {
            lane,
            text: false,
            digest: silent.then(TextDigest::new),
            survivors: Vec::new(),
            removed: 0,
            removed_calls: Vec::new(),
            signatures: Vec::new(),
            finished: false,
        }
    }
}
