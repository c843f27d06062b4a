//! Reads YAML or JSON into a tree in which every value has its span, with small functions to read
//! the tree.
//!
//! For policies, config files and any other file whose problems should all be reported at once.
//! [`parse`] builds
//! the tree, [`Mapping`] gives access to a mapping, the functions read one value each, and
//! [`Problems`] collects what is wrong.
//!
//! ```
//! use callgate_document::{Mapping, Problems, Source, integer, parse};
//!
//! let source = Source { name: "size.yaml".into(), text: "widht: 3\nheight: tall\n".into() };
//! let mut problems = Problems::new(&source);
//! let tree = parse(&source, &mut problems).unwrap();
//! let fields = Mapping::of(&tree, "a size", &mut problems).unwrap();
//! fields.check(&["width", "height"], &[], &mut problems);
//! integer(fields.get("height").unwrap(), "`height`", 1..=9, &mut problems);
//!
//! let found: Vec<_> = problems.into_list().into_iter().map(|found| found.message).collect();
//! assert_eq!(found, ["unknown key `widht`", "`height` must be a whole number from 1 to 9"]);
//! ```
//!
//! This crate knows no policy and no setting, and does no I/O: files arrive as a [`Source`].

mod diagnostic;
mod node;
mod read;
mod slip;

pub use diagnostic::{
    AddedProblem, Diagnostic, Problems, SourceSpan, Warning, did_you_mean, render,
};
pub use node::{Key, Node, Yaml, parse};
pub use read::{At, Mapping, boolean, integer, list, text, texts, word, wrong};

/// A file: a policy, a config file, or another file whose problems are all reported at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path shown in messages.
    pub name: String,
    /// The text, YAML or JSON.
    pub text: String,
}
