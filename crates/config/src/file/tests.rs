mod mcp;

use callgate_document::render;

use super::*;
use crate::fields::ENTRY;

/// Every problem of a file, as it is drawn.
pub(super) fn drawn(text: &str) -> String {
    let source = Source { name: "callgate.yaml".into(), text: text.into() };
    let mut problems = Problems::new(&source);
    read(&source, &mut problems);
    let shown = problems.into_list().into_iter().map(|problem| render(&problem, &source, false));
    shown.collect::<Vec<_>>().join("\n")
}

/// Message and hint of every problem.
pub(super) fn problems(text: &str) -> Vec<(String, Option<String>)> {
    let source = Source { name: "callgate.yaml".into(), text: text.into() };
    let mut problems = Problems::new(&source);
    read(&source, &mut problems);
    problems.into_list().into_iter().map(|found| (found.message, found.hint)).collect()
}

#[test]
fn every_problem_at_once_each_with_its_place() {
    let text = "\
lisen: 127.0.0.1:1
listen: localhost
limits:
  arguments: 1 M
  frame: [1]
  cals: 3
on_deny: shout
gateway: { idle_timeout: 10, workers: 0 }
providers:
  v1: { base_url: 'https://x.com/?a', dialect: openai }
";
    let expected = "\
error: unknown key `lisen`
 --> callgate.yaml:1:1
  |
1 | lisen: 127.0.0.1:1
  | ^^^^^
  |
  = hint: did you mean `listen`?
error: `listen` is not an address: `localhost`
 --> callgate.yaml:2:9
  |
2 | listen: localhost
  |         ^^^^^^^^^
  |
  = hint: write an IP address and a port, like `127.0.0.1:8484` or `[::1]:8484`
error: `limits.arguments` is not a size: `1 M`
 --> callgate.yaml:4:14
  |
4 |   arguments: 1 M
  |              ^^^
  |
  = hint: write it like `64KiB`, `1MB` or a number of bytes
error: `limits.frame` must be text, not a list
 --> callgate.yaml:5:10
  |
5 |   frame: [1]
  |          ^
error: unknown key `cals`
 --> callgate.yaml:6:3
  |
6 |   cals: 3
  |   ^^^^
  |
  = hint: did you mean `calls`?
error: unknown value for `on_deny`: `shout`
 --> callgate.yaml:7:10
  |
7 | on_deny: shout
  |          ^^^^^
  |
  = hint: one of: continue, explain, silent
error: `gateway.idle_timeout` is not a duration: `10`
 --> callgate.yaml:8:26
  |
8 | gateway: { idle_timeout: 10, workers: 0 }
  |                          ^^
  |
  = hint: write it with a unit: `500ms`, `10s`, `10m`, `2h` or `90d`
error: `gateway.workers` must be a whole number from 1 to 1024
 --> callgate.yaml:8:39
  |
8 | gateway: { idle_timeout: 10, workers: 0 }
  |                                       ^
error: `v1` cannot be the name of a provider: the gateway serves that path itself
  --> callgate.yaml:10:3
   |
10 |   v1: { base_url: 'https://x.com/?a', dialect: openai }
   |   ^^
   |
   = hint: choose another name
error: `providers.v1.base_url` cannot be used
  --> callgate.yaml:10:19
   |
10 |   v1: { base_url: 'https://x.com/?a', dialect: openai }
   |                   ^^^^^^^^^^^^^^^^^^ it contains a `?` or `#`
   |
   = hint: write the base URL that the official SDK uses, like `https://api.openai.com/v1`
error: unknown value for `providers.v1.dialect`: `openai`
  --> callgate.yaml:10:48
   |
10 |   v1: { base_url: 'https://x.com/?a', dialect: openai }
   |                                                ^^^^^^
   |
   = hint: one of: ";
    let drawn = drawn(text);
    let words = Dialect::ALL.map(Dialect::as_str).join(", ");
    assert_eq!(drawn, format!("{expected}{words}"), "{drawn}");
}

