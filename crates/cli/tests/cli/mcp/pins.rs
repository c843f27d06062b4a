//! `callgate mcp pins`.

use serde_json::json;

use super::{World, again, column, filled, tool};
use crate::keys::login;
use crate::support::{Ran, Test};

const CONFIG: &str = "store: sqlite:records.db\n";

/// A tool was trusted, and is another one now.
fn changed(args: &[&str]) -> Test {
    let test = Test::new(&[&["mcp"], args, &["--config", "c.yaml"]].concat());
    let world = World::new(&test.path(), CONFIG);
    world.lists("notes", &[tool("get_note", "Reads a note."), tool("add", "Adds a note.")]);
    world.lists(
        "notes",
        &[tool("get_note", "Reads a note of anybody."), tool("add", "Adds a note.")],
    );
    world.settle();
    test
}

/// Whether a server's tool may be called now.
fn may_call(ran: &Ran, server: &str, tool: &str) -> bool {
    let world = World::new(ran.dir.path(), CONFIG);
    let may = world.calls(server, "monday", tool, json!({}));
    world.settle();
    may
}

fn hash_of(ran: Ran, key: &str) -> (Ran, String) {
    let ran = again(ran, &["pins", "list", "--json", "--tool", "get_note"]);
    let hash = ran.json()[0][key].as_str().unwrap().to_owned();
    (ran, hash)
}

#[test]
fn listed_with_their_states() {
    let ran = changed(&["pins", "list"]).run();
    assert_eq!(column(&ran, "NAME"), ["add", "get_note"], "{}", ran.stdout);
    assert_eq!(column(&ran, "STATE"), ["trusted", "changed"]);
    assert_eq!(
        ran.stderr,
        "1 definition is waiting for approval: run `callgate mcp pins diff` to see what is new\n"
    );
    let ran = again(ran, &["pins", "list", "--state", "trusted"]);
    assert_eq!((column(&ran, "NAME"), ran.stderr.as_str()), (vec!["add".to_owned()], ""));
    let ran = again(ran, &["pins", "list", "--json", "--tool", "get_note"]);
    let found = &ran.json()[0];
    assert_eq!((&found["state"], &found["kind"]), (&json!("changed"), &json!("tool")));
    assert_ne!(found["hash"], found["seen_hash"]);
    let ran = again(ran, &["pins", "list", "--server", "other"]);
    ran.sees(0, "", "no pins match\n");
}

#[test]
fn the_difference_is_shown_word_by_word() {
    let ran = changed(&["pins", "diff"]).run();
    let (ran, was) = hash_of(ran, "hash");
    let (ran, is) = hash_of(ran, "seen_hash");
    let ran = again(ran, &["pins", "diff"]);
    let (was, is) = (&was[3..15], &is[3..15]);
    let expected = format!(
        "\
notes/get_note: trusted as {was}, seen as {is}
  description
    ~ Reads a [-note.-]{{+note of anybody.+}}
  to trust it: callgate mcp pins trust --server notes --tool get_note --hash {is}
"
    );
    let ran = ran.sees(0, &expected, "");
    let ran = again(ran, &["pins", "diff", "--color", "always"]);
    let words = "\u{1b}[1;31m[-note.-]\u{1b}[0m\u{1b}[32m{+note of anybody.+}\u{1b}[0m\n";
    assert!(ran.stdout.contains(words), "{:?}", ran.stdout);
    let ran = again(ran, &["pins", "diff", "--json", "--server", "notes"]);
    let found = &ran.json()[0];
    assert_eq!(found["differences"][0]["path"], "description");
    let ran = again(ran, &["pins", "diff", "--server", "notes", "--tool", "add"]);
    let ran = ran.sees(0, "", "nothing has changed, and nothing is waiting for approval\n");
    let ran = again(ran, &["pins", "diff", "--server", "notes", "--tool", "no"]);
    let error = "\
error: `notes/no` is unknown
hint: run `callgate mcp pins list` to see what is known; a server must list its tools first
";
    ran.sees(2, "", error);
}

