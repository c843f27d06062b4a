//! When the gate holds, waits, refuses and ends.

use callgate_dialect::Dialect;
use callgate_gate::{
    CallQuestion, Close, Decision, Ending, Gate, Malformed, NameDecision, Note, OnDeny, Settings,
    Step,
};
use callgate_policy::{Denial, Policies, SpentLimits};
use callgate_testkit::{clients, drive};
use serde_json::{Value, json};

const CHAT: Dialect = Dialect::OpenAiChat;
const MESSAGES: Dialect = Dialect::Anthropic;

fn chunk(choice: Value) -> String {
    format!(
        "data: {}\n\n",
        json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] })
    )
}

fn text(words: &str) -> String {
    chunk(json!({ "index": 0, "delta": { "content": words } }))
}

fn call(name: &str, arguments: &str) -> String {
    let call = json!({ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": name, "arguments": arguments } });
    chunk(json!({ "index": 0, "delta": { "tool_calls": [call] } }))
}

fn more(arguments: &str) -> String {
    let call = json!({ "index": 0, "function": { "arguments": arguments } });
    chunk(json!({ "index": 0, "delta": { "tool_calls": [call] } }))
}

fn finish(reason: &str) -> String {
    chunk(json!({ "index": 0, "delta": {}, "finish_reason": reason }))
}

fn event(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn message_start() -> String {
    event(json!({ "type": "message_start", "message": { "content": [] } }))
}

fn tool_start(index: u32, name: &str) -> String {
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {} });
    event(json!({ "type": "content_block_start", "index": index, "content_block": block }))
}

fn tool_delta(index: u32, json: &str) -> String {
    let delta = json!({ "type": "input_json_delta", "partial_json": json });
    event(json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

fn stop(index: u32) -> String {
    event(json!({ "type": "content_block_stop", "index": index }))
}

fn message_end(reason: &str) -> String {
    event(json!({ "type": "message_delta", "delta": { "stop_reason": reason } }))
        + &event(json!({ "type": "message_stop" }))
}

fn settings() -> Settings {
    drive::settings(OnDeny::Explain)
}

fn run(dialect: Dialect, policies: &Policies, stream: &str) -> drive::Run {
    drive::run(dialect, settings(), policies, [stream.as_bytes()])
}

/// A gate whose questions about whole calls stay unanswered.
struct Slow {
    gate: Gate,
    policies: Policies,
    out: Vec<u8>,
    questions: Vec<CallQuestion>,
    ending: Option<Ending>,
}

impl Slow {
    fn new(dialect: Dialect, policies: Policies) -> Self {
        let gate = Gate::new(dialect, settings());
        Self { gate, policies, out: Vec::new(), questions: Vec::new(), ending: None }
    }

    /// Pushes bytes, takes steps, and returns what left.
    fn push(&mut self, bytes: &str) -> String {
        self.gate.push(bytes.as_bytes());
        self.steps()
    }

    fn steps(&mut self) -> String {
        loop {
            match self.gate.step(&mut self.out) {
                Step::Name(question) => {
                    let (moment, limits) = (drive::moment(), SpentLimits::default());
                    let judgement = self.policies.judge_name(&question.call, &moment, &limits);
                    let answer = match judgement {
                        callgate_policy::NameJudgement::Allow(permit, _) => {
                            NameDecision::Stream(permit)
                        }
                        _ => NameDecision::NeedArguments,
                    };
                    self.gate.answer_name(question.slot, answer);
                }
                Step::Judge(question) => self.questions.push(question),
                Step::OnlyDenied(_) => self.gate.conclude(),
                Step::Note(_) => {}
                Step::NeedMore | Step::Waiting => break,
                Step::Ended(ending) => {
                    self.ending = Some(ending);
                    break;
                }
            }
        }
        String::from_utf8(std::mem::take(&mut self.out)).unwrap()
    }

    fn allow(&mut self) -> String {
        let question = self.questions.remove(0);
        let judgement =
            self.policies.judge(&question.call, &drive::moment(), &SpentLimits::default());
        self.gate.answer(question.slot, drive::answer(judgement, &question.call));
        self.steps()
    }

    fn deny(&mut self) -> String {
        let question = self.questions.remove(0);
        let denial = Denial::refused(question.call.name.raw(), "a person said no");
        self.gate.answer(question.slot, Decision::Deny(denial));
        self.steps()
    }
}

#[test]
fn text_never_waits_and_a_held_call_never_leaves_early() {
    let mut slow = Slow::new(CHAT, drive::allow_all_held());
    assert_eq!(slow.push(&text("one")), text("one"));
    assert_eq!(slow.push(&call("Bash", "{\"a\":")), "");
    assert_eq!(slow.push(&text("two")), text("two"), "text overtakes a held call");
    assert_eq!(slow.push(&more("1}")), "");
    assert_eq!(slow.questions.len(), 1, "its arguments are one object: it is asked about at once");
    assert_eq!(slow.push(&text("three")), text("three"));
    assert_eq!(slow.push(&finish("tool_calls")), "", "the end waits behind the call");
    assert_eq!(
        slow.allow(),
        call("Bash", "{\"a\":") + &more("1}") + &finish("tool_calls"),
        "and leaves as it came"
    );
}

#[test]
fn other_choices_pass_a_held_call() {
    let other =
        chunk(json!({ "index": 1, "delta": { "content": "other" }, "finish_reason": "stop" }));
    let mut slow = Slow::new(CHAT, drive::allow_all_held());
    assert_eq!(slow.push(&call("Bash", "{}")), "");
    assert_eq!(slow.push(&other), other);
    assert_eq!(slow.allow(), call("Bash", "{}"));
}

#[test]
fn text_in_the_frame_of_a_call_leaves_ahead_when_the_verdict_takes_time() {
    let entry =
        json!({ "index": 0, "id": "call_1", "function": { "name": "Bash", "arguments": "{}" } });
    let mixed = chunk(json!({ "index": 0,
        "delta": { "role": "assistant", "content": "I will look.", "tool_calls": [entry] },
        "finish_reason": "tool_calls" }));
    let mut slow = Slow::new(CHAT, drive::allow_all_held());
    let ahead = slow.push(&mixed);
    assert!(ahead.contains("I will look.") && ahead.contains("assistant"), "{ahead}");
    assert!(!ahead.contains("Bash") && !ahead.contains("\"tool_calls\""), "{ahead}");
    let behind = slow.allow();
    assert!(!behind.contains("I will look.") && !behind.contains("assistant"), "{behind}");
    let joined = ahead + &behind;
    for calls in clients::readings(CHAT, joined.as_bytes()).values() {
        assert_eq!(calls, &[("Bash".to_owned(), "{}".to_owned())]);
    }
}

#[test]
fn a_ping_passes_a_held_block_and_later_blocks_wait() {
    let ping = event(json!({ "type": "ping" }));
    let mut slow = Slow::new(MESSAGES, drive::allow_all_held());
    slow.push(&message_start());
    assert_eq!(slow.push(&tool_start(0, "Bash")), "");
    assert_eq!(slow.push(&ping), ping);
    assert_eq!(slow.push(&tool_delta(0, "{}")), "");
    assert_eq!(slow.push(&stop(0)), "");
    let next = event(json!({ "type": "content_block_start", "index": 1,
        "content_block": { "type": "text", "text": "later" } }));
    assert_eq!(slow.push(&next), "");
    assert_eq!(slow.allow(), tool_start(0, "Bash") + &tool_delta(0, "{}") + &stop(0) + &next);
}

#[test]
fn allowed_by_name_streams_except_for_the_completing_piece() {
    let mut slow = Slow::new(MESSAGES, drive::allow_all());
    slow.push(&message_start());
    assert_eq!(slow.push(&tool_start(0, "Bash")), tool_start(0, "Bash"));
    assert_eq!(slow.push(&tool_delta(0, "{\"a\":")), tool_delta(0, "{\"a\":"));
    assert_eq!(slow.push(&tool_delta(0, "1}")), "", "this completes it: the record comes first");
    assert_eq!(slow.push(&stop(0)), "");
    assert_eq!(slow.allow(), tool_delta(0, "1}") + &stop(0));
}

#[test]
fn a_call_refused_after_it_began_ends_the_stream_with_an_error() {
    let mut slow = Slow::new(MESSAGES, drive::allow_all());
    slow.push(&(message_start() + &tool_start(0, "Bash") + &tool_delta(0, "{}")));
    let last = slow.deny();
    assert!(last.starts_with("event: error\n") && last.contains("a person said no"), "{last}");
    assert!(!last.contains("content_block_stop"), "{last}");
    assert!(matches!(slow.ending, Some(Ending::Error(_))));
    assert_eq!(slow.push(&tool_start(1, "Bash")), "", "nothing is read behind it");
}

#[test]
fn nothing_that_ends_a_refused_call_leaves() {
    let mut slow = Slow::new(MESSAGES, drive::allow_all());
    let begun = message_start() + &tool_start(0, "Bash") + &tool_delta(0, "{\"a\":");
    assert_eq!(slow.push(&begun), begun);
    assert_eq!(slow.push(&(tool_delta(0, "1}") + &stop(0) + &message_end("tool_use"))), "");
    slow.gate.close(Close::End);
    let last = slow.deny();
    assert!(last.starts_with("event: error\n"), "{last}");
    assert!(!last.contains("content_block_stop") && !last.contains("message_delta"), "{last}");

    // The stream is cut off inside a streaming call, followed by another block.
    let stream = begun.clone() + &tool_start(1, "Read") + &tool_delta(1, "{}") + &stop(1);
    let out = run(MESSAGES, &drive::allow_all(), &stream).text();
    assert!(out.starts_with(&(begun + "event: error\n")), "{out}");
}

#[test]
fn a_permit_names_its_call() {
    let mut slow = Slow::new(CHAT, drive::allow_all_held());
    slow.push(&call("Bash", "{\"a\":1}"));
    let question = slow.questions.remove(0);
    let mut other = question.call.clone();
    other.arguments = callgate_call::Arguments::json("{\"a\":2}");
    let judgement = slow.policies.judge(&other, &drive::moment(), &SpentLimits::default());
    slow.gate.answer(question.slot, drive::answer(judgement, &other));
    let left = slow.steps();
    assert!(!left.contains("tool_calls") && left.contains("permit is for another call"), "{left}");
}

#[test]
fn a_verdict_may_come_after_the_upstream_has_ended() {
    let mut slow = Slow::new(CHAT, drive::allow_all_held());
    slow.push(&(call("Bash", "{}") + &finish("tool_calls")));
    slow.gate.close(Close::End);
    assert_eq!(slow.steps(), "");
    assert_eq!(slow.ending, None);
    let left = slow.deny();
    assert!(left.contains("a person said no") && left.contains("\"stop\""), "{left}");
    assert_eq!(slow.ending, Some(Ending::Clean));
}

#[test]
fn a_stream_that_ends_inside_a_held_call_drops_it() {
    let held = run(CHAT, &drive::allow_all_held(), &(text("hi") + &call("Bash", "{\"a\":")));
    assert!(held.text().starts_with(&text("hi")));
    assert!(!held.text().contains("tool_calls"), "{}", held.text());
    assert!(held.text().contains("\"error\""), "{}", held.text());
    assert!(
        held.notes.iter().any(|note| matches!(note, Note::Dropped { tool, .. } if tool == "Bash"))
    );

    let live = run(MESSAGES, &drive::allow_all(), &(message_start() + &tool_start(0, "Bash")));
    assert!(live.text().contains("event: error\n"), "{}", live.text());
}

#[test]
fn the_stop_reason_is_truthful() {
    let denied = drive::deny_names(&["Bash"]);
    let reason = |reason: &str| {
        let stream = message_start() + &tool_start(0, "Bash") + &stop(0) + &message_end(reason);
        let text = run(MESSAGES, &denied, &stream).text();
        text.split("stop_reason\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert_eq!(reason("tool_use"), "end_turn");
    for other in ["max_tokens", "refusal", "pause_turn", "end_turn"] {
        assert_eq!(reason(other), other);
    }
}

#[test]
fn a_denied_call_after_a_surviving_one_leaves_no_text() {
    let stream = message_start()
        + &tool_start(0, "Read")
        + &stop(0)
        + &tool_start(1, "Bash")
        + &stop(1)
        + &tool_start(2, "Read")
        + &stop(2)
        + &message_end("tool_use");
    let out = run(MESSAGES, &drive::deny_names(&["Bash"]), &stream).text();
    assert!(!out.contains("\"text\""), "{out}");
    assert!(out.contains("\"stop_reason\":\"tool_use\""), "{out}");
    assert_eq!(out.matches("\"index\":1").count(), 2, "the third block moves up: {out}");
    assert_eq!(out.matches("\"index\":2").count(), 0, "{out}");
}

#[test]
fn silence_leaves_a_word_only_where_nothing_else_is_said() {
    let silent = |stream: &str| {
        let policies = drive::deny_names(&["Bash"]);
        drive::run(MESSAGES, drive::settings(OnDeny::Silent), &policies, [stream.as_bytes()]).text()
    };
    let alone =
        silent(&(message_start() + &tool_start(0, "Bash") + &stop(0) + &message_end("tool_use")));
    assert_eq!(alone.matches("text_delta").count(), 1, "{alone}");
    assert!(!alone.contains("Bash") && !alone.to_lowercase().contains("callgate"), "{alone}");

    let words = event(json!({ "type": "content_block_start", "index": 0,
        "content_block": { "type": "text", "text": "" } }))
        + &event(json!({ "type": "content_block_delta", "index": 0,
            "delta": { "type": "text_delta", "text": "hello" } }))
        + &stop(0);
    let spoken = silent(
        &(message_start() + &words + &tool_start(1, "Bash") + &stop(1) + &message_end("tool_use")),
    );
    assert_eq!(spoken, message_start() + &words + &message_end("end_turn"));
}

#[test]
fn an_unreadable_frame_is_contained() {
    let twice = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
        \"content_block\":{\"type\":\"text\",\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}}\n\n";
    let stream = message_start()
        + twice
        + &tool_delta(0, "{}")
        + &stop(0)
        + &tool_start(1, "Read")
        + &tool_delta(1, "{\"a\":1}")
        + &stop(1)
        + &message_end("tool_use");
    let out = run(MESSAGES, &drive::allow_all(), &stream);
    let mut readings = clients::readings(MESSAGES, &out.out);
    // This one does not join pieces.
    readings.remove(clients::ANYWHERE);
    for calls in readings.values() {
        assert_eq!(calls, &[("Read".to_owned(), "{\"a\":1}".to_owned())], "{}", out.text());
    }
    assert!(out.notes.iter().any(|note| matches!(note, Note::Withheld { .. })));

    let passed = Settings { malformed: Malformed::Pass, ..settings() };
    let out = drive::run(MESSAGES, passed, &drive::allow_all(), [twice.as_bytes()]);
    assert!(out.text().starts_with(twice), "the operator said so: {}", out.text());
}

#[test]
fn limits_end_the_stream_and_keep_the_call() {
    let limited = |change: fn(&mut callgate_gate::GateLimits), stream: &str| {
        let mut settings = settings();
        change(&mut settings.limits);
        drive::run(CHAT, settings, &drive::allow_all_held(), [stream.as_bytes()]).text()
    };
    let held = call("Bash", "{\"a\":\"") + &more(&"x".repeat(500)).repeat(10);
    for (name, out) in [
        ("held", limited(|limits| limits.held = 2000, &held)),
        ("frame", limited(|limits| limits.frame = 100, &held)),
        ("calls", limited(|limits| limits.calls = 0, &held)),
    ] {
        assert!(out.contains("firewall_blocked") && !out.contains("Bash"), "{name}: {out}");
    }
    let body = json!({ "choices": [{ "message": { "content": "x".repeat(500) } }] }).to_string();
    let out = limited(|limits| limits.body = 100, &body);
    assert!(out.contains("firewall_blocked") && out.starts_with('{'), "{out}");
}

#[test]
fn more_calls_than_the_limit_do_not_pass_as_unreadable() {
    let settings = || {
        let mut settings = Settings { malformed: Malformed::Pass, ..settings() };
        settings.limits.calls = 1;
        settings
    };
    let entry = |id: &str| json!({ "index": 0, "id": id, "type": "function", "function": { "name": "Bash", "arguments": "{}" } });
    let message = |entries: Value| json!({ "choices": [{ "index": 0, "message": { "tool_calls": entries } }] });
    let body = message(json!([entry("call_1"), entry("call_2")])).to_string();
    let second = call("Bash", "{}").replace("\"index\":0,\"id\"", "\"index\":1,\"id\"");
    let stream = call("Bash", "{}") + &second + &finish("tool_calls");
    for response in [body, stream] {
        let run = drive::run(CHAT, settings(), &drive::allow_all(), [response.as_bytes()]);
        assert!(matches!(run.ending, Ending::Error(_)), "{}", run.text());
        assert!(run.text().matches("Bash").count() <= 1, "{}", run.text());
    }
}

#[test]
fn arguments_over_the_limit_are_unknown() {
    let stream =
        call("Bash", "{\"a\":\"") + &more(&"x".repeat(5000)) + &more("\"}") + &finish("tool_calls");
    let mut settings = settings();
    settings.limits.arguments = 1000;
    let by_name = drive::run(CHAT, settings.clone(), &drive::allow_all(), [stream.as_bytes()]);
    assert_eq!(by_name.text(), stream, "no rule asks for them");
    let by_rule = drive::run(CHAT, settings, &drive::allow_all_held(), [stream.as_bytes()]);
    assert!(!by_rule.text().contains("\"tool_calls\":["), "unknown counts against the call");
}

#[test]
fn a_whole_body_gives_the_same_message_as_a_stream() {
    let policies = drive::deny_names(&["Bash"]);
    let entry = json!({ "id": "call_1", "type": "function", "function": { "name": "Bash", "arguments": "{}" } });
    let body = json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls",
        "message": { "role": "assistant", "content": "hi", "tool_calls": [entry] } }] });
    let whole: Value =
        serde_json::from_str(&run(CHAT, &policies, &body.to_string()).text()).unwrap();
    let stream = run(CHAT, &policies, &(text("hi") + &call("Bash", "{}") + &finish("tool_calls")));
    let said: String = clients::events(&stream.text())
        .iter()
        .map(|(_, event)| event["choices"][0]["delta"]["content"].as_str().unwrap_or("").to_owned())
        .collect();
    assert_eq!(whole["choices"][0]["message"]["content"], said);
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert!(whole["choices"][0]["message"].get("tool_calls").is_none());
}

#[test]
fn a_body_that_cannot_be_read_is_answered_with_an_error() {
    for body in
        ["{\"content\":[", "{} {}", "[1]", "{\"content\":[],\"content\":[]}", "{\u{0}\"\u{0}"]
    {
        let run = run(MESSAGES, &drive::allow_all(), body);
        let answer: Value = serde_json::from_str(&run.text()).unwrap();
        assert_eq!(answer["type"], "error", "{body}");
        assert!(matches!(run.ending, Ending::Error(_)), "{body}");
    }
}

#[test]
fn a_frame_some_clients_skip_completes_no_call_that_streams() {
    let piece = |name: Option<&str>, arguments: &str, object: &str| {
        let mut call = json!({ "index": 0, "function": { "arguments": arguments } });
        if let Some(name) = name {
            call["id"] = json!("call_1");
            call["function"]["name"] = json!(name);
        }
        let choice = json!({ "index": 0, "delta": { "tool_calls": [call] } });
        format!("data: {}\n\n", json!({ "object": object, "choices": [choice] }))
    };
    let open = piece(Some("Bash"), "{\"a\":", "chat.completion.chunk");
    let stream = open.clone() + &piece(None, "1}", "something.else") + &finish("tool_calls");
    let live = run(CHAT, &drive::allow_all(), &stream).text();
    assert!(live.starts_with(&open) && live.contains("firewall_blocked"), "{live}");
    assert!(!live.contains("\"finish_reason\":\"tool_calls\""), "{live}");

    let held = run(CHAT, &drive::allow_all_held(), &stream).text();
    let want = vec![("Bash".to_owned(), "{\"a\":1}".to_owned())];
    for (client, calls) in clients::readings(CHAT, held.as_bytes()) {
        assert_eq!(calls, want, "{client}: {held}");
    }
    assert_eq!(held.matches("tool_calls\":[").count(), 1, "in one chunk: {held}");
}

#[test]
fn the_model_is_learned_from_the_answer() {
    let policies = drive::policies(
        "policy: p\nrules:\n  - { id: a, when: { arg: context.model, contains: big }, verdict: deny, reason: no }\n",
    );
    let start =
        event(json!({ "type": "message_start", "message": { "model": "big-1", "content": [] } }));
    let stream = start + &tool_start(0, "Bash") + &stop(0) + &message_end("tool_use");
    let entry = json!({ "id": "c", "function": { "name": "Bash", "arguments": "{}" } });
    let chat = json!({ "model": "big-1", "choices": [{ "message": { "tool_calls": [entry] } }] });
    let block = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} });
    let message = json!({ "type": "message", "model": "big-1", "content": [block] });
    let chunk = format!(
        "data: {}\n\n",
        json!({ "model": "big-1", "choices": [{ "index": 0,
        "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "Bash", "arguments": "{}" } }] } }] })
    );
    for (dialect, body) in [
        (MESSAGES, stream),
        (MESSAGES, message.to_string()),
        (CHAT, chat.to_string()),
        (CHAT, chunk),
    ] {
        let out = run(dialect, &policies, &body);
        assert_eq!(out.judged.last().map(|(_, _, allowed)| *allowed), Some(false), "{body}");
    }
}

#[test]
fn removed_calls_are_handed_out_and_come_back() {
    let stream = message_start()
        + &tool_start(0, "Bash")
        + &tool_delta(0, "{\"command\":\"ls\"}")
        + &stop(0)
        + &tool_start(1, "Read")
        + &stop(1)
        + &message_end("tool_use");
    let run = run(MESSAGES, &drive::deny_names(&["Bash"]), &stream);
    let turns: Vec<_> = run
        .notes
        .into_iter()
        .filter_map(|note| match note {
            Note::Removed(turn) => Some(turn),
            _ => None,
        })
        .collect();
    let notice = turns[0].calls[0].notice.clone().unwrap();
    let request = json!({ "messages": [
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": [
            { "type": "text", "text": notice },
            { "type": "tool_use", "id": "toolu_1", "name": "Read", "input": {} } ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "toolu_1", "content": "ok" } ] } ] });
    let restored =
        callgate_dialect::request::restore(MESSAGES, &request.to_string(), &turns).unwrap();
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    let call = json!({ "type": "tool_use", "id": "toolu_0", "name": "Bash", "input": { "command": "ls" } });
    assert_eq!(body["messages"][1]["content"][0], call);
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "toolu_0");
    assert_eq!(body["messages"][2]["content"][0]["is_error"], true);
}