#[test]
fn single_problems() {
    let table = [
        ("", "this file is empty"),
        ("# nothing\n", "this file is empty"),
        ("[a]", "a config file must be a mapping, not a list"),
        ("listen:", "`listen` must be text, not null"),
        ("store: postgres:x", "`store` is not a store: `postgres:x`"),
        ("store: 'sqlite:'", "`store` is not a store: `sqlite:`"),
        ("store: sqlite:~/x.db", "`store` is not a store: `sqlite:~/x.db`"),
        ("limits: 3", "`limits` must be a mapping, not a number"),
        (
            "audit: { retention: { age: forever } }",
            "`audit.retention.age` is not a duration: `forever`",
        ),
        (
            "audit: { retention: { records: 0 } }",
            "`audit.retention.records` must be a whole number from 1 to 1000000000000",
        ),
        (
            "gateway: { passthrough: [v1/x] }",
            "an entry of `gateway.passthrough` is not a path: `v1/x`",
        ),
        (
            "gateway: { passthrough: [1] }",
            "an entry of `gateway.passthrough` must be text, not a number",
        ),
        ("policies: rules.yaml", "`policies` must be a list, not text"),
        ("policies: [[a]]", "an entry of `policies` must be text, not a list"),
        ("providers: { Mine: {} }", "`Mine` is not a valid provider name"),
        ("policies: []\nrules: []", "a file cannot have both `rules` and `policies`"),
        (
            "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2",
            "cannot read this file: duplicate mapping key: listen",
        ),
    ];
    for (text, message) in table {
        let found = problems(text);
        assert_eq!(found.first().map(|(message, _)| message.as_str()), Some(message), "{text}");
    }
}

#[test]
fn a_provider_of_ones_own_needs_both() {
    let found = problems("providers: { mine: { dialect: openai-chat } }");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "`providers.mine` has no `base_url`");
    assert!(problems("providers: { openai: { api_key_env: KEY } }").is_empty());
}

#[test]
fn a_pasted_key_is_not_taken_for_a_name() {
    let found = problems("providers: { openai: { api_key_env: sk-abc } }");
    assert_eq!(found[0].0, "`providers.openai.api_key_env` is not a variable's name: `sk-abc`");
}

/// Every field of the table is read, and a value of the wrong sort is a problem.
#[test]
fn the_reader_takes_every_field_of_the_table() {
    for field in fields::all() {
        let wrong = yaml(field.path, "[[nothing takes this]]");
        assert!(!problems(&wrong).is_empty(), "{wrong}");
        for value in [field.default, field.example].iter().filter(|value| !value.is_empty()) {
            let right = yaml(field.path, value);
            assert_eq!(problems(&right), [], "{right}");
        }
    }
}

/// A file with one setting in it, and the settings that it requires.
pub(crate) fn yaml(path: &str, value: &str) -> String {
    let (sections, key) = path.rsplit_once('.').unwrap_or(("", path));
    file(sections, &[vec![(key, value)], companions(path)].concat())
}

/// The same without the setting; an empty config if it requires no other.
pub(crate) fn yaml_without(path: &str) -> String {
    let (sections, _) = path.rsplit_once('.').unwrap_or(("", path));
    let companions = companions(path);
    if companions.is_empty() { "{}".to_owned() } else { file(sections, &companions) }
}

fn file(sections: &str, settings: &[(&str, &str)]) -> String {
    let path = sections.replace(ANY, "openai");
    let (mut text, mut depth) = (String::new(), 0);
    for key in path.split('.').filter(|key| !key.is_empty()) {
        match key {
            ENTRY => text.push_str(&format!("\n{}-", "  ".repeat(depth))),
            key => text.push_str(&format!("\n{}{key}:", "  ".repeat(depth))),
        }
        depth += 1;
        if key == "openai" && path.ends_with("openai.rate") && path.contains("servers") {
            text.push_str(&format!("\n{}command: server", "  ".repeat(depth)));
        }
    }
    for (key, value) in settings {
        text.push_str(&format!("\n{}{key}: {value}", "  ".repeat(depth)));
    }
    format!("{}\n", text.trim_start())
}

/// What a setting cannot be without.
fn companions(path: &str) -> Vec<(&'static str, &'static str)> {
    let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
    match (section, key) {
        // Only Amazon's requests are signed.
        ("providers.*", "sign") => vec![
            ("base_url", "https://bedrock-runtime.eu-central-1.amazonaws.com"),
            ("dialect", "bedrock-converse"),
        ],
        ("mcp.servers.*", "command" | "url") => vec![],
        ("mcp.servers.*", "type" | "bearer_env" | "tls_fingerprint") => {
            vec![("url", "https://mcp.example.com")]
        }
        ("mcp.servers.*", _) => vec![("command", "server")],
        ("mcp.flows.burst", "window" | "then")
        | ("mcp.rate" | "mcp.rates.*" | "mcp.servers.*.rate", "per" | "burst") => {
            vec![("calls", "3")]
        }
        _ => vec![],
    }
}

