//! The settings with a few fixed values. Each value is defined here, for the reader, the schema
//! and the reference.

use callgate_decide::mcp::{CheckAction, ServerKind, Severity};
use callgate_decide::{OddArguments, OnFailure, Oversize};
use callgate_dialect::Dialect;
use callgate_gate::{Malformed, Notice, OnDeny};
use callgate_proxy::{Inbound, InspectionMode};
use callgate_store::Durability;

use crate::protect::Protect;

/// A setting with a few values, and the word for each.
pub trait SettingWord: Copy + 'static {
    /// Every word and what it means.
    fn words() -> Vec<(&'static str, Self)>;
}

/// The words alone.
pub(crate) fn words_of<W: SettingWord>() -> Vec<&'static str> {
    W::words().into_iter().map(|(word, _)| word).collect()
}

/// The value for a word.
pub(crate) fn value_of<W: SettingWord>(word: &str) -> Option<W> {
    W::words().into_iter().find(|(known, _)| *known == word).map(|(_, value)| value)
}

/// The word for a value.
pub fn word_for<W: SettingWord + PartialEq>(value: W) -> &'static str {
    W::words().into_iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

impl SettingWord for OnDeny {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("continue", Self::Continue), ("explain", Self::Explain), ("silent", Self::Silent)]
    }
}

impl SettingWord for Notice {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("line", Self::Line), ("none", Self::None)]
    }
}

impl SettingWord for Malformed {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("withhold", Self::Withhold), ("pass", Self::Pass)]
    }
}

impl SettingWord for Oversize {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("judge", Self::Judge), ("allow", Self::Allow), ("deny", Self::Deny)]
    }
}

impl SettingWord for OddArguments {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("judge", Self::Judge), ("deny", Self::Deny)]
    }
}

impl SettingWord for OnFailure {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("deny", Self::Deny), ("allow", Self::Allow)]
    }
}

impl SettingWord for Protect {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("on", Self::On), ("off", Self::Off)]
    }
}

impl SettingWord for InspectionMode {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("full", Self::Full), ("calls-only", Self::CallsOnly), ("off", Self::Off)]
    }
}

/// How requests to a provider are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestSigning {
    /// With AWS Signature Version 4.
    Aws,
}

impl SettingWord for RequestSigning {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("aws", Self::Aws)]
    }
}

impl SettingWord for Inbound {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("reject", Self::Reject), ("strip", Self::Strip)]
    }
}

impl SettingWord for Durability {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("disk", Self::Disk), ("process", Self::Process)]
    }
}

impl SettingWord for Dialect {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|dialect| (dialect.as_str(), dialect)).to_vec()
    }
}

impl SettingWord for ServerKind {
    fn words() -> Vec<(&'static str, Self)> {
        [Self::Stdio, Self::Http, Self::Sse].map(|kind| (kind.as_str(), kind)).to_vec()
    }
}

impl SettingWord for CheckAction {
    fn words() -> Vec<(&'static str, Self)> {
        vec![("block", Self::Block), ("alert", Self::Alert), ("allow", Self::Allow)]
    }
}

impl SettingWord for Severity {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|severity| (severity.word(), severity)).to_vec()
    }
}

/// How long a rate counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    Second,
    Minute,
    Hour,
    Day,
}

impl Period {
    pub(crate) fn seconds(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
        }
    }
}

impl SettingWord for Period {
    fn words() -> Vec<(&'static str, Self)> {
        vec![
            ("second", Self::Second),
            ("minute", Self::Minute),
            ("hour", Self::Hour),
            ("day", Self::Day),
        ]
    }
}
