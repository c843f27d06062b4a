//! A session between a client and a server, message by message.
//!
//! No I/O happens here: a message comes in, steps come out. A client's message is forwarded
//! unchanged, answered in place of the server, or held until a [`CallToJudge`] is answered. A
//! server's message is matched with its request, inspected, and forwarded unchanged, forwarded
//! edited, or withheld.
//!
//! ```text
//! client ── client_line ──► ToServer ────────────────────────────► server
//!                  └──────► Judge ──► decided ──► ToServer
//! client ◄────────────────────────────── ToClient ◄── server_line ── server
//! ```

mod client_messages;
mod judged_method;
pub(crate) mod listing;
mod lists;
mod lookalike;
mod ongoing_calls;
mod queue;
mod server;
mod task_owners;

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use callgate_call::Arguments;
use callgate_decide::mcp::{
    AllowedCall, ClientRead, McpCall, McpDecision, McpPending, McpSession, TextSource,
};
use callgate_decide::{Denial, Permit, Recorded};
use callgate_json::{Edits, Span, member};

use parking_lot::Mutex;

use self::client_messages::edited;
use self::judged_method::JudgedMethod;
use self::listing::OwnListings;
use self::queue::ServerQueue;

pub(crate) use self::ongoing_calls::OngoingCalls;
pub(crate) use self::task_owners::TaskOwners;
use crate::answers::{self, Era};
use crate::extra_inputs::ExtraInputs;
use crate::message::{Id, RpcMessage, RpcMessageKind, Unfit};
use crate::params::{self, NameKey, NamedParams, RequestMeta};

/// Maximum number of open requests. Clients have a handful; more are refused.
const MAX_OPEN: usize = 4096;

/// Maximum number of cancelled requests that are remembered: their answers may still arrive.
const MAX_CANCELLED: usize = 256;

/// The state of one session.
#[derive(Debug)]
pub(crate) struct RpcSession {
    mcp_session: McpSession,
    /// Requests of the client that the server has not answered.
    open_requests: HashMap<Id, OpenRequest>,
    /// Requests of the client that have not been judged, or were cancelled before.
    held: HashMap<Id, Held>,
    /// How messages reach the server.
    transport: Transport,
    /// Requests that the client has cancelled. Their answers are dropped.
    cancelled_ids: VecDeque<Id>,
    /// Requests of the server that the client has not answered.
    server_requests: HashMap<Id, PendingServerRequest>,
    /// The number of server requests so far.
    server_request_count: u64,
    listings: OwnListings,
    ongoing_calls: Arc<Mutex<OngoingCalls>>,
    /// Names already logged as hidden, so that each is logged once.
    logged_hidden: HashSet<String>,
}

/// How messages reach the server.
#[derive(Debug)]
enum Transport {
    /// All on one pipe, in order.
    Pipe(ServerQueue),
    /// Each in its own HTTP request. The caller lists tools before calls.
    Requests {
        /// Answered requests that are remembered, because a client that lost an answer may request
        /// it again.
        answered: VecDeque<(Id, OpenRequest)>,
        /// The client has resumed the conversation, so answers may belong to unknown requests.
        resumed: bool,
    },
}

/// The kind of a client request, which determines how its answer is treated.
#[derive(Debug, Clone)]
enum OpenRequest {
    Initialize,
    /// `first` is true for the first page.
    Tools {
        first: bool,
    },
    Prompts,
    Resources,
    Tasks,
    Call {
        called: Box<UnansweredCall>,
        /// A hash of its tool and arguments.
        call_key: u64,
    },
    /// A prompt, a resource, or the result of an unknown task.
    Text(TextSource),
    /// The later result of a call that became a task.
    TaskResult(Box<UnansweredCall>),
    /// The state of such a task, in the revisions in which it does not carry the result.
    TaskState(Box<UnansweredCall>),
    Other,
}

impl OpenRequest {
    /// The call that it is about.
    fn called(&self) -> Option<&UnansweredCall> {
        match self {
            Self::Call { called, .. } | Self::TaskResult(called) | Self::TaskState(called) => {
                Some(called)
            }
            _ => None,
        }
    }
}

/// A request of the server to the client.
#[derive(Debug)]
struct PendingServerRequest {
    /// Its sequence number.
    number: u64,
    /// The name of the answer in rules.
    method: &'static str,
    /// The calls that it may be about.
    calls: Vec<AllowedCall>,
}

/// A call that was forwarded, and the era of the request about it.
#[derive(Debug, Clone)]
struct UnansweredCall {
    call: AllowedCall,
    era: Era,
}

