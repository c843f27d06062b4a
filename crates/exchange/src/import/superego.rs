//! `rules.yaml` of superego: the lowest number decides, and in a tie the first of the file. What no rule
//! matches is allowed there.

use callgate_document::{Node, Yaml, parse};

use super::context::ImportContext;
use super::order::{Ordered, prioritised};
use crate::command::literal;
use crate::draft::{DraftRule, DraftVerdict, Operand, PolicyDraft, When};
use crate::read::{get, items, text};

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let root = parse(context.source, &mut context.problems)?;
    let mut rules: Vec<(i64, &Node)> = Vec::new();
    for node in get(&root, "rules").map(items).unwrap_or_default() {
        rules.push((priority(context, node), node));
    }
    // A stable sort: of equal ones, the first stays first.
    rules.sort_by_key(|(priority, _)| *priority);
    let last_deny = rules.iter().rposition(|(_, node)| action(node) == Some(DraftVerdict::Deny));
    let mut ordered = Vec::new();
    for (at, (_, node)) in rules.into_iter().enumerate() {
        let before_deny = last_deny.is_some_and(|deny| at < deny);
        ordered.extend(rule(context, node, before_deny).map(Ordered::plain));
    }
    context.other_keys(&root, &["rules", "version", "metadata"], "this key has no counterpart");
    let mut policy = context.policy("superego");
    policy.default = Some("allow");
    policy.rules = prioritised(context, ordered);
    Some(PolicyDraft { policies: vec![policy] })
}

fn priority(context: &mut ImportContext<'_>, node: &Node) -> i64 {
    let value = get(node, "priority").and_then(|node| match &node.value {
        Yaml::Number { json, .. } => json.parse().ok(),
        _ => None,
    });
    value.unwrap_or_else(|| {
        context.problem(node.span, "a rule needs a whole number as `priority`");
        0
    })
}

fn action(node: &Node) -> Option<DraftVerdict> {
    let action = get(node, "action").and_then(text)?;
    match action.to_ascii_uppercase().as_str() {
        "DENY" => Some(DraftVerdict::Deny),
        "ALLOW" => Some(DraftVerdict::Allow),
        "SAMPLE" => Some(DraftVerdict::Review),
        _ => None,
    }
}

fn rule(context: &mut ImportContext<'_>, node: &Node, before_deny: bool) -> Option<DraftRule> {
    let Some(decision) = action(node) else {
        context.problem(node.span, "`action` must be `ALLOW`, `DENY` or `SAMPLE`");
        return None;
    };
    let written = get(node, "id").and_then(text).unwrap_or("rule").to_owned();
    let about = context.place(node.span, &written);
    let mut rule = context.named_rule(&written, &about, decision);
    rule.reason = get(node, "reason").and_then(text).map(str::to_owned);
    let mut unknown: Vec<String> = Vec::new();
    if matches!(get(node, "enabled").map(|it| &it.value), Some(Yaml::Bool(false))) {
        context.left_out(node.span, &written, "the rule is not enabled");
        return None;
    }
    if let Some(conditions) = get(node, "conditions") {
        unknown.extend(names(conditions, &mut rule));
        unknown.extend(parameters(conditions, &mut rule));
        if let Yaml::Map(entries) = &conditions.value {
            let known = ["tool_name", "parameters", "agent_id"];
            let other = entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str()));
            unknown.extend(other.map(|(key, _)| format!("`{}` is not compared", key.name)));
        }
    }
    if decision == DraftVerdict::Review {
        rule.guidance = get(node, "sampling_guidance").and_then(text).map(str::to_owned);
        let why = "this version has no second model to ask, so such a call is refused";
        context.stricter(node.span, &written, &rule, why);
    }
    if decision.allows() && !rule.agents.is_empty() {
        let why = "the agent's name must be proven, not only claimed";
        context.stricter(node.span, &written, &rule, why);
    }
    if unknown.is_empty() {
        return Some(rule);
    }
    if decision.allows() {
        context.left_out(node.span, &written, unknown.join("; "));
        return None;
    }
    let mut message = format!("{}: the rule covers every such call", unknown.join("; "));
    if decision == DraftVerdict::Review && before_deny {
        rule.verdict = DraftVerdict::Deny;
        rule.guidance = None;
        message.push_str(", and denies, because a rule after it denies");
    }
    context.stricter(node.span, &written, &rule, message);
    Some(rule)
}

/// Tools and agents. Returns what cannot be compared.
fn names(conditions: &Node, rule: &mut DraftRule) -> Option<String> {
    let mut has_sets = false;
    let mut globs = |key: &str| -> Vec<String> {
        let list = get(conditions, key).map(items).unwrap_or_default();
        let globs = list.iter().filter_map(text).filter(|glob| *glob != "*");
        globs
            .map(|glob| {
                has_sets |= glob.contains('[');
                if glob.contains('[') { "*".to_owned() } else { glob.to_owned() }
            })
            .collect()
    };
    (rule.tools, rule.agents) = (globs("tool_name"), globs("agent_id"));
    let is_any = |key: &str| {
        let list = get(conditions, key).map(items).unwrap_or_default();
        list.iter().filter_map(text).any(|glob| glob == "*")
    };
    if is_any("tool_name") {
        rule.tools.clear();
        // A rule that allows is about tools without a server, unless it says otherwise.
        if rule.verdict.allows() {
            rule.tools = vec!["*".to_owned()];
        }
    }
    if is_any("agent_id") {
        rule.agents.clear();
    }
    has_sets.then(|| "a set of characters in a name has no counterpart".to_owned())
}

/// Arguments, all of which must match. Returns what cannot be compared.
fn parameters(conditions: &Node, rule: &mut DraftRule) -> Option<String> {
    let node = get(conditions, "parameters")?;
    let Yaml::Map(entries) = &node.value else {
        return Some("`parameters` is not a mapping".to_owned());
    };
    let mut all = Vec::new();
    let mut wrong = None;
    for (key, value) in entries {
        let path = if is_name(&key.name) { key.name.clone() } else { format!("$.{}", key.name) };
        let globs: Vec<&str> = items(value).iter().filter_map(text).collect();
        match &value.value {
            Yaml::Number { json, .. } => {
                all.push(When::Arg {
                    path,
                    operator: "equals",
                    value: Operand::Json(json.clone()),
                });
            }
            Yaml::Bool(value) => {
                let value = Operand::Json(value.to_string());
                all.push(When::Arg { path, operator: "equals", value });
            }
            _ if globs.is_empty() => wrong = Some(format!("`{}` is not a glob", key.name)),
            _ => match globs.iter().map(|glob| fnmatch(glob)).collect::<Option<Vec<_>>>() {
                Some(regexes) => {
                    let regex = format!("(?s)^(?:{})$", regexes.join("|"));
                    all.push(When::text(&path, "matches", regex));
                }
                None => wrong = Some(format!("the glob for `{}` has no counterpart", key.name)),
            },
        }
    }
    rule.when = When::all(all);
    wrong
}

/// A name that needs no `$.` before it.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-')
}

/// A regular expression for a glob in which `*` is any text; `None` for sets of characters.
fn fnmatch(glob: &str) -> Option<String> {
    let mut regex = String::new();
    for letter in glob.chars() {
        match letter {
            '*' if regex.ends_with(".*") => {}
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => return None,
            _ => regex.push_str(&literal(&letter.to_string(), " ")),
        }
    }
    Some(regex)
}
