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
    let mut keys = Fields::mixed(&["contentBlockIndex", "start", "delta", "stopReason", "usage"]);
    let mut event = Event::default();
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(0) => event.index = Some(index(json, data)?),
            Some(1) => event.start = block(json)?,
            Some(2) => event.delta = delta(json)?,
            Some(3) => event.stop_reason = text_or_null(json)?,
            Some(4) => event.usage = Some(json.skip()?),
            _ => {
                json.skip()?;
            }
        }
    }
    Ok(event)
}

/// Parses a whole response.
pub(super) fn body(data: &str) -> Result<Body<'_>, Error> {
    let mut keys = Fields::mixed(&["output", "stopReason", "usage", "message"]);
    let mut json = Json::new(data);
    let mut body = Body::default();
    let (mut output, mut error) = (false, false);
    let mut object = json.object()?;
    while let Some(key) = object.next(&mut json)? {
        match keys.find(&key)? {
            Some(0) => {
                output = true;
                read_output(&mut json, &mut body)?;
            }
            Some(1) => body.stop_reason = text_or_null(&mut json)?,
            Some(2) => body.usage = Some(json.skip()?),
            Some(3) => {
                error = json.kind()? == Kind::String;
                json.skip()?;
            }
            _ => {
                json.skip()?;
            }
        }
    }
    json.end()?;
    body.is_error = error && !output;
    Ok(body)
}

fn read_output<'a>(json: &mut Json<'a>, body: &mut Body<'a>) -> Result<(), Error> {
    let mut keys = Fields::mixed(&["message"]);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(_) => read_message(json, body)?,
            None => {
                json.skip()?;
            }
        }
    }
    Ok(())
}

fn read_message<'a>(json: &mut Json<'a>, body: &mut Body<'a>) -> Result<(), Error> {
    let mut keys = Fields::mixed(&["content"]);
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        if keys.find(&key)?.is_none() {
            json.skip()?;
            continue;
        }
        json.kind()?;
        let start = json.position();
        let mut blocks = json.array()?;
        while blocks.next(json)? {
            let block = block(json)?.ok_or_else(|| wrong_type(json))?;
            body.blocks.push(block);
        }
        body.content = Some(Span { start, end: json.position() });
    }
    Ok(())
}

/// A block: an object whose one member determines its kind. `None` for `null`.
fn block<'a>(json: &mut Json<'a>) -> Result<Option<Block<'a>>, Error> {
    let mut keys = Fields::mixed(&["toolUse", "text", "reasoningContent", "toolResult"]);
    if json.kind()? == Kind::Null {
        return json.skip().map(|_| None);
    }
    let mut found = Block::default();
    let start = json.position();
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(0) => set_call(&mut found, call(json)?, json)?,
            Some(1) => found.text = text_or_null(json)?,
            Some(2) => found.signature = reasoning(json)?,
            // A tool result may look like anything.
            Some(3) => {
                json.skip()?;
            }
            _ => unknown_kind(json, &mut found)?,
        }
    }
    found.span = Span { start, end: json.position() };
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
    let mut keys = Fields::mixed(&["toolUseId", "name", "input", "type", "id"]);
    json.kind()?;
    let start = json.position();
    let mut call = Call::default();
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(0) => call.id = text_or_null(json)?,
            Some(1) => call.name = text_or_null(json)?,
            Some(2) => {
                let kind = json.kind()?;
                call.input = Some((json.skip()?, kind));
            }
            Some(3) => call.kind = text_or_null(json)?,
            Some(4) if call.id.is_none() && json.kind()? == Kind::String => {
                call.id = Some(json.string()?);
            }
            _ => {
                json.skip()?;
            }
        }
    }
    call.span = Span { start, end: json.position() };
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
    let mut keys = Fields::mixed(&["text", "toolUse", "reasoningContent", "toolResult"]);
    if json.kind()? == Kind::Null {
        return json.skip().map(|_| None);
    }
    let mut delta = Delta::default();
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(0) => delta.text = text_or_null(json)?,
            Some(1) => delta.call = Some(piece_of_input(json)?),
            Some(2) => delta.signature = reasoning(json)?,
            Some(3) => {
                json.skip()?;
            }
            _ => {
                json.skip()?;
            }
        }
    }
    Ok(Some(delta))
}

fn piece_of_input<'a>(json: &mut Json<'a>) -> Result<Option<Text<'a>>, Error> {
    let mut keys = Fields::mixed(&["input"]);
    let mut input = None;
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match keys.find(&key)? {
            Some(_) => input = Some(json.string()?),
            None => {
                json.skip()?;
            }
        }
    }
    Ok(input)
}

fn wrong_type(json: &Json<'_>) -> Error {
    Error::new(Problem::WrongType, json.position())
}
