//! Finds calls in unexpected places.
//!
//! A reader takes the calls in their regular places, and reports them ([`Reading::takes`]). This
//! checks every other object of the frame: one that looks like a call is judged like one, and the
//! frame leaves with it or not at all. An object looks like a call
//!
//! - if it has a name and arguments,
//! - if it has a name and is under a key for calls (`functionCall`, `toolUse`, `tool_calls`, …),
//! - if its type is that of a call (`tool_use`, `…_call`), or
//! - if it has a `call_id` and is not a result.
//!
//! The arguments of a call and the contents of results are data, and nothing in them is a call. The
//! same holds for the members in which an API repeats the request: each API lists its own.

use std::borrow::Cow;

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use crate::event::{
    ArgumentsPiece, CallKind, Carrier, FollowedBy, Lane, Order, Part, Piece, PieceRole, Reading,
    Slot, Unreadable, What,
};
use crate::json::document;
use crate::spec::Read;
use crate::vocabulary::{
    CALL_ID, ends_like_call, fold, folds_to_ascii, is_call, is_input, is_name, is_place_of_calls,
    is_result,
};

/// Members that are not searched: the key of their object (empty for the document itself), and
/// their own keys.
pub(crate) type SkippedMembers = &'static [(&'static str, &'static [&'static str])];

/// Whether a document is one frame of a stream, or a whole body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    Frame,
    Body,
}

/// The most calls in unexpected places in one frame: as many as a response may have calls. A frame
/// with more is withheld.
const MOST: usize = 256;

/// Adds the calls that `reader` has not taken to its reading.
pub(crate) fn judge(
    reader: &mut dyn Read,
    data: &str,
    form: DocumentKind,
    reading: &mut Reading,
) -> Result<(), Unreadable> {
    let Some(skipped_members) = reader.skipped_members(form) else { return Ok(()) };
    for stray in find(data, &reading.taken, skipped_members)? {
        let piece = stray.piece(reader.stray_slot()?, data)?;
        reading.parts.push(Part {
            lane: Lane::default(),
            at: document(data),
            what: What::Piece(piece),
        });
        if reading.order == Order::Free {
            // A call keeps its position.
            reading.order = Order::Lane(Lane::default());
        }
    }
    Ok(())
}

/// Whether a frame of an unknown kind contains a call.
pub(crate) fn holds_call(data: &str) -> Result<bool, Unreadable> {
    Ok(!find(data, &[], &[])?.is_empty())
}

fn find(
    data: &str,
    taken: &[Span],
    skipped_members: SkippedMembers,
) -> Result<Vec<Stray>, Unreadable> {
    if !data.trim_start().starts_with('{') || !may_hold_call(data) {
        return Ok(Vec::new());
    }
    find_all(data, taken, skipped_members)
}

fn find_all(
    data: &str,
    taken: &[Span],
    skipped_members: SkippedMembers,
) -> Result<Vec<Stray>, Unreadable> {
    let mut walk = StrayFinder { taken, skipped_members, found: Vec::new() };
    walk.value(&mut Json::new(data), Place { under: "", is_root: true })?;
    Ok(walk.found)
}

/// Whether a key or a value ends with a word of which every call has one, or may do so once its
/// escapes are decoded. Most frames have none and need not be parsed again.
fn may_hold_call(data: &str) -> bool {
    let data = data.as_bytes();
    let ends_like_call = |at| data.get(..at).is_some_and(ends_like_call);
    any_quote(data, ends_like_call) || has_escaped_letter(data)
}

/// Whether this holds for the place of a quote. Eight bytes at a time: quotes are so close together
/// that a search for the next one costs more than it skips.
fn any_quote(data: &[u8], holds: impl Fn(usize) -> bool) -> bool {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const QUOTES: u64 = 0x2222_2222_2222_2222;
    let (chunks, rest) = data.as_chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let others = u64::from_le_bytes(*chunk) ^ QUOTES;
        // The highest bit of each byte that is a quote.
        let mut quotes = !(((others & LOW) + LOW) | others | LOW);
        while quotes != 0 {
            if holds(number * 8 + quotes.trailing_zeros() as usize / 8) {
                return true;
            }
            quotes &= quotes - 1;
        }
    }
    let start = data.len() - rest.len();
    rest.iter().enumerate().any(|(at, byte)| *byte == b'"' && holds(start + at))
}

fn has_escaped_letter(data: &[u8]) -> bool {
    let letter = |at: usize| {
        let digits = data.get(at + 1..at + 6)?.strip_prefix(b"u")?;
        let digits = std::str::from_utf8(digits).ok()?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    memchr::memchr_iter(b'\\', data).filter_map(letter).any(folds_to_ascii)
}

/// A call that was found.
struct Stray {
    name: String,
    input: Option<Span>,
    refuse: Option<&'static str>,
}

impl Stray {
    fn piece(self, slot: Slot, data: &str) -> Result<Piece, Error> {
        let mut arguments = ArgumentsPiece::None;
        if let Some(input) = self.input {
            let text = match Json::at(data, input).string() {
                Ok(text) => text.decode()?,
                Err(_) => Cow::Borrowed(input.of(data)),
            };
            if !text.is_empty() && text != "null" {
                arguments = ArgumentsPiece::Whole(text.into_owned());
            }
        }
        Ok(Piece {
            slot,
            role: PieceRole::Open(CallKind::Identified),
            followed_by: FollowedBy::Nothing,
            name: Some(self.name),
            arguments,
            carrier: Carrier::Stray,
            refuse: self.refuse,
            ..Piece::default()
        })
    }
}

/// The place of a value.
#[derive(Clone, Copy)]
struct Place<'k> {
    /// The key above it, folded.
    under: &'k str,
    is_root: bool,
}

