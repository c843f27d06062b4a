//! Broken rule files, and the exact messages for them.

use callgate_call::Surface;
use callgate_effects::Catalogue;

use super::support::*;
use crate::Policies;

fn shown(text: &str) -> String {
    let source = source(text);
    let shown: Vec<_> = problems(text)
        .iter()
        .map(|problem| callgate_document::render(problem, &source, false))
        .collect();
    shown.join("\n\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = shown(text);
    assert_eq!(shown, expected.trim_matches('\n'), "\n{shown}");
}

#[test]
fn an_open_bracket() {
    check(
        r#"policy: x
rules: ["#,
        r#"
error: cannot read this file: unclosed bracket '['
 --> test.yaml:2:8
  |
2 | rules: [
  |        ^
"#,
    );
}

#[test]
fn an_open_quote() {
    check(
        r#"policy: x
rules:
  - id: a
    tool: "Bash
    verdict: deny"#,
        r#"
error: cannot read this file: invalid indentation in multiline quoted scalar
 --> test.yaml:5:5
  |
5 |     verdict: deny
  |     ^
"#,
    );
}

#[test]
fn a_key_twice() {
    check(
        r#"policy: x
policy: y"#,
        r#"
error: cannot read this file: duplicate mapping key: policy
 --> test.yaml:2:1
  |
2 | policy: y
  | ^^^^^^
"#,
    );
}

#[test]
fn not_a_mapping() {
    check(
        r#"- a
- b"#,
        r#"
error: a policy file must be a mapping, not a list
 --> test.yaml:1:1
  |
1 | - a
  | ^
"#,
    );
}

#[test]
fn an_unknown_key() {
    check(
        r#"policy: x
rules:
  - id: a
    tol: Bash
    verdict: deny"#,
        r#"
error: unknown key `tol`
 --> test.yaml:4:5
  |
4 |     tol: Bash
  |     ^^^
  |
  = hint: did you mean `tool`?
"#,
    );
}

#[test]
fn verdicts_unknown_and_for_later() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: denny
  - id: b
    verdict: pending_approval
    ask: { timeout: soon, fallback: maybe }
    review: { guidance: careful }
  - id: c
    verdict: cap"#,
        r#"
error: unknown verdict `denny`
 --> test.yaml:4:14
  |
4 |     verdict: denny
  |              ^^^^^
  |
  = hint: did you mean `deny`?

error: `soon` is not a valid duration
 --> test.yaml:7:21
  |
7 |     ask: { timeout: soon, fallback: maybe }
  |                     ^^^^
  |
  = hint: write a number and a unit, from `1s` to `24h`, like `90s`, `10m` or `1h`

error: unknown fallback `maybe`
 --> test.yaml:7:37
  |
7 |     ask: { timeout: soon, fallback: maybe }
  |                                     ^^^^^
  |
  = hint: one of: deny, allow

error: `review` needs `verdict: review`, and this rule has `verdict: ask`
 --> test.yaml:8:5
  |
8 |     review: { guidance: careful }
  |     ^^^^^^
  |
  = hint: write `verdict: review`, or leave `review` out

error: `cap` is not available in this version
  --> test.yaml:10:14
   |
10 |     verdict: cap
   |              ^^^
   |
   = hint: remove it: as long as it is here, no part of this file takes effect
"#,
    );
}

#[test]
fn regular_expressions() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { arg: command, matches: '(?=x)' }
  - id: b
    verdict: deny
    when: { arg: command, matches: '(\w{200}){200}' }"#,
        r#"
error: cannot read this regular expression
 --> test.yaml:5:36
  |
5 |     when: { arg: command, matches: '(?=x)' }
  |                                    ^^^^^^^ look-around, including look-ahead and look-behind, is not supported
  |
  = hint: look-around and back-references are not supported, so that matching takes linear time

error: this regular expression is too large
 --> test.yaml:8:36
  |
8 |     when: { arg: command, matches: '(\w{200}){200}' }
  |                                    ^^^^^^^^^^^^^^^^
  |
  = hint: use fewer or smaller repetitions, `(?-u)` classes, or several rules
"#,
    );
}

