//! What can go wrong between callgate and a provider.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Why there is no answer, or no more of it. Messages name the origin only: no path, no query, no password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    /// The name has no address.
    #[error("cannot find the address of `{at}`: {source}")]
    Resolve { at: Arc<str>, source: io::Error },
    /// No address took the connection.
    #[error("cannot connect to `{at}`: {source}")]
    Connect { at: Arc<str>, source: io::Error },
    /// The TLS handshake failed: an unknown certificate, a wrong name, no common version.
    #[error("no safe connection to `{at}`: {source}")]
    Tls { at: Arc<str>, source: io::Error },
    /// Nothing came in time.
    #[error("`{at}` {which} within {limit:?}")]
    Timeout { at: Arc<str>, which: Which, limit: Duration },
    /// The connection was closed or reset before the answer was whole.
    #[error("`{at}` closed the connection {stage}: {why}")]
    Reset { at: Arc<str>, stage: Stage, why: String },
    /// The answer breaks the rules of HTTP.
    #[error("`{at}` does not speak HTTP as it should: {why}")]
    Protocol { at: Arc<str>, why: String },
    /// The client stopped sending its request: not the provider's fault.
    #[error("the request for `{at}` broke off: {why}")]
    Upload { at: Arc<str>, why: String },
    /// The request cannot be sent there as it is.
    #[error("the request cannot be sent to `{at}`: {why}")]
    Request { at: Arc<str>, why: String },
}

/// Which wait was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// For the connection: address, TCP and TLS.
    Connect,
    /// For the head of the answer.
    Head,
    /// For the next byte of the body.
    Idle,
}

/// How far an exchange had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No head yet.
    Head,
    /// The head was there, the body was not complete.
    Body,
}

impl UpstreamError {
    /// The provider was too slow: an answer of the kind 504 instead of 502.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// What hyper says, sorted by whose fault it is.
    pub(super) fn from_hyper(error: &hyper::Error, at: &Arc<str>, stage: Stage) -> Self {
        let at = Arc::clone(at);
        let why = chain(error);
        if error.is_user() {
            Self::Upload { at, why }
        } else if error.is_parse() || is_malformed(error) {
            Self::Protocol { at, why }
        } else {
            Self::Reset { at, stage, why }
        }
    }
}

/// A broken chunk is an I/O error in hyper, told from a broken connection by its kind.
fn is_malformed(error: &hyper::Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| {
        matches!(source.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
    })
}

/// An error and its causes, each once.
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

impl fmt::Display for Which {
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
