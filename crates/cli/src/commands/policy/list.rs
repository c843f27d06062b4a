//! `callgate policy list`: the rules in force.

use std::collections::BTreeMap;

use anyhow::Result;
use callgate_policy::{Policies, RuleInfo, TextRuleInfo};
use serde::Serialize;

use crate::exit::Exit;
use crate::render;
use crate::report;

pub(crate) fn run(policies: &Policies, json: bool) -> Result<Exit> {
    let text = if json {
        let rules = policies.rules().map(|rule| report::line(&Listed::of(&rule)));
        let texts = policies.text_rules().map(|rule| report::line(&ListedText::of(&rule)));
        rules.chain(texts).collect::<Result<_, _>>()?
    } else {
        let head =
            ["policy", "rule", "verdict", "priority", "tools", "arguments", "surfaces", "reason"];
        let rows: Vec<_> = policies.rules().map(|rule| row(&rule)).collect();
        let texts: Vec<_> = policies.text_rules().map(|rule| text_row(&rule)).collect();
        let mut tables = Vec::new();
        if !rows.is_empty() || texts.is_empty() {
            tables.push(render::table(head, &rows));
        }
        if !texts.is_empty() {
            let head = ["policy", "text rule", "verdict", "in", "looks for", "reason"];
            tables.push(render::table(head, &texts));
        }
        tables.join("\n")
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

fn row(rule: &RuleInfo) -> [String; 8] {
    let tools = if rule.tools.is_empty() { "(every)".to_owned() } else { rule.tools.join(",") };
    let shadow = if rule.shadow { " (shadow)" } else { "" };
    [
        named(&rule.policy, "for", &rule.audience),
        named(&rule.id, "who", &rule.who),
        format!("{}{shadow}", rule.verdict),
        rule.priority.to_string(),
        tools,
        if rule.needs_arguments { "needed" } else { "-" }.to_owned(),
        surfaces(rule).join(","),
        rule.reason.clone(),
    ]
}

fn text_row(rule: &TextRuleInfo) -> [String; 6] {
    let shadow = if rule.shadow { " (shadow)" } else { "" };
    [
        named(&rule.policy, "for", &rule.audience),
        rule.id.clone(),
        format!("{}{shadow}", rule.action.as_str()),
        directions(rule).join(","),
        rule.patterns.join(", "),
        rule.reason.clone(),
    ]
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

/// A name, and whom it is for unless that is everybody: `p (for team=payments)`.
fn named(name: &str, word: &str, whom: &[(&'static str, Vec<String>)]) -> String {
    let whom = whom.iter().map(|(key, globs)| format!("{key}={}", globs.join("|")));
    let whom: Vec<String> = whom.collect();
    match whom.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({word} {})", whom.join(" ")),
    }
}

fn by_key<'a>(named: &'a [(&'static str, Vec<String>)]) -> BTreeMap<&'static str, &'a [String]> {
    named.iter().map(|(key, globs)| (*key, globs.as_slice())).collect()
}

fn directions(rule: &TextRuleInfo) -> Vec<&'static str> {
    rule.directions.iter().map(|direction| direction.as_str()).collect()
}

/// A rule as a JSON line.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    policy: &'a str,
    rule: &'a str,
    /// Whom the policy is for; nothing is everybody.
    #[serde(rename = "for", skip_serializing_if = "BTreeMap::is_empty")]
    whom: BTreeMap<&'static str, &'a [String]>,
    /// Whom the rule is for, likewise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    who: BTreeMap<&'static str, &'a [String]>,
    verdict: &'static str,
    priority: i64,
    shadow: bool,
    /// As written; none is every tool.
    tools: &'a [String],
    needs_arguments: bool,
    surfaces: Vec<&'static str>,
    reason: &'a str,
    hint: Option<&'a str>,
    blocks: Option<&'a str>,
}

impl<'a> Listed<'a> {
    fn of(rule: &'a RuleInfo) -> Self {
        Self {
            policy: &rule.policy,
            rule: &rule.id,
            whom: by_key(&rule.audience),
            who: by_key(&rule.who),
            verdict: rule.verdict.as_str(),
            priority: rule.priority,
            shadow: rule.shadow,
            tools: &rule.tools,
            needs_arguments: rule.needs_arguments,
            surfaces: surfaces(rule),
            reason: &rule.reason,
            hint: rule.hint.as_deref(),
            blocks: rule.blocks.as_deref(),
        }
    }
}

fn surfaces(rule: &RuleInfo) -> Vec<&'static str> {
    rule.surfaces.iter().map(|surface| surface.as_str()).collect()
}
