//! When held calls leave: only after they are complete and allowed, and then as a whole or not at
//! all, however calls are interleaved, the stream is split, and the answers come early or late.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use callgate_dialect::Dialect;
use callgate_gate::{CallQuestion, Close, Gate, NameDecision, OnDeny, Step};
use callgate_policy::{NameJudgement, Policies, SpentLimits};
use callgate_testkit::{drive, made};
use callgate_wire::{Framing, Style};
use serde_json::{Value, json};

/// An API, and how its calls arrive.
#[derive(Debug, Clone, Copy)]
struct Api {
    dialect: Dialect,
    /// Whose events it has: InvokeModel has those of a model's own API.
    events: Dialect,
    come: Come,
}

/// How the arguments of a call arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Come {
    TwoPieces,
    OnePiece,
    /// As text in the event that begins the call, before one that ends it.
    Start,
}

/// All APIs. Gemini has no arguments in one piece that could be truncated, and only Cohere's start
/// of a call can contain text.
fn apis() -> Vec<Api> {
    let own = [
        Dialect::Anthropic,
        Dialect::OpenAiChat,
        Dialect::Responses,
        Dialect::Interactions,
        Dialect::Cohere,
        Dialect::Converse,
        Dialect::Gemini,
    ];
    let own = own.map(|dialect| Api { dialect, events: dialect, come: Come::TwoPieces });
    let models = [Dialect::Anthropic, Dialect::Converse, Dialect::OpenAiChat];
    let invoked =
        models.map(|events| Api { dialect: Dialect::Invoke, events, come: Come::TwoPieces });
    let two = own.into_iter().chain(invoked);
    let one = two.clone().filter(|api| api.events != Dialect::Gemini);
    let one = one.map(|api| Api { come: Come::OnePiece, ..api });
    let cohere = Api { dialect: Dialect::Cohere, events: Dialect::Cohere, come: Come::Start };
    two.chain(one).chain([cohere]).collect()
}

/// Texts that only the frames of one call contain: its name, then each piece of its arguments.
const MARKS: [[&str; 3]; 2] =
    [["tool_a", "first_of_a", "second_of_a"], ["tool_b", "first_of_b", "second_of_b"]];