#[test]
fn a_bad_glob() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { arg: path, glob: 'a{b' }"#,
        r#"
error: cannot read this glob
 --> test.yaml:5:30
  |
5 |     when: { arg: path, glob: 'a{b' }
  |                              ^^^^^ unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
  |
  = hint: `*` stops at `/`, `**` does not; `{a,b}` matches either text, `[ab]` either character
"#,
    );
}

#[test]
fn an_id_twice() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
  - id: a
    verdict: allow"#,
        r#"
error: duplicate rule id `a`
 --> test.yaml:5:9
  |
5 |   - id: a
  |         ^ the first is on line 3
  |
  = hint: notices and records name the id, so it must be unique in the file
"#,
    );
}

#[test]
fn an_unknown_kind() {
    check(
        r#"policy: x
rules:
  - id: a
    tool: [Bash, '@shel']
    verdict: deny"#,
        r#"
error: unknown kind `@shel`
 --> test.yaml:4:18
  |
4 |     tool: [Bash, '@shel']
  |                  ^^^^^^^
  |
  = hint: did you mean `@shell`?
"#,
    );
}

#[test]
fn conditions_on_earlier_calls() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - after: { reads: '@secrets' }
        - after: { arg: command, contains: x, within: 5m }
        - after: { runs: curl, within: 5 days }
        - denied: { within: 10m }
        - denied: { times: 0, within: 10m, by: rule }"#,
        r#"
error: `after` needs `within`
 --> test.yaml:7:20
  |
7 |         - after: { reads: '@secrets' }
  |                    ^^^^^
  |
  = hint: write how far to look back, like `within: 5m`

error: `after` needs a condition on effects
 --> test.yaml:8:18
  |
8 |         - after: { arg: command, contains: x, within: 5m }
  |                  ^
  |
  = hint: write what the earlier call did, like `after: { reads: "@secrets", within: 5m }`

error: `5 days` is not a valid duration
 --> test.yaml:9:40
  |
9 |         - after: { runs: curl, within: 5 days }
  |                                        ^^^^^^
  |
  = hint: write a number and a unit, from `1s` to `24h`, like `90s`, `10m` or `1h`

error: `denied` needs `times`
  --> test.yaml:10:19
   |
10 |         - denied: { within: 10m }
   |                   ^
   |
   = hint: write `times: 3`

error: `times` must be a whole number from 1 to 1000
  --> test.yaml:11:28
   |
11 |         - denied: { times: 0, within: 10m, by: rule }
   |                            ^

error: unknown key `by`
  --> test.yaml:11:44
   |
11 |         - denied: { times: 0, within: 10m, by: rule }
   |                                            ^^
   |
   = hint: known here: times, within
"#,
    );
}

#[test]
fn conditions_on_origins_and_an_unknown_operator() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - origin: { arg: to }
        - arg: command
          contain: x"#,
        r#"
error: `origin` needs `only`
 --> test.yaml:7:19
  |
7 |         - origin: { arg: to }
  |                   ^
  |
  = hint: write `only: tool_result`

error: unknown key `contain`
 --> test.yaml:9:11
  |
9 |           contain: x
  |           ^^^^^^^
  |
  = hint: did you mean `contains`?
"#,
    );
}

#[test]
fn operators_none_or_two() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { arg: a, equals: 1, contains: b }
  - id: b
    verdict: deny
    when: { arg: a }
  - id: c
    verdict: deny
    when: { arg: a, equals: 1, not: { arg: b, exists: true } }"#,
        r#"
error: a second operator in one condition: `contains`
 --> test.yaml:5:32
  |
5 |     when: { arg: a, equals: 1, contains: b }
  |                                ^^^^^^^^
  |
  = hint: a condition takes one operator: write two conditions, in a list under `all` or `any`

