//! Gathers what is known about a call to a server, before any rule is evaluated.

use std::sync::Arc;

use callgate_audit::McpFacts;
use callgate_call::{OriginFields, Principal, ToolCall};
use callgate_policy::{LimitBy, LimitKey, Rate};
use callgate_store::{Glance, StoreError};

use super::claim::IntentClaim;
use super::flows::{self, NextCall, ToolRole};
use super::join::{self, Execution, MatchedIntent};
use super::session::McpSession;
use super::settings::{CheckAction, FlowSettings, McpSettings};
use super::state::ToolSnapshot;
use crate::checks::{Check, CheckFailure, CheckFailures, POLICY};
use crate::pipeline::{CallTarget, Resolved, ServerCall, Subject};

/// The tool that a call to a server is for.
#[derive(Debug)]
pub(crate) struct TargetTool {
    pub(crate) settings: Arc<McpSettings>,
    pub(crate) known: Option<ToolSnapshot>,
    pub(crate) role: ToolRole,
    /// The server that offered this tool name first, if it is a different one.
    pub(crate) first_owner: Option<String>,
    /// The model call that this execution belongs to.
    pub(crate) intent: Option<IntentClaim>,
    /// The start of the time window for flows, if the call must be in the history before it is
    /// allowed: two processes may both be about to allow the last call.
    pub(crate) history_since: Option<i64>,
    /// Facts about the server for records.
    pub(crate) facts: McpFacts,
}

impl TargetTool {
    pub(crate) fn intent(&self) -> Option<&MatchedIntent> {
        self.intent.as_ref().map(|claim| &claim.intent)
    }

    pub(crate) fn next<'a>(&'a self, subject: &'a Subject, at: &'a ServerCall) -> NextCall<'a> {
        NextCall {
            at: subject.seen_at,
            server: at.session.server(),
            tool: &at.tool,
            role: self.role,
            first_owner: self.first_owner.as_deref(),
        }
    }
}

impl ServerCall {
    pub(crate) fn execution<'a>(&'a self, subject: &'a Subject) -> Execution<'a> {
        Execution {
            at: subject.seen_at,
            call_id: subject.call.id.as_str(),
            who: &subject.call.origin.who,
            session: self.agent_session.as_deref(),
            server: self.session.server(),
            tool: &self.tool,
            arguments: self.arguments,
        }
    }
}

impl McpSession {
    /// Checks lists, pins, findings and the history, and finds the model call that it belongs to.
    /// It reads the store.
    pub(crate) fn resolve(&self, subject: &Arc<Subject>, at: &ServerCall) -> Resolved {
        let settings = Arc::clone(&subject.in_force.mcp);
        let glance = self.inner.audit.glance();
        let mut cache = self.cache_at(glance);
        let known = self.known_tool(&mut cache, &at.tool);
        let first_owner = cache.first_owner(&self.server, &at.tool);
        drop(cache);
        let mut failures = CheckFailures::default();
        self.check_tool(&settings, &at.tool, known.as_ref(), &mut failures);
        let mut role = self.role(&settings, &at.tool, known.as_ref());
        for alias in &at.aliases {
            role = role.or(self.check_alias(&settings, alias, &mut failures));
        }
        let facts = self.facts(&settings);
        let is_new = at.continues.is_none();
        let intent =
            if is_new { self.join(&settings, glance, at.execution(subject)) } else { None };
        let intent = intent.and_then(|it| self.inner.mcp_state.claimed_intents.claim(it));
        let mut tool = TargetTool {
            settings: Arc::clone(&settings),
            known,
            role,
            first_owner,
            intent,
            history_since: None,
            facts,
        };
        let next = tool.next(subject, at);
        if is_new {
            failures.add(flows_against(&settings, glance, &subject.call.origin, next));
        }
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        tool.history_since = history_since(&settings, next).filter(|_| is_new);
        // A call that was counted in the model's response is not counted again.
        let counted = tool.intent().is_some_and(|intent| intent.server == self.server);
        let rate = settings.rate(&self.server).filter(|_| is_new && !counted);
        let rate = rate.map(|rate| rate_key(&self.context.origin.who, &self.server, rate));
        Resolved {
            subject: with_hints(subject, tool.known.as_ref()),
            target: CallTarget::Server(Box::new(tool)),
            failures,
            rate: rate.into_iter().collect(),
            enforce: settings.enforce,
            waived: false,
        }
    }

