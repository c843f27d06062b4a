//! Self-protection at the gateway: what the policies say or do not say, an agent cannot change callgate.

use std::fs;

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::socket;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{MESSAGES, ask, binary, whole_turns};

/// Answers the first request with the first command, the second with the second, and so on.
fn model(commands: &[String]) -> Upstream {
    let answers = commands.iter().map(|command| {
        let input = json!({ "command": command }).to_string();
        whole_turns("Bash", &input)[0].1.clone()
    });
    let answers: std::sync::Mutex<Vec<Answer>> = std::sync::Mutex::new(answers.rev().collect());
    Upstream::start(move |_| answers.lock().unwrap().pop().unwrap())
}

/// A gateway with these lines of config in front of a model with these commands, one per turn.
/// `CONFIG` in a command is the path of the config.
fn gateway(settings: &str, commands: &[&str]) -> (Upstream, Gateway) {
    let setup = Setup::bare(binary());
    let config = setup.folder().join("callgate.yaml");
    let commands: Vec<String> =
        commands.iter().map(|it| it.replace("CONFIG", config.to_str().unwrap())).collect();
    let model = model(&commands);
    let provider = format!(
        "providers:\n  anthropic: {{ base_url: \"{}\", dialect: anthropic }}\non_deny: explain\n{settings}",
        model.url()
    );
    (model, setup.config(&provider).start())
}

/// Whether the call of the next turn is left, and the rule on its record.
fn next(gateway: &Gateway) -> (bool, String) {
    let before = gateway.calls().len();
    let reply = ask(MESSAGES).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    let content = reply.json()["content"].clone();
    let is_call = |block: &Value| block["type"] == "tool_use";
    let passes = content.as_array().unwrap().iter().any(is_call);
    assert!(gateway.wait_until(|gateway| gateway.calls().len() > before));
    let verdict = &gateway.calls()[before]["verdict"];
    let rule = |key: &str| verdict[key].as_str().unwrap_or_default().to_owned();
    (passes, format!("{}/{}", rule("policy"), rule("rule")))
}

/// Real agents did this: the config was edited, and then the denied command passed.
#[test]
fn after_a_denial_the_config_cannot_be_edited() {
    let steal = "cat ~/.ssh/id_rsa";
    let edit = "sed -i 's/builtin:starter//' CONFIG";
    let (_model, gateway) = gateway("policies: [builtin:starter]\n", &[steal, edit, steal]);
    assert_eq!(next(&gateway), (false, "starter/no-secrets".to_owned()));
    assert_eq!(next(&gateway), (false, "self-protection/no-change-of-callgate".to_owned()));
    assert_eq!(next(&gateway), (false, "starter/no-secrets".to_owned()));
}

#[test]
fn it_holds_without_any_policy_and_stops_nothing_else() {
    let stop = "pkill -f 'callgate serve'";
    let route = "export ANTHROPIC_BASE_URL=https://api.example.com && claude -p hi";
    let commands = ["sed -i s/a/b/ CONFIG", stop, route, "cat ~/.ssh/id_rsa", "ls -la"];
    let (_model, gateway) = gateway("policies: []\n", &commands);
    assert_eq!(next(&gateway), (false, "self-protection/no-change-of-callgate".to_owned()));
    assert_eq!(next(&gateway), (false, "self-protection/no-stopping-of-callgate".to_owned()));
    assert_eq!(next(&gateway), (false, "self-protection/no-way-around-callgate".to_owned()));
    assert!(next(&gateway).0, "nothing but callgate is protected");
    assert!(next(&gateway).0);
    assert!(gateway.said().contains("to protect callgate itself"), "{}", gateway.said());
    assert!(!gateway.said().contains("protect   off"), "{}", gateway.said());
}

#[test]
fn the_process_and_the_port_of_the_gateway_are_known() {
    let (_model, gateway) = gateway("policies: []\n", &[]);
    let socket = socket::of(&gateway);
    let judged = |command: String| {
        let call = json!({ "tool": "Bash", "arguments": { "command": command } });
        socket::post(&socket, "/api/v1/evaluate", &call).1
    };
    let denied = judged(format!("kill -9 {}", gateway.id()));
    assert_eq!(denied["rule"], "no-stopping-of-callgate", "{denied}");
    let allowed = judged("kill -9 $SERVER; kill 1".to_owned());
    assert_eq!(allowed["verdict"], "allow", "{allowed}");
}

#[test]
fn only_protect_off_turns_it_off_and_everybody_says_so() {
    // The starter asks about any `callgate.yaml`, as about the settings of agents.
    let policies = "policies: [{ use: builtin:starter, disable: [no-change-of-agents] }]\n";
    let settings = format!("{policies}protect: off\n");
    let (_model, gateway) = gateway(&settings, &["sed -i s/a/b/ CONFIG"]);
    assert!(next(&gateway).0, "it is off");
    assert!(gateway.said().contains("protect   off: "), "{}", gateway.said());
    let doctor = gateway.run(&["doctor"]);
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains("protect   off: "), "{doctor}");
    let loaded = |gateway: &Gateway| {
        let mut events = gateway.events().into_iter();
        events.any(|it| {
            let detail = it["detail"].as_str().unwrap_or_default().to_owned();
            it["type"] == "policy_loaded" && detail.ends_with("; self-protection is off")
        })
    };
    assert!(gateway.wait_until(loaded), "{:?}", gateway.events());
}

/// A reload that turns it off is recorded with what was lost.
#[test]
fn turning_it_off_is_recorded_as_weaker() {
    let (_model, gateway) = gateway("policies: []\n", &[]);
    let config = fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap();
    gateway.replace("callgate.yaml", &format!("{config}protect: off\n"));
    let weakened = |gateway: &Gateway| {
        let events = gateway.events();
        let lost = events.iter().filter(|it| it["type"] == "weakened");
        lost.flat_map(|it| it["policies"]["weakened"].as_array().cloned().unwrap_or_default())
            .any(|lost| lost == "policy self-protection was removed")
    };
    assert!(gateway.wait_until(weakened), "{:?}", gateway.events());
}

#[test]
fn what_is_taken_away_from_a_built_in_policy_is_recorded() {
    let relaxed = "policies:\n  - { use: builtin:starter, disable: [no-secrets] }\n";
    let (_model, gateway) = gateway(relaxed, &["cat ~/.ssh/id_rsa", "rm -rf /"]);
    assert!(next(&gateway).0, "the rule is disabled");
    assert!(!next(&gateway).0, "the others are not");
    let detail = "builtin:starter (without no-secrets)";
    assert!(gateway.said().contains(detail), "{}", gateway.said());
    let loaded = |gateway: &Gateway| gateway.events().iter().any(|it| it["detail"] == detail);
    assert!(gateway.wait_until(loaded), "{:?}", gateway.events());
}
