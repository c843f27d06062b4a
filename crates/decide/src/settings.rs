//! What each failure means, if the operator has a choice. Fails closed by default.

use std::sync::Arc;
use std::time::Duration;

use callgate_policy::DenialText;

/// How to decide where no rule applies.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What to do if the record of a call cannot be made durable.
    pub on_failure: OnFailure,
    /// The largest arguments that are judged, in bytes. The reader of a call compares them.
    pub max_arguments: usize,
    /// What to do with larger arguments.
    pub oversize: Oversize,
    /// What to do with arguments that are not a JSON object.
    pub arguments: OddArguments,
    /// How long a call waits for its record, and the end of a response until its removed calls are
    /// stored. A disk that hangs counts as one that fails.
    pub record_timeout: Duration,
    /// The wording of denials, at every door.
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
    /// Deny it.
    Deny,
    /// Allow it without a record.
    Allow,
}

/// What to do with a call whose arguments are larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// Judge it. Every condition on its arguments is unknown, which counts against it.
    Judge,
    /// Allow it unless its name is denied, with a warning in the record.
    Allow,
    /// Deny it.
    Deny,
}

/// What to do with a call whose arguments are not a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddArguments {
    /// Judge it. Every condition on its arguments is unknown, which counts against it.
    Judge,
    /// Deny it.
    Deny,
}
