//! The metadata of a request: its revision and the client's capabilities.

use callgate_json::{Kind, Reader, Span, member, quote};

use super::writer::{LEGACY, MODERN, ResponseWriter};
use crate::answers::Era;
use crate::message::Id;
use crate::params::{self, CAPABILITIES, REVISION};

/// Methods of the newer revisions only.
const MODERN_ONLY: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// The metadata of a request.
#[derive(Debug)]
pub(crate) struct RequestEnvelope {
    pub(crate) era: Era,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its metadata lacks this.
    Lacks(&'static str),
    /// Its revision is not supported.
    Revision(String),
}

impl RequestEnvelope {
    /// Reads the metadata; `header_revision` is the revision in the headers of a request.
    pub(crate) fn read(
        method: &str,
        text: &str,
        params: Option<Span>,
        header_revision: Option<&str>,
    ) -> Result<Self, Refused> {
        let meta = params::meta(text, params);
        let Some(revision) = meta.and_then(|meta| member(text, meta, REVISION)) else {
            return match header_revision {
                Some(header_revision) if MODERN.contains(&header_revision) => {
                    Err(Refused::Lacks(REVISION))
                }
                Some(header_revision) if !LEGACY.contains(&header_revision) => {
                    Err(Refused::Revision(header_revision.to_owned()))
                }
                _ if MODERN_ONLY.contains(&method) => Err(Refused::Lacks(REVISION)),
                _ => Ok(Self { era: Era::Legacy }),
            };
        };
        let revision = params::string(text, revision).ok_or(Refused::Lacks(REVISION))?;
        if !MODERN.contains(&revision.as_str()) {
            return Err(Refused::Revision(revision));
        }
        let can = meta.and_then(|meta| member(text, meta, CAPABILITIES));
        match can.is_some_and(|can| Reader::at(text, can).kind() == Ok(Kind::Object)) {
            true => Ok(Self { era: Era::Modern }),
            false => Err(Refused::Lacks(CAPABILITIES)),
        }
    }
}

impl Refused {
    pub(crate) fn answer(&self, id: &Id) -> String {
        match self {
            Self::Lacks(key) => {
                let text = format!("`params._meta` must contain `{key}` in this revision");
                ResponseWriter::error(id, INVALID_PARAMS, &text, None)
            }
            Self::Revision(revision) => {
                let requested: String = revision.chars().take(MAX_ECHO).collect();
                let supported = MODERN.map(quote).join(",");
                let data =
                    format!(r#"{{"supported":[{supported}],"requested":{}}}"#, quote(&requested));
                let text = "this protocol revision is not supported; `data.supported` lists the \
                            supported ones, and after `initialize` those up to 2025-11-25 work too";
                ResponseWriter::error(id, UNSUPPORTED_REVISION, text, Some(&data))
            }
        }
    }
}

/// The parameters are invalid.
pub(crate) const INVALID_PARAMS: i32 = -32602;

const UNSUPPORTED_REVISION: i32 = -32022;

/// No revision is longer. A longer one is not echoed.
const MAX_ECHO: usize = 64;
