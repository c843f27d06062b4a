//! A call that waits for an answer.

use std::sync::Arc;

use crate::denial::Denial;
use crate::permit::Permit;
use crate::terms::Terms;

/// A judgement that waits for a person (`ask`) or a second model (`review`). Whoever holds it says once
/// what becomes of the call; dropped, it says nothing, and the call does not run.
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

    /// For audience it waits and how long, as the rule says.
    pub fn terms(&self) -> Option<&Terms> {
        self.terms.as_deref()
    }

    /// Somebody agreed: the call may run.
    pub fn grant(self) -> Permit {
        self.permit
    }

    /// Nobody agreed, and this is why. The rule's own reason stays in front of it.
    pub fn refuse(self, why: &str) -> Denial {
        let reason = format!("{} {why}", sentence(&self.denial.reason));
        Denial { reason, ..self.denial }
    }
}

/// A rule's reason may lack its full stop.
fn sentence(reason: &str) -> String {
    let reason = reason.trim_end();
    match reason.ends_with(['.', '!', '?']) {
        true => reason.to_owned(),
        false => format!("{reason}."),
    }
}