    fn join(
        &self,
        settings: &McpSettings,
        glance: Glance<'_>,
        execution: Execution<'_>,
    ) -> Option<MatchedIntent> {
        join::find(glance, execution, settings.join_window).unwrap_or_else(|error| {
            tracing::error!(%error, "the matching call of a model cannot be looked up");
            None
        })
    }

    pub(crate) fn role(
        &self,
        settings: &McpSettings,
        tool: &str,
        known: Option<&ToolSnapshot>,
    ) -> ToolRole {
        let hints = known.map(|known| known.inspection.hints).unwrap_or_default();
        ToolRole::of(settings.server(&self.server), tool, hints)
    }
}

/// The call, with what its server says about the tool.
fn with_hints(subject: &Arc<Subject>, known: Option<&ToolSnapshot>) -> Arc<Subject> {
    let hints = known.map(|known| known.inspection.effects).unwrap_or_default();
    if hints == subject.call.origin.effect_hints {
        return Arc::clone(subject);
    }
    let mut subject = (**subject).clone();
    let hinted = |call: &mut ToolCall| {
        call.origin = call.origin.clone().with_effect_hints(hints);
    };
    hinted(&mut subject.call);
    subject.readings.iter_mut().for_each(|other| hinted(&mut other.call));
    Arc::new(subject)
}

/// The bucket of a server's rate. Each principal has its own, so that nobody uses up the rate of
/// another.
pub(crate) fn rate_key(who: &Principal, server: &str, rate: Rate) -> LimitKey {
    let who = who.identity().map(LimitBy::principal);
    let server = (LimitBy::Server, server.to_owned());
    let bucket = std::iter::once(server).chain(who).collect();
    LimitKey { policy: POLICY.to_owned(), rule: Check::Rate.word().to_owned(), bucket, rate }
}

/// The start of the time window, if flows can block this call. Then it must be in the history
/// before it is allowed.
fn history_since(settings: &McpSettings, next: NextCall<'_>) -> Option<i64> {
    let flows = &settings.flows;
    let stops = settings.enforce && flows::strictest(flows) == CheckAction::Block;
    flows::since(flows, next).filter(|_| stops && flows::is_remembered(flows, next.role))
}

/// Checks the call against the earlier calls of its session.
fn flows_against(
    settings: &McpSettings,
    glance: Glance<'_>,
    origin: &OriginFields,
    next: NextCall<'_>,
) -> Vec<CheckFailure> {
    let Some(since) = flows::since(&settings.flows, next) else { return Vec::new() };
    match join::history(glance, origin, since) {
        Ok(past) => flows::check(&settings.flows, &past, next),
        Err(error) => vec![unread_flows(&settings.flows, &error)],
    }
}

pub(crate) fn unread_flows(settings: &FlowSettings, error: &StoreError) -> CheckFailure {
    tracing::error!(%error, "the history of a session could not be read");
    let reason = "The earlier calls of this session cannot be read.".to_owned();
    let hint = "Tell the operator: callgate's store cannot be read.";
    CheckFailure::new(Check::Store, flows::strictest(settings), reason, hint)
}

pub(crate) fn too_many(key: &LimitKey) -> CheckFailure {
    let rate = key.rate;
    let server = key.bucket.first().map_or("", |(_, server)| server.as_str());
    // Rounded up: after this time there is a token.
    let wait = rate.seconds.div_ceil(rate.calls.max(1)).max(1);
    CheckFailure::new(
        Check::Rate,
        CheckAction::Block,
        format!(
            "The rate limit of the server `{server}` is reached: {} calls in {} s, {} at once.",
            rate.calls, rate.seconds, rate.burst
        ),
        &format!("Wait {wait} s before the next call to this server."),
    )
}
