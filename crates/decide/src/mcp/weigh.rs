//! All checks of one call, and what they come to.

use callgate_audit::{Glance, RecordId, StoreError};
use callgate_call::{Arguments, Facts, Form, ToolCall};
use callgate_policy::{Findings, Judgement, LimitBy, LimitFacts, LimitKey, Others, Policies, Rate};

use super::alias::Alias;
use super::call::Ticket;
use super::check::{Check, Objection, Objections, POLICY};
use super::desk::KnownTool;
use super::flows::{self, Next, Past, Role};
use super::join::{self, ArgumentHash, Execution, Joined, KeyedStep};
use super::session::McpSession;
use super::settings::{FlowSettings, McpSettings, Watch};
use crate::clock::now;
use crate::counter::Counter;
use crate::settings::{OddArguments, Oversize};

/// A call in question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// When, in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) tool: &'a str,
    /// The tools of the server that the name may be read as, if it is none of them.
    pub(crate) aliases: &'a [Alias],
    pub(crate) call: &'a ToolCall,
    /// The same call as some servers may read it, and what goes along with it.
    pub(crate) others: Others<'a>,
    /// The session, where the agent tells it.
    pub(crate) told: Option<&'a str>,
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
    fn execution(&self, server: &'a str) -> Execution<'a> {
        Execution {
            at: self.at,
            call_id: self.call.id.as_str(),
            who: &self.call.origin.who,
            session: self.told,
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
        let glance = self.inner.audit.glance();
        let mut books = self.books_at(glance);
        let known = self.known_tool(&mut books, asked.tool);
        let owner = books.first_owner(&self.server, asked.tool);
        drop(books);
        let mut objections = Objections::default();
        self.check_tool(settings, asked.tool, known.as_ref(), &mut objections);
        let mut role = self.role(settings, asked.tool, known.as_ref());
        for alias in asked.aliases {
            role = role.or(self.check_alias(settings, alias, &mut objections));
        }
        let first_owner = owner.as_deref();
        let next = Next { at: asked.at, server: &self.server, tool: asked.tool, role, first_owner };
        if asked.goes_on.is_none() {
            objections.add(flows_against(settings, glance, &asked.call.origin, next));
        }
        let joined = self.join(settings, glance, asked);
        let mut tokens = Counter::of(&self.inner);
        let rate = settings.rate(&self.server).filter(|_| asked.goes_on.is_none());
        let rate: Vec<LimitKey> = rate.map(|rate| self.rate_key(rate)).into_iter().collect();
        objections.add(tokens.empty(&rate).iter().map(too_many));
        if !settings.enforce {
            objections.soften();
        }
        objections.add(self.unfit(asked.call));
        objections.add(self.unfit_along(asked.others.along));
        objections.add(self.waived_along(&policies, asked));

        let found = known.as_ref().map(|known| Findings::Of(&known.inspection.findings));
        let found = found.unwrap_or_default();
        let judge = |limits: &LimitFacts| {
            policies.judge_also(asked.call, asked.others, &now(), limits, found)
        };
        let mut judgement = self.first_judgement(&policies, asked, judge);
        let passes = |objections: &Objections, judgement: &Judgement| {
            judgement.verdict.passes() && objections.stops().next().is_none()
        };
        let mut noted = Noted::No;
        if passes(&objections, &judgement) {
            noted = self.note(settings, asked, next, &mut objections);
        }
        // A call is counted once, at the first door that sees it.
        let counted = joined.is_none() && asked.goes_on.is_none();
        if counted && objections.stops().next().is_none() {
            judgement = tokens.judge(judgement, judge);
        }
        if passes(&objections, &judgement) {
            let lost = tokens.take(&rate);
            objections.add(lost.iter().filter(|_| settings.enforce).map(too_many));
        }
        drop(tokens);
        let steps = match passes(&objections, &judgement) {
            true => self.steps(settings, asked, role, joined.as_ref(), noted),
            false => {
                self.take_back(asked, noted);
                Vec::new()
            }
        };
        let first = asked.goes_on.map(|first| first.record);
        let joined = first.or(joined.map(|joined| joined.record));
        Decided { objections, judgement, joined, known, steps }
    }

    /// What the rules say about the call before any limit is asked.
    fn first_judgement(
        &self,
        policies: &Policies,
        asked: &Asked<'_>,
        judge: impl Fn(&LimitFacts) -> Judgement,
    ) -> Judgement {
        if !self.is_waived(asked.call) {
            return judge(&LimitFacts::unasked());
        }
        let judge = |call| policies.judge_waived(call, &now(), &LimitFacts::unasked());
        let (own, readings) = (judge(asked.call), asked.others.readings.iter());
        let mut others = readings.map(|other| judge(&other.call));
        let denied = others.find(|other| own.verdict.passes() && !other.verdict.passes());
        denied.unwrap_or(own)
    }

    /// Whether a call passes without anybody looking at its arguments.
    fn is_waived(&self, call: &ToolCall) -> bool {
        matches!(call.arguments.form(), Form::Oversize(_))
            && self.inner.settings.oversize == Oversize::Allow
    }

    /// What goes along with a call whose arguments nobody looks at. The call is not edited: what a rule
    /// would replace is refused.
    fn waived_along(&self, policies: &Policies, asked: &Asked<'_>) -> Option<Objection> {
        if !self.is_waived(asked.call) {
            return None;
        }
        let bare = ToolCall { arguments: Arguments::json(""), ..asked.call.clone() };
        let judged = policies.judge_sent(&bare, asked.others.along, &now(), Findings::Of(&[]));
        let stops = !judged.verdict.passes() || judged.is_rewritten();
        let reason = format!("What goes along with it does not pass: {}", judged.reason);
        stops.then(|| Objection::block(Check::Rules, reason, "Call it without that."))
    }

    fn join(
        &self,
        settings: &McpSettings,
        glance: Glance<'_>,
        asked: &Asked<'_>,
    ) -> Option<Joined> {
        if asked.goes_on.is_some() {
            return None;
        }
        let execution = asked.execution(&self.server);
        join::find(glance, execution, settings.join_window).unwrap_or_else(|error| {
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
        noted: Noted,
    ) -> Vec<KeyedStep> {
        let execution = asked.execution(&self.server);
        let mut steps = joined.map_or_else(Vec::new, |joined| join::done(joined, execution));
        let is_new = asked.goes_on.is_none() && noted == Noted::No;
        if is_new && flows::matters(&settings.flows, role) {
            steps.push(self.remembered(asked, role));
        }
        steps
    }

    fn remembered(&self, asked: &Asked<'_>, role: Role) -> KeyedStep {
        let (server, tool) = (self.server.clone(), asked.tool.to_owned());
        let past = Past { at: asked.at, server, tool, role, record: asked.record };
        join::remembered(&asked.call.origin, &past, asked.arguments)
    }

    /// Looks back once more and keeps the call in one, where what it completes is stopped: two processes
    /// may each be about to let the last call through.
    fn note(
        &self,
        settings: &McpSettings,
        asked: &Asked<'_>,
        next: Next<'_>,
        objections: &mut Objections,
    ) -> Noted {
        let flows = &settings.flows;
        let stops = settings.enforce && flows::strictest(flows) == Watch::Block;
        let since = flows::since(flows, next).filter(|_| asked.goes_on.is_none() && stops);
        let Some(since) = since.filter(|_| flows::matters(flows, next.role)) else {
            return Noted::No;
        };
        let against = |past: &[Past]| {
            let found = flows::check(flows, past, next);
            let found = found.into_iter().filter(|it| it.watch == Watch::Block);
            Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty())
        };
        let step = self.remembered(asked, next.role);
        match join::remember_unless(&self.inner.audit, step, since, against) {
            Ok(None) => return Noted::Yes,
            Ok(Some(found)) => objections.add(found),
            Err(error) => objections.add([unread_flows(flows, &error)]),
        }
        Noted::No
    }

    /// The call is not made after all.
    fn take_back(&self, asked: &Asked<'_>, noted: Noted) {
        if noted == Noted::Yes
            && let Err(error) = join::forget(&self.inner.audit, &asked.call.origin, asked.record)
        {
            tracing::error!(%error, "a call that was not made stays among those of its session");
        }
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

    pub(crate) fn role(
        &self,
        settings: &McpSettings,
        tool: &str,
        known: Option<&KnownTool>,
    ) -> Role {
        let hints = known.map(|known| known.inspection.hints).unwrap_or_default();
        Role::of(settings.server(&self.server), tool, hints)
    }

    fn rate_key(&self, rate: Rate) -> LimitKey {
        // Each principal has its own: nobody uses up what another may call.
        let who = self.context.origin.who.identity().map(LimitBy::principal);
        let server = (LimitBy::Server, self.server.clone());
        let bucket = std::iter::once(server).chain(who).collect();
        LimitKey { policy: POLICY.to_owned(), rule: Check::Rate.word().to_owned(), bucket, rate }
    }
}

/// Whether a call is kept among those of its session before it is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    No,
    Yes,
}

/// What the session's earlier calls have against this one.
fn flows_against(
    settings: &McpSettings,
    glance: Glance<'_>,
    origin: &Facts,
    next: Next<'_>,
) -> Vec<Objection> {
    let Some(since) = flows::since(&settings.flows, next) else { return Vec::new() };
    match join::history(glance, origin, since) {
        Ok(past) => flows::check(&settings.flows, &past, next),
        Err(error) => vec![unread_flows(&settings.flows, &error)],
    }
}

fn unread_flows(settings: &FlowSettings, error: &StoreError) -> Objection {
    tracing::error!(%error, "the calls of a session cannot be read");
    let reason = "What this session has called before cannot be read.".to_owned();
    let hint = "Tell the operator: callgate's store cannot be read.";
    Objection::new(Check::Store, flows::strictest(settings), reason, hint)
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
            "You may call the server `{server}` {} times in {} s, {} at once, and have done so.",
            rate.calls, rate.seconds, rate.burst
        ),
        &format!("Wait {wait} s before the next call to this server."),
    )
}
