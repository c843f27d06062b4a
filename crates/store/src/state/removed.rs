//! Calls that were taken out of responses, to be put back later: kept encrypted, bounded, for a
//! month.

use std::collections::HashSet;
use std::fmt;

use parking_lot::RwLock;

use crate::cipher::Cipher;
use crate::database::Fault;
use crate::error::StoreError;
use crate::receipt::{AppendError, Receipt};
use crate::state::Kept;
use crate::store::Store;

/// A call that was taken out of a response.
#[derive(Clone, PartialEq, Eq)]
pub struct RemovedEntry {
    /// Who may have it back: a hash over principal, provider and upstream credential.
    pub binding: [u8; 32],
    /// What else it is found by: the provider's ids of it, and traces of a turn that was changed.
    pub signs: Vec<[u8; 32]>,
    /// The keys that its turn has when the client sends it back as it got it.
    pub keys: Vec<[u8; 32]>,
    /// Entries that have this in common can take each other's place. Only the newest
    /// [`MAX_ALIKE`](Self::MAX_ALIKE) of them are found by their keys.
    pub alike: Option<[u8; 32]>,
    /// What is needed to put it back. Encrypted when it is kept.
    pub content: Vec<u8>,
}

impl RemovedEntry {
    /// The largest content that is kept: as large as a response may be.
    pub const MAX_CONTENT: usize = 32 * 1024 * 1024;
    /// The most signs one entry may have: some for each call a response may hold.
    pub const MAX_SIGNS: usize = 1024;
    /// The most entries that are read for one key: as many turns of one conversation as may
    /// look alike. Where there are more, they cannot all be alike, and none is read.
    pub const MAX_ALIKE: usize = 64;
    /// The most entries that are read for one request.
    pub const MAX_FOUND: usize = 1024;
    /// The most bytes that are read for one request: it must go on while the client waits.
    pub const MAX_FOUND_BYTES: usize = 64 * 1024 * 1024;
    /// The most entries a store keeps. The oldest leave first.
    pub const MAX_ENTRIES: u64 = 10_000;
    /// The most bytes of contents a store keeps. The oldest leave first.
    pub const MAX_TOTAL: u64 = 256 * 1024 * 1024;
    /// For how long an entry is kept.
    pub const MAX_DAYS: u64 = 30;
}

impl fmt::Debug for RemovedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may hold what nobody should read in a log.
        f.debug_struct("RemovedEntry")
            .field("signs", &self.signs.len())
            .field("bytes", &self.content.len())
            .finish()
    }
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct SoughtRemoved {
    /// Signs of entries, such as the provider's ids of them.
    pub signs: Vec<[u8; 32]>,
    /// Keys of turns.
    pub keys: Vec<[u8; 32]>,
}

/// What was found for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRemoved {
    /// The contents, oldest first, each once.
    pub contents: Vec<Vec<u8>>,
    /// The signs and keys whose entries were not read, for there are too many.
    pub crowded: Vec<[u8; 32]>,
}

/// An entry as it is kept.
pub(crate) struct SealedRemoved {
    pub(crate) binding: [u8; 32],
    pub(crate) signs: Vec<[u8; 32]>,
    pub(crate) keys: Vec<[u8; 32]>,
    pub(crate) alike: Option<[u8; 32]>,
    pub(crate) nonce: [u8; 12],
    pub(crate) content: Vec<u8>,
}

impl fmt::Debug for SealedRemoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedRemoved").field("bytes", &self.content.len()).finish()
    }
}

impl SealedRemoved {
    /// Encrypts an entry for its binding.
    pub(crate) fn new(entry: RemovedEntry, cipher: &Cipher) -> Result<Self, StoreError> {
        let mut content = entry.content;
        let nonce = cipher.seal(&entry.binding, &mut content)?;
        let RemovedEntry { binding, mut signs, keys, alike, .. } = entry;
        signs.extend(keys.iter().chain(&alike));
        Ok(Self { binding, signs, keys, alike, nonce, content })
    }
}

/// What was found for a request, still encrypted: nonces and contents, oldest first.
#[derive(Default)]
pub(crate) struct FoundSealed {
    pub(crate) contents: Vec<([u8; 12], Vec<u8>)>,
    pub(crate) crowded: Vec<[u8; 32]>,
}

