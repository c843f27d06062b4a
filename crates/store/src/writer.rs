//! The thread that writes: everything that waits, in one transaction.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::database::{Database, Fault, Item};
use crate::queue::{Entry, Taken, Work};
use crate::receipt::AppendError;
use crate::shared::{Shared, now};

/// Writes until the queue is closed and empty.
pub(crate) fn run(shared: &Arc<Shared>) {
    // Whatever ends this thread, nobody waits for it in vain.
    let _closing = Closing(Arc::clone(shared));
    let mut last_tick = Instant::now();
    loop {
        match shared.queue.take(shared.beside.due().unwrap_or(TICK)) {
            Taken::Batch(batch) => write(shared, batch),
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
    let items: Vec<&Item> = batch.iter().flat_map(|entry| entry.work.items()).collect();
    let mut written = Ok(());
    if !items.is_empty() {
        written = shared.with_appending(|store| commit(shared, store, &items));
    }
    if written.is_ok() {
        items.iter().for_each(|item| shared.written(item));
    }
    let written = written.map_err(failure);
    for Entry { work, answer } in batch {
        match work {
            Work::Write(_) => answer.give(written.clone()),
            Work::Flush => answer.give(write_rest(shared).map_err(failure)),
        }
    }
}

/// The records, behind those of the sessions that began with them.
fn commit(shared: &Shared, store: &Database, items: &[&Item]) -> Result<(), Fault> {
    let (now, idle) = (now(), shared.settings.session_idle);
    let alive = store.transaction(|store| {
        let alive = shared.sessions.touch(store, items, idle, now)?;
        store.fill(alive.begun.iter().chain(items.iter().copied()), now)?;
        Ok(alive)
    })?;
    shared.sessions.remember(&alive, now);
    Ok(())
}

/// Once a second: what nobody waits for is written, and a store that failed is tried.
fn tick(shared: &Shared) {
    let _ = write_rest(shared);
    if shared.pulse.is_failing() {
        let _ = shared.with_appending(|store| {
            let touch = "UPDATE touched SET times = times + 1 WHERE one = 1";
            store.transaction(|store| store.execute(touch, []))
        });
    }
}

fn write_rest(shared: &Shared) -> Result<(), Fault> {
    if !shared.turns.is_empty() {
        shared.with_appending(|store| shared.turns.write(store))?;
    }
    write_beside(shared)
}

fn write_beside(shared: &Shared) -> Result<(), Fault> {
    match shared.beside.due() {
        Some(_) => shared.with_appending(|store| shared.beside.write(store, now())),
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
