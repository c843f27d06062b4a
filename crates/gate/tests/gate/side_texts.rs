//! Text rules on texts that are not part of the answer: refusals, transcripts, quotes, summaries,
//! the bodies of models that only write text. Each in pieces and whole, masked and blocked, at
//! every split.

use callgate_call::{OriginFields, Surface};
use callgate_dialect::Dialect;
use callgate_gate::{Ending, Note, OnDeny, Settings};
use callgate_policy::{Direction, Policies};
use callgate_testkit::drive::{self, Run};
use callgate_testkit::{made, shapes};
use serde_json::{Value, json};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn policies(text: &str) -> Policies {
    drive::policies(&format!("policy: p\nrules: []\ntext: [{text}]\n"))
}

fn mask() -> Policies {
    policies("{ id: no-keys, detect: [secret], verdict: mask, reason: No keys. }")
}

fn block() -> Policies {
    policies("{ id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }")
}

fn audit() -> Policies {
    policies("{ id: see, detect: [secret], verdict: audit, reason: Seen. }")
}

fn run(dialect: Dialect, policies: &Policies, chunks: Vec<&[u8]>) -> Run {
    let text = policies.text_guard(Direction::Response, &OriginFields::at(Surface::Response));
    let settings = Settings { text, ..drive::settings(OnDeny::Explain) };
    drive::run(dialect, settings, policies, chunks)
}

/// The common result at every split.
fn every_cut(dialect: Dialect, policies: &Policies, body: &[u8]) -> Run {
    let whole = run(dialect, policies, vec![body]);
    for chunks in drive::cuttings(body, 0..body.len()) {
        let at = chunks[0].len();
        let other = run(dialect, policies, chunks);
        assert_eq!(other.out, whole.out, "{dialect:?} cut at {at}");
        assert_eq!(other.ending, whole.ending, "{dialect:?} cut at {at}");
    }
    whole
}

/// The documents a client reads.
fn documents(dialect: Dialect, out: &[u8]) -> Vec<Value> {
    let frames = shapes::frames(dialect, out);
    frames.iter().filter_map(|data| serde_json::from_slice(data).ok()).collect()
}

/// What a client reads in one place, all pieces joined.
fn said(dialect: Dialect, out: &[u8], place: &str) -> String {
    let documents = documents(dialect, out);
    documents.iter().filter_map(|data| data.pointer(place)?.as_str()).collect()
}

fn hits(run: &Run) -> usize {
    run.notes.iter().filter(|note| matches!(note, Note::Guardrail(_))).count()
}

/// A place where a text comes in pieces.
struct InPieces {
    name: &'static str,
    dialect: Dialect,
    /// Where a client reads it.
    place: &'static str,
    before: Vec<Value>,
    piece: fn(&str) -> Value,
    behind: Vec<Value>,
}

impl InPieces {
    fn body(&self, pieces: &[&str]) -> Vec<u8> {
        let pieces = pieces.iter().map(|piece| (self.piece)(piece));
        let events = self.before.iter().cloned().chain(pieces).chain(self.behind.clone());
        let name = |data: &Value| match self.dialect {
            Dialect::Converse => data["name"].as_str().unwrap_or("contentBlockDelta").to_owned(),
            _ => data["type"].as_str().unwrap_or_default().to_owned(),
        };
        made::events(self.dialect, events.map(|data| (name(&data), data)).collect())
    }
}

fn chunk(delta: &Value, finish: &Value) -> Value {
    json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"m",
        "choices":[{"index":0,"delta":delta,"finish_reason":finish}]})
}

fn response(status: &str) -> Value {
    json!({"type":format!("response.{status}"),"response":{"id":"r","object":"response","status":status,"model":"m","output":[]}})
}

