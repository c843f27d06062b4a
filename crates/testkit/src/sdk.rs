//! Runs the official clients, and compares what they see with what they should.
//!
//! `cargo xtask test` sets the clients up and says where they are, in `CALLGATE_SDK_PYTHON` and
//! `CALLGATE_SDK_NODE`. What the drivers in `sdk/` take and give is in `sdk/README.md`.

mod check;
mod treatment;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use callgate_dialect::Dialect;
use serde_json::{Value, json};

use crate::corpus::Case;

pub use check::check;
pub use treatment::{ResponseTreatment, every_name};

/// What each client made of a body.
pub type ClientResults = BTreeMap<String, Value>;

/// The drivers give up on a client after a minute, run jobs side by side, and no job has more than
/// five clients. This is twice as long as all of them can hang.
const PATIENCE: Duration = Duration::from_secs(600);

/// The interpreters that have the official clients.
#[derive(Debug)]
pub struct Interpreters {
    python: String,
    node: String,
}

/// Both languages, or `None`, said loudly, where the clients are not set up.
pub fn interpreters() -> Option<Interpreters> {
    let find = |name| std::env::var(name).ok();
    match (find("CALLGATE_SDK_PYTHON"), find("CALLGATE_SDK_NODE")) {
        (Some(python), Some(node)) => Some(Interpreters { python, node }),
        _ => {
            crate::skipped("`cargo xtask test` sets up the official clients");
            None
        }
    }
}

impl Interpreters {
    /// The drivers that read bodies.
    pub fn readers(&self) -> [Driver; 2] {
        [self.python_reader(), self.node_reader()]
    }

    /// The driver that reads bodies with the clients in Python.
    pub fn python_reader(&self) -> Driver {
        Driver::start(&self.python, "python/read.py")
    }

    /// The driver that reads bodies with the clients in Node.
    pub fn node_reader(&self) -> Driver {
        Driver::start(&self.node, "node/read.mjs")
    }

    /// The Node to run.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The drivers that hold conversations, and the clients of each.
    pub fn talkers(&self) -> [(Driver, Vec<&'static str>); 2] {
        [
            (Driver::start(&self.python, "python/converse.py"), spoken(&PYTHON)),
            (Driver::start(&self.node, "node/converse.mjs"), spoken(&NODE)),
        ]
    }
}

/// The clients of dialects that callgate speaks.
fn spoken(clients: &[&'static str]) -> Vec<&'static str> {
    let known = |client: &&str| Dialect::ALL.contains(&dialect_of(client));
    clients.iter().copied().filter(known).collect()
}

/// What a client that holds conversations speaks.
pub fn dialect_of(client: &str) -> Dialect {
    match client {
        client if client.contains("anthropic") => Dialect::Anthropic,
        client if client.contains("responses") => Dialect::Responses,
        client if client.contains("google") => Dialect::Gemini,
        client if client.contains("cohere") => Dialect::Cohere,
        client if client.contains("ollama") => Dialect::Ollama,
        _ => Dialect::OpenAiChat,
    }
}

/// The clients of `converse.py` that the scripted model understands. That of Ollama drops the ids of
/// calls, by which a turn that kept some of its calls is known again.
const PYTHON: [&str; 12] = [
    "anthropic-python stream()",
    "anthropic-python create()",
    "openai-python stream()",
    "openai-python create()",
    "openai-python responses.stream()",
    "openai-python responses.create()",
    "openai-python responses.stream() stored",
    "openai-python responses.create() stored",
    "google-genai python generate_content_stream()",
    "google-genai python generate_content()",
    "cohere-python chat_stream()",
    "cohere-python chat()",
];

/// The clients of `converse.mjs` that the scripted model understands.
const NODE: [&str; 22] = [
    "anthropic-typescript stream()",
    "anthropic-typescript create()",
    "openai-node stream()",
    "openai-node create()",
    "openai-node responses.stream()",
    "openai-node responses.create()",
    "openai-node responses.stream() stored",
    "openai-node responses.create() stored",
    "google-genai js generateContentStream()",
    "google-genai js generateContent()",
    "ollama-js chat(stream)",
    "ollama-js chat()",
    "vercel anthropic streamText",
    "vercel anthropic generateText",
    "vercel openai streamText",
    "vercel openai generateText",
    "vercel openai-compatible streamText",
    "vercel openai-compatible generateText",
    "vercel openai.responses streamText",
    "vercel openai.responses generateText",
    "vercel google streamText",
    "vercel google generateText",
];

/// A driver that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Driver {
    script: &'static str,
    child: Child,
    stdin: Option<ChildStdin>,
    results: Receiver<String>,
}

impl Driver {
    fn start(program: &str, script: &'static str) -> Self {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
        let mut child = Command::new(program)
            .arg(sdk.join(script))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let (sender, results) = channel();
        let stdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| {
                sender.send(line).ok();
            });
        });
        let stdin = child.stdin.take();
        Self { script, child, stdin, results }
    }

    /// Gives it jobs, and waits for the result of each, by its id.
    pub fn ask(&mut self, jobs: &[Value]) -> BTreeMap<String, Value> {
        let lines: String = jobs.iter().map(|job| format!("{job}\n")).collect();
        let mut stdin = self.stdin.take().unwrap();
        // It answers before it has read all, so that writing must not wait for reading.
        let writer = thread::spawn(move || {
            stdin.write_all(lines.as_bytes()).and_then(|()| stdin.flush()).unwrap();
            stdin
        });
        let mut results = BTreeMap::new();
        for _ in jobs {
            let line = self.results.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("{} lost results", self.script));
            let result: Value = serde_json::from_str(&line).expect(&line);
            results.insert(result["id"].as_str().expect(&line).to_owned(), result);
        }
        self.stdin = Some(writer.join().unwrap());
        assert_eq!(results.len(), jobs.len(), "{} mixed up results", self.script);
        results
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What every client makes of every job. One driver at a time: each fills the machine.
pub fn read(drivers: &mut [Driver], jobs: &[Value]) -> BTreeMap<String, ClientResults> {
    let mut seen: BTreeMap<String, ClientResults> = BTreeMap::new();
    for driver in drivers {
        for (id, result) in driver.ask(jobs) {
            assert_eq!(result.get("error").unwrap_or(&Value::Null), &Value::Null, "{result}");
            let clients: ClientResults = serde_json::from_value(result["clients"].clone()).unwrap();
            seen.entry(id).or_default().extend(clients);
        }
    }
    seen
}

/// A job for a body that the driver serves itself.
pub fn job_of_file(case: &Case, id: &str, body: &Path) -> Value {
    let mut job = job(case, id);
    job["content_type"] = case.about.content_type.clone().into();
    job["body_file"] = body.to_str().unwrap().into();
    job
}

/// A job for a server at `root`, which knows by the `model` what to answer.
pub fn job_at(case: &Case, id: &str, root: &str, model: &str) -> Value {
    let mut job = job(case, id);
    job["base_url"] = root.into();
    job["model"] = model.into();
    job
}

fn job(case: &Case, id: &str) -> Value {
    let mode = if case.is_stream { "stream" } else { "whole" };
    let tools = every_name(case);
    json!({ "id": id, "dialect": case.dialect.as_str(), "mode": mode, "tools": tools })
}
