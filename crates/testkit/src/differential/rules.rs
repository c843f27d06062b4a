//! A policy for a body: some tools are free, some denied, some judged by their arguments.

use std::fmt::Write as _;

use serde_json::json;

use super::seeds::Seed;
use crate::rng::Rng;

/// A policy that asks something different of every tool of a response.
pub(super) fn policy(seed: &Seed, rng: &mut Rng) -> String {
    let mut rules = String::new();
    for (number, name) in seed.names.iter().enumerate() {
        let asks = match rng.below(8) {
            0 | 1 => continue,
            2 => denied(""),
            3 | 4 => denied(&contains(seed, rng)),
            5 | 6 => denied(&missing(seed, rng)),
            _ => "verdict: sanitize, sanitize: { detectors: [email] }".to_owned(),
        };
        writeln!(rules, "  - {{ id: r{number}, tool: [{}], {asks} }}", json!(name)).unwrap();
    }
    // Every call is held for this one.
    if rng.one_in(6) {
        writeln!(rules, "  - {{ id: all, {} }}", denied(&contains(seed, rng))).unwrap();
    }
    match rules.is_empty() {
        true => "policy: fuzz\nrules: []\n".to_owned(),
        false => format!("policy: fuzz\nrules:\n{rules}"),
    }
}

fn denied(when: &str) -> String {
    format!("{when}verdict: deny, reason: no")
}

fn contains(seed: &Seed, rng: &mut Rng) -> String {
    let word = rng.pick(&seed.words).map_or("EVILARG", String::as_str);
    format!("when: {{ arg: $, contains: {} }}, ", json!(word))
}

fn missing(seed: &Seed, rng: &mut Rng) -> String {
    let key = rng.pick(&seed.keys).map_or("path", String::as_str);
    // A path of an argument has dots; a key that has some is rare.
    let key = if key.contains(['.', ' ', '/', '@']) { "path" } else { key };
    format!("when: {{ arg: {}, exists: false }}, ", json!(key))
}
