//! The thread that brings the index up to date while nobody reads.

use std::sync::Arc;
use std::time::Duration;

use crate::index::Index;
use crate::journal::Log;
use crate::keeper::Stop;
use crate::shared::Shared;

/// Fills the index now and then, in large batches, and behind everything else that wants to run. What fails
/// is tried again later: nobody waits for it, and whoever reads does the rest.
pub(crate) fn run(shared: &Arc<Shared>, stop: &Stop) {
    step_back();
    let mut before = 0;
    while !stop.wait(EVERY) {
        let (Ok(Some(index)), Ok(log)) = (Index::open(&shared.place), shared.records.log()) else {
            continue;
        };
        let (Ok(extent), Ok(filled)) = (log.extent(), index.filled()) else { continue };
        // While records come, they are left to become many.
        let is_quiet = extent.last == before;
        before = extent.last;
        if is_quiet || extent.last.saturating_sub(filled.seq) >= MANY {
            while !stop.wait(Duration::ZERO)
                && index.keep_up(&log, 1).is_ok_and(|filled| filled.seq < extent.last)
            {}
        }
    }
}

/// Calls come first. Where the system does not allow it, this thread is one like the others.
fn step_back() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

const EVERY: Duration = Duration::from_secs(2);
/// So many records are worth a transaction, also while more come.
const MANY: u64 = 16 * 1024;
