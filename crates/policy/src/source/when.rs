//! Reading a rule's `when`.

use super::ConditionSource;
use super::read::{Fields, list, text, texts, word};
use crate::diagnostic::Problems;
use crate::node::{Node, Yaml};
use crate::operator::OPERATORS;

const FACTS_LATER: &[&str] = &["runs", "reads", "writes", "deletes", "connects", "sql", "opaque"];

/// One condition: `any`, `all`, `not`, or an argument with one operator. Depth is bounded by the
/// parser's budget.
pub(super) fn condition(node: &Node, problems: &mut Problems<'_>) -> Option<ConditionSource> {
    if let Yaml::List(_) = &node.value {
        problems
            .add(node.span, "a condition must be a mapping, not a list")
            .hint("put the list under `all` or `any`");
        return None;
    }
    let fields = Fields::of(node, "a condition", problems)?;
    let before = problems.len();
    fields.check(&condition_keys(), FACTS_LATER, problems);
    let heads: Vec<&str> = ["any", "all", "not", "arg", "param_path", "secret", "finding"]
        .into_iter()
        .filter(|key| fields.get(key).is_some())
        .collect();
    match heads.as_slice() {
        ["arg"] => short_test(&fields, problems),
        ["param_path"] => long_test(&fields, problems),
        ["secret"] => secret(&fields, problems),
        ["finding"] => finding(&fields, problems),
        [key] => combined(key, &fields, problems),
        [] if problems.len() > before => None,
        [] => {
            problems
                .add(fields.start(), "this condition asks nothing")
                .hint("write `arg` with one operator, or `any`, `all`, `not`");
            None
        }
        [..] => {
            problems
                .add(fields.start(), format!("one condition with `{}`", heads.join("` and `")))
                .hint("put them into a list under `all` or `any`");
            None
        }
    }
}

fn condition_keys() -> Vec<&'static str> {
    let mut keys =
        vec!["any", "all", "not", "arg", "param_path", "operator", "value", "secret", "finding"];
    keys.extend(OPERATORS.iter().map(|(word, _)| *word));
    keys
}

/// `secret: any`, or the detectors and groups that are meant.
fn secret(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<ConditionSource> {
    alone("secret", fields, problems);
    let names = texts(fields.get("secret")?, "`secret`", problems);
    (!names.is_empty()).then_some(ConditionSource::Secret(names))
}

/// What an inspection of a server's texts found.
fn finding(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<ConditionSource> {
    alone("finding", fields, problems);
    super::finding::finding(fields.get("finding")?, problems).map(ConditionSource::Finding)
}

/// Reports a known key beside one that stands alone.
fn alone(key: &str, fields: &Fields<'_>, problems: &mut Problems<'_>) {
    let stray = fields.entries.iter().map(|(other, _)| other).find(|other| other.name != key);
    if let Some(stray) = stray
        && condition_keys().contains(&stray.name.as_str())
    {
        problems.add(stray.span, format!("`{}` does not belong beside `{key}`", stray.name));
    }
}

fn combined(
    key: &str,
    fields: &Fields<'_>,
    problems: &mut Problems<'_>,
) -> Option<ConditionSource> {
    alone(key, fields, problems);
    let node = fields.get(key)?;
    if key == "not" {
        return Some(ConditionSource::Not(Box::new(condition(node, problems)?)));
    }
    let nodes = list(node, &format!("`{key}`"), problems);
    if nodes.is_empty() {
        problems.add(node.span, format!("`{key}` has no conditions"));
    }
    let parts: Vec<_> = nodes.iter().filter_map(|node| condition(node, problems)).collect();
    Some(if key == "any" { ConditionSource::Any(parts) } else { ConditionSource::All(parts) })
}

fn short_test(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<ConditionSource> {
    let path = text(fields.get("arg")?, "`arg`", problems);
    let operators: Vec<_> = fields
        .entries
        .iter()
        .filter_map(|(key, node)| {
            let (_, operator) = OPERATORS.iter().find(|(word, _)| *word == key.name)?;
            Some((*operator, key, node))
        })
        .collect();
    for (key, _) in fields.entries {
        if ["operator", "value"].contains(&key.name.as_str()) {
            let message = format!("`{}` belongs to the long form with `param_path`", key.name);
            problems.add(key.span, message).hint("write the operator as a key: `equals: …`");
        }
    }
    match operators.as_slice() {
        [(operator, _, value)] => Some(ConditionSource::Test {
            path: path?,
            operator: *operator,
            value: (*value).clone(),
        }),
        // What stands there instead was already reported.
        [] if fields.entries.len() > 1 => None,
        [] => {
            problems.add(fields.start(), "this argument has no operator").hint(
                "add one of: equals, matches, contains, starts_with, in, glob, exists, gt, …",
            );
            None
        }
        [_, (_, second, _), ..] => {
            problems
                .add(second.span, format!("a second operator, `{}`", second.name))
                .hint("one condition has one operator: put two into a list under `all` or `any`");
            None
        }
    }
}

fn long_test(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<ConditionSource> {
    let path = text(fields.get("param_path")?, "`param_path`", problems);
    for key in ["operator", "value"] {
        if fields.get(key).is_none() {
            problems
                .add(fields.start(), format!("this condition has no `{key}`"))
                .hint("the long form is `{param_path, operator, value}`");
        }
    }
    for (key, _) in fields.entries {
        if OPERATORS.iter().any(|(word, _)| *word == key.name) {
            problems.add(key.span, format!("`{}` does not belong beside `param_path`", key.name));
        }
    }
    let operator = text(fields.get("operator")?, "`operator`", problems)?;
    let operator = word(&operator, "operator", OPERATORS, &[], problems)?.value;
    Some(ConditionSource::Test { path: path?, operator, value: fields.get("value")?.clone() })
}
