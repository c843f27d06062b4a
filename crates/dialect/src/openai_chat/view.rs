//! Finds the relevant parts of a chunk or a completion in one pass.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::event::{Canonical, Lane, Reading, Unreadable};
use crate::json::{Fields, index, is_set, text_in, text_or_null, whole};

/// A chunk or completion, without its choices.
#[derive(Default)]
pub(super) struct View<'a> {
    pub(super) model: Option<Text<'a>>,
    pub(super) choices: Choices,
    /// How many choices there are.
    pub(super) count: u32,
    /// The first finish reason among them.
    pub(super) finish: Option<Text<'a>>,
    /// Its type is `error`, or it has a `detail` of one, as servers send that have no `error`.
    pub(super) is_error: bool,
    /// `error`, unless it is `null`, which means no error.
    pub(super) error: Option<Failure>,
    /// `usage`, unless it is `null`.
    pub(super) usage: Option<Span>,
    /// Some clients skip a chunk of this form.
    pub(super) skipped_by_some_clients: bool,
}

/// The value of `choices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Choices {
    #[default]
    Missing,
    Listed,
    /// Not a list: mostly `null`.
    Other,
}

#[derive(Default)]
pub(super) struct Failure {
    /// The text of a call that the provider rejected, which some clients run nevertheless.
    pub(super) failed_generation: Option<Span>,
}

#[derive(Default)]
pub(super) struct Choice<'a> {
    pub(super) span: Span,
    pub(super) lane: Lane,
    pub(super) delta: Option<ChoiceContent<'a>>,
    /// Boxed, because few chunks have one.
    pub(super) message: Option<Box<ChoiceContent<'a>>>,
    pub(super) finish: Option<(Span, Text<'a>)>,
    /// Its index is too large for any client.
    pub(super) bad_index: bool,
    pub(super) skipped_by_some_clients: bool,
}

/// The content of a choice: its `delta`, or its `message`.
#[derive(Default)]
pub(super) struct ChoiceContent<'a> {
    pub(super) span: Span,
    /// The key, to be renamed if a chunk has a `message`.
    pub(super) key: Span,
    pub(super) content: Option<Content<'a>>,
    pub(super) refusal: Option<Text<'a>>,
    pub(super) tool_calls: Option<Span>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) function_call: Option<Box<Entry<'a>>>,
    /// The thinking before a call, in entries that name the call by its id.
    pub(super) reasoning_details: Option<Span>,
    /// Calls that the provider has run: `executed_tools`.
    pub(super) executed: Option<Span>,
    pub(super) skipped_by_some_clients: bool,
}

impl<'a> Choice<'a> {
    /// Its `delta` and its `message`, if it has them.
    pub(super) fn said(&self) -> impl Iterator<Item = &ChoiceContent<'a>> {
        self.delta.iter().chain(self.message.as_deref())
    }

    /// Whether the `message` repeats the calls of the `delta` exactly, as one server does.
    pub(super) fn message_is_a_copy(&self, data: &str) -> bool {
        let (Some(delta), Some(message)) = (&self.delta, &self.message) else { return false };
        let list = |said: &ChoiceContent<'_>| said.tool_calls.map(|span| span.of(data).to_owned());
        let call = |said: &ChoiceContent<'_>| {
            said.function_call.as_ref().map(|entry| entry.span.of(data).to_owned())
        };
        delta.has_calls() && list(delta) == list(message) && call(delta) == call(message)
    }
}

impl ChoiceContent<'_> {
    /// Adds its calls as calls in regular places.
    pub(super) fn takes(&self, reading: &mut Reading) {
        for entry in self.entries.iter().chain(self.function_call.as_deref()) {
            reading.taken.push(entry.span);
            let function = entry.function.as_ref().or(entry.custom.as_ref());
            reading.takes(entry.span, function.and_then(|function| function.name));
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.entries.is_empty() || self.function_call.is_some()
    }
}

