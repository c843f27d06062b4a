//! Assembles the pieces of a call.

use std::borrow::Cow;

use callgate_call::json::decode_into;
use callgate_call::{Arguments, CallId, Caller, NameError, Origin, ToolCall, ToolName};
use memchr::memchr2;
use sha2::{Digest, Sha256};

use crate::event::{ArgumentsPiece, Canonical, Piece};
use crate::json::{document, member, string_member};

/// A call that is being assembled.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what was odd about the call so far; any of them go together"
)]
pub struct Assembly {
    id: String,
    name: String,
    arguments: String,
    /// Half a surrogate pair at the end of the last piece.
    half: Option<u16>,
    /// The arguments contain text that JSON parsers disagree on, such as a lone surrogate.
    garbled: bool,
    begun: bool,
    oversize: bool,
    free_text: bool,
    /// The first piece did not contain the whole name.
    split_name: bool,
    /// The id came, but not in the first piece.
    late_id: bool,
    anonymous: bool,
    waits: bool,
    pieces: u32,
    /// Arguments came in the opening piece as well as after it.
    whole_then_more: bool,
    had_whole: bool,
    /// The whole call will be repeated: what is not stored must be recognised.
    repeats: bool,
    /// The digest of all arguments, if their text is not stored.
    digest: Option<Sha256>,
    document: Document,
    original: Option<String>,
    refuse: Option<&'static str>,
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
    /// Adds a piece. Stores at most `limit` bytes of arguments.
    pub fn add(&mut self, piece: &Piece, limit: usize) -> Added {
        self.pieces += 1;
        if self.pieces == 1 {
            self.original.clone_from(&piece.original);
            self.anonymous = piece.anonymous;
            self.repeats = piece.repeats;
            self.waits = piece.waits;
        }
        self.refuse = self.refuse.or(piece.refuse);
        if let Some(id) = &piece.id
            && self.id.is_empty()
            && !id.is_empty()
        {
            self.late_id = self.pieces > 1;
            self.id.clone_from(id);
        }
        if let Some(name) = &piece.name {
            self.add_name(name);
        }
        self.add_arguments(&piece.arguments, limit)
    }

    /// Whether [`Self::add_fragment`] may add to it: it has begun and is not complete, and nothing
    /// about its arguments is unusual.
    pub fn takes_fragments(&self) -> bool {
        let usual = !self.free_text && !self.had_whole && self.refuse.is_none();
        usual && self.pieces > 0 && self.document != Document::Complete
    }

    /// Adds a piece that has only a [fragment](ArgumentsPiece::Fragment) of the arguments, like
    /// [`Self::add`]. Only if [`Self::takes_fragments`].
    pub fn add_fragment(&mut self, raw: &str, limit: usize) -> Added {
        self.pieces += 1;
        let (before, start) = (self.document, self.arguments.len());
        self.garbled |= !decode_into(raw, &mut self.half, &mut self.arguments);
        self.arguments_grew(before, start, limit)
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
        match &self.digest {
            Some(digest) => digest.clone().finalize() == Sha256::digest(text),
            None => self.arguments == text,
        }
    }

    /// Whether a piece changes the name of the call.
    pub fn renames(&self, piece: &Piece) -> bool {
        piece
            .name
            .as_ref()
            .is_some_and(|name| !name.is_empty() && self.is_named() && *name != self.name)
    }

    /// Whether a piece changes the id of the call.
    pub fn changes_id(&self, piece: &Piece) -> bool {
        piece.id.as_ref().is_some_and(|id| {
            let both = !id.is_empty() && !self.id.is_empty();
            both && *id != self.id
        })
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
        let both = (free && !self.free_text && self.pieces > 0) || (json && self.free_text);
        both.then_some("it is a function and a custom tool at once")
    }

    /// A name may come in pieces, or be repeated in every piece.
    fn add_name(&mut self, name: &str) {
        if name.is_empty() || name == self.name {
            return;
        }
        self.split_name = self.pieces > 1;
        self.name.push_str(name);
        if self.name.len() > ToolName::MAX_LEN {
            self.refuse = Some("its name is too long");
        }
    }

