//! Messages of the server.

use std::collections::VecDeque;

use callgate_decide::mcp::{Inspected, ListAction, ListPage, ServerRequest, TextSource};
use callgate_json::{Edits, Member, Span, elements, member, members};

use memchr::memmem;

use super::listing::judged_next;
use super::lists::{self, ListKind};
use super::{
    MAX_OPEN, OpenRequest, RpcSession, SessionStep, Transport, UnansweredCall, plain, to_client,
    to_server,
};
use crate::answers;
use crate::message::{AnswerContent, Id, RpcMessage, RpcMessageKind, Unfit};
use crate::params;

impl RpcSession {
    /// Handles a line of the server.
    pub(crate) fn server_line(&mut self, line: &[u8]) -> Vec<SessionStep> {
        match RpcMessage::read(line) {
            Ok(None) => Vec::new(),
            Ok(Some(message)) => self.server_message(message),
            Err(unfit) => self.withhold(&unfit, line),
        }
    }

    /// Handles a line of the server that is too long to read.
    pub(crate) fn server_too_large(&mut self, head: &[u8], limit: usize) -> Vec<SessionStep> {
        self.withhold(&Unfit::too_large(head, limit), head)
    }

    /// Withholds a message, with an error for the request that waits for it.
    pub(crate) fn withhold(&mut self, unfit: &Unfit, line: &[u8]) -> Vec<SessionStep> {
        self.mcp_session.record_withheld("the server", &unfit.why.to_string());
        // If exactly one request is open, this must be its answer, unless it is a greeting or a log
        // line.
        let is_only = self.open_requests.len() == 1 && is_like_an_answer(line);
        let only = || self.open_requests.keys().next().filter(|_| is_only).cloned();
        let known =
            unfit.id.clone().filter(|id| self.open_requests.contains_key(id) || self.is_own(id));
        let Some(id) = &known.or_else(only) else { return Vec::new() };
        if self.is_own(id) {
            return judged_next(self.listing_failed());
        }
        let text = format!("callgate withheld the server's response: {}", unfit.why);
        match self.open_requests.remove(id) {
            None => Vec::new(),
            Some(open_request) => vec![error_answer(id, &open_request, &text)],
        }
    }

    /// Handles a message of the server.
    pub(crate) fn server_message(&mut self, message: RpcMessage<'_>) -> Vec<SessionStep> {
        let text = message.text;
        match message.kind {
            RpcMessageKind::Request { id, method, params } => {
                self.server_request(id, &method, text, params)
            }
            RpcMessageKind::Notification { method, params } => {
                self.server_notification(&method, text, params)
            }
            // It did not understand some message, but it is unknown which.
            RpcMessageKind::Answer { id: None, outcome } => {
                let (AnswerContent::Error(at) | AnswerContent::Result(at)) = outcome;
                self.forward_text(text, at, TextSource::Result)
            }
            RpcMessageKind::Answer { id: Some(id), outcome } if self.is_own(&id) => {
                self.own_page(text, outcome)
            }
            RpcMessageKind::Answer { id: Some(id), outcome } => match self.take_open_request(&id) {
                Some(open_request) => self.server_response(&id, open_request, text, outcome),
                None if self.cancelled_ids.contains(&id) => Vec::new(),
                None if matches!(self.transport, Transport::Requests { resumed: true, .. }) => {
                    self.server_response(&id, guess_request(text, outcome), text, outcome)
                }
                None => {
                    self.mcp_session.record_withheld(
                        "the server",
                        "it answers a request that the client did not send",
                    );
                    Vec::new()
                }
            },
        }
    }

    /// The request that an answer belongs to.
    fn take_open_request(&mut self, id: &Id) -> Option<OpenRequest> {
        let open_request = self.open_requests.remove(id);
        let Transport::Requests { answered, .. } = &mut self.transport else { return open_request };
        match open_request {
            Some(open_request) => {
                remember(answered, id, open_request.clone());
                Some(open_request)
            }
            // A client that lost the answer asked the server to repeat it.
            None => answered.iter().rev().find(|(known, _)| known == id).map(|(_, it)| it.clone()),
        }
    }

