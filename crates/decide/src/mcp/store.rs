//! Converts pins between the registry in memory and the store that all processes share.

use callgate_registry::{
    ItemIdentity, ItemKind, Launch, Pin, PinHash, PinRegistry, PinState, PinStatus, Version,
};
use callgate_store::{PinnedVersion, PutPin, Store, StoreError, StoredPin};

/// Converts a pin for the store.
pub fn stored(pin: &Pin) -> StoredPin {
    let seen = match &pin.state {
        PinState::Changed(seen) => Some(pinned_version(seen)),
        PinState::Trusted | PinState::Quarantined => None,
    };
    StoredPin {
        server: pin.identity.server.clone(),
        kind: pin.identity.kind.as_str().to_owned(),
        name: pin.identity.name.clone(),
        state: pin.status().as_str().to_owned(),
        pinned: pinned_version(&pin.version),
        seen,
        first_seen: pin.first_seen,
        last_seen: pin.last_seen,
        revision: pin.revision,
    }
}

/// Converts a stored pin. A pin with an invalid state is quarantined and allows nothing, whichever
/// process wrote it.
pub fn pin(stored: StoredPin) -> Option<Pin> {
    let kind = ItemKind::parse(&stored.kind)?;
    let identity = ItemIdentity { server: stored.server, kind, name: stored.name };
    let state = match (PinStatus::parse(&stored.state), stored.seen) {
        (Some(PinStatus::Trusted), _) => PinState::Trusted,
        (Some(PinStatus::Changed), Some(seen)) => PinState::Changed(version(seen)),
        _ => PinState::Quarantined,
    };
    Some(Pin {
        identity,
        version: version(stored.pinned),
        state,
        first_seen: stored.first_seen,
        last_seen: stored.last_seen,
        revision: stored.revision,
    })
}

/// Loads the registry from the store.
pub fn load(audit: &Store) -> Result<PinRegistry, StoreError> {
    Ok(PinRegistry::new(audit.pins()?.into_iter().filter_map(pin)))
}

/// What happened to a pin that was to be stored.
#[derive(Debug)]
pub(crate) enum SaveOutcome {
    /// It is stored, with its new revision.
    Ours(Box<Pin>),
    /// Another process was faster. This is its pin, or `None` if it removed the pin.
    Theirs(Option<Box<Pin>>),
}

/// Stores pins, in order.
pub(crate) fn save_all(audit: &Store, pins: &[&Pin]) -> Result<Vec<SaveOutcome>, StoreError> {
    let put = audit.put_pins(&pins.iter().map(|pin| stored(pin)).collect::<Vec<_>>())?;
    let stored = put.into_iter().zip(pins).map(|(put, ours)| match put {
        PutPin::Stored(revision) => {
            SaveOutcome::Ours(Box::new(Pin { revision, ..(*ours).clone() }))
        }
        PutPin::Stale(theirs) => SaveOutcome::Theirs(theirs.and_then(|it| pin(*it)).map(Box::new)),
    });
    Ok(stored.collect())
}

fn pinned_version(version: &Version) -> PinnedVersion {
    PinnedVersion {
        launch: version.launch.fingerprint().as_str().to_owned(),
        launch_shown: version.launch.shown().to_owned(),
        hash: version.hash.as_str().to_owned(),
        whole: version.whole.as_str().to_owned(),
        definition: version.definition.clone(),
    }
}

fn version(stored: PinnedVersion) -> Version {
    Version {
        launch: Launch::stored(stored.launch, stored.launch_shown),
        hash: PinHash::stored(stored.hash),
        whole: PinHash::stored(stored.whole),
        definition: stored.definition,
    }
}
