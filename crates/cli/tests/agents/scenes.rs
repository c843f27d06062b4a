//! What is tried with every agent.

use serde_json::Value;

use crate::agent::{Agent, Turn};
use crate::installed::Installed;
use crate::model::{FAREWELL, Said};
use crate::servers::{SHIM, Server, WEB};
use crate::world::World;

const READ: (&str, &str) = (SHIM.name, SHIM.tool);
const FIND: (&str, &str) = (WEB.name, WEB.tool);

/// Calls that are allowed are run, by servers and by the agent itself. Each execution at a server
/// is joined to the call in the model's answer. What is denied as a whole is not offered to the
/// model.
#[track_caller]
pub(crate) fn allowed(agent: Agent, installed: &Installed) {
    let call = |id, at| Said::call(agent, id, at, "hi");
    let turn = vec![
        Said::Text("On it."),
        call("call_read", READ),
        call("call_find", FIND),
        Said::command(agent, "call_touch", "touch allowed"),
    ];
    // Codex tells its model of the tools of servers only where it looks for them.
    let search = Said::Search { id: "call_search", query: "Looks something up. Destroys." };
    let before = (agent == Agent::Codex).then(|| vec![search]);
    let world = World::new(agent, installed, before.into_iter().chain([turn]).collect());
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");

    let asked = world.asked();
    let last = asked.last().unwrap().to_string();
    for server in [&SHIM, &WEB] {
        assert!(last.contains(server.answer), "{agent:?}: {last}");
        let offered = |asked: &Value| asked.to_string().contains(server.tool);
        assert!(offered(&asked[asked.len() - 2]), "{agent:?} does not offer {}", server.tool);
        assert!(!last.contains(server.hidden), "{agent:?} offers {}", server.hidden);
    }
    assert_eq!(world.executed(), (1, 1), "{agent:?}");
    assert!(world.has("allowed"), "{agent:?}");
    assert_joined(&world);
}

/// Every execution at a server has its call in the model's answer, and no other.
#[track_caller]
fn assert_joined(world: &World<'_>) {
    let agent = world.agent;
    let intended = world.records("mcp_tool_call_intercepted");
    let called = world.records("mcp_tool_called");
    let strays = world.records("uncorrelated_execution");
    assert!(strays.is_empty(), "{agent:?}: {strays:?}");
    for (Server { name, .. }, id) in [(SHIM, "call_read"), (WEB, "call_find")] {
        let of = |records: &[Value]| -> Value {
            let found = records.iter().find(|record| record["tool"]["server"] == name);
            found.unwrap_or_else(|| panic!("{agent:?}: nothing of {name}: {records:?}")).clone()
        };
        let (intent, execution) = (of(&intended), of(&called));
        assert_eq!(execution["mcp"]["joined"], intent["id"], "{agent:?}: {execution}");
        assert_eq!(intent["tool"]["call_id"], id, "{agent:?}: {intent}");
        let told = agent.tells_ids().then_some(id);
        assert_eq!(execution["tool"]["call_id"].as_str(), told, "{agent:?}: {execution}");
    }
    assert_eq!((intended.len(), called.len()), (2, 2), "{agent:?}");
}

/// Calls that are denied in the answer are not run. The agent runs what is left and continues, and
/// the model gets the reasons with its next question.
#[track_caller]
pub(crate) fn denied_in_the_answer(agent: Agent, installed: &Installed) {
    let turn = vec![
        Said::Text("On it."),
        Said::call(agent, "call_find", FIND, "in-answers"),
        Said::call(agent, "call_read", READ, "hi"),
        Said::command(agent, "call_touch", "touch forbidden"),
    ];
    let world = World::new(agent, installed, vec![turn]);
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    assert_eq!(world.executed(), (1, 0), "{agent:?}");
    assert!(!world.has("forbidden"), "{agent:?}");

    let second = world.second();
    let text = second.to_string();
    for part in ["Not in an answer.", "No such file.", SHIM.answer] {
        assert!(text.contains(part), "{agent:?}: {part}: {text}");
    }
    // The model finds its calls as it made them.
    let places = ["call_find", "call_read", "call_touch"]
        .map(|id| text.find(&format!("\"{id}\"")).unwrap_or_else(|| panic!("{agent:?}: {text}")));
    assert!(places.is_sorted(), "{agent:?}: {places:?}: {text}");
    assert_parts_say_something(&second);
}

