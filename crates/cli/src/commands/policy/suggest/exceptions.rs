//! The narrowest exceptions for denials that are marked wrong.

use std::path::Path;

use anyhow::Result;
use callgate_audit::{CallOutcome, Filter, StoredRecord};
use callgate_policy::{Policies, SELF_PROTECTION, builtin};
use callgate_store::{Opinion, RecordReader};

use super::conditions::{self, CommandDetail};
use super::yaml::YamlOutput;
use super::{LeftOut, OF_CALLGATE, Suggestion, must_stay_out, short};
use crate::args::{PolicySuggestArgs, RecordFilterArgs};
use crate::commands::policy::comparison::{EarlierCalls, for_each_call};
use crate::marks::CallMarks;
use crate::recorded_call::RecordedCall;
use crate::records;
use crate::render::{count, hinted, printable, rule_name};
use crate::replay::Replay;
use crate::rule_source::LocatedRule;
use crate::sources;

pub(super) fn suggest(args: &PolicySuggestArgs, config: Option<&Path>) -> Result<Suggestion> {
    let load = || sources::load(&args.policies.files, config);
    let (base, reader) = (load()?, records::reader(config)?);
    let marks = CallMarks::of(&reader)?;
    let filter = Filter { verdict: Some(CallOutcome::Deny), ..args.filters.query() };
    let wrong = marks.calls(&reader, &filter, Some(Opinion::Wrong))?;
    if wrong.is_empty() {
        let message = "no denial is marked wrong".to_owned();
        return Err(hinted(message, "mark one with `callgate calls mark RECORD --wrong`"));
    }
    let mut work =
        ExceptionSearch { suggestion: Suggestion::default(), exceptions: Vec::new(), load: &load };
    let calls = work.replayable(&base, &reader, wrong)?;
    work.add_exceptions(&calls)?;
    let checked = work.check(&base, &reader, &marks, &calls)?;
    let ExceptionSearch { mut suggestion, exceptions, .. } = work;
    if exceptions.is_empty() {
        suggestion.checked.push("no exception can be suggested".to_owned());
        return Ok(suggestion);
    }
    let calls = count(usize::try_from(checked.calls).unwrap_or(usize::MAX), "recorded call");
    suggestion.checked.push(format!("checked on {calls}: nothing else would be allowed"));
    if checked.not_judged > 0 {
        let unknown = format!("{} of them cannot be judged again", checked.not_judged);
        suggestion.checked.push(unknown);
    }
    suggestion.yaml =
        written(&exceptions, &sources::compile(&args.policies.files, config)?.sources);
    Ok(suggestion)
}

/// A denied call, with what its session did before.
struct DeniedRecord {
    stored: StoredRecord,
    recorded: RecordedCall,
}

/// An exception to a rule, for one call.
struct SuggestedException {
    policy: String,
    rule: String,
    detail: ExceptionDetail,
    when: YamlOutput,
    stored: StoredRecord,
    /// The place of the call.
    call: usize,
}

/// How narrow an exception is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ExceptionDetail {
    /// What the call does.
    Effects,
    /// Its exact arguments.
    Arguments,
}

struct ExceptionSearch<'l> {
    suggestion: Suggestion,
    exceptions: Vec<SuggestedException>,
    load: &'l dyn Fn() -> Result<Policies>,
}

/// What the check of the exceptions found.
#[derive(Default)]
struct ExceptionCheck {
    calls: u64,
    not_judged: u64,
    /// The rules that would let pass a call that they should not, each with that call.
    open: Vec<(String, String, String)>,
}

