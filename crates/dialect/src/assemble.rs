//! Assembles the pieces of a call.

mod arguments;

use std::borrow::Cow;

use callgate_call::{Arguments, CallId, Caller, NameError, Origin, ToolCall, ToolName};
use callgate_json::decode_into;

use crate::event::{ArgumentsPiece, CallKind, Canonical, Piece};
use crate::json::{document, member, string_member};
use arguments::{ArgumentText, Form};

/// A call that is being assembled.
#[derive(Debug, Default)]
pub struct Assembly {
    kind: CallKind,
    id: Label,
    name: Label,
    arguments: ArgumentText,
    pieces: u32,
    original: Option<String>,
    refuse: Option<&'static str>,
}

/// The name or the id of a call.
#[derive(Debug, Default)]
struct Label {
    text: String,
    arrival: Arrival,
}

/// When a name or an id came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Arrival {
    #[default]
    NotYet,
    /// With the first piece, all of it.
    WithFirstPiece,
    /// Some of it in a later piece.
    Later,
}

impl Label {
    /// Adds text that came with this piece; the first piece is number 1.
    fn add(&mut self, text: &str, piece: u32) {
        self.text.push_str(text);
        self.arrival = if piece > 1 { Arrival::Later } else { Arrival::WithFirstPiece };
    }

    fn is_missing(&self) -> bool {
        self.arrival == Arrival::NotYet
    }

    /// Whether another text contradicts it.
    fn differs(&self, other: Option<&str>) -> bool {
        let other = other.filter(|other| !other.is_empty() && !self.is_missing());
        other.is_some_and(|other| other != self.text)
    }
}

/// The effect of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The call is not complete yet, as far as its arguments show.
    More,
    /// With this piece, the arguments are one complete document.
    Completes,
    /// The arguments were complete before this piece.
    Excess,
}

impl Assembly {
    /// A call of which nothing has come yet.
    pub fn new(kind: CallKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Adds a piece. Stores at most `limit` bytes of arguments.
    pub fn add(&mut self, piece: &Piece, limit: usize) -> Added {
        self.pieces += 1;
        if self.pieces == 1 {
            self.original.clone_from(&piece.original);
        }
        self.refuse = self.refuse.or(piece.refuse);
        if let Some(id) = &piece.id
            && self.id.is_missing()
            && !id.is_empty()
        {
            self.id.add(id, self.pieces);
        }
        if let Some(name) = &piece.name {
            self.add_name(name);
        }
        self.add_arguments(&piece.arguments, limit)
    }

    /// Whether [`Self::add_fragment`] may add to it: it has begun and is not complete, and nothing
    /// about its arguments is unusual.
    pub fn takes_fragments(&self) -> bool {
        self.pieces > 0 && self.refuse.is_none() && self.arguments.takes_fragments()
    }

    /// Adds a piece that has only a [fragment](ArgumentsPiece::Fragment) of the arguments, like
    /// [`Self::add`]. Only if [`Self::takes_fragments`].
    pub fn add_fragment(&mut self, raw: &str, limit: usize) -> Added {
        self.pieces += 1;
        self.arguments.add_fragment(raw, self.kind, limit)
    }

    /// Whether a piece contains arguments other than white space.
    pub fn brings_arguments(piece: &Piece) -> bool {
        match &piece.arguments {
            ArgumentsPiece::None => false,
            ArgumentsPiece::Whole(text) | ArgumentsPiece::Again(text) => {
                !text.trim_ascii().is_empty()
            }
            ArgumentsPiece::Fragment(raw)
            | ArgumentsPiece::Free(raw)
            | ArgumentsPiece::WholeFree(raw) => {
                let (mut half, mut text) = (None, String::new());
                let whole = decode_into(raw, &mut half, &mut text) && half.is_none();
                !whole || !text.trim_ascii().is_empty()
            }
        }
    }

    /// Whether a repetition of all arguments equals those that came.
    pub fn matches_copy(&self, text: &str) -> bool {
        self.arguments.matches_copy(text)
    }

    /// Whether a piece changes the name of the call.
    pub fn renames(&self, piece: &Piece) -> bool {
        self.name.differs(piece.name.as_deref())
    }

    /// Whether a piece changes the id of the call.
    pub fn changes_id(&self, piece: &Piece) -> bool {
        self.id.differs(piece.id.as_deref())
    }

    /// Why a piece cannot belong to this call, whenever it comes.
    pub fn conflict(&self, piece: &Piece) -> Option<&'static str> {
        if piece.refuse.is_some() {
            return piece.refuse;
        }
        let free =
            matches!(piece.arguments, ArgumentsPiece::Free(_) | ArgumentsPiece::WholeFree(_));
        let json =
            matches!(piece.arguments, ArgumentsPiece::Fragment(_) | ArgumentsPiece::Whole(_));
        let is_free = self.is_free_text();
        let both = (free && !is_free && self.pieces > 0) || (json && is_free);
        both.then_some("it is a function and a custom tool at once")
    }

