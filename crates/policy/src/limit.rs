//! Rate limits. A judgement names the buckets; the caller, which has a clock, maintains them.

use std::collections::HashSet;

use callgate_call::Identity;

/// One bucket of one rule's `limit`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LimitKey {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// The fields of the rule's `by`, in that order, with their values. The principal comes last,
    /// unless `by` already names fields of the principal and all of them have values.
    pub bucket: Vec<(LimitBy, String)>,
    /// How fast the bucket fills.
    pub rate: Rate,
}

impl LimitKey {
    /// The fields that a caller cannot choose. All buckets of one rule with the same owner form a
    /// family. By naming sessions a caller can create any number of buckets, but only in its own
    /// family.
    pub fn owner(&self) -> impl Iterator<Item = &(LimitBy, String)> {
        self.bucket.iter().filter(|(by, _)| by.is_established())
    }
}

/// A token bucket: it holds `burst` tokens and gains `calls` of them every `seconds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Tokens gained per period.
    pub calls: u32,
    /// The length of the period.
    pub seconds: u32,
    /// The most tokens it holds.
    pub burst: u32,
}

/// A field whose values each have a bucket of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitBy {
    /// The agent's session.
    Session,
    /// The agent.
    Agent,
    /// The MCP server.
    Server,
    /// The tool.
    Tool,
    /// The organisation.
    Org,
    /// The team.
    Team,
    /// The user.
    User,
    /// The gateway key.
    Key,
}

impl LimitBy {
    /// Every such field.
    pub const ALL: [Self; 8] = [
        Self::Session,
        Self::Agent,
        Self::Server,
        Self::Tool,
        Self::Org,
        Self::Team,
        Self::User,
        Self::Key,
    ];

    /// The field and value for the bucket of one principal.
    pub fn principal(who: Identity<'_>) -> (Self, String) {
        match who {
            Identity::Key(name) => (Self::Key, name.to_owned()),
            Identity::User(name) => (Self::User, name.to_owned()),
        }
    }

    /// Whether the door establishes it. Sessions and agents are claims, and a call may name any
    /// server and tool.
    pub fn is_established(self) -> bool {
        match self {
            Self::Org | Self::Team | Self::User | Self::Key => true,
            Self::Session | Self::Agent | Self::Server | Self::Tool => false,
        }
    }

    /// The word used in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Org => "org",
            Self::Team => "team",
            Self::User => "user",
            Self::Key => "key",
        }
    }
}

/// The buckets that are known to be empty when a call is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpentLimits {
    exceeded: HashSet<LimitKey>,
}

impl SpentLimits {
    /// No bucket is known to be empty: a rule with a limit does not match.
    pub fn none() -> Self {
        Self::default()
    }

    /// These buckets are empty: their rules match.
    pub fn exceeded(keys: impl IntoIterator<Item = LimitKey>) -> Self {
        Self { exceeded: keys.into_iter().collect() }
    }

    pub(crate) fn is_exceeded(&self, key: &LimitKey) -> bool {
        self.exceeded.contains(key)
    }
}
