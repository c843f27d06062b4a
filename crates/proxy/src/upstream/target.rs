//! Where requests go: scheme, host and port of a provider.

use std::sync::Arc;

use http::HeaderValue;
use http::uri::{Authority, InvalidUri, PathAndQuery, Scheme, Uri};
use rustls::pki_types::ServerName;
use url::{Host, Url};

/// A place that answers requests. Cheap to copy; made once for each provider.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Scheme, host and port, as messages and the pool name it. Never a password, a path or a query.
    origin: Arc<str>,
    /// What the `Host` header says.
    host_header: HeaderValue,
    authority: Authority,
    host: Host<String>,
    port: u16,
    security: Security,
}

/// Why a URL is no target.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("`{0}` is not a scheme callgate can speak\nhint: use http or https")]
    Scheme(String),
    #[error("the address has no host")]
    NoHost,
    #[error("`{host}` cannot be a host: {source}")]
    Host { host: String, source: InvalidUri },
}

#[derive(Clone, Debug)]
enum Security {
    Plain,
    Tls(ServerName<'static>),
}

impl Target {
    /// The place `url` points at. Its path and query are not part of it.
    pub(crate) fn new(url: &Url) -> Result<Self, TargetError> {
        let host = url.host().ok_or(TargetError::NoHost)?.to_owned();
        let security = security(url.scheme(), &host)?;
        let port = url.port_or_known_default().ok_or(TargetError::NoHost)?;
        let text = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let refused = |source| TargetError::Host { host: host.to_string(), source };
        let authority: Authority = text.parse().map_err(refused)?;
        let host_header = HeaderValue::from_str(&text).map_err(|_| TargetError::NoHost)?;
        let origin = format!("{}://{text}", url.scheme()).into();
        Ok(Self { origin, host_header, authority, host, port, security })
    }

    /// Scheme, host and port: fit for messages, and the same for the same place.
    pub(crate) fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    pub(super) fn host(&self) -> &Host<String> {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn host_header(&self) -> &HeaderValue {
        &self.host_header
    }

    /// The name the certificate must carry, or none for plain text.
    pub(super) fn server_name(&self) -> Option<&ServerName<'static>> {
        match &self.security {
            Security::Plain => None,
            Security::Tls(name) => Some(name),
        }
    }

    /// The whole address of `path`, as HTTP/2 wants it.
    pub(super) fn absolute(&self, path: PathAndQuery) -> Result<Uri, http::Error> {
        let scheme = match self.security {
            Security::Plain => Scheme::HTTP,
            Security::Tls(_) => Scheme::HTTPS,
        };
        Uri::builder().scheme(scheme).authority(self.authority.clone()).path_and_query(path).build()
    }
}

fn security(scheme: &str, host: &Host<String>) -> Result<Security, TargetError> {
    match scheme {
        "http" => Ok(Security::Plain),
        "https" => server_name(host).map(Security::Tls),
        other => Err(TargetError::Scheme(other.to_owned())),
    }
}

fn server_name(host: &Host<String>) -> Result<ServerName<'static>, TargetError> {
    match host {
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|_| TargetError::NoHost),
        Host::Ipv4(ip) => Ok(ServerName::from(std::net::IpAddr::V4(*ip))),
        Host::Ipv6(ip) => Ok(ServerName::from(std::net::IpAddr::V6(*ip))),
    }
}
