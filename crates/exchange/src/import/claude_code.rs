//! `settings.json` of Claude Code: `permissions` with the lists `deny`, `ask` and `allow`.
//!
//! All lists have the same priority here, so the strictest decides, as there.

use callgate_document::{Node, SourceSpan, Yaml};

use super::context::ImportContext;
use super::{servers, tails};
use crate::change::DifferenceKind;
use crate::command::{self, CommandPattern, QuestionMark, literal};
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, PolicyDraft, When};
use crate::paths::{self, Rounding};
use crate::read::{self, get, items};

const AGENT: &str = "Claude Code";

const LISTS: [(&str, DraftVerdict); 3] =
    [("deny", DraftVerdict::Deny), ("ask", DraftVerdict::Ask), ("allow", DraftVerdict::Allow)];

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = read::json::read(context.source, &mut context.problems)?;
    if !matches!(root.value, Yaml::Map(_)) {
        context.problem(root.span, "the settings must be an object");
        return None;
    }
    let mut policy = context.policy("claude-code");
    let permissions = get(&root, "permissions");
    if let Some(permissions) = permissions {
        lists(context, permissions, &mut policy);
    }
    denied_servers(context, &root, &mut policy);
    if let Some(permissions) = permissions {
        tail(context, permissions, &mut policy);
    }
    if policy.rules.is_empty() {
        policy.default = Some("allow");
    }
    let mut policies = vec![policy];
    policies.extend(other_settings(context, &root));
    Some(PolicyDraft { policies })
}

/// The three lists.
fn lists(context: &mut ImportContext<'_>, permissions: &Node, policy: &mut DraftPolicy) {
    for (key, decision) in LISTS {
        let Some(list) = get(permissions, key) else { continue };
        let Yaml::List(entries) = &list.value else {
            context.problem(list.span, format!("`permissions.{key}` must be a list"));
            continue;
        };
        let mut commands = Vec::new();
        for entry in entries {
            let Some(text) = read::text(entry) else {
                context.problem(entry.span, "a rule must be text, like `Bash(git push:*)`");
                continue;
            };
            let mut reader = RuleReader { context: &mut *context, at: entry.span, decision };
            match reader.rule(text) {
                Some(Parsed::Rule(rule)) => policy.rules.push(*rule),
                Some(Parsed::Command(pattern)) => {
                    commands.push((entry.span, text.to_owned(), pattern))
                }
                None => {}
            }
        }
        policy.rules.extend(allowed_commands(context, commands));
    }
}

/// All allowed commands together: a line may consist of several of them.
fn allowed_commands(
    context: &mut ImportContext<'_>,
    commands: Vec<(SourceSpan, String, CommandPattern)>,
) -> Option<DraftRule> {
    let at = commands.first()?.0;
    let mut rule = context.named_rule("allowed-commands", "", DraftVerdict::Allow);
    rule.about = commands.iter().map(|(at, written, _)| context.place(*at, written)).collect();
    rule.tools = tails::texts(&["Bash", "Monitor"]);
    let patterns: Vec<_> = commands.into_iter().map(|(.., pattern)| pattern).collect();
    rule.when = Some(command::allowing(&patterns));
    context.stricter(
        at,
        "allowed commands",
        &rule,
        "commands with redirections, variables, substitutions or subshells are not allowed by these rules",
    );
    Some(rule)
}

enum Parsed {
    Rule(Box<DraftRule>),
    /// A command of the list of allowed commands.
    Command(CommandPattern),
}

struct RuleReader<'c, 's> {
    context: &'c mut ImportContext<'s>,
    at: SourceSpan,
    decision: DraftVerdict,
}

