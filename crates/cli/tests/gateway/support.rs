//! What most of these tests need: gateways, requests, responses.

use std::path::Path;

use callgate_dialect::Dialect;
use callgate_testkit::corpus::{self, Case};
use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::provider::TurnPart;
use callgate_testkit::upstream::{Answer, BodyCoding, Request, Upstream};
use serde_json::{Value, json};

/// Allows everything by name.
pub(crate) const ALLOW: &str = "policy: allow\nrules: []\n";

/// Denies `delete_all` by its name.
pub(crate) const DENY: &str = "policy: deny\nrules:\n  - { id: no-delete, tool: delete_all, verdict: deny, reason: Nothing is deleted. }\n";

/// Where each API has its answers.
pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_callgate"))
}

/// Whether this process can start programs as any other user. Where it cannot, a test of that proves
/// nothing and says so: nobody should have to be root to run the tests.
pub(crate) fn can_become_anybody() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let can = whole && rustix::process::geteuid().as_raw() == 0;
    if !can {
        eprintln!("not tried: only root can become another user");
    }
    can
}

/// A gateway in front of an upstream.
#[track_caller]
pub(crate) fn gateway(upstream: &Upstream, policy: &str, settings: &str) -> Gateway {
    setup(upstream, policy, settings).start()
}

/// A gateway to be, in front of an upstream. Unless a test says otherwise, it does not ask the
/// upstream again after a denial: most upstreams here know one answer.
pub(crate) fn setup(upstream: &Upstream, policy: &str, settings: &str) -> Setup {
    let explain = if settings.contains("on_deny:") { "" } else { "\non_deny: explain" };
    Setup::new(binary(), &upstream.url(), policy, &format!("{settings}{explain}"))
}

/// A request as small as an API takes it.
pub(crate) fn ask(path: &str) -> Ask {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let body = json!({ "model": "any", "max_tokens": 64, "stream": true, "messages": messages });
    Ask::post(path, body.to_string()).header("authorization", "Bearer none")
}

/// A request for one case of the corpus, of a server made with [`corpus_server`].
pub(crate) fn ask_for(case: &Case, model: &str) -> Ask {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let path = path_of(case).replace("{model}", model);
    let body = match path.contains(model) {
        true => json!({ "messages": messages }),
        false => json!({ "model": model, "messages": messages }),
    };
    Ask::post(&path, body.to_string()).header("authorization", "Bearer none")
}

/// Where a case is asked for; `{model}` stands for the model, where a path names it.
pub(crate) fn path_of(case: &Case) -> &'static str {
    match (case.dialect, case.is_stream) {
        (Dialect::Anthropic, _) => MESSAGES,
        (Dialect::OpenAiChat, _) => CHAT,
        (Dialect::Responses, _) => "/v1/responses",
        (Dialect::Gemini, true) => "/v1beta/models/{model}:streamGenerateContent",
        (Dialect::Gemini, false) => "/v1beta/models/{model}:generateContent",
        (Dialect::Interactions, _) => "/v1beta/interactions",
        (Dialect::Ollama, _) => "/api/chat",
        (Dialect::Cohere, _) => "/v2/chat",
        (Dialect::Converse, true) => "/model/{model}/converse-stream",
        (Dialect::Converse, false) => "/model/{model}/converse",
        (Dialect::Invoke, true) => "/model/{model}/invoke-with-response-stream",
        (Dialect::Invoke, false) => "/model/{model}/invoke",
    }
}

/// A case of the corpus.
pub(crate) fn case(name: &str) -> Case {
    corpus::all().into_iter().find(|case| case.name == name).expect(name)
}

/// A server that answers with the case whose number is in the model: `case-17`, `case-17-dribble`,
/// `case-17-gzip`, `case-17-gzip-br`.
pub(crate) fn corpus_server() -> Upstream {
    let cases = corpus::all();
    Upstream::start(move |request| from_corpus(&cases, request))
}

