//! The records by sequence number, for readers that follow them.

use std::ops::ControlFlow;

use callgate_audit::{Filter, RecordOrder};
use callgate_store::{ReadError, RecordReader};

use crate::problem::HintedError;

/// Records by sequence number, whichever process wrote them.
pub trait RecordPages: Send {
    /// The next records after `after` that match the filter: at most `limits.records`, ending with
    /// the one that reaches `limits.bytes`. The filter's own `after`, limit and order are ignored.
    fn page(
        &self,
        after: u64,
        filter: &Filter,
        limits: PageLimits,
    ) -> Result<RecordPage, PageError>;
}

/// Why a page cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The filter is invalid.
    Filter(HintedError),
    /// The records cannot be read.
    Store(HintedError),
}

/// The maximum size of a page.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// Number of records.
    pub records: usize,
    /// Number of bytes, which the last record may exceed.
    pub bytes: usize,
}

/// A part of the records.
#[derive(Debug, Default)]
pub struct RecordPage {
    /// Each with its sequence number, as one line of JSON.
    pub records: Vec<(u64, String)>,
    /// All records up to this sequence number were examined.
    pub examined_up_to: u64,
    /// Whether there may be more.
    pub more: bool,
}

impl RecordPages for RecordReader {
    fn page(
        &self,
        after: u64,
        filter: &Filter,
        limits: PageLimits,
    ) -> Result<RecordPage, PageError> {
        let failed = |error: ReadError| match error {
            ReadError::Pattern { .. } => PageError::Filter(HintedError::of(&error)),
            error => PageError::Store(HintedError::of(&error)),
        };
        // Read first: records that arrive in the meantime are either found or left for the next
        // page.
        let last = self.last().map_err(failed)?;
        let filter = Filter {
            after: Some(after),
            limit: Some(limits.records),
            order: RecordOrder::OldestFirst,
            ..filter.clone()
        };
        let mut page = RecordPage { examined_up_to: after, ..RecordPage::default() };
        let mut bytes = 0;
        self.for_each(&filter, |stored| {
            let line = stored.to_json().to_string();
            bytes += line.len();
            page.examined_up_to = stored.seq;
            page.records.push((stored.seq, line));
            page.more = bytes >= limits.bytes || page.records.len() >= limits.records;
            Ok(if page.more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .map_err(failed)?;
        if !page.more {
            page.examined_up_to = page.examined_up_to.max(last);
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use callgate_audit::{Record, RecordKind};
    use callgate_store::{Location, Store};

    use super::*;

    #[test]
    fn pages_fit_together() {
        let audit = Store::open(&callgate_store::Settings::at(Location::Memory)).unwrap();
        for n in 0..5 {
            let mut record =
                Record::new(if n == 2 { RecordKind::Turn } else { RecordKind::PolicyLoaded });
            record.detail = Some(format!("number {n}"));
            audit.append(record).wait().unwrap();
        }
        let reader = audit.reader().unwrap();
        let limits = PageLimits { records: 2, bytes: 1 << 20 };
        let filter = Filter { kinds: vec![RecordKind::PolicyLoaded], ..Filter::default() };
        let numbers = |page: &RecordPage| page.records.iter().map(|it| it.0).collect::<Vec<_>>();
        let first = reader.page(0, &filter, limits).unwrap();
        assert_eq!((numbers(&first), first.examined_up_to, first.more), (vec![1, 2], 2, true));
        let second = reader.page(first.examined_up_to, &filter, limits).unwrap();
        assert_eq!((numbers(&second), second.examined_up_to, second.more), (vec![4, 5], 5, true));
        let end = reader.page(second.examined_up_to, &filter, limits).unwrap();
        assert_eq!((numbers(&end), end.examined_up_to, end.more), (vec![], 5, false));
        // Records that the filter excludes are examined only once.
        let none = Filter { kinds: vec![RecordKind::Review], ..Filter::default() };
        assert_eq!(reader.page(0, &none, limits).unwrap().examined_up_to, 5);
        let small = PageLimits { records: 100, bytes: 1 };
        assert_eq!(numbers(&reader.page(0, &filter, small).unwrap()), [1]);
    }
}
