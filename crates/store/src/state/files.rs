//! What the calls of a session have written into files, so that a script is known when a later call
//! runs it. Encrypted like removed calls, bounded, and kept for a day.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use callgate_call::{FileWrite, SessionFiles};
use parking_lot::RwLock;

use crate::cipher::Cipher;
use crate::database::Fault;
use crate::error::StoreError;
use crate::state::history::{FlowKey, FlowName, key};
use crate::store::Store;

/// The bounds of what is kept.
#[derive(Debug)]
pub(crate) struct FileLimits {
    /// The most bytes in a store. The oldest are removed first.
    pub(crate) bytes: u64,
    /// How long a write is kept, in hours.
    pub(crate) hours: i64,
}

impl FileLimits {
    pub(crate) const DEFAULT: Self = Self { bytes: 64 * 1024 * 1024, hours: 24 };
}

/// A write that is ready to be stored.
pub(crate) struct SealedFile {
    pub(crate) session: FlowKey,
    pub(crate) nonce: [u8; 12],
    pub(crate) content: Vec<u8>,
}

impl fmt::Debug for SealedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedFile").field("bytes", &self.content.len()).finish()
    }
}

impl SealedFile {
    /// Encrypts a write for its session.
    pub(crate) fn new(
        session: &FlowName,
        write: &FileWrite,
        cipher: &Cipher,
    ) -> Result<Self, StoreError> {
        let (session, mut content) = (key(session), write.encode());
        let nonce = cipher.seal(&session, &mut content)?;
        Ok(Self { session, nonce, content })
    }
}

/// The store of what sessions have written; [`StateStore::store`](crate::state::StateStore::store)
/// adds to it.
pub(crate) trait FileStore {
    /// Every write after this one, oldest first, and the id of the last.
    fn files_after(&self, write: i64) -> Result<(Vec<SealedFile>, i64), Fault>;
}

/// The files of every session, in memory, because every call of a shell asks for them. The writes of
/// this process are there before their receipt completes, those of others after about a second.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles(RwLock<FilesBySession>);

#[derive(Debug, Default)]
struct FilesBySession {
    sessions: HashMap<FlowKey, Arc<SessionFiles>>,
    /// The last write that was read.
    seen: i64,
}

impl KnownFiles {
    fn of(&self, session: &FlowKey) -> Option<Arc<SessionFiles>> {
        let known = self.0.read();
        known.sessions.get(session).map(Arc::clone)
    }

    /// How many files of a session are known.
    #[cfg(test)]
    pub(crate) fn count(&self, session: &FlowName) -> usize {
        self.of(&key(session)).map_or(0, |files| files.all().count())
    }

    /// Adds what was written since the last look.
    pub(crate) fn look(&self, files: &dyn FileStore, cipher: &Cipher) -> Result<(), Fault> {
        let mut known = self.0.write();
        let (writes, seen) = files.files_after(known.seen)?;
        known.seen = seen;
        for sealed in writes {
            let SealedFile { session, nonce, content } = sealed;
            // What cannot be decrypted was written with another key file.
            let Ok(content) = cipher.open(&session, nonce, content) else { continue };
            if let Some(write) = FileWrite::decode(&content) {
                Arc::make_mut(known.sessions.entry(session).or_default()).apply(write);
            }
        }
        Ok(())
    }

    /// Reads everything again after old writes were removed.
    pub(crate) fn reload(&self, files: &dyn FileStore, cipher: &Cipher) -> Result<(), Fault> {
        *self.0.write() = FilesBySession::default();
        self.look(files, cipher)
    }
}

impl Store {
    /// The files that earlier calls of this session have written. Answered from memory.
    pub fn session_files(&self, session: &FlowName) -> Option<Arc<SessionFiles>> {
        self.shared().files.of(&key(session))
    }
}
