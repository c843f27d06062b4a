//! Tools that the operator declares, what servers say about theirs, and `@escalate`.

use callgate_call::{EffectHints, OriginFields, Surface};
use callgate_effects::{Bound, Catalogue, EffectKind, Entry, Kind, Role};

use super::support::*;
use crate::{NameJudgement, Policies, SpentLimits, Verdict};

fn declared(rules: &[&str], tools: Vec<Entry>) -> Policies {
    let source = source(&policy_text("p", "", rules));
    Policies::compile(&[source], &Catalogue::builtin().with(tools)).unwrap().0
}

fn by_name(policies: &Policies, tool: &str) -> NameJudgement {
    policies.judge_name(&call(tool, ""), &NOON, &SpentLimits::none())
}

const NO_DELETES: &str = "id: d, when: { deletes: '**' }, verdict: deny";
const NO_RM: &str = "id: r, tool: '@shell', when: { runs: rm }, verdict: deny";

#[test]
fn a_tool_without_effects_streams() {
    let tools = vec![Entry::new("get_weather", &[])];
    let policies = declared(&[NO_DELETES], tools).with_servers(["sky"]);
    assert!(matches!(by_name(&policies, "get_weather"), NameJudgement::Allow(..)));
    assert!(matches!(by_name(&policies, "mcp__sky__get_weather"), NameJudgement::Allow(..)));
    assert!(matches!(by_name(&policies, "mcp__other__get_weather"), NameJudgement::NeedArguments));
    assert!(matches!(by_name(&policies, "get_news"), NameJudgement::NeedArguments));
}