pub(super) enum Content<'a> {
    Text(Text<'a>),
    Null(Span),
    /// A list of parts, which one provider sends along with its thinking, and the texts among them.
    Parts(Span, Vec<Text<'a>>),
    Other(Span),
}

impl<'a> Content<'a> {
    /// The texts in it: one text, or those of a list of parts.
    pub(super) fn texts(&self) -> &[Text<'a>] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Parts(_, texts) => texts,
            Self::Null(_) | Self::Other(_) => &[],
        }
    }
}

/// One entry of `tool_calls`, or a legacy `function_call`.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub(super) span: Span,
    pub(super) index: Option<(Span, Option<i64>)>,
    pub(super) id: Option<Text<'a>>,
    pub(super) function: Option<Function<'a>>,
    pub(super) custom: Option<Function<'a>>,
    pub(super) skipped_by_some_clients: bool,
}

impl Entry<'_> {
    /// The span of the arguments, if everything else in this entry equals the canonical form of the
    /// call.
    pub(super) fn argument_of(&self, call: &Canonical) -> Option<Span> {
        let inner = if call.free_text { &self.custom } else { &self.function };
        let inner = inner.as_ref()?;
        let (span, kind) = inner.arguments?;
        let says = |text: Option<Text<'_>>, word: &str| match text {
            Some(text) => text.decode().is_ok_and(|text| text == word),
            None => word.is_empty(),
        };
        let fits = kind == Kind::String && says(self.id, &call.id) && says(inner.name, &call.name);
        fits.then_some(span)
    }
}

/// The object inside a call: `function`, `custom`, or a legacy `function_call`.
#[derive(Default)]
pub(super) struct Function<'a> {
    pub(super) name: Option<Text<'a>>,
    pub(super) arguments: Option<(Span, Kind)>,
}

const TOP: [&str; 8] = ["choices", "model", "error", "usage", "object", "id", "created", "detail"];

/// Parses a chunk or completion and passes on its choices one by one: most have one, and a list
/// would be an allocation for every piece of text.
pub(super) fn view<'a>(
    data: &'a str,
    each: impl FnMut(Choice<'a>) -> Result<(), Unreadable>,
) -> Result<View<'a>, Unreadable> {
    whole(data, |json| walk(json, data, each))
}

/// Like [`view`], for one completion of a page. The choices of each completion have separate lanes.
pub(super) fn view_of_page<'a>(
    data: &'a str,
    (place, completion): (usize, Span),
    mut each: impl FnMut(Choice<'a>) -> Result<(), Unreadable>,
) -> Result<View<'a>, Unreadable> {
    let base = Lane::of(place).0.saturating_mul(LANES);
    walk(&mut Json::at(data, completion), data, |mut choice| {
        if choice.lane.0 >= LANES {
            return Err(Unreadable::Ambiguous("more choices than the limit"));
        }
        choice.lane.0 = choice.lane.0.saturating_add(base);
        each(choice)
    })
}

/// Lanes for the choices of one completion. The API allows at most 128.
const LANES: u32 = 1 << 10;

/// The completions of a list of stored ones; `None` if `data` is something else.
pub(super) fn page(data: &str) -> Result<Option<Vec<Span>>, Error> {
    let mut json = Json::new(data);
    let (mut page, mut is_list, mut has_data) = (Vec::new(), false, false);
    let mut object = json.object()?;
    while let Some(key) = object.next(&mut json)? {
        let kind = json.kind()?;
        if key.is("choices") || key.is("error") || (has_data && key.is("data")) {
            return Ok(None);
        } else if key.is("data") && kind == Kind::Array {
            has_data = true;
            (_, page) = json.list(Json::skip)?;
        } else if key.is("object") && kind == Kind::String {
            is_list = json.string()?.is("list");
        } else {
            json.skip()?;
        }
    }
    json.end()?;
    Ok((is_list && has_data).then_some(page))
}

