//! Measures how fast text is searched: `cargo run --release --package callgate-scan --example
//! throughput`.

use std::hint::black_box;
use std::time::{Duration, Instant};

const PROSE: &str = "The committee met on Tuesday to discuss the harbour works. Nobody asked who \
                     had moved the boats, and the minutes say only that the tide was high. ";
const CODE: &str = "    let token = self.tokens.next().ok_or(Error::Missing(\"password\"))?;\n    \
                    if url.starts_with(\"https://\") { self.task(token, &mut out)?; }\n";
const JSON: &str =
    r#"{"command":"grep -rn \"fn main\" src","path":"/src/lib.rs","max_tokens":1024},"#;

fn main() {
    for (what, piece) in [("prose", PROSE), ("code with keywords", CODE)] {
        let text = piece.repeat(SIZE / piece.len());
        report(what, text.len(), || callgate_scan::redact(&text).len());
    }
    let document = format!("[{}null]", JSON.repeat(SIZE / JSON.len()));
    report("json", document.len(), || callgate_scan::redact_json(&document).len());
    report("one small call", JSON.len(), || callgate_scan::redact_json(JSON).len());
}

const SIZE: usize = 1 << 20;

fn report(what: &str, bytes: usize, run: impl Fn() -> usize) {
    let (start, mut rounds) = (Instant::now(), 0u32);
    while start.elapsed() < Duration::from_millis(500) {
        black_box(run());
        rounds += 1;
    }
    let each = start.elapsed() / rounds;
    let speed = bytes as f64 / each.as_secs_f64() / 1e6;
    println!("{what:<20} {speed:>8.0} MB/s  {each:>10.2?} each");
}
