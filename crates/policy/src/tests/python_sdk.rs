//! Compares how the Python MCP SDK and a policy read the same arguments. `cargo xtask test`
//! installs the SDK and sets `CALLGATE_PEERS_PYTHON` to its Python.

use std::process::Command;

use callgate_json::quote;

use super::support::*;
use crate::Verdict;

/// Prints for each of its arguments whether a tool that expects a list or an object receives
/// something that contains the word `rm`, and whether it receives nothing.
const READ: &str = r#"
import sys
from mcp.server.mcpserver.utilities.func_metadata import func_metadata

def tool(a: list | dict | None = None): ...

def words(value):
    if isinstance(value, dict):
        value = list(value) + list(value.values())
    return [word for item in value for word in words(item)] if isinstance(value, list) else [value]

for text in sys.argv[1:]:
    read = func_metadata(tool).pre_parse_json({"a": text})["a"]
    print(int("rm" in words(read)), int(read is None))
"#;

const TEXTS: [&str; 15] = [
    r#"["rm"]"#,
    r#"["\u0072m"]"#,
    " [\n\"rm\"\t]\r\n",
    r#"{"a":["ls",{"b":"rm"}]}"#,
    r#"{"rm":1}"#,
    r#"{"a":"ls","a":"rm"}"#,
    r#"["rm",NaN,-Infinity]"#,
    r#"["rm","\ud83d"]"#,
    "null",
    "\tnull ",
    r#""rm""#,
    "rm",
    "[rm]",
    r#"["rm"] ["rm"]"#,
    "\u{feff}[\"rm\"]",
];

#[test]
fn what_the_sdk_reads_out_of_a_text_counts() {
    let Ok(python) = std::env::var("CALLGATE_PEERS_PYTHON") else {
        return eprintln!("skipped: `cargo xtask test` sets up the servers");
    };
    let ran = Command::new(python).args(["-c", READ]).args(TEXTS).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let read = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(read.lines().count(), TEXTS.len());
    let denies = |test: &str, text: &str| {
        let policies = rules(&[&format!("id: r, when: {{ arg: a, {test} }}, verdict: deny")]);
        policies.verdict("t", &format!(r#"{{"a":{}}}"#, quote(text))) == Verdict::Deny
    };
    for (text, read) in TEXTS.iter().zip(read.lines()) {
        let (is_rm, is_null) = (read.starts_with('1'), read.ends_with('1'));
        assert_eq!(denies("equals: rm", text), is_rm, "{text}, read as {read}");
        assert_eq!(denies("exists: false", text), is_null, "{text}, read as {read}");
    }
    assert!(read.contains("1 0") && read.contains("0 1") && read.contains("0 0"), "{read}");
}
