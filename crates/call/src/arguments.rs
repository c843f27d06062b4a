//! The arguments of a call: the original text, and one strict reading of it.

use std::sync::OnceLock;

use crate::embedded::{EmbeddedArguments, EmbeddedJson};
use callgate_json::Value;

/// The arguments of a call: their text exactly as the model wrote it, and its value, parsed
/// strictly and at most once.
#[derive(Debug, Clone)]
pub struct Arguments {
    form: ArgumentsForm,
    view: OnceLock<Result<Value, UnreadableArguments>>,
    embedded: OnceLock<EmbeddedArguments>,
}

/// The form in which the arguments arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentsForm {
    /// JSON text. Empty text means `{}`, as in every client.
    Json(String),
    /// The free text of a custom tool: the string `$`.
    Text(String),
    /// Longer than the limit: only the beginning is kept.
    Oversize(String),
    /// Not available yet: only the name has arrived.
    Pending,
}

/// Why the arguments have no value that every client agrees on. Every condition on arguments is
/// then unknown, which counts against the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableArguments {
    /// Not one strict JSON document: truncated, two documents, a duplicate key, `NaN`.
    #[error("the arguments are not one strict JSON document: {0}")]
    NotJson(callgate_json::Error),
    /// A JSON document, but not an object.
    #[error("the arguments are JSON, but not an object")]
    NotAnObject,
    /// Longer than the limit.
    #[error("the arguments are larger than the limit")]
    Oversize,
    /// Not yet arrived.
    #[error("the arguments have not arrived yet")]
    Pending,
}

impl Arguments {
    /// Arguments that arrived as JSON text.
    pub fn json(text: impl Into<String>) -> Self {
        Self::from_form(ArgumentsForm::Json(text.into()))
    }

    /// The free text of a custom tool.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_form(ArgumentsForm::Text(text.into()))
    }

    /// Arguments that are too large to keep; `start` is their beginning.
    pub fn oversize(start: impl Into<String>) -> Self {
        Self::from_form(ArgumentsForm::Oversize(start.into()))
    }

    /// Arguments that have not arrived, for a judgement by name alone.
    pub fn pending() -> Self {
        Self::from_form(ArgumentsForm::Pending)
    }

    fn from_form(form: ArgumentsForm) -> Self {
        Self { form, view: OnceLock::new(), embedded: OnceLock::new() }
    }

    /// The form in which they arrived.
    pub fn form(&self) -> &ArgumentsForm {
        &self.form
    }

    /// The original text; empty while pending.
    pub fn raw(&self) -> &str {
        match &self.form {
            ArgumentsForm::Json(text)
            | ArgumentsForm::Text(text)
            | ArgumentsForm::Oversize(text) => text,
            ArgumentsForm::Pending => "",
        }
    }

    /// The value that all clients agree on: an object, or the text of a custom tool as a string.
    pub fn value(&self) -> Result<&Value, &UnreadableArguments> {
        self.view.get_or_init(|| self.read()).as_ref()
    }

    /// The JSON in a string argument, for programs that parse such text, and the argument's key.
    /// `argument` must be a reference into [`Arguments::value`], not a copy. Strings inside lists
    /// and objects are not arguments: no program parses them.
    pub fn embedded_json(&self, argument: &Value) -> Option<(&str, &EmbeddedJson)> {
        let root = self.value().ok()?;
        self.embedded.get_or_init(|| EmbeddedArguments::of(root)).find(root, argument)
    }

    fn read(&self) -> Result<Value, UnreadableArguments> {
        match &self.form {
            ArgumentsForm::Json(text) if text.trim_ascii().is_empty() => {
                Ok(Value::Object(Vec::new()))
            }
            ArgumentsForm::Json(text) => match Value::parse(text) {
                Ok(object @ Value::Object(_)) => Ok(object),
                Ok(_) => Err(UnreadableArguments::NotAnObject),
                Err(error) => Err(UnreadableArguments::NotJson(error)),
            },
            ArgumentsForm::Text(text) => Ok(Value::String(text.clone())),
            ArgumentsForm::Oversize(_) => Err(UnreadableArguments::Oversize),
            ArgumentsForm::Pending => Err(UnreadableArguments::Pending),
        }
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_text_is_an_empty_object() {
        for text in ["", " ", "\n"] {
            assert_eq!(Arguments::json(text).value(), Ok(&Value::Object(Vec::new())));
        }
    }

    #[test]
    fn what_clients_read_differently_has_no_reading() {
        for text in
            [r#"{"a":1}{"b":2}"#, r#"{"a":1,"a":2}"#, r#"{"a":NaN}"#, r#"{"a":1,}"#, r#"{"a":"#]
        {
            assert!(
                matches!(Arguments::json(text).value(), Err(UnreadableArguments::NotJson(_))),
                "{text}"
            );
        }
        assert_eq!(Arguments::json("[1]").value(), Err(&UnreadableArguments::NotAnObject));
        assert_eq!(Arguments::oversize("{").value(), Err(&UnreadableArguments::Oversize));
    }

    #[test]
    fn custom_text_is_a_string() {
        assert_eq!(Arguments::text("*** Begin").value(), Ok(&Value::String("*** Begin".into())));
    }
}
