//! Test files: calls, and the verdict that each must get.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use callgate_call::ToolCall;
use callgate_config::{ConfigError, Rejected};
use callgate_control::{CallDefaults, CallDescription};
use callgate_document::{
    Key, Mapping, Node, Problems, Source, Yaml, integer, list, parse, text, word,
};
use callgate_policy::{Judgement, Moment, Policies, SpentLimits, Verdict, Weekday, moment};

/// One test.
pub(crate) struct TestCase {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) expected: ExpectedVerdict,
    call: ToolCall,
    /// The same call in the other places where it would be seen.
    elsewhere: Vec<ToolCall>,
    moment: Moment,
}

/// What a test demands.
pub(crate) struct ExpectedVerdict {
    /// Any of these is right.
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) rule: Option<RuleWanted>,
}

/// The rule that must decide: `rule`, or `policy/rule`.
pub(crate) struct RuleWanted {
    policy: Option<String>,
    rule: String,
}

impl RuleWanted {
    fn of(text: &str) -> Self {
        match text.split_once('/') {
            Some((policy, rule)) => Self { policy: Some(policy.into()), rule: rule.into() },
            None => Self { policy: None, rule: text.into() },
        }
    }

    pub(crate) fn decided(&self, judgement: &Judgement) -> bool {
        let is_policy = |policy: &String| judgement.policy.as_ref() == Some(policy);
        judgement.rule.as_ref() == Some(&self.rule) && self.policy.as_ref().is_none_or(is_policy)
    }
}

impl fmt::Display for RuleWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.policy {
            Some(policy) => write!(f, "{policy}/{}", self.rule),
            None => f.write_str(&self.rule),
        }
    }
}

impl TestCase {
    /// Judges the call by its text alone, so that the result is the same on every machine.
    pub(crate) fn judge(&self, policies: &Policies) -> Judgement {
        let judge = |call: &ToolCall| policies.judge(call, &self.moment, &SpentLimits::none());
        self.elsewhere.iter().map(judge).fold(judge(&self.call), |strictest, other| {
            if other.verdict > strictest.verdict { other } else { strictest }
        })
    }
}

/// The tests of all files, or every problem in them.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<TestCase>> {
    let (mut cases, mut problems, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        let source = Source { name, text };
        let mut found = Problems::new(&source);
        cases.extend(read(&source, &mut found));
        problems.extend(found.into_list());
        sources.push(source);
    }
    match problems.is_empty() {
        true => Ok(cases),
        false => {
            let rejected = Rejected { what: "test file", sources, problems, watched: Vec::new() };
            Err(ConfigError::Rejected(rejected).into())
        }
    }
}

fn read(source: &Source, problems: &mut Problems<'_>) -> Vec<TestCase> {
    let Some(tree) = parse(source, problems) else { return Vec::new() };
    let Some(fields) = Mapping::of(&tree, "a test file", problems) else { return Vec::new() };
    fields.check(&["tests"], &[], problems);
    let Some(tests) = fields.get("tests") else {
        problems.add(fields.start(), "this file has no `tests`").hint("begin with `tests:`");
        return Vec::new();
    };
    let tests = list(tests, "`tests`", problems);
    tests.iter().filter_map(|node| test(source, node, problems)).collect()
}

/// The keys of a test that are not keys of its call.
const OWN_KEYS: [&str; 7] = ["name", "verdict", "rule", "command", "hour", "weekday", "time"];

/// The keys of its call, as `callgate check` reads them.
const CALL_KEYS: [&str; 15] = [
    "tool",
    "input",
    "server",
    "surface",
    "agent",
    "org",
    "team",
    "user",
    "key",
    "session",
    "cwd",
    "home",
    "provider",
    "model",
    "conversation",
];

fn test(source: &Source, node: &Node, problems: &mut Problems<'_>) -> Option<TestCase> {
    let fields = Mapping::of(node, "a test", problems)?;
    fields.check(&[&OWN_KEYS[..], &CALL_KEYS].concat(), &[], problems);
    let verdicts = verdicts(&fields, problems);
    let rule = fields.get("rule").and_then(|node| text(node, "`rule`", problems));
    let moment = judged_at(&fields, problems);
    let mut calls = calls(&fields, problems)?.into_iter();
    let call = calls.next()?;
    let name = fields.get("name").and_then(|node| text(node, "`name`", problems));
    let name = name.map_or_else(|| shown_call(&call), |name| name.value);
    let expected =
        ExpectedVerdict { verdicts: verdicts?, rule: rule.map(|rule| RuleWanted::of(&rule.value)) };
    let (file, line) = (source.name.clone(), fields.start().line);
    Some(TestCase { name, file, line, expected, call, elsewhere: calls.collect(), moment })
}

