//! What the file with the state needs now and then: a look at what other processes changed, checkpoints,
//! and an end for what is old.

use std::sync::Arc;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::place::{Patience, Place, identity_of};
use crate::shared::{Shared, now};
use crate::state::history::FlowStep;
use crate::state::meters::Bucket;
use crate::state::removed::Bounds;
use crate::state::sqlite::removed::Left;
use crate::state::sqlite::{history, meters, removed, sessions, turns};
use crate::wal::Checkpoints;

/// Keeps the file in order, with a connection of its own.
#[derive(Debug)]
pub(crate) struct StateKeeper {
    shared: Arc<Shared>,
    database: Database,
    /// The file as it was opened.
    file: Option<(u64, u64)>,
    /// What the connection told when it was last looked: see [`Database::data_version`].
    version: Option<i64>,
    pub(crate) checkpoints: Checkpoints,
}

impl StateKeeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Self, OpenError> {
        let file = &shared.state.writing.file;
        let database = file.open(Patience::brief())?;
        let checkpoints = Checkpoints::new(file.durability);
        let file = identity_of(file.place.path());
        Ok(Self { shared, database, file, version: None, checkpoints })
    }

    /// Before the first round: the log of a file that nobody had open begins here, for the reason that
    /// [`Checkpoints::touch`] has.
    pub(crate) fn begin(&self) {
        let _ = self.checkpoints.touch(&self.database);
    }

    /// About each second. Each part is of use without the others, and what fails comes again.
    pub(crate) fn tick(&mut self) {
        self.watch_file();
        let _ = self.look();
        let _ = self.checkpoint();
        let _ = self.end_idle();
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), Fault> {
        self.checkpoints.run(&self.database)
    }

    /// Lets old counts, removed calls, buckets and steps of sessions leave.
    pub(crate) fn expire(&self) -> Result<(), Fault> {
        let (shared, now) = (&self.shared, now());
        turns::expire(&self.database, &shared.settings.retention, now)?;
        if removed::prune(&self.database, &Bounds::USUAL, now)? == Left::Some {
            shared.bindings.reload(&shared.state)?;
        }
        meters::prune(&self.database, Bucket::MAX_KEPT, now)?;
        history::prune(&self.database, FlowStep::MAX_KEPT, now)
    }

    /// A file that was removed or replaced would take what no other process finds.
    fn watch_file(&mut self) {
        let state = &self.shared.state;
        let Place::File(path) = &state.writing.file.place else { return };
        let found = identity_of(path);
        if found == self.file {
            return;
        }
        state.writing.lose("the file with the store's state was removed or replaced");
        if let Ok(database) = state.writing.file.open(Patience::brief()) {
            self.database = database;
            self.file = identity_of(path);
            self.version = None;
            let _ = state.reopen_looking();
            let _ = self.shared.bindings.reload(state);
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
