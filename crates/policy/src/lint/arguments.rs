//! Warnings about arguments that the tools of a rule do not have.

use callgate_call::fold;
use callgate_document::{Diagnostic, Source, Warning, did_you_mean};
use callgate_effects::{Catalogue, Entry, Kind, Role};

use crate::condition::ArgumentCondition;
use crate::path::{ArgumentPath, PathStep};
use crate::policy::Policy;
use crate::rule::Rule;

/// A warning for each argument that none of the rule's tools has. Only tools whose arguments are all
/// known count: a rule that names another tool, a pattern or a server gets no warning. In a rule on a
/// kind of tools, an argument is reported only if it looks like one that they have.
pub(crate) fn unknown_arguments(
    policy: &Policy,
    catalogue: &Catalogue,
    source: &Source,
) -> Vec<Warning> {
    let of_rule = |rule: &Rule| -> Vec<Warning> {
        let Some(tools) = named_tools(rule, catalogue) else { return Vec::new() };
        let arguments = rule.when.iter().flat_map(|when| when.arguments());
        arguments.filter_map(|argument| unknown(argument, &tools, source)).collect()
    };
    let mut warnings: Vec<Warning> = policy.rules.iter().flat_map(of_rule).collect();
    // A rule that is compiled into two parts has each of its conditions twice.
    warnings.dedup();
    warnings
}

/// Tools of a rule, and the word it has for them.
struct NamedTools<'c> {
    /// `Bash`, `@shell`.
    written: &'c str,
    /// All their arguments.
    arguments: Vec<&'c str>,
    roles: Vec<Role>,
}

fn named_tools<'c>(rule: &'c Rule, catalogue: &'c Catalogue) -> Option<Vec<NamedTools<'c>>> {
    if rule.tools.is_empty() || rule.names.servers.is_some() {
        return None;
    }
    rule.tools.iter().map(|written| tools_of(written, catalogue)).collect()
}

fn tools_of<'c>(written: &'c str, catalogue: &'c Catalogue) -> Option<NamedTools<'c>> {
    let roles = |entries: &[&'c Entry]| {
        let roles = entries.iter().flat_map(|entry| entry.roles.iter().map(|(_, role)| *role));
        roles.collect()
    };
    let Some(word) = written.strip_prefix('@') else {
        let entry = catalogue.entry(&fold(written.trim()))?;
        return Some(NamedTools { written, arguments: entry.arguments()?, roles: roles(&[entry]) });
    };
    let kind = Kind::from_word(word)?;
    let entries: Vec<&Entry> =
        catalogue.tools_of(kind).filter_map(|name| catalogue.entry(name)).collect();
    if entries.is_empty() {
        return None;
    }
    let known = |entry: &&'c Entry| {
        let carriers = entry.roles.iter().map(|(path, _)| path.as_str());
        let others = entry.others.iter().flatten().map(String::as_str);
        carriers.chain(others).map(outer).collect::<Vec<_>>()
    };
    let arguments = entries.iter().flat_map(known).collect();
    Some(NamedTools { written, arguments, roles: roles(&entries) })
}

fn outer(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

fn unknown(
    argument: &ArgumentCondition,
    tools: &[NamedTools<'_>],
    source: &Source,
) -> Option<Warning> {
    let (path, span) = argument.path();
    let ArgumentPath::Argument(steps) = path else { return None };
    let Some(PathStep::Key(key)) = steps.first() else { return None };
    let has = |tools: &NamedTools<'_>| tools.arguments.iter().any(|known| known == key);
    let first = tools.first()?;
    if tools.iter().any(has) {
        return None;
    }
    let near = did_you_mean(key, first.arguments.iter().copied());
    // Not all arguments of all tools of a kind are known: only a slip of the pen is certain.
    if near.is_none() && tools.iter().any(|tools| tools.written.starts_with('@')) {
        return None;
    }
    let names: Vec<String> = tools.iter().map(|it| format!("`{}`", it.written)).collect();
    let message = match tools {
        [only] if only.written.starts_with('@') => {
            format!("no known tool of the kind {} has an argument `{key}`", names.join(""))
        }
        [_] => format!("{} has no argument `{key}`", names.join("")),
        _ => format!("none of {} has an argument `{key}`", names.join(", ")),
    };
    let role = Role::ALL.into_iter().find(|role| {
        role.usual_arguments().iter().any(|usual| outer(usual) == key)
            && tools.iter().any(|tools| tools.roles.contains(role))
    });
    let hint = match role {
        Some(role) => format!("`arg: \"{role}\"` is that argument, whatever a tool calls it"),
        None => near.unwrap_or_else(|| listed(first)),
    };
    let label = if role.is_some() { listed(first) } else { String::new() };
    let source = source.name.clone();
    Some(Warning(Diagnostic { source, span, message, label, hint: Some(hint) }))
}

/// Such as: "`Bash` has: command, description, …".
fn listed(tools: &NamedTools<'_>) -> String {
    const SHOWN: usize = 6;
    let mut arguments: Vec<&str> = tools.arguments.clone();
    let mut seen = Vec::new();
    arguments.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(*name);
        is_new
    });
    let more = if arguments.len() > SHOWN { ", …" } else { "" };
    arguments.truncate(SHOWN);
    format!("`{}` has: {}{more}", tools.written, arguments.join(", "))
}
