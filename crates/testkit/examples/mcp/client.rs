//! A client that waits for each answer, or keeps a few calls under way.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    line: String,
}

impl Client {
    /// Calls under way at a time where that is measured: as many as an agent with parallel tools has.
    pub(crate) const AT_ONCE: usize = 16;

    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output, next: 0, line: String::new() })
    }

    pub(crate) fn hello(&mut self) -> Result<()> {
        let client = json!({ "name": "bench", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.say("initialize", params)?;
        self.hear()?;
        writeln!(self.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
        Ok(())
    }

    /// One call: from before it is written to after its answer is read.
    pub(crate) fn call(&mut self, tool: &str) -> Result<Duration> {
        let request = self.request("tools/call", arguments(tool));
        let begun = Instant::now();
        self.input.write_all(request.as_bytes())?;
        self.line.clear();
        loop {
            ensure!(self.output.read_line(&mut self.line)? > 0, "the server ended");
            if self.line.contains("\"result\"") {
                break;
            }
            // A notice of the server.
            self.line.clear();
        }
        let took = begun.elapsed();
        let answer: Value = serde_json::from_str(&self.line)?;
        ensure!(
            answer["id"] == self.next && is_answer(&answer),
            "not what was asked for: {answer}"
        );
        Ok(took)
    }

    /// Calls with several under way.
    pub(crate) fn many(&mut self, tool: &str, count: usize) -> Result<Duration> {
        let begun = Instant::now();
        let (mut asked, mut answered) = (0, 0);
        while answered < count {
            while asked < count && asked - answered < Self::AT_ONCE {
                let request = self.request("tools/call", arguments(tool));
                self.input.write_all(request.as_bytes())?;
                asked += 1;
            }
            ensure!(is_answer(&self.hear()?), "a call was not made");
            answered += 1;
        }
        Ok(begun.elapsed())
    }

    /// Lets it end.
    pub(crate) fn end<T>(self, answer: T) -> T {
        let Self { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait().ok();
        answer
    }

    fn request(&mut self, method: &str, params: Value) -> String {
        self.next += 1;
        let id = self.next;
        let mut line =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        line.push('\n');
        line
    }

    fn say(&mut self, method: &str, params: Value) -> Result<()> {
        let line = self.request(method, params);
        Ok(self.input.write_all(line.as_bytes())?)
    }

    /// The next answer; what a server tells without being asked is passed over.
    fn hear(&mut self) -> Result<Value> {
        loop {
            self.line.clear();
            ensure!(self.output.read_line(&mut self.line)? > 0, "the server ended");
            let message: Value = serde_json::from_str(&self.line)?;
            if message.get("method").is_none() {
                return Ok(message);
            }
        }
    }
}

pub(crate) fn arguments(tool: &str) -> Value {
    json!({ "name": tool, "arguments": { "message": "How is the weather in Lisbon today?", "path": "/home/user/notes/lisbon.txt" } })
}

fn is_answer(answer: &Value) -> bool {
    answer["result"]["content"][0]["text"].is_string() && answer["result"]["isError"] != true
}
