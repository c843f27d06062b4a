//! Hosts and URLs: every spelling to one.

use std::net::{IpAddr, Ipv6Addr};

use crate::word::{Fill, Word};

/// The parts of an address that say where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `https`, `ssh`; empty if there is none.
    pub scheme: String,
    /// The host in its one spelling.
    pub host: Word,
    /// The port, written or by default of the scheme.
    pub port: Option<u16>,
    /// What follows the host: `/path?query`.
    pub path: Word,
}

/// The host in one spelling: lower case, punycode, no trailing dot, IP addresses in their usual form.
pub fn normal_host(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let bare = bare.split('%').next().unwrap_or(bare);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return address.to_ipv4_mapped().map_or_else(|| address.to_string(), |v4| v4.to_string());
    }
    let is_simple =
        bare.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.'));
    if is_simple {
        return bare.trim_end_matches('.').to_owned();
    }
    match url::Host::parse(bare) {
        Ok(url::Host::Domain(domain)) => domain.trim_end_matches('.').to_owned(),
        Ok(url::Host::Ipv4(address)) => address.to_string(),
        Ok(url::Host::Ipv6(address)) => normal_host(&address.to_string()),
        Err(_) => bare.trim_end_matches('.').to_lowercase(),
    }
}

/// Reads `scheme://user@host:port/path`. `None` if the word is not of that form.
pub fn parse_url(word: &Word) -> Option<Address> {
    let start = word.known_start();
    let is_sign = |at: &usize| start.get(*at..).is_some_and(|rest| rest.starts_with("://"));
    let colon = start.match_indices(':').map(|(at, _)| at).find(is_sign)?;
    let scheme = start.get(..colon)?;
    // `git+https`, `svn+ssh`
    let scheme = scheme.strip_prefix("git+").unwrap_or(scheme).to_ascii_lowercase();
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    // Files, and those of a program's own bundle.
    let is_file = matches!(scheme.as_str(), "file" | "res" | "user" | "asset" | "resource");
    if scheme.is_empty() || !scheme.bytes().all(is_scheme) || is_file {
        return None;
    }
    Some(authority(scheme, &without_globs(word.from(colon + 3))))
}

/// `https://h.example?a=1`: no file has such a name, so the shell leaves the sign as it is.
fn without_globs(word: Word) -> Word {
    let is_glob = |gap: &crate::word::Gap| gap.fill != Fill::Anything;
    if !word.gaps().iter().any(is_glob) {
        return word;
    }
    let (mut plain, mut at) = (Word::default(), 0);
    let text = word.known_part();
    for gap in word.gaps() {
        plain.push_str(text.get(at..gap.at).unwrap_or_default());
        match gap.fill {
            Fill::Anything => plain.push_gap(gap.fill),
            Fill::Name => plain.push('*'),
            Fill::Character => plain.push('?'),
        }
        at = gap.at;
    }
    plain.push_str(text.get(at..).unwrap_or_default());
    plain
}

/// Reads `user@host:port/path`, as programs do where they expect a host or a URL without a scheme.
pub fn parse_host(word: &Word, scheme: &str) -> Address {
    parse_url(word).unwrap_or_else(|| authority(scheme.to_owned(), word))
}

/// Reads `user@host:path` of `scp` and `git`. `None` for a local path.
pub fn parse_remote_path(word: &Word) -> Option<Address> {
    if let Some(address) = parse_url(word) {
        return Some(address);
    }
    let text = word.known_part();
    let colon = text.find(':')?;
    let host = text.get(..colon)?;
    // `./a:b` and `C:\x` are local.
    if host.is_empty() || host.contains('/') || host.len() == 1 && text.get(2..3) == Some("\\") {
        return None;
    }
    let host = word.until(colon);
    let mut address = authority("ssh".to_owned(), &host);
    address.path = word.from(colon + 1);
    Some(address)
}

fn authority(scheme: String, word: &Word) -> Address {
    let text = word.known_part();
    let end = text.find(['/', '?', '#', '\\']).unwrap_or(text.len());
    let path = word.from(end);
    let start = text.get(..end).and_then(|text| text.rfind('@')).map_or(0, |at| at + 1);
    let (host_end, port) = split_port(text.get(start..end).unwrap_or_default());
    let port = port.or_else(|| default_port(&scheme));
    let host = word.until(start + host_end);
    let host = if start > 0 { host.from(start) } else { host };
    // A gap after the host is part of it: `https://$HOST/x`.
    let has_gap = word.gaps().iter().any(|gap| gap.at == end && end == start + host_end);
    let host = match host.text() {
        _ if has_gap => with_gap(host),
        Some(text) => Word::known(normal_host(&decoded(text))),
        None => host,
    };
    Address { scheme, host, port, path }
}

