//! The writer thread: writes all waiting entries in one batch. State entries come before records.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_audit::{Record, Sealed};

use crate::database::Fault;
use crate::pace::WritePace;
use crate::queue::{NextBatch, QueueEntry, WriterTask};
use crate::receipt::AppendError;
use crate::shared::{OpenStore, now};
use crate::state::sessions::SessionStore;
use crate::state::{StateEntry, StateStore};

/// Writes until the queue is closed and empty.
pub(crate) fn run(shared: &Arc<OpenStore>) {
    // However this thread ends, no caller keeps waiting for it.
    let _closing = AbandonOnDrop(Arc::clone(shared));
    let mut last_tick = Instant::now();
    let mut pace = WritePace::new(shared.settings.durability);
    loop {
        pace.gather(&shared.queue, shared.derived.due().unwrap_or(TICK));
        match shared.queue.take(Duration::ZERO) {
            NextBatch::Batch(batch) => {
                let callers = batch.iter().filter(|entry| entry.is_urgent()).count();
                write(shared, batch);
                pace.wrote(callers);
            }
            NextBatch::Nothing => {}
            NextBatch::Closed => break,
        }
        if shared.derived.due() == Some(Duration::ZERO) {
            let _ = write_derived(shared);
        }
        if last_tick.elapsed() >= TICK {
            last_tick = Instant::now();
            tick(shared);
        }
    }
    // What cannot be written now is lost; no caller waits for it.
    let _ = write_rest(shared);
}

fn write(shared: &OpenStore, batch: Vec<QueueEntry>) {
    let stored = store_entries(shared, &batch).map_err(failure);
    let (mut records, mut answers) = (Vec::new(), Vec::new());
    for QueueEntry { work, answer, .. } in batch {
        match work {
            WriterTask::Flush => answers.push((answer, ResultOf::Flush)),
            WriterTask::Write(write) if !write.entries.is_empty() && stored.is_err() => {
                answers.push((answer, ResultOf::State));
            }
            WriterTask::Write(write) if write.records.is_empty() => {
                answers.push((answer, ResultOf::State))
            }
            WriterTask::Write(write) => {
                records.extend(write.records);
                answers.push((answer, ResultOf::Recorded));
            }
        }
    }
    let recorded = append(shared, records).map_err(failure);
    for (answer, result_of) in answers {
        answer.complete(match result_of {
            ResultOf::State => stored.clone(),
            ResultOf::Recorded => recorded.clone(),
            ResultOf::Flush => write_rest(shared).map_err(failure),
        });
    }
}

/// Which result answers an entry.
enum ResultOf {
    /// That of its state entries: it has no records, or they were not written because the state
    /// entries failed.
    State,
    /// That of its records, which come after the state entries.
    Recorded,
    /// That of everything before it.
    Flush,
}

/// Stores the state entries of the whole batch, in one transaction.
fn store_entries(shared: &OpenStore, batch: &[QueueEntry]) -> Result<(), Fault> {
    let entries: Vec<&StateEntry> = batch.iter().flat_map(|entry| entry.work.entries()).collect();
    if entries.is_empty() {
        return Ok(());
    }
    shared.state.store(&entries, now())?;
    entries.iter().for_each(|entry| shared.written(entry));
    Ok(())
}

/// Appends records, after those of the sessions that start with them. As long as all their sessions
/// are known to be alive, only the records are written.
fn append(shared: &OpenStore, mut records: Vec<Sealed>) -> Result<(), Fault> {
    let now = now();
    let unknown = shared.sessions.unknown(&records, shared.settings.session_idle, now);
    if unknown.is_empty() {
        return shared.records.append(&records);
    }
    let mut appended = false;
    let mut append = |begun: Vec<Record>| {
        let begun = begun.into_iter().map(Sealed::new);
        shared.append_first(begun.chain(std::mem::take(&mut records)).collect())?;
        appended = true;
        Ok(())
    };
    match shared.state.touch(&unknown, now, &mut append) {
        Ok(()) => {
            shared.sessions.remember(&unknown, now);
            Ok(())
        }
        // They are recorded. That the sessions are alive is stored with their next records.
        Err(_) if appended => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// Runs once a second: writes what no caller waits for, and retries a file that failed.
fn tick(shared: &OpenStore) {
    let _ = write_rest(shared);
    shared.records.try_again();
    shared.state.writing.try_again();
}

fn write_rest(shared: &OpenStore) -> Result<(), Fault> {
    shared.turns.write(&shared.state)?;
    write_derived(shared)
}

fn write_derived(shared: &OpenStore) -> Result<(), Fault> {
    match shared.derived.due() {
        Some(_) => shared.derived.write(&shared.records),
        None => Ok(()),
    }
}

fn failure(fault: Fault) -> AppendError {
    AppendError::Store(fault.why())
}

struct AbandonOnDrop(Arc<OpenStore>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

/// How often to write what no caller waits for, and to retry a failing store.
const TICK: Duration = Duration::from_secs(1);
