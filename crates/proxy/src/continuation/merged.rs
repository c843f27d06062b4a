//! The answers of a turn, as they are put back into a later request.

use callgate_dialect::request::{EarlierAnswer, MergedTurn, StoredAnswers};
use callgate_dialect::{ProvidedTurn, StoredTurn};
use callgate_gate::{RemovedCall, RemovedTurn};

use super::{AnswerState, Continuation, DeniedAnswer};

/// The end of a turn.
enum LastAnswer<'a> {
    /// An answer that is complete.
    Complete(ProvidedTurn),
    /// What the client has of an answer that was cut off.
    BrokenOff(String),
    /// The client has nothing of the answer that was cut off, so the one before it is the last.
    Denied(&'a DeniedAnswer),
}

impl Continuation {
    /// The turn with all of its answers; `None` if the last one cannot be read again. `shown` are
    /// the answers before the last one as the client received them.
    pub(crate) fn merged(&self, turn: RemovedTurn, shown: &[String]) -> Option<RemovedTurn> {
        let Some((before_last, earlier)) = self.earlier.split_last() else { return Some(turn) };
        let last = self.last(&turn, before_last)?;
        let stored = self.stored(&last, shown);
        let (earlier, last, calls) = match last {
            LastAnswer::Complete(last) => (self.earlier.as_slice(), last.content, turn.calls),
            // It has none of the calls that it lost.
            LastAnswer::BrokenOff(left) => (self.earlier.as_slice(), left, Vec::new()),
            LastAnswer::Denied(last) => (earlier, last.content.clone(), last.calls.clone()),
        };
        let answer = |answer: &DeniedAnswer| EarlierAnswer {
            content: answer.content.clone(),
            results: self.dialect.results(&answer.calls),
            ids: answer.calls.iter().map(|call| call.id.clone()).collect(),
        };
        let earlier = earlier.iter().map(answer).collect();
        let response = stored.as_ref().and_then(|stored| stored.ids.first().cloned());
        let turn = RemovedTurn { calls, response: response.or(turn.response), ..turn };
        Some(turn.merged(MergedTurn { earlier, last, stored }))
    }

    fn last<'a>(
        &self,
        turn: &RemovedTurn,
        before_last: &'a DeniedAnswer,
    ) -> Option<LastAnswer<'a>> {
        if self.outcome == AnswerState::Complete {
            return Some(LastAnswer::Complete(self.dialect.turn(self.answer.bytes()?).ok()?));
        }
        let calls = turn.client.as_ref().map_or(&[][..], |client| &client.calls);
        let left = self.answer.bytes().and_then(|answer| self.dialect.rest(answer, calls));
        Some(left.map_or(LastAnswer::Denied(before_last), LastAnswer::BrokenOff))
    }

    /// What the provider stores of the turn. A request goes on from the last answer that is
    /// complete.
    fn stored(&self, last: &LastAnswer<'_>, shown: &[String]) -> Option<StoredAnswers> {
        let mut identities: Vec<&str> = Vec::with_capacity(self.earlier.len() + 1);
        for answer in &self.earlier {
            identities.push(answer.identity.as_deref()?);
        }
        let mut behind = String::new();
        let complete = match last {
            LastAnswer::Complete(last) => {
                identities.push(last.identity.as_deref()?);
                self.earlier.as_slice()
            }
            LastAnswer::BrokenOff(left) => {
                let (before_last, complete) = self.earlier.split_last()?;
                let calls: &[RemovedCall] = &before_last.calls;
                behind = format!("{},{left}", self.dialect.results(calls));
                complete
            }
            LastAnswer::Denied(_) => self.earlier.split_last()?.1,
        };
        let sum = |sum: String, answer: &DeniedAnswer| self.dialect.sum(&sum, &answer.usage);
        let usage = complete.iter().fold("{}".to_owned(), sum);
        let shown = shown.get(..complete.len()).unwrap_or(shown);
        self.dialect.stored(StoredTurn {
            identities: &identities,
            shown,
            usage: &usage,
            behind: &behind,
        })
    }
}
