//! Which rules of a policy an agent can have as well.

use callgate_call::fold;
use callgate_document::{Node, SourceSpan, Yaml};
use callgate_effects::sets;
use callgate_policy::Globs;

use super::native::{Native, RuleSubject, TextPosition};
use super::{Agent, claude_code, codex, cursor, gemini, globs, opencode};
use crate::change::{DifferenceKind, RuleDifference};
use crate::draft::DraftVerdict;
use crate::read::{get, items, text};

/// A rule that denies or asks, and that no other rule can override.
pub(super) struct ExportableRule<'n> {
    node: &'n Node,
    source: usize,
    id: String,
    decision: DraftVerdict,
    tools: Vec<String>,
    servers: Vec<String>,
}

/// The rules of a policy that an agent may have. Reports all others.
pub(super) fn of_policy<'n>(
    policy: &'n Node,
    source: usize,
    agent: Agent,
    changes: &mut Vec<RuleDifference>,
) -> Vec<ExportableRule<'n>> {
    let name = get(policy, "policy").and_then(text).unwrap_or("policy");
    let mut report = |at: SourceSpan, rule: Option<&str>, message: &str| {
        let written = rule.map_or_else(|| name.to_owned(), |rule| format!("{name}/{rule}"));
        changes.push(RuleDifference {
            span: at,
            source,
            written,
            rule: None,
            kind: DifferenceKind::LeftOut,
            message: message.to_owned(),
        });
    };
    if let Some(why) = not_for_everyone(policy, agent) {
        report(policy.span, None, why);
        return Vec::new();
    }
    if let Some(default) = get(policy, "default").filter(|it| text(it) == Some("deny")) {
        report(
            default.span,
            None,
            "`default: deny` has no counterpart: the agent decides about other calls",
        );
    }
    if let Some(list) = get(policy, "text") {
        report(list.span, None, "text rules have no counterpart");
    }
    let rules = get(policy, "rules").map(items).unwrap_or_default();
    let mut exported = Vec::new();
    for node in rules {
        let id = get(node, "id").and_then(text).unwrap_or_default().to_owned();
        match reason_against(node, rules, agent) {
            Err(Some(why)) => report(node.span, Some(&id), &why),
            Err(None) => {}
            Ok(decision) => {
                let list = |key: &str| -> Vec<String> {
                    let list = get(node, key).map(items).unwrap_or_default();
                    list.iter().filter_map(text).map(str::to_owned).collect()
                };
                let (tools, servers) = (list("tool"), list("server"));
                exported.push(ExportableRule { node, source, id, decision, tools, servers });
            }
        }
    }
    exported
}

/// Why a whole policy cannot be exported.
fn not_for_everyone(policy: &Node, agent: Agent) -> Option<&'static str> {
    if get(policy, "mode").and_then(text) == Some("shadow") {
        return Some("the policy is in shadow mode");
    }
    let Some(Yaml::Map(audience)) = get(policy, "for").map(|node| &node.value) else { return None };
    let others =
        audience.iter().any(|(key, node)| key.name != "agent" || !names_agent(node, agent));
    others.then_some("the policy is for some callers only, whom the agent does not know")
}

fn names_agent(node: &Node, agent: Agent) -> bool {
    Globs::new(items(node).iter().filter_map(text)).matches(agent.as_str())
}

/// The decision of a rule, or why it is not exported; nothing if it restricts nothing.
fn reason_against(
    node: &Node,
    rules: &[Node],
    agent: Agent,
) -> Result<DraftVerdict, Option<String>> {
    let verdict = get(node, "verdict").and_then(text).unwrap_or_default();
    let decision = match verdict {
        "deny" => DraftVerdict::Deny,
        "ask" | "pending_approval" => DraftVerdict::Ask,
        "review" | "sample" => return Err(Some("no agent asks a second model".to_owned())),
        "sanitize" => return Err(Some("no agent replaces parts of a call".to_owned())),
        _ => return Err(None),
    };
    if get(node, "mode").and_then(text) == Some("shadow") {
        return Err(Some("the rule is in shadow mode".to_owned()));
    }
    for (key, why) in
        [("who", "the agent does not know who calls"), ("limit", "the agent does not count calls")]
    {
        if get(node, key).is_some() {
            return Err(Some(why.to_owned()));
        }
    }
    if get(node, "agent").is_some_and(|node| !names_agent(node, agent)) {
        return Err(None);
    }
    let surfaces = get(node, "surface").map(items).unwrap_or_default();
    let mut words = surfaces.iter().filter_map(text);
    if !surfaces.is_empty() && !words.any(|word| matches!(word, "response" | "hook" | "mcp")) {
        return Err(Some("the rule is not about calls of tools".to_owned()));
    }
    match first_to_decide(node, decision, rules) {
        Some(other) => Err(Some(format!("the rule `{other}` decides first, and is laxer"))),
        None => Ok(decision),
    }
}

