//! A call that waits for an answer.

use std::sync::Arc;

use crate::denial::Denial;
use crate::permit::Permit;
use crate::terms::Terms;

/// A judgement that waits for a person (`ask`) or a second model (`review`). It is granted or
/// refused once. If it is dropped, the call does not run.
///
/// ```compile_fail
/// fn both(ticket: callgate_policy::Ticket) {
///     let permit = ticket.grant();
///     let denial = ticket.refuse("too late");
/// }
/// ```
#[derive(Debug)]
#[must_use = "a call that waits runs only if its ticket is granted"]
pub struct Ticket {
    permit: Permit,
    denial: Denial,
    terms: Option<Arc<Terms>>,
}

impl Ticket {
    pub(crate) fn new(permit: Permit, denial: Denial, terms: Option<Arc<Terms>>) -> Self {
        Self { permit, denial, terms }
    }

    /// The rule's terms: for whom the call waits, and how long.
    pub fn terms(&self) -> Option<&Terms> {
        self.terms.as_deref()
    }

    /// Lets the call run.
    pub fn grant(self) -> Permit {
        self.permit
    }

    /// Denies the call. `why` follows the rule's own reason.
    pub fn refuse(self, why: &str) -> Denial {
        let reason = format!("{} {why}", sentence(&self.denial.reason));
        Denial { reason, ..self.denial }
    }
}

/// Adds the full stop that a rule's reason may lack.
fn sentence(reason: &str) -> String {
    let reason = reason.trim_end();
    match reason.ends_with(['.', '!', '?']) {
        true => reason.to_owned(),
        false => format!("{reason}."),
    }
}
