//! Waits for an approver. There is none yet, so a call that needs approval is refused.

use std::time::{Duration, Instant};

use callgate_audit::{CallOutcome, ReasonCode, RecordedVerdict};
use callgate_call::{FileWrite, FoundOrigin};
use callgate_policy::{Denial, Permit, Settled, Ticket};

use super::{Combined, Resolved};
use crate::session_steps::KeyedStep;

/// A call that no longer waits for approval.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) resolved: Resolved,
    pub(crate) answer: Result<Permit, Denial>,
    pub(crate) verdict: RecordedVerdict,
    pub(crate) rewritten: Option<String>,
    pub(crate) extra_replacements: Vec<Option<String>>,
    pub(crate) steps: Vec<KeyedStep>,
    pub(crate) files: Vec<FileWrite>,
    pub(crate) events: Vec<String>,
    pub(crate) origins: Vec<FoundOrigin>,
    /// How long judging took, without waiting for approval.
    pub(crate) judged_in: Duration,
    /// How long it waited for approval, if it had to.
    pub(crate) waited: Option<Duration>,
}

impl Answered {
    /// Whether later calls of the session may depend on it.
    pub(crate) fn matters_later(&self) -> bool {
        !self.events.is_empty() || !self.files.is_empty() && self.answer.is_ok()
    }
}

pub(crate) async fn wait(combined: Combined) -> Answered {
    let Combined { resolved, settled, mut verdict, rewritten, extra_replacements, .. } = combined;
    let (steps, files, judged_in) = (combined.steps, combined.files, combined.judged_in);
    let (events, origins) = (combined.events, combined.origins);
    let mut waited = None;
    let answer = match settled {
        Settled::Pass(permit) => Ok(permit),
        Settled::Stop(denial) => Err(denial),
        Settled::Wait(ticket) => {
            let begun = Instant::now();
            let denial = ask(ticket).await;
            waited = Some(begun.elapsed());
            verdict.action = CallOutcome::Deny;
            verdict.code = Some(ReasonCode::ApprovalMissing);
            verdict.reason = Some(denial.reason.clone());
            Err(denial)
        }
    };
    Answered {
        resolved,
        answer,
        verdict,
        rewritten,
        extra_replacements,
        steps,
        files,
        events,
        origins,
        judged_in,
        waited,
    }
}

/// The place where an approver will be asked. Until then the answer is no, whatever the rule's
/// `fallback`.
async fn ask(ticket: Ticket) -> Denial {
    ticket.refuse(NO_APPROVER)
}

/// The denial reason as long as there is no approver.
pub const NO_APPROVER: &str = "This call needs approval, and this version has no approver.";
