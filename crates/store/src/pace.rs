//! How many records the writer gathers before it syncs.

use std::thread;
use std::time::{Duration, Instant};

use crate::queue::Queue;
use crate::settings::Durability;

/// Decides when the next batch is taken. A sync costs the same for one record as for a hundred, and
/// blocks and wakes threads several times. While calls come one right after the other, each sync
/// would carry one or two of them; then the writer waits a little after the first, so that it carries
/// several. A call that comes alone, and calls that come together, never wait for others.
#[derive(Debug)]
pub(crate) struct Pace {
    durability: Durability,
    /// When the last batch was written; `None` before the first.
    wrote: Option<Instant>,
    /// How many small batches were written one right after the other.
    small: u32,
}

impl Pace {
    pub(crate) fn new(durability: Durability) -> Self {
        Self { durability, wrote: None, small: 0 }
    }

    /// Waits until the next batch should be taken, but no longer than this if nothing comes.
    pub(crate) fn gather(&mut self, queue: &Queue, timeout: Duration) {
        queue.wait(timeout);
        if self.pauses() && queue.is_urgent() {
            thread::sleep(PAUSE);
        }
    }

    fn pauses(&self) -> bool {
        self.durability == Durability::Disk && self.small >= MANY
    }

    /// A batch of this many entries was written.
    pub(crate) fn wrote(&mut self, entries: usize) {
        let is_soon = |before: Instant| before.elapsed() < SOON + PAUSE;
        // Nothing else came in the pause: it was for nothing.
        let is_alone = self.pauses() && entries < 2;
        self.small = match self.wrote.replace(Instant::now()) {
            Some(before) if entries < LARGE && is_soon(before) && !is_alone => {
                self.small.saturating_add(1)
            }
            _ => 0,
        };
    }
}

/// Batches that follow each other within this time follow one right after the other.
const SOON: Duration = Duration::from_millis(1);
/// After this many small batches the writer pauses before the next one: fewer than that are a few
/// calls that happened to come together.
const MANY: u32 = 4;
/// A batch of this many entries is worth its sync.
const LARGE: usize = 16;
/// How long the writer pauses: ten times as long as a sync takes on a fast disk.
const PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_small_batches_in_a_row_make_the_writer_pause() {
        let mut pace = Pace::new(Durability::Disk);
        (0..MANY).for_each(|_| pace.wrote(1));
        assert!(pace.small < MANY, "the first has none before it");
        pace.wrote(2);
        assert_eq!(pace.small, MANY);
        pace.wrote(LARGE);
        assert_eq!(pace.small, 0, "a large batch shows that they come together");
        pace.wrote(1);
        pace.wrote = Instant::now().checked_sub(Duration::from_secs(1));
        pace.wrote(1);
        assert_eq!(pace.small, 0, "one that comes alone is not made to wait");
    }

    #[test]
    fn the_pauses_end_when_one_gathers_nothing() {
        let mut pace = Pace::new(Durability::Disk);
        (0..=MANY).for_each(|_| pace.wrote(1));
        assert!(pace.pauses());
        pace.wrote(2);
        assert!(pace.pauses());
        pace.wrote(1);
        assert!(!pace.pauses());
    }

    #[test]
    fn nothing_pauses_without_a_sync() {
        let mut pace = Pace::new(Durability::Process);
        (0..=MANY).for_each(|_| pace.wrote(1));
        assert!(!pace.pauses());
    }
}
