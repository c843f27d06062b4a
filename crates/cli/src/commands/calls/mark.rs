//! `callgate calls mark`: what someone says about the verdict on a recorded call.

use std::path::Path;

use anyhow::Result;
use callgate_audit::StoredRecord;
use callgate_store::{Opinion, Store};
use serde_json::json;

use crate::args::MarkCallsArgs;
use crate::exit::Exit;
use crate::operator::operator;
use crate::records;
use crate::render;
use crate::report;

pub(super) fn run(args: &MarkCallsArgs, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    // Either all of them are marked or, if one does not exist, none.
    let calls = args.ids.iter().map(|id| records::find_call(&reader, id));
    let calls = calls.collect::<Result<Vec<StoredRecord>>>()?;
    drop(reader);
    let opinion = args.mark.opinion();
    let store = Store::open(&records::existing(config)?)?;
    let operator = operator();
    let mut text = String::new();
    for stored in &calls {
        let changed = store.mark_call(stored.record.id, opinion, &operator)?;
        text.push_str(&match args.json {
            true => report::line(&json!({
                "seq": stored.seq,
                "id": stored.record.id.to_string(),
                "mark": opinion.map(Opinion::as_str),
                "changed": changed,
            }))?,
            false => line(stored, opinion, changed),
        });
    }
    render::print(&text)?;
    Ok(Exit::Success)
}

fn line(stored: &StoredRecord, opinion: Option<Opinion>, changed: bool) -> String {
    let call = render::printable(&records::call(stored));
    let what = match (opinion, changed) {
        (Some(opinion), true) => format!("marked {}", opinion.as_str()),
        (Some(opinion), false) => format!("already marked {}", opinion.as_str()),
        (None, true) => "no longer marked".to_owned(),
        (None, false) => "was not marked".to_owned(),
    };
    format!("record {} {what}: {} {call}\n", stored.seq, records::verdict(stored))
}