/// A call outside the list of blocks is not one of them.
#[test]
fn a_removed_call_has_its_place_among_the_blocks() {
    let stray = json!({ "type": "tool_use", "id": "stray", "name": "Read", "input": {} });
    let message = json!({ "type": "message_start", "message": { "content": [], "x": stray } });
    let words = |index: u32| {
        let start = json!({ "type": "content_block_start", "index": index, "content_block": { "type": "text", "text": "hi" } });
        event(start) + &stop(index)
    };
    let stream = event(message)
        + &words(0)
        + &tool_start(1, "Bash")
        + &stop(1)
        + &words(2)
        + &message_end("tool_use");
    for on_deny in [OnDeny::Silent, OnDeny::Explain] {
        let policies = drive::deny_names(&["Bash"]);
        let run = drive::run(MESSAGES, drive::settings(on_deny), &policies, [stream.as_bytes()]);
        let places = run.notes.iter().find_map(|note| match note {
            Note::Removed(turn) => {
                Some(turn.calls.iter().map(|call| call.place).collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(places, Some(vec![1]), "{}", run.text());
        assert!(run.text().contains("stray"), "{}", run.text());
    }
}

/// A list of tools, a tool result, and an echo of the request look like calls.
#[test]
fn text_that_only_looks_like_a_denied_call_passes() {
    let tool = json!({ "type": "function", "function": { "name": "rm", "parameters": {} } });
    let fields = json!({ "mcp_list_tools": [tool] });
    let delta = json!({ "content": "You have ", "provider_specific_fields": fields });
    let stream = chunk(json!({ "index": 0, "delta": delta }));
    let message = json!({ "role": "assistant", "content": "hi" });
    let stored = json!({
        "id": "c",
        "object": "chat.completion",
        "metadata": { "name": "rm", "input": "docs" },
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
    });
    let found = json!({ "name": "rm", "parameters": {} });
    let parts = json!([{ "toolResponse": { "id": "1", "response": found } }, { "text": "hi" }]);
    let candidate =
        json!({ "content": { "parts": parts, "role": "model" }, "finishReason": "STOP" });
    let answer = json!({ "candidates": [candidate] });
    let bodies = [
        (CHAT, stream + "data: [DONE]\n\n"),
        (CHAT, stored.to_string()),
        (Dialect::Gemini, answer.to_string()),
    ];
    for (dialect, body) in bodies {
        let (settings, policies) = (drive::settings(OnDeny::Explain), drive::deny_names(&["rm"]));
        let run = drive::run(dialect, settings, &policies, [body.as_bytes()]);
        assert_eq!(run.text(), body, "{dialect:?}");
    }
}
