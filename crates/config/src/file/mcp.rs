//! `mcp`, as written.

use std::time::Duration;

use callgate_decide::mcp::{CheckAction, Globs, ServerKind};
use callgate_document::{At, Key, Problems, SourceSpan};
use url::Url;

use super::read::{Section, wrong_as};
use crate::providers;
use crate::words::Period;

/// `mcp`.
#[derive(Debug, Default)]
pub(crate) struct WrittenMcp {
    pub(crate) servers: Vec<WrittenServer>,
    pub(crate) allow_servers: Option<At<Vec<String>>>,
    pub(crate) deny_servers: Option<At<Vec<String>>>,
    pub(crate) allow_tools: Option<Vec<WrittenTool>>,
    pub(crate) deny_tools: Option<Vec<WrittenTool>>,
    pub(crate) rate: Option<WrittenRate>,
    /// Patterns of servers' names, and their rates.
    pub(crate) rates: Vec<(String, WrittenRate)>,
    /// `flows.burst`.
    pub(crate) burst: Option<WrittenBurst>,
}

/// A server that is declared.
#[derive(Debug)]
pub(crate) struct WrittenServer {
    pub(crate) id: At<String>,
    /// `None` if the type is unknown, which is already reported.
    pub(crate) kind: Option<ServerKind>,
    pub(crate) command: Option<At<String>>,
    pub(crate) args: Option<At<Vec<String>>>,
    pub(crate) env: Option<At<Vec<String>>>,
    pub(crate) sha256: Option<At<String>>,
    pub(crate) url: Option<At<Url>>,
    pub(crate) bearer_env: Option<At<String>>,
    pub(crate) tls_fingerprint: Option<At<String>>,
    pub(crate) reads: Option<At<Vec<String>>>,
    pub(crate) sends: Option<At<Vec<String>>>,
    pub(crate) rate: Option<WrittenRate>,
}

/// An entry of a list of tools.
#[derive(Debug)]
pub(crate) struct WrittenTool {
    pub(crate) server: Option<At<String>>,
    pub(crate) tool: Option<At<String>>,
    pub(crate) hash: Option<At<String>>,
}

/// A rate.
#[derive(Debug)]
pub(crate) struct WrittenRate {
    pub(crate) calls: u64,
    pub(crate) per: Option<At<Period>>,
    pub(crate) burst: Option<At<u64>>,
}

/// `mcp.flows.burst`.
#[derive(Debug)]
pub(crate) struct WrittenBurst {
    pub(crate) calls: u64,
    pub(crate) window: Option<At<Duration>>,
    pub(crate) then: Option<At<CheckAction>>,
}