    /// A name may come in pieces, or be repeated in every piece.
    fn add_name(&mut self, name: &str) {
        if name.is_empty() || name == self.name.text {
            return;
        }
        self.name.add(name, self.pieces);
        if self.name.text.len() > ToolName::MAX_LEN {
            self.refuse = Some("its name is too long");
        }
    }

    fn add_arguments(&mut self, piece: &ArgumentsPiece, limit: usize) -> Added {
        let (arguments, kind) = (&mut self.arguments, self.kind);
        match piece {
            ArgumentsPiece::None => Added::More,
            // An empty repetition, or one that comes before there is anything.
            ArgumentsPiece::Again(text) if text.is_empty() && !arguments.has_text() => Added::More,
            ArgumentsPiece::Again(text) if arguments.have_begun() => {
                if !arguments.matches_copy(text) {
                    self.refuse = Some(COPIES_DIFFER);
                }
                Added::More
            }
            ArgumentsPiece::Whole(text) | ArgumentsPiece::Again(text) => {
                arguments.add_whole(text, kind, limit)
            }
            ArgumentsPiece::Fragment(raw) => arguments.add_piece(raw, Form::Json, kind, limit),
            ArgumentsPiece::Free(raw) => arguments.add_piece(raw, Form::Free, kind, limit),
            ArgumentsPiece::WholeFree(raw) => {
                arguments.add_piece(raw, Form::WholeFree, kind, limit)
            }
        }
    }

    /// How many bytes of arguments are stored.
    #[inline]
    pub fn kept(&self) -> usize {
        self.arguments.text().len()
    }

    /// Frees the arguments.
    pub fn forget_arguments(&mut self) {
        self.arguments.forget(self.kind);
    }

    /// Frees the call as it opened: it was judged, and is not removed.
    pub fn forget_original(&mut self) {
        self.original = None;
    }

    /// Whether arguments have begun, so that the name is complete.
    pub fn arguments_begun(&self) -> bool {
        self.arguments.have_begun()
    }

    /// Whether the arguments were too large to be stored.
    pub fn is_oversize(&self) -> bool {
        self.arguments.is_oversize()
    }

    /// Whether the arguments are the free text of a custom tool.
    pub fn is_free_text(&self) -> bool {
        self.arguments.is_free_text()
    }

    /// Whether the name has arrived.
    pub fn is_named(&self) -> bool {
        !self.name.is_missing()
    }

    /// The name so far.
    pub fn name(&self) -> &str {
        &self.name.text
    }

    /// The id so far.
    pub fn id(&self) -> &str {
        &self.id.text
    }

    /// Whether the pieces may leave unchanged: every client reads them as this call.
    pub fn is_canonical(&self) -> bool {
        self.name.arrival != Arrival::Later && self.id.arrival != Arrival::Later
    }

    /// Whether an id may still come, so that the call cannot leave in pieces yet.
    pub fn lacks_id(&self) -> bool {
        self.id.is_missing() && !self.kind.is_anonymous()
    }

    /// Whether nothing of the call may leave before it is complete.
    pub fn waits(&self) -> bool {
        self.kind == CallKind::AnonymousInPieces
    }

    /// Whether the call came in one piece.
    pub fn is_one_piece(&self) -> bool {
        self.pieces == 1
    }

    /// Whether all arguments came with the first piece, and another copy may follow.
    pub fn came_whole(&self) -> bool {
        self.arguments.came_whole()
    }

    /// Whether the arguments so far are one complete document.
    pub fn is_complete(&self) -> bool {
        self.arguments.is_complete()
    }

