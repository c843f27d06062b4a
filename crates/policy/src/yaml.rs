//! Reads YAML or JSON into a tree in which every value has its span, with small functions to read
//! the tree.
//!
//! For policies and any other file whose problems should all be reported at once. [`parse`] builds
//! the tree, [`Fields`] gives access to a mapping, the functions read one value each, and
//! [`Problems`] collects what is wrong.
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
pub use crate::source::moment;
pub use crate::source::read::{At, Fields, integer, list, text, word, wrong};
