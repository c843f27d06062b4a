//! What a call would do. Nothing is computed yet: rules look at arguments.

use super::Resolved;

/// A call with its effects.
#[derive(Debug)]
pub(crate) struct Analysed {
    pub(crate) resolved: Resolved,
}

pub(crate) fn analyse(resolved: Resolved) -> Analysed {
    Analysed { resolved }
}
