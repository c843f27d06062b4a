//! Changes to a response: to its frames, and to the members of its JSON.

mod members;
mod scramble;

use callgate_dialect::Dialect;

use scramble::scramble;

use super::body::{Body, BodyFrame, Data, RequestMode};
use super::seeds::Seeds;
use super::tree::Tree;
use crate::rng::Rng;

/// Changes a body in a few ways.
pub(super) fn mutate(body: &mut Body, seeds: &Seeds, rng: &mut Rng) {
    let mut changes = 1 + rng.below(4).min(rng.below(6));
    if body.mode == RequestMode::Stream {
        match rng.below(4) {
            0 => unfinish(body, rng),
            1 | 2 => {
                scramble(body, rng);
                // A body with a few changes gets further than one with many.
                changes = rng.below(2);
            }
            _ => {}
        }
    }
    for _ in 0..changes {
        match body.mode {
            RequestMode::Stream if rng.one_in(2) => change_frames(body, seeds, rng),
            _ => members::change(body, rng),
        }
    }
    if body.mode == RequestMode::Stream {
        body.frames.truncate(MOST_FRAMES);
    }
}

/// More only takes time.
const MOST_FRAMES: usize = 120;

fn change_frames(body: &mut Body, seeds: &Seeds, rng: &mut Rng) {
    let count = body.frames.len();
    if count == 0 {
        return;
    }
    let (at, to) = (rng.below(count), rng.below(count + 1));
    match rng.below(17) {
        0 => drop(body.frames.remove(at)),
        1 => drop_kind(body, at),
        2 => body.frames.insert(to, body.frames[at].clone()),
        3 => body.frames.swap(at, to.min(count - 1)),
        4 => {
            let frame = body.frames.remove(at);
            body.frames.insert(to.min(count - 1), frame);
        }
        5 => body.frames.truncate(at + 1),
        6 => repeat(body, rng),
        // The end comes early, and again.
        7 => body.frames.insert(to, body.frames[count - 1 - rng.below(count.min(3))].clone()),
        8 => interleave(body, rng),
        9 => split_text(body, rng),
        10 => merge_texts(body, rng),
        11 => insert(body, to, unreadable(body.dialect, rng)),
        12 => insert(body, to, error(body.dialect)),
        13 => insert(body, to, foreign(seeds, rng)),
        14 => insert(body, to, of_another(body.dialect, seeds, rng)),
        15 => append(body, to, seeds, rng),
        _ => rename(body, at, rng),
    }
}

/// Leaves out the end that the API prescribes, and perhaps the ends of items and blocks too: what
/// came before is all a client has.
fn unfinish(body: &mut Body, rng: &mut Rng) {
    let last = body.frames.len().saturating_sub(1 + rng.below(2));
    body.frames.truncate(last);
    if rng.one_in(2) {
        let kinds: Vec<String> = body.frames.iter().map(kind).collect();
        let ends = ["item.done", "_stop", "-end", "Stop", ".stop", "part.done", "arguments.done"];
        let end = ends.iter().filter(|end| kinds.iter().any(|kind| kind.ends_with(*end)));
        let ends: Vec<&&str> = end.collect();
        if let Some(end) = rng.pick(&ends) {
            body.frames.retain(|frame| !kind(frame).ends_with(**end));
        }
    }
}

/// What kind of event a frame is.
fn kind(frame: &BodyFrame) -> String {
    let Some(Tree::Object(members)) = frame.json() else { return String::new() };
    let text = |key: &str| {
        members.iter().find_map(|member| match member {
            (known, Tree::Text(text)) if known == key => Some(text.clone()),
            _ => None,
        })
    };
    text("event_type").or_else(|| text("type")).or(frame.name.clone()).unwrap_or_default()
}

/// Leaves out all frames of one kind.
fn drop_kind(body: &mut Body, at: usize) {
    let gone = kind(&body.frames[at]);
    body.frames.retain(|frame| kind(frame) != gone);
}

/// Repeats a stretch of frames right after it: the same item or block twice.
fn repeat(body: &mut Body, rng: &mut Rng) {
    let start = rng.below(body.frames.len());
    let end = (start + 1 + rng.below(6)).min(body.frames.len());
    let copy = body.frames[start..end].to_vec();
    body.frames.splice(end..end, copy);
}

/// Adds a stretch of another response: its indices and ids are in use already.
fn append(body: &mut Body, place: usize, seeds: &Seeds, rng: &mut Rng) {
    let other = seeds.pick(body.dialect, RequestMode::Stream, rng).body.frames;
    let start = rng.below(other.len());
    let stretch = other.into_iter().skip(start).take(1 + rng.below(12));
    body.frames.splice(place..place, stretch);
}

fn insert(body: &mut Body, place: usize, frame: Option<BodyFrame>) {
    if let Some(frame) = frame {
        body.frames.insert(place.min(body.frames.len()), frame);
    }
}

