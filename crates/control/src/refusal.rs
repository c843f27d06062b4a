//! Why a request is not answered, as its sender reads it.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::journal::PageError;
use crate::problem::Problem;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) fault: Fault,
    pub(crate) problem: Problem,
}

/// Whose fault it is, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request cannot be read, or asks for what cannot be answered.
    BadRequest,
    /// The caller is somebody else.
    Forbidden,
    /// There is no such path.
    NotFound,
    /// The path has another method.
    Method(&'static str),
    /// The request was not sent in time.
    Slow,
    /// The request is larger than what is read.
    TooLarge,
    /// There are too many callers.
    Busy,
    /// The records cannot be read.
    Store,
}

impl Fault {
    /// The status and the word for programs.
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
    pub(crate) error: ErrorTold,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ErrorTold {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(fault: Fault, problem: Problem) -> Self {
        Self { fault, problem }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.fault.row().0
    }

    /// The JSON by which the caller is told. What it quotes of a request may hold a secret.
    pub(crate) fn body(&self) -> String {
        let redacted = |text: &str| callgate_scan::redact(text).into_owned();
        let error = ErrorTold {
            code: self.fault.row().1.to_owned(),
            message: redacted(self.problem.message()),
            hint: self.problem.hint().map(redacted),
        };
        serde_json::to_string(&ErrorBody { error }).unwrap_or_default()
    }
}

impl From<PageError> for Refusal {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Filter(problem) => Self::new(Fault::BadRequest, problem),
            PageError::Store(problem) => Self::new(Fault::Store, problem),
        }
    }
}

/// What was asked about cannot be answered.
impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::new(Fault::BadRequest, problem)
    }
}
