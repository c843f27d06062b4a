//! Removes secrets and invisible characters from output, all of which was written by others,
//! including models.

use serde::Serialize;

use crate::problem::HintedError;

/// A JSON document without secrets and hidden characters.
pub fn clean(json: &str) -> String {
    let json = callgate_scan::redact_json(json);
    callgate_scan::inspect::strip(&json).unwrap_or_else(|| json.into_owned())
}

/// Serializes a value to such a document.
pub(crate) fn cleaned(value: &impl Serialize) -> Result<String, HintedError> {
    match serde_json::to_string(value) {
        Ok(json) => Ok(clean(&json)),
        Err(error) => Err(HintedError::new(format!("the answer cannot be written: {error}"))),
    }
}
