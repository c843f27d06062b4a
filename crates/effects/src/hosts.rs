//! Patterns for hosts: globs, networks, ports.

use std::net::IpAddr;

use crate::effect::Connection;
use crate::host;
use crate::truth::Truth;
use crate::word::Word;

/// A pattern for hosts: `example.com`, `*.example.com`, `10.0.0.0/8`, `*:22`, `[::1]:80`.
#[derive(Debug, Clone)]
pub struct HostPattern {
    host: HostForm,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum HostForm {
    /// In lower case; `*` matches any text, dots included.
    Glob(String),
    Network(IpAddr, u8),
}

impl HostPattern {
    /// Reads a pattern. Names are brought to the one spelling that hosts have.
    pub fn new(text: &str) -> Self {
        if let Some((address, bits)) = text.split_once('/')
            && let (Some(address), Ok(bits)) = (host::ip(&host::normal_host(address)), bits.parse())
        {
            return Self { host: HostForm::Network(address, bits), port: None };
        }
        let (name, port) = split_port(text);
        let name =
            if name.contains(['*', '?']) { name.to_lowercase() } else { host::normal_host(name) };
        Self { host: HostForm::Glob(name), port }
    }

    /// Whether a connection goes there.
    pub fn matches(&self, connection: &Connection) -> Truth {
        let port = match (self.port, connection.port) {
            (None, _) => Truth::Yes,
            (Some(one), Some(two)) => Truth::from_bool(one == two),
            (Some(_), None) => Truth::Unknown,
        };
        port.and(self.matches_host(&connection.host))
    }

    /// Whether a host, in its one spelling, matches.
    pub fn matches_host(&self, name: &Word) -> Truth {
        let Some(text) = name.text() else { return self.matches_partly(name) };
        match &self.host {
            HostForm::Glob(glob) => Truth::from_bool(glob_matches(glob, text)),
            HostForm::Network(network, bits) => Truth::from_bool(
                host::ip(text).is_some_and(|address| contains(*network, *bits, address)),
            ),
        }
    }

    fn matches_partly(&self, name: &Word) -> Truth {
        match &self.host {
            HostForm::Glob(glob) if glob == "*" => Truth::Yes,
            // `192.168.1.$N` can only be an address.
            HostForm::Glob(glob) if begins_address(name.known_start()) => {
                let is_other = glob.starts_with('*')
                    || !shares_start(name.known_start(), glob.split('*').next().unwrap_or(glob));
                if is_other { Truth::No } else { Truth::Unknown }
            }
            HostForm::Glob(glob) if !glob.contains('*') => {
                Truth::from_bool(crate::glob::word_matches(name, glob)).and(Truth::Unknown)
            }
            HostForm::Glob(glob) => Truth::from_bool(may_be(name, glob)).and(Truth::Unknown),
            HostForm::Network(..) => Truth::Unknown,
        }
    }
}

/// Whether what is known about a host at both ends fits a pattern with wildcards.
fn may_be(name: &Word, glob: &str) -> bool {
    let first = glob.split('*').next().unwrap_or(glob);
    let last = glob.rsplit('*').next().unwrap_or(glob);
    let behind = name.gaps().last().map_or(0, |gap| gap.at);
    let end = name.known_part().get(behind..).unwrap_or_default();
    // `requestbin.*` and `*.oast.*` are about the name in front of the last one, and that is known.
    let labels = end.matches('.').count();
    if last.is_empty() && labels > usize::from(!first.is_empty()) {
        return false;
    }
    shares_start(name.known_start(), first)
        && end.bytes().rev().zip(last.bytes().rev()).all(|(one, two)| one == two)
}

/// A list of patterns, and of exceptions that begin with `!`.
#[derive(Debug, Clone, Default)]
pub struct HostSet {
    patterns: Vec<HostPattern>,
    exceptions: Vec<HostPattern>,
}

impl HostSet {
    /// Reads patterns; `!pattern` is an exception.
    pub fn new<'t>(patterns: impl IntoIterator<Item = &'t str>) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            match pattern.strip_prefix('!') {
                Some(exception) => set.exceptions.push(HostPattern::new(exception)),
                None => set.patterns.push(HostPattern::new(pattern)),
            }
        }
        set
    }

    /// Whether a connection goes to one of the hosts and to no exception.
    pub fn matches(&self, connection: &Connection) -> Truth {
        let any = |patterns: &[HostPattern]| {
            patterns.iter().fold(Truth::No, |truth, pattern| truth.or(pattern.matches(connection)))
        };
        any(&self.patterns).and(any(&self.exceptions).not())
    }
}

