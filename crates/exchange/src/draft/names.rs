//! Ids of rules, made from what the rules say.

use std::collections::HashSet;

/// The ids that are taken.
#[derive(Debug, Default)]
pub(crate) struct Ids(HashSet<String>);

/// Longer ids are hard to read in a denial.
const LONGEST: usize = 48;

impl Ids {
    /// An id for a rule: the words of a text in lower case, joined by `-`, and a number if it is
    /// taken.
    pub(crate) fn of(&mut self, text: &str) -> String {
        let slug = slug(text);
        let mut id = slug.clone();
        for number in 2_u64.. {
            if self.0.insert(id.clone()) {
                break;
            }
            id = format!("{slug}-{number}");
        }
        id
    }
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "rule".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_and_differ() {
        let mut ids = Ids::default();
        assert_eq!(ids.of("deny Bash(git push:*)"), "deny-bash-git-push");
        assert_eq!(ids.of("deny Bash(git push *)"), "deny-bash-git-push-2");
        assert_eq!(ids.of("***"), "rule");
        assert_eq!(ids.of(&"x".repeat(100)).len(), LONGEST);
    }
}
