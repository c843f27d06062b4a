//! What was tried and found.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use callgate_dialect::Dialect;
use serde_json::json;

use super::Tried;
use super::body::RequestMode;
use super::oracle::{Violation, ViolationKind};
use super::sample::BodySample;
use crate::sdk::ClientResults;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Report {
    totals: BTreeMap<(&'static str, RequestMode), Totals>,
    /// How often each exception was made.
    pub excepted: BTreeMap<&'static str, usize>,
    /// Violations of clients that the plan skips.
    pub skipped: usize,
    /// The violations.
    pub findings: Vec<FoundViolation>,
}

/// Counts for a dialect and mode.
#[derive(Debug, Default)]
pub struct Totals {
    /// Bodies that were tried.
    pub bodies: usize,
    /// Bodies that left as they came.
    pub identical: usize,
    /// Bodies that the clients read without callgate too.
    pub direct: usize,
    /// Those of them of which some client makes a call that the policy denies or changes.
    pub dangerous: usize,
    /// Readings of what left, one for each client.
    pub readings: usize,
    /// Calls in these readings.
    pub calls: usize,
}

/// A violation, and where it was seen.
#[derive(Debug)]
pub struct FoundViolation {
    /// The number of the body.
    pub number: u64,
    dialect: Dialect,
    mode: RequestMode,
    /// What was wrong.
    pub violation: Violation,
    /// A name for its folder, and the files in it.
    name: String,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Report {
    pub(super) fn totals(&mut self, dialect: Dialect, mode: RequestMode) -> &mut Totals {
        self.totals.entry((dialect.as_str(), mode)).or_default()
    }

    /// How many findings of this client and kind there are.
    pub(super) fn count(&self, sample: &BodySample, violation: &Violation) -> usize {
        let alike = |finding: &&FoundViolation| {
            finding.violation.client == violation.client
                && finding.violation.kind == violation.kind
                && finding.mode == sample.body.mode
        };
        self.findings.iter().filter(alike).count()
    }

    /// The sum of all counts.
    pub fn sum(&self) -> Totals {
        let mut sum = Totals::default();
        for totals in self.totals.values() {
            sum.bodies += totals.bodies;
            sum.identical += totals.identical;
            sum.direct += totals.direct;
            sum.dangerous += totals.dangerous;
            sum.readings += totals.readings;
            sum.calls += totals.calls;
        }
        sum
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<26} {:>8} {:>10} {:>14} {:>10} {:>9} {:>7}",
            "differential",
            "bodies",
            "unchanged",
            "read directly",
            "dangerous",
            "readings",
            "calls"
        )?;
        let rows = self.totals.iter();
        let rows =
            rows.map(|((dialect, mode), totals)| (format!("{dialect} {}", mode.as_str()), totals));
        for (name, totals) in rows.chain([("all".to_owned(), &self.sum())]) {
            let Totals { bodies, identical, direct, dangerous, readings, calls } = totals;
            writeln!(
                out,
                "{name:<26} {bodies:>8} {identical:>10} {direct:>14} {dangerous:>10} {readings:>9} {calls:>7}"
            )?;
        }
        for (name, count) in &self.excepted {
            writeln!(out, "accepted: {name}: {count}")?;
        }
        if self.skipped > 0 {
            writeln!(out, "violations of skipped clients: {}", self.skipped)?;
        }
        let mut groups: BTreeMap<(&str, &str, &str, ViolationKind), Vec<&FoundViolation>> =
            BTreeMap::new();
        for finding in &self.findings {
            let Violation { client, kind, .. } = &finding.violation;
            let key = (finding.dialect.as_str(), finding.mode.as_str(), client.as_str(), *kind);
            groups.entry(key).or_default().push(finding);
        }
        for ((dialect, mode, client, kind), findings) in groups {
            writeln!(out, "\n{} x {kind:?}: {client}, {dialect} {mode}", findings.len())?;
            for finding in findings.iter().take(3) {
                writeln!(out, "  {} in {}", finding.violation.call, finding.name)?;
            }
        }
        Ok(())
    }
}

impl FoundViolation {
    pub(super) fn new(
        tried: &Tried,
        through: &ClientResults,
        direct: Option<&ClientResults>,
        violation: Violation,
        minimal: Option<&BodySample>,
    ) -> Self {
        let Tried { sample, gated, .. } = tried;
        let pretty = |value| serde_json::to_vec_pretty(&value).unwrap();
        let about = json!({
            "number": sample.number.to_string(),
            "dialect": sample.body.dialect.as_str(),
            "mode": sample.body.mode.as_str(),
            "origin": sample.origin,
            "passage": format!("{:?}", sample.passage),
            "client": violation.client,
            "kind": format!("{:?}", violation.kind),
            "call": violation.call,
            "judged": gated.judged.iter().map(|it| json!([it.name, it.arguments, it.allowed])).collect::<Vec<_>>(),
            "allowed_by_name": gated.streamed,
        });
        let mut files = vec![
            ("about.json", pretty(about)),
            ("policy.yaml", sample.policy.clone().into_bytes()),
            ("upstream", tried.upstream.clone()),
            ("out", gated.out.clone()),
            ("clients.json", pretty(json!(through))),
            ("clients-direct.json", pretty(json!(direct))),
        ];
        if let Some(minimal) = minimal {
            let gated = minimal.gated(&minimal.policies());
            files.push(("minimal-upstream", minimal.body.bytes()));
            files.push(("minimal-out", gated.out));
            files.push(("minimal-judged", format!("{:#?}\n", gated.judged).into_bytes()));
        }
        let (dialect, mode) = (sample.body.dialect, sample.body.mode);
        let client = violation.client.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let name = format!("{}-{}-{}-{client}", dialect.as_str(), mode.as_str(), sample.number);
        Self { number: sample.number, dialect, mode, violation, name, files }
    }

    /// Writes it to a folder of its own.
    pub(super) fn write(&self, folder: &Path) {
        let folder = folder.join(&self.name);
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}
