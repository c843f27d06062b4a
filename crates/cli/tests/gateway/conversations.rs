//! Conversations in which calls are denied, held by the official clients, with a model that checks
//! every history as a provider does.

use callgate_testkit::drive;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::provider::{POLICY, Provider, SCRIPTS, Scripted, TOOLS};
use callgate_testkit::sdk::{self, Driver};
use callgate_testkit::upstream::{Request, Upstream};
use serde_json::{Value, json};

use crate::support::gateway;

/// What takes the place of a denied call.
const MODES: [&str; 2] = ["explain", "silent"];

/// One conversation.
struct Talk {
    number: usize,
    client: &'static str,
    script: &'static Scripted,
    /// Its place in [`MODES`].
    mode: usize,
    /// Whether the gateway is restarted between its first turn and its second.
    restarted: bool,
}

#[test]
fn official_clients_go_on_after_a_denial() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let provider = Provider::scripted();
    let upstream = Upstream::start(move |request| provider.answer(request));
    let start = |mode| gateway(&upstream, POLICY, &format!("on_deny: {mode}"));
    let mut gateways = MODES.map(start);
    let mut drivers = interpreters.talkers();
    let talks = drivers.each_ref().map(|(_, clients)| talks(clients));
    let mut failures = Vec::new();
    let mut round = |gateways: &[Gateway; 2], turn: usize, which: &dyn Fn(&Talk) -> bool| {
        for ((driver, _), talks) in drivers.iter_mut().zip(&talks) {
            let talks: Vec<&Talk> = talks.iter().filter(|talk| which(talk)).collect();
            failures.extend(take_turn(driver, &talks, gateways, turn));
        }
    };
    round(&gateways, 0, &|_| true);
    round(&gateways, 1, &|talk| !talk.restarted);
    gateways = gateways.map(Gateway::restart);
    round(&gateways, 1, &|talk| talk.restarted);
    round(&gateways, 2, &|_| true);
    failures.extend(talks.iter().flatten().filter_map(|talk| not_told(talk, &upstream.requests())));
    let count: usize = talks.iter().map(Vec::len).sum();
    assert!(
        failures.is_empty(),
        "{} in {count} conversations:\n{}",
        failures.len(),
        failures.join("\n")
    );
    println!("{count} conversations of three turns");
}

/// Every client with every script in both modes, with and without a restart. Without `--all`, half
/// of them: each client still has every script, mode and kind of restart, but not all together.
fn talks(clients: &[&'static str]) -> Vec<Talk> {
    let mut talks = Vec::new();
    for client in clients {
        for (place, script) in SCRIPTS.iter().enumerate() {
            for mode in 0..MODES.len() {
                for restarted in [false, true] {
                    let is_in_turn = (place + mode + usize::from(restarted)) % 2 == 0;
                    if is_in_turn || drive::runs_everything() {
                        talks.push(Talk { number: talks.len(), client, script, mode, restarted });
                    }
                }
            }
        }
    }
    talks
}

impl Talk {
    /// Its number among all: clients of two drivers talk at once.
    fn id(&self) -> String {
        let language = if self.client.contains("python") { "p" } else { "n" };
        format!("{language}{}", self.number)
    }

    fn job(&self, gateways: &[Gateway; 2]) -> Value {
        let id = self.id();
        let say = format!("[script {} #{id}] Please.", self.script.name);
        let root = gateways[self.mode].url();
        json!({ "id": id, "client": self.client, "base_url": root, "say": say, "tools": TOOLS })
    }

    /// Whether the client has read the notice of every turn that lost a call, also after a call
    /// that it got, where the API takes that back.
    fn gets_result(&self, turn: usize, result: &Value) -> bool {
        let is_denied = self.script.denied.get(turn).is_some_and(|denied| !denied.is_empty());
        let dialect = sdk::dialect_of(self.client);
        let is_explained = MODES[self.mode] == "explain" && dialect.facts().text_follows_calls;
        !is_denied || !is_explained || result["text"].as_str().unwrap().contains("Record: ")
    }

    fn name(&self) -> String {
        let restarted = if self.restarted { ", restarted" } else { "" };
        format!("{}, {}, {}{restarted}", self.client, self.script.name, MODES[self.mode])
    }
}

/// Takes one turn of each conversation, and gives what went wrong.
fn take_turn(
    driver: &mut Driver,
    talks: &[&Talk],
    gateways: &[Gateway; 2],
    turn: usize,
) -> Vec<String> {
    let jobs: Vec<Value> = talks.iter().map(|talk| talk.job(gateways)).collect();
    let results = driver.ask(&jobs);
    let wrong = |talk: &&Talk| {
        let result = &results[&talk.id()];
        let left: &[&str] = talk.script.left.get(turn).copied().unwrap_or_default();
        let seen: Vec<&str> = result["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call[0].as_str().unwrap())
            .collect();
        let is_right = result["error"].is_null() && seen == left && talk.gets_result(turn, result);
        (!is_right).then(|| format!("{}, turn {turn}: {result}", talk.name()))
    };
    talks.iter().filter_map(wrong).collect()
}

/// What is missing in the last request of a conversation: an error result, with the reason, for
/// every denied call of both turns. Where the provider keeps the history, a result is sent once.
fn not_told(talk: &Talk, requests: &[Request]) -> Option<String> {
    let id = talk.id();
    let mark = format!("#{id}]");
    let last =
        requests.iter().rev().map(Request::json).find(|body| body.to_string().contains(&mark))?;
    let denied = talk.script.denied.iter().copied().flatten();
    for call in denied.map(|call| call.replace("{n}", &id)) {
        let told_once = || {
            let mut naming = requests.iter().filter(|request| names(request, &call));
            naming.find_map(|request| result_of(&request.json(), &call))
        };
        let is_stored = talk.client.ends_with("stored");
        let result = if is_stored { told_once() } else { result_of(&last, &call) };
        let told = result.as_ref().is_some_and(|result| result.to_string().contains("Nothing is"));
        if !told {
            return Some(format!("{}: the result of {call} is {result:?}", talk.name()));
        }
    }
    None
}

fn names(request: &Request, call: &str) -> bool {
    String::from_utf8_lossy(&request.body).contains(call)
}

/// The result of a call in a request: a message of Chat's, an item of Responses, a block of
/// Anthropic's or a part of Gemini's.
fn result_of(body: &Value, call: &str) -> Option<Value> {
    let lists = ["messages", "input", "contents"].map(|key| body[key].as_array());
    lists.into_iter().flatten().flatten().find_map(|message| {
        if message["tool_call_id"] == call
            || (message["type"] == "function_call_output" && message["call_id"] == call)
        {
            return Some(message.clone());
        }
        let blocks = ["content", "parts"].map(|key| message[key].as_array());
        let is_result = |block: &&Value| {
            (block["tool_use_id"] == call && block["is_error"] == true)
                || block["functionResponse"]["id"] == call
        };
        blocks.into_iter().flatten().flatten().find(is_result).cloned()
    })
}
