//! The items of one response: which event belongs to which item, and whether the copies of a call
//! that is not a string agree.

use std::collections::BTreeMap;

use callgate_json::{Error, Value};
use sha2::{Digest, Sha256};

use super::event::Event;
use super::item::Item;
use crate::event::{Host, Slot, Unreadable};
use crate::json::decode_or_empty;

/// An item that has begun, or a call that has arrived.
#[derive(Debug)]
pub(super) struct KnownItem {
    pub(super) slot: Slot,
    /// The index in its events.
    pub(super) index: Option<i64>,
    /// Its position in the list that clients build; `None` if it is not in there.
    pub(super) place: Option<i64>,
    pub(super) id: String,
    pub(super) call_id: String,
    /// Its name without its namespace.
    pub(super) name: String,
    pub(super) kind: String,
    /// Who runs it, if it is a call.
    pub(super) host: Option<Host>,
    /// Its end has not arrived.
    pub(super) open: bool,
    /// All of it has arrived at least once.
    pub(super) whole: bool,
    /// Text of it has arrived in pieces.
    pub(super) said: bool,
    /// Its content when it was added, which may be less than all.
    sketch: Option<Value>,
    /// Its pieces that are not the text of its arguments: by command, or the patch.
    pieces: BTreeMap<i64, Sha256>,
}

/// The index and position of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemPosition {
    /// See [`KnownItem::index`].
    pub(super) index: Option<i64>,
    /// See [`KnownItem::place`].
    pub(super) place: Option<i64>,
}

/// The items of one response.
#[derive(Debug, Default)]
pub(super) struct Items {
    list: Vec<KnownItem>,
    next: Slot,
}

impl Items {
    /// The next slot: the position of the next item.
    pub(super) fn take_slot(&mut self) -> Slot {
        self.next.take()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&KnownItem> {
        self.list.get(place)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut KnownItem> {
        self.list.get_mut(place)
    }

    pub(super) fn push(&mut self, known: KnownItem) {
        self.list.push(known);
    }

    /// Forgets an item that is not a call and has ended.
    pub(super) fn forget(&mut self, place: usize) {
        if place < self.list.len() {
            self.list.remove(place);
        }
    }

    /// The open calls of which not everything has arrived.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &KnownItem> {
        let sketched = |known: &&KnownItem| known.sketch.is_some() || !known.pieces.is_empty();
        self.list.iter().filter(|known| known.open && !known.whole).filter(sketched)
    }

    /// The open item that an event belongs to: by its index, which clients use, or its id.
    pub(super) fn find(&self, event: &Event<'_>) -> Result<Option<usize>, Unreadable> {
        let index = event.index.and_then(|(_, index)| index);
        let at_index = index.and_then(|index| self.open_at(index));
        let id = event.item_id.map(|id| id.decode()).transpose()?.unwrap_or_default();
        let of_id = |known: &KnownItem| known.open && !id.is_empty() && known.id == id;
        let at_id = self.list.iter().rposition(of_id);
        let indexed = |place: usize| {
            self.list.get(place).is_some_and(|known| known.host.is_some() && known.index.is_some())
        };
        match (at_index, at_id) {
            // Clients that go by the index do not find its call.
            (None, Some(place)) if index.is_none() && indexed(place) => Err(Unreadable::Orphan),
            (Some(one), Some(other)) if one != other => Err(MIXED),
            (None, Some(_)) if index.is_some() => Err(MIXED),
            (at_index, at_id) => Ok(at_index.or(at_id)),
        }
    }

    pub(super) fn open_at(&self, index: i64) -> Option<usize> {
        self.list.iter().rposition(|known| known.open && known.index == Some(index))
    }

    /// Whether a call for the client came with this index, or possibly without one.
    pub(super) fn had_call_at(&self, index: Option<i64>) -> bool {
        let is_call = |known: &KnownItem| known.host == Some(Host::Client);
        self.list.iter().any(|known| is_call(known) && known.index == index)
    }

    /// The call that `item`, at `place` of the whole output, repeats. Calls in `taken` do not
    /// count.
    pub(super) fn copy_of(
        &self,
        item: &Item<'_>,
        place: usize,
        taken: &[Slot],
    ) -> Result<Option<usize>, Error> {
        let (id, call_id) = (decode_or_empty(item.id)?, decode_or_empty(item.call_id)?);
        let index = i64::try_from(place).ok();
        let rank = |known: &KnownItem| {
            let same_id = !id.is_empty() && known.id == id;
            let same_call = !call_id.is_empty() && known.call_id == call_id;
            let nameless = call_id.is_empty() || known.call_id.is_empty();
            match (same_id, same_call) {
                (true, true) => 4,
                (false, true) => 3,
                (true, false) => 2,
                _ if nameless && known.index == index && known.kind == item.kind => 1,
                _ => 0,
            }
        };
        let free = |known: &KnownItem| known.host.is_some() && !taken.contains(&known.slot);
        let ranked = self.list.iter().enumerate().filter(|(_, known)| free(known));
        let best = ranked.map(|(place, known)| (rank(known), place)).max();
        Ok(best.filter(|(rank, _)| *rank > 0).map(|(_, place)| place))
    }
}

const MIXED: Unreadable = Unreadable::Ambiguous("its index and its id belong to different items");

/// More commands than any call has.
const MAX_COMMANDS: i64 = 128;

impl KnownItem {
    pub(super) fn new(slot: Slot, stand: ItemPosition, item: &Item<'_>) -> Result<Self, Error> {
        Ok(Self {
            slot,
            index: stand.index,
            place: stand.place,
            id: decode_or_empty(item.id)?,
            call_id: decode_or_empty(item.call_id)?,
            name: item.bare_name()?,
            kind: item.kind.as_ref().to_owned(),
            host: None,
            open: true,
            whole: false,
            said: false,
            sketch: None,
            pieces: BTreeMap::new(),
        })
    }

