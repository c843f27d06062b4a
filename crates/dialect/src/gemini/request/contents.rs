//! The parts of a request's contents that are needed to find and restore removed calls.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::json::{Fields, text_in, text_or_skip, whole};

/// One content.
#[derive(Default)]
pub(super) struct Content<'a> {
    pub(super) span: Span,
    pub(super) role: Option<Text<'a>>,
    /// The span of the list of parts.
    pub(super) list: Option<Span>,
    pub(super) parts: Vec<Part<'a>>,
}

/// One part. A member of an unexpected type is treated as missing.
#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) span: Span,
    pub(super) text: Option<Text<'a>>,
    pub(super) is_thought: bool,
    pub(super) signature: Option<Signature<'a>>,
    /// The span of the call in it.
    pub(super) call: Option<Span>,
    pub(super) call_id: Option<Text<'a>>,
    pub(super) is_result: bool,
    pub(super) result_id: Option<Text<'a>>,
    /// Whether it contains anything in addition to these.
    pub(super) has_more: bool,
}

impl Part<'_> {
    /// Whether it only carries a signature. Some clients omit an empty text.
    pub(super) fn only_signs(&self) -> bool {
        let says = self.call.is_some() || self.is_result || self.is_thought || self.has_more;
        self.signature.is_some() && !says && self.text.as_ref().is_none_or(|text| text.is(""))
    }
}

/// A signature, and the span of its key.
pub(super) struct Signature<'a> {
    pub(super) key: Span,
    pub(super) text: Text<'a>,
}

const ROOT: [&str; 3] = ["contents", "request", "generateContentRequest"];

/// The contents of a request, or of the request inside an envelope.
pub(super) fn contents(request: &str) -> Result<Vec<Content<'_>>, Error> {
    let mut list = Vec::new();
    whole(request, |json| root(json, request, &mut list, 0))?;
    Ok(list)
}

fn root<'a>(
    json: &mut Json<'a>,
    request: &'a str,
    list: &mut Vec<Content<'a>>,
    depth: u8,
) -> Result<(), Error> {
    let mut object = Fields::camel_or_snake(&ROOT).enter(json)?;
    while let Some(place) = object.next(json)? {
        let kind = json.kind()?;
        match place {
            0 if kind == Kind::Array => {
                let mut array = json.array()?;
                while array.next(json)? {
                    list.push(content(json, request)?);
                }
            }
            1 | 2 if kind == Kind::Object && depth == 0 => root(json, request, list, 1)?,
            _ => json.ignore()?,
        }
    }
    Ok(())
}

const CONTENT: [&str; 2] = ["role", "parts"];

fn content<'a>(json: &mut Json<'a>, request: &'a str) -> Result<Content<'a>, Error> {
    let mut content = Content::default();
    let mut object = Fields::camel_or_snake(&CONTENT).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => content.role = text_or_skip(json)?,
            1 if json.kind()? == Kind::Array => {
                let (span, list) = json.list(|json| part(json, request))?;
                (content.list, content.parts) = (Some(span), list);
            }
            _ => json.ignore()?,
        }
    }
    content.span = object.span(json);
    Ok(content)
}

const PART: [&str; 5] = ["text", "thought", "thoughtSignature", "functionCall", "functionResponse"];

fn part<'a>(json: &mut Json<'a>, request: &'a str) -> Result<Part<'a>, Error> {
    let mut part = Part::default();
    if json.kind()? != Kind::Object {
        part.span = json.skip()?;
        return Ok(part);
    }
    let mut object = Fields::camel_or_snake(&PART).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        let kind = json.kind()?;
        match place {
            Some(0) => part.text = text_or_skip(json)?,
            Some(1) => part.is_thought = json.skip()?.of(request) == "true",
            Some(2) if kind == Kind::String => {
                let text = json.string()?;
                part.signature = Some(Signature { key: key.span(), text });
            }
            Some(3) if kind == Kind::Object => {
                let mut call = json.clone();
                part.call = Some(json.skip()?);
                part.call_id = id(&mut call)?;
            }
            Some(4) if kind == Kind::Object => {
                (part.is_result, part.result_id) = (true, id(json)?);
            }
            _ => {
                json.skip()?;
                part.has_more = true;
            }
        }
    }
    part.span = object.span(json);
    Ok(part)
}

/// The id of a call or of a result.
fn id<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    text_in(json, Fields::camel_or_snake(&["id"]))
}
