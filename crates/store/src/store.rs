//! The handle that doors and commands hold.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use callgate_audit::{Record, Sealed};

use crate::beside::{self, Added};
use crate::clerk::Clerk;
use crate::error::OpenError;
use crate::filler;
use crate::health::Health;
use crate::keeper::{Keeper, Stop};
use crate::queue::{Urgency, Work, Write};
use crate::reader::Reader;
use crate::receipt::{AppendError, Receipt};
use crate::settings::{Indexing, Settings};
use crate::shared::{Shared, now};
use crate::state::history::{FlowName, FlowStep, SealedStep};
use crate::state::turns::TurnCount;
use crate::state::{Kept, State};
use crate::writer;
use crate::writing::View;

/// An open store. A handle: clones share it, and the last one dropped writes what is queued and
/// closes it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Running>);

/// The state of the store as it was a moment ago, for all that one decision asks of it: whether another
/// process has changed something is looked up once.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) view: Option<View>,
}

/// A store and its threads.
#[derive(Debug)]
struct Running {
    shared: Arc<Shared>,
    clerk: Clerk,
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

impl Store {
    /// Opens a store, and makes it if there is none.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::open(settings)?);
        let keeper = Keeper::new(&shared)?;
        let stop = Arc::new(Stop::default());
        let mut running = Running { shared, clerk: Clerk::default(), stop, threads: Vec::new() };
        let shared = Arc::clone(&running.shared);
        running.start("callgate-audit", move || writer::run(&shared))?;
        let stop = Arc::clone(&running.stop);
        running.start("callgate-keeper", move || keeper.run(&stop))?;
        if settings.indexing == Indexing::Here {
            let (shared, stop) = (Arc::clone(&running.shared), Arc::clone(&running.stop));
            running.start("callgate-index", move || filler::run(&shared, &stop))?;
        }
        Ok(Self(Arc::new(running)))
    }

    /// Appends a record. The receipt says when it is durable. This never waits for the store.
    pub fn append(&self, record: Record) -> Receipt {
        self.0.shared.put(Vec::new(), vec![Sealed::new(record)])
    }

    /// Appends a record that nobody waits for: with the next record that somebody does wait for, or some
    /// milliseconds later. It fails at once if there is no room.
    pub fn append_soon(&self, record: Record) -> Result<(), AppendError> {
        let write = Write { kept: Vec::new(), records: vec![Sealed::new(record)] };
        let receipt = self.0.shared.queue.push(Work::Write(write), Urgency::Soon);
        if receipt.is_ready() { receipt.wait() } else { Ok(()) }
    }

    /// Appends what belongs to one call: its steps, each with its session, then its record. Without its
    /// steps the record is not written. If the record then fails, its steps stay.
    pub fn append_together(
        &self,
        steps: impl IntoIterator<Item = (FlowName, FlowStep)>,
        record: Record,
    ) -> Receipt {
        let sealed = |(session, step)| Kept::Step(SealedStep::new(&session, step));
        let steps = steps.into_iter().map(sealed).collect();
        self.0.shared.put(steps, vec![Sealed::new(record)])
    }

    /// Appends a record that tells nothing that another does not tell: some milliseconds later, together
    /// with its like. What is not written when the process is killed is lost.
    pub fn append_beside(&self, record: Record) {
        let shared = &self.0.shared;
        match shared.beside.add(record) {
            Added::ToOthers => {}
            Added::First => shared.queue.nudge(),
            // Where the queue has no room, the records of the calls themselves say so.
            Added::TooMany(many) => drop(shared.put(Vec::new(), beside::sealed(many))),
        }
    }

    /// Looks at the store once, for several questions.
    pub fn glance(&self) -> Glance<'_> {
        Glance { shared: &self.0.shared, view: self.0.shared.state.view() }
    }

    /// Counts a response without calls. Written about each second, and at the end.
    pub fn count_turn(&self, count: TurnCount) {
        self.0.shared.turns.count(count, now());
    }

    /// Whether records can be written.
    pub fn health(&self) -> Health {
        self.0.shared.health()
    }

    /// Ready when everything that was appended and counted before is written, or has failed. It
    /// fails if the counts could not be written; each record has a receipt of its own.
    pub fn flush(&self) -> Receipt {
        self.0.shared.queue.push(Work::Flush, Urgency::Now)
    }

    /// Reads this very store: the only way to read one in memory.
    pub fn reader(&self) -> Result<Reader, OpenError> {
        let shared = &self.0.shared;
        Reader::over(shared.records.log()?, &shared.place)
    }

    pub(crate) fn clerk(&self) -> &Clerk {
        &self.0.clerk
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }
}

impl Running {
    fn start(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
        let started = thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(started.map_err(|error| OpenError::Thread(error.to_string()))?);
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.stop.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so, and has answered all who waited.
            let _ = thread.join();
        }
    }
}
