//! The parts of a request's contents that are needed to find and restore removed calls.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::json::Fields;
use crate::request::text_or_skip;

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
    let mut json = Json::new(request);
    let mut list = Vec::new();
    root(&mut json, request, &mut list, 0)?;
    json.end()?;
    Ok(list)
}

fn root<'a>(
    json: &mut Json<'a>,
    request: &'a str,
    list: &mut Vec<Content<'a>>,
    depth: u8,
) -> Result<(), Error> {
    let mut keys = Fields::camel_or_snake(&ROOT);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        let kind = json.kind()?;
        match keys.find(&key)? {
            Some(0) if kind == Kind::Array => {
                let mut array = json.array()?;
                while array.next(json)? {
                    list.push(content(json, request)?);
                }
            }
            Some(1 | 2) if kind == Kind::Object && depth == 0 => root(json, request, list, 1)?,
            _ => {
                json.skip()?;
            }
        }
    }
    Ok(())
}

const CONTENT: [&str; 2] = ["role", "parts"];

fn content<'a>(json: &mut Json<'a>, request: &'a str) -> Result<Content<'a>, Error> {
    let mut content = Content::default();
    let mut keys = Fields::camel_or_snake(&CONTENT);
    json.kind()?;
    let start = json.position();
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(0) => content.role = text_or_skip(json)?,
            Some(1) if json.kind()? == Kind::Array => {
                let start = json.position();
                let mut array = json.array()?;
                while array.next(json)? {
                    content.parts.push(part(json, request)?);
                }
                content.list = Some(Span { start, end: json.position() });
            }
            _ => {
                json.skip()?;
            }
        }
    }
    content.span = Span { start, end: json.position() };
    Ok(content)
}

const PART: [&str; 5] = ["text", "thought", "thoughtSignature", "functionCall", "functionResponse"];

fn part<'a>(json: &mut Json<'a>, request: &'a str) -> Result<Part<'a>, Error> {
    let mut part = Part::default();
    if json.kind()? != Kind::Object {
        part.span = json.skip()?;
        return Ok(part);
    }
    let start = json.position();
    let mut keys = Fields::camel_or_snake(&PART);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        let kind = json.kind()?;
        match keys.find(&key)? {
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
    part.span = Span { start, end: json.position() };
    Ok(part)
}

const ID: [&str; 1] = ["id"];

/// The id of a call or of a result.
fn id<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    let mut id = None;
    let mut keys = Fields::camel_or_snake(&ID);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(_) => id = text_or_skip(json)?,
            None => {
                json.skip()?;
            }
        }
    }
    Ok(id)
}
