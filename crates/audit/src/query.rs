//! What to look for among the records.

use callgate_call::Surface;
use globset::{GlobBuilder, GlobMatcher};
use jiff::Timestamp;

use crate::error::ReadError;
use crate::record::{Action, Kind, Record};

/// Which records, in which order. The default is all of them, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these kinds; of every kind where empty.
    pub kinds: Vec<Kind>,
    /// Of this session.
    pub session: Option<String>,
    /// Of a tool whose name matches this pattern (`*`, `?`, without regard to case).
    pub tool: Option<String>,
    /// Of an MCP server that matches this pattern.
    pub server: Option<String>,
    /// Seen there.
    pub surface: Option<Surface>,
    /// With that outcome.
    pub verdict: Option<Action>,
    /// Decided by this rule, or with this rule among the audit and shadow rules beside it.
    pub rule: Option<String>,
    /// Of a model that matches this pattern.
    pub model: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Stored later than this number: what `tail` asks for.
    pub after: Option<u64>,
    /// At most so many.
    pub limit: Option<usize>,
    /// Which ones first.
    pub order: Order,
}

/// Which records come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest.
    #[default]
    NewestFirst,
    /// The oldest.
    OldestFirst,
}

/// A filter with its patterns compiled.
#[derive(Debug)]
pub(crate) struct Compiled<'a> {
    pub(crate) filter: &'a Filter,
    tool: Option<GlobMatcher>,
    server: Option<GlobMatcher>,
    model: Option<GlobMatcher>,
}

impl<'a> Compiled<'a> {
    pub(crate) fn new(filter: &'a Filter) -> Result<Self, ReadError> {
        Ok(Self {
            filter,
            tool: compile(filter.tool.as_deref())?,
            server: compile(filter.server.as_deref())?,
            model: compile(filter.model.as_deref())?,
        })
    }

    /// Whether a record passes: all but `after`, `limit` and `order`, which the reader sees to.
    pub(crate) fn passes(&self, record: &Record) -> bool {
        let filter = self.filter;
        let tool = record.tool.as_ref();
        self.passes_turn(record)
            && (filter.kinds.is_empty() || filter.kinds.contains(&record.kind))
            && filter.surface.is_none_or(|surface| record.surface == Some(surface))
            && filter.verdict.is_none_or(|action| {
                record.verdict.as_ref().is_some_and(|verdict| verdict.action == action)
            })
            && filter.rule.as_deref().is_none_or(|rule| has_rule(record, rule))
            && matches(&self.tool, tool.map(|tool| tool.name.as_str()))
            && matches(&self.server, tool.and_then(|tool| tool.server.as_deref()))
    }

    /// Whether a record passes what also a turn can be asked for.
    pub(crate) fn passes_turn(&self, record: &Record) -> bool {
        let filter = self.filter;
        filter.since.is_none_or(|since| record.time >= since)
            && filter.until.is_none_or(|until| record.time < until)
            && filter.session.as_ref().is_none_or(|it| record.who.session.as_ref() == Some(it))
            && self.passes_model(record.model.as_deref())
    }

    pub(crate) fn passes_model(&self, model: Option<&str>) -> bool {
        matches(&self.model, model)
    }
}

fn has_rule(record: &Record, rule: &str) -> bool {
    let Some(verdict) = &record.verdict else { return false };
    let beside = verdict.audits.iter().chain(&verdict.shadows).chain(&verdict.sanitized);
    beside.map(|hit| &hit.rule).chain([&verdict.rule]).any(|it| it.as_deref() == Some(rule))
}

fn matches(pattern: &Option<GlobMatcher>, text: Option<&str>) -> bool {
    match (pattern, text) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(pattern), Some(text)) => pattern.is_match(text),
    }
}

fn compile(pattern: Option<&str>) -> Result<Option<GlobMatcher>, ReadError> {
    let Some(pattern) = pattern else { return Ok(None) };
    let glob = GlobBuilder::new(pattern)
        .case_insensitive(true)
        .literal_separator(false)
        .backslash_escape(true)
        .build();
    match glob {
        Ok(glob) => Ok(Some(glob.compile_matcher())),
        Err(error) => {
            Err(ReadError::Pattern { pattern: pattern.to_owned(), why: error.kind().to_string() })
        }
    }
}
