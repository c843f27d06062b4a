//! Lists a server's tools before the first call: they must be known by then, and a client may have
//! listed them in an earlier session.

use std::hash::{BuildHasher as _, RandomState};

use callgate_decide::mcp::{ListPage, McpSession};
use callgate_json::{Span, quote};

use super::lists::{self, ListKind};
use super::{CallToJudge, RpcSession, SessionStep, Transport, to_server};
use crate::message::{AnswerContent, Id};

/// Maximum number of pages that are requested. Servers have one or two.
pub(crate) const MAX_PAGES: u32 = 100;

/// Our own listings, one at a time.
#[derive(Debug, Default)]
pub(super) struct OwnListings {
    state: ListingState,
    /// The number of listings so far.
    count: u64,
    /// Makes ids that cannot be guessed.
    random: RandomState,
}

#[derive(Debug, Default)]
enum ListingState {
    #[default]
    Idle,
    Running(RunningListing),
    /// The server did not list its tools. It is asked again only after it announces a change.
    GivenUp,
}

#[derive(Debug)]
struct RunningListing {
    number: u64,
    /// The id of the request for the current page.
    id: Id,
    /// The client metadata of the request, in the newer revisions.
    meta: Option<String>,
    pages: u32,
    /// Calls that wait for it.
    waiting: Vec<CallToJudge>,
}

impl RpcSession {
    /// Lists the tools before the call is judged.
    pub(super) fn list_first(
        &mut self,
        question: CallToJudge,
        meta: Option<String>,
    ) -> Vec<SessionStep> {
        if let ListingState::Running(running) = &mut self.listings.state {
            running.waiting.push(question);
            return Vec::new();
        }
        self.listings.count += 1;
        let number = self.listings.count;
        let id = self.listings.id_of_page(number, 1);
        let step = ask(&id, meta.as_deref(), None);
        let running = RunningListing { number, id, meta, pages: 1, waiting: vec![question] };
        self.listings.state = ListingState::Running(running);
        vec![step, SessionStep::Listing(number)]
    }

    /// Whether this is the id of our own listing.
    pub(crate) fn is_own(&self, id: &Id) -> bool {
        matches!(&self.listings.state, ListingState::Running(running) if running.id == *id)
    }

    /// Handles a page of our own listing.
    pub(super) fn own_page(&mut self, text: &str, outcome: AnswerContent) -> Vec<SessionStep> {
        let AnswerContent::Result(result) = outcome else {
            return judged_next(self.listing_failed());
        };
        let Some(mut running) = self.listings.take_running() else { return Vec::new() };
        let next = page(&self.mcp_session, text, result, running.pages == 1);
        match next.filter(|_| running.pages < MAX_PAGES) {
            None => judged_next(running.waiting),
            Some(cursor) => {
                running.pages += 1;
                running.id = self.listings.id_of_page(running.number, running.pages);
                let step = ask(&running.id, running.meta.as_deref(), Some(&cursor));
                self.listings.state = ListingState::Running(running);
                vec![step]
            }
        }
    }

    /// Without an answer, the waiting calls are judged by what is known.
    pub(super) fn listing_failed(&mut self) -> Vec<CallToJudge> {
        let running = self.listings.take_running();
        self.listings.state = ListingState::GivenUp;
        running.map_or_else(Vec::new, |running| running.waiting)
    }

    /// The number of the latest listing.
    #[cfg(test)]
    pub(super) fn listing_number(&self) -> u64 {
        self.listings.count
    }

    /// Whether a call must wait for a list: none has been seen, and the server has not failed to
    /// list.
    pub(super) fn needs_list(&self) -> bool {
        let lists = matches!(self.transport, Transport::Pipe(_));
        let has_given_up = matches!(self.listings.state, ListingState::GivenUp);
        lists && !self.mcp_session.knows_tools() && !has_given_up
    }

    /// The server announced that its tools changed.
    pub(super) fn tools_changed(&mut self) {
        if let ListingState::GivenUp = self.listings.state {
            self.listings.state = ListingState::Idle;
        }
        self.mcp_session.tools_changed();
    }

    /// A list is late. Gives it up if it has not arrived since.
    pub(crate) fn listing_late(&mut self, number: u64) -> Vec<CallToJudge> {
        match &self.listings.state {
            ListingState::Running(running) if running.number == number => self.listing_failed(),
            _ => Vec::new(),
        }
    }
}

pub(super) fn judged_next(waiting: Vec<CallToJudge>) -> Vec<SessionStep> {
    waiting.into_iter().map(|question| SessionStep::Judge(Box::new(question))).collect()
}

impl OwnListings {
    fn id_of_page(&self, number: u64, page: u32) -> Id {
        Id::Text(format!("callgate-{:016x}", self.random.hash_one((number, page))))
    }

    /// Ends the running listing.
    fn take_running(&mut self) -> Option<RunningListing> {
        match std::mem::take(&mut self.state) {
            ListingState::Running(running) => Some(running),
            other => {
                self.state = other;
                None
            }
        }
    }
}

fn ask(id: &Id, meta: Option<&str>, cursor: Option<&str>) -> SessionStep {
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

/// Takes in a page. Returns the cursor of the next one, if there is one.
pub(crate) fn page(
    mcp_session: &McpSession,
    text: &str,
    result: Span,
    is_first: bool,
) -> Option<String> {
    let next = lists::next_cursor(text, result);
    let page = ListPage { first: is_first, last: next.is_none() };
    let items = lists::items(text, result, ListKind::Tools(page))?;
    let raw: Vec<&str> = items.iter().map(|item| item.of(text)).collect();
    mcp_session.pin_tools(&raw, page);
    next
}