error: this argument has no operator
 --> test.yaml:8:13
  |
8 |     when: { arg: a }
  |             ^^^
  |
  = hint: add one of: equals, matches, contains, starts_with, in, glob, exists, gt, …

error: `not` and `arg` cannot be in the same condition
  --> test.yaml:11:13
   |
11 |     when: { arg: a, equals: 1, not: { arg: b, exists: true } }
   |             ^^^
   |
   = hint: put them into a list under `all` or `any`
"#,
    );
}

#[test]
fn the_long_form() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { param_path: a, operator: equal, value: 1 }
  - id: b
    verdict: deny
    when: { param_path: a, value: 1 }"#,
        r#"
error: unknown operator `equal`
 --> test.yaml:5:38
  |
5 |     when: { param_path: a, operator: equal, value: 1 }
  |                                      ^^^^^
  |
  = hint: did you mean `equals`?

error: this condition has no `operator`
 --> test.yaml:8:13
  |
8 |     when: { param_path: a, value: 1 }
  |             ^^^^^^^^^^
  |
  = hint: the long form is `{param_path, operator, value}`
"#,
    );
}

#[test]
fn paths() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { arg: 'a[', equals: 1 }
  - id: b
    verdict: deny
    when: { arg: context.hours, gt: late }"#,
        r#"
error: cannot read the path `a[`
 --> test.yaml:5:18
  |
5 |     when: { arg: 'a[', equals: 1 }
  |                  ^^^^ a `[` is not closed
  |
  = hint: like `options.path`, `items[*].name` or `$`

error: cannot read the path `context.hours`
 --> test.yaml:8:18
  |
8 |     when: { arg: context.hours, gt: late }
  |                  ^^^^^^^^^^^^^ unknown context field `hours`; for an argument write `$.context.hours`
  |
  = hint: did you mean `hour`?

error: the value of `gt` must be a number, not text
 --> test.yaml:8:37
  |
8 |     when: { arg: context.hours, gt: late }
  |                                     ^^^^
"#,
    );
}

#[test]
fn an_empty_condition_is_not_always() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: allow
    when:"#,
        r#"
error: a condition must be a mapping, not null
 --> test.yaml:5:9
  |
5 |     when:
  |         ^
"#,
    );
}

#[test]
fn fields_of_a_rule() {
    check(
        r#"rules:
  - verdict: deny
    priority: high
    surface: [respons]
    who: { teem: payments }"#,
        r#"
error: the policy has no name
 --> test.yaml:1:1
  |
1 | rules:
  | ^^^^^
  |
  = hint: begin with `policy: some-name`

error: this rule has no `id`
 --> test.yaml:2:5
  |
2 |   - verdict: deny
  |     ^^^^^^^
  |
  = hint: add `id: some-name`

error: `priority` must be a whole number from -1000000 to 1000000
 --> test.yaml:3:15
  |
3 |     priority: high
  |               ^^^^

error: unknown surface `respons`
 --> test.yaml:4:15
  |
4 |     surface: [respons]
  |               ^^^^^^^
  |
  = hint: did you mean `response`?

error: unknown key `teem`
 --> test.yaml:5:12
  |
5 |     who: { teem: payments }
  |            ^^^^
  |
  = hint: did you mean `team`?
"#,
    );
}

#[test]
fn fields_of_a_policy() {
    check(
        r#"policy: x
mode: dry
default: ask
defaults: { egres: deny }
rules: 3"#,
        r#"
error: unknown mode `dry`
 --> test.yaml:2:7
  |
2 | mode: dry
  |       ^^^
  |
  = hint: one of: enforce, shadow

error: unknown default `ask`
 --> test.yaml:3:10
  |
3 | default: ask
  |          ^^^
  |
  = hint: one of: allow, audit, deny

error: unknown key `egres`
 --> test.yaml:4:13
  |
4 | defaults: { egres: deny }
  |             ^^^^^
  |
  = hint: did you mean `egress`?

error: `rules` must be a list, not a number
 --> test.yaml:5:8
  |
5 | rules: 3
  |        ^
"#,
    );
}

