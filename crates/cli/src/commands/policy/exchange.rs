//! What imports and exports print: the result, and every difference.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use callgate_exchange::{DifferenceKind, RuleDifference};
use callgate_policy::Source;
use serde::Serialize;

use crate::args::ExchangeOutputArgs;
use crate::exit::Exit;
use crate::render::{self, hinted, printable};
use crate::report;

/// A result with its differences.
pub(super) struct Exchanged<'a> {
    /// The format or the agent.
    pub(super) format: &'static str,
    /// What the result is.
    pub(super) target: &'static str,
    pub(super) text: &'a str,
    /// The number of rules in the result.
    pub(super) rules: usize,
    pub(super) changes: &'a [RuleDifference],
    /// The files that the differences are about.
    pub(super) sources: &'a [Source],
    /// The last line on stderr.
    pub(super) summary: String,
}

#[derive(Serialize)]
struct ExchangedOutput<'a> {
    format: &'static str,
    target: &'static str,
    rules: usize,
    changes: Vec<ConversionOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct ConversionOutput<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    written: &'a str,
    rule: Option<&'a str>,
    change: DifferenceKind,
    message: &'a str,
}

impl Exchanged<'_> {
    pub(super) fn write(&self, output: &ExchangeOutputArgs) -> Result<Exit> {
        if let Some(path) = &output.output {
            create(path, self.text)?;
        }
        if output.json {
            render::print(&report::line(&self.output(output.output.is_none()))?)?;
        } else {
            if output.output.is_none() {
                render::print(self.text)?;
            }
            render::talk(&self.report());
        }
        match output.strict && !self.changes.is_empty() {
            true => Ok(Exit::Broken),
            false => Ok(Exit::Success),
        }
    }

    fn output(&self, with_text: bool) -> ExchangedOutput<'_> {
        let changes = self.changes.iter().map(|change| ConversionOutput {
            file: self.file(change),
            line: change.span.line,
            column: change.span.column,
            written: &change.written,
            rule: change.rule.as_deref(),
            change: change.kind,
            message: &change.message,
        });
        ExchangedOutput {
            format: self.format,
            target: self.target,
            rules: self.rules,
            changes: changes.collect(),
            text: with_text.then_some(self.text),
        }
    }

    /// One line for each difference, and the summary.
    fn report(&self) -> String {
        let mut text = String::new();
        for change in self.changes {
            let (file, span) = (printable(self.file(change)), change.span);
            let rule = change.rule.as_deref().map_or(String::new(), |rule| format!(" ({rule})"));
            text.push_str(&format!(
                "{file}:{}:{}: {}: {}{rule}: {}\n",
                span.line,
                span.column,
                change.kind.as_str(),
                printable(&change.written),
                printable(&change.message)
            ));
        }
        text + &self.summary + "\n"
    }

    fn file(&self, change: &RuleDifference) -> &str {
        self.sources.get(change.source).map_or("", |source| &source.name)
    }
}

/// Writes a new file. An existing one may contain settings that are not in the result.
fn create(path: &Path, text: &str) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(hinted(
            format!("`{}` already exists", path.display()),
            "write to another file, and merge the two",
        )),
        made => made
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write `{}`", path.display())),
    }
}
