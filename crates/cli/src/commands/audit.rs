//! `callgate audit`: prove the records, and take them elsewhere.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use callgate_audit::{Filter, RecordOrder};
use callgate_store::{Broken, ReadError, Verified, VerifyError};
use serde_json::json;

use crate::args::{self, RecordFilterArgs};
use crate::exit::Exit;
use crate::records;
use crate::render::{self, count, hinted, talk};
use crate::report;

pub(crate) fn run(args: &args::AuditCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        args::AuditCommand::Verify { json } => verify(*json, config),
        args::AuditCommand::Export { filters, out } => export(filters, out.as_deref(), config),
        args::AuditCommand::Backup { folder, json } => backup(folder, *json, config),
        args::AuditCommand::Reindex { json } => reindex(*json, config),
    }
}

fn verify(json: bool, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    match reader.verify(render::progress("checked")) {
        Ok(verified) => {
            let text = if json { as_json(&verified)? } else { sound(&verified) };
            render::print(&text)?;
            Ok(Exit::Success)
        }
        Err(VerifyError::Broken(broken)) => {
            if json {
                let line = json!({ "ok": false, "record": broken.seq, "what": broken.what });
                render::print(&report::line(&line)?)?;
            } else {
                render::error(&not_sound(&broken));
            }
            Ok(Exit::Broken)
        }
        Err(VerifyError::Read(error)) => Err(error.into()),
    }
}

fn as_json(verified: &Verified) -> Result<String> {
    let Verified { records, first, last, head, expired } = verified;
    let line = json!({
        "ok": true, "records": records, "first": first, "last": last, "head": head,
        "expired": expired,
    });
    Ok(report::line(&line)?)
}

fn sound(verified: &Verified) -> String {
    if verified.records == 0 {
        return "the chain is intact: no records yet\n".to_owned();
    }
    let records = count(usize::try_from(verified.records).unwrap_or(usize::MAX), "record");
    let expired = match verified.expired {
        0 => String::new(),
        n => format!("; {n} older ones have expired"),
    };
    let Verified { first, last, head, .. } = verified;
    format!("the chain is intact: {records} ({first} to {last}){expired}\nhead {head}\n")
}

fn not_sound(broken: &Broken) -> anyhow::Error {
    let hint = "the records before it are unchanged; keep a copy of the store, and compare it \
                with an earlier export or head";
    hinted(broken.to_string(), hint)
}

fn export(filters: &RecordFilterArgs, out: Option<&Path>, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    let filter = Filter { order: RecordOrder::OldestFirst, ..filters.query() };
    let done = match out {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = reader.export(&filter, &mut out);
            written.and_then(|n| out.flush().map(|()| n).map_err(ReadError::Output))
        }
        Some(path) => {
            let failed = || format!("cannot write `{}`", path.display());
            let mut out = BufWriter::new(private(path).with_context(failed)?);
            let written = reader.export(&filter, &mut out);
            let done = written.and_then(|n| out.flush().map(|()| n).map_err(ReadError::Output));
            let n = done.with_context(failed)?;
            let records = count(usize::try_from(n).unwrap_or(usize::MAX), "record");
            talk(&format!("wrote {records} to {}\n", render::printable(&path.to_string_lossy())));
            Ok(n)
        }
    };
    match done {
        // A reader that closes the pipe has seen enough.
        Err(ReadError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Success),
        done => {
            done?;
            Ok(Exit::Success)
        }
    }
}

fn backup(folder: &Path, json: bool, config: Option<&Path>) -> Result<Exit> {
    let settings = callgate_config::audit_settings(config)?;
    records::announce_move(&settings.store);
    let done = callgate_store::backup(&settings.store, folder, render::progress("copied"))
        .map_err(records::backup_error)?;
    let Verified { records, last, head, .. } = &done.verified;
    let text = if json {
        report::line(&json!({
            "records": records, "last": last, "head": head, "bytes": done.bytes,
            "store": done.store,
        }))?
    } else {
        let records = count(usize::try_from(*records).unwrap_or(usize::MAX), "record");
        let folder = render::printable(&folder.to_string_lossy());
        let store = render::printable(&done.store.to_string_lossy());
        format!(
            "backed up {records} to {folder}, and verified the copy\nhead {head}\n\
             to look at it: set `store: sqlite:{store}` in a config file of its own\n"
        )
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

fn reindex(json: bool, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    let progress = std::cell::RefCell::new(render::progress("indexed"));
    let records = reader.reindex(|done, all| progress.borrow_mut()(done, all))?;
    let text = if json {
        report::line(&json!({ "records": records }))?
    } else {
        let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
        format!("rebuilt the index: {records}\n")
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

/// Only the owner can read it: records show what agents do.
fn private(path: &Path) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
