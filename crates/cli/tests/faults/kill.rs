//! `kill -9` under load: no call that a client holds is without its record.

use std::thread;
use std::time::Duration;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Upstream;

use crate::load::{HELD, Seen, call_ids, numbered_server};
use crate::support::{ALLOW, setup};

/// Streams at once.
const CLIENTS: usize = 16;

/// Kills for each way of writing.
const ROUNDS: u64 = 4;

#[test]
fn no_released_call_is_lost_with_disk_durability() {
    kill_again_and_again("disk", 0x5eed);
}

#[test]
fn no_released_call_is_lost_with_process_durability() {
    kill_again_and_again("process", 0xbeef);
}

fn kill_again_and_again(durability: &str, seed: u64) {
    let upstream = numbered_server();
    let settings = format!("audit: {{ durability: {durability} }}");
    // Calls that stream live, and calls that are held.
    for (policy, seed) in [(ALLOW, seed), (HELD, seed + 1)] {
        let seen = Seen::default();
        let mut moments = Moments(seed);
        let mut gateway = setup(&upstream, policy, &settings).start();
        for round in 0..ROUNDS {
            kill_at(&gateway, &seen, moments.next());
            all_are_recorded(&gateway, &seen, &format!("{durability}, seed {seed}, round {round}"));
            gateway = gateway.restart();
        }
        assert!(seen.released().len() > CLIENTS, "hardly any call was released: {seen:?}");
        assert!(seen.cut() > 0, "no stream was under way at any of the kills");
        goes_on(&upstream, &gateway, &seen);
    }
}

/// Kills the gateway once it has released a number of calls, and a little later: a fixed time would
/// be too early on a busy machine.
fn kill_at(gateway: &Gateway, seen: &Seen, Moment { calls, later }: Moment) {
    let address = gateway.address();
    let enough = seen.released().len() + calls;
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| seen.ask_on(address));
        }
        let came = gateway.wait_until(|_| seen.released().len() >= enough);
        thread::sleep(later);
        gateway.signal("KILL");
        assert!(came, "only {} calls were released", seen.released().len());
    });
}

fn all_are_recorded(gateway: &Gateway, seen: &Seen, when: &str) {
    let recorded = call_ids(&gateway.calls());
    let released = seen.released();
    let lost: Vec<&String> = released.difference(&recorded).collect();
    assert!(lost.is_empty(), "{when}: of {} released, lost: {lost:?}", released.len());
    let verified = gateway.run(&["audit", "verify"]);
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success(), "{when}: {told}");
}

/// After all that, the store still takes records.
fn goes_on(upstream: &Upstream, gateway: &Gateway, seen: &Seen) {
    let before = seen.released().len();
    assert!(seen.ask_once(gateway.address()));
    assert_eq!(seen.released().len(), before + 1);
    all_are_recorded(gateway, seen, "afterwards");
    assert!(upstream.served() > 0);
}

/// When to kill.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// After this many released calls,
    calls: usize,
    /// and this much time.
    later: Duration,
}

/// Moments chosen by chance, and the same each time.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Moment {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let calls = usize::try_from(self.0 % 60).unwrap();
        Moment { calls: CLIENTS / 2 + calls, later: Duration::from_micros(self.0 / 60 % 30_000) }
    }
}