/// A laxer rule with a lower priority number. It may match the same calls.
fn first_to_decide(node: &Node, decision: DraftVerdict, rules: &[Node]) -> Option<String> {
    let own = priority(node);
    let laxer = |rule: &&Node| {
        let verdict = get(rule, "verdict").and_then(text).unwrap_or_default();
        let is_laxer = match verdict {
            "allow" => true,
            "ask" | "pending_approval" | "review" | "sample" => decision == DraftVerdict::Deny,
            _ => false,
        };
        is_laxer && priority(rule) < own && get(rule, "mode").and_then(text) != Some("shadow")
    };
    let found = rules.iter().find(laxer)?;
    Some(get(found, "id").and_then(text).unwrap_or_default().to_owned())
}

fn priority(rule: &Node) -> i64 {
    match get(rule, "priority").map(|node| &node.value) {
        Some(Yaml::Number { json, .. }) => json.parse().unwrap_or(USUAL),
        _ => USUAL,
    }
}

/// The priority of a rule that sets none.
const USUAL: i64 = 100;

impl ExportableRule<'_> {
    /// The rules of the agent that cover this one, and a report of what they do not cover.
    pub(super) fn natives(&self, agent: Agent, changes: &mut Vec<RuleDifference>) -> Vec<Native> {
        let mut coverage = AgentCoverage::default();
        match get(self.node, "when") {
            None => self.whole(agent, &mut coverage),
            Some(when) => self.condition(when, &mut coverage),
        }
        let reason = get(self.node, "reason").and_then(text).map(str::to_owned);
        let mut natives = Vec::new();
        for subject in std::mem::take(&mut coverage.subjects) {
            let native = Native { decision: self.decision, subject, reason: reason.clone() };
            let accepted = match agent {
                Agent::ClaudeCode => claude_code::accepts(&native),
                Agent::Codex => codex::accepts(&native),
                Agent::Gemini => gemini::accepts(&native),
                Agent::Cursor => cursor::accepts(&native),
                Agent::Opencode => opencode::accepts(&native),
            };
            match accepted {
                Ok(()) if natives.contains(&native) => {}
                Ok(()) => natives.push(native),
                Err(why) => coverage.miss(why),
            }
        }
        self.report(&natives, coverage, changes);
        natives
    }

    fn report(
        &self,
        natives: &[Native],
        coverage: AgentCoverage,
        changes: &mut Vec<RuleDifference>,
    ) {
        if coverage.missing.is_empty() {
            return;
        }
        let kind =
            if natives.is_empty() { DifferenceKind::LeftOut } else { DifferenceKind::Partial };
        changes.push(RuleDifference {
            span: self.node.span,
            source: self.source,
            written: self.id.clone(),
            rule: None,
            kind,
            message: coverage.missing.join("; "),
        });
    }

    /// Every call of some tools.
    fn whole(&self, agent: Agent, coverage: &mut AgentCoverage) {
        if !self.servers.is_empty() {
            let every = ["*".to_owned()];
            let tools = if self.tools.is_empty() { every.as_slice() } else { &self.tools };
            for server in &self.servers {
                for tool in tools {
                    match tool.starts_with('@') && tool != "@mcp" {
                        true => coverage.miss("kinds of tools of a server have no counterpart"),
                        false => coverage.add(RuleSubject::ServerTool {
                            server: server.clone(),
                            tool: if tool == "@mcp" { "*".to_owned() } else { tool.clone() },
                        }),
                    }
                }
            }
            return;
        }
        if self.tools.is_empty() {
            return coverage.miss("a rule about every tool has no counterpart");
        }
        for tool in &self.tools {
            self.tool(tool, agent, coverage);
        }
    }

    fn tool(&self, tool: &str, agent: Agent, coverage: &mut AgentCoverage) {
        if tool == "@mcp" {
            let every = || "*".to_owned();
            return coverage.add(RuleSubject::ServerTool { server: every(), tool: every() });
        }
        if let Some((server, own)) = tool.strip_prefix("mcp__").and_then(|it| it.split_once("__")) {
            let (server, tool) = (server.to_owned(), own.replace('%', "*"));
            return coverage.add(RuleSubject::ServerTool { server, tool });
        }
        let names = tools_of(agent, tool);
        if names.is_empty() {
            return coverage.miss(format!("the agent has no tool `{tool}`"));
        }
        names.iter().for_each(|name| coverage.add(RuleSubject::Tool((*name).to_owned())));
    }

    /// Whether the rule is about tools of a kind, at least.
    fn is_about(&self, kinds: &[&str]) -> bool {
        let is_kind = |tool: &String| kinds.iter().any(|kind| tool == kind);
        self.servers.is_empty() && (self.tools.is_empty() || self.tools.iter().any(is_kind))
    }

    fn condition(&self, when: &Node, coverage: &mut AgentCoverage) {
        let Yaml::Map(entries) = &when.value else { return };
        match entries.as_slice() {
            [(key, list)] if key.name == "any" => {
                items(list).iter().for_each(|inner| self.condition(inner, coverage));
            }
            [(key, list)] if key.name == "all" && items(list).len() == 1 => {
                items(list).iter().for_each(|inner| self.condition(inner, coverage));
            }
            [(key, _)] if key.name == "all" => {
                coverage.miss("conditions that hold together have no counterpart");
            }
            [(key, node)] if key.name == "runs" => self.runs(node, coverage),
            [(key, node)] if key.name == "reads" && self.is_about(&["@read"]) => {
                coverage.miss("files are compared by their path, in the agent's own tools");
                self.paths(node, coverage, RuleSubject::Reads);
            }
            [(key, node)] if key.name == "writes" && self.is_about(&["@write", "@edit"]) => {
                coverage.miss("files are compared by their path, in the agent's own tools");
                self.paths(node, coverage, RuleSubject::Changes);
            }
            [(key, node)] if key.name == "connects" && self.is_about(&["@fetch"]) => {
                self.hosts(node, coverage);
            }
            [(key, _), ..] if key.name == "arg" => self.argument(when, coverage),
            [(key, _), ..] => coverage.miss(format!("`{}` has no counterpart", key.name)),
            [] => {}
        }
    }

    fn runs(&self, node: &Node, coverage: &mut AgentCoverage) {
        if !self.is_about(&["@shell"]) {
            return coverage.miss("`runs` for other tools than shells has no counterpart");
        }
        coverage.miss("commands are compared by their first words, and not inside of scripts");
        for item in items(node) {
            let words = match (text(item), get(item, "program")) {
                (Some(command), _) => command.split_whitespace().map(str::to_owned).collect(),
                (None, Some(programs)) if is_only_program(item) => {
                    for program in items(programs).iter().filter_map(text) {
                        coverage.command(vec![program.to_owned()]);
                    }
                    continue;
                }
                _ => {
                    coverage.miss("commands with `args` have no counterpart");
                    continue;
                }
            };
            coverage.command(words);
        }
    }

    fn paths(&self, node: &Node, coverage: &mut AgentCoverage, subject: fn(String) -> RuleSubject) {
        let list = match &node.value {
            Yaml::Map(entries) => match entries.as_slice() {
                [(key, list)] if key.name == "paths" => list,
                _ => return coverage.miss("`not` and `how` have no counterpart"),
            },
            _ => node,
        };
        let mut globs: Vec<String> = Vec::new();
        for item in items(list).iter().filter_map(text) {
            match item.strip_prefix('@') {
                None => globs.push(item.to_owned()),
                Some(set) => {
                    let known = sets::path_globs(set).unwrap_or_default();
                    globs.extend(known.iter().map(|glob| (*glob).to_owned()));
                }
            }
        }
        let (exceptions, globs): (Vec<_>, Vec<_>) =
            globs.into_iter().partition(|glob| glob.starts_with('!'));
        let globs: Vec<String> = globs.iter().flat_map(|glob| globs::alternatives(glob)).collect();
        for glob in &globs {
            if globs::is_only_folder(glob, &globs, &exceptions) {
                coverage.miss("a folder without all that is in it has no counterpart");
                continue;
            }
            if globs::has_drive(glob) {
                coverage.miss("paths with a drive have no counterpart");
                continue;
            }
            match globs::has_exception(glob, &exceptions) {
                true => coverage.miss("files with exceptions have no counterpart"),
                false => coverage.add(subject(glob.clone())),
            }
        }
    }

    fn hosts(&self, node: &Node, coverage: &mut AgentCoverage) {
        coverage.miss("hosts are compared in the agent's own tool for web pages");
        let list = match &node.value {
            Yaml::Map(entries) => match entries.as_slice() {
                [(key, list)] if key.name == "hosts" => list,
                _ => return coverage.miss("`not` and `for` have no counterpart"),
            },
            _ => node,
        };
        for item in items(list).iter().filter_map(text) {
            let set =
                item.strip_prefix('@').map(|set| sets::host_patterns(set).unwrap_or_default());
            let hosts = set.unwrap_or(std::slice::from_ref(&item));
            for host in hosts {
                let is_name =
                    |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '*');
                match host.chars().all(is_name) && host.chars().any(char::is_alphabetic) {
                    true => coverage.add(RuleSubject::Host((*host).to_owned())),
                    false => coverage.miss("addresses, networks and ports have no counterpart"),
                }
            }
        }
    }

    fn argument(&self, when: &Node, coverage: &mut AgentCoverage) {
        let path = get(when, "arg").and_then(text).unwrap_or_default();
        let is_shell = self.servers.is_empty() && self.tools.iter().any(|tool| tool == "@shell");
        if path != "@command" && !(path == "command" && is_shell) {
            return coverage.miss(format!("a condition on `{path}` has no counterpart"));
        }
        if !self.is_about(&["@shell"]) {
            return coverage.miss("a condition on the command of other tools has no counterpart");
        }
        let operators = [
            ("equals", TextPosition::Whole),
            ("starts_with", TextPosition::Start),
            ("contains", TextPosition::Anywhere),
        ];
        let found =
            operators.iter().find_map(|(key, part)| Some((get(when, key).and_then(text)?, *part)));
        match found {
            Some((text, part)) => {
                coverage.miss("commands are compared one by one, as the agent reads them");
                coverage.add(RuleSubject::CommandText { text: text.to_owned(), part });
            }
            None => coverage.miss("regular expressions and lists have no counterpart"),
        }
    }
}

