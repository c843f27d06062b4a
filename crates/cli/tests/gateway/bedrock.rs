//! Amazon Bedrock: binary streams judged, and requests signed again.

use callgate_dialect::Dialect;
use callgate_testkit::clients;
use callgate_testkit::gateway::Setup;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Request, Upstream};
use sha2::{Digest, Sha256};

use crate::support::{binary, case};

const PATH: &str = "/bedrock/model/eu.anthropic.claude-sonnet-4-5-v1%3A0/converse-stream";
const DENY: &str =
    "policy: t\nrules:\n  - { id: no-evil, tool: evil, verdict: deny, reason: No evil. }\n";
const BODY: &str = r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#;
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=AKIACLIENT/20261115/eu-central-1/bedrock/\
                      aws4_request, SignedHeaders=host;x-amz-date, Signature=00ff";

const KEY_ID: &str = "AKIAGATEWAY";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG";
const SESSION: &str = "session/token=";

fn upstream() -> Upstream {
    let body = case("bedrock-converse/evasion-baseline").body;
    let answer = Answer::stream(body).header("content-type", "application/vnd.amazon.eventstream");
    Upstream::always(answer)
}

fn setup(upstream: &Upstream, settings: &str) -> Setup {
    let config = format!(
        "providers:\n  bedrock: {{ base_url: \"{}\", dialect: bedrock-converse{settings} }}\n\
         policies: [rules.yaml]\non_deny: explain\n",
        upstream.url()
    );
    Setup::bare(binary()).file("rules.yaml", DENY).config(&config)
}

fn ask(authorization: &str) -> Ask {
    let ask = Ask::post(PATH, BODY).header("content-type", "application/json");
    let ask = ask.header("authorization", authorization).header("x-amz-date", "20200101T000000Z");
    ask.header("x-amz-security-token", "the client's")
}

#[test]
fn a_denied_call_is_taken_out_of_a_binary_stream() {
    let upstream = upstream();
    let gateway = setup(&upstream, "").start();
    let reply = ask("Bearer bedrock-api-key").send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(upstream.request().header("authorization"), Some("Bearer bedrock-api-key"));
    for (client, calls) in clients::readings(Dialect::Converse, &reply.body) {
        assert!(calls.is_empty(), "{client} sees {calls:?}");
    }
    let text = reply.text();
    assert!(text.contains("No evil.") && text.contains(r#""stopReason":"end_turn""#), "{text}");
    gateway.wait_until(|gateway| !gateway.calls().is_empty());
    assert_eq!(gateway.calls()[0]["tool"]["name"], "evil", "{:?}", gateway.calls());
}

#[test]
fn a_signed_request_is_signed_again() {
    let upstream = upstream();
    let setup = setup(&upstream, ", sign: aws")
        .env("AWS_ACCESS_KEY_ID", KEY_ID)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_SESSION_TOKEN", SESSION)
        .env("AWS_REGION", "eu-central-1");
    let gateway = setup.start();
    let reply = ask(SIGNED).send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    let request = upstream.request();
    assert_eq!(request.body, BODY.as_bytes());
    assert_eq!(request.header("x-amz-security-token"), Some(SESSION));
    assert_ne!(request.header("x-amz-date"), Some("20200101T000000Z"));
    let authorization = request.header("authorization").unwrap();
    assert!(authorization.contains(&format!("Credential={KEY_ID}/")), "{authorization}");
    let (covered, given) = signature(authorization);
    for name in ["host", "x-amz-date", "x-amz-security-token"] {
        assert!(covered.contains(&name), "{name} is not signed: {authorization}");
    }
    assert_eq!(given, expected(&request, &covered), "{authorization}");
    assert!(!format!("{request:?}").contains("AKIACLIENT"), "the client's signature went on");
}

#[test]
fn a_signed_request_that_cannot_be_signed_again_is_refused_with_the_way_out() {
    let upstream = upstream();
    let gateway = setup(&upstream, "").start();
    let reply = ask(SIGNED).send(gateway.address());
    assert_eq!(reply.status, 403);
    assert_eq!(reply.header("x-amzn-errortype"), Some("AccessDeniedException"));
    let message = reply.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("sign: aws") && message.contains("Bedrock API key"), "{message}");
    assert_eq!(upstream.requests().len(), 0);
}

#[test]
fn credentials_that_are_missing_stop_the_start() {
    let upstream = upstream();
    let setup = setup(&upstream, ", sign: aws").env("AWS_ACCESS_KEY_ID", KEY_ID);
    let Err(said) = setup.env("AWS_REGION", "eu-central-1").try_start() else {
        panic!("it started without a secret");
    };
    assert!(said.contains("AWS_SECRET_ACCESS_KEY is not set"), "{said}");
    assert!(said.contains("AWS_SESSION_TOKEN with temporary credentials"), "{said}");
}

#[test]
fn what_cannot_be_signed_stops_the_start() {
    let upstream = upstream();
    let Err(said) = setup(&upstream, ", sign: aws, api_key_env: PATH").try_start() else {
        panic!("it started with a key in addition to the signature");
    };
    assert!(said.contains("has both `api_key_env` and `sign`"), "{said}");
    assert!(said.contains("callgate.yaml:3:"), "{said}");
}

/// The names a signature covers, and the signature.
fn signature(authorization: &str) -> (Vec<&str>, String) {
    let part = |name: &str| {
        let (_, rest) = authorization.split_once(name).unwrap();
        rest.split(',').next().unwrap()
    };
    (part("SignedHeaders=").split(';').collect(), part("Signature=").to_owned())
}

/// The signature as Amazon's documents describe it, made here without the library.
fn expected(request: &Request, covered: &[&str]) -> String {
    let date = request.header("x-amz-date").unwrap();
    let day = &date[..8];
    let headers: String = covered
        .iter()
        .map(|name| format!("{name}:{}\n", request.header(name).unwrap().trim()))
        .collect();
    // Each segment of the path is coded once more.
    let path = request.path.replace('%', "%25");
    let body = hex(&Sha256::digest(&request.body));
    let canonical =
        format!("{}\n{path}\n\n{headers}\n{}\n{body}", request.method, covered.join(";"));
    let scope = format!("{day}/eu-central-1/bedrock/aws4_request");
    let hash = hex(&Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for part in [day, "eu-central-1", "bedrock", "aws4_request"] {
        key = hmac(&key, part.as_bytes());
    }
    hex(&hmac(&key, text.as_bytes()))
}

/// RFC 2104, for keys up to a block.
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |byte: u8| block.map(|key| key ^ byte);
    let inner = Sha256::digest([&pad(0x36)[..], text].concat());
    Sha256::digest([&pad(0x5c)[..], &inner].concat()).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
