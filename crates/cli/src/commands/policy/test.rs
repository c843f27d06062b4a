//! `callgate policy test`: judge the calls of test files, and compare the verdicts.

mod file;
mod junit;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use callgate_config::ConfigError;
use callgate_policy::{ExampleCount, Policies};
use serde::Serialize;

use crate::args::PolicyTestArgs;
use crate::exit::Exit;
use crate::render::{self, Color, count, printable, rule_name};
use crate::report;
use crate::sources;
use file::{ExpectedVerdict, TestCase};

pub(crate) fn run(args: &PolicyTestArgs, config: Option<&Path>) -> Result<Exit> {
    let outcome = match sources::load(&args.policies.files, config) {
        Ok(policies) => outcome(&policies, &args.tests)?,
        Err(error) => return Err(rejected(error, args.junit.as_deref())),
    };
    render::print(&match args.json {
        true => outcome.json()?,
        false => outcome.text(Color::of(&io::stdout())),
    })?;
    if let Some(path) = &args.junit {
        write_junit(path, &junit::report(&outcome))?;
    }
    Ok(if outcome.failed() == 0 { Exit::Success } else { Exit::Broken })
}

/// Everything that was tested.
pub(crate) struct Outcome {
    tests: Vec<Tested>,
    /// The examples inside the rules. They hold, or the policy would not have loaded.
    examples: Vec<ExampleCount>,
}

/// A test, and what happened.
pub(crate) struct Tested {
    case: TestCase,
    /// The verdict and the rule, in words.
    verdict: &'static str,
    rule: String,
    /// Why it failed.
    failure: Option<String>,
}

fn outcome(policies: &Policies, files: &[PathBuf]) -> Result<Outcome> {
    let cases = file::read_all(files)?;
    let tests = cases.into_iter().map(|case| test(policies, case)).collect();
    Ok(Outcome { tests, examples: policies.example_counts() })
}

fn test(policies: &Policies, case: TestCase) -> Tested {
    let judgement = case.judge(policies);
    let verdict = judgement.verdict.as_str();
    let rule = rule_name(judgement.policy.as_deref(), judgement.rule.as_deref());
    let failure = match &case.expected {
        ExpectedVerdict { verdicts, .. } if !verdicts.contains(&judgement.verdict) => {
            let words: Vec<_> = verdicts.iter().map(|verdict| verdict.as_str()).collect();
            Some(format!("expected {}, got {verdict} by {rule}", words.join(" or ")))
        }
        ExpectedVerdict { rule: Some(wanted), .. } if !wanted.decided(&judgement) => {
            Some(format!("expected the rule {wanted}, but {rule} decided"))
        }
        ExpectedVerdict { .. } => None,
    };
    Tested { case, verdict, rule, failure }
}

/// A policy that does not load fails all of its tests: the report of a build server says why.
fn rejected(error: anyhow::Error, junit: Option<&Path>) -> anyhow::Error {
    let Some(path) = junit else { return error };
    let problems = match error.downcast_ref::<ConfigError>() {
        Some(ConfigError::Rejected(rejected)) => &rejected.problems[..],
        _ => &[],
    };
    match write_junit(path, &junit::rejected(problems, &format!("{error:#}"))) {
        Ok(()) => error,
        Err(unwritten) => error.context(format!("{unwritten:#}")),
    }
}

fn write_junit(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// One line of `--json`.
#[derive(Serialize)]
struct TestedOutput<'a> {
    ok: bool,
    name: &'a str,
    file: &'a str,
    line: usize,
    verdict: &'a str,
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

impl Outcome {
    fn failed(&self) -> usize {
        self.tests.iter().filter(|tested| tested.failure.is_some()).count()
    }

    fn json(&self) -> Result<String> {
        let lines = self.tests.iter().map(|tested| {
            Ok(report::line(&TestedOutput {
                ok: tested.failure.is_none(),
                name: &tested.case.name,
                file: &tested.case.file,
                line: tested.case.line,
                verdict: tested.verdict,
                rule: &tested.rule,
                failure: tested.failure.as_deref(),
            })?)
        });
        lines.collect()
    }

    fn text(&self, color: Color) -> String {
        let mut text: String = self.tests.iter().map(|tested| tested.text(color)).collect();
        let examples = self.examples.iter().map(|counted| counted.examples).sum::<usize>();
        let examples = match examples {
            0 => String::new(),
            n => format!("; {} in the rules {}", count(n, "example"), hold(n)),
        };
        let failed = match self.failed() {
            0 => "all passed".to_owned(),
            n => format!("{n} failed"),
        };
        text.push_str(&match self.tests.len() {
            0 => format!("no tests{examples}\n"),
            n => format!("{}: {failed}{examples}\n", count(n, "test")),
        });
        text
    }
}

fn hold(examples: usize) -> &'static str {
    if examples == 1 { "holds" } else { "hold" }
}

impl Tested {
    fn text(&self, color: Color) -> String {
        let name = printable(&self.case.name);
        match &self.failure {
            None => format!("{}    {name}\n", color.paint(render::GREEN, "ok")),
            Some(why) => {
                let place = format!("{}:{}", self.case.file, self.case.line);
                let failed = color.paint(render::RED, "failed");
                format!("{failed}  {name}  ({})\n        {why}\n", printable(&place))
            }
        }
    }
}
