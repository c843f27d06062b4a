//! The policy callgate starts with.

use crate::Source;

/// `builtin:starter`: a handful of rules against the plainly destructive, which leave daily work
/// alone. They read names and arguments as text, so they stop accidents and plain attacks, not
/// somebody who hides a command on purpose. Words and their boundaries are ASCII ones,
/// `[A-Za-z0-9_]` and `(?-u:\b)`: those of Unicode are slow to compile and slow on other text.
pub fn starter() -> Source {
    Source { name: "builtin:starter".to_owned(), text: include_str!("starter.yaml").to_owned() }
}
