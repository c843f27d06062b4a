//! Decides calls to servers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use callgate_audit::{CallOutcome, ReasonCode, RecordId, RecordKind};
use callgate_call::{Arguments, CallId, Origin, ToolCall, ToolName};
use callgate_policy::{Decision, Denial, ExtraInput, OtherReading, Permit, Recorded};

use super::alias::Alias;
use super::join::{self, ArgumentHash};
use super::readable::{self, ArgumentReadings};
use super::session::McpSession;
use crate::clock::now_micros;
use crate::new_record;
use crate::pending::Detached;
use crate::pipeline::{self, CallSource, Decided, ServerCall, Subject};

/// A `tools/call` request.
#[derive(Debug)]
pub struct McpCall<'a> {
    /// The tool, as the client names it.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: Arguments,
    /// The provider's id of the call, if the client sends it.
    pub call_id: Option<String>,
    /// The agent's session, if the client sends it.
    pub session: Option<String>,
    /// The id of the JSON-RPC request, exactly as written.
    pub rpc_id: Option<String>,
    /// The HTTP request, if each call has its own; otherwise the one of the session applies.
    pub request: Option<String>,
    /// The call that this one continues, after the client answered a question of the server.
    pub continues: Option<&'a AllowedCall>,
    /// Other values that are sent to the server with the call.
    pub extra_inputs: Vec<ExtraInput>,
}

impl<'a> McpCall<'a> {
    /// A call with only a name and arguments.
    pub fn new(tool: &'a str, arguments: Arguments) -> Self {
        let (call_id, session, rpc_id, request, continues) = (None, None, None, None, None);
        Self {
            tool,
            arguments,
            call_id,
            session,
            rpc_id,
            request,
            continues,
            extra_inputs: Vec::new(),
        }
    }
}

/// A call that was allowed: what its result is judged by.
#[derive(Debug, Clone)]
pub struct AllowedCall(pub(crate) Arc<ForwardedCall>);

#[derive(Debug)]
pub(crate) struct ForwardedCall {
    pub(crate) call: ToolCall,
    /// The call under each alias of its tool, with that alias.
    pub(crate) aliases: Vec<(String, ToolCall)>,
    /// The tool, as the client named it.
    pub(crate) tool: String,
    pub(crate) arguments: ArgumentHash,
    pub(crate) record: RecordId,
}

impl AllowedCall {
    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// Whether this permit is for this call.
    pub fn is_for(&self, permit: &Permit) -> bool {
        permit.covers(&self.0.call)
    }

    /// The record of the call.
    pub fn record(&self) -> RecordId {
        self.0.record
    }
}

/// The decision about a call to a server. A door forwards a call only with [`McpDecision::Allow`],
/// which cannot be built without a permit whose record is written:
///
/// ```compile_fail
/// use callgate_decide::Permit;
/// use callgate_decide::mcp::{AllowedCall, McpDecision};
///
/// fn forgets_to_record(permit: Permit, call: AllowedCall) -> McpDecision {
///     McpDecision::Allow { permit, extra_replacements: Vec::new(), call }
/// }
/// ```
///
/// ```
/// use callgate_decide::mcp::{AllowedCall, McpDecision};
/// use callgate_decide::{Permit, Recorded};
///
/// fn records(permit: Recorded<Permit>, call: AllowedCall) -> McpDecision {
///     McpDecision::Allow { permit, extra_replacements: Vec::new(), call }
/// }
/// ```
#[derive(Debug)]
pub enum McpDecision {
    /// The call may be forwarded.
    Allow {
        /// The proof, which also holds the arguments to forward.
        permit: Recorded<Permit>,
        /// For each extra input of the call, its replacement if a rule changed it.
        extra_replacements: Vec<Option<String>>,
        /// Needed to judge the result.
        call: AllowedCall,
    },
    /// The call must not be forwarded.
    Deny(Denial),
}

