//! `permission` of opencode: for each tool a word, or patterns of which the last that matches decides.

use callgate_document::{Node, SourceSpan, Yaml};

use super::context::ImportContext;
use super::order::{Ordered, prioritised};
use super::{servers, tails};
use crate::command::{CommandPattern, QuestionMark, literal};
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, PolicyDraft, When, number_in_order};
use crate::paths::{self, Rounding};
use crate::read::{self, get, text};

/// What opencode's permissions are about.
#[derive(Clone, Copy, PartialEq)]
enum PermissionSubject {
    Commands,
    Reads,
    Changes,
    /// Files outside of the workspace.
    Outside,
    Urls,
    /// Names, such as those of agents and skills, in this argument.
    Argument(&'static str),
    /// Nothing that a call shows.
    Nothing,
}

const KNOWN: [(&str, PermissionSubject, &[&str]); 13] = [
    ("bash", PermissionSubject::Commands, &["@shell"]),
    ("read", PermissionSubject::Reads, &["read"]),
    ("edit", PermissionSubject::Changes, &["edit", "write", "patch", "apply_patch", "multiedit"]),
    ("external_directory", PermissionSubject::Outside, &[]),
    ("webfetch", PermissionSubject::Urls, &["webfetch"]),
    ("task", PermissionSubject::Argument("subagent_type"), &["task"]),
    ("skill", PermissionSubject::Argument("name"), &["skill"]),
    ("glob", PermissionSubject::Argument("pattern"), &["glob"]),
    ("grep", PermissionSubject::Argument("pattern"), &["grep"]),
    ("list", PermissionSubject::Argument("path"), &["list"]),
    ("websearch", PermissionSubject::Argument("query"), &["websearch"]),
    ("codesearch", PermissionSubject::Argument("query"), &["codesearch"]),
    ("doom_loop", PermissionSubject::Nothing, &[]),
];

/// One pattern with its word.
struct PermissionEntry<'n> {
    at: SourceSpan,
    key: &'n str,
    pattern: &'n str,
    decision: DraftVerdict,
}

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = read::json::read(context.source, &mut context.problems)?;
    let mut entries = Vec::new();
    if let Some(tools) = get(&root, "tools") {
        old_tools(context, tools, &mut entries);
    }
    if let Some(permission) = get(&root, "permission") {
        permissions(context, permission, &mut entries);
    }
    for key in ["agent", "mode"] {
        if let Some(agents) = get(&root, key) {
            of_agents(context, agents);
        }
    }
    // The last that matches decides.
    entries.reverse();
    let mut ordered = Vec::new();
    for entry in &entries {
        ordered.extend(rule(context, entry));
    }
    let mut policy = context.policy("opencode");
    policy.rules = prioritised(context, ordered);
    policy.default = Some("allow");
    let everything = |entry: &PermissionEntry<'_>| entry.key == "*" && entry.pattern == "*";
    if !entries.iter().any(everything) {
        tails::add(&mut policy, vec![environment_files(context)]);
    }
    let mut policies = vec![policy];
    policies.extend(outside(context, &entries));
    Some(PolicyDraft { policies })
}

fn permissions<'n>(
    context: &mut ImportContext<'_>,
    permission: &'n Node,
    entries: &mut Vec<PermissionEntry<'n>>,
) {
    let Yaml::Map(keys) = &permission.value else {
        if let Some(decision) = decision(context, permission) {
            entries.push(PermissionEntry { at: permission.span, key: "*", pattern: "*", decision });
        }
        return;
    };
    for (key, node) in keys {
        let Yaml::Map(patterns) = &node.value else {
            if let Some(decision) = decision(context, node) {
                entries.push(PermissionEntry {
                    at: key.span,
                    key: &key.name,
                    pattern: "*",
                    decision,
                });
            }
            continue;
        };
        for (pattern, node) in patterns {
            if let Some(decision) = decision(context, node) {
                let pattern_text = pattern.name.as_str();
                entries.push(PermissionEntry {
                    at: pattern.span,
                    key: &key.name,
                    pattern: pattern_text,
                    decision,
                });
            }
        }
    }
}

