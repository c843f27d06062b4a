//! Patterns for names, in which only `*` and `?` are special.

use callgate_call::fold;

use crate::spelling::{other_patterns, variants};

/// Patterns for names of servers and tools, compared as rules compare them: trimmed, NFC and
/// ignoring case. An empty list matches no name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Globs {
    written: Vec<Wildcard>,
    /// The same patterns in other spellings, for lists that restrict.
    others: Vec<Wildcard>,
}

impl Globs {
    /// A list of these patterns.
    pub fn new<T: AsRef<str>>(patterns: impl IntoIterator<Item = T>) -> Self {
        let folded = |pattern: T| Wildcard::new(&fold(pattern.as_ref().trim()));
        let written: Vec<Wildcard> = patterns.into_iter().map(folded).collect();
        let others = written.iter().flat_map(other_patterns).collect();
        Self { written, others }
    }

    /// Whether one of them matches this name.
    pub fn matches(&self, name: &str) -> bool {
        let folded = fold(name.trim());
        self.written.iter().any(|pattern| pattern.matches(&folded))
    }

    /// Whether one of them matches this name or another spelling of it. For lists that restrict.
    pub fn restricts(&self, name: &str) -> bool {
        self.matches(name) || variants(name).iter().any(|name| self.naming(name).next().is_some())
    }

    /// The patterns that match a plain name.
    pub(crate) fn naming<'a>(&'a self, plain: &'a str) -> impl Iterator<Item = &'a Wildcard> {
        self.written.iter().chain(&self.others).filter(move |pattern| pattern.matches(plain))
    }

    /// Whether these contain all of the others, as written.
    pub fn includes(&self, others: &Self) -> bool {
        others.written.iter().all(|other| self.written.contains(other))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }
}

/// A name pattern: `*` (or `%`) is any text, `?` one character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wildcard {
    /// With `%` written as `*`, and no two `*` in a row.
    text: String,
    literal: bool,
}

impl Wildcard {
    pub(crate) fn new(text: &str) -> Self {
        let mut pattern = String::with_capacity(text.len());
        for c in text.chars() {
            let c = if c == '%' { '*' } else { c };
            if !(c == '*' && pattern.ends_with('*')) {
                pattern.push(c);
            }
        }
        let literal = !pattern.contains(['*', '?']);
        Self { text: pattern, literal }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether this is just `*`.
    pub(crate) fn is_any(&self) -> bool {
        self.text == "*"
    }

    /// Whether it contains anything besides wildcards and separators.
    pub(crate) fn has_letters(&self) -> bool {
        self.text.chars().any(char::is_alphanumeric)
    }

    /// Whether it determines how a name begins. One or two letters do not: too many names match
    /// `g*`.
    pub(crate) fn determines_start(&self) -> bool {
        const ENOUGH: usize = 3;
        let letters = self.text.chars().take_while(|c| c.is_alphanumeric()).count();
        letters >= ENOUGH || (self.literal && letters > 0)
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.literal { self.text == name } else { matches(&self.text, name) }
    }

    /// Whether a text that begins like this may match.
    pub(crate) fn may_begin(&self, beginning: &str) -> bool {
        let pattern: Vec<char> = self.text.chars().collect();
        // The positions in the pattern that a text may have reached so far.
        let mut places = vec![false; pattern.len() + 1];
        if let Some(first) = places.first_mut() {
            *first = true;
        }
        skip_stars(&pattern, &mut places);
        for letter in beginning.chars() {
            let mut next = vec![false; places.len()];
            for (at, expected) in pattern.iter().enumerate() {
                if places.get(at) != Some(&true) {
                    continue;
                }
                let to = if *expected == '*' { at } else { at + 1 };
                if (matches!(expected, '*' | '?') || *expected == letter)
                    && let Some(place) = next.get_mut(to)
                {
                    *place = true;
                }
            }
            skip_stars(&pattern, &mut next);
            places = next;
        }
        places.contains(&true)
    }

    /// The texts between the wildcards; the first and the last are anchored.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        self.text.split(['*', '?'])
    }
}

/// A `*` also matches the empty text.
fn skip_stars(pattern: &[char], places: &mut [bool]) {
    for (at, letter) in pattern.iter().enumerate() {
        if *letter == '*'
            && places.get(at) == Some(&true)
            && let Some(next) = places.get_mut(at + 1)
        {
            *next = true;
        }
    }
}

/// Backtracks to the last `*` only: on a mismatch, that `*` takes one more character. This takes at
/// most the product of both lengths, and both are short.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut back = None;
    loop {
        let rest = name.clone();
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                name = rest.clone();
                back = Some((pattern.clone(), rest));
            }
            (Some('?'), Some(_)) => {}
            (Some(p), Some(n)) if p == n => {}
            _ => {
                let Some((after_star, mut tried)) = back.take() else { return false };
                if tried.next().is_none() {
                    return false;
                }
                (pattern, name) = (after_star.clone(), tried.clone());
                back = Some((after_star, tried));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, name, expected) in [
            ("bash", "bash", true),
            ("bash", "bashful", false),
            ("*", "", true),
            ("*", "anything", true),
            ("%file", "read_file", true),
            ("read_*", "read_file", true),
            ("read_*", "read", false),
            ("*_file", "read_file", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("r?ad", "read", true),
            ("r?ad", "rad", false),
            ("?", "é", true),
            ("a[b]*{c}", "a[b]x{c}", true),
            ("*aab", "aaaab", true),
            ("a**b", "ab", true),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_a_match_may_begin_with() {
        for (pattern, beginning, expected) in [
            ("delete_repo", "", true),
            ("delete_repo", "delete_", true),
            ("delete_repo", "delete_repos", false),
            ("*_repo", "mcp__github__", true),
            ("mcp__git*__x", "mcp__github__", true),
            ("mcp__gitlab__*", "mcp__github__", false),
            ("a?c*", "abc", true),
            ("a?c", "abcd", false),
            ("", "", true),
        ] {
            assert_eq!(Wildcard::new(pattern).may_begin(beginning), expected, "{pattern}");
        }
    }
}