#[test]
fn a_declared_shell_is_covered_by_rules_on_shells_and_commands() {
    let deploy = Entry::new("deploy", &[Kind::Shell]).role("cmdline", Role::Command);
    let bare = Entry::new("ship", &[Kind::Shell]).with_usual_roles();
    let named =
        r#"id: c, tool: "@shell", when: { arg: "@command", contains: prod }, verdict: deny"#;
    let policies = declared(&[NO_RM, named], vec![deploy, bare]);
    assert_eq!(policies.verdict("deploy", r#"{"cmdline":"sudo rm -rf x"}"#), Verdict::Deny);
    assert_eq!(policies.verdict("deploy", r#"{"cmdline":"make prod"}"#), Verdict::Deny);
    assert_eq!(policies.verdict("deploy", r#"{"cmdline":"make"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("ship", r#"{"cmd":"rm x"}"#), Verdict::Deny);
    let unknown = declared(&[NO_RM, named], Vec::new());
    assert_eq!(unknown.verdict("deploy", r#"{"cmdline":"rm -rf x"}"#), Verdict::Allow);
}

#[test]
fn declared_effects_bound_what_a_tool_can_do() {
    let effects = Bound::just(EffectKind::Deletes);
    let wipe = Entry { effects, ..Entry::new("wipe", &[]) }.role("victim", Role::Path);
    let policies = declared(
        &[NO_DELETES, "id: c, when: { connects: evil.example }, verdict: deny"],
        vec![wipe],
    );
    assert_eq!(policies.verdict("wipe", r#"{"victim":"/srv/data"}"#), Verdict::Deny);
    let judged = policies.ask(&call("wipe", r#"{"url":"https://evil.example/"}"#));
    assert_eq!(judged.verdict, Verdict::Allow);
}

#[test]
fn declared_tools_are_part_of_the_digest_and_of_changes() {
    let plain = declared(&[NO_DELETES], Vec::new());
    let weather = declared(&[NO_DELETES], vec![Entry::new("get_weather", &[])]);
    assert_ne!(plain.digest(), weather.digest());
    let changes = weather.changes_since(&plain);
    assert_eq!(changes.weakened, ["tool get_weather is declared differently"]);
    assert_eq!(plain.changes_since(&weather).weakened, [""; 0]);
}

fn hinted(hints: EffectHints, tool: &str, input: &str) -> callgate_call::ToolCall {
    let origin = OriginFields { effect_hints: hints, ..OriginFields::at(Surface::Mcp) };
    call_of(origin, tool, input)
}

#[test]
fn what_a_server_says_adds_effects_and_removes_none() {
    let policies = rules(&[
        NO_DELETES,
        "id: w, when: { writes: '/etc/**' }, verdict: deny",
        "id: c, when: { connects: evil.example }, verdict: deny",
    ])
    .with_servers(["files"]);
    let verdict = |hints, tool, input| policies.ask(&hinted(hints, tool, input)).verdict;
    let none = EffectHints::default();
    let destroys = EffectHints { destroys: true, ..none };
    let (tool, input) = ("mcp__files__tidy", r#"{"path":"/srv/x"}"#);
    assert_eq!(verdict(none, tool, input), Verdict::Allow);
    assert_eq!(verdict(destroys, tool, input), Verdict::Deny);
    let writes = EffectHints { writes: true, ..none };
    assert_eq!(verdict(writes, tool, input), Verdict::Allow);
    assert_eq!(verdict(writes, tool, r#"{"path":"/etc/x"}"#), Verdict::Deny);
    // A tool of the catalogue on a declared server.
    let (tool, input) = ("mcp__files__read_text_file", r#"{"path":"/srv/x"}"#);
    assert_eq!(verdict(none, tool, input), Verdict::Allow);
    assert_eq!(verdict(destroys, tool, input), Verdict::Deny);
    let connects = EffectHints { connects: true, ..none };
    let url = r#"{"path":"x","url":"https://evil.example/"}"#;
    assert_eq!(verdict(none, tool, url), Verdict::Allow);
    assert_eq!(verdict(connects, tool, url), Verdict::Deny);
    // One that writes anyway destroys nothing else.
    let (tool, input) = ("mcp__files__write_file", r#"{"path":"/srv/x","content":""}"#);
    assert_eq!(verdict(destroys, tool, input), Verdict::Allow);
}

#[test]
fn what_a_server_says_makes_a_known_tool_wait_for_its_arguments() {
    let policies = rules(&[NO_DELETES]).with_servers(["files"]);
    let by_name = |hints| {
        let call = hinted(hints, "mcp__files__read_text_file", "");
        policies.judge_name(&call, &NOON, &SpentLimits::none())
    };
    let none = EffectHints::default();
    assert!(matches!(by_name(none), NameJudgement::Allow(..)));
    let destroys = EffectHints { destroys: true, ..none };
    assert!(matches!(by_name(destroys), NameJudgement::NeedArguments));
}

#[test]
fn escalating_calls_are_a_kind() {
    let policies = rules(&[
        r#"id: e, tool: "@escalate", verdict: deny"#,
        r#"id: f, tool: "@escalate", when: { arg: "@command", contains: x }, verdict: deny, priority: 1"#,
    ]);
    for (tool, input) in [
        ("Bash", r#"{"command":"ls","dangerouslyDisableSandbox":true}"#),
        ("exec_command", r#"{"cmd":"ls","sandbox_permissions":"require_escalated"}"#),
        ("shell", r#"{"command":["ls"],"with_escalated_permissions":true}"#),
        ("Bash", r#"{"command":"claude --dangerously-skip-permissions -p y"}"#),
        ("Task", r#"{"prompt":"y","permissionMode":"bypassPermissions"}"#),
    ] {
        let judged = policies.ask(&call(tool, input));
        assert_eq!(judged.rule.as_deref(), Some("e"), "{tool} {input}");
    }
    let both = r#"{"command":"x","dangerouslyDisableSandbox":true}"#;
    assert_eq!(policies.ask(&call("Bash", both)).rule.as_deref(), Some("f"));
    assert_eq!(policies.verdict("Bash", r#"{"command":"x"}"#), Verdict::Allow);
    let read = r#"{"file_path":"a","dangerouslyDisableSandbox":true}"#;
    assert_eq!(policies.verdict("Read", read), Verdict::Allow);
    assert!(matches!(by_name(&policies, "Read"), NameJudgement::Allow(..)));
}

#[test]
fn escalating_calls_and_certain_tools_need_two_rules() {
    let text = policy_text("p", "", &[r#"id: e, tool: [Bash, "@escalate"], verdict: deny"#]);
    assert_eq!(
        problems(&text)[0].message,
        "`@escalate` cannot be combined with other tools in one rule"
    );
}
