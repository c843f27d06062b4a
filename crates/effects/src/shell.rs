//! Shell text: parsing, expansion, and the effects of its commands.

pub(crate) mod ansi;
mod apply;
mod arithmetic;
mod braces;
mod builtins;
mod callbacks;
pub(crate) mod decode;
mod descriptors;
mod earlier;
mod erases;
pub(crate) mod eval;
pub(crate) mod expand;
mod foreign;
mod killed;
mod line;
mod links;
pub(crate) mod output;
mod package;
pub(crate) mod parse;
mod pieces;
pub(crate) mod recipes;
mod relay;
mod reveals;
pub(crate) mod settings;
mod shows;
pub(crate) mod simple;
mod sources;
mod special;
mod subscripts;
pub(crate) mod syntax;

pub(crate) use apply::glob_word;
pub(crate) use special::is_cloud;

#[cfg(test)]
mod tests;
