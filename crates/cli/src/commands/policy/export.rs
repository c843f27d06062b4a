//! `callgate policy export`: rules of policies, as rules of an agent.

use std::path::Path;

use anyhow::Result;
use callgate_config::{ConfigError, PolicyLocation, PolicySet, Rejected};
use callgate_exchange::{Agent, WrittenPolicies, export};
use callgate_policy::{Diagnostic, Source};

use super::exchange::Exchanged;
use crate::args::PolicyExportArgs;
use crate::exit::Exit;
use crate::render::{count, hinted};
use crate::sources;

pub(super) fn run(args: &PolicyExportArgs, config: Option<&Path>) -> Result<Exit> {
    let policies = written(sources::compile(&args.policies.files, config)?)?;
    // The result is checked before it is returned.
    let exported = export(&policies, args.to).map_err(|problems| {
        let why = problems.first().map_or("", |problem| &problem.message);
        hinted(
            format!("the rules would not load: {why}"),
            "this is a bug: please report the policy",
        )
    })?;
    let exchanged = Exchanged {
        format: args.to.as_str(),
        target: "agent",
        text: &exported.text,
        rules: exported.rules,
        changes: &exported.changes,
        sources: policies.sources(),
        summary: summary(args.to, exported.rules, exported.native_rules),
    };
    exchanged.write(&args.output)
}

fn summary(agent: Agent, rules: usize, native: usize) -> String {
    let (covered, native) = (count(rules, "rule"), count(native, "native rule"));
    format!("{covered} exported as {native} of {}; for {}", agent.as_str(), agent.place())
}

/// The policies as they are written, with what the config takes away from built-in ones.
fn written(set: PolicySet) -> Result<WrittenPolicies> {
    let mut written = WrittenPolicies::default();
    for part in set.parts {
        match part {
            PolicyLocation::File(at) => {
                let Some(source) = set.sources.get(at).cloned() else { continue };
                let shown = source.clone();
                written
                    .add_file(source)
                    .map_err(|problems| rejected("policy", vec![shown], problems))?;
            }
            PolicyLocation::Inline(at, nodes) => {
                let Some(source) = set.sources.get(at).cloned() else { continue };
                written.add_nodes(source, nodes);
            }
        }
    }
    Ok(written)
}

fn rejected(what: &'static str, sources: Vec<Source>, problems: Vec<Diagnostic>) -> ConfigError {
    Rejected { what, sources, problems, watched: Vec::new() }.into()
}
