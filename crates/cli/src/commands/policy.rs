//! `callgate policy`: find problems, explain verdicts, list rules, and test them
//! with calls of files or records.

mod check;
pub(crate) mod comparison;
mod coverage;
mod detectors;
mod diff;
mod exchange;
pub(crate) mod explain;
mod export;
mod import;
mod list;
mod replay;
mod suggest;
mod test;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::args::{PolicyCommand, WideArgs};
use crate::exit::Exit;
use crate::given_call::GivenCall;
use crate::sources;
use crate::surroundings::call_defaults;
use list::ListFormat;

pub(crate) fn run(args: &PolicyCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        PolicyCommand::Check(args) => check::run(args, config),
        PolicyCommand::Explain { files, call, all, json } => {
            // `-` is the call on stdin, as in `callgate check`.
            let is_stdin = |file: &&PathBuf| file.as_os_str() == "-";
            let stdin = files.iter().find(is_stdin).map(|_| "-");
            let files: Vec<_> = files.iter().filter(|file| !is_stdin(file)).cloned().collect();
            let policies = sources::load(&files, config)?;
            let given = GivenCall::of(call, &call_defaults(call)?, stdin, config, &policies)?;
            explain::run(policies, given, call, *all, *json)
        }
        PolicyCommand::Detectors { wide, json } => detectors::run(output(*json, *wide)),
        PolicyCommand::List { files, caller, wide, json } => {
            let set = sources::compile(files, config)?;
            match caller.is_given() {
                true => list::whom::run(&set, caller, *json, config),
                false => list::run(&set, output(*json, *wide)),
            }
        }
        PolicyCommand::Test(args) => test::run(args, config),
        PolicyCommand::Replay(args) => replay::run(args, config),
        PolicyCommand::Diff(args) => diff::run(args, config),
        PolicyCommand::Coverage(args) => coverage::run(args, config),
        PolicyCommand::Suggest(args) => suggest::run(args, config),
        PolicyCommand::Import(args) => import::run(args),
        PolicyCommand::Export(args) => export::run(args, config),
    }
}

fn output(json: bool, wide: WideArgs) -> ListFormat {
    if json { ListFormat::Json } else { ListFormat::Table(wide.fit()) }
}
