//! What the server says.

use std::collections::VecDeque;

use callgate_call::json::{Edits, Member, Span, elements, member, members};
use callgate_decide::mcp::{Inspected, ListAction, ListPage, Place, ServerRequest};

use memchr::memmem;

use super::lists::{self, List};
use super::{Asked, Called, MAX_OPEN, Session, Step, Way, plain, to_client, to_server};
use crate::answers;
use crate::message::{Id, Kind, Message, Outcome, Unfit};
use crate::params;

impl Session {
    /// A line of the server.
    pub(crate) fn server_line(&mut self, line: &[u8]) -> Vec<Step> {
        match Message::read(line) {
            Ok(None) => Vec::new(),
            Ok(Some(message)) => self.server_says(message),
            Err(unfit) => self.withhold(&unfit, line),
        }
    }

    /// A line of the server that is too large to read.
    pub(crate) fn server_too_large(&mut self, head: &[u8], limit: usize) -> Vec<Step> {
        self.withhold(&Unfit::too_large(head, limit), head)
    }

    /// A message that is not handed on. Whoever waits for it is told.
    pub(crate) fn withhold(&mut self, unfit: &Unfit, line: &[u8]) -> Vec<Step> {
        self.desk.withheld("the server", &unfit.why.to_string());
        // If one request waits, that is the one; but some servers greet people, or write a log here.
        let is_only = self.asked.len() == 1 && is_like_an_answer(line);
        let only = || self.asked.keys().next().filter(|_| is_only).cloned();
        let known = unfit.id.clone().filter(|id| self.asked.contains_key(id) || self.is_own(id));
        let Some(id) = &known.or_else(only) else { return Vec::new() };
        if self.is_own(id) {
            return self.listing_failed();
        }
        let text = format!("callgate withheld the server's answer: {}", unfit.why);
        match self.asked.remove(id) {
            None => Vec::new(),
            Some(asked) => vec![unanswered(id, &asked, &text)],
        }
    }

    /// A message of the server.
    pub(crate) fn server_says(&mut self, message: Message<'_>) -> Vec<Step> {
        let text = message.text;
        match message.kind {
            Kind::Request { id, method, params } => self.server_wants(id, &method, text, params),
            Kind::Notification { method, params } => self.server_tells(&method, text, params),
            // It did not understand something: nobody knows what.
            Kind::Answer { id: None, outcome } => {
                let (Outcome::Error(at) | Outcome::Result(at)) = outcome;
                self.shown(text, at, Place::Result)
            }
            Kind::Answer { id: Some(id), outcome } if self.is_own(&id) => {
                self.own_page(text, outcome)
            }
            Kind::Answer { id: Some(id), outcome } => match self.asked_by(&id) {
                Some(asked) => self.server_answers(&id, asked, text, outcome),
                None if self.called_off.contains(&id) => Vec::new(),
                None if matches!(self.way, Way::Requests { resumed: true, .. }) => {
                    self.server_answers(&id, guessed(text, outcome), text, outcome)
                }
                None => {
                    self.desk.withheld("the server", "it answers what the client did not ask");
                    Vec::new()
                }
            },
        }
    }

    /// What the request was that is answered.
    fn asked_by(&mut self, id: &Id) -> Option<Asked> {
        let asked = self.asked.remove(id);
        let Way::Requests { answered, .. } = &mut self.way else { return asked };
        match asked {
            Some(asked) => {
                remember(answered, id, asked.clone());
                Some(asked)
            }
            // A client that lost the answer asked the server to say it again.
            None => answered.iter().rev().find(|(known, _)| known == id).map(|(_, it)| it.clone()),
        }
    }

    /// The request in which this one came is over, with its answer or without. Without, the client may
    /// still ask for the answer where the server keeps it.
    pub(crate) fn let_go(&mut self, id: &Id) {
        self.held.remove(id);
        if let (Way::Requests { answered, .. }, Some(asked)) =
            (&mut self.way, self.asked.remove(id))
        {
            remember(answered, id, asked);
        }
    }