struct StrayFinder<'d> {
    taken: &'d [Span],
    skipped_members: SkippedMembers,
    found: Vec<Stray>,
}

/// The relevant members of an object.
#[derive(Default)]
struct Object<'a> {
    span: Span,
    names: Vec<Text<'a>>,
    inputs: Vec<Span>,
    kinds: Vec<String>,
    has_call_id: bool,
    /// What was found in members that contain data, if the object is a call or a result: ranges of
    /// indices.
    in_inputs: Vec<(usize, usize)>,
    in_results: Vec<(usize, usize)>,
}

impl StrayFinder<'_> {
    fn value(&mut self, json: &mut Json<'_>, place: Place<'_>) -> Result<(), Unreadable> {
        match json.kind()? {
            Kind::Object => self.object(json, place),
            Kind::Array => {
                let mut array = json.array()?;
                while array.next(json)? {
                    self.value(json, Place { is_root: false, ..place })?;
                }
                Ok(())
            }
            _ => Ok(json.skip().map(|_| ())?),
        }
    }

    fn object(&mut self, json: &mut Json<'_>, place: Place<'_>) -> Result<(), Unreadable> {
        let start = json.position();
        let mut object = Object::default();
        let mut members = json.object()?;
        while let Some(key) = members.next(json)? {
            self.member(json, &fold(&key.decode()?), &mut object, place)?;
        }
        object.span = Span { start, end: json.position() };
        self.look_at(object, place)
    }

    fn member<'a>(
        &mut self,
        json: &mut Json<'a>,
        key: &str,
        object: &mut Object<'a>,
        place: Place<'_>,
    ) -> Result<(), Unreadable> {
        let is_quiet =
            |(under, keys): &(&str, &[&str])| *under == place.under && keys.contains(&key);
        if self.skipped_members.iter().any(is_quiet) {
            return Ok(json.skip().map(|_| ())?);
        }
        let is_text = json.kind()? == Kind::String;
        let start = json.position();
        match key {
            key if is_name(key) && is_text => {
                object.names.extend(Some(json.string()?).filter(|name| !name.is_empty()));
                return Ok(());
            }
            "type" if is_text => {
                object.kinds.push(fold(&json.string()?.decode()?).into_owned());
                return Ok(());
            }
            CALL_ID if is_text => {
                object.has_call_id |= !json.string()?.is_empty();
                return Ok(());
            }
            _ => {}
        }
        let before = self.found.len();
        self.value(json, Place { under: key, is_root: false })?;
        let inside = (before, self.found.len());
        if is_input(key) {
            object.inputs.push(Span { start, end: json.position() });
            object.in_inputs.push(inside);
        } else if RESULTS.contains(&key) {
            object.in_results.push(inside);
        }
        Ok(())
    }

    fn look_at(&mut self, object: Object<'_>, place: Place<'_>) -> Result<(), Unreadable> {
        let is_result = matches!(object.kinds.as_slice(), [kind] if is_result(kind));
        if is_result {
            self.forget(&object.in_results);
        }
        let says_call = !place.is_root
            && !is_result
            && (object.has_call_id || object.kinds.iter().any(|kind| is_call(kind)));
        let is_named = !object.names.is_empty();
        let stands_as_call = is_place_of_calls(place.under) || !object.inputs.is_empty();
        let is_one = says_call || (is_named && stands_as_call);
        if !is_one {
            return Ok(());
        }
        // Everything in a result was found by now.
        if !is_result {
            self.forget(&object.in_inputs);
        }
        let is_one = object.names.len() <= 1 && object.inputs.len() <= 1;
        let place = object.names.first().map_or(object.span, Text::span);
        if is_one && self.taken.contains(&place) {
            return Ok(());
        }
        if self.found.len() >= MOST {
            return Err(Unreadable::TooManyCalls);
        }
        let name = match (object.names.first(), object.kinds.first()) {
            (Some(name), _) => name.decode()?.into_owned(),
            (None, Some(kind)) => kind.strip_suffix("call").unwrap_or(kind).to_owned(),
            (None, None) => String::new(),
        };
        let refuse = (!is_one).then_some("it has two names or two sets of arguments");
        self.found.push(Stray { name, input: object.inputs.first().copied(), refuse });
        Ok(())
    }

    fn forget(&mut self, ranges: &[(usize, usize)]) {
        for (from, to) in ranges.iter().rev() {
            if *to <= self.found.len() {
                self.found.drain(*from..*to);
            }
        }
    }
}

/// Members in which results, and lists of tools, have their contents.
const RESULTS: [&str; 5] = ["output", "result", "content", "tools", "error"];

#[cfg(test)]
mod tests;
