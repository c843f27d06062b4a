//! Why a message is not forwarded.

use callgate_json::Problem;

use super::{Id, id_of};

/// A message that some peer would read differently, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) why: UnfitReason,
    /// The request that waits for an answer, if it can be found.
    pub(crate) id: Option<Id>,
}

impl Unfit {
    /// A message of which only the start was kept.
    pub(crate) fn too_large(head: &[u8], limit: usize) -> Self {
        let text = String::from_utf8_lossy(head);
        Self { why: UnfitReason::TooLarge { limit }, id: id_of(&text) }
    }
}

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnfitReason {
    #[error("it is not UTF-8")]
    Utf8,
    #[error("it begins with a byte order mark")]
    ByteOrderMark,
    #[error("it contains a carriage return, which some peers read as the end of a line")]
    CarriageReturn,
    #[error("it is a batch, which no revision in use allows")]
    Batch,
    #[error("it is larger than the limit of {limit} bytes")]
    TooLarge { limit: usize },
    #[error("its id is neither a string nor an integer")]
    Id,
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
    #[error("its method is not a string")]
    Method,
    #[error("its params are not an object")]
    Params,
    #[error("it is neither a request nor a notification nor a response")]
    NotAMessage,
    #[error("it is not strict JSON: {0}")]
    Json(callgate_json::Error),
}

impl From<callgate_json::Error> for UnfitReason {
    fn from(error: callgate_json::Error) -> Self {
        Self::Json(error)
    }
}

impl UnfitReason {
    /// The JSON-RPC code: invalid JSON, or valid JSON that is not a request.
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Utf8 | Self::ByteOrderMark => -32700,
            Self::Json(error) if error.what != Problem::DuplicateKey => -32700,
            _ => -32600,
        }
    }
}
