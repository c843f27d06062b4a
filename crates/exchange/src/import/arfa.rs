//! Tool policies of arfa: a map (its cache), a list (its API), or rows of its table as JSON or CSV.
//! An explicit deny wins there, and here, because all rules have the same priority.

use callgate_document::{Node, Source, SourceSpan, Yaml};
use regex::Regex;

use super::context::ImportContext;
use crate::draft::{DraftRule, DraftVerdict, Operand, PolicyDraft, When};
use crate::read::{self, get, items, text};

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let start = context.source.text.trim_start_matches('\u{feff}').trim_start();
    let root = match start.starts_with(['{', '[']) {
        true => read::json::read(context.source, &mut context.problems)?,
        false => read::csv::read(context.source, &mut context.problems)?,
    };
    let mut rules = Vec::new();
    if let Some(Yaml::Map(entries)) = get(&root, "tool_policies").map(|node| &node.value) {
        for (key, node) in entries {
            rules.extend(rule(context, key.span, &key.name, node));
        }
    }
    let list = match &root.value {
        Yaml::List(items) => items.as_slice(),
        _ => get(&root, "policies").or_else(|| list_of(&root)).map(items).unwrap_or_default(),
    };
    for node in list {
        match get(node, "tool_name").and_then(text) {
            Some(name) => rules.extend(rule(context, node.span, name, node)),
            None => context.problem(node.span, "this policy has no `tool_name`"),
        }
    }
    for key in ["employee_id", "team_id", "org_id"] {
        if let Some(node) = get(&root, key).filter(|node| text(node).is_some()) {
            let why = "whom the file is for is not read: the policy applies to everybody it is loaded for";
            context.left_out(node.span, key, why);
        }
    }
    let mut policy = context.policy("arfa");
    policy.default = Some("allow");
    policy.rules = rules;
    Some(PolicyDraft { policies: vec![policy] })
}

/// A table that was exported under the key `tool_policies`.
fn list_of(root: &Node) -> Option<&Node> {
    get(root, "tool_policies").filter(|node| matches!(node.value, Yaml::List(_)))
}

fn rule(
    context: &mut ImportContext<'_>,
    at: SourceSpan,
    tool: &str,
    node: &Node,
) -> Option<DraftRule> {
    let decision = match get(node, "action").and_then(text).map(str::to_ascii_lowercase).as_deref()
    {
        Some("deny") => DraftVerdict::Deny,
        Some("audit") => DraftVerdict::Audit,
        Some("allow") => DraftVerdict::Allow,
        _ => {
            context.problem(node.span, "`action` must be `deny`, `audit` or `allow`");
            return None;
        }
    };
    if tool.trim().is_empty() {
        context.problem(at, "`tool_name` is empty");
        return None;
    }
    let mut rule = context.rule(at, tool, decision);
    if !matches!(tool.trim(), "%" | "*") || decision.allows() {
        rule.tools = vec![tool.trim().replace('%', "*")];
    }
    for (key, field) in [("org_id", "org"), ("team_id", "team"), ("employee_id", "user")] {
        if let Some(value) = get(node, key).and_then(text).filter(|it| !it.trim().is_empty()) {
            rule.who.push((field, value.to_owned()));
        }
    }
    rule.reason =
        get(node, "reason").and_then(text).filter(|it| !it.trim().is_empty()).map(str::to_owned);
    match conditions(context, node) {
        Conditions::None => Some(rule),
        Conditions::When(when) => {
            rule.when = Some(when);
            Some(rule)
        }
        Conditions::Unknown(why) if decision.allows() => {
            context.left_out(at, tool, why);
            None
        }
        Conditions::Unknown(why) => {
            context.stricter(
                at,
                tool,
                &rule,
                format!("{why}: the rule covers every call of the tool"),
            );
            Some(rule)
        }
    }
}

enum Conditions {
    None,
    When(When),
    /// They cannot be expressed, because of this.
    Unknown(String),
}

/// The conditions, which in a table are JSON text.
fn conditions(context: &mut ImportContext<'_>, rule: &Node) -> Conditions {
    let Some(node) = get(rule, "conditions") else { return Conditions::None };
    match &node.value {
        Yaml::String(json) if json.trim().is_empty() => Conditions::None,
        Yaml::String(json) => {
            let source = Source { name: context.source.name.clone(), text: json.clone() };
            let mut problems = callgate_document::Problems::new(&source);
            match read::json::read(&source, &mut problems) {
                Some(inner) => of_node(&inner),
                None => {
                    context.problem(node.span, "`conditions` is not JSON");
                    Conditions::None
                }
            }
        }
        _ => of_node(node),
    }
}

fn of_node(node: &Node) -> Conditions {
    match &node.value {
        Yaml::Null => Conditions::None,
        Yaml::Map(entries) if entries.is_empty() => Conditions::None,
        Yaml::List(items) if items.is_empty() => Conditions::None,
        Yaml::List(_) => group(node, "all"),
        Yaml::Map(entries) => {
            let groups: Vec<&str> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
            match groups.as_slice() {
                [name @ ("any" | "all")] => group(get(node, name).unwrap_or(node), name),
                _ => leaf(node),
            }
        }
        _ => Conditions::Unknown("the conditions are not an object".to_owned()),
    }
}

fn group(node: &Node, name: &str) -> Conditions {
    let mut list = Vec::new();
    for item in items(node) {
        match of_node(item) {
            Conditions::When(when) => list.push(when),
            Conditions::None => {}
            Conditions::Unknown(why) => return Conditions::Unknown(why),
        }
    }
    let joined = if name == "any" { When::any(list) } else { When::all(list) };
    joined.map_or(Conditions::None, Conditions::When)
}

const OPERATORS: [&str; 10] = [
    "equals",
    "not_equals",
    "matches",
    "not_matches",
    "contains",
    "not_contains",
    "starts_with",
    "not_starts_with",
    "in",
    "not_in",
];

fn leaf(node: &Node) -> Conditions {
    let field = |key: &str| get(node, key).and_then(text).map(str::to_owned);
    let (Some(path), Some(written)) = (field("param_path"), field("operator")) else {
        return Conditions::Unknown("a condition has no `param_path` or no `operator`".to_owned());
    };
    let Some(operator) = OPERATORS.iter().find(|known| **known == written) else {
        return Conditions::Unknown(format!("the operator `{written}` is not known"));
    };
    let Some(value) = get(node, "value").and_then(|value| operand(operator, value)) else {
        return Conditions::Unknown(format!("the value of `{operator}` has no counterpart"));
    };
    Conditions::When(When::Arg { path, operator, value })
}

fn operand(operator: &str, node: &Node) -> Option<Operand> {
    let value = match &node.value {
        Yaml::List(_) if operator.ends_with("in") => {
            let list: Option<Vec<String>> = items(node).iter().map(scalar).collect();
            Operand::List(list.filter(|list| !list.is_empty())?)
        }
        _ if operator == "in" || operator == "not_in" => Operand::List(vec![scalar(node)?]),
        Yaml::String(text) => Operand::Text(text.clone()),
        Yaml::Number { json, .. } => Operand::Json(json.clone()),
        Yaml::Bool(value) => Operand::Json(value.to_string()),
        _ => return None,
    };
    match (&value, operator.ends_with("matches")) {
        (Operand::Text(regex), true) => Regex::new(regex).ok().map(|_| value),
        (_, true) => None,
        _ => Some(value),
    }
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Number { json, .. } => Some(json.clone()),
        Yaml::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
