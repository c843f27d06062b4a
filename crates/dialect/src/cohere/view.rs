//! Finds the relevant parts of an event or a body in one pass.
//!
//! The `delta` of an event has the same members as a body: a message, a finish reason, and token
//! counts. Both are read in either place, because a call in the wrong one is still a call.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use crate::json::{Fields, index, is_set, text_or_null, word_or_null};

/// An event's data, or a whole body.
#[derive(Default)]
pub(super) struct Document<'a> {
    pub(super) kind: Option<Text<'a>>,
    pub(super) index: Option<(Span, Option<i64>)>,
    /// The members of `delta`.
    pub(super) delta: Turn<'a>,
    /// The members next to it.
    pub(super) own: Turn<'a>,
}

/// A message and how it ended.
#[derive(Default)]
pub(super) struct Turn<'a> {
    /// Boxed, because a document has it in one of two places.
    pub(super) message: Option<Box<Message<'a>>>,
    /// The message is a text: that of an error.
    pub(super) is_text: bool,
    pub(super) finish: Option<(Span, Option<Text<'a>>)>,
    pub(super) usage: Option<Span>,
    /// It has an `error` that is not `null`.
    pub(super) has_error: bool,
}

#[derive(Default)]
pub(super) struct Message<'a> {
    pub(super) span: Span,
    pub(super) role: Option<Text<'a>>,
    pub(super) plan: Option<Text<'a>>,
    /// The span and the kind of `content`.
    pub(super) content: Option<(Span, Kind)>,
    /// Whether `content` is not empty.
    pub(super) has_contents: bool,
    /// The text of each content, as far as it has one.
    pub(super) texts: Vec<Text<'a>>,
    /// The span and the kind of `tool_calls`.
    pub(super) calls: Option<(Span, Kind)>,
    pub(super) entries: Vec<Entry<'a>>,
    /// The texts that citations quote.
    pub(super) quoted: Vec<Text<'a>>,
    /// The span of the index of the quoted content.
    pub(super) content_index: Option<Span>,
}

/// One call, or a piece of one.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub(super) span: Span,
    pub(super) id: Option<Text<'a>>,
    pub(super) is_function: bool,
    pub(super) name: Option<Text<'a>>,
    pub(super) arguments: Option<(Span, Kind)>,
}

impl<'a> Document<'a> {
    /// The messages in it.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message<'a>> {
        [&self.delta, &self.own].into_iter().filter_map(|turn| turn.message.as_deref())
    }

    /// The one call of an event, in its regular place.
    pub(super) fn call(&self) -> Option<&Entry<'a>> {
        let message = self.delta.message.as_deref()?;
        match (message.calls, message.entries.as_slice()) {
            (Some((_, Kind::Object)), [entry]) => Some(entry),
            _ => None,
        }
    }
}

const TOP: [&str; 7] = ["type", "index", "delta", "message", "finish_reason", "usage", "error"];

/// Parses an event or a body.
pub(super) fn view(data: &str) -> Result<Document<'_>, Error> {
    let mut json = Json::new(data);
    let mut document = Document::default();
    let mut object = Fields::new(&TOP).enter(&mut json)?;
    while let Some(place) = object.next(&mut json)? {
        match place {
            0 => document.kind = text_or_null(&mut json)?,
            1 => document.index = Some(index(&mut json, data)?),
            2 if json.kind()? == Kind::Object => document.delta = turn(&mut json)?,
            3 => document.own.message(&mut json)?,
            4 => document.own.finish = Some(word_or_null(&mut json)?),
            5 => document.own.usage = Some(json.skip()?),
            6 => document.own.has_error = is_set(&mut json)?,
            _ => json.ignore()?,
        }
    }
    json.end()?;
    Ok(document)
}

const TURN: [&str; 4] = ["message", "finish_reason", "usage", "error"];

