//! Sends a response through the gate.
//!
//! ```text
//! upstream ─► decode ─► Gate ─► bytes that may leave ─► one write
//!                        │ ▲
//!           a call: asks │ │ answers once the record is durable
//!                        ▼ │
//!                  ResponseDecider
//! ```
//!
//! One poll reads everything that the provider has sent so far and forwards all of it that may
//! leave. Nothing is read ahead of the client: a slow client slows the provider.

mod later;
mod wakeups;

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use callgate_decide::{
    CallNumber, Decider, Decision, Denial, NameDecision, Oddity, PendingDecision, RemovedEntry,
    ResponseDecider, Storing, Tokens, TurnEnd,
};
use callgate_dialect::Slot;
use callgate_gate::{CallQuestion, Close, Ending, Gate, NameQuestion, Note, RemovedTurn, Step};
use callgate_wire::Decoder;

use crate::continuation::{Asking, Continuation};
use crate::judged_response::later::LaterRound;
use crate::judged_response::wakeups::Wakeups;
use crate::metrics::{CountedVerdict, Metrics, OpenStream};
use crate::restore::{self, Binding};
use crate::upstream::{Progress, UpstreamBody};

/// A response that is judged while it is forwarded.
pub(crate) struct JudgedResponse {
    upstream: UpstreamBody,
    decoder: Decoder,
    gate: Gate,
    /// `None` once the end is recorded.
    response_decider: Option<ResponseDecider>,
    /// Calls that wait for their record.
    pending: Vec<(Slot, PendingDecision)>,
    /// Turns with removed calls that are being stored. Until then no further byte leaves.
    storing: Vec<Storing>,
    out: Vec<u8>,
    state: StreamingState,
    wakeups: Wakeups,
    /// Why the response was cut off, if it was.
    failure: Option<String>,
    round: Round,
    /// The records of the denied calls.
    denied: Vec<String>,
    response_context: ResponseContext,
}

/// What a response needs in addition to its bytes.
pub(crate) struct ResponseContext {
    pub(crate) decider: Decider,
    pub(crate) binding: Binding,
    /// The calls that the request answered, to be stored once the response is complete.
    pub(crate) answered: Option<RemovedEntry>,
    pub(crate) metrics: Metrics,
    /// What the turn needs to continue after a denial.
    pub(crate) continuation: Option<Box<Continuation>>,
    /// Counts the response as open until it is dropped.
    pub(crate) _open: OpenStream,
}

/// Which of the provider's answers in this turn is read.
enum Round {
    First,
    Later(LaterRound),
}

enum StreamingState {
    /// The provider is sending.
    Open,
    /// The provider is sending, and everything that has arrived was read. More of it wakes the task.
    Drained,
    /// The provider was asked again, and has not answered.
    Asking(Asking),
    /// The provider has finished. Some calls may still wait for a decision.
    Closed,
    /// The gate has emitted everything.
    Ended(Ending),
}

impl JudgedResponse {
    pub(crate) fn new(
        upstream: UpstreamBody,
        decoder: Decoder,
        gate: Gate,
        response_decider: ResponseDecider,
        response_context: ResponseContext,
    ) -> Self {
        Self {
            upstream,
            decoder,
            gate,
            response_decider: Some(response_decider),
            pending: Vec::new(),
            storing: Vec::new(),
            out: Vec::new(),
            state: StreamingState::Open,
            wakeups: Wakeups::new(),
            failure: None,
            round: Round::First,
            denied: Vec::new(),
            response_context,
        }
    }

