//! The same over HTTP.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::Small;
use super::{modern, request, service};
use crate::http::ReplyBody;
use crate::serve::{Changes, Http};
use std::sync::Arc;

fn http() -> (Http<Small>, Changes) {
    let changes = Changes::default();
    (Http::new(Arc::new(service()), changes.clone()), changes)
}

/// A request of the newer revisions, with its headers.
fn post(method: &str, params: Value) -> Request<Full<Bytes>> {
    let params = modern(params);
    let mut request = plain(&request_of(method, &params));
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    headers.insert("mcp-method", method.parse().unwrap());
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
    if let Some(name) = name {
        headers.insert("mcp-name", name.parse().unwrap());
    }
    request
}

fn request_of(method: &str, params: &Value) -> String {
    request(method, params)
}

/// A request of the older revisions.
fn plain(body: &str) -> Request<Full<Bytes>> {
    let request = Request::post("/mcp").header("content-type", "application/json");
    request
        .header("accept", "application/json, text/event-stream")
        .body(Full::from(body.to_owned()))
        .unwrap()
}

async fn whole(response: http::Response<ReplyBody>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// The status and the error code; 0 for a result.
async fn outcome(request: Request<Full<Bytes>>) -> (u16, i64) {
    let (status, body) = whole(http().0.answer(request).await).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    (status, body["error"]["code"].as_i64().unwrap_or(0))
}

#[tokio::test]
async fn each_request_has_its_answer_and_its_status() {
    assert_eq!(outcome(post("tools/list", json!({}))).await, (200, 0));
    assert_eq!(outcome(post("tools/call", json!({ "name": "echo" }))).await, (200, 0));
    assert_eq!(outcome(post("tools/call", json!({ "name": "no" }))).await, (200, -32602));
    assert_eq!(outcome(post("ping", json!({}))).await, (404, -32601));
    assert_eq!(outcome(plain(&request_of("tools/list", &json!({})))).await, (200, 0));
    assert_eq!(outcome(plain(&request_of("tools/run", &json!({})))).await, (200, -32601));
    assert_eq!(outcome(plain("{")).await, (400, -32700));
    assert_eq!(outcome(plain("")).await, (400, -32700));
    assert_eq!(outcome(plain(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)).await, (400, -32600));
    let subscribe = request_of("resources/subscribe", &json!({ "uri": "a://one" }));
    assert_eq!(outcome(plain(&subscribe)).await, (200, -32601), "there is no way to tell it");
}

#[tokio::test]
async fn headers_over_http_must_agree_with_the_body() {
    let mut other = post("tools/list", json!({}));
    other.headers_mut().insert("mcp-method", "tools/call".parse().unwrap());
    assert_eq!(outcome(other).await, (400, -32020));
    let mut silent = post("tools/list", json!({}));
    silent.headers_mut().remove("mcp-protocol-version");
    assert_eq!(outcome(silent).await, (400, -32020));
    let mut named = plain(&request_of("tools/list", &json!({})));
    named.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    assert_eq!(outcome(named).await, (400, -32602), "the metadata are missing");
    let mut unknown = plain(&request_of("tools/list", &json!({})));
    unknown.headers_mut().insert("mcp-protocol-version", "1999-01-01".parse().unwrap());
    assert_eq!(outcome(unknown).await, (400, -32022));
    let mut old = plain(&request_of("tools/list", &json!({})));
    old.headers_mut().insert("mcp-protocol-version", "2025-06-18".parse().unwrap());
    assert_eq!(outcome(old).await, (200, 0));
}

#[tokio::test]
async fn requests_without_a_message_are_refused() {
    let (http, _) = http();
    let list = request_of("tools/list", &json!({}));
    let with = |name: &'static str, value: &'static str| {
        let mut request = plain(&list);
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    for (request, status) in [
        (with("content-type", "text/plain"), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (with("accept", "text/html"), StatusCode::NOT_ACCEPTABLE),
        (with("accept", "*/*"), StatusCode::OK),
        (with("content-type", "application/json; charset=utf-8"), StatusCode::OK),
        (plain(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), StatusCode::ACCEPTED),
        (plain(&" ".repeat((16 << 20) + 1)), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        assert_eq!(http.answer(request).await.status(), status);
    }
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let mut request = plain(&list);
        *request.method_mut() = method;
        let response = http.answer(request).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
    }
}

#[tokio::test]
async fn a_subscription_is_a_stream_of_events() {
    let (http, changes) = http();
    let requested = json!({ "notifications": { "resourceSubscriptions": ["a://one"] } });
    let response = http.answer(post("subscriptions/listen", requested.clone())).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut body = response.into_body();
    let mut next = async || {
        let frame = body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
        frame.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
    };
    let first = next().await.unwrap();
    assert!(first.contains("subscriptions/acknowledged") && first.ends_with("\n\n"), "{first}");
    changes.notify(&["a://two"]);
    changes.notify(&["a://one"]);
    let notified = next().await.unwrap();
    assert!(notified.contains(r#""uri":"a://one""#), "{notified}");
    changes.end();
    let last = next().await.unwrap();
    assert!(last.contains(r#""resultType":"complete""#), "{last}");
    assert_eq!(next().await, None);

    let mut deaf = post("subscriptions/listen", requested);
    deaf.headers_mut().insert("accept", "application/json".parse().unwrap());
    assert_eq!(http.answer(deaf).await.status(), StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn a_slot_is_released_when_a_subscriber_is_gone() {
    let (http, _) = http();
    let listen = || post("subscriptions/listen", json!({ "notifications": {} }));
    let mut open = Vec::new();
    for _ in 0..256 {
        open.push(http.answer(listen()).await);
    }
    assert_eq!(http.answer(listen()).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(open);
    // The tasks that served them notice it one by one.
    for _ in 0..10_000 {
        if http.answer(listen()).await.status() == StatusCode::OK {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("no place was given back");
}

/// The client gets an error if there is no answer.
#[tokio::test]
async fn a_failing_host_is_reported() {
    let broken = post("tools/call", json!({ "name": "echo", "arguments": { "panic": 1 } }));
    assert_eq!(outcome(broken).await, (200, -32603));
}
