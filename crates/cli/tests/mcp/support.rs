//! A client that speaks line by line to `callgate mcp wrap`, and the scripted server behind it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A slow machine answers within this.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a process that must end is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A folder with a config, and a command that is wrapped.
pub(crate) struct Place {
    path: PathBuf,
    /// Removed with it; absent if the folder is not its own.
    _folder: Option<TempDir>,
}

/// A wrapped server that runs.
pub(crate) struct Wrapped {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    received: Option<PathBuf>,
    next: u64,
}

impl Place {
    /// A place with one policy, and more lines of the config file.
    pub(crate) fn new(policy: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("rules.yaml"), policy).unwrap();
        let config = format!("store: sqlite:callgate.db\npolicies: [rules.yaml]\n{settings}\n");
        fs::write(folder.path().join("callgate.yaml"), config).unwrap();
        Self { path: folder.path().to_owned(), _folder: Some(folder) }
    }

    /// A folder that has a config already.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), _folder: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// callgate with the config of this place.
    pub(crate) fn callgate(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.arg("--config").arg(self.path().join("callgate.yaml")).current_dir(self.path());
        command.env("XDG_RUNTIME_DIR", self.path());
        command
    }

    /// Runs another command of callgate here.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.callgate().args(args).output().unwrap()
    }

    /// What a command prints as JSON, line by line.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Wraps the scripted server.
    pub(crate) fn scripted(&self, server: &str, answers: Value) -> Wrapped {
        self.scripted_with(server, json!({ "answers": answers }), &[])
    }

    /// Wraps the scripted server, with more of its script and more flags of `wrap`.
    pub(crate) fn scripted_with(&self, server: &str, script: Value, flags: &[&str]) -> Wrapped {
        let [_, _, file, received] = self.command(server);
        fs::write(&file, script.to_string()).unwrap();
        fs::remove_file(&received).ok();
        let command = self.command(server);
        let mut wrapped = self.wrap(server, flags, &command.each_ref().map(String::as_str));
        wrapped.received = Some(received.into());
        wrapped
    }

    /// The command of the scripted server of this name.
    fn command(&self, server: &str) -> [String; 4] {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py");
        let file = |kind: &str| self.path().join(format!("{server}.{kind}"));
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        ["python3".to_owned(), text(program), text(file("json")), text(file("received"))]
    }

    /// Declares scripted servers, each with more of its settings, and more of `mcp`.
    pub(crate) fn declare(&self, servers: &[(&str, &str)], settings: &str) {
        let mut config = fs::read_to_string(self.path().join("callgate.yaml")).unwrap();
        config.push_str("mcp:\n  servers:\n");
        for (server, more) in servers {
            let [program, args @ ..] = self.command(server);
            let line = format!("    {server}: {{ command: {program}, args: {args:?}, {more} }}\n");
            config.push_str(&line);
        }
        config.push_str(settings);
        fs::write(self.path().join("callgate.yaml"), config).unwrap();
    }

    /// The command that wraps a command, for the client that starts it.
    pub(crate) fn wrapping(&self, server: &str, command: &[String]) -> Vec<String> {
        let config = self.path().join("callgate.yaml");
        let config = config.to_str().unwrap();
        let callgate = env!("CARGO_BIN_EXE_callgate");
        let words = [callgate, "--config", config, "mcp", "wrap", "--server", server, "--"];
        words.iter().map(|&word| word.to_owned()).chain(command.iter().cloned()).collect()
    }

    /// Wraps a command.
    pub(crate) fn wrap(&self, server: &str, flags: &[&str], command: &[&str]) -> Wrapped {
        let mut wrap = self.callgate();
        wrap.args(["mcp", "wrap", "--server", server]).args(flags).arg("--").args(command);
        Wrapped::start(&mut wrap)
    }
}

impl Wrapped {
    /// Starts a command that speaks MCP.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .env("ANTHROPIC_API_KEY", "sk-not-for-servers")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, received: None, next: 0 }
    }

    /// Says a line.
    pub(crate) fn say(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// The next line that comes back, as it is.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("nothing came back")
    }

    /// The next message that comes back.
    #[track_caller]
    pub(crate) fn hear(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Asks, and gives the answer, whatever else comes before it.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        loop {
            let heard = self.hear();
            if heard["id"] == id {
                return heard;
            }
        }
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The handshake of the older revisions.
    #[track_caller]
    pub(crate) fn hello(&mut self) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let hello = self.ask("initialize", params);
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        hello
    }

    /// The names of the tools it lists.
    #[track_caller]
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}")).iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes its input and waits for its end: everything the server has received, what was said on
    /// standard error, and the exit code.
    pub(crate) fn end(mut self) -> End {
        drop(self.input.take());
        let stderr = self.child.stderr.take();
        let reader = thread::spawn(move || {
            let mut said = String::new();
            if let Some(mut stderr) = stderr {
                std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
            }
            said
        });
        let code = self.exit_code();
        let said = reader.join().unwrap();
        let received = self.received.as_ref().map(|path| fs::read(path).unwrap_or_default());
        let received = received.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        End { code, said, received: received.unwrap_or_default() }
    }

    /// Closes its input at once: what came back first, and its end.
    pub(crate) fn leave(mut self) -> (String, End) {
        drop(self.input.take());
        let line = self.line();
        (line, self.end())
    }

    /// Waits for its end, without closing anything.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.exit_code()
    }

    /// Waits until it has ended. A test fails if that takes longer than a busy machine can need.
    fn exit_code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(LOOK);
        }
        self.child.kill().ok();
        panic!("it does not end");
    }

    /// Its process, to send it signals.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// How a wrapped server ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
    pub(crate) received: String,
}

/// The text of a result that a model would read.
#[track_caller]
pub(crate) fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// A tool as servers define it.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    })
}

/// What a simple server answers: two tools, one of which echoes.
pub(crate) fn simple() -> Value {
    json!({
        "initialize": { "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "scripted", "version": "1" },
        } },
        "tools/list": { "result": { "tools": [tool("echo", "Says it again."), tool("delete_all", "Deletes.")] } },
        "tools/call": { "result": { "content": [{ "type": "text", "text": "done" }] } },
    })
}
