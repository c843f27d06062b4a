//! The rules and everything that was found before them, in one.

use std::time::Duration;

use callgate_audit::Verdict;
use callgate_policy::Settled;

use super::{Metered, Resolved};
use crate::mcp::{KeyedStep, explained, unread};

/// A call with what becomes of it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) resolved: Resolved,
    pub(crate) settled: Settled,
    /// What the record says of it.
    pub(crate) verdict: Verdict,
    /// What is recorded as the input, if not the arguments as they came: sanitizers took something out.
    pub(crate) rewritten: Option<String>,
    /// What goes along with it, each with what takes its place, if anything does.
    pub(crate) along: Vec<Option<String>>,
    pub(crate) steps: Vec<KeyedStep>,
    /// How long it took until here.
    pub(crate) judged_in: Duration,
}

pub(crate) fn judge(metered: Metered) -> Judged {
    let Metered { resolved, judgement, steps, .. } = metered;
    let call = &resolved.subject.call;
    let mut verdict = resolved.objections.verdict(&judgement);
    let mut denial = resolved.objections.denial(call.name.raw(), judgement.denial(call));
    // Whoever reads the rule's own reason would look for something that may not be there.
    if let Some(unread) = unread(&call.arguments, &judgement) {
        if verdict.rule == judgement.rule {
            verdict.reason = Some(explained(verdict.reason.as_deref(), &unread));
        }
        if let Some(denial) = denial.as_mut().filter(|denial| denial.rule == judgement.rule) {
            denial.reason = explained(Some(&denial.reason), &unread);
        }
    }
    let (rewritten, along) =
        (judgement.rewritten().map(str::to_owned), judgement.rewritten_extra().to_vec());
    let stops = resolved.stops();
    let settled = match (judgement.settle(call), denial) {
        (Settled::Stop(_), Some(denial)) => Settled::Stop(denial),
        (_, Some(denial)) if stops => Settled::Stop(denial),
        (settled, _) => settled,
    };
    let judged_in = resolved.subject.begun.elapsed();
    Judged { resolved, settled, verdict, rewritten, along, steps, judged_in }
}
