//! The gate as its driver uses it.

use std::collections::VecDeque;

use callgate_call::ToolCall;
use callgate_dialect::request::{RemovedCall, RemovedTurn};
use callgate_dialect::{Blame, Dialect, Slot};
use callgate_policy::{Decision, NameDecision, TextHit};
use callgate_wire::{BodyBuffer, Framing, Sniffer, Splitter};

use crate::core::Core;
use crate::draft::Draft;
use crate::{Notice, Settings};

/// A response on its way from the provider to the client.
#[derive(Debug)]
pub struct Gate {
    input: InputBuffer,
    core: Core,
    closing: Option<Close>,
}

/// What the driver must do next.
#[derive(Debug)]
pub enum Step {
    /// Judge by the name alone, and answer with [`Gate::answer_name`] before the next step.
    Name(NameQuestion),
    /// Judge the whole call, and answer with [`Gate::answer`], now or later. Steps that are taken
    /// before the answer let frames pass that may overtake the call.
    Judge(CallQuestion),
    /// Every call of the answer was denied, and the turn may continue: call [`Gate::conclude`] or
    /// [`Gate::next_answer`], now or later. Only with [`OnDeny::Continue`](crate::OnDeny::Continue).
    OnlyDenied(OnlyDenied),
    /// Something to record.
    Note(Note),
    /// Push more, or close.
    NeedMore,
    /// Closed, and a verdict or a decision about the turn is still pending.
    Waiting,
    /// Everything has been written.
    Ended(Ending),
}

/// A call whose name is known, but not its arguments.
#[derive(Debug)]
pub struct NameQuestion {
    /// The call to answer for.
    pub slot: Slot,
    /// The call, with its arguments pending.
    pub call: ToolCall,
}

/// A whole call.
#[derive(Debug)]
pub struct CallQuestion {
    /// The call to answer for.
    pub slot: Slot,
    /// The call.
    pub call: ToolCall,
}

/// An answer of which every call was denied.
#[derive(Debug)]
pub struct OnlyDenied {
    /// Its calls, in order.
    pub calls: Vec<DeniedCall>,
}

/// A denied call of such an answer.
#[derive(Debug)]
pub struct DeniedCall {
    /// The call, with the text of its error result.
    pub call: RemovedCall,
    /// The tool, as the model named it.
    pub name: String,
    /// The digest of its name and arguments: the same action has the same digest.
    pub digest: [u8; 32],
    /// The id of its record.
    pub record: Option<String>,
}

/// Something to record.
#[derive(Debug)]
pub enum Note {
    /// A call the provider runs itself.
    Observed(ToolCall),
    /// The calls that were removed from a turn, to be put back into a later request.
    Removed(RemovedTurn),
    /// A frame was unreadable and was withheld.
    Withheld {
        /// Why.
        why: String,
    },
    /// A frame or a body was unreadable and left unread, because the operator lets it pass.
    PassedUnread {
        /// Why it is unreadable.
        why: String,
    },
    /// A call left in another form than it came in.
    Normalised {
        /// The tool.
        tool: String,
        /// What was irregular.
        why: String,
    },
    /// A call, or a piece of one, was refused regardless of the policy.
    Refused {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
    /// A call that was denied by its name has ended, or the response has: the call with its
    /// arguments, as far as they came and were stored. Reported once for each such call.
    Completed {
        /// The slot of the question by name.
        slot: Slot,
        /// The call under the denied name.
        call: ToolCall,
    },
    /// A call was dropped that no rule had denied.
    Dropped {
        /// The tool, as far as its name had come.
        tool: String,
        /// Why.
        why: &'static str,
    },
    /// A text rule matched.
    Guardrail(TextHit),
    /// A later answer of the turn failed, and the turn ended without it.
    AnswerFailed {
        /// Why.
        why: String,
    },
}

/// The usage that the response has reported so far. It is complete at the end of the response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, including those that were read from or written to a cache.
    pub input: Option<u64>,
    /// Input tokens that were read from a cache.
    pub cached: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Output tokens that the model spent on reasoning.
    pub reasoning: Option<u64>,
    /// Why the model stopped, in the upstream's own word, even if calls were removed since.
    pub stop_reason: Option<String>,
    /// How many calls came for the client to run, allowed or not.
    pub calls: u32,
}