    /// An answer to a request of the client.
    fn server_answers(&mut self, id: &Id, asked: Asked, text: &str, outcome: Outcome) -> Vec<Step> {
        let (Outcome::Result(said) | Outcome::Error(said)) = outcome;
        // Looked through once: results may be large.
        let parts = members(text, said);
        if let Err(refused) = self.asks_back(text, &parts, outcome) {
            return vec![unanswered(id, &asked, &refused)];
        }
        let result = match outcome {
            Outcome::Result(result) => result,
            Outcome::Error(error) => return self.shown_or(text, error, Place::Result, id, &asked),
        };
        match &asked {
            Asked::Hello => self.hello(id, text, result, &asked),
            Asked::Tools { first } => {
                let last = member(text, result, "nextCursor").is_none();
                let page = ListPage { first: *first, last };
                self.list(id, text, result, List::Tools(page), &asked)
            }
            Asked::Prompts => self.list(id, text, result, List::Prompts, &asked),
            Asked::Resources => self.list(id, text, result, List::Resources, &asked),
            Asked::Call(called) | Asked::Task(called) => {
                self.keep(text, &parts, called);
                self.call_result(id, text, result, called)
            }
            Asked::Tasks => self.tasks(id, text, result, &asked),
            Asked::Text(place) => {
                self.keep_state(text, &parts);
                self.keep_owner(text, &parts, &asked);
                self.shown_or(text, result, *place, id, &asked)
            }
            Asked::Other => {
                self.keep_owner(text, &parts, &asked);
                self.shown_or(text, result, Place::Result, id, &asked)
            }
        }
    }

    /// The greeting: what it says to the model is looked at, then all of the rest.
    fn hello(&mut self, id: &Id, text: &str, result: Span, asked: &Asked) -> Vec<Step> {
        let all = members(text, result);
        let mut edits = Edits::default();
        if let Some(said) = all.iter().find(|member| member.key.is("instructions")) {
            match self.desk.instructions(said.value.of(text)) {
                ListAction::Keep => {}
                ListAction::Replace(stripped) => edits.replace(said.value, stripped),
                ListAction::Hide { why } => {
                    self.tell_hidden("the instructions", &why);
                    let spans: Vec<Span> = all.iter().map(|member| member.span).collect();
                    edits.remove(&spans, |place| spans.get(place) == Some(&said.span));
                }
            }
        }
        let rest = all.iter().filter(|member| !member.key.is("instructions"));
        for member in rest {
            match self.desk.text(Place::Instructions, member.value.of(text)) {
                Inspected::Pass => {}
                Inspected::Replace(other) => edits.replace(member.value, other),
                Inspected::Block(denial) => {
                    return vec![unanswered(id, asked, &self.desk.withheld_text(&denial))];
                }
            }
        }
        vec![to_client(edits.apply(text))]
    }

    /// Says once, where a person may look, that something is not shown.
    fn tell_hidden(&mut self, what: &str, why: &str) {
        if self.told.len() < MAX_TOLD && self.told.insert(format!("{what}: {why}")) {
            tracing::warn!(what, why, "not shown to the client; see `callgate mcp events`");
        }
    }

    fn list(&mut self, id: &Id, text: &str, result: Span, list: List, asked: &Asked) -> Vec<Step> {
        let Some(entries) = lists::items(text, result, list) else {
            let why = "callgate withheld the server's list: it cannot be read for certain";
            self.desk.withheld("the server", "a list that cannot be read for certain");
            return vec![unanswered(id, asked, why)];
        };
        let raw: Vec<&str> = entries.iter().map(|entry| entry.of(text)).collect();
        // What stands beside the entries reaches the client, too.
        let beside = lists::without_entries(text, result, &entries);
        if let Inspected::Block(denial) = self.desk.text(Place::Instructions, &beside) {
            return vec![unanswered(id, asked, &self.desk.withheld_text(&denial))];
        }
        let mut verdicts = match list {
            List::Tools(page) => self.desk.tools(&raw, page),
            List::Prompts => self.desk.prompts(&raw),
            List::Resources => self.desk.resources(&raw),
        };
        for (verdict, raw) in verdicts.iter_mut().zip(&raw) {
            if lists::has_odd_keys(raw) {
                *verdict = ListAction::Hide { why: "a key in another case".to_owned() };
            }
            if let ListAction::Hide { why } = verdict {
                self.tell_hidden(&lists::name_of(raw), why);
            }
        }
        match lists::edited(text, &entries, &verdicts) {
            None => vec![to_client(text)],
            Some(edited) => vec![to_client(edited)],
        }
    }