    fn add_arguments(&mut self, piece: &ArgumentsPiece, limit: usize) -> Added {
        let before = self.document;
        let start = self.arguments.len();
        match piece {
            ArgumentsPiece::None => return Added::More,
            // An empty repetition, or one that comes before there is anything.
            ArgumentsPiece::Again(text) if text.is_empty() && !self.begun => return Added::More,
            ArgumentsPiece::Again(text) if self.arguments_begun() => {
                if !self.matches_copy(text) {
                    self.refuse = Some(COPIES_DIFFER);
                }
                return Added::More;
            }
            ArgumentsPiece::Whole(text) | ArgumentsPiece::Again(text) => {
                self.whole_then_more |= self.arguments_begun();
                self.had_whole = true;
                self.arguments.push_str(text);
            }
            ArgumentsPiece::Fragment(raw)
            | ArgumentsPiece::Free(raw)
            | ArgumentsPiece::WholeFree(raw) => {
                self.garbled |= !decode_into(raw, &mut self.half, &mut self.arguments);
                let adds = self.arguments.len() > start || self.half.is_some();
                self.whole_then_more |= self.had_whole && adds;
                self.had_whole |= adds && matches!(piece, ArgumentsPiece::WholeFree(_));
                self.free_text |= !matches!(piece, ArgumentsPiece::Fragment(_));
            }
        }
        self.arguments_grew(before, start, limit)
    }

    /// Takes note of the arguments from `start` on. `before` is the document without them.
    #[inline]
    fn arguments_grew(&mut self, before: Document, start: usize, limit: usize) -> Added {
        let added = self.arguments.get(start..).unwrap_or_default();
        self.begun |= !added.is_empty();
        self.document = if self.free_text { Document::Free } else { before.feed(added) };
        self.bound_arguments(start, limit);
        match (before, self.document) {
            (Document::Complete, _) => Added::Excess,
            (_, Document::Complete) => Added::Completes,
            _ => Added::More,
        }
    }

    /// Takes back what was added from `start` on if the arguments are longer than the limit. Their
    /// beginning is kept for the record, and the digest of all of them if copies may follow.
    fn bound_arguments(&mut self, start: usize, limit: usize) {
        let (old, added) = self.arguments.split_at(start);
        if self.arguments.len() > limit
            && !std::mem::replace(&mut self.oversize, true)
            && self.repeats
        {
            self.digest = Some(Sha256::new_with_prefix(old));
        }
        if let Some(digest) = &mut self.digest {
            digest.update(added);
        }
        if self.oversize {
            let keep = self.arguments.floor_char_boundary(start.min(KEPT));
            self.arguments.truncate(keep);
        }
    }

    /// How many bytes of arguments are stored.
    pub fn kept(&self) -> usize {
        self.arguments.len()
    }

    /// Frees the arguments. Returns the number of freed bytes.
    pub fn forget_arguments(&mut self) -> usize {
        if self.repeats && self.digest.is_none() {
            self.digest = Some(Sha256::new_with_prefix(&self.arguments));
        }
        std::mem::take(&mut self.arguments).len()
    }

    /// Whether arguments have begun, so that the name is complete.
    pub fn arguments_begun(&self) -> bool {
        self.begun || self.half.is_some()
    }

    /// Whether the arguments were too large to be stored.
    pub fn is_oversize(&self) -> bool {
        self.oversize
    }

    /// Whether the arguments are the free text of a custom tool.
    pub fn is_free_text(&self) -> bool {
        self.free_text
    }

    /// Whether the name has arrived.
    pub fn is_named(&self) -> bool {
        !self.name.is_empty()
    }

    /// The name so far.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id so far.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the pieces may leave unchanged: every client reads them as this call.
    pub fn is_canonical(&self) -> bool {
        !self.split_name && !self.late_id
    }

