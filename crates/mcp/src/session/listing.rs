//! Lists a server's tools before the first call: they must be known by then, and a client may have
//! listed them in an earlier session.

use std::hash::{BuildHasher as _, RandomState};

use callgate_decide::mcp::{ListPage, McpSession};
use callgate_json::{Span, quote};

use super::lists::{self, ListKind};
use super::{CallToJudge, RpcSession, SessionStep, Transport, to_server};
use crate::message::{AnswerContent, Id};
use crate::params;

/// Maximum number of pages that are requested. Servers have one or two.
pub(crate) const MAX_PAGES: u32 = 100;

/// Our own listing.
#[derive(Debug, Default)]
pub(super) struct OwnListing {
    running: Option<RunningListing>,
    /// The number of listings so far.
    count: u64,
    /// Makes ids that cannot be guessed.
    random: RandomState,
    /// The server did not list its tools. It is asked again only after it announces a change.
    given_up: bool,
}

#[derive(Debug)]
struct RunningListing {
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
        if let Some(running) = &mut self.listing.running {
            running.waiting.push(question);
            return Vec::new();
        }
        self.listing.count += 1;
        let id = self.listing.id_of_page(1);
        let step = ask(&id, meta.as_deref(), None);
        self.listing.running = Some(RunningListing { id, meta, pages: 1, waiting: vec![question] });
        vec![step, SessionStep::Listing(self.listing.count)]
    }

    /// Whether this is the id of our own listing.
    pub(crate) fn is_own(&self, id: &Id) -> bool {
        self.listing.running.as_ref().is_some_and(|running| running.id == *id)
    }

    /// Handles a page of our own listing.
    pub(super) fn own_page(&mut self, text: &str, outcome: AnswerContent) -> Vec<SessionStep> {
        let Some(mut running) = self.listing.running.take() else { return Vec::new() };
        let AnswerContent::Result(result) = outcome else {
            self.listing.given_up = true;
            return judged_next(running.waiting);
        };
        let next = page(&self.mcp_session, text, result, running.pages == 1);
        match next.filter(|_| running.pages < MAX_PAGES) {
            None => judged_next(running.waiting),
            Some(cursor) => {
                running.pages += 1;
                running.id = self.listing.id_of_page(running.pages);
                let step = ask(&running.id, running.meta.as_deref(), Some(&cursor));
                self.listing.running = Some(running);
                vec![step]
            }
        }
    }

    /// Without an answer, the waiting calls are judged by what is known.
    pub(super) fn listing_failed(&mut self) -> Vec<CallToJudge> {
        self.listing.given_up = true;
        let running = self.listing.running.take();
        running.map_or_else(Vec::new, |running| running.waiting)
    }

    /// The number of the latest listing.
    #[cfg(test)]
    pub(super) fn listing_number(&self) -> u64 {
        self.listing.count
    }

    /// Whether a call must wait for a list: none has been seen, and the server has not failed to
    /// list.
    pub(super) fn needs_list(&self) -> bool {
        let lists = matches!(self.transport, Transport::Pipe(_));
        lists && !self.mcp_session.knows_tools() && !self.listing.given_up
    }

    /// The server announced that its tools changed.
    pub(super) fn tools_changed(&mut self) {
        self.listing.given_up = false;
        self.mcp_session.tools_changed();
    }

    /// A list is late. Gives it up if it is still the current one.
    pub(crate) fn listing_late(&mut self, number: u64) -> Vec<CallToJudge> {
        match number == self.listing.count {
            true => self.listing_failed(),
            false => Vec::new(),
        }
    }
}

pub(super) fn judged_next(waiting: Vec<CallToJudge>) -> Vec<SessionStep> {
    waiting.into_iter().map(|question| SessionStep::Judge(Box::new(question))).collect()
}

impl OwnListing {
    fn id_of_page(&self, page: u32) -> Id {
        Id::Text(format!("callgate-{:016x}", self.random.hash_one((self.count, page))))
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
    let next = params::text_member(text, result, "nextCursor").filter(|next| !next.is_empty());
    let page = ListPage { first: is_first, last: next.is_none() };
    let items = lists::items(text, result, ListKind::Tools(page))?;
    let raw: Vec<&str> = items.iter().map(|item| item.of(text)).collect();
    mcp_session.tools(&raw, page);
    next
}
