//! Servers on the network that we did not write, and a gateway before them.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::port::free_address;

use crate::peers::Peers;

/// A slow machine starts a server within this.
const START: Duration = Duration::from_secs(60);

/// A server that runs. Dropping it ends it.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
}

impl Served {
    /// A script of ours, which says where it listens.
    pub(crate) fn script(program: &Path, script: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(Peers::folder().join(script));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect(script).to_owned();
        Self { child, url }
    }

    /// The server that has everything, on one of its transports on the network.
    pub(crate) fn everything(peers: &Peers, transport: &str) -> Self {
        // It takes a port and does not tell which it found.
        let free = free_address();
        let [program, words @ ..] = &peers.node("server-everything", &[transport])[..] else {
            panic!("no command");
        };
        let mut command = Command::new(program);
        command.args(words).env("PORT", free.port().to_string());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let path = if transport == "sse" { "sse" } else { "mcp" };
        let served = Self { child, url: format!("http://{free}/{path}") };
        let end = Instant::now() + START;
        while TcpStream::connect(free).is_err() {
            assert!(Instant::now() < end, "server-everything does not listen");
            thread::sleep(Duration::from_millis(50));
        }
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A gateway before servers, by their ids, types and addresses. It lets them ask what they like.
pub(crate) fn gateway(policy: &str, servers: &[(&str, &str, &str)]) -> Gateway {
    let declared: String = servers
        .iter()
        .map(|(id, kind, url)| format!("    {id}: {{ type: {kind}, url: \"{url}\" }}\n"))
        .collect();
    let config = format!(
        "policies: [rules.yaml]\nmcp:\n  sampling: allow\n  elicitation: allow\n  roots: allow\n  servers:\n{declared}"
    );
    let binary = Path::new(env!("CARGO_BIN_EXE_callgate"));
    Setup::bare(binary).file("rules.yaml", policy).config(&config).start()
}

/// Where clients find a server behind a gateway.
pub(crate) fn address(gateway: &Gateway, id: &str) -> String {
    format!("{}/mcp/{id}", gateway.url())
}
