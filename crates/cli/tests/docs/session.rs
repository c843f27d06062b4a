//! The shell that a page's commands run in: one for the whole page, so that variables, exit codes
//! and background processes hold from one block to the next.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::like;

/// Printed after the output of a command, before its exit code.
const MARK: &str = "--- the command ended with";

/// No command of a page takes longer, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What was started in the background says what the page shows within this.
const START: Duration = Duration::from_secs(30);

/// A shell, and what it started. Dropping it ends both.
pub(crate) struct Session {
    child: Child,
    /// Gone once the session ends.
    stdin: Option<ChildStdin>,
    printed: Receiver<String>,
    folder: PathBuf,
    started: usize,
    last: i32,
}

impl Session {
    /// `shell` is `sh` with its folder and its environment.
    pub(crate) fn start(mut shell: Command, folder: &Path) -> Self {
        let mut child = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("sh");
        let printed = lines(child.stdout.take().unwrap());
        let stdin = child.stdin.take();
        let folder = folder.to_owned();
        let mut session = Self { child, stdin, printed, folder, started: 0, last: 0 };
        session.send("exec 2>&1\nstarted=\ntrap 'kill $started 2> /dev/null; wait' EXIT\n");
        session
    }

    /// Runs a command to its end; what it printed.
    pub(crate) fn run(&mut self, command: &str) -> String {
        let last = self.last;
        self.send(&format!(
            "{{ (exit {last})\n{command}\n}} < /dev/null\nprintf '\\n%s %s\\n' '{MARK}' $?\n"
        ));
        let mut all = String::new();
        loop {
            let line = self.printed.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("`{command}` did not end; it said:\n{all}"));
            if let Some(code) = line.strip_prefix(MARK) {
                self.last = code.trim().parse().unwrap_or(-1);
                // The line break before the mark is ours.
                all.pop();
                return all;
            }
            all.push_str(&line);
        }
    }

    /// Starts a command that ends with `&`, and waits until it has printed what the page shows.
    pub(crate) fn run_in_background(&mut self, at: &str, command: &str, expected: &str) {
        let log = self.folder.join(format!(".background-{}", self.started));
        self.started += 1;
        let (shown, log_path) = (format!("{expected}...\n"), log.display());
        self.run(&format!("{{ {command} }} > '{log_path}' 2>&1\nstarted=\"$started $!\""));
        let end = Instant::now() + START;
        let said = || fs::read_to_string(&log).unwrap_or_default();
        while !like::is_like(&shown, &said()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        like::assert_like(at, &shown, &said());
    }

    fn send(&mut self, script: &str) {
        let stdin = self.stdin.as_mut().expect("the session goes on");
        stdin.write_all(script.as_bytes()).expect("the shell has ended");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // At the end of its input the shell ends what it started, by its id.
        drop(self.stdin.take());
        let end = Instant::now() + START;
        while Instant::now() < end && !std::thread::panicking() {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // A command hangs: the shell and all it started are one group.
        let group = format!("-{}", self.child.id());
        Command::new("kill").args(["-KILL", "--", &group]).status().ok();
        self.child.wait().ok();
    }
}

/// What is printed, line by line, as it comes.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    receiver
}