/// `tools: { write: false }`, the older form.
fn old_tools<'n>(
    context: &mut ImportContext<'_>,
    tools: &'n Node,
    entries: &mut Vec<PermissionEntry<'n>>,
) {
    let Yaml::Map(keys) = &tools.value else { return };
    for (key, node) in keys {
        match node.value {
            Yaml::Bool(false) => entries.push(PermissionEntry {
                at: key.span,
                key: if matches!(key.name.as_str(), "write" | "patch") {
                    "edit"
                } else {
                    &key.name
                },
                pattern: "*",
                decision: DraftVerdict::Deny,
            }),
            Yaml::Bool(true) => {}
            _ => context.problem(node.span, "a tool is either `true` or `false`"),
        }
    }
}

/// Permissions of single agents. They may be laxer than the others, and which agent calls is not compared.
fn of_agents(context: &mut ImportContext<'_>, agents: &Node) {
    let Yaml::Map(agents) = &agents.value else { return };
    for (name, agent) in agents {
        for key in ["permission", "tools"] {
            if let Some(node) = get(agent, key) {
                let why =
                    "the permissions of a single agent are not read: those for all agents hold";
                context.left_out(node.span, &format!("{}.{key}", name.name), why);
            }
        }
    }
}

fn decision(context: &mut ImportContext<'_>, node: &Node) -> Option<DraftVerdict> {
    match text(node) {
        Some("allow") => Some(DraftVerdict::Allow),
        Some("ask") => Some(DraftVerdict::Ask),
        Some("deny") => Some(DraftVerdict::Deny),
        _ => {
            context.problem(node.span, "a permission must be `allow`, `ask` or `deny`");
            None
        }
    }
}

fn rule(context: &mut ImportContext<'_>, entry: &PermissionEntry<'_>) -> Option<Ordered> {
    let PermissionEntry { at, key, pattern, decision } = *entry;
    let written = if pattern == "*" { key.to_owned() } else { format!("{key}: {pattern}") };
    let known = KNOWN.iter().find(|(name, ..)| *name == key);
    let Some((_, about, tools)) = known else {
        let mut rule = context.rule(at, &written, decision);
        if key != "*" {
            rule.tools = match decision.allows() {
                true => vec![key.to_owned()],
                false => servers::spellings(key),
            };
        }
        return of_others(context, rule, entry, &written);
    };
    // A policy of its own has the rules for files outside.
    if *about == PermissionSubject::Outside {
        return None;
    }
    if *about == PermissionSubject::Nothing {
        context.left_out(at, &written, "how often a call is repeated is not compared");
        return None;
    }
    let mut rule = context.rule(at, &written, decision);
    rule.tools = tails::texts(tools);
    if decision.allows() && *about == PermissionSubject::Commands {
        rule.tools = tails::texts(&["bash"]);
    }
    if pattern == "*" {
        return Some(Ordered::plain(rule));
    }
    match about {
        PermissionSubject::Commands => {
            let pattern = CommandPattern::wildcard(pattern, QuestionMark::OneCharacter);
            return Some(Ordered::commands(rule, vec![pattern]));
        }
        PermissionSubject::Argument(name) => {
            rule.when = Some(When::text(name, "matches", wildcard(pattern)))
        }
        PermissionSubject::Urls => {
            rule.when = Some(When::text("@url", "matches", wildcard(pattern)))
        }
        PermissionSubject::Reads => return files(context, rule, entry, &["reads"]),
        PermissionSubject::Changes => return files(context, rule, entry, &["writes", "deletes"]),
        PermissionSubject::Outside | PermissionSubject::Nothing => {}
    }
    Some(Ordered::plain(rule))
}

/// A key that is the name of another tool, or a pattern for names.
fn of_others(
    context: &mut ImportContext<'_>,
    rule: DraftRule,
    entry: &PermissionEntry<'_>,
    written: &str,
) -> Option<Ordered> {
    if entry.pattern == "*" {
        return Some(Ordered::plain(rule));
    }
    let why = "what the pattern is compared with is not known";
    if rule.verdict.allows() {
        context.left_out(entry.at, written, why);
        return None;
    }
    let mut rule = rule;
    // Asking about more than before would come before rules that deny.
    rule.verdict = DraftVerdict::Deny;
    context.stricter(entry.at, written, &rule, format!("{why}: every call of the tool is denied"));
    Some(Ordered::plain(rule))
}

