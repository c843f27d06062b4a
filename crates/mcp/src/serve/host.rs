//! What a server tells of, and whom it asks.

/// Who knows the answers. Its methods may wait for a disk: they are never called where that would
/// hold up others.
pub trait Host: Send + Sync + 'static {
    /// What the server says of itself.
    fn about(&self) -> &About;

    /// What can be read. The list never changes.
    fn resources(&self) -> &[Resource];

    /// What can be called. The list never changes.
    fn tools(&self) -> &[Tool];

    /// The text of a resource that is listed, or why it cannot be told.
    fn read(&self, uri: &str) -> Result<String, String>;

    /// Calls a tool that is listed, with a JSON object. It never changes anything.
    fn call(&self, tool: &str, arguments: &str) -> Called;
}

/// What a server says of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What a model should know of it.
    pub instructions: &'static str,
}

/// Something that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    /// Its address.
    pub uri: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it holds.
    pub description: &'static str,
    /// The form of its text.
    pub mime_type: &'static str,
}

/// Something that can be called.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// All of its definition, its name included: a JSON object on one line.
    pub definition: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// It was answered.
    Done {
        /// For programs: a JSON object on one line.
        structured: String,
        /// For people and models.
        text: String,
    },
    /// It was not: why, and what to do next.
    Failed(String),
}
