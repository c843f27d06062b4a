//! How many records the writer gathers before it syncs.

use std::thread;
use std::time::{Duration, Instant};

use crate::queue::WriteQueue;
use crate::settings::Durability;

/// Decides when the next batch is taken. A sync costs the same for one record as for a hundred, and
/// blocks and wakes threads several times. While calls come one right after the other, each sync
/// would carry one or two of them; then the writer waits a little after the first, so that it carries
/// several. A call that comes alone, and calls that come together, never wait for others.
#[derive(Debug)]
pub(crate) struct WritePace {
    durability: Durability,
    /// When the last batch was written; `None` before the first.
    wrote: Option<Instant>,
    /// Whether the current batch began right after that.
    is_soon: bool,
    /// How many batches were written one right after the other, each too small to be worth its
    /// sync, or gathered in a pause.
    small: u32,
    /// After how many of those it pauses.
    many: u32,
}

impl WritePace {
    pub(crate) fn new(durability: Durability) -> Self {
        Self { durability, wrote: None, is_soon: false, small: 0, many: MANY }
    }

    /// Waits until the next batch should be taken, but no longer than this if nothing comes.
    pub(crate) fn gather(&mut self, queue: &WriteQueue, timeout: Duration) {
        queue.wait(timeout);
        self.begins();
        if self.pauses() && queue.is_urgent() {
            thread::sleep(PAUSE);
        }
    }

    /// The first entry of a batch has arrived. How long the batch then takes says nothing about how
    /// close together the calls are.
    fn begins(&mut self) {
        self.is_soon = self.wrote.is_some_and(|before| before.elapsed() < SOON);
    }

    fn pauses(&self) -> bool {
        self.durability == Durability::Disk && self.is_soon && self.small >= self.many
    }

    /// A batch that this many callers waited for was written.
    pub(crate) fn wrote(&mut self, callers: usize) {
        let counts = match self.pauses() {
            true => callers >= 2,
            false => callers < LARGE,
        };
        if self.pauses() {
            // If nothing else came in the pause, it was for nothing: one caller makes one call after
            // the other, and should not wait often.
            self.many = if counts { MANY } else { self.many.saturating_mul(4).min(MOST) };
        }
        self.small = match self.is_soon && counts {
            true => self.small.saturating_add(u32::from(callers > 0)),
            false => 0,
        };
        self.wrote = Some(Instant::now());
    }
}

/// Batches that begin this soon after the one before follow one right after the other.
const SOON: Duration = Duration::from_millis(1);
/// After this many small batches the writer pauses before the next one: fewer than that are a few
/// calls that happened to come together.
const MANY: u32 = 4;
/// Like [`MANY`], if pauses were for nothing.
const MOST: u32 = 1024;
/// A batch for this many callers is worth its sync without a pause.
const LARGE: usize = 8;
/// How long the writer pauses: ten times as long as a sync takes on a fast disk.
const PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes batches of this size, each right after the one before.
    fn write(pace: &mut WritePace, times: u32, callers: usize) {
        for _ in 0..times {
            pace.is_soon = pace.wrote.is_some();
            pace.wrote(callers);
        }
        pace.is_soon = true;
    }

    #[test]
    fn only_many_small_batches_in_a_row_make_the_writer_pause() {
        let mut pace = WritePace::new(Durability::Disk);
        write(&mut pace, MANY, 1);
        assert!(!pace.pauses(), "the first has none before it");
        write(&mut pace, 1, 2);
        assert!(pace.pauses());
        let mut pace = WritePace::new(Durability::Disk);
        write(&mut pace, MANY, 1);
        write(&mut pace, 1, LARGE);
        write(&mut pace, 1, 1);
        assert!(!pace.pauses(), "a large batch without a pause shows that they come together");
    }

    #[test]
    fn a_call_that_comes_alone_does_not_wait() {
        let mut pace = WritePace::new(Durability::Disk);
        write(&mut pace, MANY + 1, 1);
        assert!(pace.pauses());
        pace.wrote = Instant::now().checked_sub(SOON);
        pace.begins();
        assert!(!pace.pauses());
        pace.wrote(1);
        pace.is_soon = true;
        assert!(!pace.pauses(), "nor does the next one");
    }

    #[test]
    fn the_pauses_go_on_while_they_gather_something() {
        let mut pace = WritePace::new(Durability::Disk);
        write(&mut pace, MANY + 1, 1);
        write(&mut pace, 1, 2);
        assert!(pace.pauses());
        write(&mut pace, 1, 4 * LARGE);
        assert!(pace.pauses(), "without the pause they would come one by one again");
        write(&mut pace, 1, 1);
        assert!(!pace.pauses());
    }

    #[test]
    fn a_caller_that_is_alone_seldom_waits() {
        let mut pace = WritePace::new(Durability::Disk);
        let pauses = (0..1000).filter(|_| {
            let pauses = pace.pauses();
            write(&mut pace, 1, 1);
            pauses
        });
        assert_eq!(pauses.count(), 4);
        while !pace.pauses() {
            write(&mut pace, 1, 1);
        }
        write(&mut pace, 1, 3);
        pace.wrote = None;
        write(&mut pace, MANY + 1, 3);
        assert!(pace.pauses(), "as soon as there are others, it is worth it again");
    }

    #[test]
    fn nothing_pauses_without_a_sync() {
        let mut pace = WritePace::new(Durability::Process);
        write(&mut pace, 2 * MANY, 1);
        assert!(!pace.pauses());
    }
}