    /// The HTTP request of this message has ended, with or without an answer. Without one, the
    /// client may still fetch the answer if the server keeps it.
    pub(crate) fn request_ended(&mut self, id: &Id) {
        self.held.remove(id);
        if let (Transport::Requests { answered, .. }, Some(open_request)) =
            (&mut self.transport, self.open_requests.remove(id))
        {
            remember(answered, id, open_request);
        }
    }

    /// Handles an answer to a request of the client.
    fn server_response(
        &mut self,
        id: &Id,
        open_request: OpenRequest,
        text: &str,
        outcome: AnswerContent,
    ) -> Vec<SessionStep> {
        let (AnswerContent::Result(content) | AnswerContent::Error(content)) = outcome;
        // Read only once, because results may be large.
        let parts = members(text, content);
        if let Err(refused) = self.check_embedded_requests(text, &parts, outcome) {
            return vec![error_answer(id, &open_request, &refused)];
        }
        let result = match outcome {
            AnswerContent::Result(result) => result,
            AnswerContent::Error(error) => {
                return self.forward_text_or_error(
                    text,
                    error,
                    TextSource::Result,
                    id,
                    &open_request,
                );
            }
        };
        match &open_request {
            OpenRequest::Initialize => self.initialize_result(id, text, result, &open_request),
            OpenRequest::Tools { first } => {
                let last = lists::next_cursor(text, result).is_none();
                let page = ListPage { first: *first, last };
                self.list(id, text, result, ListKind::Tools(page), &open_request)
            }
            OpenRequest::Prompts => self.list(id, text, result, ListKind::Prompts, &open_request),
            OpenRequest::Resources => {
                self.list(id, text, result, ListKind::Resources, &open_request)
            }
            OpenRequest::Call { called, .. }
            | OpenRequest::TaskResult(called)
            | OpenRequest::TaskState(called) => {
                self.remember_call(text, &parts, &open_request, called);
                self.call_result(id, text, result, &open_request, called)
            }
            OpenRequest::Tasks => self.tasks(id, text, result, &open_request),
            OpenRequest::Text(place) => {
                self.keep_state(text, &parts);
                self.note_task_owner(text, &parts, &open_request);
                self.forward_text_or_error(text, result, *place, id, &open_request)
            }
            OpenRequest::Other => {
                self.note_task_owner(text, &parts, &open_request);
                self.forward_text_or_error(text, result, TextSource::Result, id, &open_request)
            }
        }
    }

    /// The answer to the handshake: inspects the instructions for the model, then everything else.
    fn initialize_result(
        &mut self,
        id: &Id,
        text: &str,
        result: Span,
        open_request: &OpenRequest,
    ) -> Vec<SessionStep> {
        let all = members(text, result);
        let mut edits = Edits::default();
        if let Some(content) = all.iter().find(|member| member.key.is("instructions")) {
            match self.mcp_session.judge_instructions(content.value.of(text)) {
                ListAction::Keep => {}
                ListAction::Replace(stripped) => edits.replace(content.value, stripped),
                ListAction::Hide { why } => {
                    self.log_hidden("the instructions", &why);
                    let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
                    edits.remove(&spans, |place| spans.get(place) == Some(&content.span));
                }
            }
        }
        let rest = all.iter().filter(|member| !member.key.is("instructions"));
        for member in rest {
            match self.mcp_session.judge_text(TextSource::Instructions, member.value.of(text)) {
                Inspected::Pass => {}
                Inspected::Replace(other) => edits.replace(member.value, other),
                Inspected::Block(denial) => {
                    return vec![error_answer(
                        id,
                        open_request,
                        &self.mcp_session.withheld_text(&denial),
                    )];
                }
            }
        }
        vec![to_client(edits.apply(text))]
    }

    /// Logs once that something is hidden.
    fn log_hidden(&mut self, what: &str, why: &str) {
        if self.logged_hidden.len() < MAX_LOGGED_HIDDEN
            && self.logged_hidden.insert(format!("{what}: {why}"))
        {
            tracing::warn!(what, why, "not shown to the client; see `callgate mcp events`");
        }
    }

