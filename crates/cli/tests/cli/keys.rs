//! `callgate keys`.

use serde_json::json;

use crate::support::Test;

#[test]
fn made_listed_and_revoked() {
    let ran = Test::new(&["keys", "add", "ci", "--team", "payments", "--user", "ann"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let key = ran.stdout.trim_end().to_owned();
    assert!(key.starts_with("cg_") && key.len() == 46 && ran.stdout.lines().count() == 1);
    assert!(!ran.stderr.contains(&key), "talk is on stderr, the key alone on stdout");

    let ran = Test::again(ran, &["keys", "list", "--json"]).run();
    let listed = &ran.json()[0];
    assert_eq!((&listed["name"], &listed["team"]), (&json!("ci"), &json!("payments")));
    assert_eq!(listed["revoked"], json!(null));
    assert!(!ran.stdout.contains(&key));

    let ran = Test::again(ran, &["keys", "add", "ci"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: there is a gateway key `ci` already\nhint: "),
        "{}",
        ran.stderr
    );

    let ran = Test::again(ran, &["keys", "revoke", "ci"]).run();
    let ran = ran.sees(0, "", "the key `ci` is revoked\n");
    let ran = Test::again(ran, &["keys", "revoke", "ci"]).run();
    let error = "error: there is no key `ci` in force\nhint: `callgate keys list` shows them all\n";
    let ran = ran.sees(2, "", error);

    let ran = Test::again(ran, &["keys", "list"]).run();
    let mut lines = ran.stdout.lines();
    assert!(lines.next().unwrap().starts_with("NAME  TEAM      USER"), "{}", ran.stdout);
    assert!(lines.next().unwrap().starts_with("ci    payments  ann"), "{}", ran.stdout);
}

#[test]
fn a_name_that_cannot_be_used() {
    let ran = Test::new(&["keys", "add", "a b"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("`a b` is no name for a gateway key\nhint: "), "{}", ran.stderr);
}

#[test]
fn not_in_memory() {
    let ran = Test::new(&["keys", "add", "ci", "--config", "c.yaml"])
        .file("c.yaml", "store: memory")
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("gone at once"), "{}", ran.stderr);
}

#[test]
fn listing_makes_no_store() {
    let none = "no keys yet; `callgate keys add NAME` makes one\n";
    for (args, code, said) in [
        (&["keys", "list"][..], 0, none),
        (&["keys", "list", "--json"], 0, ""),
        (&["keys", "revoke", "x"], 2, "error: no records yet"),
    ] {
        let ran = Test::new(args).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}");
        assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
        assert!(!ran.dir.path().join(".local").exists());
    }
}