fn from_corpus(cases: &[Case], request: &Request) -> Answer {
    let model = asked_model(request);
    let mut words = model.split('-').skip(1);
    let number = words.next().and_then(|word| word.parse::<usize>().ok());
    let Some(case) = number.and_then(|number| cases.get(number)) else {
        return Answer::json(400, r#"{"error":{"message":"no such case"}}"#);
    };
    let mut answer = served(case);
    let mut codings = Vec::new();
    for word in words {
        match BodyCoding::ALL.into_iter().find(|coding| coding.name() == word) {
            Some(coding) => codings.push(coding),
            None => answer = answer.dribbled(),
        }
    }
    if codings.is_empty() { answer } else { answer.encoded(&codings) }
}

/// The model that a request asks for: in its body, or in its path as with Gemini and Bedrock.
fn asked_model(request: &Request) -> String {
    if let Some(model) = request.json()["model"].as_str() {
        return model.to_owned();
    }
    let mut segments = request.path.split(['/', ':', '?']);
    segments.find(|segment| segment.starts_with("case-")).unwrap_or_default().to_owned()
}

/// A case of the corpus as a provider serves it.
pub(crate) fn served(case: &Case) -> Answer {
    let answer = Answer::new(200).send(case.body.clone());
    match &case.about.content_type {
        Some(kind) => answer.header("content-type", kind),
        None => answer,
    }
}

/// An answer without its body, and that.
pub(crate) fn emptied(answer: Answer) -> (Answer, Vec<u8>) {
    let mut taken = Vec::new();
    let answer = answer.map_body(|body| {
        taken = body.to_vec();
        Vec::new()
    });
    (answer, taken)
}

/// The end of the text of [`turns`]. It comes in pieces, and this is the last one.
pub(crate) const SAID: &str = "mes.";

/// One turn with a text and a call, as each API streams it: path and answer.
pub(crate) fn turns(tool: &str, input: &str) -> [(&'static str, Answer); 2] {
    turns_of(vec![TurnPart::text("Here it comes."), TurnPart::call("call_1", tool, input)])
}

/// One turn of these parts, as each API streams it: path and answer.
pub(crate) fn turns_of(parts: Vec<TurnPart>) -> [(&'static str, Answer); 2] {
    let provider = callgate_testkit::provider::Provider::default().script("turn", vec![parts]);
    let messages = json!([{ "role": "user", "content": "[script turn #1]" }]);
    let body = json!({ "stream": true, "messages": messages }).to_string();
    [MESSAGES, CHAT].map(|path| {
        let request =
            Request { path: path.into(), body: body.clone().into(), ..Request::default() };
        (path, provider.answer(&request))
    })
}

/// The same turns as whole bodies.
pub(crate) fn whole_turns(tool: &str, input: &str) -> [(&'static str, Answer); 2] {
    let arguments = serde_json::Value::from(input);
    let message = format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"Here."}},{{"type":"tool_use","id":"call_1","name":"{tool}","input":{input}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":10,"output_tokens":20}}}}"#
    );
    let completion = format!(
        r#"{{"id":"c_1","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"Here.","tool_calls":[{{"id":"call_1","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}]}},"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}}}"#
    );
    [(MESSAGES, Answer::json(200, message)), (CHAT, Answer::json(200, completion))]
}

/// Checks an error of the gateway: its status, and the shape of the provider's API.
#[track_caller]
pub(crate) fn is_refusal(reply: &Reply, path: &str, status: u16) {
    assert_eq!(reply.status, status, "{}", reply.text());
    let (error, said) = (reply.json(), reply.text());
    let message = match path.split('/').nth(1).unwrap_or_default() {
        "api" => &error["error"],
        "v2" | "model" => &error["message"],
        _ => &error["error"]["message"],
    };
    assert!(message.as_str().is_some_and(|message| message.contains("callgate")), "{said}");
    match path {
        MESSAGES => assert_eq!(error["type"], "error", "{said}"),
        _ if path.starts_with("/v1/") => {
            assert!(error["error"]["type"].is_string(), "{said}");
            assert!(error["error"].get("code").is_some(), "{said}");
        }
        _ if path.starts_with("/v1beta/") => {
            assert_eq!(error["error"]["code"], status, "{said}");
            assert!(error["error"]["status"].is_string(), "{said}");
        }
        _ if path.starts_with("/model/") => {
            assert!(reply.header("x-amzn-errortype").is_some(), "{said}");
        }
        _ => {}
    }
}

/// Matches of text rules, once there is something.
pub(crate) fn hits(gateway: &Gateway) -> Vec<Value> {
    let find = |gateway: &Gateway| -> Vec<Value> {
        gateway.events().into_iter().filter(|event| event["type"] == "guardrail").collect()
    };
    gateway.wait_until(|gateway| !find(gateway).is_empty());
    find(gateway)
}
