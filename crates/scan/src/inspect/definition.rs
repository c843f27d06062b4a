//! Inspects the definition of a tool.

use super::class::{FindingClass, Severity};
use super::document::{DocumentWalk, shown, unreadable, worst_of};
use super::finding::{Finding, excerpt};
use super::schema::SchemaFindings;
use super::similar::{Similarity, similar};
use super::{InspectionContext, OtherTools, TextSource};

/// The findings in the definition of one tool: the JSON object as the server sent it.
///
/// Reads every string, including keys, titles, defaults, examples, annotations and unknown members,
/// because some agents show them to their model. Then checks the schemas, and compares the name
/// with those of other servers' tools.
pub fn inspect_definition(tool: &str, known: &OtherTools) -> Vec<Finding> {
    let context = InspectionContext { place: TextSource::Definition, known };
    let mut schema = SchemaFindings::default();
    let mut walk = DocumentWalk::new(tool, &context);
    if let Err(error) = walk.document(&mut |seen, place| schema.see(seen, place)) {
        return unreadable(tool, &error, &context);
    }
    let mut found = walk.found;
    if let Some((name, span)) = &schema.name {
        found.extend(look_alikes(name, span, known));
    }
    found.extend(schema.findings());
    raise_combined(&mut found);
    worst_of(found)
}

/// Raises severities for signs that are worse together: one model reads all strings of a
/// definition.
fn raise_combined(found: &mut [Finding]) {
    let signs = [
        FindingClass::Directive,
        FindingClass::SensitivePath,
        FindingClass::Exfiltration,
        FindingClass::SchemaTrick,
    ];
    let strong = |class: FindingClass| {
        found.iter().any(|it| it.class == class && it.severity >= Severity::Medium)
    };
    if signs.into_iter().filter(|class| strong(*class)).count() < 2 {
        return;
    }
    for finding in found {
        if signs.contains(&finding.class) && finding.severity == Severity::Medium {
            finding.severity = Severity::High;
        }
    }
}

fn look_alikes<'f>(
    name: &'f str,
    span: &'f std::ops::Range<usize>,
    known: &'f OtherTools,
) -> impl Iterator<Item = Finding> + 'f {
    known.names().iter().filter_map(move |other| {
        let how = similar(name, other)?;
        let (severity, what) = match how {
            Similarity::Case => (Severity::Medium, "differs only in case or separators from"),
            Similarity::Confusable => (Severity::High, "looks the same as"),
            Similarity::Distance(_) => (Severity::Low, "is easily confused with"),
        };
        Some(Finding {
            class: FindingClass::LookAlike,
            severity,
            detail: format!("`{}` {what} `{}` of another server", excerpt(name), excerpt(other)),
            span: span.clone(),
            path: shown(&["name".to_owned()]),
        })
    })
}
