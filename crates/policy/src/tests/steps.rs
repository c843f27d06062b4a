//! `builtin:starter` on the sequences in `corpus/calls/steps.jsonl`: what one call writes, a later one
//! runs.

use std::path::Path;
use std::sync::Arc;

use callgate_call::{
    Arguments, CallId, Origin, OriginFields, SessionFiles, Surface, ToolCall, ToolName,
};
use callgate_json::Value;

use super::support::*;
use crate::{Policies, starter};

/// Whether a call of the sequence is stopped.
fn is_stopped(policies: &Policies, sequence: &Value) -> bool {
    let text = |key: &str| sequence.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(Value::Array(steps)) = sequence.get("steps") else { panic!("no steps") };
    let mut files = SessionFiles::default();
    for step in steps {
        let origin = OriginFields {
            cwd: text("cwd"),
            home: text("home"),
            session_files: Some(Arc::new(files.clone())),
            ..OriginFields::at(Surface::Response)
        };
        let mut input = String::new();
        crate::wrapper::write(step.get("input").unwrap(), &mut input);
        let call = ToolCall {
            name: ToolName::parse(step.get("tool").and_then(Value::as_str).unwrap()).unwrap(),
            id: CallId::default(),
            arguments: Arguments::json(input),
            caller: None,
            origin: Origin::new(origin),
        };
        let judgement = policies.ask(&call);
        if !judgement.verdict.passes() {
            return true;
        }
        judgement.files.iter().cloned().for_each(|write| files.apply(write));
    }
    false
}

#[test]
fn the_starter_follows_what_earlier_calls_have_written() {
    let policies = policies(&starter().text);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/calls/steps.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let (mut hostile, mut stopped, mut harmless, mut disturbed) = (0, 0, 0, 0);
    for line in text.lines() {
        let sequence = Value::parse(line).unwrap();
        let id = sequence.get("id").and_then(Value::as_str).unwrap();
        let is_hostile = sequence.get("expect").and_then(Value::as_str) == Some("stop");
        let is_stopped = is_stopped(&policies, &sequence);
        if is_hostile != is_stopped {
            println!("wrong: {id}");
        }
        if is_hostile {
            (hostile, stopped) = (hostile + 1, stopped + usize::from(is_stopped));
        } else {
            (harmless, disturbed) = (harmless + 1, disturbed + usize::from(is_stopped));
        }
    }
    println!("sequences: {stopped} of {hostile} stopped, {disturbed} of {harmless} disturbed");
    assert!(stopped * 100 >= hostile * 98, "{stopped} of {hostile}");
    assert!(disturbed == 0, "{disturbed} of {harmless}");
}
