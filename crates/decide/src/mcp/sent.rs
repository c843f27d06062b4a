//! Judges what a client sends to a server in addition to calls.

use callgate_audit::{CallOutcome, McpFacts, RecordKind, TextRuleMatch};
use callgate_call::{Arguments, ArgumentsForm, ToolCall};
use callgate_policy::{Denial, ExtraInput, Findings, Judgement};

use super::call::{AllowedCall, ForwardedCall};
use super::readable::{self, ArgumentReadings};
use super::session::McpSession;
use crate::clock::now;
use crate::new_record;
use crate::pipeline::unfit_extra_input;
use crate::settings::Oversize;

/// A client message other than a call.
#[derive(Debug)]
pub struct SentMessage<'a> {
    /// Its name in rules and records: its method, or the method of the request that it answers.
    pub method: &'a str,
    /// The calls that it may belong to.
    pub calls: &'a [AllowedCall],
    /// The values in the message.
    pub extra_inputs: Vec<ExtraInput>,
}

impl McpSession {
    /// Judges a message that is not a call: by its method, and as part of each call that it may
    /// belong to. Returns a replacement for each value that a rule changed. Recorded if a rule
    /// applied.
    pub fn judge_sent_message(
        &self,
        sent: SentMessage<'_>,
    ) -> Result<Vec<Option<String>>, Box<Denial>> {
        let policies = self.policies();
        if sent.extra_inputs.is_empty() || !policies.looks_at_extra() {
            return Ok(Vec::new());
        }
        let named = self.named(sent.method, Arguments::json(""))?;
        let mut extra_inputs = self.readable(sent.extra_inputs);
        if let Some(failure) = unfit_extra_input(&self.inner.in_force().settings, &extra_inputs) {
            self.record_withheld("the client", &failure.reason);
            let denial = Denial::refused(sent.method, &failure.reason);
            return Err(Box::new(Denial { hint: failure.hint, ..denial }));
        }
        let mut changed: Vec<Option<String>> = Vec::new();
        let calls = sent.calls.iter().flat_map(|call| call.0.calls());
        for (call, tool) in std::iter::once((&named, None)).chain(calls) {
            let known = tool.and_then(|tool| self.known_tool(&mut self.cache(), tool));
            let found = known.as_ref().map_or(&[][..], |known| &known.inspection.findings);
            let judgement = policies.judge_sent(call, &extra_inputs, &now(), Findings::Of(found));
            self.record_sent_message(sent.method, call, &judgement)?;
            apply_replacements(&mut extra_inputs, &mut changed, &judgement);
        }
        Ok(changed)
    }

    /// The extra inputs in every possible reading. Readings that cannot be replaced come last.
    /// Oversized ones are left out if the operator lets them pass.
    pub(crate) fn readable(&self, extra_inputs: Vec<ExtraInput>) -> Vec<ExtraInput> {
        let mut without_surrogates = Vec::new();
        let mut read: Vec<ExtraInput> = Vec::with_capacity(extra_inputs.len());
        for extra in extra_inputs {
            // Most contain no escape, and are parsed only if a rule needs them.
            if !extra.input.raw().contains('\\') {
                read.push(extra);
                continue;
            }
            let ArgumentReadings { arguments, without_surrogates: other } =
                readable::readable(extra.input);
            let place = || extra.place.clone();
            without_surrogates.extend(other.map(|input| ExtraInput {
                place: place(),
                input,
                is_fixed: true,
            }));
            read.push(ExtraInput { input: arguments, ..extra });
        }
        read.extend(without_surrogates);
        if self.inner.in_force().settings.oversize == Oversize::Allow {
            for extra in read.iter_mut().filter(|extra| is_oversize(extra)) {
                extra.input = Arguments::json("");
            }
        }
        read
    }

    /// Records the verdict of the rules, if any rule applied.
    fn record_sent_message(
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
        let mut record = self.record(RecordKind::Guardrail, &call.origin, method);
        let mut verdict = new_record::verdict(judged);
        if denial.is_none() {
            verdict.action = CallOutcome::Audit;
        }
        record.verdict = Some(verdict);
        record.guardrail = Some(TextRuleMatch {
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

impl ForwardedCall {
    /// The call under each of its names, with the name of its tool at the server.
    fn calls(&self) -> impl Iterator<Item = (&ToolCall, Option<&str>)> {
        let own = std::iter::once((&self.call, Some(self.tool.as_str())));
        own.chain(self.aliases.iter().map(|(tool, call)| (call, Some(tool.as_str()))))
    }
}

/// Applies the replacements to the inputs, for the next judgement.
fn apply_replacements(
    extra_inputs: &mut [ExtraInput],
    changed: &mut Vec<Option<String>>,
    judgement: &Judgement,
) {
    for (at, text) in judgement.rewritten_extra().iter().enumerate() {
        let (Some(text), Some(extra)) = (text, extra_inputs.get_mut(at)) else { continue };
        extra.input = Arguments::json(text.as_str());
        changed.resize(changed.len().max(at + 1), None);
        if let Some(changed) = changed.get_mut(at) {
            *changed = Some(text.clone());
        }
    }
}

fn is_oversize(extra: &ExtraInput) -> bool {
    matches!(extra.input.form(), ArgumentsForm::Oversize(_))
}
