//! Recall and precision of the inspection on the corpus in `corpus/poison`, with texts of hostile
//! and of honest servers. `--nocapture` shows the tables.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use callgate_scan::inspect::{
    Finding, FindingClass, InspectionContext, OtherTools, Severity, TextSource, inspect_definition,
    inspect_json, inspect_text, strip,
};
use serde_json::Value;

/// At any severity, over the whole corpus.
const RECALL: f64 = 0.9;
const PRECISION: f64 = 0.95;

/// At `High` and above, which blocks by default.
const BLOCKING_RECALL: f64 = 0.85;
const BLOCKING_PRECISION: f64 = 0.98;

/// For each class, on the entries about it.
const CLASS_RECALL: f64 = 0.8;

/// One line of the corpus.
struct Entry {
    id: String,
    kind: String,
    /// The class it is an example of; `None` for honest ones.
    class: Option<FindingClass>,
    /// The document as it is in the file, or the text.
    body: Body,
    known: OtherTools,
    /// From a published server, not written for this test.
    real: bool,
    held_out: bool,
}

enum Body {
    Json(String),
    Text(String),
}

impl Entry {
    fn read(line: &str, file: &str) -> Self {
        let raw: BTreeMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}\n{line}"));
        let text = |key: &str| -> Option<String> {
            raw.get(key).map(|value| serde_json::from_str(value.get()).unwrap())
        };
        let body = match (raw.get("json"), text("text")) {
            (Some(json), None) => Body::Json(json.get().to_owned()),
            (None, Some(text)) => Body::Text(text),
            _ => panic!("{file}: one of `json` and `text`\n{line}"),
        };
        let names: Vec<String> = raw
            .get("known")
            .map(|names| serde_json::from_str(names.get()).unwrap())
            .unwrap_or_default();
        Self {
            id: text("id").unwrap(),
            kind: text("kind").unwrap(),
            class: text("class").map(|word| word.parse().unwrap()),
            body,
            known: OtherTools::new(names),
            real: raw.contains_key("source"),
            held_out: file.contains("held-out"),
        }
    }

    fn place(&self) -> TextSource {
        match self.kind.as_str() {
            "definition" => TextSource::Definition,
            "instructions" => TextSource::Instructions,
            "prompt" => TextSource::Prompt,
            "resource" => TextSource::Resource,
            "result" => TextSource::Result,
            "progress" => TextSource::Progress,
            "sampling" => TextSource::Sampling,
            "elicitation" => TextSource::Elicitation,
            other => panic!("{}: no kind `{other}`", self.id),
        }
    }

    fn inspect(&self) -> Vec<Finding> {
        let context = InspectionContext { place: self.place(), known: &self.known };
        match &self.body {
            Body::Json(json) if self.kind == "definition" => inspect_definition(json, &self.known),
            Body::Json(json) => inspect_json(json, &context),
            Body::Text(text) => inspect_text(text, &context),
        }
    }

    fn body(&self) -> &str {
        match &self.body {
            Body::Json(text) | Body::Text(text) => text,
        }
    }
}

fn entries(folder: &str) -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/poison").join(folder);
    let mut found: Vec<Entry> = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        found.extend(text.lines().map(|line| Entry::read(line, &name)));
    }
    let mut ids: Vec<&str> = found.iter().map(|entry| entry.id.as_str()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id occurs twice in {}", folder.display());
    assert!(all >= 150, "{all} in {}", folder.display());
    found
}

fn worst(findings: &[Finding]) -> Option<Severity> {
    findings.iter().map(|finding| finding.severity).max()
}

#[derive(Default)]
struct Score {
    hostile: usize,
    found: usize,
    blocked: usize,
    honest: usize,
    flagged: usize,
    stopped: usize,
}

impl Score {
    fn hostile(&mut self, findings: &[Finding]) {
        self.hostile += 1;
        self.found += usize::from(!findings.is_empty());
        self.blocked += usize::from(worst(findings) >= Some(Severity::High));
    }

    fn honest(&mut self, findings: &[Finding]) {
        self.honest += 1;
        self.flagged += usize::from(!findings.is_empty());
        self.stopped += usize::from(worst(findings) >= Some(Severity::High));
    }

    fn recall(&self) -> (f64, f64) {
        (ratio(self.found, self.hostile), ratio(self.blocked, self.hostile))
    }

    fn precision(&self) -> (f64, f64) {
        (
            ratio(self.found, self.found + self.flagged),
            ratio(self.blocked, self.blocked + self.stopped),
        )
    }

