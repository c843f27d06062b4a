//! All checks of one call, and what they come to.

use callgate_audit::RecordId;
use callgate_call::{Form, ToolCall};
use callgate_policy::{Findings, Judgement, LimitBy, LimitFacts, LimitKey, Policies, Rate};

use super::call::Ticket;
use super::check::{Check, Objection, Objections, POLICY};
use super::desk::KnownTool;
use super::flows::{self, Next, Past, Role};
use super::join::{self, ArgumentHash, Execution, Joined, KeyedStep};
use super::session::McpSession;
use super::settings::{McpSettings, Watch};
use crate::clock::now;
use crate::counter::Counter;
use crate::settings::{OddArguments, Oversize};

/// A call in question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// When, in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) tool: &'a str,
    pub(crate) call: &'a ToolCall,
    pub(crate) arguments: ArgumentHash,
    /// The call that it goes on with.
    pub(crate) goes_on: Option<&'a Ticket>,
    /// The id that its record will have.
    pub(crate) record: RecordId,
}

/// All that was worked out about a call.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) objections: Objections,
    pub(crate) judgement: Judgement,
    pub(crate) joined: Option<RecordId>,
    pub(crate) known: Option<KnownTool>,
    /// What later calls are judged with in mind, if this one passes.
    pub(crate) steps: Vec<KeyedStep>,
}

impl<'a> Asked<'a> {
    /// Calls without a session are taken for one: that counts more together, not less.
    fn session(&self) -> &'a str {
        self.call.origin.session.as_deref().unwrap_or_default()
    }

    fn execution(&self, server: &'a str) -> Execution<'a> {
        Execution {
            at: self.at,
            call_id: self.call.id.as_str(),
            session: self.call.origin.session.as_deref(),
            server,
            tool: self.tool,
            arguments: self.arguments,
        }
    }
}

impl McpSession {
    /// Makes every check. What is counted is counted only if none of them stops the call.
    pub(crate) fn decide(&self, settings: &McpSettings, asked: &Asked<'_>) -> Decided {
        let policies = self.policies();
        let mut books = self.books();
        let known = self.known_tool(&mut books, asked.tool);
        let owner = books.first_owner(&self.server, asked.tool);
        drop(books);
        let mut objections = Objections::default();
        self.check_tool(settings, asked.tool, known.as_ref(), &mut objections);
        let role = self.role(settings, asked.tool, known.as_ref());
        if asked.goes_on.is_none() {
            let first_owner = owner.as_deref();
            let next =
                Next { at: asked.at, server: &self.server, tool: asked.tool, role, first_owner };
            objections.add(self.flows(settings, asked.session(), next));
        }
        let joined = self.join(settings, asked);
        let mut tokens = Counter::of(&self.inner);
        let rate = settings.rate(&self.server).filter(|_| asked.goes_on.is_none());
        let rate: Vec<LimitKey> = rate.map(|rate| self.rate_key(rate)).into_iter().collect();
        objections.add(tokens.empty(&rate).iter().map(too_many));
        if !settings.enforce {
            objections.soften();
        }
        objections.add(self.unfit(asked.call));

        let found = known.as_ref().map(|known| Findings::Of(&known.inspection.findings));
        let found = found.unwrap_or_default();
        let judge = |limits: &LimitFacts| policies.judge_with(asked.call, &now(), limits, found);
        let mut judgement = self.first_judgement(&policies, asked.call, judge);
        // A call is counted once, at the first door that sees it.
        let counted = joined.is_none() && asked.goes_on.is_none();
        if counted && objections.stops().next().is_none() {
            judgement = tokens.judge(judgement, judge);
        }
        if judgement.verdict.passes() && objections.stops().next().is_none() {
            let lost = tokens.take(&rate);
            objections.add(lost.iter().filter(|_| settings.enforce).map(too_many));
        }
        drop(tokens);
        let steps = match judgement.verdict.passes() && objections.stops().next().is_none() {
            true => self.steps(settings, asked, role, joined.as_ref()),
            false => Vec::new(),
        };
        let first = asked.goes_on.map(|first| first.record);
        let joined = first.or(joined.map(|joined| joined.record));
        Decided { objections, judgement, joined, known, steps }
    }