fn walk<'a>(
    json: &mut Json<'a>,
    data: &'a str,
    mut each: impl FnMut(Choice<'a>) -> Result<(), Unreadable>,
) -> Result<View<'a>, Unreadable> {
    let mut view = View::default();
    let mut is_chunk = false;
    let mut object = Fields::new(&TOP).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => match json.kind()? {
                Kind::Array => {
                    view.choices = Choices::Listed;
                    let mut choices = json.array()?;
                    while choices.next(json)? {
                        let choice = choice(json, data)?;
                        view.count += 1;
                        view.finish = view.finish.or(choice.finish.map(|(_, reason)| reason));
                        each(choice)?;
                    }
                }
                _ => {
                    view.choices = Choices::Other;
                    json.skip()?;
                }
            },
            1 if json.kind()? == Kind::String => view.model = Some(json.string()?),
            2 => {
                // One client takes even `null` for an error.
                view.skipped_by_some_clients = true;
                view.error = failure(json)?;
            }
            3 => {
                let (span, kind) = json.value()?;
                view.skipped_by_some_clients |= !matches!(kind, Kind::Null | Kind::Object);
                view.usage = (kind != Kind::Null).then_some(span);
            }
            // One client skips everything whose `object` is not that of a chunk.
            4 if json.kind()? == Kind::String => {
                let object = json.string()?;
                is_chunk = object.is("chat.completion.chunk");
                view.is_error |= object.is("error");
            }
            place @ (1 | 5 | 6) => {
                let wanted = if place == 6 { Kind::Number } else { Kind::String };
                view.skipped_by_some_clients |= !is_kind_or_null(json, wanted)?;
                json.skip()?;
            }
            7 => view.is_error |= is_set(json)?,
            _ => json.ignore()?,
        }
    }
    view.skipped_by_some_clients |= !is_chunk;
    Ok(view)
}

/// Clients that check types skip a chunk with a wrong one, and continue.
fn is_kind_or_null(json: &mut Json<'_>, wanted: Kind) -> Result<bool, Error> {
    let kind = json.kind()?;
    Ok(kind == wanted || kind == Kind::Null)
}

fn failure(json: &mut Json<'_>) -> Result<Option<Failure>, Error> {
    match json.kind()? {
        Kind::Null => json.skip().map(|_| None),
        Kind::Object => {
            let mut failure = Failure::default();
            let mut object = Fields::new(&["failed_generation"]).enter(json)?;
            while object.next(json)?.is_some() {
                failure.failed_generation = Some(json.skip()?);
            }
            Ok(Some(failure))
        }
        _ => json.skip().map(|_| Some(Failure::default())),
    }
}

const CHOICE: [&str; 5] = ["index", "delta", "message", "finish_reason", "logprobs"];

fn choice<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Choice<'a>, Unreadable> {
    let mut choice = Choice::default();
    if json.kind()? != Kind::Object {
        json.skip()?;
        choice.skipped_by_some_clients = true;
        return Ok(choice);
    }
    let mut has_index = false;
    let mut object = Fields::new(&CHOICE).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        match place {
            Some(0) => {
                let (span, number) = index(json, data)?;
                choice.lane =
                    Lane(number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0));
                has_index = span.of(data).parse::<u32>().is_ok();
                choice.bad_index = !has_index && !matches!(span.of(data), "null");
            }
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
            Some(place @ (3 | 4)) => {
                let wanted = if place == 3 { Kind::String } else { Kind::Object };
                choice.skipped_by_some_clients |= !is_kind_or_null(json, wanted)?;
                json.skip()?;
            }
            _ => json.ignore()?,
        }
    }
    choice.skipped_by_some_clients |=
        !has_index || choice.said().any(|said| said.skipped_by_some_clients);
    choice.span = object.span(json);
    Ok(choice)
}

const SAID: [&str; 9] = [
    "content",
    "tool_calls",
    "function_call",
    "executed_tools",
    "role",
    "refusal",
    "reasoning",
    "reasoning_content",
    "annotations",
];