fn turn<'a>(json: &mut Json<'a>) -> Result<Turn<'a>, Error> {
    let mut turn = Turn::default();
    let mut object = Fields::new(&TURN).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => turn.message(json)?,
            1 => turn.finish = Some(word_or_null(json)?),
            2 => turn.usage = Some(json.skip()?),
            _ => turn.has_error = is_set(json)?,
        }
    }
    Ok(turn)
}

impl<'a> Turn<'a> {
    fn message(&mut self, json: &mut Json<'a>) -> Result<(), Error> {
        match json.kind()? {
            Kind::Object => self.message = Some(Box::new(message(json)?)),
            kind => {
                self.is_text = kind == Kind::String;
                json.skip()?;
            }
        }
        Ok(())
    }
}

const MESSAGE: [&str; 5] = ["role", "tool_plan", "content", "tool_calls", "citations"];

fn message<'a>(json: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut object = Fields::new(&MESSAGE).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => message.role = text_or_null(json)?,
            1 => message.plan = text_or_null(json)?,
            2 => {
                let (texts, has_contents) = (&mut message.texts, &mut message.has_contents);
                message.content = Some(one_or_many(json, |json| {
                    *has_contents = true;
                    texts.extend(content(json)?);
                    Ok(())
                })?);
            }
            3 => {
                let entries = &mut message.entries;
                message.calls = Some(one_or_many(json, |json| {
                    entries.push(entry(json)?);
                    Ok(())
                })?);
            }
            _ => {
                let (quoted, content) = (&mut message.quoted, &mut message.content_index);
                one_or_many(json, |json| citation(json, quoted, content))?;
            }
        }
    }
    message.span = object.span(json);
    Ok(message)
}

/// Events have one element where bodies have a list.
fn one_or_many<'a>(
    json: &mut Json<'a>,
    mut each: impl FnMut(&mut Json<'a>) -> Result<(), Error>,
) -> Result<(Span, Kind), Error> {
    let kind = json.kind()?;
    let start = json.position();
    match kind {
        Kind::Array => {
            let mut array = json.array()?;
            while array.next(json)? {
                each(json)?;
            }
        }
        Kind::Null => json.ignore()?,
        _ => each(json)?,
    }
    Ok((Span { start, end: json.position() }, kind))
}

/// The text of a content, if it is one.
fn content<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    match json.kind()? {
        Kind::String => return json.string().map(Some),
        Kind::Object => {}
        _ => return json.skip().map(|_| None),
    }
    let mut text = None;
    let mut object = Fields::new(&["text"]).enter(json)?;
    while object.next(json)?.is_some() {
        text = text_or_null(json)?;
    }
    Ok(text)
}

/// The quoted text of a citation. Its sources are results of the client's own tools, so nothing in
/// them is a call.
fn citation<'a>(
    json: &mut Json<'a>,
    quoted: &mut Vec<Text<'a>>,
    content: &mut Option<Span>,
) -> Result<(), Error> {
    if json.kind()? != Kind::Object {
        return json.skip().map(|_| ());
    }
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        if key.is("text") && json.kind()? == Kind::String {
            quoted.push(json.string()?);
        } else {
            let value = json.skip()?;
            if key.is("content_index") {
                *content = Some(value);
            }
        }
    }
    Ok(())
}

const ENTRY: [&str; 3] = ["id", "type", "function"];

fn entry<'a>(json: &mut Json<'a>) -> Result<Entry<'a>, Error> {
    let mut entry = Entry::default();
    if json.kind()? != Kind::Object {
        return Err(Error::new(Problem::WrongType, json.position()));
    }
    let mut object = Fields::new(&ENTRY).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => entry.id = text_or_null(json)?,
            2 if json.kind()? == Kind::Object => function(json, &mut entry)?,
            _ => json.ignore()?,
        }
    }
    entry.span = object.span(json);
    Ok(entry)
}

fn function<'a>(json: &mut Json<'a>, entry: &mut Entry<'a>) -> Result<(), Error> {
    entry.is_function = true;
    let mut object = Fields::new(&["name", "arguments"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => entry.name = text_or_null(json)?,
            _ => entry.arguments = Some(json.value()?),
        }
    }
    Ok(())
}
