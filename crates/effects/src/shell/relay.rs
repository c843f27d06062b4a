//! `socat ADDRESS ADDRESS`: what each address is, and whether the two open a way in.

use crate::bound::Bound;
use crate::effect::{Access, Change, Purpose, Why};
use crate::host;
use crate::marks::Mark;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;

/// What an address of `socat` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The terminal, a pipe, a socket of this machine.
    Local,
    /// A file.
    File,
    /// A port of this machine that only this machine reaches.
    Inside,
    /// A command.
    Command,
    /// Another host.
    Remote,
    /// A port that others reach, or an address that is not known.
    Open,
}

const LOCAL: &[&str] = &[
    "-",
    "STDIN",
    "STDOUT",
    "STDIO",
    "STDERR",
    "FD",
    "PTY",
    "PIPE",
    "FIFO",
    "SOCKETPAIR",
    "READLINE",
];

impl Shell<'_, '_> {
    /// Two addresses: a tunnel if a command talks to the network, or one network to another.
    pub(crate) fn relay(&mut self, line: &Line<'_>, context: &Context) {
        let ends: Vec<End> = line
            .operands
            .iter()
            .take(2)
            .enumerate()
            .map(|(at, field)| self.relay_end(at, field, context))
            .collect();
        let has = |end: End| ends.contains(&end);
        let is_forward = has(End::Remote) && has(End::Inside) || ends == [End::Remote, End::Remote];
        let is_shell = has(End::Command) && (has(End::Remote) || has(End::Inside));
        if has(End::Open) || is_forward || is_shell {
            self.mark(context.run, Mark::Tunnel);
        }
    }

    fn relay_end(&mut self, at: usize, field: &Field, context: &Context) -> End {
        let known = field.word.known_start();
        let cut = known.find([':', ',']).unwrap_or(known.len());
        let kind = known.get(..cut).unwrap_or_default().to_ascii_uppercase();
        let rest = field.from((cut + 1).min(field.word.known_part().len()));
        let text = rest.word.known_part();
        let target = Field::new(rest.word.until(text.find(',').unwrap_or(text.len())), rest.span);
        match kind.as_str() {
            _ if LOCAL.contains(&kind.as_str()) => End::Local,
            "EXEC" | "SYSTEM" | "SHELL" => {
                self.word_text(&target);
                End::Command
            }
            "OPEN" | "FILE" | "GOPEN" | "CREATE" | "CREAT" => {
                match at == 0 && !kind.starts_with("CREAT") {
                    true => self.read_file(&target, Access::Content),
                    false => self.write_file(&target, Change::Content),
                }
                End::File
            }
            _ if kind.starts_with("UNIX") || kind.starts_with("ABSTRACT") || kind == "LOCAL" => {
                let path = target.word.known_part();
                let runtimes = ["docker.sock", "containerd.sock", "podman.sock", "crio.sock"];
                if runtimes.iter().any(|name| path.ends_with(name)) {
                    self.mark(context.run, Mark::HostAccess);
                }
                End::Local
            }
            _ if is_listener(&kind) => {
                let only_here = ["bind=127.", "bind=localhost", "bind=[::1]", "bind=::1"];
                let lower = text.to_ascii_lowercase();
                match only_here.iter().any(|option| lower.contains(option)) {
                    true => End::Inside,
                    false => End::Open,
                }
            }
            _ if is_connector(&kind) => {
                let address = host::parse_host(&target.word, "tcp");
                if address.host.text().is_some_and(host::is_this_machine) {
                    return End::Inside;
                }
                self.connect(address, Purpose::Send, Some(&target.word), target.span.clone());
                End::Remote
            }
            _ => {
                if !known.is_empty() || !field.word.is_known() {
                    self.opaque(Why::Language, Bound::ALL, field.span.clone());
                }
                End::Open
            }
        }
    }
}

fn is_listener(kind: &str) -> bool {
    kind.contains("LISTEN") || kind.contains("RECV") || kind.ends_with("-L")
}

fn is_connector(kind: &str) -> bool {
    const PROTOCOLS: &[&str] = &["TCP", "UDP", "SSL", "OPENSSL", "SCTP", "DCCP", "SOCKS", "PROXY"];
    PROTOCOLS.iter().any(|protocol| kind.starts_with(protocol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_listen_or_connect() {
        assert!(is_listener("TCP-LISTEN") && is_listener("UDP4-RECVFROM"));
        assert!(!is_listener("TCP4") && is_connector("OPENSSL-CONNECT"));
        assert!(host::is_this_machine("127.0.0.2") && !host::is_this_machine("10.0.0.1"));
    }
}
