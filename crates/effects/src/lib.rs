//! What a call would do, read from its name and arguments.
//!
//! For now this is the [`Catalogue`]: which tools agents have, of what [`Kind`] they are, and which
//! argument carries what ([`Role`]). It is data. One policy rule on `@shell` then covers the shell
//! tool of every agent.
//!
//! ```
//! use callgate_effects::{Catalogue, Kind};
//!
//! let catalogue = Catalogue::builtin();
//! assert_eq!(catalogue.kinds("run_shell_command"), [Kind::Shell]);
//! assert_eq!(Kind::from_word("shell"), Some(Kind::Shell));
//! ```
//!
//! This crate judges nothing and does no I/O.

mod catalogue;
mod known;

pub use catalogue::{Catalogue, Entry, Kind, Role};
