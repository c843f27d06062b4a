//! `callgate.yaml` as written: every setting optional, every value with its place.

mod continuing;
mod denial;
mod lists;
pub(crate) mod mcp;
mod read;
pub(crate) mod tools;

use std::net::SocketAddr;
use std::time::Duration;

use callgate_decide::{OddArguments, OnFailure, Oversize};
use callgate_dialect::Dialect;
use callgate_document::{At, Fields, Node, Problems, Source, Yaml, did_you_mean, list, parse};
use callgate_effects::Entry;
use callgate_gate::{Malformed, OnDeny};
use callgate_policy::{POLICY_KEYS, Relaxation};
use callgate_proxy::{Inbound, Mode};
use callgate_store::Durability;
use url::Url;

use crate::aws;
use crate::fields::{self, ANY};
use crate::protect::Protect;
use crate::providers;
use crate::words::Sign;
use continuing::WrittenContinue;
use denial::WrittenDenial;
use mcp::WrittenMcp;
use read::Section;

/// A config file.
#[derive(Debug, Default)]
pub struct Written {
    pub(crate) listen: Option<At<SocketAddr>>,
    pub(crate) store: Option<At<WrittenStore>>,
    /// `api.listen`.
    pub(crate) api_listen: Option<At<WrittenListen>>,
    pub(crate) providers: Vec<WrittenProvider>,
    pub(crate) policies: Option<At<Vec<WrittenPolicy>>>,
    /// The policy that shares the file with the settings.
    pub(crate) own_policy: Option<Node>,
    pub(crate) protect: Option<At<Protect>>,
    pub(crate) inbound: Option<At<Inbound>>,
    pub(crate) on_deny: Option<At<OnDeny>>,
    pub(crate) continuing: WrittenContinue,
    pub(crate) malformed: Option<At<Malformed>>,
    pub(crate) oversize: Option<At<Oversize>>,
    pub(crate) arguments: Option<At<OddArguments>>,
    pub(crate) limits: WrittenLimits,
    pub(crate) gateway: WrittenGateway,
    pub(crate) audit: WrittenAudit,
    pub(crate) mcp: WrittenMcp,
    /// Tools for the catalogue.
    pub(crate) tools: Vec<Entry>,
    pub(crate) denial: WrittenDenial,
}

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenStore {
    Sqlite(String),
    Memory,
}

/// Where the API listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenListen {
    Path(String),
    Off,
}

/// A provider.
#[derive(Debug)]
pub(crate) struct WrittenProvider {
    pub(crate) name: At<String>,
    pub(crate) base_url: Option<At<Url>>,
    pub(crate) dialect: Option<At<Dialect>>,
    pub(crate) api_key_env: Option<At<String>>,
    pub(crate) sign: Option<At<Sign>>,
}

/// An entry of `policies`.
#[derive(Debug)]
pub(crate) enum WrittenPolicy {
    /// A file, a glob or a built-in policy.
    Named(At<String>),
    /// A built-in policy with something taken away.
    Relaxed(Relaxation),
    /// A policy.
    Inline(Node),
}

/// `limits`.
#[derive(Debug, Default)]
pub(crate) struct WrittenLimits {
    pub(crate) arguments: Option<At<u64>>,
    pub(crate) frame: Option<At<u64>>,
    pub(crate) body: Option<At<u64>>,
    pub(crate) held: Option<At<u64>>,
    pub(crate) calls: Option<At<u64>>,
    pub(crate) request: Option<At<u64>>,
    pub(crate) connections: Option<At<u64>>,
}

/// `gateway`.
#[derive(Debug, Default)]
pub(crate) struct WrittenGateway {
    pub(crate) mode: Option<At<Mode>>,
    pub(crate) passthrough: Option<At<Vec<String>>>,
    pub(crate) workers: Option<At<u64>>,
    pub(crate) connect_timeout: Option<At<Duration>>,
    pub(crate) head_timeout: Option<At<Duration>>,
    pub(crate) idle_timeout: Option<At<Duration>>,
    pub(crate) client_head_timeout: Option<At<Duration>>,
    pub(crate) client_body_timeout: Option<At<Duration>>,
    pub(crate) client_body_total_timeout: Option<At<Duration>>,
    pub(crate) shutdown_timeout: Option<At<Duration>>,
}

