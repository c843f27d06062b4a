//! Messages of the client other than calls: its answers to the server, and other methods.

use std::borrow::Cow;

use callgate_decide::mcp::{AllowedCall, SentMessage, ServerRequest};
use callgate_json::{Edits, Span, member};

use super::server::server_request_kind;
use super::{PendingServerRequest, RpcSession, SessionStep, to_server};
use crate::answers;
use crate::extra_inputs::ExtraInputs;
use crate::message::{AnswerContent, Id, RpcMessage, RpcMessageKind};
use crate::params::{self, NamedParams};

/// Sent to the server in place of a withheld answer. It does not say why: the server must not learn
/// the rules.
const NOT_ANSWERED: &str = "The gateway of this client did not forward its answer.";

/// Maximum number of different calls that an answer may be about. Servers send requests during one
/// call. Beyond this, an answer is judged as part of the first ones, and by itself.
const MAX_CALLS: usize = 64;

impl RpcSession {
    /// The values in parameters in addition to a name and arguments.
    pub(super) fn extra_inputs(&self, text: &str, named: &NamedParams<'_>) -> ExtraInputs {
        ExtraInputs::of_members(text, &named.other_members, |state| {
            self.ongoing_calls.lock().was_given(state)
        })
    }

    /// Judges a message that is not a call. Returns the text to forward, or why not.
    pub(super) fn judge_message<'t>(
        &self,
        method: &str,
        text: &'t str,
        params: Option<Span>,
        calls: &[AllowedCall],
    ) -> Result<Cow<'t, str>, String> {
        let is_given = |state: &str| self.ongoing_calls.lock().was_given(state);
        let extra_inputs = ExtraInputs::of(method, text, params, is_given);
        let inputs = extra_inputs.inputs(text, self.mcp_session.max_arguments());
        let sent = SentMessage { method, calls, extra_inputs: inputs };
        match self.mcp_session.judge_sent_message(sent) {
            Ok(changed) => Ok(edited(text, &extra_inputs, &changed)),
            Err(denial) => Err(self.mcp_session.denial_text(&denial)),
        }
    }

    /// Whether a request is about a task that the server started for another principal. The server
    /// may not distinguish them, because all requests may carry our token.
    pub(super) fn is_foreign_task(&self, method: &str, text: &str, params: Option<Span>) -> bool {
        let names_tasks = method.starts_with("tasks/") || method == "subscriptions/listen";
        let belongs_to_another = |task: &str| self.ongoing_calls.lock().belongs_to_another(task);
        let params = params.filter(|_| names_tasks);
        params.is_some_and(|params| params::holds_text(text, params, &belongs_to_another))
    }

    /// A new request of the server, with the calls that it may be about.
    pub(super) fn pending_server_request(&self, method: &str) -> PendingServerRequest {
        let mut calls: Vec<AllowedCall> = Vec::new();
        for request in self.open_requests.values() {
            let Some(called) = request.called() else { continue };
            let is_known = calls.iter().any(|call| call.tool() == called.call.tool());
            if !is_known && calls.len() < MAX_CALLS {
                calls.push(called.call.clone());
            }
        }
        PendingServerRequest {
            number: self.server_request_count,
            method: name_of(server_request_kind(method)),
            calls,
        }
    }

    /// The client answers a request of the server.
    pub(super) fn client_response(
        &self,
        id: Option<&Id>,
        pending_request: PendingServerRequest,
        text: &str,
        outcome: AnswerContent,
    ) -> SessionStep {
        let extra_inputs = ExtraInputs::of_answer(outcome, text);
        let inputs = extra_inputs.inputs(text, self.mcp_session.max_arguments());
        let PendingServerRequest { method, calls, .. } = &pending_request;
        let sent = SentMessage { method, calls, extra_inputs: inputs };
        match self.mcp_session.judge_sent_message(sent) {
            Ok(changed) => to_server(&edited(text, &extra_inputs, &changed)),
            Err(_) => to_server(&answers::error(id, answers::REJECTED, NOT_ANSWERED)),
        }
    }

    /// The client answers the server, but the request is unknown.
    pub(crate) fn judge_unmatched_answer(&self, message: &RpcMessage<'_>) -> Option<SessionStep> {
        let RpcMessageKind::Answer { id, outcome } = &message.kind else { return None };
        let method = name_of(guess_server_request(message.text, *outcome));
        let pending_request = PendingServerRequest { number: 0, method, calls: Vec::new() };
        Some(self.client_response(id.as_ref(), pending_request, message.text, *outcome))
    }
}

/// The name of an answer in rules.
fn name_of(request: Option<ServerRequest>) -> &'static str {
    request.map_or("answer", ServerRequest::method)
}

/// Guesses the request of an answer by its content.
fn guess_server_request(text: &str, outcome: AnswerContent) -> Option<ServerRequest> {
    let AnswerContent::Result(result) = outcome else { return None };
    let has = |key| member(text, result, key).is_some();
    match () {
        () if has("action") => Some(ServerRequest::Elicitation),
        () if has("roots") => Some(ServerRequest::Roots),
        () if has("role") || has("model") => Some(ServerRequest::Sampling),
        () => None,
    }
}

/// A message with some of its parts replaced.
pub(super) fn edited<'t>(
    text: &'t str,
    extra_inputs: &ExtraInputs,
    changed: &[Option<String>],
) -> Cow<'t, str> {
    let mut edits = Edits::default();
    extra_inputs.replace(changed, &mut edits);
    match edits.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(edits.apply(text)),
    }
}
