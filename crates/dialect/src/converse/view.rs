//! The fields of Converse that the gate acts on.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use crate::event::{ArgumentsPiece, CallKind, Host, Piece, PieceRole, Slot, Unreadable};
use crate::json::{Fields, decode, index, text_or_null};

/// The data of one event.
#[derive(Default)]
pub(super) struct Event<'a> {
    pub(super) index: Option<(Span, Option<i64>)>,
    /// The start of a block, if there is one.
    pub(super) start: Option<Block<'a>>,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) stop_reason: Option<Text<'a>>,
    pub(super) usage: Option<Span>,
}

/// A content block, or the start of one.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) span: Span,
    pub(super) call: Option<Call<'a>>,
    pub(super) text: Option<Text<'a>>,
    pub(super) signature: Option<Text<'a>>,
}

/// A call, or what may be one: an object with a name among the blocks.
#[derive(Default)]
pub(super) struct Call<'a> {
    pub(super) span: Span,
    id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    kind: Option<Text<'a>>,
    pub(super) input: Option<(Span, Kind)>,
}

/// What one event adds to a block.
#[derive(Default)]
pub(super) struct Delta<'a> {
    pub(super) text: Option<Text<'a>>,
    pub(super) signature: Option<Text<'a>>,
    /// Set for a piece of a call, with its arguments, if it has any.
    pub(super) call: Option<Option<Text<'a>>>,
}

/// A whole response.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) content: Option<Span>,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) stop_reason: Option<Text<'a>>,
    pub(super) usage: Option<Span>,
    /// It has the message of an error and no output.
    pub(super) is_error: bool,
}

impl Call<'_> {
    /// The first piece of the call.
    pub(super) fn piece(&self, slot: Slot, data: &str) -> Result<Piece, Unreadable> {
        let name = decode(self.name)?;
        // Clients that are older than the type run anything with the name of one of their tools.
        // The tools of the service have other names.
        let is_of_provider = self.kind.is_some_and(|kind| kind.is("server_tool_use"))
            && name.as_deref().is_some_and(|name| name.starts_with("nova_"));
        let arguments = match self.input {
            None | Some((_, Kind::Null)) => ArgumentsPiece::None,
            Some((span, _)) => ArgumentsPiece::Whole(span.of(data).to_owned()),
        };
        Ok(Piece {
            slot,
            role: PieceRole::Open(CallKind::Identified),
            name,
            id: decode(self.id)?,
            arguments,
            host: if is_of_provider { Host::Provider } else { Host::Client },
            original: Some(self.span.of(data).to_owned()),
            ..Piece::default()
        })
    }
}

/// Reads the data of an event.
pub(super) fn event<'a>(json: &mut Json<'a>, data: &'a str) -> Result<Event<'a>, Error> {
    let mut event = Event::default();
    let mut object = Fields::mixed(&["contentBlockIndex", "start", "delta", "stopReason", "usage"])
        .enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => event.index = Some(index(json, data)?),
            1 => event.start = block(json)?,
            2 => event.delta = delta(json)?,
            3 => event.stop_reason = text_or_null(json)?,
            _ => event.usage = Some(json.skip()?),
        }
    }
    Ok(event)
}

/// Parses a whole response.
pub(super) fn body(data: &str) -> Result<Body<'_>, Error> {
    let mut json = Json::new(data);
    let mut body = Body::default();
    let (mut output, mut error) = (false, false);
    let mut object =
        Fields::mixed(&["output", "stopReason", "usage", "message"]).enter(&mut json)?;
    while let Some(place) = object.next(&mut json)? {
        match place {
            0 => {
                output = true;
                read_output(&mut json, &mut body)?;
            }
            1 => body.stop_reason = text_or_null(&mut json)?,
            2 => body.usage = Some(json.skip()?),
            _ => error = json.value()?.1 == Kind::String,
        }
    }
    json.end()?;
    body.is_error = error && !output;
    Ok(body)
}

fn read_output<'a>(json: &mut Json<'a>, body: &mut Body<'a>) -> Result<(), Error> {
    let mut object = Fields::mixed(&["message"]).enter(json)?;
    while object.next(json)?.is_some() {
        read_message(json, body)?;
    }
    Ok(())
}

