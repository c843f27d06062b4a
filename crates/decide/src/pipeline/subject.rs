//! A call as a door saw it.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::RecordId;
use callgate_call::ToolCall;
use callgate_policy::{
    AlsoJudged, ExtraInput, Findings, Judgement, OtherReading, Policies, SpentLimits,
};

use crate::clock::now;
use crate::decider::RequestContext;
use crate::in_force::InForce;
use crate::mcp::{Alias, ArgumentHash, ForwardedCall, McpSession};

/// Everything that a door reports about a call. All later stages are the same for every door.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) context: RequestContext,
    pub(crate) policies: Arc<Policies>,
    /// The policies and settings that were in force when the call began.
    pub(crate) in_force: Arc<InForce>,
    pub(crate) call: ToolCall,
    /// The same call as other programs may read it.
    pub(crate) readings: Vec<OtherReading>,
    /// Other values that are sent with the call.
    pub(crate) extra_inputs: Vec<ExtraInput>,
    pub(crate) source: CallSource,
    /// The id of its future record.
    pub(crate) record: RecordId,
    /// When it was seen, in microseconds since 1970.
    pub(crate) seen_at: i64,
    pub(crate) begun: Instant,
}

/// Where a call was seen.
#[derive(Debug, Clone)]
pub(crate) enum CallSource {
    /// In a model's response, which began at this time.
    InResponse { begun: Instant },
    /// In a request to an MCP server.
    ToServer(Box<ServerCall>),
}

/// A call in a request to an MCP server.
#[derive(Debug, Clone)]
pub(crate) struct ServerCall {
    pub(crate) session: McpSession,
    /// The tool, as the client names it.
    pub(crate) tool: String,
    /// The tools of the server that an unlisted name may refer to.
    pub(crate) aliases: Vec<Alias>,
    /// The id of the JSON-RPC request, exactly as written.
    pub(crate) rpc_id: Option<String>,
    /// The session name that the agent sent, if any.
    pub(crate) agent_session: Option<String>,
    pub(crate) arguments: ArgumentHash,
    /// The call that it continues.
    pub(crate) continues: Option<Arc<ForwardedCall>>,
}

impl Subject {
    pub(crate) fn server_call(&self) -> Option<&ServerCall> {
        match &self.source {
            CallSource::InResponse { .. } => None,
            CallSource::ToServer(at) => Some(at),
        }
    }

    /// The digest of its policies, if there are any.
    pub(crate) fn digest(&self) -> Option<String> {
        Some(self.policies.digest().to_owned()).filter(|digest| !digest.is_empty())
    }

    /// The judgement of the rules, given the empty limits and the findings in the tool's
    /// definition.
    pub(crate) fn judge(&self, limits: &SpentLimits, findings: Findings<'_>) -> Judgement {
        let others = AlsoJudged { readings: &self.readings, extra: &self.extra_inputs };
        self.policies.judge_also(&self.call, others, &now(), limits, findings)
    }

    /// The judgement of the rules without looking at the arguments.
    pub(crate) fn judge_waived(&self) -> Judgement {
        let judge = |call| self.policies.judge_waived(call, &now(), &SpentLimits::none());
        let own = judge(&self.call);
        let mut others = self.readings.iter().map(|other| judge(&other.call));
        let denied = others.find(|other| own.verdict.passes() && !other.verdict.passes());
        denied.unwrap_or(own)
    }
}
