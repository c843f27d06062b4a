//! A client of the gateway's API that sends exactly what the test asks for, and checks nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::gateway::Gateway;

/// Longer than any answer may take: a test that hangs must end by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// The socket of a gateway that was set up in its own folder.
pub fn of(gateway: &Gateway) -> PathBuf {
    in_folder(gateway.folder())
}

/// Where a gateway that was set up in this folder has its socket.
pub fn in_folder(folder: &Path) -> PathBuf {
    folder.join("callgate/api.sock")
}

/// Asks by GET: the status, and the JSON of the answer.
#[track_caller]
pub fn get(socket: &Path, target: &str) -> (u16, Value) {
    ask(socket, "GET", target, "")
}

/// Asks by POST.
#[track_caller]
pub fn post(socket: &Path, target: &str, body: &Value) -> (u16, Value) {
    ask(socket, "POST", target, &body.to_string())
}

/// Asks, with any body.
#[track_caller]
pub fn ask(socket: &Path, method: &str, target: &str, body: &str) -> (u16, Value) {
    let mut stream = send(socket, method, target, body);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect(head);
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn send(socket: &Path, method: &str, target: &str, body: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nhost: callgate\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // Who is refused for the size of a body may not have read all of it.
    stream.write_all(body.as_bytes()).ok();
    stream
}

/// A feed, read record by record.
pub struct FeedClient(BufReader<UnixStream>);

impl FeedClient {
    /// Asks for one; `query` is what follows the path.
    #[track_caller]
    pub fn open(socket: &Path, query: &str) -> Self {
        let stream = send(socket, "GET", &format!("/api/v1/feed{query}"), "");
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        reader.read_line(&mut head).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        Self(reader)
    }

    /// The next line that begins like this, without that.
    #[track_caller]
    pub fn line(&mut self, prefix: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the feed has ended");
            if let Some(rest) = line.strip_prefix(prefix) {
                return rest.trim_end().to_owned();
            }
        }
    }

    /// The next record: the number of its event, and itself.
    #[track_caller]
    pub fn record(&mut self) -> (u64, Value) {
        let id = self.line("id: ").parse().unwrap();
        (id, serde_json::from_str(&self.line("data: ")).unwrap())
    }

    /// The next record that is so.
    #[track_caller]
    pub fn record_that(&mut self, is_so: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (_, record) = self.record();
            if is_so(&record) {
                return record;
            }
        }
    }
}

/// A command that prints line by line, such as `callgate tail`. Dropping it kills it.
pub struct CommandOutput {
    child: Child,
    lines: Receiver<String>,
}

impl CommandOutput {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        Self { child, lines }
    }

    /// The next line, without its end.
    #[track_caller]
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("no line comes")
    }

    /// The next line as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).expect(&line)
    }
}

impl Drop for CommandOutput {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
