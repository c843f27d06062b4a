//! The usage of several answers as one.

use callgate_json::{Kind, Reader as Json, Span};

use crate::json::{document, elements, member, members};

/// Usage objects are two levels deep.
const MAX_DEPTH: usize = 4;

/// The usage of a turn of several answers, while one after the first is written.
#[derive(Debug)]
pub(crate) struct TurnUsage {
    /// That of the answers before it.
    spent: String,
    /// What it has counted itself so far.
    own: String,
    /// It was cut off: the end of an earlier answer ends the turn.
    is_given_up: bool,
}

impl TurnUsage {
    /// The usage at the start of an answer.
    pub(crate) fn after(spent: &str) -> Self {
        Self { spent: spent.to_owned(), own: "{}".to_owned(), is_given_up: false }
    }

    pub(crate) fn give_up(&mut self) {
        self.is_given_up = true;
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    pub(crate) fn own(&self) -> &str {
        &self.own
    }

    /// The answer has counted this so far. An earlier one no longer counts.
    pub(crate) fn note(&mut self, own: &str) {
        if !self.is_given_up {
            own.clone_into(&mut self.own);
        }
    }

    /// The usage of all answers.
    pub(crate) fn total(&self) -> String {
        sum(&self.spent, &self.own)
    }

    /// Like [`Self::total`], at an end that counts `last`.
    pub(crate) fn total_with(&self, last: &str) -> String {
        if self.is_given_up { self.total() } else { sum(&self.spent, last) }
    }
}

/// How two values of one key are combined.
#[derive(Clone, Copy)]
enum Combine {
    /// Counts are added.
    Add,
    /// The later one counts, unless it is `null`.
    Overlay,
}

/// The usage object of a body, of a part of one, or of an event.
pub(crate) fn usage_in(data: &str, object: Span) -> Option<(Span, &str)> {
    let span = member(data, object, "usage")?;
    Some((span, span.of(data))).filter(|(_, usage)| usage.starts_with('{'))
}

/// The usage of two answers together. What is not a count is taken from the later one.
pub(crate) fn sum(one: &str, other: &str) -> String {
    combine(one, other, Combine::Add, MAX_DEPTH)
}

/// The usage of one answer, of which a later event has newer counts.
pub(crate) fn overlay(one: &str, other: &str) -> String {
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
        (Kind::Array, Kind::Array, Combine::Add) if depth > 0 => add_lists(one, other, depth - 1),
        (Kind::Number, Kind::Number, Combine::Add) => {
            match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.saturating_add(other).to_string(),
                _ => other.to_owned(),
            }
        }
        _ => other.to_owned(),
    }
}

/// The counts of two lists together: those of the same kind are added.
fn add_lists(one: &str, other: &str, depth: usize) -> String {
    let items = |list: &str| -> Vec<String> {
        elements(list, document(list)).iter().map(|item| item.of(list).to_owned()).collect()
    };
    let mut all = items(one);
    for item in items(other) {
        match all.iter_mut().find(|known| kind_of(known) == kind_of(&item)) {
            Some(known) => *known = combined(known, &item, Combine::Add, depth),
            None => all.push(item),
        }
    }
    format!("[{}]", all.join(","))
}

/// What an item counts: its members that are texts.
fn kind_of(item: &str) -> Vec<String> {
    let members = members(item, document(item)).into_iter();
    let texts = members.filter(|member| member.value.of(item).starts_with('"'));
    texts.map(|member| member.span.of(item).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_at_every_depth() {
        let one = r#"{"a":1,"b":{"c":2,"x":"old"},"d":[{"kind":"TEXT","n":3}],"e":null,"f":7}"#;
        let other = r#"{"a":10,"b":{"c":20,"x":"new"},"d":[{"kind":"IMAGE","n":1},{"kind":"TEXT","n":30}],"e":5,"f":null,"g":1}"#;
        let want = r#"{"a":11,"b":{"c":22,"x":"new"},"d":[{"kind":"TEXT","n":33},{"kind":"IMAGE","n":1}],"e":5,"f":7,"g":1}"#;
        assert_eq!(sum(one, other), want);
        assert_eq!(sum("{}", other), other);
    }

    #[test]
    fn newer_counts_replace_older_ones() {
        assert_eq!(overlay(r#"{"a":1,"b":2}"#, r#"{"b":3,"c":null}"#), r#"{"a":1,"b":3,"c":null}"#);
    }
}
