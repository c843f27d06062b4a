//! What the store knows about servers.

use std::path::Path;

use anyhow::Result;
use callgate_decide::mcp::{Globs, pin_of};
use callgate_registry::Pin;
use callgate_store::{Location, RecordReader, Store};
use jiff::Timestamp;

use crate::records;
use crate::render::hinted;
use crate::when;

/// The store, opened for reading. A new user has none.
pub(super) fn reader(config: Option<&Path>) -> Result<RecordReader> {
    match records::reader_if_there(config)? {
        Some(reader) => Ok(reader),
        None => Err(nothing_yet(config)?),
    }
}

/// Every pin, by server, kind and name.
pub(super) fn pins(config: Option<&Path>) -> Result<Vec<Pin>> {
    known(&reader(config)?)
}

/// The same; none if there is no store yet.
pub(super) fn pins_if_there(config: Option<&Path>) -> Result<Vec<Pin>> {
    records::reader_if_there(config)?.as_ref().map_or(Ok(Vec::new()), known)
}

/// The store, to change pins in it.
pub(super) fn audit(config: Option<&Path>) -> Result<Store> {
    if records::reader_if_there(config)?.is_none() {
        return Err(nothing_yet(config)?);
    }
    Ok(Store::open(&records::existing(config)?)?)
}

fn known(reader: &RecordReader) -> Result<Vec<Pin>> {
    Ok(reader.pins()?.into_iter().filter_map(pin_of).collect())
}

fn nothing_yet(config: Option<&Path>) -> Result<anyhow::Error> {
    let place = match callgate_config::audit_settings(config)?.store {
        Location::Sqlite(path) => format!("there is no store at `{}`", path.display()),
        Location::Memory => "the store is in memory".to_owned(),
    };
    Ok(hinted(
        format!("no MCP server has been seen yet: {place}"),
        "put a server behind callgate with `callgate mcp wrap --server NAME -- COMMAND`; \
         run `callgate mcp servers` to list the declared ones",
    ))
}

/// Whether a name is one of those that were asked for.
pub(super) fn fits(asked: Option<&str>, name: &str) -> bool {
    asked.is_none_or(|glob| Globs::new([glob]).matches(name))
}

/// A time of a pin, for people.
pub(super) fn shown(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map(when::shown).unwrap_or_default()
}

/// The same for programs.
pub(super) fn exact(micros: i64) -> Option<String> {
    Timestamp::from_microsecond(micros).ok().map(|time| time.to_string())
}
