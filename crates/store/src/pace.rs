//! How many records the writer gathers before it syncs.

use std::thread;
use std::time::{Duration, Instant};

use crate::queue::Queue;
use crate::settings::Durability;

/// Decides when the next batch is taken. A sync costs the same for one record as for a hundred, and wakes
/// two threads. While calls come one right after the other, each sync would carry one of them; then the
/// writer pauses before the next one, so that it carries several. A call that comes alone, and calls that
/// come together, never wait for others.
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
        if self.durability == Durability::Disk && self.small >= MANY {
            thread::sleep(PAUSE);
            if !queue.is_urgent() {
                self.small = 0;
            }
        }
        queue.wait(timeout);
    }

    /// A batch of this many entries was written.
    pub(crate) fn wrote(&mut self, entries: usize) {
        let is_soon = |before: Instant| before.elapsed() < SOON + PAUSE;
        self.small = match self.wrote.replace(Instant::now()) {
            Some(before) if entries < LARGE && is_soon(before) => self.small.saturating_add(1),
            _ => 0,
        };
    }
}

/// Batches that follow each other within this time follow one right after the other.
const SOON: Duration = Duration::from_millis(1);
/// After this many small batches the writer pauses before the next one: fewer than that are a few calls that
/// happened to come together.
const MANY: u32 = 8;
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
    fn the_pause_ends_when_nothing_comes_in_it() {
        let (mut pace, queue) = (Pace::new(Durability::Disk), Queue::default());
        pace.small = MANY;
        pace.gather(&queue, Duration::ZERO);
        assert_eq!(pace.small, 0);
    }
}
