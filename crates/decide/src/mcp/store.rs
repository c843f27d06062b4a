//! Pins between the registry in memory and the store that all processes share.

use callgate_registry::{
    ItemIdentity, ItemKind, Launch, Pin, PinHash, PinState, PinStatus, Registry, Version,
};
use callgate_store::{PinnedVersion, PutPin, Store, StoreError, StoredPin};

/// A pin as it is kept.
pub fn stored(pin: &Pin) -> StoredPin {
    let seen = match &pin.state {
        PinState::Changed(seen) => Some(kept(seen)),
        PinState::Trusted | PinState::Quarantined => None,
    };
    StoredPin {
        server: pin.identity.server.clone(),
        kind: pin.identity.kind.as_str().to_owned(),
        name: pin.identity.name.clone(),
        state: pin.state().as_str().to_owned(),
        pinned: kept(&pin.version),
        seen,
        first_seen: pin.first_seen,
        last_seen: pin.last_seen,
        revision: pin.revision,
    }
}

/// A pin as it was kept. One that says what nobody can have meant is in quarantine: whoever wrote
/// it, nothing passes by it.
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

/// The registry as the store has it.
pub fn load(audit: &Store) -> Result<Registry, StoreError> {
    Ok(Registry::new(audit.pins()?.into_iter().filter_map(pin)))
}

/// What became of a pin that was to be kept.
#[derive(Debug)]
pub(crate) enum Kept {
    /// It is kept, with its new revision.
    Ours(Box<Pin>),
    /// Somebody else was faster: theirs is kept, or was removed.
    Theirs(Option<Box<Pin>>),
}

/// Keeps pins, in their order.
pub(crate) fn keep_all(audit: &Store, pins: &[&Pin]) -> Result<Vec<Kept>, StoreError> {
    let put = audit.put_pins(&pins.iter().map(|pin| stored(pin)).collect::<Vec<_>>())?;
    let kept = put.into_iter().zip(pins).map(|(put, ours)| match put {
        PutPin::Stored(revision) => Kept::Ours(Box::new(Pin { revision, ..(*ours).clone() })),
        PutPin::Stale(theirs) => Kept::Theirs(theirs.and_then(|it| pin(*it)).map(Box::new)),
    });
    Ok(kept.collect())
}

fn kept(version: &Version) -> PinnedVersion {
    PinnedVersion {
        launch: version.launch.fingerprint().as_str().to_owned(),
        launch_shown: version.launch.shown().to_owned(),
        hash: version.hash.as_str().to_owned(),
        whole: version.whole.as_str().to_owned(),
        definition: version.definition.clone(),
    }
}

fn version(kept: PinnedVersion) -> Version {
    Version {
        launch: Launch::stored(kept.launch, kept.launch_shown),
        hash: PinHash::stored(kept.hash),
        whole: PinHash::stored(kept.whole),
        definition: kept.definition,
    }
}
