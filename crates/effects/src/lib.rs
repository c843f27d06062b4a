//! What a call would do, read from its name and arguments.
//!
//! The [`Catalogue`] says which tools agents have, of what [`Kind`] they are, and which argument
//! carries what ([`Role`]). It is data. One policy rule on `@shell` then covers the shell tool of
//! every agent.
//!
//! [`Effects`] is the list of what a call would do: run, read, write, delete, connect, set, or
//! something that cannot be read from its text. Programs that agents use have a [`model`], also as
//! data, that says what their flags and operands do.
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

mod analysis;
mod bound;
mod catalogue;
mod code;
mod code_mode;
mod effect;
mod escalate;
mod extent;
mod glob;
mod ground;
mod guards;
pub mod host;
mod hosts;
mod known;
mod known_arguments;
mod marks;
pub mod model;
mod patch;
mod path;
pub mod programs;
pub mod sets;
mod shell;
mod sql;
pub mod statements;
mod text;
mod tools;
mod truth;
mod word;

pub use bound::{Bound, EffectKind};
pub use catalogue::{Catalogue, Entry, Kind, Role};
pub use code_mode::{Script, ScriptArguments, ScriptCall};
pub use effect::{
    Access, Action, Change, Connection, Effect, EffectPlace, Effects, Knowledge, Opaque, Purpose,
    Reach, Run, Scope, Setting, SubCommand, Why,
};
pub use escalate::escalating_argument;
pub use extent::{Count, Extent};
pub use glob::{PathPattern, PathSet, PreparedPath, Stance};
pub use ground::{Ground, Resolver};
pub use hosts::{HostPattern, HostSet};
pub use marks::{Mark, Marks};
pub use path::{Case, Path};
pub use shell::settings::{Meaning, meaning};
pub use tools::{analyse, analyse_whole, command};
pub use truth::Truth;
pub use word::{Fill, Gap, Word};
