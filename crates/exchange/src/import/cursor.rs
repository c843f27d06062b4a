//! Permissions of Cursor: `permissions` of `cli-config.json` and `.cursor/cli.json`, in which deny wins,
//! and the lists of `permissions.json`, which only allow.

use callgate_document::{Node, SourceSpan};

use super::context::ImportContext;
use super::tails;
use crate::command::{self, CommandPattern, PatternEnd, QuestionMark};
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, PolicyDraft, When};
use crate::paths::{self, Rounding};
use crate::read::{self, get, items, text};

const AGENT: &str = "Cursor";

/// The shell tools of Cursor.
const SHELLS: [&str; 4] = ["run_terminal_cmd", "run_terminal_command", "Shell", "Bash"];

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = read::json::read(context.source, &mut context.problems)?;
    let mut policy = context.policy("cursor");
    let mut commands = Vec::new();
    if let Some(permissions) = get(&root, "permissions") {
        for (key, decision) in [("deny", DraftVerdict::Deny), ("allow", DraftVerdict::Allow)] {
            for node in get(permissions, key).map(items).unwrap_or_default() {
                entry(context, node, decision, &mut policy, &mut commands);
            }
        }
        context.other_keys(permissions, &["allow", "deny"], "this key has no counterpart");
    }
    for node in get(&root, "terminalAllowlist").map(items).unwrap_or_default() {
        if let Some(text) = text(node) {
            commands.push((
                node.span,
                text.to_owned(),
                CommandPattern::text(text, PatternEnd::Word),
            ));
        }
    }
    for node in get(&root, "mcpAllowlist").map(items).unwrap_or_default() {
        if let Some(text) = text(node) {
            let (server, tool) = text.split_once(':').unwrap_or((text, "*"));
            policy.rules.extend(server_tool(
                context,
                node.span,
                text,
                DraftVerdict::Allow,
                (server, tool),
            ));
        }
    }
    for key in ["autoRun", "approvalMode", "sandbox"] {
        if let Some(node) = get(&root, key) {
            context.left_out(node.span, key, "this setting has no counterpart");
        }
    }
    policy.rules.extend(allowed_commands(context, commands));
    let tail = vec![tails::reads(context, AGENT), tails::rest(context, AGENT, DraftVerdict::Ask)];
    tails::add(&mut policy, tail);
    Some(PolicyDraft { policies: vec![policy] })
}

type AllowedCommands = Vec<(SourceSpan, String, CommandPattern)>;

fn entry(
    context: &mut ImportContext<'_>,
    node: &Node,
    decision: DraftVerdict,
    policy: &mut DraftPolicy,
    commands: &mut AllowedCommands,
) {
    let Some(written) = text(node) else {
        context.problem(node.span, "a permission must be text, like `Shell(git)`");
        return;
    };
    let inner = written.trim().strip_suffix(')').and_then(|it| it.split_once('('));
    let Some((kind, inner)) = inner else {
        return unknown(context, node.span, written, decision);
    };
    let (at, inner) = (node.span, inner.trim());
    let rule = match kind {
        "Shell" => {
            let pattern = shell(inner);
            if decision.allows() && !pattern.is_everything() {
                commands.push((at, written.to_owned(), pattern));
                return;
            }
            Some(shell_rule(context, at, written, decision, &pattern))
        }
        "Read" => files(context, at, written, decision, (inner, &["reads"])),
        "Write" => files(context, at, written, decision, (inner, &["writes", "deletes"])),
        "WebFetch" => Some(fetch(context, at, written, decision, inner)),
        "Mcp" => {
            let pair = inner.split_once([':', ',']).unwrap_or((inner, "*"));
            server_tool(context, at, written, decision, (pair.0.trim(), pair.1.trim()))
        }
        _ => return unknown(context, at, written, decision),
    };
    policy.rules.extend(rule);
}

/// A rule that Cursor has added since. One that denies cannot be left out quietly.
fn unknown(context: &mut ImportContext<'_>, at: SourceSpan, written: &str, decision: DraftVerdict) {
    match decision.allows() {
        true => context.left_out(at, written, "this permission is not known"),
        false => context.problem(at, format!("`{written}` is not a permission that is known")),
    }
}

