//! The scheme, host and port of a provider.

use std::sync::Arc;

use http::HeaderValue;
use http::uri::{Authority, InvalidUri, PathAndQuery, Scheme, Uri};
use rustls::pki_types::ServerName;
use url::{Host, Url};

/// A server that requests are sent to. Cheap to clone; created once per provider.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamTarget {
    /// Scheme, host and port, for messages and the pool. Never contains a password, a path or a
    /// query.
    origin: Arc<str>,
    /// The value of the `Host` header.
    host_header: HeaderValue,
    authority: Authority,
    host: Host<String>,
    port: u16,
    security: Security,
}

/// Why a URL cannot be a target.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("`{0}` is not a supported URL scheme\nhint: use http or https")]
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

impl UpstreamTarget {
    /// The target of `url`, without its path and query.
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

    /// Scheme, host and port: safe for messages, and equal for equal targets.
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

    /// The name in the certificate; `None` for plain text.
    pub(super) fn server_name(&self) -> Option<&ServerName<'static>> {
        match &self.security {
            Security::Plain => None,
            Security::Tls(name) => Some(name),
        }
    }

    /// The full URI of `path`, as HTTP/2 requires it.
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
