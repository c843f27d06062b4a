//! The parts of a response that the gate acts on, with their spans.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use crate::event::Lane;
use crate::json::{Fields, index, text_or_null};

/// A chunk, or a whole response.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag says one thing, and any of them go together"
)]
pub(super) struct View<'a> {
    pub(super) candidates: Vec<Candidate<'a>>,
    /// It has a member that only this API has.
    pub(super) is_ours: bool,
    /// It has no members: a keep-alive.
    pub(super) is_empty: bool,
    pub(super) usage: Option<Span>,
    /// The id of the response.
    pub(super) id: Option<Span>,
    pub(super) model: Option<Text<'a>>,
    /// It reports a failure.
    pub(super) fails: bool,
    /// It is inside an envelope.
    pub(super) is_wrapped: bool,
}

/// One candidate.
#[derive(Default)]
pub(super) struct Candidate<'a> {
    pub(super) span: Span,
    pub(super) lane: Lane,
    /// Its index is not a number that clients use.
    pub(super) bad_index: bool,
    pub(super) content: Option<Content<'a>>,
    /// The span of a `null` instead of the content.
    pub(super) no_content: Option<Span>,
    /// Its finish reason.
    pub(super) finish: Option<Text<'a>>,
}

/// The content of a candidate.
#[derive(Default)]
pub(super) struct Content<'a> {
    pub(super) span: Span,
    /// The span of the list of parts.
    pub(super) list: Option<Span>,
    /// The span of a `null` instead of the list.
    pub(super) no_list: Option<Span>,
    pub(super) parts: Vec<Part<'a>>,
}

/// One part.
#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) span: Span,
    pub(super) text: Option<Text<'a>>,
    /// It is thinking.
    pub(super) is_thought: bool,
    pub(super) signature: Option<Text<'a>>,
    pub(super) call: Option<Call<'a>>,
    /// A call that the provider runs, and whether it is code.
    pub(super) hosted: Option<(Span, Hosted)>,
    /// It contains more than a call and its usual members.
    pub(super) has_more: bool,
}

/// What the provider runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosted {
    Code,
    Tool,
}

/// A call, or a piece of one.
#[derive(Default)]
pub(super) struct Call<'a> {
    /// The span of its key.
    pub(super) key: Span,
    /// The key is one that only some clients read.
    pub(super) is_snake: bool,
    pub(super) span: Span,
    pub(super) name: Option<Text<'a>>,
    pub(super) id: Option<Text<'a>>,
    /// Its arguments, unless they are `null`.
    pub(super) args: Option<Span>,
    /// The list of pieces of its arguments, unless that is `null`.
    pub(super) partial: Option<Span>,
    pub(super) will_continue: bool,
    /// The keys of its pieces are ones that only some clients read.
    pub(super) has_snake: bool,
}

const ROOT: [&str; 7] = [
    "candidates",
    "response",
    "usageMetadata",
    "modelVersion",
    "promptFeedback",
    "responseId",
    "error",
];

/// Parses a document. The candidates are in it, or in the `response` of an envelope.
pub(super) fn view(data: &str) -> Result<View<'_>, Error> {
    let mut json = Json::new(data);
    let mut view = View { is_empty: true, ..View::default() };
    chunk(&mut json, data, &mut view)?;
    json.end()?;
    Ok(view)
}

fn chunk<'a>(json: &mut Json<'a>, data: &'a str, view: &mut View<'a>) -> Result<(), Error> {
    let mut object = Fields::camel_or_snake(&ROOT).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        view.is_empty = false;
        let kind = json.kind()?;
        match place {
            Some(0) if kind == Kind::Array => {
                // Candidates both in the envelope and inside it: clients read only one of them.
                if std::mem::replace(&mut view.is_ours, true) && !view.candidates.is_empty() {
                    return Err(Error::new(Problem::DuplicateKey, key.span().start));
                }
                let mut array = json.array()?;
                while array.next(json)? {
                    let place = view.candidates.len();
                    let candidate = candidate(json, data, place)?;
                    view.candidates.push(candidate);
                }
            }
            Some(1) if kind == Kind::Object => {
                if std::mem::replace(&mut view.is_wrapped, true) {
                    return Err(Error::new(Problem::DuplicateKey, key.span().start));
                }
                chunk(json, data, view)?;
            }
            Some(2) if kind == Kind::Object => {
                view.is_ours = true;
                view.usage = Some(json.skip()?);
            }
            Some(3) if kind == Kind::String => {
                view.is_ours = true;
                view.model = Some(json.string()?);
            }
            Some(place @ (4 | 5)) if kind != Kind::Null => {
                view.is_ours = true;
                let span = json.skip()?;
                view.id = view.id.or((place == 5).then_some(span));
            }
            Some(6) if kind != Kind::Null => {
                view.fails = true;
                json.skip()?;
            }
            // Not a list: no client can read it.
            Some(0) if kind != Kind::Null => {
                return Err(Error::new(Problem::WrongType, json.position()));
            }
            _ => json.ignore()?,
        }
    }
    Ok(())
}

