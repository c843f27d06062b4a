//! What the file with the records needs now and then: checkpoints and expiry.

use std::sync::Arc;
use std::time::Duration;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::keeper::Stop;
use crate::place::{Patience, Place, identity_of};
use crate::records::retention::{self, Progress};
use crate::settings::{Location, Retention};
use crate::shared::{Shared, now};
use crate::wal::Checkpoints;

/// Keeps the file in order, with a connection of its own.
#[derive(Debug)]
pub(crate) struct RecordsKeeper {
    shared: Arc<Shared>,
    database: Database,
    retention: Retention,
    /// The file as it was opened.
    file: Option<(u64, u64)>,
    pub(crate) checkpoints: Checkpoints,
}

impl RecordsKeeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Self, OpenError> {
        let database = shared.records.0.file.open(Patience::brief())?;
        let mut retention = shared.settings.retention.clone();
        if let Place::Memory(_) = shared.place {
            let most = Location::MEMORY_BYTES;
            retention.bytes = Some(retention.bytes.map_or(most, |bytes| bytes.min(most)));
        }
        let file = identity_of(shared.place.path());
        let checkpoints = Checkpoints::new(shared.settings.durability);
        Ok(Self { shared, database, retention, file, checkpoints })
    }

    /// Before the first round: the log of a file that nobody had open begins here, for the reason that
    /// [`Checkpoints::touch`] has.
    pub(crate) fn begin(&self) {
        let _ = self.checkpoints.touch(&self.database);
    }

    /// About each second. What fails comes again.
    pub(crate) fn tick(&mut self) {
        self.watch_file();
        let _ = self.checkpoint();
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), Fault> {
        self.checkpoints.run(&self.database)
    }

    /// Lets old records leave.
    pub(crate) fn expire(&self, stop: &Stop) -> Result<(), Fault> {
        while retention::expire(&self.database, &self.retention, now())? == Progress::More {
            // Between slices others write.
            if stop.wait(Duration::from_millis(2)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A file that was removed or replaced would take records that nobody can read.
    fn watch_file(&mut self) {
        let Place::File(path) = &self.shared.place else { return };
        let found = identity_of(path);
        if found == self.file {
            return;
        }
        let records = &self.shared.records.0;
        records.lose("the store's file was removed or replaced");
        if let Ok(database) = records.file.open(Patience::brief()) {
            self.database = database;
            self.file = identity_of(path);
        }
    }
}
