//! `callgate mcp servers` and `callgate mcp tools`.

use serde_json::json;

use super::{CONFIG, again, column, filled};
use crate::support::Test;

#[test]
fn declared_and_seen_servers() {
    let ran = filled(&["servers"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(column(&ran, "SERVER"), ["extra", "mail", "notes", "unused"]);
    assert_eq!(column(&ran, "TYPE"), ["stdio", "http", "stdio", "sse"]);
    assert_eq!(column(&ran, "DECLARED"), ["no", "yes", "yes", "yes"]);
    assert_eq!(column(&ran, "TOOLS"), ["1", "1", "2", "0"]);
    assert_eq!(column(&ran, "STATE"), ["trusted", "trusted", "trusted", "unseen"]);
    let addresses = [
        "extra-server with 1 argument",
        "https://mcp.example.com/mcp",
        "notes-server",
        "https://old.example.com/sse",
    ];
    assert_eq!(column(&ran, "ADDRESS"), addresses, "without what may be a secret");
    let ran = again(ran, &["servers", "--json", "--type", "http"]);
    let found = ran.json();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["server"], &found[0]["tools"]), (&json!("mail"), &json!(1)));
    assert_eq!(found[0]["states"], json!({ "trusted": 1 }));
    assert!(found[0]["last_seen"].is_string());
    let ran = again(ran, &["servers", "--json", "--server", "n*"]);
    assert_eq!(ran.json().len(), 1);
}

#[test]
fn declared_servers_need_no_store() {
    let ran = Test::new(&["mcp", "servers", "--config", "c.yaml"]).file("c.yaml", CONFIG).run();
    assert_eq!(column(&ran, "SERVER"), ["mail", "notes", "unused"], "{}", ran.stderr);
    assert!(!ran.dir.path().join("records.db").exists(), "reading makes no store");
}

#[test]
fn tools_with_what_was_found_in_them() {
    let ran = filled(&["tools"]).run();
    assert_eq!(column(&ran, "TOOL"), ["add", "send_mail", "delete_note", "get_note"]);
    let findings = column(&ran, "FINDINGS");
    assert!(findings[0].contains("sensitive-path"), "{}", ran.stdout);
    assert_eq!(findings[3], "", "{}", ran.stdout);
    let ran = again(ran, &["tools", "--json", "--server", "notes", "--tool", "get_*"]);
    let found = ran.json();
    assert_eq!(found.len(), 1, "{}", ran.stdout);
    assert_eq!((&found[0]["tool"], &found[0]["state"]), (&json!("get_note"), &json!("trusted")));
    let hash = found[0]["hash"].as_str().unwrap();
    assert!(hash.starts_with("v1:") && hash.len() == 67, "{hash}");
    assert_eq!(found[0]["pinned_hash"], found[0]["hash"]);
    assert_eq!(found[0]["findings"], json!([]));
    let ran = again(ran, &["tools", "--json", "--server", "extra"]);
    let findings = ran.json()[0]["findings"].as_array().unwrap().clone();
    assert!(findings.iter().any(|it| it["class"] == "sensitive-path"), "{findings:?}");
    assert!(findings.iter().all(|it| it["path"] == "description"), "{findings:?}");
}
