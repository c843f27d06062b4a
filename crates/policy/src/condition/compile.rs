//! From a rule's `when` to a condition.

use callgate_document::{Mapping, Node, Problems, Yaml, list};

use super::list::{ConditionParser, KINDS};
use super::{Condition, KeyDoc};

/// The keys that join conditions.
const JOINS: &[KeyDoc] = &[
    KeyDoc { keys: &["any"], meaning: "a list of conditions, at least one of which holds" },
    KeyDoc { keys: &["all"], meaning: "a list of conditions that all hold" },
    KeyDoc { keys: &["not"], meaning: "a condition that does not hold" },
];

/// Every key of a condition with its meaning, in the order of the reference.
pub fn condition_keys() -> impl Iterator<Item = &'static KeyDoc> {
    JOINS.iter().chain(KINDS.iter().flat_map(|kind| kind.keys))
}

fn known_keys() -> Vec<&'static str> {
    condition_keys().flat_map(|row| row.keys).copied().collect()
}

/// Compiles one condition, or reports everything that is wrong with it. Depth is bounded by the
/// parser's budget.
pub(crate) fn compile(node: &Node, problems: &mut Problems<'_>) -> Option<Condition> {
    if let Yaml::List(_) = &node.value {
        problems
            .add(node.span, "a condition must be a mapping, not a list")
            .hint("put the list under `all` or `any`");
        return None;
    }
    let fields = Mapping::of(node, "a condition", problems)?;
    let before = problems.len();
    let known = known_keys();
    fields.check(&known, &[], problems);
    let joins = JOINS.iter().flat_map(|row| row.keys);
    let heads = joins.chain(KINDS.iter().flat_map(|kind| kind.heads));
    let heads: Vec<&str> = heads.copied().filter(|key| fields.get(key).is_some()).collect();
    match heads.as_slice() {
        [head] => {
            let kind = KINDS.iter().find(|kind| kind.heads.contains(head));
            report_strays(&fields, head, kind, &known, problems);
            match kind {
                Some(kind) => (kind.compile)(&fields, problems).map(Condition::Leaf),
                None => join(head, fields.get(head)?, problems),
            }
        }
        [] if problems.len() > before => None,
        [] => {
            problems.add(fields.start(), "this condition is empty").hint(
                "write `arg` with one operator, an effect such as `reads`, or `any`, `all`, `not`",
            );
            None
        }
        [..] => {
            problems
                .add(
                    fields.start(),
                    format!("`{}` cannot be in the same condition", heads.join("` and `")),
                )
                .hint("put them into a list under `all` or `any`");
            None
        }
    }
}

/// Reports the first known key that does not go with the head.
fn report_strays(
    fields: &Mapping<'_>,
    head: &str,
    kind: Option<&ConditionParser>,
    known: &[&str],
    problems: &mut Problems<'_>,
) {
    let belongs = |key: &str| key == head || kind.is_some_and(|kind| kind.has(key));
    let mut keys = fields.entries.iter().map(|(key, _)| key);
    if let Some(stray) = keys.find(|key| !belongs(&key.name) && known.contains(&key.name.as_str()))
    {
        problems.add(stray.span, format!("`{}` cannot be combined with `{head}`", stray.name));
    }
}

fn join(head: &str, node: &Node, problems: &mut Problems<'_>) -> Option<Condition> {
    if head == "not" {
        return compile(node, problems).map(|part| Condition::Not(Box::new(part)));
    }
    let nodes = list(node, &format!("`{head}`"), problems);
    if nodes.is_empty() {
        problems.add(node.span, format!("`{head}` has no conditions"));
    }
    // All of them before giving up: each may have its own problem.
    let parts: Vec<_> = nodes.iter().map(|node| compile(node, problems)).collect();
    let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
    Some(if head == "any" { Condition::Any(parts) } else { Condition::All(parts) })
}
