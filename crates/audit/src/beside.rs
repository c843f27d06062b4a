//! Records that tell nothing that another one does not tell: written together, about each second, so that
//! the call that caused one does not pay for it.

use parking_lot::Mutex;

use crate::record::Record;
use crate::seal::Sealed;
use crate::store::{Fault, Item, Store};

/// Those that are not in the store yet.
#[derive(Debug, Default)]
pub(crate) struct Beside(Mutex<Vec<Record>>);

impl Beside {
    /// Keeps one for later. Gives all back once there are many.
    pub(crate) fn add(&self, record: Record) -> Option<Vec<Record>> {
        let mut waiting = self.0.lock();
        waiting.push(record);
        (waiting.len() >= MANY).then(|| std::mem::take(&mut *waiting))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Writes them. What could not be written is kept for the next time.
    pub(crate) fn write(&self, store: &Store, now: i64) -> Result<(), Fault> {
        let taken = std::mem::take(&mut *self.0.lock());
        let items = sealed(taken.clone());
        let done = store.commit(items.iter(), now);
        if done.is_err() {
            let mut waiting = self.0.lock();
            let later = std::mem::replace(&mut *waiting, taken);
            waiting.extend(later);
        }
        done
    }
}

/// Ready to be stored.
pub(crate) fn sealed(records: Vec<Record>) -> Vec<Item> {
    records.into_iter().map(|record| Item::Record(Sealed::new(record))).collect()
}

/// So many are not kept waiting any longer: they go into the queue, which has bounds of its own.
const MANY: usize = 1024;
