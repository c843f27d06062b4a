//! Filters for records.

use callgate_call::Surface;
use globset::{GlobBuilder, GlobMatcher};
use jiff::Timestamp;

use crate::record::{CallOutcome, Record, RecordKind, RecordedPrincipal};

/// Selects records and their order. The default is all records, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Records of these kinds; of every kind if empty.
    pub kinds: Vec<RecordKind>,
    /// Records of this session.
    pub session: Option<String>,
    /// Records of this request. Counts ignore it.
    pub request: Option<String>,
    /// Records of a tool whose name matches this pattern (`*`, `?`, case-insensitive).
    pub tool: Option<String>,
    /// Records of an MCP server that matches this pattern.
    pub server: Option<String>,
    /// Records from this surface.
    pub surface: Option<Surface>,
    /// Records with this outcome.
    pub verdict: Option<CallOutcome>,
    /// Records that this rule decided, or in which it matched as an audit or shadow rule.
    pub rule: Option<String>,
    /// Records of a model that matches this pattern.
    pub model: Option<String>,
    /// Records of a provider whose name in the configuration matches this pattern.
    pub provider: Option<String>,
    /// Records of these principals.
    pub who: WhoFilter,
    /// Records at or after this time.
    pub since: Option<Timestamp>,
    /// Records before this time.
    pub until: Option<Timestamp>,
    /// Records with a higher sequence number: `tail` uses this.
    pub after: Option<u64>,
    /// At most this many records.
    pub limit: Option<usize>,
    /// Which records come first.
    pub order: RecordOrder,
}

/// A pattern of the filter is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a valid pattern: {why}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Selects principals: each field is a pattern (`*`, `?`, case-insensitive). A record without the
/// field does not match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WhoFilter {
    /// Of this user.
    pub user: Option<String>,
    /// Of this team.
    pub team: Option<String>,
    /// Of this organisation.
    pub org: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this gateway key, by its name.
    pub key: Option<String>,
}

impl WhoFilter {
    /// Whether it selects every principal.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which records come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordOrder {
    /// The newest.
    #[default]
    NewestFirst,
    /// The oldest.
    OldestFirst,
}

/// A pattern of a filter: `*`, `?`, case-insensitive.
#[derive(Debug, Clone)]
pub struct FilterPattern(GlobMatcher);

impl FilterPattern {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let glob = GlobBuilder::new(pattern)
            .case_insensitive(true)
            .literal_separator(false)
            .backslash_escape(true)
            .build();
        match glob {
            Ok(glob) => Ok(Self(glob.compile_matcher())),
            Err(error) => {
                Err(PatternError { pattern: pattern.to_owned(), why: error.kind().to_string() })
            }
        }
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// A filter with its patterns compiled.
#[derive(Debug)]
pub struct CompiledFilter<'a> {
    /// The filter.
    pub filter: &'a Filter,
    tool: Option<FilterPattern>,
    server: Option<FilterPattern>,
    model: Option<FilterPattern>,
    provider: Option<FilterPattern>,
    who: CompiledWhoFilter,
}

#[derive(Debug)]
struct CompiledWhoFilter {
    user: Option<FilterPattern>,
    team: Option<FilterPattern>,
    org: Option<FilterPattern>,
    agent: Option<FilterPattern>,
    key: Option<FilterPattern>,
}

impl CompiledWhoFilter {
    fn new(filter: &WhoFilter) -> Result<Self, PatternError> {
        Ok(Self {
            user: compile(filter.user.as_deref())?,
            team: compile(filter.team.as_deref())?,
            org: compile(filter.org.as_deref())?,
            agent: compile(filter.agent.as_deref())?,
            key: compile(filter.key.as_deref())?,
        })
    }

    fn passes(&self, who: &RecordedPrincipal) -> bool {
        matches(&self.user, who.user.as_deref())
            && matches(&self.team, who.team.as_deref())
            && matches(&self.org, who.org.as_deref())
            && matches(&self.agent, who.agent.as_deref())
            && matches(&self.key, who.key.as_deref())
    }
}

impl<'a> CompiledFilter<'a> {
    /// Compiles the patterns of a filter.
    pub fn new(filter: &'a Filter) -> Result<Self, PatternError> {
        Ok(Self {
            filter,
            tool: compile(filter.tool.as_deref())?,
            server: compile(filter.server.as_deref())?,
            model: compile(filter.model.as_deref())?,
            provider: compile(filter.provider.as_deref())?,
            who: CompiledWhoFilter::new(&filter.who)?,
        })
    }

    /// Whether a record passes all conditions except `after`, `limit` and `order`, which the reader
    /// applies.
    pub fn passes(&self, record: &Record) -> bool {
        let filter = self.filter;
        let tool = record.tool.as_ref();
        self.passes_turn(record)
            && filter.request.as_ref().is_none_or(|it| record.request.as_ref() == Some(it))
            && (filter.kinds.is_empty() || filter.kinds.contains(&record.kind))
            && filter.surface.is_none_or(|surface| record.surface == Some(surface))
            && filter.verdict.is_none_or(|action| {
                record.verdict.as_ref().is_some_and(|verdict| verdict.action == action)
            })
            && filter.rule.as_deref().is_none_or(|rule| has_rule(record, rule))
            && matches(&self.tool, tool.map(|tool| tool.name.as_str()))
            && matches(&self.server, tool.and_then(|tool| tool.server.as_deref()))
    }

    /// Whether a record passes the conditions that also apply to turns.
    pub fn passes_turn(&self, record: &Record) -> bool {
        let filter = self.filter;
        filter.since.is_none_or(|since| record.time >= since)
            && filter.until.is_none_or(|until| record.time < until)
            && filter.session.as_ref().is_none_or(|it| record.who.session.as_ref() == Some(it))
            && self.who.passes(&record.who)
            && self.passes_model(record.provider.as_deref(), record.model.as_deref())
    }

    /// Whether a principal passes.
    pub fn passes_who(&self, who: &RecordedPrincipal) -> bool {
        self.who.passes(who)
    }

    /// Whether a provider and a model pass.
    pub fn passes_model(&self, provider: Option<&str>, model: Option<&str>) -> bool {
        matches(&self.provider, provider) && matches(&self.model, model)
    }
}

fn has_rule(record: &Record, rule: &str) -> bool {
    let Some(verdict) = &record.verdict else { return false };
    let others = verdict.audits.iter().chain(&verdict.shadows).chain(&verdict.sanitized);
    others.map(|hit| &hit.rule).chain([&verdict.rule]).any(|it| it.as_deref() == Some(rule))
}

fn matches(pattern: &Option<FilterPattern>, text: Option<&str>) -> bool {
    match (pattern, text) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(pattern), Some(text)) => pattern.matches(text),
    }
}

fn compile(pattern: Option<&str>) -> Result<Option<FilterPattern>, PatternError> {
    pattern.map(FilterPattern::new).transpose()
}
