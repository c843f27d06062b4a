//! Why a request cannot be answered.

use std::fmt;

/// What went wrong, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintedError {
    message: String,
    hint: Option<String>,
}

impl HintedError {
    /// A problem without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// A problem with a hint.
    pub fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }

    /// Converts an error, whose text may contain a hint.
    pub fn of(error: &impl fmt::Display) -> Self {
        let whole = error.to_string();
        match whole.split_once("\nhint: ") {
            Some((message, hint)) => Self::hinted(message, hint),
            None => Self::new(whole),
        }
    }

    /// The same with the input that it is about.
    #[must_use]
    pub fn at(self, input: &str) -> Self {
        Self { message: format!("cannot read `{input}`: {}", self.message), ..self }
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for HintedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HintedError {}
