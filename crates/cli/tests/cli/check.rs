//! `callgate check`.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::support::Test;

fn check(args: &[&str]) -> Test {
    Test::new(&[&["check", "--policy", "policy.yaml"], args].concat())
}

#[test]
fn verdicts_and_exit_codes() {
    let table = [
        (["nuke", "{}"], 1, "deny   nuke  test/no-nuke  Not here.\nhint: Ask the operator.\n"),
        (
            ["Bash", r#"{"command":"rm -rf /"}"#],
            1,
            "deny   Bash  test/no-rm  Nothing is removed for good.\n\
             effects:\n  runs rm -rf /\n  deletes-tree /\n",
        ),
        (
            ["Bash", r#"{"command":"ls"}"#],
            0,
            "allow  Bash  test (default)  no rule matched\neffects:\n  runs ls\n",
        ),
    ];
    for ([tool, input], code, line) in table {
        check(&["--tool", tool, "--input", input]).run().sees(code, line, "");
    }
}

#[test]
fn a_call_as_json() {
    let call = r#"{"tool":"Bash","input":{"command":"rm -rf /"}}"#;
    let line = "deny   Bash  test/no-rm  Nothing is removed for good.\n\
                effects:\n  runs rm -rf /\n  deletes-tree /\n";
    check(&[call]).run().sees(1, line, "");
    check(&["-"]).stdin(call).run().sees(1, line, "");
    check(&[]).stdin(call).run().sees(1, line, "");
}

/// What is not said of the caller is not known, unless a key is: that one has no team.
#[test]
fn a_policy_is_for_those_it_names() {
    let code = |args: &[&str]| {
        let test =
            Test::new(&[&["check", "--policy", "team.yaml", "--tool", "Read"], args].concat());
        test.file("team.yaml", "policy: team\nfor: { team: payments }\ndefault: deny\n").run().code
    };
    assert_eq!(code(&["--team", "payments"]), 1);
    assert_eq!(code(&["--team", "web"]), 0);
    assert_eq!(code(&["--key", "ci"]), 0);
    assert_eq!(code(&[]), 1);
    let given = |call: &str| {
        let test = Test::new(&["check", "--policy", "user.yaml", call]);
        test.file("user.yaml", "policy: user\nfor: { user: ann }\ndefault: deny\n").run().code
    };
    assert_eq!(given(r#"{"tool":"Read","user":"ann"}"#), 1);
    assert_eq!(given(r#"{"tool":"Read","user":"bob"}"#), 0);
    assert_eq!(given(r#"{"tool":"Read"}"#), 0, "the user who runs it is known, and is not ann");
}

/// A rule that states what it blocks, and a text of the operator's own.
const WORDED: &str = "\
denial: { text: \"No {tool} here.\\n{blocks}\\nAsk {contact}.\", contact: sec@example.com }
policy: git
rules:
  - id: no-force
    tool: \"@shell\"
    when: { arg: command, contains: \"push -f\" }
    verdict: deny
    reason: Main is shared.
    blocks: any force push to main
  - { id: no-mail, tool: send_email, verdict: deny, reason: No mail. }
";

#[test]
fn what_is_blocked_and_how_it_is_worded() {
    let push = ["--tool", "Bash", "--input", r#"{"command":"git push -f"}"#];
    let worded = |args: &[&str]| {
        Test::new(&[&["check", "--config", "c.yaml"], args].concat()).file("c.yaml", WORDED)
    };
    let line = "deny   Bash  git/no-force  Main is shared.\nblocks: any force push to main\n\
                effects:\n  runs git push -f [force-push]\n";
    worded(&push).run().sees(1, line, "");
    let ran = worded(&[&push[..], &["--explain"]].concat()).run();
    assert!(ran.stdout.contains("blocks   any force push to main\n"), "{}", ran.stdout);
    let ran = worded(&[&push[..], &["--json"]].concat()).run();
    let told = &ran.json()[0];
    assert_eq!(
        (&told["scope"], &told["blocks"]),
        (&json!("use"), &json!("any force push to main"))
    );
    let notice = "No Bash here.\nany force push to main\nAsk sec@example.com.";
    assert_eq!(told["notice"], notice);

    let ran = worded(&["--tool", "send_email", "--json"]).run();
    let told = &ran.json()[0];
    let notice = "No send_email here.\nAsk sec@example.com.";
    assert_eq!((&told["scope"], &told["notice"]), (&json!("tool"), &json!(notice)));
    let ran = worded(&["--tool", "send_email", "--explain"]).run();
    assert!(ran.stdout.contains("blocks   the tool, whatever its arguments\n"), "{}", ran.stdout);
    let ran = worded(&["--tool", "Read", "--json"]).run();
    assert_eq!((ran.json()[0].get("scope"), ran.json()[0].get("notice")), (None, None));

    let ran = Test::again(ran, &["policy", "list", "--json", "--config", "c.yaml"]).run();
    assert_eq!(ran.json()[0]["blocks"], "any force push to main", "{}", ran.stdout);
}

#[test]
fn the_starter_is_the_default() {
    let ran = Test::new(&["check", "--tool", "Read", "--json"]).run();
    assert_eq!((ran.code, &ran.json()[0]["policy"]), (0, &json!("starter")));
}

#[test]
fn a_users_file_is_found_and_a_projects_is_not() {
    let find = |test: Test| test.run().json()[0]["policy"].clone();
    let args = ["check", "--tool", "Read", "--json"];
    let user = ".config/callgate/callgate.yaml";
    assert_eq!(find(Test::new(&args).file(user, POLICY_OF_USER)), "mine");
    assert_eq!(find(Test::new(&args).file("callgate.yaml", POLICY_OF_USER)), "starter");
    let xdg = Test::new(&args).file("etc/callgate/callgate.yaml", POLICY_OF_USER);
    let folder = xdg.path().join("etc").to_str().unwrap().to_owned();
    assert_eq!(find(xdg.env("XDG_CONFIG_HOME", &folder)), "mine");
    let relative = Test::new(&args).file("etc/callgate/callgate.yaml", POLICY_OF_USER);
    assert_eq!(find(relative.env("XDG_CONFIG_HOME", "etc")), "starter");
    let named = Test::new(&args).file("named.yaml", POLICY_OF_USER);
    assert_eq!(find(named.env("CALLGATE_CONFIG", "named.yaml")), "mine");
}

const POLICY_OF_USER: &str = "policy: mine\nrules: []\n";

#[test]
fn a_broken_file_of_the_user_is_not_skipped() {
    let ran = Test::new(&["check", "--tool", "Read"])
        .file(".config/callgate/callgate.yaml", "policy: [")
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("the config is rejected"), "{}", ran.stderr);
}

#[test]
fn several_policies_and_the_strictest_wins() {
    let lax = "policy: lax\nrules:\n  - { id: all, tool: '*', verdict: allow }\n";
    for order in [["lax.yaml", "policy.yaml"], ["policy.yaml", "lax.yaml"]] {
        let ran = Test::new(&["check", "--tool", "nuke", "--json"])
            .file("lax.yaml", lax)
            .with(&["--policy", order[0], "--policy", order[1], "--policy", "builtin:starter"])
            .run();
        assert_eq!((ran.code, &ran.json()[0]["rule"]), (1, &json!("no-nuke")));
    }
}

#[test]
fn json_says_everything() {
    let ran = check(&["--tool", "Bash", "--input", r#"{"command":"rm -rf /"}"#, "--json"]).run();
    let hit = json!({
        "policy": "test", "rule": "no-rm", "verdict": "deny",
        "reason": "Nothing is removed for good.", "hint": null, "unknown": false,
    });
    let expected = json!({
        "tool": "Bash", "verdict": "deny", "policy": "test", "rule": "no-rm",
        "reason": "Nothing is removed for good.", "hint": null, "uncovered": false,
        "matched": {"path": "command", "value": "rm -rf /"},
        "deciding": [hit], "audits": [], "shadows": [], "errors": [],
        "scope": "use",
        "notice": "callgate blocked the tool call `Bash`.\nRule: no-rm (policy test)\nReason: Nothing \
                   is removed for good.\nArgument: rm -rf /\nOnly this use of `Bash` is blocked; other \
                   uses may be allowed.\nIt was not executed. Do not retry it: the answer will be \
                   the same.",
        "surface": "response",
        "effects": [
            { "kind": "runs", "what": "runs rm -rf /", "argument": "command", "span": [0, 8],
              "text": "rm -rf /" },
            { "kind": "deletes", "what": "deletes-tree /", "argument": "command", "span": [7, 8],
              "text": "/" },
        ],
    });
    assert_eq!((ran.code, ran.json()), (1, vec![expected]));
}

#[test]
fn audits_and_shadows_pass_and_are_reported() {
    let ran = check(&["--tool", "Write", "--input", r#"{"file_path":"a"}"#, "--json"]).run();
    assert_eq!((ran.code, &ran.json()[0]["audits"][0]["rule"]), (0, &json!("watch-writes")));
    let ran = check(&["--tool", "WebFetch", "--json"]).run();
    let shadow = &ran.json()[0]["shadows"][0]["reason"];
    assert_eq!((ran.code, shadow), (0, &json!("[shadow] would deny: The network is far.")));
}

#[test]
fn explain_tells_the_whole_judgement() {
    let call = ["--tool", "Bash", "--input", r#"{"command":"rm -rf /"}"#, "--explain"];
    let told = "\
verdict  deny
tool     Bash
input    {\"command\":\"rm -rf /\"}
rule     test/no-rm
reason   Nothing is removed for good.
blocks   only this use of the tool
matched  command = rm -rf /
decided  deny   test/no-rm  Nothing is removed for good.
effects:
  runs rm -rf /
  deletes-tree /
";
    check(&call).run().sees(1, told, "");
}

#[test]
fn what_cannot_be_evaluated_counts_against_the_call() {
    let twice = r#"{"command":"ls","command":"rm -rf /"}"#;
    let ran = check(&["--tool", "Bash", "--input", twice, "--json"]).run();
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()[0]["errors"][0]["rule"], "no-rm");
}

#[test]
fn a_servers_tool() {
    let policy = "policy: p\nrules:\n  - { id: gh, server: github, verdict: deny, reason: no }\n";
    for call in [
        r#"{"tool":"push","server":"github"}"#,
        r#"{"tool":"mcp__github__push"}"#,
        r#"{"tool":"github.push"}"#,
    ] {
        let test = Test::new(&["check", "--policy", "p.yaml", call]).file("p.yaml", policy);
        assert_eq!(test.run().code, 1, "{call}");
    }
}

#[test]
fn an_agent_is_proven_by_a_flag_and_claimed_by_data() {
    let policy = "policy: p\ndefault: deny\nrules:\n  - { id: a, agent: me, verdict: allow }\n";
    let check = |args: &[&str]| {
        let all = [&["check", "--policy", "p.yaml"], args].concat();
        Test::new(&all).file("p.yaml", policy).run().code
    };
    assert_eq!(check(&["--tool", "Read", "--agent", "me"]), 0);
    assert_eq!(check(&[r#"{"tool":"Read","agent":"me"}"#]), 1);
}

#[test]
fn many_calls_get_one_line_each_and_the_strictest_code() {
    let calls = r#"{"tool":"Read","id":"1","cwd":"/x","home":"/h","session":"s","agent":"a"}

{"tool":"nuke","id":"2","input":{}}
{"tool":"Write","surface":"response","input":{"file_path":"a"}}
"#;
    let rules = |values: Vec<Value>| -> Vec<(Value, Value, Value)> {
        let pick =
            |value: &Value| (value["id"].clone(), value["tool"].clone(), value["verdict"].clone());
        values.iter().map(pick).collect()
    };
    let expected = vec![
        (json!("1"), json!("Read"), json!("allow")),
        (json!("2"), json!("nuke"), json!("deny")),
        (json!(null), json!("Write"), json!("allow")),
    ];
    let from_file = check(&["--jsonl", "calls"]).file("calls", calls).run();
    assert_eq!((from_file.code, from_file.stderr.as_str()), (1, ""));
    assert_eq!(rules(from_file.json()), expected);
    let from_stdin = check(&["--jsonl", "-"]).stdin(calls).run();
    let without_a_file = check(&["--jsonl"]).stdin(calls).run();
    assert_eq!(without_a_file.stdout, from_stdin.stdout);
    assert_eq!(from_stdin.stdout, from_file.stdout);
}

#[test]
fn lines_of_one_session_know_what_earlier_ones_have_written() {
    let write =
        r#"{"tool":"Write","session":"a","input":{"file_path":"/w/x.sh","content":"rm -rf ~"}}"#;
    let run = r#"{"tool":"Bash","session":"a","input":{"command":"sh /w/x.sh"}}"#;
    let calls = [write, run, &run.replace("\"a\"", "\"b\"")].join("\n");
    let words = ["check", "--no-disk", "--policy", "builtin:starter", "--jsonl", "-"];
    let ran = Test::new(&words).stdin(calls.as_str()).run();
    let verdicts: Vec<_> = ran.json().iter().map(|line| line["verdict"].clone()).collect();
    assert_eq!(verdicts, ["allow", "deny", "allow"], "{}", ran.stdout);
}

#[test]
fn a_line_that_is_not_a_call_is_an_error_and_the_rest_is_judged() {
    let calls = "{\"tool\":\"nuke\"}\nnot json\n{\"tool\":\"Read\"}";
    let ran = check(&["--jsonl", "-"]).stdin(calls).run();
    let lines = ran.json();
    assert_eq!((ran.code, lines.len()), (2, 3));
    assert_eq!(lines[1]["line"], 2);
    assert!(lines[1]["error"].as_str().unwrap().contains("not one JSON object"));
    assert_eq!(lines[2]["verdict"], "allow");
}

#[test]
fn lines_may_have_labels() {
    let call = r#"{"id":"1","class":"x","expect":"stop","tool":"nuke","input":{}}"#;
    let slip = r#"{"class":"x","tool":"nuke","imput":{}}"#;
    let ran = check(&["--jsonl", "-"]).stdin(format!("{call}\n{slip}")).run();
    let lines = ran.json();
    assert_eq!((lines[0]["id"].as_str(), lines[0]["verdict"].as_str()), (Some("1"), Some("deny")));
    assert_eq!(lines[1]["error"], "unknown key `imput` in the call");
}

#[test]
fn each_line_is_answered_before_the_next_comes() {
    let (mut child, _dir) = check(&["--jsonl", "-"]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // Each write also brings the start of the next line.
    for (tool, verdict) in [("Read", "allow"), ("nuke", "deny")] {
        write!(stdin, "{{\"tool\":\"{tool}\"}}\n ").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["verdict"], verdict);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn the_exit_code_is_true_even_if_nobody_reads_the_answer() {
    let (mut child, _dir) = check(&["--jsonl", "-"]).spawn();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for tool in ["Read", "Read", "nuke", "Read"] {
        writeln!(stdin, "{{\"tool\":\"{tool}\"}}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn errors_say_what_where_and_what_next() {
    let keys = "tool, input, server, id, surface, agent, org, team, user, key, session, cwd, home, provider, model, conversation";
    let unknown_key =
        format!("error: unknown key `imput` in the call\nhint: the keys of a call are {keys}\n");
    let table: [(&[&str], &str); 9] = [
        (
            &["--tool", "Bash", "--input", "{x"],
            "error: cannot read `--input`: the input is not JSON: unexpected character at byte 1\n\
             hint: quote it for the shell, like '{\"command\":\"ls\"}'\n",
        ),
        (&[r#"{"tool":"Bash","imput":{}}"#], &unknown_key),
        (&[r#"{"input":{}}"#], "error: the call has no `tool`\n"),
        (
            &[r#"{ "tool": "Bash""#],
            "error: the call is not one JSON object: the document is cut off at byte 16\n",
        ),
        (&["--tool", " "], "error: cannot judge ` `: the tool has no name\n"),
        (
            &[r#"{"tool":"Bash","surface":"web"}"#],
            "error: unknown surface `web`\n\
             hint: the surfaces are inbound, response, mcp, hook, egress\n",
        ),
        (
            &["--tool", "Bash", "--policy", "no.yaml"],
            "error: cannot read policy `no.yaml`: No such file or directory (os error 2)\n",
        ),
        (
            &["--tool", "Bash", "--policy", "builtin:best"],
            "error: unknown policy `builtin:best`\n\
             hint: the built-in policies are `builtin:starter`, `builtin:strict`, `builtin:read-only`, \
             `builtin:ci`, `builtin:data` and `builtin:quiet`\n",
        ),
        (
            &["--jsonl", "no.jsonl"],
            "error: cannot read `no.jsonl`: No such file or directory (os error 2)\n",
        ),
    ];
    for (args, stderr) in table {
        check(args).run().sees(2, "", stderr);
    }
}

#[test]
fn names_cannot_write_on_the_terminal() {
    let ran =
        check(&["--tool", "a", "--input", "{\"x\":\"\\u001b[2J\u{202e}\"}", "--explain"]).run();
    assert!(!ran.stdout.contains('\u{202e}') && ran.stdout.contains("\\u{202e}"));
}

const SANITIZE: &str = "policy: data
rules:
  - { id: clean, tool: 'send*', verdict: sanitize, sanitize: { detectors: [secret, email] } }
  - { id: no-keys, tool: fetch, when: { secret: any }, verdict: deny, reason: A secret. }
";

#[test]
fn rewritten_arguments_are_shown() {
    let run = |args: &[&str]| {
        let policy = ["check", "--policy", "data.yaml", "--tool"];
        Test::new(&[&policy, args].concat()).file("data.yaml", SANITIZE).run()
    };
    let input = r#"{"to": "ann@acme.org", "n": 1.0}"#;
    run(&["send_mail", "--input", input]).sees(
        0,
        "allow  send_mail  data (default)  no rule matched\n\
         rewritten: {\"to\": \"[REDACTED:email]\", \"n\": 1.0}\n",
        "",
    );
    run(&["send_mail", "--input", "{}"]).sees(
        0,
        "allow  send_mail  data (default)  no rule matched\n",
        "",
    );
    let ran = run(&["send_mail", "--input", input, "--json"]);
    let line = &ran.json()[0];
    assert_eq!(line["rewritten"], json!({"to": "[REDACTED:email]", "n": 1.0}));
    assert_eq!(line["sanitizers"][0]["rule"], "clean");
    let ran = run(&["send_mail", "--input", input, "--explain"]);
    assert!(ran.stdout.contains("output   {\"to\": \"[REDACTED:email]\""), "{}", ran.stdout);
    // What cannot be read cannot be sanitized.
    let ran = run(&["send_mail", "--input", "[1]", "--json"]);
    assert_eq!((ran.code, &ran.json()[0]["rule"]), (1, &json!("clean")));
    // The denial names the kind and not the secret.
    let ran = run(&["fetch", "--input", r#"{"url":"https://x/?password=Tr0ub4dor!3"}"#, "--json"]);
    let matched = &ran.json()[0]["matched"];
    assert_eq!((ran.code, &matched["value"]), (1, &json!("[REDACTED:secret_assignment]")));
    assert!(!ran.stdout.contains("Tr0ub4dor"), "{}", ran.stdout);
}

#[test]
fn a_call_that_needs_approval_has_a_code_of_its_own() {
    let policy = "policy: w
rules:
  - { id: look, tool: Bash, verdict: ask, reason: A person looks at this. }
  - { id: again, tool: Read, verdict: review, reason: A model looks at this. }
  - { id: never, tool: Write, verdict: deny, reason: Not here. }
";
    let check = |args: &[&str]| {
        Test::new(&[&["check", "--policy", "w.yaml"], args].concat()).file("w.yaml", policy).run()
    };
    check(&["--tool", "Bash"]).sees(3, "ask    Bash  w/look  A person looks at this.\n", "");
    check(&["--tool", "Read"]).sees(3, "review  Read  w/again  A model looks at this.\n", "");
    check(&["--tool", "Write"]).sees(1, "deny   Write  w/never  Not here.\n", "");
    assert_eq!(check(&["--tool", "Bash", "--json"]).json()[0]["verdict"], "ask");
}

#[test]
fn colours_are_printed_on_request() {
    let denied = ["check", "--policy", "policy.yaml", "--tool", "nuke"];
    let red = "\u{1b}[1;31mdeny \u{1b}[0m  nuke";
    for (flags, colored) in [
        (&[][..], false),
        (&["--color", "auto"], false),
        (&["--color", "never"], false),
        (&["--color", "always"], true),
    ] {
        let ran = Test::new(&denied).with(flags).run();
        assert_eq!(ran.stdout.starts_with(red), colored, "{flags:?}: {:?}", ran.stdout);
    }
    let ran = Test::new(&denied).with(&["--color", "always"]).env("NO_COLOR", "1").run();
    assert!(ran.stdout.starts_with(red), "the flag takes precedence: {:?}", ran.stdout);
}

#[test]
fn commands_list_their_own_exit_codes() {
    for (command, codes) in [
        (&["check"][..], &["0", "1", "2", "3"][..]),
        (&["filter"], &["0", "2", "4"]),
        (&["serve"], &["0", "2"]),
        (&["doctor"], &["0", "1", "2"]),
        (&["audit", "verify"], &["0", "1", "2"]),
        (&["policy", "check"], &["0", "1", "2"]),
        (&["config", "check"], &["0", "2"]),
    ] {
        let ran = Test::new(command).with(&["--help"]).run();
        let (_, listed) = ran.stdout.split_once("\nExit codes:\n").unwrap();
        let listed = listed.lines().filter_map(|line| line.split_whitespace().next());
        assert_eq!(listed.collect::<Vec<_>>(), codes, "{command:?}");
    }
}

/// Tools of servers, links, arrays and unknown values, through the starter policy.
#[test]
fn the_starter_policy_reads_names_links_and_lists() {
    let calls = r#"{"tool":"mcp__gitlab__delete_tag","input":{"tag_name":"v1"}}
{"tool":"mcp__terraform__run","input":{"command":"destroy"}}
{"tool":"mcp__jupyter__execute_code","input":{"code":"!cat ~/.netrc"},"home":"/home/me"}
{"tool":"Bash","input":{"command":"ln -s ~/.bashrc x && echo evil >> x"},"cwd":"/home/me/app","home":"/home/me"}
{"tool":"Bash","input":{"command":"git commit --no-verify -m x"}}
{"tool":"apply_patch","input":"*** Begin Patch\n*** Update File: .env\n*** Move to: a.txt\n*** End Patch"}
{"tool":"mcp__gitlab__list_tags","input":{"project":"a"}}
{"tool":"Bash","input":{"command":"curl -s \"$URL/health\" -o \"$OUT\""}}
{"tool":"Bash","input":{"command":"declare -A t=([a]='npm test'); for k in \"${!t[@]}\"; do ${t[$k]}; done"}}
{"tool":"Bash","input":{"command":"cp .env.example .env && sed -i s/a/b/ .env"},"cwd":"/home/me/app","home":"/home/me"}
{"tool":"Bash","input":{"command":"terraform destroy -help"}}
"#;
    let ran = Test::new(&["check", "--no-disk", "--jsonl", "-"]).stdin(calls).run();
    let stopped: Vec<bool> = ran.json().iter().map(|line| line["verdict"] != "allow").collect();
    let expected = [true, true, true, true, true, true, false, false, false, false, false];
    assert_eq!(stopped, expected, "{}", ran.stdout);
}
