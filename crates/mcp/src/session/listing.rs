//! Listing a server's tools before the first call: what a tool is must be known by then, and a
//! client may have listed them in another life.

use std::hash::{BuildHasher as _, RandomState};

use callgate_call::json::{Span, quote};
use callgate_decide::mcp::{ListPage, McpSession};

use super::lists::{self, List};
use super::{Question, Session, Step, Way, to_server};
use crate::message::{Id, Outcome};
use crate::params;

/// The most pages that are asked for. Servers have one or two.
pub(crate) const MAX_PAGES: u32 = 100;

/// A listing of our own.
#[derive(Debug, Default)]
pub(super) struct Listing {
    under_way: Option<UnderWay>,
    /// Listings so far.
    count: u64,
    /// Makes ids that nobody guesses.
    random: RandomState,
    /// The server did not list its tools: it is not asked again until it says that they changed.
    given_up: bool,
}

#[derive(Debug)]
struct UnderWay {
    id: Id,
    /// What the request says of the client, in the newer revisions.
    meta: Option<String>,
    pages: u32,
    /// Calls that wait for it.
    waiting: Vec<Question>,
}

impl Session {
    /// Lists the tools, then asks.
    pub(super) fn list_first(&mut self, question: Question, meta: Option<String>) -> Vec<Step> {
        if let Some(under_way) = &mut self.listing.under_way {
            under_way.waiting.push(question);
            return Vec::new();
        }
        self.listing.count += 1;
        let id = self.listing.id_of_page(1);
        let step = ask(&id, meta.as_deref(), None);
        self.listing.under_way = Some(UnderWay { id, meta, pages: 1, waiting: vec![question] });
        vec![step, Step::Listing(self.listing.count)]
    }

    /// Whether the answer is that to our own listing.
    pub(crate) fn is_own(&self, id: &Id) -> bool {
        self.listing.under_way.as_ref().is_some_and(|under_way| under_way.id == *id)
    }

    /// A page of our own listing.
    pub(super) fn own_page(&mut self, text: &str, outcome: Outcome) -> Vec<Step> {
        let Some(mut under_way) = self.listing.under_way.take() else { return Vec::new() };
        let Outcome::Result(result) = outcome else {
            self.listing.given_up = true;
            return listed(under_way.waiting);
        };
        let next = page(&self.desk, text, result, under_way.pages == 1);
        match next.filter(|_| under_way.pages < MAX_PAGES) {
            None => listed(under_way.waiting),
            Some(cursor) => {
                under_way.pages += 1;
                under_way.id = self.listing.id_of_page(under_way.pages);
                let step = ask(&under_way.id, under_way.meta.as_deref(), Some(&cursor));
                self.listing.under_way = Some(under_way);
                vec![step]
            }
        }
    }

    /// Without an answer: the calls that wait are judged by what is known.
    pub(super) fn listing_failed(&mut self) -> Vec<Step> {
        self.listing.given_up = true;
        let under_way = self.listing.under_way.take();
        under_way.map_or_else(Vec::new, |under_way| listed(under_way.waiting))
    }

    /// The number of the listing that was begun last.
    #[cfg(test)]
    pub(super) fn listing_number(&self) -> u64 {
        self.listing.count
    }

    /// Whether a call waits for a list: nobody has seen one, and the server was not asked in vain.
    pub(super) fn needs_list(&self) -> bool {
        let lists = matches!(self.way, Way::Pipe(_));
        lists && !self.desk.knows_tools() && !self.listing.given_up
    }

    /// The server says that its tools are others now.
    pub(super) fn tools_changed(&mut self) {
        self.listing.given_up = false;
        self.desk.tools_changed();
    }

    /// A list is late. If it is still the one that is waited for, it is given up.
    pub(crate) fn listing_late(&mut self, number: u64) -> Vec<Step> {
        match number == self.listing.count {
            true => self.listing_failed(),
            false => Vec::new(),
        }
    }
}

fn listed(waiting: Vec<Question>) -> Vec<Step> {
    waiting.into_iter().map(|question| Step::Judge(Box::new(question))).collect()
}

impl Listing {
    fn id_of_page(&self, page: u32) -> Id {
        Id::Text(format!("callgate-{:016x}", self.random.hash_one((self.count, page))))
    }
}

fn ask(id: &Id, meta: Option<&str>, cursor: Option<&str>) -> Step {
    to_server(&request(id, meta, cursor))
}

/// A request for a page of the list of tools.
pub(crate) fn request(id: &Id, meta: Option<&str>, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!("\"cursor\":{}", quote(cursor)));
    let meta = meta.map(|meta| format!("\"_meta\":{meta}"));
    let params: Vec<String> = cursor.into_iter().chain(meta).collect();
    let (id, params) = (id.json(), params.join(","));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{params}}}}}"#)
}

/// Takes a page in. Where the next one begins, if there is one.
pub(crate) fn page(desk: &McpSession, text: &str, result: Span, is_first: bool) -> Option<String> {
    let next = params::text_member(text, result, "nextCursor").filter(|next| !next.is_empty());
    let page = ListPage { first: is_first, last: next.is_none() };
    let items = lists::items(text, result, List::Tools(page))?;
    let raw: Vec<&str> = items.iter().map(|item| item.of(text)).collect();
    desk.tools(&raw, page);
    next
}