/// A request that waits for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Waiting,
    /// The client has cancelled it: it is neither forwarded nor answered.
    Cancelled,
}

/// What the caller must do next.
#[derive(Debug)]
pub(crate) enum SessionStep {
    Send(OutgoingLine),
    Judge(Box<CallToJudge>),
    /// Our own listing has started: [`RpcSession::listing_late`] gives it up.
    Listing(u64),
}

/// A message that leaves now: a complete line.
#[derive(Debug)]
pub(crate) enum OutgoingLine {
    ToServer(Vec<u8>),
    ToClient(Vec<u8>),
}

/// The messages among the steps for a message of a server over HTTP. There, the caller lists the
/// tools before a call is judged, so no call waits for an answer of the server.
pub(crate) fn messages_over_http(steps: Vec<SessionStep>) -> impl Iterator<Item = OutgoingLine> {
    steps.into_iter().filter_map(|step| match step {
        SessionStep::Send(message) => Some(message),
        SessionStep::Judge(_) | SessionStep::Listing(_) => {
            tracing::error!("a call waited for a list over HTTP; it is not forwarded");
            None
        }
    })
}

/// A call that must be judged before it is forwarded.
#[derive(Debug)]
pub(crate) struct CallToJudge {
    id: Id,
    tool: String,
    arguments: Arguments,
    meta: RequestMeta,
    continues: Option<AllowedCall>,
    era: Era,
    call_key: u64,
    /// The other values in the request.
    extra_inputs: ExtraInputs,
    max_arguments: usize,
    text: String,
    /// The position of its arguments or of a `null` in their place, to replace them.
    arguments_at: Option<Span>,
    /// Where arguments would be inserted if there are none.
    params_end: usize,
}

impl CallToJudge {
    /// Starts judging it. `request` is the HTTP request of the message, if each message has its
    /// own.
    pub(crate) fn ask(&mut self, mcp_session: &McpSession, request: Option<&str>) -> McpPending {
        let arguments = std::mem::replace(&mut self.arguments, Arguments::pending());
        mcp_session.call(McpCall {
            tool: &self.tool,
            arguments,
            call_id: self.meta.call_id.take(),
            session: self.meta.session.take(),
            rpc_id: Some(self.id.json()),
            request: request.map(str::to_owned),
            continues: self.continues.as_ref(),
            extra_inputs: self.extra_inputs.inputs(&self.text, self.max_arguments),
        })
    }
}

impl RpcSession {
    /// A session whose messages come in order on a pipe.
    pub(crate) fn new(mcp_session: McpSession) -> Self {
        Self::on(Transport::Pipe(ServerQueue::default()), mcp_session, Arc::default())
    }

    /// A session whose messages come in separate HTTP requests, and that may be part of a longer
    /// conversation.
    pub(crate) fn of_requests(
        mcp_session: McpSession,
        ongoing_calls: Arc<Mutex<OngoingCalls>>,
    ) -> Self {
        Self::on(
            Transport::Requests { answered: VecDeque::new(), resumed: false },
            mcp_session,
            ongoing_calls,
        )
    }

    fn on(
        transport: Transport,
        mcp_session: McpSession,
        ongoing_calls: Arc<Mutex<OngoingCalls>>,
    ) -> Self {
        Self {
            mcp_session,
            open_requests: HashMap::new(),
            held: HashMap::new(),
            transport,
            cancelled_ids: VecDeque::new(),
            server_requests: HashMap::new(),
            server_request_count: 0,
            listings: OwnListings::default(),
            ongoing_calls,
            logged_hidden: HashSet::new(),
        }
    }

    /// Handles a line of the client.
    pub(crate) fn client_line(&mut self, line: &[u8]) -> Vec<SessionStep> {
        match RpcMessage::read(line) {
            Ok(None) => Vec::new(),
            Ok(Some(message)) => self.client_message(message),
            Err(unfit) => vec![self.refuse(&unfit)],
        }
    }

    /// The refusal of a client message that cannot be forwarded.
    pub(crate) fn refuse(&self, unfit: &Unfit) -> SessionStep {
        self.mcp_session.record_withheld("the client", &unfit.why.to_string());
        let text = format!("callgate did not forward this message: {}", unfit.why);
        to_client(answers::error(unfit.id.as_ref(), unfit.why.code(), &text))
    }

