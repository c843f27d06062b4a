//! Finds the relevant parts of a line in one pass.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use crate::json::{Fields, document, is_set, text_or_null, word_or_null};

/// One line, or a whole body.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) model: Option<Text<'a>>,
    /// The text and calls of the line itself, as in completions of a prompt.
    pub(super) own: LineContent<'a>,
    /// The text and calls of its message.
    pub(super) message: Option<LineContent<'a>>,
    pub(super) done: Option<bool>,
    pub(super) done_reason: Option<(Span, Option<Text<'a>>)>,
    /// It has an `error` that is not `null`.
    pub(super) has_error: bool,
}

/// A text and calls.
#[derive(Default)]
pub(super) struct LineContent<'a> {
    pub(super) span: Span,
    /// The span of the text, and the text itself if it is a string.
    pub(super) text: Option<(Span, Option<Text<'a>>)>,
    pub(super) calls: Option<Span>,
    pub(super) entries: Vec<Entry<'a>>,
}

/// One call.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub(super) span: Span,
    pub(super) id: Option<Text<'a>>,
    /// The span of the object inside the call.
    pub(super) function: Option<Span>,
    pub(super) index: Option<Span>,
    pub(super) name: Option<Text<'a>>,
    pub(super) arguments: Option<(Span, Kind)>,
}

impl<'a> Line<'a> {
    /// All texts and calls in it.
    pub(super) fn said(&self) -> impl Iterator<Item = &LineContent<'a>> {
        [Some(&self.own), self.message.as_ref()].into_iter().flatten()
    }
}

const LINE: [&str; 7] =
    ["model", "message", "response", "tool_calls", "done", "done_reason", "error"];

/// Parses a line.
pub(super) fn view(data: &str) -> Result<Line<'_>, Error> {
    let mut json = Json::new(data);
    let mut line = Line::default();
    line.own.span = document(data);
    let mut object = Fields::new(&LINE).enter(&mut json)?;
    while let Some(place) = object.next(&mut json)? {
        match place {
            0 => line.model = text_or_null(&mut json)?,
            1 if json.kind()? == Kind::Object => line.message = Some(message(&mut json)?),
            2 => line.own.text(&mut json)?,
            3 => line.own.calls(&mut json)?,
            4 => line.done = truth(&mut json, data)?,
            5 => line.done_reason = Some(word_or_null(&mut json)?),
            6 => line.has_error = is_set(&mut json)?,
            _ => json.ignore()?,
        }
    }
    json.end()?;
    Ok(line)
}

fn message<'a>(json: &mut Json<'a>) -> Result<LineContent<'a>, Error> {
    let mut said = LineContent::default();
    let mut object = Fields::new(&["content", "tool_calls"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => said.text(json)?,
            _ => said.calls(json)?,
        }
    }
    said.span = object.span(json);
    Ok(said)
}

impl<'a> LineContent<'a> {
    fn text(&mut self, json: &mut Json<'a>) -> Result<(), Error> {
        self.text = Some(match json.kind()? {
            Kind::String => json.string().map(|text| (text.span(), Some(text)))?,
            _ => (json.skip()?, None),
        });
        Ok(())
    }

    fn calls(&mut self, json: &mut Json<'a>) -> Result<(), Error> {
        if json.kind()? == Kind::Null {
            return json.ignore();
        }
        let (span, list) = json.list(entry)?;
        (self.calls, self.entries) = (Some(span), list);
        Ok(())
    }
}

fn entry<'a>(json: &mut Json<'a>) -> Result<Entry<'a>, Error> {
    let mut entry = Entry::default();
    let mut object = Fields::new(&["id", "function"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => entry.id = text_or_null(json)?,
            _ if json.kind()? == Kind::Object => function(json, &mut entry)?,
            _ => json.ignore()?,
        }
    }
    entry.span = object.span(json);
    Ok(entry)
}

fn function<'a>(json: &mut Json<'a>, entry: &mut Entry<'a>) -> Result<(), Error> {
    let mut object = Fields::new(&["name", "arguments", "index"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => entry.name = text_or_null(json)?,
            1 => entry.arguments = Some(json.value()?),
            _ => entry.index = Some(json.skip()?),
        }
    }
    entry.function = Some(object.span(json));
    Ok(())
}

/// `true` or `false`; clients take anything else for one or the other.
fn truth(json: &mut Json<'_>, data: &str) -> Result<Option<bool>, Error> {
    match json.kind()? {
        Kind::Bool => json.skip().map(|span| Some(span.of(data) == "true")),
        Kind::Null => json.skip().map(|_| None),
        _ => Err(Error::new(Problem::WrongType, json.position())),
    }
}