fn in_pieces() -> Vec<InPieces> {
    let stop = || vec![chunk(&json!({}), &json!("stop"))];
    let reasoning = json!({"type":"response.output_item.added","output_index":0,
        "item":{"id":"rs","type":"reasoning","summary":[]}});
    let plain = |name, place, piece, behind| InPieces {
        name,
        dialect: Dialect::Invoke,
        place,
        before: vec![],
        piece,
        behind: vec![behind],
    };
    vec![
        InPieces {
            name: "a refusal of Chat",
            dialect: Dialect::OpenAiChat,
            place: "/choices/0/delta/refusal",
            before: vec![],
            piece: |text| chunk(&json!({"refusal":text}), &Value::Null),
            behind: stop(),
        },
        InPieces {
            name: "a transcript of Chat",
            dialect: Dialect::OpenAiChat,
            place: "/choices/0/delta/audio/transcript",
            before: vec![],
            piece: |text| chunk(&json!({"audio":{"id":"a","transcript":text}}), &Value::Null),
            behind: stop(),
        },
        InPieces {
            name: "a transcript of Responses",
            dialect: Dialect::Responses,
            place: "/delta",
            before: vec![response("created")],
            piece: |text| json!({"type":"response.audio.transcript.delta","delta":text}),
            behind: vec![response("completed")],
        },
        InPieces {
            name: "a summary of Responses",
            dialect: Dialect::Responses,
            place: "/delta",
            before: vec![response("created"), reasoning],
            piece: |text| {
                json!({"type":"response.reasoning_summary_text.delta","item_id":"rs",
                    "output_index":0,"summary_index":0,"delta":text})
            },
            behind: vec![
                json!({"type":"response.output_item.done","output_index":0,
                    "item":{"id":"rs","type":"reasoning","summary":[]}}),
                response("completed"),
            ],
        },
        plain(
            "Titan",
            "/outputText",
            |text| json!({"outputText":text,"index":0,"completionReason":null}),
            json!({"outputText":"","index":0,"completionReason":"FINISH"}),
        ),
        plain(
            "Mistral",
            "/outputs/0/text",
            |text| json!({"outputs":[{"text":text,"stop_reason":null}]}),
            json!({"outputs":[{"text":"","stop_reason":"stop"}]}),
        ),
        plain(
            "Llama",
            "/generation",
            |text| json!({"generation":text,"prompt_token_count":null,"stop_reason":null}),
            json!({"generation":"","stop_reason":"stop"}),
        ),
        plain(
            "Command",
            "/text",
            |text| json!({"event_type":"text-generation","text":text,"is_finished":false}),
            json!({"event_type":"stream-end","is_finished":true,"finish_reason":"COMPLETE"}),
        ),
        InPieces {
            name: "a completion",
            dialect: Dialect::OpenAiChat,
            place: "/choices/0/text",
            before: vec![],
            piece: |text| json!({"id":"c","choices":[{"index":0,"text":text,"finish_reason":null}]}),
            behind: vec![
                json!({"id":"c","choices":[{"index":0,"text":"","finish_reason":"stop"}]}),
            ],
        },
    ]
}

#[test]
fn a_text_in_pieces_is_masked_in_every_place() {
    let text = format!("The key is {SECRET}, keep it.");
    for case in in_pieces() {
        for at in [1, 9, 13, 20, 40, text.len() - 3] {
            let body = case.body(&[&text[..at], &text[at..]]);
            let run = run(case.dialect, &mask(), vec![&body]);
            let left = said(case.dialect, &run.out, case.place);
            assert!(left.starts_with("The key is ["), "{}: {left}", case.name);
            assert!(left.ends_with(", keep it."), "{}: {left}", case.name);
            assert!(!left.contains("hp_abc") && !left.contains("789"), "{}: {left}", case.name);
            assert_eq!((run.ending.clone(), hits(&run)), (Ending::Clean, 1), "{}", case.name);
        }
        let three = case.body(&[&text[..13], &text[13..30], &text[30..]]);
        let run = every_cut(case.dialect, &mask(), &three);
        let left = said(case.dialect, &run.out, case.place);
        assert!(left.starts_with("The key is [") && left.ends_with(", keep it."), "{left}");
    }
}

/// Text that is held back at the end of a text leaves before the response ends.
#[test]
fn nothing_is_lost_of_a_text_that_only_begins_like_a_match() {
    for case in in_pieces() {
        let run = every_cut(case.dialect, &mask(), &case.body(&["so: ", "ghp_abc"]));
        assert_eq!(said(case.dialect, &run.out, case.place), "so: ghp_abc", "{}", case.name);
        let plain = case.body(&["nothing ", "to see"]);
        let run = every_cut(case.dialect, &block(), &plain);
        assert_eq!(run.out, plain, "{}", case.name);
    }
}

