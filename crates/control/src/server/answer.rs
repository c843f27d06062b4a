//! Answers requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use callgate_audit::Filter;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::timeout;

use super::ApiHost;
use crate::call_description::CallDefaults;
use crate::evaluate::evaluate;
use crate::explain::explain;
use crate::feed::{Feed, FeedBody, FeedTiming};
use crate::journal::{PageLimits, RecordPages};
use crate::problem::HintedError;
use crate::refusal::{ApiRefusal, RefusalKind};
use crate::route::{ApiRequest, route};

pub(super) type AnswerBody = Either<Full<Bytes>, FeedBody>;

/// Answers for a host.
pub(super) struct Answers {
    host: Arc<dyn ApiHost>,
    timing: FeedTiming,
    stopping: watch::Receiver<bool>,
    /// A permit for each feed that may be open.
    feeds: Arc<Semaphore>,
}

impl Answers {
    pub(super) fn new(
        host: Arc<dyn ApiHost>,
        timing: FeedTiming,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self { host, timing, stopping, feeds: Arc::new(Semaphore::new(MAX_FEEDS)) }
    }

    /// Answers a request of the same user. A feed whose reader stalls requests through `cut` that
    /// its connection is closed.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        cut: Arc<Notify>,
    ) -> Response<AnswerBody> {
        self.try_answer(request, cut).await.unwrap_or_else(|refusal| refused(&refusal))
    }

    async fn try_answer(
        &self,
        request: Request<Incoming>,
        cut: Arc<Notify>,
    ) -> Result<Response<AnswerBody>, ApiRefusal> {
        let uri = request.uri();
        match route(request.method(), uri.path(), uri.query())? {
            ApiRequest::Health => self.health(),
            ApiRequest::Evaluate => {
                let (query, host) = (body(request).await?, Arc::clone(&self.host));
                blocking(move || {
                    let evaluated = evaluate(&host.rules(), &query, &CallDefaults::of_this_user())?;
                    Ok(evaluated.to_json()?)
                })
                .await
            }
            ApiRequest::Explain => {
                let (query, host) = (body(request).await?, Arc::clone(&self.host));
                blocking(move || {
                    let defaults = CallDefaults::of_this_user();
                    let answer_json = explain(&host.rules(), &query, &defaults, || host.reader())?;
                    Ok(answer_json.to_json()?)
                })
                .await
            }
            ApiRequest::Records(filter) => {
                let host = Arc::clone(&self.host);
                blocking(move || records(&*host, &filter)).await
            }
            ApiRequest::Feed(filter) => self.feed(&request, filter, cut).await,
        }
    }

    fn health(&self) -> Result<Response<AnswerBody>, ApiRefusal> {
        let mut health = self.host.health();
        health.feeds = MAX_FEEDS.saturating_sub(self.feeds.available_permits());
        let answer_json = serde_json::to_string(&health);
        let answer_json = answer_json
            .map_err(|error| HintedError::new(format!("cannot be written as JSON: {error}")))?;
        Ok(json(StatusCode::OK, answer_json))
    }

    async fn feed(
        &self,
        request: &Request<Incoming>,
        filter: Filter,
        cut: Arc<Notify>,
    ) -> Result<Response<AnswerBody>, ApiRefusal> {
        let after = resumed(request).or(filter.after).ok_or_else(|| {
            let hint = "`after=0` begins with the first record";
            HintedError::hinted("a feed needs to know after which record it begins", hint)
        })?;
        let open = Arc::clone(&self.feeds).try_acquire_owned().map_err(|_| {
            let hint = "close one of them";
            let problem = HintedError::hinted(format!("{MAX_FEEDS} feeds are open already"), hint);
            ApiRefusal::new(RefusalKind::Busy, problem)
        })?;
        let (host, query) = (Arc::clone(&self.host), filter.clone());
        let journal = tokio::task::spawn_blocking(move || usable(&*host, &query)).await;
        let journal = journal.map_err(|_| died())??;
        let (feed, body) = Feed::new(journal, filter, after, self.timing, open);
        tokio::spawn(feed.run(self.stopping.clone(), cut));
        let mut response = Response::new(Either::Right(body));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

/// The sequence number from which a browser resumes a stream: it requests the same URL again.
fn resumed(request: &Request<Incoming>) -> Option<u64> {
    request.headers().get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// A journal that accepts this filter. A bad filter is reported before a feed begins.
fn usable(host: &dyn ApiHost, filter: &Filter) -> Result<Box<dyn RecordPages>, ApiRefusal> {
    let journal = host.journal().map_err(unreadable)?;
    // There is no record after the last possible number.
    journal.page(u64::MAX, filter, PageLimits { records: 1, bytes: 1 })?;
    Ok(journal)
}

/// A part of the records, and where the next one begins.
fn records(host: &dyn ApiHost, filter: &Filter) -> Result<String, ApiRefusal> {
    let limit = filter.limit.unwrap_or(DEFAULT_RECORDS);
    if limit == 0 || limit > MAX_RECORDS {
        let hint = format!("ask for 1 to {MAX_RECORDS}, and continue with `after`");
        return Err(HintedError::hinted(format!("`limit` is {limit}"), hint).into());
    }
    let limits = PageLimits { records: limit, bytes: MAX_RECORD_BYTES };
    let journal = host.journal().map_err(unreadable)?;
    let page = journal.page(filter.after.unwrap_or(0), filter, limits)?;
    let lines: Vec<&str> = page.records.iter().map(|(_, line)| line.as_str()).collect();
    let lines = lines.join(",");
    Ok(format!(r#"{{"records":[{lines}],"next":{},"more":{}}}"#, page.examined_up_to, page.more))
}

/// Runs on a blocking thread: rules and stores may take a while.
async fn blocking(
    answer: impl FnOnce() -> Result<String, ApiRefusal> + Send + 'static,
) -> Result<Response<AnswerBody>, ApiRefusal> {
    let answer_json = tokio::task::spawn_blocking(answer).await.map_err(|_| died())??;
    Ok(json(StatusCode::OK, answer_json))
}

async fn body(request: Request<Incoming>) -> Result<String, ApiRefusal> {
    let collected = timeout(BODY, Limited::new(request.into_body(), MAX_BODY).collect()).await;
    let collected = collected.map_err(|_| {
        let problem =
            HintedError::new(format!("the request did not arrive within {} s", BODY.as_secs()));
        ApiRefusal::new(RefusalKind::Slow, problem)
    })?;
    let bytes = collected.map_err(|error| match error.is::<LengthLimitError>() {
        true => {
            let problem = HintedError::new(format!("it is larger than {} MiB", MAX_BODY >> 20));
            ApiRefusal::new(RefusalKind::TooLarge, problem)
        }
        false => HintedError::new(format!("the request was interrupted: {error}")).into(),
    })?;
    let text = String::from_utf8(bytes.to_bytes().into());
    text.map_err(|_| HintedError::new("the request is not UTF-8").into())
}

/// The response to another user, which reveals nothing.
pub(super) fn to_another_user() -> Response<AnswerBody> {
    let problem = HintedError::hinted(
        "this is another user's callgate",
        "ask as the user that runs it; other users have the gateway's address",
    );
    refused(&ApiRefusal::new(RefusalKind::Forbidden, problem))
}

fn refused(refusal: &ApiRefusal) -> Response<AnswerBody> {
    let mut response = json(refusal.status(), refusal.body());
    if let RefusalKind::Method(allowed) = refusal.fault {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    }
    response
}

fn unreadable(problem: HintedError) -> ApiRefusal {
    ApiRefusal::new(RefusalKind::Store, problem)
}

fn died() -> ApiRefusal {
    ApiRefusal::new(
        RefusalKind::Busy,
        HintedError::new("the response could not be built; see the gateway's log"),
    )
}

fn json(status: StatusCode, body: String) -> Response<AnswerBody> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Maximum number of open feeds.
const MAX_FEEDS: usize = 32;
/// Number of records in an answer by default.
const DEFAULT_RECORDS: usize = 100;
/// Maximum number of records in an answer.
const MAX_RECORDS: usize = 1_000;
/// Maximum number of bytes of an answer, which one record may exceed.
const MAX_RECORD_BYTES: usize = 4 << 20;
/// Far above the largest arguments that are judged at all (1 MiB), which JSON escapes may inflate.
const MAX_BODY: usize = 8 << 20;
/// How long a client may take to send the body of its request.
const BODY: Duration = Duration::from_secs(30);
