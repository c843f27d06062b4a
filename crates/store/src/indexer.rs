//! The thread that keeps the index up to date between reads.

use std::sync::Arc;
use std::time::Duration;

use crate::index::Index;
use crate::journal::Log;
use crate::maintenance::StopSignal;
use crate::shared::OpenStore;

/// Fills the index from time to time, in large batches and at low priority. Failures are retried
/// later: no caller waits for this thread, and a reader indexes the rest itself.
pub(crate) fn run(shared: &Arc<OpenStore>, stop: &StopSignal) {
    lower_priority();
    let mut before = 0;
    while !stop.wait(EVERY) {
        let (Ok(Some(index)), Ok(log)) = (Index::open(&shared.place), shared.records.log()) else {
            continue;
        };
        let (Ok(extent), Ok(filled)) = (log.extent(), index.filled()) else { continue };
        // While records keep coming, wait until there are many.
        let is_quiet = extent.last == before;
        before = extent.last;
        if is_quiet || extent.last.saturating_sub(filled.seq) >= BATCH {
            while !stop.wait(Duration::ZERO)
                && index.keep_up(&log, 1).is_ok_and(|filled| filled.seq < extent.last)
            {}
        }
    }
}

/// Lowers the priority of this thread, because calls come first. Where the system does not allow
/// it, the priority stays.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

const EVERY: Duration = Duration::from_secs(2);
/// This many records are worth a transaction, even while more are coming.
const BATCH: u64 = 64 * 1024;
