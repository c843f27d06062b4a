//! The gateway as users run it: the real binary, a config file, a folder of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A slow machine starts a debug build within this.
const START: Duration = Duration::from_secs(120);

/// How long a gateway may take to end after it was asked to.
const STOP: Duration = Duration::from_secs(120);

/// How often a state that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A gateway to be.
#[derive(Debug)]
pub struct Setup {
    binary: PathBuf,
    folder: TempDir,
    listen: String,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    /// What runs the binary, word by word; nothing most often.
    runner: Vec<String>,
}

/// A gateway that runs. Dropping it kills it.
#[derive(Debug)]
pub struct Gateway {
    setup: Setup,
    child: Child,
    address: SocketAddr,
    said: Arc<Mutex<String>>,
}

impl Setup {
    /// `binary` in front of `upstream` (a root without slash), judging by one policy.
    ///
    /// `settings` are more lines of the config file.
    pub fn new(binary: &Path, upstream: &str, policy: &str, settings: &str) -> Self {
        let bare = Self::bare(binary);
        // Those that are built in keep their dialect. Amazon's has an address for each region.
        let roots = ["gemini", "vertex", "code-assist", "ollama", "cohere"]
            .map(|name| format!("  {name}: {{ base_url: \"{upstream}\" }}\n"))
            .concat();
        let config = format!(
            "providers:\n  anthropic: {{ base_url: \"{upstream}\", dialect: anthropic }}\n  \
             openai: {{ base_url: \"{upstream}/v1\", dialect: openai-chat }}\n{roots}  \
             bedrock: {{ base_url: \"{upstream}\", dialect: bedrock-converse }}\n\
             policies: [rules.yaml]\n{settings}\n"
        );
        bare.file("rules.yaml", policy).config(&config)
    }

    /// `binary` with no config file yet.
    pub fn bare(binary: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        let listen = "127.0.0.1:0".to_owned();
        let (flags, environment, runner) = (Vec::new(), Vec::new(), Vec::new());
        Self { binary: binary.to_owned(), folder, listen, flags, environment, runner }
    }

    /// With this config, the place of the store added.
    pub fn config(self, config: &str) -> Self {
        let store = self.folder.path().join("callgate.db");
        self.file("callgate.yaml", &format!("store: \"sqlite:{}\"\n{config}", store.display()))
    }

    /// With more lines at the end of the config file.
    pub fn also(self, settings: &str) -> Self {
        let config = fs::read_to_string(self.folder.path().join("callgate.yaml")).unwrap();
        self.file("callgate.yaml", &format!("{config}{settings}\n"))
    }

    /// With a file in its folder.
    pub fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Listening elsewhere than on a free port of this machine.
    pub fn listen(mut self, address: &str) -> Self {
        address.clone_into(&mut self.listen);
        self
    }

    /// Refusing files that other users can change.
    pub fn strict(mut self) -> Self {
        self.flags.push("--strict".to_owned());
        self
    }

    /// With one more word on its command line.
    pub fn flag(mut self, word: &str) -> Self {
        self.flags.push(word.to_owned());
        self
    }

