//! Reads a JSON-RPC message strictly.
//!
//! Peers disagree about unusual JSON: which of two equal keys counts, whether a carriage return
//! ends a line, what a very large number means as an id. A message that two of them would read
//! differently is unfit, and is never forwarded unchanged.

mod unfit;

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use callgate_json::{Error, Fields, Kind as JsonKind, Reader, Span, Text, quote};

pub(crate) use unfit::{Unfit, UnfitReason};

/// A message that every peer reads the same way.
#[derive(Debug)]
pub(crate) struct RpcMessage<'a> {
    /// Its text, without the line end.
    pub(crate) text: &'a str,
    pub(crate) kind: RpcMessageKind<'a>,
}

#[derive(Debug)]
pub(crate) enum RpcMessageKind<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        params: Option<Span>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<Span>,
    },
    /// `id` is `None` if the peer does not know which request it answers.
    Answer {
        id: Option<Id>,
        outcome: AnswerContent,
    },
}

/// The content of an answer, with its position.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerContent {
    Result(Span),
    Error(Span),
}

/// The id of a request. A number never equals a string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// An integer, exactly as written.
    Number(String),
    /// A decoded string.
    Text(String),
}

impl Id {
    /// Ids are counters or UUIDs. A longer one is refused, because it would be stored for every
    /// open request.
    const MAX_LEN: usize = 1024;

    fn read(reader: &mut Reader<'_>, text: &str) -> Result<Option<Self>, UnfitReason> {
        let kind = reader.kind()?;
        let id = match kind {
            JsonKind::String => Self::Text(reader.string()?.decode()?.into_owned()),
            JsonKind::Null => {
                reader.skip()?;
                return Ok(None);
            }
            JsonKind::Number => Self::Number(reader.skip()?.of(text).to_owned()),
            _ => return Err(UnfitReason::Id),
        };
        match &id {
            Self::Number(number) if !is_integer(number) => Err(UnfitReason::Id),
            Self::Number(id) | Self::Text(id) if id.len() > Self::MAX_LEN => Err(UnfitReason::Id),
            _ => Ok(Some(id)),
        }
    }

    /// The id at this position.
    pub(crate) fn at(text: &str, span: Span) -> Option<Self> {
        Self::read(&mut Reader::at(text, span), text).ok().flatten()
    }

    /// The id as JSON.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Number(number) => number.clone(),
            Self::Text(text) => quote(text),
        }
    }
}

/// Some peers treat `-0` as `0` and others do not.
fn is_integer(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && number != "-0"
}

impl<'a> RpcMessage<'a> {
    /// Reads a line. `None` if it is empty.
    pub(crate) fn read(line: &'a [u8]) -> Result<Option<Self>, Unfit> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        // A line may end in CR LF, which is one line end for everyone.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| {
            let text = String::from_utf8_lossy(line);
            Unfit { id: id_of(&text), why: UnfitReason::Utf8 }
        })?;
        if let Some(rest) = text.strip_prefix('\u{feff}') {
            return Err(Unfit { id: id_of(rest), why: UnfitReason::ByteOrderMark });
        }
        if text.contains('\r') {
            return Err(Unfit { id: id_of(text), why: UnfitReason::CarriageReturn });
        }
        if text.trim_matches([' ', '\t']).is_empty() {
            return Ok(None);
        }
        Self::parse(text).map(Some).map_err(|why| Unfit { id: id_of(text), why })
    }

    /// Reads a body or an event that is a single message: a line end does not end it.
    pub(crate) fn of_body(body: &'a [u8]) -> Result<Self, Unfit> {
        let text = std::str::from_utf8(body).map_err(|_| {
            let text = String::from_utf8_lossy(body);
            Unfit { id: id_of(&text), why: UnfitReason::Utf8 }
        })?;
        if let Some(rest) = text.strip_prefix('\u{feff}') {
            return Err(Unfit { id: id_of(rest), why: UnfitReason::ByteOrderMark });
        }
        Self::parse(text).map_err(|why| Unfit { id: id_of(text), why })
    }

    fn parse(text: &'a str) -> Result<Self, UnfitReason> {
        let mut reader = Reader::new(text);
        match reader.kind()? {
            JsonKind::Object => {}
            JsonKind::Array => return Err(UnfitReason::Batch),
            _ => return Err(UnfitReason::NotAMessage),
        }
        let mut members = MessageMembers::default();
        let mut fields = Fields::new(&["jsonrpc", "id", "method", "params", "result", "error"]);
        let mut others = KeyHashes::default();
        let mut object = reader.object()?;
        while let Some(key) = object.next(&mut reader)? {
            match fields.find(&key)? {
                Some(0) => members.version(&mut reader)?,
                Some(1) => members.id = Some(Id::read(&mut reader, text)?),
                Some(2) => members.method = Some(reader.string().map_err(|_| UnfitReason::Method)?),
                Some(3) => members.params = Some(object_or_null(&mut reader)?),
                Some(4) => members.result = Some(walk(&mut reader)?),
                Some(5) => members.error = Some(walk(&mut reader)?),
                _ => {
                    others.add(&key)?;
                    walk(&mut reader)?;
                }
            }
        }
        reader.end()?;
        Ok(Self { text, kind: members.kind()? })
    }
}

