//! Periodic maintenance of the state file: notices changes of other processes, runs checkpoints,
//! and removes old data.

use std::sync::Arc;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::{Patience, StorePlace, identity_of};
use crate::shared::{OpenStore, now};
use crate::state::files::FileLimits;
use crate::state::history::FlowStep;
use crate::state::meters::Bucket;
use crate::state::removed::RemovedLimits;
use crate::state::sqlite::removed::Pruned;
use crate::state::sqlite::{files, history, marks, meters, removed, sessions, turns};
use crate::wal::Checkpoints;

/// Maintains the file, with its own connection.
#[derive(Debug)]
pub(crate) struct StateMaintenance {
    shared: Arc<OpenStore>,
    database: Database,
    /// The device and inode of the file when it was opened.
    file: Option<(u64, u64)>,
    /// The last value of [`Database::data_version`].
    version: Option<i64>,
    pub(crate) checkpoints: Checkpoints,
}

impl StateMaintenance {
    pub(crate) fn new(shared: Arc<OpenStore>) -> Result<Self, OpenError> {
        let file = &shared.state.writing.file;
        let database = file.open(Patience::brief())?;
        let checkpoints = Checkpoints::new(file.durability);
        let file = identity_of(file.place.path());
        Ok(Self { shared, database, file, version: None, checkpoints })
    }

    /// Runs before the first tick: if no other process had the file open, its log starts here, for
    /// the reason given at [`Checkpoints::touch`].
    pub(crate) fn begin(&self) {
        let _ = self.checkpoints.touch(&self.database);
    }

    /// Runs about once a second. Each part works without the others, and failures are retried.
    pub(crate) fn tick(&mut self) {
        self.watch_file();
        let _ = self.look();
        let _ = self.checkpoint();
        let _ = self.end_idle();
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), Fault> {
        self.checkpoints.run(&self.database)
    }

    /// Removes old counts, marks, removed calls, buckets, and steps and files of sessions.
    pub(crate) fn expire(&self) -> Result<(), Fault> {
        let (shared, now) = (&self.shared, now());
        turns::expire(&self.database, &shared.settings.retention, now)?;
        marks::expire(&self.database, &shared.settings.retention, now)?;
        if removed::prune(&self.database, &RemovedLimits::DEFAULT, now)? == Pruned::Some {
            shared.bindings.reload(&shared.state)?;
        }
        if files::prune(&self.database, &FileLimits::DEFAULT, now)? {
            shared.files.reload(&shared.state, &shared.cipher)?;
        }
        meters::prune(&self.database, Bucket::MAX_KEPT, now)?;
        history::prune(&self.database, FlowStep::MAX_KEPT, now)
    }

    /// Gives up a file that was removed or replaced: other processes would not find what is written
    /// to it.
    fn watch_file(&mut self) {
        let state = &self.shared.state;
        let StorePlace::File(path) = &state.writing.file.place else { return };
        let found = identity_of(path);
        if found == self.file {
            return;
        }
        state.writing.lose("the state file of the store was removed or replaced");
        if let Ok(database) = state.writing.file.open(Patience::brief()) {
            self.database = database;
            self.file = identity_of(path);
            self.version = None;
            let _ = state.reopen_lookups();
            let _ = self.shared.bindings.reload(state);
            let _ = self.shared.files.reload(state, &self.shared.cipher);
        }
    }

    fn look(&mut self) -> Result<(), Fault> {
        let version = Some(self.database.data_version()?);
        if version != self.version {
            self.shared.look()?;
            self.version = version;
        }
        Ok(())
    }

    fn end_idle(&self) -> Result<(), Fault> {
        let idle = self.shared.settings.session_idle;
        let mut record = |ended| self.shared.record(ended);
        sessions::end_idle(&self.database, idle, now(), &mut record)
    }
}