fn files(
    context: &mut ImportContext<'_>,
    mut rule: DraftRule,
    entry: &PermissionEntry<'_>,
    keys: &[&'static str],
) -> Option<Ordered> {
    let rounding = if rule.verdict.allows() { Rounding::Down } else { Rounding::Up };
    match paths::wildcard(entry.pattern, rounding) {
        Ok(globs) => {
            rule.when = match rule.verdict.allows() {
                true => only_these(keys, &globs),
                false => {
                    When::any(keys.iter().map(|key| When::Effect(key, globs.clone())).collect())
                }
            };
        }
        Err(why) if rule.verdict.allows() => {
            context.left_out(entry.at, entry.pattern, why);
            return None;
        }
        Err(why) => {
            rule.verdict = DraftVerdict::Deny;
            context.stricter(
                entry.at,
                entry.pattern,
                &rule,
                format!("{why}: every call of the tool is denied"),
            );
        }
    }
    Some(Ordered::plain(rule))
}

/// The call does the first of these with files of the list, and none of the others with any other file:
/// one patch can change a file and delete another.
fn only_these(keys: &[&'static str], globs: &[String]) -> Option<When> {
    let (first, others) = keys.split_first()?;
    let mut all = vec![When::Effect(first, globs.to_vec())];
    all.extend(others.iter().map(|key| When::EffectNot(key, globs.to_vec()).negated()));
    When::all(all)
}

/// Files outside of the workspace, in any tool: a policy of its own, because opencode asks about them in
/// addition to what the rules of the tool say.
fn outside(
    context: &mut ImportContext<'_>,
    entries: &[PermissionEntry<'_>],
) -> Option<DraftPolicy> {
    let mut policy = DraftPolicy { name: "opencode-files".to_owned(), ..DraftPolicy::default() };
    let about = |entry: &&PermissionEntry<'_>| matches!(entry.key, "*" | "external_directory");
    for entry in entries.iter().filter(about) {
        let is_everything = entry.pattern == "*";
        let written = format!("external_directory: {}", entry.pattern);
        if !entry.decision.allows() {
            let mut rule = context.rule(entry.at, &written, entry.decision);
            rule.when = restricted_files(entry.pattern);
            policy.rules.push(rule);
        } else if !is_everything {
            let why = "files outside of the workspace stay with the other rules";
            context.left_out(entry.at, &written, why);
        }
        // Nothing before it matters.
        if is_everything {
            number_in_order(&mut policy.rules);
            return (!policy.rules.is_empty()).then_some(policy);
        }
    }
    let by_itself = "opencode asks about files outside of the workspace.";
    let mut rest = context.named_rule("files-outside", by_itself, DraftVerdict::Ask);
    rest.when = outside_of_workspace();
    policy.rules.push(rest);
    number_in_order(&mut policy.rules);
    Some(policy)
}

fn restricted_files(pattern: &str) -> Option<When> {
    match (pattern, paths::wildcard(pattern, Rounding::Up)) {
        ("*", _) | (_, Err(_)) => outside_of_workspace(),
        (_, Ok(globs)) => {
            When::any(FILES.iter().map(|key| When::Effect(key, globs.clone())).collect())
        }
    }
}

/// What is done with files.
const FILES: [&str; 3] = ["reads", "writes", "deletes"];

fn outside_of_workspace() -> Option<When> {
    let inside = vec!["workspace".to_owned(), "workspace/**".to_owned()];
    When::any(FILES.iter().map(|key| When::EffectNot(key, inside.clone())).collect())
}

/// What opencode asks about without a rule for reading.
fn environment_files(context: &mut ImportContext<'_>) -> DraftRule {
    let about = "opencode asks about .env files.";
    let mut rule = context.named_rule("environment-files", about, DraftVerdict::Ask);
    rule.tools = tails::texts(&["@read"]);
    let globs = ["**/*.env", "**/*.env.*", "!**/*.env.example"];
    rule.when = Some(When::Effect("reads", tails::texts(&globs)));
    rule
}

/// A regular expression for a pattern in which `*` and `?` are wildcards.
fn wildcard(pattern: &str) -> String {
    let mut regex = String::from("(?s)^");
    for letter in pattern.chars() {
        match letter {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            _ => regex.push_str(&literal(&letter.to_string(), " ")),
        }
    }
    regex.push('$');
    regex
}
