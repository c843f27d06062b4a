//! A log that nobody reads any more.

use crate::stores::{passes, server};
use crate::support::{ALLOW, CHAT, MESSAGES, setup};

/// Reads the banner and then no more. Each call logs a line.
fn passes_with_reader(reader: &str, calls: usize) {
    let upstream = server();
    let pipe = format!("exec \"$@\" 2> >({reader})");
    let gateway = setup(&upstream, ALLOW, "audit: { durability: process }")
        .under(&["bash", "-c", &pipe, "sh"])
        .start();
    for _ in 0..calls {
        passes(&gateway, MESSAGES);
        passes(&gateway, CHAT);
    }
}

#[test]
fn a_closed_log_does_not_end_calls() {
    passes_with_reader("sed -u '/^Denied calls/q' >&2", 3);
}

/// The pipe holds 64 KiB, the lines of these calls several times that.
#[test]
fn a_log_that_is_not_read_does_not_hold_calls() {
    let stuck = "sed -u '/^Denied calls/q' >&2; while kill -0 $$; do sleep 0.1; done 2>/dev/null";
    passes_with_reader(stuck, 400);
}