#[test]
fn limits() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    limit: { calls: 0, per: fortnight, by: [sesion] }"#,
        r#"
error: `calls` must be a whole number from 1 to 1000000000
 --> test.yaml:5:21
  |
5 |     limit: { calls: 0, per: fortnight, by: [sesion] }
  |                     ^

error: unknown period `fortnight`
 --> test.yaml:5:29
  |
5 |     limit: { calls: 0, per: fortnight, by: [sesion] }
  |                             ^^^^^^^^^
  |
  = hint: one of: second, minute, hour, day

error: unknown field `sesion`
 --> test.yaml:5:45
  |
5 |     limit: { calls: 0, per: fortnight, by: [sesion] }
  |                                             ^^^^^^
  |
  = hint: did you mean `session`?
"#,
    );
}

#[test]
fn values_and_combinations() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when: { any: [{ arg: a, equals: null }, { all: [] }, { not: { arg: b, in: x } }] }"#,
        r#"
error: the value of `equals` is null
 --> test.yaml:5:37
  |
5 |     when: { any: [{ arg: a, equals: null }, { all: [] }, { not: { arg: b, in: x } }] }
  |                                     ^^^^
  |
  = hint: to ask whether an argument is missing, write `exists: false`

error: `all` has no conditions
 --> test.yaml:5:52
  |
5 |     when: { any: [{ arg: a, equals: null }, { all: [] }, { not: { arg: b, in: x } }] }
  |                                                    ^

error: the value of `in` must be a list, not text
 --> test.yaml:5:79
  |
5 |     when: { any: [{ arg: a, equals: null }, { all: [] }, { not: { arg: b, in: x } }] }
  |                                                                               ^
"#,
    );
}

#[test]
fn examples_that_do_not_hold() {
    check(
        r#"policy: x
rules:
  - id: a
    tool: Bash
    verdict: deny
    when: { arg: command, contains: rm }
    examples:
      match:
        - { tool: Bash, input: { command: ls } }
        - { tool: Read, input: { command: rm } }
      no_match:
        - { tool: Bash, input: { command: rm x } }
        - { tool: Bash, input: { command: { nested: x } } }"#,
        r#"
error: rule `a` does not match this example
 --> test.yaml:9:13
  |
9 |         - { tool: Bash, input: { command: ls } }
  |             ^^^^
  |
  = hint: its `when`, `agent` or `who` does not match

error: rule `a` does not match this example
  --> test.yaml:10:13
   |
10 |         - { tool: Read, input: { command: rm } }
   |             ^^^^
   |
   = hint: its tool or server is a different one

error: rule `a` matches this example, which it must not
  --> test.yaml:12:13
   |
12 |         - { tool: Bash, input: { command: rm x } }
   |             ^^^^
   |
   = hint: narrow the rule, or move the example to `match`

error: rule `a` matches this example, which it must not
  --> test.yaml:13:13
   |
13 |         - { tool: Bash, input: { command: { nested: x } } }
   |             ^^^^
   |
   = hint: a condition is unknown here, which counts as a match in a rule that restricts
"#,
    );
}

#[test]
fn json() {
    check(
        r#"{"policy": "x", "rules": [{"id": "a", "verdict": "deny", "tool": []}]}"#,
        r#"
error: `tool` is an empty list, which nothing can match
 --> test.yaml:1:66
  |
1 | {"policy": "x", "rules": [{"id": "a", "verdict": "deny", "tool": []}]}
  |                                                                  ^
"#,
    );
}

/// Compiling any text returns a result, and every problem can be rendered.
fn survives(text: &str) {
    let source = source(text);
    match Policies::compile(std::slice::from_ref(&source), &Catalogue::builtin()) {
        Ok((_, warnings)) => {
            warnings.iter().for_each(|warning| assert!(!warning.render(&source, true).is_empty()));
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(
                    callgate_document::render(&problem, &source, true).contains(&problem.source)
                );
            }
        }
    }
}

