//! Calls that were removed from responses, to be put back later: encrypted, bounded, and kept for a
//! month.

use std::collections::HashSet;
use std::fmt;

use parking_lot::RwLock;

use crate::cipher::Cipher;
use crate::database::Fault;
use crate::error::StoreError;
use crate::receipt::{AppendError, Receipt};
use crate::state::StateEntry;
use crate::store::Store;

/// A turn that lost calls, or calls that a request has answered.
#[derive(Clone, PartialEq, Eq)]
pub struct RemovedEntry {
    /// Who may get it back: a hash of principal, provider and upstream credential.
    pub binding: [u8; 32],
    /// Other keys to find it by: the provider's ids for it, and traces of a turn that was changed.
    pub signs: Vec<[u8; 32]>,
    /// The keys of its turn if the client sends it back unchanged.
    pub keys: Vec<[u8; 32]>,
    /// Entries with the same value are interchangeable. Only the newest
    /// [`MAX_ALIKE`](Self::MAX_ALIKE) of them are found by their keys.
    pub alike: Option<[u8; 32]>,
    /// The data needed to put it back. Encrypted when stored.
    pub content: Vec<u8>,
}

impl RemovedEntry {
    /// The largest content that is stored: as large as a response may be.
    pub const MAX_CONTENT: usize = 32 * 1024 * 1024;
    /// The most signs of one entry: a few for each call that a response may contain.
    pub const MAX_SIGNS: usize = 1024;
    /// The most entries that are read for one key: as many turns of one conversation as may look
    /// alike. If there are more, they cannot all be interchangeable, and none is read.
    pub const MAX_ALIKE: usize = 64;
    /// The most entries that are read for one request.
    pub const MAX_FOUND: usize = 1024;
    /// The most bytes that are read for one request: the client is waiting.
    pub const MAX_FOUND_BYTES: usize = 64 * 1024 * 1024;
    /// The most entries in a store. The oldest are removed first.
    pub const MAX_ENTRIES: u64 = 10_000;
    /// The most bytes of contents in a store. The oldest are removed first.
    pub const MAX_TOTAL: u64 = 256 * 1024 * 1024;
    /// How long an entry is kept, in days.
    pub const MAX_DAYS: u64 = 30;
}

impl fmt::Debug for RemovedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be private, so it must not be logged.
        f.debug_struct("RemovedEntry")
            .field("signs", &self.signs.len())
            .field("bytes", &self.content.len())
            .finish()
    }
}

/// The keys of a search.
#[derive(Debug, Clone, Default)]
pub struct RemovedQuery {
    /// Signs of entries, such as the provider's ids for them.
    pub signs: Vec<[u8; 32]>,
    /// Keys of turns.
    pub keys: Vec<[u8; 32]>,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedMatches {
    /// The contents, oldest first, without duplicates.
    pub contents: Vec<Vec<u8>>,
    /// The signs and keys with too many entries, which were not read.
    pub crowded: Vec<[u8; 32]>,
    /// How many entries are damaged or were encrypted with another key.
    pub unreadable: usize,
}

/// An entry as stored.
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

/// The result of a search, still encrypted: nonces and contents, oldest first.
#[derive(Default)]
pub(crate) struct SealedMatches {
    pub(crate) contents: Vec<([u8; 12], Vec<u8>)>,
    pub(crate) crowded: Vec<[u8; 32]>,
}

/// The store of removed calls; [`StateStore::store`](crate::state::StateStore::store) adds them.
pub(crate) trait RemovedCallStore {
    /// The entries of this binding under any of these signs and keys. If there are too many, those
    /// of the first signs and keys are read.
    fn find(&self, binding: &[u8; 32], sought: &RemovedQuery) -> Result<SealedMatches, Fault>;

    /// Whether this binding has an entry under any of these signs.
    fn contains(&self, binding: &[u8; 32], signs: &[[u8; 32]]) -> Result<bool, Fault>;

    /// The bindings of all entries after this one, and the id of the newest entry.
    fn bindings_after(&self, entry: i64) -> Result<(Vec<[u8; 32]>, i64), Fault>;
}

impl Store {
    /// Stores a turn with removed calls, encrypted.
    pub fn keep_removed(&self, removed: RemovedEntry) -> Receipt {
        match self.seal_removed(removed) {
            Ok(sealed) => self.shared().put(vec![StateEntry::Removed(sealed)], Vec::new()),
            Err(error) => Receipt::ready(Err(error)),
        }
    }

    /// Whether this binding has any entries. Answered from memory, so cheap enough for every
    /// request.
    pub fn has_removed(&self, binding: &[u8; 32]) -> bool {
        self.shared().bindings.has(binding)
    }

    /// The entries of this binding under any of these signs and keys, decrypted and within the
    /// bounds of [`RemovedEntry`]. One that cannot be decrypted does not hide the others. It reads the
    /// store, so it may take a while.
    pub fn find_removed(
        &self,
        binding: &[u8; 32],
        sought: &RemovedQuery,
    ) -> Result<RemovedMatches, StoreError> {
        let SealedMatches { contents, crowded } = self.shared().state.find(binding, sought)?;
        let open = |(nonce, content)| self.shared().cipher.open(binding, nonce, content).ok();
        let all = contents.len();
        let contents: Vec<_> = contents.into_iter().filter_map(open).collect();
        Ok(RemovedMatches { unreadable: all - contents.len(), contents, crowded })
    }

    /// Whether this binding has an entry under any of these signs.
    pub fn contains_removed(
        &self,
        binding: &[u8; 32],
        signs: &[[u8; 32]],
    ) -> Result<bool, StoreError> {
        Ok(self.shared().state.contains(binding, signs)?)
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

/// The bindings that have entries. Every request asks for this, so it is in memory. It may contain
/// a binding whose entries were removed. It always contains those that this process stored, and
/// gets those of other processes after about a second.
#[derive(Debug, Default)]
pub(crate) struct Bindings(RwLock<KnownBindings>);

#[derive(Debug, Default)]
struct KnownBindings {
    bindings: HashSet<[u8; 32]>,
    /// The newest entry that was read.
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

    /// Adds the bindings of entries since the last look.
    pub(crate) fn look(&self, kept: &dyn RemovedCallStore) -> Result<(), Fault> {
        let seen = self.0.read().seen;
        let (added, newest) = kept.bindings_after(seen)?;
        if newest > seen {
            let mut known = self.0.write();
            known.bindings.extend(added);
            known.seen = known.seen.max(newest);
        }
        Ok(())
    }

    /// Reads all bindings again after entries were removed. No entry can be added meanwhile.
    pub(crate) fn reload(&self, kept: &dyn RemovedCallStore) -> Result<(), Fault> {
        let mut known = self.0.write();
        let (bindings, seen) = kept.bindings_after(0)?;
        *known = KnownBindings { bindings: bindings.into_iter().collect(), seen };
        Ok(())
    }
}

/// How much a store keeps.
pub(crate) struct RemovedLimits {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

impl RemovedLimits {
    /// The limits of [`RemovedEntry`].
    pub(crate) const DEFAULT: Self =
        Self { entries: RemovedEntry::MAX_ENTRIES, bytes: RemovedEntry::MAX_TOTAL };
}
