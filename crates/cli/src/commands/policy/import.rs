//! `callgate policy import`: rules of another system, as a policy.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use callgate_config::{ConfigError, Rejected};
use callgate_exchange::{ImportTarget, Imported, import};
use callgate_policy::Source;

use super::exchange::Exchanged;
use crate::args::PolicyImportArgs;
use crate::exit::Exit;
use crate::render::{count, hinted};

pub(super) fn run(args: &PolicyImportArgs) -> Result<Exit> {
    let source = source(&args.file)?;
    let imported = import(&source, args.from).map_err(|problems| {
        let sources = vec![source.clone()];
        ConfigError::from(Rejected { what: "file", sources, problems, watched: Vec::new() })
    })?;
    if imported.target == ImportTarget::Mcp {
        let name = "the imported settings".to_owned();
        callgate_config::check_text(Source { name, text: imported.text.clone() })?;
    }
    let exchanged = Exchanged {
        format: imported.format.as_str(),
        target: match imported.target {
            ImportTarget::Policy => "policy",
            ImportTarget::Mcp => "mcp",
        },
        text: &imported.text,
        rules: imported.rules,
        changes: &imported.changes,
        sources: std::slice::from_ref(&source),
        summary: summary(&imported),
    };
    exchanged.write(&args.output)
}

fn summary(imported: &Imported) -> String {
    let changes = count(imported.changes.len(), "difference");
    let format = imported.format.as_str();
    match imported.target {
        ImportTarget::Policy => format!("{format}: {}, {changes}", count(imported.rules, "rule")),
        ImportTarget::Mcp => format!("{format}: the section mcp of callgate.yaml, {changes}"),
    }
}

/// More is not read from stdin; files have the same limit.
const LARGEST: u64 = 4 * 1024 * 1024;

fn source(path: &Path) -> Result<Source> {
    if path != Path::new("-") {
        return Ok(callgate_config::read_source(path, "file")?);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
    if bytes.len() as u64 > LARGEST {
        return Err(hinted("stdin is too large".to_owned(), "at most 4 MiB are read"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| hinted("stdin is not UTF-8".to_owned(), "convert it first"))?;
    Ok(Source { name: "<stdin>".to_owned(), text })
}