/// The frames of one call in order. The last one completes it.
fn call_events(api: Api, call: usize) -> Vec<(String, Value)> {
    let [name, first, second] = MARKS[call];
    let (id, index) = (format!("id_{call}"), call);
    let mut pieces = vec![format!("{{\"{first}\":"), format!("\"{second}\"}}")];
    let whole = pieces.concat();
    match api.come {
        Come::TwoPieces => {}
        Come::OnePiece => pieces = vec![whole.clone()],
        Come::Start => pieces.clear(),
    }
    let named = |key: &str, events: Vec<Value>| -> Vec<(String, Value)> {
        events.into_iter().map(|event| (event[key].as_str().unwrap().to_owned(), event)).collect()
    };
    let function = |name: Option<&str>, arguments: &str| match name {
        Some(name) => json!({ "index": index, "id": id, "type": "function",
            "function": { "name": name, "arguments": arguments } }),
        None => json!({ "index": index, "function": { "arguments": arguments } }),
    };
    let in_pieces = |first: Value, delta: &dyn Fn(&str) -> Value, last: Option<Value>| {
        let deltas = pieces.iter().map(|piece| delta(piece));
        std::iter::once(first).chain(deltas).chain(last).collect::<Vec<Value>>()
    };
    match api.events {
        Dialect::Anthropic => {
            let start = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            let delta = |piece: &str| {
                json!({ "type": "content_block_delta", "index": index,
                "delta": { "type": "input_json_delta", "partial_json": piece } })
            };
            let start =
                json!({ "type": "content_block_start", "index": index, "content_block": start });
            let stop = json!({ "type": "content_block_stop", "index": index });
            named("type", in_pieces(start, &delta, Some(stop)))
        }
        Dialect::OpenAiChat => {
            let chunk = |entry: Value| {
                json!({ "object": "chat.completion.chunk",
                "choices": [{ "index": 0, "delta": { "tool_calls": [entry] } }] })
            };
            let delta = |piece: &str| chunk(function(None, piece));
            named("object", in_pieces(chunk(function(Some(name), "")), &delta, None))
        }
        Dialect::Responses => {
            let event = |kind: &str, key: &str, value: Value| {
                let mut event = json!({ "type": format!("response.{kind}"),
                    "output_index": index, "item_id": id });
                event[key] = value;
                event
            };
            let item = |arguments: &str| {
                json!({ "type": "function_call", "id": id,
                "call_id": format!("call_{call}"), "name": name, "arguments": arguments })
            };
            let delta = |piece: &str| event("function_call_arguments.delta", "delta", piece.into());
            let added = event("output_item.added", "item", item(""));
            let done = event("output_item.done", "item", item(&whole));
            named("type", in_pieces(added, &delta, Some(done)))
        }
        Dialect::Interactions => {
            let step = json!({ "type": "function_call", "id": id, "name": name, "arguments": {} });
            let delta = |piece: &str| {
                json!({ "event_type": "step.delta", "index": index,
                "delta": { "type": "arguments_delta", "arguments": piece } })
            };
            let start = json!({ "event_type": "step.start", "index": index, "step": step });
            let stop = json!({ "event_type": "step.stop", "index": index });
            named("event_type", in_pieces(start, &delta, Some(stop)))
        }
        Dialect::Cohere => {
            let event = |kind: &str, calls: Value| {
                json!({ "type": kind, "index": index,
                "delta": { "message": { "tool_calls": calls } } })
            };
            let delta = |piece: &str| {
                event("tool-call-delta", json!({ "function": { "arguments": piece } }))
            };
            let begins_with = if api.come == Come::Start { &*whole } else { "" };
            let mut start = function(Some(name), begins_with);
            start.as_object_mut().unwrap().remove("index");
            let end = json!({ "type": "tool-call-end", "index": index });
            let start = event("tool-call-start", start);
            named("type", in_pieces(start, &delta, Some(end)))
        }
        Dialect::Converse => {
            let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
            let delta = |piece: &str| {
                let delta = json!({ "toolUse": { "input": piece } });
                json!({ "contentBlockIndex": index, "delta": delta })
            };
            let start = json!({ "contentBlockIndex": index, "start": start });
            let stop = json!({ "contentBlockIndex": index });
            let name = |event: Value| {
                let is = |key: &str| event.get(key).is_some();
                let name = if is("start") {
                    "contentBlockStart"
                } else if is("delta") {
                    "contentBlockDelta"
                } else {
                    "contentBlockStop"
                };
                (name.to_owned(), event)
            };
            in_pieces(start, &delta, Some(stop)).into_iter().map(name).collect()
        }
        Dialect::Gemini => {
            let chunk = |call: Value| {
                let parts = json!([{ "functionCall": call }]);
                let content = json!({ "role": "model", "parts": parts });
                json!({ "candidates": [{ "index": 0, "content": content }], "modelVersion": "m" })
            };
            let piece = |path: &str, text: &str| json!([{ "jsonPath": format!("$.{path}"), "stringValue": text }]);
            let start = json!({ "name": name, "id": id, "willContinue": true });
            let more = json!({ "partialArgs": piece(first, "x"), "willContinue": true });
            let last = json!({ "partialArgs": piece(second, "y"), "willContinue": true });
            named("modelVersion", vec![chunk(start), chunk(more), chunk(last), chunk(json!({}))])
        }
        Dialect::Ollama | Dialect::Invoke => unreachable!(),
    }
}

