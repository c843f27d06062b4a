//! `requirements.toml` (and managed config) of Codex: what an administrator enforces.

use callgate_document::{Node, Yaml};

use super::codex_rules::{Prefix, decision, policy_of};
use super::context::ImportContext;
use super::servers;
use crate::draft::{DraftRule, DraftVerdict, PolicyDraft, When};
use crate::read::{self, get, items, text};

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = read::toml::read(context.source, &mut context.problems)?;
    let mut rules = Vec::new();
    if let Some(node) = get(&root, "rules") {
        rules.extend(prefix_rules(context, node));
    }
    if let Some(node) = get(&root, "experimental_network") {
        rules.extend(network(context, node));
    }
    if let Some(node) = get(&root, "allowed_web_search_modes") {
        rules.extend(web_search(context, node));
    }
    let mut policies = Vec::new();
    if let Some(node) = get(&root, "mcp_servers") {
        let names = server_names(context, node);
        policies.push(servers::only(context, node.span, "mcp_servers", "codex-servers", names));
    }
    let known = ["rules", "experimental_network", "mcp_servers", "allowed_web_search_modes"];
    let why = "this requirement is about Codex itself (its sandbox, approvals, hooks or account) and has no counterpart";
    context.other_keys(&root, &known, why);
    let mut policy = policy_of(context, rules);
    if policy.rules.is_empty() {
        policy.default = Some("allow");
    }
    policies.insert(0, policy);
    Some(PolicyDraft { policies })
}

fn prefix_rules(context: &mut ImportContext<'_>, node: &Node) -> Vec<DraftRule> {
    context.other_keys(node, &["prefix_rules"], "this key of `rules` is not known");
    let mut rules = Vec::new();
    for entry in get(node, "prefix_rules").map(items).unwrap_or_default() {
        let Some(pattern) = get(entry, "pattern") else {
            context.problem(entry.span, "this rule has no `pattern`");
            continue;
        };
        let mut words = Vec::new();
        for token in items(pattern) {
            let alternatives = match (get(token, "token"), get(token, "any_of")) {
                (Some(one), None) => items(one),
                (None, Some(several)) => items(several),
                _ => &[],
            };
            let texts: Vec<String> =
                alternatives.iter().filter_map(text).map(str::to_owned).collect();
            if texts.is_empty() || texts.len() != alternatives.len() {
                context
                    .problem(token.span, "an element of `pattern` must have `token` or `any_of`");
            }
            words.push(texts);
        }
        let decided = get(entry, "decision").and_then(|node| decision(context, node));
        match decided {
            None => context.problem(entry.span, "this rule has no `decision`"),
            Some(DraftVerdict::Allow) => {
                context.problem(entry.span, "`allow` is not permitted in requirements");
            }
            Some(_) if words.is_empty() => context.problem(entry.span, "`pattern` is empty"),
            Some(decided) => {
                let mut prefix = Prefix::of_requirements(entry.span, words, decided);
                prefix.reason = get(entry, "justification").and_then(text).map(str::to_owned);
                rules.push(prefix.restricting(context));
            }
        }
    }
    rules
}

/// Denied domains, and the list of allowed ones if no others may be used.
fn network(context: &mut ImportContext<'_>, node: &Node) -> Vec<DraftRule> {
    let hosts = |key: &str| -> Vec<String> {
        let list = get(node, key).map(items).unwrap_or_default();
        list.iter().filter_map(text).map(str::to_owned).collect()
    };
    let (mut allowed, mut denied) = (hosts("allowed_domains"), hosts("denied_domains"));
    if let Some(Yaml::Map(entries)) = get(node, "domains").map(|node| &node.value) {
        for (key, value) in entries {
            match text(value) {
                Some("allow") => allowed.push(key.name.clone()),
                Some("deny") => denied.push(key.name.clone()),
                _ => context.problem(value.span, "a domain is either `allow` or `deny`"),
            }
        }
    }
    let mut rules = Vec::new();
    if !denied.is_empty() {
        let mut rule = context.rule(node.span, "denied domains", DraftVerdict::Deny);
        rule.when = Some(When::Effect("connects", denied));
        rules.push(rule);
    }
    let only = matches!(
        get(node, "managed_allowed_domains_only").map(|it| &it.value),
        Some(Yaml::Bool(true))
    );
    if only {
        let mut rule = context.rule(node.span, "domains that are not listed", DraftVerdict::Deny);
        rule.when = Some(match allowed.is_empty() {
            true => When::Effect("connects", vec!["*".to_owned()]),
            false => When::EffectNot("connects", allowed),
        });
        rules.push(rule);
    } else if !allowed.is_empty() {
        let why = "an allowed domain says nothing about the command that connects to it";
        context.left_out(node.span, "allowed domains", why);
    }
    let known = ["domains", "allowed_domains", "denied_domains", "managed_allowed_domains_only"];
    context.other_keys(node, &known, "this setting of Codex' network proxy has no counterpart");
    rules
}

fn web_search(context: &mut ImportContext<'_>, node: &Node) -> Option<DraftRule> {
    let modes: Vec<&str> = items(node).iter().filter_map(text).collect();
    if modes.iter().any(|mode| *mode != "disabled") {
        context.left_out(
            node.span,
            "allowed_web_search_modes",
            "the modes of web search are not told apart",
        );
        return None;
    }
    let mut rule = context.rule(node.span, "web search", DraftVerdict::Deny);
    rule.tools = vec!["web_search".to_owned()];
    Some(rule)
}

fn server_names(context: &mut ImportContext<'_>, node: &Node) -> Vec<String> {
    let Yaml::Map(entries) = &node.value else {
        context.problem(node.span, "`mcp_servers` must be a table");
        return Vec::new();
    };
    for (key, value) in entries {
        if get(value, "identity").is_some() {
            let why = "only the name of the server is compared: set `command` or `url` under `mcp.servers`";
            context.left_out(key.span, &key.name, why);
        }
    }
    entries.iter().map(|(key, _)| key.name.clone()).collect()
}