impl RuleReader<'_, '_> {
    /// One entry: `Tool` or `Tool(what)`.
    fn rule(&mut self, written: &str) -> Option<Parsed> {
        let (tool, inner) = match written.trim().split_once('(') {
            None => (written.trim(), None),
            Some((tool, rest)) => {
                let Some(inner) = rest.strip_suffix(')') else {
                    self.context.left_out(
                        self.at,
                        written,
                        "the rule has no closing parenthesis; Claude Code ignores it",
                    );
                    return None;
                };
                (tool.trim(), Some(inner.trim()).filter(|it| !it.is_empty() && *it != "*"))
            }
        };
        if tool.is_empty() {
            self.context.left_out(self.at, written, "the rule names no tool");
            return None;
        }
        if tool.starts_with("mcp__") {
            return self.server_tool(written, tool, inner);
        }
        let Some(inner) = inner else { return self.whole(written, tool) };
        match tool {
            "Bash" | "Monitor" | "PowerShell" => self.command(written, tool, inner),
            "Read" | "Grep" | "Glob" | "LS" | "NotebookRead" => {
                self.files(written, FileAction::Read, inner)
            }
            "Edit" => self.files(written, FileAction::Change, inner),
            "Write" | "MultiEdit" | "NotebookEdit" if self.decision.allows() => {
                self.context.left_out(
                    self.at,
                    written,
                    "Claude Code looks only at `Edit(…)` for files that are changed",
                );
                None
            }
            "Write" | "MultiEdit" | "NotebookEdit" => {
                self.files(written, FileAction::Change, inner)
            }
            "WebFetch" if inner.starts_with("domain:") => self.domain(written, inner),
            "Agent" | "Task" if !inner.contains(':') => {
                self.argument(written, &["Agent", "Task"], &["subagent_type"], inner)
            }
            "Skill" if !inner.contains(':') || inner.ends_with(":*") => {
                self.argument(written, &["Skill", "SlashCommand"], &["skill", "command"], inner)
            }
            _ => match inner.split_once(':') {
                Some((name, value)) if is_argument(name) && tool != "WebFetch" => {
                    self.argument(written, &[tool], &[name], value)
                }
                _ => self.unknown(written, tool),
            },
        }
    }

    fn start(&mut self, written: &str) -> DraftRule {
        self.context.rule(self.at, written, self.decision)
    }

    fn done(rule: DraftRule) -> Option<Parsed> {
        Some(Parsed::Rule(Box::new(rule)))
    }

    /// Every call of a tool. A rule that restricts holds for the tools of that kind of every agent.
    fn whole(&mut self, written: &str, tool: &str) -> Option<Parsed> {
        let mut rule = self.start(written);
        rule.tools = match (tool, self.decision.allows()) {
            ("Bash", false) => tails::texts(&["@shell"]),
            ("Bash", true) => tails::texts(&["Bash", "Monitor"]),
            ("Edit", _) => tails::texts(&["Edit", "Write", "MultiEdit", "NotebookEdit"]),
            ("Read", _) => tails::texts(&["Read", "Grep", "Glob", "LS", "NotebookRead"]),
            ("Agent" | "Task", _) => tails::texts(&["Agent", "Task"]),
            _ => vec![tool.to_owned()],
        };
        if self.decision.allows() && tool.contains(['*', '?', '%']) {
            self.context.left_out(
                self.at,
                written,
                "Claude Code does not accept wildcards for tools that are allowed",
            );
            return None;
        }
        Self::done(rule)
    }

    fn server_tool(&mut self, written: &str, tool: &str, inner: Option<&str>) -> Option<Parsed> {
        let allows = self.decision.allows();
        let name = tool.strip_prefix("mcp__").unwrap_or(tool);
        let (server, own) = name.split_once("__").map_or((name, None), |(a, b)| (a, Some(b)));
        if allows && (server.contains(['*', '?', '%']) || server.is_empty()) {
            self.context.left_out(
                self.at,
                written,
                "Claude Code does not accept wildcards for servers that are allowed",
            );
            return None;
        }
        if allows && inner.is_some() {
            self.context.left_out(
                self.at,
                written,
                "a rule about a server's tool has no part in parentheses",
            );
            return None;
        }
        let mut rule = self.start(written);
        match server {
            "*" | "" => rule.tools = tails::texts(&["@mcp"]),
            _ => rule.servers = vec![server.to_owned()],
        }
        if let Some(own) = own.filter(|own| *own != "*" && !own.is_empty()) {
            rule.tools = vec![own.to_owned()];
            if server == "*" {
                rule.servers = vec!["*".to_owned()];
            }
        }
        if inner.is_some() {
            self.context.stricter(
                self.at,
                written,
                &rule,
                "the part in parentheses is not read: the rule covers the whole tool",
            );
        }
        Self::done(rule)
    }

