//! The records in the order of their numbers, for whoever follows them.

use std::ops::ControlFlow;

use callgate_audit::{Filter, Order};
use callgate_store::{ReadError, Reader};

use crate::problem::Problem;

/// Records in the order of their numbers, whichever process wrote them.
pub trait Journal: Send {
    /// The next records behind `after` that pass the filter: as many as fit into `bytes`, at least one,
    /// and at most `limit`. The filter's own `after`, limit and order do not count.
    fn page(&self, after: u64, filter: &Filter, limits: PageLimits) -> Result<Page, PageError>;
}

/// Why a page cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The filter cannot be used.
    Filter(Problem),
    /// The records cannot be read.
    Store(Problem),
}

/// How large a page may be.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// Records.
    pub records: usize,
    /// Bytes of them, and one record more.
    pub bytes: usize,
}

/// A part of the records.
#[derive(Debug, Default)]
pub struct Page {
    /// Each with its number, as one line of JSON.
    pub records: Vec<(u64, String)>,
    /// Up to this number everything was looked at.
    pub upto: u64,
    /// Whether there may be more.
    pub more: bool,
}

impl Journal for Reader {
    fn page(&self, after: u64, filter: &Filter, limits: PageLimits) -> Result<Page, PageError> {
        let failed = |error: ReadError| match error {
            ReadError::Pattern { .. } => PageError::Filter(Problem::of(&error)),
            error => PageError::Store(Problem::of(&error)),
        };
        // Asked for first: what comes meanwhile is found, or is left for the next page.
        let last = self.last().map_err(failed)?;
        let filter = Filter {
            after: Some(after),
            limit: Some(limits.records),
            order: Order::OldestFirst,
            ..filter.clone()
        };
        let mut page = Page { upto: after, ..Page::default() };
        let mut bytes = 0;
        self.for_each(&filter, |stored| {
            let line = stored.to_json().to_string();
            bytes += line.len();
            page.upto = stored.seq;
            page.records.push((stored.seq, line));
            page.more = bytes >= limits.bytes || page.records.len() >= limits.records;
            Ok(if page.more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .map_err(failed)?;
        if !page.more {
            page.upto = page.upto.max(last);
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use callgate_audit::{Kind, Record};
    use callgate_store::{Location, Settings, Store};

    use super::*;

    #[test]
    fn pages_fit_together() {
        let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
        for n in 0..5 {
            let mut record = Record::new(if n == 2 { Kind::Turn } else { Kind::PolicyLoaded });
            record.detail = Some(format!("number {n}"));
            audit.append(record).wait().unwrap();
        }
        let reader = audit.reader().unwrap();
        let limits = PageLimits { records: 2, bytes: 1 << 20 };
        let filter = Filter { kinds: vec![Kind::PolicyLoaded], ..Filter::default() };
        let numbers = |page: &Page| page.records.iter().map(|it| it.0).collect::<Vec<_>>();
        let first = reader.page(0, &filter, limits).unwrap();
        assert_eq!((numbers(&first), first.upto, first.more), (vec![1, 2], 2, true));
        let second = reader.page(first.upto, &filter, limits).unwrap();
        assert_eq!((numbers(&second), second.upto, second.more), (vec![4, 5], 5, true));
        let end = reader.page(second.upto, &filter, limits).unwrap();
        assert_eq!((numbers(&end), end.upto, end.more), (vec![], 5, false));
        // What the filter leaves out is looked at once.
        let none = Filter { kinds: vec![Kind::Review], ..Filter::default() };
        assert_eq!(reader.page(0, &none, limits).unwrap().upto, 5);
        let small = PageLimits { records: 100, bytes: 1 };
        assert_eq!(numbers(&reader.page(0, &filter, small).unwrap()), [1]);
    }
}
