//! What sessions have written into files: found again, private, bounded.

use callgate_call::{FileWrite, SessionFile, WrittenContent};

use super::*;
use crate::FlowName;
use crate::database::Database;
use crate::state::files::{FileLimits, KnownFiles};
use crate::state::sqlite::prune_files;

fn session(name: &str) -> FlowName {
    FlowName { owner: "ann".into(), name: name.into() }
}

fn wrote(store: &Store, name: &str, path: &str, text: &str) {
    let write = FileWrite { path: path.into(), content: WrittenContent::Whole(text.into()) };
    store.append_together([], [(session(name), write)], call("Write", "{}")).wait().unwrap();
}

fn texts(store: &Store, name: &str) -> Vec<String> {
    let files = store.session_files(&session(name));
    let all = files.iter().flat_map(|files| files.all());
    all.filter_map(|(_, file)| file.text().map(str::to_owned)).collect()
}

#[test]
fn files_are_known_at_once_after_a_restart_and_in_other_processes() {
    let place = Place::new();
    let store = place.open(Durability::Process);
    wrote(&store, "a", "/w/x", "echo one");
    assert_eq!(texts(&store, "a"), ["echo one"]);
    assert!(store.session_files(&session("b")).is_none());
    let other = place.open(Durability::Process);
    assert_eq!(texts(&other, "a"), ["echo one"]);
    wrote(&other, "a", "/w/y", "echo two");
    drop((store, other));
    let store = place.open(Durability::Process);
    assert_eq!(texts(&store, "a"), ["echo one", "echo two"]);
    let found = store.session_files(&session("a")).unwrap();
    assert_eq!(found.at("y"), [&SessionFile::Whole("echo two".into())]);
}

#[test]
fn files_are_stored_encrypted() {
    let place = Place::new();
    wrote(&place.open(Durability::Process), "a", "/w/private-name", "private text");
    let folder = place.path().parent().unwrap().to_owned();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("private"), "{}", path.display());
    }
}

#[test]
fn old_files_and_too_many_bytes_are_forgotten() {
    let place = Place::new();
    let store = place.open(Durability::Process);
    for at in 1..=9 {
        wrote(&store, "a", &format!("/w/{at}"), &"x".repeat(100));
    }
    let shared = crate::shared::OpenStore::open(&place.settings(Durability::Process)).unwrap();
    let database = Database::new(place.raw_state());
    let known = KnownFiles::default();
    let kept = |limits: &FileLimits| {
        prune_files(&database, limits, crate::shared::now()).unwrap();
        known.reload(&shared.state, &shared.cipher).unwrap();
        known.count(&session("a"))
    };
    assert_eq!(kept(&FileLimits::DEFAULT), 9);
    let old = "UPDATE files SET at = at - ?1 WHERE id < 3";
    place.raw_state().execute(old, [25_i64 * 3_600_000_000]).unwrap();
    assert_eq!(kept(&FileLimits::DEFAULT), 7);
    assert_eq!(kept(&FileLimits { bytes: 450, ..FileLimits::DEFAULT }), 3);
}
