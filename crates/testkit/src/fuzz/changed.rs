//! Inputs with a few bytes changed.

use super::MAX_LEN;
use crate::rng::Rng;

/// A seed with up to six changes: always the same ones for the same `number`.
pub fn changed(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut rng = Rng::new(number);
    let mut input = rng.pick(seeds).cloned().unwrap_or_default();
    for _ in 0..=rng.below(6) {
        change(&mut input, seeds, &mut rng);
    }
    input.truncate(MAX_LEN);
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let (start, end) = stretch(input.len(), rng);
    match rng.below(8) {
        0 => {
            if let Some(byte) = input.get_mut(start) {
                *byte = u8::try_from(rng.below(256)).unwrap();
            }
        }
        1 => drop(input.drain(start..end)),
        2 => {
            let copy = input[start..end].to_vec();
            let at = rng.below(input.len() + 1);
            input.splice(at..at, copy);
        }
        3 => input[start..end].reverse(),
        4 => {
            let word = rng.pick(&WORDS).copied().unwrap_or_default();
            input.splice(start..start, word.bytes());
        }
        5 => {
            let word = rng.pick(&WORDS).copied().unwrap_or_default();
            input.splice(start..end, word.bytes());
        }
        6 => swap_lines(input, rng),
        _ => {
            let other = rng.pick(seeds).cloned().unwrap_or_default();
            let (from, to) = stretch(other.len(), rng);
            input.splice(start..start, other[from..to].iter().copied());
        }
    }
}

/// From where to where: mostly a few bytes, sometimes many.
fn stretch(length: usize, rng: &mut Rng) -> (usize, usize) {
    let most = if rng.one_in(4) { 1024 } else { 12 };
    let start = rng.below(length + 1);
    (start, (start + rng.below(most)).min(length))
}

/// Swaps two lines: two fields of an event, or the data of two events.
fn swap_lines(input: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, other) = (rng.below(lines.len()), rng.below(lines.len()));
    if one < lines.len() && other < lines.len() {
        lines.swap(one, other);
        *input = lines.concat();
    }
}

/// What the formats are made of. A random byte rarely spells one of them.
const WORDS: [&str; 36] = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\u{feff}",
    ":",
    "data: ",
    "event: ",
    "id: 1\n",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "1e400",
    "-0",
    "{}",
    "\"name\":\"rm\",",
    "\"type\":\"tool_use\",",
    "\"type\":\"function_call\",",
    "\"input\":{},",
    "\"arguments\":\"{}\",",
    "\"index\":1,",
    "\"id\":\"x\",",
    "\"call_id\":\"x\",",
    "\"tool_calls\":[{",
    "\"functionCall\":{",
    "\"error\":{},",
    "\"result\":{",
];
