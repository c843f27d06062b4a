//! The later answers of a turn that continues after a denial.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use callgate_decide::TurnEnd;
use callgate_gate::OnlyDenied;

use super::{JudgedResponse, Round, StreamingState};
use crate::continuation::{AnswerForm, Awaited, NextAnswer};

/// An answer after the first one of its turn.
pub(super) struct LaterRound {
    /// What the first answer used.
    pub(super) first: TurnEnd,
    /// How many answers came before this one.
    number: u32,
    /// Resolves when the gateway stops. Only a later answer is abandoned then.
    stop: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Round {
    /// How many answers came before this one.
    pub(super) fn number(&self) -> u32 {
        match self {
            Self::First => 0,
            Self::Later(later) => later.number,
        }
    }
}

impl JudgedResponse {
    /// All calls of an answer were denied: asks the provider again, or ends the turn.
    pub(super) fn only_denied(&mut self, offer: OnlyDenied) {
        let usage = self.gate.usage();
        let Some(continuation) = &mut self.response_context.continuation else {
            return self.gate.conclude();
        };
        match continuation.ask(offer, &usage) {
            Ok(asking) => self.state = StreamingState::Asking(asking),
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

    /// Goes on after something has happened while the next answer was awaited.
    pub(super) fn go_on(&mut self, awaited: Awaited) {
        match awaited {
            Awaited::StillWaiting => self.keep_alive(),
            Awaited::None(why) => self.conclude(&why),
            Awaited::Answer(asked) => self.begin(*asked),
        }
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
        let Some(continuation) = &mut self.response_context.continuation else {
            return self.conclude("its request was not kept");
        };
        let mut stopping = continuation.stopping();
        let (spent, notice) = continuation.begin(asked.turn);
        self.gate.next_answer(spent, notice);
        (self.upstream, self.decoder) = (asked.upstream, asked.decoder);
        self.state = StreamingState::Open;
        let number = self.round.number() + 1;
        let first = match std::mem::replace(&mut self.round, Round::First) {
            Round::First => before,
            Round::Later(LaterRound { first, .. }) => {
                self.record(before);
                first
            }
        };
        let stop = async move {
            stopping.wait_for(|stopping| *stopping).await.ok();
        };
        self.round = Round::Later(LaterRound { first, number, stop: Some(Box::pin(stop)) });
    }

    fn record(&mut self, answer: TurnEnd) {
        if let Some(response_decider) = &mut self.response_decider {
            response_decider.record_continued(answer);
        }
    }

    /// Gives up a later answer when the gateway stops.
    pub(super) fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Round::Later(LaterRound { stop, .. }) = &mut self.round else { return Poll::Pending };
        let Some(stopping) = stop else { return Poll::Pending };
        ready!(stopping.as_mut().poll(cx));
        *stop = None;
        self.fail("the gateway is stopping".to_owned());
        Poll::Ready(())
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
