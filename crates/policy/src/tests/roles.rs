//! Arguments by role: `arg: "@command"` is the command, whatever a tool calls it.

use super::support::*;
use crate::{NameJudgement, SpentLimits, Verdict};

const DENY_RM: &str =
    r#"id: r, tool: "@shell", when: { arg: "@command", matches: '\brm -rf' }, verdict: deny"#;

/// Calls of every agent that remove the home directory.
const REMOVALS: [(&str, &str); 12] = [
    ("Bash", r#"{"command":"rm -rf ~"}"#),
    ("exec_command", r#"{"cmd":"rm -rf ~"}"#),
    ("shell", r#"{"command":["rm","-rf","~"]}"#),
    ("shell", r#"{"command":["bash","-lc","rm -rf ~"]}"#),
    ("local_shell", r#"{"action":{"type":"exec","command":["rm","-rf","~"]}}"#),
    ("shell", r#"{"commands":["ls","rm -rf ~"]}"#),
    ("run_shell_command", r#"{"command":"rm -rf ~","description":"x"}"#),
    ("run_command", r#"{"CommandLine":"rm -rf ~","Cwd":"/"}"#),
    ("run_in_terminal", r#"{"command":"rm","args":["-rf","~"]}"#),
    ("create_and_run_task", r#"{"task":{"command":"rm -rf ~"}}"#),
    ("mcp__box__bash", r#"{"script":"rm -rf ~"}"#),
    ("Bash", r#"{"command":"[\"rm\",\"-rf\",\"~\"]"}"#),
];

#[test]
fn one_rule_covers_the_shell_of_every_agent() {
    let policies = rules(&[DENY_RM]);
    for (tool, input) in REMOVALS {
        assert_eq!(policies.verdict(tool, input), Verdict::Deny, "{tool} {input}");
    }
    for (tool, input) in [
        ("Bash", r#"{"command":"ls","description":"not rm -rf"}"#),
        ("exec_command", r#"{"cmd":"ls","justification":"rm -rf"}"#),
        ("shell", r#"{"command":["ls","-l"]}"#),
        ("Bash", "{}"),
        ("Write", r#"{"file_path":"x","content":"rm -rf ~"}"#),
    ] {
        assert_eq!(policies.verdict(tool, input), Verdict::Allow, "{tool} {input}");
    }
}

#[test]
fn the_command_of_a_rule_on_shells_is_the_role() {
    let written = DENY_RM.replace("\"@command\"", "command");
    let policies = rules(&[&written]);
    for (tool, input) in REMOVALS {
        assert_eq!(policies.verdict(tool, input), Verdict::Deny, "{tool} {input}");
    }
    let plain =
        rules(&["id: r, tool: exec_command, when: { arg: command, contains: rm }, verdict: deny"]);
    assert_eq!(plain.verdict("exec_command", r#"{"cmd":"rm"}"#), Verdict::Allow);
}

#[test]
fn the_match_names_the_argument_that_carries_it() {
    let policies = rules(&[DENY_RM]);
    let matched = |tool, input| policies.ask(&call(tool, input)).matched.clone().unwrap();
    assert_eq!(matched("exec_command", r#"{"cmd":"rm -rf ~"}"#).path, "cmd");
    let list = matched("local_shell", r#"{"action":{"command":["rm","-rf","~"]}}"#);
    assert_eq!((list.path.as_str(), list.value.as_str()), ("action.command", "rm -rf ~"));
}

#[test]
fn paths_urls_and_contents() {
    let policies = rules(&[
        r#"id: p, when: { arg: "@path", glob: '**/.env' }, verdict: deny"#,
        r#"id: u, when: { arg: "@url", starts_with: 'http:' }, verdict: deny"#,
        r#"id: c, when: { arg: "@content", contains: BEGIN }, verdict: deny"#,
    ]);
    for (tool, input) in [
        ("Read", r#"{"file_path":"/a/.env"}"#),
        ("read_many_files", r#"{"paths":["a","b/.env"]}"#),
        ("move_file", r#"{"source":"a","destination":"b/.env"}"#),
        ("list_dir", r#"{"DirectoryPath":"b/.env"}"#),
        ("my_own_reader", r#"{"filePath":"b/.env"}"#),
        ("WebFetch", r#"{"url":"http://a.example"}"#),
        ("my_own_loader", r#"{"urls":["https://b.example","http://a.example"]}"#),
        ("Write", r#"{"file_path":"a","content":"BEGIN"}"#),
        ("multiedit", r#"{"edits":[{"new_string":"x"},{"new_string":"BEGIN"}]}"#),
    ] {
        assert_eq!(policies.verdict(tool, input), Verdict::Deny, "{tool} {input}");
    }
    assert_eq!(policies.verdict("my_own_reader", r#"{"note":"b/.env"}"#), Verdict::Allow);
}

#[test]
fn an_argument_that_is_missing_fails_a_positive_operator() {
    let policies = rules(&[
        r#"id: a, tool: x, when: { arg: "@command", not_contains: y }, verdict: deny"#,
        r#"id: b, tool: z, when: { arg: "@command", exists: false }, verdict: deny"#,
        r#"id: c, tool: w, when: { arg: "@command", exists: true }, verdict: deny"#,
    ]);
    assert_eq!(policies.verdict("x", "{}"), Verdict::Deny);
    assert_eq!(policies.verdict("x", r#"{"cmd":"y"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("z", r#"{"other":1}"#), Verdict::Deny);
    assert_eq!(policies.verdict("z", r#"{"cmd":"y"}"#), Verdict::Allow);
    assert_eq!(policies.verdict("w", r#"{"cmd":null}"#), Verdict::Allow);
    assert_eq!(policies.verdict("w", r#"{"cmd":["ls"]}"#), Verdict::Deny);
}

/// Go and .NET read `Command`, others do not.
#[test]
fn a_key_in_another_case_is_unknown() {
    let deny = rules(&[DENY_RM]);
    assert_eq!(deny.verdict("Bash", r#"{"Command":"rm -rf ~"}"#), Verdict::Deny);
    let judged = deny.ask(&call("Bash", r#"{"command":"ls","Command":"rm -rf ~"}"#));
    assert_eq!(judged.verdict, Verdict::Deny);
    assert!(judged.errors[0].why.contains("some programs read the key `Command`"), "{judged:?}");
    let allow = policies(&policy_text(
        "p",
        "default: deny",
        &[
            r#"id: a, tool: "@shell", when: { arg: "@command", starts_with: 'git ' }, verdict: allow"#,
        ],
    ));
    assert_eq!(allow.verdict("Bash", r#"{"Command":"git status"}"#), Verdict::Deny);
}

#[test]
fn a_rule_that_allows_needs_every_argument_of_the_role() {
    let policies = policies(&policy_text(
        "p",
        "default: deny",
        &[
            r#"id: a, tool: move_file, when: { arg: "@path", starts_with: src/ }, verdict: allow"#,
            r#"id: b, tool: "@shell", when: { arg: "@command", starts_with: 'git ' }, verdict: allow"#,
        ],
    ));
    let verdict = |tool, input| policies.verdict(tool, input);
    assert_eq!(verdict("move_file", r#"{"source":"src/a","destination":"src/b"}"#), Verdict::Allow);
    assert_eq!(verdict("move_file", r#"{"source":"src/a","destination":"/etc/b"}"#), Verdict::Deny);
    assert_eq!(verdict("shell", r#"{"command":["bash","-lc","git status"]}"#), Verdict::Allow);
    assert_eq!(verdict("shell", r#"{"commands":["git status","rm -rf ~"]}"#), Verdict::Deny);
}

#[test]
fn a_known_tool_without_such_an_argument_streams() {
    let policies = rules(&[r#"id: r, when: { arg: "@command", contains: rm }, verdict: deny"#]);
    let by_name = |tool| policies.judge_name(&call(tool, ""), &NOON, &SpentLimits::none());
    assert!(matches!(by_name("TodoWrite"), NameJudgement::Allow(..)));
    assert!(matches!(by_name("Bash"), NameJudgement::NeedArguments));
    assert!(matches!(by_name("my_own_tool"), NameJudgement::NeedArguments));
}

#[test]
fn arguments_that_cannot_be_read_do_not_give_a_known_tool_a_role() {
    let policies = rules(&[r#"id: r, when: { arg: "@command", contains: rm }, verdict: deny"#]);
    assert_eq!(policies.verdict("web_search", "[1]"), Verdict::Allow);
    assert_eq!(policies.verdict("Bash", "[1]"), Verdict::Deny);
}

#[test]
fn unknown_roles_are_refused_with_the_known_ones() {
    let text =
        policy_text("p", "", &[r#"id: r, when: { arg: "@comand", contains: rm }, verdict: deny"#]);
    let problem = &problems(&text)[0];
    assert_eq!(problem.message, "cannot read the path `@comand`");
    assert_eq!(problem.hint.as_deref(), Some("did you mean `@command`?"));
    let plain = rules(&[r#"id: r, when: { arg: "$.@type", equals: x }, verdict: deny"#]);
    assert_eq!(plain.verdict("tool", r#"{"@type":"x"}"#), Verdict::Deny);
}

#[test]
fn arguments_that_a_known_tool_does_not_have() {
    let warned = |rule: &str| -> Vec<(String, String, usize, usize)> {
        let (_, warnings) = compile(&[&policy_text("p", "", &[rule])]);
        let each = warnings.into_iter().map(|warning| {
            let it = warning.0;
            (it.message, it.hint.unwrap_or_default(), it.span.line, it.span.column)
        });
        each.collect()
    };
    let role = "`arg: \"@command\"` is that argument, whatever a tool calls it";
    assert_eq!(
        warned("id: r, tool: Bash, when: { arg: cmd, contains: rm }, verdict: deny"),
        [("`Bash` has no argument `cmd`".to_owned(), role.to_owned(), 4, 39)]
    );
    let [(message, hint, ..)] =
        &warned("id: r, tool: Bash, when: { arg: colour, exists: true }, verdict: deny")[..]
    else {
        panic!()
    };
    assert_eq!(message, "`Bash` has no argument `colour`");
    assert!(hint.starts_with("`Bash` has: command, description, "), "{hint}");
    let [(message, ..)] =
        &warned("id: r, tool: '@shell', when: { arg: commnd, exists: true }, verdict: deny")[..]
    else {
        panic!()
    };
    assert_eq!(message, "no known tool of the kind `@shell` has an argument `commnd`");
    for quiet in [
        "id: r, tool: Bash, when: { arg: description, contains: rm }, verdict: deny",
        "id: r, tool: '@shell', when: { arg: command, contains: rm }, verdict: deny",
        "id: r, tool: '@shell', when: { arg: cmd, contains: rm }, verdict: deny",
        "id: r, tool: [Bash, my_tool], when: { arg: colour, contains: rm }, verdict: deny",
        "id: r, tool: Bash, server: x, when: { arg: colour, contains: rm }, verdict: deny",
        "id: r, tool: 'Bash*', when: { arg: colour, contains: rm }, verdict: deny",
        "id: r, when: { arg: colour, contains: rm }, verdict: deny",
        "id: r, tool: Bash, when: { arg: $, contains: rm }, verdict: deny",
    ] {
        assert_eq!(warned(quiet), [], "{quiet}");
    }
}
