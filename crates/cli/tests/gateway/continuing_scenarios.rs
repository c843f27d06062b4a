//! Turns that continue after a denial, in APIs other than Messages: the same scenarios for each.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_dialect::Dialect;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Exchange, Reply};
use callgate_testkit::provider::{POLICY, Provider, TOOLS, TurnPart};
use callgate_testkit::sdk;
use callgate_testkit::upstream::{Answer, AnswerStep, Request, Upstream};
use serde_json::{Value, json};

use crate::support::gateway;

pub(crate) const CONTINUE: &str = "on_deny: continue";

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Stream,
    /// A list of JSON that is streamed.
    List,
    Body,
}

/// What a client has of a turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) said: String,
    /// The names of its calls.
    pub(crate) calls: Vec<String>,
    /// Every reason to stop.
    pub(crate) ends: Vec<String>,
    /// Tokens in and out.
    pub(crate) usage: (u64, u64),
    /// The turn, and what the client answers.
    pub(crate) history: Vec<Value>,
}

/// One API.
pub(crate) trait Api {
    fn dialect(&self) -> Dialect;
    fn forms(&self) -> &'static [Form];
    fn path(&self, form: Form) -> String;
    /// A message of the user.
    fn user(&self, words: &str) -> Value;
    fn body(&self, messages: &[Value], form: Form) -> Value;
    /// Reads an answer as strictly as a client can.
    fn read(&self, reply: &Reply, form: Form) -> Turn;
    /// The messages of a request.
    fn messages<'a>(&self, body: &'a Value) -> &'a Value;
    /// The reasons to stop: without a call, and with one.
    fn ends(&self) -> [&'static str; 2];
    /// Demands that `delete_all` is called.
    fn demand(&self, body: &mut Value);
    /// Demands JSON.
    fn demand_json(&self, body: &mut Value);
}

