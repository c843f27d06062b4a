//! Offers of all tools of a server, whose names only the server knows. A rule that restricts
//! applies to such an offer if it may apply to one of the tools, a rule that allows only if it
//! applies to all of them. An agent or a prompt that the provider stores is such an offer too, and
//! may include tools of any server.

use std::collections::HashSet;

use callgate_call::{NameReading, Surface, ToolCall, fold};

use crate::names::{CallName, RuleNames, ToolPattern, Tools};
use crate::pattern::Wildcard;
use crate::spelling::{NameSplit, SplitTrust};

/// An offer of all tools of a server, except some.
#[derive(Debug, Default)]
pub(crate) struct ServerOffer {
    except: HashSet<String>,
    from: OfferedFrom,
}

/// Where the tools of an offer come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OfferedFrom {
    /// From the server that the offer names.
    #[default]
    Server,
    /// From any server.
    Anything,
}

/// The prefixes of the names for things that a provider stores together with their tools.
const STORED_BY_PROVIDER: [&str; 3] = ["mcp__agent:", "mcp__prompt:", "mcp__preset:"];

impl ServerOffer {
    /// The offer of a whole server except some tools; `None` if only one tool is offered.
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

    /// Whether a pattern may match a tool whose name begins like this.
    fn may_match(&self, pattern: &Wildcard, beginning: &str) -> bool {
        match pattern.is_literal() {
            true => self.may_be_tool(pattern.text(), beginning),
            false => pattern.may_begin(beginning),
        }
    }

    fn may_be_tool(&self, name: &str, beginning: &str) -> bool {
        let tool = name.strip_prefix(beginning);
        tool.is_some_and(|tool| !tool.is_empty() && !self.except.contains(tool))
    }
}

/// The part of a name before its final `*`.
fn beginning(text: &str) -> &str {
    text.strip_suffix('*').unwrap_or(text)
}

impl RuleNames {
    /// Whether a rule that restricts may apply to a tool of the server.
    pub(crate) fn may_restrict(&self, name: &CallName<'_>, offer: &ServerOffer) -> bool {
        if offer.from == OfferedFrom::Anything {
            return true;
        }
        let spelled =
            name.spellings.splits.iter().filter(|split| split.trust == SplitTrust::Spelled);
        let readings = name.readings.iter().copied().chain(spelled.map(NameSplit::reading));
        { readings }.any(|reading| {
            let tools = self.tools.as_ref();
            self.server_restricts(reading.server)
                && tools.is_none_or(|tools| tools.may_restrict(name.folded, &reading, offer))
        })
    }

    /// Whether a rule that allows applies to every tool of the server.
    pub(crate) fn allow_offer(&self, name: &CallName<'_>) -> bool {
        // With more than one reading it is not clear which server is meant.
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
                || tools.literals.iter().any(|name| offer.may_be_tool(name, begins))
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
            server.matches(reading.server) && offer.may_match(tool, begins)
        };
        offer.may_match(&self.whole, beginning(folded))
            || (self.parts.is_empty() && offer.may_match(&self.whole, begins))
            || self.parts.iter().any(in_parts)
    }
}
