//! Whether one condition holds whenever another one does, as far as their text shows it.

use callgate_policy::{ConditionExplanation, ConditionKind, TestExplanation};
use serde_json::Value;

/// Whether the wide condition holds for every call that the narrow one holds for. No condition is the
/// widest of all.
pub(super) fn covers(
    wide: &Option<ConditionExplanation>,
    narrow: &Option<ConditionExplanation>,
) -> bool {
    match (wide, narrow) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => holds_whenever(wide, narrow),
    }
}

/// Whether a condition asks for something and for its opposite.
pub(super) fn contradicts_itself(when: &ConditionExplanation) -> bool {
    let ConditionKind::All(parts) = &when.kind else { return false };
    let is_denied = |part: &ConditionExplanation| match &part.kind {
        ConditionKind::Not(inner) => parts.iter().any(|other| holds_whenever(inner, other)),
        _ => false,
    };
    parts.iter().any(is_denied)
}

fn holds_whenever(wide: &ConditionExplanation, narrow: &ConditionExplanation) -> bool {
    use ConditionKind::{All, Any, Test};
    if wide == narrow {
        return true;
    }
    match (&wide.kind, &narrow.kind) {
        (_, Any(parts)) => parts.iter().all(|part| holds_whenever(wide, part)),
        (All(parts), _) => parts.iter().all(|part| holds_whenever(part, narrow)),
        (Any(parts), _) if parts.iter().any(|part| holds_whenever(part, narrow)) => true,
        (_, All(parts)) => parts.iter().any(|part| holds_whenever(wide, part)),
        (Test(wide), Test(narrow)) => is_wider_test(wide, narrow),
        _ => false,
    }
}

/// Two lists of paths, hosts or programs.
fn is_wider_test(wide: &TestExplanation, narrow: &TestExplanation) -> bool {
    if wide.path != narrow.path || wide.operator != "in" || narrow.operator != "in" {
        return false;
    }
    let Some(narrow_items) = items(&narrow.operand) else { return false };
    let of_kind = match wide.path.as_str() {
        "reads" | "writes" | "deletes" => is_wider_path,
        "connects" => is_wider_host,
        "runs" => is_wider_command,
        _ => return false,
    };
    if let Some(excluded) = excluded(&wide.operand) {
        let is_outside = |item: &String| !excluded.iter().any(|other| may_be_host(other, item));
        return wide.path == "connects" && narrow_items.iter().all(is_outside);
    }
    let Some(wide_items) = items(&wide.operand) else { return false };
    let is_covered = |item: &String| wide_items.iter().any(|other| of_kind(other, item));
    narrow_items.iter().all(is_covered)
}

/// One text or a list of texts; `None` if there is anything else, or an exception.
fn items(operand: &str) -> Option<Vec<String>> {
    texts(&serde_json::from_str(operand).ok()?)
}

/// The list in `{ not: … }`.
fn excluded(operand: &str) -> Option<Vec<String>> {
    let operand: Value = serde_json::from_str(operand).ok()?;
    let fields = operand.as_object().filter(|fields| fields.len() == 1)?;
    texts(fields.get("not")?)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let plain = |value: &Value| {
        let text = value.as_str().filter(|text| !text.starts_with('!'))?;
        Some(text.to_owned())
    };
    values.iter().map(plain).collect()
}

fn is_wider_path(wide: &str, narrow: &str) -> bool {
    let is_below = |folder: &str| {
        let rest = narrow.strip_prefix(folder);
        !folder.contains(['*', '?', '[', '{', '@'])
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && !narrow.contains("..")
    };
    wide == narrow || wide == "**" || wide.strip_suffix("/**").is_some_and(is_below)
}

fn is_wider_host(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide == "*" || is_literal(narrow) && ends_as(wide, narrow)
}

fn is_wider_command(wide: &str, narrow: &str) -> bool {
    let is_plain = |text: &str| !text.contains(['*', '?', '[', '{', '@']);
    let rest = narrow.strip_prefix(wide).filter(|_| is_plain(wide) && is_plain(narrow));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether a host may be one that a pattern finds; true for what is not understood.
fn may_be_host(pattern: &str, host: &str) -> bool {
    let is_simple = is_literal(pattern) || pattern.strip_prefix("*.").is_some_and(is_literal);
    !is_literal(host) || !is_simple || pattern.eq_ignore_ascii_case(host) || ends_as(pattern, host)
}

/// A name of letters: no pattern, address or named set.
fn is_literal(host: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    host.chars().all(is_part) && host.chars().any(|c| c.is_ascii_alphabetic())
}

/// Whether the host is below the domain of `*.domain`.
fn ends_as(pattern: &str, host: &str) -> bool {
    let end = pattern.strip_prefix('*').filter(|end| end.starts_with('.'));
    end.is_some_and(|end| host.to_ascii_lowercase().ends_with(&end.to_ascii_lowercase()))
}