#[test]
fn trusted_by_hand() {
    let ran = changed(&["pins", "list"]).run();
    assert!(!may_call(&ran, "notes", "get_note") && may_call(&ran, "notes", "add"));
    let (ran, was) = hash_of(ran, "hash");
    let (ran, is) = hash_of(ran, "seen_hash");
    let trust = ["pins", "trust", "--server", "notes", "--tool", "get_note", "--hash"];
    let ran = again(ran, &[&trust[..], &[&was]].concat());
    let (error, seen) = (format!("`notes/get_note` no longer has the hash {was}"), &is[3..15]);
    let error = format!("error: {error}: it is now {seen}; nothing was trusted\n");
    let hint =
        "hint: review it again with `callgate mcp pins diff --server notes --tool get_note`\n";
    let ran = ran.sees(2, "", &format!("{error}{hint}"));
    let ran = again(ran, &[&trust[..], &["v1:abc"]].concat());
    assert!(ran.stderr.contains("is too short"), "{}", ran.stderr);
    assert!(!may_call(&ran, "notes", "get_note"));

    let ran = again(ran, &[&trust[..], &[seen]].concat());
    let done = format!("trusted `notes/get_note` as {seen}\n");
    let next = "it can be listed and called from the next request on; a client may have to list its tools again\n";
    let ran = ran.sees(0, &format!("{done}{next}"), "");
    assert!(may_call(&ran, "notes", "get_note"));
    let ran = again(ran, &["pins", "trust", "--server", "notes", "--all"]);
    let ran = ran.sees(0, "nothing to do: `notes` is trusted\n", "");
    // Who trusted what is on record.
    let ran = again(ran, &["events", "--json", "--type", "change", "--server", "notes"]);
    let record = &ran.json()[0];
    assert_eq!(record["principal"], json!({ "user": login() }), "{record}");
    let (before, after) = (&record["change"]["before"], &record["change"]["after"]);
    assert_eq!(
        (&record["change"]["action"], &record["change"]["name"]),
        (&json!("trust"), &json!("notes/get_note"))
    );
    assert_eq!((&before["state"], &before["hash"]), (&json!("changed"), &json!(was)));
    assert_eq!((&after["state"], &after["hash"]), (&json!("trusted"), &json!(is)));
    let ran = again(ran, &["events", "--limit", "1"]);
    let told = format!("trust pin notes/get_note: hash {} -> {seen}", &was[3..15]);
    assert!(ran.stdout.contains(&told) && ran.stdout.contains(&login()), "{}", ran.stdout);
}

#[test]
fn what_waits_is_shown_whole_and_trusted_at_once() {
    let test = Test::new(&["mcp", "pins", "diff", "--config", "c.yaml"]);
    let config = format!("{CONFIG}mcp: {{ pins: {{ auto_trust_first: false }} }}\n");
    let world = World::new(&test.path(), &config);
    world.lists("notes", &[tool("a", "Does a."), tool("b c", "Does b.")]);
    assert!(!world.calls("notes", "monday", "a", json!({})));
    world.settle();
    let ran = test.run();
    assert!(ran.stdout.starts_with("notes/a: new, as "), "{}", ran.stdout);
    assert!(ran.stdout.contains("  description\n    + Does a.\n"), "{}", ran.stdout);
    let flags = "--server notes --tool 'b c' --hash ";
    assert!(ran.stdout.contains(flags), "it can be pasted: {}", ran.stdout);
    let ran = again(ran, &["pins", "trust", "--server", "notes", "--all"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 3), "{}", ran.stderr);
    assert!(may_call(&ran, "notes", "a"));
    let ran = again(ran, &["pins", "reset", "--server", "notes", "--tool", "a"]);
    let told = "forgot `notes/a`\nthe next definition is trusted automatically\n";
    // `may_call` has written a config without the setting.
    let ran = ran.sees(0, told, "");
    let ran = again(ran, &["events", "--json", "--type", "change", "--limit", "1"]);
    let change = &ran.json()[0]["change"];
    assert_eq!((&change["action"], &change["name"]), (&json!("reset"), &json!("notes/a")));
    assert_eq!((&change["before"]["state"], change.get("after")), (&json!("trusted"), None));
    let ran = again(ran, &["pins", "list", "--json"]);
    assert_eq!(ran.json().len(), 1);
    let ran = again(ran, &["pins", "reset", "--server", "notes", "--tool", "a"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: `notes/a` is unknown\n"), "{}", ran.stderr);
}

#[test]
fn something_must_be_named() {
    for verb in ["trust", "reset"] {
        let ran = changed(&["pins", verb, "--server", "notes"]).run();
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        assert!(ran.stderr.contains("--all"), "{}", ran.stderr);
        let ran = again(ran, &["pins", verb, "--server", "notes", "--all", "--tool", "add"]);
        assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    }
}

#[test]
fn without_a_choice_the_definitions_are_listed() {
    let mut ran = filled(&["servers"]).run();
    for command in ["trust", "reset"] {
        ran = again(ran, &["pins", command, "--server", "notes"]);
        let error = "\
error: choose a definition of `notes`, or all of them
hint: add `--all`, or one of: --tool delete_note, --tool get_note
";
        ran = ran.sees(2, "", error);
    }
    let ran = again(ran, &["pins", "trust", "--server", "nobody"]);
    assert!(ran.stderr.starts_with("error: `nobody` is unknown\n"), "{}", ran.stderr);
}
