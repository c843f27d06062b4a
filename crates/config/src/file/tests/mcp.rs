//! `mcp:`, and everything that can be wrong in it.

use super::{drawn, problems};

#[test]
fn every_problem_at_once_each_with_its_place() {
    let text = "\
mcp:
  enforce: yes please
  servers:
    git hub: { command: x }
    docs: { type: http, command: x, args: [1] }
    pinned: { url: 'http://x.com/mcp', tls_fingerprint: '00' }
  allow_tools: [{ sever: docs }, { hash: v1:00 }]
  rate: { per: fortnight }
  inspect: { block_at: hihg }
";
    let expected = "\
error: `mcp.enforce` must be true or false, not text
 --> callgate.yaml:2:12
  |
2 |   enforce: yes please
  |            ^^^^^^^^^^
error: `git hub` is not a valid server name
 --> callgate.yaml:4:5
  |
4 |     git hub: { command: x }
  |     ^^^^^^^
  |
  = hint: use up to 64 letters, digits, `_`, `-` and `.`, the first a letter or a digit
error: `mcp.servers.docs` has no `url`
 --> callgate.yaml:5:5
  |
5 |     docs: { type: http, command: x, args: [1] }
  |     ^^^^
  |
  = hint: a server of type `http` needs one
error: `mcp.servers.docs.command` does not apply to a server of this type
 --> callgate.yaml:5:25
  |
5 |     docs: { type: http, command: x, args: [1] }
  |                         ^^^^^^^
  |
  = hint: `mcp.servers.docs` is of type `http`: remove this setting
error: `mcp.servers.docs.args` does not apply to a server of this type
 --> callgate.yaml:5:37
  |
5 |     docs: { type: http, command: x, args: [1] }
  |                                     ^^^^
  |
  = hint: `mcp.servers.docs` is of type `http`: remove this setting
error: `mcp.servers.pinned.tls_fingerprint` is not a SHA-256: `00`
 --> callgate.yaml:6:57
  |
6 |     pinned: { url: 'http://x.com/mcp', tls_fingerprint: '00' }
  |                                                         ^^^^
  |
  = hint: write its 64 hexadecimal digits
error: an entry of `mcp.allow_tools` names no tool
 --> callgate.yaml:7:17
  |
7 |   allow_tools: [{ sever: docs }, { hash: v1:00 }]
  |                 ^
  |
  = hint: write it like `{ server: github, tool: \"get_*\" }`
error: unknown key `sever`
 --> callgate.yaml:7:19
  |
7 |   allow_tools: [{ sever: docs }, { hash: v1:00 }]
  |                   ^^^^^
  |
  = hint: did you mean `server`?
error: `mcp.allow_tools[].hash` is not the hash of a definition: `v1:00`
 --> callgate.yaml:7:42
  |
7 |   allow_tools: [{ sever: docs }, { hash: v1:00 }]
  |                                          ^^^^^
  |
  = hint: write it as `callgate mcp pins list --json` shows it: `v1:` and 64 digits
error: `mcp.rate` has no `calls`
 --> callgate.yaml:8:3
  |
8 |   rate: { per: fortnight }
  |   ^^^^
  |
  = hint: write it like `{ calls: 60, per: minute, burst: 10 }`
error: unknown value for `mcp.rate.per`: `fortnight`
 --> callgate.yaml:8:16
  |
8 |   rate: { per: fortnight }
  |                ^^^^^^^^^
  |
  = hint: one of: second, minute, hour, day
error: unknown value for `mcp.inspect.block_at`: `hihg`
 --> callgate.yaml:9:24
  |
9 |   inspect: { block_at: hihg }
  |                        ^^^^
  |
  = hint: did you mean `high`?";
    let drawn = drawn(text);
    assert_eq!(drawn, expected, "{drawn}");
}

