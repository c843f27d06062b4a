//! The methods whose requests or answers have their own treatment.

use super::plain;

/// How a request, or its answer, is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgedMethod {
    Call,
    Tools,
    Prompt,
    Prompts,
    Resource,
    Resources,
    Initialize,
    Tasks,
    TaskResult,
    TaskState,
    /// May name a task.
    Subscription,
}

const NAMES: [(&str, JudgedMethod); 15] = [
    ("tools/call", JudgedMethod::Call),
    ("tools/list", JudgedMethod::Tools),
    ("prompts/get", JudgedMethod::Prompt),
    ("prompts/list", JudgedMethod::Prompts),
    ("resources/read", JudgedMethod::Resource),
    ("resources/list", JudgedMethod::Resources),
    ("resources/templates/list", JudgedMethod::Resources),
    ("initialize", JudgedMethod::Initialize),
    ("server/discover", JudgedMethod::Initialize),
    ("tasks/list", JudgedMethod::Tasks),
    ("tasks/result", JudgedMethod::TaskResult),
    ("tasks/get", JudgedMethod::TaskState),
    ("tasks/update", JudgedMethod::TaskState),
    ("tasks/cancel", JudgedMethod::TaskState),
    ("subscriptions/listen", JudgedMethod::Subscription),
];

impl JudgedMethod {
    /// Only the exact name counts.
    pub(super) fn parse(method: &str) -> Option<Self> {
        NAMES.iter().find(|(name, _)| *name == method).map(|(_, method)| *method)
    }

    /// Whether a method differs only in spelling from one of these: lenient servers would run it.
    pub(super) fn is_nearly(method: &str) -> bool {
        let is_spelled_like =
            |(name, _): &(&str, Self)| plain(method).eq_ignore_ascii_case(name) && method != *name;
        NAMES.iter().any(is_spelled_like)
    }
}