#[test]
fn no_cut_breaks_the_reader() {
    let text = crate::starter().text;
    for cut in (0..text.len()).step_by(397).filter(|cut| text.is_char_boundary(*cut)) {
        survives(&text[..cut]);
        survives(&text[cut..]);
        survives(&format!("{}\u{e9}\t{}", &text[..cut], &text[cut..]));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "(policy|rules|when|id|arg|any|- |: |\\[|\\]|\\{|\\}|\n|  |é|&a |\\*a|'|\"|@shell|deny|\\PC){0,40}") {
        survives(&text);
    }
}

#[test]
fn two_policies_of_the_same_name() {
    let files = [source("policy: x\nrules: []\n"), source("policy: x\nrules: []\n")];
    let problems = Policies::compile(&files, &Catalogue::builtin()).unwrap_err();
    assert_eq!(problems[0].message, "duplicate policy name `x`");
}

#[test]
fn every_file_is_read_before_giving_up() {
    let files = [source("policy: x\nrule: []\n"), source("policy: y\nrule: []\n")];
    let problems = Policies::compile(&files, &Catalogue::builtin()).unwrap_err();
    assert_eq!(problems.len(), 2);
}

#[test]
fn rules_that_are_probably_mistakes_are_reported() {
    let text = policy_text(
        "x",
        "",
        &[
            "id: first, tool: Bash, verdict: deny, priority: 50",
            "id: again, tool: bash, verdict: deny",
            "id: softer, tool: bash, verdict: allow",
            "id: exception, tool: bash, verdict: allow, priority: 10",
            "id: inbound, surface: inbound, verdict: deny, when: { arg: a, exists: true }",
            "id: ambiguous, tool: 'mcp__a__b__*', verdict: allow",
            "id: hook-only, surface: hook, tool: x, verdict: deny",
        ],
    );
    let served = [Surface::Response, Surface::Inbound];
    let (_, warnings) =
        Policies::compile_for(&[source(&text)], &Catalogue::builtin(), &served).unwrap();
    let messages: Vec<_> = warnings.iter().map(|warning| warning.0.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "rule `again` never decides: `first` has the same conditions",
            "rule `softer` never decides: `first` has the same conditions",
            "rule `inbound` can never match: tools in a request have no arguments",
            "rule `ambiguous` can never match: its tool names several servers",
            "rule `hook-only` has no effect: nothing serves its surface (hook)",
        ]
    );
    let (_, quiet) = compile(&[&policy_text("x", "", &["id: a, surface: hook, verdict: deny"])]);
    assert_eq!(quiet, []);
}

/// A name may be an agent's own tool or a server's tool. Then a rule against the server applies.
#[test]
fn a_rule_against_a_server_that_takes_back_what_another_allows() {
    let warnings = |rules: &[&str]| -> Vec<String> {
        let (policies, warnings) = compile(&[&policy_text("x", "default: deny", rules)]);
        let taken = policies.verdict("git_status", "") == crate::Verdict::Deny;
        assert_eq!(taken, !warnings.is_empty(), "{rules:?}");
        warnings.into_iter().map(|warning| warning.0.message).collect()
    };
    let deny = "id: d, server: git, verdict: deny";
    assert_eq!(
        warnings(&["id: a, tool: 'git_*', verdict: allow", deny]),
        ["rule `d` also denies `git_*`, which `a` allows: it may be a tool of that server"]
    );
    assert_eq!(
        warnings(&["id: a, tool: [git_status, git-log], verdict: allow", deny]),
        ["rule `d` also denies `git-log`, which `a` allows: it may be a tool of that server"]
    );
    assert_eq!(warnings(&["id: a, tool: git_status, verdict: allow, priority: 1", deny]), [""; 0]);
    assert_eq!(warnings(&["id: a, tool: 'git_*', verdict: allow, priority: 1", deny]).len(), 1);
    let other = "id: d, server: hub, verdict: deny";
    assert_eq!(warnings(&["id: a, tool: git_status, verdict: allow", other]), [""; 0]);
}

