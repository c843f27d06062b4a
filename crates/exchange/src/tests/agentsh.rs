use super::*;
use crate::ImportTarget;

const FILE: &str = r#"sandbox:
  mcp:
    enforce_policy: true
    fail_closed: true
    servers:
      - { id: files, type: stdio, command: npx, args: ["@modelcontextprotocol/server-filesystem", "/srv/data"] }
      - { id: crm, type: http, url: "https://mcp.corp.example:8443/mcp", tls_fingerprint: "sha256:FP", timeout: 5 }
    server_policy: allowlist
    allowed_servers: [{ id: files }, { id: crm, content_hash: x }]
    denied_servers: [{ id: "*" }, { id: bad }]
    tool_policy: denylist
    allowed_tools: [{ server: "*", tool: "*" }]
    denied_tools: [{ server: crm, tool: "drop_*" }]
    version_pinning: { enabled: true, on_change: block, auto_trust_first: true }
    rate_limits: { enabled: true, default_rpm: 60, per_server: { crm: { calls_per_minute: 10, burst: 3 } } }
"#;

#[test]
fn the_section_of_a_config() {
    let fingerprint = "0f".repeat(32);
    let imported = imported(Format::Agentsh, &FILE.replace("FP", &fingerprint));
    assert_eq!(imported.target, ImportTarget::Mcp);
    let expected = format!(
        "# Imported from file: for callgate.yaml.
mcp:
  enforce: true
  fail_closed: true
  servers:
    files:
      type: stdio
      command: npx
      args: ['@modelcontextprotocol/server-filesystem', '/srv/data']
    crm:
      type: http
      url: 'https://mcp.corp.example:8443/mcp'
      tls_fingerprint: '{fingerprint}'
  allow_servers:
    - files
  deny_servers:
    - bad
  deny_tools:
    - {{ server: crm, tool: 'drop_*' }}
  pins: {{ on_change: block, auto_trust_first: true }}
  rate: {{ calls: 60, per: minute }}
  rates:
    crm: {{ calls: 10, per: minute, burst: 3 }}
"
    );
    assert_eq!(imported.text, expected);
    let left_out: Vec<_> =
        imported.changes.iter().map(|it| (it.span.line, it.message.as_str())).collect();
    assert_eq!(
        left_out,
        [
            (7, "this setting of the server `crm` has no counterpart"),
            (9, "`content_hash` is not compared"),
            (12, "the list is not used there: `tool_policy` is `denylist`"),
        ]
    );
}

#[test]
fn an_empty_list_of_allowed_servers_allows_none() {
    let text =
        "sandbox: { mcp: { server_policy: allowlist, version_pinning: { enabled: false } } }";
    let imported = imported(Format::Agentsh, text);
    assert!(imported.text.contains("  allow_servers: []\n"), "{}", imported.text);
    assert_eq!(imported.changes[0].kind, DifferenceKind::Stricter);
}

#[test]
fn broken_settings_have_a_place() {
    assert_eq!(
        refused(Format::Agentsh, &FILE.replace("60", "none").replace("denylist", "blocklist")),
        [
            "7:91: `tls_fingerprint` must be `sha256:` and 64 hexadecimal digits",
            "11:18: `tool_policy` must be `allowlist`, `denylist` or `none`",
            "15:48: `default_rpm` must be a whole number from 1",
        ]
    );
    assert_eq!(refused(Format::Agentsh, "a: 1"), ["1:1: there is no `sandbox.mcp` in this file"]);
}
