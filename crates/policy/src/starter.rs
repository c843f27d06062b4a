//! The built-in starter policy.

use crate::Source;

/// `builtin:starter`: a few rules against plainly destructive calls, which do not disturb daily
/// work. They compare names and arguments as text, so they stop accidents and plain attacks, but
/// not commands that are hidden on purpose. Words and their boundaries are ASCII ones,
/// `[A-Za-z0-9_]` and `(?-u:\b)`: those of Unicode are slow to compile and slow on other text.
pub fn starter() -> Source {
    Source { name: "builtin:starter".to_owned(), text: include_str!("starter.yaml").to_owned() }
}
