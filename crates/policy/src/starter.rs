//! The built-in policies.

use crate::Source;

/// `builtin:starter`: a few rules that stop what is plainly destructive, and nothing else.
pub fn starter() -> Source {
    Source { name: "builtin:starter".to_owned(), text: include_str!("starter.yaml").to_owned() }
}

/// `builtin:effects`: rules on what calls would do. They stop what is plainly destructive, ask about what a
/// person should decide, and do not disturb daily work.
pub fn effects_pack() -> Source {
    Source { name: "builtin:effects".to_owned(), text: include_str!("effects.yaml").to_owned() }
}
