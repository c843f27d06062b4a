//! `callgate init`.

use std::fs;

use crate::support::Test;

#[test]
fn it_writes_to_the_users_folder_and_says_what_next() {
    let ran = Test::new(&["init"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.starts_with("wrote [DIR]/.config/callgate/callgate.yaml\n\nnext:\n"));
    assert!(ran.stderr.contains("callgate policy check [DIR]/.config/callgate/callgate.yaml"));
    let text = fs::read_to_string(ran.dir.path().join(".config/callgate/callgate.yaml")).unwrap();
    assert!(text.starts_with("# callgate: ") && text.contains("policy: starter"), "{text}");
}

#[test]
fn what_it_writes_is_sound_and_so_is_the_rule_in_its_comment() {
    let ran = Test::new(&["init", "--project"]).run();
    assert_eq!(ran.code, 0);
    let text = fs::read_to_string(ran.dir.path().join("callgate.yaml")).unwrap();
    let ran = Test::new(&["policy", "check", "it.yaml"]).file("it.yaml", &text).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let (head, _) = text.split_once("# Add `mode: shadow`").unwrap();
    let rule = head.lines().filter_map(|line| line.strip_prefix("#   ")).collect::<Vec<_>>();
    let policy = format!("policy: commented\nrules:\n  {}\n", rule.join("\n  "));
    let ran = Test::new(&["policy", "check", "it.yaml"]).file("it.yaml", &policy).run();
    let line = "it.yaml: 1 rule, no problems\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, line), "{policy}{}", ran.stderr);
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
    let error = "error: `./callgate.yaml` is already there\nhint: use `--force` to overwrite it\n";
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