/// Gemini refuses a part in which there is nothing.
#[track_caller]
fn assert_parts_say_something(question: &Value) {
    for content in question["contents"].as_array().into_iter().flatten() {
        for part in content["parts"].as_array().unwrap() {
            let says = part.as_object().unwrap().keys().any(|key| key != "thoughtSignature");
            assert!(says, "{content}");
        }
    }
}

/// With `on_deny: explain`, a turn of which nothing is left ends with the notice. When the user
/// continues, the model learns what happened to its call.
#[track_caller]
pub(crate) fn nothing_left(agent: Agent, installed: &Installed) {
    let turn = vec![Said::call(agent, "call_find", FIND, "in-answers")];
    let world = World::with_settings(agent, installed, vec![turn], "on_deny: explain");
    let shown = world.run(Turn::First);
    assert!(shown.contains("callgate blocked the tool call"), "{agent:?}: {shown}");
    assert_eq!(world.asked().len(), 1, "{agent:?} asks again");

    let shown = world.run(Turn::Next);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    let second = world.second();
    let text = second.to_string();
    assert!(
        text.contains("\"call_find\"") && text.contains("Not in an answer."),
        "{agent:?}: {text}"
    );
    assert_parts_say_something(&second);
    assert_eq!(world.executed(), (0, 0), "{agent:?}");
}

/// Calls that are denied on the way to a server are answered in its place, and the agent continues.
#[track_caller]
pub(crate) fn denied_at_the_server(agent: Agent, installed: &Installed) {
    let call = |id, at| Said::call(agent, id, at, "at-servers");
    let turn = vec![Said::Text("On it."), call("call_read", READ), call("call_find", FIND)];
    let world = World::new(agent, installed, vec![turn]);
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    assert_eq!(world.executed(), (0, 0), "{agent:?}");
    let text = world.second().to_string();
    assert_eq!(text.matches("Not at a server.").count(), 2, "{agent:?}: {text}");
    let called = world.records("mcp_tool_called");
    let denied = called.iter().filter(|call| call["verdict"]["action"] == "deny").count();
    assert_eq!((called.len(), denied), (2, 2), "{agent:?}: {called:?}");
}