/// Mixes two halves of a stretch of frames, each in its own order: two calls that come at once.
fn interleave(body: &mut Body, rng: &mut Rng) {
    let start = rng.below(body.frames.len());
    let end = start + rng.below(body.frames.len() - start + 1);
    let mut first: Vec<BodyFrame> = body.frames.drain(start..end).collect();
    let mut second = first.split_off(first.len() / 2);
    let mut mixed = Vec::new();
    while !first.is_empty() || !second.is_empty() {
        let from = if rng.one_in(2) { &mut first } else { &mut second };
        if !from.is_empty() {
            mixed.push(from.remove(0));
        }
    }
    body.frames.splice(start..start, mixed);
}

/// Keys whose text comes in pieces.
const PIECES: [&str; 7] =
    ["arguments", "partial_json", "delta", "input", "text", "name", "content"];

/// Puts one half of a text into a frame of its own, which is a copy of the first.
fn split_text(body: &mut Body, rng: &mut Rng) {
    let Some((at, path)) = members::find(body, rng, |key, value| {
        PIECES.contains(&key) && matches!(value, Tree::Text(text) if text.len() > 1)
    }) else {
        return;
    };
    let mut second = body.frames[at].clone();
    let halves = [&mut body.frames[at], &mut second].map(|frame| frame.json_mut()?.get_mut(&path));
    if let [Some(Tree::Text(head)), Some(Tree::Text(tail))] = halves {
        let middle = (1..head.len()).filter(|&place| head.is_char_boundary(place));
        let middle: Vec<usize> = middle.collect();
        let Some(&middle) = rng.pick(&middle) else { return };
        head.truncate(middle);
        tail.drain(..middle);
        body.frames.insert(at + 1, second);
    }
}

/// Adds the text of a frame to that of the frame before, if they are alike.
fn merge_texts(body: &mut Body, rng: &mut Rng) {
    let Some((at, path)) = members::find(body, rng, |key, value| {
        PIECES.contains(&key) && matches!(value, Tree::Text(_))
    }) else {
        return;
    };
    let Some(next) = body.frames.get(at + 1) else { return };
    let Some(Tree::Text(more)) = next.json().and_then(|tree| tree.get(&path)).cloned() else {
        return;
    };
    if let Some(Tree::Text(text)) = body.frames[at].json_mut().and_then(|tree| tree.get_mut(&path))
    {
        text.push_str(&more);
        body.frames.remove(at + 1);
    }
}

/// A frame that no reader understands, with the name of one that it would.
fn unreadable(dialect: Dialect, rng: &mut Rng) -> Option<BodyFrame> {
    let texts = ["{", "not json", "{\"type\":", "[]", "null", "\"x\"", "{\"a\":1,\"a\":2}", "{}"];
    let name = (!matches!(dialect, Dialect::OpenAiChat | Dialect::Gemini)).then_some("message");
    Some(BodyFrame::new(name, rng.pick(&texts)?))
}

/// What the API sends when it fails in the middle.
fn error(dialect: Dialect) -> Option<BodyFrame> {
    let (name, data) = match dialect {
        Dialect::Anthropic | Dialect::Invoke => (
            Some("error"),
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
        ),
        Dialect::Responses => {
            (Some("error"), r#"{"type":"error","code":"server_error","message":"busy"}"#)
        }
        Dialect::Interactions => {
            (Some("error"), r#"{"event_type":"error","error":{"message":"busy"}}"#)
        }
        Dialect::Converse => (Some("internalServerException"), r#"{"message":"busy"}"#),
        Dialect::Ollama => (None, r#"{"error":"busy"}"#),
        _ => (None, r#"{"error":{"message":"busy","code":500}}"#),
    };
    Some(BodyFrame::new(name, data))
}

/// A frame of another API.
fn foreign(seeds: &Seeds, rng: &mut Rng) -> Option<BodyFrame> {
    let dialect = *rng.pick(&Dialect::ALL)?;
    of_another(dialect, seeds, rng)
}

/// A frame of another response of an API.
fn of_another(dialect: Dialect, seeds: &Seeds, rng: &mut Rng) -> Option<BodyFrame> {
    let other = seeds.pick(dialect, RequestMode::Stream, rng);
    rng.pick(&other.body.frames).cloned()
}

/// Gives an event the name or the type of another, or none.
fn rename(body: &mut Body, at: usize, rng: &mut Rng) {
    let other = body.frames[rng.below(body.frames.len())].clone();
    let frame = &mut body.frames[at];
    match rng.below(3) {
        0 => frame.name = other.name,
        1 => frame.name = None,
        _ => {
            frame.name.clone_from(&other.name);
            let kind = |tree: &Tree| {
                let is_kind = |key: &str| matches!(key, "type" | "event_type" | "object");
                tree.paths()
                    .into_iter()
                    .find(|path| path.len() == 1 && tree.key(path).is_some_and(is_kind))
            };
            let (Data::Json(from), Data::Json(to)) = (&other.data, &mut frame.data) else { return };
            if let (Some(there), Some(here)) = (kind(from), kind(to))
                && let (Some(new), Some(old)) = (from.get(&there), to.get_mut(&here))
            {
                *old = new.clone();
            }
        }
    }
}
