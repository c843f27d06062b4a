//! Names that are easily confused with others.

use callgate_scan::inspect::{Similarity, similar};

use crate::definition::ItemKind;
use crate::pin::{ItemIdentity, Pin};
use crate::registry::PinRegistry;

/// An item whose name is easily confused with another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarItem {
    /// The other item.
    pub other: ItemIdentity,
    /// How they are similar.
    pub how: Likeness,
}

/// How two names are similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Another server offers a tool of the same name.
    SameName,
    /// The names of the tools look similar.
    Tool(Similarity),
    /// The names of the servers look similar.
    Server(Similarity),
}

impl PinRegistry {
    /// The most similar items reported for one name. More would not add anything.
    pub const MAX_ALIKE: usize = 20;
    /// The most tools of other servers that a name is compared with, which takes a few
    /// milliseconds. A machine has a few hundred; the rest are skipped.
    pub const MAX_COMPARED: usize = 1_000;

    /// What a tool is easily confused with: tools of other servers, and servers with similar names
    /// (as an item without a name). Tools of the same server are not compared.
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

/// Similar names differ by at most two letters, apart from separators and invisible characters. So
/// names of very different lengths need not be compared.
fn are_far_apart(one: &str, two: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).count();
    letters(one).abs_diff(letters(two)) > 4
}
