//! Changes to the members of JSON.

use super::super::body::Body;
use super::super::tree::{Path, Tree};
use crate::rng::Rng;

/// Changes one member of one frame, or the same thing in several.
pub(super) fn change(body: &mut Body, rng: &mut Rng) {
    match rng.below(16) {
        0 | 1 => change_index(body, rng),
        2 | 3 => renumber(body, rng),
        4 => reuse_id(body, rng),
        5 => set(body, rng, is_name),
        6 | 7 => change_arguments(body, rng),
        8 => transplant(body, rng, Leave::Copy),
        9 => transplant(body, rng, Leave::Nothing),
        10 => copy_list(body, rng),
        11 => second_of_list(body, rng),
        12 => same_key_twice(body, rng),
        13 => set(body, rng, |key| matches!(key, "type" | "event_type" | "role" | "object")),
        14 => remove(body, rng),
        _ => replace(body, rng),
    }
}

/// Whether a member stays where it was copied from.
#[derive(Clone, Copy, PartialEq)]
enum Leave {
    Copy,
    Nothing,
}

/// A random member with such a key and value: its frame, and its path there.
pub(super) fn find(
    body: &Body,
    rng: &mut Rng,
    fits: impl Fn(&str, &Tree) -> bool,
) -> Option<(usize, Path)> {
    let found = find_all(body, fits);
    rng.pick(&found).cloned()
}

fn find_all(body: &Body, fits: impl Fn(&str, &Tree) -> bool) -> Vec<(usize, Path)> {
    let mut found = Vec::new();
    for (at, frame) in body.frames.iter().enumerate() {
        let Some(tree) = frame.json() else { continue };
        for path in tree.paths() {
            if let (Some(key), Some(value)) = (tree.key(&path), tree.get(&path))
                && fits(key, value)
            {
                found.push((at, path));
            }
        }
    }
    found
}

fn value<'a>(body: &'a mut Body, (at, path): &(usize, Path)) -> Option<&'a mut Tree> {
    body.frames[*at].json_mut()?.get_mut(path)
}

pub(super) fn is_index(key: &str) -> bool {
    matches!(key, "index" | "output_index" | "content_index" | "contentBlockIndex")
}

fn is_id(key: &str) -> bool {
    matches!(key, "id" | "call_id" | "item_id" | "toolUseId")
}

fn is_name(key: &str) -> bool {
    key == "name"
}

fn is_arguments(key: &str) -> bool {
    matches!(key, "arguments" | "input" | "args" | "partial_json" | "delta" | "partialArgs")
}

fn is_list(key: &str) -> bool {
    matches!(
        key,
        "choices" | "tool_calls" | "output" | "content" | "candidates" | "parts" | "steps"
    )
}

/// Gives one index, or all equal ones from some frame on, another value.
fn change_index(body: &mut Body, rng: &mut Rng) {
    let all = find_all(body, |key, _| is_index(key));
    let Some(chosen) = rng.pick(&all).cloned() else { return };
    let Some(old) = value(body, &chosen).cloned() else { return };
    let numbers = ["0", "1", "2", "3", "-1", "7", "\"0\"", "\"1\"", "0.0", "1.0", "null", "99999"];
    let likely = if rng.one_in(3) { numbers.len() } else { 4 };
    let new = Tree::plain(numbers[rng.below(likely)]);
    let from = if rng.one_in(2) { chosen.0 } else { usize::MAX };
    for place in all {
        let also = place.0 >= from && value(body, &place).is_some_and(|value| *value == old);
        if (also || place == chosen)
            && let Some(value) = value(body, &place)
        {
            value.clone_from(&new);
        }
    }
}

/// Gives indices other values everywhere: things come in another order than they are numbered, with
/// a gap, or two under one number.
fn renumber(body: &mut Body, rng: &mut Rng) {
    let all = find_all(body, |key, _| is_index(key));
    let mut known: Vec<Tree> = Vec::new();
    for place in &all {
        match value(body, place) {
            Some(index) if !known.contains(index) => known.push(index.clone()),
            _ => {}
        }
    }
    let mut new = known.clone();
    let (one, other) = (rng.below(known.len()), rng.below(known.len()));
    match rng.below(5) {
        0..=2 if !new.is_empty() => new.swap(one, other),
        3 => new.reverse(),
        _ => new = (0..known.len()).map(|place| Tree::plain(place + 1)).collect(),
    }
    for place in &all {
        if let Some(value) = value(body, place)
            && let Some(at) = known.iter().position(|known| known == value)
        {
            value.clone_from(&new[at]);
        }
    }
}

/// Gives one id, or all equal ones, the value of another one.
fn reuse_id(body: &mut Body, rng: &mut Rng) {
    let all = find_all(body, |key, _| is_id(key));
    let (Some(to), Some(from)) = (rng.pick(&all).cloned(), rng.pick(&all).cloned()) else { return };
    let (Some(old), Some(mut new)) = (value(body, &to).cloned(), value(body, &from).cloned())
    else {
        return;
    };
    match rng.below(12) {
        0 => new = Tree::plain("null"),
        1 => new = Tree::Text(String::new()),
        2 => new = Tree::Text("new".into()),
        _ => {}
    }
    let everywhere = rng.one_in(2);
    for place in all {
        if let Some(value) = value(body, &place)
            && (place == to || (everywhere && *value == old))
        {
            value.clone_from(&new);
        }
    }
}

