//! `callgate policy explain`: why a call gets its verdict, rule by rule, condition by condition.

pub(crate) mod near;
pub(crate) mod text;

use anyhow::Result;
use callgate_control::ExplanationOutput;
use callgate_policy::Policies;

use crate::args;
use crate::commands::check;
use crate::effects_text;
use crate::exit::Exit;
use crate::given_call::GivenCall;
use crate::judge::Judge;
use crate::render::{self, Color};
use crate::report;

#[expect(clippy::fn_params_excessive_bools, reason = "two flags of the command line")]
pub(crate) fn run(
    policies: Policies,
    given: GivenCall,
    flags: &args::CallArgs,
    all: bool,
    json: bool,
) -> Result<Exit> {
    let judge = Judge::for_call(policies, &given, flags);
    let check::Strictest { call, .. } = check::strictest(&judge, given.calls)?;
    let (judgement, rules) = judge.explained(&call);
    let effects = judge.effects(&call);
    if json {
        let explained = ExplanationOutput::of(&call, &judgement, &rules).with_effects(&effects);
        render::print(&report::line(&explained)?)?;
    } else {
        render::print(&effects_text::drawn(&effects))?;
        render::print(&text::rules(&rules, all))?;
        let color = Color::of(&std::io::stdout());
        render::print(&check::line(call.name.raw(), &judgement, color))?;
    }
    Ok(Exit::Success)
}
