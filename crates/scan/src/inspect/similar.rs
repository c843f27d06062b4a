//! Names that look like other names.

use std::borrow::Cow;
use std::collections::HashSet;

use super::fold::Folded;

/// How two different names are similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Similarity {
    /// Equal except for case and separators.
    Case,
    /// Equal to the eye: look-alike letters, digits for letters, invisible characters.
    Confusable,
    /// This many edits apart.
    Distance(usize),
}

/// Longer names are not compared letter by letter: tool names have at most 128 characters.
const MAX_NAME: usize = 256;

/// Whether a name is easily confused with another. Equal names are not similar.
///
/// The distance that counts grows with the length: in four letters one wrong letter makes another
/// word (`read`, `load`), in twenty letters two are a typo.
pub fn similar(a: &str, b: &str) -> Option<Similarity> {
    if a == b {
        return None;
    }
    let plain = |name: &str| -> String {
        let lower = name.chars().flat_map(char::to_lowercase);
        lower.filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).collect()
    };
    if plain(a) == plain(b) {
        return Some(Similarity::Case);
    }
    let (folded_a, folded_b) = (look(a), look(b));
    if folded_a == folded_b {
        return Some(Similarity::Confusable);
    }
    let (a, b): (Vec<char>, Vec<char>) = (folded_a.chars().collect(), folded_b.chars().collect());
    let allowed = match a.len().min(b.len()) {
        0..=5 => 0,
        6..=11 => 1,
        _ => 2,
    };
    if a.len().max(b.len()) > MAX_NAME || numbered(&a, &b) {
        return None;
    }
    distance(&a, &b, allowed).map(Similarity::Distance)
}

/// A folded name as restricting rules compare it: with Latin letters for look-alike ones, and `_`
/// for every dash. Digits stay digits, and separators stay where they are.
pub fn plain_name(folded: &str) -> Cow<'_, str> {
    let is_dash = |c: char| matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}');
    if folded.is_ascii() && !folded.contains('-') {
        return Cow::Borrowed(folded);
    }
    Cow::Owned(Folded::new(folded).text.replace(is_dash, "_"))
}

/// How a name looks: letters that look alike become one, and case and separators do not count.
fn look(name: &str) -> String {
    // In lower case a capital i would no longer look like an l.
    shape(&Folded::new(&name.replace('I', "l")).text)
}

/// The names that a name may be taken for if a reader removes a namespace, ignores case and
/// separators, or goes by how it looks.
#[derive(Debug)]
pub struct ReadAs(HashSet<String>);

impl ReadAs {
    /// All names that this name may be taken for.
    pub fn of(name: &str) -> Self {
        // A capital i may be meant as an i, or as what it looks like.
        let folded = [name.trim().to_owned(), name.trim().replace('I', "l")];
        let mut shapes = HashSet::new();
        for folded in folded.iter().map(|name| Folded::new(name).text) {
            let behind = |(at, separator): (usize, &str)| folded.get(at + separator.len()..);
            let endings = folded.match_indices(['_', '.', '/', ':', '-']).filter_map(behind);
            shapes.extend(std::iter::once(folded.as_str()).chain(endings).map(shape));
        }
        Self(shapes)
    }

    /// Whether this name is one of them.
    pub fn holds(&self, name: &str) -> bool {
        let name = name.trim();
        self.0.contains(&shape(&Folded::new(name).text)) || self.0.contains(&look(name))
    }
}

fn shape(folded: &str) -> String {
    let signs = folded.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' '));
    let one: String = signs
        .map(|c| match c {
            '0' => 'o',
            '1' | '|' => 'l',
            '5' | '$' => 's',
            c => c,
        })
        .collect();
    one.replace("rn", "m").replace("vv", "w")
}

/// `list_v1` and `list_v2` are a series, not a disguise.
fn numbered(a: &[char], b: &[char]) -> bool {
    let strip = |name: &[char]| -> String {
        name.iter().filter(|c| !c.is_ascii_digit() && !matches!(c, 'l' | 'o' | 's')).collect()
    };
    let digits = |name: &[char]| name.iter().any(char::is_ascii_digit);
    (digits(a) || digits(b)) && strip(a) == strip(b)
}

