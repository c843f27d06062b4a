//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::shell::syntax::{Piece, Quoting};

/// All words that a word with braces becomes, at most `most` of them.
pub(crate) fn expand(pieces: &[Piece], most: usize) -> Vec<Vec<Piece>> {
    let mut done = Vec::new();
    let mut open = vec![pieces.to_vec()];
    // Each turn resolves the first brace of one word.
    let mut turns = most * 4;
    while let Some(word) = open.pop() {
        turns = turns.saturating_sub(1);
        if turns == 0 || done.len() >= most {
            done.push(word);
            break;
        }
        match first_brace(&word) {
            Some(words) => open.extend(words.into_iter().rev()),
            None => done.push(word),
        }
    }
    done
}

/// The words that the first brace with alternatives makes of a word.
fn first_brace(pieces: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    for (start, piece) in pieces.iter().enumerate() {
        if !matches!(piece, Piece::Brace('{')) {
            continue;
        }
        let Some((end, commas)) = closing(pieces, start) else { continue };
        let (before, after) = (pieces.get(..start)?, pieces.get(end + 1..)?);
        let inside = pieces.get(start + 1..end)?;
        let parts =
            if commas.is_empty() { range(inside)? } else { split(pieces, start, end, &commas) };
        let join = |part: Vec<Piece>| [before, &part, after].concat();
        return Some(parts.into_iter().map(join).collect());
    }
    None
}

/// The index of the brace that closes the one at `start`, and the commas between them.
fn closing(pieces: &[Piece], start: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, piece) in pieces.iter().enumerate().skip(start) {
        match piece {
            Piece::Brace('{') => depth += 1,
            Piece::Brace('}') if depth == 1 => {
                return (!commas.is_empty() || range(pieces.get(start + 1..at)?).is_some())
                    .then_some((at, commas));
            }
            Piece::Brace('}') => depth = depth.saturating_sub(1),
            Piece::Brace(',') if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

fn split(pieces: &[Piece], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<Piece>> {
    let starts = std::iter::once(start).chain(commas.iter().copied());
    let ends = commas.iter().copied().chain([end]);
    starts
        .zip(ends)
        .map(|(from, to)| pieces.get(from + 1..to).unwrap_or_default().to_vec())
        .collect()
}

/// `1..5`, `a..e`, `1..9..2`
fn range(inside: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let [Piece::Text(text, Quoting::Bare)] = inside else { return None };
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step: i64 = parts.next().map_or(Some(1), |step| step.parse().ok())?;
    let letters = |text: &str| {
        let mut characters = text.chars();
        let first = characters.next().filter(char::is_ascii_alphabetic)?;
        characters.next().is_none().then_some(i64::from(u32::from(first)))
    };
    let number = |text: &str| text.parse::<i64>().ok();
    let (from_value, to_value, is_number) = match (number(from), number(to)) {
        (Some(from), Some(to)) => (from, to, true),
        _ => (letters(from)?, letters(to)?, false),
    };
    let step = step.unsigned_abs().max(1);
    let count = (from_value.abs_diff(to_value) / step).min(63);
    let make = |n: u64| {
        let offset = i64::try_from(n * step).unwrap_or(0);
        let value = if from_value <= to_value { from_value + offset } else { from_value - offset };
        let text = if is_number {
            value.to_string()
        } else {
            u32::try_from(value).ok().and_then(char::from_u32).map_or(String::new(), String::from)
        };
        vec![Piece::Text(text.into(), Quoting::Bare)]
    };
    Some((0..=count).map(make).collect())
}