/// The members of a message that have been read so far.
#[derive(Default)]
struct MessageMembers<'a> {
    is_versioned: bool,
    /// `Some(None)` is `null`.
    id: Option<Option<Id>>,
    method: Option<Text<'a>>,
    params: Option<Option<Span>>,
    result: Option<Span>,
    error: Option<Span>,
}

impl<'a> MessageMembers<'a> {
    fn version(&mut self, reader: &mut Reader<'_>) -> Result<(), UnfitReason> {
        let version = reader.string().map_err(|_| UnfitReason::Version)?;
        self.is_versioned = version.is("2.0");
        Ok(())
    }

    fn kind(self) -> Result<RpcMessageKind<'a>, UnfitReason> {
        if !self.is_versioned {
            return Err(UnfitReason::Version);
        }
        let method = self.method.map(|method| method.decode()).transpose()?;
        let params = self.params.flatten();
        match (method, self.id, self.result, self.error) {
            (Some(_), Some(None), None, None) => Err(UnfitReason::Id),
            (Some(method), Some(Some(id)), None, None) => {
                Ok(RpcMessageKind::Request { id, method, params })
            }
            (Some(method), None, None, None) => Ok(RpcMessageKind::Notification { method, params }),
            (None, Some(Some(id)), Some(result), None) => {
                Ok(RpcMessageKind::Answer { id: Some(id), outcome: AnswerContent::Result(result) })
            }
            (None, id, None, Some(error)) => Ok(RpcMessageKind::Answer {
                id: id.flatten(),
                outcome: AnswerContent::Error(error),
            }),
            _ => Err(UnfitReason::NotAMessage),
        }
    }
}

/// Reads parameters, which are an object in every message of the protocol. `null` counts as
/// missing.
fn object_or_null(reader: &mut Reader<'_>) -> Result<Option<Span>, UnfitReason> {
    match reader.kind()? {
        JsonKind::Object => Ok(Some(walk(reader)?)),
        JsonKind::Null => reader.skip().map(|_| None).map_err(UnfitReason::from),
        _ => Err(UnfitReason::Params),
    }
}

/// Reads any value, like `skip`, and rejects a duplicate key in an object.
pub(crate) fn walk(reader: &mut Reader<'_>) -> Result<Span, Error> {
    match reader.kind()? {
        JsonKind::Object => {
            let start = reader.position();
            let (mut object, mut keys) = (reader.object()?, KeyHashes::default());
            while let Some(key) = object.next(reader)? {
                keys.add(&key)?;
                walk(reader)?;
            }
            Ok(Span { start, end: reader.position() })
        }
        JsonKind::Array => {
            let start = reader.position();
            let mut array = reader.array()?;
            while array.next(reader)? {
                walk(reader)?;
            }
            Ok(Span { start, end: reader.position() })
        }
        _ => reader.skip(),
    }
}

/// The keys of one object, by their hashes. Two keys with the same hash count as duplicates: that
/// does not happen by chance.
#[derive(Default)]
struct KeyHashes {
    few: Vec<u64>,
    many: HashSet<u64>,
}

impl KeyHashes {
    /// Objects of the protocol have a handful of keys, for which a list is faster than a set.
    const FEW: usize = 24;

    fn add(&mut self, key: &Text<'_>) -> Result<(), Error> {
        let mut hash = DefaultHasher::new();
        match key.is_escaped() {
            false => key.raw().hash(&mut hash),
            // A lone surrogate cannot be decoded: then the spelling is compared.
            true => key.decode().unwrap_or(Cow::Borrowed(key.raw())).hash(&mut hash),
        }
        let hash = hash.finish();
        let is_new = if self.few.len() < Self::FEW {
            let is_new = !self.few.contains(&hash);
            self.few.push(hash);
            is_new
        } else {
            !self.few.contains(&hash) && self.many.insert(hash)
        };
        match is_new {
            true => Ok(()),
            false => Err(Error::new(callgate_json::Problem::DuplicateKey, key.span().start)),
        }
    }
}

/// The id of an unfit message, if it can be found: the sender waits for an answer. Only the start
/// of a message may be available.
pub(crate) fn id_of(text: &str) -> Option<Id> {
    match id_from_the_front(text) {
        // With two ids it is unknown which one the sender waits for.
        Err(TwoIds) => None,
        Ok(id) => id.or_else(|| id_at_the_end(text)),
    }
}

struct TwoIds;

/// TypeScript servers write the id last. Only used to send an error to a waiting peer.
fn id_at_the_end(text: &str) -> Option<Id> {
    let text = text.trim_end().strip_suffix('}')?.trim_end();
    let (_, value) = text.rsplit_once("\"id\"")?;
    let value = value.trim_start().strip_prefix(':')?;
    let mut reader = Reader::new(value);
    let id = Id::read(&mut reader, value).ok().flatten()?;
    reader.end().ok().map(|()| id)
}

fn id_from_the_front(text: &str) -> Result<Option<Id>, TwoIds> {
    let mut reader = Reader::new(text);
    let Ok(mut object) = reader.object() else { return Ok(None) };
    let mut id = None;
    while let Ok(Some(key)) = object.next(&mut reader) {
        if key.is("id") {
            let Ok(Some(read)) = Id::read(&mut reader, text) else { break };
            if id.replace(read).is_some() {
                return Err(TwoIds);
            }
        } else if reader.skip().is_err() {
            break;
        }
    }
    Ok(id)
}

#[cfg(test)]
mod tests;
