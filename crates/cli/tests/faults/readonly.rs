//! A store that may not be written: said at the start, and denied while it runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::upstream::Upstream;

use crate::process::works;
use crate::stores::{is_denied, lock, passes, recovers, server};
use crate::support::{ALLOW, CHAT, MESSAGES, ask, setup};

/// Ends what should have ended by itself.
const BOUNDED: [&str; 2] = ["timeout", "20"];

/// Root without what lets it write everything.
const BOUND_BY_MODES: [&str; 3] =
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];

/// What to run a gateway with so that modes of files bind it; `None` if there is nothing.
fn bound_by_modes() -> Option<&'static [&'static str]> {
    let folder = tempfile::tempdir().unwrap();
    mode(folder.path(), 0o555);
    if fs::write(folder.path().join("by-us"), "").is_err() {
        return Some(&[]);
    }
    let path = folder.path().join("by-others");
    let touch = [&BOUND_BY_MODES[..], &["touch", path.to_str().unwrap()]].concat();
    if works(&[&BOUND_BY_MODES[..], &["true"]].concat()) && !works(&touch) {
        return Some(&BOUND_BY_MODES);
    }
    eprintln!("skipped: modes of files do not bind this user, and `setpriv` is no help");
    None
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A gateway to be, with its store in a folder of its own.
fn apart(upstream: &Upstream, settings: &str) -> Setup {
    let setup = setup(upstream, ALLOW, settings);
    fs::create_dir(setup.folder().join("state")).unwrap();
    let config = fs::read_to_string(setup.folder().join("callgate.yaml")).unwrap();
    let config = config.replace("callgate.db", "state/callgate.db");
    setup.file("callgate.yaml", &config)
}

#[track_caller]
fn says_what_to_do(ran: &Output, words: &[&str]) {
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{told}");
    for word in words.iter().chain(&["state/callgate.db", "hint:"]) {
        assert!(told.contains(word), "no `{word}` in: {told}");
    }
}

fn serve(setup: &Setup) -> Output {
    setup.run(&["serve", "--listen", "127.0.0.1:0"])
}

#[test]
fn a_folder_that_may_not_be_written_is_reported_at_the_start() {
    let Some(runner) = bound_by_modes() else { return };
    let setup = apart(&server(), "").under(&[&BOUNDED[..], runner].concat());
    mode(&setup.folder().join("state"), 0o555);
    says_what_to_do(&serve(&setup), &["cannot be written"]);
    mode(&setup.folder().join("state"), 0o755);
}

#[test]
fn a_store_that_may_not_be_written_is_reported_at_the_start() {
    let Some(runner) = bound_by_modes() else { return };
    // A store that was used, and is now as on a file system mounted for reading.
    let setup = apart(&server(), "").under(&[&BOUNDED[..], runner].concat());
    assert!(setup.run(&["keys", "add", "someuser"]).status.success());
    let state = setup.folder().join("state");
    for file in fs::read_dir(&state).unwrap() {
        mode(&file.unwrap().path(), 0o444);
    }
    mode(&state, 0o555);
    says_what_to_do(&serve(&setup), &["cannot be written"]);
    mode(&state, 0o755);
}

#[test]
fn a_disk_without_room_is_reported_at_the_start() {
    let bounded = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let setup = apart(&server(), "").under(&[&BOUNDED[..], &["sh", "-c", bounded, "sh"]].concat());
    says_what_to_do(&serve(&setup), &[]);
}

#[test]
fn a_store_that_is_something_else_is_reported_at_the_start() {
    let setup = apart(&server(), "").under(&BOUNDED);
    let store = setup.folder().join("state/callgate.db");
    fs::create_dir(&store).unwrap();
    says_what_to_do(&serve(&setup), &["cannot be written"]);
    fs::remove_dir(&store).unwrap();
    fs::write(&store, "a diary, and not a short one; it goes on for a while").unwrap();
    says_what_to_do(&serve(&setup), &["not a callgate store"]);
    assert!(fs::read_to_string(&store).unwrap().starts_with("a diary"), "it was overwritten");
}

#[test]
fn a_store_that_another_program_keeps_is_reported_at_the_start() {
    let setup = apart(&server(), "").under(&BOUNDED);
    assert!(setup.run(&["keys", "add", "someuser"]).status.success());
    let locked = lock(&setup.folder().join("state/callgate.db"));
    says_what_to_do(&serve(&setup), &["locked"]);
    drop(locked);
}

#[test]
fn a_store_that_vanishes_and_cannot_be_recreated_denies_and_recovers() {
    let Some(runner) = bound_by_modes() else { return };
    let upstream = server();
    for durability in ["disk", "process"] {
        let settings = format!("audit: {{ durability: {durability} }}");
        let gateway = apart(&upstream, &settings).under(runner).start();
        [MESSAGES, CHAT].iter().for_each(|path| passes(&gateway, path));
        let state = gateway.folder().join("state");
        vanish(&gateway, &state);
        mode(&state, 0o755);
        recovers(&gateway);
        let verified = gateway.run(&["audit", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}

/// Takes the store away, and the right to make another; calls are denied until it is back.
fn vanish(gateway: &Gateway, state: &Path) {
    let taken = gateway.folder().join("taken");
    fs::create_dir(&taken).unwrap();
    for file in fs::read_dir(state).unwrap() {
        let file = file.unwrap();
        fs::rename(file.path(), taken.join(file.file_name())).unwrap();
    }
    mode(state, 0o555);
    // It is noticed within about a second.
    let denied = |gateway: &Gateway| {
        let text = ask(CHAT).send(gateway.address()).text();
        text.contains("could not be written")
    };
    assert!(gateway.wait_until(denied), "{}", gateway.said());
    for path in [MESSAGES, CHAT] {
        is_denied(path, &ask(path).send(gateway.address()));
    }
}