    /// Handles a message of the client.
    pub(crate) fn client_message(&mut self, message: RpcMessage<'_>) -> Vec<SessionStep> {
        let text = message.text;
        match message.kind {
            RpcMessageKind::Request { id, method, params } => {
                self.request(id, &method, text, params)
            }
            RpcMessageKind::Notification { method, params } => {
                self.client_notification(&method, text, params)
            }
            RpcMessageKind::Answer { id, outcome } => {
                match id.and_then(|id| self.server_requests.remove_entry(&id)) {
                    // It answers a server request, which was allowed.
                    Some((id, pending_request)) => {
                        vec![self.client_response(Some(&id), pending_request, text, outcome)]
                    }
                    None => {
                        self.mcp_session.record_withheld(
                            "the client",
                            "it answers a request that the server did not send",
                        );
                        Vec::new()
                    }
                }
            }
        }
    }

    fn client_notification(
        &mut self,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Vec<SessionStep> {
        // Some servers run a request without an id, and just do not answer it.
        if !method.starts_with("notifications/") {
            self.mcp_session.record_withheld("the client", "a request without an id");
            return Vec::new();
        }
        let cancels = params.filter(|_| method == "notifications/cancelled");
        if let Some(id) = cancels.and_then(|params| cancelled(text, params)) {
            if let Some(held) = self.held.get_mut(&id) {
                *held = Held::Cancelled;
                return self.resolve_held(&id, None).into_iter().map(SessionStep::Send).collect();
            }
            // The server no longer needs to answer.
            if self.open_requests.remove(&id).is_some() {
                if self.cancelled_ids.len() >= MAX_CANCELLED {
                    self.cancelled_ids.pop_front();
                }
                self.cancelled_ids.push_back(id);
            }
        }
        match self.judge_message(method, text, params, &[]) {
            Ok(message) => self.forward(&message),
            Err(_) => Vec::new(),
        }
    }

    /// Forwards a message, after the calls that came before it.
    fn forward(&mut self, text: &str) -> Vec<SessionStep> {
        match &mut self.transport {
            Transport::Requests { .. } => vec![to_server(text)],
            Transport::Pipe(queue) if queue.is_empty() => vec![to_server(text)],
            // Requests are refused earlier. A message that nobody waits for is dropped.
            Transport::Pipe(queue) if queue.is_overfull() => {
                self.mcp_session
                    .record_withheld("the client", "too many messages are waiting for a call");
                Vec::new()
            }
            Transport::Pipe(queue) => {
                queue.push(line(text));
                Vec::new()
            }
        }
    }

    /// A held call is decided: forwards `text` in its place, or nothing.
    fn resolve_held(&mut self, id: &Id, text: Option<&str>) -> Vec<OutgoingLine> {
        let lines = match &mut self.transport {
            Transport::Requests { .. } => text.map(line).into_iter().collect(),
            Transport::Pipe(queue) => queue.resolve(id, text.map(line)),
        };
        lines.into_iter().map(OutgoingLine::ToServer).collect()
    }

    fn request(
        &mut self,
        id: Id,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Vec<SessionStep> {
        if self.open_requests.contains_key(&id) || self.held.contains_key(&id) {
            let why = "a request with this id is still waiting for its answer";
            return vec![to_client(answers::error(Some(&id), -32600, why))];
        }
        let is_full = self.open_requests.len() + self.held.len() >= MAX_OPEN
            || matches!(&self.transport, Transport::Pipe(queue) if queue.is_full());
        if self.is_own(&id) {
            let why = "this id is reserved for callgate";
            return vec![to_client(answers::error(Some(&id), -32600, why))];
        }
        if is_full {
            let why = "callgate: too many requests are waiting for answers";
            return vec![to_client(answers::error(Some(&id), answers::REFUSED, why))];
        }
        if JudgedMethod::is_nearly(method) {
            let why = "callgate: some servers read this method as another one. Use its exact name.";
            return vec![to_client(answers::error(Some(&id), -32601, why))];
        }
        if self.is_foreign_task(method, text, params) {
            self.mcp_session.record_withheld("the client", "it asks for a task of another client");
            let why = "callgate: you have not started a task with this id";
            return vec![to_client(answers::error(Some(&id), -32602, why))];
        }
        let open_request = match JudgedMethod::parse(method) {
            Some(JudgedMethod::Call) => return self.call(id, text, params.unwrap_or_default()),
            Some(JudgedMethod::Prompt) => {
                return self.request_read(id, NameKey::Name, text, params.unwrap_or_default());
            }
            Some(JudgedMethod::Resource) => {
                return self.request_read(id, NameKey::Uri, text, params.unwrap_or_default());
            }
            Some(JudgedMethod::Initialize) => OpenRequest::Initialize,
            Some(JudgedMethod::Tools) => {
                let cursor = params.and_then(|params| member(text, params, "cursor"));
                OpenRequest::Tools { first: cursor.is_none_or(|cursor| cursor.of(text) == "null") }
            }
            Some(JudgedMethod::Prompts) => OpenRequest::Prompts,
            Some(JudgedMethod::Resources) => OpenRequest::Resources,
            Some(JudgedMethod::Tasks) => OpenRequest::Tasks,
            Some(JudgedMethod::TaskResult) => {
                self.of_task(text, params).map_or(UNKNOWN_TASK, OpenRequest::TaskResult)
            }
            Some(JudgedMethod::TaskState) => self.task_state(text, params),
            Some(JudgedMethod::Subscription) | None => {
                if let Some(why) = self.against_lookalikes(method, text, params) {
                    return vec![to_client(answers::error(Some(&id), answers::REFUSED, &why))];
                }
                OpenRequest::Other
            }
        };
        let belongs_to = open_request.called().map(|called| called.call.clone());
        match self.judge_message(method, text, params, belongs_to.as_slice()) {
            Ok(message) => {
                self.open_requests.insert(id, open_request);
                self.forward(&message)
            }
            Err(denial) => vec![to_client(answers::error(Some(&id), answers::REFUSED, &denial))],
        }
    }

    /// The call that became the task of these parameters: what the server says about the task is
    /// judged like the call's result.
    fn of_task(&self, text: &str, params: Option<Span>) -> Option<Box<UnansweredCall>> {
        let task = params.and_then(|params| params::text_member(text, params, "taskId"))?;
        let call = self.ongoing_calls.lock().task(&task)?;
        let era = params::era(text, params::meta(text, params));
        Some(Box::new(UnansweredCall { call, era }))
    }

    /// A request about the state of a task, which in the newer revisions carries the result.
    fn task_state(&self, text: &str, params: Option<Span>) -> OpenRequest {
        match self.of_task(text, params) {
            None => UNKNOWN_TASK,
            Some(called) if called.era == Era::Modern => OpenRequest::TaskResult(called),
            Some(called) => OpenRequest::TaskState(called),
        }
    }

    /// Handles a request for a prompt or a resource.
    fn request_read(&mut self, id: Id, key: NameKey, text: &str, params: Span) -> Vec<SessionStep> {
        let named = match NamedParams::read(text, params, key) {
            Ok(named) => named,
            Err(error) => return vec![invalid_params(&id, &error)],
        };
        let arguments = named.arguments.map_or("", |span| span.of(text));
        let extra_inputs = self.extra_inputs(text, &named);
        let what = match key {
            NameKey::Uri => ClientRead::Resource(&named.name),
            NameKey::Name => ClientRead::Prompt { name: &named.name, arguments },
        };
        match self
            .mcp_session
            .judge_read(what, extra_inputs.inputs(text, self.mcp_session.max_arguments()))
        {
            Ok(changed) => {
                let place =
                    if key == NameKey::Uri { TextSource::Resource } else { TextSource::Prompt };
                self.open_requests.insert(id, OpenRequest::Text(place));
                self.forward(&edited(text, &extra_inputs, &changed))
            }
            Err(denial) => {
                vec![to_client(answers::error(
                    Some(&id),
                    answers::REFUSED,
                    &self.mcp_session.denial_text(&denial),
                ))]
            }
        }
    }

    /// Handles a call: it waits for its verdict, and before that for the list of tools.
    fn call(&mut self, id: Id, text: &str, params: Span) -> Vec<SessionStep> {
        let named = match NamedParams::read(text, params, NameKey::Name) {
            Ok(named) => named,
            Err(error) => return vec![invalid_params(&id, &error)],
        };
        let raw = named.arguments.map_or("{}", |span| span.of(text));
        let max_arguments = self.mcp_session.max_arguments();
        let arguments = match raw.len() > max_arguments {
            false => Arguments::json(raw),
            true => Arguments::oversize(
                raw.get(..raw.floor_char_boundary(OVERSIZE_PREFIX)).unwrap_or(""),
            ),
        };
        let call_key = call_key(&named.name, raw);
        let continues =
            named.continues.then(|| self.ongoing_calls.lock().take_round(call_key)).flatten();
        let question = CallToJudge {
            tool: named.name.to_string(),
            arguments,
            meta: RequestMeta::read(text, named.meta),
            continues,
            era: params::era(text, named.meta),
            call_key,
            extra_inputs: self.extra_inputs(text, &named),
            max_arguments,
            text: text.to_owned(),
            arguments_at: named.arguments_at,
            params_end: params.end,
            id: id.clone(),
        };
        if let Transport::Pipe(queue) = &mut self.transport {
            queue.hold(id.clone(), text.len());
        }
        self.held.insert(id, Held::Waiting);
        match self.needs_list() {
            false => vec![SessionStep::Judge(Box::new(question))],
            true => self.list_first(question, params::own_meta(text, named.meta)),
        }
    }

    /// Applies the verdict on a question.
    pub(crate) fn decided(
        &mut self,
        question: CallToJudge,
        decision: McpDecision,
    ) -> Vec<OutgoingLine> {
        let CallToJudge { id, era, call_key, extra_inputs, text, arguments_at, params_end, .. } =
            question;
        if self.held.remove(&id) != Some(Held::Waiting) {
            return self.resolve_held(&id, None);
        }
        let (permit, extra_replacements, call) = match decision {
            McpDecision::Allow { permit, extra_replacements, call } if call.is_for(&permit) => {
                (permit, extra_replacements, call)
            }
            McpDecision::Allow { call, .. } => {
                let denial = Denial::refused(call.tool(), "the permit is for another call");
                return self.refuse_call(&id, era, &denial);
            }
            McpDecision::Deny(denial) => return self.refuse_call(&id, era, &denial),
        };
        let rewritten = permit.rewritten().map(str::to_owned);
        let called = Box::new(UnansweredCall { call, era });
        self.open_requests.insert(id.clone(), OpenRequest::Call { called, call_key });
        let mut edits = Edits::default();
        extra_inputs.replace(&extra_replacements, &mut edits);
        match (rewritten, arguments_at) {
            (None, _) if edits.is_empty() => return self.release(permit, &id, &text),
            (None, _) => {}
            (Some(rewritten), Some(at)) => edits.replace(at, rewritten),
            (Some(rewritten), None) => {
                edits.insert(params_end.saturating_sub(1), format!(",\"arguments\":{rewritten}"));
            }
        }
        self.release(permit, &id, &edits.apply(&text))
    }

    /// Sends a held call to the server. Requires its recorded permit.
    fn release(&mut self, _proof: Recorded<Permit>, id: &Id, text: &str) -> Vec<OutgoingLine> {
        self.resolve_held(id, Some(text))
    }

    fn refuse_call(&mut self, id: &Id, era: Era, denial: &Denial) -> Vec<OutgoingLine> {
        let mut messages = self.resolve_held(id, None);
        let answer = answers::refused_call(id, era, &self.mcp_session.denial_text(denial));
        messages.push(OutgoingLine::ToClient(line(&answer)));
        messages
    }

    /// The client resumes a conversation. If nothing is known about it, answers may belong to
    /// requests that were sent before callgate started.
    pub(crate) fn note_resumption(&mut self) {
        let is_new = self.open_requests.is_empty() && self.held.is_empty();
        if let Transport::Requests { resumed, answered } = &mut self.transport {
            *resumed |= is_new && answered.is_empty();
        }
    }

    /// Forgets a request that could not be forwarded and will get no answer.
    pub(crate) fn forget(&mut self, id: &Id) {
        self.open_requests.remove(id);
    }

    /// Whether all calls have been decided.
    pub(crate) fn is_all_decided(&self) -> bool {
        self.held.is_empty()
    }

    /// Handles a line of the client that is too long to read.
    pub(crate) fn client_too_large(&self, head: &[u8], limit: usize) -> SessionStep {
        self.refuse(&Unfit::too_large(head, limit))
    }
}

/// A method without surrounding white space and control characters.
fn plain(method: &str) -> &str {
    method.trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

/// A request about a task of which no call is known.
const UNKNOWN_TASK: OpenRequest = OpenRequest::Text(TextSource::Result);

/// How much of oversized arguments is kept.
const OVERSIZE_PREFIX: usize = 4096;

/// Identifies a call by its tool and its arguments.
fn call_key(tool: &str, arguments: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    (tool, arguments).hash(&mut hash);
    hash.finish()
}

fn invalid_params(id: &Id, error: &callgate_json::Error) -> SessionStep {
    let why = format!("callgate did not forward this request: its params: {error}");
    to_client(answers::error(Some(id), -32602, &why))
}

/// The request that a notification cancels.
fn cancelled(text: &str, params: Span) -> Option<Id> {
    Id::at(text, member(text, params, "requestId")?)
}

fn to_server(text: &str) -> SessionStep {
    SessionStep::Send(OutgoingLine::ToServer(line(text)))
}

fn to_client(text: impl AsRef<str>) -> SessionStep {
    SessionStep::Send(OutgoingLine::ToClient(line(text.as_ref())))
}

fn line(text: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(text.len() + 1);
    line.extend_from_slice(text.as_bytes());
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests;
