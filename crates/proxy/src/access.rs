//! Access control. A foreign web page must not reach a gateway on loopback, and on any other
//! address every client needs a key.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use callgate_call::Principal;
use callgate_decide::{Decider, KeyInfo, KeyRefusal};
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{Extensions, HeaderMap, HeaderName, Request};
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use crate::continuation::KeySource;
use crate::settings::ProviderSettings;

/// The header of a gateway key.
pub(crate) const KEY: HeaderName = HeaderName::from_static("x-callgate-key");
/// Headers that contain only a provider's key: Anthropic's, Azure's, Google's.
pub(crate) const KEY_HEADERS: [&str; 3] = ["x-api-key", "api-key", "x-goog-api-key"];
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The prefix of gateway keys, and the minimum number of characters after it.
const KEY_PREFIX: &str = "cg_";
const KEY_LENGTH: usize = 40;

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestSender {
    pub(crate) who: Principal,
    /// A gateway key came in place of the provider's key and must be swapped for it.
    pub(crate) swap: bool,
}

impl RequestSender {
    /// Whose key the request carries to the provider.
    pub(crate) fn key(&self) -> KeySource {
        if self.swap { KeySource::Gateway } else { KeySource::Client }
    }
}

/// Why access is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessDenied {
    /// The `Host` header does not name this gateway.
    Host,
    /// The request comes from a page of another site.
    Origin,
    /// A key is required and missing.
    NoKey,
    /// The key is unknown or revoked.
    BadKey,
    /// The key of this name has expired. Only the holder of the key learns its name.
    ExpiredKey(String),
    /// A gateway key came in place of a provider's key that callgate does not swap.
    MisplacedKey,
}

impl From<KeyRefusal> for AccessDenied {
    fn from(refusal: KeyRefusal) -> Self {
        match refusal {
            KeyRefusal::Unknown => Self::BadKey,
            KeyRefusal::Expired(name) => Self::ExpiredKey(name),
        }
    }
}

/// Whether a listener trusts its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Loopback: every program on this machine may connect.
    Local,
    /// Any other address: only clients with a key.
    Keys,
}

impl Trust {
    pub(crate) fn of(listen: SocketAddr) -> Self {
        if listen.ip().is_loopback() { Self::Local } else { Self::Keys }
    }
}

/// Checks what a web page cannot forge: the host that the browser connects to, and the origin of
/// the page.
pub(crate) fn check_site<B>(request: &Request<B>, trust: Trust) -> Result<(), AccessDenied> {
    let headers = request.headers();
    let named = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let target_host = request.uri().authority().map(http::uri::Authority::as_str);
    let hosts: Vec<&str> = named.chain(target_host).collect();
    if trust == Trust::Local && (hosts.is_empty() || !hosts.iter().all(|it| is_loopback_host(it))) {
        return Err(AccessDenied::Host);
    }
    // A page of the gateway itself. A foreign name that resolves to this address is useless without
    // a key.
    let is_own = |origin: &str| {
        let own = trust == Trust::Keys && !hosts.is_empty();
        own && hosts.iter().all(|host| host.eq_ignore_ascii_case(origin))
    };
    for origin in headers.get_all(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !host.is_some_and(|host| is_loopback_host(host) || is_own(host)) {
            return Err(AccessDenied::Origin);
        }
    }
    if headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site") {
        return Err(AccessDenied::Origin);
    }
    Ok(())
}

/// The credentials of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Credentials<'r> {
    pub(crate) headers: &'r HeaderMap,
    /// The `key` parameter of the query, where Google's clients put their key.
    pub(crate) query_key: Option<&'r str>,
    /// The local user who owns the connection, if known.
    pub(crate) user: Option<&'r str>,
}

