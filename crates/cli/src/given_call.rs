//! The call that `check` and `policy explain` are asked about.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use callgate_call::ToolCall;
use callgate_control::{CallDefaults, CallDescription};
use callgate_policy::{Moment, Policies};

use crate::args;
use crate::recorded_call::RecordedCall;
use crate::records;
use crate::render::hinted;
use crate::replay::Replay;

/// A call, once for each place where it would be seen.
pub(crate) struct GivenCall {
    pub(crate) calls: Vec<ToolCall>,
    /// When it was made, if it is a call on record.
    pub(crate) moment: Option<Moment>,
}

impl GivenCall {
    /// The call of the flags, of a record, of a JSON object, or of stdin. Any other text is a shell
    /// command.
    pub(crate) fn of(
        flags: &args::CallArgs,
        defaults: &CallDefaults,
        text: Option<&str>,
        config: Option<&Path>,
        policies: &Policies,
    ) -> Result<Self> {
        match &flags.record {
            Some(record) => Self::on_record(record, config, policies),
            None => Self::described(described(flags, text)?, defaults),
        }
    }

    /// A call of a line or an object.
    pub(crate) fn described(description: CallDescription, defaults: &CallDefaults) -> Result<Self> {
        Ok(Self { calls: description.into_calls(defaults)?, moment: None })
    }

    /// A recorded call, with what its session did before.
    fn on_record(record: &str, config: Option<&Path>, policies: &Policies) -> Result<Self> {
        let reader = records::reader(config)?;
        let stored = records::find_call(&reader, record)?;
        let recorded = RecordedCall::of(&stored).map_err(|why| {
            let number = stored.seq;
            let message = format!("record {number} cannot be judged again: {}", why.reason());
            hinted(message, format!("`callgate calls show {number}` shows what is on record"))
        })?;
        let replay = Replay::up_to(policies, &stored, &reader)?;
        let RecordedCall { call, moment } = replay.with_past(&stored, &recorded);
        Ok(Self { calls: vec![call], moment: Some(moment) })
    }
}

fn described(flags: &args::CallArgs, text: Option<&str>) -> Result<CallDescription> {
    Ok(match (&flags.tool, text) {
        (Some(tool), _) => CallDescription::from_flags(tool, flags.input.as_deref())?,
        (None, Some(text)) if text == "-" => CallDescription::parse_any(&stdin_call(Some(text))?)?,
        (None, Some(text)) if is_object(text) => CallDescription::parse_any(text)?,
        (None, Some(command)) => {
            let input = serde_json::json!({ "command": command }).to_string();
            CallDescription::from_flags(SHELL, Some(&input))?
        }
        (None, None) => CallDescription::parse_any(&stdin_call(None)?)?,
    })
}

/// The tool that a command without one is run with.
const SHELL: &str = "Bash";

/// Whether the text is a JSON object, or begins as one. What is wrong with such a call is reported,
/// and not taken for a command.
fn is_object(text: &str) -> bool {
    if matches!(serde_json::from_str(text), Ok(serde_json::Value::Object(_))) {
        return true;
    }
    let key = text.trim_start().strip_prefix('{').map(str::trim_start);
    let after = key.and_then(|key| key.strip_prefix('"')?.split_once('"'));
    after.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

fn no_call() -> anyhow::Error {
    let hint = r#"use `--tool` and `--input`, or give it as JSON: '{"tool":"Bash","input":{}}'"#;
    hinted("there is no call to judge".to_owned(), hint)
}

fn stdin_call(object: Option<&str>) -> Result<String> {
    let stdin = io::stdin();
    if object.is_none() && stdin.is_terminal() {
        return Err(no_call());
    }
    let mut text = Vec::new();
    stdin.lock().take(MAX_CALL + 1).read_to_end(&mut text).context("cannot read stdin")?;
    if text.len() as u64 > MAX_CALL {
        bail!("the call on stdin is larger than {} MiB", MAX_CALL >> 20);
    }
    if text.trim_ascii().is_empty() {
        return Err(no_call());
    }
    String::from_utf8(text).context("the call on stdin is not UTF-8")
}

/// Far above the largest arguments that are judged at all (1 MiB), which JSON escapes may inflate.
pub(crate) const MAX_CALL: u64 = 16 << 20;
