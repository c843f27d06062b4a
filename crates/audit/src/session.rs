//! The session of a record.

use sha2::{Digest, Sha256};

use crate::record::RecordedPrincipal;

/// A session of a principal.
pub type SessionKey = [u8; 32];

/// The session of a principal's record. Two principals never share a session.
pub fn session_key(who: &RecordedPrincipal) -> Option<SessionKey> {
    let session = who.session.as_ref()?;
    let owner = match (&who.key, &who.user) {
        (Some(key), _) => ["key", key],
        (None, Some(user)) => ["user", user],
        (None, None) => ["nobody", ""],
    };
    let mut hash = Sha256::new();
    for part in owner.into_iter().chain([session.as_str()]) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    Some(hash.finalize().into())
}
