//! What is known about a call on its way to a server, before any rule is asked.

use std::sync::Arc;

use callgate_audit::McpFacts;
use callgate_call::{OriginFields, Who};
use callgate_policy::{LimitBy, LimitKey, Rate};
use callgate_store::{Glance, StoreError};

use super::check::{Check, Objection, Objections, POLICY};
use super::desk::KnownTool;
use super::flows::{self, Next, Role};
use super::join::{self, Execution, Joined};
use super::session::McpSession;
use super::settings::{FlowSettings, McpSettings, Watch};
use crate::pipeline::{AtServer, Resolved, Subject, Target};

/// The tool that a call is on its way to.
#[derive(Debug)]
pub(crate) struct AtTool {
    pub(crate) settings: Arc<McpSettings>,
    pub(crate) known: Option<KnownTool>,
    pub(crate) role: Role,
    /// The server that had this tool name first, if that is another one.
    pub(crate) first_owner: Option<String>,
    /// The call of the model that this is the execution of.
    pub(crate) joined: Option<Joined>,
    /// Since when the session's calls count, if it must be kept among them before it passes: two
    /// processes may each be about to let the last call through.
    pub(crate) noted_since: Option<i64>,
    /// What records say of the server.
    pub(crate) facts: McpFacts,
}

impl AtTool {
    pub(crate) fn next<'a>(&'a self, subject: &'a Subject, at: &'a AtServer) -> Next<'a> {
        Next {
            at: subject.at,
            server: at.session.server(),
            tool: &at.tool,
            role: self.role,
            first_owner: self.first_owner.as_deref(),
        }
    }
}

impl AtServer {
    pub(crate) fn execution<'a>(&'a self, subject: &'a Subject) -> Execution<'a> {
        Execution {
            at: subject.at,
            call_id: subject.call.id.as_str(),
            who: &subject.call.origin.who,
            session: self.told.as_deref(),
            server: self.session.server(),
            tool: &self.tool,
            arguments: self.arguments,
        }
    }
}

impl McpSession {
    /// Lists, pins, findings, the session's earlier calls, and the model's call that it belongs to. It
    /// reads the store.
    pub(crate) fn resolve(&self, subject: &Arc<Subject>, at: &AtServer) -> Resolved {
        let settings = Arc::clone(&subject.in_force.mcp);
        let glance = self.inner.audit.glance();
        let mut books = self.books_at(glance);
        let known = self.known_tool(&mut books, &at.tool);
        let first_owner = books.first_owner(&self.server, &at.tool);
        drop(books);
        let mut objections = Objections::default();
        self.check_tool(&settings, &at.tool, known.as_ref(), &mut objections);
        let mut role = self.role(&settings, &at.tool, known.as_ref());
        for alias in &at.aliases {
            role = role.or(self.check_alias(&settings, alias, &mut objections));
        }
        let facts = self.facts(&settings);
        let is_new = at.goes_on.is_none();
        let joined =
            if is_new { self.join(&settings, glance, at.execution(subject)) } else { None };
        // One call of a model is one execution, however many come at once.
        let joined = joined.filter(|it| self.inner.desk.claims.lock().claim(it.record));
        let mut tool = AtTool {
            settings: Arc::clone(&settings),
            known,
            role,
            first_owner,
            joined,
            noted_since: None,
            facts,
        };
        let next = tool.next(subject, at);
        if is_new {
            objections.add(flows_against(&settings, glance, &subject.call.origin, next));
        }
        if !settings.enforce {
            objections.soften();
        }
        tool.noted_since = noted_since(&settings, next).filter(|_| is_new);
        // A call that was counted in the model's answer is not counted again.
        let counted = tool.joined.as_ref().is_some_and(|joined| joined.server == self.server);
        let rate = settings.rate(&self.server).filter(|_| is_new && !counted);
        let rate = rate.map(|rate| rate_key(&self.context.origin.who, &self.server, rate));
        Resolved {
            subject: Arc::clone(subject),
            target: Target::Server(Box::new(tool)),
            objections,
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
    ) -> Option<Joined> {
        join::find(glance, execution, settings.join_window).unwrap_or_else(|error| {
            tracing::error!(%error, "the call of a model cannot be looked for");
            None
        })
    }

    pub(crate) fn role(
        &self,
        settings: &McpSettings,
        tool: &str,
        known: Option<&KnownTool>,
    ) -> Role {
        let hints = known.map(|known| known.inspection.hints).unwrap_or_default();
        Role::of(settings.server(&self.server), tool, hints)
    }
}

/// The bucket of a server's rate. Each principal has its own: nobody uses up what another may call.
pub(crate) fn rate_key(who: &Who, server: &str, rate: Rate) -> LimitKey {
    let who = who.identity().map(LimitBy::principal);
    let server = (LimitBy::Server, server.to_owned());
    let bucket = std::iter::once(server).chain(who).collect();
    LimitKey { policy: POLICY.to_owned(), rule: Check::Rate.word().to_owned(), bucket, rate }
}

/// Where what a call completes is stopped, it is kept among those of its session before it passes.
fn noted_since(settings: &McpSettings, next: Next<'_>) -> Option<i64> {
    let flows = &settings.flows;
    let stops = settings.enforce && flows::strictest(flows) == Watch::Block;
    flows::since(flows, next).filter(|_| stops && flows::matters(flows, next.role))
}

/// What the session's earlier calls have against this one.
fn flows_against(
    settings: &McpSettings,
    glance: Glance<'_>,
    origin: &OriginFields,
    next: Next<'_>,
) -> Vec<Objection> {
    let Some(since) = flows::since(&settings.flows, next) else { return Vec::new() };
    match join::history(glance, origin, since) {
        Ok(past) => flows::check(&settings.flows, &past, next),
        Err(error) => vec![unread_flows(&settings.flows, &error)],
    }
}

pub(crate) fn unread_flows(settings: &FlowSettings, error: &StoreError) -> Objection {
    tracing::error!(%error, "the calls of a session cannot be read");
    let reason = "What this session has called before cannot be read.".to_owned();
    let hint = "Tell the operator: callgate's store cannot be read.";
    Objection::new(Check::Store, flows::strictest(settings), reason, hint)
}

pub(crate) fn too_many(key: &LimitKey) -> Objection {
    let rate = key.rate;
    let server = key.bucket.first().map_or("", |(_, server)| server.as_str());
    // Rounded up: a call that waits so long finds a token.
    let wait = rate.seconds.div_ceil(rate.calls.max(1)).max(1);
    Objection::new(
        Check::Rate,
        Watch::Block,
        format!(
            "You may call the server `{server}` {} times in {} s, {} at once, and have done so.",
            rate.calls, rate.seconds, rate.burst
        ),
        &format!("Wait {wait} s before the next call to this server."),
    )
}
