//! A call on its way to a server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use callgate_audit::{Action, Audit, Kind, McpFacts, Record, RecordId, Tool, Verdict};
use callgate_call::{Arguments, CallId, Origin, ToolCall, ToolName};
use callgate_policy::{Along, Denial, Others, Permit, Reading};

use super::alias::{self, Alias};
use super::desk::now_micros;
use super::join::{self, ArgumentHash};
use super::readable::{self, Readings};
use super::record as records;
use super::session::McpSession;
use super::settings::McpSettings;
use super::weigh::{Asked, Decided};
use crate::pending::{Decision, Pending};
use crate::record::{self, Input};

/// A `tools/call` as it came.
#[derive(Debug)]
pub struct McpCall<'a> {
    /// The tool, as the client names it.
    pub tool: &'a str,
    /// What it is called with.
    pub arguments: Arguments,
    /// The provider's id of the call, where the client tells it.
    pub call_id: Option<String>,
    /// The agent's session, where the client tells it.
    pub session: Option<String>,
    /// The request it came in, where each call has one of its own. Else: the one of the conversation.
    pub request: Option<String>,
    /// The call that this one goes on with: a client answers what the server asked in between.
    pub goes_on: Option<&'a CallTicket>,
    /// What goes to the server along with it.
    pub along: Vec<Along>,
}

impl<'a> McpCall<'a> {
    /// A call of which nothing else is known.
    pub fn new(tool: &'a str, arguments: Arguments) -> Self {
        let (call_id, session, request, goes_on) = (None, None, None, None);
        Self { tool, arguments, call_id, session, request, goes_on, along: Vec::new() }
    }
}

/// A call that was let through: what its result is judged by.
#[derive(Debug, Clone)]
pub struct CallTicket(pub(crate) Arc<Ticket>);

#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) call: ToolCall,
    /// The same under the other names that the tool may have been called by, with those.
    pub(crate) aliases: Vec<(String, ToolCall)>,
    /// The tool, as the client named it.
    pub(crate) tool: String,
    pub(crate) arguments: ArgumentHash,
    pub(crate) record: RecordId,
}

impl CallTicket {
    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The record of the call.
    pub fn record(&self) -> RecordId {
        self.0.record
    }
}

/// What becomes of a call to a server.
#[derive(Debug)]
pub enum McpDecision {
    /// It may be forwarded.
    Allow {
        /// The proof.
        permit: Permit,
        /// The arguments with which it may be forwarded, if not with its own.
        rewritten: Option<String>,
        /// What goes along with it, each with what takes its place, if anything does.
        along: Vec<Option<String>>,
        /// What its result is judged by.
        ticket: CallTicket,
    },
    /// It may not.
    Deny(Denial),
}

/// A decision that is told once its record is durable. Must be polled inside a runtime.
#[derive(Debug)]
pub struct McpPending {
    pending: Pending,
    /// Set if the call may pass.
    ticket: Option<CallTicket>,
    along: Vec<Option<String>>,
    /// Set if it may pass, and no model was seen to make it.
    stray: Option<Stray>,
}

/// What is told once a call that no model was seen to make has passed.
#[derive(Debug)]
struct Stray {
    record: Box<Record>,
    audit: Audit,
}

impl McpPending {
    fn denied(denial: Denial) -> Self {
        let pending = Pending::ready(Decision::Deny(denial));
        Self { pending, ticket: None, along: Vec::new(), stray: None }
    }
}

impl Future for McpPending {
    type Output = McpDecision;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<McpDecision> {
        let Poll::Ready(decision) = Pin::new(&mut self.pending).poll(cx) else {
            return Poll::Pending;
        };
        Poll::Ready(match (decision, self.ticket.take()) {
            (Decision::Allow(permit), Some(ticket)) => {
                if let Some(stray) = self.stray.take() {
                    stray.audit.append_beside(*stray.record);
                }
                let rewritten = permit.rewritten().map(str::to_owned);
                let along = std::mem::take(&mut self.along);
                McpDecision::Allow { permit, rewritten, along, ticket }
            }
            (Decision::Deny(denial), _) => McpDecision::Deny(denial),
            // A permit that no call was made for: closed.
            (Decision::Allow(_), None) => McpDecision::Deny(Denial::refused("", "it was decided")),
        })
    }
}

impl McpSession {
    /// Judges a call, counts it and records it. Every check is made and the strictest wins; the
    /// answer comes when the record is durable.
    pub fn call(&self, call: McpCall<'_>) -> McpPending {
        let begun = Instant::now();
        let origin = self.origin(call.session.as_deref());
        let name = match ToolName::on(&self.server, call.tool) {
            Ok(name) => name,
            Err(why) => return self.unreadable(&origin, call.tool, &why.to_string()),
        };
        let id = CallId(call.call_id.unwrap_or_default());
        let Readings { arguments, shorter } = readable::readable(call.arguments);
        let whole = ToolCall { id, name, arguments, origin };
        let (along, aliases) = (self.readable(call.along), self.aliases(call.tool));
        let readings = readings(&whole, shorter, &aliases);
        let others = Others { readings: &readings, along: &along };
        let settings = self.settings();
        let arguments = join::hash(&whole.arguments);
        // Only the same call goes on; another one under its name is a new one.
        let goes_on = call.goes_on.map(|first| &*first.0);
        let goes_on =
            goes_on.filter(|first| first.tool == call.tool && first.arguments == arguments);
        let (at, record) = (now_micros(), RecordId::new());
        let (tool, aliases) = (call.tool, aliases.as_slice());
        let told = self.told(call.session.as_deref());
        let asked =
            Asked { at, tool, aliases, call: &whole, others, told, arguments, goes_on, record };
        let decided = self.decide(&settings, &asked);
        self.answer(&settings, asked, decided, (call.request, begun))
    }

