//! A program and whatever it has started, to its end.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// An agent takes some seconds; a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) said: String,
    pub(crate) errors: String,
}

/// Runs a program to its end, with its output in files of the folder: nobody waits for a pipe that
/// something it has started still holds.
#[track_caller]
pub(crate) fn run(command: &mut Command, folder: &Path) -> Ended {
    let (said, errors) = (folder.join("said"), folder.join("errors"));
    let mut group = Group(
        command
            .stdin(Stdio::null())
            .stdout(File::create(&said).unwrap())
            .stderr(File::create(&errors).unwrap())
            .process_group(0)
            .spawn()
            .unwrap(),
    );
    let status = group.wait();
    drop(group);
    let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let (said, errors) = (read(&said), read(&errors));
    let Some(status) = status else {
        panic!("it did not end in time; it said:\n{said}\n{errors}");
    };
    Ended { status, said, errors }
}

/// A process with a group of its own, which is ended with it.
struct Group(Child);

impl Group {
    /// `None` if it does not end in time.
    fn wait(&mut self) -> Option<ExitStatus> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.0.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(LOOK);
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let id = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            kill_process_group(id, Signal::KILL).ok();
        }
        self.0.wait().ok();
    }
}
