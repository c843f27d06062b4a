//! A call on its way to a server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use callgate_audit::{Action, Code, Kind, RecordId};
use callgate_call::{Arguments, CallId, Origin, ToolCall, ToolName};
use callgate_policy::{Denial, ExtraInput, OtherReading, Permit, Recorded};

use super::alias::Alias;
use super::desk::now_micros;
use super::join::{self, ArgumentHash};
use super::readable::{self, Readings};
use super::session::McpSession;
use crate::pending::Later;
use crate::pipeline::{self, AtServer, Decided, Decision, Seen, Subject};
use crate::record;

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
    /// The id of the JSON-RPC request, as it was written.
    pub rpc_id: Option<String>,
    /// The request it came in, where each call has one of its own. Else: the one of the conversation.
    pub request: Option<String>,
    /// The call that this one goes on with: a client answers what the server asked in between.
    pub goes_on: Option<&'a CallTicket>,
    /// What goes to the server along with it.
    pub along: Vec<ExtraInput>,
}

impl<'a> McpCall<'a> {
    /// A call of which nothing else is known.
    pub fn new(tool: &'a str, arguments: Arguments) -> Self {
        let (call_id, session, rpc_id, request, goes_on) = (None, None, None, None, None);
        Self { tool, arguments, call_id, session, rpc_id, request, goes_on, along: Vec::new() }
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

    /// Whether that permit is for this call.
    pub fn is_for(&self, permit: &Permit) -> bool {
        permit.covers(&self.0.call)
    }

    /// The record of the call.
    pub fn record(&self) -> RecordId {
        self.0.record
    }
}

/// The decision about a call to a server. A door forwards a call only with [`McpDecision::Allow`], and
/// that cannot be built without a permit whose record is written:
///
/// ```compile_fail
/// use callgate_decide::Permit;
/// use callgate_decide::mcp::{CallTicket, McpDecision};
///
/// fn forgets_to_record(permit: Permit, ticket: CallTicket) -> McpDecision {
///     McpDecision::Allow { permit, along: Vec::new(), ticket }
/// }
/// ```
///
/// ```
/// use callgate_decide::mcp::{CallTicket, McpDecision};
/// use callgate_decide::{Permit, Recorded};
///
/// fn records(permit: Recorded<Permit>, ticket: CallTicket) -> McpDecision {
///     McpDecision::Allow { permit, along: Vec::new(), ticket }
/// }
/// ```
#[derive(Debug)]
pub enum McpDecision {
    /// It may be forwarded.
    Allow {
        /// The proof, which also says with which arguments.
        permit: Recorded<Permit>,
        /// What goes along with it, each with what takes its place, if anything does.
        along: Vec<Option<String>>,
        /// What its result is judged by.
        ticket: CallTicket,
    },
    /// It may not.
    Deny(Denial),
}

/// A decision that is told once its record is durable. Must be polled inside a runtime.
#[must_use = "nothing is decided before it is awaited"]
pub struct McpPending(Later<McpDecision>);

impl std::fmt::Debug for McpPending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("McpPending")
    }
}

impl Future for McpPending {
    type Output = McpDecision;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<McpDecision> {
        Pin::new(&mut self.0).poll(cx).map(|decision| {
            decision.unwrap_or_else(|| McpDecision::Deny(Denial::refused("", "it was decided")))
        })
    }
}

impl McpSession {
    /// Judges a call, counts it and records it. Every check is made and the strictest wins; the
    /// answer comes when the record is durable.
    pub fn call(&self, call: McpCall<'_>) -> McpPending {
        match self.subject(call) {
            Ok(subject) => McpPending(Later::new(decide(self.clone(), subject))),
            Err(denial) => McpPending(Later::ready(McpDecision::Deny(*denial))),
        }
    }

