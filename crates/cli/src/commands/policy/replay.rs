//! `callgate policy replay`: judge recorded calls again, by a policy that may not be in force yet.

use std::path::Path;

use anyhow::Result;

use super::comparison::{ComparedDecision, Comparison};
use crate::args::PolicyOnRecordsArgs;
use crate::exit::Exit;
use crate::records;
use crate::render;
use crate::replay::Replay;
use crate::report;
use crate::sources;

pub(crate) fn run(args: &PolicyOnRecordsArgs, config: Option<&Path>) -> Result<Exit> {
    let policies = sources::load(&args.policies.files, config)?;
    let reader = records::reader(config)?;
    let after = ComparedDecision::Judged(Replay::new(&policies));
    let comparison = Comparison::over(&reader, &args.filters, ComparedDecision::Recorded, after)?;
    render::print(&match args.json {
        true => report::line(&comparison.output())?,
        false => comparison.text(),
    })?;
    Ok(Exit::Success)
}
