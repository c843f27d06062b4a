//! Turns refusals into responses, in one place.

use std::time::Duration;

use bytes::Bytes;
use callgate_dialect::{ApiError, Dialect};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::access::AccessDenied;
use crate::mount::Mount;
use crate::outgoing::Outgoing;
use crate::route::NoRoute;
use crate::upstream::{ClientBodyError, UpstreamError};

/// Why a request is not forwarded, or its response not returned. Grouped by whose fault it is.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The client has no access.
    Access(AccessDenied),
    /// The client has no access to a mounted door.
    Door(AccessDenied),
    /// The path or method leads nowhere.
    NoRoute(NoRoute),
    /// The client asks for a protocol upgrade.
    Upgrade,
    /// The request is larger than what can be read.
    TooLarge(usize),
    /// The request was cut off or is invalid.
    BadRequest(String),
    /// The client stopped sending its request for longer than this.
    Stalled(Duration),
    /// The request must be read, and its content encoding is unknown.
    RequestCoding(String),
    /// The provider could not be reached, or its response failed.
    Upstream(UpstreamError),
    /// The response is one that callgate does not forward.
    Answer(String),
    /// A rule blocks the request.
    Blocked(String),
    /// The client signed the request for the provider's host, and callgate has no credentials to
    /// sign it again.
    Signed,
    /// The gateway is misconfigured.
    Internal(&'static str),
}

/// The header with the id of the request. Also set on refusals.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-callgate-request");

impl Refusal {
    /// The table from refusal to status, error type and code.
    fn row(&self) -> (StatusCode, &'static str, &'static str) {
        const REQUEST: &str = "invalid_request_error";
        match self {
            // Not 401, which makes MCP clients start a login.
            Self::Door(
                AccessDenied::NoKey
                | AccessDenied::BadKey
                | AccessDenied::ExpiredKey(_)
                | AccessDenied::MisplacedKey,
            ) => (StatusCode::FORBIDDEN, "permission_error", "callgate_key"),
            Self::Access(AccessDenied::Host) | Self::Door(AccessDenied::Host) => {
                (StatusCode::MISDIRECTED_REQUEST, REQUEST, "callgate_wrong_host")
            }
            Self::Access(AccessDenied::Origin) | Self::Door(AccessDenied::Origin) => {
                (StatusCode::FORBIDDEN, "permission_error", "callgate_foreign_origin")
            }
            Self::Access(
                AccessDenied::NoKey
                | AccessDenied::BadKey
                | AccessDenied::ExpiredKey(_)
                | AccessDenied::MisplacedKey,
            ) => (StatusCode::UNAUTHORIZED, "authentication_error", "callgate_key"),
            Self::NoRoute(NoRoute::AmbiguousPath) => {
                (StatusCode::BAD_REQUEST, REQUEST, "callgate_bad_path")
            }
            Self::NoRoute(_) => (StatusCode::NOT_FOUND, "not_found_error", "callgate_no_route"),
            Self::Upgrade => (StatusCode::UPGRADE_REQUIRED, REQUEST, "callgate_no_upgrade"),
            Self::TooLarge(_) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", "callgate_too_large")
            }
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, REQUEST, "callgate_bad_request"),
            Self::Stalled(_) => (StatusCode::REQUEST_TIMEOUT, REQUEST, "callgate_client_timeout"),
            Self::RequestCoding(_) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, REQUEST, "callgate_request_coding")
            }
            Self::Upstream(UpstreamError::Upload { .. }) => {
                (StatusCode::BAD_REQUEST, REQUEST, "callgate_bad_request")
            }
            Self::Upstream(error) if error.is_timeout() => {
                (StatusCode::GATEWAY_TIMEOUT, "api_error", "callgate_upstream_timeout")
            }
            Self::Upstream(_) => (StatusCode::BAD_GATEWAY, "api_error", "callgate_upstream"),
            Self::Answer(_) => (StatusCode::BAD_GATEWAY, REQUEST, "callgate_refused_response"),
            Self::Blocked(_) => (StatusCode::BAD_REQUEST, REQUEST, "firewall_blocked"),
            Self::Signed => (StatusCode::FORBIDDEN, "permission_error", "callgate_signed"),
            Self::Internal(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "api_error", "callgate_internal")
            }
        }
    }

    /// What went wrong, and what to do next.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Access(AccessDenied::Host) | Self::Door(AccessDenied::Host) => "callgate: the Host header does not name this \
                gateway. Use localhost or the address it listens on."
                .to_owned(),
            Self::Access(AccessDenied::Origin) | Self::Door(AccessDenied::Origin) => "callgate: this \
                request comes from a web page of another site. Use the gateway from a program, or \
                from a page on its own address."
                .to_owned(),
            Self::Access(AccessDenied::NoKey) | Self::Door(AccessDenied::NoKey) => "callgate: this gateway needs a gateway key. Send it in the \
                header `x-callgate-key`; in Claude Code, set ANTHROPIC_CUSTOM_HEADERS to \
                `x-callgate-key: KEY`. The operator creates one with `callgate keys add NAME`."
                .to_owned(),
            Self::Access(AccessDenied::BadKey) | Self::Door(AccessDenied::BadKey) => "callgate: this gateway key is unknown or \
                revoked. The operator creates one with `callgate keys add NAME`."
                .to_owned(),
            Self::Access(AccessDenied::ExpiredKey(name)) | Self::Door(AccessDenied::ExpiredKey(name)) => format!(
                "callgate: the gateway key `{name}` has expired. The operator renews it with \
                 `callgate keys renew {name}`."
            ),
            Self::Access(AccessDenied::MisplacedKey) => "callgate: this request would send a \
                gateway key to the provider. Send the key only in `x-callgate-key`, or ask the operator \
                to set `api_key_env` for this provider."
                .to_owned(),
            Self::Door(AccessDenied::MisplacedKey) => "callgate: this request would send a gateway key \
                to the MCP server. Send the key only in `x-callgate-key`."
                .to_owned(),
            Self::NoRoute(nowhere) => no_route(*nowhere),
            Self::Upgrade => "callgate: WebSockets are not supported. Use HTTP.".to_owned(),
            Self::TooLarge(limit) => format!(
                "callgate: the request is larger than {limit} bytes, and callgate has to read it \
                 to restore calls, judge texts or sign it. Send a smaller request, or ask the operator \
                 to raise `limits.request`."
            ),
            Self::BadRequest(why) => format!("callgate: the request cannot be forwarded: {why}"),
            Self::Stalled(limit) => format!(
                "callgate: the request body stopped for {limit:?}, or arrived too slowly. Send it \
                 again; the operator can raise `gateway.client_body_timeout` and \
                 `gateway.client_body_total_timeout`."
            ),
            Self::RequestCoding(coding) => format!(
                "callgate: callgate has to read this request and does not support its \
                 `Content-Encoding` `{coding}`. Send it unencoded, or as gzip, deflate, br or zstd."
            ),
            Self::Upstream(error) => format!("callgate: {error}"),
            Self::Answer(why) => format!("callgate: the provider's response was refused: {why}"),
            Self::Blocked(why) => format!("callgate blocked this request: {why}"),
            Self::Signed => "callgate: this request is signed for another host, so Amazon would \
                refuse it. Use a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK), or ask the operator to \
                set `sign: aws` for this provider, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY \
                where the gateway starts."
                .to_owned(),
            Self::Internal(why) => format!("callgate: {why}"),
        }
    }

    /// The response, in the provider's error format if the provider is known.
    pub(crate) fn into_response(self, dialect: Option<Dialect>) -> Response<Outgoing> {
        let (status, kind, code) = self.row();
        let error = ApiError { status: status.as_u16(), kind, code, message: &self.message() };
        let body = error_body(dialect, &error);
        let mut response = self.marked(json(status, body));
        let headers = response.headers_mut();
        match dialect {
            Some(dialect) if matches!(self, Self::Answer(_) | Self::Blocked(_)) => {
                mark_refused(headers, dialect)
            }
            Some(dialect) => mark_error(headers, dialect, status),
            None => {}
        }
        response
    }

    /// The response of a mounted door, in the format of its clients.
    pub(crate) fn at_door(self, mount: &dyn Mount) -> Response<Outgoing> {
        self.marked(json(self.row().0, mount.refusal(&self.message())))
    }

    fn marked(&self, mut response: Response<Outgoing>) -> Response<Outgoing> {
        if matches!(self, Self::Upgrade) {
            let headers = response.headers_mut();
            headers.insert(http::header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
        }
        response
    }
}

