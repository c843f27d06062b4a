//! Recall and precision of the detectors: planted secrets and personal data in code, configuration,
//! logs and prose, and similar texts without any. `--nocapture` shows the table.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use callgate_scan::{DetectorGroup, DetectorInfo, Set, detectors};
use plants::{Dice, plant};

#[path = "precision/plants.rs"]
mod plants;

/// How many of each kind, in each of the places below.
const EACH: usize = 40;

/// The share of planted ones that must be found, under their own name or a more specific one.
const RECALL: f64 = 0.95;

/// The share of findings that must have been planted.
const PRECISION: f64 = 0.95;

/// Where secrets are: `@` is the planted secret with its prefix.
const PLACES: [&str; 7] = [
    "def connect():\n    value = load('@')\n    return Client(value, retries=3)\n",
    "{\"id\": \"3f786850-e387-550f-dab8-36ed7e6dc881\", \"note\": \"see @ there\"}",
    "2026-11-15T09:54:00Z INFO worker[4242] request 1731664440123 said @ in 12.5ms\n",
    "Please use @ for now, and call me back by 17:30 on 2026-11-15.\n",
    "- name: run\n  env:\n    VALUE: @\n    REGION: eu-central-1\n",
    "$ tool --flag @ --out build/v1.2.3/x.tar.gz\nok 200\n",
    "| what | value |\n|---|---|\n| it | @ |\n",
];

#[derive(Default)]
struct Score {
    planted: usize,
    found: usize,
    wrong: usize,
}

fn set() -> Set {
    let mut builder = Set::builder();
    for name in ["secret", "personal", "ip_address"] {
        builder.detector(0, name).unwrap();
    }
    builder.build().unwrap()
}

/// Texts without anything to find, each with its name.
fn clean() -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for entry in fs::read_dir(here.join("tests/corpus/clean")).unwrap() {
        let path = entry.unwrap().path();
        texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
    }
    let lock = here.join("../../Cargo.lock");
    texts.push((lock.display().to_string(), fs::read_to_string(&lock).unwrap()));
    assert!(texts.len() >= 8, "where are the clean texts?");
    texts
}

#[test]
fn recall_and_precision_of_each_detector() {
    let set = set();
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for detector in detectors() {
        for (seed, place) in (0..EACH).flat_map(|seed| PLACES.map(|place| (seed, place))) {
            let mut dice = Dice::new(seed as u64 + 1);
            let (lead, secret) =
                plant(detector.name, &mut dice).unwrap_or_else(|| panic!("no {}", detector.name));
            let after = match (detector.name, lead.chars().last()) {
                ("url_password", _) => "@db:5432/x",
                (_, Some('"')) => "\"",
                (_, Some('\'')) => "'",
                _ => "",
            };
            let text = place.replace('@', &format!("{lead}{secret}{after}"));
            let start = text.find(&secret).unwrap();
            judge(&set, &text, start..start + secret.len(), &detector, &mut scores);
        }
    }
    for (_, text) in clean() {
        for hit in set.find(&text) {
            let name = detectors().find(|it| it.name == &*hit.kind).unwrap().name;
            scores.entry(name).or_default().wrong += 1;
        }
    }
    let mut low = Vec::new();
    // Not by `println!`, which is only shown when a test fails.
    let mut shown =
        String::from("| detector | planted | recall | precision |\n|---|---|---|---|\n");
    for (name, score) in &scores {
        let recall = score.found as f64 / score.planted.max(1) as f64;
        let precision = score.planted as f64 * recall
            / (score.planted as f64 * recall + score.wrong as f64).max(1.0);
        let planted = score.planted;
        shown.push_str(&format!("| `{name}` | {planted} | {recall:.3} | {precision:.3} |\n"));
        if recall < RECALL || precision < PRECISION {
            low.push(format!("{name}: recall {recall:.3}, precision {precision:.3}"));
        }
    }
    let _ = std::io::Write::write_all(&mut std::io::stderr(), shown.as_bytes());
    assert!(low.is_empty(), "{}", low.join("\n"));
}

/// The planted one must be covered, by its own detector or by one of its group; any other finding
/// is wrong.
fn judge(
    set: &Set,
    text: &str,
    planted: std::ops::Range<usize>,
    detector: &DetectorInfo,
    scores: &mut BTreeMap<&str, Score>,
) {
    let hits = set.find(text);
    let group = |kind: &str| detectors().find(|it| it.name == kind).map(|it| it.group);
    let covers = |hit: &&callgate_scan::Hit| {
        hit.span.start <= planted.start
            && planted.end <= hit.span.end
            && group(&hit.kind) == Some(detector.group)
    };
    let score = scores.entry(name_of(detector.name)).or_default();
    score.planted += 1;
    score.found += usize::from(hits.iter().any(|hit| covers(&hit)));
    for hit in
        hits.iter().filter(|hit| hit.span.end <= planted.start || planted.end <= hit.span.start)
    {
        scores.entry(name_of(&hit.kind)).or_default().wrong += 1;
    }
}

fn name_of(kind: &str) -> &'static str {
    detectors().find(|it| it.name == kind).unwrap().name
}

#[test]
fn clean_text_has_no_secret() {
    let set = set();
    let mut wrong = Vec::new();
    for (name, text) in clean() {
        for hit in set.find(&text) {
            let secret =
                detectors().any(|it| it.name == &*hit.kind && it.group == DetectorGroup::Secret);
            if secret {
                wrong.push(format!("{name}: {} `{}`", hit.kind, &text[hit.span]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