    fn command(&mut self, written: &str, tool: &str, inner: &str) -> Option<Parsed> {
        let text =
            inner.strip_suffix(":*").map_or_else(|| inner.to_owned(), |it| format!("{it} *"));
        let pattern = CommandPattern::wildcard(&text, QuestionMark::Itself);
        if pattern.is_everything() {
            return self.whole(written, tool);
        }
        if self.decision.allows() {
            if tool == "PowerShell" {
                self.context.left_out(self.at, written, "allowed PowerShell commands are not read");
                return None;
            }
            return Some(Parsed::Command(pattern));
        }
        let mut rule = self.start(written);
        rule.tools = tails::texts(&["@shell"]);
        rule.when = Some(pattern.restricting());
        if pattern.is_only_text() && text.contains('*') {
            self.context.stricter(
                self.at,
                written,
                &rule,
                "the text that `*` matches may contain several commands",
            );
        }
        Self::done(rule)
    }

    fn files(&mut self, written: &str, files: FileAction, inner: &str) -> Option<Parsed> {
        let allows = self.decision.allows();
        let rounding = if allows { Rounding::Down } else { Rounding::Up };
        let globs = match paths::gitignore(inner, rounding) {
            Ok(globs) => globs,
            Err(why) if allows || inner.starts_with('!') => {
                self.context.left_out(self.at, written, why);
                return None;
            }
            Err(why) => {
                let mut rule = self.start(written);
                rule.when = Some(files.everything());
                self.context.stricter(
                    self.at,
                    written,
                    &rule,
                    format!("{why}: the rule covers every file"),
                );
                return Self::done(rule);
            }
        };
        let mut rule = self.start(written);
        if allows {
            rule.tools = files.tools();
            rule.when = When::all(files.effects(&globs).into_iter().take(1).collect());
        } else {
            rule.when = When::any(files.effects(&globs));
            if inner.starts_with('/') && !inner.starts_with("//") {
                let why = "the path counts from the project and from ~/.claude, because it depends on where the settings file is";
                self.context.stricter(self.at, written, &rule, why);
            }
        }
        Self::done(rule)
    }

    fn domain(&mut self, written: &str, inner: &str) -> Option<Parsed> {
        let host = inner.strip_prefix("domain:").unwrap_or(inner).trim();
        let is_host = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '*' | '_');
        if host.is_empty() || !host.chars().all(is_host) {
            return self.unknown(written, "WebFetch");
        }
        let mut rule = self.start(written);
        rule.tools = match self.decision.allows() {
            true => tails::texts(&["WebFetch"]),
            false => tails::texts(&["@fetch"]),
        };
        rule.when = Some(When::Effect("connects", vec![host.to_owned()]));
        Self::done(rule)
    }

    /// A rule about the value of an argument, in which `*` is any text.
    fn argument(
        &mut self,
        written: &str,
        tools: &[&str],
        names: &[&str],
        value: &str,
    ) -> Option<Parsed> {
        let mut rule = self.start(written);
        rule.tools = tails::texts(tools);
        let value = value.trim();
        let value =
            value.strip_suffix(":*").map_or_else(|| value.to_owned(), |it| format!("{it} *"));
        let regex: Vec<String> = value.split('*').map(|part| literal(part, " ")).collect();
        let regex = match value.strip_suffix(" *").filter(|before| !before.contains('*')) {
            Some(before) => format!("^{}(?: .*)?$", literal(before, " ")),
            None => format!("^{}$", regex.join(".*")),
        };
        let regex = format!("(?s){regex}");
        rule.when = When::any(
            names.iter().map(|name| When::text(name, "matches", regex.clone())).collect(),
        );
        Self::done(rule)
    }

    /// A rule in a form that is not known.
    fn unknown(&mut self, written: &str, tool: &str) -> Option<Parsed> {
        if self.decision.allows() {
            self.context.left_out(
                self.at,
                written,
                "what is in the parentheses has no counterpart",
            );
            return None;
        }
        let parsed = self.whole(written, tool);
        if let Some(Parsed::Rule(rule)) = &parsed {
            let why =
                "what is in the parentheses has no counterpart: the rule covers the whole tool";
            self.context.stricter(self.at, written, rule, why);
        }
        parsed
    }
}

