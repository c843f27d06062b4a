//! Policies that change all the time, under load.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::upstream::Upstream;
use serde_json::Value;

use crate::load::{framewise, shows_call};
use crate::support::{ALLOW, CHAT, DENY, MESSAGES, ask, emptied, gateway, turns};

const RELOADS: usize = 200;

/// No policies, each for another reason.
const BAD: [&str; 3] =
    ["policy: broken\nrules: [ { id: x, verdict: perhaps } ]\n", "policy: [", ""];

/// Whether a turn is one of the two it can be: as it was sent, or without its call.
#[track_caller]
fn is_one_or_the_other(path: &str, reply: &Reply, sent: &[u8]) -> bool {
    assert_eq!((reply.status, reply.is_whole), (200, true), "{path}: {}", reply.text());
    if reply.body == sent {
        return true;
    }
    let text = reply.text();
    assert!(!shows_call(path, &reply.body), "{path}: neither allowed nor denied: {text}");
    assert!(text.contains("Nothing is deleted."), "{path}: {text}");
    let end = if path == MESSAGES { "message_stop" } else { "[DONE]" };
    assert!(text.contains(end), "{path}: {text}");
    false
}

#[test]
fn reloads_under_load_leave_every_response_whole() {
    let upstream = Upstream::start(|request| {
        let [messages, chat] = turns("delete_all", r#"{"path":"/"}"#);
        framewise(if request.path.ends_with("completions") { chat.1 } else { messages.1 })
    });
    let gateway = gateway(&upstream, ALLOW, "");
    let (allowed, denied) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for path in [MESSAGES, CHAT, MESSAGES, CHAT] {
            let turn = turns("delete_all", r#"{"path":"/"}"#).into_iter().find(|it| it.0 == path);
            let sent = emptied(turn.unwrap().1).1;
            let (gateway, allowed, denied, done) = (&gateway, &allowed, &denied, &done);
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let reply = ask(path).send(gateway.address());
                    let count =
                        if is_one_or_the_other(path, &reply, &sent) { allowed } else { denied };
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _done = Done(&done);
        reload_often(&gateway);
    });
    assert!(allowed.load(Ordering::SeqCst) > 0, "nothing was ever allowed");
    assert!(denied.load(Ordering::SeqCst) > 0, "nothing was ever denied");
    last_good_one_stays(&gateway);
}

/// Lets the clients end, also if this thread panics.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn reload_often(gateway: &Gateway) {
    for number in 0..RELOADS {
        let policy = match number % 4 {
            0 => DENY,
            2 => ALLOW,
            _ => BAD[number / 2 % BAD.len()],
        };
        gateway.replace("rules.yaml", policy);
        gateway.signal("HUP");
        thread::sleep(Duration::from_millis(10));
    }
}

fn kinds(gateway: &Gateway, kind: &str) -> usize {
    gateway.events().iter().filter(|event: &&Value| event["type"] == kind).count()
}

fn last_good_one_stays(gateway: &Gateway) {
    let status = |gateway: &Gateway| Ask::get("/readyz").send(gateway.address()).json();
    let denies = |gateway: &Gateway| !shows_call(CHAT, &ask(CHAT).send(gateway.address()).body);
    gateway.replace("rules.yaml", DENY);
    gateway.signal("HUP");
    assert!(gateway.wait_until(|gateway| status(gateway)["status"] == "ok" && denies(gateway)));
    for bad in BAD {
        gateway.replace("rules.yaml", bad);
        let rejected = kinds(gateway, "policy_rejected");
        gateway.signal("HUP");
        assert!(gateway.wait_until(|gateway| kinds(gateway, "policy_rejected") > rejected));
        assert_eq!(status(gateway)["status"], "degraded");
        assert!(denies(gateway), "the last good policy is gone after `{bad}`");
    }
    assert!(kinds(gateway, "policy_loaded") > 2);
    let verified = gateway.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
