//! Names that are easily taken for those of others.

use callgate_scan::inspect::{Similarity, similar};

use crate::definition::ItemKind;
use crate::pin::{ItemIdentity, Pin};
use crate::registry::Registry;

/// Something whose name is easily taken for another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarItem {
    /// The other one.
    pub other: ItemIdentity,
    /// How they are alike.
    pub how: Likeness,
}

/// How two names are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Another server offers a tool of the very same name.
    SameName,
    /// The names of the tools look alike.
    Tool(Similarity),
    /// The names of the servers look alike.
    Server(Similarity),
}

impl Registry {
    /// So many are told of one name. More only say the same.
    pub const MAX_ALIKE: usize = 20;
    /// With so many tools of other servers a name is compared, in some milliseconds; a machine has a
    /// few hundred. What is beyond is not looked at.
    pub const MAX_COMPARED: usize = 1_000;

    /// What a tool is easily taken for: tools of other servers, and servers by their names (told
    /// with an identity that has no tool). Two tools of one server are that server's affair.
    pub fn alike(&self, identity: &ItemIdentity) -> Vec<SimilarItem> {
        let mut found = Vec::new();
        for server in self.servers().filter(|server| *server != identity.server) {
            if let Some(how) = similar(server, &identity.server) {
                let other = ItemIdentity::tool(server, "");
                found.push(SimilarItem { other, how: Likeness::Server(how) });
            }
        }
        let is_other = |pin: &&Pin| {
            pin.identity.kind == ItemKind::Tool && pin.identity.server != identity.server
        };
        let tools = self.pins().filter(is_other);
        found.extend(tools.take(Self::MAX_COMPARED).filter_map(|pin| alike(pin, identity)));
        found.truncate(Self::MAX_ALIKE);
        found
    }
}

fn alike(pin: &Pin, identity: &ItemIdentity) -> Option<SimilarItem> {
    let other = &pin.identity;
    let how = match other.name == identity.name {
        true => Likeness::SameName,
        false if are_far_apart(&other.name, &identity.name) => return None,
        false => Likeness::Tool(similar(&other.name, &identity.name)?),
    };
    Some(SimilarItem { other: other.clone(), how })
}

/// SimilarItem are at most two letters apart, beside separators and what is invisible: names of very
/// different lengths need no closer look.
fn are_far_apart(one: &str, two: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).count();
    letters(one).abs_diff(letters(two)) > 4
}
