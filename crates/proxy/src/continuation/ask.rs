//! One more request in the same turn.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use callgate_dialect::{Continuing, DeniedTurn, ProvidedTurn};
use callgate_gate::{Notice, RemovedCall};
use callgate_wire::Decoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request};
use tokio::time::{Instant, Interval, interval_at};
use uuid::Uuid;

use super::{AnswerForm, AskedTurn, KeySource};
use crate::client_response;
use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::headers;
use crate::inbound;
use crate::provider_request;
use crate::sign;
use crate::texts;
use crate::upstream::{RequestBody, UpstreamBody};

/// A request for the next answer, until its head has arrived.
pub(crate) struct Asking {
    answer: Pin<Box<dyn Future<Output = Result<NextAnswer, String>> + Send>>,
    keep_alive: Interval,
}

/// The next answer, from its first byte.
pub(crate) struct NextAnswer {
    pub(crate) upstream: UpstreamBody,
    pub(crate) decoder: Decoder,
    pub(crate) turn: AskedTurn,
}

/// What happened while the next answer was awaited.
pub(crate) enum Awaited {
    /// It begins.
    Answer(Box<NextAnswer>),
    /// There is none, and why.
    None(String),
    /// The client must be kept waiting.
    StillWaiting,
}

/// How often a client gets a keep-alive while the next answer is awaited.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

impl Asking {
    pub(super) fn new(
        answer: impl Future<Output = Result<NextAnswer, String>> + Send + 'static,
        left: Duration,
    ) -> Self {
        let in_time = async move {
            let late = || "the next answer did not arrive in time".to_owned();
            tokio::time::timeout(left, answer).await.unwrap_or_else(|_elapsed| Err(late()))
        };
        let keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        Self { answer: Box::pin(in_time), keep_alive }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Awaited> {
        match self.answer.as_mut().poll(cx) {
            Poll::Ready(Ok(asked)) => Poll::Ready(Awaited::Answer(Box::new(asked))),
            Poll::Ready(Err(why)) => Poll::Ready(Awaited::None(why)),
            Poll::Pending => self.keep_alive.poll_tick(cx).map(|_| Awaited::StillWaiting),
        }
    }
}

/// The next request, before it is made.
pub(super) struct NextRequest {
    pub(super) inner: Arc<LoadedGateway>,
    pub(super) exchange: Arc<ProviderExchange>,
    pub(super) dialect: Continuing,
    pub(super) form: AnswerForm,
    pub(super) headers: HeaderMap,
    pub(super) path: PathAndQuery,
    pub(super) key: KeySource,
    /// The last request.
    pub(super) body: Bytes,
    pub(super) turn: ProvidedTurn,
    pub(super) calls: Vec<RemovedCall>,
    pub(super) names: Vec<String>,
}

impl NextRequest {
    /// Sends it, unless the gateway stops.
    pub(super) async fn ask(self) -> Result<NextAnswer, String> {
        let mut stopping = self.inner.stopping.clone();
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => Err("the gateway is stopping".to_owned()),
            asked = self.send() => asked,
        }
    }

    async fn send(self) -> Result<NextAnswer, String> {
        // It reads the complete request: other connections must not wait for that.
        let made = tokio::task::spawn_blocking(move || {
            let made = self.make();
            (self, made)
        });
        let (mut this, made) = made.await.map_err(|error| error.to_string())?;
        let (body, notice) = made?;
        let mut headers = std::mem::take(&mut this.headers);
        this.renew(&mut headers)?;
        let request = this.request(headers, body.clone()).await?;
        let (inner, route) = (&this.inner, &this.exchange.route);
        let sent = inner.upstreams.send(&route.site.target, request).await;
        let mut response = sent.map_err(|error| error.to_string())?;
        inner.metrics.count_response(&route.site.provider.name, response.status().as_u16());
        if response.status() != http::StatusCode::OK {
            return Err(format!(
                "the provider answered with status {}",
                response.status().as_u16()
            ));
        }
        headers::for_client(response.headers_mut());
        let form = match headers::announces_stream(response.headers()) {
            true => AnswerForm::Stream,
            false => AnswerForm::Body,
        };
        if form != this.form || headers::foreign_charset(response.headers()).is_some() {
            return Err("the next answer has a different format from the first".to_owned());
        }
        let limits = client_response::wire_limits(inner);
        let decoder = client_response::decoder(&response, &limits);
        let decoder = decoder.map_err(|refusal| refusal.message())?;
        let turn = AskedTurn { turn: this.turn, calls: this.calls, body, notice };
        Ok(NextAnswer { upstream: response.into_body(), decoder, turn })
    }

    /// The body as it goes to the provider, with its offers and texts judged.
    fn make(&self) -> Result<(Bytes, Notice), String> {
        let inner = &self.inner;
        let decoder = provider_request::decoder(&self.headers, inner.settings.request_body);
        let plain = decoder.and_then(|decoder| {
            provider_request::decode(decoder, &self.body, inner.settings.request_body)
        });
        let plain = plain.map_err(|refusal| refusal.message())?;
        let text = std::str::from_utf8(&plain).map_err(|_| "the request is not UTF-8")?;
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let turn = DeniedTurn { content: &self.turn.content, calls: &self.calls, names: &names };
        let next = self.dialect.request(text, &turn);
        let mut next = next.map_err(|why| why.to_string())?;
        let exchange = &*self.exchange;
        if inner.judges() && inner.decider.judges_offers() {
            let left = inbound::judge(inner, exchange, &next);
            next = left.map_err(|refusal| refusal.message())?.unwrap_or(next);
        }
        if let Some(guard) = texts::guard(inner, exchange, &self.headers) {
            let masked = texts::judge(inner, exchange, &guard, next.as_bytes());
            next = masked.map_err(|refusal| refusal.message())?.unwrap_or(next);
        }
        let notice = match self.dialect.wants_json(&next) {
            true => Notice::None,
            false => inner.settings.continuing.notice,
        };
        Ok((Bytes::from(next), notice))
    }

    /// Makes the headers those of a new request.
    fn renew(&self, headers: &mut HeaderMap) -> Result<(), String> {
        headers.remove(CONTENT_LENGTH);
        headers.remove(CONTENT_ENCODING);
        for name in IDEMPOTENCY_KEYS {
            if headers.contains_key(name) {
                let value = HeaderValue::from_str(&Uuid::now_v7().to_string());
                headers.insert(name, value.map_err(|error| error.to_string())?);
            }
        }
        Ok(())
    }

    async fn request(
        &self,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Request<RequestBody>, String> {
        let ProviderExchange { route, method, .. } = &*self.exchange;
        let credentials = self.key.of_gateway(route);
        let signing = sign::SigningRequest { route, method, path: &self.path };
        let limit = body.len();
        let body = RequestBody::Whole(body);
        let body = sign::sign(signing, credentials, limit, &mut headers, body).await;
        let mut request = Request::new(body.map_err(|refusal| refusal.message())?);
        *request.method_mut() = method.clone();
        *request.uri_mut() = self.path.clone().into();
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// Headers by which a provider recognises a repeated request. The next request is another one.
const IDEMPOTENCY_KEYS: [&str; 2] = ["idempotency-key", "x-idempotency-key"];
