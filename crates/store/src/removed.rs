//! Calls that were taken out of responses, to be put back later: kept encrypted, bounded, for a
//! month.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use parking_lot::RwLock;
use rusqlite::{OptionalExtension, params};

use crate::cipher::Cipher;
use crate::database::{Database, Fault};
use crate::error::StoreError;

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
    keys: Vec<[u8; 32]>,
    alike: Option<[u8; 32]>,
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
        let RemovedEntry { binding, mut signs, keys, alike, .. } = entry;
        signs.extend(keys.iter().chain(&alike));
        Ok(Self { binding, signs, keys, alike, nonce, content })
    }

    pub(crate) fn insert(&self, store: &Database, now: i64) -> Result<(), Fault> {
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
        self.forget_older(store)
    }

    /// Of entries that can take each other's place only the newest stay to be found by their keys.
    fn forget_older(&self, store: &Database) -> Result<(), Fault> {
        let Some(alike) = self.alike else { return Ok(()) };
        let older: Vec<i64> = store
            .connection()
            .prepare_cached(
                "SELECT removed FROM removed_signs WHERE sign = ?1 \
                 ORDER BY removed DESC LIMIT -1 OFFSET ?2",
            )?
            .query_map(params![alike, RemovedEntry::MAX_ALIKE as i64], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for id in older {
            for sign in self.keys.iter().chain([&alike]) {
                store.execute(
                    "DELETE FROM removed_signs WHERE sign = ?1 AND removed = ?2",
                    params![sign, id],
                )?;
            }
        }
        Ok(())
    }
}

/// What is kept for this binding under any of these signs and keys. Where there is too much, it is read
/// for those that come first.
pub(crate) fn find(
    store: &Database,
    cipher: &Cipher,
    binding: &[u8; 32],
    sought: &SoughtRemoved,
) -> Result<FoundRemoved, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::Failed(error.to_string());
    let mut found = FoundRemoved::default();
    let mut ids: BTreeSet<i64> = BTreeSet::new();
    let mut bytes = 0;
    let signs = sought.signs.iter().map(|sign| (sign, RemovedEntry::MAX_FOUND));
    let keys = sought.keys.iter().map(|key| (key, RemovedEntry::MAX_ALIKE));
    for (sign, most) in signs.chain(keys) {
        let rows = rows(store, binding, sign, most + 1).map_err(failed)?;
        let size: usize = rows.iter().map(|(_, size)| size).sum();
        let is_crowded = rows.len() > most
            || ids.len() + rows.len() > RemovedEntry::MAX_FOUND
            || bytes + size > RemovedEntry::MAX_FOUND_BYTES;
        if is_crowded {
            found.crowded.push(*sign);
        } else {
            bytes += size;
            ids.extend(rows.iter().map(|(id, _)| id));
        }
    }
    for id in ids {
        let row: Option<([u8; 12], Vec<u8>)> = store
            .connection()
            .prepare_cached("SELECT nonce, content FROM removed WHERE id = ?1")
            .and_then(|mut query| {
                query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(failed)?;
        if let Some((nonce, content)) = row {
            found.contents.push(cipher.open(binding, nonce, content)?);
        }
    }
    Ok(found)
}

/// Whether anything is kept for this binding under any of these signs. Nothing is decrypted.
pub(crate) fn knows(
    store: &Database,
    binding: &[u8; 32],
    signs: &[[u8; 32]],
) -> Result<bool, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::Failed(error.to_string());
    for sign in signs {
        if !rows(store, binding, sign, 1).map_err(failed)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The oldest entries under one sign, with their sizes.
fn rows(
    store: &Database,
    binding: &[u8; 32],
    sign: &[u8; 32],
    most: usize,
) -> rusqlite::Result<Vec<(i64, usize)>> {
    let mut query = store.connection().prepare_cached(
        "SELECT removed.id, length(removed.content) FROM removed_signs \
         JOIN removed ON removed.id = removed_signs.removed \
         WHERE removed_signs.sign = ?1 AND removed.binding = ?2 \
         ORDER BY removed_signs.removed LIMIT ?3",
    )?;
    let rows = query.query_map(params![sign, binding, most as i64], |row| {
        Ok((row.get(0)?, usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX)))
    })?;
    rows.collect()
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
    pub(crate) fn look(&self, store: &Database) -> Result<(), Fault> {
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
    fn reload(&self, store: &Database) -> Result<(), Fault> {
        let mut known = self.0.write();
        known.bindings = bindings(store, 0)?.into_iter().collect();
        Ok(())
    }
}

fn bindings(store: &Database, after: i64) -> Result<Vec<[u8; 32]>, Fault> {
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
    store: &Database,
    bindings: &Bindings,
    bounds: &Bounds,
    now: i64,
) -> Result<(), Fault> {
    let Some(last) = last_to_leave(store, bounds, now)? else { return Ok(()) };
    store.transaction(|store| store.execute("DELETE FROM removed WHERE id <= ?1", [last]))?;
    bindings.reload(store)
}

fn last_to_leave(store: &Database, bounds: &Bounds, now: i64) -> Result<Option<i64>, Fault> {
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
