//! One step: its kind, and the spans of its parts.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::event::{ArgumentsPiece, CallKind, Host, Piece, PieceRole, Slot, Unreadable};
use crate::json::{Fields, decode, members, text_in, text_or_null};

/// The parts of a step that the gate acts on.
#[derive(Default)]
pub(super) struct Step<'a> {
    pub(super) span: Span,
    kind: Option<Text<'a>>,
    pub(super) id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    arguments: Option<(Span, Kind)>,
    signature: Option<Text<'a>>,
    texts: Vec<Text<'a>>,
}

/// Steps that the provider runs itself.
const HOSTED: [&str; 6] = [
    "mcp_server_tool_call",
    "google_search_call",
    "code_execution_call",
    "url_context_call",
    "file_search_call",
    "google_maps_call",
];

const STEP: [&str; 7] = ["type", "id", "name", "arguments", "signature", "content", "result"];

impl<'a> Step<'a> {
    /// Reads a step.
    pub(super) fn read(json: &mut Json<'a>) -> Result<Self, Error> {
        let mut step = Self::default();
        let mut object = Fields::new(&STEP).enter(json)?;
        while let Some(place) = object.next(json)? {
            match place {
                0 => step.kind = text_or_null(json)?,
                1 => step.id = text_or_null(json)?,
                2 => step.name = text_or_null(json)?.filter(|name| !name.is_empty()),
                3 => step.arguments = Some(json.value()?).filter(|(_, kind)| *kind != Kind::Null),
                4 if json.kind()? == Kind::String => step.signature = Some(json.string()?),
                5 if json.kind()? == Kind::Array => step.texts = texts(json)?,
                _ => json.ignore()?,
            }
        }
        step.span = object.span(json);
        Ok(step)
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }

    /// Who runs the call in the step; `None` if it is not a call.
    pub(super) fn host(&self) -> Result<Option<Host>, Error> {
        let kind = decode(self.kind)?.unwrap_or_default();
        Ok(match kind.as_str() {
            kind if HOSTED.contains(&kind) => Some(Host::Provider),
            kind if kind.ends_with("_call") => Some(Host::Client),
            _ if self.name.is_some() && self.arguments.is_some() => Some(Host::Client),
            _ => None,
        })
    }

    /// Its texts that the user sees.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Text<'a>> {
        let is_shown = self.is("model_output");
        self.texts.iter().filter(move |text| is_shown && !text.is_empty())
    }

    /// The signature over thinking.
    pub(super) fn signature(&self) -> Option<Text<'a>> {
        self.signature.filter(|text| self.is("thought") && !text.is_empty())
    }

    /// The call that the step begins or, if the step is whole, contains.
    pub(super) fn piece(&self, slot: Slot, host: Host, data: &str) -> Result<Piece, Unreadable> {
        let kind = decode(self.kind)?.unwrap_or_default();
        let name = decode(self.name)?;
        // A tool of the provider is named only by its step.
        let name = name.or_else(|| kind.strip_suffix("_call").map(str::to_owned));
        let name = name
            .filter(|_| host == Host::Provider || kind != "function_call" || self.name.is_some());
        let mut piece = Piece {
            slot,
            // If an event contains the whole steps, it must match.
            role: PieceRole::Open(CallKind::Repeated),
            name,
            id: decode(self.id)?.filter(|id| !id.is_empty()),
            host,
            original: Some(self.span.of(data).to_owned()),
            ..Piece::default()
        };
        match self.arguments {
            Some((span, Kind::Object)) if !members(data, span).is_empty() => {
                piece.arguments = ArgumentsPiece::Whole(span.of(data).to_owned());
            }
            None | Some((_, Kind::Object)) => {}
            Some((span, _)) if span.of(data) == "\"\"" => {}
            // Rules handle arguments that are not an object.
            Some((span, _)) => {
                piece.arguments = ArgumentsPiece::Whole(span.of(data).to_owned());
            }
        }
        Ok(piece)
    }

    /// The arguments of a whole call, unchanged.
    pub(super) fn arguments<'d>(&self, data: &'d str) -> &'d str {
        self.arguments.map_or("{}", |(span, _)| span.of(data))
    }
}

/// The texts in a list of contents.
fn texts<'a>(json: &mut Json<'a>) -> Result<Vec<Text<'a>>, Error> {
    let (_, texts) = json.list(|json| text_in(json, Fields::new(&["text"])))?;
    Ok(texts.into_iter().flatten().collect())
}
