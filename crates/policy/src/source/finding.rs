//! Reading a condition on findings.

use callgate_scan::inspect::{Class, Finding, Severity};

use super::read::{Fields, text, texts, word};
use crate::diagnostic::Problems;
use crate::finding::{ANY, FindingTest};
use crate::node::{Node, Yaml};

/// `finding: any`, or `finding: { class: [..], severity: high }` with either left out.
pub(super) fn finding(node: &Node, problems: &mut Problems<'_>) -> Option<FindingTest> {
    if let Yaml::String(written) = &node.value {
        let any = written == ANY;
        if !any {
            problems
                .add(node.span, format!("`finding` cannot be `{written}`"))
                .hint("write `finding: any`, or `finding: { class: [directive], severity: high }`");
        }
        return any.then_some(FindingTest { classes: Vec::new(), severity: None });
    }
    let fields = Fields::of(node, "`finding`", problems)?;
    let before = problems.len();
    fields.check(&["class", "severity"], &[], problems);
    if fields.entries.is_empty() {
        problems.add(node.span, "`finding` names nothing").hint("write `finding: any`");
    }
    let classes = fields.get("class").map(|node| classes(node, problems)).unwrap_or_default();
    let severity = fields.get("severity").and_then(|node| severity(node, problems));
    (problems.len() == before).then_some(FindingTest { classes, severity })
}

fn classes(node: &Node, problems: &mut Problems<'_>) -> Vec<Class> {
    let words = texts(node, "`class`", problems);
    words.iter().filter_map(|written| class(written, problems)).collect()
}

pub(super) fn class(
    written: &super::read::At<String>,
    problems: &mut Problems<'_>,
) -> Option<Class> {
    let known = Class::ALL.map(|class| (class.word(), class));
    word(written, "class of findings", &known, &[], problems).map(|at| at.value)
}

pub(super) fn severity(node: &Node, problems: &mut Problems<'_>) -> Option<Severity> {
    let known = Severity::ALL.map(|severity| (severity.word(), severity));
    let written = text(node, "`severity`", problems)?;
    word(&written, "severity", &known, &[], problems).map(|at| at.value)
}

/// The finding of an example: `{ class: directive, severity: high }`.
pub(super) fn example(node: &Node, problems: &mut Problems<'_>) -> Option<Finding> {
    let fields = Fields::of(node, "`finding`", problems)?;
    fields.check(&["class", "severity"], &[], problems);
    for key in ["class", "severity"] {
        if fields.get(key).is_none() {
            problems
                .add(fields.start(), format!("this finding has no `{key}`"))
                .hint("write it like `finding: { class: directive, severity: high }`");
        }
    }
    let written = text(fields.get("class")?, "`class`", problems)?;
    let (class, severity) =
        (class(&written, problems), severity(fields.get("severity")?, problems));
    let (detail, path) = ("an example".to_owned(), String::new());
    Some(Finding { class: class?, severity: severity?, detail, span: 0..0, path })
}