/// What is done with files.
#[derive(Clone, Copy)]
enum FileAction {
    Read,
    Change,
}

impl FileAction {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["reads"],
            Self::Change => &["writes", "deletes"],
        }
    }

    fn effects(self, globs: &[String]) -> Vec<When> {
        self.keys().iter().map(|key| When::Effect(key, globs.to_vec())).collect()
    }

    fn everything(self) -> When {
        When::Any(self.effects(&["**".to_owned()]))
    }

    fn tools(self) -> Vec<String> {
        match self {
            Self::Read => tails::texts(&["Read", "Grep", "Glob", "LS", "NotebookRead"]),
            Self::Change => tails::texts(&["Edit", "Write", "MultiEdit", "NotebookEdit"]),
        }
    }
}

/// Names of arguments in `Tool(name:value)`.
fn is_argument(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// Calls that no rule decides.
fn tail(context: &mut ImportContext<'_>, permissions: &Node, policy: &mut DraftPolicy) {
    let known =
        ["allow", "ask", "deny", "defaultMode", "disableBypassPermissionsMode", "disableAutoMode"];
    context.other_keys(permissions, &known, "this setting has no counterpart");
    let node = get(permissions, "defaultMode");
    let (mode, at) = match node {
        Some(node) => (read::text(node).unwrap_or_default(), node.span),
        None => ("default", permissions.span),
    };
    if mode == "bypassPermissions" {
        return;
    }
    let tools = ["Agent", "Task", "TodoWrite", "ToolSearch", "ListAgents", "AskUserQuestion"];
    let mut tail = vec![tails::reads(context, AGENT), tails::harmless(context, AGENT, &tools)];
    if mode == "acceptEdits" {
        tail.push(tails::edits(context, AGENT));
    }
    let rest = match mode {
        "plan" | "dontAsk" => tails::rest(context, AGENT, DraftVerdict::Deny),
        _ => tails::rest(context, AGENT, DraftVerdict::Ask),
    };
    if !["default", "acceptEdits", "plan", "dontAsk", "manual"].contains(&mode) {
        context.stricter(
            at,
            mode,
            &rest,
            "this mode has no counterpart: what no rule allows is asked about",
        );
    }
    let message = "Claude Code runs some commands that only read (like `ls`) without asking; this rule does not";
    context.stricter(at, "defaultMode", &rest, message);
    tail.push(rest);
    tails::add(policy, tail);
}

/// Settings that are not permissions and restrict calls.
fn other_settings(context: &mut ImportContext<'_>, root: &Node) -> Option<DraftPolicy> {
    for key in
        ["sandbox", "hooks", "disableAllHooks", "allowManagedPermissionRulesOnly", "apiKeyHelper"]
    {
        if let Some(node) = get(root, key) {
            context.left_out(node.span, key, "this setting has no counterpart");
        }
    }
    let list = get(root, "allowedMcpServers")?;
    let names = server_names(context, list);
    Some(servers::only(context, list.span, "allowedMcpServers", "claude-code-servers", names))
}

/// Servers that may not be used.
fn denied_servers(context: &mut ImportContext<'_>, root: &Node, policy: &mut DraftPolicy) {
    for key in ["deniedMcpServers", "disabledMcpjsonServers"] {
        let Some(list) = get(root, key) else { continue };
        let names = server_names(context, list);
        if !names.is_empty() {
            let mut rule = context.rule(list.span, key, DraftVerdict::Deny);
            rule.servers = names;
            policy.rules.push(rule);
        }
    }
}

/// The names in a list of servers. Entries may also name a command or a URL.
fn server_names(context: &mut ImportContext<'_>, list: &Node) -> Vec<String> {
    let mut names = Vec::new();
    for item in items(list) {
        let name = read::text(item).or_else(|| get(item, "serverName").and_then(read::text));
        match name.filter(|name| !name.trim().is_empty()) {
            Some(name) => names.push(name.to_owned()),
            None => context.change(
                item.span,
                &item.to_json(),
                None,
                DifferenceKind::LeftOut,
                "only the names of servers are compared: set `command` or `url` under `mcp.servers`",
            ),
        }
    }
    names
}