const CANDIDATE: [&str; 3] = ["content", "finishReason", "index"];

/// The most candidates a response may have.
const MOST: i64 = 128;

fn candidate<'a>(json: &mut Json<'a>, data: &'a str, place: usize) -> Result<Candidate<'a>, Error> {
    let mut candidate = Candidate { lane: Lane::of(place), ..Candidate::default() };
    let mut object = Fields::camel_or_snake(&CANDIDATE).enter(json)?;
    while let Some(place) = object.next(json)? {
        let kind = json.kind()?;
        match place {
            0 if kind != Kind::Null => candidate.content = Some(content(json, data)?),
            0 => candidate.no_content = Some(json.skip()?),
            1 => candidate.finish = text_or_null(json)?.filter(|text| !text.is_empty()),
            2 if kind != Kind::Null => match index(json, data)? {
                (_, Some(number)) if (0..MOST).contains(&number) => {
                    candidate.lane = Lane::of(number);
                }
                _ => candidate.bad_index = true,
            },
            _ => json.ignore()?,
        }
    }
    candidate.bad_index |= i64::from(candidate.lane.0) >= MOST;
    candidate.span = object.span(json);
    Ok(candidate)
}

const CONTENT: [&str; 1] = ["parts"];

fn content<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Content<'a>, Error> {
    let mut content = Content::default();
    let mut object = Fields::camel_or_snake(&CONTENT).enter(json)?;
    while object.next(json)?.is_some() {
        if json.kind()? == Kind::Null {
            content.no_list = Some(json.skip()?);
            continue;
        }
        let (span, list) = json.list(|json| part(json, data))?;
        (content.list, content.parts) = (Some(span), list);
    }
    content.span = object.span(json);
    Ok(content)
}

const PART: [&str; 6] =
    ["text", "functionCall", "thought", "thoughtSignature", "executableCode", "toolCall"];

/// Reads one part.
pub(super) fn part<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Part<'a>, Error> {
    let mut part = Part::default();
    if json.kind()? != Kind::Object {
        part.span = json.skip()?;
        return Ok(part);
    }
    let mut object = Fields::camel_or_snake(&PART).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        let kind = json.kind()?;
        match place {
            Some(0) if kind == Kind::String => {
                let text = json.string()?;
                part.has_more |= !text.is_empty();
                part.text = Some(text);
            }
            Some(1) if kind != Kind::Null => {
                let mut call = call(json, data)?;
                call.key = key.span();
                call.is_snake = place.is_some_and(|place| object.is_snake(place, &key));
                part.call = Some(call);
            }
            Some(2) => part.is_thought = json.skip()?.of(data) == "true",
            Some(3) if kind == Kind::String => part.signature = Some(json.string()?),
            Some(place @ (4 | 5)) if kind == Kind::Object => {
                let span = json.skip()?;
                let what = if place == 4 { Hosted::Code } else { Hosted::Tool };
                // A part can only have one of the two.
                if part.hosted.replace((span, what)).is_some() {
                    return Err(Error::new(Problem::DuplicateKey, key.span().start));
                }
                part.has_more = true;
            }
            _ => {
                let value = json.skip()?;
                part.has_more |= kind != Kind::Null && value.end > value.start;
            }
        }
    }
    part.span = object.span(json);
    Ok(part)
}

const CALL: [&str; 5] = ["name", "args", "id", "partialArgs", "willContinue"];

/// Reads a call.
pub(super) fn call<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Call<'a>, Error> {
    let mut call = Call::default();
    let mut object = Fields::camel_or_snake(&CALL).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        call.has_snake |= place.is_some_and(|place| object.is_snake(place, &key));
        let kind = json.kind()?;
        match place {
            Some(0) => call.name = text_or_null(json)?.filter(|name| !name.is_empty()),
            Some(1) if kind != Kind::Null => call.args = Some(json.skip()?),
            Some(2) => call.id = text_or_null(json)?,
            Some(3) if kind != Kind::Null => call.partial = Some(json.skip()?),
            Some(4) => call.will_continue = json.skip()?.of(data) == "true",
            _ => json.ignore()?,
        }
    }
    call.span = object.span(json);
    Ok(call)
}