/// Conversations in which the model takes another way after a denial.
pub(crate) fn provider() -> Provider {
    let denied = TurnPart::call("{n}_1a", "delete_all", r#"{"path":"/"}"#);
    let again = TurnPart::call("{n}_2a", "bash", r#"{"command":"rm -rf /"}"#);
    let read = TurnPart::call("{n}_3a", "read_file", r#"{"path":"a"}"#);
    let thought =
        |number: &str| TurnPart::thinking("Let me think.", &format!("sig-{{n}}-{number}"));
    Provider::default()
        .script(
            "other way",
            vec![
                vec![thought("1"), TurnPart::text("I will delete it."), denied.clone()],
                vec![thought("2"), TurnPart::text("Then I read it."), read.clone()],
            ],
        )
        .script(
            "two denials",
            vec![
                vec![thought("1"), denied.clone()],
                vec![thought("2"), TurnPart::text("By hand, then."), again.clone()],
                vec![thought("3"), read.clone()],
            ],
        )
        .script("mixed", vec![vec![TurnPart::text("Both."), read, denied.clone()]])
        .script(
            "stubborn",
            vec![vec![denied.clone()], vec![TurnPart::text("Again."), denied.clone()]],
        )
        .script("many", vec![vec![denied, again], vec![TurnPart::text("Fine.")]])
}

fn server() -> Upstream {
    let provider = provider();
    Upstream::start(move |request| provider.answer(request))
}

/// A server that answers like the model, except for one of its answers.
fn server_but(which: usize, answer: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> Upstream {
    let (provider, count) = (provider(), AtomicUsize::new(0));
    Upstream::start(move |request| {
        let usual = provider.answer(request);
        match count.fetch_add(1, Ordering::SeqCst) == which {
            true => answer(usual),
            false => usual,
        }
    })
}

fn first(api: &dyn Api, script: &str) -> Vec<Value> {
    vec![api.user(&format!("[script {script} #1] Please."))]
}

fn asked(api: &dyn Api, messages: &[Value], form: Form) -> Ask {
    let body = api.body(messages, form).to_string();
    Ask::post(&api.path(form), body).header("authorization", "Bearer none")
}

fn post(api: &dyn Api, gateway: &Gateway, messages: &[Value], form: Form) -> Turn {
    let reply = asked(api, messages, form).send(gateway.address());
    assert_eq!(reply.status, 200, "{form:?}: {}", reply.text());
    api.read(&reply, form)
}

fn going_on(mut messages: Vec<Value>, turn: &Turn) -> Vec<Value> {
    messages.extend(turn.history.iter().cloned());
    messages
}

fn count(api: &dyn Api, request: &Request) -> usize {
    api.messages(&request.json()).as_array().unwrap().len()
}

pub(crate) fn the_model_takes_another_way(api: &dyn Api) {
    let [_, calls] = api.ends();
    for form in api.forms().iter().copied() {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = first(api, "other way");
        let turn = post(api, &gateway, &messages, form);
        assert_eq!(turn.calls, ["read_file"], "{form:?} {turn:?}");
        assert_eq!(turn.ends, [calls], "{form:?}");
        assert_eq!(turn.usage, (20, 40), "{form:?}");
        let lines: Vec<&str> = turn.said.split("\n\n").collect();
        let [before, notice, behind] = lines.as_slice() else { panic!("{form:?}: {turn:?}") };
        assert_eq!((*before, *behind), ("I will delete it.", "Then I read it."));
        assert!(notice.starts_with("callgate blocked the tool call `delete_all` (rule no-delete"));
        let sent = upstream.requests();
        assert_eq!(sent.len(), 2);
        assert!(sent[1].json().to_string().contains("Nothing is deleted here."));

        // The provider checks every turn that it gave; restarted, the gateway still knows them.
        for _ in 0..2 {
            let messages = going_on(messages.clone(), &turn);
            assert_eq!(post(api, &gateway, &messages, form).said, "That was all.", "{form:?}");
            gateway = gateway.restart();
        }
    }
}

pub(crate) fn two_denials_are_two_more_requests(api: &dyn Api) {
    for form in api.forms().iter().copied() {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = first(api, "two denials");
        let turn = post(api, &gateway, &messages, form);
        assert_eq!(turn.usage, (30, 60), "{form:?}");
        assert_eq!((turn.calls.as_slice(), turn.ends.len()), (&["read_file".to_owned()][..], 1));
        assert_eq!(upstream.requests().len(), 3);
        let messages = going_on(messages, &turn);
        let next = post(api, &gateway, &messages, form);
        assert_eq!(next.said, "That was all.");
        // The turn stays restored as the conversation grows.
        post(api, &gateway, &going_on(messages, &next), form);
        let many = first(api, "many");
        let turn = post(api, &gateway, &many, form);
        assert!(turn.said.ends_with("Fine."), "{turn:?}");
        assert_eq!(turn.said.matches("callgate blocked").count(), 2);
        post(api, &gateway, &going_on(many, &turn), form);
    }
}

/// What is left after one call was denied is what `explain` leaves.
pub(crate) fn a_turn_with_a_call_left_is_not_continued(api: &dyn Api) {
    for form in api.forms().iter().copied() {
        let upstream = server();
        let said = |settings| {
            let gateway = gateway(&upstream, POLICY, settings);
            let turn = post(api, &gateway, &first(api, "mixed"), form);
            let text = turn.said.split("Record: ").next().unwrap_or_default().to_owned();
            (text, turn.calls, turn.ends, turn.usage)
        };
        assert_eq!(said("on_deny: explain"), said(CONTINUE));
        assert_eq!(upstream.requests().len(), 2);
    }
}

pub(crate) fn a_turn_has_bounds(api: &dyn Api) {
    let [plain, _] = api.ends();
    for form in api.forms().iter().copied() {
        let upstream = server();
        let stubborn = gateway(&upstream, POLICY, CONTINUE);
        let turn = post(api, &stubborn, &first(api, "stubborn"), form);
        assert_eq!((turn.ends.as_slice(), upstream.requests().len()), (&[plain.to_owned()][..], 2));
        assert!(turn.said.contains("Reason: Nothing is deleted"), "{turn:?}");
        post(api, &stubborn, &going_on(first(api, "stubborn"), &turn), form);
        for limit in ["rounds: 1", "tokens: 50", "tokens: 1", "time: 1ms"] {
            let upstream = server();
            let settings = format!("{CONTINUE}\ncontinue: {{ {limit} }}");
            let gateway = gateway(&upstream, POLICY, &settings);
            let turn = post(api, &gateway, &first(api, "two denials"), form);
            assert_eq!(turn.ends, [plain], "{limit}");
            let requests = if matches!(limit, "rounds: 1" | "tokens: 50") { 2 } else { 1 };
            assert_eq!(upstream.requests().len(), requests, "{limit}");
            post(api, &gateway, &going_on(first(api, "two denials"), &turn), form);
        }
    }
}

/// What happens to an answer.
type Failure = Box<dyn Fn(Answer) -> Answer + Send + Sync>;

/// What the client has is complete whatever happens to the next answer, and the conversation
/// continues.
pub(crate) fn a_next_answer_that_fails_ends_the_turn(api: &dyn Api) {
    let cut = |at: usize| {
        move |usual: Answer| {
            let kept = usual.clone().body().len() * at / 100;
            usual
                .map_body(|body| body.get(..kept).unwrap_or_default().to_vec())
                .step(AnswerStep::Cut)
        }
    };
    let [plain, _] = api.ends();
    for form in api.forms().iter().copied() {
        let failures: Vec<(&str, Failure)> = vec![
            ("status", Box::new(|_| Answer::json(529, "{}"))),
            (
                "form",
                Box::new(|_| Answer::new(200).header("content-type", "text/html").send("<p>")),
            ),
            ("cut at once", Box::new(cut(0))),
            ("cut early", Box::new(cut(40))),
            (
                "reset",
                Box::new(|usual: Answer| usual.map_body(|_| Vec::new()).step(AnswerStep::Reset)),
            ),
        ];
        for (name, fail) in failures {
            let upstream = server_but(1, fail);
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let messages = first(api, "other way");
            let turn = post(api, &gateway, &messages, form);
            assert_eq!(turn.ends, [plain], "{form:?} {name}: {turn:?}");
            assert!(turn.said.contains("callgate blocked the tool call"), "{name}: {turn:?}");
            let sent = upstream.requests().len();
            asked(api, &going_on(messages, &turn), form).send(gateway.address());
            let next = upstream.requests()[sent].json().to_string();
            let notice = "callgate blocked the tool call `delete_all` (";
            assert!(next.contains("delete_all") && !next.contains(notice), "{name}: {next}");
        }
    }
}

pub(crate) fn a_demanded_tool_is_not_asked_for_again(api: &dyn Api) {
    let form = api.forms()[0];
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut body = api.body(&first(api, "other way"), form);
    api.demand(&mut body);
    let reply = Ask::post(&api.path(form), body.to_string()).send(gateway.address());
    assert_eq!(api.read(&reply, form).ends, [api.ends()[0]]);
    assert_eq!(upstream.requests().len(), 1);
}

pub(crate) fn without_a_notice_no_trace_is_left(api: &dyn Api) {
    for form in api.forms().iter().copied() {
        let upstream = server();
        let settings = format!("{CONTINUE}\ncontinue: {{ notice: none }}");
        let silent = gateway(&upstream, POLICY, &settings);
        let turn = post(api, &silent, &first(api, "other way"), form);
        assert_eq!(turn.said, "I will delete it.\n\nThen I read it.");
        post(api, &silent, &going_on(first(api, "other way"), &turn), form);
        // A notice would make JSON that a client asked for unreadable.
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let mut body = api.body(&first(api, "many"), form);
        api.demand_json(&mut body);
        let reply = Ask::post(&api.path(form), body.to_string()).send(gateway.address());
        let turn = api.read(&reply, form);
        assert_eq!(turn.said, "Fine.", "{form:?}: {:?}", gateway.events());
    }
}

pub(crate) fn a_turn_the_client_changed_goes_as_it_was_sent(api: &dyn Api) {
    let form = api.forms()[0];
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let turn = post(api, &gateway, &first(api, "other way"), form);
    let messages = going_on(first(api, "other way"), &turn);
    let text = Value::from(messages).to_string().replace("callgate blocked", "Someone blocked");
    let changed: Vec<Value> = serde_json::from_str(&text).unwrap();
    asked(api, &changed, form).send(gateway.address());
    let sent = upstream.requests().pop().unwrap();
    assert_eq!(count(api, &sent), changed.len());
    assert_eq!(*api.messages(&sent.json()), Value::from(changed));
}

pub(crate) fn a_stopping_gateway_ends_the_turn(api: &dyn Api) {
    let form = api.forms()[0];
    let upstream = server_but(1, |_| Answer::raw("").step(AnswerStep::Stall));
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let ask = asked(api, &first(api, "other way"), form);
    let open = Exchange::open(gateway.address(), &ask).unwrap();
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 2));
    gateway.signal("TERM");
    assert_eq!(api.read(&open.finish().unwrap(), form).ends, [api.ends()[0]]);
    assert!(gateway.ended().is_some());
}

pub(crate) fn each_answer_is_on_record(api: &dyn Api) {
    for form in api.forms().iter().copied() {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let reply = asked(api, &first(api, "two denials"), form).send(gateway.address());
        let whole = form == Form::Body;
        assert_eq!(reply.header("x-callgate-denied"), whole.then_some("2"), "{form:?}");
        assert!(gateway.wait_until(|gateway| gateway.turns().len() == 1));
        let turn = gateway.turns().remove(0);
        assert_eq!((&turn["tokens"]["input"], &turn["tokens"]["output"]), (&json!(10), &json!(20)));
        let events = gateway.events().into_iter();
        let continued: Vec<Value> = events.filter(|event| event["type"] == "continued").collect();
        assert_eq!(continued.len(), 2, "{continued:?}");
        for event in &continued {
            assert_eq!(event["request_id"], turn["request_id"]);
            assert_eq!(event["tokens"]["output"], 20, "{event}");
        }
        let stats = gateway.run(&["stats", "--json"]);
        let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
        let want = json!({ "answers": 2, "tokens_input": 20, "tokens_output": 40 });
        assert_eq!(stats["turns"]["continued"], want);
    }
}

/// The official clients take several answers for one, and the next request is valid, with and
/// without a restart in between.
pub(crate) fn official_clients_read_several_answers_as_one(api: &dyn Api) {
    let Some(interpreters) = sdk::interpreters() else { return };
    let upstream = server();
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut failures = Vec::new();
    let mut drivers = interpreters.talkers();
    let mut talked = 0;
    let mut take_turn = |gateway: &Gateway, turn: usize| {
        for (driver, clients) in &mut drivers {
            let clients = clients.iter().filter(|it| sdk::dialect_of(it) == api.dialect());
            let scripts = ["other way", "two denials"];
            let talks: Vec<(String, &str, &str)> = clients
                .flat_map(|client| scripts.map(|script| (client, script)))
                .enumerate()
                .map(|(number, (client, script))| {
                    let language = if client.contains("python") { "p" } else { "n" };
                    (format!("{language}{number}"), *client, script)
                })
                .collect();
            talked += talks.len();
            let job = |(id, client, script): &(String, &str, &str)| {
                let say = format!("[script {script} #{id}] Please.");
                json!({ "id": id, "client": client, "base_url": gateway.url(), "say": say, "tools": TOOLS })
            };
            let results = driver.ask(&talks.iter().map(job).collect::<Vec<_>>());
            for (id, client, script) in &talks {
                let result = &results[id];
                let text = result["text"].as_str().unwrap_or_default();
                let is_right = match turn {
                    0 => {
                        result["calls"][0][0] == "read_file"
                            && text.contains("callgate blocked the tool call `delete_all` (rule")
                    }
                    _ => text.contains("That was all."),
                };
                if !is_right || !result["error"].is_null() {
                    failures.push(format!("{client}, {script}, turn {turn}: {result}"));
                }
            }
        }
    };
    take_turn(&gateway, 0);
    take_turn(&gateway, 1);
    gateway = gateway.restart();
    take_turn(&gateway, 2);
    assert!(talked > 0, "no client speaks {:?}", api.dialect());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
