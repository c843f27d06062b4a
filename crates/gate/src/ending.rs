//! The end of a response: nothing unjudged survives it.

use callgate_dialect::{AddedEvent, Blame};
use callgate_wire::FrameError;

use crate::core::Core;
use crate::draft::Draft;
use crate::gate::{Close, Ending, Step};
use crate::progress::{Failure, FailureForm};
use crate::queue::ReleaseOrder;
use crate::slot::{CallSlot, CallState};
use crate::{Malformed, RequestedForm};

/// The error if the stream ended inside a call.
const ENDED_INSIDE_CALL: &str = "the response ended inside a tool call";

impl Core {
    /// The upstream has ended and all its input was read. Called until the stream is closed.
    pub(crate) fn end(&mut self, how: Close, out: &mut Draft) {
        if !self.progress.is_passing() {
            return;
        }
        if how == Close::End && !self.reader.has_read_any() && !self.has_passed_unread() {
            return self.refuse_missing_response();
        }
        self.write_all_held_back(out);
        if !self.progress.is_passing() {
            return;
        }
        let open = |call: &&CallSlot| !call.has_ended();
        if self.calls.iter().filter(open).any(|call| matches!(call.state(), CallState::Streaming)) {
            // A part of it has left. Nothing may follow that a client could take for its end.
            return self.fail(Blame::Upstream, ENDED_INSIDE_CALL);
        }
        let truncated = self.calls.iter().filter(open).any(|call| self.is_unfinished(call));
        self.flush(ReleaseOrder::InOrder, out);
        self.drop_unfinished();
        // Frames that waited for the end of another block wait no longer.
        self.end_all();
        self.flush(ReleaseOrder::InOrder, out);
        if self.awaits_verdict() {
            self.truncated |= truncated;
            return;
        }
        if !(truncated || self.truncated) && self.end_round(how, out) {
            return;
        }
        if self.answer_lacks_its_end() {
            return self.fail(Blame::Upstream, "the upstream ended its next answer early");
        }
        self.hand_out_all_removed();
        self.complete_end(out);
        if truncated || self.truncated {
            self.fail(Blame::Upstream, ENDED_INSIDE_CALL);
        } else if how == Close::Failed {
            self.report_broken_upstream();
        } else {
            self.progress.close(Ending::Clean);
        }
    }

    /// Whether a verdict or a decision about the turn is pending.
    pub(crate) fn is_waiting(&self) -> bool {
        self.awaits_verdict() || self.is_offered()
    }

    fn awaits_verdict(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.state(), CallState::Asked(_)))
    }

    /// Ends the stream with an error and drops everything that is held.
    pub(crate) fn fail(&mut self, blame: Blame, message: &str) {
        let (message, form) = (message.to_owned(), FailureForm::Event);
        self.progress.fail(Failure { blame, message, form });
    }

    /// Ends a stream that can no longer be split into frames.
    pub(crate) fn fail_to_read(&mut self, error: FrameError) {
        match error {
            FrameError::TooLarge { .. } => {
                self.fail(Blame::Refused, "one frame is larger than the limit");
            }
            FrameError::Broken(_) => self.fail(Blame::Upstream, &error.to_string()),
        }
    }

    /// Whether the operator lets an unreadable response pass, and it has.
    fn has_passed_unread(&self) -> bool {
        self.settings.malformed == Malformed::Pass && self.output.has_passed_any()
    }

    /// Answers with an error if nothing of this API came: no bytes, an HTML page, or plain text.
    /// The error has the form that the client requested, if that is known; after some bytes have
    /// left, it can only be a stream event.
    fn refuse_missing_response(&mut self) {
        let why = match self.received_any {
            true => "it is neither an event stream of this API nor JSON",
            false => "it is empty",
        };
        self.progress.fail(Failure {
            blame: Blame::Upstream,
            message: format!("callgate withheld this response: {why}"),
            form: self.form_before_any(),
        });
    }

    /// The form of an error that may be the first thing to leave: a body if nothing has left, and
    /// no stream was requested.
    fn form_before_any(&self) -> FailureForm {
        let begun = self.output.has_passed_any() || self.reader.has_read_any();
        match begun || self.settings.requested_form == RequestedForm::Stream {
            true => FailureForm::Event,
            false => FailureForm::Body,
        }
    }

    /// Writes an error that the upstream failed, unless every turn had ended: then nothing is
    /// missing, and an error after the end would only confuse.
    fn report_broken_upstream(&mut self) {
        let whole = self.lanes.have_all_finished();
        let message = "the provider ended its response early".to_owned();
        let form = self.form_before_any();
        match whole {
            true => self.progress.close(Ending::Error(message)),
            false => self.progress.fail(Failure { blame: Blame::Upstream, message, form }),
        }
    }

    /// Replaces a body that may not leave with an error.
    pub(crate) fn refuse_body(&mut self, why: &str) {
        let message = format!("callgate withheld this response: {why}");
        self.progress.fail(Failure { blame: Blame::Refused, message, form: FailureForm::Body });
    }

    /// Writes an event or a comment that keeps the stream alive, if the API accepts one.
    pub(crate) fn keep_alive(&self, out: &mut Vec<u8>) {
        let event = self.dialect.continuing().and_then(callgate_dialect::Continuing::keep_alive);
        match event {
            Some(AddedEvent { name, data }) => self.output.style().event(name, &data, out),
            None if self.dialect.comments_keep_alive() => {
                self.output.style().comment("callgate waits", out)
            }
            None => {}
        }
    }

    /// Writes events of the gate itself.
    fn write_events(&self, events: &[AddedEvent], out: &mut Draft) {
        let Some((last, before)) = events.split_last() else { return };
        for AddedEvent { name, data } in before {
            self.output.style().event(*name, data, out.buffer());
        }
        self.output.style().failure(last.name, &last.data, out.buffer());
    }

    /// Writes the last bytes, then gives the driver the ending.
    pub(crate) fn ending(&mut self, out: &mut Draft) -> Option<Step> {
        if let Some(Failure { message, .. }) = self.progress.failure().cloned() {
            self.write_held_end(out);
            self.give_up_answer(&message, out);
        }
        if let Some(Failure { blame, message, form }) = self.progress.failure().cloned() {
            self.output.end_dangling(out);
            self.drop_queued("the response ended before it could be sent");
            self.drop_unfinished();
            self.end_all();
            self.queue.clear();
            if form == FailureForm::Body || self.output.style().is_json_lines() {
                self.output.writes_error(out);
            }
            match form {
                FailureForm::Body => out
                    .buffer()
                    .extend_from_slice(self.dialect.error_body(blame, &message).as_bytes()),
                FailureForm::Event => {
                    self.write_events(&self.dialect.error_events(blame, &message), out);
                }
            }
            self.hand_out_all_removed();
            self.progress.close_failed();
        }
        if let Some(step) = self.outbox.pop() {
            return Some(step);
        }
        self.progress.hand_out().map(Step::Ended)
    }
}
