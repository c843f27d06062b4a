//! Whether a gateway answers.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde::Serialize;

/// A gateway on this machine answers in a millisecond.
const WAIT: Duration = Duration::from_secs(2);

/// A head and a short body.
const MAX_ANSWER: u64 = 16 * 1024;

#[derive(Debug, Serialize)]
pub(crate) struct GatewayReport {
    address: String,
    /// `running`, `degraded`, `not running` or `something else`.
    state: &'static str,
    /// Its own health report.
    says: Option<String>,
    /// Settings that were changed and are in force once it is started again.
    restart_needed: Vec<String>,
}

/// Asks at the address the gateway would listen on.
pub(crate) fn examine(listen: SocketAddr) -> GatewayReport {
    let address = reachable(listen);
    let shown = address.to_string();
    let Some(answer) = ask(address) else {
        return GatewayReport {
            address: shown,
            state: "not running",
            says: None,
            restart_needed: Vec::new(),
        };
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    let is_http = head.starts_with("HTTP/1.");
    let says = body.lines().next().filter(|line| !line.is_empty()).map(str::to_owned);
    let state = match status {
        "200" if is_http && !says.as_deref().is_some_and(is_ill) => "running",
        "200" | "503" if is_http => "degraded",
        _ => "something else",
    };
    let restart_needed = says.as_deref().map(restart_needed).unwrap_or_default();
    GatewayReport { address: shown, state, says, restart_needed }
}

/// Whether its health report says that something is wrong.
fn is_ill(says: &str) -> bool {
    let status = serde_json::from_str::<serde_json::Value>(says).ok();
    let status = status.as_ref().and_then(|says| says.get("status")).and_then(|word| word.as_str());
    status.is_some_and(|word| word != "ok")
}

/// The settings that it names.
fn restart_needed(says: &str) -> Vec<String> {
    let says: serde_json::Value = serde_json::from_str(says).unwrap_or_default();
    let named = says.get("restart_needed").and_then(|named| named.as_array());
    let named = named.into_iter().flatten().filter_map(|name| name.as_str());
    named.map(str::to_owned).collect()
}

/// A listener on every address is reached on loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// The response to `GET /healthz`: `None` if nothing listens, empty if nothing is sent.
fn ask(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, WAIT).ok()?;
    let mut answer = Vec::new();
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let _ = stream
        .set_read_timeout(Some(WAIT))
        .and_then(|()| stream.set_write_timeout(Some(WAIT)))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.take(MAX_ANSWER).read_to_end(&mut answer));
    Some(String::from_utf8_lossy(&answer).into_owned())
}

/// Whether the gateway is running and can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayRunning {
    Yes,
    No,
    SomethingElse,
}

impl GatewayReport {
    /// A gateway that is not running is not a fault; one that is not healthy is.
    pub(super) fn works(&self) -> bool {
        matches!(self.state, "running" | "not running")
    }

    pub(super) fn running(&self) -> GatewayRunning {
        match self.state {
            "running" | "degraded" => GatewayRunning::Yes,
            "not running" => GatewayRunning::No,
            _ => GatewayRunning::SomethingElse,
        }
    }

    /// One line for each setting that is not in force.
    pub(super) fn restarts(&self) -> impl Iterator<Item = String> {
        let line = |name: &String| format!("`{name}` changed; restart callgate to apply it");
        self.restart_needed.iter().map(line)
    }

    pub(super) fn line(&self) -> String {
        match self.state {
            "running" => format!("running at {}", self.address),
            "degraded" => {
                let says = self.says.as_deref().map(in_words).unwrap_or_default();
                format!("running at {}, but not healthy{says}", self.address)
            }
            "not running" => {
                format!("not running at {}; start it with `callgate serve`", self.address)
            }
            _ => format!(
                "another program answers at {}; choose another address with `listen`",
                self.address
            ),
        }
    }
}

/// The texts of a health report: ` (status: degraded, policies: rejected)`.
fn in_words(says: &str) -> String {
    let says: serde_json::Value = serde_json::from_str(says).unwrap_or_default();
    let fields = says.as_object().into_iter().flatten();
    let words = fields.filter_map(|(name, value)| Some(format!("{name}: {}", value.as_str()?)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}
