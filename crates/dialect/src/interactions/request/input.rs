//! The input of a request: the interaction that it continues, and the steps that the client holds.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::json::{Fields, text_or_skip};
use crate::request::{ModelTurn, meaning, model_turns};

/// The parts of a request that are needed to find and restore removed calls.
#[derive(Default)]
pub(super) struct Request<'a> {
    /// The interaction that it continues.
    pub(super) previous: Option<Text<'a>>,
    pub(super) input: Input<'a>,
}

/// The input for the model.
#[derive(Default)]
pub(super) enum Input<'a> {
    #[default]
    Missing,
    Text(Text<'a>),
    /// One content or step.
    One(Span),
    Steps(Span, Vec<Step<'a>>),
}

/// One step. A member of an unexpected type is treated as missing.
#[derive(Default)]
pub(super) struct Step<'a> {
    pub(super) span: Span,
    pub(super) kind: Option<Text<'a>>,
    pub(super) id: Option<Text<'a>>,
    pub(super) call_id: Option<Text<'a>>,
    pub(super) signature: Option<Text<'a>>,
    /// The texts of its contents.
    pub(super) texts: Vec<Text<'a>>,
    /// The calls that results among its contents answer.
    pub(super) results: Vec<Text<'a>>,
}

impl Step<'_> {
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }

    /// Whether the step is the model's, or of one of the provider's tools.
    fn is_of_model(&self) -> bool {
        let kind = meaning(self.kind).unwrap_or_default();
        let is_call = kind.ends_with("_call");
        let is_result = kind.ends_with("_result") && kind != "function_result";
        kind == "model_output" || kind == "thought" || is_call || is_result
    }
}

impl<'a> Request<'a> {
    /// Reads a request.
    pub(super) fn read(request: &'a str) -> Result<Self, Error> {
        let mut json = Json::new(request);
        let mut found = Self::default();
        let mut object = Fields::new(&["previous_interaction_id", "input"]).enter(&mut json)?;
        while let Some(place) = object.next(&mut json)? {
            match place {
                0 => found.previous = text_or_skip(&mut json)?,
                _ => found.input = input(&mut json)?,
            }
        }
        json.end()?;
        Ok(found)
    }

    /// Whether it continues the interaction with that id.
    pub(super) fn goes_on_from(&self, id: Option<&str>) -> bool {
        match (id, meaning(self.previous)) {
            (Some(id), Some(previous)) => !id.is_empty() && id == previous,
            _ => false,
        }
    }

    pub(super) fn steps(&self) -> &[Step<'a>] {
        match &self.input {
            Input::Steps(_, steps) => steps,
            _ => &[],
        }
    }

    /// The turns of the model that the client holds.
    pub(super) fn model_turns(&self) -> Vec<ModelTurn<'_, Step<'a>>> {
        model_turns(self.steps(), Step::is_of_model)
    }
}

fn input<'a>(json: &mut Json<'a>) -> Result<Input<'a>, Error> {
    match json.kind()? {
        Kind::String => json.string().map(Input::Text),
        Kind::Object => json.skip().map(Input::One),
        Kind::Array => json.list(step).map(|(span, steps)| Input::Steps(span, steps)),
        _ => json.skip().map(|_| Input::Missing),
    }
}

fn step<'a>(json: &mut Json<'a>) -> Result<Step<'a>, Error> {
    let mut step = Step::default();
    if json.kind()? != Kind::Object {
        step.span = json.skip()?;
        return Ok(step);
    }
    let mut object = Fields::new(&["type", "id", "call_id", "signature", "content"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => step.kind = text_or_skip(json)?,
            1 => step.id = text_or_skip(json)?,
            2 => step.call_id = text_or_skip(json)?,
            3 => step.signature = text_or_skip(json)?,
            _ if json.kind()? == Kind::Array => contents(json, &mut step)?,
            _ => json.ignore()?,
        }
    }
    step.span = object.span(json);
    Ok(step)
}

fn contents<'a>(json: &mut Json<'a>, step: &mut Step<'a>) -> Result<(), Error> {
    let mut array = json.array()?;
    while array.next(json)? {
        if json.kind()? != Kind::Object {
            json.skip()?;
            continue;
        }
        let mut object = Fields::new(&["text", "call_id"]).enter(json)?;
        while let Some(place) = object.next(json)? {
            match place {
                0 => step.texts.extend(text_or_skip(json)?),
                _ => step.results.extend(text_or_skip(json)?),
            }
        }
    }
    Ok(())
}
