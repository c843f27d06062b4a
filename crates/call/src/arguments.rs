//! What a tool is called with: the text as it came, and one strict reading of it.

use std::sync::OnceLock;

use crate::inside::{Inside, Insides};
use crate::json::{self, Value};

/// The arguments of a call: their text exactly as the model wrote it, and a strict view of it,
/// parsed at most once.
#[derive(Debug, Clone)]
pub struct Arguments {
    form: Form,
    view: OnceLock<Result<Value, Unreadable>>,
    insides: OnceLock<Insides>,
}

/// How the arguments came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// JSON text. Empty text means `{}`: that is how every client reads it.
    Json(String),
    /// The free text of a custom tool: the string `$`.
    Text(String),
    /// Longer than the limit; only the beginning was kept.
    Oversize(String),
    /// Not yet known: only the name has arrived.
    Pending,
}

/// Why arguments have no reading that every client shares. Each argument condition is then
/// unknown, which counts against the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Not one strict JSON document: cut off, two documents, a duplicate key, `NaN`.
    #[error("the arguments are not one strict JSON document: {0}")]
    NotJson(json::Error),
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
    /// Arguments that came as JSON text.
    pub fn json(text: impl Into<String>) -> Self {
        Self::from_form(Form::Json(text.into()))
    }

    /// The free text of a custom tool.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_form(Form::Text(text.into()))
    }

    /// Arguments too large to keep; `start` is what was kept of them.
    pub fn oversize(start: impl Into<String>) -> Self {
        Self::from_form(Form::Oversize(start.into()))
    }

    /// Arguments that have not arrived: the question is asked by name alone.
    pub fn pending() -> Self {
        Self::from_form(Form::Pending)
    }

    fn from_form(form: Form) -> Self {
        Self { form, view: OnceLock::new(), insides: OnceLock::new() }
    }

    /// How they came.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The text as it came; empty while pending.
    pub fn raw(&self) -> &str {
        match &self.form {
            Form::Json(text) | Form::Text(text) | Form::Oversize(text) => text,
            Form::Pending => "",
        }
    }

    /// The one reading all clients share: an object, or the text of a custom tool as a string.
    pub fn value(&self) -> Result<&Value, &Unreadable> {
        self.view.get_or_init(|| self.read()).as_ref()
    }

    /// What an argument that is a string holds for programs that parse its text, with its key. The
    /// argument must be the one in [`Arguments::value`], not a copy of it. Strings inside of lists and
    /// objects are no arguments: nobody parses them.
    pub fn inside(&self, argument: &Value) -> Option<(&str, &Inside)> {
        let root = self.value().ok()?;
        self.insides.get_or_init(|| Insides::of(root)).find(root, argument)
    }

    fn read(&self) -> Result<Value, Unreadable> {
        match &self.form {
            Form::Json(text) if text.trim_ascii().is_empty() => Ok(Value::Object(Vec::new())),
            Form::Json(text) => match Value::parse(text) {
                Ok(object @ Value::Object(_)) => Ok(object),
                Ok(_) => Err(Unreadable::NotAnObject),
                Err(error) => Err(Unreadable::NotJson(error)),
            },
            Form::Text(text) => Ok(Value::String(text.clone())),
            Form::Oversize(_) => Err(Unreadable::Oversize),
            Form::Pending => Err(Unreadable::Pending),
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
            assert!(matches!(Arguments::json(text).value(), Err(Unreadable::NotJson(_))), "{text}");
        }
        assert_eq!(Arguments::json("[1]").value(), Err(&Unreadable::NotAnObject));
        assert_eq!(Arguments::oversize("{").value(), Err(&Unreadable::Oversize));
    }

    #[test]
    fn custom_text_is_a_string() {
        assert_eq!(Arguments::text("*** Begin").value(), Ok(&Value::String("*** Begin".into())));
    }
}
