//! Text in, each crate's own settings out: one file, every problem at once.
