//! How a response ends: nothing unjudged survives it.

use callgate_dialect::{Blame, Lane, OwnEvent};
use callgate_wire::FrameError;

use crate::core::{Core, Stream};
use crate::gate::{Close, Ending, Step};
use crate::held::Pace;
use crate::slot::{CallSlot, State};
use crate::{Asked, Malformed};

/// Said where the stream ended inside a call.
const CUT: &str = "the response ended inside a tool call";

impl Core {
    /// The upstream has ended and everything it sent was read. Called until it says so.
    pub(crate) fn end(&mut self, how: Close, out: &mut Vec<u8>) {
        if self.stream != Stream::Passing {
            return;
        }
        if how == Close::End && !self.reader.has_spoken() && !self.passes_unread() {
            return self.refuse_silence();
        }
        self.say_all_held(out);
        if self.stream != Stream::Passing {
            return;
        }
        let open = |call: &&CallSlot| !call.ended;
        if self.calls.iter().filter(open).any(|call| matches!(call.state, State::Live)) {
            // A part of it has left. Nothing may follow that a client could take for its end.
            return self.fail(Blame::Upstream, CUT);
        }
        let cut = self.calls.iter().filter(open).any(|call| self.is_unfinished(call));
        self.flush(Pace::InOrder, out);
        self.drop_unfinished();
        // What waited for another block's end waits no longer.
        self.end_all();
        self.flush(Pace::InOrder, out);
        if self.is_waiting() {
            self.cut |= cut;
            return;
        }
        let lanes: Vec<Lane> = self.lanes.iter().map(|lane| lane.lane).collect();
        lanes.into_iter().for_each(|lane| self.hand_out_removed(lane));
        if cut || self.cut {
            self.fail(Blame::Upstream, CUT);
        } else if how == Close::Failed {
            self.break_off();
        } else {
            self.stream = Stream::Closed(Ending::Clean);
        }
    }

    /// Whether a verdict is awaited.
    pub(crate) fn is_waiting(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.state, State::Asked(_)))
    }

    /// Ends the stream with an error; what is held goes nowhere.
    pub(crate) fn fail(&mut self, blame: Blame, message: &str) {
        if self.stream == Stream::Passing {
            let message = message.to_owned();
            self.stream = Stream::Failing { blame, message, as_body: false };
        }
    }

    /// Ends a stream whose frames cannot be told apart any more.
    pub(crate) fn fail_to_read(&mut self, error: FrameError) {
        match error {
            FrameError::TooLarge { .. } => {
                self.fail(Blame::Refused, "one frame is larger than the limit");
            }
            FrameError::Broken(_) => self.fail(Blame::Upstream, &error.to_string()),
        }
    }

    /// What came was passed on unread, as the operator wants it.
    fn passes_unread(&self) -> bool {
        self.settings.malformed == Malformed::Pass && self.begun
    }

    /// Answers with an error where nothing came that is of this API: nothing at all, a page of
    /// HTML, a plain text. It takes the form the client asked for, where that is known; once
    /// anything has left it can only be that of a stream.
    fn refuse_silence(&mut self) {
        let why = match self.heard {
            true => "it is neither an event stream of this API nor JSON",
            false => "it is empty",
        };
        self.stream = Stream::Failing {
            blame: Blame::Upstream,
            message: format!("callgate withheld this response: {why}"),
            as_body: self.is_body_asked(),
        };
    }

    /// Whether an error may take the form of a body: nothing has left, and no stream was asked for.
    fn is_body_asked(&self) -> bool {
        let begun = self.begun || self.reader.has_spoken();
        !begun && self.settings.asked != Asked::Stream
    }

    /// Says that the upstream failed, unless every turn had come to its end: then nothing is
    /// missing, and words behind the end would only confuse.
    fn break_off(&mut self) {
        let whole = !self.lanes.is_empty() && self.lanes.iter().all(|lane| lane.finished);
        let message = "the upstream broke off its response".to_owned();
        self.stream = match whole {
            true => Stream::Closed(Ending::Error(message)),
            false => {
                Stream::Failing { blame: Blame::Upstream, message, as_body: self.is_body_asked() }
            }
        };
    }

    /// Answers a body that may not leave with an error instead.
    pub(crate) fn refuse_body(&mut self, why: &str) {
        if self.stream == Stream::Passing {
            let message = format!("callgate withheld this response: {why}");
            self.stream = Stream::Failing { blame: Blame::Refused, message, as_body: true };
        }
    }

    /// Says events of our own.
    fn say_events(&self, events: &[OwnEvent], out: &mut Vec<u8>) {
        let Some((last, before)) = events.split_last() else { return };
        for OwnEvent { name, data } in before {
            self.style.event(*name, data, out);
        }
        self.style.failure(last.name, &last.data, out);
    }

    /// Says the last words, then tells the driver.
    pub(crate) fn ending(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        if let Stream::Failing { blame, message, as_body } = &self.stream {
            let (blame, message, as_body) = (*blame, message.clone(), *as_body);
            self.end_dangling(out);
            self.drop_queued("the response ended before it could leave");
            self.queue.clear();
            self.queued = 0;
            self.drop_unfinished();
            self.end_all();
            self.moved = false;
            match as_body {
                true => out.extend_from_slice(self.dialect.error_body(blame, &message).as_bytes()),
                false => self.say_events(&self.dialect.error_events(blame, &message), out),
            }
            let lanes: Vec<Lane> = self.lanes.iter().map(|lane| lane.lane).collect();
            lanes.into_iter().for_each(|lane| self.hand_out_removed(lane));
            self.stream = Stream::Closed(Ending::Error(message));
        }
        if let Some(step) = self.outbox.steps.pop_front() {
            return Some(step);
        }
        if let Stream::Closed(ending) | Stream::Ended(ending) = &self.stream {
            let ending = ending.clone();
            self.stream = Stream::Ended(ending.clone());
            return Some(Step::Ended(ending));
        }
        None
    }
}
