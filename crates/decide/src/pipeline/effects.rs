//! What a call would do. Nothing is worked out yet: rules look at arguments.

use super::Resolved;

/// A call with what it would do.
#[derive(Debug)]
pub(crate) struct Analysed {
    pub(crate) resolved: Resolved,
}

pub(crate) fn analyse(resolved: Resolved) -> Analysed {
    Analysed { resolved }
}
