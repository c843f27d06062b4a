//! `callgate why`: what decided a recorded call, and whether it would be the same today.

use std::path::Path;

use anyhow::Result;
use callgate_audit::Stored;
use callgate_control::ExplanationOutput;
use callgate_policy::{Policies, SpentLimits};
use serde::Serialize;

use super::policy::{comparison::DecisionOutput, explain};
use crate::args::Why;
use crate::effects_text;
use crate::exit::Exit;
use crate::recorded_call::{Decision, NotReplayable, RecordedCall};
use crate::records;
use crate::render::{self, hinted, printable};
use crate::report;
use crate::sources;
use crate::when;

pub(crate) fn run(args: &Why, config: Option<&Path>) -> Result<Exit> {
    let stored = records::find(&records::reader(config)?, &args.id)?;
    if !stored.record.kind.is_call() {
        let kind = stored.record.kind.as_str();
        let message = format!("record {} is not a call: it is a `{kind}`", stored.seq);
        return Err(hinted(message, "`callgate calls` lists the calls"));
    }
    let policies = sources::load(&args.policies.files, config)?;
    let text = match args.json {
        true => as_json(&stored, &policies)?,
        false => recorded_text(&stored) + &today_text(&stored, &policies),
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

/// The call, and what was decided then.
fn recorded_text(stored: &Stored) -> String {
    let time = when::shown(stored.record.time);
    let mut text =
        format!("record {}, {time}\n{}\n\n", stored.seq, printable(&records::call(stored)));
    let Some(verdict) = &stored.record.verdict else {
        return text + "It was not judged.\n";
    };
    let rule = records::rule(stored);
    let by = if rule.is_empty() { String::new() } else { format!(" by {rule}") };
    text.push_str(&format!("then: {}{by}\n", verdict.action.as_str()));
    for (word, line) in [("reason", &verdict.reason), ("hint", &verdict.hint)] {
        if let Some(line) = line {
            text.push_str(&format!("  {word}: {}\n", printable(line)));
        }
    }
    if !verdict.matched.is_empty() {
        let names = verdict.matched.iter().map(|name| format!("{}/{}", name.policy, name.rule));
        let names: Vec<_> = names.map(|name| printable(&name)).collect();
        text.push_str(&format!("  rules that matched: {}\n", names.join(", ")));
    }
    text
}

/// What the policies say today, and why.
fn today_text(stored: &Stored, policies: &Policies) -> String {
    let recorded = match RecordedCall::of(stored) {
        Ok(recorded) => recorded,
        Err(why) => return format!("today: cannot be judged again: {}\n", why.reason()),
    };
    let judgement = recorded.judge(policies);
    let today = Decision::of(&judgement);
    let same = match difference(stored, &today) {
        Ok(Difference::None) => "the same",
        Ok(Difference::Rule) => "the same verdict, by another rule",
        Ok(Difference::Verdict) => "not the same",
        Err(_) => "then, something other than a policy decided",
    };
    let mut text = format!("today: {} by {} ({same})\n\n", today.verdict, today.rule);
    text.push_str(&effects_text::drawn(&policies.effects(&recorded.call, &recorded.moment)));
    let rules = policies.explain(&recorded.call, &recorded.moment, &SpentLimits::none());
    text + &explain::text::rules(&rules, false)
}

/// How today's decision differs from the one on record.
enum Difference {
    None,
    Rule,
    Verdict,
}

fn difference(stored: &Stored, today: &Decision) -> Result<Difference, NotReplayable> {
    let then = Decision::recorded(stored)?;
    Ok(match (then.is_same(today), then.rule == today.rule) {
        (true, true) => Difference::None,
        (true, false) => Difference::Rule,
        (false, _) => Difference::Verdict,
    })
}

/// The answer for programs.
#[derive(Serialize)]
struct WhyOutput<'a> {
    record: serde_json::Value,
    /// Why the call cannot be judged again.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_judged: Option<&'static str>,
    /// Whether today's decision means the same for the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    today: Option<ExplanationOutput<'a>>,
}

fn as_json(stored: &Stored, policies: &Policies) -> Result<String> {
    let record = stored.to_json();
    let recorded = match RecordedCall::of(stored) {
        Ok(recorded) => recorded,
        Err(why) => {
            let not_judged = Some(why.word());
            let (same, decision, today) = (None, None, None);
            let output = WhyOutput { record, not_judged, same, decision, today };
            return Ok(report::line(&output)?);
        }
    };
    let judgement = recorded.judge(policies);
    let decided = Decision::of(&judgement);
    let rules = policies.explain(&recorded.call, &recorded.moment, &SpentLimits::none());
    let effects = policies.effects(&recorded.call, &recorded.moment);
    let today = ExplanationOutput::of(&recorded.call, &judgement, &rules).with_effects(&effects);
    let same = Decision::recorded(stored).is_ok_and(|then| then.is_same(&decided));
    Ok(report::line(&WhyOutput {
        record,
        not_judged: None,
        same: Some(same),
        decision: Some(DecisionOutput::of(&decided)),
        today: Some(today),
    })?)
}
