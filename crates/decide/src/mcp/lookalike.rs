//! Requests with an unknown method that contain a tool and arguments. A lenient server may run that
//! tool, so such a request is judged as a call of it.

use callgate_audit::{CallOutcome, McpFacts, RecordKind};
use callgate_call::{Arguments, ToolCall};
use callgate_policy::{Denial, Findings, SpentLimits};

use super::admission::{self, ListedTool};
use super::readable::{self, ArgumentReadings};
use super::session::McpSession;
use crate::checks::CheckFailures;
use crate::clock::now;
use crate::counter::Counter;

impl McpSession {
    /// Whether the server has, or ever had, a tool of this name.
    pub fn knows_tool(&self, tool: &str) -> bool {
        self.known_tool(&mut self.cache(), tool).is_some()
    }

    /// Judges a request that looks like a call, by the rules without the policies' defaults, and by
    /// the lists of denied servers and tools. A policy that denies everything unknown is meant for
    /// calls, and this may not be one. A denial is recorded.
    pub fn looks_like_call(
        &self,
        method: &str,
        tool: &str,
        arguments: Arguments,
    ) -> Result<(), Box<Denial>> {
        let ArgumentReadings { arguments, without_surrogates } = readable::readable(arguments);
        for arguments in [Some(arguments), without_surrogates].into_iter().flatten() {
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
        let known = self.known_tool(&mut self.cache(), tool);
        let mut failures = CheckFailures::default();
        match &known {
            Some(known) => self.check_tool(&settings, tool, Some(known), &mut failures),
            None => {
                let subject = ListedTool { server: &self.server, tool, hash: None };
                failures.add(admission::denied_server(&settings, &self.server));
                failures.add(admission::denied_tool(&settings, subject));
            }
        }
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        let found = known.as_ref().map(|known| Findings::Of(&known.inspection.findings));
        let found = found.unwrap_or_default();
        let judge = |limits: &SpentLimits| policies.judge_by_rules(call, &now(), limits, found);
        let mut judgement = judge(&SpentLimits::none());
        let is_stopped = failures.blocking().next().is_some();
        let limits = judgement.limits.clone();
        if !is_stopped && !limits.is_empty() {
            Counter::of(&self.inner, &settings).spend(&limits, |empty| {
                judgement = judge(&SpentLimits::exceeded(empty.iter().cloned()));
                judgement.verdict.passes()
            });
        }
        // Arguments cannot be replaced in a message with an unknown method.
        if !is_stopped && judgement.verdict.passes() && !judgement.is_rewritten() {
            return Ok(());
        }
        let refused = "its arguments contain something that a rule replaces";
        let denial = failures.denial(call.name.raw(), judgement.denial(call));
        let denial = denial.unwrap_or_else(|| Denial::refused(tool, refused));
        let mut record = self.record(RecordKind::McpToolCalled, &call.origin, tool);
        let mut verdict = failures.verdict(&judgement);
        verdict.action = CallOutcome::Deny;
        record.verdict = Some(verdict);
        record.detail = Some(format!("the method `{method}` looks like a call"));
        record.mcp = Some(McpFacts { place: Some(method.to_owned()), ..self.facts(&settings) });
        let id = record.id.to_string();
        self.write_within(&self.budgets.sent, record);
        Err(Box::new(Denial { record: Some(id), ..denial }))
    }
}
