//! The condition `finding`: whether an inspection of what an MCP server says found something.

use callgate_call::json::quote;
use callgate_scan::inspect::{Class, Finding, Severity};

use crate::judgement::Matched;
use crate::tri::Tri;

/// What is known of a server's texts when a call is judged: its tool's definition, or its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Findings<'f> {
    /// Nobody looked: a condition on findings is unknown.
    #[default]
    NotInspected,
    /// Somebody looked and found these, or nothing.
    Of(&'f [Finding]),
}

/// Which findings a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FindingTest {
    /// Of one of these classes; of any where empty.
    pub(crate) classes: Vec<Class>,
    /// At least this bad.
    pub(crate) severity: Option<Severity>,
}

impl FindingTest {
    pub(crate) fn holds(&self, findings: Findings<'_>) -> Tri {
        match findings {
            Findings::NotInspected => Tri::Unknown,
            Findings::Of(list) => list.iter().any(|finding| self.wants(finding)).into(),
        }
    }

    fn wants(&self, finding: &Finding) -> bool {
        (self.classes.is_empty() || self.classes.contains(&finding.class))
            && self.severity.is_none_or(|least| finding.severity >= least)
    }

    /// The worst that fits, by its class: the model is told, and must not be given the very text
    /// that was found.
    pub(crate) fn matched(&self, findings: Findings<'_>) -> Option<Matched> {
        let Findings::Of(list) = findings else { return None };
        let fitting = list.iter().filter(|finding| self.wants(finding));
        let worst = fitting.max_by_key(|finding| finding.severity)?;
        let value = format!("{} ({})", worst.class, worst.severity);
        Some(Matched { path: "finding".to_owned(), value })
    }

    /// What the rule says, as JSON.
    pub(crate) fn written(&self) -> String {
        let classes: Vec<String> = self.classes.iter().map(|class| quote(class.word())).collect();
        let class = (!classes.is_empty()).then(|| format!("\"class\":[{}]", classes.join(",")));
        let severity = self.severity.map(|least| format!("\"severity\":{}", quote(least.word())));
        let parts: Vec<String> = class.into_iter().chain(severity).collect();
        match parts.is_empty() {
            true => quote(ANY),
            false => format!("{{{}}}", parts.join(",")),
        }
    }
}

/// Every finding.
pub(crate) const ANY: &str = "any";

/// A finding in a few words.
pub(crate) fn describe(finding: &Finding) -> String {
    let place = match finding.path.as_str() {
        "" => String::new(),
        path => format!(" at {path}"),
    };
    format!("{} ({}){place}: {}", finding.class, finding.severity, finding.detail)
}
