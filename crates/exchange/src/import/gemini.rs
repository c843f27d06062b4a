//! Rules of Gemini CLI's policy engine: the highest priority decides, and in a tie the first of the file.

use callgate_document::{Node, Yaml};
use regex::Regex;

use super::context::ImportContext;
use super::order::{Ordered, prioritised};
use super::{servers, tails};
use crate::change::DifferenceKind;
use crate::command::{CommandPattern, PatternEnd};
use crate::draft::{DraftRule, DraftVerdict, PolicyDraft, When};
use crate::read::{self, get, items, text};

const AGENT: &str = "Gemini CLI";

const SHELL: &str = "run_shell_command";

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = read::toml::read(context.source, &mut context.problems)?;
    let mut rules: Vec<(i64, &Node)> = Vec::new();
    for node in get(&root, "rule").map(items).unwrap_or_default() {
        rules.push((priority(context, node), node));
    }
    // A stable sort: of equal ones, the first stays first.
    rules.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    let last_deny = rules.iter().rposition(|(_, node)| is_deny(node));
    let mut ordered = Vec::new();
    for (at, (_, node)) in rules.into_iter().enumerate() {
        let before_deny = last_deny.is_some_and(|deny| at < deny);
        ordered.extend(RuleReader { context: &mut *context, node, before_deny }.rule());
    }
    for node in get(&root, "safety_checker").map(items).unwrap_or_default() {
        context.left_out(node.span, "safety_checker", "a checker is a program of Gemini CLI");
    }
    context.other_keys(&root, &["rule", "safety_checker"], "this key has no counterpart");
    let mut policy = context.policy("gemini");
    policy.rules = prioritised(context, ordered);
    let mut tail = vec![tails::reads(context, AGENT)];
    let tools = ["google_web_search", "update_topic", "activate_skill", "ask_user"];
    tail.push(tails::harmless(context, AGENT, &tools));
    tail.push(tails::rest(context, AGENT, DraftVerdict::Ask));
    tails::add(&mut policy, tail);
    Some(PolicyDraft { policies: vec![policy] })
}

fn priority(context: &mut ImportContext<'_>, node: &Node) -> i64 {
    let value = get(node, "priority").and_then(|node| match &node.value {
        Yaml::Number { json, .. } => json.parse().ok(),
        _ => None,
    });
    match value.filter(|value| (0..=999).contains(value)) {
        Some(value) => value,
        None => {
            context.problem(node.span, "a rule needs a `priority` from 0 to 999");
            0
        }
    }
}

fn is_deny(node: &Node) -> bool {
    get(node, "decision").and_then(text) == Some("deny")
}

struct RuleReader<'c, 's, 'n> {
    context: &'c mut ImportContext<'s>,
    node: &'n Node,
    /// Whether a rule that denies comes after it.
    before_deny: bool,
}

/// The conditions of a rule that callgate does not know.
const CONDITIONS: [(&str, &str); 4] = [
    ("subagent", "which subagent makes a call is not compared"),
    ("modes", "the approval mode is not known"),
    ("interactive", "whether Gemini CLI runs interactively is not known"),
    ("toolAnnotations", "the annotations of a tool are not compared"),
];

