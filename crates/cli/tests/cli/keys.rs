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
        ran.stderr.starts_with("error: a gateway key named `ci` already exists\nhint: "),
        "{}",
        ran.stderr
    );

    let ran = Test::again(ran, &["keys", "revoke", "ci"]).run();
    let ran = ran.sees(0, "", "the key `ci` is revoked\n");
    let ran = Test::again(ran, &["keys", "revoke", "ci"]).run();
    let error =
        "error: there is no active key `ci`\nhint: run `callgate keys list` to see all keys\n";
    let ran = ran.sees(2, "", error);

    let ran = Test::again(ran, &["keys", "list"]).run();
    let mut lines = ran.stdout.lines();
    assert!(lines.next().unwrap().starts_with("NAME  TEAM      USER  STATE"), "{}", ran.stdout);
    assert!(lines.next().unwrap().starts_with("ci    payments  ann   revoked"), "{}", ran.stdout);
}

#[test]
fn expiring_and_renewed() {
    let ran = Test::new(&["keys", "add", "ci", "--expires", "5d", "--json"]).run();
    let made = &ran.json()[0];
    let key = made["key"].as_str().unwrap().to_owned();
    assert_eq!((key.len(), &made["state"]), (46, &json!("active")), "{made}");
    let ran = Test::again(ran, &["keys", "list"]).run();
    assert!(ran.stdout.contains("ci    expires in 4 days  "), "{}", ran.stdout);
    let ran = Test::again(ran, &["keys", "renew", "ci", "--expires", "0s"]).run();
    assert!(ran.stderr.starts_with("the key `ci` is renewed: it expires on 2"), "{}", ran.stderr);
    let ran = Test::again(ran, &["keys", "list", "--json"]).run();
    assert_eq!(ran.json()[0]["state"], "expired");

    let ran = Test::again(ran, &["keys", "renew", "ci", "--expires", "2090-01-31T12:00:00Z"]).run();
    assert!(ran.stderr.ends_with("expires on 2090-01-31 12:00:00\n"), "{}", ran.stderr);
    let ran = Test::again(ran, &["keys", "renew", "ci", "--new-secret"]).run();
    let new = ran.stdout.trim_end().to_owned();
    assert!(new.len() == 46 && new != key && !ran.stderr.contains(&new), "{}", ran.stderr);
    let ran = Test::again(ran, &["keys", "renew", "ci", "--new-secret", "--json"]).run();
    assert_eq!(ran.json()[0]["key"].as_str().map(str::len), Some(46));
    let ran = Test::again(ran, &["keys", "renew", "ci", "--expires", "never"]).run();
    let ran = ran.sees(0, "", "the key `ci` is renewed: it does not expire\n");
    let ran = Test::again(ran, &["keys", "renew", "ci"]).run();
    let error = "\
error: the key `ci` does not expire, so there is nothing to renew
hint: `--expires 90d` gives it an expiry, `--new-secret` another secret
";
    let ran = ran.sees(2, "", error);
    let ran = Test::again(ran, &["keys", "revoke", "ci", "--json"]).run();
    assert_eq!(ran.json()[0]["state"], "revoked");
    let ran = Test::again(ran, &["keys", "renew", "ci", "--expires", "1d"]).run();
    assert!(ran.stderr.contains("a revoked key cannot be renewed\nhint: "), "{}", ran.stderr);
    let ran = Test::again(ran, &["keys", "renew", "no", "--expires", "1d"]).run();
    assert!(ran.stderr.starts_with("error: there is no key `no`\nhint: "), "{}", ran.stderr);
}

#[test]
fn an_expiry_that_makes_no_sense() {
    for (when, why) in [("2020-01-01", "this is in the past"), ("soon", "`90d`")] {
        let ran = Test::new(&["keys", "add", "ci", "--expires", when]).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

/// The login name of the user who runs the tests, according to the system.
pub(crate) fn login() -> String {
    let ran = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn changes_are_recorded_with_who_made_them() {
    let add = ["keys", "add", "ci", "--user", "ann", "--expires", "2090-01-31T12:00:00Z"];
    // The environment is the agent's to write.
    let ran = Test::new(&add).env("USER", "eve").env("LOGNAME", "eve").run();
    let key = ran.stdout.trim_end().to_owned();
    let ran = Test::again(ran, &["keys", "renew", "ci", "--expires", "never"]).run();
    let ran = Test::again(ran, &["keys", "revoke", "ci"]).run();
    let ran = Test::again(ran, &["events", "--type", "change", "--json"]).run();
    let records = ran.json();
    let actions: Vec<_> = records.iter().map(|record| &record["change"]["action"]).collect();
    assert_eq!(actions, ["revoke", "renew", "add"], "{}", ran.stdout);
    for record in &records {
        assert_eq!(record["principal"], json!({ "user": login() }));
        assert_eq!(
            (&record["change"]["what"], &record["change"]["name"]),
            (&json!("key"), &json!("ci"))
        );
    }
    assert_eq!(records[1]["change"]["before"]["expires"], "2090-01-31T12:00:00Z");
    assert_eq!(records[1]["change"]["after"]["expires"], "never");
    assert!(!ran.stdout.contains(&key[3..]));

    let ran = Test::again(ran, &["events", "--user", &login()]).run();
    for what in [
        "revoke key ci: state active -> revoked",
        "renew key ci: expires 2090-01-31T12:00:00Z -> never",
        "add key ci: expires 2090-01-31T12:00:00Z, state active, user ann",
    ] {
        assert!(ran.stdout.contains(what), "{what}: {}", ran.stdout);
    }
    let ran = Test::again(ran, &["audit", "verify"]).run();
    assert!(ran.stdout.starts_with("the chain is intact: 3 records"), "{}", ran.stderr);
}

#[test]
fn a_name_that_cannot_be_used() {
    let ran = Test::new(&["keys", "add", "a b"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("`a b` is not a valid key name\nhint: "), "{}", ran.stderr);
}

#[test]
fn not_in_memory() {
    let ran = Test::new(&["keys", "add", "ci", "--config", "c.yaml"])
        .file("c.yaml", "store: memory")
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("a store in memory cannot keep a key"), "{}", ran.stderr);
}

#[test]
fn listing_makes_no_store() {
    let none = "no keys yet; create one with `callgate keys add NAME`\n";
    for (args, code, said) in [
        (&["keys", "list"][..], 0, none),
        (&["keys", "list", "--json"], 0, ""),
        (&["keys", "revoke", "x"], 2, "error: there is no active key `x`"),
    ] {
        let ran = Test::new(args).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}");
        assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
        assert!(!ran.dir.path().join(".local").exists());
    }
}
