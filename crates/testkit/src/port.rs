//! A port for a program that needs to know its port before it starts.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that Linux gives to outgoing connections and to listeners on port 0 (from
/// 32,768): nothing else on the machine takes one of these between the look and the use.
const FIRST: u32 = 16_000;
const COUNT: u32 = 16_000;

/// Ports to skip from one process to the next, so that test binaries that run at the same time
/// begin in different places.
const STRIDE: u32 = 37;

static TAKEN: AtomicU32 = AtomicU32::new(0);

/// An address on loopback on which nothing listens, and which no call of this process gets again.
pub fn free_address() -> SocketAddr {
    for _ in 0..COUNT {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let offset = std::process::id().wrapping_mul(STRIDE).wrapping_add(taken) % COUNT;
        let port = u16::try_from(FIRST + offset).expect("below 32,000");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no free port from {FIRST} to {}", FIRST + COUNT);
}
