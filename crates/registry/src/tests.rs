//! Tests of definitions, pins, names and differences.

mod alike;
mod diffs;
mod hashing;
mod names;
mod properties;
mod states;

use crate::{Definition, ItemKind};

fn tool(raw: &str) -> Definition {
    Definition::read(ItemKind::Tool, raw).unwrap()
}
