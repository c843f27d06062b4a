//! The stage for what a call would do. It is empty: the policy computes the effects of a call when
//! a rule needs them.

use super::Resolved;

/// A call with its effects.
#[derive(Debug)]
pub(crate) struct Analysed {
    pub(crate) resolved: Resolved,
}

pub(crate) fn analyse(resolved: Resolved) -> Analysed {
    Analysed { resolved }
}
