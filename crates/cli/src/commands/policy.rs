//! `callgate policy`: find problems, explain verdicts, list rules.

mod check;
mod detectors;
pub(crate) mod explain;
mod list;

use std::path::Path;

use anyhow::Result;

use crate::args::{Policy, Wide};
use crate::exit::Exit;
use crate::sources;
use list::Output;

pub(crate) fn run(args: &Policy, config: Option<&Path>) -> Result<Exit> {
    match args {
        Policy::Check { files, json } => check::run(files, *json, config),
        Policy::Explain { files, call, all, json } => {
            explain::run(sources::load(files, config)?, call, *all, *json)
        }
        Policy::Detectors { wide, json } => detectors::run(output(*json, *wide)),
        Policy::List { files, wide, json } => {
            list::run(&sources::compile(files, config)?, output(*json, *wide))
        }
    }
}

fn output(json: bool, wide: Wide) -> Output {
    if json { Output::Json } else { Output::Table(wide.fit()) }
}
