//! The tool `evaluate`: what would become of a call.

use anyhow::Result;
use callgate_call::json::quote;
use callgate_call::{Arguments, Form, Surface, ToolCall};
use callgate_decide::mcp::{Readings, readable};
use callgate_decide::{OddArguments, Oversize, now as clock};
use callgate_mcp::Called;
use callgate_policy::{Judgement, LimitFacts};

use super::known::{Loaded, answered, unsaid};
use crate::commands::check;
use crate::given::Given;
use crate::render::{Color, hinted};
use crate::report::Checked;

/// Judges a call as `callgate check` does: nothing is recorded, and no limit is used.
pub(super) fn call(now: &Loaded, arguments: &str) -> Result<Called> {
    let call = Given::parse_with(arguments, "arguments")?.into_call(&unsaid())?;
    let call = as_a_door_reads(now, call)?;
    let judgement = judge(now, &call);
    answered(&Checked::worded(&call, &judgement, &now.decide.denial), &text(&call, &judgement))
}

/// The call in the reading of it that is judged most strictly, as the door would that it comes to.
pub(super) fn as_a_door_reads(now: &Loaded, call: ToolCall) -> Result<ToolCall> {
    let is_mcp = call.origin.surface == Surface::Mcp;
    let readings = match call.arguments.form() {
        // A server takes an object, and nothing else.
        Form::Text(text) if is_mcp => vec![Arguments::json(quote(text))],
        // Free text, or an object that somebody has written as a string.
        Form::Text(text) => {
            let object = Some(Arguments::json(text.as_str()));
            let object = object.filter(|it| !text.trim().is_empty() && it.value().is_ok());
            std::iter::once(call.arguments.clone()).chain(object).collect()
        }
        _ if is_mcp => {
            let Readings { arguments, shorter } = readable(call.arguments.clone());
            std::iter::once(arguments).chain(shorter).collect()
        }
        _ => vec![call.arguments.clone()],
    };
    let mut calls: Vec<ToolCall> = Vec::new();
    for arguments in readings {
        let arguments = match arguments.raw().len() > now.max_arguments {
            true => Arguments::oversize(""),
            false => arguments,
        };
        refuse_odd(now, &arguments)?;
        calls.push(ToolCall { arguments, ..call.clone() });
    }
    let denied = calls.iter().position(|call| !judge(now, call).verdict.passes());
    Ok(calls.into_iter().nth(denied.unwrap_or(0)).unwrap_or(call))
}

/// What the settings deny, whatever the rules say.
fn refuse_odd(now: &Loaded, arguments: &Arguments) -> Result<()> {
    let is_oversize = matches!(arguments.form(), Form::Oversize(_));
    let why = match (is_oversize, arguments.value().is_err()) {
        (true, _) if now.decide.oversize == Oversize::Deny => "larger than the limit",
        (false, true) if now.decide.arguments == OddArguments::Deny => "not one JSON object",
        _ => return Ok(()),
    };
    let hint = "call it with one JSON object, and a smaller one";
    Err(hinted(format!("this call would be blocked: its arguments are {why}"), hint))
}

fn judge(now: &Loaded, call: &ToolCall) -> Judgement {
    let is_oversize = matches!(call.arguments.form(), Form::Oversize(_));
    match is_oversize && now.decide.oversize == Oversize::Allow {
        true => now.judge.policies().judge_waived(call, &clock(), &LimitFacts::unasked()),
        false => now.judge.dry(call),
    }
}

/// The judgement for a model: the verdict, the rule, the reason, and what to do.
pub(super) fn text(call: &ToolCall, judgement: &Judgement) -> String {
    let mut text = check::line(call.name.raw(), judgement, Color::Off);
    if judgement.verdict.passes() {
        return text;
    }
    text.push_str("This call would be blocked. ");
    text.push_str(match judgement.hint {
        Some(_) => "Do what the hint says instead.\n",
        None => "The rule names no other way: ask the operator.\n",
    });
    text
}
