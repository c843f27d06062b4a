//! A call as a door saw it.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::RecordId;
use callgate_call::ToolCall;
use callgate_policy::{
    AlsoJudged, ExtraInput, Findings, Judgement, OtherReading, Policies, SpentLimits,
};

use crate::clock::now;
use crate::decider::Context;
use crate::in_force::InForce;
use crate::mcp::{Alias, ArgumentHash, McpSession, Ticket};

/// All that a door tells about a call. Everything after it is the same for every door.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) context: Context,
    pub(crate) policies: Arc<Policies>,
    /// What was in force when it began.
    pub(crate) in_force: Arc<InForce>,
    pub(crate) call: ToolCall,
    /// The same call as somebody else may read it.
    pub(crate) readings: Vec<OtherReading>,
    /// What goes along with it.
    pub(crate) along: Vec<ExtraInput>,
    pub(crate) seen: Seen,
    /// The id that its record will have.
    pub(crate) record: RecordId,
    /// When, in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) begun: Instant,
}

/// Where a call was seen.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// In a model's answer, which began then.
    InAnswer { begun: Instant },
    /// On its way to an MCP server.
    AtServer(Box<AtServer>),
}

/// A call on its way to an MCP server.
#[derive(Debug, Clone)]
pub(crate) struct AtServer {
    pub(crate) session: McpSession,
    /// The tool, as the client names it.
    pub(crate) tool: String,
    /// The tools of the server that the name may be read as, if it is none of them.
    pub(crate) aliases: Vec<Alias>,
    /// The id of the request, as it was written.
    pub(crate) rpc_id: Option<String>,
    /// The session, where the agent tells it.
    pub(crate) told: Option<String>,
    pub(crate) arguments: ArgumentHash,
    /// The call that it goes on with.
    pub(crate) goes_on: Option<Arc<Ticket>>,
}

impl Subject {
    pub(crate) fn at_server(&self) -> Option<&AtServer> {
        match &self.seen {
            Seen::InAnswer { .. } => None,
            Seen::AtServer(at) => Some(at),
        }
    }

    /// Names the policies that it is judged by, if there are any.
    pub(crate) fn digest(&self) -> Option<String> {
        Some(self.policies.digest().to_owned()).filter(|digest| !digest.is_empty())
    }

    /// What the rules say, with what is known of limits and of the tool's definition.
    pub(crate) fn judge(&self, limits: &SpentLimits, findings: Findings<'_>) -> Judgement {
        let others = AlsoJudged { readings: &self.readings, extra: &self.along };
        self.policies.judge_also(&self.call, others, &now(), limits, findings)
    }

    /// What the rules say where nobody is to look at the arguments.
    pub(crate) fn judge_waived(&self) -> Judgement {
        let judge = |call| self.policies.judge_waived(call, &now(), &SpentLimits::none());
        let own = judge(&self.call);
        let mut others = self.readings.iter().map(|other| judge(&other.call));
        let denied = others.find(|other| own.verdict.passes() && !other.verdict.passes());
        denied.unwrap_or(own)
    }
}
