//! Bodies that are kept until their turn ends, so that the provider can be asked again.
//!
//! A request body is kept as the chunks in which it arrived, without a copy. All kept bodies of the
//! process share one bound; what does not fit is not kept, and its turn cannot continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;

/// The memory for all kept bodies of the process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyRoom(Arc<AtomicUsize>);

/// A few thousand requests of a usual size, or eight of the largest ones.
const MAX_KEPT: usize = 256 << 20;

/// Memory that a kept body takes. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    room: BodyRoom,
    bytes: usize,
}

impl BodyRoom {
    /// Nothing yet.
    pub(crate) fn reserve(&self) -> Reserved {
        Reserved { room: self.clone(), bytes: 0 }
    }
}

impl Reserved {
    /// Takes more. Returns `false` if there is no room for it.
    #[must_use]
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let taken = self.room.0.fetch_add(bytes, Ordering::AcqRel);
        let fits = taken.saturating_add(bytes) <= MAX_KEPT;
        match fits {
            true => self.bytes += bytes,
            false => {
                self.room.0.fetch_sub(bytes, Ordering::AcqRel);
            }
        }
        fits
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.room.0.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// A request body that is kept while it is sent. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct KeptBody(Arc<Mutex<KeptState>>);

#[derive(Debug)]
enum KeptState {
    /// More may come.
    Arriving(Vec<Bytes>, Reserved),
    Complete {
        chunks: Vec<Bytes>,
        _reserved: Reserved,
    },
    /// There was no room for it, or it was cut off.
    Lost,
}

impl KeptBody {
    /// A body that will arrive.
    pub(crate) fn arriving(room: &BodyRoom) -> Self {
        Self(Arc::new(Mutex::new(KeptState::Arriving(Vec::new(), room.reserve()))))
    }

    /// A body that has been read.
    pub(crate) fn whole(room: &BodyRoom, body: Bytes) -> Self {
        let kept = Self::arriving(room);
        kept.add(&body);
        kept.complete();
        kept
    }

    /// Adds a chunk.
    pub(crate) fn add(&self, chunk: &Bytes) {
        let mut kept = self.0.lock();
        if let KeptState::Arriving(chunks, reserved) = &mut *kept {
            match reserved.grow(chunk.len()) {
                true => chunks.push(chunk.clone()),
                false => *kept = KeptState::Lost,
            }
        }
    }

    /// Nothing more will come.
    pub(crate) fn complete(&self) {
        let mut kept = self.0.lock();
        if let KeptState::Arriving(chunks, reserved) = &mut *kept {
            let room = reserved.room.reserve();
            let reserved = std::mem::replace(reserved, room);
            *kept = KeptState::Complete { chunks: std::mem::take(chunks), _reserved: reserved };
        }
    }

    /// All of it, if it is complete.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &*self.0.lock() {
            KeptState::Complete { chunks, .. } => Some(match chunks.as_slice() {
                [only] => only.clone(),
                chunks => {
                    let mut whole = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
                    chunks.iter().for_each(|chunk| whole.extend_from_slice(chunk));
                    whole.freeze()
                }
            }),
            KeptState::Arriving(..) | KeptState::Lost => None,
        }
    }
}

/// The bytes of an answer, to put the turn together as the provider produced it.
#[derive(Debug)]
pub(crate) enum KeptAnswer {
    /// All of it so far.
    Arriving { bytes: Vec<u8>, reserved: Reserved },
    /// It is too long, or there was no room for it.
    Lost,
}

/// A longer answer is not continued: no model writes that much in one turn.
const MAX_ANSWER: usize = 16 << 20;

impl KeptAnswer {
    pub(crate) fn new(room: &BodyRoom) -> Self {
        Self::Arriving { bytes: Vec::new(), reserved: room.reserve() }
    }

    pub(crate) fn add(&mut self, added: &[u8]) {
        let Self::Arriving { bytes, reserved } = self else { return };
        let fits = bytes.len().saturating_add(added.len()) <= MAX_ANSWER;
        match fits && reserved.grow(added.len()) {
            true => bytes.extend_from_slice(added),
            false => *self = Self::Lost,
        }
    }

    /// The answer, if all of it was kept.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Arriving { bytes, .. } => Some(bytes),
            Self::Lost => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_kept_as_its_chunks_and_gives_its_room_back() {
        let room = BodyRoom::default();
        let kept = KeptBody::arriving(&room);
        kept.add(&Bytes::from_static(b"ab"));
        assert_eq!(kept.bytes(), None, "it is not complete");
        kept.add(&Bytes::from_static(b"c"));
        kept.complete();
        assert_eq!(kept.bytes().as_deref(), Some(&b"abc"[..]));
        assert_eq!(room.0.load(Ordering::Acquire), 3);
        drop(kept);
        assert_eq!(room.0.load(Ordering::Acquire), 0);
    }

    #[test]
    fn all_bodies_together_are_bounded() {
        let room = BodyRoom::default();
        let large = Bytes::from(vec![0; MAX_KEPT / 2]);
        let first = KeptBody::whole(&room, large.clone());
        let second = KeptBody::whole(&room, large.clone());
        assert!(first.bytes().is_some() && second.bytes().is_some());
        let third = KeptBody::whole(&room, Bytes::from_static(b"x"));
        assert_eq!(third.bytes(), None, "there is no room for it");
        drop(first);
        assert_eq!(room.0.load(Ordering::Acquire), MAX_KEPT / 2);
        assert!(KeptBody::whole(&room, large).bytes().is_some());
    }

    #[test]
    fn an_answer_that_is_too_long_is_lost_and_gives_its_room_back() {
        let room = BodyRoom::default();
        let mut answer = KeptAnswer::new(&room);
        answer.add(b"so far");
        assert_eq!(answer.bytes(), Some(&b"so far"[..]));
        answer.add(&vec![b'x'; MAX_ANSWER - 6]);
        assert_eq!(room.0.load(Ordering::Acquire), MAX_ANSWER);
        answer.add(b"x");
        assert_eq!((answer.bytes(), room.0.load(Ordering::Acquire)), (None, 0));
    }
}