#[test]
fn a_finding_of_an_unknown_class() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - finding: { class: [directve], severity: hihg, sort: x }
        - finding: all
        - { finding: any, arg: a }"#,
        r#"
error: unknown class of findings `directve`
 --> test.yaml:7:30
  |
7 |         - finding: { class: [directve], severity: hihg, sort: x }
  |                              ^^^^^^^^
  |
  = hint: did you mean `directive`?

error: unknown severity `hihg`
 --> test.yaml:7:51
  |
7 |         - finding: { class: [directve], severity: hihg, sort: x }
  |                                                   ^^^^
  |
  = hint: did you mean `high`?

error: unknown key `sort`
 --> test.yaml:7:57
  |
7 |         - finding: { class: [directve], severity: hihg, sort: x }
  |                                                         ^^^^
  |
  = hint: known here: class, severity

error: `finding` cannot be `all`
 --> test.yaml:8:20
  |
8 |         - finding: all
  |                    ^^^
  |
  = hint: write `finding: any`, or `finding: { class: [directive], severity: high }`

error: `arg` and `finding` cannot be in the same condition
 --> test.yaml:9:13
  |
9 |         - { finding: any, arg: a }
  |             ^^^^^^^
  |
  = hint: put them into a list under `all` or `any`
"#,
    );
}

#[test]
fn effects_with_wrong_values() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - reads: '@secret'
        - writes: { paths: [a], not: [b] }
        - deletes: { paths: [a], how: all }
        - connects: https://example.com/x
        - connects: 10.0.0.0/x
        - runs: 'cat x | sh'
        - sets: PATH
        - sets: '@codes'
        - marked: [forcepush]
        - opaque: false
        - sql: 'drop table'
        - escalates: false
        - reads: 'src/[ab]'"#,
        r#"
error: unknown set of paths `@secret`
 --> test.yaml:7:18
  |
7 |         - reads: '@secret'
  |                  ^^^^^^^^^
  |
  = hint: did you mean `@secrets`?

error: `writes` has both `paths` and `not`
 --> test.yaml:8:19
  |
8 |         - writes: { paths: [a], not: [b] }
  |                   ^
  |
  = hint: leave one out; an item that begins with `!` is an exception to the list

error: unknown way to delete `all`
 --> test.yaml:9:39
  |
9 |         - deletes: { paths: [a], how: all }
  |                                       ^^^
  |
  = hint: one of: one, tree

error: `https://example.com/x` is not a host
  --> test.yaml:10:21
   |
10 |         - connects: https://example.com/x
   |                     ^^^^^^^^^^^^^^^^^^^^^
   |
   = hint: write the host alone, like `*.example.com`, `10.0.0.0/8` or `*:22`

error: `10.0.0.0/x` is not a host
  --> test.yaml:11:21
   |
11 |         - connects: 10.0.0.0/x
   |                     ^^^^^^^^^^
   |
   = hint: a network is an address and a number of bits, like `10.0.0.0/8`

error: `cat x | sh` is not one command
  --> test.yaml:12:17
   |
12 |         - runs: 'cat x | sh'
   |                 ^^^^^^^^^^^^
   |
   = hint: write a program and its sub-command, like `git push`; each command of a pipe is judged on its own

error: `PATH` does not say what kind of setting it is
  --> test.yaml:13:17
   |
13 |         - sets: PATH
   |                 ^^^^
   |
   = hint: write `env:PATH`, `git:PATH`, `npm:PATH` or `*:PATH`

error: unknown set of settings `@codes`
  --> test.yaml:14:17
   |
14 |         - sets: '@codes'
   |                 ^^^^^^^^
   |
   = hint: did you mean `@code`?

error: unknown mark `forcepush`
  --> test.yaml:15:20
   |
