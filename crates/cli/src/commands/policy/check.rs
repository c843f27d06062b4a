//! `callgate policy check`: every problem of policy files, with its place.

mod advice;
mod probes;
mod wider;

use std::io;
use std::path::Path;

use anyhow::Result;
use callgate_config::{ConfigError, PolicySet};

use crate::args::PolicyCheckArgs;
use crate::exit::Exit;
use crate::render::{self, Color, count, printable};
use crate::report::{self, PolicyCheckOutput, ProblemOutput};
use crate::sources;

pub(crate) fn run(args: &PolicyCheckArgs, config: Option<&Path>) -> Result<Exit> {
    let compiled = sources::compile(&args.files, config).map(|mut policies| {
        // One warning about a rule is enough.
        let known: Vec<usize> = policies.warnings.iter().map(|it| it.0.span.line).collect();
        let more = advice::warnings(&policies).into_iter();
        policies.warnings.extend(more.filter(|it| !known.contains(&it.0.span.line)));
        policies
    });
    if args.json {
        return print_json(compiled, args);
    }
    let policies = compiled?;
    show_warnings(&policies);
    render::warn_of_exposed(&policies);
    render::print(&summary(&policies))?;
    Ok(exit(&policies, args))
}

fn exit(policies: &PolicySet, args: &PolicyCheckArgs) -> Exit {
    let has_warnings = !(policies.warnings.is_empty() && policies.exposed.is_empty());
    if args.strict && has_warnings { Exit::Broken } else { Exit::Success }
}

fn show_warnings(policies: &PolicySet) {
    let color = Color::of(&io::stderr()) == Color::On;
    for warning in &policies.warnings {
        let source = policies.sources.iter().find(|source| source.name == warning.0.source);
        if let Some(source) = source {
            render::talk(&format!("{}\n\n", warning.render(source, color)));
        }
    }
}

fn summary(policies: &PolicySet) -> String {
    let names: Vec<_> = policies.origins.iter().map(|name| printable(name)).collect();
    let names = if names.is_empty() { "(no policies)".to_owned() } else { names.join(", ") };
    let compiled = policies.compiled.as_ref();
    let rules = compiled.map_or(0, |compiled| compiled.rule_count());
    let texts = compiled.map_or(0, |compiled| compiled.text_rules().count());
    let found = match policies.warnings.len() + policies.exposed.len() {
        0 => "no problems".to_owned(),
        n => format!("no problems, {}", count(n, "warning")),
    };
    let texts = match texts {
        0 => String::new(),
        n => format!(", {}", count(n, "text rule")),
    };
    format!("{names}: {}{texts}, {found}\n", count(rules, "rule"))
}

fn print_json(compiled: Result<PolicySet, ConfigError>, args: &PolicyCheckArgs) -> Result<Exit> {
    let (exit, line) = match &compiled {
        Ok(policies) => {
            let warnings = policies.warnings.iter().map(|warning| ProblemOutput::of(&warning.0));
            let warnings =
                warnings.chain(policies.exposed.iter().map(ProblemOutput::exposed)).collect();
            let exit = exit(policies, args);
            let ok = exit == Exit::Success;
            let findings = PolicyCheckOutput { ok, problems: Vec::new(), warnings };
            (exit, report::line(&findings)?)
        }
        Err(ConfigError::Rejected(rejected)) => {
            let problems = rejected.problems.iter().map(ProblemOutput::of).collect();
            let findings = PolicyCheckOutput { ok: false, problems, warnings: Vec::new() };
            (Exit::Error, report::line(&findings)?)
        }
        Err(_) => return compiled.map(|_| Exit::Error).map_err(Into::into),
    };
    render::print(&line)?;
    Ok(exit)
}
