//! `callgate policy list --for USER`: what applies to a caller, in words.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_call::{
    Arguments, CallId, Origin, OriginFields, Principal, Surface, ToolCall, ToolName,
};
use callgate_config::PolicySet;
use callgate_decide::mcp::{McpSettings, refused_by_lists};
use callgate_decide::now;
use callgate_policy::{
    CallerRule, ConditionExplanation, Policies, SELF_PROTECTION, SpentLimits, Verdict,
};
use serde::Serialize;

use super::words;
use crate::args::CallerArgs;
use crate::exit::Exit;
use crate::render::{self, printable, rule_name};
use crate::report;

/// What applies to a caller.
#[derive(Debug, Default, Serialize)]
struct Applying {
    caller: BTreeMap<&'static str, String>,
    blocked: Vec<AppliesLine>,
    restricted: Vec<AppliesLine>,
    asked: Vec<AppliesLine>,
    limited: Vec<AppliesLine>,
    /// Recorded, or rewritten, and not stopped.
    watched: Vec<AppliesLine>,
    allowed: Vec<AppliesLine>,
    /// What no rule decides.
    otherwise: Vec<AppliesLine>,
    servers: Vec<AppliesLine>,
}

/// One thing that applies, and why.
#[derive(Debug, Serialize)]
struct AppliesLine {
    what: String,
    /// The rule, default or list.
    by: String,
    /// Whether it only applies because something about the caller is not known.
    unsure: bool,
}

pub(in crate::commands::policy) fn run(
    set: &PolicySet,
    caller: &CallerArgs,
    json: bool,
    config: Option<&Path>,
) -> Result<Exit> {
    let none = Policies::none();
    let policies = set.compiled.as_ref().unwrap_or(&none);
    let mut applying = Applying { caller: caller.fields(), ..Applying::default() };
    applying.add_rules(policies, &origin(caller));
    applying.add_servers(&callgate_config::mcp_settings(config)?.0);
    render::print(&match json {
        true => report::line(&applying)?,
        false => applying.text(),
    })?;
    Ok(Exit::Success)
}

fn origin(caller: &CallerArgs) -> OriginFields {
    let mut origin = OriginFields::at(Surface::Response);
    origin.who = Principal {
        org: caller.org.clone(),
        team: caller.team.clone(),
        user: caller.user.clone(),
        key: caller.key.clone(),
    };
    origin.agent = caller.agent.clone();
    origin.agent_proven = caller.agent.is_some();
    origin
}

impl Applying {
    fn add_rules(&mut self, policies: &Policies, origin: &OriginFields) {
        let conditions = conditions(policies, origin);
        let (rules, defaults) = policies.for_caller(origin);
        for CallerRule { info, is_certain } in rules {
            if info.policy == SELF_PROTECTION {
                continue;
            }
            let name = (info.policy.clone(), info.id.clone());
            let condition = conditions.get(&name).and_then(Option::as_ref);
            let restriction = condition.and_then(words::of_restriction);
            let stops = !info.verdict.passes() && !info.shadow;
            let what = match (&restriction, &info.blocks, condition) {
                (Some(restriction), ..) if stops => restriction.clone(),
                (_, Some(blocks), _) => blocks.clone(),
                (_, None, Some(condition)) => words::of(condition),
                (_, None, None) => "every call".to_owned(),
            };
            let mut what = with_tools(what, &info.tools, &info.servers);
            let list = match info.verdict {
                _ if info.shadow => &mut self.watched,
                _ if info.limit.is_some() => &mut self.limited,
                Verdict::Deny if restriction.is_some() => &mut self.restricted,
                Verdict::Deny => &mut self.blocked,
                Verdict::Ask | Verdict::Review if restriction.is_some() => &mut self.restricted,
                Verdict::Ask | Verdict::Review => &mut self.asked,
                Verdict::Allow => &mut self.allowed,
                _ => &mut self.watched,
            };
            if let Some((rate, _)) = info.limit {
                what = format!("{what}: more than {} in {} s", rate.calls, rate.seconds);
            }
            if restriction.is_some() && stops && info.verdict != Verdict::Deny {
                what.push_str("; anything else is asked about");
            }
            let by = rule_name(Some(&info.policy), Some(&info.id));
            list.push(AppliesLine { what, by, unsure: !is_certain });
        }
        if policies.rules().any(|rule| rule.policy == SELF_PROTECTION) {
            let what = "changing callgate itself: its files, settings and processes".to_owned();
            self.blocked.push(AppliesLine { what, by: SELF_PROTECTION.to_owned(), unsure: false });
        }
        for default in defaults.into_iter().filter(|default| default.policy != SELF_PROTECTION) {
            let surfaces: Vec<&str> = default.surfaces.iter().map(|it| it.as_str()).collect();
            let shadow = if default.shadow { ", in shadow mode" } else { "" };
            let what = format!("{}{shadow}, at {}", passive(default.verdict), surfaces.join(", "));
            let by = rule_name(Some(&default.policy), None);
            self.otherwise.push(AppliesLine { what, by, unsure: false });
        }
    }