    /// All that the pipeline has to know of a call.
    fn subject(&self, call: McpCall<'_>) -> Result<Subject, Box<Denial>> {
        let begun = Instant::now();
        let origin = self.origin(call.session.as_deref());
        let name = ToolName::on(&self.server, call.tool);
        let name = name.map_err(|why| self.unreadable(&origin, call.tool, &why.to_string()))?;
        let id = CallId(call.call_id.unwrap_or_default());
        let Readings { arguments, shorter } = readable::readable(call.arguments);
        let whole = ToolCall { id, name, arguments, origin, caller: None };
        let aliases = self.aliases(call.tool);
        let arguments = join::hash(&whole.arguments);
        // Only the same call goes on; another one under its name is a new one.
        let goes_on = call.goes_on.map(|first| &first.0);
        let goes_on =
            goes_on.filter(|first| first.tool == call.tool && first.arguments == arguments);
        let mut context = self.context.clone();
        context.request = call.request.or(context.request);
        let in_force = self.inner.in_force();
        Ok(Subject {
            policies: in_force.rules(),
            in_force,
            readings: readings(&whole, shorter, &aliases),
            along: self.readable(call.along),
            seen: Seen::AtServer(Box::new(AtServer {
                session: self.clone(),
                tool: call.tool.to_owned(),
                rpc_id: call.rpc_id,
                told: self.told(call.session.as_deref()).map(str::to_owned),
                goes_on: goes_on.map(Arc::clone),
                aliases,
                arguments,
            })),
            record: RecordId::new(),
            at: now_micros(),
            call: whole,
            context,
            begun,
        })
    }

    /// A name that no rule can be compared with.
    fn unreadable(&self, origin: &Origin, tool: &str, why: &str) -> Box<Denial> {
        let mut record = self.record(Kind::McpToolCalled, origin, tool);
        record.verdict = Some(record::without_rule(Action::Deny, Code::BadName, why));
        let mut denial = Box::new(Denial::refused(tool, why));
        denial.record = Some(record.id.to_string());
        self.inner.write(record);
        denial
    }
}

/// Sends the call down the pipeline, and keeps what its result will be judged by.
async fn decide(session: McpSession, subject: Subject) -> McpDecision {
    let ticket = CallTicket(Arc::new(Ticket::of(&subject)));
    let Decided { decision, along, stray } =
        pipeline::decide(Arc::clone(&session.inner), subject).await;
    match decision {
        Decision::Allow(permit) => {
            if let Some(stray) = stray {
                session.inner.audit.append_derived(*stray);
            }
            McpDecision::Allow { permit, along, ticket }
        }
        Decision::Deny(denial) => McpDecision::Deny(denial),
    }
}

impl Ticket {
    fn of(subject: &Subject) -> Self {
        let at = subject.at_server();
        let aliases = at.map(|at| at.aliases.as_slice()).unwrap_or_default();
        let call = &subject.call;
        Self {
            aliases: aliases.iter().map(|it| (it.tool.clone(), it.call(call))).collect(),
            tool: at.map(|at| at.tool.clone()).unwrap_or_default(),
            arguments: at.map_or([0; 32], |at| at.arguments),
            record: subject.record,
            call: call.clone(),
        }
    }
}

/// Every other way to read a call: without the halves of characters, under another name, or both.
fn readings(whole: &ToolCall, shorter: Option<Arguments>, aliases: &[Alias]) -> Vec<OtherReading> {
    let shorter = shorter.map(|arguments| OtherReading {
        call: ToolCall { arguments, ..whole.clone() },
        label: readable::HALVES.to_owned(),
    });
    let calls = || std::iter::once(whole).chain(shorter.iter().map(|shorter| &shorter.call));
    let named = |alias: &Alias| -> Vec<OtherReading> {
        calls().map(|call| OtherReading { call: alias.call(call), label: alias.reason() }).collect()
    };
    let aliases: Vec<OtherReading> = aliases.iter().flat_map(named).collect();
    shorter.into_iter().chain(aliases).collect()
}

/// A rule's reason, and why it was told at all.
pub(crate) fn explained(reason: Option<&str>, unread: &str) -> String {
    format!("{} {unread}", reason.unwrap_or_default()).trim_start().to_owned()
}
