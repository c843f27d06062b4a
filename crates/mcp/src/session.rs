//! A client and a server, message by message.
//!
//! No I/O happens here: a message comes in, steps come out. What a client sends is either handed on as it
//! came, answered in the server's place, or held until a [`Question`] is answered. What a server sends is
//! paired with what it answers, looked at, and handed on as it came, edited, or not at all.
//!
//! ```text
//! client ── client_line ──► ToServer ────────────────────────────► server
//!                  └──────► Judge ──► decided ──► ToServer
//! client ◄────────────────────────────── ToClient ◄── server_line ── server
//! ```

pub(crate) mod listing;
mod lists;
mod lookalike;
mod memory;
mod owners;
mod queue;
mod sends;
mod server;

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use callgate_call::Arguments;
use callgate_call::json::{Edits, Span, member};
use callgate_decide::mcp::{
    CallTicket, ClientRead, McpCall, McpDecision, McpPending, McpSession, Place,
};
use callgate_decide::{Denial, Permit, Recorded};

use parking_lot::Mutex;

use self::listing::Listing;
use self::queue::Queue;
use self::sends::edited;

pub(crate) use self::memory::Memory;
pub(crate) use self::owners::Owners;
use crate::answers::{self, Era};
use crate::beside::Beside;
use crate::message::{Id, Kind, Message, Unfit};
use crate::params::{self, Meta, NameKey, Named};

/// The most requests that may wait for answers at once. Clients have a handful; what is beyond is
/// refused.
const MAX_OPEN: usize = 4096;

/// Requests that were called off and are remembered: their answers may be on their way.
const MAX_CALLED_OFF: usize = 256;

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Session {
    desk: Arc<McpSession>,
    /// Requests of the client that the server has not answered.
    asked: HashMap<Id, Asked>,
    /// Requests of the client that are not judged yet.
    held: HashMap<Id, Held>,
    /// What goes to the server, where its order must be kept.
    way: Way,
    /// Requests that the client has called off: their answers are nobody's.
    called_off: VecDeque<Id>,
    /// Requests of the server that the client has not answered.
    wanted: HashMap<Id, Wanted>,
    /// Requests of the server so far.
    wants: u64,
    listing: Listing,
    memory: Arc<Mutex<Memory>>,
    /// Tools and the like of which was said that they are not shown.
    told: HashSet<String>,
}

/// How messages go to the server.
#[derive(Debug)]
enum Way {
    /// All on one way, one behind the other.
    Pipe(Queue),
    /// Each by itself, in a request of its own. Whoever carries them lists tools before calls.
    Requests {
        /// Requests that were answered and are remembered: a client that lost an answer may ask for
        /// it again.
        answered: VecDeque<(Id, Asked)>,
        /// The client has asked for what it lost: answers may be to requests that we do not know.
        resumed: bool,
    },
}

/// What a request of the client was, to know what its answer is.
#[derive(Debug, Clone)]
enum Asked {
    Hello,
    /// Whether it asks for the first page.
    Tools {
        first: bool,
    },
    Prompts,
    Resources,
    Tasks,
    Call(Box<Called>),
    /// A prompt or a resource, or what comes of a task that nobody knows.
    Text(Place),
    /// What comes of a call later.
    Task(Box<Called>),
    Other,
}

/// What the server wants of the client.
#[derive(Debug)]
struct Wanted {
    /// The how many-th it is.
    number: u64,
    /// What rules name the answer by.
    method: &'static str,
    /// The calls that it may be about.
    calls: Vec<CallTicket>,
}

/// A call that was handed on.
#[derive(Debug, Clone)]
struct Called {
    ticket: CallTicket,
    era: Era,
    /// By tool and arguments.
    same: u64,
}

/// A request that waits for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Waiting,
    /// The client does not want it any more: it is not handed on, and not answered.
    Cancelled,
}

/// What is to be done. Messages are whole lines.
#[derive(Debug)]
pub(crate) enum Step {
    ToServer(Vec<u8>),
    ToClient(Vec<u8>),
    Judge(Box<Question>),
    /// A listing of our own has begun: [`Session::listing_late`] gives it up.
    Listing(u64),
}

/// A call that must be judged before it is handed on.
#[derive(Debug)]
pub(crate) struct Question {
    id: Id,
    tool: String,
    arguments: Arguments,
    meta: Meta,
    continues: Option<CallTicket>,
    era: Era,
    same: u64,
    /// What goes along with it.
    beside: Beside,
    max_arguments: usize,
    text: String,
    /// Where its arguments stand, to put others in their place.
    arguments_at: Option<Span>,
    /// Where they would stand.
    params_end: usize,
}

