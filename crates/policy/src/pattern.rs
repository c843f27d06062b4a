//! Patterns for names: `*` and `?`, nothing else is special.

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

    /// Whether this is `*` alone.
    pub(crate) fn is_any(&self) -> bool {
        self.text == "*"
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.literal { self.text == name } else { matches(&self.text, name) }
    }

    /// The texts between the wildcards; the first and the last are anchored.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        self.text.split(['*', '?'])
    }
}

/// The classic two-finger walk: on a mismatch go back to the last `*` and let it take one
/// character more. Never worse than the product of both lengths, and both are short.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut back = None;
    loop {
        let behind = name.clone();
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                name = behind.clone();
                back = Some((pattern.clone(), behind));
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
}
