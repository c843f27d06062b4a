//! The answers of a turn, as they are put back into a later request.

use callgate_dialect::request::{EarlierAnswer, MergedTurn};
use callgate_gate::RemovedTurn;

use super::{Continuation, DeniedAnswer, Outcome};

impl Continuation {
    /// The turn with all of its answers; `None` if the last one cannot be read again.
    pub(crate) fn merged(&self, turn: RemovedTurn) -> Option<RemovedTurn> {
        if self.earlier.is_empty() {
            return Some(turn);
        }
        let last = match self.outcome {
            Outcome::Complete => Some(self.dialect.turn(self.answer.text()?).ok()?.content),
            Outcome::BrokenOff => {
                let calls = turn.client.as_ref().map_or(&[][..], |client| &client.calls);
                self.answer.text().and_then(|answer| self.dialect.rest(answer, calls))
            }
        };
        let (earlier, last, calls) = match last {
            // What is left of a broken answer has none of the calls that it lost.
            Some(last) if self.outcome == Outcome::BrokenOff => {
                (self.earlier.as_slice(), last, Vec::new())
            }
            Some(last) => (self.earlier.as_slice(), last, turn.calls.clone()),
            // The client has nothing of the last answer.
            None => {
                let (last, earlier) = self.earlier.split_last()?;
                (earlier, last.content.clone(), last.calls.clone())
            }
        };
        let answer = |answer: &DeniedAnswer| EarlierAnswer {
            content: answer.content.clone(),
            results: self.dialect.results(&answer.calls),
            ids: answer.calls.iter().map(|call| call.id.clone()).collect(),
        };
        let earlier = earlier.iter().map(answer).collect();
        Some(RemovedTurn { calls, ..turn }.merged(MergedTurn { earlier, last }))
    }
}