/// A decision that resolves once its record is durable. Poll it inside a Tokio runtime.
#[must_use = "nothing is decided before it is awaited"]
pub struct McpPending(Detached<McpDecision>);

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
    /// Judges a call, counts it and records it. All checks run and the strictest wins. The future
    /// resolves when the record is durable.
    pub fn call(&self, call: McpCall<'_>) -> McpPending {
        match self.subject(call) {
            Ok(subject) => McpPending(Detached::new(decide(self.clone(), subject))),
            Err(denial) => McpPending(Detached::ready(McpDecision::Deny(*denial))),
        }
    }

    /// Collects everything that the pipeline needs about a call.
    fn subject(&self, call: McpCall<'_>) -> Result<Subject, Box<Denial>> {
        let begun = Instant::now();
        let origin = self.origin(call.session.as_deref());
        let name = ToolName::on(&self.server, call.tool);
        let name = name.map_err(|why| self.unreadable(&origin, call.tool, &why.to_string()))?;
        let id = CallId(call.call_id.unwrap_or_default());
        let ArgumentReadings { arguments, without_surrogates } = readable::readable(call.arguments);
        let whole = ToolCall { id, name, arguments, origin, caller: None };
        let aliases = self.aliases(call.tool);
        let arguments = join::hash(&whole.arguments);
        // Only the same call continues. A different one is a new call.
        let continues = call.continues.map(|first| &first.0);
        let continues =
            continues.filter(|first| first.tool == call.tool && first.arguments == arguments);
        let mut context = self.context.clone();
        context.request = call.request.map(Arc::from).or(context.request);
        let in_force = self.inner.in_force();
        Ok(Subject {
            policies: in_force.rules(),
            in_force,
            readings: readings(&whole, without_surrogates, &aliases),
            extra_inputs: self.readable(call.extra_inputs),
            source: CallSource::ToServer(Box::new(ServerCall {
                session: self.clone(),
                tool: call.tool.to_owned(),
                rpc_id: call.rpc_id,
                agent_session: self.agent_session(call.session.as_deref()).map(str::to_owned),
                continues: continues.map(Arc::clone),
                aliases,
                arguments,
            })),
            record: RecordId::new(),
            seen_at: now_micros(),
            call: whole,
            context,
            begun,
        })
    }

    /// Denies a call with a name that no rule can match.
    fn unreadable(&self, origin: &Origin, tool: &str, why: &str) -> Box<Denial> {
        let mut record = self.record(RecordKind::McpToolCalled, origin, tool);
        record.verdict =
            Some(new_record::without_rule(CallOutcome::Deny, ReasonCode::BadName, why));
        let mut denial = Box::new(Denial::refused(tool, why));
        denial.record = Some(record.id.to_string());
        self.inner.write(record);
        denial
    }
}

/// Runs the call through the pipeline, and keeps what its result will be judged by.
async fn decide(session: McpSession, subject: Subject) -> McpDecision {
    let call = AllowedCall(Arc::new(ForwardedCall::of(&subject)));
    let Decided { decision, extra_replacements, uncorrelated } =
        pipeline::decide(Arc::clone(&session.inner), subject).await;
    match decision {
        Decision::Allow(permit) => {
            if let Some(uncorrelated) = uncorrelated {
                session.inner.audit.append_derived(*uncorrelated);
            }
            McpDecision::Allow { permit, extra_replacements, call }
        }
        Decision::Deny(denial) => McpDecision::Deny(denial),
    }
}

impl ForwardedCall {
    fn of(subject: &Subject) -> Self {
        let at = subject.server_call();
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

/// All other readings of a call: without lone surrogates, under an alias, or both.
fn readings(
    whole: &ToolCall,
    without_surrogates: Option<Arguments>,
    aliases: &[Alias],
) -> Vec<OtherReading> {
    let without_surrogates = without_surrogates.map(|arguments| OtherReading {
        call: ToolCall { arguments, ..whole.clone() },
        label: readable::LONE_SURROGATE_NOTE.to_owned(),
    });
    let calls = || {
        std::iter::once(whole)
            .chain(without_surrogates.iter().map(|without_surrogates| &without_surrogates.call))
    };
    let named = |alias: &Alias| -> Vec<OtherReading> {
        calls().map(|call| OtherReading { call: alias.call(call), label: alias.reason() }).collect()
    };
    let aliases: Vec<OtherReading> = aliases.iter().flat_map(named).collect();
    without_surrogates.into_iter().chain(aliases).collect()
}

/// The reason of a rule, followed by why the rule applied.
pub(crate) fn explained(reason: Option<&str>, unreadable_note: &str) -> String {
    format!("{} {unreadable_note}", reason.unwrap_or_default()).trim_start().to_owned()
}
