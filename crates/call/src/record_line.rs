//! The line of a notice that names the record of the denied call.

use std::fmt;

/// The line of a notice that names the record of the denied call. It is the last line and names a
/// UUID: by it, restoring knows the notice again when a client sends it back, and tells two notices
/// apart.
///
/// ```
/// use callgate_call::RecordLine;
///
/// let line = RecordLine { id: "0199b0c4" }.to_string();
/// assert_eq!(RecordLine::read(&line), Some(RecordLine { id: "0199b0c4" }));
/// assert_eq!(RecordLine::read("Reason: none"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLine<'a> {
    /// The id, and what a client may have joined to it.
    pub id: &'a str,
}

impl<'a> RecordLine<'a> {
    /// The line, if it is one.
    pub fn read(line: &'a str) -> Option<Self> {
        line.strip_prefix(BEGINNING).map(|id| Self { id })
    }
}

impl fmt::Display for RecordLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGINNING}{}", self.id)
    }
}

const BEGINNING: &str = "Record: ";
