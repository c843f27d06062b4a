//! What a client sends to a server beside the arguments of calls.

use callgate_audit::{Action, Guardrail, Kind, McpFacts};
use callgate_call::{Arguments, ArgumentsForm, ToolCall};
use callgate_policy::{Denial, ExtraInput, Findings, Judgement};

use super::call::{CallTicket, Ticket};
use super::readable::{self, Readings};
use super::session::McpSession;
use crate::clock::now;
use crate::pipeline::unfit_along;
use crate::record;
use crate::settings::Oversize;

/// A message of a client that is no call.
#[derive(Debug)]
pub struct Sent<'a> {
    /// What rules and records name it: its method, or that of the question it answers.
    pub method: &'a str,
    /// The calls that it may belong to.
    pub calls: &'a [CallTicket],
    /// What it holds.
    pub along: Vec<ExtraInput>,
}

impl McpSession {
    /// Judges a message that is no call: by its method, and as a part of each call that it may belong
    /// to. Answers what takes the place of what it holds. It is recorded if a rule had something to say.
    pub fn sends(&self, sent: Sent<'_>) -> Result<Vec<Option<String>>, Box<Denial>> {
        let policies = self.policies();
        if sent.along.is_empty() || !policies.looks_at_extra() {
            return Ok(Vec::new());
        }
        let named = self.named(sent.method, Arguments::json(""))?;
        let mut along = self.readable(sent.along);
        if let Some(objection) = unfit_along(&self.inner.in_force().settings, &along) {
            self.withheld("the client", &objection.reason);
            let denial = Denial::refused(sent.method, &objection.reason);
            return Err(Box::new(Denial { hint: objection.hint, ..denial }));
        }
        let mut changed: Vec<Option<String>> = Vec::new();
        let calls = sent.calls.iter().flat_map(|call| call.0.calls());
        for (call, tool) in std::iter::once((&named, None)).chain(calls) {
            let known = tool.and_then(|tool| self.known_tool(&mut self.known_books(), tool));
            let found = known.as_ref().map_or(&[][..], |known| &known.inspection.findings);
            let judgement = policies.judge_sent(call, &along, &now(), Findings::Of(found));
            self.tell_sent(sent.method, call, &judgement)?;
            take_over(&mut along, &mut changed, &judgement);
        }
        Ok(changed)
    }

    /// What goes along, in every way it may be read; those that replace nothing come last. What is too
    /// large is left out where the operator lets that pass.
    pub(crate) fn readable(&self, along: Vec<ExtraInput>) -> Vec<ExtraInput> {
        let mut shorter = Vec::new();
        let mut read: Vec<ExtraInput> = Vec::with_capacity(along.len());
        for along in along {
            // Most hold no escape, and are read only if a rule looks at them.
            if !along.input.raw().contains('\\') {
                read.push(along);
                continue;
            }
            let Readings { arguments, shorter: other } = readable::readable(along.input);
            let place = || along.place.clone();
            shorter.extend(other.map(|input| ExtraInput { place: place(), input, is_fixed: true }));
            read.push(ExtraInput { input: arguments, ..along });
        }
        read.extend(shorter);
        if self.inner.in_force().settings.oversize == Oversize::Allow {
            for along in read.iter_mut().filter(|along| is_oversize(along)) {
                along.input = Arguments::json("");
            }
        }
        read
    }

    /// Records what rules say to a message, if they say anything.
    fn tell_sent(
        &self,
        method: &str,
        call: &ToolCall,
        judged: &Judgement,
    ) -> Result<(), Box<Denial>> {
        let denial = judged.denial(call);
        let action = match &denial {
            Some(_) => "block",
            None if judged.is_rewritten() => "mask",
            None if judged.audits.is_empty() && judged.shadows.is_empty() => return Ok(()),
            None => "audit",
        };
        let mut record = self.record(Kind::Guardrail, &call.origin, method);
        let mut verdict = record::verdict(judged);
        if denial.is_none() {
            verdict.action = Action::Audit;
        }
        record.verdict = Some(verdict);
        record.guardrail = Some(Guardrail {
            action: action.to_owned(),
            kind: "mcp".to_owned(),
            direction: "request".to_owned(),
        });
        record.mcp =
            Some(McpFacts { place: Some(method.to_owned()), ..self.facts(&self.settings()) });
        let id = record.id.to_string();
        self.write_within(&self.budgets.sent, record);
        denial.map_or(Ok(()), |denial| Err(Box::new(Denial { record: Some(id), ..denial })))
    }
}

impl Ticket {
    /// The call under every name it may have, each with its tool as the server knows it.
    fn calls(&self) -> impl Iterator<Item = (&ToolCall, Option<&str>)> {
        let own = std::iter::once((&self.call, Some(self.tool.as_str())));
        own.chain(self.aliases.iter().map(|(tool, call)| (call, Some(tool.as_str()))))
    }
}

/// What was replaced counts as what is there, for whoever looks next.
fn take_over(along: &mut [ExtraInput], changed: &mut Vec<Option<String>>, judgement: &Judgement) {
    for (at, text) in judgement.rewritten_extra().iter().enumerate() {
        let (Some(text), Some(along)) = (text, along.get_mut(at)) else { continue };
        along.input = Arguments::json(text.as_str());
        changed.resize(changed.len().max(at + 1), None);
        if let Some(changed) = changed.get_mut(at) {
            *changed = Some(text.clone());
        }
    }
}

fn is_oversize(along: &ExtraInput) -> bool {
    matches!(along.input.form(), ArgumentsForm::Oversize(_))
}
