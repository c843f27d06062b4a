//! `callgate.yaml` as written: every setting optional, every value with its place.

mod denial;
mod lists;
pub(crate) mod mcp;
pub(crate) mod read;
pub(crate) mod tools;

use callgate_dialect::Dialect;
use callgate_document::{At, Mapping, Node, Problems, Source, Yaml, did_you_mean, list, parse};
use callgate_effects::Entry;
use callgate_policy::{POLICY_KEYS, Relaxation};
use url::Url;

use crate::aws;
use crate::fields::{self, ANY};
use crate::providers;
use crate::values::SettingValues;
use crate::words::RequestSigning;
use denial::WrittenDenial;
use mcp::WrittenMcp;
use read::Section;

/// A config file.
#[derive(Debug, Default)]
pub struct WrittenConfig {
    /// The settings that are one value each.
    pub(crate) values: SettingValues,
    pub(crate) store: Option<At<WrittenStore>>,
    /// `api.listen`.
    pub(crate) api_listen: Option<At<WrittenListen>>,
    pub(crate) providers: Vec<WrittenProvider>,
    pub(crate) policies: Option<At<Vec<WrittenPolicy>>>,
    /// The policy that shares the file with the settings.
    pub(crate) own_policy: Option<Node>,
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
    pub(crate) sign: Option<At<RequestSigning>>,
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

/// Reads a config file. Reports every problem and reads on.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<WrittenConfig> {
    let root = parse(source, problems)?;
    if root.value == Yaml::Null {
        // A file is empty for a moment while it is written. That must not mean the defaults.
        problems
            .add(root.span, "this file is empty")
            .hint("`{}` is a config with nothing but defaults");
        return None;
    }
    let fields = Mapping::of(&root, "a config file", problems)?;
    check_keys(&fields, problems);
    let policies = fields.get("policies").map(|node| policies(node, problems));
    let own_policy = own_policy(&fields, policies.is_some(), problems);
    let file = Section::root(&fields);
    let mut values = SettingValues::default();
    values.read(&file, problems);
    Some(WrittenConfig {
        values,
        store: file.store("store", problems),
        api_listen: file.inside("api").socket("listen", problems),
        providers: fields.get("providers").map(|n| read_providers(n, problems)).unwrap_or_default(),
        policies,
        own_policy,
        mcp: mcp::mcp(&file.inside("mcp"), problems),
        tools: tools::tools(&file, problems),
        denial: denial::denial(&file.inside("denial"), problems),
    })
}

/// The file's keys are those of the settings and those of a policy.
fn check_keys(fields: &Mapping<'_>, problems: &mut Problems<'_>) {
    let settings: Vec<&str> = fields::in_section("").map(fields::SettingRow::key).collect();
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
fn own_policy(fields: &Mapping<'_>, listed: bool, problems: &mut Problems<'_>) -> Option<Node> {
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
    let Some(fields) = Mapping::of(node, "`providers`", problems) else { return Vec::new() };
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

#[cfg(test)]
pub(crate) mod tests;
