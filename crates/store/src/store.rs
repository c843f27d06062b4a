//! The handle that doors and commands hold.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use callgate_audit::{Record, Sealed};
use callgate_call::FileWrite;

use crate::background::BackgroundThread;
use crate::derived::{self, AfterAdd};
use crate::error::OpenError;
use crate::health::WriteHealth;
use crate::indexer;
use crate::maintenance::{Maintenance, StopSignal};
use crate::queue::{Urgency, WriteGroup, WriterTask};
use crate::reader::RecordReader;
use crate::receipt::{AppendError, Receipt};
use crate::settings::{Indexing, Settings};
use crate::shared::{OpenStore, now};
use crate::state::files::SealedFile;
use crate::state::history::{FlowName, FlowStep, SealedStep};
use crate::state::turns::TurnCount;
use crate::state::{StateEntry, StateStore};
use crate::write_connection::StateVersion;
use crate::writer;

/// An open store. A handle: clones share the store, and dropping the last one writes what is queued
/// and closes it.
#[derive(Debug, Clone)]
pub struct Store(Arc<RunningStore>);

/// The state of the store a moment ago, for all questions of one decision: whether another process
/// has changed something is looked up once.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    pub(crate) shared: &'a OpenStore,
    pub(crate) view: Option<StateVersion>,
}

/// A store and its threads.
#[derive(Debug)]
struct RunningStore {
    shared: Arc<OpenStore>,
    background: BackgroundThread,
    stop: Arc<StopSignal>,
    threads: Vec<JoinHandle<()>>,
}

impl Store {
    /// Opens a store. Creates it if it does not exist.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        let shared = Arc::new(OpenStore::open(settings)?);
        let maintenance = Maintenance::new(&shared)?;
        let stop = Arc::new(StopSignal::default());
        let mut running = RunningStore {
            shared,
            background: BackgroundThread::default(),
            stop,
            threads: Vec::new(),
        };
        let shared = Arc::clone(&running.shared);
        running.start("callgate-audit", move || writer::run(&shared))?;
        let stop = Arc::clone(&running.stop);
        running.start("callgate-maint", move || maintenance.run(&stop))?;
        if settings.indexing == Indexing::Here {
            let (shared, stop) = (Arc::clone(&running.shared), Arc::clone(&running.stop));
            running.start("callgate-index", move || indexer::run(&shared, &stop))?;
        }
        Ok(Self(Arc::new(running)))
    }

    /// Appends a record. The receipt completes when it is durable. This never waits for the store.
    pub fn append(&self, record: Record) -> Receipt {
        let id = record.id;
        self.0.shared.put(Vec::new(), vec![Sealed::new(record)]).of(id)
    }

    /// Appends a record that no caller waits for. It is written with the next record that a caller
    /// does wait for, or a few milliseconds later. This fails at once if the queue is full.
    pub fn append_soon(&self, record: Record) -> Result<(), AppendError> {
        let write = WriteGroup { entries: Vec::new(), records: vec![Sealed::new(record)] };
        let receipt = self.0.shared.queue.push(WriterTask::Write(write), Urgency::Soon);
        if receipt.is_ready() { receipt.wait() } else { Ok(()) }
    }

    /// Appends the data of one call: its steps and files, each with its session, then its record. If
    /// the steps and files cannot be stored, the record is not written. If the record fails after
    /// that, they stay.
    pub fn append_together(
        &self,
        steps: impl IntoIterator<Item = (FlowName, FlowStep)>,
        files: impl IntoIterator<Item = (FlowName, FileWrite)>,
        record: Record,
    ) -> Receipt {
        let shared = &self.0.shared;
        let step = |(session, step)| StateEntry::Step(SealedStep::new(&session, step));
        let mut entries: Vec<StateEntry> = steps.into_iter().map(step).collect();
        for (session, write) in files {
            match SealedFile::new(&session, &write, &shared.cipher) {
                Ok(sealed) => entries.push(StateEntry::File(sealed)),
                Err(error) => return Receipt::ready(Err(AppendError::Store(error.to_string()))),
            }
        }
        let id = record.id;
        shared.put(entries, vec![Sealed::new(record)]).of(id)
    }

    /// Appends a derived record. It is written a few milliseconds later in a batch, and lost if the
    /// process is killed first.
    pub fn append_derived(&self, record: Record) {
        let shared = &self.0.shared;
        match shared.derived.add(record) {
            AfterAdd::Queued => {}
            AfterAdd::First => shared.queue.nudge(),
            // If the queue is full, the records of the calls themselves report that.
            AfterAdd::TooMany(many) => drop(shared.put(Vec::new(), derived::sealed(many))),
        }
    }

    /// Checks the store once, for several questions.
    pub fn glance(&self) -> Glance<'_> {
        Glance { shared: &self.0.shared, view: self.0.shared.state.view() }
    }

    /// Counts a response without calls. Counts are written about once a second, and at the end.
    pub fn count_turn(&self, count: TurnCount) {
        self.0.shared.turns.count(count, now());
    }

    /// Whether records can be written.
    pub fn health(&self) -> WriteHealth {
        self.0.shared.health()
    }

    /// Completes when everything that was appended and counted before is written, or has failed. It
    /// fails if the counts could not be written; each record has its own receipt.
    pub fn flush(&self) -> Receipt {
        self.0.shared.queue.push(WriterTask::Flush, Urgency::Now)
    }

    /// A reader of this store: the only way to read one in memory.
    pub fn reader(&self) -> Result<RecordReader, OpenError> {
        let shared = &self.0.shared;
        RecordReader::over(shared.records.log()?, &shared.place)
    }

    pub(crate) fn background(&self) -> &BackgroundThread {
        &self.0.background
    }

    pub(crate) fn shared(&self) -> &OpenStore {
        &self.0.shared
    }
}

impl RunningStore {
    fn start(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
        let started = thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(started.map_err(|error| OpenError::Thread(error.to_string()))?);
        Ok(())
    }
}

impl Drop for RunningStore {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.stop.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed the panic, and all its waiting callers have an
            // answer.
            let _ = thread.join();
        }
    }
}