impl RuleReader<'_, '_, '_> {
    fn get(&self, key: &str) -> Option<&Node> {
        get(self.node, key)
    }

    fn rule(&mut self) -> Option<Ordered> {
        let decision = match self.get("decision").and_then(text) {
            Some("allow") => DraftVerdict::Allow,
            Some("ask_user") => DraftVerdict::Ask,
            Some("deny") => DraftVerdict::Deny,
            _ => {
                self.context
                    .problem(self.node.span, "`decision` must be `allow`, `deny` or `ask_user`");
                return None;
            }
        };
        self.check_keys();
        let written = self.shown();
        let at = self.node.span;
        let unknown: Vec<&str> = CONDITIONS
            .iter()
            .filter(|(key, _)| self.get(key).is_some_and(|node| !is_every_mode(key, node)))
            .map(|(_, why)| *why)
            .collect();
        if decision.allows() && !unknown.is_empty() {
            self.context.left_out(at, &written, unknown.join("; "));
            return None;
        }
        let mut rule = self.context.rule(at, &written, decision);
        self.names(&mut rule)?;
        rule.reason = ["denyMessage", "deny_message"]
            .iter()
            .find_map(|key| get(self.node, key).and_then(text).map(str::to_owned));
        let ordered = self.arguments(rule, &written)?;
        Some(self.widened(ordered, &written, &unknown))
    }

    fn check_keys(&mut self) {
        let known = [
            "toolName",
            "subagent",
            "mcpName",
            "argsPattern",
            "commandPrefix",
            "commandRegex",
            "decision",
            "priority",
            "modes",
            "interactive",
            "toolAnnotations",
            "allowRedirection",
            "allow_redirection",
            "denyMessage",
            "deny_message",
        ];
        if let Yaml::Map(entries) = &self.node.value {
            for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
                self.context.problem(key.span, format!("unknown key `{}` of a rule", key.name));
            }
        }
    }

    /// The rule in a few words.
    fn shown(&self) -> String {
        let keys = ["mcpName", "toolName", "commandPrefix", "commandRegex", "argsPattern"];
        let words = keys.iter().filter_map(|key| self.get(key)).map(|node| match text(node) {
            Some(text) => text.to_owned(),
            None => items(node).iter().filter_map(text).collect::<Vec<_>>().join("|"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The tools and servers. `mcp_server_tool` is one of the ways in which a name may be written.
    fn names(&mut self, rule: &mut DraftRule) -> Option<()> {
        let tools: Vec<String> = self
            .get("toolName")
            .map(items)
            .unwrap_or_default()
            .iter()
            .filter_map(text)
            .map(str::to_owned)
            .collect();
        let server = self.get("mcpName").and_then(text).map(str::to_owned);
        if tools.is_empty() && server.is_none() {
            self.context.problem(self.node.span, "a rule needs a `toolName` or an `mcpName`");
            return None;
        }
        let every = tools.is_empty() || tools.iter().any(|tool| tool == "*");
        if let Some(server) = server {
            match (server.as_str(), every) {
                ("*", true) => rule.tools = tails::texts(&["@mcp"]),
                _ => rule.servers = vec![server],
            }
            if !every {
                rule.tools = tools;
            }
            return Some(());
        }
        if !every {
            let restricts = !rule.verdict.allows();
            rule.tools = tools
                .into_iter()
                .flat_map(|tool| match tool.as_str() {
                    "mcp_*" => vec!["@mcp".to_owned()],
                    SHELL if restricts => vec!["@shell".to_owned()],
                    name if restricts && name.starts_with("mcp_") => servers::spellings(name),
                    _ => vec![tool],
                })
                .collect();
        }
        Some(())
    }

    fn arguments(&mut self, mut rule: DraftRule, written: &str) -> Option<Ordered> {
        let prefixes: Vec<String> = self
            .get("commandPrefix")
            .map(items)
            .unwrap_or_default()
            .iter()
            .filter_map(text)
            .map(str::to_owned)
            .collect();
        if !prefixes.is_empty() {
            self.no_redirection(&rule, written);
            let patterns =
                prefixes.iter().map(|prefix| CommandPattern::text(prefix, PatternEnd::Word));
            return Some(Ordered::commands(rule, patterns.collect()));
        }
        let pattern =
            match (self.get("commandRegex").and_then(text), self.get("argsPattern").and_then(text))
            {
                (Some(regex), _) => Some(("@command".to_owned(), regex.to_owned())),
                (None, Some(pattern)) => match one_argument(pattern) {
                    Some(found) => Some(found),
                    None => return self.without_arguments(rule, written),
                },
                (None, None) => None,
            };
        let Some((path, regex)) = pattern else {
            if rule.verdict.allows() && rule.tools.iter().any(|tool| tool == SHELL) {
                self.no_redirection(&rule, written);
                rule.when = Some(When::text("@command", "not_matches", "[<>]"));
            }
            return Some(Ordered::plain(rule));
        };
        let is_command = path == "@command" || path == "command";
        let whole = match (rule.verdict.allows(), is_command) {
            // A line must be one command, with nothing in it that a shell would act on.
            (true, true) => return self.without_arguments(rule, written),
            (false, true) => format!(r"(?s)(?:^|[;&|(){{}}`\n])\s*(?:{regex})"),
            (_, false) => format!("(?s)^(?:{regex})"),
        };
        if Regex::new(&whole).is_err() {
            return self.without_arguments(rule, written);
        }
        if is_command && rule.verdict == DraftVerdict::Ask && self.before_deny {
            // It would ask about a line of which another command is denied.
            rule.verdict = DraftVerdict::Deny;
            let why = "the pattern is compared with a whole line, so the rule denies: a rule after it does";
            self.context.stricter(self.node.span, written, &rule, why);
        }
        let path = if is_command { "@command".to_owned() } else { path };
        rule.when = Some(When::text(&path, "matches", whole));
        Some(Ordered::plain(rule))
    }

    fn no_redirection(&mut self, rule: &DraftRule, written: &str) {
        if !rule.verdict.allows() {
            return;
        }
        let why = "commands with redirections, variables, substitutions or subshells are not allowed by this rule";
        self.context.stricter(self.node.span, written, rule, why);
    }

    /// A rule whose condition on the arguments cannot be read.
    fn without_arguments(&mut self, rule: DraftRule, written: &str) -> Option<Ordered> {
        let why = "the pattern for the arguments has no counterpart";
        if rule.verdict.allows() {
            self.context.left_out(self.node.span, written, why);
            return None;
        }
        let ordered = Ordered::plain(rule);
        Some(self.widened(ordered, written, &[why]))
    }

    /// Reports conditions that the rule does not have any more. A rule that asks must not come before one
    /// that denies then: it would ask about what is denied now.
    fn widened(&mut self, mut ordered: Ordered, written: &str, why: &[&str]) -> Ordered {
        if why.is_empty() {
            return ordered;
        }
        let mut message = format!("{}: the rule covers every call", why.join("; "));
        if ordered.rule.verdict == DraftVerdict::Ask && self.before_deny {
            ordered.rule.verdict = DraftVerdict::Deny;
            message.push_str(", and denies, because a rule after it denies");
        }
        self.context.change(
            self.node.span,
            written,
            Some(&ordered.rule),
            DifferenceKind::Stricter,
            message,
        );
        ordered
    }
}

/// A list of all modes is no condition.
fn is_every_mode(key: &str, node: &Node) -> bool {
    let modes = ["default", "autoEdit", "plan", "yolo"];
    let written: Vec<&str> = items(node).iter().filter_map(text).collect();
    key == "modes" && (written.is_empty() || modes.iter().all(|mode| written.contains(mode)))
}

/// The argument and the pattern of `"name":"pattern`, if the pattern stays inside this value. A quotation
/// mark at its end is the end of the value.
fn one_argument(pattern: &str) -> Option<(String, String)> {
    let (name, value) = pattern.strip_prefix('"')?.split_once("\":\"")?;
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let value = match value.strip_suffix('"') {
        Some(whole) => format!("(?:{whole})$"),
        None => value.to_owned(),
    };
    // What is not a quotation mark is any character of the value.
    let value = value.replace("[^\"]", ".").replace("[^\"/]", "[^/]");
    let is_inside = !value.contains('"') && !value.contains(r"\\");
    (is_name && !name.is_empty() && is_inside).then(|| (name.to_owned(), value))
}
