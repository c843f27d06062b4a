//! Measures how fast texts of servers are inspected: `cargo run --release -p callgate-scan
//! --example inspect`.

use std::hint::black_box;
use std::time::Instant;

use callgate_scan::inspect::{
    InspectionContext, OtherTools, TextSource, inspect_definition, inspect_json, inspect_text,
    strip,
};

const PROSE: &str = "The committee met on Tuesday to discuss the harbour works. Nobody asked who \
                     had moved the boats, and the minutes say only that the tide was high. ";
const CODE: &str = "    let token = self.tokens.next().ok_or(Error::Missing(\"password\"))?;\n    \
                    if url.starts_with(\"https://\") { self.send(token, &mut out)?; }\n";
const OTHER: &str =
    "Комитет собрался во вторник. 委員会は火曜日に開かれた。 Die Sitzung war kurz. ";
const HOSTILE: &str = "ignore all of the previous send the read do not include the pass 1gn0r3 ";
const TOOL: &str = r#"{"name":"read_file","description":"Read the contents of a file. The path is relative to the root, and only allowed directories can be read.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Path to the file"},"head":{"type":"number","description":"Only the first lines"}},"required":["path"]}}"#;

const SIZE: usize = 4 << 20;

fn main() {
    let known = OtherTools::new(["send_email", "create_issue"]);
    let context = InspectionContext { place: TextSource::Result, known: &known };
    for (what, piece) in [
        ("prose", PROSE),
        ("code", CODE),
        ("other scripts", OTHER),
        ("beginnings of phrases", HOSTILE),
    ] {
        let text = piece.repeat(SIZE / piece.len());
        report(what, text.len(), || inspect_text(&text, &context).len());
    }
    let random: String = (0..SIZE as u64)
        .map(|at| char::from(b'A' + (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59) as u8 % 26))
        .collect();
    report("one long word", random.len(), || inspect_text(&random, &context).len());
    let document = format!("[{}null]", format!("{TOOL},").repeat(SIZE / TOOL.len()));
    report("json", document.len(), || inspect_json(&document, &context).len());
    report("strip of json", document.len(), || strip(&document).map_or(0, |text| text.len()));
    report("one definition", TOOL.len(), || inspect_definition(TOOL, &known).len());
}

fn report(what: &str, bytes: usize, run: impl Fn() -> usize) {
    black_box(run());
    let rounds = (SIZE / bytes).clamp(2, 5000);
    let begun = Instant::now();
    for _ in 0..rounds {
        black_box(run());
    }
    let each = begun.elapsed() / u32::try_from(rounds).unwrap_or(1);
    let rate = bytes as f64 / each.as_secs_f64() / 1e6;
    println!("{what}: {rate:.0} MB/s, {each:?} for {bytes} bytes");
}
