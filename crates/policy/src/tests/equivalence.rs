//! Compares the index with a plain loop over all rules, on random policies and calls, and the
//! judgement of a name with that of the whole call.

use callgate_call::{OriginFields, Surface, ToolCall, ToolName};
use proptest::prelude::*;

use super::support::*;
use crate::policy::every_candidate;
use crate::{DenialScope, NameJudgement, Policies, SpentLimits};

const NAMES: [&str; 32] = [
    "bash",
    "read",
    "read_file",
    "write_file",
    "mcp__git__push",
    "git.push",
    "mcp__a__b__c",
    "mcp_git_push",
    "a/b",
    "run_shell_command",
    "container.exec",
    "zzz",
    "git_push",
    "git-push",
    "git-pu\u{455}h",
    "g\u{456}t.push",
    "git___push",
    "mcp--git--push",
    "mcp.git.push",
    "@git/push",
    "push_mcp_git",
    "functions.git_push",
    "functions.mcp__git__push",
    "default_api:bash",
    "mcp__plugin_x_git__push",
    "mcp__plugin_a_b__push",
    "a_b_c",
    "read-file",
    "web_search",
    "b\u{430}sh",
    "mcp__internal_documentation_server__search_across_all_pag_0123ab",
    "my-server_read_x",
];
/// Tools of known servers whose names look like other names.
const ON: [(&str, &str); 5] =
    [("git", "push"), ("a", "b__c"), ("a__b", "c"), ("a", "git.push"), ("git", "git_push")];
const PATTERNS: [&str; 29] = [
    "bash",
    "read",
    "'*'",
    "'read*'",
    "'*file'",
    "'*_*'",
    "'re?d'",
    "'r*e'",
    "push",
    "git.push",
    "'mcp__*'",
    "'mcp__git__*'",
    "'git.*'",
    "'mcp__a__b__*'",
    "mcp__a__b__c",
    "'@shell'",
    "'@read'",
    "'@mcp'",
    "'*ush*'",
    "'*.push'",
    "'mcp_*'",
    "'?'",
    "read-file",
    "mcp.git.push",
    "'web.*'",
    "search",
    "read.x",
    "'read.*'",
    "internal-documentation-server.search_across_all_pages_and_attachments",
];
const SERVERS: [&str; 9] = [
    "'*'",
    "git",
    "a",
    "'a*'",
    "'g*'",
    "'*t'",
    "web",
    "my.server",
    "internal-documentation-server",
];
const VALUES: [&str; 50] = [
    r#""x""#,
    r#""xy""#,
    r#""rm -rf /""#,
    r#""/etc/passwd""#,
    "1",
    "1.0",
    "2",
    "true",
    "null",
    r#"["x","y"]"#,
    r#"{"b":"x"}"#,
    "[]",
    r#"[{"b":"x"},"x"]"#,
    r#""""#,
    // Numbers that readers round, print or drop in different ways.
    "-0",
    "-0.0",
    "1e0",
    "0.99999999999999999999999",
    "1.00000000000000000000001",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551616",
    "1e400",
    "-1e400",
    "1e-400",
    "1e21",
    "0.0000001",
    "[2,0.99999999999999999999999]",
    "123456789012345678901234567890",
    r#"{"b":9007199254740993}"#,
    r#"{"B":"x"}"#,
    r#"{"b":"y","B":1.0}"#,
    r#"[{"B":"rm"},{"b":"y"}]"#,
    r#"{"__proto__":{"a":"x","b":"xy"}}"#,
    // Values that lax readers convert to others.
    r#""01""#,
    r#"" 1.0""#,
    r#""yes""#,
    r#""OFF""#,
    "false",
    r#"["0x1","on"]"#,
    // Texts that some programs parse.
    r#""[\"x\",\"rm\"]""#,
    r#""{\"b\":\"\\u0078\"}""#,
    r#""{\"x\":[1,{\"/etc/passwd\":true}]}""#,
    r#""[NaN]""#,
    r#""null""#,
    r#""[ x ]""#,
    r#"["[\"x\"]"]"#,
    // Keys that a rule on `$` may look for.
    r#"{"/etc/passwd":1}"#,
    r#"[{"rm":[{"x":null}]}]"#,
    // A secret.
    r#""AKIAIOSFODNN7EXAMPLX""#,
];
const TESTS: [&str; 41] = [
    "equals: x",
    "equals: 1",
    "equals: '1'",
    "not_equals: x",
    "in: [x, 1.0, y]",
    "not_in: [x]",
    "contains: x",
    "contains: rm",
    "not_contains: x",
    "starts_with: x",
    "starts_with: xy",
    "starts_with: /etc",
    "not_starts_with: x",
    "matches: '^x'",
    "matches: 'r[m]'",
    "not_matches: x",
    "glob: '/etc/*'",
    "not_glob: '/etc/*'",
    "exists: true",
    "exists: false",
    "gt: 1",
    "lte: 1",
    "gte: 1",
    "lt: 1",
    "equals: 0",
    "equals: '0'",
    "equals: 9007199254740993",
    "not_equals: 9007199254740992",
    "in: [9007199254740992, 1e300, 0.0000001]",
    "not_in: [1e-400, 1]",
    "matches: '^1$'",
    "matches: '^(Infinity|inf)'",
    "not_matches: '^1$'",
    "contains: '000'",
    "starts_with: '1e'",
    "starts_with: '10'",
    "glob: '1e+21'",
    "gte: 9007199254740993",
    "equals: true",
    "not_equals: false",
    "in: [true, 0]",
];
/// Keys that some programs treat as another key.
const ODD_KEYS: [&str; 3] = ["A", "B", "__proto__"];
const PATHS: [&str; 9] =
    ["a", "a.b", "'a[*].b'", "b", "$", "context.hour", "'@command'", "'@path'", "command"];
