//! Combines the rules with all checks.

use std::time::Duration;

use callgate_audit::Verdict;
use callgate_call::{FileWrite, FoundOrigin};
use callgate_policy::Settled;

use super::{Metered, Resolved};
use crate::mcp::{KeyedStep, explained, unreadable_note};

/// A call with its verdict.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) resolved: Resolved,
    pub(crate) settled: Settled,
    /// The verdict in the record.
    pub(crate) verdict: Verdict,
    /// The input in the record, if sanitizers removed something from the arguments.
    pub(crate) rewritten: Option<String>,
    /// For each extra input, its replacement if a rule changed it.
    pub(crate) extra_replacements: Vec<Option<String>>,
    pub(crate) steps: Vec<KeyedStep>,
    /// What it writes into files, for later calls of the session.
    pub(crate) files: Vec<FileWrite>,
    /// What later calls may ask about it.
    pub(crate) events: Vec<String>,
    /// Where its values came from, as far as rules ask.
    pub(crate) origins: Vec<FoundOrigin>,
    /// How long judging took.
    pub(crate) judged_in: Duration,
}

pub(crate) fn judge(metered: Metered) -> Judged {
    let Metered { resolved, judgement, steps, .. } = metered;
    let call = &resolved.subject.call;
    let mut verdict = resolved.failures.verdict(&judgement);
    let mut denial = resolved.failures.denial(call.name.raw(), judgement.denial(call));
    // Without the addition, a reader would look for something that the arguments may not contain.
    if let Some(unreadable_note) = unreadable_note(&call.arguments, &judgement) {
        if verdict.rule == judgement.rule {
            verdict.reason = Some(explained(verdict.reason.as_deref(), &unreadable_note));
        }
        if let Some(denial) = denial.as_mut().filter(|denial| denial.rule == judgement.rule) {
            denial.reason = explained(Some(&denial.reason), &unreadable_note);
        }
    }
    let (files, origins) = (judgement.files.clone(), judgement.origins.clone());
    let events = match resolved.subject.policies.looks_at_history() {
        true => judgement.later_events(),
        false => Vec::new(),
    };
    let (rewritten, extra_replacements) =
        (judgement.rewritten().map(str::to_owned), judgement.rewritten_extra().to_vec());
    let stops = resolved.stops();
    let settled = match (judgement.settle(call), denial) {
        (Settled::Stop(_), Some(denial)) => Settled::Stop(denial),
        (_, Some(denial)) if stops => Settled::Stop(denial),
        (settled, _) => settled,
    };
    let judged_in = resolved.subject.begun.elapsed();
    Judged {
        resolved,
        settled,
        verdict,
        rewritten,
        extra_replacements,
        steps,
        files,
        events,
        origins,
        judged_in,
    }
}