/// What a program of the model calls is not in the model's answer. It is judged on its way to a
/// server, and told as an execution that no model was seen to ask for.
#[track_caller]
pub(crate) fn called_by_a_program(installed: &Installed) {
    let agent = Agent::CodexPrograms;
    let call = |(server, tool): (&str, &str), text: &str| {
        format!("text(JSON.stringify(await tools.mcp__{server}__{tool}({{ text: '{text}' }})));\n")
    };
    let text = [call(READ, "hi"), call(FIND, "at-servers")].concat();
    let world = World::new(agent, installed, vec![vec![Said::Program { id: "call_exec", text }]]);
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{shown}");
    assert_eq!(world.executed(), (1, 0));
    let text = world.second().to_string();
    for part in [SHIM.answer, "Not at a server."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for server in [&SHIM, &WEB] {
        assert!(!text.contains(server.hidden), "{} is offered", server.hidden);
    }
    // They are written a moment after the calls; Codex ends its servers as soon as it is done.
    let strays = world.wait_for("uncorrelated_execution");
    let servers: Vec<&Value> = strays.iter().map(|stray| &stray["tool"]["server"]).collect();
    assert_eq!(servers, [SHIM.name]);
}

/// The model takes another way after two denials, and the agent finishes its task without a word of
/// the user. Later requests hold the turns as the model produced them, also after a restart of the
/// gateway.
#[track_caller]
pub(crate) fn another_way(agent: Agent, installed: &Installed) {
    let script = vec![
        vec![Said::Text("First try."), Said::command(agent, "call_one", "touch forbidden")],
        vec![Said::call(agent, "call_two", FIND, "in-answers")],
        vec![Said::Text("Another way."), Said::command(agent, "call_three", "touch allowed")],
    ];
    let mut world = World::new(agent, installed, script);
    finishes(&world, &["call_one", "call_two", "call_three"]);
    assert_parts_say_something(&world.asked().pop().unwrap());

    world = world.restart();
    let shown = world.run(Turn::Next);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    tells_all(&world, &["call_one", "call_two", "call_three"]);
}

/// The only call of a turn that begins with thinking is denied. What proves the thinking of each
/// answer goes back with the answer it belongs to.
#[track_caller]
pub(crate) fn thinks_of_another_way(agent: Agent, installed: &Installed) {
    // Gemini and Chat Completions prove calls, or nothing.
    let has_proofs = matches!(agent, Agent::ClaudeCode | Agent::Codex);
    if !has_proofs && !callgate_testkit::drive::runs_everything() {
        return;
    }
    let script = vec![
        vec![Said::Thought("proofOfOne"), Said::command(agent, "call_one", "touch forbidden")],
        vec![Said::Thought("proofOfTwo"), Said::command(agent, "call_two", "touch allowed")],
    ];
    let world = World::new(agent, installed, script);
    finishes(&world, &["call_one", "call_two"]);
    let text = world.asked().pop().unwrap().to_string();
    if has_proofs {
        let places: Vec<usize> =
            ["\"proofOfOne\"", "\"call_one\"", "\"proofOfTwo\"", "\"call_two\""]
                .iter()
                .map(|part| text.find(part).unwrap_or_else(|| panic!("{agent:?}: {part}: {text}")))
                .collect();
        assert!(places.is_sorted(), "{agent:?}: {text}");
    }
}

/// The agent finishes its task, and its model knows of every call.
#[track_caller]
fn finishes(world: &World<'_>, calls: &[&str]) {
    let agent = world.agent;
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    assert!(world.has("allowed") && !world.has("forbidden"), "{agent:?}");
    assert_eq!(world.executed(), (0, 0), "{agent:?}");
    tells_all(world, calls);
}

/// The last request has every call as the model made it, the reasons, and no notice.
#[track_caller]
fn tells_all(world: &World<'_>, calls: &[&str]) {
    let agent = world.agent;
    let text = world.asked().pop().unwrap().to_string();
    let places: Vec<usize> = calls
        .iter()
        .map(|id| {
            text.find(&format!("\"{id}\"")).unwrap_or_else(|| panic!("{agent:?}: {id}: {text}"))
        })
        .collect();
    assert!(places.is_sorted(), "{agent:?}: {text}");
    assert!(text.contains("No such file."), "{agent:?}: {text}");
    assert!(calls.len() < 3 || text.contains("Not in an answer."), "{agent:?}: {text}");
    assert!(!text.contains("(rule no-marker (policy p)). Record:"), "{agent:?}: {text}");
}

/// Rules that were exported to an agent are enforced by the agent itself: the gateway lets these calls
/// pass.
#[track_caller]
pub(crate) fn rules_of_its_own(agent: Agent, installed: &Installed, to: &str, place: &str) {
    let policy = "
policy: own
rules:
  - { id: no-mkdir, when: { runs: mkdir }, verdict: deny }
  - { id: no-tool, server: shim, tool: read_note, verdict: deny }
";
    let turn = vec![
        Said::command(agent, "call_mkdir", "mkdir denied-by-itself"),
        Said::command(agent, "call_chain", "touch x && mkdir also-denied"),
        Said::call(agent, "call_read", READ, "hi"),
        Said::command(agent, "call_touch", "touch allowed"),
    ];
    let world = World::new(agent, installed, vec![turn]);
    world.give_rules(to, policy, place);
    let shown = world.run(Turn::First);
    assert!(shown.contains(FAREWELL), "{agent:?}: {shown}");
    assert!(world.has("allowed"), "{agent:?}: {shown}");
    assert!(!world.has("denied-by-itself"), "{agent:?}: {shown}");
    assert!(!world.has("also-denied"), "{agent:?}: {shown}");
    // Codex has no such rules about tools of servers.
    let reads = usize::from(agent == Agent::Codex);
    assert_eq!(world.executed(), (reads, 0), "{agent:?}: {shown}");
}