/// Whether a command in the long form names nothing but programs.
fn is_only_program(node: &Node) -> bool {
    matches!(&node.value, Yaml::Map(entries) if entries.iter().all(|(key, _)| key.name == "program" || key.name == "known"))
}

/// What an agent can have of a rule, and what it cannot.
#[derive(Debug, Default)]
struct AgentCoverage {
    subjects: Vec<RuleSubject>,
    missing: Vec<String>,
}

impl AgentCoverage {
    fn add(&mut self, subject: RuleSubject) {
        self.subjects.push(subject);
    }

    fn command(&mut self, words: Vec<String>) {
        match words.iter().any(|word| word.contains(['*', '?', '%'])) || words.is_empty() {
            true => self.miss("wildcards in commands have no counterpart"),
            false => self.add(RuleSubject::Command(words)),
        }
    }

    fn miss(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.missing.contains(&why) {
            self.missing.push(why);
        }
    }
}

/// An agent's names for a tool or a kind of tools.
fn tools_of(agent: Agent, tool: &str) -> Vec<&'static str> {
    let known = match agent {
        Agent::ClaudeCode => claude_code::TOOLS,
        Agent::Codex => codex::TOOLS,
        Agent::Gemini => gemini::TOOLS,
        Agent::Cursor => cursor::TOOLS,
        Agent::Opencode => opencode::TOOLS,
    };
    let of_kind = known.iter().filter(|(kind, _)| *kind == tool).flat_map(|(_, names)| *names);
    let named =
        known.iter().flat_map(|(_, names)| *names).filter(|name| fold(name) == fold(tool.trim()));
    let mut names: Vec<&'static str> = of_kind.chain(named).copied().collect();
    names.dedup();
    names
}
