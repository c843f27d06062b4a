//! `callgate init`.

use std::fs;

use serde_json::json;

use crate::support::Test;

#[test]
fn it_writes_to_the_users_folder_and_says_what_next() {
    let ran = Test::new(&["init"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.starts_with("wrote [DIR]/.config/callgate/callgate.yaml\n\nNext:\n"));
    let text = fs::read_to_string(ran.dir.path().join(".config/callgate/callgate.yaml")).unwrap();
    assert!(text.contains("  - builtin:starter "), "{text}");
    assert!(text.lines().count() <= 14, "{text}");
    assert!(text.lines().all(|line| line.len() <= 88), "{text}");
}

/// Its rule denies a forced push by the shell tool of every agent, and the starter rules hold, too.
#[test]
fn what_it_writes_is_valid_and_in_force() {
    let check = |tool: &str, key: &str, command: &str| {
        let ran = Test::new(&["init"]).run();
        let input = json!({ key: command }).to_string();
        Test::again(ran, &["check", "--tool", tool, "--input", &input]).run()
    };
    for (tool, key) in [("Bash", "command"), ("exec_command", "cmd")] {
        for command in ["git push --force origin topic", "git push -f origin topic"] {
            let ran = check(tool, key, command);
            assert!(ran.stdout.contains("mine/no-force-push"), "{}{}", ran.stdout, ran.stderr);
        }
        assert_eq!(check(tool, key, "git push origin main").code, 0);
        assert!(check(tool, key, "rm -rf /").stdout.contains("starter/"));
    }
    let ran = Test::new(&["init"]).run();
    let ran = Test::again(ran, &["config", "check"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("no problems\n"), "{}", ran.stdout);
}

#[test]
fn every_command_it_suggests_works() {
    let ran = Test::new(&["init", "--project"]).run();
    let next: Vec<String> = ran.stderr.lines().filter_map(suggested).collect();
    assert_eq!(next.len(), 4, "{}", ran.stderr);
    let mut ran = ran;
    for command in next.iter().filter(|command| !command.contains(" serve")) {
        let words: Vec<&str> =
            command.split(' ').skip(1).take_while(|it| *it != "--input").collect();
        let input = [&words[..], &["--input", r#"{"command":"git push -f"}"#]].concat();
        let args = if command.contains("--input") { &input } else { &words };
        ran = Test::again(ran, args).run();
        let denied = command.contains(" check --config callgate.yaml --tool");
        assert_eq!(ran.code, i32::from(denied), "{command}: {}{}", ran.stdout, ran.stderr);
    }
}

/// The command of a line that suggests one.
fn suggested(line: &str) -> Option<String> {
    let at = line.find("callgate ").filter(|_| line.starts_with("  "))?;
    Some(line[at..].to_owned())
}

#[test]
fn it_writes_where_config_points() {
    let ran = Test::new(&["init", "--config", "sub/mine.yaml"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("wrote sub/mine.yaml\n"), "{}", ran.stderr);
    assert!(ran.dir.path().join("sub/mine.yaml").is_file());
    assert!(!ran.dir.path().join(".config").exists());
    let ran = Test::again(ran, &["config", "check", "--config", "sub/mine.yaml"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn the_starter_rules_can_be_copied() {
    let ran = Test::new(&["init", "--copy-starter"]).run();
    let text = fs::read_to_string(ran.dir.path().join(".config/callgate/callgate.yaml")).unwrap();
    assert!(text.contains("policy: starter") && !text.contains("builtin:starter\n"), "{text}");
    let ran = Test::again(ran, &["config", "check"]).run();
    assert!(ran.stdout.contains("(29 rules)"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn xdg_comes_first() {
    let test = Test::new(&["init"]);
    let folder = test.path().join("xdg").to_str().unwrap().to_owned();
    let ran = test.env("XDG_CONFIG_HOME", &folder).run();
    assert!(ran.dir.path().join("xdg/callgate/callgate.yaml").is_file());
}

#[test]
fn it_does_not_overwrite_unless_told() {
    let mine = || Test::new(&["init", "--project"]).file("callgate.yaml", "mine");
    let error = "error: `callgate.yaml` already exists\nhint: use `--force` to overwrite it\n";
    let ran = mine().run().sees(2, "", error);
    assert_eq!(fs::read_to_string(ran.dir.path().join("callgate.yaml")).unwrap(), "mine");

    let ran = mine().with(&["--force"]).run();
    assert_eq!(ran.code, 0);
    assert!(fs::read_to_string(ran.dir.path().join("callgate.yaml")).unwrap().contains("starter"));
    let left = fs::read_dir(ran.dir.path()).unwrap().count();
    assert_eq!(left, 2, "nothing but callgate.yaml and policy.yaml");
}

#[cfg(unix)]
#[test]
fn it_does_not_write_through_a_link() {
    for extra in [&[][..], &["--force"]] {
        let test = Test::new(&["init", "--project"]).with(extra);
        let target = test.path().join("elsewhere");
        std::os::unix::fs::symlink(&target, test.path().join("callgate.yaml")).unwrap();
        let ran = test.run();
        assert_eq!(ran.code, if extra.is_empty() { 2 } else { 0 });
        assert!(!ran.dir.path().join("elsewhere").exists());
    }
}

#[test]
fn a_folder_that_cannot_be_made() {
    let ran = Test::new(&["init"]).file(".config", "a file").run();
    assert_eq!(ran.code, 2);
    let start = "error: cannot create the folder `[DIR]/.config/callgate`: ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
}