    /// What the rules say about the call before any limit is asked.
    fn first_judgement(
        &self,
        policies: &Policies,
        call: &ToolCall,
        judge: impl Fn(&LimitFacts) -> Judgement,
    ) -> Judgement {
        let waived = matches!(call.arguments.form(), Form::Oversize(_))
            && self.inner.settings.oversize == Oversize::Allow;
        match waived {
            true => policies.judge_waived(call, &now(), &LimitFacts::unasked()),
            false => judge(&LimitFacts::unasked()),
        }
    }

    /// What the session's earlier calls have against this one.
    fn flows(&self, settings: &McpSettings, session: &str, next: Next<'_>) -> Vec<Objection> {
        let Some(since) = flows::since(&settings.flows, next) else { return Vec::new() };
        match join::history(&self.inner.audit, session, since) {
            Ok(past) => flows::check(&settings.flows, &past, next),
            Err(error) => {
                tracing::error!(%error, "the calls of a session cannot be read");
                let watch = flows::strictest(&settings.flows);
                let reason = "What this session has called before cannot be read.".to_owned();
                let hint = "Tell the operator: callgate's store cannot be read.";
                vec![Objection::new(Check::Flow, watch, reason, hint)]
            }
        }
    }

    fn join(&self, settings: &McpSettings, asked: &Asked<'_>) -> Option<Joined> {
        if asked.goes_on.is_some() {
            return None;
        }
        let execution = asked.execution(&self.server);
        join::find(&self.inner.audit, execution, settings.join_window).unwrap_or_else(|error| {
            tracing::error!(%error, "the call of a model cannot be looked for");
            None
        })
    }

    /// What is kept of a call that is let through.
    fn steps(
        &self,
        settings: &McpSettings,
        asked: &Asked<'_>,
        role: Role,
        joined: Option<&Joined>,
    ) -> Vec<KeyedStep> {
        let execution = asked.execution(&self.server);
        let mut steps = joined.map_or_else(Vec::new, |joined| join::done(joined, execution));
        if asked.goes_on.is_none() && flows::matters(&settings.flows, role) {
            let (server, tool) = (self.server.clone(), asked.tool.to_owned());
            let past = Past { at: asked.at, server, tool, role, record: asked.record };
            steps.push(join::remembered(asked.session(), &past, asked.arguments));
        }
        steps
    }

    /// Arguments that the operator wants nothing to be called with.
    fn unfit(&self, call: &ToolCall) -> Option<Objection> {
        let settings = &self.inner.settings;
        let oversize = matches!(call.arguments.form(), Form::Oversize(_));
        let odd = !oversize && call.arguments.value().is_err();
        let why = match (oversize, odd) {
            (true, _) if settings.oversize == Oversize::Deny => {
                "Its arguments are larger than the limit."
            }
            (_, true) if settings.arguments == OddArguments::Deny => {
                "Its arguments are not one JSON object."
            }
            _ => return None,
        };
        Some(Objection::block(Check::Rules, why.to_owned(), "Call it with one JSON object."))
    }

    fn role(&self, settings: &McpSettings, tool: &str, known: Option<&KnownTool>) -> Role {
        let hints = known.map(|known| known.inspection.hints).unwrap_or_default();
        Role::of(settings.server(&self.server), tool, hints)
    }

    fn rate_key(&self, rate: Rate) -> LimitKey {
        let bucket = vec![(LimitBy::Server, self.server.clone())];
        LimitKey { policy: POLICY.to_owned(), rule: Check::Rate.word().to_owned(), bucket, rate }
    }
}

fn too_many(key: &LimitKey) -> Objection {
    let rate = key.rate;
    let server = key.bucket.first().map_or("", |(_, server)| server.as_str());
    // Rounded up: a call that waits so long finds a token.
    let wait = rate.seconds.div_ceil(rate.calls.max(1)).max(1);
    Objection::new(
        Check::Rate,
        Watch::Block,
        format!(
            "The server `{server}` gets {} calls in {} s, {} at once, and has had them.",
            rate.calls, rate.seconds, rate.burst
        ),
        &format!("Wait {wait} s before the next call to this server."),
    )
}
