//! One tool call.

use crate::{Arguments, Origin, ToolName};

/// A complete tool call as one door saw it: what would run, with what, and for whom.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The provider's id. Empty if the provider gave none.
    pub id: CallId,
    /// The tool's name.
    pub name: ToolName,
    /// The arguments.
    pub arguments: Arguments,
    /// Where the call was seen and who makes it.
    pub origin: Origin,
    /// The provider's program that made the call; `None` if the model itself did.
    pub caller: Option<Caller>,
}

/// A program that the provider runs and that makes calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The kind of program, as the provider names it.
    pub kind: String,
    /// The provider's id for it.
    pub id: Option<String>,
}

/// The provider's id for a call, unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CallId(pub String);

impl CallId {
    /// The id as text; empty if the provider gave none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}