fn start(api: Api) -> Vec<(String, Value)> {
    let event = |name: &str, data: Value| vec![(name.to_owned(), data)];
    match api.events {
        Dialect::Anthropic => {
            event("message_start", json!({ "type": "message_start", "message": { "content": [] } }))
        }
        Dialect::OpenAiChat => event(
            "",
            json!({ "object": "chat.completion.chunk",
                "choices": [{ "index": 0, "delta": { "role": "assistant" } }] }),
        ),
        Dialect::Responses => event(
            "response.created",
            json!({ "type": "response.created", "response": { "id": "r", "output": [] } }),
        ),
        Dialect::Interactions => event(
            "interaction.created",
            json!({ "event_type": "interaction.created",
                "interaction": { "id": "i", "status": "in_progress" } }),
        ),
        Dialect::Cohere => event(
            "message-start",
            json!({ "type": "message-start", "id": "c",
                "delta": { "message": { "role": "assistant", "tool_calls": [] } } }),
        ),
        Dialect::Converse => event("messageStart", json!({ "role": "assistant" })),
        Dialect::Gemini => event("", json!({ "candidates": [], "modelVersion": "m" })),
        Dialect::Ollama | Dialect::Invoke => unreachable!(),
    }
}

/// An unreadable frame.
fn garbage(api: Api) -> Vec<u8> {
    let mut out = Vec::new();
    if api.dialect == Dialect::Invoke {
        let data = json!({ "bytes": STANDARD.encode("{\"type\":") }).to_string();
        Style::default_of(Framing::EventStream).event(Some("chunk"), &data, &mut out);
        return out;
    }
    let (framing, name) = match api.dialect {
        Dialect::Converse => (Framing::EventStream, Some("contentBlockDelta")),
        Dialect::OpenAiChat | Dialect::Gemini => (Framing::Sse, None),
        _ => (Framing::Sse, Some("x")),
    };
    Style::default_of(framing).event(name, "{\"type\":", &mut out);
    out
}

/// One frame, and the call it belongs to.
struct Frame {
    bytes: Vec<u8>,
    call: Option<usize>,
}

/// A stream of two calls with their frames in this order.
fn scene(api: Api, order: &[usize]) -> Vec<Frame> {
    let framed = |event: (String, Value)| match (api.dialect, api.events) {
        // Not every frame gets the end of a Chat stream.
        (Dialect::OpenAiChat, _) => format!("data: {}\n\n", event.1).into_bytes(),
        (Dialect::Invoke, Dialect::Converse) => {
            let (name, data) = event;
            made::events(api.dialect, vec![(String::new(), json!({ name: data }))])
        }
        (dialect, _) => made::events(dialect, vec![event]),
    };
    let mut calls = [0, 1].map(|call| call_events(api, call).into_iter());
    let mut frames: Vec<Frame> =
        start(api).into_iter().map(|event| Frame { bytes: framed(event), call: None }).collect();
    for &call in order {
        let event = calls[call].next().unwrap();
        frames.push(Frame { bytes: framed(event), call: Some(call) });
    }
    assert!(calls.iter_mut().all(|rest| rest.next().is_none()));
    frames
}

/// Every order in which the frames of two calls can come.
fn orders(api: Api) -> Vec<Vec<usize>> {
    let length = call_events(api, 0).len();
    if api.events == Dialect::Gemini {
        // A piece without a name belongs to the call that began last.
        return vec![[vec![0; length], vec![1; length]].concat()];
    }
    (0_u32..1 << (2 * length))
        .filter(|bits| bits.count_ones() as usize == length)
        .map(|bits| (0..2 * length).map(|at| (bits >> at & 1) as usize).collect())
        .collect()
}

/// How a stream continues after its last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Unreadable,
    Failed,
    End,
}

/// When the questions about whole calls are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    AtOnce,
    /// Before the next frame but one, the newest question first.
    Later,
    /// After all frames have arrived.
    Last,
}