/// Where removed calls are kept; [`State::keep`](crate::state::State::keep) adds them.
pub(crate) trait RemovedCalls {
    /// What is kept for this binding under any of these signs and keys. Where there is too much, it is
    /// read for those that come first.
    fn find(&self, binding: &[u8; 32], sought: &SoughtRemoved) -> Result<FoundSealed, Fault>;

    /// Whether anything is kept for this binding under any of these signs.
    fn knows(&self, binding: &[u8; 32], signs: &[[u8; 32]]) -> Result<bool, Fault>;

    /// The bindings of all entries behind this one, and the number of the newest entry.
    fn bindings_after(&self, entry: i64) -> Result<(Vec<[u8; 32]>, i64), Fault>;
}

impl Store {
    /// Keeps a removed call, encrypted.
    pub fn keep_removed(&self, removed: RemovedEntry) -> Receipt {
        match self.seal_removed(removed) {
            Ok(sealed) => self.shared().put(vec![Kept::Removed(sealed)], Vec::new()),
            Err(error) => Receipt::ready(Err(error)),
        }
    }

    /// Whether anything is kept for this binding. From memory, so cheap enough for every request.
    pub fn has_removed(&self, binding: &[u8; 32]) -> bool {
        self.shared().bindings.has(binding)
    }

    /// What is kept for this binding under any of these signs and keys: decrypted, within the bounds
    /// of [`RemovedEntry`]. It reads the store, so it may take a while.
    pub fn find_removed(
        &self,
        binding: &[u8; 32],
        sought: &SoughtRemoved,
    ) -> Result<FoundRemoved, StoreError> {
        let FoundSealed { contents, crowded } = self.shared().state.find(binding, sought)?;
        let open = |(nonce, content)| self.shared().cipher.open(binding, nonce, content);
        let contents = contents.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(FoundRemoved { contents, crowded })
    }

    /// Whether anything is kept for this binding under any of these signs.
    pub fn knows_removed(
        &self,
        binding: &[u8; 32],
        signs: &[[u8; 32]],
    ) -> Result<bool, StoreError> {
        Ok(self.shared().state.knows(binding, signs)?)
    }

    fn seal_removed(&self, removed: RemovedEntry) -> Result<SealedRemoved, AppendError> {
        let too_large = |what, bytes, limit| match bytes > limit {
            true => Err(AppendError::TooLarge { what, bytes, limit }),
            false => Ok(()),
        };
        too_large("a removed call", removed.content.len(), RemovedEntry::MAX_CONTENT)?;
        let signs = (removed.signs.len() + removed.keys.len()) * 32;
        too_large("the signs of a removed call", signs, RemovedEntry::MAX_SIGNS * 32)?;
        SealedRemoved::new(removed, &self.shared().cipher)
            .map_err(|error| AppendError::Store(error.to_string()))
    }
}

/// The bindings for which something is kept: asked for every request, so it is in memory. It may
/// name one whose entries have left; it never lacks one that is kept by this process, and lacks one
/// of another process for about a second.
#[derive(Debug, Default)]
pub(crate) struct Bindings(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    bindings: HashSet<[u8; 32]>,
    /// The newest entry that has been looked at.
    seen: i64,
}

impl Bindings {
    pub(crate) fn has(&self, binding: &[u8; 32]) -> bool {
        let known = self.0.read();
        !known.bindings.is_empty() && known.bindings.contains(binding)
    }

    pub(crate) fn add(&self, binding: [u8; 32]) {
        self.0.write().bindings.insert(binding);
    }

    /// Adds those of entries that were made since the last look.
    pub(crate) fn look(&self, kept: &dyn RemovedCalls) -> Result<(), Fault> {
        let seen = self.0.read().seen;
        let (added, newest) = kept.bindings_after(seen)?;
        if newest > seen {
            let mut known = self.0.write();
            known.bindings.extend(added);
            known.seen = known.seen.max(newest);
        }
        Ok(())
    }

    /// Begins anew, after entries have left. Nobody can add one meanwhile.
    pub(crate) fn reload(&self, kept: &dyn RemovedCalls) -> Result<(), Fault> {
        let mut known = self.0.write();
        let (bindings, seen) = kept.bindings_after(0)?;
        *known = Known { bindings: bindings.into_iter().collect(), seen };
        Ok(())
    }
}

/// How much a store keeps.
pub(crate) struct Bounds {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

impl Bounds {
    /// What [`RemovedEntry`] says.
    pub(crate) const USUAL: Self =
        Self { entries: RemovedEntry::MAX_ENTRIES, bytes: RemovedEntry::MAX_TOTAL };
}