/// Identifies the client of a provider. A gateway key counts wherever it is given, also on
/// loopback.
pub(crate) fn principal(
    credentials: Credentials<'_>,
    trust: Trust,
    provider: Option<&ProviderSettings>,
    decider: &Decider,
) -> Result<RequestSender, AccessDenied> {
    if let Some(key) = credentials.headers.get(KEY) {
        let key = key.to_str().map_err(|_| AccessDenied::BadKey)?;
        let found = decider.find_key(key)?;
        let swap = provider.is_some_and(|provider| provider.api_key.is_some());
        return Ok(RequestSender { who: of_key(found, credentials), swap });
    }
    let swappable = provider.is_some_and(|provider| provider.api_key.is_some());
    if swappable {
        match (credentials.gateway_key(decider)?, trust) {
            (Some(found), _) => {
                return Ok(RequestSender { who: of_key(found, credentials), swap: true });
            }
            (None, Trust::Keys) if credentials.api_keys().next().is_none() => {
                return Err(AccessDenied::NoKey);
            }
            (None, Trust::Keys) => return Err(AccessDenied::BadKey),
            (None, Trust::Local)
                if credentials.api_keys().any(|key| key.starts_with(KEY_PREFIX)) =>
            {
                return Err(AccessDenied::BadKey);
            }
            // On loopback, clients without a key use the operator's key.
            (None, Trust::Local) => {
                return Ok(RequestSender { who: credentials.local(), swap: true });
            }
        }
    }
    match trust {
        Trust::Local => Ok(RequestSender { who: credentials.local(), swap: false }),
        Trust::Keys if credentials.api_keys().any(|key| key.starts_with(KEY_PREFIX)) => {
            Err(AccessDenied::MisplacedKey)
        }
        Trust::Keys => Err(AccessDenied::NoKey),
    }
}

/// The holder of a key. On this machine the owner of the connection is known too.
fn of_key(key: KeyInfo, credentials: Credentials<'_>) -> Principal {
    let user = key.who.user.or_else(|| credentials.user.map(str::to_owned));
    Principal { key: Some(key.name), user, ..key.who }
}

/// Whether a gateway key occurs anywhere in what would be sent to a provider, in plain text or in
/// an encoding that programs undo.
pub(crate) fn contains_gateway_key(headers: &HeaderMap, path: &str, query: Option<&str>) -> bool {
    let values = headers.values().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let query = pairs.into_iter().flat_map(|(name, value)| [name, value]);
    values.chain([Cow::from(path)]).chain(query).any(|text| contains_key(&text, CODINGS))
}

/// How many encodings may be nested.
const CODINGS: usize = 3;

fn contains_key(text: &str, codings: usize) -> bool {
    // No encoding makes a key shorter.
    if text.len() < KEY_PREFIX.len() + KEY_LENGTH {
        return false;
    }
    let in_clear = text.match_indices(KEY_PREFIX).any(|(at, _)| {
        let rest = text.get(at + KEY_PREFIX.len()..).unwrap_or_default();
        rest.bytes().take_while(|byte| is_of_key(*byte)).count() >= KEY_LENGTH
    });
    let Some(codings) = codings.checked_sub(1).filter(|_| !in_clear) else { return in_clear };
    let is_escaped = text.contains('%');
    is_escaped && contains_key(&percent_decode_str(text).decode_utf8_lossy(), codings)
        || text.split(|c| !is_of_base64(c)).flat_map(after_slashes).any(|word| {
            base64(word)
                .is_some_and(|plain| contains_key(&String::from_utf8_lossy(&plain), codings))
        })
}

/// The word, and what follows each of its first slashes: a slash occurs both in base64 and in
/// paths.
fn after_slashes(word: &str) -> impl Iterator<Item = &str> {
    let slashes = word.match_indices('/').take(MAX_SLASHES);
    std::iter::once(word).chain(slashes.filter_map(|(at, _)| word.get(at + 1..)))
}

/// More than the paths of providers have.
const MAX_SLASHES: usize = 16;

/// The word decoded as base64, if it is long enough for a key. Decoding is lenient, because servers
/// differ in how strictly they read it.
fn base64(word: &str) -> Option<Vec<u8>> {
    let shortest = (KEY_PREFIX.len() + KEY_LENGTH) * 4 / 3;
    if word.len() < shortest {
        return None;
    }
    LENIENT.decode(word.replace('-', "+").replace('_', "/")).ok()
}

fn is_of_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_')
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// The local user who owns the connection of a request, if known. Stored in the extensions of each
/// request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owner(pub(crate) Option<Arc<str>>);

impl<'r> Credentials<'r> {
    pub(crate) fn of(headers: &'r HeaderMap, extensions: &'r Extensions) -> Self {
        let user = extensions.get::<Owner>().and_then(|owner| owner.0.as_deref());
        Self { headers, query_key: None, user }
    }

    pub(crate) fn with_query(self, query_key: Option<&'r str>) -> Self {
        Self { query_key, ..self }
    }

    /// A client without a gateway key.
    fn local(self) -> Principal {
        Principal::user(self.user.map(str::to_owned))
    }

