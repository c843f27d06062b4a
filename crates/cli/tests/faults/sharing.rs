//! Two gateways on one store: one chain.

use std::fs;
use std::thread;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Upstream;

use crate::load::{HELD, Seen, call_ids, numbered_server};
use crate::support::setup;

/// Clients of each gateway.
const CLIENTS: usize = 4;

/// Calls of each client.
const CALLS: usize = 25;

/// Two gateways, each in a folder of its own, with the store of the first.
fn pair(upstream: &Upstream, durability: &str) -> [Gateway; 2] {
    let settings = format!("audit: {{ durability: {durability} }}");
    let first = setup(upstream, HELD, &settings).start();
    let config = fs::read_to_string(first.folder().join("callgate.yaml")).unwrap();
    let second = setup(upstream, HELD, &settings).file("callgate.yaml", &config).start();
    [first, second]
}

fn is_sound(gateway: &Gateway) {
    let verified = gateway.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn two_gateways_on_one_store_keep_one_chain() {
    let upstream = numbered_server();
    for durability in ["disk", "process"] {
        let gateways = pair(&upstream, durability);
        let seen = Seen::default();
        thread::scope(|scope| {
            for gateway in &gateways {
                for _ in 0..CLIENTS {
                    let (address, seen) = (gateway.address(), &seen);
                    scope.spawn(move || (0..CALLS).for_each(|_| assert!(seen.ask_once(address))));
                }
            }
        });
        assert_eq!(seen.released().len(), 2 * CLIENTS * CALLS);
        for gateway in &gateways {
            assert_eq!(call_ids(&gateway.calls()), seen.released());
            is_sound(gateway);
        }
    }
}

#[test]
fn one_that_is_killed_leaves_the_other_a_sound_store() {
    let upstream = numbered_server();
    for durability in ["disk", "process"] {
        let [killed, other] = pair(&upstream, durability);
        let seen = Seen::default();
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| seen.ask_on(killed.address()));
                scope.spawn(|| (0..CALLS).for_each(|_| assert!(seen.ask_once(other.address()))));
            }
            // In the middle of its work.
            while seen.released().len() < CLIENTS {
                thread::yield_now();
            }
            killed.signal("KILL");
        });
        let recorded = call_ids(&other.calls());
        assert!(seen.released().is_subset(&recorded), "{durability}: records are lost");
        is_sound(&other);
        assert!(seen.ask_once(other.address()));
    }
}
