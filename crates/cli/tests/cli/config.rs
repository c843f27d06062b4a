//! `callgate config`, and `--config` for every command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::Test;

const SHARED: &str = "\
listen: 127.0.0.1:9999
store: sqlite:records.db
providers:
  mine: { base_url: 'http://127.0.0.1:1/v1', dialect: openai-chat }

policy: shared
rules:
  - { id: no-nuke, tool: nuke, verdict: deny, reason: Not here. }
";

#[test]
fn what_holds_without_a_file() {
    let ran = Test::new(&["config", "check"]).run();
    let expected = "\
config    (none, using the defaults)
listen    127.0.0.1:8484
store     sqlite:[DIR]/.local/state/callgate/callgate.db (on disk before a call is released)
mode      full
providers anthropic: https://api.anthropic.com/ (anthropic)
          openai: https://api.openai.com/v1 (openai-chat)
          gemini: https://generativelanguage.googleapis.com/ (gemini)
          vertex: https://aiplatform.googleapis.com/ (gemini)
          code-assist: https://cloudcode-pa.googleapis.com/ (gemini)
          mistral: https://api.mistral.ai/v1 (openai-chat)
          cohere: https://api.cohere.com/ (cohere)
          xai: https://api.x.ai/v1 (openai-chat)
          deepseek: https://api.deepseek.com/ (openai-chat)
          groq: https://api.groq.com/openai/v1 (openai-chat)
          openrouter: https://openrouter.ai/api/v1 (openai-chat)
          ollama: http://127.0.0.1:11434/ (ollama)
          vllm: http://127.0.0.1:8000/v1 (openai-chat)
policies  builtin:starter (29 rules)
          no problems
";
    ran.sees(0, expected, "");
}

#[test]
fn a_whole_file_as_json() {
    let ran = Test::new(&["--config", "my.yaml", "config", "check", "--json"])
        .file("my.yaml", SHARED)
        .run();
    let found = &ran.json()[0];
    assert_eq!((ran.code, &found["ok"]), (0, &json!(true)), "{}", ran.stderr);
    assert_eq!(found["listen"], "127.0.0.1:9999");
    assert_eq!(found["store"], "sqlite:records.db");
    assert_eq!(found["policies"], json!(["my.yaml"]));
    assert_eq!(found["rules"], 1);
    assert_eq!(found["providers"][13]["name"], "mine");
}

#[test]
fn every_problem_at_once() {
    let text = "lisen: x\npolicies: [missing.yaml]\n";
    let ran = Test::new(&["config", "check", "--config", "c.yaml"]).file("c.yaml", text).run();
    let expected = "\
error: unknown key `lisen`
 --> c.yaml:1:1
  |
1 | lisen: x
  | ^^^^^
  |
  = hint: did you mean `listen`?

error: cannot read policy `missing.yaml`: No such file or directory (os error 2)
 --> c.yaml:2:12
  |
2 | policies: [missing.yaml]
  |            ^^^^^^^^^^^^
  |
  = hint: paths are relative to the folder of this file

error: the config is rejected: 2 problems
";
    ran.sees(2, "", expected);
    let ran =
        Test::new(&["config", "check", "--json", "--config", "c.yaml"]).file("c.yaml", text).run();
    let found = &ran.json()[0];
    assert_eq!((ran.code, found["problems"].as_array().unwrap().len()), (2, 2));
    assert_eq!(found["problems"][0]["hint"], "did you mean `listen`?");
}

#[test]
fn warnings_do_not_fail() {
    let text =
        "policies: [builtin:starter]\nproviders:\n  openai: { api_key_env: CALLGATE_NO_SUCH }\n";
    let ran = Test::new(&["config", "check", "--config", "c.yaml"]).file("c.yaml", text).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: the variable CALLGATE_NO_SUCH is not set"));
    assert!(ran.stdout.ends_with("no problems, 1 warning\n"), "{}", ran.stdout);
}

#[test]
fn the_schema_is_json() {
    let ran = Test::new(&["config", "schema"]).run();
    let schema: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["on_deny"]["enum"], json!(["continue", "explain", "silent"]));
    assert_eq!(schema["properties"]["rules"]["type"], "array");
}

#[test]
fn the_policies_of_the_config_judge() {
    for config in [&["--config", "c.yaml"][..], &[]] {
        let test = Test::new(&["check", "--tool", "nuke", "--json"]).with(config);
        let test = test.file("c.yaml", SHARED);
        let test = if config.is_empty() { test.env("CALLGATE_CONFIG", "c.yaml") } else { test };
        let ran = test.run();
        assert_eq!((ran.code, &ran.json()[0]["rule"]), (1, &json!("no-nuke")), "{}", ran.stderr);
    }
}

#[test]
fn named_files_and_globs_relative_to_the_config() {
    let ran = Test::new(&["policy", "list", "--json", "--config", "etc/c.yaml"])
        .file("etc/c.yaml", "policies: ['rules/*.yaml']\n")
        .file("etc/rules/b.yaml", "policy: b\nrules: [{ id: b, tool: x, verdict: deny }]\n")
        .file("etc/rules/a.yaml", "policy: a\nrules: [{ id: a, tool: x, verdict: deny }]\n")
        .run();
    let lines = ran.json();
    let own = lines.iter().filter(|it| it["policy"] != "self-protection");
    let rules: Vec<_> = own.filter_map(|it| it.get("rule").cloned()).collect();
    assert_eq!(rules, ["a", "b"], "{}", ran.stderr);
}

