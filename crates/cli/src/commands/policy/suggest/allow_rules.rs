//! The tightest readable rules that allow what was seen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_audit::{CompiledFilter, Filter, StoredRecord};
use callgate_effects::Catalogue;
use callgate_policy::{EffectTerms, Policies, SELF_PROTECTION, Source};
use serde_json::{Map, Value, json};

use super::conditions::{self, CommandDetail};
use super::yaml::YamlOutput;
use super::{LeftOut, OF_CALLGATE, Suggestion, must_stay_out};
use crate::args::{PolicySuggestArgs, RecordFilterArgs};
use crate::commands::policy::comparison::{EarlierCalls, for_each_call};
use crate::marks::CallMarks;
use crate::recorded_call::RecordedCall;
use crate::records;
use crate::render::{count, hinted};
use crate::replay::Replay;
use crate::sources;

pub(super) fn suggest(args: &PolicySuggestArgs, config: Option<&Path>) -> Result<Suggestion> {
    let policies = sources::load(&args.policies.files, config)?;
    let reader = records::reader(config)?;
    let marks = CallMarks::of(&reader)?;
    let filter = Filter { limit: None, ..args.filters.query() };
    let compiled = CompiledFilter::new(&filter)?;
    let mut seen =
        CallsToAllow { groups: BTreeMap::new(), suggestion: Suggestion::default(), calls: 0 };
    for_each_call(&reader, &RecordFilterArgs::default(), EarlierCalls::Alone, |stored, _| {
        let counts = compiled.passes(&stored.record) && stored.record.verdict.is_some();
        if counts && !must_stay_out(stored, &marks) {
            seen.add(stored, &policies);
        }
    })?;
    if seen.calls == 0 {
        let message = "no recorded call passed that these filters choose".to_owned();
        return Err(hinted(message, "`callgate calls` lists the recorded calls"));
    }
    loop {
        let text = seen.policy();
        let candidate = compile(&text)?;
        let mut checked = AllowCheck::default();
        let mut replay = Replay::new(&candidate);
        for_each_call(&reader, &RecordFilterArgs::default(), EarlierCalls::Alone, |stored, _| {
            checked.add(stored, &mut replay, &marks, &compiled);
        })?;
        if checked.too_wide.is_empty() {
            return Ok(seen.finish(text, &checked));
        }
        seen.narrow(&checked.too_wide);
    }
}

fn compile(text: &str) -> Result<Policies> {
    let source = Source { name: "suggestion".to_owned(), text: text.to_owned() };
    let compiled = Policies::compile(&[source], &Catalogue::builtin());
    compiled.map(|(policies, _)| policies).map_err(|problems| {
        let problems: Vec<String> = problems.into_iter().map(|it| it.message).collect();
        anyhow::anyhow!("a suggested policy does not compile: {}", problems.join("; "))
    })
}

/// The calls that should be allowed.
struct CallsToAllow {
    groups: BTreeMap<GroupName, AllowGroup>,
    suggestion: Suggestion,
    calls: u64,
}

/// Calls that one rule allows: of one tool, with the same kinds of effects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupName {
    server: Option<String>,
    tool: String,
    /// The kinds of effects; `None` for calls whose exact arguments are allowed.
    effects: Option<Vec<&'static str>>,
}

#[derive(Default)]
struct AllowGroup {
    terms: EffectTerms,
    /// Conditions on exact arguments, each once.
    exact: Vec<YamlOutput>,
    examples: Vec<Value>,
    calls: u64,
    detail: AllowDetail,
}

/// How narrow a rule is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AllowDetail {
    /// Many paths are joined to folders.
    #[default]
    Folders,
    /// Every path is listed.
    Listed,
    /// There is no rule: it would allow a call that was denied.
    None,
}

