//! Findings, and a bounded list of them.

use std::ops::Range;

use super::class::{FindingClass, Severity};
use crate::redact::redact;

/// Something in a server's text that should not reach the model or the user without a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its class.
    pub class: FindingClass,
    /// Its severity.
    pub severity: Severity,
    /// What was found, in one short line without secrets and invisible characters.
    pub detail: String,
    /// Its span in the inspected text. In a JSON document these are bytes of the document, not of
    /// the decoded string.
    pub span: Range<usize>,
    /// The string it was found in, as `inputSchema.properties.note.description`; empty for a
    /// plain text.
    pub path: String,
}

/// How many findings of one class are kept for one text: more are not needed for a decision, and
/// must not fill a log. Those with the highest severity are kept.
const MAX_PER_CLASS: usize = 8;

/// A bounded list of findings.
#[derive(Debug, Default)]
pub(super) struct FindingList(Vec<Finding>);

impl FindingList {
    pub(super) fn add(
        &mut self,
        class: FindingClass,
        severity: Severity,
        span: Range<usize>,
        detail: String,
    ) {
        self.keep(Finding { class, severity, detail, span, path: String::new() });
    }

    pub(super) fn keep(&mut self, finding: Finding) {
        let same = self.0.iter().filter(|it| it.class == finding.class);
        if same.count() < MAX_PER_CLASS {
            self.0.push(finding);
            return;
        }
        let same = self.0.iter_mut().filter(|it| it.class == finding.class);
        if let Some(mildest) = same.min_by_key(|it| it.severity)
            && mildest.severity < finding.severity
        {
            *mildest = finding;
        }
    }

    pub(super) fn has(&self, wanted: impl Fn(&Finding) -> bool) -> bool {
        self.0.iter().any(wanted)
    }

    pub(super) fn worst(&self) -> Option<&Finding> {
        self.0.iter().max_by_key(|finding| finding.severity)
    }

    /// Raises severities for signs that are worse together: an instruction for the model together
    /// with a file of keys or an address to send to is an attack, while each alone may be a clumsy
    /// description. So are two kinds of instructions in a text that the server itself wrote.
    pub(super) fn raise_combined(&mut self, own_text: bool) {
        let signs =
            [FindingClass::Directive, FindingClass::SensitivePath, FindingClass::Exfiltration];
        let seen = signs.map(|class| {
            self.has(|finding| finding.class == class && finding.severity >= Severity::Medium)
        });
        if seen.into_iter().filter(|seen| *seen).count() < 2 && !(own_text && self.orders_differ())
        {
            return;
        }
        for finding in &mut self.0 {
            if signs.contains(&finding.class) && finding.severity >= Severity::Medium {
                finding.severity = finding.severity.raised();
            }
        }
    }

    /// Whether two instructions are of different kinds: each detail begins with its kind.
    fn orders_differ(&self) -> bool {
        let strong =
            |it: &&Finding| it.class == FindingClass::Directive && it.severity >= Severity::Medium;
        let mut sorts = self.0.iter().filter(strong).map(|it| it.detail.split(':').next());
        let first = sorts.next();
        first.is_some_and(|first| sorts.any(|other| other != first))
    }

    /// The findings in the order of the text.
    pub(super) fn into_vec(mut self) -> Vec<Finding> {
        self.0.sort_by(|a, b| {
            (a.span.start, a.class, a.span.end).cmp(&(b.span.start, b.class, b.span.end))
        });
        self.0
    }

    pub(super) fn drain(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.0)
    }
}

/// How much of a text a detail shows: enough to recognise it, too little to act on.
const SHOWN: usize = 72;

/// A short excerpt: one line, with secrets replaced and without invisible characters.
pub(super) fn excerpt(text: &str) -> String {
    let cut = text.floor_char_boundary(text.len().min(SHOWN * 4));
    let head = redact(text.get(..cut).unwrap_or(""));
    let mut shown = String::new();
    let mut count = 0;
    let mut space = false;
    for c in head.chars() {
        if count >= SHOWN {
            shown.push('…');
            break;
        }
        if c.is_whitespace() {
            space = !shown.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            shown.push(' ');
        }
        if c.is_control() || super::chars::is_invisible(c) || super::chars::is_private(c) {
            shown.push_str(&format!("<U+{:04X}>", u32::from(c)));
            count += 7;
        } else {
            shown.push(c);
        }
        count += 1;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_visible() {
        assert_eq!(excerpt("a\n\u{202e}b \u{1b}[0m"), "a <U+202E>b <U+001B>[0m");
        assert_eq!(excerpt(&"x".repeat(500)).chars().count(), SHOWN + 1);
        let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
        assert_eq!(excerpt(&key), "[REDACTED:aws_access_key_id]");
    }

    #[test]
    fn a_flood_does_not_push_out_the_worst() {
        let mut findings = FindingList::default();
        for at in 0..100 {
            findings.add(FindingClass::Directive, Severity::Low, at..at + 1, String::new());
        }
        findings.add(FindingClass::Directive, Severity::Critical, 200..201, "worst".into());
        let kept = findings.into_vec();
        assert_eq!(kept.len(), MAX_PER_CLASS);
        assert!(kept.iter().any(|finding| finding.detail == "worst"));
    }
}
