//! `evaluate`: what would happen to a call.

use std::sync::Arc;

use callgate_call::{Arguments, ArgumentsForm, Surface, ToolCall};
use callgate_decide::mcp::{ArgumentReadings, readable};
use callgate_decide::{OddArguments, Oversize, now};
use callgate_json::quote;
use callgate_policy::{DenialText, EffectReport, Judgement, Policies, SpentLimits};

use crate::call_description::{CallDefaults, CallDescription};
use crate::clean::cleaned;
use crate::judgement_output::CheckOutput;
use crate::judging;
use crate::problem::HintedError;

/// The policies and settings that calls are judged by.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The policies in force.
    pub policies: Arc<Policies>,
    /// The maximum size of arguments that are judged.
    pub max_arguments: usize,
    /// What to do with larger ones.
    pub oversize: Oversize,
    /// What to do with arguments that are not a JSON object.
    pub arguments: OddArguments,
    /// The wording of denials.
    pub denial: Arc<DenialText>,
}

/// A call, and what would happen to it.
#[derive(Debug)]
pub struct Evaluated {
    /// The call, in the reading that is judged most strictly.
    pub call: ToolCall,
    /// Its judgement.
    pub judgement: Judgement,
    effects: EffectReport,
    denial: Arc<DenialText>,
}

impl Evaluated {
    /// The answer for programs.
    pub fn to_json(&self) -> Result<String, HintedError> {
        let output = CheckOutput::worded(&self.call, &self.judgement, &self.denial);
        cleaned(&output.with_effects(&self.effects))
    }
}

/// Judges the call in a JSON object like `callgate check` does.
pub fn evaluate(
    rules: &Rules,
    query: &str,
    defaults: &CallDefaults,
) -> Result<Evaluated, HintedError> {
    let calls = CallDescription::parse_with(query, "arguments")?.into_calls(defaults)?;
    let (call, judgement) = rules.strictest(calls)?;
    let effects = rules.policies.effects(&call, &now());
    Ok(Evaluated { call, judgement, effects, denial: Arc::clone(&rules.denial) })
}

impl Rules {
    /// The call where, and in the reading in which, it is judged most strictly.
    pub(crate) fn strictest(
        &self,
        calls: Vec<ToolCall>,
    ) -> Result<(ToolCall, Judgement), HintedError> {
        let calls = calls.into_iter().map(|call| self.strictest_reading(call));
        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        judging::strictest(calls, |call| self.judge(call))
            .ok_or_else(|| HintedError::new("there is no call to judge"))
    }

    /// The call in the reading that is judged most strictly, as its door would read it.
    fn strictest_reading(&self, call: ToolCall) -> Result<ToolCall, HintedError> {
        let is_mcp = call.origin.surface == Surface::Mcp;
        let readings = match call.arguments.form() {
            // A server accepts only an object.
            ArgumentsForm::Text(text) if is_mcp => vec![Arguments::json(quote(text))],
            // Free text, or an object that was encoded as a string.
            ArgumentsForm::Text(text) => {
                let object = Some(Arguments::json(text.as_str()));
                let object = object.filter(|it| !text.trim().is_empty() && it.value().is_ok());
                std::iter::once(call.arguments.clone()).chain(object).collect()
            }
            _ if is_mcp => {
                let ArgumentReadings { arguments, without_surrogates } =
                    readable(call.arguments.clone());
                std::iter::once(arguments).chain(without_surrogates).collect()
            }
            _ => vec![call.arguments.clone()],
        };
        let mut calls: Vec<ToolCall> = Vec::new();
        for arguments in readings {
            let arguments = match arguments.raw().len() > self.max_arguments {
                true => Arguments::oversize(""),
                false => arguments,
            };
            self.check_arguments(&arguments)?;
            calls.push(ToolCall { arguments, ..call.clone() });
        }
        let denied = calls.iter().position(|call| !self.judge(call).verdict.passes());
        Ok(calls.into_iter().nth(denied.unwrap_or(0)).unwrap_or(call))
    }

    /// Refuses arguments that the settings deny, whatever the rules say.
    fn check_arguments(&self, arguments: &Arguments) -> Result<(), HintedError> {
        let is_oversize = matches!(arguments.form(), ArgumentsForm::Oversize(_));
        let why = match (is_oversize, arguments.value().is_err()) {
            (true, _) if self.oversize == Oversize::Deny => "larger than the limit",
            (false, true) if self.arguments == OddArguments::Deny => "not one JSON object",
            _ => return Ok(()),
        };
        let hint = "call it with one JSON object, and a smaller one";
        Err(HintedError::hinted(
            format!("this call would be blocked: its arguments are {why}"),
            hint,
        ))
    }

    fn judge(&self, call: &ToolCall) -> Judgement {
        let is_oversize = matches!(call.arguments.form(), ArgumentsForm::Oversize(_));
        match is_oversize && self.oversize == Oversize::Allow {
            true => self.policies.judge_waived(call, &now(), &SpentLimits::none()),
            false => judging::dry(&self.policies, call),
        }
    }
}
