//! What is kept of a call for those that come after it.

use callgate_call::Arguments;
use callgate_policy::Judgement;

use super::check::{Objection, Objections};
use super::flows::{self, Past};
use super::join::{self, KeyedStep};
use super::resolve::{AtTool, unread_flows};
use super::settings::Watch;
use crate::decider::Inner;
use crate::pipeline::{AtServer, Resolved, Subject, Target};

/// Whether a call is kept among those of its session before it is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    No,
    Yes,
}

impl Resolved {
    /// Adds what speaks against the call, or only tells of it where nothing is enforced.
    pub(crate) fn object(&mut self, found: impl IntoIterator<Item = Objection>) {
        let mut objections = Objections::default();
        objections.add(found);
        if !self.enforce {
            objections.soften();
        }
        self.objections.join(objections);
    }

    fn at_server(&self) -> Option<(&Subject, &AtServer, &AtTool)> {
        Some((&self.subject, self.subject.at_server()?, self.at_tool()?))
    }

    /// Looks back once more and keeps the call, both in one.
    pub(crate) fn note(&mut self, inner: &Inner) -> Noted {
        let found = match self.at_server() {
            Some((subject, at, tool)) => note(inner, subject, at, tool),
            None => return Noted::No,
        };
        match found {
            None => Noted::No,
            Some(Ok(())) => Noted::Yes,
            Some(Err(found)) => {
                self.objections.add(found);
                Noted::No
            }
        }
    }

    /// What is kept of a call that is let through.
    pub(crate) fn steps(
        &self,
        inner: &Inner,
        judgement: &Judgement,
        noted: Noted,
    ) -> Vec<KeyedStep> {
        let Subject { call, record, .. } = &*self.subject;
        match &self.target {
            Target::Named(meant) => {
                let rewritten = judgement.rewritten().map(Arguments::json);
                let arguments = rewritten.as_ref().unwrap_or(&call.arguments);
                meant.intended(inner, call, arguments, *record)
            }
            Target::Server(_) => match self.at_server() {
                Some((subject, at, tool)) => steps(subject, at, tool, noted),
                None => Vec::new(),
            },
        }
    }

    /// The call is not made after all.
    pub(crate) fn take_back(&self, inner: &Inner, noted: Noted) {
        let Subject { call, record, .. } = &*self.subject;
        if let Some(joined) = self.at_tool().and_then(|at| at.joined.as_ref()) {
            inner.desk.claims.lock().give_back(joined.record);
        }
        if noted == Noted::Yes
            && let Err(error) = join::forget(&inner.audit, &call.origin, *record)
        {
            tracing::error!(%error, "a call that was not made stays among those of its session");
        }
    }
}

fn note(
    inner: &Inner,
    subject: &Subject,
    at: &AtServer,
    tool: &AtTool,
) -> Option<Result<(), Vec<Objection>>> {
    let (flows, since) = (&tool.settings.flows, tool.noted_since?);
    let against = |past: &[Past]| {
        let found = flows::check(flows, past, tool.next(subject, at));
        let found = found.into_iter().filter(|it| it.watch == Watch::Block);
        Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    let step = remembered(subject, at, tool);
    Some(match join::remember_unless(&inner.audit, step, since, against) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(found),
        Err(error) => Err(vec![unread_flows(flows, &error)]),
    })
}

fn steps(subject: &Subject, at: &AtServer, tool: &AtTool, noted: Noted) -> Vec<KeyedStep> {
    let execution = at.execution(subject);
    let joined = tool.joined.as_ref();
    let mut steps = joined.map_or_else(Vec::new, |joined| join::done(joined, execution));
    let is_new = at.goes_on.is_none() && noted == Noted::No;
    if is_new && flows::matters(&tool.settings.flows, tool.role) {
        steps.push(remembered(subject, at, tool));
    }
    steps
}

fn remembered(subject: &Subject, at: &AtServer, tool: &AtTool) -> KeyedStep {
    let (server, name) = (at.session.server().to_owned(), at.tool.clone());
    let past = Past { at: subject.at, server, tool: name, role: tool.role, record: subject.record };
    join::remembered(&subject.call.origin, &past, at.arguments)
}
