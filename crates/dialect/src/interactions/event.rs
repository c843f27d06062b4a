//! The data of an event, and a whole interaction.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use super::step::Step;
use crate::json::{Fields, index, is_set, text_or_null, whole};

/// The parts of an event's data that the gate acts on.
#[derive(Default)]
pub(super) struct Event<'a> {
    pub(super) kind: Option<Text<'a>>,
    pub(super) index: Option<(Span, Option<i64>)>,
    pub(super) delta: Delta<'a>,
    // Rare members are boxed, so that the common events stay small.
    pub(super) step: Option<Box<Step<'a>>>,
    pub(super) interaction: Option<Box<Interaction<'a>>>,
    pub(super) status: Option<Text<'a>>,
    /// It has a member under which another revision of the API has calls.
    pub(super) is_of_another_revision: bool,
}

/// What an event adds to a step.
#[derive(Default)]
pub(super) struct Delta<'a> {
    pub(super) span: Span,
    pub(super) kind: Option<Text<'a>>,
    pub(super) text: Option<Text<'a>>,
    pub(super) signature: Option<Text<'a>>,
    pub(super) arguments: Option<(Span, Kind)>,
    pub(super) id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
}

/// An interaction, or the part of it in an event.
#[derive(Default)]
pub(super) struct Interaction<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) status: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) usage: Option<Span>,
    pub(super) steps: Option<Span>,
    pub(super) list: Vec<Step<'a>>,
    /// Its `object` member identifies it as an interaction.
    pub(super) is_object: bool,
    pub(super) fails: bool,
}

const EVENT: [&str; 9] = [
    "event_type",
    "index",
    "step",
    "delta",
    "interaction",
    "status",
    "content",
    "outputs",
    "steps",
];

/// Reads the data of an event.
pub(super) fn event(data: &str) -> Result<Event<'_>, Error> {
    let mut json = Json::new(data);
    let mut event = Event::default();
    let mut object = Fields::new(&EVENT).enter(&mut json)?;
    while let Some(place) = object.next(&mut json)? {
        let is_object = json.kind()? == Kind::Object;
        match place {
            0 => event.kind = text_or_null(&mut json)?,
            1 => event.index = Some(index(&mut json, data)?),
            2 if is_object => event.step = Some(Box::new(Step::read(&mut json)?)),
            3 if is_object => event.delta = delta(&mut json)?,
            4 if is_object => {
                let interaction = interaction(&mut json)?;
                event.interaction = Some(Box::new(interaction));
            }
            5 => event.status = text_or_null(&mut json)?,
            6.. => {
                event.is_of_another_revision = true;
                json.skip()?;
            }
            _ => json.ignore()?,
        }
    }
    json.end()?;
    Ok(event)
}

/// Reads a whole interaction.
pub(super) fn body(data: &str) -> Result<Interaction<'_>, Error> {
    whole(data, interaction)
}

const INTERACTION: [&str; 7] = ["id", "status", "model", "usage", "steps", "object", "error"];

fn interaction<'a>(json: &mut Json<'a>) -> Result<Interaction<'a>, Error> {
    let mut found = Interaction::default();
    let mut object = Fields::new(&INTERACTION).enter(json)?;
    while let Some(place) = object.next(json)? {
        let kind = json.kind()?;
        match place {
            0 if kind == Kind::String => found.id = Some(json.string()?),
            1 => found.status = text_or_null(json)?,
            2 if kind == Kind::String => found.model = Some(json.string()?),
            3 if kind == Kind::Object => found.usage = Some(json.skip()?),
            4 if kind == Kind::Array => {
                let (span, list) = json.list(Step::read)?;
                (found.steps, found.list) = (Some(span), list);
            }
            4 if kind != Kind::Null => {
                return Err(Error::new(Problem::WrongType, json.position()));
            }
            5 if kind == Kind::String => found.is_object = json.string()?.is("interaction"),
            6 => found.fails = is_set(json)?,
            _ => json.ignore()?,
        }
    }
    Ok(found)
}

const DELTA: [&str; 7] = ["type", "text", "signature", "arguments", "id", "name", "result"];

fn delta<'a>(json: &mut Json<'a>) -> Result<Delta<'a>, Error> {
    let mut delta = Delta::default();
    let mut object = Fields::new(&DELTA).enter(json)?;
    while let Some(place) = object.next(json)? {
        let kind = json.kind()?;
        match place {
            0 => delta.kind = text_or_null(json)?,
            1 if kind == Kind::String => delta.text = Some(json.string()?),
            2 if kind == Kind::String => delta.signature = Some(json.string()?),
            3 if kind != Kind::Null => delta.arguments = Some((json.skip()?, kind)),
            4 => delta.id = text_or_null(json)?,
            5 => delta.name = text_or_null(json)?.filter(|name| !name.is_empty()),
            _ => json.ignore()?,
        }
    }
    delta.span = object.span(json);
    Ok(delta)
}