    /// A list of tasks: those that the server has begun for others are nobody else's business.
    fn tasks(&mut self, id: &Id, text: &str, result: Span, asked: &Asked) -> Vec<Step> {
        let all = member(text, result, "tasks").map(|tasks| elements(text, tasks));
        let all = all.unwrap_or_default();
        let is_anothers = |task: &str| self.memory.lock().is_anothers(task);
        let gone = |at: usize| {
            all.get(at).is_some_and(|task| params::holds_text(text, *task, &is_anothers))
        };
        let mut edits = Edits::default();
        edits.remove(&all, gone);
        let edited = edits.apply(text);
        let end = result.end - (text.len() - edited.len());
        let result = Span { start: result.start, end };
        self.shown_or(&edited, result, Place::Result, id, asked)
    }

    /// The result of a call, now or of a task.
    fn call_result(&mut self, id: &Id, text: &str, result: Span, called: &Called) -> Vec<Step> {
        match self.desk.result(&called.ticket, result.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, result, other))],
            Inspected::Block(denial) => {
                vec![to_client(answers::refused_call(
                    id,
                    called.era,
                    &self.desk.withheld_text(&denial),
                ))]
            }
        }
    }

    /// A server may answer any request with a task. What is said of one that is there already begins
    /// none.
    fn keep_owner(&self, text: &str, result: &[Member<'_>], asked: &Asked) {
        let said = |key| part(result, key).and_then(|said| params::string(text, said));
        let begins = !matches!(asked, Asked::Text(Place::Result))
            && said("resultType").as_deref() == Some("task");
        if let Some(task) = said("taskId").filter(|_| begins) {
            self.memory.lock().own_task(&task);
        }
    }

    /// The call goes on, as a task or once the client has answered: what comes then belongs to it.
    fn keep(&mut self, text: &str, result: &[Member<'_>], called: &Called) {
        let task = match part(result, "task") {
            Some(task) => member(text, task, "taskId"),
            None => part(result, "taskId"),
        };
        if let Some(task) = task.and_then(|task| params::string(text, task)) {
            let mut memory = self.memory.lock();
            memory.own_task(&task);
            memory.keep_task(task, called.ticket.clone());
        }
        if self.keep_state(text, result) {
            self.memory.lock().keep_round(called.same, called.ticket.clone());
        }
    }

    /// The server asks back, and may give the client something to bring along then. Whether it does.
    fn keep_state(&self, text: &str, result: &[Member<'_>]) -> bool {
        let said = |key| part(result, key).and_then(|said| params::string(text, said));
        let asks = said("resultType").as_deref() == Some("input_required");
        if let Some(state) = said("requestState").filter(|_| asks) {
            self.memory.lock().keep_state(&state);
        }
        asks
    }

    /// The server asks back inside of an answer or a notification. One question that is refused ends
    /// it: the client must not be shown it, and nobody can answer for it.
    fn asks_back(&self, text: &str, said: &[Member<'_>], outcome: Outcome) -> Result<(), String> {
        if let Outcome::Error(error) = outcome
            && part(said, "code").is_some_and(|code| code.of(text) == ASKS_FOR_URL)
        {
            self.may_ask(ServerRequest::Elicitation, part(said, "data").unwrap_or(error), text)?;
        }
        let of_task = part(said, "task").map_or_else(Vec::new, |task| members(text, task));
        for member in said.iter().chain(&of_task) {
            let key = member.key.decode().unwrap_or_default();
            if key.eq_ignore_ascii_case("inputRequests") {
                self.questions(text, &key, member.value)?;
            }
        }
        Ok(())
    }

    fn questions(&self, text: &str, key: &str, requests: Span) -> Result<(), String> {
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
            if let Some(what) = asking(&method) {
                self.may_ask(what, params, text)?;
            }
        }
        Ok(())
    }

    fn may_ask(&self, what: ServerRequest, params: Span, text: &str) -> Result<(), String> {
        match self.desk.judge_server_request(what, params.of(text)) {
            Ok(Inspected::Pass | Inspected::Replace(_)) => Ok(()),
            Ok(Inspected::Block(denial)) | Err(denial) => Err(self.desk.withheld_text(&denial)),
        }
    }

    /// The server wants something of the client.
    fn server_wants(
        &mut self,
        id: Id,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Vec<Step> {
        self.wants += 1;
        if self.wanted.len() >= MAX_OPEN {
            // The client does not answer the oldest any more.
            let oldest = self.wanted.iter().min_by_key(|(_, wanted)| wanted.number);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.and_then(|oldest| self.wanted.remove(&oldest));
        }
        let wanted = self.wanted_now(method);
        let Some(what) = asking(method) else {
            self.wanted.insert(id, wanted);
            return params.map_or_else(
                || vec![to_client(text)],
                |params| self.shown(text, params, Place::Progress),
            );
        };
        // Without parameters there is nothing to look at, and nothing to replace.
        let (params, raw) = match params {
            Some(params) => (params, params.of(text)),
            None => (Span::default(), "{}"),
        };
        match self.desk.judge_server_request(what, raw) {
            Ok(Inspected::Pass) => {
                self.wanted.insert(id, wanted);
                vec![to_client(text)]
            }
            Ok(Inspected::Replace(other)) => {
                self.wanted.insert(id, wanted);
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

    fn server_tells(&mut self, method: &str, text: &str, params: Option<Span>) -> Vec<Step> {
        if method == "notifications/tools/list_changed" {
            self.tools_changed();
        }
        if let Some(params) = params
            && self.asks_back(text, &members(text, params), Outcome::Result(params)).is_err()
        {
            return Vec::new();
        }
        match params {
            Some(params) => self.shown(text, params, Place::Progress),
            None => vec![to_client(text)],
        }
    }

    /// Something a person or a model will read. What is blocked is left out.
    fn shown(&mut self, text: &str, at: Span, place: Place) -> Vec<Step> {
        match self.desk.text(place, at.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, at, other))],
            Inspected::Block(_) => Vec::new(),
        }
    }

    /// The same, for somebody who waits.
    fn shown_or(
        &mut self,
        text: &str,
        at: Span,
        place: Place,
        id: &Id,
        asked: &Asked,
    ) -> Vec<Step> {
        match self.desk.text(place, at.of(text)) {
            Inspected::Pass => vec![to_client(text)],
            Inspected::Replace(other) => vec![to_client(replaced(text, at, other))],
            Inspected::Block(denial) => {
                vec![unanswered(id, asked, &self.desk.withheld_text(&denial))]
            }
        }
    }
}

/// The value of a key, among members that were read.
fn part(members: &[Member<'_>], key: &str) -> Option<Span> {
    members.iter().find(|member| member.key.is(key)).map(|member| member.value)
}

/// What a request was of which only the answer is known.
fn guessed(text: &str, outcome: Outcome) -> Asked {
    let Outcome::Result(result) = outcome else { return Asked::Other };
    let has = |key| member(text, result, key).is_some();
    match () {
        () if has("tools") => Asked::Tools { first: false },
        () if has("prompts") => Asked::Prompts,
        () if has("resources") || has("resourceTemplates") => Asked::Resources,
        () if has("instructions") || has("serverInfo") => Asked::Hello,
        () => Asked::Other,
    }
}

/// What stands in the place of an answer that is not handed on.
fn unanswered(id: &Id, asked: &Asked, text: &str) -> Step {
    to_client(match asked {
        Asked::Call(called) => answers::refused_call(id, called.era, text),
        _ => answers::error(Some(id), answers::REFUSED, text),
    })
}

/// Whether a line that cannot be read was meant for an answer.
fn is_like_an_answer(line: &[u8]) -> bool {
    let holds = |key: &[u8]| memmem::find(line, key).is_some();
    matches!(line.trim_ascii_start(), [b'{' | b'[', ..])
        && (holds(b"\"result\"") || holds(b"\"error\""))
}

fn remember(answered: &mut VecDeque<(Id, Asked)>, id: &Id, asked: Asked) {
    if answered.len() >= MAX_ANSWERED {
        answered.pop_front();
    }
    answered.push_back((id.clone(), asked));
}

/// Requests that were answered, or whose answer was lost, and that are remembered. What comes of older
/// ones is withheld.
const MAX_ANSWERED: usize = 256;

/// The error of the older revisions by which a server sends a user to a page.
const ASKS_FOR_URL: &str = "-32042";

/// Things of which is said that they are not shown.
const MAX_TOLD: usize = 1000;

/// What a server may want of the client or its user.
pub(super) fn asking(method: &str) -> Option<ServerRequest> {
    // Some clients are lenient about how it is spelled.
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