#[test]
fn what_cannot_be_signed() {
    let of = |rest: &str| problems(&format!("providers: {{ {rest} }}"));
    let bedrock = |rest: &str| {
        of(&format!("b: {{ dialect: bedrock-invoke, sign: aws, base_url: \"{rest} }}"))
    };
    let in_plain = "`providers.b.sign`: signed requests would go to another machine unencrypted";
    for (found, message) in [
        (
            of("openai: { sign: aws, base_url: 'https://x.com' }"),
            "`providers.openai.sign`: only requests to Amazon Bedrock are signed",
        ),
        (
            of("b: { base_url: 'https://x.com', dialect: anthropic, sign: aws }"),
            "`providers.b.sign`: only requests to Amazon Bedrock are signed",
        ),
        (
            of("openai: { dialect: bedrock-converse, sign: aws }"),
            "`providers.openai.sign` needs a `base_url` of Amazon's",
        ),
        (
            bedrock("https://x.com\", api_key_env: KEY"),
            "`providers.b` has both `api_key_env` and `sign`",
        ),
        (bedrock("http://bedrock-runtime.eu-west-1.amazonaws.com\""), in_plain),
        (bedrock("http://127.0.0.1.example.com\""), in_plain),
    ] {
        let messages: Vec<&str> = found.iter().map(|problem| problem.0.as_str()).collect();
        assert_eq!(messages, [message]);
    }
    for fine in
        ["http://127.0.0.1:9\"", "http://[::1]:9\"", "http://localhost\"", "https://x.com\""]
    {
        assert_eq!(bedrock(fine), [], "{fine}");
    }
}

#[test]
fn the_api_has_no_tcp_yet() {
    for address in ["127.0.0.1:8485", "'[::1]:1'", "localhost:80", "8485", "'http://x/y'"] {
        let found = problems(&format!("api: {{ listen: {address} }}"));
        let [(message, Some(hint))] = found.as_slice() else { panic!("{address}: {found:?}") };
        assert!(message.contains("`api.listen`"), "{message}");
        assert!(hint.contains("TCP is not supported yet"), "{address}: {hint}");
    }
    for path in ["api.sock", "/run/callgate/api.sock", "off", "a/b:80"] {
        assert_eq!(problems(&format!("api: {{ listen: {path} }}")), [], "{path}");
    }
}

#[test]
fn tools_for_the_catalogue() {
    let found = problems(
        r#"tools:
  get_weather: { effects: none }
  deploy: { kind: "@shell", args: { cmdline: "@command" } }
  archive: { kind: ["@read", "@delete"], args: { "files[*].name": "@path", $: "@content" } }
  notify: { effects: [connects, reads] }
  Bash: { args: { script: "@command" } }
"#,
    );
    assert_eq!(found, []);
    for (text, message) in [
        ("x: { kind: shell }", "unknown kind `shell`"),
        ("x: { kind: '@mcp' }", "unknown kind `@mcp`"),
        ("x: { args: { a: '@comand' } }", "unknown role `@comand`"),
        ("x: { args: { 'a[0]': '@path' } }", "`a[0]` is not an argument"),
        ("x: { effects: [delets] }", "unknown effect `delets`"),
        ("x: { effects: [none, reads] }", "`none` with other effects"),
        ("x: {}", "`tools.x` says nothing about the tool"),
        ("x: { efects: none }", "unknown key `efects`"),
        ("bash: { effects: none }", "the effects of `bash` cannot be changed"),
        ("mcp__a__b: { effects: none }", "`mcp__a__b` also contains the name of a server"),
    ] {
        let found = problems(&format!("tools:\n  {text}\n"));
        assert_eq!(found.first().map(|(it, ..)| it.as_str()), Some(message), "{text}: {found:?}");
    }
    let twice = problems("tools:\n  a: { effects: none }\n  A: { effects: none }\n");
    assert_eq!(twice[0].0, "a second tool `A`");
}
