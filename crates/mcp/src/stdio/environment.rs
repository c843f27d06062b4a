//! Selects the environment of a server.
//!
//! Agents give their servers everything they have, including keys and tokens. A wrapped server gets
//! what programs need to run at all, and the variables that were named for it.

use std::ffi::{OsStr, OsString};

/// The environment of a server: what every program needs, and the variables with these names.
pub fn environment(
    all: impl IntoIterator<Item = (OsString, OsString)>,
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let keep = |name: &OsStr, value: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        named.iter().any(|other| other == name) || is_plain(name, value)
    };
    all.into_iter().filter(|(name, value)| keep(name, value)).collect()
}

/// What programs need to find their files, their language and the network.
const PLAIN: [&str; 23] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "PWD",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

const LOCALE: [&str; 8] = [
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TIME",
];

/// In upper or lower case.
const PROXIES: [&str; 4] = ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

fn is_plain(name: &str, value: &OsStr) -> bool {
    // The address of a proxy may contain a password.
    let is_proxy = || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name));
    PLAIN.contains(&name)
        || LOCALE.contains(&name)
        || (is_proxy() && !value.to_string_lossy().contains(['@', '?']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_withheld_unless_they_are_named() {
        let all = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("LC_TOKEN", "secret"),
            ("ANTHROPIC_API_KEY", "sk-ant"),
            ("GITHUB_TOKEN", "ghp"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("HTTPS_PROXY", "http://user:pass@proxy:1"),
            ("http_proxy", "http://proxy:1"),
        ];
        let all = all.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let given = environment(all, &["GITHUB_TOKEN".to_owned()]);
        let names: Vec<&str> = given.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["PATH", "LC_ALL", "GITHUB_TOKEN", "http_proxy"]);
    }
}
