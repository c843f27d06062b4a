//! Tests of upstream connections against peers that are scripted byte by byte.

mod body;
mod faults;
mod peer;
mod reuse;
mod secure;
mod upload;

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use url::Url;

use self::peer::Peer;
use super::{
    RequestBody, Tls, UpstreamBody, UpstreamError, UpstreamTarget, UpstreamTimeouts, Upstreams,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/// Long enough to never matter.
const PATIENT: UpstreamTimeouts = UpstreamTimeouts {
    connect: Duration::from_secs(20),
    head: Duration::from_secs(20),
    idle: Duration::from_secs(20),
};
const SHORT: Duration = Duration::from_millis(100);

fn upstreams() -> Upstreams {
    Upstreams::new(PATIENT, Tls::system().unwrap())
}

fn target(url: &str) -> UpstreamTarget {
    UpstreamTarget::new(&Url::parse(url).unwrap()).unwrap()
}

fn get() -> Request<RequestBody> {
    Request::get("/v1/models").body(RequestBody::Empty).unwrap()
}

fn post(body: &'static str) -> Request<RequestBody> {
    let body = RequestBody::Whole(Bytes::from_static(body.as_bytes()));
    Request::post("/v1/messages?beta=true").body(body).unwrap()
}

type Answered = Result<Response<UpstreamBody>, UpstreamError>;

async fn text(answered: Answered) -> String {
    let body = answered.unwrap().into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn failure(answered: Answered) -> UpstreamError {
    match answered {
        Ok(response) => panic!("answered with {}", response.status()),
        Err(error) => error,
    }
}

async fn body_failure(answered: Answered) -> UpstreamError {
    match answered.unwrap().into_body().collect().await {
        Ok(_) => panic!("the body is complete"),
        Err(error) => error,
    }
}
