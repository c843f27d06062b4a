//! Items and blocks of a stream under other numbers, in another order, without their ends.

use super::super::body::{Body, BodyFrame};
use super::super::tree::{Path, Tree};
use super::members::is_index;
use crate::rng::Rng;

/// Takes a stream apart by its indices and puts it together in another way. Clients differ in whether
/// they go by position, by index or by id; here these differ.
pub(super) fn scramble(body: &mut Body, rng: &mut Rng) {
    let mut groups: Vec<Group> = Vec::new();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    for frame in body.frames.drain(..) {
        let Some(index) = index_of(&frame) else {
            if groups.is_empty() { &mut head } else { &mut tail }.push(frame);
            continue;
        };
        match groups.iter_mut().find(|group| group.index == index) {
            Some(group) => group.frames.push(frame),
            None => groups.push(Group { index, frames: vec![frame] }),
        }
    }
    if groups.len() > 2 && rng.one_in(2) {
        groups.remove(0);
    }
    renumber(&mut groups, rng);
    if rng.one_in(2) {
        shuffle(&mut groups, rng);
    }
    let without_ends = !rng.one_in(3);
    for group in &mut groups {
        // The last frame of an item or block says that it is complete, or has all of it again.
        if without_ends && group.frames.len() > 2 {
            group.frames.pop();
        }
    }
    if rng.one_in(4) {
        put_into_list(&mut head, &groups, rng);
    }
    if !rng.one_in(3) {
        tail.clear();
    }
    body.frames = head;
    body.frames.extend(join(groups, rng));
    body.frames.extend(tail);
}

/// All frames with one index.
struct Group {
    index: Tree,
    frames: Vec<BodyFrame>,
}

/// Where the index of a frame is: the innermost one, for that of a choice is not the call's.
fn place(frame: &BodyFrame) -> Option<Path> {
    let tree = frame.json()?;
    let indices = tree.paths().into_iter();
    let indices = indices
        .filter(|path| tree.key(path).is_some_and(|key| is_index(key) && key != "content_index"));
    indices.max_by_key(Vec::len)
}

fn index_of(frame: &BodyFrame) -> Option<Tree> {
    frame.json()?.get(&place(frame)?).cloned()
}

/// New numbers: mostly the same ones in another order, sometimes with a gap or one of them twice.
fn renumber(groups: &mut [Group], rng: &mut Rng) {
    let mut numbers: Vec<usize> = (0..groups.len()).collect();
    match rng.below(4) {
        0 => numbers = numbers.iter().map(|_| rng.below(3)).collect(),
        1 => numbers = numbers.iter().map(|number| number + rng.below(2)).collect(),
        _ => shuffle(&mut numbers, rng),
    }
    for (group, number) in groups.iter_mut().zip(numbers) {
        for frame in &mut group.frames {
            let place = place(frame);
            if let Some(value) =
                place.and_then(|place| frame.json_mut().and_then(|tree| tree.get_mut(&place)))
            {
                *value = Tree::plain(number);
            }
        }
    }
}

fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for place in (1..list.len()).rev() {
        list.swap(place, rng.below(place + 1));
    }
}

/// Puts an item into a list of the first events, as if it had been there before.
fn put_into_list(head: &mut [BodyFrame], groups: &[Group], rng: &mut Rng) {
    let frames: Vec<&BodyFrame> = groups.iter().flat_map(|group| &group.frames).collect();
    let item = rng.pick(&frames).and_then(|frame| {
        let tree = frame.json()?;
        let is_item = |key: &str| matches!(key, "item" | "content_block" | "step");
        let path = tree.paths().into_iter().find(|path| tree.key(path).is_some_and(is_item))?;
        tree.get(&path).cloned()
    });
    let Some(item) = item else { return };
    for tree in head.iter_mut().filter_map(BodyFrame::json_mut) {
        let list = tree.paths().into_iter().find(|path| {
            let key = tree.key(path);
            key.is_some_and(|key| matches!(key, "output" | "content" | "steps"))
        });
        if let Some(Tree::Array(list)) = list.and_then(|path| tree.get_mut(&path)) {
            return list.push(item);
        }
    }
}

/// One after the other, or the frames of all mixed.
fn join(groups: Vec<Group>, rng: &mut Rng) -> Vec<BodyFrame> {
    let mut queues: Vec<Vec<BodyFrame>> = groups.into_iter().map(|group| group.frames).collect();
    if rng.one_in(2) {
        return queues.concat();
    }
    let mut mixed = Vec::new();
    while !queues.is_empty() {
        let at = rng.below(queues.len());
        if queues[at].is_empty() {
            queues.remove(at);
        } else {
            mixed.push(queues[at].remove(0));
        }
    }
    mixed
}
