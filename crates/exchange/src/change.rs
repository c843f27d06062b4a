//! What differs between the rules that were read and the rules that were written.

use callgate_document::SourceSpan;
use serde::Serialize;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDifference {
    /// Where in the source.
    pub span: SourceSpan,
    /// The file that `span` is about: the position in the list of sources.
    pub source: usize,
    /// The rule or setting, as written there.
    pub written: String,
    /// The rule that it became, if there is one.
    pub rule: Option<String>,
    /// In which direction.
    pub kind: DifferenceKind,
    /// What differs, and why.
    pub message: String,
}

/// The direction of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// The result has nothing for it.
    LeftOut,
    /// The result restricts more, or allows less.
    Stricter,
    /// The result covers only a part of it.
    Partial,
}

impl DifferenceKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeftOut => "left out",
            Self::Stricter => "stricter",
            Self::Partial => "partial",
        }
    }
}
