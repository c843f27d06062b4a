//! `callgate policy check`: every problem of policy files, with its place.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use callgate_policy::{Diagnostic, Policies, Source, Warning};

use crate::exit::Exit;
use crate::render::{self, Color, count, printable};
use crate::report::{self, Finding, Findings};
use crate::sources::{self, Rejected};

pub(crate) fn run(files: &[PathBuf], json: bool) -> Result<Exit> {
    let compiled = sources::compile(files)?;
    if json {
        return print_json(&compiled.outcome);
    }
    match compiled.outcome {
        Ok((policies, warnings)) => {
            show_warnings(&compiled.sources, &warnings);
            render::print(&summary(&compiled.sources, &policies, &warnings))?;
            Ok(Exit::Success)
        }
        Err(problems) => Err(Rejected { sources: compiled.sources, problems }.into()),
    }
}

fn show_warnings(sources: &[Source], warnings: &[Warning]) {
    let color = Color::of(&io::stderr()) == Color::On;
    for warning in warnings {
        if let Some(source) = sources.iter().find(|source| source.name == warning.0.source) {
            render::talk(&format!("{}\n\n", warning.render(source, color)));
        }
    }
}

fn summary(sources: &[Source], policies: &Policies, warnings: &[Warning]) -> String {
    let names: Vec<_> = sources.iter().map(|source| printable(&source.name)).collect();
    let rules = count(policies.rules().count(), "rule");
    let found = match warnings.len() {
        0 => "no problems".to_owned(),
        n => format!("no problems, {}", count(n, "warning")),
    };
    format!("{}: {rules}, {found}\n", names.join(", "))
}

fn print_json(outcome: &Result<(Policies, Vec<Warning>), Vec<Diagnostic>>) -> Result<Exit> {
    let (exit, findings) = match outcome {
        Ok((_, warnings)) => {
            let warnings = warnings.iter().map(|warning| Finding::of(&warning.0)).collect();
            (Exit::Success, Findings { ok: true, problems: Vec::new(), warnings })
        }
        Err(problems) => {
            let problems = problems.iter().map(Finding::of).collect();
            (Exit::Error, Findings { ok: false, problems, warnings: Vec::new() })
        }
    };
    render::print(&report::line(&findings)?)?;
    Ok(exit)
}
