//! `callgate policy explain`: why a call gets its verdict, rule by rule, condition by condition.

pub(crate) mod text;

use anyhow::Result;
use callgate_control::ExplanationOutput;
use callgate_policy::Policies;

use crate::args;
use crate::commands::check;
use crate::exit::Exit;
use crate::judge::Judge;
use crate::render::{self, Color};
use crate::report;

#[expect(clippy::fn_params_excessive_bools, reason = "two flags of the command line")]
pub(crate) fn run(policies: Policies, flags: &args::Call, all: bool, json: bool) -> Result<Exit> {
    let judge = Judge::new(policies);
    let call = check::one_call(flags, None)?;
    let (judgement, rules) = judge.explained(&call);
    if json {
        render::print(&report::line(&ExplanationOutput::of(&call, &judgement, &rules))?)?;
    } else {
        render::print(&text::rules(&rules, all))?;
        let color = Color::of(&std::io::stdout());
        render::print(&check::line(call.name.raw(), &judgement, color))?;
    }
    Ok(Exit::Success)
}
