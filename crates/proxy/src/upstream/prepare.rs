//! Adapts a request to its connection, and checks the response head.

use std::sync::Arc;

use http::header::{CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use http_body::Body;

use super::error::UpstreamError;
use super::request_body::RequestBody;
use super::target::UpstreamTarget;

pub(super) fn for_h1(
    mut request: Request<RequestBody>,
    target: &UpstreamTarget,
) -> Request<RequestBody> {
    clean(&mut request);
    *request.uri_mut() = Uri::from(path(request.uri()));
    *request.version_mut() = Version::HTTP_11;
    request.headers_mut().insert(HOST, target.host_header().clone());
    request
}

pub(super) fn for_h2(
    mut request: Request<RequestBody>,
    target: &UpstreamTarget,
) -> Result<Request<RequestBody>, UpstreamError> {
    clean(&mut request);
    let absolute = target.absolute(path(request.uri()));
    *request.uri_mut() = absolute.map_err(|error| UpstreamError::Request {
        at: Arc::clone(target.origin()),
        why: error.to_string(),
    })?;
    *request.version_mut() = Version::HTTP_2;
    request.headers_mut().remove(HOST);
    Ok(request)
}

/// Refuses a response head that two readers could interpret differently.
pub(super) fn check<B>(response: &Response<B>, at: &Arc<str>) -> Result<(), UpstreamError> {
    let why = if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        "it changes the protocol without being asked to"
    } else {
        match framing(response.headers()) {
            Ok(()) => return Ok(()),
            Err(why) => why,
        }
    };
    Err(UpstreamError::Protocol { at: Arc::clone(at), why: why.to_owned() })
}

/// Two readers that disagree about the framing allow response smuggling: one prefers `Transfer-Encoding`
/// to a length, another reads an unknown coding to the end of the connection.
fn framing(headers: &HeaderMap) -> Result<(), &'static str> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match codings.next() {
        None => Ok(()),
        Some(_) if headers.contains_key(CONTENT_LENGTH) => {
            Err("it sends both `Content-Length` and `Transfer-Encoding`")
        }
        Some(one)
            if codings.next().is_none() && one.as_bytes().eq_ignore_ascii_case(b"chunked") =>
        {
            Ok(())
        }
        Some(_) => Err("it sends a `Transfer-Encoding` other than `chunked`"),
    }
}

/// The length comes from the body and not from the client's headers. callgate itself answers
/// `Expect`.
fn clean(request: &mut Request<RequestBody>) {
    let empty = request.body().is_end_stream();
    let usual = !matches!(*request.method(), Method::GET | Method::HEAD | Method::DELETE);
    let headers = request.headers_mut();
    headers.remove(TRANSFER_ENCODING);
    headers.remove(EXPECT);
    headers.remove(CONTENT_LENGTH);
    if empty && usual {
        // No length is sent for an empty body otherwise, and some servers then wait for one.
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
}

fn path(uri: &Uri) -> PathAndQuery {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"))
}