    fn row(&self, name: &str) -> String {
        let (recall, blocking_recall) = self.recall();
        let (precision, blocking_precision) = self.precision();
        let Self { hostile, honest, .. } = self;
        format!(
            "| {name} | {hostile} | {honest} | {recall:.3} | {precision:.3} | \
             {blocking_recall:.3} | {blocking_precision:.3} |\n"
        )
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The findings of one class.
fn of(class: FindingClass, findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| finding.class == class).collect()
}

#[test]
fn precision_and_recall() {
    let (hostile, honest) = (entries("hostile"), entries("honest"));
    let mut all = Score::default();
    let mut held_out = Score::default();
    let mut classes: BTreeMap<FindingClass, Score> = BTreeMap::new();
    let mut notes = String::new();
    for entry in &hostile {
        let class = entry.class.unwrap_or_else(|| panic!("{}: no class", entry.id));
        let findings = entry.inspect();
        all.hostile(&findings);
        if entry.held_out {
            held_out.hostile(&findings);
        }
        if worst(&findings) < Some(Severity::High) {
            notes.push_str(&format!("not stopped: {} {:?}\n", entry.id, worst(&findings)));
        }
        let own = of(class, findings);
        if own.is_empty() {
            notes.push_str(&format!("not seen as {class}: {}\n", entry.id));
        }
        classes.entry(class).or_default().hostile(&own);
    }
    for entry in &honest {
        let findings = entry.inspect();
        all.honest(&findings);
        if entry.held_out {
            held_out.honest(&findings);
        }
        for finding in &findings {
            let Finding { class, severity, detail, path, .. } = finding;
            notes.push_str(&format!("honest: {} {class} {severity} {path} {detail}\n", entry.id));
        }
        for class in FindingClass::ALL {
            let own = of(class, findings.clone());
            classes.entry(class).or_default().honest(&own);
        }
    }
    let mut shown = String::from(
        "| class | hostile | honest | recall | precision | recall at high | precision at high |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (class, score) in &classes {
        shown.push_str(&score.row(class.word()));
    }
    shown.push_str(&held_out.row("held out"));
    shown.push_str(&all.row("all"));
    // Not by `println!`, which is only shown when a test fails.
    let _ = std::io::stderr().write_all(format!("{notes}{shown}").as_bytes());

    let ((recall, blocking_recall), (precision, blocking_precision)) =
        (all.recall(), all.precision());
    assert!(recall >= RECALL && precision >= PRECISION, "{recall:.3} {precision:.3}");
    assert!(blocking_recall >= BLOCKING_RECALL, "{blocking_recall:.3}");
    assert!(blocking_precision >= BLOCKING_PRECISION, "{blocking_precision:.3}");
    for (class, score) in classes.iter().filter(|(_, score)| score.hostile > 0) {
        assert!(score.recall().0 >= CLASS_RECALL, "{class}: {:.3}", score.recall().0);
    }
}

/// Nothing from a published server is blocked.
#[test]
fn reference_servers_are_not_stopped() {
    let real: Vec<Entry> = entries("honest").into_iter().filter(|entry| entry.real).collect();
    assert!(real.len() >= 80, "{} of reference servers", real.len());
    for entry in real {
        let findings = entry.inspect();
        assert!(worst(&findings) < Some(Severity::High), "{}: {findings:#?}", entry.id);
    }
}

/// Spans are within the inspected text, and details are one short visible line.
#[test]
fn findings_are_well_formed() {
    for entry in entries("hostile").iter().chain(&entries("honest")) {
        let body = entry.body();
        for finding in entry.inspect() {
            assert!(body.get(finding.span.clone()).is_some(), "{}: {finding:?}", entry.id);
            assert!(finding.detail.len() < 900, "{}: {finding:?}", entry.id);
            assert!(!finding.detail.chars().any(char::is_control), "{}: {finding:?}", entry.id);
        }
    }
}

/// After stripping, documents are valid, honest text is unchanged, and there is nothing left to
/// strip.
#[test]
fn stripping_the_corpus() {
    for entry in entries("hostile").iter().chain(&entries("honest")) {
        let Some(clean) = strip(entry.body()) else { continue };
        assert_eq!(strip(&clean), None, "{}", entry.id);
        if let Body::Json(json) = &entry.body
            && serde_json::from_str::<Value>(json).is_ok()
        {
            assert!(serde_json::from_str::<Value>(&clean).is_ok(), "{}: {clean}", entry.id);
        }
    }
}
