//! What the client says beside calls: its answers to the server, and messages of other kinds.

use std::borrow::Cow;

use callgate_call::json::{Edits, Span, member};
use callgate_decide::mcp::{CallTicket, SentMessage, ServerRequest};

use super::server::asking;
use super::{Asked, Session, Step, Wanted, to_server};
use crate::answers;
use crate::beside::Beside;
use crate::message::{Id, Kind, Message, Outcome};
use crate::params::{self, Named};

/// What the server is told in the place of an answer that does not pass. Not why: it has no business
/// with the rules.
const NOT_ANSWERED: &str = "This client's gateway does not hand its answer on.";

/// Calls under different names that an answer may be about. Servers ask in the midst of one call; past
/// this, an answer is judged as a part of the first so many, and as none.
const MAX_CALLS: usize = 64;

impl Session {
    /// What parameters hold beside a name and arguments.
    pub(super) fn beside(&self, text: &str, named: &Named<'_>) -> Beside {
        Beside::of_members(text, &named.beside, |state| self.memory.lock().has_given(state))
    }

    /// What is handed on of a message that is no call; or why it is not.
    pub(super) fn sends<'t>(
        &self,
        method: &str,
        text: &'t str,
        params: Option<Span>,
        calls: &[CallTicket],
    ) -> Result<Cow<'t, str>, String> {
        let is_given = |state: &str| self.memory.lock().has_given(state);
        let beside = Beside::of(method, text, params, is_given);
        let extra_inputs = beside.along(text, self.desk.max_arguments());
        match self.desk.judge_sent_message(SentMessage { method, calls, extra_inputs }) {
            Ok(changed) => Ok(edited(text, &beside, &changed)),
            Err(denial) => Err(self.desk.denial_text(&denial)),
        }
    }

    /// Whether a request is about a task that the server has begun for somebody else. It may not know
    /// them apart, for all may come with our token.
    pub(super) fn is_of_another(&self, method: &str, text: &str, params: Option<Span>) -> bool {
        let names_tasks = method.starts_with("tasks/") || method == "subscriptions/listen";
        let is_anothers = |task: &str| self.memory.lock().is_anothers(task);
        let params = params.filter(|_| names_tasks);
        params.is_some_and(|params| params::holds_text(text, params, &is_anothers))
    }

    /// What is now wanted of the client, with the calls that it may be about.
    pub(super) fn wanted_now(&self, method: &str) -> Wanted {
        let mut calls: Vec<CallTicket> = Vec::new();
        for asked in self.asked.values() {
            let (Asked::Call(called) | Asked::Task(called)) = asked else { continue };
            let is_known = calls.iter().any(|call| call.tool() == called.ticket.tool());
            if !is_known && calls.len() < MAX_CALLS {
                calls.push(called.ticket.clone());
            }
        }
        Wanted { number: self.wants, method: name_of(asking(method)), calls }
    }

    /// The client answers the server.
    pub(super) fn client_answers(
        &self,
        id: Option<&Id>,
        wanted: Wanted,
        text: &str,
        outcome: Outcome,
    ) -> Step {
        let beside = Beside::of_answer(outcome, text);
        let extra_inputs = beside.along(text, self.desk.max_arguments());
        let sent = SentMessage { method: wanted.method, calls: &wanted.calls, extra_inputs };
        match self.desk.judge_sent_message(sent) {
            Ok(changed) => to_server(&edited(text, &beside, &changed)),
            Err(_) => to_server(&answers::error(id, answers::REJECTED, NOT_ANSWERED)),
        }
    }

    /// The client answers the server where nobody knows what that has asked.
    pub(crate) fn answers_unasked(&self, message: &Message<'_>) -> Option<Step> {
        let Kind::Answer { id, outcome } = &message.kind else { return None };
        let method = name_of(guessed(message.text, *outcome));
        let wanted = Wanted { number: 0, method, calls: Vec::new() };
        Some(self.client_answers(id.as_ref(), wanted, message.text, *outcome))
    }
}

/// What rules name an answer by.
fn name_of(asked: Option<ServerRequest>) -> &'static str {
    asked.map_or("answer", ServerRequest::method)
}

/// What an answer is to, by what it says.
fn guessed(text: &str, outcome: Outcome) -> Option<ServerRequest> {
    let Outcome::Result(result) = outcome else { return None };
    let has = |key| member(text, result, key).is_some();
    match () {
        () if has("action") => Some(ServerRequest::Elicitation),
        () if has("roots") => Some(ServerRequest::Roots),
        () if has("role") || has("model") => Some(ServerRequest::Sampling),
        () => None,
    }
}

/// A message with what takes the place of parts of it.
pub(super) fn edited<'t>(
    text: &'t str,
    beside: &Beside,
    changed: &[Option<String>],
) -> Cow<'t, str> {
    let mut edits = Edits::default();
    beside.replace(changed, &mut edits);
    match edits.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(edits.apply(text)),
    }
}
