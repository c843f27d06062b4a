//! The thread that writes: everything that waits, at once. What is kept beside the records comes first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_audit::{Record, Sealed};

use crate::database::Fault;
use crate::pace::Pace;
use crate::queue::{Entry, Taken, Work};
use crate::receipt::AppendError;
use crate::shared::{Shared, now};
use crate::state::sessions::Sessions;
use crate::state::{Kept, State};

/// Writes until the queue is closed and empty.
pub(crate) fn run(shared: &Arc<Shared>) {
    // Whatever ends this thread, nobody waits for it in vain.
    let _closing = Closing(Arc::clone(shared));
    let mut last_tick = Instant::now();
    let mut pace = Pace::new(shared.settings.durability);
    loop {
        pace.gather(&shared.queue, shared.beside.due().unwrap_or(TICK));
        match shared.queue.take(Duration::ZERO) {
            Taken::Batch(batch) => {
                let many = batch.len();
                write(shared, batch);
                pace.wrote(many);
            }
            Taken::Nothing => {}
            Taken::Closed => break,
        }
        if shared.beside.due() == Some(Duration::ZERO) {
            let _ = write_beside(shared);
        }
        if last_tick.elapsed() >= TICK {
            last_tick = Instant::now();
            tick(shared);
        }
    }
    // What cannot be written now is lost: what nobody waits for.
    let _ = write_rest(shared);
}

fn write(shared: &Shared, batch: Vec<Entry>) {
    let kept = keep(shared, &batch).map_err(failure);
    let (mut records, mut answers) = (Vec::new(), Vec::new());
    for Entry { work, answer, .. } in batch {
        match work {
            Work::Flush => answers.push((answer, Awaited::Flush)),
            Work::Write(write) if !write.kept.is_empty() && kept.is_err() => {
                answers.push((answer, Awaited::Kept));
            }
            Work::Write(write) if write.records.is_empty() => answers.push((answer, Awaited::Kept)),
            Work::Write(write) => {
                records.extend(write.records);
                answers.push((answer, Awaited::Recorded));
            }
        }
    }
    let recorded = append(shared, records).map_err(failure);
    for (answer, awaited) in answers {
        answer.give(match awaited {
            Awaited::Kept => kept.clone(),
            Awaited::Recorded => recorded.clone(),
            Awaited::Flush => write_rest(shared).map_err(failure),
        });
    }
}

/// What decides about the answer to an entry.
enum Awaited {
    /// What it had to keep: it had no record, or the record was not written because of that.
    Kept,
    /// Its records, behind what it had to keep.
    Recorded,
    /// Everything before it.
    Flush,
}

/// Keeps what the whole batch has to keep, in one transaction.
fn keep(shared: &Shared, batch: &[Entry]) -> Result<(), Fault> {
    let kept: Vec<&Kept> = batch.iter().flat_map(|entry| entry.work.kept()).collect();
    if kept.is_empty() {
        return Ok(());
    }
    shared.state.keep(&kept, now())?;
    kept.iter().for_each(|kept| shared.written(kept));
    Ok(())
}

/// Appends records, behind those of the sessions that begin with them. As long as all their sessions are
/// known to be alive, nothing but the records is written.
fn append(shared: &Shared, mut records: Vec<Sealed>) -> Result<(), Fault> {
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
        // They are on record. That the sessions are alive is kept with their next records.
        Err(_) if appended => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// Once a second: what nobody waits for is written, and a file that failed is tried.
fn tick(shared: &Shared) {
    let _ = write_rest(shared);
    shared.records.try_again();
    shared.state.writing.try_again();
}

fn write_rest(shared: &Shared) -> Result<(), Fault> {
    shared.turns.write(&shared.state)?;
    write_beside(shared)
}

fn write_beside(shared: &Shared) -> Result<(), Fault> {
    match shared.beside.due() {
        Some(_) => shared.beside.write(&shared.records),
        None => Ok(()),
    }
}

fn failure(fault: Fault) -> AppendError {
    AppendError::Store(fault.why())
}

struct Closing(Arc<Shared>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

/// How often what nobody waits for is written, and a failing store is tried.
const TICK: Duration = Duration::from_secs(1);
