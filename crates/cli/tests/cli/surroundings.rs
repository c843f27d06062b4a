//! What every command shares: help, completions, the manual, closed pipes.

use std::fs;

use crate::support::Test;

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Test::new(&["completions", shell]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(ran.stdout.contains("callgate") && ran.stdout.contains("filter"), "{shell}");
    }
}

#[test]
fn the_manual() {
    let ran = Test::new(&["man"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(".TH callgate 1"), "{}", ran.stdout);

    let ran = Test::new(&["man", "--out", "pages/man1"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    for page in ["callgate", "callgate-filter", "callgate-check", "callgate-policy-check"] {
        let page = ran.dir.path().join("pages/man1").join(format!("{page}.1"));
        assert!(fs::metadata(&page).unwrap().len() > 100, "{page:?}");
    }
}

#[test]
fn the_manual_needs_a_folder() {
    let ran = Test::new(&["man", "--out", "policy.yaml"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let start = "error: cannot write manual pages to `policy.yaml`: ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
}

#[test]
fn help_lists_the_exit_codes() {
    for args in [&["--help"][..], &["check", "--help"], &["filter", "--help"]] {
        let ran = Test::new(args).run();
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("Exit codes:\n  0  "), "{}", ran.stdout);
    }
    assert!(Test::new(&["--version"]).run().stdout.starts_with("callgate "));
}

#[test]
fn wrong_usage() {
    let table: [(&[&str], &str); 6] = [
        (&[], "Usage: callgate [OPTIONS] <COMMAND>"),
        (&["chek"], "unrecognized subcommand 'chek'"),
        (&["filter"], "--dialect <DIALECT>"),
        (&["filter", "--dialect", "smalltalk"], "[possible values: anthropic, openai-chat"),
        (&["check", "--input", "{}"], "--tool <NAME>"),
        (&["check", "--tool", "Bash", "--jsonl", "x"], "cannot be used with"),
    ];
    for (args, part) in table {
        let ran = Test::new(args).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for args in [&["completions", "zsh"][..], &["man"], &["policy", "list", "policy.yaml"]] {
        let (mut child, _dir) = Test::new(args).spawn();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}
