//! Errors between callgate and a provider.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::h1::H1Error;

/// Why there is no response, or only a part of it. Messages contain only the origin: no path, query
/// or password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// The host name could not be resolved.
    #[error("cannot find the address of `{at}`: {source}")]
    Resolve { at: Arc<str>, source: io::Error },
    /// No address accepted the connection.
    #[error("cannot connect to `{at}`: {source}")]
    Connect { at: Arc<str>, source: io::Error },
    /// The TLS handshake failed: an unknown certificate, a wrong name, no common version.
    #[error("the TLS handshake with `{at}` failed: {source}")]
    Tls { at: Arc<str>, source: io::Error },
    /// A timeout expired.
    #[error("`{at}` {which} within {limit:?}")]
    Timeout { at: Arc<str>, which: TimeoutKind, limit: Duration },
    /// The connection was closed or reset before the response was complete.
    #[error("`{at}` closed the connection {stage}: {why}")]
    Reset { at: Arc<str>, stage: Stage, why: String },
    /// The response is not valid HTTP.
    #[error("`{at}` sent an invalid HTTP response: {why}")]
    Protocol { at: Arc<str>, why: String },
    /// The client stopped sending its request. Not the provider's fault.
    #[error("the request to `{at}` was interrupted: {why}")]
    Upload { at: Arc<str>, why: String },
    /// The request cannot be sent to this provider.
    #[error("the request cannot be sent to `{at}`: {why}")]
    Request { at: Arc<str>, why: String },
}

/// The timeout that expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutKind {
    /// For the connection: resolving, TCP and TLS.
    Connect,
    /// For the head of the response.
    Head,
    /// For the next byte of the body.
    Idle,
}

/// How far an exchange had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the head.
    Head,
    /// After the head, before the end of the body.
    Body,
}

impl UpstreamError {
    /// Whether the provider was too slow, which is a 504 instead of a 502.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// Converts an error of an HTTP/1.1 connection, sorted by whose fault it is.
    pub(super) fn from_h1(error: H1Error, at: &Arc<str>, stage: Stage) -> Self {
        let at = Arc::clone(at);
        let why = error.to_string();
        match error {
            H1Error::Client(_) => Self::Upload { at, why },
            H1Error::Head(_) | H1Error::Body(_) => Self::Protocol { at, why },
            H1Error::EndOfFile | H1Error::Io(_) => Self::Reset { at, stage, why },
        }
    }

    /// Converts an error of an HTTP/2 connection, sorted by whose fault it is.
    pub(super) fn from_hyper(error: &hyper::Error, at: &Arc<str>, stage: Stage) -> Self {
        let at = Arc::clone(at);
        let why = chain(error);
        if error.is_user() {
            Self::Upload { at, why }
        } else if error.is_parse() {
            Self::Protocol { at, why }
        } else {
            Self::Reset { at, stage, why }
        }
    }
}

/// An error and its causes, without repetitions.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "could not be reached",
            Self::Head => "did not answer",
            Self::Idle => "sent nothing more",
        })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "before it answered",
            Self::Body => "in the middle of its answer",
        })
    }
}
