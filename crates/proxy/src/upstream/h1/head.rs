//! The heads of HTTP/1.1 messages: writes that of a request, reads that of a response. No I/O.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body;

use super::framing::BodyReader;

/// How the body of a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentFraming {
    /// Exactly this many bytes.
    Length(u64),
    Chunked,
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) response: Response<()>,
    pub(super) body: BodyReader,
    pub(super) reuse: ConnectionReuse,
    /// The number of bytes that it took.
    pub(super) length: usize,
}

/// Whether the peer keeps the connection open after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionReuse {
    Possible,
    Closes,
}

/// Writes the head of `request`, with the framing of its body.
pub(super) fn write_request<B: Body>(request: &Request<B>, out: &mut Vec<u8>) -> SentFraming {
    out.extend_from_slice(request.method().as_str().as_bytes());
    out.push(b' ');
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    out.extend_from_slice(path.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in request.headers() {
        write_header(name, value.as_bytes(), out);
    }
    let framing = match request.body().size_hint().exact() {
        Some(length) => SentFraming::Length(length),
        None => SentFraming::Chunked,
    };
    match framing {
        // `prepare` sets a length of zero where servers wait for one.
        SentFraming::Length(0) => {}
        SentFraming::Length(length) => {
            write_header(&CONTENT_LENGTH, length.to_string().as_bytes(), out);
        }
        SentFraming::Chunked => write_header(&TRANSFER_ENCODING, b"chunked", out),
    }
    out.extend_from_slice(b"\r\n");
    framing
}

fn write_header(name: &HeaderName, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_str().as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Reads the head of the response to a request with `method`, if `bytes` begin with all of it.
pub(super) fn read_response(
    bytes: &[u8],
    method: &Method,
) -> Result<Option<ResponseHead>, InvalidHead> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    let length = match parsed.parse(bytes)? {
        httparse::Status::Partial if bytes.len() > MAX_HEAD => return Err(InvalidHead::TooLong),
        httparse::Status::Partial => return Ok(None),
        httparse::Status::Complete(length) => length,
    };
    let (Some(code), Some(version)) = (parsed.code, parsed.version) else {
        return Err(InvalidHead::StatusLine);
    };
    let status = StatusCode::from_u16(code).map_err(|_| InvalidHead::StatusLine)?;
    let version = if version == 0 { Version::HTTP_10 } else { Version::HTTP_11 };
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.version_mut() = version;
    *response.headers_mut() = header_map(parsed.headers)?;
    let body = body_reader(&response, method)?;
    let reuse = reuse(&response);
    Ok(Some(ResponseHead { response, body, reuse, length }))
}

/// One copy holds all values.
fn header_map(parsed: &[httparse::Header<'_>]) -> Result<HeaderMap, InvalidHead> {
    let values: Bytes = parsed.iter().flat_map(|header| header.value).copied().collect();
    let mut headers = HeaderMap::with_capacity(parsed.len());
    let mut start = 0;
    for header in parsed {
        let end = start + header.value.len();
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let value = HeaderValue::from_maybe_shared(values.slice(start..end));
        let (Ok(name), Ok(value)) = (name, value) else { return Err(InvalidHead::Header) };
        headers.append(name, value);
        start = end;
    }
    Ok(headers)
}

/// Where the body ends (RFC 9112, section 6.3). `prepare::check` refuses a response with two answers
/// to that question.
fn body_reader(response: &Response<()>, method: &Method) -> Result<BodyReader, InvalidHead> {
    let (status, headers) = (response.status(), response.headers());
    let without_body = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        || method == Method::HEAD;
    if without_body {
        return Ok(BodyReader::empty());
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        return match response.version() {
            Version::HTTP_11 => Ok(BodyReader::chunked()),
            _ => Err(InvalidHead::CodingInHttp10),
        };
    }
    match content_length(headers)? {
        Some(length) => Ok(BodyReader::of_length(length)),
        None => Ok(BodyReader::until_close()),
    }
}

/// The length, if every header agrees on it.
fn content_length(headers: &HeaderMap) -> Result<Option<u64>, InvalidHead> {
    let mut length = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        let text = value.to_str().ok().filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        let one = text.and_then(|text| text.parse().ok()).ok_or(InvalidHead::Length)?;
        if length.is_some_and(|length| length != one) {
            return Err(InvalidHead::Lengths);
        }
        length = Some(one);
    }
    Ok(length)
}

fn reuse(response: &Response<()>) -> ConnectionReuse {
    let mut options = response
        .headers()
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii));
    let closes = options.any(|option| option.eq_ignore_ascii_case(b"close"));
    match (closes, response.version()) {
        (false, Version::HTTP_11) => ConnectionReuse::Possible,
        _ => ConnectionReuse::Closes,
    }
}

/// Why bytes are not the head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::upstream) enum InvalidHead {
    #[error("{0}")]
    Syntax(#[from] httparse::Error),
    #[error("its status line is incomplete")]
    StatusLine,
    #[error("it has a header that cannot be read")]
    Header,
    #[error("its head is longer than {MAX_HEAD} bytes")]
    TooLong,
    #[error("it sends `Transfer-Encoding` in HTTP/1.0")]
    CodingInHttp10,
    #[error("its `Content-Length` is not a number")]
    Length,
    #[error("it sends two different `Content-Length` headers")]
    Lengths,
}

/// Far more than providers send.
const MAX_HEADERS: usize = 128;
/// The most bytes of a head: far more than providers send.
const MAX_HEAD: usize = 64 << 10;