struct Driven<'a> {
    gate: Gate,
    policies: &'a Policies,
    out: Vec<u8>,
    questions: Vec<(usize, CallQuestion)>,
    /// The calls that were allowed as a whole.
    allowed: [bool; 2],
    /// The calls that stream, because no rule needs their arguments.
    live: [bool; 2],
    pushed: usize,
    ended: bool,
}

impl<'a> Driven<'a> {
    fn new(dialect: Dialect, policies: &'a Policies) -> Self {
        Self {
            gate: Gate::new(dialect, drive::settings(OnDeny::Silent)),
            policies,
            out: Vec::new(),
            questions: Vec::new(),
            allowed: [false; 2],
            live: [false; 2],
            pushed: 0,
            ended: false,
        }
    }

    fn steps(&mut self) {
        while !self.ended {
            match self.gate.step(&mut self.out) {
                Step::Name(question) => {
                    let limits = SpentLimits::default();
                    let answer =
                        match self.policies.judge_name(&question.call, &drive::moment(), &limits) {
                            NameJudgement::Allow(permit, _) => {
                                self.live[which(question.call.name.raw())] = true;
                                NameDecision::Stream(permit)
                            }
                            NameJudgement::NeedArguments => NameDecision::NeedArguments,
                            NameJudgement::Deny(_) => panic!("no rule denies"),
                        };
                    self.gate.answer_name(question.slot, answer);
                }
                Step::Judge(question) => self.questions.push((self.pushed, question)),
                Step::OnlyDenied(_) => self.gate.conclude(),
                Step::Note(_) => {}
                Step::NeedMore | Step::Waiting => return,
                Step::Ended(_) => self.ended = true,
            }
        }
    }

    fn answer(&mut self, at: usize) {
        let (_, question) = self.questions.remove(at);
        let limits = SpentLimits::default();
        let judgement = self.policies.judge(&question.call, &drive::moment(), &limits);
        self.allowed[which(question.call.name.raw())] = true;
        self.gate.answer(question.slot, drive::answer(judgement, &question.call));
        self.steps();
    }

    fn answer_due(&mut self, when: Answers) {
        let pushed = self.pushed;
        let due = |asked: usize| match when {
            Answers::AtOnce => true,
            Answers::Later => asked + 2 <= pushed,
            Answers::Last => false,
        };
        while let Some(at) = self.questions.iter().rposition(|(asked, _)| due(*asked)) {
            self.answer(at);
        }
    }

    /// The output, with the chunks of InvokeModel decoded.
    fn said(&self) -> String {
        let out = String::from_utf8_lossy(&self.out);
        let mut said = String::new();
        for (place, text) in out.split("{\"bytes\":\"").enumerate() {
            let coded = text.split('"').next().filter(|_| place > 0);
            match coded.and_then(|coded| STANDARD.decode(coded).ok()) {
                Some(data) => said.push_str(&String::from_utf8_lossy(&data)),
                None => said.push_str(text),
            }
        }
        said
    }

    fn has(&self, mark: &str) -> bool {
        self.said().contains(mark)
    }
}

fn which(name: &str) -> usize {
    MARKS.iter().position(|marks| marks[0] == name).unwrap()
}

/// Both calls are held, or only one.
fn policy(held: &str) -> Policies {
    drive::policies(&format!(
        "policy: held\nrules:\n  - {{ id: never, tool: '{held}', when: {{ arg: absent, equals: never }}, verdict: deny, reason: never }}\n"
    ))
}