/// How the upstream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// Its body is complete.
    End,
    /// It failed: reset, timed out, undecodable.
    Failed,
}

/// How the response ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As the upstream ended it.
    Clean,
    /// With an error in the form of the dialect, for this reason.
    Error(String),
    /// A text rule stopped it, with the dialect's own ending for that.
    Blocked,
}

/// Input that was received and not read yet.
#[derive(Debug)]
enum InputBuffer {
    Sniffing(Sniffer, Vec<u8>),
    Frames(Splitter),
    Body(BodyBuffer),
    /// Nothing more is read.
    Over,
}

impl Gate {
    /// A gate for one response.
    pub fn new(dialect: Dialect, settings: Settings) -> Self {
        let input = InputBuffer::Sniffing(Sniffer::new(dialect.framings()), Vec::new());
        Self { input, core: Core::new(dialect, settings), closing: None }
    }

    /// Adds bytes of the decoded body, split anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.closing.is_some() {
            return;
        }
        match &mut self.input {
            InputBuffer::Frames(splitter) => splitter.push(bytes),
            InputBuffer::Body(body) => {
                if body.push(bytes).is_err() {
                    self.core.refuse_body("the response is larger than the limit");
                    self.input = InputBuffer::Over;
                }
            }
            InputBuffer::Sniffing(sniffer, seen) => {
                seen.extend_from_slice(bytes);
                if seen.len() > self.core.limits().body {
                    self.core.refuse_body("the response is larger than the limit");
                    self.input = InputBuffer::Over;
                } else if let Some(framing) = sniffer.push(bytes) {
                    let seen = std::mem::take(seen);
                    self.sniffed(framing, seen);
                }
            }
            InputBuffer::Over => {}
        }
    }

    /// Whether frames leave while others arrive. Nothing of a whole body leaves before its end.
    pub fn is_streaming(&self) -> bool {
        matches!(self.input, InputBuffer::Frames(_))
    }

    /// The upstream has ended.
    pub fn close(&mut self, how: Close) {
        self.closing.get_or_insert(how);
    }

    /// Takes the next step. Bytes that it appends to `out` may leave.
    pub fn step(&mut self, out: &mut Vec<u8>) -> Step {
        let mut draft = Draft::continuing(out);
        let step = self.take_step(&mut draft);
        *out = self.core.hand_out(draft);
        step
    }

    fn take_step(&mut self, out: &mut Draft) -> Step {
        loop {
            if let Some(step) = self.core.next_step(out) {
                return step;
            }
            match &mut self.input {
                InputBuffer::Frames(splitter) => match splitter.next_frame() {
                    Ok(Some(frame)) => {
                        self.core.handle_frame(&frame, out);
                        continue;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.input = InputBuffer::Over;
                        self.core.fail_to_read(error);
                        continue;
                    }
                },
                InputBuffer::Sniffing(..) | InputBuffer::Body(_) | InputBuffer::Over => {}
            }
            // No more input is available: decides everything that waits for more.
            self.core.scan_pending(out);
            if let Some(step) = self.core.next_step(out) {
                return step;
            }
            match self.closing {
                None => {
                    self.core.overtake_when_idle(out);
                    return Step::NeedMore;
                }
                Some(how) => self.finish(how, out),
            }
            self.core.scan_pending(out);
            if let Some(step) = self.core.next_step(out) {
                return step;
            }
            if self.core.is_waiting() {
                self.core.overtake_when_idle(out);
                return Step::Waiting;
            }
        }
    }

    /// Answers a question by name.
    pub fn answer_name(&mut self, slot: Slot, decision: NameDecision) {
        self.core.answer_name(slot, decision);
    }

    /// Answers a question about a whole call.
    pub fn answer(&mut self, slot: Slot, decision: Decision) {
        self.core.answer(slot, decision);
    }

    /// Ends a turn whose calls were all denied, as with [`OnDeny::Explain`](crate::OnDeny::Explain).
    pub fn conclude(&mut self) {
        self.core.conclude();
    }

    /// Continues a turn whose calls were all denied with another answer, which is pushed next.
    /// `spent` is the usage of the answers so far, in the form of the dialect.
    pub fn next_answer(&mut self, spent: &str, notice: Notice) {
        if self.core.is_offered() {
            self.core.next_answer(spent, notice);
            self.input =
                InputBuffer::Sniffing(Sniffer::new(self.core.dialect.framings()), Vec::new());
            self.closing = None;
        }
    }

    /// Each answer before the current one as it left, in APIs whose provider stores it.
    pub fn shown_answers(&self) -> Vec<String> {
        self.core.shown_answers()
    }

    /// Whether all that has left is one error in JSON: the response can be one that failed.
    pub fn is_only_an_error(&self) -> bool {
        self.core.output.is_only_an_error()
    }

    /// Appends an event that keeps the stream alive, if the dialect has one.
    pub fn keep_alive(&self, out: &mut Vec<u8>) {
        self.core.keep_alive(out);
    }

    /// The usage that the response has reported so far. Frames are read in order, so it is complete
    /// at [`Step::Ended`].
    pub fn usage(&self) -> Usage {
        self.core.usage()
    }

    /// The model: the one in the origin, or the one that the response reports.
    pub fn model(&self) -> Option<&str> {
        self.core.model()
    }

    fn sniffed(&mut self, framing: Framing, seen: Vec<u8>) {
        if self.core.note_framing(framing).is_err() {
            self.core
                .fail(Blame::Upstream, "the next answer has a different format from the first");
            self.input = InputBuffer::Over;
            return;
        }
        self.input = match framing {
            Framing::Sse | Framing::Lines | Framing::Array | Framing::EventStream => {
                if !self.core.is_later_answer() {
                    self.core.output.use_framing(framing);
                }
                let mut splitter = Splitter::new(framing, self.core.limits().frame);
                splitter.push(&seen);
                InputBuffer::Frames(splitter)
            }
            Framing::Body => {
                InputBuffer::Body(BodyBuffer::starting_with(seen, self.core.limits().body))
            }
            Framing::Unreadable => {
                self.core.refuse_body("the response is not UTF-8");
                InputBuffer::Over
            }
        };
    }

    /// Reads what is left at the end, one piece at a time: each may raise a question.
    fn finish(&mut self, how: Close, out: &mut Draft) {
        if let InputBuffer::Frames(splitter) = &mut self.input {
            match splitter.finish() {
                Some(frame) => self.core.handle_frame(&frame, out),
                None => {
                    if !splitter.is_whole() {
                        self.core.fail(Blame::Upstream, "the response was cut off");
                    }
                    self.input = InputBuffer::Over;
                }
            }
            return;
        }
        match std::mem::replace(&mut self.input, InputBuffer::Over) {
            InputBuffer::Sniffing(sniffer, seen) => {
                let usual = self.core.usual_framing();
                self.sniffed(sniffer.finish().unwrap_or(usual), seen);
            }
            InputBuffer::Body(body) if how == Close::End => {
                self.core.handle_body(body.into_bytes(), out)
            }
            InputBuffer::Body(_) => self.core.refuse_body("the response was cut off"),
            InputBuffer::Frames(_) | InputBuffer::Over => self.core.end(how, out),
        }
    }
}

/// Questions and notes for the driver.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    steps: VecDeque<Step>,
}

impl Outbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push_back(step);
    }

    pub(crate) fn pop(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.steps.push_back(Step::Note(note));
    }

    /// Withdraws all questions about this call: their answers are no longer needed.
    pub(crate) fn withdraw(&mut self, slot: Slot) {
        self.withdraw_name(slot);
        self.steps.retain(|step| !matches!(step, Step::Judge(question) if question.slot == slot));
    }

    /// Withdraws an older question by name, because the call is asked about again.
    pub(crate) fn withdraw_name(&mut self, slot: Slot) {
        self.steps.retain(|step| !matches!(step, Step::Name(question) if question.slot == slot));
    }
}
