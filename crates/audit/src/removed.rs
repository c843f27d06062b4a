//! Calls that were taken out of responses, to be put back later: kept encrypted, bounded, for a
//! month.

use std::collections::HashSet;
use std::fmt;

use parking_lot::RwLock;
use rusqlite::{OptionalExtension, params};

use crate::cipher::Cipher;
use crate::error::StoreError;
use crate::store::{Fault, Store};

/// A call that was taken out of a response.
#[derive(Clone, PartialEq, Eq)]
pub struct RemovedEntry {
    /// Who may have it back: a hash over principal, provider and upstream credential.
    pub binding: [u8; 32],
    /// By what its turn will be recognised: hashes of sibling call ids, signatures, the notice.
    pub signs: Vec<[u8; 32]>,
    /// What is needed to put it back. Encrypted when it is kept.
    pub content: Vec<u8>,
}

impl RemovedEntry {
    /// The largest content that is kept: as large as a response may be.
    pub const MAX_CONTENT: usize = 32 * 1024 * 1024;
    /// The most signs one entry may have: some for each call a response may hold.
    pub const MAX_SIGNS: usize = 1024;
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

/// An entry as it is kept.
pub(crate) struct SealedRemoved {
    pub(crate) binding: [u8; 32],
    pub(crate) signs: Vec<[u8; 32]>,
    nonce: [u8; 12],
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
        Ok(Self { binding: entry.binding, signs: entry.signs, nonce, content })
    }

    pub(crate) fn insert(&self, store: &Store, now: i64) -> Result<(), Fault> {
        store.execute(
            "INSERT INTO removed (binding, nonce, content, created) VALUES (?1, ?2, ?3, ?4)",
            params![self.binding, self.nonce, self.content, now],
        )?;
        let id = store.connection().last_insert_rowid();
        for sign in &self.signs {
            store.execute(
                "INSERT OR IGNORE INTO removed_signs (sign, removed) VALUES (?1, ?2)",
                params![sign, id],
            )?;
        }
        Ok(())
    }
}

/// What is kept for this binding under any of these signs, oldest first.
pub(crate) fn find(
    store: &Store,
    cipher: &Cipher,
    binding: &[u8; 32],
    signs: &[[u8; 32]],
) -> Result<Vec<Vec<u8>>, StoreError> {
    let ids = ids(store, binding, signs).map_err(|error| StoreError::Failed(error.to_string()))?;
    let read = |id: i64| -> rusqlite::Result<Option<([u8; 12], Vec<u8>)>> {
        store
            .connection()
            .prepare_cached("SELECT nonce, content FROM removed WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let row = read(id).map_err(|error| StoreError::Failed(error.to_string()))?;
        if let Some((nonce, content)) = row {
            found.push(cipher.open(binding, nonce, content)?);
        }
    }
    Ok(found)
}

fn ids(store: &Store, binding: &[u8; 32], signs: &[[u8; 32]]) -> rusqlite::Result<Vec<i64>> {
    let mut query = store.connection().prepare_cached(
        "SELECT removed.id FROM removed_signs JOIN removed ON removed.id = removed_signs.removed \
         WHERE removed_signs.sign = ?1 AND removed.binding = ?2",
    )?;
    let mut ids = Vec::new();
    for sign in signs {
        for id in query.query_map(params![sign, binding], |row| row.get::<_, i64>(0))? {
            ids.push(id?);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
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
    pub(crate) fn look(&self, store: &Store) -> Result<(), Fault> {
        let newest: i64 = store
            .connection()
            .prepare_cached("SELECT coalesce(max(id), 0) FROM removed")?
            .query_row([], |row| row.get(0))?;
        let seen = self.0.read().seen;
        if newest == seen {
            return Ok(());
        }
        let added = bindings(store, seen)?;
        let mut known = self.0.write();
        known.bindings.extend(added);
        known.seen = known.seen.max(newest);
        Ok(())
    }

    /// Begins anew, after entries have left. Nobody can add one meanwhile.
    fn reload(&self, store: &Store) -> Result<(), Fault> {
        let mut known = self.0.write();
        known.bindings = bindings(store, 0)?.into_iter().collect();
        Ok(())
    }
}

fn bindings(store: &Store, after: i64) -> Result<Vec<[u8; 32]>, Fault> {
    let mut query =
        store.connection().prepare_cached("SELECT DISTINCT binding FROM removed WHERE id > ?1")?;
    let rows = query.query_map([after], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
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

/// Lets entries leave that are too old, too many or too large together. `now` is in microseconds.
pub(crate) fn prune(
    store: &Store,
    bindings: &Bindings,
    bounds: &Bounds,
    now: i64,
) -> Result<(), Fault> {
    let Some(last) = last_to_leave(store, bounds, now)? else { return Ok(()) };
    store.transaction(|store| store.execute("DELETE FROM removed WHERE id <= ?1", [last]))?;
    bindings.reload(store)
}

fn last_to_leave(store: &Store, bounds: &Bounds, now: i64) -> Result<Option<i64>, Fault> {
    const DAY: u64 = 24 * 60 * 60 * 1_000_000;
    let oldest = now.saturating_sub_unsigned(RemovedEntry::MAX_DAYS * DAY);
    let mut rows = store
        .connection()
        .prepare_cached("SELECT id, length(content), created FROM removed ORDER BY id DESC")?;
    let mut rows = rows.query([])?;
    let (mut entries, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        entries += 1;
        bytes += row.get::<_, i64>(1)?.unsigned_abs();
        let old = row.get::<_, i64>(2)? < oldest;
        if old || entries > bounds.entries || bytes > bounds.bytes {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}
