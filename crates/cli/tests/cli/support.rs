//! One builder for every test: files in a folder of their own, arguments, stdin.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// A policy with one rule of each sort.
pub(crate) const POLICY: &str = r#"
policy: test
rules:
  - id: no-nuke
    tool: nuke
    verdict: deny
    reason: Not here.
    hint: Ask the operator.
  - id: no-rm
    tool: "@shell"
    when: { arg: command, contains: "rm -rf" }
    verdict: deny
    reason: Nothing is removed for good.
  - id: watch-writes
    tool: "@write"
    verdict: audit
    reason: Writes are watched.
  - id: no-fetch
    tool: "@fetch"
    mode: shadow
    verdict: deny
    reason: The network is far.
"#;

/// A run to be.
pub(crate) struct Test {
    dir: TempDir,
    command: Command,
    stdin: Vec<u8>,
}

/// A run that was.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    pub(crate) dir: TempDir,
}

impl Test {
    /// A run in a fresh folder that is also its home, with [`POLICY`] as `policy.yaml`.
    pub(crate) fn new(args: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args(args).current_dir(dir.path()).env("HOME", dir.path());
        command.env("XDG_RUNTIME_DIR", dir.path());
        let unset = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CALLGATE_CONFIG", "CALLGATE_LISTEN"];
        for name in unset.iter().chain(&["NO_COLOR", "COLUMNS"]) {
            command.env_remove(name);
        }
        command.env("TZ", "UTC");
        let test = Self { dir, command, stdin: Vec::new() };
        test.file("policy.yaml", POLICY)
    }

    /// More arguments.
    pub(crate) fn with(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// A second run in the folder of another one.
    pub(crate) fn again(ran: Ran, args: &[&str]) -> Self {
        let mut test = Self::new(args);
        test.command.current_dir(ran.dir.path()).env("HOME", ran.dir.path());
        test.dir = ran.dir;
        test
    }

    /// The folder as a path.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Starts it, with all three streams piped; the folder lives as long as the guard.
    pub(crate) fn spawn(mut self) -> (Child, TempDir) {
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        (piped.stderr(Stdio::piped()).spawn().unwrap(), self.dir)
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Ran {
        let stdin = std::mem::take(&mut self.stdin);
        let (mut child, dir) = self.spawn();
        let mut input = child.stdin.take().unwrap();
        // A program that ends before it has read everything is fine.
        let writer = thread::spawn(move || drop(input.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let name = dir.path().to_str().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(name, "[DIR]");
        Ran {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code: output.status.code().unwrap(),
            dir,
        }
    }
}

impl Ran {
    /// Compares everything a caller can see.
    #[track_caller]
    pub(crate) fn sees(self, code: i32, stdout: &str, stderr: &str) -> Self {
        assert_eq!(self.stdout, stdout, "stdout (stderr was: {})", self.stderr);
        assert_eq!(self.stderr, stderr, "stderr");
        assert_eq!(self.code, code, "exit code");
        self
    }

    /// Stdout as JSON lines.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        lines(&self.stdout)
    }

    /// Stderr as JSON lines.
    #[track_caller]
    pub(crate) fn told(&self) -> Vec<Value> {
        lines(&self.stderr)
    }
}

#[track_caller]
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