/// `audit`. `Some(None)` is the word `none`.
#[derive(Debug, Default)]
pub(crate) struct WrittenAudit {
    pub(crate) durability: Option<At<Durability>>,
    pub(crate) on_failure: Option<At<OnFailure>>,
    pub(crate) session_idle: Option<At<Duration>>,
    pub(crate) age: Option<At<Option<Duration>>>,
    pub(crate) records: Option<At<Option<u64>>>,
    pub(crate) size: Option<At<Option<u64>>>,
}

/// Reads a config file. Reports every problem and reads on.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Written> {
    let root = parse(source, problems)?;
    if root.value == Yaml::Null {
        // A file is empty for a moment while it is written. That must not mean the defaults.
        problems
            .add(root.span, "this file is empty")
            .hint("`{}` is a config with nothing but defaults");
        return None;
    }
    let fields = Fields::of(&root, "a config file", problems)?;
    check_keys(&fields, problems);
    let policies = fields.get("policies").map(|node| policies(node, problems));
    let own_policy = own_policy(&fields, policies.is_some(), problems);
    let file = Section::root(&fields);
    Some(Written {
        listen: file.address("listen", problems),
        store: file.store("store", problems),
        api_listen: file.section("api", problems).socket("listen", problems),
        providers: fields.get("providers").map(|n| read_providers(n, problems)).unwrap_or_default(),
        policies,
        own_policy,
        protect: file.word("protect", problems),
        inbound: file.word("inbound", problems),
        on_deny: file.word("on_deny", problems),
        continuing: continuing::continuing(&file.section("continue", problems), problems),
        malformed: file.word("malformed", problems),
        oversize: file.word("oversize", problems),
        arguments: file.word("arguments", problems),
        limits: limits(&file.section("limits", problems), problems),
        gateway: gateway(&file.section("gateway", problems), problems),
        audit: audit(&file.section("audit", problems), problems),
        mcp: mcp::mcp(&file.section("mcp", problems), problems),
        tools: tools::tools(&file, problems),
        denial: denial::denial(&file.section("denial", problems), problems),
    })
}

/// The file's keys are those of the settings and those of a policy.
fn check_keys(fields: &Fields<'_>, problems: &mut Problems<'_>) {
    let settings: Vec<&str> = fields::in_section("").map(fields::Field::key).collect();
    let known = || settings.iter().chain(POLICY_KEYS).copied();
    for (key, _) in fields.entries {
        if known().any(|known| known == key.name) {
            continue;
        }
        let hint = did_you_mean(&key.name, known()).unwrap_or_else(|| {
            let (settings, policy) = (settings.join(", "), POLICY_KEYS.join(", "));
            format!("settings are {settings}; a policy has {policy}")
        });
        problems.add(key.span, format!("unknown key `{}`", key.name)).hint(hint);
    }
}

/// The policy whose keys are in the same file as the settings.
fn own_policy(fields: &Fields<'_>, listed: bool, problems: &mut Problems<'_>) -> Option<Node> {
    let is_policy_key = |name: &str| POLICY_KEYS.contains(&name);
    let own: Vec<_> =
        fields.entries.iter().filter(|(key, _)| is_policy_key(&key.name)).cloned().collect();
    let (first, _) = own.first()?;
    if listed {
        problems
            .add(first.span, format!("a file cannot have both `{}` and `policies`", first.name))
            .hint("make this policy an entry of the list, or a file of its own");
        return None;
    }
    Some(Node { span: first.span, value: Yaml::Map(own) })
}

