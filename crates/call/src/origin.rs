//! Where a call came from and who acts.

use std::fmt;
use std::sync::Arc;

/// Where a rule applies: the place at which a call shows up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    /// A tool advertised in a request to the model.
    Inbound,
    /// A call in the model's answer.
    Response,
    /// A call reaching an MCP server.
    Mcp,
    /// A call an agent is about to run, told by its own hook.
    Hook,
    /// A network connection.
    Egress,
}

impl Surface {
    /// Every surface, in the order data meets them.
    pub const ALL: [Self; 5] = [Self::Inbound, Self::Response, Self::Mcp, Self::Hook, Self::Egress];

    /// The word used in policies and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Response => "response",
            Self::Mcp => "mcp",
            Self::Hook => "hook",
            Self::Egress => "egress",
        }
    }

    /// The surface of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == word)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who acts. Every field is a fact the door established, never a client's claim. With a key, a field
/// without a value has none; without a key, nobody knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// The organisation.
    pub org: Option<String>,
    /// The team.
    pub team: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The gateway key, by its name.
    pub key: Option<String>,
}

/// What tells one principal from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Identity<'a> {
    /// A gateway key, by its name. Names of keys are unique.
    Key(&'a str),
    /// A user without a gateway key.
    User(&'a str),
}

impl Who {
    /// The caller at a local door who has no gateway key, by the login name. All local doors use it, so
    /// that one person is one principal at each of them.
    pub fn user(login: Option<String>) -> Self {
        Self { user: login, ..Self::default() }
    }

    /// The principal; `None` if the door cannot tell who is acting.
    pub fn identity(&self) -> Option<Identity<'_>> {
        let key = self.key.as_deref().map(Identity::Key);
        key.or_else(|| self.user.as_deref().map(Identity::User))
    }
}

/// Where a call was seen, and by whom it is made. Shared by all calls of one response, so cloning
/// is cheap.
#[derive(Debug, Clone)]
pub struct Origin(Arc<OriginFields>);

/// The fields of an [`Origin`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginFields {
    /// Where the call showed up.
    pub surface: Surface,
    /// Who acts.
    pub who: Who,
    /// The agent, as it calls itself: a claim, which may satisfy a rule that restricts and never
    /// one that allows.
    pub agent: Option<String>,
    /// Whether `agent` was established by the door (a hook of that agent) instead of claimed.
    pub agent_proven: bool,
    /// The agent's session, as it calls it.
    pub session: Option<String>,
    /// The working directory, where known.
    pub cwd: Option<String>,
    /// The user's home directory, where known.
    pub home: Option<String>,
    /// The provider's name in the configuration.
    pub provider: Option<String>,
    /// The model that made the call.
    pub model: Option<String>,
}

impl OriginFields {
    /// Nothing known but the surface.
    pub fn at(surface: Surface) -> Self {
        Self {
            surface,
            who: Who::default(),
            agent: None,
            agent_proven: false,
            session: None,
            cwd: None,
            home: None,
            provider: None,
            model: None,
        }
    }
}

impl Origin {
    /// An origin with these facts.
    pub fn new(facts: OriginFields) -> Self {
        Self(Arc::new(facts))
    }

    /// An origin of which only the surface is known.
    pub fn at(surface: Surface) -> Self {
        Self::new(OriginFields::at(surface))
    }
}

impl std::ops::Deref for Origin {
    type Target = OriginFields;

    fn deref(&self) -> &OriginFields {
        &self.0
    }
}
