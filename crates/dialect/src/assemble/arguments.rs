//! The text of a call's arguments, as it arrives.

use callgate_call::Arguments;
use callgate_json::decode_into;
use memchr::memchr2;
use sha2::{Digest, Sha256};

use super::Added;
use crate::event::CallKind;

/// The arguments of a call so far.
#[derive(Debug, Default)]
pub(super) struct ArgumentText {
    /// What is stored of them.
    text: String,
    /// How many bytes came, stored or not.
    received: usize,
    /// Half a surrogate pair at the end of the last piece.
    half: Option<u16>,
    stored: Stored,
    delivery: Delivery,
    document: Document,
    /// The digest of all of them, if their text is not stored.
    digest: Option<Sha256>,
}

/// How the stored text relates to what came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stored {
    /// It is the same text.
    #[default]
    Exactly,
    /// JSON parsers disagree on what came: there was a lone surrogate, for example.
    Garbled,
    /// It is only the beginning: the arguments are too large.
    Oversize,
}

/// How the arguments came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Delivery {
    /// In pieces, or not yet.
    #[default]
    InPieces,
    /// At once.
    Whole,
    /// At once, and in other pieces as well: clients would disagree about them.
    WholeAndMore,
}

impl ArgumentText {
    /// Whether [`Self::add_fragment`] may add to it: nothing about it is unusual, and it is not
    /// complete.
    pub(super) fn takes_fragments(&self) -> bool {
        let unusual = self.is_free_text() || self.came_whole();
        !unusual && !self.is_complete()
    }

    /// Adds a piece of the JSON text, raw between its quotes.
    #[inline]
    pub(super) fn add_fragment(&mut self, raw: &str, kind: CallKind, limit: usize) -> Added {
        let start = self.text.len();
        self.decode(raw);
        self.grew(start, self.document, kind, limit)
    }

    /// Adds a piece, raw between its quotes. More of them may follow.
    pub(super) fn add_piece(
        &mut self,
        raw: &str,
        form: Form,
        kind: CallKind,
        limit: usize,
    ) -> Added {
        let (before, start) = (self.document, self.text.len());
        self.decode(raw);
        let adds = self.text.len() > start || self.half.is_some();
        if adds && self.came_whole() {
            self.delivery = Delivery::WholeAndMore;
        } else if adds && form == Form::WholeFree {
            self.delivery = Delivery::Whole;
        }
        if form != Form::Json {
            self.document = Document::Free;
        }
        self.grew(start, before, kind, limit)
    }

    /// Adds all of the arguments at once.
    pub(super) fn add_whole(&mut self, text: &str, kind: CallKind, limit: usize) -> Added {
        let start = self.text.len();
        self.delivery = match self.have_begun() {
            true => Delivery::WholeAndMore,
            false if self.delivery == Delivery::InPieces => Delivery::Whole,
            false => self.delivery,
        };
        self.text.push_str(text);
        self.grew(start, self.document, kind, limit)
    }

    fn decode(&mut self, raw: &str) {
        let is_text = decode_into(raw, &mut self.half, &mut self.text);
        if !is_text && self.stored == Stored::Exactly {
            self.stored = Stored::Garbled;
        }
    }

    /// Takes note of the text from `start` on. `before` is the document without it.
    #[inline]
    fn grew(&mut self, start: usize, before: Document, kind: CallKind, limit: usize) -> Added {
        let added = self.text.get(start..).unwrap_or_default();
        self.received += added.len();
        if self.document != Document::Free {
            self.document = before.feed(added);
        }
        self.bound(start, kind, limit);
        match (before, self.document) {
            (Document::Complete, _) => Added::Excess,
            (_, Document::Complete) => Added::Completes,
            _ => Added::More,
        }
    }

    /// Keeps only the beginning of arguments that are longer than the limit, for the record, and takes
    /// back what was added to it from `start` on. The digest of all of them is kept if copies may
    /// follow.
    fn bound(&mut self, start: usize, kind: CallKind, limit: usize) {
        let (old, added) = self.text.split_at(start);
        let mut keep = start;
        if self.text.len() > limit && self.stored != Stored::Oversize {
            self.stored = Stored::Oversize;
            keep = self.text.floor_char_boundary(KEPT);
            if kind == CallKind::Repeated {
                self.digest = Some(Sha256::new_with_prefix(old));
            }
        }
        if let Some(digest) = &mut self.digest {
            digest.update(added);
        }
        if self.stored == Stored::Oversize {
            self.text.truncate(keep);
        }
    }

