//! The record: one envelope for every decision and event.

mod change;
mod code;
mod id;
mod kind;
mod mcp;
mod policies;

use callgate_call::Surface;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use change::{ChangeTarget, RecordedChange};
pub use code::ReasonCode;
pub use id::{ParseIdError, RecordId};
pub use kind::RecordKind;
pub use mcp::{FindingFact, McpFacts};
pub use policies::{PolicyFacts, PolicyFile};

/// One event. The component that saw it creates it; it is redacted, numbered and chained when it is
/// appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id. Ids sort by time.
    pub id: RecordId,
    /// When it happened.
    pub time: Timestamp,
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: RecordKind,
    /// The surface where it happened.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "surface")]
    pub surface: Option<Surface>,
    /// Who acted.
    #[serde(default, skip_serializing_if = "RecordedPrincipal::is_unknown")]
    pub who: RecordedPrincipal,
    /// The subagent that acted, if the agent reports it. No door sets it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Subagent>,
    /// The working directory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The user's home directory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The request it belongs to: joins the calls of one response and its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The provider, by its name in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool and its input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<RecordedTool>,
    /// The decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<RecordedVerdict>,
    /// Where values of the call came from, as far as a rule asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<OriginFact>,
    /// The match of a text rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrail: Option<TextRuleMatch>,
    /// The MCP server it concerns, and the findings there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpFacts>,
    /// The policies that took effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<PolicyFacts>,
    /// The change that a person made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<RecordedChange>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Timing::is_unknown")]
    pub timing: Timing,
    /// The token usage of a turn. Readers copy it to the turn's calls.
    #[serde(default, skip_serializing_if = "Tokens::is_unknown")]
    pub tokens: Tokens,
    /// Why the model stopped, for a turn. Readers copy it to the turn's calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// How many calls the turn contained, for a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Details of an event: why something was withheld, which file, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The record that this one completes: it adds the input of a call that was denied by its name
    /// alone. Readers merge it into that record, and do not show this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completes: Option<RecordId>,
}

impl Record {
    /// A record of this kind with a new id and the current time.
    pub fn new(kind: RecordKind) -> Self {
        Self::of(RecordId::new(), kind)
    }

    /// Like [`Self::new`], with a given id.
    pub fn of(id: RecordId, kind: RecordKind) -> Self {
        Self {
            id,
            time: Timestamp::now(),
            kind,
            surface: None,
            who: RecordedPrincipal::default(),
            subagent: None,
            cwd: None,
            home: None,
            request: None,
            provider: None,
            dialect: None,
            model: None,
            tool: None,
            verdict: None,
            origins: Vec::new(),
            guardrail: None,
            mcp: None,
            policies: None,
            change: None,
            timing: Timing::default(),
            tokens: Tokens::default(),
            stop_reason: None,
            calls: None,
            detail: None,
            completes: None,
        }
    }
}

/// Who acts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPrincipal {
    /// The organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether the door established `agent`; otherwise the client claims it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_proven: bool,
    /// The agent's session, as named by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The gateway key, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl RecordedPrincipal {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// A subagent that an agent started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subagent {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A tool and its input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTool {
    /// The name as received.
    pub name: String,
    /// The MCP server, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The provider's id for the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call_id: String,
    /// The id of the JSON-RPC request to the server, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc_id: Option<String>,
    /// The provider's program that made the call, if the model did not make it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<RecordedCaller>,
    /// The arguments: JSON text, or the free text of a custom tool. Set it unredacted; the stored
    /// value is redacted and truncated to [`RecordedTool::MAX_INPUT`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// How much of the arguments `input` is, until the record is appended. Of a stored record,
    /// [`StoredRecord::input`](crate::StoredRecord::input) says it.
    #[serde(skip)]
    pub extent: InputExtent,
    /// The hash of the tool's definition, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_hash: Option<String>,
}

/// How much of the arguments of a call is at hand when it is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputExtent {
    /// All of them.
    #[default]
    Whole,
    /// Their beginning: they are larger than the limit, and the rest was not kept.
    Beginning,
}

/// A program that the provider runs and that makes calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCaller {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// The provider's id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Where the values of an argument came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginFact {
    /// The argument, as the rule names it.
    pub arg: String,
    /// Whether a value came into the conversation only with the result of a tool; `None` if that is
    /// unknown.
    pub only_tool_result: Option<bool>,
}

/// A decision, and the rule that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// The outcome for the call.
    pub action: CallOutcome,
    /// A reason code, which stays the same across versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReasonCode>,
    /// The digest of the policies that were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_digest: Option<String>,
    /// The policy that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The rule that decided; `None` if a default did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether no rule decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncovered: bool,
    /// Every rule that matched, whatever its effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<RuleId>,
    /// What rules in shadow mode would have done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<MatchedRule>,
    /// Audit rules that matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audits: Vec<MatchedRule>,
    /// Rules that removed something from the arguments: the call left with other arguments than it
    /// came with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitized: Vec<MatchedRule>,
    /// The names of the detectors whose matches were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<String>,
}

impl RecordedVerdict {
    /// A verdict with this action and nothing else set.
    pub fn new(action: CallOutcome) -> Self {
        Self {
            action,
            code: None,
            policy_digest: None,
            policy: None,
            rule: None,
            reason: None,
            hint: None,
            uncovered: false,
            matched: Vec::new(),
            shadows: Vec::new(),
            audits: Vec::new(),
            sanitized: Vec::new(),
            replaced: Vec::new(),
        }
    }
}

/// The match of a text rule, never the text itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRuleMatch {
    /// What was done: `block`, `mask` or `audit`.
    pub action: String,
    /// What was found: a detector's name, or the rule's id.
    pub kind: String,
    /// Where it was found: in the `request` or in the `response`.
    pub direction: String,
}

/// The policy and id of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleId {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
}

/// A rule that matched without deciding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedRule {
    /// The rule's policy.
    pub policy: String,
    /// The rule; `None` for the policy's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Its reason.
    pub reason: String,
}

/// The outcome for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOutcome {
    /// It passed.
    Allow,
    /// It passed, and an audit rule matched.
    Audit,
    /// It did not pass.
    Deny,
    /// It passed without being judged.
    Unjudged,
}

impl CallOutcome {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Audit, Self::Deny, Self::Unjudged];

    /// The word used in records and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Audit => "audit",
            Self::Deny => "deny",
            Self::Unjudged => "unjudged",
        }
    }

    /// The action with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// How long things took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Judging, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_us: Option<u64>,
    /// Waiting for an approval, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// All of it, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u64>,
}

impl Timing {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// Token counts, as reported by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Input tokens that came from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Output tokens that the model spent on reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Tokens {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl RecordedTool {
    /// How many bytes of a call's redacted input a record keeps. Enough for any command and most
    /// files; the hash of the whole input is kept if it was at hand.
    pub const MAX_INPUT: usize = 64 * 1024;
}

/// Serializes a surface as its name.
mod surface {
    use super::Surface;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(it: &Option<Surface>, to: S) -> Result<S::Ok, S::Error> {
        match it {
            Some(surface) => to.serialize_str(surface.as_str()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Surface>, D::Error> {
        let Some(word) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let unknown = || D::Error::custom(format!("unknown surface `{word}`"));
        Surface::from_word(&word).ok_or_else(unknown).map(Some)
    }
}
