//! Finds the local user at the other end of a connection.

use callgate_decide::login;
use tokio::net::TcpStream;

/// The login name of the user who owns the client's socket; `None` if unknown.
pub(super) async fn of(stream: &TcpStream) -> Option<String> {
    let (client, here) = (stream.peer_addr().ok()?, stream.local_addr().ok()?);
    let user = match diag::owner(client, here) {
        Some(user) => user,
        // If the kernel does not answer the query, it also lists all connections in a file.
        None => tokio::task::spawn_blocking(move || table::owner(client, here)).await.ok()??,
    };
    match login::known(user) {
        Some(name) => Some(name),
        // The password database may be on another machine.
        None => tokio::task::spawn_blocking(move || login::of(user)).await.ok()?,
    }
}

/// Queries the kernel about one socket, by its addresses (`man 7 sock_diag`).
mod diag {
    use std::net::{IpAddr, SocketAddr};

    use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    };

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const IPPROTO_TCP: u8 = 6;
    /// The offset of the user id in the answer: after the header, the state and both addresses.
    const UID: usize = 16 + 4 + 48 + 12;
    const STATE: usize = 16 + 1;
    /// If there is no such connection, the kernel returns the listening socket.
    const LISTENS: u8 = 10;
    const INODE: usize = UID + 4;

    /// The user id of the socket with the local address `client` and the remote address `here`.
    pub(super) fn owner(client: SocketAddr, here: SocketAddr) -> Option<u32> {
        let flags = SocketFlags::CLOEXEC;
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG)).ok()?;
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&socket, &question(client, here), SendFlags::empty(), &kernel).ok()?;
        let mut answer = [0; 512];
        // The kernel answers before `sendto` returns.
        let (length, _) = recv(&socket, &mut answer[..], RecvFlags::DONTWAIT).ok()?;
        read(answer.get(..length)?)
    }

    fn question(client: SocketAddr, here: SocketAddr) -> Vec<u8> {
        let family = if client.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let family = u8::try_from(family.as_raw()).unwrap_or_default();
        let mut body = vec![family, IPPROTO_TCP, 0, 0];
        // In any state.
        body.extend(u32::MAX.to_ne_bytes());
        body.extend(client.port().to_be_bytes());
        body.extend(here.port().to_be_bytes());
        body.extend(address(client.ip()));
        body.extend(address(here.ip()));
        // On any device, with any cookie.
        body.extend(0u32.to_ne_bytes());
        body.extend([0xff; 8]);
        let length = u32::try_from(16 + body.len()).unwrap_or_default();
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        message.extend(NLM_F_REQUEST.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        message
    }

    fn address(ip: IpAddr) -> [u8; 16] {
        match ip {
            IpAddr::V6(ip) => ip.octets(),
            IpAddr::V4(ip) => {
                let mut bytes = [0; 16];
                bytes.iter_mut().zip(ip.octets()).for_each(|(byte, octet)| *byte = octet);
                bytes
            }
        }
    }

    fn read(answer: &[u8]) -> Option<u32> {
        let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
        let number = |at: usize| {
            let bytes = answer.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_ne_bytes(bytes))
        };
        // A closed socket has no inode, and its owner is reported as root.
        let is_connection = answer.get(STATE).is_some_and(|state| *state != LISTENS);
        let is_open = kind == SOCK_DIAG_BY_FAMILY && is_connection && number(INODE)? != 0;
        is_open.then(|| number(UID)).flatten()
    }
}

/// Reads the kernel's table of connections (`man 5 proc`).
mod table {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader};
    use std::net::{IpAddr, SocketAddr};

    pub(super) fn owner(client: SocketAddr, here: SocketAddr) -> Option<u32> {
        let file = if client.is_ipv4() { "/proc/self/net/tcp" } else { "/proc/self/net/tcp6" };
        let lines = BufReader::new(File::open(file).ok()?).lines().map_while(Result::ok);
        find(lines, &written(client), &written(here))
    }

    /// Columns: number, own address, other address, state, queues, timer, retransmissions, user,
    /// timeout, inode.
    pub(super) fn find(
        mut lines: impl Iterator<Item = String>,
        client: &str,
        here: &str,
    ) -> Option<u32> {
        lines.find_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let column = |at: usize| columns.get(at).copied();
            let is_it = column(1) == Some(client) && column(2) == Some(here);
            let is_open = column(9).is_some_and(|inode| inode != "0");
            (is_it && is_open).then(|| column(7)?.parse().ok()).flatten()
        })
    }

    /// An address in the table's format: four-byte words in native byte order, in hex.
    pub(super) fn written(address: SocketAddr) -> String {
        let octets = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let words = octets.chunks_exact(4).map(|word| {
            let word = <[u8; 4]>::try_from(word).unwrap_or_default();
            format!("{:08X}", u32::from_ne_bytes(word))
        });
        format!("{}:{:04X}", words.collect::<String>(), address.port())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream as Client};

    use super::*;

    #[test]
    fn both_methods_find_the_user_of_an_open_connection() {
        let me = rustix::process::getuid().as_raw();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let here = listener.local_addr().unwrap();
            let client = Client::connect(here).unwrap();
            let (accepted, from) = listener.accept().unwrap();
            match diag::owner(from, here) {
                // Some sandboxes block the query; the table is the fallback.
                None => eprintln!("not tried: the kernel does not answer here"),
                queried => assert_eq!(queried, Some(me), "{address}"),
            }
            assert_eq!(table::owner(from, here), Some(me), "{address}");
            drop(client);
            // A client that has closed its socket no longer owns it. Above all the owner is not
            // root.
            assert_eq!(diag::owner(from, here), None, "{address}");
            assert_eq!(table::owner(from, here), None, "{address}");
            drop(accepted);
            let stranger = SocketAddr::new(here.ip(), 1);
            assert_eq!(diag::owner(stranger, here), None, "it is the listener's");
        }
    }

    #[test]
    fn an_unknown_connection_has_no_owner() {
        let lines = ["  0: 0100007F:1F90 0100007F:0050 01 0:0 00:0 0 1000 0 77 1"];
        let find = |client: &str| {
            table::find(lines.iter().map(|&l| l.to_owned()), client, "0100007F:0050")
        };
        assert_eq!(find("0100007F:1F90"), Some(1000));
        assert_eq!(find("0100007F:1F91"), None);
    }
}
