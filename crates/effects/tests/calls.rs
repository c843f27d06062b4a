//! The calls in `corpus/calls` have the form that its README describes.

#![expect(clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use callgate_call::Arguments;
use callgate_json::Value;

const WORDS: [&str; 9] =
    ["runs", "reads", "writes", "deletes", "lists", "connects", "sets", "sql", "secret"];

/// The members of each line.
fn calls(file: &str) -> Vec<BTreeMap<String, Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/calls").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let members = |line: &str| match Arguments::json(line).value() {
        Ok(Value::Object(members)) => members.iter().cloned().collect(),
        _ => panic!("{file}: not one object: {line}"),
    };
    text.lines().map(members).collect()
}

fn text<'c>(call: &'c BTreeMap<String, Value>, key: &str) -> &'c str {
    call.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("no {key}: {call:?}"))
}

fn is_held_out(call: &BTreeMap<String, Value>) -> bool {
    matches!(call.get("held_out"), Some(Value::Bool(true)))
}

fn effects(call: &BTreeMap<String, Value>) -> Vec<&str> {
    let Some(Value::Array(effects)) = call.get("effects") else { panic!("no effects: {call:?}") };
    effects.iter().filter_map(Value::as_str).collect()
}

#[test]
fn every_call_is_complete_and_says_what_it_does() {
    for (file, expect) in [("hostile.jsonl", "stop"), ("harmless.jsonl", "allow")] {
        let mut ids = BTreeSet::new();
        let calls = calls(file);
        assert!(calls.len() >= 700, "{file}: {} calls", calls.len());
        for call in &calls {
            assert_eq!(text(call, "expect"), expect);
            assert!(ids.insert(text(call, "id").to_owned()), "{} twice", text(call, "id"));
            for key in ["class", "tool", "cwd", "home", "why"] {
                assert!(!text(call, key).is_empty(), "{key} of {}", text(call, "id"));
            }
            assert!(matches!(call.get("input"), Some(Value::Object(_) | Value::String(_))));
            for effect in effects(call) {
                let word = effect.split(' ').next().unwrap_or_default();
                assert!(effect == "opaque" || WORDS.contains(&word), "{effect}");
            }
        }
    }
}

#[test]
fn a_third_of_every_class_is_held_out() {
    for file in ["hostile.jsonl", "harmless.jsonl"] {
        let mut classes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for call in calls(file) {
            let (all, held) = classes.entry(text(&call, "class").to_owned()).or_default();
            *all += 1;
            *held += usize::from(is_held_out(&call));
        }
        for (class, (all, held)) in classes {
            assert_eq!(held, all / 3, "{class}: {held} of {all}");
        }
    }
}

#[test]
fn no_call_is_there_twice() {
    let mut seen = BTreeMap::new();
    for file in ["hostile.jsonl", "harmless.jsonl"] {
        for call in calls(file) {
            let id = text(&call, "id").to_owned();
            let key = (text(&call, "tool").to_owned(), format!("{:?}", call.get("input")));
            if let Some(earlier) = seen.insert(key, id.clone()) {
                panic!("{id} is {earlier}");
            }
        }
    }
}
