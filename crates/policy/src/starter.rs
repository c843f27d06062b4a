//! The built-in starter policy.

use crate::Source;

/// `builtin:starter`: a few rules on what calls would do. They stop what is plainly destructive, ask
/// about what a person should decide, and do not disturb daily work.
pub fn starter() -> Source {
    Source { name: "builtin:starter".to_owned(), text: include_str!("starter.yaml").to_owned() }
}
