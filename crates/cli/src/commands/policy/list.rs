//! `callgate policy list`: the rules in force, and everything that restricts each of them.

pub(super) mod whom;
mod words;

use std::collections::BTreeMap;

use anyhow::Result;
use callgate_call::Surface;
use callgate_config::{PolicySet, Relaxed};
use callgate_policy::{DefaultInfo, LimitBy, Policies, Rate, RuleInfo, TextRuleInfo};
use serde::Serialize;

use crate::exit::Exit;
use crate::render::{self, count, rule_name};
use crate::report;
use crate::table::{Fit, Listing};

/// How the list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListFormat {
    Json,
    Table(Fit),
}

pub(crate) fn run(set: &PolicySet, output: ListFormat) -> Result<Exit> {
    let none = Policies::none();
    let policies = set.compiled.as_ref().unwrap_or(&none);
    let text: String = match output {
        ListFormat::Json => {
            let rules = policies.rules().map(|rule| report::line(&ListedRule::of(&rule)));
            let defaults = policies.defaults().map(|it| report::line(&ListedDefault::of(&it)));
            let texts = policies.text_rules().map(|rule| report::line(&ListedText::of(&rule)));
            let relaxed = set.relaxed.iter().map(|it| report::line(&ListedRelaxed::of(it)));
            rules.chain(defaults).chain(texts).chain(relaxed).collect::<Result<String, _>>()?
        }
        ListFormat::Table(fit) => {
            let relaxed =
                set.relaxed.iter().map(|it| format!("\nrelaxed: {} {}\n", it.policy, it.what));
            std::iter::once(tables(policies, fit)).chain(relaxed).collect()
        }
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

fn tables(policies: &Policies, fit: Fit) -> String {
    let head = ["rule", "verdict", "tools", "only if", "priority", "reason"];
    let mut rules = Listing::new(head).least(0, 16).whole(1).least(3, 14).painted(1).fit(fit);
    policies.rules().for_each(|rule| rules.row(row(&rule)));
    policies.defaults().for_each(|default| rules.row(default_row(&default)));
    let mut text = rules.text();
    if policies.text_rules().next().is_some() {
        let head = ["text rule", "verdict", "in", "only if", "looks for", "reason"];
        let mut texts = Listing::new(head).least(0, 16).whole(1).painted(1).fit(fit);
        policies.text_rules().for_each(|rule| texts.row(text_row(&rule)));
        text.push('\n');
        text.push_str(&texts.text());
    }
    text
}

fn row(rule: &RuleInfo) -> [String; 6] {
    [
        rule_name(Some(&rule.policy), Some(&rule.id)),
        verdict(rule.verdict.as_str(), rule.shadow),
        if rule.tools.is_empty() { EVERY.to_owned() } else { rule.tools.join(",") },
        restrictions(rule).join("; "),
        match rule.priority {
            DEFAULT_PRIORITY => String::new(),
            other => other.to_string(),
        },
        rule.reason.clone(),
    ]
}

fn default_row(default: &DefaultInfo) -> [String; 6] {
    let mut only: Vec<String> = named(&default.audience).collect();
    only.extend(surface_restriction(&default.surfaces));
    [
        rule_name(Some(&default.policy), None),
        verdict(default.verdict.as_str(), default.shadow),
        EVERY.to_owned(),
        only.join("; "),
        String::new(),
        "no rule of this policy decides".to_owned(),
    ]
}

fn text_row(rule: &TextRuleInfo) -> [String; 6] {
    [
        rule_name(Some(&rule.policy), Some(&rule.id)),
        verdict(rule.action.as_str(), rule.shadow),
        directions(rule).join(","),
        named(&rule.audience).collect::<Vec<_>>().join("; "),
        rule.patterns.join(", "),
        rule.reason.clone(),
    ]
}

/// Stands for every tool, with or without a server.
const EVERY: &str = "(every)";

/// The priority of rules that do not set one; not worth a column.
const DEFAULT_PRIORITY: i64 = 100;

fn verdict(word: &str, shadow: bool) -> String {
    if shadow { format!("{word} (shadow)") } else { word.to_owned() }
}

/// Everything but the tool that has to hold before the rule matches.
fn restrictions(rule: &RuleInfo) -> Vec<String> {
    let mut only: Vec<String> = named(&rule.audience).chain(named(&rule.who)).collect();
    if !rule.servers.is_empty() {
        only.push(format!("server={}", rule.servers.join("|")));
    }
    only.extend(surface_restriction(&rule.surfaces));
    if rule.needs_arguments {
        only.push("arguments match".to_owned());
    }
    only.extend(rule.limit.as_ref().map(|(rate, by)| limit(*rate, by)));
    only
}

/// `team=payments`, for each key that is restricted.
fn named(whom: &[(&'static str, Vec<String>)]) -> impl Iterator<Item = String> {
    whom.iter().map(|(key, globs)| format!("{key}={}", globs.join("|")))
}

/// The surfaces of a rule that sets none: those where calls are seen.
const CALLS: [Surface; 3] = [Surface::Response, Surface::Mcp, Surface::Hook];

fn surface_restriction(surfaces: &[Surface]) -> Option<String> {
    let all = surfaces == CALLS || surfaces == Surface::ALL;
    let words: Vec<&str> = surfaces.iter().map(|surface| surface.as_str()).collect();
    (!all).then(|| format!("surface={}", words.join("|")))
}

/// `more than 5 calls per 60 s by session`.
fn limit(rate: Rate, by: &[LimitBy]) -> String {
    let by: Vec<&str> = by.iter().map(|by| by.as_str()).collect();
    let calls = count(usize::try_from(rate.calls).unwrap_or(usize::MAX), "call");
    format!("more than {calls} per {} s by {}", rate.seconds, by.join(" and "))
}

fn by_key<'a>(named: &'a [(&'static str, Vec<String>)]) -> BTreeMap<&'static str, &'a [String]> {
    named.iter().map(|(key, globs)| (*key, globs.as_slice())).collect()
}

fn directions(rule: &TextRuleInfo) -> Vec<&'static str> {
    rule.directions.iter().map(|direction| direction.as_str()).collect()
}

fn surfaces(surfaces: &[Surface]) -> Vec<&'static str> {
    surfaces.iter().map(|surface| surface.as_str()).collect()
}

/// A rule as a JSON line.
#[derive(Debug, Serialize)]
struct ListedRule<'a> {
    policy: &'a str,
    rule: &'a str,
    /// The callers that the policy applies to; without it, all.
    #[serde(rename = "for", skip_serializing_if = "BTreeMap::is_empty")]
    whom: BTreeMap<&'static str, &'a [String]>,
    /// The callers that the rule applies to; without it, all callers of the policy.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    who: BTreeMap<&'static str, &'a [String]>,
    verdict: &'static str,
    priority: i64,
    shadow: bool,
    /// As written; an empty list is every tool.
    tools: &'a [String],
    /// An empty list is every server, and tools without one.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    servers: &'a [String],
    needs_arguments: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<ListedLimit>,
    surfaces: Vec<&'static str>,
    reason: &'a str,
    hint: Option<&'a str>,
    blocks: Option<&'a str>,
}

/// The rate above which a rule matches.
#[derive(Debug, Serialize)]
struct ListedLimit {
    calls: u32,
    seconds: u32,
    burst: u32,
    by: Vec<&'static str>,
}

impl<'a> ListedRule<'a> {
    fn of(rule: &'a RuleInfo) -> Self {
        let limit = rule.limit.as_ref().map(|(rate, by)| ListedLimit {
            calls: rate.calls,
            seconds: rate.seconds,
            burst: rate.burst,
            by: by.iter().map(|by| by.as_str()).collect(),
        });
        Self {
            policy: &rule.policy,
            rule: &rule.id,
            whom: by_key(&rule.audience),
            who: by_key(&rule.who),
            verdict: rule.verdict.as_str(),
            priority: rule.priority,
            shadow: rule.shadow,
            tools: &rule.tools,
            servers: &rule.servers,
            needs_arguments: rule.needs_arguments,
            limit,
            surfaces: surfaces(&rule.surfaces),
            reason: &rule.reason,
            hint: rule.hint.as_deref(),
            blocks: rule.blocks.as_deref(),
        }
    }
}

/// What a policy does where none of its rules decides, as a JSON line.
#[derive(Debug, Serialize)]
struct ListedDefault<'a> {
    policy: &'a str,
    /// Always true: distinguishes these lines from those of rules.
    default: bool,
    #[serde(rename = "for", skip_serializing_if = "BTreeMap::is_empty")]
    whom: BTreeMap<&'static str, &'a [String]>,
    verdict: &'static str,
    shadow: bool,
    surfaces: Vec<&'static str>,
}

impl<'a> ListedDefault<'a> {
    fn of(default: &'a DefaultInfo) -> Self {
        Self {
            policy: &default.policy,
            default: true,
            whom: by_key(&default.audience),
            verdict: default.verdict.as_str(),
            shadow: default.shadow,
            surfaces: surfaces(&default.surfaces),
        }
    }
}

/// What is taken away from a built-in policy, as a JSON line.
#[derive(Debug, Serialize)]
struct ListedRelaxed<'a> {
    policy: &'a str,
    relaxed: &'a str,
}

impl<'a> ListedRelaxed<'a> {
    fn of(relaxed: &'a Relaxed) -> Self {
        Self { policy: &relaxed.policy, relaxed: &relaxed.what }
    }
}

/// A rule about text as a JSON line.
#[derive(Debug, Serialize)]
struct ListedText<'a> {
    policy: &'a str,
    text_rule: &'a str,
    #[serde(rename = "for", skip_serializing_if = "BTreeMap::is_empty")]
    whom: BTreeMap<&'static str, &'a [String]>,
    verdict: &'static str,
    shadow: bool,
    #[serde(rename = "in")]
    directions: Vec<&'static str>,
    looks_for: &'a [String],
    reason: &'a str,
    hint: Option<&'a str>,
}

impl<'a> ListedText<'a> {
    fn of(rule: &'a TextRuleInfo) -> Self {
        Self {
            policy: &rule.policy,
            text_rule: &rule.id,
            whom: by_key(&rule.audience),
            verdict: rule.action.as_str(),
            shadow: rule.shadow,
            directions: directions(rule),
            looks_for: &rule.patterns,
            reason: &rule.reason,
            hint: rule.hint.as_deref(),
        }
    }
}
