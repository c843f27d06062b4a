//! Reading the words for findings, in conditions and examples.

use callgate_document::{At, Mapping, Node, Problems, text, texts, word};
use callgate_scan::inspect::{Finding, FindingClass, Severity};

/// One class or a list of them.
pub(crate) fn classes(node: &Node, problems: &mut Problems<'_>) -> Vec<FindingClass> {
    let words = texts(node, "`class`", problems);
    words.iter().filter_map(|written| class(written, problems)).collect()
}

fn class(written: &At<String>, problems: &mut Problems<'_>) -> Option<FindingClass> {
    let known = FindingClass::ALL.map(|class| (class.word(), class));
    word(written, "class of findings", &known, &[], problems).map(|at| at.value)
}

pub(crate) fn severity(node: &Node, problems: &mut Problems<'_>) -> Option<Severity> {
    let known = Severity::ALL.map(|severity| (severity.word(), severity));
    let written = text(node, "`severity`", problems)?;
    word(&written, "severity", &known, &[], problems).map(|at| at.value)
}

/// The finding of an example: `{ class: directive, severity: high }`.
pub(super) fn example(node: &Node, problems: &mut Problems<'_>) -> Option<Finding> {
    let fields = Mapping::of(node, "`finding`", problems)?;
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