    /// The gateway key in place of the provider's, if there is one. An expired one is refused even
    /// if no key is required, because the client expects to be identified by it.
    fn gateway_key(self, decider: &Decider) -> Result<Option<KeyInfo>, AccessDenied> {
        let mut expired = None;
        for key in self.api_keys() {
            match decider.find_key(key) {
                Ok(found) => return Ok(Some(found)),
                Err(KeyRefusal::Unknown) => {}
                Err(refusal) => expired = Some(refusal),
            }
        }
        expired.map_or(Ok(None), |refusal| Err(refusal.into()))
    }

    /// All values in the places where SDKs put the provider's key.
    fn api_keys(self) -> impl Iterator<Item = &'r str> {
        let bearer = self.headers.get_all(AUTHORIZATION).iter().filter_map(|value| {
            let value = value.to_str().ok()?;
            let (scheme, key) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
        });
        let plain = KEY_HEADERS.iter().flat_map(|name| self.headers.get_all(*name));
        bearer.chain(plain.filter_map(|value| value.to_str().ok())).chain(self.query_key)
    }
}

/// The key in a query, as Google's clients may send it.
pub(crate) fn query_key(query: Option<&str>) -> Option<String> {
    let pairs = form_urlencoded::parse(query?.as_bytes());
    pairs.into_iter().find(|(name, _)| name == "key").map(|(_, value)| value.into_owned())
}

/// Query parameters that may identify the caller to a provider.
const IN_QUERY: [&str; 4] = ["key", "access_token", "api_key", "api-key"];

/// All credentials in a query.
pub(crate) fn query_credentials(query: Option<&str>) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let named = pairs.filter(|(name, _)| IN_QUERY.contains(&&**name));
    named.map(|(_, value)| value.into_owned()).collect()
}

/// The query without any key and otherwise unchanged; `None` if nothing is left.
pub(crate) fn without_key(query: &str) -> Option<String> {
    let is_key = |pair: &&str| !query_credentials(Some(pair)).is_empty();
    let left: Vec<&str> = query.split('&').filter(|pair| !is_key(pair)).collect();
    (!left.is_empty()).then(|| left.join("&"))
}

/// Whether a host, with or without a port, is certainly this machine. A name that DNS resolves is
/// not.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(ip, _)| ip),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trust: Trust, headers: &[(&str, &str)]) -> Result<(), AccessDenied> {
        let mut request = Request::builder().uri("/v1/messages");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check_site(&request.body(()).unwrap(), trust)
    }

    #[test]
    fn only_local_host_names_reach_loopback() {
        for host in ["localhost", "localhost:8484", "127.0.0.1:8484", "127.9.9.9", "[::1]:8484"] {
            assert_eq!(check(Trust::Local, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8484",
            "localhost.evil.example",
            "",
            "10.0.0.1",
            "[::2]",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(check(Trust::Local, &[("host", host)]), Err(AccessDenied::Host), "{host}");
        }
        assert_eq!(check(Trust::Local, &[]), Err(AccessDenied::Host));
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(check(Trust::Local, &two), Err(AccessDenied::Host));
        assert_eq!(check(Trust::Keys, &[("host", "gate.example")]), Ok(()));
    }

    #[test]
    fn pages_of_other_sites_stay_out() {
        let with = |name, value| check(Trust::Local, &[("host", "localhost"), (name, value)]);
        assert_eq!(with("origin", "http://localhost:3000"), Ok(()));
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
            assert_eq!(with("origin", origin), Err(AccessDenied::Origin), "{origin}");
        }
        assert_eq!(with("sec-fetch-site", "cross-site"), Err(AccessDenied::Origin));
        assert_eq!(with("sec-fetch-site", "same-origin"), Ok(()));
    }

    #[test]
    fn the_gateways_own_page_has_access_where_keys_are_required() {
        let own = [("host", "gate.example:8484"), ("origin", "https://Gate.example:8484")];
        assert_eq!(check(Trust::Keys, &own), Ok(()));
        assert_eq!(check(Trust::Local, &own), Err(AccessDenied::Host));
        for origin in ["https://evil.example", "https://gate.example", "null"] {
            let other = [("host", "gate.example:8484"), ("origin", origin)];
            assert_eq!(check(Trust::Keys, &other), Err(AccessDenied::Origin), "{origin}");
        }
        let two =
            [("host", "gate.example"), ("host", "b.example"), ("origin", "https://b.example")];
        assert_eq!(check(Trust::Keys, &two), Err(AccessDenied::Origin));
    }

    #[test]
    fn absolute_targets_count_as_hosts() {
        let request = Request::builder().uri("http://evil.example/v1").header("host", "localhost");
        let request = request.body(()).unwrap();
        assert_eq!(check_site(&request, Trust::Local), Err(AccessDenied::Host));
    }
}
