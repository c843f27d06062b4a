//! What an inspection of an MCP server's texts found, as it is passed to a judgement.

use callgate_scan::inspect::Finding;

/// What is known about a server's texts when a call is judged: its tool's definition, or its
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Findings<'f> {
    /// The texts were not inspected: a condition on findings is unknown.
    #[default]
    NotInspected,
    /// The texts were inspected, and this is everything that was found.
    Of(&'f [Finding]),
}

/// A finding in a few words, for `explain`.
pub(crate) fn describe(finding: &Finding) -> String {
    let place = match finding.path.as_str() {
        "" => String::new(),
        path => format!(" at {path}"),
    };
    format!("{} ({}){place}: {}", finding.class, finding.severity, finding.detail)
}
