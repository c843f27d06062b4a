//! Compares two texts word by word.

use std::fmt;

use crate::path::visible;

/// A piece of two compared texts, with invisible characters replaced by their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffPiece {
    /// In both texts. The middle of a long piece is left out.
    Same(String),
    /// Only in the old text.
    Removed(String),
    /// Only in the new text.
    Added(String),
}

impl fmt::Display for DiffPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same(text) => f.write_str(text),
            Self::Removed(text) => write!(f, "[-{text}-]"),
            Self::Added(text) => write!(f, "{{+{text}+}}"),
        }
    }
}

/// The most steps of a comparison: enough for two texts of a thousand words each. If more are
/// needed, the whole part between the common beginning and end counts as different.
const MAX_STEPS: usize = 1_000_000;
/// The number of characters that are shown on each side of a difference.
const AROUND: usize = 80;

/// The pieces of both texts, in order.
pub(super) fn compare(was: &str, is: &str) -> Vec<DiffPiece> {
    let (was, is) = (words(was), words(is));
    let begin = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let (head, was) = was.split_at(begin);
    let is = is.get(begin..).unwrap_or(&[]);
    let end = was.iter().rev().zip(is.iter().rev()).take_while(|(a, b)| a == b).count();
    let (was, tail) = was.split_at(was.len() - end);
    let is = is.get(..is.len() - end).unwrap_or(&[]);
    let mut pieces = DiffPieces::default();
    head.iter().for_each(|word| pieces.push(DiffSide::Both, word));
    middle(was, is, &mut pieces);
    tail.iter().for_each(|word| pieces.push(DiffSide::Both, word));
    pieces.finish()
}

/// Words together with the white space after them, so that no text is lost.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

fn middle(was: &[&str], is: &[&str], pieces: &mut DiffPieces) {
    if was.len().saturating_mul(is.len()) > MAX_STEPS {
        was.iter().for_each(|word| pieces.push(DiffSide::Was, word));
        is.iter().for_each(|word| pieces.push(DiffSide::Is, word));
        return;
    }
    let common = Common::of(was, is);
    let (mut a, mut b) = (0, 0);
    while let (Some(before), Some(after)) = (was.get(a), is.get(b)) {
        if before == after {
            pieces.push(DiffSide::Both, before);
            (a, b) = (a + 1, b + 1);
        } else if common.at(a + 1, b) >= common.at(a, b + 1) {
            pieces.push(DiffSide::Was, before);
            a += 1;
        } else {
            pieces.push(DiffSide::Is, after);
            b += 1;
        }
    }
    was.iter().skip(a).for_each(|word| pieces.push(DiffSide::Was, word));
    is.iter().skip(b).for_each(|word| pieces.push(DiffSide::Is, word));
}

/// For each pair of positions, the number of words that the rests of both texts have in common.
struct Common {
    lengths: Vec<u32>,
    row: usize,
}

impl Common {
    fn of(was: &[&str], is: &[&str]) -> Self {
        let row = is.len() + 1;
        let mut common = Self { lengths: vec![0; (was.len() + 1) * row], row };
        for (a, before) in was.iter().enumerate().rev() {
            for (b, after) in is.iter().enumerate().rev() {
                let length = match before == after {
                    true => common.at(a + 1, b + 1) + 1,
                    false => common.at(a + 1, b).max(common.at(a, b + 1)),
                };
                if let Some(place) = common.lengths.get_mut(a * row + b) {
                    *place = length;
                }
            }
        }
        common
    }

    fn at(&self, a: usize, b: usize) -> u32 {
        self.lengths.get(a * self.row + b).copied().unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffSide {
    Both,
    Was,
    Is,
}

#[derive(Default)]
struct DiffPieces {
    runs: Vec<(DiffSide, String)>,
}

impl DiffPieces {
    fn push(&mut self, side: DiffSide, word: &str) {
        match self.runs.last_mut() {
            Some((last, text)) if *last == side => text.push_str(word),
            _ => self.runs.push((side, word.to_owned())),
        }
    }

    fn finish(self) -> Vec<DiffPiece> {
        let last = self.runs.len().saturating_sub(1);
        let piece = |(at, (side, text)): (usize, (DiffSide, String))| match side {
            DiffSide::Both => DiffPiece::Same(visible(&shortened(&text, at > 0, at < last))),
            DiffSide::Was => DiffPiece::Removed(visible(&text)),
            DiffSide::Is => DiffPiece::Added(visible(&text)),
        };
        self.runs.into_iter().enumerate().map(piece).collect()
    }
}

/// A common piece, shortened to what is next to a difference: `after` and `before` say where there
/// is one.
#[expect(clippy::fn_params_excessive_bools, reason = "the two sides of one text")]
fn shortened(text: &str, after: bool, before: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 2 * AROUND + 1 {
        return text.to_owned();
    }
    let mut out = String::new();
    if after {
        out.extend(chars.iter().take(AROUND));
    }
    out.push('…');
    if before {
        out.extend(chars.iter().skip(chars.len() - AROUND));
    }
    out
}