    /// Why the call is refused regardless of the policy.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.arguments.came_twice() {
            return Some("its arguments were sent twice and differ");
        }
        self.refuse
    }

    /// The call with pending arguments, for the question by name alone.
    pub fn named(&self, origin: &Origin) -> Result<ToolCall, NameError> {
        self.call(origin, Arguments::pending())
    }

    /// The whole call.
    pub fn whole(&self, origin: &Origin) -> Result<ToolCall, NameError> {
        self.call(origin, self.arguments())
    }

    /// The text of the arguments, as far as it is stored.
    pub fn arguments_text(&self) -> &str {
        self.arguments.text()
    }

    /// The arguments so far.
    pub fn arguments(&self) -> Arguments {
        self.arguments.arguments()
    }

    fn call(&self, origin: &Origin, arguments: Arguments) -> Result<ToolCall, NameError> {
        let name = ToolName::parse(&self.name.text)?;
        let (id, origin) = (CallId(self.id.text.clone()), origin.clone());
        Ok(ToolCall { id, name, arguments, origin, caller: self.caller() })
    }

    /// The provider's program that makes the call, if it is not the model itself.
    fn caller(&self) -> Option<Caller> {
        let call = self.original.as_deref()?;
        let caller = member(call, document(call), "caller")?;
        let text = |key| string_member(call, caller, key)?.decode().ok();
        let kind = text("type").filter(|kind| kind != "direct")?.into_owned();
        let id = text("tool_id").or_else(|| text("caller_id")).map(Cow::into_owned);
        Some(Caller { kind, id })
    }

    /// The call in the form that every client reads the same way.
    pub fn canonical(&self) -> Canonical {
        Canonical {
            id: self.id.text.clone(),
            name: self.name.text.clone(),
            arguments: self.arguments_text().to_owned(),
            free_text: self.is_free_text(),
            anonymous: self.kind.is_anonymous(),
        }
    }

    /// The call as it opened, as JSON, unless it was freed.
    #[inline]
    pub fn original(&self) -> Option<&str> {
        self.original.as_deref()
    }
}

/// Why a call with differing copies is refused.
pub const COPIES_DIFFER: &str = "its copies differ";

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_call::Surface;

    fn assemble(pieces: &[&str]) -> (Vec<Added>, Assembly) {
        let mut assembly = Assembly::default();
        let add = |text: &&str| {
            let arguments = ArgumentsPiece::Fragment((*text).into());
            assembly.add(&Piece { arguments, ..Piece::default() }, 1 << 20)
        };
        (pieces.iter().map(add).collect(), assembly)
    }

    #[test]
    fn completeness_is_found_in_the_piece_that_completes() {
        use Added::{Completes, Excess, More};
        for (pieces, want) in [
            (vec![r#"{\"a\":"#, "1}"], vec![More, Completes]),
            (vec![r#"{\"a\":\"}"#, r#"\\\"}"#, r#"\"}"#], vec![More, More, Completes]),
            (vec!["{}", " "], vec![Completes, Excess]),
            (vec!["", "  ", "{}"], vec![More, More, Completes]),
            (vec!["{}x"], vec![More]),
            (vec!["[1]", "x"], vec![More, More]),
        ] {
            assert_eq!(assemble(&pieces).0, want, "{pieces:?}");
        }
    }

    #[test]
    fn names_may_come_split_or_again() {
        let mut assembly = Assembly::default();
        for name in ["ev", "il", "evil"] {
            assembly.add(&Piece { name: Some(name.into()), ..Piece::default() }, 1);
        }
        assert_eq!(assembly.name(), "evil");
        assert!(!assembly.is_canonical());
    }

    #[test]
    fn a_copy_is_known_again_when_the_arguments_are_forgotten_or_too_large() {
        let add = |limit: usize| {
            let mut assembly = Assembly::new(CallKind::Repeated);
            for text in ["{\"a\":", "[1,2,", "3]}"] {
                let arguments = ArgumentsPiece::Fragment(text.replace('"', "\\\""));
                assembly.add(&Piece { arguments, ..Piece::default() }, limit);
            }
            assembly
        };
        for limit in [1 << 20, 8] {
            let mut assembly = add(limit);
            for _ in 0..2 {
                assert!(assembly.matches_copy("{\"a\":[1,2,3]}"), "{limit}");
                assert!(
                    !assembly.matches_copy("{\"a\":[1,2,4]}") && !assembly.matches_copy(""),
                    "{limit}"
                );
                assembly.forget_arguments();
            }
        }
    }

    #[test]
    fn a_large_call_is_kept_in_part_and_unreadable() {
        let mut assembly = Assembly::default();
        for text in ["{\"a\":\"é", &"é".repeat(700), &"é".repeat(700), "\"}"] {
            let arguments = ArgumentsPiece::Fragment(text.replace('"', "\\\""));
            let piece = Piece { name: Some("x".into()), arguments, ..Piece::default() };
            assembly.add(&piece, 2000);
        }
        let call = assembly.whole(&Origin::at(Surface::Response)).unwrap();
        assert!(call.arguments.value().is_err());
        assert!(call.arguments.raw().len() <= 1024);
    }
}