impl Question {
    /// Asks it. `request` is the one it came in, where each message has one of its own.
    pub(crate) fn ask(&mut self, desk: &McpSession, request: Option<&str>) -> McpPending {
        let arguments = std::mem::replace(&mut self.arguments, Arguments::pending());
        desk.call(McpCall {
            tool: &self.tool,
            arguments,
            call_id: self.meta.call_id.take(),
            session: self.meta.session.take(),
            rpc_id: Some(self.id.json()),
            request: request.map(str::to_owned),
            continues: self.continues.as_ref(),
            extra_inputs: self.beside.along(&self.text, self.max_arguments),
        })
    }
}

impl Session {
    /// A conversation whose messages come one behind the other.
    pub(crate) fn new(desk: Arc<McpSession>) -> Self {
        Self::on(Way::Pipe(Queue::default()), desk, Arc::default())
    }

    /// One whose messages come in requests of their own, and that may be a part of a longer one.
    pub(crate) fn of_requests(desk: Arc<McpSession>, memory: Arc<Mutex<Memory>>) -> Self {
        Self::on(Way::Requests { answered: VecDeque::new(), resumed: false }, desk, memory)
    }

    fn on(way: Way, desk: Arc<McpSession>, memory: Arc<Mutex<Memory>>) -> Self {
        Self {
            desk,
            asked: HashMap::new(),
            held: HashMap::new(),
            way,
            called_off: VecDeque::new(),
            wanted: HashMap::new(),
            wants: 0,
            listing: Listing::default(),
            memory,
            told: HashSet::new(),
        }
    }

    /// A line of the client.
    pub(crate) fn client_line(&mut self, line: &[u8]) -> Vec<Step> {
        match Message::read(line) {
            Ok(None) => Vec::new(),
            Ok(Some(message)) => self.client_says(message),
            Err(unfit) => vec![self.refuse(&unfit)],
        }
    }

    /// A message of the client that cannot be handed on.
    pub(crate) fn refuse(&self, unfit: &Unfit) -> Step {
        self.desk.withheld("the client", &unfit.why.to_string());
        let text = format!("callgate did not hand this message on: {}", unfit.why);
        to_client(answers::error(unfit.id.as_ref(), unfit.why.code(), &text))
    }

    /// A message of the client.
    pub(crate) fn client_says(&mut self, message: Message<'_>) -> Vec<Step> {
        let text = message.text;
        match message.kind {
            Kind::Request { id, method, params } => self.request(id, &method, text, params),
            Kind::Notification { method, params } => self.client_tells(&method, text, params),
            Kind::Answer { id, outcome } => match id.and_then(|id| self.wanted.remove_entry(&id)) {
                // What the server wanted was allowed.
                Some((id, wanted)) => vec![self.client_answers(Some(&id), wanted, text, outcome)],
                None => {
                    self.desk.withheld("the client", "it answers what the server did not ask");
                    Vec::new()
                }
            },
        }
    }

    fn client_tells(&mut self, method: &str, text: &str, params: Option<Span>) -> Vec<Step> {
        // Some servers run a request without an id, and just do not answer.
        if !method.starts_with("notifications/") {
            self.desk.withheld("the client", "a request without an id");
            return Vec::new();
        }
        let off = params.filter(|_| method == "notifications/cancelled");
        if let Some(id) = off.and_then(|params| cancelled(text, params)) {
            if let Some(held) = self.held.get_mut(&id) {
                *held = Held::Cancelled;
                return self.unhold(&id, None);
            }
            // The server need not answer any more.
            if self.asked.remove(&id).is_some() {
                if self.called_off.len() >= MAX_CALLED_OFF {
                    self.called_off.pop_front();
                }
                self.called_off.push_back(id);
            }
        }
        match self.sends(method, text, params, &[]) {
            Ok(said) => self.behind(&said),
            Err(_) => Vec::new(),
        }
    }

    /// Hands a message on, behind the calls that came before it.
    fn behind(&mut self, text: &str) -> Vec<Step> {
        match &mut self.way {
            Way::Requests { .. } => vec![to_server(text)],
            Way::Pipe(queue) if queue.is_empty() => vec![to_server(text)],
            // Requests are refused before that; what nobody waits for is left out.
            Way::Pipe(queue) if queue.is_overfull() => {
                self.desk.withheld("the client", "too much waits behind a call");
                Vec::new()
            }
            Way::Pipe(queue) => {
                queue.push(line(text));
                Vec::new()
            }
        }
    }

    /// A call that held others up is decided: `text` takes its place, or nothing does.
    fn unhold(&mut self, id: &Id, text: Option<&str>) -> Vec<Step> {
        match &mut self.way {
            Way::Requests { .. } => text.map(to_server).into_iter().collect(),
            Way::Pipe(queue) => {
                queue.settle(id, text.map(line)).into_iter().map(Step::ToServer).collect()
            }
        }
    }