fn read_message<'a>(json: &mut Json<'a>, body: &mut Body<'a>) -> Result<(), Error> {
    let mut object = Fields::mixed(&["content"]).enter(json)?;
    while object.next(json)?.is_some() {
        let (span, blocks) = json.list(|json| block(json)?.ok_or_else(|| wrong_type(json)))?;
        (body.content, body.blocks) = (Some(span), blocks);
    }
    Ok(())
}

/// The kinds of blocks, and of pieces of them.
const BLOCK: [&str; 4] = ["toolUse", "text", "reasoningContent", "toolResult"];

/// A block: an object whose one member determines its kind. `None` for `null`.
fn block<'a>(json: &mut Json<'a>) -> Result<Option<Block<'a>>, Error> {
    if json.kind()? == Kind::Null {
        return json.skip().map(|_| None);
    }
    let mut found = Block::default();
    let mut object = Fields::mixed(&BLOCK).enter(json)?;
    while let Some((_, place)) = object.next_key(json)? {
        match place {
            Some(0) => set_call(&mut found, call(json)?, json)?,
            Some(1) => found.text = text_or_null(json)?,
            Some(2) => found.signature = reasoning(json)?,
            // A tool result may look like anything.
            Some(3) => json.ignore()?,
            _ => unknown_kind(json, &mut found)?,
        }
    }
    found.span = object.span(json);
    Ok(Some(found))
}

/// A future kind of block. If it has a name, and an id or an input, it may be another kind of call.
fn unknown_kind<'a>(json: &mut Json<'a>, found: &mut Block<'a>) -> Result<(), Error> {
    let looks_like_one =
        |call: &Call<'_>| call.name.is_some() && (call.id.is_some() || call.input.is_some());
    if json.kind()? == Kind::Object
        && let Some(call) = call(&mut json.clone()).ok().filter(looks_like_one)
    {
        json.skip()?;
        return set_call(found, call, json);
    }
    json.skip().map(|_| ())
}

/// Sets the call of a block, which can only have one.
fn set_call<'a>(block: &mut Block<'a>, call: Call<'a>, json: &Json<'_>) -> Result<(), Error> {
    match block.call.replace(call) {
        None => Ok(()),
        Some(_) => Err(Error::new(Problem::DuplicateKey, json.position())),
    }
}

fn call<'a>(json: &mut Json<'a>) -> Result<Call<'a>, Error> {
    let mut call = Call::default();
    let mut object = Fields::mixed(&["toolUseId", "name", "input", "type", "id"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => call.id = text_or_null(json)?,
            1 => call.name = text_or_null(json)?,
            2 => call.input = Some(json.value()?),
            3 => call.kind = text_or_null(json)?,
            4 if call.id.is_none() && json.kind()? == Kind::String => {
                call.id = Some(json.string()?);
            }
            _ => json.ignore()?,
        }
    }
    call.span = object.span(json);
    Ok(call)
}

/// The signature of a piece of thinking, in it or one level down.
fn reasoning<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    let mut signature = None;
    if json.kind()? != Kind::Object {
        return json.skip().map(|_| None);
    }
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        let kind = json.kind()?;
        if key.is("signature") && kind == Kind::String {
            signature = Some(json.string()?);
        } else if key.is("reasoningText") && kind == Kind::Object {
            signature = reasoning(json)?.or(signature);
        } else {
            json.skip()?;
        }
    }
    Ok(signature)
}

fn delta<'a>(json: &mut Json<'a>) -> Result<Option<Delta<'a>>, Error> {
    if json.kind()? == Kind::Null {
        return json.skip().map(|_| None);
    }
    let mut delta = Delta::default();
    let mut object = Fields::mixed(&BLOCK).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => delta.call = Some(piece_of_input(json)?),
            1 => delta.text = text_or_null(json)?,
            2 => delta.signature = reasoning(json)?,
            _ => json.ignore()?,
        }
    }
    Ok(Some(delta))
}

fn piece_of_input<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    let mut input = None;
    let mut object = Fields::mixed(&["input"]).enter(json)?;
    while object.next(json)?.is_some() {
        input = Some(json.string()?);
    }
    Ok(input)
}

fn wrong_type(json: &Json<'_>) -> Error {
    Error::new(Problem::WrongType, json.position())
}
