//! How much a deletion touches: `files_over`, `bytes_over`, `untracked`, `crosses_mounts`.

use std::sync::Arc;

use callgate_call::{OriginFields, Surface, ToolCall};
use callgate_effects::{Count, Extent, Resolver, Scope, Truth};
use callgate_json::quote;

use super::support::*;
use crate::{Policies, Verdict};

/// A disk on which every folder has as many files as its name says.
struct Disk;

impl Resolver for Disk {
    fn resolve(&self, _: &str) -> Option<String> {
        None
    }

    fn ignores_case(&self, _: &str) -> bool {
        false
    }

    fn extent(&self, path: &str, scope: Scope, budget: &mut usize) -> Extent {
        let name = path.rsplit('/').next().unwrap_or_default();
        let Ok(files) = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<u64>()
        else {
            return Extent {
                files: Count::exactly(1),
                bytes: Count::exactly(10),
                ..Extent::NOTHING
            };
        };
        if scope == Scope::One {
            return Extent::NOTHING;
        }
        let seen = files.min(*budget as u64);
        *budget -= seen as usize;
        let count = |number| Count { low: number, high: (seen == files).then_some(number) };
        Extent {
            files: count(seen),
            bytes: count(seen * 10),
            untracked: if name.starts_with('u') { count(seen) } else { count(0) },
            crosses_mounts: Truth::from_bool(name.starts_with('m')),
        }
    }
}

fn rm(command: &str) -> ToolCall {
    let mut facts = OriginFields::at(Surface::Response);
    facts.cwd = Some("/w/app".into());
    facts.home = Some("/home/u".into());
    call_of(facts, "Bash", &format!("{{\"command\":{}}}", quote(command)))
}

fn deny(condition: &str) -> Policies {
    rules(&[&format!("id: r, verdict: deny, when: {condition}")])
}

/// What a condition comes to: a rule on it and one on its opposite both match what is unknown.
#[track_caller]
fn check(condition: &str, cases: &[(&str, &str)]) {
    check_with(condition, cases, |policies| policies.with_disk(Arc::new(Disk)));
}

#[track_caller]
fn check_with(condition: &str, cases: &[(&str, &str)], prepare: impl Fn(Policies) -> Policies) {
    let (is, is_not) =
        (format!("{{ deletes: {condition} }}"), format!("{{ not: {{ deletes: {condition} }} }}"));
    let (is, is_not) = (prepare(deny(&is)), prepare(deny(&is_not)));
    for (command, expected) in cases {
        let denied = |policies: &Policies| policies.ask(&rm(command)).verdict == Verdict::Deny;
        let found = match (denied(&is), denied(&is_not)) {
            (true, false) => "yes",
            (false, true) => "no",
            (true, true) => "unknown",
            (false, false) => "neither",
        };
        assert_eq!(found, *expected, "{condition}: {command}");
    }
}

#[test]
fn files_of_all_deletions_are_counted_together() {
    check(
        "{ files_over: 50 }",
        &[
            ("rm -rf d51", "yes"),
            ("rm -rf d50", "no"),
            ("rm -rf d30 e30", "yes"),
            ("rm -rf d30 && rm -rf e30", "yes"),
            ("rm -rf d30 d30", "no"),
            ("rm a b c", "no"),
            ("mv d51 elsewhere", "yes"),
            ("cp -r d51 elsewhere", "no"),
            ("rm -rf d51/*", "yes"),
            ("rm -rf d50/*", "no"),
            ("rm d60/*.log", "unknown"),
            ("rm d50/*.log", "no"),
            // As for every condition on effects, `opaque` asks about it.
            ("rm -rf \"$DIR\"", "no"),
            ("rm -rf d51 \"$DIR\"", "unknown"),
            ("rm -rf d999999", "yes"),
        ],
    );
}

#[test]
fn every_key_must_hold() {
    check("{ bytes_over: 1 kB }", &[("rm -rf d101", "yes"), ("rm -rf d100", "no")]);
    check("{ untracked: true }", &[("rm -rf u1", "yes"), ("rm -rf d9", "no"), ("rm -rf u0", "no")]);
    check("{ crosses_mounts: true }", &[("rm -rf m1", "yes"), ("rm -rf d1", "no")]);
    check(
        "{ files_over: 5, untracked: true }",
        &[("rm -rf u6", "yes"), ("rm -rf u5", "no"), ("rm -rf d6", "no")],
    );
    check(
        "{ paths: ['/srv/**'], files_over: 5 }",
        &[("rm -rf /srv/d6", "yes"), ("rm -rf d6", "no"), ("rm -rf /srv/d3 d6", "no")],
    );
    check("{ files_over: 5, how: one }", &[("rm -rf d6", "no")]);
}

/// The walk ends at 20,000 entries; more than that is not known.
#[test]
fn what_was_not_counted_is_unknown() {
    check(
        "{ files_over: 30000 }",
        &[
            ("rm -rf d20000", "no"),
            ("rm -rf d20001", "unknown"),
            ("rm -rf d15000 e15000", "unknown"),
        ],
    );
}

/// At the gateway there is no disk. A single file is at most one.
#[test]
fn without_a_disk_only_single_files_are_known() {
    let same = |policies| policies;
    check_with("{ files_over: 50 }", &[("rm a", "no"), ("rm -rf d1", "unknown")], same);
    check_with("{ bytes_over: 50 }", &[("rm a", "unknown"), ("ls", "no")], same);
    check_with("{ untracked: true }", &[("rm a", "unknown")], same);
    let judgement = deny("{ deletes: { files_over: 50 } }").ask(&rm("rm -rf build"));
    assert!(judgement.errors[0].why.contains("how much it deletes is not known"), "{judgement:?}");
}

#[test]
fn a_rule_at_a_door_without_a_disk_is_warned_about() {
    let text = |surface: &str| {
        policy_text(
            "p",
            "",
            &[&format!("id: r, verdict: ask{surface}, when: {{ deletes: {{ files_over: 5 }} }}")],
        )
    };
    let (_, warnings) = compile(&[&text("")]);
    assert!(warnings[0].0.message.contains("unknown on `response`"), "{warnings:?}");
    assert_eq!(compile(&[&text(", surface: hook")]).1.len(), 0);
}

#[test]
fn an_explanation_shows_the_numbers() {
    let policies = deny("{ deletes: { files_over: 50 } }").with_disk(Arc::new(Disk));
    let call = rm("rm -rf u60");
    let report = policies.effects(&call, &NOON);
    let (_, effect) = report.all().find(|(_, effect)| effect.kind == "deletes").unwrap();
    let extent = effect.extent.as_ref().unwrap();
    assert_eq!((extent.files, extent.crosses_mounts), ((60, Some(60)), Some(false)));
    assert_eq!(extent.text, "60 files, 600 bytes, 60 untracked");
    let others = rules(&["id: r, verdict: deny, when: { deletes: x }"]).with_disk(Arc::new(Disk));
    let report = others.effects(&call, &NOON);
    assert!(report.all().all(|(_, effect)| effect.extent.is_none()), "no rule asks");
}
