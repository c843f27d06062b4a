//! What a request says about itself: its revision, and what its client can do.

use callgate_call::json::{Kind, Reader, Span, member, quote};

use super::words::{LEGACY, MODERN, Words};
use crate::answers::Era;
use crate::message::Id;
use crate::params::{self, CAPABILITIES, REVISION};

/// The methods that only the newer revisions have.
const MODERN_ONLY: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// What a request says about itself.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) era: Era,
}

/// Why a request is not looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its metadata lack this.
    Lacks(&'static str),
    /// It speaks a revision that is not spoken here.
    Revision(String),
}

impl Envelope {
    /// Reads it; `beside` is the revision that the head of a request names.
    pub(crate) fn read(
        method: &str,
        text: &str,
        params: Option<Span>,
        beside: Option<&str>,
    ) -> Result<Self, Refused> {
        let meta = params::meta(text, params);
        let Some(revision) = meta.and_then(|meta| member(text, meta, REVISION)) else {
            return match beside {
                Some(beside) if MODERN.contains(&beside) => Err(Refused::Lacks(REVISION)),
                Some(beside) if !LEGACY.contains(&beside) => {
                    Err(Refused::Revision(beside.to_owned()))
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
                Words::error(id, INVALID_PARAMS, &text, None)
            }
            Self::Revision(revision) => {
                let requested: String = revision.chars().take(MAX_ECHO).collect();
                let supported = MODERN.map(quote).join(",");
                let data =
                    format!(r#"{{"supported":[{supported}],"requested":{}}}"#, quote(&requested));
                let text = "this revision of the protocol is not spoken here; those of \
                            `data.supported` are, and after `initialize` those up to 2025-11-25";
                Words::error(id, UNSUPPORTED_REVISION, text, Some(&data))
            }
        }
    }
}

/// The parameters are not what they should be.
pub(crate) const INVALID_PARAMS: i32 = -32602;

const UNSUPPORTED_REVISION: i32 = -32022;

/// No revision is longer; what is longer is not said again.
const MAX_ECHO: usize = 64;
