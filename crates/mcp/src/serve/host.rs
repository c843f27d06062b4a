//! The content of a server, and who provides it.

/// Provides the content. Its methods may wait for a disk, so they are never called on a thread that
/// others need.
pub trait ServerContent: Send + Sync + 'static {
    /// The server's description of itself.
    fn about(&self) -> &ServerInfo;

    /// The resources. The list never changes.
    fn resources(&self) -> &[Resource];

    /// The tools. The list never changes.
    fn tools(&self) -> &[ServedTool];

    /// The text of a listed resource, or why it is unavailable.
    fn read(&self, uri: &str) -> Result<String, String>;

    /// Calls a listed tool with a JSON object. Calls have no side effects.
    fn call(&self, tool: &str, arguments: &str) -> CallResult;
}

/// A server's description of itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its name.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What a model should know about it.
    pub instructions: &'static str,
}

/// A resource that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    /// Its address.
    pub uri: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// What it contains.
    pub description: &'static str,
    /// The MIME type of its text.
    pub mime_type: &'static str,
}

/// A tool that can be called.
#[derive(Debug, Clone)]
pub struct ServedTool {
    /// Its name.
    pub name: &'static str,
    /// Its complete definition, including its name: a JSON object on one line.
    pub definition: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// The call succeeded.
    Done {
        /// For programs: a JSON object on one line.
        structured: String,
        /// For people and models.
        text: String,
    },
    /// The call failed: why, and what to do next.
    Failed(String),
}