/// The number of insertions, deletions, replacements and swaps of neighbours, if it is at most
/// `allowed`. Only a band around the diagonal is computed.
fn distance(a: &[char], b: &[char], allowed: usize) -> Option<usize> {
    if allowed == 0 || a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let far = allowed + 1;
    let mut before: Vec<usize> = vec![far; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).map(|place| place.min(far)).collect();
    for (row, letter) in (1..).zip(a) {
        let mut current = vec![far; b.len() + 1];
        if let Some(first) = current.first_mut() {
            *first = row.min(far);
        }
        let from = row.saturating_sub(allowed).max(1);
        for column in from..=(row + allowed).min(b.len()) {
            let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(far);
            let same = b.get(column - 1) == Some(letter);
            let replaced = at(&last, column - 1) + usize::from(!same);
            let mut best = replaced.min(at(&last, column) + 1).min(at(&current, column - 1) + 1);
            let swapped = row > 1
                && column > 1
                && a.get(row - 2) == b.get(column - 1)
                && b.get(column - 2) == Some(letter);
            if swapped {
                best = best.min(at(&before, column - 2) + 1);
            }
            if let Some(place) = current.get_mut(column) {
                *place = best.min(far);
            }
        }
        before = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|found| *found <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike() {
        for (a, b, how) in [
            ("read_file", "Read_File", Similarity::Case),
            ("read_file", "readFile", Similarity::Case),
            ("read_file", "r\u{435}ad_file", Similarity::Confusable),
            ("read_file", "read_fi1e", Similarity::Confusable),
            ("list_files", "Iist_files", Similarity::Confusable),
            ("read_file", "read\u{200b}_file", Similarity::Confusable),
            ("commit", "cornmit", Similarity::Confusable),
            ("read_file", "read_flie", Similarity::Distance(1)),
            ("github", "githuub", Similarity::Distance(1)),
            ("create_pull_request", "craete_pul_request", Similarity::Distance(2)),
        ] {
            assert_eq!(similar(a, b), Some(how), "{a} {b}");
            assert_eq!(similar(b, a), Some(how), "{b} {a}");
        }
    }

    #[test]
    fn not_alike() {
        for (a, b) in [
            ("read", "read"),
            ("read", "load"),
            ("get", "set"),
            ("list_v2", "list_v3"),
            ("read_file", "write_file"),
            ("create_issue", "update_issue"),
            ("push_files", "pull_files"),
        ] {
            assert_eq!(similar(a, b), None, "{a} {b}");
        }
    }

    #[test]
    fn plain_names() {
        for (name, plain) in [
            ("delete_repo", "delete_repo"),
            ("delete-repo", "delete_repo"),
            ("delete\u{2011}repo", "delete_repo"),
            ("g\u{456}thub", "github"),
            ("\u{ff47}ithub", "github"),
            ("de1ete_rep0", "de1ete_rep0"),
            ("\u{444}\u{430}\u{439}\u{43b}", "\u{444}\u{430}\u{438}\u{43b}"),
        ] {
            assert_eq!(plain_name(name), plain, "{name}");
        }
    }

    #[test]
    fn what_a_name_may_be_read_as() {
        for name in [
            "x__delete_note",
            "notes.delete_note",
            "notes/delete_note",
            "notes:delete_note",
            "notes-delete_note",
            "mcp_notes_delete_note",
            "DELETE_NOTE",
            " delete_note\t",
            "deleteNote",
            "d\u{435}lete_note",
            "\u{ff44}elete_note",
            "x\u{ff3f}\u{ff3f}delete_note",
            "de1ete_note",
            "Delete_note",
        ] {
            assert!(ReadAs::of(name).holds("delete_note"), "{name}");
        }
        for (name, listed) in [("LIST", "list"), ("x__list", "List"), ("issue", "Issue")] {
            assert!(ReadAs::of(name).holds(listed), "{name}");
        }
        for name in ["undelete_note", "delete_notes", "delete_note_x", "delete", "note"] {
            assert!(!ReadAs::of(name).holds("delete_note"), "{name}");
        }
    }
}