fn with_gap(mut host: Word) -> Word {
    if !host.misses_value() {
        host.push_gap(crate::word::Fill::Anything);
    }
    host
}

/// Where the host ends, and the port after it.
fn split_port(text: &str) -> (usize, Option<u16>) {
    let from = text.rfind(']').unwrap_or(0);
    let Some(colon) = text.get(from..).and_then(|rest| rest.rfind(':')).map(|at| from + at) else {
        return (text.len(), None);
    };
    // A bare IPv6 address has several colons and no port.
    if from == 0 && text.matches(':').count() > 1 {
        return (text.len(), None);
    }
    (colon, text.get(colon + 1..).and_then(|port| port.parse().ok()))
}

fn decoded(host: &str) -> String {
    if !host.contains('%') {
        return host.to_owned();
    }
    percent_encoding::percent_decode_str(host).decode_utf8_lossy().into_owned()
}

/// The port of a scheme.
pub fn default_port(scheme: &str) -> Option<u16> {
    Some(match scheme {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        "ssh" | "scp" | "sftp" | "rsync+ssh" | "svn+ssh" => 22,
        "ftp" => 21,
        "ftps" => 990,
        "git" => 9418,
        "ldap" => 389,
        "smtp" => 25,
        "telnet" => 23,
        "rsync" => 873,
        "postgres" | "postgresql" => 5432,
        "mysql" => 3306,
        "redis" => 6379,
        "mongodb" => 27017,
        _ => return None,
    })
}

/// The IP address that a host in its one spelling is.
pub fn ip(host: &str) -> Option<IpAddr> {
    host.parse().ok()
}

/// Words that say that a value is a secret.
const SECRET_WORDS: &[&str] = &[
    "SECRET",
    "_TOKEN=",
    "_KEY=",
    "PASSWORD=",
    "PASSWD=",
    "PRIVATE KEY",
    "AKIA",
    "ghp_",
    "root:x:0",
    "aws_access_key",
    "aws_secret",
    "ssh-rsa ",
    "ssh-ed25519 ",
];

/// Whether a URL carries a secret in its query, its path or its host, also in base64 or hex.
pub(crate) fn carries_secret(url: &Word) -> bool {
    let text = url.known_part();
    if text.len() > 1 << 16 {
        return false;
    }
    let Some(after) = text.find("://").and_then(|at| text.get(at + 3..)) else { return false };
    // The key of a cloud in a name that is looked up.
    let host = after.split(['/', '?', '#']).next().unwrap_or_default();
    let is_key = |label: &str| {
        let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let starts = ["AKIA", "ASIA", "ghp_", "gho_", "github_pat_", "sk-", "xoxb-", "glpat-"];
        label.len() >= 16
            && starts.iter().any(|start| label.starts_with(start))
            && (label.starts_with(|letter: char| letter.is_lowercase())
                || label.bytes().all(is_upper))
    };
    if host.split('.').any(is_key) {
        return true;
    }
    let query = after.split_once('?').map_or("", |(_, query)| query);
    let has_secret = |text: &str| SECRET_WORDS.iter().any(|word| text.contains(word));
    if has_secret(query) {
        return true;
    }
    let separators = ['/', '?', '&', '=', '.', '#', ':', '@', ';', ','];
    after.split(separators).filter(|part| part.len() >= 16).any(|part| {
        let plain = part.replace("%3D", "=").replace("%2B", "+").replace("%2F", "/");
        let decoded = crate::shell::decode::hex(&plain)
            .or_else(|| crate::shell::decode::base64(&plain))
            .filter(|text| !text.is_empty());
        decoded.is_some_and(|text| has_secret(&text) || has_secret(&text.to_ascii_uppercase()))
    })
}

/// Whether a secret variable belongs to the service at that host: `GITHUB_TOKEN` and `api.github.com`.
///
/// The name of the service must be the part of the host that its owner has registered.
pub(crate) fn is_own(variable: &str, host: &str) -> bool {
    let mut labels = host.rsplit('.').skip(1);
    let is_shared = |label: &&str| matches!(*label, "co" | "com" | "org" | "net" | "ac" | "gov");
    let Some(label) = labels.find(|label| !is_shared(label)) else { return false };
    variable.to_ascii_lowercase().split('_').any(|word| {
        let other = SERVICES.iter().find(|(short, _)| *short == word).map(|(_, name)| *name);
        word.len() > 2 && word == label && !GENERIC.contains(&word) || other == Some(label)
    })
}