impl CallsToAllow {
    fn add(&mut self, stored: &StoredRecord, policies: &Policies) {
        self.calls += 1;
        let recorded = match RecordedCall::of(stored) {
            Ok(recorded) => recorded,
            Err(why) => {
                return self.suggestion.left_out.push(LeftOut::new(stored, why.reason()));
            }
        };
        let decided_by = stored.record.verdict.as_ref().and_then(|it| it.policy.as_deref());
        if decided_by == Some(SELF_PROTECTION) {
            return self.suggestion.left_out.push(LeftOut::new(stored, OF_CALLGATE));
        }
        let RecordedCall { call, moment } = &recorded;
        let (tool, server) = names(stored);
        let terms = policies.effect_terms(call, moment).filter(|terms| !terms.values.is_empty());
        let effects = terms.as_ref().map(conditions::signature);
        let group = self.groups.entry(GroupName { server, tool, effects }).or_default();
        match terms {
            Some(terms) => group.terms.merge(&terms),
            None => match conditions::of_arguments(call) {
                Some(exact) if group.exact.contains(&exact) => {}
                Some(exact) if group.exact.len() < MAX_EXACT => group.exact.push(exact),
                None if call.arguments.raw().trim() == "{}" => {}
                _ => {
                    let why = "what it does is not known, and its arguments differ every time";
                    return self.suggestion.left_out.push(LeftOut::new(stored, why));
                }
            },
        }
        group.calls += 1;
        let raw = call.arguments.raw();
        if group.examples.len() < MAX_EXAMPLES && raw.len() <= MAX_EXAMPLE {
            group.examples.extend(example(stored, raw));
            group.examples.dedup();
        }
    }

    /// Each of these rules allows too much.
    fn narrow(&mut self, too_wide: &[String]) {
        for (at, group) in self.groups.values_mut().enumerate() {
            if too_wide.contains(&id(at)) {
                group.detail = match group.detail {
                    AllowDetail::Folders => AllowDetail::Listed,
                    AllowDetail::Listed | AllowDetail::None => AllowDetail::None,
                };
            }
        }
    }

    fn policy(&self) -> String {
        let mut text = "policy: seen\ndefault: deny\nrules:\n".to_owned();
        for (at, (name, group)) in self.groups.iter().enumerate() {
            if group.detail != AllowDetail::None && group.calls > 0 {
                text.push_str(&format!("  # {}\n", count_calls(group.calls)));
                text.push_str(&rule(at, name, group));
            }
        }
        if text.ends_with("rules:\n") {
            text = text.replace("rules:\n", "rules: []\n");
        }
        text
    }

    fn finish(mut self, text: String, checked: &AllowCheck) -> Suggestion {
        let calls = count_calls(self.calls);
        let dropped: u64 = self
            .groups
            .values()
            .filter(|group| group.detail == AllowDetail::None)
            .map(|group| group.calls)
            .sum();
        let lines = &mut self.suggestion.checked;
        lines.push(format!(
            "{calls} passed or were wrongly denied; these rules allow {} of them",
            checked.allowed
        ));
        let denied = "calls that were denied, or are marked wrong, would be allowed";
        lines.push(format!("none of the {} {denied}", checked.denied));
        if checked.not_judged > 0 {
            let denied = "of these denied calls cannot be judged again, and may be allowed";
            lines.push(format!("{} {denied}", checked.not_judged));
        }
        if dropped > 0 {
            let why = "left out, because a rule for them would also allow a call that was denied";
            lines.push(format!("{} {why}", count_calls(dropped)));
        }
        lines.push(
            "a call that no rule allows is denied; `mode: shadow` would only record it".to_owned(),
        );
        self.suggestion.yaml = text;
        self.suggestion
    }
}

fn count_calls(calls: u64) -> String {
    count(usize::try_from(calls).unwrap_or(usize::MAX), "call")
}

/// The most calls of one tool whose exact arguments are listed.
const MAX_EXACT: usize = 20;
const MAX_EXAMPLES: usize = 2;
/// The longest arguments of an example.
const MAX_EXAMPLE: usize = 300;

fn id(at: usize) -> String {
    format!("seen-{}", at + 1)
}

