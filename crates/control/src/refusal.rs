//! Refusals of requests, as the client reads them.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::journal::PageError;
use crate::problem::HintedError;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiRefusal {
    pub(crate) fault: RefusalKind,
    pub(crate) problem: HintedError,
}

/// Whose fault it is, and which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The request is invalid.
    BadRequest,
    /// The caller is another user.
    Forbidden,
    /// The path does not exist.
    NotFound,
    /// The path needs another method.
    Method(&'static str),
    /// The request was not sent in time.
    Slow,
    /// The request is too large.
    TooLarge,
    /// There are too many clients.
    Busy,
    /// The records cannot be read.
    Store,
}

impl RefusalKind {
    /// The status, and the code for programs.
    fn row(self) -> (StatusCode, &'static str) {
        match self {
            Self::BadRequest => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::Method(_) => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Self::Store => (StatusCode::SERVICE_UNAVAILABLE, "store_unreadable"),
        }
    }
}

/// The body of a refusal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetails,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ErrorDetails {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl ApiRefusal {
    pub(crate) fn new(fault: RefusalKind, problem: HintedError) -> Self {
        Self { fault, problem }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.fault.row().0
    }

    /// The JSON for the caller. Secrets are removed, because it may quote the request.
    pub(crate) fn body(&self) -> String {
        let redacted = |text: &str| callgate_scan::redact(text).into_owned();
        let error = ErrorDetails {
            code: self.fault.row().1.to_owned(),
            message: redacted(self.problem.message()),
            hint: self.problem.hint().map(redacted),
        };
        serde_json::to_string(&ErrorBody { error }).unwrap_or_default()
    }
}

impl From<PageError> for ApiRefusal {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Filter(problem) => Self::new(RefusalKind::BadRequest, problem),
            PageError::Store(problem) => Self::new(RefusalKind::Store, problem),
        }
    }
}

/// The question cannot be answered.
impl From<HintedError> for ApiRefusal {
    fn from(problem: HintedError) -> Self {
        Self::new(RefusalKind::BadRequest, problem)
    }
}
