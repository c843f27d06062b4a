//! A turn as the client has it, and its lookup keys.

use sha2::{Digest, Sha256};

use super::canonical::call_digest;

/// What the client has of a turn of the assistant: what it received, and later what it sends back.
/// Two values are the same turn if all their fields agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTurn {
    /// The [`TextDigest`](super::TextDigest) of all its text, notices included; `None` without text.
    pub text: Option<[u8; 32]>,
    /// In APIs with a plan separate from the text: the digest of the plan, or zeros if there was
    /// none. The clients of such an API send the plan back with the calls, and no text.
    pub plan: Option<[u8; 32]>,
    /// The calls that the client runs, in order.
    pub calls: Vec<ClientCall>,
    /// Hashes of the signatures of its thinking, see [`signature_hash`].
    pub signatures: Vec<[u8; 32]>,
}

/// A call that the client has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCall {
    /// Its id; empty if it has none.
    pub id: String,
    /// The digest of its name and arguments, see [`call_digest`].
    pub digest: [u8; 32],
}

impl ClientCall {
    /// A call by its id, name and arguments.
    pub fn new(id: String, name: &str, arguments: &str) -> Self {
        Self { id, digest: call_digest(name, arguments) }
    }
}

/// The hash of a signature: some are as long as a frame may be.
pub fn signature_hash(signature: &str) -> [u8; 32] {
    Sha256::digest(signature).into()
}

impl ClientTurn {
    /// The keys under which a stored turn is found. Each covers all text and all calls.
    pub fn keys(&self) -> Vec<[u8; 32]> {
        let mut keys = Vec::with_capacity(2 + self.signatures.len());
        if self.has_ids() {
            keys.push(self.key(Key::WithIds));
            keys.push(self.key(Key::IdsDropped));
            keys.extend(self.plan.map(|_| self.key(Key::TextDropped)));
        } else if !self.is_empty() {
            keys.push(self.key(Key::Plain));
            if self.calls.is_empty() && self.plan.is_some_and(|plan| plan != NO_PLAN) {
                keys.push(Self { plan: Some(NO_PLAN), ..self.clone() }.key(Key::Plain));
            }
        }
        keys.extend(self.signatures.iter().map(|signature| self.key(Key::Signed(signature))));
        keys
    }

    /// The keys to look up a turn that a client sent, the most specific first. A client may leave
    /// out thinking, and ids if the API does not need them.
    pub fn sought(&self) -> Vec<[u8; 32]> {
        match self.signatures.first() {
            Some(signature) => vec![self.key(Key::Signed(signature))],
            None if self.is_empty() => Vec::new(),
            None if self.drops_text() => vec![self.key(Key::WithIds), self.key(Key::TextDropped)],
            None if self.has_ids() => vec![self.key(Key::WithIds), self.key(Key::Plain)],
            None if self.calls.is_empty() => vec![self.key(Key::Plain)],
            None => vec![self.key(Key::Plain), self.key(Key::IdsDropped)],
        }
    }

    /// The most specific key of the turn without its thinking.
    pub(super) fn key_without_thinking(&self) -> [u8; 32] {
        self.key(if self.has_ids() { Key::WithIds } else { Key::Plain })
    }

    /// Whether `sent` is this turn: the same text and calls, and no thinking of another turn.
    pub(crate) fn is_sent_as(&self, sent: &Self) -> bool {
        let same_id = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        let same_call = |(one, other): (&ClientCall, &ClientCall)| {
            one.digest == other.digest && same_id(&one.id, &other.id)
        };
        (self.text == sent.text || sent.drops_text())
            && (self.plan == sent.plan || sent.drops_plan())
            && self.calls.len() == sent.calls.len()
            && self.calls.iter().zip(&sent.calls).all(same_call)
            && sent.signatures.iter().all(|signature| self.signatures.contains(signature))
    }

    /// Whether the client may have left out its text, and with it the notices: then only the ids of
    /// all its calls identify the turn.
    pub(crate) fn drops_text(&self) -> bool {
        let is_named = |call: &ClientCall| !call.id.is_empty();
        let is_known = !self.calls.is_empty() && self.calls.iter().all(is_named);
        self.plan.is_some() && self.text.is_none() && is_known
    }

    /// Whether the client may have left out the plan, because it has no calls.
    fn drops_plan(&self) -> bool {
        self.calls.is_empty() && self.plan == Some(NO_PLAN)
    }

    fn is_empty(&self) -> bool {
        self.text.is_none() && self.calls.is_empty()
    }

    fn has_ids(&self) -> bool {
        self.calls.iter().any(|call| !call.id.is_empty())
    }

    /// Every part has a fixed length or is preceded by its length, so that no two turns have the
    /// same key.
    fn key(&self, key: Key<'_>) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update([key.tag()]);
        let text = self.text.filter(|_| !matches!(key, Key::TextDropped));
        for part in [text, self.plan] {
            hash.update([u8::from(part.is_some())]);
            hash.update(part.unwrap_or_default());
        }
        hash.update((self.calls.len() as u64).to_le_bytes());
        for call in &self.calls {
            hash.update(call.digest);
            if matches!(key, Key::WithIds | Key::TextDropped) {
                hash.update((call.id.len() as u64).to_le_bytes());
                hash.update(&call.id);
            }
        }
        if let Key::Signed(signature) = key {
            hash.update(signature);
        }
        hash.finalize().into()
    }
}

/// The digest of no plan.
const NO_PLAN: [u8; 32] = [0; 32];

/// What a key covers in addition to text and calls.
enum Key<'a> {
    /// Nothing: the calls have no ids.
    Plain,
    /// The ids of the calls.
    WithIds,
    /// The ids of the calls, but not the text: the client sent none.
    TextDropped,
    /// Nothing: the calls had ids, and the client sent none of them.
    IdsDropped,
    /// One signature.
    Signed(&'a [u8; 32]),
}

impl Key<'_> {
    fn tag(&self) -> u8 {
        match self {
            Self::Plain => 1,
            Self::WithIds => 2,
            Self::IdsDropped => 3,
            Self::Signed(_) => 4,
            Self::TextDropped => 5,
        }
    }
}