    /// The next bytes that may leave; `None` at the end. A failure of the provider is reported in
    /// the dialect's own form, so the body itself never fails.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(waker) = self.wakeups.take(cx) else { return Poll::Pending };
        let polled = self.poll_woken(&mut Context::from_waker(&waker));
        if polled.is_ready() && !self.is_drained() {
            self.wakeups.poll_again();
        }
        polled
    }

    fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_drained() {
            self.state = StreamingState::Open;
            // The common wake: the gate waits for nothing but bytes.
            let waits_for_bytes = self.pending.is_empty() && self.storing.is_empty();
            if waits_for_bytes && self.poll_incoming(cx).is_pending() {
                return Poll::Pending;
            }
        }
        for _ in 0..MAX_TURNS {
            self.poll_decisions(cx);
            self.steps(cx);
            if !self.poll_stored(cx) {
                return Poll::Pending;
            }
            if !self.out.is_empty() {
                return Poll::Ready(Some(Bytes::from(std::mem::take(&mut self.out))));
            }
            match &mut self.state {
                StreamingState::Ended(_) => {
                    self.end();
                    return Poll::Ready(None);
                }
                StreamingState::Closed => return Poll::Pending,
                StreamingState::Asking(asking) => {
                    let awaited = ready!(asking.poll(cx));
                    self.go_on(awaited);
                    continue;
                }
                StreamingState::Drained => return Poll::Pending,
                StreamingState::Open => {}
            }
            if self.poll_incoming(cx).is_pending() {
                return Poll::Pending;
            }
        }
        // Much has arrived and nothing may leave yet: let other tasks run.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Returns bytes that were taken and not sent.
    pub(crate) fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.append(&mut self.out);
        self.out = bytes;
        self.wakeups.poll_again();
    }

    fn is_drained(&self) -> bool {
        matches!(self.state, StreamingState::Drained)
    }

    /// How the response ended, once it has.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        match &self.state {
            StreamingState::Ended(ending) => Some(ending),
            StreamingState::Open
            | StreamingState::Drained
            | StreamingState::Asking(_)
            | StreamingState::Closed => None,
        }
    }

    /// Whether it consists only of an error.
    pub(crate) fn is_only_an_error(&self) -> bool {
        self.gate.is_only_an_error()
    }

    /// The records of the denied calls so far.
    pub(crate) fn denied(&self) -> &[String] {
        &self.denied
    }

    /// Ready once bytes have arrived, the provider has ended, or the gateway stops.
    fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.poll_stop(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => self.poll_upstream(cx),
        }
    }

    /// Reads what has arrived.
    fn poll_upstream(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { upstream, decoder, gate, response_context, out, .. } = self;
        let continuation = &mut response_context.continuation;
        let mut push = |bytes: &[u8]| {
            if let Some(continuation) = continuation {
                continuation.add(bytes);
            }
            gate.push(bytes);
            if gate.is_streaming() {
                // Most of it leaves at once.
                out.reserve(bytes.len());
            }
        };
        let mut undecodable = None;
        let mut plain = Vec::new();
        let polled = upstream.poll_ready_chunks(cx, &mut |bytes: &[u8]| {
            if decoder.is_identity() {
                return push(bytes);
            }
            // Bytes decoded before an error are valid.
            if undecodable.is_none() {
                undecodable = decoder.push(bytes, &mut plain).err();
                push(&plain);
                plain.clear();
            }
        });
        if let Some(error) = undecodable {
            self.fail(format!("the response cannot be decoded: {error}"));
            return Poll::Ready(());
        }
        match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Progress::More)) => {}
            Poll::Ready(Ok(Progress::Drained)) => self.state = StreamingState::Drained,
            Poll::Ready(Ok(Progress::End)) => match self.decoder.finish() {
                Ok(()) => self.close(Close::End),
                Err(error) => self.fail(format!("the response cannot be decoded: {error}")),
            },
            Poll::Ready(Err(error)) => self.fail(error.to_string()),
        }
        Poll::Ready(())
    }

    fn fail(&mut self, why: String) {
        tracing::warn!(why, "a response was cut off");
        self.failure = Some(why);
        self.close(Close::Failed);
    }

    fn close(&mut self, how: Close) {
        self.gate.close(how);
        self.state = StreamingState::Closed;
    }

    /// Takes every step that is possible now.
    fn steps(&mut self, cx: &mut Context<'_>) {
        while !matches!(self.state, StreamingState::Ended(_)) {
            match self.gate.step(&mut self.out) {
                Step::Name(question) => self.ask_name(question),
                Step::Judge(question) => self.ask(question, cx),
                Step::OnlyDenied(offer) => self.only_denied(offer),
                Step::Note(note) => self.note(note),
                Step::NeedMore | Step::Waiting => return,
                Step::Ended(ending) => self.ended(ending),
            }
        }
    }

    fn ask_name(&mut self, question: NameQuestion) {
        let NameQuestion { slot, call } = question;
        let number = CallNumber { answer: self.round.number(), call: slot.0 };
        let decision = match &mut self.response_decider {
            Some(response_decider) => response_decider.decide_by_name(number, &call),
            None => NameDecision::Deny(Denial::refused(call.name.raw(), ENDED)),
        };
        if let NameDecision::Deny(denial) = &decision {
            self.response_context.metrics.count_call(CountedVerdict::Denied);
            self.denied.extend(denial.record.clone());
        }
        self.gate.answer_name(slot, decision);
    }

    /// Only this call waits for its record.
    fn ask(&mut self, question: CallQuestion, cx: &mut Context<'_>) {
        let CallQuestion { slot, call } = question;
        let Some(response_decider) = &mut self.response_decider else {
            let denial = Denial::refused(call.name.raw(), ENDED);
            return self.resolve(slot, Decision::Deny(denial));
        };
        let mut pending = response_decider.decide(call);
        match Pin::new(&mut pending).poll(cx) {
            Poll::Ready(decision) => self.resolve(slot, decision),
            Poll::Pending => self.pending.push((slot, pending)),
        }
    }

    fn poll_decisions(&mut self, cx: &mut Context<'_>) {
        let mut place = 0;
        while let Some((slot, pending)) = self.pending.get_mut(place) {
            let slot = *slot;
            match Pin::new(pending).poll(cx) {
                Poll::Pending => place += 1,
                Poll::Ready(decision) => {
                    drop(self.pending.remove(place));
                    self.resolve(slot, decision);
                }
            }
        }
    }

    /// Gives the gate the decision about a call.
    fn resolve(&mut self, slot: Slot, decision: Decision) {
        let verdict = match &decision {
            Decision::Allow(_) => CountedVerdict::Allowed,
            Decision::Deny(denial) => {
                self.denied.extend(denial.record.clone());
                CountedVerdict::Denied
            }
        };
        self.response_context.metrics.count_call(verdict);
        self.gate.answer(slot, decision);
    }

    fn note(&mut self, note: Note) {
        let Some(response_decider) = &mut self.response_decider else { return };
        match note {
            Note::Observed(call) => response_decider.record_provider_call(&call),
            Note::Completed { slot, call } => {
                let number = CallNumber { answer: self.round.number(), call: slot.0 };
                response_decider.record_input(number, &call);
            }
            Note::Withheld { why } => response_decider.record_oddity(Oddity::Withheld, None, &why),
            Note::PassedUnread { why } => {
                response_decider.record_oddity(Oddity::PassedUnread, None, &why)
            }
            Note::Normalised { tool, why } => {
                response_decider.record_oddity(Oddity::Normalised, Some(&tool), &why)
            }
            Note::Refused { tool, why } => {
                response_decider.record_oddity(Oddity::Refused, Some(&tool), &why)
            }
            Note::Dropped { tool, why } => {
                response_decider.record_oddity(Oddity::Dropped, Some(&tool), why)
            }
            Note::Guardrail(hit) => {
                self.response_context.metrics.count_text_match(&hit, "response");
                response_decider.record_text_hit(&hit);
            }
            Note::Removed(turn) => self.store(turn),
            Note::AnswerFailed { why } => self.answer_failed(why),
        }
    }

    fn ended(&mut self, ending: Ending) {
        let is_complete = match ending {
            Ending::Clean => true,
            // The provider does not know that the client did not receive it.
            Ending::Blocked => {
                matches!(self.state, StreamingState::Closed) && self.failure.is_none()
            }
            Ending::Error(_) => false,
        };
        let answered = self.response_context.answered.take().filter(|_| is_complete);
        if let Some(answered) = answered {
            self.storing.push(self.response_context.decider.keep_removed(answered));
        }
        self.state = StreamingState::Ended(ending);
    }

    /// Stores a turn with removed calls. The client may send the turn back as soon as it has the
    /// end of the response, so the end waits until the turn is stored.
    fn store(&mut self, turn: RemovedTurn) {
        let turn = match &self.response_context.continuation {
            Some(continuation) => continuation.merged(turn, &self.gate.shown_answers()),
            None => Some(turn),
        };
        let binding = &self.response_context.binding;
        let Some(entry) = turn.and_then(|turn| restore::entry(&turn, binding)) else {
            tracing::warn!("a turn cannot be kept, so it will not be restored");
            return;
        };
        self.storing.push(self.response_context.decider.keep_removed(entry));
    }

    /// Whether nothing waits any longer until a turn is stored.
    fn poll_stored(&mut self, cx: &mut Context<'_>) -> bool {
        self.storing.retain_mut(|storing| Pin::new(storing).poll(cx).is_pending());
        self.storing.is_empty()
    }

    fn end(&mut self) {
        let Some(mut response_decider) = self.response_decider.take() else { return };
        let failure = match &self.state {
            StreamingState::Ended(Ending::Clean) => {
                self.failure.take().filter(|_| matches!(self.round, Round::Later(_)))
            }
            StreamingState::Ended(Ending::Error(why)) => {
                Some(self.failure.take().unwrap_or(why.clone()))
            }
            StreamingState::Ended(Ending::Blocked) => Some("a text rule stopped it".to_owned()),
            StreamingState::Open
            | StreamingState::Drained
            | StreamingState::Asking(_)
            | StreamingState::Closed => Some("the client disconnected".to_owned()),
        };
        let end = TurnEnd { failure, ..self.turn_end() };
        match std::mem::replace(&mut self.round, Round::First) {
            Round::First => response_decider.end(end),
            Round::Later(LaterRound { first, .. }) => {
                response_decider.record_continued(end);
                response_decider.end(first);
            }
        }
    }

    /// What the current answer has reported.
    fn turn_end(&self) -> TurnEnd {
        let usage = self.gate.usage();
        TurnEnd {
            model: self.gate.model().map(str::to_owned),
            tokens: Tokens {
                input: usage.input,
                cached: usage.cached,
                output: usage.output,
                reasoning: usage.reasoning,
            },
            stop_reason: usage.stop_reason,
            calls: usage.calls.into(),
            failure: None,
        }
    }
}

/// Why a call is refused that the gate finds after the end was recorded. It finds none.
const ENDED: &str = "the response had ended";

/// How often the upstream is polled in a row while nothing leaves.
const MAX_TURNS: usize = 8;

impl Drop for JudgedResponse {
    /// Records the end if the client disconnected before it.
    fn drop(&mut self) {
        self.end();
    }
}