    /// With a variable in its environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Run by another program, which gets the binary and its arguments after its own. It must
    /// become the binary (`exec`), so that signals reach it.
    pub fn under(mut self, runner: &[&str]) -> Self {
        self.runner = runner.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs another command with the same config, to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Starts it, and waits until it listens.
    #[track_caller]
    pub fn start(self) -> Gateway {
        match self.try_start() {
            Ok(gateway) => gateway,
            Err(said) => panic!("the gateway did not start; it said:\n{said}"),
        }
    }

    /// Starts it. If it ends or does not listen in time, gives what it said.
    pub fn try_start(self) -> Result<Gateway, String> {
        let mut child = self
            .command(&["serve", "--listen", &self.listen])
            .args(&self.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, into) = (child.stderr.take().unwrap(), Arc::clone(&said));
        let reader = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut said = into.lock().unwrap();
                said.push_str(&line);
                said.push('\n');
            }
        });
        let end = Instant::now() + START;
        while Instant::now() < end {
            let address = listening(&said.lock().unwrap());
            if let Some(address) = address {
                return Ok(Gateway { setup: self, child, address, said });
            }
            if child.try_wait().unwrap().is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().ok();
        child.wait().ok();
        // What it said last may still be on its way.
        reader.join().unwrap();
        let said = said.lock().unwrap().clone();
        Err(said)
    }

    /// The binary with this config, and nothing of the surroundings.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = match self.runner.split_first() {
            None => Command::new(&self.binary),
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(&self.binary);
                command
            }
        };
        command.args(args).arg("--config").arg(self.folder.path().join("callgate.yaml"));
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CALLGATE_CONFIG", "RUST_LOG"] {
            command.env_remove(name);
        }
        // The socket of the API, too, is this folder's alone.
        command.env("XDG_RUNTIME_DIR", self.folder.path());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        command.env("NO_COLOR", "1");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Gateway {
    /// Where it listens; on all addresses means on this machine too.
    pub fn address(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        address
    }

    /// Its root, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.setup.folder()
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything it said so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Runs another command with the same config, to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.setup.run(args)
    }

    /// Another command with the same config, to be run.
    pub fn command(&self, args: &[&str]) -> Command {
        self.setup.command(args)
    }

    /// Every call on record, oldest first.
    #[track_caller]
    pub fn calls(&self) -> Vec<Value> {
        self.records(&["calls"])
    }

    /// Every record that is neither a call nor a turn, oldest first.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        self.records(&["events"])
    }

    /// Every record of a turn, oldest first.
    #[track_caller]
    pub fn turns(&self) -> Vec<Value> {
        self.records(&["events", "--type", "turn"])
    }

    #[track_caller]
    fn records(&self, command: &[&str]) -> Vec<Value> {
        let ran = self.run(&[command, &["--json", "--limit", "100000"]].concat());
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "`callgate {command:?}` failed: {told}");
        let text = String::from_utf8(ran.stdout).unwrap();
        let mut records: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        // By id, which is by time.
        records.sort_by_key(|record| record["id"].as_str().unwrap_or_default().to_owned());
        records
    }

    /// Waits for something to become true of it; false if it does not within two minutes.
    pub fn wait_until(&self, holds: impl Fn(&Self) -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(120);
        while Instant::now() < end {
            if holds(self) {
                return true;
            }
            thread::sleep(LOOK);
        }
        holds(self)
    }

    /// Writes a file of its folder as editors do: under another name, then renamed over it.
    pub fn replace(&self, name: &str, text: &str) {
        let fresh = self.folder().join(format!(".{name}.new"));
        fs::write(&fresh, text).unwrap();
        fs::rename(fresh, self.folder().join(name)).unwrap();
    }

    /// Sends its process a signal: `TERM`, `HUP`, …
    pub fn signal(&self, name: &str) {
        // Only by its own id.
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end; `None` if it does not come.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let end = Instant::now() + STOP;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(LOOK);
        }
        None
    }

    /// Ends it in order, and starts it again with the same folder, perhaps on another port.
    #[track_caller]
    pub fn restart(mut self) -> Self {
        self.signal("TERM");
        assert!(self.ended().is_some(), "the gateway does not end; it said:\n{}", self.said());
        // A setup to replace the one that continues; it is dropped with this gateway.
        let empty = Setup::bare(&self.setup.binary);
        std::mem::replace(&mut self.setup, empty).start()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        if thread::panicking() {
            eprintln!("the gateway said:\n{}", self.said());
        }
    }
}

/// The address a gateway said that it listens on.
fn listening(said: &str) -> Option<SocketAddr> {
    let (_, rest) = said.split_once("listening on http://")?;
    // Only a whole line: the rest of it may still be on its way.
    let (line, _) = rest.split_once('\n')?;
    let end = line.find(|char: char| !(char.is_ascii_hexdigit() || ".:[]".contains(char)));
    line[..end.unwrap_or(line.len())].parse().ok()
}
