//! Shell text: parsing, expansion, and the effects of its commands.

pub(crate) mod ansi;
mod apply;
mod arithmetic;
mod braces;
mod builtins;
pub(crate) mod decode;
pub(crate) mod eval;
pub(crate) mod expand;
mod line;
pub(crate) mod output;
mod package;
pub(crate) mod parse;
mod pieces;
mod recipes;
pub(crate) mod settings;
mod simple;
mod special;
pub(crate) mod syntax;

pub(crate) use apply::glob_word;

#[cfg(test)]
mod tests;
