//! Regular expressions of rules. Those of callgate's own policies are compiled when a call first needs
//! them: that takes longer than reading the rest of the policy.

use std::sync::OnceLock;

use regex::{Error, Regex, RegexBuilder};

/// A regular expression that compiles to more than this is refused: 1 MiB holds hundreds of
/// alternatives, and ten thousand such rules must still fit into memory.
const SIZE: usize = 1 << 20;

/// A regular expression, compiled now or when it is first needed.
#[derive(Debug, Clone)]
pub(crate) struct LazyRegex {
    text: String,
    /// `None` if it cannot be compiled, which is found out at once unless the policy is callgate's own.
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    /// Compiles an expression.
    pub(crate) fn compile(text: &str) -> Result<Self, Error> {
        let regex = build(text)?;
        Ok(Self { text: text.to_owned(), compiled: OnceLock::from(Some(regex)) })
    }

    /// An expression that callgate's tests have compiled.
    pub(crate) fn tested(text: &str) -> Self {
        Self { text: text.to_owned(), compiled: OnceLock::new() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The expression, compiled; `None` if it cannot be.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| build(&self.text).ok()).as_ref()
    }
}

fn build(text: &str) -> Result<Regex, Error> {
    RegexBuilder::new(text).size_limit(SIZE).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_the_same_whenever_it_is_compiled() {
        let (now, later) = (LazyRegex::compile("a+b").unwrap(), LazyRegex::tested("a+b"));
        for text in ["xaab", "b", ""] {
            let found = |pattern: &LazyRegex| pattern.regex().map(|regex| regex.is_match(text));
            assert_eq!(found(&now), found(&later), "{text}");
        }
        assert!(LazyRegex::compile("(").is_err());
        assert!(LazyRegex::tested("(").regex().is_none());
    }
}
