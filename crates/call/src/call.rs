//! One tool call.

use crate::{Arguments, Origin, ToolName};

/// A tool call as one door saw it, whole: what would be run, with what, and who asked.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The id the provider gave it. Empty where the provider gave none.
    pub id: CallId,
    /// The tool's name, readable by policy.
    pub name: ToolName,
    /// What the tool is called with.
    pub arguments: Arguments,
    /// Where the call was seen and who acts.
    pub origin: Origin,
    /// The program of the provider's that made it, where it was not the model itself.
    pub caller: Option<Caller>,
}

/// A program that the provider runs, and that makes calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What runs it, in the provider's word.
    pub kind: String,
    /// The provider's id of it.
    pub id: Option<String>,
}

/// The provider's id of a call, exactly as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CallId(pub String);

impl CallId {
    /// The id as text; empty where the provider gave none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}
