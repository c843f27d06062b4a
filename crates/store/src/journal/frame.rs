//! The byte format of records and segment headers.
//!
//! ```text
//! length  u32   of the rest of the frame
//! kind    u8    1: a record, 2: the header of a segment
//! record        seq u64, at i64, total u64, previous hash (32), length of joins u32, joins, body
//! header        JSON
//! hash    32    of a record: see callgate_audit::ChainLink; of a header: SHA-256 of all bytes before it
//! ```
//!
//! Numbers are little-endian. The hash also distinguishes a completely written frame from a partial
//! one.

use callgate_audit::{ChainHash, ChainLink};
use sha2::{Digest, Sha256};

use super::header::SegmentHeader;

/// The first bytes of every segment.
pub(super) const MAGIC: &[u8; 8] = b"CGJRNL01";

/// The longest frame. A record is truncated to a few hundred kilobytes before it is written.
pub(super) const MAX_FRAME: usize = 8 * 1024 * 1024;

/// The longest record: its body and its `joins`. What a frame has besides is less than 128 bytes.
pub(super) const MAX_RECORD: usize = MAX_FRAME - 128;

/// The length field of a record without `joins`.
const NO_JOINS: u32 = u32::MAX;
const RECORD: u8 = 1;
const HEADER: u8 = 2;
/// The size of the length field.
const LENGTH: usize = 4;

/// A frame, borrowed from a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JournalFrame<'a> {
    Record(RecordFrame<'a>),
    Header(SegmentHeader),
}

/// A record, borrowed from a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordFrame<'a> {
    pub(super) link: ChainLink<'a>,
    pub(super) before: ChainHash,
    pub(super) hash: ChainHash,
}

impl RecordFrame<'_> {
    pub(super) fn seq(&self) -> u64 {
        self.link.seq.unsigned_abs()
    }

    pub(super) fn total(&self) -> u64 {
        self.link.total.unsigned_abs()
    }

    /// Whether its hash matches its content.
    pub(super) fn is_sound(&self) -> bool {
        self.link.hash(&self.before) == self.hash
    }
}

/// Why there is no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoFrame {
    /// It needs this many bytes, and the buffer has fewer.
    Short(usize),
    /// These bytes were never written as a frame.
    Broken(&'static str),
}

/// Appends a record to the buffer.
pub(super) fn put_record(
    out: &mut Vec<u8>,
    link: &ChainLink<'_>,
    before: &ChainHash,
    hash: &ChainHash,
) {
    let start = begin(out, RECORD);
    out.extend_from_slice(&link.seq.to_le_bytes());
    out.extend_from_slice(&link.at.to_le_bytes());
    out.extend_from_slice(&link.total.to_le_bytes());
    out.extend_from_slice(before);
    let joins = link.joins.map_or(NO_JOINS, |joins| length(joins.len()));
    out.extend_from_slice(&joins.to_le_bytes());
    out.extend_from_slice(link.joins.unwrap_or_default().as_bytes());
    out.extend_from_slice(link.body.as_bytes());
    out.extend_from_slice(hash);
    end(out, start);
}

/// Appends the magic and the header of a segment.
pub(super) fn put_header(out: &mut Vec<u8>, header: &SegmentHeader) {
    out.extend_from_slice(MAGIC);
    let start = begin(out, HEADER);
    out.extend_from_slice(header.to_json().as_bytes());
    let hash: ChainHash = Sha256::digest(out.get(start + LENGTH..).unwrap_or_default()).into();
    out.extend_from_slice(&hash);
    end(out, start);
}

fn begin(out: &mut Vec<u8>, kind: u8) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    out.push(kind);
    start
}