    /// Whether an id may still come, so that the call cannot leave in pieces yet.
    pub fn lacks_id(&self) -> bool {
        self.id.is_empty() && !self.anonymous
    }

    /// Whether nothing of the call may leave before it is complete.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Whether the call came in one piece.
    pub fn is_one_piece(&self) -> bool {
        self.pieces == 1
    }

    /// Whether all arguments came with the first piece, and another copy may follow.
    pub fn came_whole(&self) -> bool {
        self.had_whole
    }

    /// Whether the arguments so far are one complete document.
    pub fn is_complete(&self) -> bool {
        self.document == Document::Complete
    }

    /// Why the call is refused regardless of the policy.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.whole_then_more {
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
        &self.arguments
    }

    /// The arguments so far.
    pub fn arguments(&self) -> Arguments {
        let text = self.arguments.as_str();
        if self.oversize {
            Arguments::oversize(text)
        } else if self.garbled || self.half.is_some() {
            // The text is stored for the record; this ending makes it unreadable for certain.
            Arguments::json(format!("{text}\u{FFFD}"))
        } else if self.free_text {
            Arguments::text(text)
        } else {
            Arguments::json(text)
        }
    }

    fn call(&self, origin: &Origin, arguments: Arguments) -> Result<ToolCall, NameError> {
        let name = ToolName::parse(&self.name)?;
        let (id, origin) = (CallId(self.id.clone()), origin.clone());
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
            id: self.id.clone(),
            name: self.name.clone(),
            arguments: self.arguments.clone(),
            free_text: self.free_text,
            anonymous: self.anonymous,
        }
    }

    /// The call as it opened, as JSON.
    pub fn original(&self) -> Option<&str> {
        self.original.as_deref()
    }
}

/// How many bytes of arguments are kept of a call whose arguments are too long.
const KEPT: usize = 1024;

/// Why a call with differing copies is refused.
pub const COPIES_DIFFER: &str = "its copies differ";

/// Finds where a JSON object in pieces is complete, without parsing it: counts brackets outside
/// strings. [`Arguments::value`] checks whether it is *valid*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Document {
    #[default]
    Empty,
    Open {
        depth: u32,
        string: bool,
        escape: bool,
    },
    Complete,
    /// Not an object: only the end of the call completes it.
    Other,
    /// Free text: only the end of the call completes it.
    Free,
}

impl Document {
    fn feed(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        loop {
            if let Self::Open { string: true, escape: false, .. } = self {
                // Nothing else in a string changes anything.
                let Some(at) = memchr2(b'"', b'\\', rest) else { return self };
                rest = rest.get(at..).unwrap_or_default();
            }
            let Some((byte, after)) = rest.split_first() else { return self };
            self = self.step(*byte);
            rest = after;
        }
    }

    #[inline]
    fn step(self, byte: u8) -> Self {
        match self {
            Self::Empty | Self::Complete if byte.is_ascii_whitespace() => self,
            Self::Empty if byte == b'{' => Self::Open { depth: 1, string: false, escape: false },
            Self::Empty | Self::Complete => Self::Other,
            Self::Open { depth, string: true, escape } => Self::Open {
                depth,
                string: escape || byte != b'"',
                escape: !escape && byte == b'\\',
            },
            Self::Open { depth, .. } => match byte {
                b'"' => Self::Open { depth, string: true, escape: false },
                b'{' | b'[' => {
                    Self::Open { depth: depth.saturating_add(1), string: false, escape: false }
                }
                b'}' | b']' if depth == 1 => Self::Complete,
                b'}' | b']' => Self::Open { depth: depth - 1, string: false, escape: false },
                _ => self,
            },
            Self::Other | Self::Free => self,
        }
    }
}

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
            let mut assembly = Assembly::default();
            for text in ["{\"a\":", "[1,2,", "3]}"] {
                let arguments = ArgumentsPiece::Fragment(text.replace('"', "\\\""));
                assembly.add(&Piece { arguments, repeats: true, ..Piece::default() }, limit);
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
