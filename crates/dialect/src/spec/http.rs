//! What the HTTP side of an API looks like: where requests have the key, and what refusals are.

/// The HTTP side of an API.
#[derive(Debug)]
pub struct HttpSpec {
    /// The header that carries the key for the provider's own APIs. `authorization` has `Bearer`
    /// before it.
    pub key_header: &'static str,
    /// The header for the key in the APIs of others that the provider also serves.
    pub compatible_key_header: &'static str,
    /// The body of a refusal.
    pub refusal: fn(&ApiError<'_>) -> String,
    /// The header from which clients read the kind of an error, if they do.
    pub error_header: Option<ErrorHeader>,
    /// Who signs requests.
    pub signing: Signing,
    /// Whether a request with this path asks the model for a turn. Some show earlier turns.
    pub asks_for_turn: fn(&str) -> bool,
}

/// The header from which clients read the kind of an error.
#[derive(Debug)]
pub struct ErrorHeader {
    /// Its name.
    pub name: &'static str,
    /// The kind for each status.
    pub kind: fn(u16) -> &'static str,
}

/// Who signs requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    /// Nobody.
    None,
    /// Amazon's clients do, for one host. Their paths name the model.
    Amazon,
}

/// An error, to be written in the format of the API's clients.
#[derive(Debug, Clone, Copy)]
pub struct ApiError<'e> {
    /// The status of the response.
    pub status: u16,
    /// Its kind.
    pub kind: &'e str,
    /// A more specific code.
    pub code: &'e str,
    /// What happened, and what to do next.
    pub message: &'e str,
}

impl HttpSpec {
    /// An API with a key in `authorization`, nothing signed, and every request for a turn.
    pub(crate) const fn bearer(refusal: fn(&ApiError<'_>) -> String) -> Self {
        Self {
            key_header: "authorization",
            compatible_key_header: "authorization",
            refusal,
            error_header: None,
            signing: Signing::None,
            asks_for_turn: |_| true,
        }
    }
}
