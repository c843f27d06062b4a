//! Finds the end of the journal: at the start, after a crash, and after other processes have
//! written.

use std::sync::Arc;

use super::head::JournalHead;
use super::header::{Cause, Previous, SegmentHeader};
use super::limits::SegmentInfo;
use super::scan::{Next, Scan};
use super::write::{Journal, Tip};
use crate::database::Fault;
use crate::shared::now;

/// How the records of a segment end.
enum SegmentEnd {
    /// At the end of the segment.
    Whole,
    /// At bytes that are not a record: a process was stopped while writing, or the file was
    /// changed.
    Torn,
}

impl Journal {
    /// The current end of the journal. The caller must hold the lock.
    pub(super) fn catch_up(&mut self) -> Result<&Tip, Fault> {
        let size = match &self.tip {
            Some(tip) => tip.segment.size()?.map(|size| (size, tip.end, tip.header.segment)),
            None => None,
        };
        match size {
            Some((size, end, number)) if size >= end => {
                if size > end || self.volume.exists(number + 1)? {
                    let tip = self.tip()?;
                    self.follow(tip)?;
                }
            }
            // The segment was truncated, removed or replaced.
            _ => self.recover()?,
        }
        let unknown = || Fault::Lost("the end of the journal is unknown".to_owned());
        self.tip.as_ref().ok_or_else(unknown)
    }

    /// Finds the end from the files alone. The caller must hold the lock.
    pub(super) fn recover(&mut self) -> Result<(), Fault> {
        self.tip = None;
        self.segments.clear();
        let head = JournalHead::newest(&self.volume.read_head()?);
        let mut last = None;
        for number in self.volume.numbers()? {
            last = self.hold(number, head.as_ref())?.or(last);
        }
        match (head, last) {
            (None, None) => {
                // Twice, so that both slots exist: later the disk may be full.
                let head = self.write_head(JournalHead::NEW)?;
                self.write_head(head)?;
                self.begin_segment(Previous::NOTHING, Cause::First, now())
            }
            (Some(head), None) => self.continue_after_gap(head),
            (Some(head), Some(last)) => {
                let start = self.at_head(&head)?.unwrap_or(last);
                self.follow(start)
            }
            (None, Some(last)) => self.continue_without_head(last),
        }
    }

    /// Reads the header of a segment that was found. If it has no header, the process that created
    /// it was stopped while doing so.
    fn hold(&mut self, number: u64, head: Option<&JournalHead>) -> Result<Option<Tip>, Fault> {
        let Some(segment) = self.volume.open(number)? else { return Ok(None) };
        let bytes = segment.size()?.unwrap_or(0);
        let (first, made, tip) = match Scan::with_header(Arc::clone(&segment))? {
            Some((header, scan)) => {
                let (end, last) = (scan.place(), header.before);
                let tip = Tip { segment, header, start: end, end, last };
                (header.first(), header.made, Some(tip))
            }
            None if head.is_some_and(|head| head.segment < number) => {
                self.volume.remove(number)?;
                return Ok(None);
            }
            // It was changed: it still takes up room, and its number.
            None => self.segments.back().map_or((1, 0, None), |it| (it.first, it.made, None)),
        };
        self.segments.push_back(SegmentInfo { number, first, made, bytes });
        Ok(tip)
    }

    /// The position in the head, if it exists.
    fn at_head(&self, head: &JournalHead) -> Result<Option<Tip>, Fault> {
        let Some(segment) = self.volume.open(head.segment)? else { return Ok(None) };
        let Some((header, scan)) = Scan::with_header(Arc::clone(&segment))? else {
            return Ok(None);
        };
        if head.start < scan.place() || header.before.seq >= head.last.seq {
            return Ok(None);
        }
        let mut scan = Scan::one(Arc::clone(&segment), head.start);
        let fits = match scan.next()? {
            Next::Record(record, _, end) => {
                end == head.end && record.hash == head.last.hash && record.is_sound()
            }
            Next::End | Next::Broken(_) => false,
        };
        let JournalHead { start, end, last, .. } = *head;
        Ok(fits.then_some(Tip { segment, header, start, end, last }))
    }

