//! What each failure means, where the operator has a choice. Closed unless told otherwise.

use std::sync::Arc;
use std::time::Duration;

use callgate_policy::DenialText;

/// How to decide where no rule does.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The record of a call cannot be made durable.
    pub on_failure: OnFailure,
    /// The largest arguments that are judged, in bytes. Whoever reads a call compares them.
    pub max_arguments: usize,
    /// The arguments are larger than that.
    pub oversize: Oversize,
    /// The arguments are not one JSON object.
    pub arguments: OddArguments,
    /// How long a call waits for its record. A disk that hangs counts as one that fails.
    pub record_timeout: Duration,
    /// How denials are worded, at every door.
    pub denial: Arc<DenialText>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            on_failure: OnFailure::Deny,
            max_arguments: 1 << 20,
            oversize: Oversize::Judge,
            arguments: OddArguments::Judge,
            record_timeout: Duration::from_secs(10),
            denial: DenialText::built_in(),
        }
    }
}

/// What to do with a call whose record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It is denied.
    Deny,
    /// It passes unrecorded.
    Allow,
}

/// What becomes of a call whose arguments are larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// Every condition on its arguments is unknown, which counts against it.
    Judge,
    /// It passes unless its name is denied, with a warning in the record.
    Allow,
    /// It is denied.
    Deny,
}

/// What becomes of a call whose arguments are not one JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddArguments {
    /// Every condition on its arguments is unknown, which counts against it.
    Judge,
    /// It is denied.
    Deny,
}