/// Services whose variables and hosts have different names.
const SERVICES: &[(&str, &str)] = &[
    ("gh", "github"),
    ("gl", "gitlab"),
    ("glab", "gitlab"),
    ("gcloud", "googleapis"),
    ("az", "azure"),
    ("hf", "huggingface"),
    ("hugging", "huggingface"),
    ("claude", "anthropic"),
    ("gemini", "googleapis"),
    ("google", "googleapis"),
    ("gcp", "googleapis"),
    ("aws", "amazonaws"),
    ("do", "digitalocean"),
    ("cf", "cloudflare"),
    ("jira", "atlassian"),
    ("confluence", "atlassian"),
    ("npm", "npmjs"),
    ("datadog", "datadoghq"),
    ("dd", "datadoghq"),
    ("linear", "linear"),
    ("azure", "azure"),
    ("supabase", "supabase"),
];

/// Words of variables that name no service.
const GENERIC: &[&str] =
    &["token", "secret", "password", "key", "api", "access", "private", "auth"];

/// Whether a host is this machine, and nothing but it.
pub(crate) fn is_this_machine(host: &str) -> bool {
    host == "localhost" || ip(host).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_belongs_to_its_service() {
        for (variable, host) in [
            ("GITHUB_TOKEN", "api.github.com"),
            ("GH_TOKEN", "uploads.github.com"),
            ("JIRA_API_TOKEN", "acme.atlassian.net"),
            ("ACME_API_KEY", "api.acme.co.uk"),
        ] {
            assert!(is_own(variable, host), "{variable} {host}");
        }
        for (variable, host) in [
            ("GITHUB_TOKEN", "github.evil.example"),
            ("GITHUB_TOKEN", "api.github.com.evil.example"),
            ("API_TOKEN", "token.example"),
            ("TOKEN", "evil.example"),
            ("OPENAI_API_KEY", "10.0.0.1"),
        ] {
            assert!(!is_own(variable, host), "{variable} {host}");
        }
    }

    #[test]
    fn an_address_has_one_spelling() {
        for spelled in [
            "127.0.0.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "0x7f.1",
            "[::ffff:127.0.0.1]",
            "::ffff:7f00:1",
            "127.0.0.1.",
        ] {
            assert_eq!(normal_host(spelled), "127.0.0.1", "{spelled}");
        }
        assert_eq!(normal_host("EXAMPLE.com."), "example.com");
        assert_eq!(normal_host("bücher.de"), "xn--bcher-kva.de");
        assert_eq!(normal_host("１２７.0.0.1"), "127.0.0.1");
        assert_eq!(normal_host("[::1]"), "::1");
        assert_eq!(normal_host("fe80::1%eth0"), "fe80::1");
    }

    fn shown(address: &Address) -> String {
        let port = address.port.map_or(String::new(), |port| format!(":{port}"));
        format!("{} {}{port} {}", address.scheme, address.host, address.path)
    }

    #[test]
    fn urls_are_split() {
        for (url, expected) in [
            ("https://example.com/a?b", "https example.com:443 /a?b"),
            ("HTTP://user:pw@EXAMPLE.com:8080", "http example.com:8080 "),
            ("https://good.com@evil.com/x", "https evil.com:443 /x"),
            ("https://evil.com\\@good.com/x", "https evil.com:443 \\@good.com/x"),
            ("http://[::1]:80/", "http ::1:80 /"),
            ("git+ssh://git@host/x", "ssh host:22 /x"),
            ("http://0x7f.1/", "http 127.0.0.1:80 /"),
            ("http://%31%32%37.0.0.1/", "http 127.0.0.1:80 /"),
        ] {
            assert_eq!(shown(&parse_url(&url.into()).unwrap()), expected, "{url}");
        }
        assert_eq!(parse_url(&"file:///x".into()), None);
        assert_eq!(parse_url(&"a b://x".into()), None);
    }

    #[test]
    fn remote_paths_are_distinguished_from_local_ones() {
        let remote = |text: &str| parse_remote_path(&text.into()).map(|address| shown(&address));
        assert_eq!(remote("git@host:x/y").as_deref(), Some("ssh host:22 x/y"));
        assert_eq!(remote("host:").as_deref(), Some("ssh host:22 "));
        assert_eq!(remote("./a:b"), None);
        assert_eq!(remote("plain"), None);
        assert_eq!(remote("C:\\x"), None);
    }

    #[test]
    fn an_unknown_host_stays_unknown() {
        let mut word = Word::known("https://");
        word.push_gap(crate::word::Fill::Anything);
        word.push_str(".evil.com/x");
        assert_eq!(parse_url(&word).unwrap().host.to_string(), "….evil.com");
    }
}
