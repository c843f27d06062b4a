//! Finds the relevant parts of a line in one pass.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use crate::json::{Fields, document, text_or_null};

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
    let mut fields = Fields::new(&LINE);
    let mut object = json.object()?;
    while let Some(key) = object.next(&mut json)? {
        match fields.find(&key)? {
            Some(0) => line.model = text_or_null(&mut json)?,
            Some(1) if json.kind()? == Kind::Object => {
                line.message = Some(message(&mut json)?);
            }
            Some(2) => line.own.text(&mut json)?,
            Some(3) => line.own.calls(&mut json)?,
            Some(4) => line.done = truth(&mut json, data)?,
            Some(5) => line.done_reason = Some(reason(&mut json)?),
            Some(6) => {
                line.has_error = json.kind()? != Kind::Null;
                json.skip()?;
            }
            _ => {
                json.skip()?;
            }
        }
    }
    json.end()?;
    Ok(line)
}

fn message<'a>(json: &mut Json<'a>) -> Result<LineContent<'a>, Error> {
    let mut said = LineContent::default();
    let start = json.position();
    let mut fields = Fields::new(&["content", "tool_calls"]);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => said.text(json)?,
            Some(_) => said.calls(json)?,
            None => {
                json.skip()?;
            }
        }
    }
    said.span = Span { start, end: json.position() };
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
            return json.skip().map(|_| ());
        }
        let start = json.position();
        let mut list = json.array()?;
        while list.next(json)? {
            self.entries.push(entry(json)?);
        }
        self.calls = Some(Span { start, end: json.position() });
        Ok(())
    }
}

fn entry<'a>(json: &mut Json<'a>) -> Result<Entry<'a>, Error> {
    let mut entry = Entry::default();
    json.kind()?;
    let start = json.position();
    let mut fields = Fields::new(&["id", "function"]);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => entry.id = text_or_null(json)?,
            Some(_) if json.kind()? == Kind::Object => function(json, &mut entry)?,
            _ => {
                json.skip()?;
            }
        }
    }
    entry.span = Span { start, end: json.position() };
    Ok(entry)
}

fn function<'a>(json: &mut Json<'a>, entry: &mut Entry<'a>) -> Result<(), Error> {
    let start = json.position();
    let mut fields = Fields::new(&["name", "arguments", "index"]);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => entry.name = text_or_null(json)?,
            Some(1) => {
                let kind = json.kind()?;
                entry.arguments = Some((json.skip()?, kind));
            }
            Some(_) => entry.index = Some(json.skip()?),
            None => {
                json.skip()?;
            }
        }
    }
    entry.function = Some(Span { start, end: json.position() });
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

/// The finish reason, or the span of a `null`.
fn reason<'a>(json: &mut Json<'a>) -> Result<(Span, Option<Text<'a>>), Error> {
    match json.kind()? {
        Kind::Null => json.skip().map(|span| (span, None)),
        _ => json.string().map(|text| (text.span(), Some(text))),
    }
}