/// The name of a test without one: its call.
fn shown_call(call: &ToolCall) -> String {
    format!("{} {}", call.name.raw(), call.arguments.raw())
}

/// The words for what a call may get. A call that must be stopped may be denied, or wait for an
/// approval that nobody gives.
const VERDICTS: [(&str, &[Verdict]); 7] = [
    ("allow", &[Verdict::Allow]),
    ("audit", &[Verdict::Audit]),
    ("sanitize", &[Verdict::Sanitize]),
    ("review", &[Verdict::Review]),
    ("ask", &[Verdict::Ask]),
    ("deny", &[Verdict::Deny]),
    ("stop", &[Verdict::Deny, Verdict::Ask, Verdict::Review]),
];

fn verdicts(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Vec<Verdict>> {
    let Some(node) = fields.get("verdict") else {
        problems
            .add(fields.start(), "this test has no `verdict`")
            .hint("say what the call must get");
        return None;
    };
    let nodes = match &node.value {
        Yaml::List(nodes) => &nodes[..],
        _ => std::slice::from_ref(node),
    };
    let mut verdicts = Vec::new();
    for node in nodes {
        let written = text(node, "`verdict`", problems)?;
        verdicts.extend(word(&written, "verdict", &VERDICTS, &[], problems)?.value);
    }
    Some(verdicts)
}

/// The time of a test: a moment, or an hour and a day in UTC.
fn judged_at(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Moment {
    let hour = fields.get("hour").and_then(|node| integer(node, "`hour`", 0..=23, problems));
    let days = Weekday::ALL.map(|day| (day.as_str(), day));
    let weekday = fields.get("weekday").and_then(|node| {
        let written = text(node, "`weekday`", problems)?;
        word(&written, "weekday", &days, &[], problems)
    });
    let by_hour = Moment::on(
        weekday.map_or(Weekday::Monday, |weekday| weekday.value),
        hour.and_then(|hour| u8::try_from(hour).ok()).unwrap_or(NOON),
    );
    let Some(node) = fields.get("time") else { return by_hour };
    if fields.get("hour").or(fields.get("weekday")).is_some() {
        problems.add(node.span, "`time` cannot be combined with `hour` or `weekday`");
    }
    moment(node, problems).unwrap_or(by_hour)
}

/// When a test does not say: as for the examples inside rules.
const NOON: u8 = 12;

fn calls(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Vec<ToolCall>> {
    let command = fields.get("command").and_then(|node| text(node, "`command`", problems));
    let mut entries: Vec<(Key, Node)> = fields
        .entries
        .iter()
        .filter(|(key, _)| CALL_KEYS.contains(&key.name.as_str()))
        .cloned()
        .collect();
    if let Some(command) = command {
        if let Some((key, _)) = entries.iter().find(|(key, _)| key.name == "input") {
            problems.add(key.span, "`input` cannot be combined with `command`");
            return None;
        }
        let at = |value| Node { span: command.span, value };
        let key = |name: &str| Key { name: name.to_owned(), span: command.span };
        if !entries.iter().any(|(key, _)| key.name == "tool") {
            entries.push((key("tool"), at(Yaml::String("Bash".to_owned()))));
        }
        let input = vec![(key("command"), at(Yaml::String(command.value.clone())))];
        entries.push((key("input"), at(Yaml::Map(input))));
    }
    let object = Node { span: fields.span, value: Yaml::Map(entries) };
    let described = CallDescription::parse(&object.to_json());
    let calls = described.and_then(|described| described.into_calls(&CallDefaults::unknown()));
    match calls {
        Ok(calls) => Some(calls),
        Err(problem) => {
            let hint = problem.hint().map(str::to_owned);
            problems.add(fields.start(), problem.to_string()).maybe_hint(hint);
            None
        }
    }
}
