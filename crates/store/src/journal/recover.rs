//! Finding the end of the journal: at the start, after a crash, and when others have written.

use std::sync::Arc;

use super::head::Head;
use super::header::{Before, Cause, Header};
use super::limits::Held;
use super::scan::{Next, Scan};
use super::write::{Journal, Tip};
use crate::database::Fault;
use crate::shared::now;

/// How the records of a segment end.
enum Ending {
    /// With the segment.
    Whole,
    /// With something that is no record: somebody was stopped while writing it, or it was changed.
    Torn,
}

impl Journal {
    /// The end of the journal as it is now. Only for whoever holds the lock.
    pub(super) fn caught_up(&mut self) -> Result<&Tip, Fault> {
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
            // It was cut off, removed or replaced.
            _ => self.recover()?,
        }
        let unknown = || Fault::Lost("the end of the journal is not known".to_owned());
        self.tip.as_ref().ok_or_else(unknown)
    }

    /// Finds the end from nothing but what lies there. Only for whoever holds the lock.
    pub(super) fn recover(&mut self) -> Result<(), Fault> {
        self.tip = None;
        self.held.clear();
        let head = Head::newest(&self.volume.read_head()?);
        let mut last = None;
        for number in self.volume.numbers()? {
            last = self.hold(number, head.as_ref())?.or(last);
        }
        match (head, last) {
            (None, None) => {
                // Twice, so that both places exist: later there may be no room for them.
                let head = self.write_head(Head::NEW)?;
                self.write_head(head)?;
                self.begin_segment(Before::NOTHING, Cause::First, now())
            }
            (Some(head), None) => self.begin_broken(head),
            (Some(head), Some(last)) => {
                let start = self.at_head(&head)?.unwrap_or(last);
                self.follow(start)
            }
            (None, Some(last)) => self.begin_without_head(last),
        }
    }

    /// Reads the header of a segment that was found. One without a header was being made when its maker was
    /// stopped.
    fn hold(&mut self, number: u64, head: Option<&Head>) -> Result<Option<Tip>, Fault> {
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
            // It was changed: it still takes room, and its number.
            None => self.held.back().map_or((1, 0, None), |it| (it.first, it.made, None)),
        };
        self.held.push_back(Held { number, first, made, bytes });
        Ok(tip)
    }

    /// The place that the head names, if it is there.
    fn at_head(&self, head: &Head) -> Result<Option<Tip>, Fault> {
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
        let Head { start, end, last, .. } = *head;
        Ok(fits.then_some(Tip { segment, header, start, end, last }))
    }

    /// Goes on from here to the end, and mends it.
    fn follow(&mut self, start: Tip) -> Result<(), Fault> {
        let mut tip = start;
        loop {
            let ending = read_on(&mut tip)?;
            if let Some(held) = self.held.iter_mut().find(|it| it.number == tip.header.segment) {
                held.bytes = tip.end;
            }
            match self.next(&tip)? {
                Some(next) => tip = next,
                None => return self.end_at(tip, &ending),
            }
        }
    }

    /// The segment behind this one.
    fn next(&mut self, tip: &Tip) -> Result<Option<Tip>, Fault> {
        let number = tip.header.segment + 1;
        match self.held.iter().any(|held| held.number == number) {
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

    fn end_at(&mut self, tip: Tip, ending: &Ending) -> Result<(), Fault> {
        let head = self.head()?;
        if head.last.seq > tip.last.seq {
            return self.begin_broken(head);
        }
        if matches!(ending, Ending::Torn) {
            // Nobody was told that it is written.
            tip.segment.truncate(tip.end)?;
        }
        self.tip = Some(tip);
        Ok(())
    }

    /// Records are missing that were confirmed. The chain goes on behind them, so that it shows.
    fn begin_broken(&mut self, head: Head) -> Result<(), Fault> {
        let cause = if head.last.seq == 0 { Cause::First } else { Cause::BrokenEnd };
        self.begin_segment(head.last, cause, now())
    }

    /// Nobody knows how far the journal reached: it goes on from where it ends, and that is written down.
    fn begin_without_head(&mut self, mut last: Tip) -> Result<(), Fault> {
        read_on(&mut last)?;
        let first = self.held.front().map_or(1, |held| held.number);
        let first = self.header_of(first)?.unwrap_or(last.header);
        let mut head = Head::NEW;
        (head.first, head.before_first) = (first.first(), first.before.hash);
        (head.last, head.segment) = (last.last, last.header.segment);
        (head.start, head.end) = (last.start, last.end);
        let head = self.write_head(head)?;
        self.write_head(head)?;
        self.begin_segment(last.last, Cause::LostHead, now())
    }

    /// The header of a segment, if it has one.
    pub(super) fn header_of(&self, number: u64) -> Result<Option<Header>, Fault> {
        let Some(segment) = self.volume.open(number)? else { return Ok(None) };
        Ok(Scan::with_header(segment)?.map(|(header, _)| header))
    }
}

/// Reads the records behind the end that is known.
fn read_on(tip: &mut Tip) -> Result<Ending, Fault> {
    let mut scan = Scan::from(Arc::clone(&tip.segment), tip.end);
    loop {
        match scan.next()? {
            Next::Record(record, start, end)
                if record.seq() == tip.last.seq + 1
                    && record.before == tip.last.hash
                    && record.is_sound() =>
            {
                let (seq, total) = (record.seq(), record.total());
                tip.last = Before { seq, hash: record.hash, at: record.link.at, total };
                (tip.start, tip.end) = (start, end);
            }
            Next::End => return Ok(Ending::Whole),
            Next::Record(..) | Next::Broken(_) => return Ok(Ending::Torn),
        }
    }
}