    /// Records what was decided, and tells it.
    fn answer(
        &self,
        settings: &McpSettings,
        asked: Asked<'_>,
        decided: Decided,
        (request, begun): (Option<String>, Instant),
    ) -> McpPending {
        let Asked { tool, aliases, call, arguments, record: id, .. } = asked;
        let Decided { objections, judgement, joined, known, steps } = decided;
        let mut record =
            record::call_as(id, Kind::McpToolCalled, &self.context, call, Input::Known);
        record.request = request.or(record.request);
        let unread = readable::unread(&call.arguments, &judgement);
        let mut verdict = objections.verdict(&judgement);
        if let (Some(unread), true) = (&unread, verdict.rule == judgement.rule) {
            verdict.reason = Some(explained(verdict.reason.as_deref(), unread));
        }
        record.verdict = Some(verdict);
        record.detail = alias::told(aliases);
        record.timing.judged_us = u64::try_from(begun.elapsed().as_micros()).ok();
        record.mcp = Some(McpFacts {
            joined,
            pin: known.as_ref().map(|known| known.state.as_str().to_owned()),
            earlier: objections.earlier(),
            findings: known
                .as_ref()
                .map(|it| records::facts(&it.inspection.findings))
                .unwrap_or_default(),
            ..self.facts(settings)
        });
        if let Some(facts) = &mut record.tool {
            facts.name = tool.to_owned();
            facts.server = Some(self.server.clone());
            facts.definition_hash = known.map(|known| known.hash);
            if let Some(rewritten) = judgement.rewritten() {
                facts.input = Some(rewritten.to_owned());
            }
        }
        let stopped = objections.stops().next().is_some();
        let permit = if stopped { None } else { judgement.permit(call) };
        if let Some(permit) = permit {
            let settings = &self.inner.settings;
            let stray = joined.is_none().then(|| self.stray(&record));
            let receipt = self.inner.audit.append_together(steps, record);
            let (on_failure, timeout) = (settings.on_failure, settings.record_timeout);
            let pending = Pending::after(receipt, call.name.raw(), permit, on_failure, timeout);
            let aliases = aliases.iter().map(|it| (it.tool.clone(), it.call(call))).collect();
            let (call, tool) = (call.clone(), tool.to_owned());
            let ticket =
                CallTicket(Arc::new(Ticket { call, aliases, tool, arguments, record: id }));
            let along = judgement.along().to_vec();
            return McpPending { pending, ticket: Some(ticket), along, stray };
        }
        self.inner.write(record);
        let denial = objections.denial(call.name.raw(), judgement.denial(call));
        let mut denial =
            denial.unwrap_or_else(|| Denial::refused(tool, "no permit was given for it"));
        if let (Some(unread), true) = (&unread, denial.rule == judgement.rule) {
            denial.reason = explained(Some(&denial.reason), unread);
        }
        denial.record = Some(id.to_string());
        McpPending::denied(denial)
    }

    /// A name that no rule can be compared with.
    fn unreadable(&self, origin: &Origin, tool: &str, why: &str) -> McpPending {
        let mut record = self.record(Kind::McpToolCalled, origin, tool);
        record.verdict = Some(record::without_rule(Action::Deny, why));
        let mut denial = Denial::refused(tool, why);
        denial.record = Some(record.id.to_string());
        self.inner.write(record);
        McpPending::denied(denial)
    }
}

/// Every other way to read a call: without the halves of characters, under another name, or both.
fn readings(whole: &ToolCall, shorter: Option<Arguments>, aliases: &[Alias]) -> Vec<Reading> {
    let shorter = shorter.map(|arguments| Reading {
        call: ToolCall { arguments, ..whole.clone() },
        told: readable::HALVES.to_owned(),
    });
    let calls = || std::iter::once(whole).chain(shorter.iter().map(|shorter| &shorter.call));
    let named = |alias: &Alias| -> Vec<Reading> {
        calls().map(|call| Reading { call: alias.call(call), told: alias.reason() }).collect()
    };
    let aliases: Vec<Reading> = aliases.iter().flat_map(named).collect();
    shorter.into_iter().chain(aliases).collect()
}

/// A rule's reason, and why it was told at all.
fn explained(reason: Option<&str>, unread: &str) -> String {
    format!("{} {unread}", reason.unwrap_or_default()).trim_start().to_owned()
}

impl McpSession {
    /// A call that no model was seen to make. What it was called with, and why it was let through,
    /// stands in its own record.
    fn stray(&self, call: &Record) -> Stray {
        let id = call.id;
        let tool = call.tool.as_ref().map(|tool| Tool {
            call_id: tool.call_id.clone(),
            name: tool.name.clone(),
            server: tool.server.clone(),
            ..Tool::default()
        });
        let mut record = Box::new(Record::new(Kind::UncorrelatedExecution));
        record.detail =
            Some(format!("no call of a model was seen that this belongs to; it is {id}"));
        record.surface = call.surface;
        record.who = call.who.clone();
        record.tool = tool;
        record.verdict = call.verdict.as_ref().map(|verdict| Verdict::new(verdict.action));
        Stray { record, audit: self.inner.audit.clone() }
    }
}