#[test]
fn a_text_in_pieces_is_blocked_in_every_place() {
    for case in in_pieces() {
        let run = every_cut(case.dialect, &block(), &case.body(&["Say xy", "zzy now", " go on"]));
        let left = said(case.dialect, &run.out, case.place);
        assert!(!left.contains("xy") && !left.contains("go on"), "{}: {left}", case.name);
        match &run.ending {
            Ending::Blocked => {}
            Ending::Error(why) => assert!(why.contains("content policy"), "{}", case.name),
            other => panic!("{}: {other:?}", case.name),
        }
    }
}

/// Texts that come whole: dialect, events before, the event that contains it, events after.
fn wholes(text: &str) -> Vec<(&'static str, Dialect, Vec<u8>)> {
    let body = |value: Value| value.to_string().into_bytes();
    let named = |dialect, events: Vec<(&str, Value)>| {
        let events = events.into_iter().map(|(name, data)| (name.to_owned(), data));
        made::events(dialect, events.collect())
    };
    let typed = |dialect, events: Vec<Value>| {
        let name = |data: &Value| data["type"].as_str().unwrap_or_default().to_owned();
        made::events(dialect, events.into_iter().map(|data| (name(&data), data)).collect())
    };
    let citation =
        json!({"type":"char_location","cited_text":text,"document_index":0,"document_title":text});
    let quoting = json!({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"See."}]},"finishReason":"STOP",
        "groundingMetadata":{"groundingChunks":[{"web":{"uri":"u","title":text}},{"retrievedContext":{"text":text}}],
        "groundingSupports":[{"segment":{"endIndex":4,"text":text},"groundingChunkIndices":[0]}]}}]});
    let message = json!({"output":{"message":{"role":"assistant","content":[{"citationsContent":{"content":[{"text":text}],
        "citations":[{"title":text,"sourceContent":[{"text":text}]}]}}]}},"stopReason":"end_turn"});
    let summary =
        json!({"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":text}]});
    vec![
        (
            "citations of Messages",
            Dialect::Anthropic,
            typed(
                Dialect::Anthropic,
                vec![
                    json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}),
                    json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}),
                    json!({"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":citation}}),
                    json!({"type":"content_block_stop","index":0}),
                    json!({"type":"message_delta","delta":{"stop_reason":"end_turn"}}),
                    json!({"type":"message_stop"}),
                ],
            ),
        ),
        (
            "citations of a message",
            Dialect::Anthropic,
            body(
                json!({"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"See.","citations":[citation]}],"stop_reason":"end_turn"}),
            ),
        ),
        ("grounding, streamed", Dialect::Gemini, typed(Dialect::Gemini, vec![quoting.clone()])),
        ("grounding", Dialect::Gemini, body(quoting)),
        ("citationsContent", Dialect::Converse, body(message)),
        (
            "a citation of Converse",
            Dialect::Converse,
            named(
                Dialect::Converse,
                vec![
                    ("messageStart", json!({"role":"assistant"})),
                    ("contentBlockDelta", json!({"contentBlockIndex":0,"delta":{"text":"See."}})),
                    (
                        "contentBlockDelta",
                        json!({"contentBlockIndex":0,"delta":{"citation":{"title":text,"sourceContent":[{"text":text}]}}}),
                    ),
                    ("contentBlockStop", json!({"contentBlockIndex":0})),
                    ("messageStop", json!({"stopReason":"end_turn"})),
                ],
            ),
        ),
        (
            "annotations of Responses",
            Dialect::Responses,
            body(
                json!({"id":"r","object":"response","status":"completed","model":"m","output":[{"id":"m","type":"message","role":"assistant",
                "content":[{"type":"output_text","text":"See.","annotations":[{"type":"url_citation","url":"u","title":text}]}]}]}),
            ),
        ),
        (
            "a summary of Responses",
            Dialect::Responses,
            typed(
                Dialect::Responses,
                vec![
                    response("created"),
                    json!({"type":"response.output_item.done","output_index":0,"item":summary}),
                    json!({"type":"response.completed","response":{"id":"r","object":"response","status":"completed","model":"m","output":[summary]}}),
                ],
            ),
        ),
        (
            "a transcript of a completion",
            Dialect::OpenAiChat,
            body(
                json!({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
                "message":{"role":"assistant","content":null,"refusal":text,"audio":{"id":"a","data":"","transcript":text},
                "annotations":[{"type":"url_citation","url_citation":{"title":text,"content":text}}]}}]}),
            ),
        ),
        (
            "Titan",
            Dialect::Invoke,
            body(
                json!({"inputTextTokenCount":1,"results":[{"outputText":text,"completionReason":"FINISH"}]}),
            ),
        ),
        ("Mistral", Dialect::Invoke, body(json!({"outputs":[{"text":text,"stop_reason":"stop"}]}))),
        (
            "Command",
            Dialect::Invoke,
            body(json!({"generations":[{"text":text,"finish_reason":"COMPLETE"}],"prompt":"p"})),
        ),
        (
            "Command R",
            Dialect::Invoke,
            body(
                json!({"text":text,"citations":[{"text":text}],"chat_history":[{"role":"CHATBOT","message":text}]}),
            ),
        ),
        (
            "Jurassic",
            Dialect::Invoke,
            body(
                json!({"completions":[{"data":{"text":text,"tokens":[{"generatedToken":{"token":text}}]}}]}),
            ),
        ),
        ("Llama", Dialect::Invoke, body(json!({"generation":text,"stop_reason":"stop"}))),
    ]
}

