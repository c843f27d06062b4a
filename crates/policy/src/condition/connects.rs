//! The condition `connects`: which hosts a call would talk to, and what for.

use callgate_document::{Mapping, Problems};
use callgate_effects::{Action, EffectKind, Purpose};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::{Hosts, value, words};
use crate::tri::Tri;

/// Hosts that a call connects to.
#[derive(Debug, Clone)]
pub(crate) struct ConnectsCondition {
    hosts: Hosts,
    /// Empty for every purpose.
    purposes: Vec<Purpose>,
    written: String,
}

const PURPOSES: &[(&str, Purpose)] = &[
    ("fetch", Purpose::Fetch),
    ("send", Purpose::Send),
    ("execute", Purpose::Execute),
    ("remote", Purpose::Remote),
    ("listen", Purpose::Listen),
    ("tunnel", Purpose::Tunnel),
];

impl EffectCondition for ConnectsCondition {
    const KEY: &'static str = "connects";

    const MEANING: &'static str = "[hosts](#hosts): the call connects to one of these hosts; \
        `for`: `fetch`, `send`, `execute` (code from there runs here), `remote` (commands run \
        there), `listen`, `tunnel`; without it everything";

    const KIND: EffectKind = EffectKind::Connects;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let value = value(node, Self::KEY, "hosts", "for", problems)?;
        let purposes = words(&value.words, "purpose", PURPOSES, problems);
        let hosts = Hosts::new(value.sense, &value.items, problems)?;
        Some(Self { hosts, purposes, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Connects(it)
                if self.purposes.is_empty() || self.purposes.contains(&it.purpose) =>
            {
                Some(self.hosts.matches(it))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}