fn said<'a>(
    json: &mut Json<'a>,
    data: &'a str,
    key: Span,
) -> Result<ChoiceContent<'a>, Unreadable> {
    let mut said = ChoiceContent { key, ..ChoiceContent::default() };
    let mut object = Fields::new(&SAID).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        match place {
            Some(0) => {
                said.content = Some(match json.kind()? {
                    Kind::String => Content::Text(json.string()?),
                    Kind::Null => Content::Null(json.skip()?),
                    Kind::Array => {
                        said.skipped_by_some_clients = true;
                        parts(json)?
                    }
                    _ => {
                        said.skipped_by_some_clients = true;
                        Content::Other(json.skip()?)
                    }
                });
            }
            Some(1) => match json.kind()? {
                Kind::Array => {
                    let (span, list) = json.list(|json| entry(json, data))?;
                    (said.tool_calls, said.entries) = (Some(span), list);
                }
                Kind::Null => json.ignore()?,
                _ => return Err(Unreadable::Ambiguous("`tool_calls` is not a list")),
            },
            Some(2) if json.kind()? == Kind::Null => json.ignore()?,
            Some(2) => {
                let start = json.position();
                let function = Some(function(json, "arguments")?);
                let span = Span { start, end: json.position() };
                let entry = Entry { span, function, ..Entry::default() };
                said.function_call = Some(Box::new(entry));
            }
            Some(3) => said.executed = Some(json.skip()?),
            Some(4) if json.kind()? == Kind::String => {
                said.skipped_by_some_clients |= !json.string()?.is("assistant");
            }
            Some(5) if json.kind()? == Kind::String => said.refusal = Some(json.string()?),
            Some(place @ 4..=8) => {
                let wanted = if place == 8 { Kind::Array } else { Kind::String };
                said.skipped_by_some_clients |= !is_kind_or_null(json, wanted)?;
                json.skip()?;
            }
            _ => {
                let value = json.skip()?;
                if key.is("reasoning_details") {
                    said.reasoning_details = Some(value);
                }
            }
        }
    }
    said.skipped_by_some_clients |= said.entries.iter().any(|entry| entry.skipped_by_some_clients);
    said.span = object.span(json);
    Ok(said)
}

/// The parts of a content. The user does not see thinking.
fn parts<'a>(json: &mut Json<'a>) -> Result<Content<'a>, Error> {
    let (span, texts) = json.list(|json| text_in(json, Fields::new(&["text"])))?;
    Ok(Content::Parts(span, texts.into_iter().flatten().collect()))
}

pub(super) const ENTRY: [&str; 5] = ["index", "id", "type", "function", "custom"];

fn entry<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Entry<'a>, Unreadable> {
    let mut entry = Entry::default();
    let mut object = Fields::new(&ENTRY).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => entry.index = Some(index(json, data)?),
            1 => entry.id = text_or_null(json)?,
            2 if json.kind()? == Kind::String => {
                let kind = json.string()?;
                entry.skipped_by_some_clients |= !kind.is("function") && !kind.is("custom");
            }
            2 => entry.skipped_by_some_clients |= is_set(json)?,
            3 if json.kind()? == Kind::Object => {
                let function = function(json, "arguments")?;
                // Clients expect text and convert an object to something else.
                entry.skipped_by_some_clients |= function
                    .arguments
                    .is_some_and(|(_, kind)| !matches!(kind, Kind::String | Kind::Null));
                entry.function = Some(function);
            }
            4 if json.kind()? == Kind::Object => entry.custom = Some(function(json, "input")?),
            _ => json.ignore()?,
        }
    }
    entry.span = object.span(json);
    Ok(entry)
}

pub(super) const FUNCTION: [&str; 3] = ["name", "arguments", "input"];

fn function<'a>(json: &mut Json<'a>, holds: &str) -> Result<Function<'a>, Error> {
    let mut function = Function::default();
    let mut object = Fields::new(&FUNCTION).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        match place {
            Some(0) => function.name = text_or_null(json)?,
            Some(_) if key.is(holds) => function.arguments = Some(json.value()?),
            _ => json.ignore()?,
        }
    }
    Ok(function)
}