/// Keys of arguments that carry a role.
const ROLE_KEYS: [&str; 7] = ["command", "cmd", "Command", "commands", "path", "file_path", "args"];

/// Conditions of the other kinds.
const LEAVES: &[&str] = &[
    "{ secret: any }",
    "{ secret: [private_key, jwt] }",
    "{ finding: any }",
    "{ finding: { class: directive, severity: high } }",
    "{ runs: 'git push' }",
    "{ reads: ['**/.env', x] }",
    "{ writes: { not: ['workspace/**'] } }",
    "{ deletes: '**' }",
    "{ deletes: { files_over: 1, untracked: true } }",
    "{ connects: { not: '@local' } }",
    "{ sets: '@code' }",
    "{ marked: force-push }",
    "{ opaque: true }",
    "{ escalates: true }",
    "{ time: { between: ['11:00', '13:00'] } }",
    "{ time: { days: [sat-sun], zone: Asia/Tokyo } }",
];

fn condition() -> impl Strategy<Value = String> {
    let test = (prop::sample::select(&PATHS), prop::sample::select(&TESTS))
        .prop_map(|(path, test)| format!("{{ arg: {path}, {test} }}"));
    let leaf = prop::sample::select(LEAVES).prop_map(str::to_owned);
    prop_oneof![9 => test, 1 => leaf].prop_recursive(3, 8, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3).prop_map(|parts| parts.join(", "));
        prop_oneof![
            list.clone().prop_map(|parts| format!("{{ any: [{parts}] }}")),
            list.prop_map(|parts| format!("{{ all: [{parts}] }}")),
            inner.prop_map(|part| format!("{{ not: {part} }}")),
        ]
    })
}

fn rule() -> impl Strategy<Value = String> {
    let tools = prop::collection::vec(prop::sample::select(&PATTERNS), 1..3);
    let verdicts = ["allow", "deny", "deny", "audit", "deny, mode: shadow"];
    (
        prop::option::weighted(0.8, tools),
        prop::option::weighted(0.3, prop::sample::select(&SERVERS)),
        prop::option::weighted(0.6, condition()),
        prop::sample::select(verdicts.to_vec()),
        prop::sample::select(vec![50, 100, 100]),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(tools, server, when, verdict, priority, agent)| {
            let mut text = format!("verdict: {verdict}, priority: {priority}");
            if let Some(tools) = tools {
                text += &format!(", tool: [{}]", tools.join(", "));
            }
            if let Some(server) = server {
                text += &format!(", server: {server}");
            }
            if let Some(when) = when {
                text += &format!(", when: {when}");
            }
            if agent {
                text += ", agent: claude";
            }
            text
        })
}

