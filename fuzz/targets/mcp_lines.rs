//! An MCP client and server on a pipe, line by line: nothing panics, what leaves is whole lines that every
//! peer reads alike, a denied call does not reach the server, and cuts do not matter.
#![no_main]

use callgate_fuzz::mcp::{comparable, on_pipe};
use callgate_mcp::probe::{MessageSender, Probe, is_line};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    // The first byte chooses the cuts.
    let [cut, _, input @ ..] = data else { return };
    let whole = speak(input, usize::MAX);
    let pieces = speak(input, usize::from(*cut) + 1);
    let said = |lines: &[Vec<u8>]| lines.iter().map(|it| comparable(it)).collect::<Vec<_>>();
    assert_eq!(said(&whole.to_client), said(&pieces.to_client), "cuts change what a client gets");
    assert_eq!(said(&whole.to_server), said(&pieces.to_server), "cuts change what a server gets");
    for line in whole.to_client.iter().chain(&whole.to_server) {
        assert!(is_line(line), "{:?} leaves", String::from_utf8_lossy(line));
    }
    for line in &whole.to_server {
        assert!(!is_denied(line), "{:?} reaches the server", String::from_utf8_lossy(line));
    }
});

/// Each line is the server's if it begins with `<`, and else the client's.
fn speak(input: &[u8], piece: usize) -> Probe {
    let mut probe = on_pipe();
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        let (side, line) = match line.strip_prefix(b"<") {
            Some(line) => (MessageSender::Server, line),
            None => (MessageSender::Client, line.strip_prefix(b">").unwrap_or(line)),
        };
        probe.lines(side, line.chunks(piece.min(line.len().max(1))));
    }
    probe
}

/// Whether a lenient server would run what the policy denies.
fn is_denied(line: &[u8]) -> bool {
    let Ok(said) = serde_json::from_slice::<Value>(line) else { return false };
    let is = |value: &Value, text: &str| {
        value.as_str().is_some_and(|value| value.trim().eq_ignore_ascii_case(text))
    };
    is(&said["method"], "tools/call") && is(&said["params"]["name"], "rm")
}