    /// Continues from here to the end, and repairs the end.
    fn follow(&mut self, start: Tip) -> Result<(), Fault> {
        let mut tip = start;
        loop {
            let ending = read_to_end(&mut tip)?;
            if let Some(segment) =
                self.segments.iter_mut().find(|it| it.number == tip.header.segment)
            {
                segment.bytes = tip.end;
            }
            match self.next(&tip)? {
                Some(next) => tip = next,
                None => return self.end_at(tip, &ending),
            }
        }
    }

    /// The next segment.
    fn next(&mut self, tip: &Tip) -> Result<Option<Tip>, Fault> {
        let number = tip.header.segment + 1;
        match self.segments.iter().any(|segment| segment.number == number) {
            true => {
                let Some(segment) = self.volume.open(number)? else { return Ok(None) };
                let read = Scan::with_header(Arc::clone(&segment))?;
                Ok(read.map(|(header, scan)| {
                    let (end, last) = (scan.place(), header.before);
                    Tip { segment, header, start: end, end, last }
                }))
            }
            false => {
                let head = self.head()?;
                self.hold(number, Some(&head))
            }
        }
    }

    fn end_at(&mut self, tip: Tip, ending: &SegmentEnd) -> Result<(), Fault> {
        let head = self.head()?;
        if head.last.seq > tip.last.seq {
            return self.continue_after_gap(head);
        }
        if matches!(ending, SegmentEnd::Torn) {
            // It was never confirmed.
            tip.segment.truncate(tip.end)?;
        }
        self.tip = Some(tip);
        Ok(())
    }

    /// Confirmed records are missing. Continues the chain after them, so that the gap is visible.
    fn continue_after_gap(&mut self, head: JournalHead) -> Result<(), Fault> {
        let cause = if head.last.seq == 0 { Cause::First } else { Cause::BrokenEnd };
        self.begin_segment(head.last, cause, now())
    }

    /// The head is lost, so the last confirmed record is unknown: continues from the end of the
    /// segments, and stores that this happened.
    fn continue_without_head(&mut self, mut last: Tip) -> Result<(), Fault> {
        read_to_end(&mut last)?;
        let first = self.segments.front().map_or(1, |segment| segment.number);
        let first = self.header_of(first)?.unwrap_or(last.header);
        let mut head = JournalHead::NEW;
        (head.first, head.before_first) = (first.first(), first.before.hash);
        (head.last, head.segment) = (last.last, last.header.segment);
        (head.start, head.end) = (last.start, last.end);
        let head = self.write_head(head)?;
        self.write_head(head)?;
        self.begin_segment(last.last, Cause::LostHead, now())
    }

    /// The header of a segment, if it has one.
    pub(super) fn header_of(&self, number: u64) -> Result<Option<SegmentHeader>, Fault> {
        let Some(segment) = self.volume.open(number)? else { return Ok(None) };
        Ok(Scan::with_header(segment)?.map(|(header, _)| header))
    }
}

/// Reads the records after the known end.
fn read_to_end(tip: &mut Tip) -> Result<SegmentEnd, Fault> {
    let mut scan = Scan::from(Arc::clone(&tip.segment), tip.end);
    loop {
        match scan.next()? {
            Next::Record(record, start, end)
                if record.seq() == tip.last.seq + 1
                    && record.before == tip.last.hash
                    && record.is_sound() =>
            {
                let (seq, total) = (record.seq(), record.total());
                tip.last = Previous { seq, hash: record.hash, at: record.link.at, total };
                (tip.start, tip.end) = (start, end);
            }
            Next::End => return Ok(SegmentEnd::Whole),
            Next::Record(..) | Next::Broken(_) => return Ok(SegmentEnd::Torn),
        }
    }
}