15 |         - marked: [forcepush]
   |                    ^^^^^^^^^
   |
   = hint: did you mean `force-push`?

error: `opaque` cannot be `false`
  --> test.yaml:16:19
   |
16 |         - opaque: false
   |                   ^^^^^
   |
   = hint: write `not: { opaque: true }`

error: `drop table` is not the verb of a statement
  --> test.yaml:17:16
   |
17 |         - sql: 'drop table'
   |                ^^^^^^^^^^^^
   |
   = hint: one word, like `drop`, `insert` or `destructive`

error: `escalates` can only be `true`
  --> test.yaml:18:22
   |
18 |         - escalates: false
   |                      ^^^^^
   |
   = hint: for the opposite, write `not: { escalates: true }`

error: cannot read the path `src/[ab]`
  --> test.yaml:19:18
   |
19 |         - reads: 'src/[ab]'
   |                  ^^^^^^^^^^
   |
   = hint: `*` stops at `/`, `**` does not; `?` matches one character, `{a,b}` either text
"#,
    );
}

#[test]
fn windows_of_time() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - time: {}
        - time: { zone: UTC }
        - time: { between: ["22:00"] }
        - time: { between: ["22:60", "25:00"] }
        - time: { between: ["08:00", "08:00"] }
        - time: { between: 22, zone: Berlin }
        - time: { days: [mo-fr], zone: Europe/Berln }
        - time: { days: [frday], zone: Middle Earth, hours: 3 }"#,
        r#"
error: `time` needs `between` or `days`
 --> test.yaml:7:17
  |
7 |         - time: {}
  |                 ^
  |
  = hint: write `between: ["22:00", "06:30"]` or `days: [mon-fri]`

error: `time` needs `between` or `days`
 --> test.yaml:8:17
  |
8 |         - time: { zone: UTC }
  |                 ^
  |
  = hint: write `between: ["22:00", "06:30"]` or `days: [mon-fri]`

error: `between` needs two times: the beginning and the end
 --> test.yaml:9:28
  |
9 |         - time: { between: ["22:00"] }
  |                            ^
  |
  = hint: write `between: ["22:00", "06:30"]`

error: `22:60` is not a time of the day
  --> test.yaml:10:29
   |
10 |         - time: { between: ["22:60", "25:00"] }
   |                             ^^^^^^^
   |
   = hint: write hours and minutes in quotes, from "00:00" to "24:00"

error: `25:00` is not a time of the day
  --> test.yaml:10:38
   |
10 |         - time: { between: ["22:60", "25:00"] }
   |                                      ^^^^^^^
   |
   = hint: write hours and minutes in quotes, from "00:00" to "24:00"

error: this window has no length
  --> test.yaml:11:28
   |
11 |         - time: { between: ["08:00", "08:00"] }
   |                            ^
   |
   = hint: for the whole day leave `between` out; the end of a day is `24:00`

error: `between` must be a list, not a number
  --> test.yaml:12:28
   |
12 |         - time: { between: 22, zone: Berlin }
   |                            ^^

error: unknown time zone `Berlin`
  --> test.yaml:12:38
   |
12 |         - time: { between: 22, zone: Berlin }
   |                                      ^^^^^^
   |
   = hint: did you mean `Europe/Berlin`?

error: `mo` is not a day of the week
  --> test.yaml:13:26
   |
13 |         - time: { days: [mo-fr], zone: Europe/Berln }
   |                          ^^^^^
   |
   = hint: write days like `mon`, or ranges like `mon-fri`

error: `fr` is not a day of the week
  --> test.yaml:13:26
   |
13 |         - time: { days: [mo-fr], zone: Europe/Berln }
   |                          ^^^^^
   |
   = hint: write days like `mon`, or ranges like `mon-fri`

error: unknown time zone `Europe/Berln`
  --> test.yaml:13:40
   |
13 |         - time: { days: [mo-fr], zone: Europe/Berln }
   |                                        ^^^^^^^^^^^^
   |
   = hint: did you mean `Europe/Berlin`?

