//! `callgate why`: what decided a recorded call, and whether it would be the same today.

use std::path::Path;

use anyhow::Result;
use callgate_audit::StoredRecord;
use callgate_call::ToolCall;
use callgate_control::ExplanationOutput;
use callgate_policy::{EffectReport, Judgement, Matched, Policies, RuleExplanation, SpentLimits};
use callgate_store::RecordReader;
use serde::Serialize;

use super::policy::comparison::DecisionOutput;
use super::policy::explain::{
    self,
    near::{in_short, nearly_matched},
};
use crate::args::WhyArgs;
use crate::effects_text;
use crate::exit::Exit;
use crate::marks::CallMarks;
use crate::recorded_call::{NotReplayable, RecordedCall, RuleDecision};
use crate::records;
use crate::render::{self, count, printable, rule_name};
use crate::replay::Replay;
use crate::report;
use crate::sources;
use crate::when;

pub(crate) fn run(args: &WhyArgs, config: Option<&Path>) -> Result<Exit> {
    let policies = sources::load(&args.policies.files, config)?;
    let reader = records::reader(config)?;
    let stored = records::find_call(&reader, &args.id)?;
    let marks = CallMarks::of(&reader)?;
    let today = Today::of(&stored, &policies, &reader)?;
    let text = match args.json {
        true => as_json(&stored, &marks, today)?,
        false => recorded_text(&stored, &marks) + &today_text(&stored, today),
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

/// The call, judged by the policies of today, with what its session did before.
struct Today {
    call: ToolCall,
    judgement: Judgement,
    rules: Vec<RuleExplanation>,
    effects: EffectReport,
}

impl Today {
    fn of(
        stored: &StoredRecord,
        policies: &Policies,
        reader: &RecordReader,
    ) -> Result<Result<Self, NotReplayable>> {
        let recorded = match RecordedCall::of(stored) {
            Ok(recorded) => recorded,
            Err(why) => return Ok(Err(why)),
        };
        let replay = Replay::up_to(policies, stored, reader)?;
        let recorded = replay.with_past(stored, &recorded);
        let judgement = recorded.judge(policies);
        let RecordedCall { call, moment } = recorded;
        let rules = policies.explain(&call, &moment, &SpentLimits::none());
        let effects = policies.effects(&call, &moment);
        Ok(Ok(Self { call, judgement, rules, effects }))
    }
}

/// The call, and what was decided then.
fn recorded_text(stored: &StoredRecord, marks: &CallMarks) -> String {
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
    if let Some(mark) = marks.described(stored) {
        text.push_str(&format!("  marked: {}\n", printable(&mark)));
    }
    if !verdict.matched.is_empty() {
        let names = verdict.matched.iter().map(|name| format!("{}/{}", name.policy, name.rule));
        let names: Vec<_> = names.map(|name| printable(&name)).collect();
        text.push_str(&format!("  rules that matched: {}\n", names.join(", ")));
    }
    text
}

/// What the policies say today, and why.
fn today_text(stored: &StoredRecord, today: Result<Today, NotReplayable>) -> String {
    let today = match today {
        Ok(today) => today,
        Err(why) => return format!("today: cannot be judged again: {}\n", why.reason()),
    };
    let decision = RuleDecision::of(&today.judgement);
    let same = match difference(stored, &decision) {
        Ok(DecisionDifference::None) => "the same",
        Ok(DecisionDifference::Rule) => "the same verdict, by another rule",
        Ok(DecisionDifference::Verdict) => "not the same",
        Err(_) => "then, no rule decided",
    };
    let mut text = format!("today: {} by {} ({same})\n", decision.verdict, decision.rule);
    if let Some(matched) = &today.judgement.matched {
        let (path, value) = (printable(&matched.path), printable(&matched.value));
        text.push_str(&format!("  matched: {path} = {value}\n"));
    }
    text.push('\n');
    text.push_str(&effects_text::drawn(&today.effects));
    text + &rules_text(stored, &today.rules)
}

/// The rules that matched, and those that nearly did.
fn rules_text(stored: &StoredRecord, rules: &[RuleExplanation]) -> String {
    let (matched, others): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| rule.result.matches());
    let (near, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|rule| nearly_matched(rule));
    let mut text = String::new();
    let others = others.len() + near.len().saturating_sub(MAX_NEAR);
    for (head, rules) in [("rules that match", matched), ("rules that nearly match", near)] {
        let shown: String =
            rules.iter().take(MAX_NEAR).map(|rule| explain::text::block(&in_short(rule))).collect();
        if !shown.is_empty() {
            text.push_str(&format!("{head}:\n\n{shown}"));
        }
    }
    if others > 0 {
        let more = count(others, "other rule");
        let command = format!("callgate policy explain --record {}", stored.seq);
        text.push_str(&format!("{more} did not match; `{command}` shows them\n"));
    }
    text
}

/// The most rules of a kind that are shown.
const MAX_NEAR: usize = 5;

/// How today's decision differs from the one on record.
enum DecisionDifference {
    None,
    Rule,
    Verdict,
}

fn difference(
    stored: &StoredRecord,
    today: &RuleDecision,
) -> Result<DecisionDifference, NotReplayable> {
    let then = RuleDecision::on_record(stored)?;
    Ok(match (then.is_same(today), then.rule == today.rule) {
        (true, true) => DecisionDifference::None,
        (true, false) => DecisionDifference::Rule,
        (false, _) => DecisionDifference::Verdict,
    })
}

#[derive(Serialize)]
struct MatchedOutput<'a> {
    path: &'a str,
    value: &'a str,
}

impl<'a> MatchedOutput<'a> {
    fn of(matched: &'a Matched) -> Self {
        Self { path: &matched.path, value: &matched.value }
    }
}

/// The answer for programs.
#[derive(Serialize)]
struct WhyOutput<'a> {
    record: serde_json::Value,
    /// Why the call cannot be judged again.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_judged: Option<&'static str>,
    /// Whether today's decision means the same for the call; absent if no rule decided then.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionOutput<'a>>,
    /// The argument that made the deciding rule match.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<MatchedOutput<'a>>,
    /// The rules that nearly matched.
    nearly: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    today: Option<ExplanationOutput<'a>>,
}

fn as_json(
    stored: &StoredRecord,
    marks: &CallMarks,
    today: Result<Today, NotReplayable>,
) -> Result<String> {
    let record = marks.json(stored);
    let today = match today {
        Ok(today) => today,
        Err(why) => {
            let not_judged = Some(why.word());
            let (same, decision, matched, today) = (None, None, None, None);
            let nearly = Vec::new();
            let output = WhyOutput { record, not_judged, same, decision, matched, nearly, today };
            return Ok(report::line(&output)?);
        }
    };
    let Today { call, judgement, rules, effects } = &today;
    let decided = RuleDecision::of(judgement);
    let explanation = ExplanationOutput::of(call, judgement, rules).with_effects(effects);
    let same = RuleDecision::on_record(stored).ok().map(|then| then.is_same(&decided));
    let nearly = rules.iter().filter(|rule| nearly_matched(rule));
    Ok(report::line(&WhyOutput {
        record,
        not_judged: None,
        same,
        decision: Some(DecisionOutput::of(&decided)),
        matched: judgement.matched.as_ref().map(MatchedOutput::of),
        nearly: nearly.map(|rule| rule_name(Some(&rule.policy), Some(&rule.rule))).collect(),
        today: Some(explanation),
    })?)
}
