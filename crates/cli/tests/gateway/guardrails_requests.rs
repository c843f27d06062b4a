//! Rules about text, on requests that are no conversation, and on odd places in those that are.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};

use crate::support::{CHAT, MESSAGES, gateway};

const RESPONSES: &str = "/v1/responses";
const GEMINI: &str = "/v1beta/models/m:generateContent";

const MASK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-word, in: request, keywords: [xyzzy], verdict: mask, reason: Not that word. }\n";
const BLOCK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-word, in: request, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";

/// Requests with `xyzzy` in every place for text.
const SAID: [(&str, &str); 44] = [
    (
        "/model/amazon.nova-canvas/invoke",
        r#"{"taskType":"INPAINTING","inPaintingParams":{"maskPrompt":"xyzzy"}}"#,
    ),
    (
        "/model/amazon.nova-2-multimodal-embeddings/invoke",
        r#"{"taskType":"SINGLE_EMBEDDING","singleEmbeddingParams":{"text":{"value":"xyzzy"}}}"#,
    ),
    ("/model/stability.sd3/invoke", r#"{"prompt":"a","negative_prompt":"xyzzy"}"#),
    ("/model/twelvelabs.marengo/invoke", r#"{"text":{"inputText":"xyzzy"}}"#),
    ("/model/m/converse", r#"{"promptVariables":{"a":{"text":"xyzzy"}}}"#),
    (RESPONSES, r#"{"input":[{"type":"memo","role":"user","memo":"xyzzy"}]}"#),
    (RESPONSES, r#"{"input":[{"type":"memo","name":"xyzzy"}]}"#),
    (MESSAGES, r#"{"messages":[{"role":"user","content":[{"type":"memo","filename":"xyzzy"}]}]}"#),
    (CHAT, r#"{"messages":[],"extra_body":{"messages":[{"role":"user","content":"xyzzy"}]}}"#),
    ("/api/generate", r#"{"model":"m","prompt":"hi","template":"{{ .Prompt }} xyzzy"}"#),
    ("/v1/embeddings", r#"{"model":"m","input":"say xyzzy"}"#),
    ("/v1/embeddings", r#"{"model":"m","input":["a","say xyzzy"],"encoding_format":"float"}"#),
    ("/v1/moderations", r#"{"input":[{"type":"text","text":"say xyzzy"}]}"#),
    ("/v1/images/generations", r#"{"model":"m","prompt":"draw xyzzy","size":"1024x1024"}"#),
    ("/v1/images/edits", r#"{"model":"m","prompt":"draw xyzzy","images":[{"file_id":"f"}]}"#),
    ("/v1/audio/speech", r#"{"model":"m","input":"say xyzzy","voice":"alloy"}"#),
    ("/v1/audio/speech", r#"{"model":"m","input":"hi","instructions":"like xyzzy"}"#),
    ("/v1/vector_stores/vs/search", r#"{"query":"find xyzzy"}"#),
    ("/v1beta/models/m:embedContent", r#"{"content":{"parts":[{"text":"say xyzzy"}]}}"#),
    (
        "/v1beta/models/m:batchEmbedContents",
        r#"{"requests":[{"model":"models/m","title":"xyzzy","content":{"parts":[{"text":"hi"}]}}]}"#,
    ),
    ("/v1beta/openai/embeddings", r#"{"input":"say xyzzy"}"#),
    ("/v2/embed", r#"{"model":"m","texts":["say xyzzy"],"input_type":"search_document"}"#),
    ("/v2/embed", r#"{"inputs":[{"content":[{"type":"text","text":"say xyzzy"}]}]}"#),
    ("/v2/rerank", r#"{"query":"find xyzzy","documents":["a"]}"#),
    ("/v2/rerank", r#"{"query":"a","documents":[{"id":"1","xyzzy":"b"}]}"#),
    ("/api/embed", r#"{"model":"m","input":["say xyzzy"]}"#),
    ("/api/embeddings", r#"{"model":"m","prompt":"say xyzzy"}"#),
    ("/api/create", r#"{"model":"m","from":"b","system":"You are xyzzy."}"#),
    ("/api/create", r#"{"model":"m","messages":[{"role":"user","content":"say xyzzy"}]}"#),
    (
        "/bedrock/guardrail/g/version/1/apply",
        r#"{"source":"INPUT","content":[{"text":{"text":"xyzzy"}}]}"#,
    ),
    ("/model/cohere.embed-v4/invoke", r#"{"texts":["say xyzzy"]}"#),
    ("/model/cohere.rerank/invoke", r#"{"query":"find xyzzy","documents":["a"]}"#),
    ("/model/amazon.nova-canvas/invoke", r#"{"textToImageParams":{"text":"draw xyzzy"}}"#),
    (CHAT, r#"{"messages":[{"role":"user","name":"xyzzy","content":"hi"}]}"#),
    (
        CHAT,
        r#"{"messages":[{"role":"user","content":[{"type":"note","body":{"lines":["xyzzy"]}}]}]}"#,
    ),
    (CHAT, r#"{"messages":[{"role":"user","content":[{"type":"image_note","caption":"xyzzy"}]}]}"#),
    (CHAT, r#"{"messages":[],"stop":["xyzzy"]}"#),
    (MESSAGES, r#"{"messages":[],"stop_sequences":["xyzzy"]}"#),
    (MESSAGES, r#"{"messages":[{"role":"user","content":[{"type":"memo","memo":"xyzzy"}]}]}"#),
    (RESPONSES, r#"{"input":[{"type":"memo","memo":"xyzzy"}]}"#),
    (GEMINI, r#"{"contents":[],"generationConfig":{"stopSequences":["xyzzy"]}}"#),
    (GEMINI, r#"{"contents":[{"role":"user","parts":[{"memo":{"line":"xyzzy"}}]}]}"#),
    ("/model/m/converse", r#"{"messages":[],"inferenceConfig":{"stopSequences":["xyzzy"]}}"#),
    ("/api/chat", r#"{"messages":[],"options":{"stop":["xyzzy"]}}"#),
];

/// Requests in which it names something, or is data, or says what must come back as it came.
const NOT_SAID: [(&str, &str); 12] = [
    (
        RESPONSES,
        r#"{"input":"hi","text":{"format":{"type":"json_schema","name":"xyzzy","schema":{}}}}"#,
    ),
    (
        "/model/amazon.nova-canvas/invoke",
        r#"{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"a","conditionImage":"a"},"modelId":"m","quality":"xyzzy"}"#,
    ),
    (
        CHAT,
        r#"{"messages":[{"role":"assistant","reasoning_content":"xyzzy","content":"hi","tool_calls":[{"function":{"name":"xyzzy","arguments":"xyzzy"}}]}]}"#,
    ),
    ("/v1/embeddings", r#"{"model":"xyzzy", "input" : "hi" ,"user":"xyzzy"}"#),
    ("/v1/audio/speech", r#"{"model":"m","input":"hi","voice":"xyzzy"}"#),
    ("/v2/embed", r#"{"model":"m","images":["data:image/png;base64,xyzzy"]}"#),
    ("/api/create", r#"{"model":"xyzzy","from":"xyzzy","files":{"a":"xyzzy"}}"#),
    ("/api/show", r#"{"model":"xyzzy"}"#),
    (
        CHAT,
        r#"{"messages":[{"role":"tool","tool_call_id":"xyzzy","name":"xyzzy","content":"hi"}]}"#,
    ),
    (
        CHAT,
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"xyzzy"}}]}]}"#,
    ),
    (
        MESSAGES,
        r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"xyzzy","signature":"s"},{"type":"new_use","name":"n","input":{"a":"xyzzy"}}]}]}"#,
    ),
    (
        "/v1beta/interactions",
        r#"{"input":[{"type":"thought","signature":"xyzzy","summary":[{"type":"text","text":"xyzzy"}]}]}"#,
    ),
];

fn upstream() -> Upstream {
    Upstream::always(Answer::json(200, r#"{"object":"list","data":[]}"#))
}

fn ask(path: &str, body: &str) -> Ask {
    Ask::post(path, body.to_owned()).header("authorization", "Bearer none")
}

fn last(upstream: &Upstream) -> String {
    String::from_utf8(upstream.requests().pop().expect("a request").body.to_vec()).unwrap()
}

#[test]
fn what_is_said_to_any_path_is_masked() {
    let upstream = upstream();
    let gateway = gateway(&upstream, MASK, "");
    for (path, body) in SAID {
        let before = upstream.requests().len();
        let reply = ask(path, body).send(gateway.address());
        assert_eq!(upstream.requests().len(), before + 1, "{path} {body}: {}", reply.text());
        let sent = last(&upstream);
        assert!(!sent.contains("xyzzy"), "{path}: {sent}");
        let rest: String = body.split("xyzzy").collect();
        assert!(sent.len() > rest.len(), "{path}: {sent}");
        assert!(serde_json::from_str::<serde_json::Value>(&sent).is_ok(), "{sent}");
    }
}

#[test]
fn what_is_said_to_any_path_is_blocked() {
    let upstream = upstream();
    let gateway = gateway(&upstream, BLOCK, "");
    for (path, body) in SAID {
        let reply = ask(path, body).send(gateway.address());
        assert_eq!(reply.status, 400, "{path} {body}: {}", reply.text());
    }
    assert!(upstream.requests().is_empty(), "the provider was asked");
}

#[test]
fn what_nobody_says_stays_as_it_is() {
    let upstream = upstream();
    for policy in [MASK, BLOCK] {
        let gateway = gateway(&upstream, policy, "");
        for (path, body) in NOT_SAID {
            ask(path, body).send(gateway.address());
            assert_eq!(last(&upstream), body, "{path}");
        }
    }
}

/// A path where only JSON is understood is read whatever the header says. Files go up unread.
#[test]
fn only_forms_go_up_unread() {
    let upstream = upstream();
    let gateway = gateway(&upstream, BLOCK, "");
    let form = "--b\r\ncontent-disposition: form-data; name=\"prompt\"\r\n\r\nxyzzy\r\n--b--\r\n";
    let kind = "multipart/form-data; boundary=b";
    for (path, body, kind, goes_up) in [
        ("/v1/images/edits", form, kind, true),
        ("/v1/audio/transcriptions", form, kind, true),
        ("/v1/images/edits", form, "text/plain", false),
        ("/v1/embeddings", form, kind, false),
        ("/api/embed", r#"{"input":"xyzzy"}"#, kind, false),
        ("/api/embed", "{ not json", "application/json", false),
    ] {
        let before = upstream.requests().len();
        let form = Ask::new("POST", path).header("content-type", kind).body(body);
        let reply = form.send(gateway.address());
        let went_up = upstream.requests().len() > before;
        assert_eq!(went_up, goes_up, "{path} {kind}: {} {}", reply.status, reply.text());
        assert_eq!(reply.status == 400, !goes_up, "{path} {kind}");
    }
}

/// Without a rule on requests nothing is read.
#[test]
fn rules_on_responses_leave_these_paths_alone() {
    let upstream = upstream();
    let policy = BLOCK.replace("in: request", "in: response");
    let gateway = gateway(&upstream, &policy, "");
    ask("/v1/embeddings", "{ not json").send(gateway.address());
    assert_eq!(last(&upstream), "{ not json");
}
