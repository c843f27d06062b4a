//! YAML or JSON read into a tree in which every value knows its place, and small readers of it.
//!
//! Policies are read with it, and so is any other file that should be told all of its problems at
//! once: [`parse`] makes the tree, [`Fields`] looks into a mapping, the functions read one value
//! each, and [`Problems`] collects what is wrong until all of it was read.
//!
//! ```
//! use callgate_policy::Source;
//! use callgate_policy::yaml::{Fields, Problems, integer, parse};
//!
//! let source = Source { name: "size.yaml".into(), text: "widht: 3\nheight: tall\n".into() };
//! let mut problems = Problems::new(&source);
//! let tree = parse(&source, &mut problems).unwrap();
//! let fields = Fields::of(&tree, "a size", &mut problems).unwrap();
//! fields.check(&["width", "height"], &[], &mut problems);
//! integer(fields.get("height").unwrap(), "`height`", 1..=9, &mut problems);
//!
//! let found: Vec<_> = problems.into_list().into_iter().map(|found| found.message).collect();
//! assert_eq!(found, ["unknown key `widht`", "`height` must be a whole number from 1 to 9"]);
//! ```

pub use crate::diagnostic::{AddedProblem, Problems, did_you_mean};
pub use crate::node::{Key, Node, Yaml, parse};
pub use crate::source::read::{At, Fields, integer, list, text, word, wrong};