    /// Whether a repetition of all arguments equals those that came.
    pub(super) fn matches_copy(&self, text: &str) -> bool {
        match &self.digest {
            Some(digest) => digest.clone().finalize() == Sha256::digest(text),
            None => self.text == text,
        }
    }

    /// Frees the text.
    pub(super) fn forget(&mut self, kind: CallKind) {
        if kind == CallKind::Repeated && self.digest.is_none() {
            self.digest = Some(Sha256::new_with_prefix(&self.text));
        }
        self.text = String::new();
    }

    /// The text, as far as it is stored.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether some text has come.
    pub(super) fn has_text(&self) -> bool {
        self.received > 0
    }

    /// Whether anything has come.
    pub(super) fn have_begun(&self) -> bool {
        self.has_text() || self.half.is_some()
    }

    pub(super) fn is_oversize(&self) -> bool {
        self.stored == Stored::Oversize
    }

    pub(super) fn is_free_text(&self) -> bool {
        self.document == Document::Free
    }

    /// Whether they are one complete document.
    pub(super) fn is_complete(&self) -> bool {
        self.document == Document::Complete
    }

    /// Whether all of them came at once, and another copy may follow.
    pub(super) fn came_whole(&self) -> bool {
        self.delivery != Delivery::InPieces
    }

    /// Whether they came whole, and in other pieces as well.
    pub(super) fn came_twice(&self) -> bool {
        self.delivery == Delivery::WholeAndMore
    }

    /// The arguments so far.
    pub(super) fn arguments(&self) -> Arguments {
        let text = self.text.as_str();
        match self.stored {
            Stored::Oversize => Arguments::oversize(text),
            // The text is stored for the record; this ending makes it unreadable for certain.
            Stored::Garbled => Arguments::json(format!("{text}\u{FFFD}")),
            Stored::Exactly if self.half.is_some() => Arguments::json(format!("{text}\u{FFFD}")),
            Stored::Exactly if self.is_free_text() => Arguments::text(text),
            Stored::Exactly => Arguments::json(text),
        }
    }
}

/// What a piece of the arguments is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON text.
    Json,
    /// A custom tool's free text.
    Free,
    /// A custom tool's free text, and it is all of it.
    WholeFree,
}

/// How many bytes of arguments are kept of a call whose arguments are too long.
const KEPT: usize = 1024;

/// Finds where a JSON object in pieces is complete, without parsing it: counts brackets outside
/// strings. [`Arguments::value`] checks whether it is *valid*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Document {
    #[default]
    Empty,
    Open {
        depth: u32,
        place: Place,
    },
    Complete,
    /// Not an object: only the end of the call completes it.
    Other,
    /// Free text: only the end of the call completes it.
    Free,
}

/// Where in an open document the text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between strings.
    Outside,
    InString,
    /// In a string, after a backslash.
    AfterBackslash,
}

impl Document {
    fn feed(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        loop {
            if let Self::Open { place: Place::InString, .. } = self {
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
            Self::Empty if byte == b'{' => Self::outside(1),
            Self::Empty | Self::Complete => Self::Other,
            Self::Open { depth, place: Place::Outside } => match byte {
                b'"' => Self::Open { depth, place: Place::InString },
                b'{' | b'[' => Self::outside(depth.saturating_add(1)),
                b'}' | b']' if depth == 1 => Self::Complete,
                b'}' | b']' => Self::outside(depth - 1),
                _ => self,
            },
            Self::Open { depth, place: Place::InString } => match byte {
                b'"' => Self::outside(depth),
                b'\\' => Self::Open { depth, place: Place::AfterBackslash },
                _ => self,
            },
            Self::Open { depth, place: Place::AfterBackslash } => {
                Self::Open { depth, place: Place::InString }
            }
            Self::Other | Self::Free => self,
        }
    }

    fn outside(depth: u32) -> Self {
        Self::Open { depth, place: Place::Outside }
    }
}