impl ExceptionSearch<'_> {
    fn leave_out(&mut self, stored: &StoredRecord, why: impl Into<String>) {
        self.suggestion.left_out.push(LeftOut::new(stored, why));
    }

    fn replayable(
        &mut self,
        base: &Policies,
        reader: &RecordReader,
        wrong: Vec<StoredRecord>,
    ) -> Result<Vec<DeniedRecord>> {
        let mut calls = Vec::new();
        for stored in wrong {
            match RecordedCall::of(&stored) {
                Err(why) => self.leave_out(&stored, why.reason()),
                Ok(recorded) => {
                    let recorded =
                        Replay::up_to(base, &stored, reader)?.with_past(&stored, &recorded);
                    match recorded.judge(base).verdict.passes() {
                        true => self.leave_out(&stored, "it is not denied any more"),
                        false => calls.push(DeniedRecord { stored, recorded }),
                    }
                }
            }
        }
        Ok(calls)
    }

    /// The policies with the exceptions so far.
    fn candidate(&self) -> Result<Policies> {
        let mut policies = (self.load)()?;
        for SuggestedException { policy, rule, when, .. } in &self.exceptions {
            let changed = policies.with_exception(policy, rule, &when.flow());
            policies = changed.map_err(|problems| {
                let problems: Vec<String> = problems.into_iter().map(|it| it.message).collect();
                anyhow::anyhow!("a suggested exception does not compile: {}", problems.join("; "))
            })?;
        }
        Ok(policies)
    }

    /// Adds exceptions until every call passes, or nothing more can be done for it.
    fn add_exceptions(&mut self, calls: &[DeniedRecord]) -> Result<()> {
        let mut open: Vec<usize> = (0..calls.len()).collect();
        // A call is stopped by few rules.
        for _ in 0..MAX_RULES {
            let candidate = self.candidate()?;
            let mut next = Vec::new();
            for at in open {
                let Some(call) = calls.get(at) else { continue };
                match self.exception_for(&candidate, call, at) {
                    Ok(None) => {}
                    Ok(Some(exception)) => {
                        self.exceptions.push(exception);
                        next.push(at);
                    }
                    Err(why) => self.give_up(at, &call.stored, why),
                }
            }
            open = next;
            if open.is_empty() {
                return Ok(());
            }
        }
        for at in open {
            if let Some(call) = calls.get(at) {
                self.give_up(at, &call.stored, "too many rules stop it".to_owned());
            }
        }
        Ok(())
    }

    /// Leaves a call out, and the exceptions that it was for.
    fn give_up(&mut self, at: usize, stored: &StoredRecord, why: String) {
        self.exceptions.retain(|exception| exception.call != at);
        self.leave_out(stored, why);
    }

    /// The next exception that a call needs; `None` if it passes.
    fn exception_for(
        &self,
        candidate: &Policies,
        call: &DeniedRecord,
        at: usize,
    ) -> Result<Option<SuggestedException>, String> {
        let judgement = call.recorded.judge(candidate);
        if judgement.verdict.passes() {
            return Ok(None);
        }
        let policy = judgement.policy.clone().unwrap_or_default();
        let rule = match &judgement.rule {
            _ if policy == SELF_PROTECTION => {
                return Err(OF_CALLGATE.to_owned());
            }
            Some(rule) => rule.clone(),
            None => return Err(format!("no rule of {policy} allows it: its default stops it")),
        };
        let known = self
            .exceptions
            .iter()
            .any(|it| it.call == at && (&it.policy, &it.rule) == (&policy, &rule));
        if known {
            return Err(format!("no exception to {policy}/{rule} was found that covers it"));
        }
        let of_effects = when(call, ExceptionDetail::Effects, candidate);
        let (detail, when) = match of_effects {
            Some(when) => (ExceptionDetail::Effects, when),
            None => match self::when(call, ExceptionDetail::Arguments, candidate) {
                Some(when) => (ExceptionDetail::Arguments, when),
                None => return Err("its arguments are too long to be named".to_owned()),
            },
        };
        let stored = call.stored.clone();
        Ok(Some(SuggestedException { policy, rule, detail, when, stored, call: at }))
    }

    /// Tries the exceptions on all recorded calls; those that allow too much become narrower, or are
    /// left out.
    fn check(
        &mut self,
        base: &Policies,
        reader: &RecordReader,
        marks: &CallMarks,
        calls: &[DeniedRecord],
    ) -> Result<ExceptionCheck> {
        loop {
            let candidate = self.candidate()?;
            let checked = checked(base, &candidate, reader, marks)?;
            if checked.open.is_empty() || self.exceptions.is_empty() {
                return Ok(checked);
            }
            for (policy, rule, call) in checked.open {
                self.narrow(&policy, &rule, &call, calls, base);
            }
        }
    }

    /// Makes the exceptions to a rule narrower, because they would allow another call.
    fn narrow(
        &mut self,
        policy: &str,
        rule: &str,
        other: &str,
        calls: &[DeniedRecord],
        base: &Policies,
    ) {
        let mut failed: Vec<usize> = Vec::new();
        for exception in &mut self.exceptions {
            if (exception.policy.as_str(), exception.rule.as_str()) != (policy, rule) {
                continue;
            }
            let exact = calls
                .get(exception.call)
                .and_then(|call| when(call, ExceptionDetail::Arguments, base));
            match exact.filter(|_| exception.detail == ExceptionDetail::Effects) {
                Some(when) => {
                    (exception.detail, exception.when) = (ExceptionDetail::Arguments, when)
                }
                None => failed.push(exception.call),
            }
        }
        for at in failed {
            if let Some(call) = calls.get(at) {
                let why = format!("the exception would also allow {other}");
                self.give_up(at, &call.stored, why);
            }
        }
    }
}

