//! The places in a chunk or a completion that matter, found in one walk.

use callgate_call::json::{Error, Kind, Reader as Json, Span, Text};

use crate::event::Unreadable;
use crate::json::{Fields, Stray, index, skip_looking_for_calls, text_or_null};

/// A chunk or completion, without its choices.
#[derive(Default)]
pub(super) struct View<'a> {
    pub(super) model: Option<Text<'a>>,
    /// `error`, unless it is `null`: then nothing happened.
    pub(super) error: Option<Failure>,
    pub(super) has_usage: bool,
    /// A call outside of every choice.
    pub(super) stray: Option<Stray>,
}

#[derive(Default)]
pub(super) struct Failure {
    /// The text of a call that the provider refused, which some clients run nevertheless.
    pub(super) failed_generation: Option<Span>,
}

#[derive(Default)]
pub(super) struct Choice<'a> {
    pub(super) span: Span,
    pub(super) index: Option<i64>,
    pub(super) delta: Option<Said<'a>>,
    /// Boxed, for few chunks have one.
    pub(super) message: Option<Box<Said<'a>>>,
    pub(super) finish: Option<(Span, Text<'a>)>,
    pub(super) stray: Option<Stray>,
}

/// What a choice says: its `delta`, or its `message`.
#[derive(Default)]
pub(super) struct Said<'a> {
    pub(super) span: Span,
    /// The key, to be renamed where a chunk has a `message`.
    pub(super) key: Span,
    pub(super) content: Option<Content<'a>>,
    pub(super) tool_calls: Option<Span>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) function_call: Option<Box<Entry<'a>>>,
    /// Calls the provider has run: `executed_tools`.
    pub(super) executed: Option<Span>,
    /// A call in a member that is not for calls.
    pub(super) stray: Option<Stray>,
}

impl<'a> Choice<'a> {
    /// Its `delta` and its `message`, as far as it has them.
    pub(super) fn said(&self) -> impl Iterator<Item = &Said<'a>> {
        self.delta.iter().chain(self.message.as_deref())
    }

    /// Whether the `message` repeats the calls of the `delta` to the letter, as one server does.
    /// Then both are edited alike.
    pub(super) fn message_is_a_copy(&self, data: &str) -> bool {
        let (Some(delta), Some(message)) = (&self.delta, &self.message) else { return false };
        let list = |said: &Said<'_>| said.tool_calls.map(|span| span.of(data).to_owned());
        let call = |said: &Said<'_>| {
            said.function_call.as_ref().map(|entry| entry.span.of(data).to_owned())
        };
        delta.has_calls() && list(delta) == list(message) && call(delta) == call(message)
    }
}

impl Said<'_> {
    pub(super) fn has_calls(&self) -> bool {
        !self.entries.is_empty() || self.function_call.is_some()
    }
}

pub(super) enum Content<'a> {
    Text(Text<'a>),
    Null(Span),
    Other(Span),
}

/// One entry of `tool_calls`, or a legacy `function_call`.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub(super) span: Span,
    pub(super) index: Option<(Span, Option<i64>)>,
    pub(super) id: Option<Text<'a>>,
    pub(super) function: Option<Function<'a>>,
    pub(super) custom: Option<Function<'a>>,
}

/// The inside of a call: `function`, `custom`, or a legacy `function_call`.
#[derive(Default)]
pub(super) struct Function<'a> {
    pub(super) name: Option<Text<'a>>,
    pub(super) arguments: Option<(Span, Kind)>,
}

const TOP: [&str; 5] = ["choices", "model", "error", "usage", "object"];

/// Walks a chunk or completion and hands out its choices one by one: most have one, and a list
/// of one would be an allocation for every piece of text.
pub(super) fn view<'a>(
    data: &'a str,
    mut each: impl FnMut(Choice<'a>) -> Result<(), Unreadable>,
) -> Result<View<'a>, Unreadable> {
    let mut json = Json::new(data);
    let mut view = View::default();
    let mut fields = Fields::new(&TOP);
    let mut object = json.object()?;
    while let Some(key) = object.next(&mut json)? {
        match fields.find(&key)? {
            Some(0) => match json.kind()? {
                Kind::Array => {
                    let mut choices = json.array()?;
                    while choices.next(&mut json)? {
                        each(choice(&mut json, data)?)?;
                    }
                }
                _ => {
                    skip_looking_for_calls(&mut json, &mut view.stray)?;
                }
            },
            Some(1) if json.kind()? == Kind::String => view.model = Some(json.string()?),
            Some(2) => view.error = failure(&mut json)?,
            Some(3) => {
                view.has_usage = json.kind()? != Kind::Null;
                json.skip()?;
            }
            _ => {
                skip_looking_for_calls(&mut json, &mut view.stray)?;
            }
        }
    }
    json.end()?;
    Ok(view)
}