#[test]
fn a_flag_wins_over_the_variable_and_a_named_file_must_be_there() {
    let ran = Test::new(&["policy", "check", "--config", "c.yaml"])
        .file("c.yaml", SHARED)
        .env("CALLGATE_CONFIG", "no.yaml")
        .run();
    ran.sees(0, "c.yaml: 1 rule, no problems\n", "");
    let error = "error: cannot read config `no.yaml`: No such file or directory (os error 2)\n";
    Test::new(&["check", "--tool", "x", "--config", "no.yaml"]).run().sees(2, "", error);
}

#[test]
fn no_policies_let_every_call_pass() {
    let ran = Test::new(&["check", "--tool", "nuke", "--json", "--config", "c.yaml"])
        .file("c.yaml", "policies: []\n")
        .run();
    assert_eq!((ran.code, &ran.json()[0]["verdict"]), (0, &json!("allow")), "{}", ran.stderr);
    assert_eq!(ran.json()[0]["uncovered"], true);
}

#[test]
fn a_policy_option_leaves_the_config_aside() {
    let ran = Test::new(&["check", "--tool", "nuke", "--policy", "policy.yaml"])
        .file(".config/callgate/callgate.yaml", "nonsense: [")
        .run();
    ran.sees(1, "deny   nuke  test/no-nuke  Not here.\nhint: Ask the operator.\n", "");
}

#[test]
fn a_variable_that_means_nothing() {
    let ran = Test::new(&["config", "check"]).env("CALLGATE_LISTEN", "here").run();
    let error = "error: the variable CALLGATE_LISTEN is `here`, which is not an address like \
                 `127.0.0.1:8484`\nhint: set a valid value, or unset the variable\n";
    ran.sees(2, "", error);
}

/// A rule for every surface, each in a policy that only `config check` and `doctor` look at.
#[test]
fn only_surfaces_that_nothing_serves_are_warned_about() {
    let rules = |surface: &str| {
        format!(
            "policy: p\nrules:\n  - {{ id: r, surface: {surface}, tool: nuke, verdict: deny }}\n"
        )
    };
    for (surface, warnings) in [("inbound", 0), ("response", 0), ("mcp", 0), ("hook", 1)] {
        let ran = Test::new(&["--config", "my.yaml", "config", "check", "--json"])
            .file("my.yaml", rules(surface))
            .run();
        let found = &ran.json()[0];
        assert_eq!(found["warnings"].as_array().unwrap().len(), warnings, "{surface}: {found}");
        let ran = Test::new(&["--config", "my.yaml", "doctor", "--json"])
            .file("my.yaml", rules(surface))
            .run();
        assert_eq!(ran.json()[0]["warnings"], warnings, "{surface}");
    }
}

/// A run whose config `my.yaml` everybody may write.
fn writable(args: &[&str]) -> Test {
    let test = Test::new(args).file("my.yaml", SHARED);
    let everybody = fs::Permissions::from_mode(0o666);
    fs::set_permissions(test.path().join("my.yaml"), everybody).unwrap();
    test
}

#[test]
fn a_file_that_others_can_change_is_a_warning_and_an_error_if_that_is_asked_for() {
    let message = "other users can change `[DIR]/my.yaml`: its mode is 0666";
    let warning = format!("warning: {message}\nhint: run `chmod go-w [DIR]/my.yaml`\n\n");
    let ran = writable(&["--config", "my.yaml", "config", "check"]).run();
    assert_eq!((ran.code, &ran.stderr), (0, &warning));
    assert!(ran.stdout.contains("no problems, 1 warning"), "{}", ran.stdout);
    let found = writable(&["--config", "my.yaml", "config", "check", "--json"]).run().json();
    assert_eq!(found[0]["ok"], true);
    assert_eq!(found[0]["warnings"].as_array().map(Vec::len), Some(1), "{found:?}");
    assert_eq!(found[0]["warnings"][0]["message"], message);
    assert_eq!(found[0]["warnings"][0]["hint"], "run `chmod go-w [DIR]/my.yaml`");

    let strict = ["--config", "my.yaml", "config", "check", "--strict"];
    let told = format!(
        "error: {message}; run `chmod go-w [DIR]/my.yaml`\nhint: without --strict this is only a warning\n"
    );
    writable(&strict).run().sees(2, "", &told);
    let ran = writable(&[&strict[..], &["--json"]].concat()).run();
    let found = ran.json();
    assert_eq!((ran.code, &found[0]["ok"]), (2, &json!(false)));
    assert_eq!(found[0]["problems"][0]["message"], message);
    let safe = Test::new(&strict).file("my.yaml", SHARED).run();
    assert_eq!((safe.code, safe.stderr.as_str()), (0, ""));
}

#[test]
fn a_policy_file_that_others_can_change_is_a_warning() {
    let writable = |args: &[&str]| {
        let test = Test::new(args);
        let everybody = fs::Permissions::from_mode(0o666);
        fs::set_permissions(test.path().join("policy.yaml"), everybody).unwrap();
        test.run()
    };
    let ran = writable(&["policy", "check", "policy.yaml"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("other users can change `[DIR]/policy.yaml`"), "{}", ran.stderr);
    assert!(ran.stdout.contains("no problems, 2 warnings"), "{}", ran.stdout);
    let found = writable(&["policy", "check", "policy.yaml", "--json"]).json();
    assert_eq!(found[0]["warnings"][1]["hint"], "run `chmod go-w [DIR]/policy.yaml`");
}
