//! Takes definitions into the registry and the store.

use callgate_registry::{Definition, FirstUse, ItemIdentity, Observation, Pin, PinChange};
use parking_lot::MutexGuard;

use super::session::McpSession;
use super::settings::McpSettings;
use super::state::RegistryCache;
use super::store;
use crate::checks::{Check, CheckFailure};
use crate::clock::now_micros;
use crate::settings::OnFailure;

/// A definition as a server shows it.
#[derive(Debug)]
pub(crate) enum ObservedDefinition {
    /// Why it is ambiguous.
    Unreadable(String),
    Read {
        definition: Definition,
        /// The change since the last one, or why its pin cannot be stored.
        pinned: Result<Option<DefinitionChange>, CheckFailure>,
    },
}

impl ObservedDefinition {
    /// One that has not been compared with its pin.
    pub(crate) fn new(read: Result<Definition, String>) -> Self {
        match read {
            Ok(definition) => Self::Read { definition, pinned: Ok(None) },
            Err(why) => Self::Unreadable(why),
        }
    }

    pub(crate) fn definition(&self) -> Option<&Definition> {
        match self {
            Self::Unreadable(_) => None,
            Self::Read { definition, .. } => Some(definition),
        }
    }
}

/// How a definition differs from what was known.
#[derive(Debug)]
pub(crate) enum DefinitionChange {
    New,
    Changed(Box<PinChange>),
    Reverted,
    MetadataChanged,
}

impl DefinitionChange {
    pub(crate) fn detail(&self) -> Option<String> {
        match self {
            Self::New => None,
            Self::Changed(change) => Some(match &change.launch {
                None => format!("was {}, is {}", change.was, change.is),
                Some((was, is)) => format!(
                    "was {}, is {}; the server was {}, is {}",
                    change.was,
                    change.is,
                    was.shown(),
                    is.shown()
                ),
            }),
            Self::Reverted => Some("it has its trusted definition again".to_owned()),
            Self::MetadataChanged => Some("something that is not pinned has changed".to_owned()),
        }
    }
}

/// Other processes may see the same tools at the same time. One of them succeeds in each round, so
/// a few rounds are enough. After that, what is in the store applies.
const ROUNDS: usize = 4;

impl McpSession {
    /// Takes in definitions and stores new ones, for every process.
    pub(crate) fn observe(
        &self,
        settings: &McpSettings,
        mut seen: Vec<ObservedDefinition>,
    ) -> Vec<ObservedDefinition> {
        let first = match settings.pins.auto_trust_first {
            true => FirstUse::Trust,
            false => FirstUse::Quarantine,
        };
        let mut cache = self.fresh_cache();
        let mut open: Vec<usize> = (0..seen.len()).collect();
        for _ in 0..ROUNDS {
            let mut dirty = Vec::new();
            for place in open.drain(..) {
                let Some(ObservedDefinition::Read { definition, pinned }) = seen.get_mut(place)
                else {
                    continue;
                };
                let identity = ItemIdentity::of(self.server.as_str(), definition);
                match self.observe_one(&mut cache, &identity, definition, first) {
                    Ok((change, pin)) => {
                        // A change that an earlier round found remains a change.
                        let before = std::mem::replace(pinned, Ok(None)).unwrap_or_default();
                        *pinned = Ok(change.or(before));
                        dirty.extend(pin.map(|pin| (place, pin)));
                    }
                    Err(failure) => *pinned = Err(failure),
                }
            }
            if dirty.is_empty() {
                break;
            }
            cache.changed();
            open = self.keep(&mut cache, &mut seen, dirty);
        }
        seen
    }

    fn observe_one(
        &self,
        cache: &mut RegistryCache,
        identity: &ItemIdentity,
        definition: &Definition,
        first: FirstUse,
    ) -> Result<(Option<DefinitionChange>, Option<Pin>), CheckFailure> {
        let at = now_micros();
        let observed = cache.registry.observe(identity, &self.launch, definition, first, at);
        let observed = observed.map_err(|full| {
            CheckFailure::block(
                Check::Pin,
                full.to_string(),
                "Ask the operator to check the server.",
            )
        })?;
        let pin = cache.registry.get(identity).filter(|_| observed.is_dirty).cloned();
        let change = match observed.what {
            Observation::New => Some(DefinitionChange::New),
            Observation::Changed(change) if change.is_first_seen => {
                Some(DefinitionChange::Changed(Box::new(change)))
            }
            Observation::Reverted => Some(DefinitionChange::Reverted),
            Observation::MetadataChanged => Some(DefinitionChange::MetadataChanged),
            Observation::Same | Observation::Changed(_) => None,
        };
        Ok((change, pin))
    }

    /// Stores pins in one transaction. Returns those that another process changed first.
    fn keep(
        &self,
        cache: &mut MutexGuard<'_, RegistryCache>,
        seen: &mut [ObservedDefinition],
        dirty: Vec<(usize, Pin)>,
    ) -> Vec<usize> {
        let pins: Vec<&Pin> = dirty.iter().map(|(_, pin)| pin).collect();
        // Unlocked, because threads that carry streams use the cache and must not wait for the
        // store.
        let saved = MutexGuard::unlocked(cache, || store::save_all(&self.inner.audit, &pins));
        let saved = match saved {
            Ok(saved) => saved,
            Err(error) => {
                tracing::error!(%error, "pins of an MCP server cannot be stored");
                if self.inner.in_force().settings.on_failure == OnFailure::Deny {
                    for (place, _) in dirty {
                        if let Some(ObservedDefinition::Read { pinned, .. }) = seen.get_mut(place) {
                            *pinned = Err(pin_not_stored());
                        }
                    }
                }
                return Vec::new();
            }
        };
        let mut again = Vec::new();
        for ((place, pin), saved) in dirty.into_iter().zip(saved) {
            match saved {
                store::SaveOutcome::Ours(pin) => cache.registry.put(*pin),
                store::SaveOutcome::Theirs(theirs) => {
                    cache.registry.reset(&pin.identity);
                    theirs.into_iter().for_each(|theirs| cache.registry.put(*theirs));
                    again.push(place);
                }
            }
        }
        cache.changed();
        again
    }
}

fn pin_not_stored() -> CheckFailure {
    CheckFailure::block(
        Check::Store,
        "Its pin could not be stored.".to_owned(),
        "Tell the operator: callgate's store cannot be written.",
    )
}