    fn request(&mut self, id: Id, method: &str, text: &str, params: Option<Span>) -> Vec<Step> {
        if self.asked.contains_key(&id) || self.held.contains_key(&id) {
            let why = "a request with this id waits for its answer already";
            return vec![to_client(answers::error(Some(&id), -32600, why))];
        }
        let is_full = self.asked.len() + self.held.len() >= MAX_OPEN
            || matches!(&self.way, Way::Pipe(queue) if queue.is_full());
        if self.is_own(&id) {
            let why = "this id is callgate's own";
            return vec![to_client(answers::error(Some(&id), -32600, why))];
        }
        if is_full {
            let why = "callgate: too many requests wait for their answers";
            return vec![to_client(answers::error(Some(&id), answers::REFUSED, why))];
        }
        if is_nearly_judged(method) {
            let why = "callgate: a method that some servers take for another one";
            return vec![to_client(answers::error(Some(&id), -32601, why))];
        }
        if self.is_of_another(method, text, params) {
            self.desk.withheld("the client", "it asks for a task of somebody else");
            let why = "callgate: there is no task of this id that you have begun";
            return vec![to_client(answers::error(Some(&id), -32602, why))];
        }
        let mut belongs_to = None;
        let asked = match method {
            "tools/call" => return self.call(id, text, params.unwrap_or_default()),
            "prompts/get" | "resources/read" => {
                return self.read(id, method, text, params.unwrap_or_default());
            }
            "initialize" | "server/discover" => Asked::Hello,
            "tools/list" => {
                let cursor = params.and_then(|params| member(text, params, "cursor"));
                Asked::Tools { first: cursor.is_none_or(|cursor| cursor.of(text) == "null") }
            }
            "prompts/list" => Asked::Prompts,
            "resources/list" | "resources/templates/list" => Asked::Resources,
            "tasks/list" => Asked::Tasks,
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => {
                let asked = self.of_task(text, params);
                if let Asked::Task(called) = &asked {
                    belongs_to = Some(called.ticket.clone());
                }
                asked
            }
            _ => {
                if let Some(why) = self.against_lookalikes(method, text, params) {
                    return vec![to_client(answers::error(Some(&id), answers::REFUSED, &why))];
                }
                Asked::Other
            }
        };
        match self.sends(method, text, params, belongs_to.as_slice()) {
            Ok(said) => {
                self.asked.insert(id, asked);
                self.behind(&said)
            }
            Err(denial) => vec![to_client(answers::error(Some(&id), answers::REFUSED, &denial))],
        }
    }

    /// What comes of a call later is judged as its result.
    fn of_task(&self, text: &str, params: Option<Span>) -> Asked {
        let task = params.and_then(|params| params::text_member(text, params, "taskId"));
        match task.and_then(|task| self.memory.lock().task(&task)) {
            None => Asked::Text(Place::Result),
            Some(ticket) => {
                let era = params::era(text, params::meta(text, params));
                Asked::Task(Box::new(Called { ticket, era, same: 0 }))
            }
        }
    }

    /// A prompt or a resource is wanted.
    fn read(&mut self, id: Id, method: &str, text: &str, params: Span) -> Vec<Step> {
        let key = if method == "prompts/get" { NameKey::Name } else { NameKey::Uri };
        let named = match Named::read(text, params, key) {
            Ok(named) => named,
            Err(error) => return vec![odd_params(&id, &error)],
        };
        let arguments = named.arguments.map_or("", |span| span.of(text));
        let beside = self.beside(text, &named);
        let what = match key {
            NameKey::Uri => ClientRead::Resource(&named.name),
            NameKey::Name => ClientRead::Prompt { name: &named.name, arguments },
        };
        match self.desk.judge_read(what, beside.along(text, self.desk.max_arguments())) {
            Ok(changed) => {
                let place = if key == NameKey::Uri { Place::Resource } else { Place::Prompt };
                self.asked.insert(id, Asked::Text(place));
                self.behind(&edited(text, &beside, &changed))
            }
            Err(denial) => {
                vec![to_client(answers::error(
                    Some(&id),
                    answers::REFUSED,
                    &self.desk.denial_text(&denial),
                ))]
            }
        }
    }

