//! Which callers a rule or a policy applies to: agents and principals, by globs.

use callgate_call::{OriginFields, Principal, fold};
use callgate_document::At;

use crate::pattern::Wildcard;
use crate::tri::Tri;

/// A field of the principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhoField {
    Org,
    Team,
    User,
    Key,
}

/// The globs of one field, as written.
pub(crate) type WhoGlobs = (WhoField, Vec<At<String>>);

/// Which callers something applies to. By default, every caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Actors {
    agents: Option<Vec<Wildcard>>,
    who: Vec<(WhoField, Vec<Wildcard>)>,
}

/// A field in which the caller is certainly not one of these actors.
pub(crate) struct ActorMismatch<'a> {
    /// `agent`, `org`, `team`, `user` or `key`.
    pub(crate) field: &'static str,
    pub(crate) wants: &'a [Wildcard],
    pub(crate) has: Option<&'a str>,
}

impl WhoField {
    pub(crate) const ALL: [Self; 4] = [Self::Org, Self::Team, Self::User, Self::Key];

    /// The word used in policies.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Org => "org",
            Self::Team => "team",
            Self::User => "user",
            Self::Key => "key",
        }
    }

    fn of(self, who: &Principal) -> Option<&str> {
        match self {
            Self::Org => who.org.as_deref(),
            Self::Team => who.team.as_deref(),
            Self::User => who.user.as_deref(),
            Self::Key => who.key.as_deref(),
        }
    }

    /// Whether an empty field is known to be empty. Every door knows whether a key was used, and a
    /// key determines all fields of its holder.
    fn is_known(self, who: &Principal) -> bool {
        self == Self::Key || who.key.is_some()
    }
}

impl Actors {
    pub(crate) fn new(agents: Option<Vec<At<String>>>, who: Vec<WhoGlobs>) -> Self {
        let folded = |at: At<String>| Wildcard::new(&fold(at.value.trim()));
        let exact = |at: At<String>| Wildcard::new(&at.value);
        Self {
            agents: agents.map(|globs| globs.into_iter().map(folded).collect()),
            who: who
                .into_iter()
                .map(|(field, globs)| (field, globs.into_iter().map(exact).collect()))
                .collect(),
        }
    }

    /// Whether this applies to the caller. Believes the name that the agent claims.
    pub(crate) fn include(&self, facts: &OriginFields) -> Tri {
        self.agent(facts).and(self.who(facts))
    }

    /// Whether this applies to the agent, by the name that it claims.
    pub(crate) fn agent(&self, facts: &OriginFields) -> Tri {
        let Some(agents) = &self.agents else { return Tri::True };
        let Some(agent) = &facts.agent else { return Tri::Unknown };
        let agent = fold(agent.trim());
        agents.iter().any(|pattern| pattern.matches(&agent)).into()
    }

    pub(crate) fn names_agents(&self) -> bool {
        self.agents.is_some()
    }

    /// Whether this applies to the principal.
    pub(crate) fn who(&self, facts: &OriginFields) -> Tri {
        Tri::all(self.who.iter().map(|(field, globs)| holds(*field, globs, &facts.who)))
    }

    /// The first field in which the caller is certainly not one of these actors.
    pub(crate) fn mismatch<'a>(&'a self, facts: &'a OriginFields) -> Option<ActorMismatch<'a>> {
        if let Some(wants) = self.agents.as_deref().filter(|_| self.agent(facts) == Tri::False) {
            return Some(ActorMismatch { field: "agent", wants, has: facts.agent.as_deref() });
        }
        let other = |(field, globs): &&(WhoField, Vec<Wildcard>)| {
            holds(*field, globs, &facts.who) == Tri::False
        };
        let (field, wants) = self.who.iter().find(other)?;
        Some(ActorMismatch { field: field.as_str(), wants, has: field.of(&facts.who) })
    }

    /// The first field that would have to be known about the caller and is not.
    pub(crate) fn missing(&self, facts: &OriginFields) -> Option<&'static str> {
        if self.agent(facts) == Tri::Unknown {
            return Some("agent");
        }
        let unknown = |(field, globs): &&(WhoField, Vec<Wildcard>)| {
            holds(*field, globs, &facts.who) == Tri::Unknown
        };
        self.who.iter().find(unknown).map(|(field, _)| field.as_str())
    }

    /// The keys and globs as written, for lists of rules; empty if this applies to every caller.
    pub(crate) fn written(&self) -> Vec<(&'static str, Vec<String>)> {
        let texts = |globs: &[Wildcard]| globs.iter().map(|glob| glob.text().to_owned()).collect();
        let who = self.who.iter().map(|(field, globs)| (field.as_str(), texts(globs)));
        who.chain(self.agents.iter().map(|globs| ("agent", texts(globs)))).collect()
    }
}

fn holds(field: WhoField, globs: &[Wildcard], who: &Principal) -> Tri {
    match field.of(who) {
        Some(value) => globs.iter().any(|glob| glob.matches(value)).into(),
        None if field.is_known(who) => Tri::False,
        None => Tri::Unknown,
    }
}