fn end(out: &mut [u8], start: usize) {
    let long = length(out.len().saturating_sub(start + LENGTH));
    if let Some(place) = out.get_mut(start..start + LENGTH) {
        place.copy_from_slice(&long.to_le_bytes());
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The length of the first frame in a buffer, if it is complete.
pub(super) fn whole(bytes: &[u8]) -> Result<usize, NoFrame> {
    let long = bytes.first_chunk::<LENGTH>().ok_or(NoFrame::Short(LENGTH))?;
    let long = usize::try_from(u32::from_le_bytes(*long)).unwrap_or(usize::MAX);
    if long > MAX_FRAME {
        return Err(NoFrame::Broken("its length is invalid"));
    }
    let all = LENGTH + long;
    if bytes.len() < all { Err(NoFrame::Short(all)) } else { Ok(all) }
}

/// Reads the first frame in a buffer, and returns it with its length.
pub(super) fn read(bytes: &[u8]) -> Result<(JournalFrame<'_>, usize), NoFrame> {
    let all = whole(bytes)?;
    let inside = bytes.get(LENGTH..all).unwrap_or_default();
    let (inside, hash) =
        inside.split_last_chunk::<32>().ok_or(NoFrame::Broken("it is too short"))?;
    let frame = match inside.split_first() {
        Some((&RECORD, content)) => record(content, *hash).map(JournalFrame::Record),
        Some((&HEADER, content)) => header(inside, content, hash).map(JournalFrame::Header),
        _ => None,
    };
    frame.map(|frame| (frame, all)).ok_or(NoFrame::Broken("its content is invalid"))
}

fn record(content: &[u8], hash: ChainHash) -> Option<RecordFrame<'_>> {
    let mut rest = content;
    let seq = i64::from_le_bytes(take(&mut rest)?);
    let at = i64::from_le_bytes(take(&mut rest)?);
    let total = i64::from_le_bytes(take(&mut rest)?);
    let before: ChainHash = take(&mut rest)?;
    let joins = match u32::from_le_bytes(take(&mut rest)?) {
        NO_JOINS => None,
        long => {
            let (joins, after) = rest.split_at_checked(usize::try_from(long).ok()?)?;
            rest = after;
            Some(std::str::from_utf8(joins).ok()?)
        }
    };
    let body = std::str::from_utf8(rest).ok()?;
    Some(RecordFrame { link: ChainLink { seq, at, total, joins, body }, before, hash })
}

fn header(inside: &[u8], content: &[u8], hash: &ChainHash) -> Option<SegmentHeader> {
    let found: ChainHash = Sha256::digest(inside).into();
    (found == *hash).then(|| SegmentHeader::from_json(content))?
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use callgate_audit::GENESIS;
    use proptest::prelude::*;

    use super::*;
    use crate::journal::header::{Cause, Previous};

    #[test]
    fn the_longest_record_fits_into_a_frame() {
        let body = "x".repeat(MAX_RECORD - 4);
        let link = ChainLink { seq: 1, at: 2, total: 3, joins: Some("join"), body: &body };
        assert!(read(&written(&link)).is_ok());
    }

    fn written(link: &ChainLink<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_record(&mut bytes, link, &GENESIS, &link.hash(&GENESIS));
        bytes
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(
            seq in 1..i64::MAX, at: i64, total in 0..i64::MAX, joins: Option<String>, body: String,
        ) {
            let link = ChainLink { seq, at, total, joins: joins.as_deref(), body: &body };
            let bytes = written(&link);
            let (frame, long) = read(&bytes).unwrap();
            prop_assert_eq!(long, bytes.len());
            let JournalFrame::Record(record) = frame else { panic!("a record") };
            prop_assert_eq!(record.link, link);
            prop_assert!(record.is_sound());
        }

        #[test]
        fn a_frame_that_is_cut_off_is_too_short(body: String, cut: prop::sample::Index) {
            let link = ChainLink { seq: 1, at: 2, total: 3, joins: Some("j"), body: &body };
            let bytes = written(&link);
            let upto = cut.index(bytes.len());
            prop_assert!(matches!(read(&bytes[..upto]), Err(NoFrame::Short(_))));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_changed_bit_shows(body in ".{1,40}", at: prop::sample::Index, bit in 0..8u8) {
            let link = ChainLink { seq: 1, at: 2, total: 3, joins: None, body: &body };
            let mut bytes = written(&link);
            let place = at.index(bytes.len());
            bytes[place] ^= 1 << bit;
            let sound = match read(&bytes) {
                Ok((JournalFrame::Record(record), _)) => record.is_sound(),
                _ => false,
            };
            prop_assert!(!sound);
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let before = Previous { seq: 7, hash: [3; 32], at: 5, total: 99 };
        let header = SegmentHeader { segment: 4, before, made: 6, cause: Cause::FailedSync };
        let mut bytes = Vec::new();
        put_header(&mut bytes, &header);
        let (frame, long) = read(&bytes[MAGIC.len()..]).unwrap();
        assert_eq!((frame, long + MAGIC.len()), (JournalFrame::Header(header), bytes.len()));
    }
}