/// Sometimes enough rules for the argument index to be used.
fn policy() -> impl Strategy<Value = Policies> {
    let declared = prop::sample::subsequence(vec!["git", "a-b", "my.server", "web"], 0..3);
    (policy_named("p"), declared)
        .prop_map(|(text, declared)| policies(&text).with_servers(declared))
}

pub(super) fn policy_named(name: &'static str) -> impl Strategy<Value = String> {
    let rules =
        prop_oneof![prop::collection::vec(rule(), 1..8), prop::collection::vec(rule(), 40..80),];
    let default = prop::sample::select(vec!["allow", "deny", "audit"]);
    (rules, default).prop_map(move |(rules, default)| {
        let rules: Vec<_> =
            rules.iter().enumerate().map(|(i, rule)| format!("id: r{i}, {rule}")).collect();
        let lines: Vec<&str> = rules.iter().map(String::as_str).collect();
        policy_text(name, &format!("default: {default}"), &lines)
    })
}

fn input() -> impl Strategy<Value = String> {
    let value = || prop::sample::select(&VALUES);
    prop_oneof![
        9 => (value(), value()).prop_map(|(a, b)| format!(r#"{{"a":{a},"b":{b}}}"#)),
        3 => (value(), value(), prop::sample::select(&ODD_KEYS))
            .prop_map(|(a, b, key)| format!(r#"{{"{key}":{a},"b":{b}}}"#)),
        3 => (value(), value(), prop::sample::select(&ODD_KEYS))
            .prop_map(|(a, other, key)| format!(r#"{{"a":{a},"{key}":{other}}}"#)),
        4 => (value(), value(), prop::sample::subsequence(ROLE_KEYS.to_vec(), 2))
            .prop_map(|(a, b, keys)| format!(r#"{{"{}":{a},"{}":{b}}}"#, keys[0], keys[1])),
        1 => prop::sample::select(vec!["", "[1]", r#"{"a":"#]).prop_map(str::to_owned),
    ]
}

pub(super) fn a_call() -> impl Strategy<Value = ToolCall> {
    let surfaces = vec![Surface::Response, Surface::Hook, Surface::Mcp];
    (
        prop::sample::select(&NAMES),
        prop::option::weighted(0.3, prop::sample::select(&ON)),
        input(),
        prop::sample::select(surfaces),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(name, on, input, surface, agent, proven)| {
            let mut facts = OriginFields::at(surface);
            facts.agent = agent.then(|| "Claude".to_owned());
            facts.agent_proven = proven;
            let call = call_of(facts, name, &input);
            match on {
                Some((server, tool)) => {
                    ToolCall { name: ToolName::on(server, tool).unwrap(), ..call }
                }
                None => call,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_the_loop_finds(
        policies in policy(),
        calls in prop::collection::vec(a_call(), 8),
    ) {
        for call in calls {
            let fast = policies.ask(&call);
            let limits = SpentLimits::none();
            let question = policies.question(&call, &NOON, &limits);
            let mut slow = policies.combine_outcomes(&question, |policy, question| {
                let all = every_candidate(policy, call.origin.surface);
                policy.outcome_among(question, &all)
            });
            // The scope is computed from the name afterwards.
            slow.details.scope = fast.scope;
            prop_assert_eq!(fast, slow, "{:?}", call);
        }
    }

    #[test]
    fn no_arguments_change_what_a_name_decided(
        policies in policy(),
        calls in prop::collection::vec(a_call(), 8),
    ) {
        for call in calls {
            let whole = policies.ask(&call);
            match policies.judge_name(&call, &NOON, &SpentLimits::none()) {
                NameJudgement::Allow(..) => prop_assert!(whole.verdict.passes(), "{:?}", call),
                NameJudgement::Deny(named) => {
                    prop_assert!(!whole.verdict.passes(), "{:?}", call);
                    prop_assert_eq!((named.scope, whole.scope), (DenialScope::Tool, DenialScope::Tool));
                }
                NameJudgement::NeedArguments => {
                    prop_assert!(whole.verdict.passes() || whole.scope == DenialScope::Use, "{:?}", call);
                }
            }
        }
    }
}
