use super::*;
use Verdict::{Allow, Ask, Deny};

const SETTINGS: &str = r#"{
  // for everybody
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Bash(git status)", "Read(./src/**)", "mcp__github__get_issue",
              "Edit(docs/**)", "WebFetch(domain:docs.rs)", "Read(/x)", "mcp__*"],
    "ask": ["Bash(git push:*)", "WebSearch"],
    "deny": ["Read(./.env)", "Read(./secrets/**)", "Bash(curl *)", "Bash(git * main)", "mcp__db",
             "Edit(//etc/**)", "Agent(Explore)", "Foo(bar)", "WebFetch(domain:*.evil.example)",],
  },
  "deniedMcpServers": [{ "serverName": "bad" }],
}"#;

#[test]
fn the_strictest_list_decides() {
    let case = Case::new(Format::ClaudeCode, SETTINGS);
    for (command, verdict) in [
        ("npm run test -- --watch", Allow),
        ("git status", Allow),
        ("git status && npm run test", Allow),
        ("git status -s", Ask),
        ("git push origin x", Ask),
        ("cd x && git push", Ask),
        ("sudo git push", Ask),
        ("curl example.com", Deny),
        ("npm run test && curl example.com", Deny),
        ("npm run test $(curl example.com)", Deny),
        ("git push origin main", Deny),
        ("npm run test > ~/.bashrc", Ask),
        ("ls", Ask),
    ] {
        assert_eq!(case.command("Bash", command), verdict, "{command}");
    }
}

#[test]
fn files_hosts_servers_and_agents() {
    let case = Case::new(Format::ClaudeCode, SETTINGS);
    for (tool, input, verdict) in [
        ("Read", r#"{"file_path":"/home/dev/project/src/a.rs"}"#, Allow),
        ("Read", r#"{"file_path":"/home/dev/project/other/a.rs"}"#, Allow),
        ("Read", r#"{"file_path":"/home/dev/other/a.rs"}"#, Ask),
        ("Read", r#"{"file_path":"/home/dev/project/.env"}"#, Deny),
        ("Read", r#"{"file_path":"secrets/x/y"}"#, Deny),
        ("Bash", r#"{"command":"cat secrets/key"}"#, Deny),
        ("Edit", r#"{"file_path":"docs/a.md","old_string":"a","new_string":"b"}"#, Allow),
        ("Write", r#"{"file_path":"/etc/hosts","content":""}"#, Deny),
        ("Write", r#"{"file_path":"src/a","content":""}"#, Ask),
        ("WebFetch", r#"{"url":"https://docs.rs/x","prompt":""}"#, Allow),
        ("WebFetch", r#"{"url":"https://a.evil.example/x","prompt":""}"#, Deny),
        ("WebFetch", r#"{"url":"https://example.com/x","prompt":""}"#, Ask),
        ("mcp__github__get_issue", "{}", Allow),
        ("mcp__github__delete", "{}", Ask),
        ("mcp__db__query", "{}", Deny),
        ("mcp__bad__x", "{}", Deny),
        ("Agent", r#"{"subagent_type":"Explore","prompt":""}"#, Deny),
        ("Agent", r#"{"subagent_type":"Other","prompt":""}"#, Allow),
        ("Foo", "{}", Deny),
        ("WebSearch", r#"{"query":"x"}"#, Ask),
    ] {
        assert_eq!(case.verdict(tool, input), verdict, "{tool} {input}");
    }
}

#[test]
fn every_difference_is_reported_with_its_place() {
    let case = Case::new(Format::ClaudeCode, SETTINGS);
    for (kind, written, line) in [
        (DifferenceKind::LeftOut, "Read(/x)", 5),
        (DifferenceKind::LeftOut, "mcp__*", 5),
        (DifferenceKind::Stricter, "allowed commands", 4),
        (DifferenceKind::Stricter, "Bash(git * main)", 7),
        (DifferenceKind::Stricter, "Foo(bar)", 8),
        (DifferenceKind::Stricter, "defaultMode", 3),
    ] {
        assert!(case.reports(kind, written), "{written}: {:#?}", case.imported.changes);
        assert_eq!(case.line_of(written), line, "{written}");
    }
    assert_eq!(case.imported.changes.len(), 6, "{:#?}", case.imported.changes);
    let named = |change: &crate::RuleDifference| {
        change.kind == DifferenceKind::LeftOut || change.rule.is_some()
    };
    assert!(case.imported.changes.iter().all(named));
}

#[test]
fn the_mode_decides_about_the_rest() {
    let verdicts = |mode: &str| {
        let text = format!(r#"{{"permissions":{{"defaultMode":"{mode}"}}}}"#);
        let case = Case::new(Format::ClaudeCode, &text);
        let edit = r#"{"file_path":"a","content":""}"#;
        [case.command("Bash", "make"), case.verdict("Write", edit)]
    };
    assert_eq!(verdicts("default"), [Ask, Ask]);
    assert_eq!(verdicts("acceptEdits"), [Ask, Allow]);
    assert_eq!(verdicts("plan"), [Deny, Deny]);
    assert_eq!(verdicts("dontAsk"), [Deny, Deny]);
    assert_eq!(verdicts("something"), [Ask, Ask]);
    assert_eq!(verdicts("bypassPermissions"), [Allow, Allow]);
}

#[test]
fn a_list_of_servers_is_a_policy_of_its_own() {
    let text = r#"{"allowedMcpServers":[{"serverName":"docs"},{"serverUrl":"https://x"}],
                   "permissions":{"defaultMode":"bypassPermissions","deny":["mcp__docs__drop"]}}"#;
    let case = Case::new(Format::ClaudeCode, text);
    assert_eq!(case.verdict("mcp__docs__get", "{}"), Allow);
    assert_eq!(case.verdict("mcp__docs__drop", "{}"), Deny);
    assert_eq!(case.verdict("mcp__other__get", "{}"), Deny);
    assert!(case.reports(DifferenceKind::LeftOut, r#"{"serverUrl":"https://x"}"#));
}

#[test]
fn what_cannot_be_expressed_is_never_weaker() {
    let text = r#"{"permissions":{"defaultMode":"bypassPermissions",
      "deny":["Read(a\\b)", "Read([x].key)", "WebFetch(https://x)", "Agent(model:opus)", "Bash(rm"],
      "allow":["Write(x/**)", "Read({a})", "mcp__x__y(z)"]}}"#;
    let case = Case::new(Format::ClaudeCode, text);
    assert_eq!(case.verdict("Read", r#"{"file_path":"/anything"}"#), Deny);
    assert_eq!(case.verdict("WebFetch", r#"{"url":"https://example.com"}"#), Deny);
    assert_eq!(case.verdict("Agent", r#"{"model":"opus"}"#), Deny);
    assert_eq!(case.verdict("Agent", r#"{"model":"other"}"#), Allow);
    for left_out in ["Bash(rm", "Write(x/**)", "Read({a})", "mcp__x__y(z)"] {
        assert!(case.reports(DifferenceKind::LeftOut, left_out), "{left_out}");
    }
}

#[test]
fn broken_settings_have_a_place() {
    assert_eq!(
        refused(
            Format::ClaudeCode,
            "{\n \"permissions\": { \"deny\": [1, \"Read\"], \"ask\": {} } }"
        ),
        [
            "2:28: a rule must be text, like `Bash(git push:*)`",
            "2:47: `permissions.ask` must be a list",
        ]
    );
    assert_eq!(refused(Format::ClaudeCode, "[]"), ["1:1: the settings must be an object"]);
    assert!(refused(Format::ClaudeCode, "{\n \"a\": }")[0].starts_with("2:"));
}
