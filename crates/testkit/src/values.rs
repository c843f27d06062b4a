//! Arguments that programs read in different ways, each with a condition whose answer depends on the
//! reading. At every door, a rule that denies on that condition must deny the call, and a rule that
//! allows on it must not allow it.

use std::fmt::Write;

/// A condition and arguments for which it is neither true nor false.
#[derive(Debug, Clone, Copy)]
pub struct Unclear {
    /// The condition, as the `when` of a rule.
    pub when: &'static str,
    /// The arguments, as JSON.
    pub arguments: &'static str,
}

const fn unclear(when: &'static str, arguments: &'static str) -> Unclear {
    Unclear { when, arguments }
}

/// Numbers that become others where they are read as doubles or printed again.
pub const NUMBERS: &[Unclear] = &[
    unclear("{ arg: a, gte: 100 }", r#"{"a":99.99999999999999999999999}"#),
    unclear("{ arg: a, lt: 100 }", r#"{"a":99.99999999999999999999999}"#),
    unclear("{ arg: a, equals: 9007199254740992 }", r#"{"a":9007199254740993}"#),
    unclear("{ arg: a, equals: 0 }", r#"{"a":1e-400}"#),
    unclear("{ arg: a, not_in: [22] }", r#"{"a":22.0000000000000000001}"#),
    unclear("{ arg: a, matches: '^22$' }", r#"{"a":22.0}"#),
    unclear("{ arg: a, not_contains: '22' }", r#"{"a":2.2e1}"#),
    unclear("{ arg: $, gt: 5 }", r#"{"a":[{"b":1e400}]}"#),
];

/// Keys that only some programs take for the one that a rule names.
pub const KEYS: &[Unclear] = &[
    unclear("{ arg: command, contains: rm }", r#"{"Command":"rm -rf ~"}"#),
    unclear("{ arg: command, contains: rm }", r#"{"command":"ls","Command":"rm -rf ~"}"#),
    unclear("{ arg: command, contains: rm }", r#"{"COMMAND":"rm -rf ~","command":"ls"}"#),
    unclear("{ arg: options.path, equals: /etc }", r#"{"OPTIONS":{"Path":"/etc"}}"#),
    unclear("{ arg: 'items[*].name', equals: a }", r#"{"Items":[{"NAME":"a"}]}"#),
    unclear("{ arg: task, not_equals: a }", r#"{"ta\u017f\u212a":"a"}"#),
    unclear("{ arg: command, exists: false }", r#"{"Command":"ls"}"#),
    unclear("{ arg: command, contains: rm }", r#"{"__proto__":{"command":"rm -rf ~"}}"#),
];

/// The tool of the case at this place.
pub fn tool(place: usize) -> String {
    format!("t{place}")
}

/// A policy in which each case's condition denies its tool, and all else is allowed.
pub fn denying(cases: &[Unclear]) -> String {
    policy(cases, "allow", "deny")
}

/// A policy in which each case's condition allows its tool, and all else is denied.
pub fn allowing(cases: &[Unclear]) -> String {
    policy(cases, "deny", "allow, server: '*'")
}

fn policy(cases: &[Unclear], default: &str, verdict: &str) -> String {
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