fn split_port(text: &str) -> (&str, Option<u16>) {
    let is_bare_v6 = text.matches(':').count() > 1 && !text.starts_with('[');
    match text.rsplit_once(':') {
        Some((name, port)) if !is_bare_v6 && !name.is_empty() => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}

/// Whether a text is the beginning of an IPv4 address: two numbers and their dots.
fn begins_address(text: &str) -> bool {
    let mut parts = text.split('.');
    let is_number =
        |part: Option<&str>| part.is_some_and(|part| part.len() < 4 && part.parse::<u8>().is_ok());
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some()
}

fn shares_start(one: &str, two: &str) -> bool {
    one.bytes().zip(two.bytes()).all(|(one, two)| one == two)
}

fn glob_matches(glob: &str, text: &str) -> bool {
    if !glob.contains(['*', '?']) {
        return glob == text;
    }
    let mut pattern = Word::default();
    for character in glob.chars() {
        match character {
            '*' => pattern.push_gap(crate::word::Fill::Anything),
            '?' => pattern.push_gap(crate::word::Fill::Character),
            other => pattern.push(other),
        }
    }
    crate::glob::word_matches(&pattern, text)
}

fn contains(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(two)) => {
            (u128::from(one.to_bits()), u128::from(two.to_bits()), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(two)) => (one.to_bits(), two.to_bits(), 128),
        _ => return false,
    };
    let shift = u32::from(width - bits.min(width));
    let cut = |value: u128| value.checked_shr(shift).unwrap_or(0);
    cut(network) == cut(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn goes(pattern: &str, url: &str) -> Truth {
        let address = host::parse_host(&url.into(), "https");
        let connection = Connection {
            host: address.host,
            port: address.port,
            scheme: address.scheme,
            purpose: Purpose::Fetch,
            url: None,
        };
        HostSet::new([pattern]).matches(&connection)
    }

    #[test]
    fn hosts_match_in_every_spelling() {
        for (pattern, url) in [
            ("example.com", "https://EXAMPLE.com/x"),
            ("*.example.com", "a.b.example.com"),
            ("10.0.0.0/8", "http://10.1.2.3"),
            ("127.0.0.0/8", "http://0x7f.1:80/"),
            ("169.254.169.254", "http://2852039166/latest"),
            ("*:22", "ssh://host"),
            ("fc00::/7", "http://[fd00::1]/"),
            ("[::1]:80", "http://[::1]/"),
            ("bücher.de", "https://xn--bcher-kva.de"),
        ] {
            assert_eq!(goes(pattern, url), Truth::Yes, "{pattern} {url}");
        }
        for (pattern, url) in [
            ("example.com", "https://example.com.evil.net"),
            ("*.example.com", "example.com"),
            ("10.0.0.0/8", "http://11.0.0.1"),
            ("*:22", "https://x"),
        ] {
            assert_eq!(goes(pattern, url), Truth::No, "{pattern} {url}");
        }
    }

    #[test]
    fn an_unknown_host_is_unknown() {
        let pattern = HostPattern::new("example.com");
        assert_eq!(pattern.matches_host(&Word::unknown()), Truth::Unknown);
        assert_eq!(HostPattern::new("*").matches_host(&Word::unknown()), Truth::Yes);
    }
}