fn policies(node: &Node, problems: &mut Problems<'_>) -> At<Vec<WrittenPolicy>> {
    let mut value = Vec::new();
    for item in list(node, "`policies`", problems) {
        match &item.value {
            _ if Relaxation::is_one(item) => {
                value.extend(Relaxation::read(item, problems).map(WrittenPolicy::Relaxed));
            }
            Yaml::Map(_) => value.push(WrittenPolicy::Inline(item.clone())),
            _ => value.extend(
                callgate_document::text(item, "an entry of `policies`", problems)
                    .map(WrittenPolicy::Named),
            ),
        }
    }
    At { value, span: node.span }
}

fn read_providers(node: &Node, problems: &mut Problems<'_>) -> Vec<WrittenProvider> {
    let Some(fields) = Fields::of(node, "`providers`", problems) else { return Vec::new() };
    let read = fields.entries.iter().map(|(key, node)| {
        providers::check_name(&key.name, key.span, problems);
        let shown = format!("providers.{}", key.name);
        let section = Section::named(&format!("providers.{ANY}"), &shown, node, problems);
        if providers::KNOWN.iter().all(|known| known.name != key.name) {
            section.require(&["base_url", "dialect"], key, problems);
        }
        let provider = WrittenProvider {
            name: At { value: key.name.clone(), span: key.span },
            base_url: section.url("base_url", problems),
            dialect: section.word("dialect", problems),
            api_key_env: section.variable("api_key_env", problems),
            sign: section.word("sign", problems),
        };
        check_signing(&provider, problems);
        provider
    });
    read.collect()
}

/// Signing is for Amazon only, and replaces a key.
fn check_signing(provider: &WrittenProvider, problems: &mut Problems<'_>) {
    let Some(sign) = &provider.sign else { return };
    let name = &provider.name.value;
    let known = providers::KNOWN.iter().find(|known| known.name == *name);
    let dialect = provider.dialect.as_ref().map(|at| at.value);
    let dialect = dialect.or(known.map(|known| known.dialect));
    let base_url = provider.base_url.as_ref().map(|at| &at.value);
    if let Err((why, hint)) = aws::check(dialect, base_url) {
        problems.add(sign.span, format!("`providers.{name}.sign`: {why}")).hint(hint);
    } else if known.is_some() && base_url.is_none() {
        problems
            .add(sign.span, format!("`providers.{name}.sign` needs a `base_url` of Amazon's"))
            .hint("for example https://bedrock-runtime.eu-central-1.amazonaws.com");
    }
    if let Some(variable) = &provider.api_key_env {
        problems
            .add(variable.span, format!("`providers.{name}` has both `api_key_env` and `sign`"))
            .hint("remove one of them: a request carries either a key or a signature");
    }
}

fn limits(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenLimits {
    WrittenLimits {
        arguments: section.size("arguments", problems),
        frame: section.size("frame", problems),
        body: section.size("body", problems),
        held: section.size("held", problems),
        calls: section.count("calls", problems),
        request: section.size("request", problems),
        connections: section.count("connections", problems),
    }
}

fn gateway(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenGateway {
    WrittenGateway {
        mode: section.word("mode", problems),
        passthrough: section.paths("passthrough", problems),
        workers: section.count("workers", problems),
        connect_timeout: section.duration("connect_timeout", problems),
        head_timeout: section.duration("head_timeout", problems),
        idle_timeout: section.duration("idle_timeout", problems),
        client_head_timeout: section.duration("client_head_timeout", problems),
        client_body_timeout: section.duration("client_body_timeout", problems),
        client_body_total_timeout: section.duration("client_body_total_timeout", problems),
        shutdown_timeout: section.duration("shutdown_timeout", problems),
    }
}

fn audit(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenAudit {
    let retention = section.section("retention", problems);
    WrittenAudit {
        durability: section.word("durability", problems),
        on_failure: section.word("on_failure", problems),
        session_idle: section.duration("session_idle", problems),
        age: retention.or_none("age", problems, Section::duration),
        records: retention.or_none("records", problems, Section::count),
        size: retention.or_none("size", problems, Section::size),
    }
}

#[cfg(test)]
pub(crate) mod tests;
