//! The tool `evaluate`: how the policies would judge a call.

use anyhow::Result;
use callgate_call::ToolCall;
use callgate_control::CallDefaults;
use callgate_mcp::CallResult;
use callgate_policy::Judgement;

use super::known::{LoadedRules, answered};
use crate::commands::check;
use crate::render::Color;

/// Judges a call as `callgate check` does: nothing is recorded, and no limit is used.
pub(super) fn call(now: &LoadedRules, arguments: &str) -> Result<CallResult> {
    let evaluated = callgate_control::evaluate(&now.rules, arguments, &CallDefaults::here())?;
    Ok(answered(evaluated.to_json()?, &text(&evaluated.call, &evaluated.judgement)))
}

/// The judgement for a model: the verdict, the rule, the reason, and what to do.
pub(super) fn text(call: &ToolCall, judgement: &Judgement) -> String {
    let mut text = check::line(call.name.raw(), judgement, Color::Off);
    if judgement.verdict.passes() {
        return text;
    }
    text.push_str("This call would be blocked. ");
    text.push_str(match judgement.hint {
        Some(_) => "Follow the hint instead.\n",
        None => "The rule suggests no alternative: ask the operator.\n",
    });
    text
}
