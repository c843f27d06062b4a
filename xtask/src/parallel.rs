//! Steps that run in parallel. Each is a command of this program in a process of its own, so that
//! its output is kept and shown in one piece when it ends.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::steps::run_captured;

/// A step to run in parallel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aside {
    pub(crate) name: &'static str,
    /// What one would type after `cargo xtask`.
    pub(crate) words: &'static [&'static str],
}

/// A step that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
    pub(crate) result: Result<()>,
}

/// Steps that run one after the other, in parallel to everything else. After a failure, no other is
/// started.
///
/// To drop it waits for the one that runs: killed, it would leave compilers behind.
#[derive(Debug)]
pub(crate) struct Lane {
    ended: Receiver<Ended>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Lane {
    pub(crate) fn start(asides: &'static [Aside]) -> Self {
        let (sender, ended) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || run_all(asides, &stopped, &sender));
        Self { ended, stop, thread: Some(thread) }
    }

    /// The next step that has ended, if one has that was not asked for yet.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended.try_recv().ok()
    }

    /// Waits for the next step to end. `None` if there is no other.
    pub(crate) fn wait(&self) -> Option<Ended> {
        self.ended.recv().ok()
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        let is_over = matches!(self.ended.try_recv(), Err(TryRecvError::Disconnected));
        if !is_over {
            eprintln!("\nwaiting for the step that runs in parallel");
        }
        thread.join().ok();
    }
}

fn run_all(asides: &[Aside], stop: &AtomicBool, ended: &Sender<Ended>) {
    for aside in asides {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let begun = Instant::now();
        let result = run_one(*aside);
        let failed = result.is_err();
        ended.send(Ended { name: aside.name, took: begun.elapsed(), result }).ok();
        if failed {
            return;
        }
    }
}

fn run_one(Aside { name, words }: Aside) -> Result<()> {
    let us = this_program()?;
    let (status, said) = run_captured(Command::new(us).args(words))?;
    eprint!("\n== {name} (ran in parallel)\n{said}");
    if !status.success() {
        bail!("`cargo xtask {}` ended with {status}", words.join(" "));
    }
    Ok(())
}

/// The path to start this program again. The build that runs at the same time may replace its file, and
/// then the path that it had leads nowhere.
fn this_program() -> Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().context("the path of this program is unknown")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::parallel::Aside;
    use crate::steps::Steps;

    // The program that is run is the one of these tests: it lists them, or does not know the word.
    const FINE: Aside = Aside { name: "fine", words: &["--list"] };
    const BAD: Aside = Aside { name: "bad", words: &["--no-such-option"] };
    const LATER: Aside = Aside { name: "later", words: &["--list"] };

    #[test]
    fn parallel_steps_are_waited_for() {
        let mut steps = Steps::new();
        steps.run_in_parallel(&[FINE, LATER]);
        steps.wait_for("fine").unwrap();
        steps.step("main", || Ok(())).unwrap();
        steps.finish().unwrap();
    }

    #[test]
    fn a_parallel_failure_is_reported_by_name_and_stops_all() {
        let mut steps = Steps::new();
        steps.run_in_parallel(&[FINE, BAD, LATER]);
        steps.wait_for("fine").unwrap();
        let error = steps.wait_for("bad").unwrap_err();
        assert!(
            format!("{error:#}").starts_with("step `bad` failed: `cargo xtask --no-such-option`")
        );
        assert!(steps.wait_for("later").is_err(), "it is not begun");

        let mut steps = Steps::new();
        steps.run_in_parallel(&[BAD]);
        while steps.step("main", || Ok(())).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_parallel_failure_fails_at_the_end() {
        let mut steps = Steps::new();
        steps.run_in_parallel(&[BAD]);
        assert!(steps.finish().is_err());
    }
}