/// A condition that holds for this call.
fn when(call: &DeniedRecord, detail: ExceptionDetail, policies: &Policies) -> Option<YamlOutput> {
    let RecordedCall { call, moment } = &call.recorded;
    match detail {
        ExceptionDetail::Arguments => conditions::of_arguments(call),
        ExceptionDetail::Effects => {
            let terms = policies.effect_terms(call, moment)?;
            (!terms.values.is_empty()).then(|| conditions::of_effects(&terms, CommandDetail::Whole))
        }
    }
}

/// Judges every recorded call with and without the exceptions.
fn checked(
    base: &Policies,
    candidate: &Policies,
    reader: &RecordReader,
    marks: &CallMarks,
) -> Result<ExceptionCheck> {
    let mut checked = ExceptionCheck::default();
    let (mut before, mut after) = (Replay::new(base), Replay::new(candidate));
    for_each_call(reader, &RecordFilterArgs::default(), EarlierCalls::Alone, |stored, _| {
        let recorded = RecordedCall::of(stored);
        let recorded = recorded.as_ref().map_err(|why| *why);
        checked.calls += 1;
        match (before.judge_next(stored, recorded), after.judge_next(stored, recorded)) {
            (Ok(was), Ok(is)) => {
                let opens = is.verdict.passes() && !was.verdict.passes();
                if opens && must_stay_out_now(stored, marks) {
                    let rule = (was.policy.clone(), was.rule.clone());
                    let call = format!("record {}, {}", stored.seq, short(&records::call(stored)));
                    let (policy, rule) = (rule.0.unwrap_or_default(), rule.1.unwrap_or_default());
                    checked.open.push((policy, rule, call));
                }
            }
            _ => checked.not_judged += 1,
        }
    })?;
    checked.open.dedup_by(|one, other| (&one.0, &one.1) == (&other.0, &other.1));
    Ok(checked)
}

/// Whether an exception must not allow this call: it is stopped today, and nobody said that this is
/// wrong.
fn must_stay_out_now(stored: &StoredRecord, marks: &CallMarks) -> bool {
    must_stay_out(stored, marks) || marks.opinion(stored) != Some(Opinion::Wrong)
}

/// The exceptions as the config of built-in policies, and as conditions for other rules.
fn written(exceptions: &[SuggestedException], sources: &[callgate_policy::Source]) -> String {
    let mut policies: Vec<&str> = exceptions.iter().map(|it| it.policy.as_str()).collect();
    policies.sort_unstable();
    policies.dedup();
    let is_builtin = |policy: &&str| builtin(&format!("builtin:{policy}")).is_some();
    let (builtins, own): (Vec<&str>, Vec<&str>) = policies.into_iter().partition(is_builtin);
    let mut text = String::new();
    if !builtins.is_empty() {
        text.push_str("# for `policies` in callgate.yaml\npolicies:\n");
    }
    for policy in builtins {
        text.push_str(&format!("  - use: builtin:{policy}\n    except:\n"));
        for exception in exceptions.iter().filter(|it| it.policy == policy) {
            text.push_str(&comment(exception, 6));
            let entry = YamlOutput::Map(vec![
                ("rule", YamlOutput::text(&exception.rule)),
                ("when", exception.when.clone()),
            ]);
            text.push_str(&YamlOutput::List(vec![entry]).block(6));
        }
    }
    for policy in own {
        let mut rules: Vec<&str> =
            exceptions.iter().filter(|it| it.policy == policy).map(|it| it.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            let of_rule: Vec<&SuggestedException> =
                exceptions.iter().filter(|it| it.policy == policy && it.rule == rule).collect();
            text.push_str(&own_rule(policy, rule, &of_rule, sources));
        }
    }
    text
}

fn comment(exception: &SuggestedException, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let call = short(&records::call(&exception.stored));
    format!("{pad}# record {}, {call}\n", exception.stored.seq)
}

/// The new condition of a rule of one's own.
fn own_rule(
    policy: &str,
    rule: &str,
    exceptions: &[&SuggestedException],
    sources: &[callgate_policy::Source],
) -> String {
    let name = rule_name(Some(policy), Some(rule));
    let found = LocatedRule::find(sources, policy, rule);
    let place = found.as_ref().map(|it| format!(" ({}:{})", printable(&it.file), it.line));
    let mut text = format!("# the new `when` of the rule {name}{}\n", place.unwrap_or_default());
    text.extend(exceptions.iter().map(|exception| comment(exception, 0)));
    let mut whens: Vec<YamlOutput> = exceptions.iter().map(|it| it.when.clone()).collect();
    whens.dedup();
    let not = YamlOutput::map("not", YamlOutput::joined("any", whens));
    let old = found.and_then(|it| it.when);
    let old = old.and_then(|json| serde_json::from_str(&json).ok()).map(YamlOutput::Json);
    let all = old.into_iter().chain([not]).collect();
    text + &YamlOutput::map("when", YamlOutput::joined("all", all)).block(0)
}

/// The most rules that stop one call.
const MAX_RULES: usize = 8;
