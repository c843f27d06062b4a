//! Verifies the whole journal: every record, every segment, and both ends.

use std::sync::Arc;

use super::head::JournalHead;
use super::header::{Cause, Previous, SegmentHeader};
use super::read::{JournalLog, failed};
use super::scan::{Next, Scan};
use crate::verify::{Broken, Verified, VerifyError};
use callgate_audit::hex;

/// A segment with its header, and a scan over its records.
struct OpenSegment {
    header: SegmentHeader,
    scan: Scan,
}

/// How far the check has got.
struct Position {
    last: Previous,
    records: u64,
}

impl JournalLog {
    /// Checks every record up to the last one that was confirmed at the start. Calls `progress`
    /// with the number of records checked, and their total. Memory does not grow with the journal.
    pub(super) fn verify_all(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verified, VerifyError> {
        let head = self.head().map_err(|_| broken(0, HEAD))?;
        let numbers = self.volume.numbers().map_err(failed)?;
        if self.volume.read_head().map_err(failed)?.is_empty() && !numbers.is_empty() {
            return Err(broken(0, HEAD));
        }
        let all = (head.last.seq + 1).saturating_sub(head.first);
        let last =
            Previous { seq: head.first - 1, hash: head.before_first, at: i64::MIN, total: 0 };
        let mut at = Position { last, records: 0 };
        let mut expected = None;
        for (place, number) in numbers.iter().enumerate() {
            let next = self.next_header(numbers.get(place + 1..).unwrap_or_default())?;
            // It has expired, and the process that removed it was stopped.
            if expected.is_none() && next.is_some_and(|next| next.first() <= head.first) {
                continue;
            }
            let Some(mut opened) = self.opened(*number)? else {
                expected = Some(skipped(*number, next.as_ref(), &at, &head)?);
                continue;
            };
            if opened.header.before.seq > head.last.seq {
                break;
            }
            check_number(&opened.header, *number, expected, &at)?;
            begin(&mut at, &opened.header, &head)?;
            let upto = next.map_or(head.last.seq, |next| next.before.seq.min(head.last.seq));
            read(&mut opened, &mut at, upto, |done| progress(done, all))?;
            check_end(&mut opened, &at, next.as_ref(), &head)?;
            expected = Some(number + 1);
        }
        check_reach(&at, &head)?;
        progress(at.records, all);
        Ok(Verified {
            records: at.records,
            first: if at.records == 0 { 0 } else { head.first },
            last: at.last.seq,
            head: hex(&at.last.hash),
            expired: head.first - 1,
        })
    }

    /// `None` if its header cannot be read.
    fn opened(&self, number: u64) -> Result<Option<OpenSegment>, VerifyError> {
        let Some(segment) = self.volume.open(number).map_err(failed)? else { return Ok(None) };
        let read = Scan::with_header(Arc::clone(&segment)).map_err(failed)?;
        Ok(read.map(|(header, scan)| OpenSegment { header, scan }))
    }

    /// The first header among these segments.
    fn next_header(&self, numbers: &[u64]) -> Result<Option<SegmentHeader>, VerifyError> {
        for number in numbers {
            if let Some(opened) = self.opened(*number)? {
                return Ok(Some(opened.header));
            }
        }
        Ok(None)
    }
}

/// A segment whose header cannot be read: one that could never be synced may have lost it, if none
/// of its records was ever confirmed.
fn skipped(
    number: u64,
    next: Option<&SegmentHeader>,
    at: &Position,
    head: &JournalHead,
) -> Result<u64, VerifyError> {
    match next {
        None if at.last.seq == head.last.seq => Ok(number + 1),
        Some(next) if next.cause == Cause::FailedSync && next.before == at.last => Ok(number + 1),
        _ => {
            let what = format!("the header of segment {number} is missing or was changed");
            Err(broken(at.last.seq + 1, &what))
        }
    }
}

const HEAD: &str = "the head file of the journal is missing or was changed";

fn check_number(
    header: &SegmentHeader,
    number: u64,
    expected: Option<u64>,
    at: &Position,
) -> Result<(), VerifyError> {
    if header.segment != number || expected.is_some_and(|expected| expected != number) {
        let expected = expected.unwrap_or(number);
        let what = format!("segment {expected} is missing or out of order");
        return Err(broken(at.last.seq + 1, &what));
    }
    Ok(())
}

/// Checks that a segment continues where the previous one ends.
fn begin(at: &mut Position, header: &SegmentHeader, head: &JournalHead) -> Result<(), VerifyError> {
    let SegmentHeader { before, cause, .. } = header;
    if at.records == 0 && at.last.seq == head.first - 1 {
        // The record before the first segment can only be compared with the head.
        (at.last.at, at.last.total) = (before.at, before.total);
    }
    if before.seq > at.last.seq {
        let missing = before.seq - at.last.seq;
        return Err(broken(at.last.seq + 1, &format!("{missing} record(s) missing")));
    }
    if *before != at.last {
        let what = "the header of its segment names a different previous record";
        return Err(broken(header.first(), what));
    }
    match cause {
        Cause::LostHead => Err(broken(
            header.first(),
            "the head file was lost before it was written: records before it may be missing",
        )),
        Cause::First | Cause::Full | Cause::FailedSync | Cause::BrokenEnd => Ok(()),
    }
}

/// Checks the records of a segment up to this one.
fn read(
    opened: &mut OpenSegment,
    at: &mut Position,
    upto: u64,
    mut progress: impl FnMut(u64),
) -> Result<(), VerifyError> {
    while at.last.seq < upto {
        let expected = at.last.seq + 1;
        let record = match opened.scan.next().map_err(failed)? {
            Next::Record(record, ..) => record,
            // The caller knows whether this may be the end.
            Next::End => return Ok(()),
            Next::Broken(what) => return Err(broken(expected, what)),
        };
        if record.seq() > expected {
            let missing = record.seq() - expected;
            return Err(broken(expected, &format!("{missing} record(s) missing")));
        }
        let size = record.link.body.len() as u64;
        let sound = record.is_sound()
            && record.seq() == expected
            && record.before == at.last.hash
            && record.total() == at.last.total.saturating_add(size)
            && record.link.at >= at.last.at;
        if !sound {
            return Err(broken(expected, "it was edited or moved"));
        }
        at.last = Previous {
            seq: expected,
            hash: record.hash,
            at: record.link.at,
            total: record.total(),
        };
        at.records += 1;
        if at.records.is_multiple_of(PROGRESS_EVERY) {
            progress(at.records);
        }
    }
    Ok(())
}

/// Checks that a segment reaches exactly as far as the next one claims.
fn check_end(
    opened: &mut OpenSegment,
    at: &Position,
    next: Option<&SegmentHeader>,
    head: &JournalHead,
) -> Result<(), VerifyError> {
    let Some(next) = next else { return Ok(()) };
    if at.last.seq < next.before.seq.min(head.last.seq) {
        let missing = next.before.seq - at.last.seq;
        return Err(broken(at.last.seq + 1, &format!("{missing} record(s) missing")));
    }
    let ends = matches!(opened.scan.next().map_err(failed)?, Next::End);
    if next.cause == Cause::Full && !ends && at.last.seq == next.before.seq {
        return Err(broken(next.first(), "a record was inserted before it"));
    }
    Ok(())
}

fn check_reach(at: &Position, head: &JournalHead) -> Result<(), VerifyError> {
    if at.last.seq < head.last.seq {
        return Err(broken(at.last.seq + 1, "the end of the chain was cut off"));
    }
    if at.last.hash != head.last.hash {
        let what = "it is not the last record that the head file names";
        return Err(broken(at.last.seq, what));
    }
    Ok(())
}

fn broken(seq: u64, what: &str) -> VerifyError {
    Broken { seq, what: what.to_owned() }.into()
}

/// How many records to check between two calls of the progress callback: some hundredths of a
/// second.
const PROGRESS_EVERY: u64 = 10_000;
