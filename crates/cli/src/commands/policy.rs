//! `callgate policy`: find problems, explain verdicts, list rules.

mod check;
mod explain;
mod list;

use anyhow::Result;

use crate::args::Policy;
use crate::exit::Exit;

pub(crate) fn run(args: &Policy) -> Result<Exit> {
    match args {
        Policy::Check { files, json } => check::run(files, *json),
        Policy::Explain { files, call, all, json } => explain::run(files, call, *all, *json),
        Policy::List { files, json } => list::run(files, *json),
    }
}