/// The rule of a group. Its examples are only kept if they hold without what is known about the caller.
fn rule(at: usize, name: &GroupName, group: &AllowGroup) -> String {
    let mut entries =
        vec![("id", YamlOutput::text(id(at))), ("tool", YamlOutput::text(&name.tool))];
    entries.extend(name.server.as_ref().map(|server| ("server", YamlOutput::text(server))));
    entries.extend(when(name, group).map(|when| ("when", when)));
    entries.push(("verdict", YamlOutput::text("allow")));
    entries.push(("reason", YamlOutput::text("This was seen before.")));
    let plain = YamlOutput::List(vec![YamlOutput::Map(entries.clone())]).block(2);
    let examples = group.examples.iter().map(|example| YamlOutput::Json(example.clone())).collect();
    entries.push(("examples", YamlOutput::map("match", YamlOutput::List(examples))));
    let whole = YamlOutput::List(vec![YamlOutput::Map(entries)]).block(2);
    let holds =
        !group.examples.is_empty() && compile(&format!("policy: seen\nrules:\n{whole}")).is_ok();
    if holds { whole } else { plain }
}

fn when(name: &GroupName, group: &AllowGroup) -> Option<YamlOutput> {
    if name.effects.is_none() {
        return (!group.exact.is_empty()).then(|| YamlOutput::joined("any", group.exact.clone()));
    }
    let mut terms = group.terms.clone();
    if group.detail == AllowDetail::Folders {
        for (kind, values) in &mut terms.values {
            if matches!(*kind, "reads" | "writes" | "deletes") {
                *values = conditions::in_folders(values);
            }
        }
    }
    Some(conditions::of_effects(&terms, CommandDetail::Short))
}

/// The tool and the server as a rule names them.
fn names(stored: &StoredRecord) -> (String, Option<String>) {
    let Some(tool) = &stored.record.tool else { return (String::new(), None) };
    let Some(server) = &tool.server else { return (tool.name.clone(), None) };
    let bare = tool.name.strip_prefix(&format!("mcp__{server}__")).unwrap_or(&tool.name);
    (bare.to_owned(), Some(server.clone()))
}

/// A recorded call as the example of a rule.
fn example(stored: &StoredRecord, raw: &str) -> Option<Value> {
    let (tool, server) = names(stored);
    let input: Value = match raw.trim().is_empty() {
        true => json!({}),
        false => serde_json::from_str(raw).unwrap_or_else(|_| json!(raw)),
    };
    let mut example = Map::new();
    example.insert("tool".to_owned(), json!(tool));
    example.extend(server.map(|server| ("server".to_owned(), json!(server))));
    example.insert("input".to_owned(), input);
    let cwd = stored.record.cwd.as_ref();
    example.extend(cwd.map(|cwd| ("cwd".to_owned(), json!(cwd))));
    Some(Value::Object(example))
}

/// What the suggested policy does with the recorded calls.
#[derive(Debug, Default)]
struct AllowCheck {
    allowed: u64,
    denied: u64,
    not_judged: u64,
    /// The rules that allow a call that was denied.
    too_wide: Vec<String>,
}

impl AllowCheck {
    fn add(
        &mut self,
        stored: &StoredRecord,
        replay: &mut Replay<'_>,
        marks: &CallMarks,
        chosen: &CompiledFilter<'_>,
    ) {
        let must_stay_out = must_stay_out(stored, marks);
        self.denied += u64::from(must_stay_out);
        let recorded = RecordedCall::of(stored);
        match replay.judge_next(stored, recorded.as_ref().map_err(|why| *why)) {
            Err(_) => self.not_judged += u64::from(must_stay_out),
            Ok(judgement) if !judgement.verdict.passes() => {}
            Ok(judgement) if must_stay_out => {
                self.too_wide.extend(judgement.rule.clone());
            }
            Ok(_) => self.allowed += u64::from(chosen.passes(&stored.record)),
        }
    }
}
