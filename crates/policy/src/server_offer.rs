//! Offers of all the tools of a server, of which only the server tells the names. A rule that
//! restricts speaks of such an offer if one of the tools may be meant, a rule that allows only if all
//! of them are. An agent or a prompt that the provider keeps is such an offer too, and may bring the
//! tools of any server.

use std::collections::HashSet;

use callgate_call::{NameReading, Surface, ToolCall, fold};

use crate::names::{Name, Names, ToolPattern, Tools};
use crate::pattern::Wildcard;
use crate::spelling::{Split, Trust};

/// What is known of the tools of a server: those that are not offered.
#[derive(Debug, Default)]
pub(crate) struct ServerOffer {
    except: HashSet<String>,
    from: OfferedFrom,
}

/// Where the tools of an offer may be from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OfferedFrom {
    /// The server that it names.
    #[default]
    Server,
    /// Anywhere.
    Anything,
}

/// How the names of things begin that a provider keeps, tools and all.
const STORED_BY_PROVIDER: [&str; 3] = ["mcp__agent:", "mcp__prompt:", "mcp__preset:"];

impl ServerOffer {
    /// An offer of a whole server, but for some tools; `None` if it is an offer of one tool.
    pub(crate) fn of(offer: &ToolCall, except: &[String]) -> Option<Self> {
        let is_whole = offer.origin.surface == Surface::Inbound
            && offer.name.folded().starts_with("mcp__")
            && offer.name.folded().ends_with("__*");
        let except = || except.iter().map(|name| fold(name.trim())).collect();
        let is_stored =
            STORED_BY_PROVIDER.iter().any(|prefix| offer.name.folded().starts_with(prefix));
        let from = if is_stored { OfferedFrom::Anything } else { OfferedFrom::Server };
        is_whole.then(|| Self { except: except(), from })
    }

    /// Whether a pattern may mean a tool whose name begins so.
    fn may_be(&self, pattern: &Wildcard, beginning: &str) -> bool {
        match pattern.is_literal() {
            true => self.may_be_literal(pattern.text(), beginning),
            false => pattern.may_begin(beginning),
        }
    }

    fn may_be_literal(&self, name: &str, beginning: &str) -> bool {
        let tool = name.strip_prefix(beginning);
        tool.is_some_and(|tool| !tool.is_empty() && !self.except.contains(tool))
    }
}

/// What stands before the `*` of a name.
fn beginning(text: &str) -> &str {
    text.strip_suffix('*').unwrap_or(text)
}

impl Names {
    /// Whether a tool of the server may be one that a restricting rule speaks of.
    pub(crate) fn may_restrict(&self, name: &Name<'_>, offer: &ServerOffer) -> bool {
        if offer.from == OfferedFrom::Anything {
            return true;
        }
        let spelled = name.spellings.splits.iter().filter(|split| split.trust == Trust::Spelled);
        let readings = name.readings.iter().copied().chain(spelled.map(Split::reading));
        { readings }.any(|reading| {
            let tools = self.tools.as_ref();
            self.server_restricts(reading.server)
                && tools.is_none_or(|tools| tools.may_restrict(name.folded, &reading, offer))
        })
    }

    /// Whether a rule that allows speaks of every tool of the server.
    pub(crate) fn allow_offer(&self, name: &Name<'_>) -> bool {
        // More than one reading: the name does not tell which server.
        let [reading] = name.readings.as_slice() else { return false };
        let server_named = self.servers.is_some();
        self.server_fits(reading.server)
            && self.tools.as_ref().is_none_or(|tools| tools.allow_offer(reading, server_named))
    }
}

impl Tools {
    fn may_restrict(&self, folded: &str, reading: &NameReading<'_>, offer: &ServerOffer) -> bool {
        let begins = beginning(reading.tool);
        self.parts().any(|tools| {
            tools.any_server
                || tools.literals.iter().any(|name| offer.may_be_literal(name, begins))
                || tools.patterns.iter().any(|pattern| pattern.may_restrict(folded, reading, offer))
        })
    }

    fn allow_offer(&self, reading: &NameReading<'_>, server_named: bool) -> bool {
        let fits = |pattern: &ToolPattern| match pattern.parts.as_slice() {
            [] => server_named && pattern.whole.is_any(),
            [(server, tool)] => tool.is_any() && server.matches(reading.server),
            _ => false,
        };
        self.parts().any(|tools| tools.any_server || tools.patterns.iter().any(fits))
    }
}

impl ToolPattern {
    fn may_restrict(&self, folded: &str, reading: &NameReading<'_>, offer: &ServerOffer) -> bool {
        let begins = beginning(reading.tool);
        let in_parts = |(server, tool): &(Wildcard, Wildcard)| {
            server.matches(reading.server) && offer.may_be(tool, begins)
        };
        offer.may_be(&self.whole, beginning(folded))
            || (self.parts.is_empty() && offer.may_be(&self.whole, begins))
            || self.parts.iter().any(in_parts)
    }
}
