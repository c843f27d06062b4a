//! What was exported, imported again, on the calls of `corpus/calls`.
//!
//! An export never denies what the policy does not stop, and it stops what its rules cover as a whole.

use std::path::Path;

use callgate_effects::Kind;
use serde_json::Value;

use super::*;
use crate::{Agent, WrittenPolicies, export};

/// Rules that every agent can have in part, and that are written for these calls.
const POLICY: &str = r#"
policy: mine
rules:
  - { id: push, when: { runs: git push }, verdict: deny }
  - { id: curl, when: { runs: [curl, wget] }, verdict: deny }
  - { id: kube, when: { runs: kubectl delete }, verdict: ask }
  - { id: env, when: { reads: ["**/.env", "**/id_rsa", "~/.ssh/**"] }, verdict: deny }
  - { id: etc, when: { any: [{ writes: "/etc/**" }, { deletes: "/etc/**" }] }, verdict: deny }
  - { id: drop, server: db, tool: drop_table, verdict: deny }
"#;

struct Call {
    tool: String,
    input: String,
    command: Option<String>,
}

fn corpus() -> Vec<Call> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/calls");
    let mut calls = Vec::new();
    for file in ["harmless.jsonl", "hostile.jsonl"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        for line in text.lines() {
            let call: Value = serde_json::from_str(line).unwrap();
            let tool = call["tool"].as_str().unwrap().to_owned();
            let command = call["input"]["command"].as_str().map(str::to_owned);
            calls.push(Call { tool, input: call["input"].to_string(), command });
        }
    }
    calls
}

fn imported_again(policy: Source, agent: Agent) -> Policies {
    let mut policies = WrittenPolicies::default();
    policies.add_file(policy).unwrap();
    let exported = export(&policies, agent).unwrap();
    let imported = imported(agent.format(), &exported.text);
    // What the agent decides by itself does not count here, only the rules that were exported.
    let mut lines: Vec<&str> = imported.text.lines().collect();
    if let Some(tail) =
        lines.iter().position(|line| line.ends_with("reads in the workspace without asking."))
    {
        lines.truncate(tail);
    }
    if let Some(tail) =
        lines.iter().position(|line| line.ends_with("opencode asks about .env files."))
    {
        lines.truncate(tail);
    }
    compiled(&lines.join("\n"))
}

#[test]
fn an_export_never_stops_what_the_policy_lets_pass() {
    let starter = callgate_policy::starter();
    let mut wrong: Vec<String> = Vec::new();
    for policy in [source(POLICY), starter] {
        let own = compiled(&policy.text);
        for agent in Agent::ALL {
            let again = imported_again(policy.clone(), agent);
            for Call { tool, input, .. } in corpus() {
                // Agents know no exceptions for the folders of a project's own test data.
                if input.to_string().contains("fixtures/") {
                    continue;
                }
                let (native, ours) = (judge(&again, &tool, &input), judge(&own, &tool, &input));
                if !native.passes() && ours.passes() {
                    wrong.push(format!("{agent:?} {tool} {input}: {native:?} {ours:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_export_stops_what_its_rules_cover() {
    let own = compiled(POLICY);
    let calls = corpus();
    for agent in Agent::ALL {
        let again = imported_again(source(POLICY), agent);
        let mut stopped = 0;
        for call in &calls {
            let Some(command) = call.command.as_deref() else { continue };
            if !is_shell(&call.tool) {
                continue;
            }
            // The scope that is stated: commands by their first words.
            let covered = ["git push", "curl", "wget"].iter().any(|start| {
                command
                    .strip_prefix(start)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            });
            if covered && judge(&own, &call.tool, &call.input) == Verdict::Deny {
                assert_eq!(
                    judge(&again, &call.tool, &call.input),
                    Verdict::Deny,
                    "{agent:?} {command}"
                );
                stopped += 1;
            }
        }
        assert!(stopped > 50, "{agent:?}: {stopped}");
    }
}

fn is_shell(tool: &str) -> bool {
    Catalogue::builtin().kinds(&callgate_call::fold(tool)).contains(&Kind::Shell)
}

#[test]
fn whole_tools_files_and_servers_come_back() {
    let again = |agent| imported_again(source(POLICY), agent);
    for agent in [Agent::ClaudeCode, Agent::Gemini, Agent::Cursor, Agent::Opencode] {
        let policies = again(agent);
        assert_eq!(judge(&policies, "mcp__db__drop_table", "{}"), Verdict::Deny, "{agent:?}");
        let (tool, key) = match agent {
            Agent::Opencode => ("read", "filePath"),
            _ => ("read_file", "file_path"),
        };
        let input = format!("{{\"{key}\":\"/home/dev/project/app/.env\"}}");
        assert_eq!(judge(&policies, tool, &input), Verdict::Deny, "{agent:?}");
    }
    assert_eq!(
        judge(&again(Agent::ClaudeCode), "Bash", r#"{"command":"cat ~/.ssh/id_ed25519"}"#),
        Verdict::Deny
    );
}
