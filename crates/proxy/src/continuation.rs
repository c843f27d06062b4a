//! Asks the provider again after all calls of a turn were denied.
//!
//! Every later request is a full one: its offers and texts are judged, it is signed and carries the
//! provider's key like the first. Nothing is sent once the client is gone, because dropping the
//! response drops the request.

mod ask;
mod merged;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callgate_dialect::{Continuing, ProvidedTurn};
use callgate_gate::{Notice, OnlyDenied, RemovedCall, Usage};
use http::HeaderMap;
use http::uri::PathAndQuery;
use tokio::sync::watch;

use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::kept_body::{KeptAnswer, KeptBody};
use crate::route::ProviderRoute;
use crate::settings::ApiKey;

pub(crate) use ask::{Asking, Awaited, NextAnswer};

/// A request as it went to the provider.
pub(crate) struct SentRequest {
    /// Before it was signed.
    pub(crate) headers: HeaderMap,
    pub(crate) path: PathAndQuery,
    pub(crate) body: KeptBody,
    pub(crate) key: KeySource,
}

/// Whose key a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// The client's own.
    Client,
    /// The gateway's, in place of a gateway key.
    Gateway,
}

impl KeySource {
    /// The gateway's own key for this route, if the request carries it.
    pub(crate) fn of_gateway(self, route: &ProviderRoute) -> Option<&ApiKey> {
        match self {
            Self::Gateway => route.site.provider.api_key.as_ref(),
            Self::Client => None,
        }
    }
}

/// The form of the answers of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Stream,
    Body,
}

/// What a turn needs to continue.
pub(crate) struct Continuation {
    inner: Arc<LoadedGateway>,
    exchange: Arc<ProviderExchange>,
    dialect: Continuing,
    form: AnswerForm,
    sent: SentRequest,
    /// The answer that is being read.
    answer: KeptAnswer,
    /// The answers before it.
    earlier: Vec<DeniedAnswer>,
    /// The usage of those, in the form of the dialect.
    spent: String,
    /// The tokens of all answers so far.
    tokens: u64,
    /// The digests of the denied actions.
    denied: HashSet<[u8; 32]>,
    begun: Instant,
    outcome: AnswerState,
}

/// Whether the current answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    Complete,
    BrokenOff,
}

/// An answer of which every call was denied.
struct DeniedAnswer {
    content: String,
    calls: Vec<RemovedCall>,
    usage: String,
    /// What identifies it, if the provider may store it.
    identity: Option<String>,
}

impl Continuation {
    pub(crate) fn new(
        inner: Arc<LoadedGateway>,
        exchange: ProviderExchange,
        sent: SentRequest,
        form: AnswerForm,
    ) -> Option<Self> {
        let dialect = exchange.route.dialect.continuing()?;
        let answer = KeptAnswer::new(&inner.body_room);
        Some(Self {
            inner,
            exchange: Arc::new(exchange),
            dialect,
            form,
            sent,
            answer,
            earlier: Vec::new(),
            spent: "{}".to_owned(),
            tokens: 0,
            denied: HashSet::new(),
            begun: Instant::now(),
            outcome: AnswerState::Complete,
        })
    }

    pub(crate) fn form(&self) -> AnswerForm {
        self.form
    }

    /// Keeps bytes of the current answer.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.answer.add(bytes);
    }

    /// The current answer was cut off.
    pub(crate) fn note_cut_off(&mut self) {
        self.outcome = AnswerState::BrokenOff;
    }

    /// Ends when the gateway stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.inner.stopping.clone()
    }

    /// Asks the provider again, unless a limit is reached. `usage` is that of the current answer.
    pub(crate) fn ask(&mut self, offer: OnlyDenied, usage: &Usage) -> Result<Asking, String> {
        let settings = &self.inner.settings.continuing;
        let used = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
        self.tokens = self.tokens.saturating_add(used);
        let is_known = offer.calls.iter().any(|call| self.denied.contains(&call.digest));
        self.denied.extend(offer.calls.iter().map(|call| call.digest));
        if is_known {
            return Err("the model repeats a denied action".to_owned());
        }
        if self.earlier.len() >= settings.rounds {
            return Err(format!("the provider was asked again {} times", self.earlier.len()));
        }
        if self.tokens > settings.tokens {
            return Err(format!("the turn has used {} tokens", self.tokens));
        }
        let left = settings.time.checked_sub(self.begun.elapsed()).filter(|left| !left.is_zero());
        let left = left.ok_or("the turn has taken too long")?;
        if *self.inner.stopping.borrow() {
            return Err("the gateway is stopping".to_owned());
        }
        let answer = self.answer.bytes().ok_or("the answer could not be kept")?;
        let turn = self.dialect.turn(answer).map_err(|why| why.to_string())?;
        self.ask_in_time(offer, turn, left)
    }

    fn ask_in_time(
        &self,
        offer: OnlyDenied,
        turn: ProvidedTurn,
        left: Duration,
    ) -> Result<Asking, String> {
        let body = self.sent.body.bytes().ok_or("the request could not be kept")?;
        let names = offer.calls.iter().map(|call| call.name.clone()).collect();
        let calls = offer.calls.into_iter().map(|call| call.call).collect();
        let request = ask::NextRequest {
            inner: Arc::clone(&self.inner),
            exchange: Arc::clone(&self.exchange),
            dialect: self.dialect,
            form: self.form,
            headers: self.sent.headers.clone(),
            path: self.sent.path.clone(),
            key: self.sent.key,
            body,
            turn,
            calls,
            names,
        };
        Ok(Asking::new(request.ask(), left))
    }

    /// The provider answers again. Returns the usage of the answers so far, and how to show the
    /// denied calls.
    pub(crate) fn begin(&mut self, asked: AskedTurn) -> (&str, Notice) {
        let AskedTurn { turn, calls, body, notice } = asked;
        self.spent = self.dialect.sum(&self.spent, &turn.usage);
        let ProvidedTurn { content, usage, identity } = turn;
        self.earlier.push(DeniedAnswer { content, calls, usage, identity });
        self.sent.body = KeptBody::whole(&self.inner.body_room, body);
        // The new body is neither encoded nor as long as the first.
        self.sent.headers.remove(http::header::CONTENT_ENCODING);
        self.answer = KeptAnswer::new(&self.inner.body_room);
        self.outcome = AnswerState::Complete;
        (&self.spent, notice)
    }
}

/// The turn that is continued, and the request that continues it.
pub(crate) struct AskedTurn {
    turn: ProvidedTurn,
    calls: Vec<RemovedCall>,
    /// The request as it was sent.
    body: Bytes,
    notice: Notice,
}