error: `frday` is not a day of the week
  --> test.yaml:14:26
   |
14 |         - time: { days: [frday], zone: Middle Earth, hours: 3 }
   |                          ^^^^^
   |
   = hint: did you mean `friday`?

error: unknown time zone `Middle Earth`
  --> test.yaml:14:40
   |
14 |         - time: { days: [frday], zone: Middle Earth, hours: 3 }
   |                                        ^^^^^^^^^^^^
   |
   = hint: use a name from the IANA time zone database, like `Europe/Berlin` or `UTC`

error: unknown key `hours`
  --> test.yaml:14:54
   |
14 |         - time: { days: [frday], zone: Middle Earth, hours: 3 }
   |                                                      ^^^^^
   |
   = hint: known here: between, days, zone
"#,
    );
}

#[test]
fn origins_of_the_wrong_kind_and_in_a_rule_that_allows() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - origin: { arg: $, only: tool_result }
        - origin: { arg: to, only: user }
        - origin: { arg: context.cwd, only: tool_result, of: x }
  - id: b
    verdict: allow
    when: { not: { origin: { arg: to, only: tool_result } } }"#,
        r#"
error: `$` is not an argument
 --> test.yaml:7:26
  |
7 |         - origin: { arg: $, only: tool_result }
  |                          ^
  |
  = hint: name the argument, like `recipient` or `items[*].to`, or a role like `@url`

error: unknown origin `user`
 --> test.yaml:8:36
  |
8 |         - origin: { arg: to, only: user }
  |                                    ^^^^
  |
  = hint: one of: tool_result

error: `context.cwd` is not an argument
 --> test.yaml:9:26
  |
9 |         - origin: { arg: context.cwd, only: tool_result, of: x }
  |                          ^^^^^^^^^^^
  |
  = hint: name the argument, like `recipient` or `items[*].to`, or a role like `@url`

error: unknown key `of`
 --> test.yaml:9:58
  |
9 |         - origin: { arg: context.cwd, only: tool_result, of: x }
  |                                                          ^^
  |
  = hint: known here: arg, only

error: a rule that allows cannot have a condition on `origin`
  --> test.yaml:12:11
   |
12 |     when: { not: { origin: { arg: to, only: tool_result } } }
   |           ^
   |
   = hint: write a rule with `verdict: ask` or `deny` for values that come from a tool
"#,
    );
}

#[test]
fn deletions_of_an_unreadable_size() {
    check(
        r#"policy: x
rules:
  - id: a
    verdict: deny
    when:
      any:
        - deletes: { files_over: many }
        - deletes: { files_over: -1, bytes_over: 3 apples }
        - deletes: { untracked: false }
        - deletes: { crosses_mounts: maybe, file_over: 1 }"#,
        r#"
error: `files_over` must be a whole number from 0 to 1000000000
 --> test.yaml:7:34
  |
7 |         - deletes: { files_over: many }
  |                                  ^^^^

error: `files_over` must be a whole number from 0 to 1000000000
 --> test.yaml:8:34
  |
8 |         - deletes: { files_over: -1, bytes_over: 3 apples }
  |                                  ^^

error: `3 apples` is not a size
 --> test.yaml:8:50
  |
8 |         - deletes: { files_over: -1, bytes_over: 3 apples }
  |                                                  ^^^^^^^^
  |
  = hint: write a number of bytes, or a number and a unit, like `100 MB` or `64 MiB`

error: `untracked` cannot be `false`
 --> test.yaml:9:33
  |
9 |         - deletes: { untracked: false }
  |                                 ^^^^^
  |
  = hint: leave it out, or write `not: { deletes: { untracked: true } }`

error: unknown key `file_over`
  --> test.yaml:10:45
   |
10 |         - deletes: { crosses_mounts: maybe, file_over: 1 }
   |                                             ^^^^^^^^^
   |
   = hint: did you mean `files_over`?
"#,
    );
}
