//! Responses that a client knows by one id, although the provider stores several answers.
//!
//! If a turn was continued after a denial, its response has the id of the first answer. Reading and
//! cancelling it concern the last answer, and deleting it concerns all of them. The items that it
//! was made from are those of the first answer: exactly what the client sent.

use callgate_dialect::request::StoredAnswers;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use url::form_urlencoded;

use crate::continuation::KeySource;
use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::refusal::Refusal;
use crate::restore::{self, Binding};
use crate::route::ProviderRoute;
use crate::sign::{self, SigningRequest};
use crate::upstream::{RequestBody, UpstreamBody};

/// A response of several answers that a request names in its path.
pub(crate) struct NamedResponse {
    answers: StoredAnswers,
    /// The path up to the id.
    before: String,
    /// The path behind the id.
    behind: String,
}

/// The response that the path of a request names, if it is of several answers.
pub(crate) async fn find(
    inner: &LoadedGateway,
    binding: &Binding,
    path: &str,
) -> Option<NamedResponse> {
    let (before, named) = path.rsplit_once(RESPONSES)?;
    let id = named.strip_suffix(CANCEL).unwrap_or(named);
    if id.is_empty() || id.contains('/') || !inner.decider.has_removed(binding) {
        return None;
    }
    let (decider, binding, sought) = (inner.decider.clone(), *binding, id.to_owned());
    // It reads the store: other connections must not wait for that.
    let found =
        tokio::task::spawn_blocking(move || restore::stored_answers(&decider, &binding, &sought));
    let answers = found.await.ok()??;
    let behind = named.get(id.len()..).unwrap_or_default().to_owned();
    Some(NamedResponse { answers, before: format!("{before}{RESPONSES}"), behind })
}

const RESPONSES: &str = "/responses/";
const CANCEL: &str = "/cancel";

impl NamedResponse {
    /// Makes a request that reads or cancels the response one for its last answer. Returns the
    /// answers before it.
    pub(crate) fn redirect(
        self,
        route: &mut ProviderRoute,
        query: Option<&str>,
    ) -> Result<String, Refusal> {
        let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        if pairs.any(|(name, value)| name == "stream" && value == "true") {
            return Err(Refusal::BadRequest(
                "callgate made this response of several answers, which cannot be streamed again; \
                 hint: read it without `stream`"
                    .to_owned(),
            ));
        }
        route.path = format!("{}{}{}", self.before, self.answers.last, self.behind);
        Ok(self.answers.shown)
    }

    /// Deletes all answers but the first, the last one first. `first` is the request that deletes
    /// the first one. Returns the provider's answer if it refuses: then the client can try again.
    pub(crate) async fn delete_others(
        &self,
        inner: &LoadedGateway,
        exchange: &ProviderExchange,
        key: KeySource,
        first: &Request<RequestBody>,
    ) -> Result<Option<Response<UpstreamBody>>, Refusal> {
        for id in self.answers.ids.iter().skip(1).rev() {
            let request = self.delete(exchange, key, id, first.headers()).await?;
            let target = &exchange.route.site.target;
            let sent = inner.upstreams.send(target, request).await;
            let response = sent.map_err(Refusal::Upstream)?;
            let status = response.status();
            if !status.is_success() && status != StatusCode::NOT_FOUND {
                return Ok(Some(response));
            }
        }
        Ok(None)
    }

    async fn delete(
        &self,
        exchange: &ProviderExchange,
        key: KeySource,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<Request<RequestBody>, Refusal> {
        let ProviderExchange { route, .. } = exchange;
        let path = format!("{}{id}", self.before);
        let path =
            path.parse().map_err(|_| Refusal::Internal("the id of a response is not an id"))?;
        let mut headers = headers.clone();
        let credentials = key.of_gateway(route);
        let signing = SigningRequest { route, method: &Method::DELETE, path: &path };
        let body = sign::sign(signing, credentials, 0, &mut headers, RequestBody::Empty).await?;
        let mut request = Request::new(body);
        *request.method_mut() = Method::DELETE;
        *request.uri_mut() = path.into();
        *request.headers_mut() = headers;
        Ok(request)
    }
}