/// `Shell(git)` is every command of git, `Shell(curl:*)` every command of curl with these arguments.
fn shell(inner: &str) -> CommandPattern {
    match inner.split_once(':') {
        Some((program, arguments)) => {
            let text = format!("{program} {}", arguments.trim());
            CommandPattern::wildcard(&text, QuestionMark::OneCharacter)
        }
        None if inner.contains('*') => {
            CommandPattern::wildcard(&inner.replace("**", "*"), QuestionMark::OneCharacter)
        }
        None => CommandPattern::text(inner, PatternEnd::Word),
    }
}

fn shell_rule(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    written: &str,
    decision: DraftVerdict,
    pattern: &CommandPattern,
) -> DraftRule {
    let mut rule = context.rule(at, written, decision);
    rule.tools = match decision.allows() {
        true => tails::texts(&SHELLS),
        false => tails::texts(&["@shell"]),
    };
    if !pattern.is_everything() {
        rule.when = Some(pattern.restricting());
        if pattern.is_only_text() {
            let why = "the text that `*` matches may contain several commands";
            context.stricter(at, written, &rule, why);
        }
    }
    rule
}

fn allowed_commands(
    context: &mut ImportContext<'_>,
    commands: AllowedCommands,
) -> Option<DraftRule> {
    let at = commands.first()?.0;
    let mut rule = context.named_rule("allowed-commands", "", DraftVerdict::Allow);
    rule.about = commands.iter().map(|(at, written, _)| context.place(*at, written)).collect();
    rule.tools = tails::texts(&SHELLS);
    let patterns: Vec<_> = commands.into_iter().map(|(.., pattern)| pattern).collect();
    rule.when = Some(command::allowing(&patterns));
    let why = "commands with redirections, variables, substitutions or subshells are not allowed by these rules";
    context.stricter(at, "allowed commands", &rule, why);
    Some(rule)
}

fn files(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    written: &str,
    decision: DraftVerdict,
    (glob, keys): (&str, &[&'static str]),
) -> Option<DraftRule> {
    let rounding = if decision.allows() { Rounding::Down } else { Rounding::Up };
    let globs = match paths::wildcard(glob, rounding) {
        Ok(globs) => globs,
        Err(why) if decision.allows() => {
            context.left_out(at, written, why);
            return None;
        }
        Err(why) => {
            let mut rule = context.rule(at, written, decision);
            let effects = keys.iter().map(|key| When::Effect(key, vec!["**".to_owned()]));
            rule.when = When::any(effects.collect());
            context.stricter(at, written, &rule, format!("{why}: the rule covers every file"));
            return Some(rule);
        }
    };
    let mut rule = context.rule(at, written, decision);
    if decision.allows() {
        rule.tools = match keys.first() {
            Some(&"reads") => tails::texts(&tails::READERS),
            _ => tails::texts(&["Edit", "Write", "edit_file", "search_replace", "write"]),
        };
        rule.when = keys.first().map(|key| When::Effect(key, globs));
    } else {
        rule.when = When::any(keys.iter().map(|key| When::Effect(key, globs.clone())).collect());
    }
    Some(rule)
}

fn fetch(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    written: &str,
    decision: DraftVerdict,
    host: &str,
) -> DraftRule {
    let mut rule = context.rule(at, written, decision);
    rule.tools = match decision.allows() {
        true => tails::texts(&["WebFetch", "web_fetch", "fetch"]),
        false => tails::texts(&["@fetch"]),
    };
    if host != "*" && !host.is_empty() {
        rule.when = Some(When::Effect("connects", vec![host.to_owned()]));
    }
    rule
}

fn server_tool(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    written: &str,
    decision: DraftVerdict,
    (server, tool): (&str, &str),
) -> Option<DraftRule> {
    let mut rule = context.rule(at, written, decision);
    match (server, tool) {
        ("*" | "", "*" | "") => rule.tools = tails::texts(&["@mcp"]),
        (_, "*" | "") => rule.servers = vec![server.to_owned()],
        _ => {
            rule.servers = vec![if server.is_empty() { "*".to_owned() } else { server.to_owned() }];
            rule.tools = vec![tool.to_owned()];
        }
    }
    Some(rule)
}