#[test]
fn a_whole_text_is_masked_in_every_place() {
    for (name, dialect, body) in wholes(&format!("The key is {SECRET}, keep it.")) {
        let run = every_cut(dialect, &mask(), &body);
        let left = format!("{:?}", documents(dialect, &run.out));
        assert!(!left.contains("hp_abc"), "{name}: {left}");
        assert!(left.contains("The key is [") && left.contains(", keep it."), "{name}: {left}");
        assert_eq!(run.ending, Ending::Clean, "{name}");
        assert!(hits(&run) > 0, "{name}");
    }
    for (name, dialect, body) in wholes("Nothing to see.") {
        assert_eq!(every_cut(dialect, &mask(), &body).out, body, "{name}");
    }
}

#[test]
fn a_whole_text_is_blocked_in_every_place() {
    for (name, dialect, body) in wholes("Say xyzzy now") {
        let run = every_cut(dialect, &block(), &body);
        let left = format!("{:?}", documents(dialect, &run.out));
        assert!(!left.contains("xyzzy"), "{name}: {left}");
        let is_cut = run.ending == Ending::Blocked
            || matches!(&run.ending, Ending::Error(why) if why.contains("content policy"));
        assert!(is_cut, "{name}: {:?}", run.ending);
    }
}

/// Two texts that come in turns are two texts.
#[test]
fn texts_that_come_in_turns_are_kept_apart() {
    let (head, tail) = SECRET.split_at(20);
    let line = |response: &str, content: &str, done: bool| json!({"model":"m","response":response,"message":{"role":"assistant","content":content},"done":done});
    let lines = [line(head, "one ", false), line(tail, "two", false), line("", "", true)];
    let events = lines.into_iter().map(|line| (String::new(), line)).collect();
    let body = made::events(Dialect::Ollama, events);
    let run = every_cut(Dialect::Ollama, &mask(), &body);
    assert_eq!(said(Dialect::Ollama, &run.out, "/message/content"), "one two");
    let left = said(Dialect::Ollama, &run.out, "/response");
    assert!(!left.contains("ghp_") && left.starts_with('['), "{left}");

    let delta = |delta: Value| (String::new(), chunk(&delta, &Value::Null));
    let events = vec![
        delta(json!({"content":"one ","refusal":head})),
        delta(json!({"content":"two","refusal":tail})),
        (String::new(), chunk(&json!({}), &json!("stop"))),
    ];
    let run = every_cut(Dialect::OpenAiChat, &mask(), &made::events(Dialect::OpenAiChat, events));
    assert_eq!(said(Dialect::OpenAiChat, &run.out, "/choices/0/delta/content"), "one two");
    let left = said(Dialect::OpenAiChat, &run.out, "/choices/0/delta/refusal");
    assert!(!left.contains("ghp_") && left.starts_with('['), "{left}");

    let part = |index: usize, text: &str| {
        let event = "response.output_text.delta";
        (
            event.to_owned(),
            json!({"type":event,"item_id":"m","output_index":0,"content_index":index,"delta":text}),
        )
    };
    let whole = |value: Value| (value["type"].as_str().unwrap().to_owned(), value);
    let events = vec![
        whole(response("created")),
        whole(
            json!({"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","role":"assistant","content":[]}}),
        ),
        part(0, head),
        part(1, "one "),
        part(0, tail),
        part(1, "two"),
        whole(response("completed")),
    ];
    let run = every_cut(Dialect::Responses, &mask(), &made::events(Dialect::Responses, events));
    let left = said(Dialect::Responses, &run.out, "/delta");
    assert!(!left.contains("ghp_") && !left.contains(&tail[3..]), "{left}");
}

