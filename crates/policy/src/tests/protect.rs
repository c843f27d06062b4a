//! The rules that protect callgate: their examples, with the files of one installation.

use std::path::PathBuf;

use callgate_call::Surface;
use callgate_document::{Problems, parse};
use callgate_effects::Catalogue;

use super::support::*;
use crate::{Policies, PolicyDocument, Protection, Source, Verdict};

fn installation() -> Protection {
    let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect();
    Protection {
        files: paths(&[
            "/srv/gate/gate.yaml",
            "/srv/gate/rules.yaml",
            "/home/me/.config/callgate/callgate.yaml",
        ]),
        folders: paths(&["/home/me/.local/state/callgate"]),
        prefixes: paths(&["/srv/gate/records.db"]),
        programs: paths(&["/opt/bin/callgate"]),
        home: Some("/home/me".into()),
        pid: 4711,
        port: 8484,
    }
}

fn protected(text: &str) -> Policies {
    policies(text).protected(&installation()).unwrap()
}

const NOTHING: &str = "policy: nothing\nrules: []\n";

fn bash(policies: &Policies, command: &str) -> (Verdict, Option<String>) {
    let input = format!("{{\"command\":{}}}", callgate_json::quote(command));
    let judgement = policies.ask(&call("Bash", &input));
    (judgement.verdict, judgement.rule.clone())
}

#[test]
fn the_examples_hold() {
    let text = include_str!("../packs/protect.yaml").replacen("self-protection", "examples", 1);
    let source = Source { name: "protect.yaml".to_owned(), text };
    let mut problems = Problems::new(&source);
    let mut node = parse(&source, &mut problems).unwrap();
    installation().fill(&mut node);
    let document = PolicyDocument::part(&source, vec![node]);
    let compiled = Policies::compile_documents(&[document], &Catalogue::builtin(), &Surface::ALL);
    let problems = compiled.err().unwrap_or_default();
    let problems: Vec<String> = problems
        .iter()
        .map(|it| format!("{}: {} {}", it.span.line, it.message, it.label))
        .collect();
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn it_holds_without_any_policy() {
    let policies = protected(NOTHING);
    assert!(policies.is_protected());
    let denied = |rule: &str| (Verdict::Deny, Some(rule.to_owned()));
    let edit = "sed -i s/deny/allow/ /srv/gate/gate.yaml";
    assert_eq!(bash(&policies, edit), denied("no-change-of-callgate"));
    assert_eq!(bash(&policies, "rm -rf /srv/gate/"), denied("no-change-of-callgate"));
    assert_eq!(bash(&policies, "rm -rf /opt"), (Verdict::Allow, None), "starter asks about it");
    assert_eq!(bash(&policies, "cp x /opt/bin/callgate"), denied("no-change-of-callgate"));
    for command in ["ls && rm -rf build", "mkdir -p ~/.config ~/.local/state", "cp x ~/.config/"] {
        assert_eq!(bash(&policies, command), (Verdict::Allow, None), "{command}");
    }
}

#[test]
fn an_allowing_rule_does_not_lift_it() {
    let allows = "policy: mine\nrules:\n  - { id: all, priority: 1, verdict: allow, reason: x }\n";
    let (verdict, rule) = bash(&protected(allows), "pkill callgate");
    assert_eq!((verdict, rule.as_deref()), (Verdict::Deny, Some("no-stopping-of-callgate")));
}

/// A tool that can neither write, delete, run nor set anything is decided by its name.
#[test]
fn it_does_not_hold_tools_that_it_cannot_concern() {
    let policies = protected(NOTHING).with_servers(["memory"]);
    for tool in ["Read", "Grep", "WebFetch", "WebSearch", "TodoWrite", "read_file"] {
        assert_eq!(policies.by_name(tool), "allow", "{tool}");
    }
    for tool in ["Bash", "Write", "Edit", "mcp__other__anything"] {
        assert_eq!(policies.by_name(tool), "open", "{tool}");
    }
}

#[test]
fn the_digest_is_the_same_for_every_process() {
    let other = Protection { pid: 1, port: 1, ..installation() };
    let other = policies(NOTHING).protected(&other).unwrap();
    assert_eq!(other.digest(), protected(NOTHING).digest());
    assert_ne!(other.digest(), policies(NOTHING).digest());
    assert_eq!(protected(NOTHING).changes_since(&other), crate::PolicyChanges::default());
    let lost = policies(NOTHING).changes_since(&other).weakened;
    assert_eq!(lost, ["policy self-protection was removed"]);
}

#[test]
fn its_name_is_reserved() {
    let problems = problems("policy: self-protection\nrules: []\n");
    let messages: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["the name `self-protection` is reserved"]);
}

/// Prints how long the rules take to load.
#[test]
fn it_loads_quickly() {
    let load = || {
        let policies = policies(NOTHING);
        let started = std::time::Instant::now();
        let protected = policies.protected(&installation());
        (started.elapsed(), protected.is_ok())
    };
    let (best, _) = (0..10).map(|_| load()).min().unwrap();
    println!("self-protection loads in {best:?}");
    assert!(best.as_millis() < 100, "{best:?}");
}
