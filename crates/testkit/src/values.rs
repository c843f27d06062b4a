//! Arguments that hide something from a rule, each with a condition that must see it, for tests at
//! every door.

use std::fmt::Write;

/// A condition and arguments.
#[derive(Debug, Clone, Copy)]
pub struct ConditionCase {
    /// The condition, as the `when` of a rule.
    pub when: &'static str,
    /// The arguments, as JSON.
    pub arguments: &'static str,
}

const fn case(when: &'static str, arguments: &'static str) -> ConditionCase {
    ConditionCase { when, arguments }
}

/// Numbers that become others where they are read as doubles or printed again: each condition is
/// unknown.
pub const NUMBERS: &[ConditionCase] = &[
    case("{ arg: a, gte: 100 }", r#"{"a":99.99999999999999999999999}"#),
    case("{ arg: a, lt: 100 }", r#"{"a":99.99999999999999999999999}"#),
    case("{ arg: a, equals: 9007199254740992 }", r#"{"a":9007199254740993}"#),
    case("{ arg: a, equals: 0 }", r#"{"a":1e-400}"#),
    case("{ arg: a, not_in: [22] }", r#"{"a":22.0000000000000000001}"#),
    case("{ arg: a, matches: '^22$' }", r#"{"a":22.0}"#),
    case("{ arg: a, not_contains: '22' }", r#"{"a":2.2e1}"#),
    case("{ arg: $, gt: 5 }", r#"{"a":[{"b":1e400}]}"#),
];

/// Keys that only some programs take for the one that a rule names: each condition is unknown.
pub const KEYS: &[ConditionCase] = &[
    case("{ arg: command, contains: rm }", r#"{"Command":"rm -rf ~"}"#),
    case("{ arg: command, contains: rm }", r#"{"command":"ls","Command":"rm -rf ~"}"#),
    case("{ arg: command, contains: rm }", r#"{"COMMAND":"rm -rf ~","command":"ls"}"#),
    case("{ arg: options.path, equals: /etc }", r#"{"OPTIONS":{"Path":"/etc"}}"#),
    case("{ arg: 'items[*].name', equals: a }", r#"{"Items":[{"NAME":"a"}]}"#),
    case("{ arg: task, not_equals: a }", r#"{"ta\u017f\u212a":"a"}"#),
    case("{ arg: command, exists: false }", r#"{"Command":"ls"}"#),
    case("{ arg: command, contains: rm }", r#"{"__proto__":{"command":"rm -rf ~"}}"#),
];

/// Values that lax readers, such as pydantic, take for what a rule names: each condition is unknown.
pub const LAX: &[ConditionCase] = &[
    case("{ arg: a, equals: 5 }", r#"{"a":"05"}"#),
    case("{ arg: a, not_equals: 5 }", r#"{"a":" 5.0"}"#),
    case("{ arg: a, equals: 0 }", r#"{"a":""}"#),
    case("{ arg: a, equals: 0 }", "{\"a\":\"\u{feff}0\"}"),
    case("{ arg: force, equals: true }", r#"{"force":"yes"}"#),
    case("{ arg: force, in: [true] }", r#"{"force":1}"#),
];

/// Texts that the Python MCP SDK parses where a tool expects no string: each condition is unknown.
pub const JSON_IN_TEXTS: &[ConditionCase] = &[
    case("{ arg: argv, equals: rm }", r#"{"argv":"[\"rm\",\"-rf\"]"}"#),
    case("{ arg: argv, contains: rm }", r#"{"argv":"[\"\\u0072m\"]"}"#),
    case("{ arg: argv, not_in: [rm, mv] }", r#"{"argv":" [\"rm\"]\n"}"#),
    case("{ arg: options, contains: rm }", r#"{"options":"{\"run\":[\"\\u0072m\"]}"}"#),
    case("{ arg: $, matches: '^rm$' }", r#"{"options":"{\"rm\":true}"}"#),
    case("{ arg: ports, in: [80, 443] }", r#"{"ports":"[80,22]"}"#),
    case("{ arg: approved, exists: false }", r#"{"approved":"null"}"#),
    case("{ arg: argv, equals: rm }", r#"{"argv":"[\"ls\",NaN]"}"#),
];

/// Texts in the keys of the input: each condition is true.
pub const TEXTS_IN_KEYS: &[ConditionCase] = &[
    case("{ arg: $, contains: .env }", r#"{"files":{"/srv/app/.env":"X=1"}}"#),
    case("{ arg: $, glob: '/etc/*' }", r#"{"a":[{"/etc/passwd":null}]}"#),
];

/// The tool of the case at this place.
pub fn tool(place: usize) -> String {
    format!("t{place}")
}

/// A policy in which each case's condition denies its tool, and all else is allowed.
pub fn denying(cases: &[ConditionCase]) -> String {
    policy(cases, "allow", "deny")
}

/// A policy in which each case's condition allows its tool, and all else is denied.
pub fn allowing(cases: &[ConditionCase]) -> String {
    policy(cases, "deny", "allow, server: '*'")
}

fn policy(cases: &[ConditionCase], default: &str, verdict: &str) -> String {
    let mut text = format!("policy: p\ndefault: {default}\nrules:\n");
    for (place, case) in cases.iter().enumerate() {
        let (tool, when) = (tool(place), case.when);
        let _ = writeln!(
            text,
            "  - {{ id: r{place}, tool: {tool}, when: {when}, verdict: {verdict} }}"
        );
    }
    text
}