impl From<ClientBodyError> for Refusal {
    fn from(error: ClientBodyError) -> Self {
        match error {
            ClientBodyError::Stalled(limit) => Self::Stalled(limit),
            ClientBodyError::Broken(_) | ClientBodyError::WrongLength => {
                Self::BadRequest(error.to_string())
            }
        }
    }
}

/// Marks a refused response, so that clients do not retry it.
pub(crate) fn mark_refused(headers: &mut HeaderMap, dialect: Dialect) {
    let name = HeaderName::from_static("x-should-retry");
    headers.insert(name, HeaderValue::from_static("false"));
    mark_error(headers, dialect, StatusCode::BAD_REQUEST);
}

/// Some clients read the kind of an error from a header.
fn mark_error(headers: &mut HeaderMap, dialect: Dialect, status: StatusCode) {
    if let Some(header) = &dialect.http().error_header {
        let kind = HeaderValue::from_static((header.kind)(status.as_u16()));
        headers.insert(HeaderName::from_static(header.name), kind);
    }
}

fn no_route(nowhere: NoRoute) -> String {
    match nowhere {
        NoRoute::AmbiguousPath => {
            "callgate: this path is ambiguous. Send it without empty segments, `..` and \
             unnecessary escapes."
                .to_owned()
        }
        NoRoute::NoProvider => {
            "callgate: no configured provider serves this path. The operator can add one under \
             `providers`."
                .to_owned()
        }
        NoRoute::Unreadable(why) => format!(
            "callgate: not forwarded: {why}. The operator can allow this path, unjudged, with \
             `gateway.passthrough`."
        ),
        NoRoute::Unknown => "callgate: unknown path, not forwarded. callgate serves /v1/messages \
             (Anthropic), /v1/chat/completions and /v1/responses (OpenAI), /v1beta/models/… \
             (Gemini), /api/chat (Ollama), /v2/chat (Cohere), /model/… (Bedrock) and \
             /<provider>/…; the operator can allow others with `gateway.passthrough`."
            .to_owned(),
    }
}

/// An error in the format of the dialect's SDKs; without a dialect, in the most common one.
fn error_body(dialect: Option<Dialect>, error: &ApiError<'_>) -> String {
    if let Some(dialect) = dialect {
        return (dialect.http().refusal)(error);
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let ApiError { kind, code, message, .. } = error;
    let (kind, code, message) = (quoted(kind), quoted(code), quoted(message));
    format!(
        r#"{{"type":"error","error":{{"type":{kind},"message":{message},"param":null,"code":{code}}}}}"#
    )
}

pub(crate) fn json(status: StatusCode, body: String) -> Response<Outgoing> {
    let mut response = Response::new(Outgoing::whole(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