    fn list(
        &mut self,
        id: &Id,
        text: &str,
        result: Span,
        list: ListKind,
        open_request: &OpenRequest,
    ) -> Vec<SessionStep> {
        let Some(entries) = lists::items(text, result, list) else {
            let why = "callgate withheld the server's list: it cannot be read unambiguously";
            self.mcp_session
                .record_withheld("the server", "a list that cannot be read unambiguously");
            return vec![error_answer(id, open_request, why)];
        };
        let raw: Vec<&str> = entries.iter().map(|entry| entry.of(text)).collect();
        // The rest of the result reaches the client too.
        let rest = lists::without_entries(text, result, &entries);
        if let Inspected::Block(denial) =
            self.mcp_session.judge_text(TextSource::Instructions, &rest)
        {
            return vec![error_answer(id, open_request, &self.mcp_session.withheld_text(&denial))];
        }
        let mut verdicts = match list {
            ListKind::Tools(page) => self.mcp_session.judge_tools(&raw, page),
            ListKind::Prompts => self.mcp_session.judge_prompts(&raw),
            ListKind::Resources => self.mcp_session.judge_resources(&raw),
        };
        for (verdict, raw) in verdicts.iter_mut().zip(&raw) {
            if lists::has_odd_keys(raw) {
                *verdict = ListAction::Hide { why: "a key in another case".to_owned() };
            }
            if let ListAction::Hide { why } = verdict {
                self.log_hidden(&lists::name_of(raw), why);
            }
        }
        match lists::edited(text, &entries, &verdicts) {
            None => vec![to_client(text)],
            Some(edited) => vec![to_client(edited)],
        }
    }

    /// A list of tasks: removes those of other principals.
    fn tasks(
        &mut self,
        id: &Id,
        text: &str,
        result: Span,
        open_request: &OpenRequest,
    ) -> Vec<SessionStep> {
        let all = member(text, result, "tasks").map(|tasks| elements(text, tasks));
        let all = all.unwrap_or_default();
        let belongs_to_another = |task: &str| self.ongoing_calls.lock().belongs_to_another(task);
        let gone = |at: usize| {
            all.get(at).is_some_and(|task| params::holds_text(text, *task, &belongs_to_another))
        };
        let mut edits = Edits::default();
        edits.remove(&all, gone);
        let edited = edits.apply(text);
        let end = result.end - (text.len() - edited.len());
        let result = Span { start: result.start, end };
        self.forward_text_or_error(&edited, result, TextSource::Result, id, open_request)
    }

