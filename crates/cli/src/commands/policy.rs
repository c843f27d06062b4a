//! `callgate policy`: find problems, explain verdicts, list rules.

mod check;
mod detectors;
pub(crate) mod explain;
mod list;

use std::path::Path;

use anyhow::Result;

use crate::args::Policy;
use crate::exit::Exit;
use crate::sources;

pub(crate) fn run(args: &Policy, config: Option<&Path>) -> Result<Exit> {
    match args {
        Policy::Check { files, json } => check::run(files, *json, config),
        Policy::Explain { files, call, all, json } => {
            explain::run(sources::load(files, config)?, call, *all, *json)
        }
        Policy::Detectors { json } => detectors::run(*json),
        Policy::List { files, json } => list::run(&sources::load(files, config)?, *json),
    }
}