#[test]
fn single_problems() {
    let digits = "0".repeat(64);
    let plain_pin =
        format!("servers: {{ a: {{ url: 'http://x.com', tls_fingerprint: {digits} }} }}");
    let misplaced = format!("servers: {{ a: {{ url: 'https://x.com', sha256: '{digits}' }} }}");
    let table = [
        ("servers: [a]", "`mcp.servers` must be a mapping, not a list"),
        ("servers: { a: x }", "`mcp.servers.a` must be a mapping, not text"),
        ("servers: { a: {} }", "`mcp.servers.a` has no `command` and no `url`"),
        (
            "servers: { a: { command: x, url: 'https://x.com' } }",
            "`mcp.servers.a` has both a `command` and a `url`",
        ),
        ("servers: { a: { type: stdio } }", "`mcp.servers.a` has no `command`"),
        ("servers: { a: { type: sse } }", "`mcp.servers.a` has no `url`"),
        (
            "servers: { a: { type: ws, url: 'https://x.com' } }",
            "unknown value for `mcp.servers.a.type`: `ws`",
        ),
        (
            "servers: { a: { command: x, bearer_env: T } }",
            "`mcp.servers.a.bearer_env` does not apply to a server of this type",
        ),
        (misplaced.as_str(), "`mcp.servers.a.sha256` does not apply to a server of this type"),
        (
            "servers: { a: { command: ~/bin/x } }",
            "`mcp.servers.a.command` is not a program: `~/bin/x`",
        ),
        ("servers: { a: { command: '' } }", "`mcp.servers.a.command` is empty"),
        ("servers: { a: { url: x.com } }", "`mcp.servers.a.url` cannot be used"),
        ("servers: { a: { url: 'https://me@x.com/?a' } }", "`mcp.servers.a.url` cannot be used"),
        ("servers: { a: { url: 'https://x.com/?a#b' } }", "`mcp.servers.a.url` cannot be used"),
        (
            "servers: { a: { command: x, env: [sk-abc] } }",
            "an entry of `mcp.servers.a.env` is not a variable's name: `sk-abc`",
        ),
        (
            "servers: { a: { command: x, env: [[T]] } }",
            "an entry of `mcp.servers.a.env` must be text, not a list",
        ),
        (
            "servers: { a: { command: x, args: [{}] } }",
            "an entry of `mcp.servers.a.args` must be text, not a mapping",
        ),
        (
            "servers: { a: { command: x, args: stdio } }",
            "`mcp.servers.a.args` must be a list, not text",
        ),
        (plain_pin.as_str(), "`mcp.servers.a.tls_fingerprint` has no effect"),
        (
            "servers: { Docs: { command: x }, docs: { command: y } }",
            "`docs` is the same name as `Docs`",
        ),
        ("servers: { -a: { command: x } }", "`-a` is not a valid server name"),
        ("allow_servers: github", "`mcp.allow_servers` must be a list, not text"),
        ("deny_servers: ['']", "an entry of `mcp.deny_servers` is empty"),
        ("deny_tools: [github]", "`mcp.deny_tools[]` must be a mapping, not text"),
        ("deny_tools: [{}]", "an entry of `mcp.deny_tools` names no tool"),
        ("rate: 60", "`mcp.rate` must be a mapping, not a number"),
        ("rate: { calls: 0 }", "`mcp.rate.calls` must be a whole number from 1 to 1000000000"),
        ("rates: { 'a*': { burst: 3 } }", "`mcp.rates.a*` has no `calls`"),
        ("pins: { on_change: ask }", "unknown value for `mcp.pins.on_change`: `ask`"),
        (
            "pins: { auto_trust_first: maybe }",
            "`mcp.pins.auto_trust_first` must be true or false, not text",
        ),
        ("sampling: off", "unknown value for `mcp.sampling`: `off`"),
        ("flows: { window: 10 }", "`mcp.flows.window` is not a duration: `10`"),
        ("flows: { burst: { window: 1s } }", "`mcp.flows.burst` has no `calls`"),
        ("message_limit: big", "`mcp.message_limit` is not a size: `big`"),
    ];
    for (text, message) in table {
        let found = problems(&format!("mcp: {{ {text} }}"));
        let messages: Vec<&str> = found.iter().map(|(message, _)| message.as_str()).collect();
        assert_eq!(messages, [message], "{text}");
    }
}