    /// A call: it waits for its verdict, and before that for what is known of its tool.
    fn call(&mut self, id: Id, text: &str, params: Span) -> Vec<Step> {
        let named = match Named::read(text, params, NameKey::Name) {
            Ok(named) => named,
            Err(error) => return vec![odd_params(&id, &error)],
        };
        let raw = named.arguments.map_or("{}", |span| span.of(text));
        let max_arguments = self.desk.max_arguments();
        let arguments = match raw.len() > max_arguments {
            false => Arguments::json(raw),
            true => Arguments::oversize(raw.get(..raw.floor_char_boundary(KEPT)).unwrap_or("")),
        };
        let same = same(&named.name, raw);
        let continues = named.continues.then(|| self.memory.lock().continues(same)).flatten();
        let question = Question {
            tool: named.name.to_string(),
            arguments,
            meta: Meta::read(text, named.meta),
            continues,
            era: params::era(text, named.meta),
            same,
            beside: self.beside(text, &named),
            max_arguments,
            text: text.to_owned(),
            arguments_at: named.arguments,
            params_end: params.end,
            id: id.clone(),
        };
        if let Way::Pipe(queue) = &mut self.way {
            queue.hold(id.clone(), text.len());
        }
        self.held.insert(id, Held::Waiting);
        match self.needs_list() {
            false => vec![Step::Judge(Box::new(question))],
            true => self.list_first(question, params::own_meta(text, named.meta)),
        }
    }

    /// The verdict on a question.
    pub(crate) fn decided(&mut self, question: Question, decision: McpDecision) -> Vec<Step> {
        let Question { id, era, same, beside, text, arguments_at, params_end, .. } = question;
        if self.held.remove(&id) != Some(Held::Waiting) {
            return self.unhold(&id, None);
        }
        let (permit, extra_replacements, ticket) = match decision {
            McpDecision::Allow { permit, extra_replacements, ticket } if ticket.is_for(&permit) => {
                (permit, extra_replacements, ticket)
            }
            McpDecision::Allow { ticket, .. } => {
                let denial = Denial::refused(ticket.tool(), "the permit is for another call");
                return self.refuse_call(&id, era, &denial);
            }
            McpDecision::Deny(denial) => return self.refuse_call(&id, era, &denial),
        };
        let rewritten = permit.rewritten().map(str::to_owned);
        self.asked.insert(id.clone(), Asked::Call(Box::new(Called { ticket, era, same })));
        let mut edits = Edits::default();
        beside.replace(&extra_replacements, &mut edits);
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

    /// Sends a held call to the server. Nothing less than its recorded permit does.
    fn release(&mut self, _proof: Recorded<Permit>, id: &Id, text: &str) -> Vec<Step> {
        self.unhold(id, Some(text))
    }

    fn refuse_call(&mut self, id: &Id, era: Era, denial: &Denial) -> Vec<Step> {
        let mut steps = self.unhold(id, None);
        steps.push(to_client(answers::refused_call(id, era, &self.desk.denial_text(denial))));
        steps
    }

    /// The client asks for what it has lost. If nothing is known of the conversation, that may be answers
    /// to requests of before our time.
    pub(crate) fn resumes(&mut self) {
        let is_new = self.asked.is_empty() && self.held.is_empty();
        if let Way::Requests { resumed, answered } = &mut self.way {
            *resumed |= is_new && answered.is_empty();
        }
    }

    /// A request cannot be handed on after all: nobody will answer it.
    pub(crate) fn forget(&mut self, id: &Id) {
        self.asked.remove(id);
    }

    /// Whether every call that came is decided.
    pub(crate) fn is_settled(&self) -> bool {
        self.held.is_empty()
    }

    /// A line of the client that is too large to read.
    pub(crate) fn client_too_large(&self, head: &[u8], limit: usize) -> Step {
        self.refuse(&Unfit::too_large(head, limit))
    }
}

/// Whether a method is one that is judged, but for its spelling: lenient servers would run it.
fn is_nearly_judged(method: &str) -> bool {
    JUDGED.iter().any(|judged| method != *judged && plain(method).eq_ignore_ascii_case(judged))
}

/// A method without what surrounds it.
fn plain(method: &str) -> &str {
    method.trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

/// The methods whose requests or answers are looked at in a way of their own.
const JUDGED: [&str; 15] = [
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "initialize",
    "server/discover",
    "tasks/get",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "tasks/list",
    "subscriptions/listen",
];

/// What is kept of arguments that are too large to judge.
const KEPT: usize = 4096;

/// A call by its tool and its arguments.
fn same(tool: &str, arguments: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    (tool, arguments).hash(&mut hash);
    hash.finish()
}

fn odd_params(id: &Id, error: &callgate_call::json::Error) -> Step {
    let why = format!("callgate did not hand this request on: its params: {error}");
    to_client(answers::error(Some(id), -32602, &why))
}

/// The request that a notification calls off.
fn cancelled(text: &str, params: Span) -> Option<Id> {
    Id::at(text, member(text, params, "requestId")?)
}

fn to_server(text: &str) -> Step {
    Step::ToServer(line(text))
}

fn to_client(text: impl AsRef<str>) -> Step {
    Step::ToClient(line(text.as_ref()))
}

fn line(text: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(text.len() + 1);
    line.extend_from_slice(text.as_bytes());
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests;