/// Drives a stream up to a break, and returns which calls left.
fn drive_to(api: Api, policies: &Policies, frames: &[Frame], cut: Cut, when: Answers) -> [bool; 2] {
    let mut driven = Driven::new(api.dialect, policies);
    let whole = call_events(api, 0).len();
    let mut come = [0; 2];
    let about = |driven: &Driven<'_>| {
        let order: Vec<_> = frames.iter().filter_map(|frame| frame.call).collect();
        let out = driven.said();
        format!("{api:?} {order:?} {cut:?} {when:?}:\n{out}")
    };
    for frame in frames {
        driven.gate.push(&frame.bytes);
        driven.pushed += 1;
        if let Some(call) = frame.call {
            come[call] += 1;
        }
        driven.steps();
        driven.answer_due(when);
        let said = driven.said();
        for call in [0, 1] {
            let [name, first, second] = MARKS[call].map(|mark| said.contains(mark));
            let complete = come[call] == whole && driven.allowed[call];
            let may_leave = match driven.live[call] {
                // The frame that completes its arguments waits for the verdict.
                true => !second || driven.allowed[call],
                false => !(name || first || second) || complete,
            };
            assert!(may_leave, "call {call} {}", about(&driven));
        }
    }
    match cut {
        Cut::Unreadable => driven.gate.push(&garbage(api)),
        Cut::Failed => driven.gate.close(Close::Failed),
        Cut::End => driven.gate.close(Close::End),
    }
    driven.steps();
    while !driven.questions.is_empty() {
        driven.answer(0);
    }
    driven.gate.close(Close::End);
    driven.steps();
    while !driven.questions.is_empty() {
        driven.answer(0);
    }
    assert!(driven.ended, "{}", about(&driven));
    let said = driven.said();
    [0, 1].map(|call| {
        let marks = MARKS[call].map(|mark| said.contains(mark));
        let complete = come[call] == whole && driven.allowed[call];
        if !driven.live[call] {
            assert!(marks == [complete && marks[0]; 3], "call {call} {}", about(&driven));
        }
        marks[0]
    })
}

#[test]
fn a_held_call_leaves_when_it_is_complete_and_then_whole() {
    for api in apis() {
        for held in ["*", "tool_a", "tool_b"] {
            let policies = policy(held);
            for order in orders(api) {
                let frames = scene(api, &order);
                for length in 1..=frames.len() {
                    for cut in [Cut::Unreadable, Cut::Failed, Cut::End] {
                        for when in [Answers::AtOnce, Answers::Later, Answers::Last] {
                            drive_to(api, &policies, &frames[..length], cut, when);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn consecutive_calls_leave_one_by_one() {
    for api in apis() {
        let length = call_events(api, 0).len();
        let order = [vec![0; length], vec![1; length]].concat();
        let frames = scene(api, &order);
        // One frame of the second call has arrived.
        let some = &frames[..frames.len() - length + 1];
        for when in [Answers::AtOnce, Answers::Later, Answers::Last] {
            for cut in [Cut::Unreadable, Cut::Failed, Cut::End] {
                let left = drive_to(api, &policy("*"), some, cut, when);
                let early = when == Answers::AtOnce;
                assert!(left[0] || !early, "{api:?} {cut:?} {when:?}");
                assert!(!left[1], "{api:?} {cut:?} {when:?}");
            }
        }
        for cut in [Cut::Failed, Cut::End] {
            let left = drive_to(api, &policy("*"), &frames, cut, Answers::Last);
            assert_eq!(left, [true, true], "{api:?} {cut:?}");
        }
    }
}

#[test]
fn no_byte_of_a_held_call_leaves_before_its_last() {
    for api in apis() {
        let policies = policy("*");
        let length = call_events(api, 0).len();
        let order: Vec<usize> = [vec![0; length], vec![1; length]].concat();
        let frames = scene(api, &order);
        let first: Vec<u8> =
            frames[..=length].iter().flat_map(|frame| frame.bytes.clone()).collect();
        let mut driven = Driven::new(api.dialect, &policies);
        for (at, byte) in first.iter().enumerate() {
            driven.gate.push(&[*byte]);
            driven.steps();
            driven.answer_due(Answers::AtOnce);
            // The line that ends the last frame may be missing.
            let complete = at + 2 >= first.len();
            assert!(complete || !driven.has(MARKS[0][0]), "{api:?} byte {at}");
        }
        assert!(driven.has(MARKS[0][2]), "{api:?}");
    }
}
