//! What earlier calls of a session did, as far as a rule asks for it.

use std::time::Duration;

/// One thing that an earlier call of the session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEvent {
    /// What it was, in the words of the policy crate.
    pub what: String,
    /// How long ago it was.
    pub ago: Duration,
}