/// Thinking: dialect and body.
fn thoughts() -> Vec<(Dialect, Vec<u8>)> {
    let (head, tail) = SECRET.split_at(20);
    let chat = |delta: Value| (String::new(), chunk(&delta, &Value::Null));
    let typed = |value: Value| (value["type"].as_str().unwrap_or_default().to_owned(), value);
    let thinking = |text: &str| {
        typed(
            json!({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":text}}),
        )
    };
    let gemini = |text: &str| {
        (
            String::new(),
            json!({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":text,"thought":true}]}}]}),
        )
    };
    let ollama = |text: &str, done: bool| {
        (
            String::new(),
            json!({"model":"m","message":{"role":"assistant","content":"","thinking":text},"done":done}),
        )
    };
    let converse = |text: &str| {
        (
            "contentBlockDelta".to_owned(),
            json!({"contentBlockIndex":0,"delta":{"reasoningContent":{"text":text}}}),
        )
    };
    let all = vec![
        (
            Dialect::Anthropic,
            vec![
                typed(
                    json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}),
                ),
                typed(
                    json!({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}),
                ),
                thinking(head),
                thinking(tail),
                typed(json!({"type":"content_block_stop","index":0})),
                typed(json!({"type":"message_stop"})),
            ],
        ),
        (
            Dialect::OpenAiChat,
            vec![
                chat(json!({"reasoning_content":head})),
                chat(json!({"reasoning_content":tail})),
                (String::new(), chunk(&json!({}), &json!("stop"))),
            ],
        ),
        (Dialect::Gemini, vec![gemini(head), gemini(tail)]),
        (Dialect::Ollama, vec![ollama(head, false), ollama(tail, false), ollama("", true)]),
        (
            Dialect::Converse,
            vec![
                ("messageStart".to_owned(), json!({"role":"assistant"})),
                converse(head),
                converse(tail),
                ("contentBlockStop".to_owned(), json!({"contentBlockIndex":0})),
                ("messageStop".to_owned(), json!({"stopReason":"end_turn"})),
            ],
        ),
    ];
    all.into_iter().map(|(dialect, events)| (dialect, made::events(dialect, events))).collect()
}

/// Thinking is signed: audit rules scan it, the others leave it alone.
#[test]
fn thinking_is_recorded_and_unchanged() {
    for (dialect, body) in thoughts() {
        let run = every_cut(dialect, &audit(), &body);
        assert_eq!((run.out == body, hits(&run)), (true, 1), "{dialect:?}: {}", run.text());
        let run = every_cut(dialect, &mask(), &body);
        assert_eq!((run.out == body, hits(&run)), (true, 0), "{dialect:?}: {}", run.text());
        assert_eq!(run.ending, Ending::Clean, "{dialect:?}");
    }
    let message = json!({"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn",
        "content":[{"type":"thinking","thinking":SECRET,"signature":"s"},{"type":"text","text":"Fine."}]});
    let body = message.to_string().into_bytes();
    let run = every_cut(Dialect::Anthropic, &audit(), &body);
    assert_eq!((run.out == body, hits(&run)), (true, 1));
    let shadow = policies("{ id: s, detect: [secret], verdict: mask, mode: shadow, reason: No. }");
    assert_eq!(hits(&run_of(&shadow, &body)), 0, "it would not be masked");
}

fn run_of(policies: &Policies, body: &[u8]) -> Run {
    run(Dialect::Anthropic, policies, vec![body])
}
