//! Requests of a method that nobody knows, with a tool and arguments in them. A lenient server may run
//! that tool, so such a request is judged as a call of it.

use callgate_audit::{Action, Kind, McpFacts};
use callgate_call::{Arguments, ToolCall};
use callgate_policy::{Denial, Findings, SpentLimits};

use super::admission::{self, Subject};
use super::check::Objections;
use super::readable::{self, Readings};
use super::session::McpSession;
use crate::clock::now;
use crate::counter::Counter;

impl McpSession {
    /// Whether the server has, or once had, a tool of this name.
    pub fn knows_tool(&self, tool: &str) -> bool {
        self.known_tool(&mut self.known_books(), tool).is_some()
    }

    /// Judges what looks like a call by the rules, without the policies' defaults, and by the lists of what
    /// is denied. A policy that denies what it does not know means calls, and this may be none. It is
    /// recorded if it is denied.
    pub fn looks_like_call(
        &self,
        method: &str,
        tool: &str,
        arguments: Arguments,
    ) -> Result<(), Box<Denial>> {
        let Readings { arguments, shorter } = readable::readable(arguments);
        for arguments in [Some(arguments), shorter].into_iter().flatten() {
            let call = self.named(tool, arguments)?;
            let aliases = self.aliases(tool);
            self.judge_lookalike(method, tool, &call)?;
            for alias in aliases {
                self.judge_lookalike(method, &alias.tool, &alias.call(&call))?;
            }
        }
        Ok(())
    }

    fn judge_lookalike(
        &self,
        method: &str,
        tool: &str,
        call: &ToolCall,
    ) -> Result<(), Box<Denial>> {
        let (settings, policies) = (self.settings(), self.policies());
        let known = self.known_tool(&mut self.known_books(), tool);
        let mut objections = Objections::default();
        match &known {
            Some(known) => self.check_tool(&settings, tool, Some(known), &mut objections),
            None => {
                let subject = Subject { server: &self.server, tool, hash: None };
                objections.add(admission::denied_server(&settings, &self.server));
                objections.add(admission::denied_tool(&settings, subject));
            }
        }
        if !settings.enforce {
            objections.soften();
        }
        let found = known.as_ref().map(|known| Findings::Of(&known.inspection.findings));
        let found = found.unwrap_or_default();
        let judge = |limits: &SpentLimits| policies.judge_by_rules(call, &now(), limits, found);
        let mut judgement = judge(&SpentLimits::none());
        let is_stopped = objections.stops().next().is_some();
        let limits = judgement.limits.clone();
        if !is_stopped && !limits.is_empty() {
            Counter::of(&self.inner, &settings).spend(&limits, |empty| {
                judgement = judge(&SpentLimits::exceeded(empty.iter().cloned()));
                judgement.verdict.passes()
            });
        }
        // What a rule would replace cannot be replaced in a message that nobody knows.
        if !is_stopped && judgement.verdict.passes() && !judgement.is_rewritten() {
            return Ok(());
        }
        let refused = "its arguments hold something that a rule replaces";
        let denial = objections.denial(call.name.raw(), judgement.denial(call));
        let denial = denial.unwrap_or_else(|| Denial::refused(tool, refused));
        let mut record = self.record(Kind::McpToolCalled, &call.origin, tool);
        let mut verdict = objections.verdict(&judgement);
        verdict.action = Action::Deny;
        record.verdict = Some(verdict);
        record.detail = Some(format!("the method `{method}` looks like a call"));
        record.mcp = Some(McpFacts { place: Some(method.to_owned()), ..self.facts(&settings) });
        let id = record.id.to_string();
        self.write_within(&self.budgets.sent, record);
        Err(Box::new(Denial { record: Some(id), ..denial }))
    }
}
