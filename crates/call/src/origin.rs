//! Where a call came from and who makes it.

use std::fmt;
use std::sync::Arc;

use crate::conversation::ValueOrigins;
use crate::past::PastEvent;
use crate::session_files::SessionFiles;

/// The place at which a call is seen, and where a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    /// A tool advertised in a request to the model.
    Inbound,
    /// A call in the model's answer.
    Response,
    /// A call reaching an MCP server.
    Mcp,
    /// A call that an agent is about to run, reported by its own hook.
    Hook,
    /// A network connection.
    Egress,
}

impl Surface {
    /// Every surface, in the order in which a call passes them.
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

    /// The surface with that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == word)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The principal that makes a call. Every field is established by the door, never claimed by a
/// client. If there is a key, an empty field is known to be empty; without a key it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Principal {
    /// The organisation.
    pub org: Option<String>,
    /// The team.
    pub team: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The gateway key, by its name.
    pub key: Option<String>,
}

/// What a listener knows about the client of one request.
#[derive(Debug, Clone)]
pub struct ClientInfo {
    /// The principal.
    pub who: Principal,
    /// The agent that the client names. Unverified.
    pub agent: Option<String>,
    /// The session that the client names. Unverified.
    pub session: Option<String>,
    /// The id of the request, which is also a header of the response.
    pub request: String,
}

/// What identifies a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Identity<'a> {
    /// A gateway key, by its unique name.
    Key(&'a str),
    /// A user without a gateway key.
    User(&'a str),
}

impl Principal {
    /// A caller without a gateway key at a local door, by login name. All local doors use this, so
    /// that one person is the same principal at each of them.
    pub fn user(login: Option<String>) -> Self {
        Self { user: login, ..Self::default() }
    }

    /// The principal's identity; `None` if the door does not know it.
    pub fn identity(&self) -> Option<Identity<'_>> {
        let key = self.key.as_deref().map(Identity::Key);
        key.or_else(|| self.user.as_deref().map(Identity::User))
    }
}

/// Where a call was seen, who makes it, and what is known about it from elsewhere. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Origin(Arc<OriginFields>);

/// The fields of an [`Origin`]. The last four are known from elsewhere, and rules look at them like
/// at the call itself: `decide` adds them before it asks the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginFields {
    /// Where the call was seen.
    pub surface: Surface,
    /// The principal.
    pub who: Principal,
    /// The agent's name for itself: a claim, which may satisfy a rule that restricts but never one
    /// that allows.
    pub agent: Option<String>,
    /// Whether `agent` was established by the door (a hook of that agent) instead of claimed.
    pub agent_proven: bool,
    /// The agent's name for its session.
    pub session: Option<String>,
    /// The working directory, if known.
    pub cwd: Option<String>,
    /// The user's home directory, if known.
    pub home: Option<String>,
    /// The provider's name in the configuration.
    pub provider: Option<String>,
    /// The model that made the call.
    pub model: Option<String>,
    /// What an MCP server says its tool does.
    pub effect_hints: EffectHints,
    /// The files that earlier calls of the session have written, if there are any.
    pub session_files: Option<Arc<SessionFiles>>,
    /// What earlier calls of the session did, if a rule asks for it.
    pub past: Arc<[PastEvent]>,
    /// Where the values of the call come from, if a rule asks for it.
    pub values: ValueOrigins,
}

/// What an MCP server says one of its tools does, in the annotations of its definition. It can make a
/// tool appear more dangerous than its name, never less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EffectHints {
    /// It is explicitly not read-only: `readOnlyHint: false`.
    pub writes: bool,
    /// It may destroy something: `destructiveHint: true`.
    pub destroys: bool,
    /// It talks to the outside: `openWorldHint: true`.
    pub connects: bool,
}

impl EffectHints {
    /// What either of them says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            writes: self.writes || other.writes,
            destroys: self.destroys || other.destroys,
            connects: self.connects || other.connects,
        }
    }
}

impl OriginFields {
    /// Only the surface is known.
    pub fn at(surface: Surface) -> Self {
        Self {
            surface,
            who: Principal::default(),
            agent: None,
            agent_proven: false,
            session: None,
            cwd: None,
            home: None,
            provider: None,
            model: None,
            effect_hints: EffectHints::default(),
            session_files: None,
            past: Arc::default(),
            values: ValueOrigins::Unknown,
        }
    }
}

impl Origin {
    /// An origin with these fields.
    pub fn new(mut facts: OriginFields) -> Self {
        // Folders are compared with what calls name, which is read with slashes.
        for folder in [&mut facts.cwd, &mut facts.home].into_iter().flatten() {
            if folder.get(1..3) == Some(":\\") {
                *folder = folder.replace('\\', "/");
            }
        }
        Self(Arc::new(facts))
    }

    /// The same origin, with what a server says about the tool.
    #[must_use]
    pub fn with_effect_hints(mut self, hints: EffectHints) -> Self {
        if self.effect_hints != hints {
            Arc::make_mut(&mut self.0).effect_hints = hints;
        }
        self
    }

    /// The same origin, with the files that earlier calls of the session have written.
    #[must_use]
    pub fn with_session_files(mut self, files: Option<Arc<SessionFiles>>) -> Self {
        if files.is_some() || self.session_files.is_some() {
            Arc::make_mut(&mut self.0).session_files = files;
        }
        self
    }

    /// The same origin, with what earlier calls of the session did.
    #[must_use]
    pub fn with_past(mut self, past: Vec<PastEvent>) -> Self {
        if !past.is_empty() || !self.past.is_empty() {
            Arc::make_mut(&mut self.0).past = past.into();
        }
        self
    }

    /// The same origin, with what is known about the values of the call.
    #[must_use]
    pub fn with_values(mut self, values: ValueOrigins) -> Self {
        if self.values != values {
            Arc::make_mut(&mut self.0).values = values;
        }
        self
    }

    /// An origin with only the surface known.
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
