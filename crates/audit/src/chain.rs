//! The hash chain: each record's hash covers its content, its sequence number and the previous
//! hash.

use sha2::{Digest, Sha256};

/// SHA-256 over a record and, through the previous hash, over all records before it.
pub type ChainHash = [u8; 32];

/// The previous hash of the first record.
pub const GENESIS: ChainHash = [0; 32];

/// A record as stored, except for its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLink<'a> {
    /// Its sequence number: 1, 2, 3 and so on.
    pub seq: i64,
    /// When it was stored, in microseconds since 1970; never less than in the record before it.
    pub at: i64,
    /// The bytes of all bodies up to this one, including those that have expired.
    pub total: i64,
    /// The key by which another record finds it: see [`crate::seal::Sealed::joins`].
    pub joins: Option<&'a str>,
    /// The record as JSON.
    pub body: &'a str,
}

impl ChainLink<'_> {
    /// The hash of this record, given the previous hash. Every part has a fixed length or is
    /// preceded by its length, so that no two records give the same bytes.
    pub fn hash(&self, before: &ChainHash) -> ChainHash {
        let mut hasher = Sha256::new();
        hasher.update(before);
        hasher.update(self.seq.to_be_bytes());
        hasher.update(self.at.to_be_bytes());
        hasher.update(self.total.to_be_bytes());
        match self.joins {
            None => hasher.update([0]),
            Some(joins) => {
                hasher.update([1]);
                hasher.update((joins.len() as u64).to_be_bytes());
                hasher.update(joins);
            }
        }
        hasher.update(self.body);
        hasher.finalize().into()
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit =
        |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble });
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let link = ChainLink { seq: 1, at: 2, total: 3, joins: Some("a"), body: "b" };
        let mut seen = vec![link.hash(&GENESIS), link.hash(&[1; 32])];
        seen.push(ChainLink { seq: 2, ..link }.hash(&GENESIS));
        seen.push(ChainLink { at: 3, ..link }.hash(&GENESIS));
        seen.push(ChainLink { total: 4, ..link }.hash(&GENESIS));
        seen.push(ChainLink { joins: None, ..link }.hash(&GENESIS));
        seen.push(ChainLink { joins: Some(""), body: "ab", ..link }.hash(&GENESIS));
        seen.push(ChainLink { joins: Some("ab"), body: "", ..link }.hash(&GENESIS));
        seen.push(ChainLink { body: "c", ..link }.hash(&GENESIS));
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(hex(&[0, 0x1f, 0xff]), "001fff");
    }
}
