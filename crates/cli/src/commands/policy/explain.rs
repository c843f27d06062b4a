//! `callgate policy explain`: why a call gets its verdict, rule by rule.

use std::path::PathBuf;

use anyhow::Result;
use callgate_policy::{Judgement, RuleHit, RuleInfo};

use crate::args;
use crate::commands::check::{self, Form};
use crate::exit::Exit;
use crate::judge::Judge;
use crate::render;
use crate::sources;

pub(crate) fn run(files: &[PathBuf], flags: &args::Call, json: bool) -> Result<Exit> {
    let policies = sources::load(files)?;
    let rules: Vec<RuleInfo> = policies.rules().collect();
    let call = check::one_call(flags, None)?;
    let judgement = Judge::new(policies).dry(&call);
    if json {
        check::answer(&call, &judgement, Form::Json)?;
    } else {
        check::answer(&call, &judgement, Form::Explained)?;
        let rows: Vec<_> = rules.iter().map(|rule| row(rule, &judgement)).collect();
        if !rows.is_empty() {
            render::print(&format!("\n{}", render::table(["rule", "verdict", "here"], &rows)))?;
        }
    }
    Ok(Exit::Success)
}

fn row(rule: &RuleInfo, judgement: &Judgement) -> [String; 3] {
    let name = render::rule_name(Some(&rule.policy), Some(&rule.id));
    [name, rule.verdict.to_string(), part(rule, judgement).to_owned()]
}

/// What part a rule had in the judgement.
fn part(rule: &RuleInfo, judgement: &Judgement) -> &'static str {
    let is = |hit: &RuleHit| hit.policy == rule.policy && hit.rule.as_ref() == Some(&rule.id);
    let find = |hits: &[RuleHit]| hits.iter().find(|hit| is(hit)).map(|hit| hit.unknown);
    match find(&judgement.deciding) {
        Some(true) => return "decided, for a condition could not be evaluated",
        Some(false) => return "decided",
        None => {}
    }
    if find(&judgement.audits).is_some() {
        return "matched, for the record";
    }
    if find(&judgement.shadows).is_some() {
        return "matched, in shadow mode";
    }
    if judgement.limits.iter().any(|key| key.policy == rule.policy && key.rule == rule.id) {
        return "matches past its limit";
    }
    if judgement.errors.iter().any(|error| error.policy == rule.policy && error.rule == rule.id) {
        return "a condition could not be evaluated";
    }
    "no match, or another priority came first"
}