    /// The declared MCP servers, as far as lists decide about a whole server.
    fn add_servers(&mut self, settings: &McpSettings) {
        for entry in &settings.servers {
            let name = entry.id.as_str();
            let tool = ToolName::parse(&format!("mcp__{name}__*"));
            let refusal = tool.ok().and_then(|tool| refused_by_lists(settings, &tool));
            let line = match refusal {
                Some(refusal) => (format!("{name}: blocked"), refusal.rule.to_owned()),
                None => (format!("{name}: open, as far as the rules above allow"), String::new()),
            };
            self.servers.push(AppliesLine { what: line.0, by: line.1, unsure: false });
        }
    }

    fn text(&self) -> String {
        let caller: Vec<String> =
            self.caller.iter().map(|(key, value)| format!("{key} {}", printable(value))).collect();
        let mut text = format!("what applies to {}\n", caller.join(", "));
        let sections = [
            ("blocked", &self.blocked),
            ("restricted", &self.restricted),
            ("asked about first", &self.asked),
            ("limited", &self.limited),
            ("only recorded or rewritten", &self.watched),
            ("allowed", &self.allowed),
            ("everything else is", &self.otherwise),
            ("MCP servers", &self.servers),
        ];
        for (head, lines) in sections {
            if lines.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{head}\n"));
            for AppliesLine { what, by, unsure } in lines {
                let by = if by.is_empty() { String::new() } else { format!("  ({by})") };
                let unsure = match unsure {
                    true => "  [it is not known whether this applies, so it does]",
                    false => "",
                };
                text.push_str(&format!("  {}{by}{unsure}\n", printable(&cut(what))));
            }
        }
        text
    }
}

/// The condition of every rule. Explaining any call shows them all.
pub(in crate::commands::policy) fn conditions(
    policies: &Policies,
    origin: &OriginFields,
) -> BTreeMap<(String, String), Option<ConditionExplanation>> {
    let Ok(name) = ToolName::parse("none") else { return BTreeMap::new() };
    let call = ToolCall {
        id: CallId::from(""),
        name,
        arguments: Arguments::json("{}"),
        origin: Origin::new(origin.clone()),
        caller: None,
    };
    let explained = policies.explain(&call, &now(), &SpentLimits::none());
    explained.into_iter().map(|rule| ((rule.policy, rule.rule), rule.when)).collect()
}

fn with_tools(what: String, tools: &[String], servers: &[String]) -> String {
    let tools = tools.join(", ");
    let servers = servers.join(", ");
    match (tools.is_empty(), servers.is_empty()) {
        (true, true) => what,
        (false, true) => format!("{tools}: {what}"),
        (true, false) => format!("server {servers}: {what}"),
        (false, false) => format!("{tools} of server {servers}: {what}"),
    }
}

fn passive(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Deny => "blocked",
        Verdict::Ask | Verdict::Review => "asked about",
        Verdict::Audit => "allowed, and recorded",
        _ => "allowed",
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The longest description of a rule.
const MAX_TEXT: usize = 160;
