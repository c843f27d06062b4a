//! Sends requests to a server on the network.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{CertificateError, OtherError, RootCertStore};
use url::Url;

use super::tls;

/// How many redirects within a server are followed. Some servers add a slash, and none adds two.
const MAX_REDIRECTS: usize = 3;

/// How long idle connections are kept.
const IDLE: Duration = Duration::from_secs(60);

/// An HTTP client for one server.
#[derive(Debug, Clone)]
pub(super) struct ServerClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    bearer: Option<HeaderValue>,
    /// How long the server may take to start its response.
    head: Duration,
}

/// Why a server gave no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerClientError {
    #[error("it cannot be reached: {0}")]
    Reach(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error(
        "it redirects to another address, `{0}`; the log has the full address. If that is correct, \
         set it as `url`"
    )]
    Elsewhere(String),
    #[error("its address cannot be used")]
    Address,
}

impl ServerClient {
    pub(super) fn new(
        roots: &RootCertStore,
        pin: Option<&str>,
        bearer: Option<HeaderValue>,
        (connect, head): (Duration, Duration),
    ) -> Result<Self, rustls::Error> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect));
        connector.enforce_http(false);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(tls::config(roots, pin)?)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Ok(Self { client, bearer, head })
    }

    /// Sends a request, and returns when the headers of the response have arrived.
    pub(super) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, ServerClientError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.once(&method, &url, headers, body.clone()).await?;
            match elsewhere(&url, &response)? {
                None => return Ok(response),
                Some(next) => url = next,
            }
        }
        Err(ServerClientError::Elsewhere(url.origin().ascii_serialization()))
    }

    async fn once(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, ServerClientError> {
        let uri: Uri = url.as_str().parse().map_err(|_| ServerClientError::Address)?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers.clone();
        if let Some(bearer) = &self.bearer {
            request.headers_mut().insert(AUTHORIZATION, bearer.clone());
        }
        let answer = tokio::time::timeout(self.head, self.client.request(request)).await;
        answer
            .map_err(|_| ServerClientError::Late(self.head))?
            .map_err(|error| ServerClientError::Reach(reason(&error)))
    }
}

/// The target of a redirect, if it is on the same server. The client must not follow it, because
/// that would bypass callgate.
fn elsewhere(from: &Url, response: &Response<Incoming>) -> Result<Option<Url>, ServerClientError> {
    if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.unwrap_or_default();
    let keeps_method = matches!(response.status().as_u16(), 307 | 308);
    match from.join(location) {
        Ok(url) if keeps_method && url.origin() == from.origin() => Ok(Some(url)),
        // The rest of it is uninspected text of the server, so it only goes to the log.
        to => {
            tracing::warn!(location, "the server redirects to another address");
            let origin = to.map(|url| url.origin().ascii_serialization());
            Err(ServerClientError::Elsewhere(origin.unwrap_or_else(|_| "unreadable".to_owned())))
        }
    }
}

/// The innermost cause: the outer ones only say that something failed.
fn reason(error: &hyper_util::client::legacy::Error) -> String {
    let mut inner: &(dyn Error + 'static) = error;
    while let Some(next) = within(inner) {
        inner = next;
    }
    match inner.downcast_ref::<rustls::Error>() {
        // Our own verifier explains what is wrong with a certificate.
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why)))) => {
            why.to_string()
        }
        _ => inner.to_string(),
    }
}

fn within<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    // A system error does not report its inner error as its source.
    let made_of = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match made_of {
        Some(made_of) => Some(made_of),
        None => error.source(),
    }
}
