//! Every operator, by table.

use callgate_call::{Arguments, OriginFields, Surface};

use super::support::*;
use crate::{Moment, SpentLimits, Verdict, Weekday};

/// Whether a deny rule and an allow rule with this condition match: (deny, allow). If both agree,
/// the condition is true or false; if only deny matches, it is unknown.
fn both(condition: &str, input: &str) -> (bool, bool) {
    let deny = rules(&[&format!("id: r, tool: t, verdict: deny, when: {{ {condition} }}")]);
    let allow = policies(&policy_text(
        "test",
        "default: deny",
        &[&format!("id: r, tool: t, verdict: allow, when: {{ {condition} }}")],
    ));
    (deny.verdict("t", input) == Verdict::Deny, allow.verdict("t", input) == Verdict::Allow)
}

const TRUE: (bool, bool) = (true, true);
const FALSE: (bool, bool) = (false, false);
const UNKNOWN: (bool, bool) = (true, false);

fn check(table: &[(&str, &str, (bool, bool))]) {
    for (condition, input, expected) in table {
        assert_eq!(both(condition, input), *expected, "{condition} on {input}");
    }
}

#[test]
fn equals_and_in() {
    check(&[
        ("arg: a, equals: x", r#"{"a":"x"}"#, TRUE),
        ("arg: a, equals: x", r#"{"a":"X"}"#, FALSE),
        ("arg: a, equals: x", r#"{"a":"xy"}"#, FALSE),
        ("arg: a, equals: ''", r#"{"a":""}"#, TRUE),
        ("arg: a, equals: 1", r#"{"a":1}"#, TRUE),
        ("arg: a, equals: 1", r#"{"a":1.0}"#, TRUE),
        ("arg: a, equals: 1", r#"{"a":"1"}"#, TRUE),
        ("arg: a, equals: 1", r#"{"a":"one"}"#, FALSE),
        ("arg: a, equals: '1'", r#"{"a":1}"#, TRUE),
        ("arg: a, equals: '1'", r#"{"a":1.0}"#, UNKNOWN),
        ("arg: a, equals: 123456789012345678901", r#"{"a":123456789012345678901}"#, TRUE),
        ("arg: a, equals: 123456789012345678901", r#"{"a":123456789012345678902}"#, UNKNOWN),
        ("arg: a, equals: 123456789012345678901", r#"{"a":123456789012345778901}"#, FALSE),
        ("arg: a, equals: true", r#"{"a":true}"#, TRUE),
        ("arg: a, equals: no", r#"{"a":"no"}"#, TRUE),
        ("arg: a, equals: no", r#"{"a":false}"#, FALSE),
        ("arg: a, equals: x", r#"{"a":{"b":"x"}}"#, UNKNOWN),
        ("arg: a, not_equals: x", r#"{"a":"y"}"#, TRUE),
        ("arg: a, not_equals: x", r#"{"a":"x"}"#, FALSE),
        ("arg: a, not_equals: x", r#"{"a":{}}"#, UNKNOWN),
        ("arg: a, in: [x, 2]", r#"{"a":2.0}"#, TRUE),
        ("arg: a, in: [x, 2]", r#"{"a":"y"}"#, FALSE),
        ("arg: a, not_in: [x, 2]", r#"{"a":"y"}"#, TRUE),
        ("arg: a, not_in: [x, 2]", r#"{"a":"x"}"#, FALSE),
    ]);
}

#[test]
fn text_operators() {
    check(&[
        ("arg: a, contains: b", r#"{"a":"abc"}"#, TRUE),
        ("arg: a, contains: B", r#"{"a":"abc"}"#, FALSE),
        ("arg: a, contains: 23", r#"{"a":1234}"#, TRUE),
        ("arg: a, not_contains: b", r#"{"a":"abc"}"#, FALSE),
        ("arg: a, starts_with: ab", r#"{"a":"abc"}"#, TRUE),
        ("arg: a, starts_with: bc", r#"{"a":"abc"}"#, FALSE),
        ("arg: a, not_starts_with: bc", r#"{"a":"abc"}"#, TRUE),
        ("arg: a, matches: 'b+c'", r#"{"a":"xbbcx"}"#, TRUE),
        ("arg: a, matches: '^b+c$'", r#"{"a":"xbbcx"}"#, FALSE),
        ("arg: a, matches: 'B'", r#"{"a":"b"}"#, FALSE),
        ("arg: a, matches: 'tr.e'", r#"{"a":true}"#, TRUE),
        ("arg: a, not_matches: 'b+c'", r#"{"a":"xbbcx"}"#, FALSE),
        ("arg: a, glob: '/etc/*'", r#"{"a":"/etc/passwd"}"#, TRUE),
        ("arg: a, glob: '/etc/*'", r#"{"a":"/etc/ssl/key"}"#, FALSE),
        ("arg: a, glob: '/etc/**'", r#"{"a":"/etc/ssl/key"}"#, TRUE),
        ("arg: a, glob: '*.{pem,key}'", r#"{"a":"x.key"}"#, TRUE),
        ("arg: a, not_glob: '/etc/*'", r#"{"a":"/etc/ssl/key"}"#, TRUE),
        ("arg: a, matches: x", r#"{"a":{}}"#, UNKNOWN),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("arg: a, gt: 5", r#"{"a":6}"#, TRUE),
        ("arg: a, gt: 5", r#"{"a":5}"#, FALSE),
        ("arg: a, gte: 5", r#"{"a":5.0}"#, TRUE),
        ("arg: a, lt: -1", r#"{"a":-1.5}"#, TRUE),
        ("arg: a, lte: 5", r#"{"a":50e-1}"#, TRUE),
        ("arg: a, gt: 5", r#"{"a":"6"}"#, UNKNOWN),
        ("arg: a, gt: 5", r#"{"a":true}"#, UNKNOWN),
        ("arg: a, gt: 5", r#"{}"#, FALSE),
        ("arg: a, gt: 5", r#"{"a":[1,6]}"#, TRUE),
        ("arg: a, gt: 5", r#"{"a":[1,"x"]}"#, UNKNOWN),
    ]);
}

/// A reader that keeps every digit and a reader that converts to a double see different numbers.
#[test]
fn numbers_that_readers_round() {
    check(&[
        ("arg: a, gte: 100", r#"{"a":99.99999999999999999999999}"#, UNKNOWN),
        ("arg: a, lt: 100", r#"{"a":99.99999999999999999999999}"#, UNKNOWN),
        ("arg: a, gt: 100", r#"{"a":100.00000000000000000000001}"#, UNKNOWN),
        ("arg: a, lte: 100", r#"{"a":100.00000000000000000000001}"#, UNKNOWN),
        ("arg: a, gte: 100", r#"{"a":99.99}"#, FALSE),
        ("arg: a, gt: 9007199254740992", r#"{"a":9007199254740993}"#, UNKNOWN),
        ("arg: a, gt: 9007199254740992", r#"{"a":9007199254740994}"#, TRUE),
        ("arg: a, equals: 9007199254740993", r#"{"a":9007199254740992}"#, UNKNOWN),
        ("arg: a, equals: 9007199254740992", r#"{"a":9007199254740993}"#, UNKNOWN),
        ("arg: a, equals: 9007199254740993", r#"{"a":9007199254740993}"#, TRUE),
        ("arg: a, equals: 18446744073709551615", r#"{"a":18446744073709551616}"#, UNKNOWN),
        ("arg: a, equals: 0", r#"{"a":1e-400}"#, UNKNOWN),
        ("arg: a, equals: 0", r#"{"a":-0}"#, TRUE),
        ("arg: a, equals: 0", r#"{"a":-0.0}"#, TRUE),
        ("arg: a, not_equals: 0", r#"{"a":1e-400}"#, UNKNOWN),
        ("arg: a, in: [21, 22]", r#"{"a":22.0000000000000000001}"#, UNKNOWN),
        ("arg: a, in: [21, 22]", r#"{"a":[1,22.0000000000000000001]}"#, UNKNOWN),
        ("arg: a, in: [21, 22]", r#"{"a":[22.0000000000000000001,21]}"#, TRUE),
        ("arg: a, not_in: [21, 22]", r#"{"a":22.0000000000000000001}"#, UNKNOWN),
        ("arg: a, not_in: [21, 22]", r#"{"a":22.1}"#, TRUE),
        ("arg: $, gte: 100", r#"{"a":{"b":[99.99999999999999999999999]}}"#, UNKNOWN),
        ("arg: $, equals: 22", r#"{"a":{"b":[22.0000000000000000001]}}"#, UNKNOWN),
    ]);
}

#[test]
fn numbers_as_text_in_every_spelling() {
    check(&[
        ("arg: a, matches: '^22$'", r#"{"a":22}"#, TRUE),
        ("arg: a, matches: '^22$'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, matches: '^22$'", r#"{"a":2.2e1}"#, UNKNOWN),
        ("arg: a, matches: '^22$'", r#"{"a":22.0000000000000000001}"#, UNKNOWN),
        ("arg: a, matches: '^22'", r#"{"a":22.0}"#, TRUE),
        ("arg: a, matches: '^22$'", r#"{"a":23.0}"#, FALSE),
        ("arg: a, not_matches: '^22$'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, contains: '00'", r#"{"a":1e5}"#, UNKNOWN),
        ("arg: a, not_contains: '00'", r#"{"a":1e5}"#, UNKNOWN),
        ("arg: a, starts_with: '22'", r#"{"a":0.22e2}"#, UNKNOWN),
        ("arg: a, not_starts_with: '22'", r#"{"a":0.22e2}"#, UNKNOWN),
        ("arg: a, glob: '22'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, not_glob: '22'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, equals: '22'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, equals: '22.0'", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, in: ['21', '22']", r#"{"a":22.0}"#, UNKNOWN),
        ("arg: a, equals: '9007199254740992'", r#"{"a":9007199254740993}"#, UNKNOWN),
        ("arg: $, matches: '^22$'", r#"{"a":["x",{"b":22.0}]}"#, UNKNOWN),
        ("arg: a, equals: '0'", r#"{"a":-0}"#, UNKNOWN),
        ("arg: a, matches: '^22.5$'", r#"{"a":22.5}"#, TRUE),
    ]);
}

/// Too large for a double: some programs read infinity, and JavaScript writes it as `null`.
#[test]
fn numbers_without_a_double() {
    check(&[
        ("arg: a, gt: 5", r#"{"a":1e400}"#, UNKNOWN),
        ("arg: a, lt: 5", r#"{"a":-1e400}"#, UNKNOWN),
        ("arg: a, lt: 5", r#"{"a":1e400}"#, FALSE),
        ("arg: a, equals: 1e300", r#"{"a":1e400}"#, FALSE),
        ("arg: a, not_equals: 1e300", r#"{"a":1e400}"#, TRUE),
        ("arg: a, matches: Inf", r#"{"a":1e400}"#, UNKNOWN),
        ("arg: a, matches: '^1e400$'", r#"{"a":1e400}"#, UNKNOWN),
        ("arg: a, exists: true", r#"{"a":1e400}"#, UNKNOWN),
        ("arg: a, exists: false", r#"{"a":1e400}"#, UNKNOWN),
        ("arg: a, exists: true", r#"{"a":1e300}"#, TRUE),
    ]);
}

#[test]
fn an_unclear_number_is_explained() {
    let deny = rules(&["id: r, tool: t, verdict: deny, when: { arg: a, gte: 100 }"]);
    for (input, why) in [
        (
            r#"{"a":[1,99.99999999999999999999999]}"#,
            "`a`: 99.99999999999999999999999 is 100 to some programs",
        ),
        (r#"{"a":1e400}"#, "`a`: 1e400 is too large for some programs"),
        (r#"{"a":"100"}"#, "`a` has a type that `gte` cannot compare"),
    ] {
        assert_eq!(deny.ask(&call("t", input)).errors[0].why, why);
    }
}

/// The Python MCP SDK parses the text of an argument, unless the tool expects a string.
#[test]
fn lists_and_objects_inside_a_text() {
    check(&[
        ("arg: a, equals: rm", r#"{"a":"[\"rm\"]"}"#, UNKNOWN),
        ("arg: a, not_equals: rm", r#"{"a":"[\"rm\"]"}"#, UNKNOWN),
        ("arg: a, contains: rm", r#"{"a":"[\"\\u0072m\"]"}"#, UNKNOWN),
        ("arg: a, contains: rm", r#"{"a":"[\"rm -rf\"]"}"#, TRUE),
        ("arg: a, contains: rm", r#"{"a":" [ [ {\"x\":\"r\\u006d\"} ] ] "}"#, UNKNOWN),
        ("arg: a, contains: rm", r#"{"a":"{\"r\\u006d\":1}"}"#, UNKNOWN),
        ("arg: $, contains: rm", r#"{"b":"{\"r\\u006d\":1}"}"#, UNKNOWN),
        ("arg: $, glob: '/etc/*'", r#"{"b":"{\"x\":[\"/etc/passwd\"]}"}"#, UNKNOWN),
        ("arg: a, in: [80, 443]", r#"{"a":"[80, 22]"}"#, UNKNOWN),
        ("arg: a, in: [80, 443]", r#"{"a":"[22]"}"#, FALSE),
        ("arg: a, matches: '^x$'", r#"{"A":"[\"x\"]"}"#, UNKNOWN),
        ("arg: a, exists: true", r#"{"a":"null"}"#, UNKNOWN),
        ("arg: a, exists: false", r#"{"a":" null"}"#, UNKNOWN),
        ("arg: a, exists: true", r#"{"a":"[]"}"#, TRUE),
        // JSON that only some parsers accept.
        ("arg: a, equals: x", r#"{"a":"[\"y\",NaN]"}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"a":"{\"b\":1,\"b\":\"y\"}"}"#, UNKNOWN),
        ("arg: a, not_contains: x", r#"{"a":"[\"\\ud83d\"]"}"#, UNKNOWN),
    ]);
}

#[test]
fn other_texts_are_only_texts() {
    check(&[
        ("arg: a, contains: rm", r#"{"a":"[ -f x ] && rm x"}"#, TRUE),
        ("arg: a, contains: rm", r#"{"a":"[ -f x ] && [ -d y ]"}"#, FALSE),
        ("arg: a, contains: rm", r#"{"a":"{ ls; }"}"#, FALSE),
        ("arg: a, not_contains: rm", r#"{"a":"[x]"}"#, TRUE),
        ("arg: a, contains: secret", r#"{"a":"{\"name\":\"x\",\"list\":[{\"n\":1}]}"}"#, FALSE),
        ("arg: a, contains: secret", r#"{"a":"{\"name\":\"secret\"}"}"#, TRUE),
        ("arg: a, contains: rm", r#"{"a":"ls","b":"[\"r\\u006d\"]"}"#, FALSE),
        ("arg: 'a[*]', contains: rm", r#"{"a":["[\"r\\u006d\"]"]}"#, FALSE),
        ("arg: a, equals: 5", r#"{"a":"\"5\""}"#, FALSE),
    ]);
}

#[test]
fn what_is_written_to_a_file_is_a_text() {
    let deny = rules(&["id: r, verdict: deny, when: { arg: $, glob: '/etc/*' }"]);
    let input = r#"{"file_path":"x.json","content":"{\"x\":\"/etc/passwd\"}"}"#;
    for tool in ["Write", "write_file", "mcp__filesystem__write_file", "filesystem.write_file"] {
        assert_eq!(deny.verdict(tool, input), Verdict::Allow, "{tool}");
    }
    assert_eq!(deny.verdict("write_other", input), Verdict::Deny);
    let path = r#"{"file_path":"[\"/etc/passwd\"]","content":"x"}"#;
    assert_eq!(deny.verdict("Write", path), Verdict::Deny);
    let why = &deny.ask(&call("Write", path)).errors[0].why;
    assert_eq!(why, "`$`: some programs parse this text as JSON, others do not");
}

/// Go and .NET programs ignore the case of keys; most others do not.
#[test]
fn keys_in_other_case() {
    check(&[
        ("arg: a, equals: x", r#"{"A":"x"}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"A":"y"}"#, FALSE),
        ("arg: a, not_equals: x", r#"{"A":"x"}"#, UNKNOWN),
        ("arg: a, not_equals: x", r#"{"A":"y"}"#, TRUE),
        ("arg: a, equals: x", r#"{"a":"x","A":"y"}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"A":"x","a":"y"}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"A":"x","a":"x"}"#, TRUE),
        ("arg: a, equals: x", r#"{"A":null,"a":"x"}"#, UNKNOWN),
        ("arg: ab, equals: x", r#"{"ab":"y","Ab":"z","AB":"x","aB":"y"}"#, UNKNOWN),
        ("arg: A, equals: x", r#"{"a":"x"}"#, UNKNOWN),
        ("arg: a, exists: true", r#"{"A":"x"}"#, UNKNOWN),
        ("arg: a, exists: false", r#"{"A":"x"}"#, UNKNOWN),
        ("arg: a, exists: false", r#"{"A":null}"#, TRUE),
        ("arg: a, gt: 5", r#"{"a":1,"A":6}"#, UNKNOWN),
        ("arg: a.b, equals: x", r#"{"A":{"B":"x"}}"#, UNKNOWN),
        ("arg: a.b, equals: x", r#"{"a":{"B":"x"}}"#, UNKNOWN),
        ("arg: a.b, equals: x", r#"{"a":{"b":"x"},"A":{"c":1}}"#, UNKNOWN),
        ("arg: a.b, equals: x", r#"{"a":{"b":"y"},"A":{"b":"y"}}"#, FALSE),
        ("arg: 'a[*].b', equals: x", r#"{"a":[{"b":"y"},{"B":"x"}]}"#, UNKNOWN),
        ("arg: 'a[*].b', equals: x", r#"{"a":[{"b":"x"},{"B":"x"}]}"#, TRUE),
        ("arg: 'a[0].b', equals: x", r#"{"A":[{"b":"x"}]}"#, UNKNOWN),
        ("arg: task, equals: x", r#"{"ta\u017f\u212a":"x"}"#, UNKNOWN),
        ("arg: '$.a', equals: x", r#"{"A":"x"}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"ab":"x"}"#, FALSE),
    ]);
    let deny = rules(&["id: r, tool: t, verdict: deny, when: { arg: a, equals: x }"]);
    let judgement = deny.ask(&call("t", r#"{"A":"x"}"#));
    let why = "`a`: some programs read the key `A` there, others do not";
    assert_eq!(judgement.errors[0].why, why);
    let matched = judgement.details.matched.unwrap();
    assert_eq!((matched.path.as_str(), matched.value.as_str()), ("a", "x"));
}

/// JavaScript that copies members with `Object.assign` or in a loop sets the prototype.
#[test]
fn members_of_a_prototype() {
    check(&[
        ("arg: a, equals: x", r#"{"__proto__":{"a":"x"}}"#, UNKNOWN),
        ("arg: a, not_equals: x", r#"{"__proto__":{"a":"x"}}"#, UNKNOWN),
        ("arg: a, exists: false", r#"{"__proto__":{"a":"x"}}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"__proto__":{"a":"y"}}"#, FALSE),
        ("arg: a, equals: x", r#"{"__proto__":{"a":"x"},"a":"y"}"#, FALSE),
        ("arg: a.b, equals: x", r#"{"a":{"__proto__":{"b":"x"}}}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"__proto__":"x"}"#, FALSE),
    ]);
}

/// Programs that validate with pydantic, or use `Number(text)`, treat these as equal.
#[test]
fn values_that_lax_readers_take_for_another() {
    check(&[
        ("arg: a, equals: 5", r#"{"a":"5"}"#, TRUE),
        ("arg: a, equals: 5", r#"{"a":"05"}"#, UNKNOWN),
        ("arg: a, equals: 5", r#"{"a":" 5"}"#, UNKNOWN),
        ("arg: a, equals: 5", r#"{"a":"5.0"}"#, UNKNOWN),
        ("arg: a, equals: 5", r#"{"a":"5.000000000000000000001"}"#, UNKNOWN),
        ("arg: a, equals: 5", r#"{"a":["6","0x5"]}"#, UNKNOWN),
        ("arg: a, not_equals: 5", r#"{"a":"05"}"#, UNKNOWN),
        ("arg: a, in: [5, x]", r#"{"a":"+5"}"#, UNKNOWN),
        ("arg: a, not_in: [5, x]", r#"{"a":"+5"}"#, UNKNOWN),
        ("arg: a, equals: 5", r#"{"a":"50"}"#, FALSE),
        ("arg: a, equals: 5", r#"{"a":"5 apples"}"#, FALSE),
        ("arg: a, equals: '5'", r#"{"a":"05"}"#, FALSE),
        ("arg: a, equals: 1", r#"{"a":true}"#, UNKNOWN),
        ("arg: a, equals: 2", r#"{"a":true}"#, FALSE),
        ("arg: a, equals: true", r#"{"a":"true"}"#, TRUE),
        ("arg: a, equals: true", r#"{"a":"Yes"}"#, UNKNOWN),
        ("arg: a, equals: true", r#"{"a":1.0}"#, UNKNOWN),
        ("arg: a, equals: true", r#"{"a":"1"}"#, UNKNOWN),
        ("arg: a, equals: false", r#"{"a":"off"}"#, UNKNOWN),
        ("arg: a, not_equals: false", r#"{"a":0}"#, UNKNOWN),
        ("arg: a, equals: true", r#"{"a":false}"#, FALSE),
        ("arg: a, equals: true", r#"{"a":2}"#, FALSE),
        ("arg: $, equals: true", r#"{"x":1.5,"y":2}"#, FALSE),
    ]);
    let deny = rules(&["id: r, tool: t, verdict: deny, when: { arg: a, equals: 5 }"]);
    let why = "`a`: some programs read `05` as a value that the rule names";
    assert_eq!(deny.ask(&call("t", r#"{"a":"05"}"#)).errors[0].why, why);
}

#[test]
fn missing_and_null() {
    check(&[
        ("arg: a, equals: x", "{}", FALSE),
        ("arg: a, equals: x", r#"{"a":null}"#, FALSE),
        ("arg: a, not_equals: x", "{}", TRUE),
        ("arg: a, not_matches: x", r#"{"a":null}"#, TRUE),
        ("arg: a, exists: true", "{}", FALSE),
        ("arg: a, exists: true", r#"{"a":null}"#, FALSE),
        ("arg: a, exists: true", r#"{"a":{}}"#, TRUE),
        ("arg: a, exists: false", "{}", TRUE),
        ("arg: a, exists: false", "", TRUE),
        ("arg: a, exists: false", r#"{"a":0}"#, FALSE),
        ("arg: a.b, exists: false", r#"{"a":"text"}"#, UNKNOWN),
        ("arg: a.b, equals: x", r#"{"a":"text"}"#, UNKNOWN),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("arg: a, equals: x", r#"{"a":["y","x"]}"#, TRUE),
        ("arg: a, equals: x", r#"{"a":["y",["x"]]}"#, TRUE),
        ("arg: a, equals: x", r#"{"a":[]}"#, FALSE),
        ("arg: a, equals: x", r#"{"a":["y",{}]}"#, UNKNOWN),
        ("arg: a, equals: x", r#"{"a":["x",{}]}"#, TRUE),
        ("arg: a, not_equals: x", r#"{"a":["y","x"]}"#, FALSE),
        ("arg: a, not_equals: x", r#"{"a":["y","z"]}"#, TRUE),
        ("arg: 'a[*].n', equals: x", r#"{"a":[{"n":"y"},{"n":"x"}]}"#, TRUE),
        ("arg: 'a[0].n', equals: x", r#"{"a":[{"n":"y"},{"n":"x"}]}"#, FALSE),
        ("arg: 'a[*].n', not_equals: x", r#"{"a":[{"n":"y"},{"n":"x"}]}"#, FALSE),
        ("arg: 'a[*].n', equals: x", r#"{"a":"x"}"#, UNKNOWN),
    ]);
}

#[test]
fn the_whole_input() {
    check(&[
        ("arg: $, contains: secret", r#"{"a":{"b":["a secret"]}}"#, TRUE),
        ("arg: $, contains: secret", r#"{"a":"\u0073ecret"}"#, TRUE),
        ("arg: $, not_contains: secret", r#"{"a":"b"}"#, TRUE),
        ("arg: $, contains: .env", r#"{"files":{"/srv/app/.env":"X=1"}}"#, TRUE),
        ("arg: $, contains: .env", r#"{"a":[[{"b":{"/srv/\u002eenv":null}}]]}"#, TRUE),
        ("arg: $, not_contains: .env", r#"{"files":{"/srv/app/.env":"X=1"}}"#, FALSE),
        ("arg: $, equals: a", r#"{"a":1}"#, TRUE),
        ("arg: $, in: [a, b]", r#"{"x":{"b":1}}"#, TRUE),
        ("arg: $, not_in: [a, b]", r#"{"x":{"c":1}}"#, TRUE),
        ("arg: $, starts_with: /etc", r#"{"/etc/passwd":{}}"#, TRUE),
        ("arg: $, matches: '^/etc'", r#"{"/etc/passwd":[]}"#, TRUE),
        ("arg: $, glob: '/etc/*'", r#"{"/etc/passwd":null}"#, TRUE),
        // A key is not a number, and not of the wrong type either.
        ("arg: $, gt: 5", r#"{"a":6}"#, TRUE),
        ("arg: $, gt: 5", r#"{"a":4}"#, FALSE),
        ("arg: files, contains: .env", r#"{"files":{"/srv/app/.env":"X=1"}}"#, UNKNOWN),
    ]);
    let key = rules(&["id: r, verdict: deny, when: { arg: $, contains: .env }"]);
    let matched = key.ask(&call("t", r#"{"files":{"/srv/.env":"X"}}"#)).details.matched.unwrap();
    assert_eq!((matched.path.as_str(), matched.value.as_str()), ("$", "/srv/.env"));
    let deny = rules(&["id: r, verdict: deny, when: { arg: $, contains: '*** Delete' }"]);
    let mut patch = call("apply_patch", "");
    patch.arguments = Arguments::text("*** Begin\n*** Delete File: a");
    assert_eq!(deny.ask(&patch).verdict, Verdict::Deny);
    let named = rules(&["id: r, verdict: deny, when: { arg: command, contains: rm }"]);
    assert_eq!(named.ask(&patch).verdict, Verdict::Allow, "a custom tool has no named argument");
}

#[test]
fn any_all_not_and_unknown() {
    const T: &str = "{ arg: t, exists: true }";
    const F: &str = "{ arg: f, exists: true }";
    const U: &str = "{ arg: t, gt: 1 }";
    let table = [
        (format!("any: [{T}, {U}]"), TRUE),
        (format!("any: [{F}, {U}]"), UNKNOWN),
        (format!("all: [{T}, {U}]"), UNKNOWN),
        (format!("all: [{F}, {U}]"), FALSE),
        (format!("not: {U}"), UNKNOWN),
        (format!("not: {F}"), TRUE),
        (format!("not: {{ all: [{T}, {{ not: {U} }}] }}"), UNKNOWN),
        (format!("all: [{T}, {{ any: [{F}, {{ not: {F} }}] }}]"), TRUE),
    ];
    for (condition, expected) in table {
        assert_eq!(both(&condition, r#"{"t":"text"}"#), expected, "{condition}");
    }
}

#[test]
fn unreadable_arguments_are_unknown_to_every_operator() {
    for input in [r#"{"a":1,"a":2}"#, "[1]", r#"{"a":"#, r#"{"a":1} {}"#] {
        for condition in ["arg: a, equals: zzz", "arg: a, not_equals: zzz", "arg: b, exists: false"]
        {
            assert_eq!(both(condition, input), UNKNOWN, "{condition} on {input}");
        }
    }
    let deny = rules(&["id: r, tool: t, verdict: deny, when: { arg: a, equals: x }"]);
    let judgement = deny.ask(&call("t", "[1]"));
    assert!(judgement.deciding[0].unknown);
    assert_eq!(judgement.errors[0].why, "the arguments are JSON, but not an object");
    let mut large = call("t", "");
    large.arguments = Arguments::oversize("{");
    assert_eq!(deny.ask(&large).verdict, Verdict::Deny);
}

#[test]
fn the_long_form_means_the_same() {
    check(&[
        ("param_path: a.b, operator: not_equals, value: x", r#"{"a":{"b":"y"}}"#, TRUE),
        ("param_path: a.b, operator: gt, value: 3", r#"{"a":{"b":4}}"#, TRUE),
    ]);
}

#[test]
fn context() {
    let table = [
        ("arg: context.cwd, starts_with: /srv", true),
        ("arg: context.model, glob: 'claude-*'", true),
        ("arg: context.provider, equals: anthropic", true),
        ("arg: context.hour, gte: 22", true),
        ("arg: context.weekday, in: [saturday, sunday]", true),
        ("arg: context.weekday, equals: monday", false),
        ("arg: context.session, equals: s1", true),
        ("arg: context.session, exists: false", false),
    ];
    let mut facts = OriginFields::at(Surface::Hook);
    facts.cwd = Some("/srv/project".into());
    facts.model = Some("claude-x".into());
    facts.provider = Some("anthropic".into());
    facts.session = Some("s1".into());
    let call = call_of(facts, "t", "");
    let night = Moment::on(Weekday::Sunday, 23);
    for (condition, expected) in table {
        let deny = rules(&[&format!("id: r, verdict: deny, when: {{ {condition} }}")]);
        let judgement = deny.judge(&call, &night, &SpentLimits::none());
        assert_eq!(judgement.verdict == Verdict::Deny, expected, "{condition}");
    }
}

#[test]
fn the_matched_argument_is_reported() {
    let deny = rules(&[
        "id: r, verdict: deny, when: { any: [{ arg: a, equals: x }, { arg: 'l[*]', matches: 'b' }] }",
    ]);
    let judgement = deny.ask(&call("t", r#"{"a":"y","l":["a","b"]}"#));
    let matched = judgement.details.matched.unwrap();
    assert_eq!((matched.path.as_str(), matched.value.as_str()), ("l[*]", "b"));
    let long = format!(r#"{{"a":"y","l":["{}"]}}"#, "b".repeat(500));
    let matched = deny.ask(&call("t", &long)).details.matched.unwrap();
    assert_eq!(matched.value.chars().count(), 120);
}