    /// The result of a call, or what the server says about its task.
    fn call_result(
        &mut self,
        id: &Id,
        text: &str,
        result: Span,
        open_request: &OpenRequest,
        called: &UnansweredCall,
    ) -> Vec<SessionStep> {
        match self.mcp_session.judge_result(&called.call, result.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, result, other))],
            Inspected::Block(denial) => {
                vec![error_answer(id, open_request, &self.mcp_session.withheld_text(&denial))]
            }
        }
    }

    /// A server may answer any request with a task. A message about an existing task does not start
    /// one.
    fn note_task_owner(&self, text: &str, result: &[Member<'_>], open_request: &OpenRequest) {
        let content = |key| part(result, key).and_then(|content| params::string(text, content));
        let begins = !matches!(open_request, OpenRequest::Text(TextSource::Result))
            && content("resultType").as_deref() == Some("task");
        if let Some(task) = content("taskId").filter(|_| begins) {
            self.ongoing_calls.lock().own_task(&task);
        }
    }

    /// The call continues, as a task or after the client has answered: what follows belongs to it.
    fn remember_call(
        &mut self,
        text: &str,
        result: &[Member<'_>],
        open_request: &OpenRequest,
        called: &UnansweredCall,
    ) {
        let task = match part(result, "task") {
            Some(task) => member(text, task, "taskId"),
            None => part(result, "taskId"),
        };
        if let Some(task) = task.and_then(|task| params::string(text, task)) {
            let mut ongoing_calls = self.ongoing_calls.lock();
            ongoing_calls.own_task(&task);
            ongoing_calls.keep_task(task, called.call.clone());
        }
        let asks = self.keep_state(text, result);
        if let (true, OpenRequest::Call { call_key, .. }) = (asks, open_request) {
            self.ongoing_calls.lock().keep_round(*call_key, called.call.clone());
        }
    }

    /// The server asks the client for input, and may give it a state to send back. Returns whether
    /// it asks.
    fn keep_state(&self, text: &str, result: &[Member<'_>]) -> bool {
        let content = |key| part(result, key).and_then(|content| params::string(text, content));
        let asks = content("resultType").as_deref() == Some("input_required");
        if let Some(state) = content("requestState").filter(|_| asks) {
            self.ongoing_calls.lock().keep_state(&state);
        }
        asks
    }

    /// Checks requests inside an answer or a notification. One refused request is enough to
    /// withhold the message: the client must not see it, and it cannot be answered separately.
    fn check_embedded_requests(
        &self,
        text: &str,
        content: &[Member<'_>],
        outcome: AnswerContent,
    ) -> Result<(), String> {
        if let AnswerContent::Error(error) = outcome
            && part(content, "code").is_some_and(|code| code.of(text) == ASKS_FOR_URL)
        {
            self.check_server_request(
                ServerRequest::Elicitation,
                part(content, "data").unwrap_or(error),
                text,
            )?;
        }
        let of_task = part(content, "task").map_or_else(Vec::new, |task| members(text, task));
        for member in content.iter().chain(&of_task) {
            let key = member.key.decode().unwrap_or_default();
            if key.eq_ignore_ascii_case("inputRequests") {
                self.check_input_requests(text, &key, member.value)?;
            }
        }
        Ok(())
    }

    fn check_input_requests(&self, text: &str, key: &str, requests: Span) -> Result<(), String> {
        let unread =
            || "callgate withheld an answer with questions that cannot be read.".to_owned();
        let is_object = requests.of(text).starts_with('{');
        if requests.of(text) == "null" {
            return Ok(());
        }
        if key != "inputRequests" || !is_object {
            return Err(unread());
        }
        for request in members(text, requests) {
            let method = params::text_member(text, request.value, "method").ok_or_else(unread)?;
            let params = member(text, request.value, "params").unwrap_or(request.value);
            if let Some(what) = server_request_kind(&method) {
                self.check_server_request(what, params, text)?;
            }
        }
        Ok(())
    }

    fn check_server_request(
        &self,
        what: ServerRequest,
        params: Span,
        text: &str,
    ) -> Result<(), String> {
        match self.mcp_session.judge_server_request(what, params.of(text)) {
            Ok(Inspected::Pass | Inspected::Replace(_)) => Ok(()),
            Ok(Inspected::Block(denial)) | Err(denial) => {
                Err(self.mcp_session.withheld_text(&denial))
            }
        }
    }

    /// Handles a request of the server to the client.
    fn server_request(
        &mut self,
        id: Id,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Vec<SessionStep> {
        self.server_request_count += 1;
        if self.server_requests.len() >= MAX_OPEN {
            // Too many are open. The client no longer answers the oldest, so forget it.
            let oldest = self
                .server_requests
                .iter()
                .min_by_key(|(_, pending_request)| pending_request.number);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.and_then(|oldest| self.server_requests.remove(&oldest));
        }
        let pending_request = self.pending_server_request(method);
        let Some(what) = server_request_kind(method) else {
            self.server_requests.insert(id, pending_request);
            return params.map_or_else(
                || vec![to_client(text)],
                |params| self.forward_text(text, params, TextSource::Progress),
            );
        };
        // Without parameters there is nothing to inspect or replace.
        let (params, raw) = match params {
            Some(params) => (params, params.of(text)),
            None => (Span::default(), "{}"),
        };
        match self.mcp_session.judge_server_request(what, raw) {
            Ok(Inspected::Pass) => {
                self.server_requests.insert(id, pending_request);
                vec![to_client(text)]
            }
            Ok(Inspected::Replace(other)) => {
                self.server_requests.insert(id, pending_request);
                vec![to_client(replaced(text, params, other))]
            }
            Ok(Inspected::Block(denial)) | Err(denial) => {
                vec![to_server(&match what {
                    ServerRequest::Elicitation => answers::declined(&id),
                    _ => answers::error(Some(&id), answers::REJECTED, &denial.reason),
                })]
            }
        }
    }

    fn server_notification(
        &mut self,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Vec<SessionStep> {
        if method == "notifications/tools/list_changed" {
            self.tools_changed();
        }
        if let Some(params) = params
            && self
                .check_embedded_requests(
                    text,
                    &members(text, params),
                    AnswerContent::Result(params),
                )
                .is_err()
        {
            return Vec::new();
        }
        match params {
            Some(params) => self.forward_text(text, params, TextSource::Progress),
            None => vec![to_client(text)],
        }
    }

    /// Forwards a text that a person or a model will read. A blocked one is dropped.
    fn forward_text(&mut self, text: &str, at: Span, place: TextSource) -> Vec<SessionStep> {
        match self.mcp_session.judge_text(place, at.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, at, other))],
            Inspected::Block(_) => Vec::new(),
        }
    }

    /// Like [`Self::forward_text`], for an answer. A blocked one is replaced by an error.
    fn forward_text_or_error(
        &mut self,
        text: &str,
        at: Span,
        place: TextSource,
        id: &Id,
        open_request: &OpenRequest,
    ) -> Vec<SessionStep> {
        match self.mcp_session.judge_text(place, at.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, at, other))],
            Inspected::Block(denial) => {
                vec![error_answer(id, open_request, &self.mcp_session.withheld_text(&denial))]
            }
        }
    }
}

