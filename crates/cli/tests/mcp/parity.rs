//! Everything that the `sandbox.mcp` section of agentsh can say, said in one config and seen through the
//! binary. That each of its settings can be said alone is shown where the config is read
//! (`everything_that_agentsh_says_can_be_said`), what each does in every state where calls are decided.

use serde_json::{Value, json};

use crate::support::{Place, simple, text_of, tool};

/// Left, as it is called there.
const SETTINGS: &str = "\
  # enforce_policy: true
  enforce: true
  # fail_closed: true
  fail_closed: true
  # allowed_servers, denied_servers
  allow_servers: [files, weather, 'bad-*']
  deny_servers: ['bad-*']
  # allowed_tools: [{ server, tool }], denied_tools
  allow_tools: [{ server: files, tool: '*_file' }, { server: weather, tool: '*' }]
  deny_tools: [{ server: '*', tool: 'delete_*' }]
  # version_pinning: { enabled: true, on_change: block, auto_trust_first: true }
  pins: { on_change: block, auto_trust_first: true }
  # rate_limits: { default_rpm: 600, default_burst: 50, per_server: { weather: … } }
  rate: { calls: 600, per: minute, burst: 50 }
  rates: { weather: { calls: 1, per: hour, burst: 2 } }
";

fn with_tools(tools: &[(&str, &str)]) -> Value {
    let tools: Vec<Value> = tools.iter().map(|(name, said)| tool(name, said)).collect();
    let mut answers = simple();
    answers["tools/list"] = json!({ "result": { "tools": tools } });
    answers
}

#[track_caller]
fn is_refused(answer: &Value, by: &str) {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text_of(answer).contains(&format!("Rule: {by}\n")), "{answer}");
}

#[test]
fn one_config_says_all_of_it() {
    let place = Place::new("policy: p\nrules: []\n", "");
    place.declare(&[("files", ""), ("weather", ""), ("bad-one", "")], SETTINGS);

    // Servers: one that nobody declared, and one that is denied.
    for server in ["stranger", "bad-one"] {
        let end = place.scripted(server, simple()).end();
        assert_eq!((end.code, end.received.as_str()), (Some(1), ""), "{server}: {}", end.said);
    }

    // Tools: allowed, denied although allowed, on no list, never listed.
    let files = [("read_file", "Reads."), ("delete_file", "Deletes."), ("format", "Formats.")];
    let mut wrapped = place.scripted("files", with_tools(&files));
    wrapped.hello();
    assert_eq!(wrapped.tools(), ["read_file"]);
    assert_eq!(text_of(&wrapped.call("read_file", json!({}))), "done");
    for name in ["delete_file", "format", "other_file"] {
        is_refused(&wrapped.call(name, json!({})), "mcp.tools");
    }
    wrapped.end();

    // Pins: the same tool with another definition.
    let mut wrapped = place.scripted("files", with_tools(&[("read_file", "Reads and sends.")]));
    wrapped.hello();
    assert!(wrapped.tools().is_empty());
    is_refused(&wrapped.call("read_file", json!({})), "mcp.pins");
    assert!(!wrapped.end().received.contains("\"tools/call\""));

    // Rates: that of this server, not the default.
    let mut wrapped = place.scripted("weather", with_tools(&[("now", "Tells it.")]));
    wrapped.hello();
    for _ in 0..2 {
        assert_eq!(text_of(&wrapped.call("now", json!({}))), "done");
    }
    is_refused(&wrapped.call("now", json!({})), "mcp.rate");
    assert_eq!(wrapped.end().received.matches("\"tools/call\"").count(), 2);
}