fn failure(json: &mut Json<'_>) -> Result<Option<Failure>, Error> {
    match json.kind()? {
        Kind::Null => json.skip().map(|_| None),
        Kind::Object => {
            let mut failure = Failure::default();
            let mut fields = Fields::new(&["failed_generation"]);
            let mut object = json.object()?;
            while let Some(key) = object.next(json)? {
                let found = fields.find(&key)?;
                let value = json.skip()?;
                if found.is_some() {
                    failure.failed_generation = Some(value);
                }
            }
            Ok(Some(failure))
        }
        _ => json.skip().map(|_| Some(Failure::default())),
    }
}

const CHOICE: [&str; 4] = ["index", "delta", "message", "finish_reason"];

fn choice<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Choice<'a>, Unreadable> {
    let mut choice = Choice::default();
    if json.kind()? != Kind::Object {
        skip_looking_for_calls(json, &mut choice.stray)?;
        return Ok(choice);
    }
    let start = json.position();
    let mut fields = Fields::new(&CHOICE);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => choice.index = index(json, data)?.1,
            Some(1) if json.kind()? == Kind::Object => {
                choice.delta = Some(said(json, data, key.span())?);
            }
            Some(2) if json.kind()? == Kind::Object => {
                choice.message = Some(Box::new(said(json, data, key.span())?));
            }
            Some(3) if json.kind()? == Kind::String => {
                let text = json.string()?;
                choice.finish = (!text.is_empty()).then_some((text.span(), text));
            }
            _ => {
                skip_looking_for_calls(json, &mut choice.stray)?;
            }
        }
    }
    choice.span = Span { start, end: json.position() };
    Ok(choice)
}

const SAID: [&str; 4] = ["content", "tool_calls", "function_call", "executed_tools"];

fn said<'a>(json: &mut Json<'a>, data: &'a str, key: Span) -> Result<Said<'a>, Unreadable> {
    let mut said = Said { key, ..Said::default() };
    let start = json.position();
    let mut fields = Fields::new(&SAID);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => {
                said.content = Some(match json.kind()? {
                    Kind::String => Content::Text(json.string()?),
                    Kind::Null => Content::Null(json.skip()?),
                    _ => Content::Other(skip_looking_for_calls(json, &mut said.stray)?),
                });
            }
            Some(1) => match json.kind()? {
                Kind::Array => {
                    let start = json.position();
                    let mut entries = json.array()?;
                    while entries.next(json)? {
                        said.entries.push(entry(json, data)?);
                    }
                    said.tool_calls = Some(Span { start, end: json.position() });
                }
                Kind::Null => {
                    json.skip()?;
                }
                _ => return Err(Unreadable::Ambiguous("`tool_calls` is not a list")),
            },
            Some(2) => match json.kind()? {
                Kind::Null => {
                    json.skip()?;
                }
                _ => {
                    let start = json.position();
                    let function = function(json, "arguments")?;
                    let span = Span { start, end: json.position() };
                    let entry = Entry { span, function: Some(function), ..Entry::default() };
                    said.function_call = Some(Box::new(entry));
                }
            },
            Some(3) => said.executed = Some(json.skip()?),
            _ => {
                skip_looking_for_calls(json, &mut said.stray)?;
            }
        }
    }
    said.span = Span { start, end: json.position() };
    Ok(said)
}

const ENTRY: [&str; 5] = ["index", "id", "type", "function", "custom"];

fn entry<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Entry<'a>, Unreadable> {
    let mut entry = Entry::default();
    json.kind()?;
    let start = json.position();
    let mut fields = Fields::new(&ENTRY);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => entry.index = Some(index(json, data)?),
            Some(1) => entry.id = text_or_null(json)?,
            Some(3) if json.kind()? == Kind::Object => {
                entry.function = Some(function(json, "arguments")?);
            }
            Some(4) if json.kind()? == Kind::Object => {
                entry.custom = Some(function(json, "input")?);
            }
            _ => {
                json.skip()?;
            }
        }
    }
    entry.span = Span { start, end: json.position() };
    Ok(entry)
}

const FUNCTION: [&str; 3] = ["name", "arguments", "input"];

fn function<'a>(json: &mut Json<'a>, holds: &str) -> Result<Function<'a>, Error> {
    let mut function = Function::default();
    let mut fields = Fields::new(&FUNCTION);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match fields.find(&key)? {
            Some(0) => function.name = text_or_null(json)?,
            Some(_) if key.is(holds) => {
                let kind = json.kind()?;
                function.arguments = Some((json.skip()?, kind));
            }
            _ => {
                json.skip()?;
            }
        }
    }
    Ok(function)
}