/// The value of a key among these members.
fn part(members: &[Member<'_>], key: &str) -> Option<Span> {
    members.iter().find(|member| member.key.is(key)).map(|member| member.value)
}

/// Guesses a request by its answer.
fn guess_request(text: &str, outcome: AnswerContent) -> OpenRequest {
    let AnswerContent::Result(result) = outcome else { return OpenRequest::Other };
    let has = |key| member(text, result, key).is_some();
    match () {
        () if has("tools") => OpenRequest::Tools { first: false },
        () if has("prompts") => OpenRequest::Prompts,
        () if has("resources") || has("resourceTemplates") => OpenRequest::Resources,
        () if has("instructions") || has("serverInfo") => OpenRequest::Initialize,
        () => OpenRequest::Other,
    }
}

/// The error in place of an answer that is not forwarded.
fn error_answer(id: &Id, open_request: &OpenRequest, text: &str) -> SessionStep {
    to_client(match open_request {
        OpenRequest::Call { called, .. } | OpenRequest::TaskResult(called) => {
            answers::refused_call(id, called.era, text)
        }
        _ => answers::error(Some(id), answers::REFUSED, text),
    })
}

/// Whether an unreadable line looks like an answer.
fn is_like_an_answer(line: &[u8]) -> bool {
    let holds = |key: &[u8]| memmem::find(line, key).is_some();
    matches!(line.trim_ascii_start(), [b'{' | b'[', ..])
        && (holds(b"\"result\"") || holds(b"\"error\""))
}

fn remember(answered: &mut VecDeque<(Id, OpenRequest)>, id: &Id, open_request: OpenRequest) {
    if answered.len() >= MAX_ANSWERED {
        answered.pop_front();
    }
    answered.push_back((id.clone(), open_request));
}

/// Maximum number of requests that are remembered after their answer arrived or was lost. Answers
/// to older ones are withheld.
const MAX_ANSWERED: usize = 256;

/// The error with which a server of the older revisions sends a user to a web page.
const ASKS_FOR_URL: &str = "-32042";

/// Maximum number of hidden things that are logged.
const MAX_LOGGED_HIDDEN: usize = 1000;

/// The kind of a server's request, if it is one to the client or its user.
pub(super) fn server_request_kind(method: &str) -> Option<ServerRequest> {
    // Some clients accept other spellings.
    match plain(method).to_ascii_lowercase().as_str() {
        "sampling/createmessage" => Some(ServerRequest::Sampling),
        "elicitation/create" => Some(ServerRequest::Elicitation),
        "roots/list" => Some(ServerRequest::Roots),
        _ => None,
    }
}

fn replaced(text: &str, at: Span, other: String) -> String {
    let mut edits = Edits::default();
    edits.replace(at, other);
    edits.apply(text)
}