pub(super) fn mcp(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenMcp {
    let rate_at = section.key_span("rate");
    WrittenMcp {
        servers: servers(section, problems),
        allow_servers: section.globs("allow_servers", problems),
        deny_servers: section.globs("deny_servers", problems),
        allow_tools: tools(section, "allow_tools", problems),
        deny_tools: tools(section, "deny_tools", problems),
        rate: rate_at.and_then(|at| rate(&section.inside("rate"), at, problems)),
        rates: rates(section, problems),
        burst: burst(&section.inside("flows"), problems),
    }
}

fn servers(section: &Section<'_>, problems: &mut Problems<'_>) -> Vec<WrittenServer> {
    let mut servers: Vec<WrittenServer> = Vec::new();
    for (entry, key) in section.by_name("servers", problems) {
        check_name(key, &servers, problems);
        servers.push(server(&entry, key, problems));
    }
    servers
}

fn server(section: &Section<'_>, key: &Key, problems: &mut Problems<'_>) -> WrittenServer {
    let kind = kind(section, key, problems);
    let server = WrittenServer {
        id: At { value: key.name.clone(), span: key.span },
        kind,
        command: section.parsed("command", problems, |text| match text.starts_with('~') {
            true => Err(wrong_as("a program", "write the full path: `~` is not expanded here")),
            false => Ok(text.to_owned()),
        }),
        args: section.texts("args", problems),
        env: section.variables("env", problems),
        sha256: section.sha256("sha256", problems),
        url: section.url_as("url", URL_HINT, url, problems),
        bearer_env: section.variable("bearer_env", problems),
        tls_fingerprint: section.sha256("tls_fingerprint", problems),
        reads: section.globs("reads", problems),
        sends: section.globs("sends", problems),
        rate: section_rate(section, problems),
    };
    let plain = server.url.as_ref().is_some_and(|url| url.value.scheme() == "http");
    if let (true, Some(pin)) = (plain, &server.tls_fingerprint) {
        problems
            .add(pin.span, format!("{} has no effect", section.what("tls_fingerprint")))
            .label("a server at `http:` has no certificate")
            .hint("use `https:` in its `url`, or leave this out");
    }
    server
}

/// The type of a server. Reports keys that do not fit the type.
fn kind(section: &Section<'_>, key: &Key, problems: &mut Problems<'_>) -> Option<ServerKind> {
    if !section.is_read() {
        return None;
    }
    let shown = section.shown();
    let written = section.word::<ServerKind>("type", problems).map(|at| at.value);
    let kind = match (written, section.has("command"), section.has("url")) {
        (Some(kind), ..) => kind,
        // Without a valid type we cannot tell which keys are wrong.
        (None, ..) if section.has("type") => return None,
        (None, true, false) => ServerKind::Stdio,
        (None, false, true) => ServerKind::Http,
        (None, both, _) => {
            let has =
                if both { "both a `command` and a `url`" } else { "no `command` and no `url`" };
            let hint = "a program has a `command`, a server on the network a `url`";
            problems.add(key.span, format!("`{shown}` has {has}")).hint(hint);
            return None;
        }
    };
    let (needs, others): (_, &[&str]) = match kind {
        ServerKind::Stdio => ("command", &["url", "bearer_env", "tls_fingerprint"]),
        ServerKind::Http | ServerKind::Sse => ("url", &["command", "args", "env", "sha256"]),
    };
    if !section.has(needs) {
        problems
            .add(key.span, format!("`{shown}` has no `{needs}`"))
            .hint(format!("a server of type `{}` needs one", kind.as_str()));
    }
    for other in others {
        if let Some(span) = section.key_span(other) {
            problems
                .add(
                    span,
                    format!("{} does not apply to a server of this type", section.what(other)),
                )
                .hint(format!("`{shown}` is of type `{}`: remove this setting", kind.as_str()));
        }
    }
    Some(kind)
}

/// The longest name of a server: it is a prefix of its tools' names, which agents truncate to 64.
const MAX_NAME: usize = 64;

fn check_name(key: &Key, before: &[WrittenServer], problems: &mut Problems<'_>) {
    let name = key.name.as_str();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || name.len() > MAX_NAME || !name.chars().all(plain) {
        problems
            .add(key.span, format!("`{name}` is not a valid server name"))
            .hint("use up to 64 letters, digits, `_`, `-` and `.`, the first a letter or a digit");
        return;
    }
    // Patterns ignore case, so the names of two servers must not differ only in case.
    let same = |other: &&WrittenServer| Globs::new([&other.id.value]).matches(name);
    if let Some(other) = before.iter().find(same) {
        problems
            .add(key.span, format!("`{name}` is the same name as `{}`", other.id.value))
            .hint("rules and lists could not distinguish these servers: rename one");
    }
}

const URL_HINT: &str = "write the URL from the server's documentation, like \
                        `https://mcp.example.com/mcp`";

/// Unlike a provider's, the URL of a server may have a query.
fn url(text: &str) -> Result<Url, &'static str> {
    match text.split_once('?') {
        Some((before, query)) if !query.contains('#') => {
            providers::base_url(before)?;
            Url::parse(text).map_err(|_| "it is not a URL")
        }
        _ => providers::base_url(text),
    }
}

fn tools(
    section: &Section<'_>,
    key: &str,
    problems: &mut Problems<'_>,
) -> Option<Vec<WrittenTool>> {
    let entries = section.each(key, problems)?;
    let read = entries.into_iter().map(|(entry, node)| {
        let keys = ["server", "tool", "hash"];
        if entry.is_read() && !keys.iter().any(|key| entry.has(key)) {
            let what = format!("an entry of {} names no tool", section.what(key));
            problems
                .add(node.span, what)
                .hint("write it like `{ server: github, tool: \"get_*\" }`");
        }
        WrittenTool {
            server: entry.glob("server", problems),
            tool: entry.glob("tool", problems),
            hash: entry.definition_hash("hash", problems),
        }
    });
    Some(read.collect())
}

/// The rate of a server that has one of its own.
fn section_rate(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<WrittenRate> {
    let span = section.key_span("rate")?;
    let entry = section.section("rate", problems);
    rate(&entry, span, problems)
}

fn rates(section: &Section<'_>, problems: &mut Problems<'_>) -> Vec<(String, WrittenRate)> {
    let named = section.by_name("rates", problems);
    let read = named.into_iter().filter_map(|(entry, key)| {
        Some((key.name.trim().to_owned(), rate(&entry, key.span, problems)?))
    });
    read.collect()
}

fn rate(section: &Section<'_>, at: SourceSpan, problems: &mut Problems<'_>) -> Option<WrittenRate> {
    let hint = "write it like `{ calls: 60, per: minute, burst: 10 }`";
    needs_calls(section, at, hint, problems);
    let (per, burst) = (section.word("per", problems), section.count("burst", problems));
    Some(WrittenRate { calls: section.count("calls", problems)?.value, per, burst })
}

fn needs_calls(section: &Section<'_>, at: SourceSpan, hint: &str, problems: &mut Problems<'_>) {
    if section.is_read() && !section.has("calls") {
        problems.add(at, format!("`{}` has no `calls`", section.shown())).hint(hint);
    }
}

fn burst(flows: &Section<'_>, problems: &mut Problems<'_>) -> Option<WrittenBurst> {
    let at = flows.key_span("burst")?;
    let burst = flows.inside("burst");
    needs_calls(&burst, at, "write it like `{ calls: 20, window: 10s }`", problems);
    let (window, then) = (burst.duration("window", problems), burst.word("then", problems));
    Some(WrittenBurst { calls: burst.count("calls", problems)?.value, window, then })
}