/// Gives a member the value of another one with such a key.
fn set(body: &mut Body, rng: &mut Rng, fits: impl Fn(&str) -> bool) {
    let all = find_all(body, |key, _| fits(key));
    let (Some(to), Some(from)) = (rng.pick(&all).cloned(), rng.pick(&all).cloned()) else { return };
    if let Some(new) = value(body, &from).cloned()
        && let Some(value) = value(body, &to)
    {
        *value = new;
    }
}

fn change_arguments(body: &mut Body, rng: &mut Rng) {
    if rng.one_in(3) {
        return set(body, rng, is_arguments);
    }
    let Some(place) = find(body, rng, |key, _| is_arguments(key)) else { return };
    let Some(value) = value(body, &place) else { return };
    let text = |text: &str| Tree::Text(text.to_owned());
    let object = || Tree::parse(r#"{"command":"EVILARG"}"#);
    let new = match rng.below(9) {
        0 => Some(text("")),
        1 => Some(text("{}")),
        2 => Some(text(r#"{"command":"EVILARG"}"#)),
        3 => Some(text(r#"{"command":"#)),
        4 => Some(text(" ")),
        5 => Some(Tree::plain("null")),
        6 => object(),
        7 => Some(Tree::Object(Vec::new())),
        // As text where it was a value, as a value where it was text.
        _ => match &*value {
            Tree::Text(json) => Tree::parse(json),
            other => Some(Tree::Text(other.to_string())),
        },
    };
    *value = new.unwrap_or_else(|| text(""));
}

/// Puts a member of one frame into another frame, at the same place if there is one.
fn transplant(body: &mut Body, rng: &mut Rng, leave: Leave) {
    let Some((at, path)) = find(body, rng, |_, _| true) else { return };
    let to = rng.below(body.frames.len());
    let Some(tree) = body.frames[at].json_mut() else { return };
    let key = tree.key(&path).unwrap_or_default().to_owned();
    let value = match leave {
        Leave::Copy => tree.get(&path).cloned(),
        Leave::Nothing => tree.remove(&path),
    };
    let (Some(value), Some(target)) = (value, body.frames[to].json_mut()) else { return };
    let parent = path.split_last().map_or(&[][..], |(_, parent)| parent);
    let parent = if matches!(target.get(parent), Some(Tree::Object(_))) { parent } else { &[] };
    if let Some(Tree::Object(members)) = target.get_mut(parent) {
        members.retain(|(known, _)| *known != key);
        members.push((key, value));
    }
}

/// Puts items of one list into another list with the same key: a list of a later event into an
/// earlier one, the calls of one choice into another.
fn copy_list(body: &mut Body, rng: &mut Rng) {
    let lists = find_all(body, |key, value| is_list(key) && matches!(value, Tree::Array(_)));
    let (Some(from), Some(to)) = (rng.pick(&lists).cloned(), rng.pick(&lists).cloned()) else {
        return;
    };
    let Some(Tree::Array(items)) = value(body, &from).cloned() else { return };
    let count = 1 + rng.below(items.len());
    let start = rng.below(items.len() + 1);
    if let Some(Tree::Array(list)) = value(body, &to) {
        let place = rng.below(list.len() + 1);
        list.splice(place..place, items.into_iter().skip(start).take(count));
    }
}

/// A second choice, candidate, call or part: a copy of one, perhaps with the next index.
fn second_of_list(body: &mut Body, rng: &mut Rng) {
    let Some(place) = find(body, rng, |key, value| {
        is_list(key) && matches!(value, Tree::Array(items) if !items.is_empty())
    }) else {
        return;
    };
    let Some(Tree::Array(items)) = value(body, &place) else { return };
    let mut copy = items[rng.below(items.len())].clone();
    if let Tree::Object(members) = &mut copy
        && rng.one_in(2)
    {
        for (_, value) in members.iter_mut().filter(|(key, _)| is_index(key)) {
            *value = Tree::plain(1 + rng.below(2));
        }
    }
    let at = rng.below(items.len() + 1);
    items.insert(at, copy);
}

/// The same key again, or in another case, with a value from elsewhere.
fn same_key_twice(body: &mut Body, rng: &mut Rng) {
    let Some((at, path)) = find(body, rng, |_, _| true) else { return };
    let Some(tree) = body.frames[at].json() else { return };
    let key = tree.key(&path).unwrap_or_default().to_owned();
    let all = find_all(body, |other, _| other == key);
    let Some(new) = rng.pick(&all).cloned().and_then(|place| value(body, &place).cloned()) else {
        return;
    };
    let spelled = match rng.below(3) {
        0 => key,
        1 => key.to_uppercase(),
        _ => {
            let mut letters = key.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect()
        }
    };
    let (place, parent) = path.split_last().expect("a member has a parent");
    let parent = body.frames[at].json_mut().and_then(|tree| tree.get_mut(parent));
    if let Some(Tree::Object(members)) = parent {
        let place = if rng.one_in(2) { *place } else { members.len() };
        members.insert(place, (spelled, new));
    }
}

fn remove(body: &mut Body, rng: &mut Rng) {
    if let Some((at, path)) = find(body, rng, |_, _| true)
        && let Some(tree) = body.frames[at].json_mut()
    {
        tree.remove(&path);
    }
}

fn replace(body: &mut Body, rng: &mut Rng) {
    let Some(place) = find(body, rng, |_, _| true) else { return };
    let values = ["null", "\"\"", "[]", "{}", "0", "true", "\"stop\"", "\"tool_use\"", "[null]"];
    let new = rng.pick(&values).and_then(|json| Tree::parse(json));
    if let (Some(value), Some(new)) = (value(body, &place), new) {
        *value = match rng.below(4) {
            0 => Tree::Array(vec![value.clone()]),
            _ => new,
        };
    }
}
