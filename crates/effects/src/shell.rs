//! Shell text: parsing, expansion, and the effects of its commands.

pub(crate) mod ansi;
mod ansible;
mod apply;
mod arithmetic;
mod braces;
mod builtins;
mod callbacks;
mod decided;
pub(crate) mod decode;
mod descriptors;
mod earlier;
mod erases;
pub(crate) mod eval;
pub(crate) mod expand;
mod foreign;
mod git_steps;
mod grants;
mod killed;
mod line;
mod links;
mod origins;
pub(crate) mod output;
mod package;
mod package_programs;
pub(crate) mod parse;
mod pieces;
pub(crate) mod recipes;
mod relay;
mod reveals;
mod rows;
pub(crate) mod settings;
mod shows;
pub(crate) mod simple;
mod sources;
mod special;
mod sql_arguments;
mod subscripts;
pub(crate) mod syntax;
pub(crate) mod windows;

pub(crate) use apply::glob_word;
pub(crate) use earlier::{by_ending, first_line_language};
pub(crate) use package_programs::of_image;
pub(crate) use special::is_cloud;
pub(crate) use sql_arguments::is_sql_statement;

#[cfg(test)]
mod tests;