    /// Whether a call that `host` runs may be this one. A call of the provider was not judged, so a
    /// call that the client runs cannot be a copy of it.
    pub(super) fn covers(&self, host: Host) -> bool {
        self.host == Some(Host::Client) || (self.host.is_some() && host == Host::Provider)
    }

    /// Stores the content with which the item was added. Returns whether it can be compared later.
    pub(super) fn remember_sketch(&mut self, item: &Item<'_>, data: &str) -> Result<bool, Error> {
        let text = item.arguments(data)?;
        if !item.begins_as_sketch() || text.is_empty() {
            return Ok(true);
        }
        self.sketch = Value::parse(&text).ok().filter(|_| text.len() <= MAX_SKETCH);
        Ok(self.sketch.is_some())
    }

    /// Adds a piece of a command or of a patch. Returns whether that is possible.
    pub(super) fn add_piece(&mut self, command: i64, text: &str) -> bool {
        let fits = (0..MAX_COMMANDS).contains(&command);
        if fits {
            self.pieces.entry(command).or_default().update(text);
        }
        fits
    }

    /// Whether a whole command or patch equals its pieces, if there were any.
    pub(super) fn pieces_match(&mut self, command: i64, text: &str) -> bool {
        match self.pieces.get(&command) {
            Some(digest) => digest.clone().finalize() == Sha256::digest(text),
            None => self.add_piece(command, text),
        }
    }

    /// Whether the whole item agrees with what came of it before.
    pub(super) fn agrees(&self, item: &Item<'_>, data: &str) -> Result<bool, Error> {
        if let Some(sketch) = &self.sketch {
            let whole = Value::parse(&item.arguments(data)?);
            if !whole.is_ok_and(|whole| fills(sketch, &whole)) {
                return Ok(false);
            }
        }
        if self.pieces.is_empty() {
            return Ok(true);
        }
        let texts = match self.kind.as_str() {
            "shell_call" => item.commands(data),
            _ => item.diff(data).into_iter().collect(),
        };
        let said = |(command, digest): (&i64, &Sha256)| {
            let text = usize::try_from(*command).ok().and_then(|command| texts.get(command));
            text.is_some_and(|text| digest.clone().finalize() == Sha256::digest(text))
        };
        Ok(self.pieces.iter().all(said))
    }
}

/// The content with which an item is added is small: everything long comes later.
const MAX_SKETCH: usize = 64 << 10;

/// Whether `whole` is the sketch filled in: what was empty may be anything, the rest must be equal.
fn fills(sketch: &Value, whole: &Value) -> bool {
    match (sketch, whole) {
        (Value::Null, _) => true,
        (Value::String(text), _) if text.is_empty() => true,
        (Value::Array(list), _) if list.is_empty() => true,
        (Value::Object(members), Value::Object(_)) => {
            members.iter().all(|(key, value)| match whole.get(key) {
                Some(other) => fills(value, other),
                None => is_blank(value),
            })
        }
        (Value::Object(members), _) if members.is_empty() => true,
        _ => sketch == whole,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.iter().all(|(_, value)| is_blank(value)),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
