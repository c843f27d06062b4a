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

pub use change::{Change, Changed};
pub use code::Code;
pub use id::{ParseIdError, RecordId};
pub use kind::Kind;
pub use mcp::{FindingFact, McpFacts};
pub use policies::{PolicyFacts, PolicyFile};

/// What happened, once. Made by whoever saw it; redacted, numbered and chained when it is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id, in the order of time.
    pub id: RecordId,
    /// When it happened.
    pub time: Timestamp,
    /// What kind of thing happened.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "surface")]
    pub surface: Option<Surface>,
    /// Who acted.
    #[serde(default, skip_serializing_if = "Principal::is_unknown")]
    pub who: Principal,
    /// The agent's helper that acted, where the agent tells. Nothing tells it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Subagent>,
    /// The working directory, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The user's home directory, where known.
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
    /// The tool and what it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What a rule about text found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrail: Option<Guardrail>,
    /// The MCP server it concerns, and what was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpFacts>,
    /// The policies that came into force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<PolicyFacts>,
    /// What a person changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Timing::is_unknown")]
    pub timing: Timing,
    /// What it cost, for a turn. Readers copy it to the turn's calls.
    #[serde(default, skip_serializing_if = "Tokens::is_unknown")]
    pub tokens: Tokens,
    /// Why the model stopped, for a turn. Readers copy it to the turn's calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// How many calls the turn held, for a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// What happened, for an event: why something was withheld, which file, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// This record brings the input of a call that was denied by its name alone. Readers put it
    /// into that record, and do not show this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completes: Option<RecordId>,
}

impl Record {
    /// A record of this kind, with an id of its own, made now.
    pub fn new(kind: Kind) -> Self {
        Self::of(RecordId::new(), kind)
    }

    /// The same under an id that is known already.
    pub fn of(id: RecordId, kind: Kind) -> Self {
        Self {
            id,
            time: Timestamp::now(),
            kind,
            surface: None,
            who: Principal::default(),
            subagent: None,
            cwd: None,
            home: None,
            request: None,
            provider: None,
            dialect: None,
            model: None,
            tool: None,
            verdict: None,
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
pub struct Principal {
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
    /// Whether `agent` was established by the door; otherwise the client claims it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_proven: bool,
    /// The agent's session, as the client calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The gateway key, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Principal {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// A helper that an agent started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subagent {
    /// Its id.
    pub id: String,
    /// What kind of helper it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A tool and what it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The name, as it came.
    pub name: String,
    /// The MCP server, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The provider's id of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call_id: String,
    /// The id of the JSON-RPC request to the server, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc_id: Option<String>,
    /// The program of the provider's that made the call, where it was not the model itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// The arguments: JSON text, or the free text of a custom tool. Given unredacted; what is
    /// written and read back is redacted and cut to [`Tool::MAX_INPUT`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The hash of the tool's definition, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_hash: Option<String>,
}

/// A program that the provider runs, and that makes calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// What runs it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The provider's id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// What was decided, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What became of the call.
    pub action: Action,
    /// What kind of reason decided, in a word that stays the same from version to version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The digest of the policies that were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_digest: Option<String>,
    /// The policy that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The rule that decided; `None` where a default did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// No rule decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncovered: bool,
    /// Every rule that matched, whatever came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<RuleId>,
    /// What rules in shadow mode would have done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Hit>,
    /// Audit rules that matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audits: Vec<Hit>,
    /// Rules that took something out of the arguments: the call left with others than it came with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitized: Vec<Hit>,
    /// What they took out: the names of the detectors that found it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<String>,
}

impl Verdict {
    /// This action, and nothing said about it.
    pub fn new(action: Action) -> Self {
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

/// What a rule about text found, never the text itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guardrail {
    /// What became of it: `block`, `mask` or `audit`.
    pub action: String,
    /// What it was: a detector's name, or the rule's id.
    pub kind: String,
    /// Where it stood: in the `request` or in the `response`.
    pub direction: String,
}

/// A rule by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleId {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
}

/// A rule that matched beside the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The rule's policy.
    pub policy: String,
    /// The rule; `None` for the policy's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Its reason.
    pub reason: String,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It passed.
    Allow,
    /// It passed, and a rule wanted it to be seen.
    Audit,
    /// It did not pass.
    Deny,
    /// It passed, and nobody judged it.
    Unjudged,
}

impl Action {
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

    /// The action of that word.
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
    /// Waiting for somebody's answer, in milliseconds.
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

/// Tokens, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Those of them that came from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Written by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Those of them that it thought in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Tokens {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl Tool {
    /// How many bytes of a call's redacted input a record keeps. Enough for any command and most
    /// files; the hash of the whole input is kept in any case.
    pub const MAX_INPUT: usize = 64 * 1024;
}

/// A surface by its word.
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
