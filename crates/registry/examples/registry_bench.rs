//! What definitions cost: `cargo run --release --package callgate-registry --example registry_bench`.

#![allow(clippy::unwrap_used, reason = "a panic ends the measurement")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate_registry::{
    Definition, FirstUse, ItemIdentity, ItemKind, Launch, NameLookup, PinRegistry, diff,
};

const MANY: usize = 1000;

fn main() {
    let tools: Vec<String> = (0..MANY).map(definition).collect();
    let bytes: usize = tools.iter().map(String::len).sum();
    if let [case, rounds] = std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        assert_eq!(case, "hash", "the only case");
        let rounds: usize = rounds.parse().unwrap();
        tools.iter().cycle().take(rounds).for_each(|raw| drop(black_box(read_one(raw))));
        return;
    }
    println!("{MANY} definitions, {} bytes each", bytes / MANY);
    report("hash all", || read(&tools));
    let definitions = read(&tools);
    let mut registry = PinRegistry::default();
    report("see all as they were", || see(&mut registry, &definitions));
    let names: Vec<String> = (0..MANY).map(|n| format!("mcp__files__read_file_{n}")).collect();
    report("find all by name", || {
        names.iter().filter(|name| registry.names().find(name) != NameLookup::Nothing).count()
    });
    let (one, two) = (definition(1), definition(1).replace("Returns", "Sends"));
    report("one difference", || diff(&one, &two));
    let looked_at: Vec<ItemIdentity> =
        definitions.iter().take(10).map(|it| ItemIdentity::of("other", it)).collect();
    report("look-alikes of ten names", || {
        looked_at.iter().map(|it| registry.alike(it).len()).sum::<usize>()
    });
}

/// A tool of about the size that the reference servers have, with the number in its name.
fn definition(number: usize) -> String {
    format!(
        r#"{{"name":"read_file_{number}","title":"Read File","description":"Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Returns at most `head` lines. Only works within allowed directories.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string","description":"Where the file lies"}},"tail":{{"description":"If provided, returns only the last N lines of the file","type":"number"}},"head":{{"description":"If provided, returns only the first N lines of the file","type":"number","minimum":0,"maximum":1e6}}}},"required":["path"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}},"annotations":{{"readOnlyHint":true}},"outputSchema":{{"type":"object","properties":{{"content":{{"type":"string"}}}},"required":["content"]}},"_meta":{{"version":{number}}}}}"#
    )
}

fn read(tools: &[String]) -> Vec<Definition> {
    tools.iter().map(|raw| read_one(raw)).collect()
}

fn read_one(raw: &str) -> Definition {
    Definition::read(ItemKind::Tool, raw).unwrap()
}

fn see(registry: &mut PinRegistry, definitions: &[Definition]) -> usize {
    let launch = Launch::command("files", &["/srv"], None);
    let seen = definitions.iter().map(|definition| {
        let identity = ItemIdentity::of("files", definition);
        registry.observe(&identity, &launch, definition, FirstUse::Trust, 0).unwrap()
    });
    seen.filter(|it| it.is_dirty).count()
}

fn report<T>(what: &str, mut run: impl FnMut() -> T) {
    black_box(run());
    let mut best = Duration::MAX;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
    }
    println!("{what:28} {:>9.3} ms", best.as_secs_f64() * 1e3);
}
