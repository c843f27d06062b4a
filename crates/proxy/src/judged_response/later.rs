//! The later answers of a turn that continues after a denial.

use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_decide::TurnEnd;
use callgate_gate::OnlyDenied;

use super::{JudgedResponse, StreamingState};
use crate::continuation::{AnswerForm, Awaited, NextAnswer};

/// Resolves when the gateway stops.
pub(super) type StopFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

impl JudgedResponse {
    /// All calls of an answer were denied: asks the provider again, or ends the turn.
    pub(super) fn only_denied(&mut self, offer: OnlyDenied) {
        let usage = self.gate.usage();
        let Some(continuation) = &mut self.response_context.continuation else {
            return self.gate.conclude();
        };
        match continuation.ask(offer, &usage) {
            Ok(asking) => {
                self.asking = Some(asking);
                self.state = StreamingState::Asking;
            }
            Err(why) => self.conclude(&why),
        }
    }

    /// Ends the turn without another answer.
    fn conclude(&mut self, why: &str) {
        tracing::info!(why, "a turn is not continued after a denial");
        self.gate.conclude();
        self.state = StreamingState::Closed;
        if let Some(response_decider) = &mut self.response_decider {
            response_decider.note_not_continued(why);
        }
    }

    /// Ready once something has changed or must be sent.
    pub(super) fn poll_asking(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(asking) = &mut self.asking else {
            self.state = StreamingState::Closed;
            return Poll::Ready(());
        };
        match asking.poll(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Awaited::StillWaiting) => self.keep_alive(),
            Poll::Ready(Awaited::None(why)) => {
                self.asking = None;
                self.conclude(&why);
            }
            Poll::Ready(Awaited::Answer(asked)) => {
                self.asking = None;
                self.begin(*asked);
            }
        }
        Poll::Ready(())
    }

    fn keep_alive(&mut self) {
        let form = self.response_context.continuation.as_ref().map(|it| it.form());
        if form == Some(AnswerForm::Stream) {
            self.gate.keep_alive(&mut self.out);
        }
    }

    /// Reads the next answer. The one before it is recorded: the first with the turn, a later one
    /// by itself.
    fn begin(&mut self, asked: NextAnswer) {
        let before = self.turn_end();
        let Some(continuation) = &mut self.response_context.continuation else { return };
        let is_first = continuation.rounds() == 0;
        let mut stopping = continuation.stopping();
        let (spent, notice) = continuation.begin(asked.turn);
        self.gate.next_answer(spent, notice);
        self.answer += 1;
        (self.upstream, self.decoder) = (asked.upstream, asked.decoder);
        self.state = StreamingState::Open;
        self.stop = Some(Box::pin(async move {
            stopping.wait_for(|stopping| *stopping).await.ok();
        }));
        match is_first {
            true => self.first = Some(before),
            false => self.record(before),
        }
    }

    fn record(&mut self, answer: TurnEnd) {
        if let Some(response_decider) = &mut self.response_decider {
            response_decider.record_continued(answer);
        }
    }

    /// Gives up a later answer when the gateway stops.
    pub(super) fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(stop) = &mut self.stop else { return Poll::Pending };
        stop.as_mut().poll(cx).map(|()| {
            self.stop = None;
            self.fail("the gateway is stopping".to_owned());
        })
    }

    /// A later answer failed, and the turn ended without it.
    pub(super) fn answer_failed(&mut self, why: String) {
        tracing::warn!(why, "a turn ended without its next answer");
        if let Some(continuation) = &mut self.response_context.continuation {
            continuation.note_cut_off();
        }
        self.failure.get_or_insert(why);
    }
}
