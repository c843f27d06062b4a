//! The usage of several answers as one.

use callgate_call::json::{Kind, Reader as Json, Span};

use crate::json::{document, member, members};

/// Usage objects are two levels deep.
const MAX_DEPTH: usize = 4;

/// How two values of one key are combined.
#[derive(Clone, Copy)]
enum Combine {
    /// Counts are added.
    Add,
    /// The later one counts, unless it is `null`.
    Overlay,
}

/// The usage object in `data`, at its top or in the message that it starts.
pub(in crate::anthropic) fn usage_of(data: &str) -> Option<&str> {
    let whole = document(data);
    let inside = member(data, whole, "message");
    let usage = [Some(whole), inside].into_iter().flatten();
    let mut usage = usage.filter_map(|object| member(data, object, "usage"));
    let usage = usage.next()?.of(data);
    usage.starts_with('{').then_some(usage)
}

/// The usage of two answers together. What is not a count is taken from the later one.
pub(in crate::anthropic) fn sum(one: &str, other: &str) -> String {
    combine(one, other, Combine::Add, MAX_DEPTH)
}

/// The usage of one answer, of which a later event has newer counts.
pub(in crate::anthropic) fn overlay(one: &str, other: &str) -> String {
    combine(one, other, Combine::Overlay, MAX_DEPTH)
}

fn combine(one: &str, other: &str, how: Combine, depth: usize) -> String {
    let (ours, theirs) = (document(one), document(other));
    let mut parts = Vec::new();
    let mut seen = Vec::new();
    for member in members(one, ours) {
        let key = member.key.raw();
        seen.push(key);
        let value = member.value.of(one);
        let later = members(other, theirs).into_iter().find(|other| other.key.raw() == key);
        let value = match later {
            Some(later) => combined(value, later.value.of(other), how, depth),
            None => value.to_owned(),
        };
        parts.push(format!("\"{key}\":{value}"));
    }
    for member in members(other, theirs) {
        let key = member.key.raw();
        if !seen.contains(&key) {
            parts.push(format!("\"{key}\":{}", member.value.of(other)));
        }
    }
    format!("{{{}}}", parts.join(","))
}

fn combined(one: &str, other: &str, how: Combine, depth: usize) -> String {
    let kind = |text: &str| {
        let span = Span { start: 0, end: text.len() };
        Json::at(text, span).kind().unwrap_or(Kind::Null)
    };
    match (kind(one), kind(other), how) {
        (_, Kind::Null, _) => one.to_owned(),
        (Kind::Object, Kind::Object, _) if depth > 0 => combine(one, other, how, depth - 1),
        (Kind::Number, Kind::Number, Combine::Add) => {
            match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.saturating_add(other).to_string(),
                _ => other.to_owned(),
            }
        }
        _ => other.to_owned(),
    }
}
