//! The log of the gateway, on stderr. What it says is made of names and counts; no header value and
//! no body ever goes into it.

use std::io;

use anyhow::Result;
use callgate_config::env;
use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;
use crate::render::{Color, hinted};

/// Warnings and what callgate itself has to say.
const DEFAULT: &str = "warn,callgate=info";

/// Only what somebody should know: for commands whose standard error others read, too.
const QUIET: &str = "warn";

pub(crate) fn start(format: LogFormat) -> Result<()> {
    start_with(format, DEFAULT)
}

/// The same for a command that speaks in another's place.
pub(crate) fn quiet() -> Result<()> {
    start_with(LogFormat::Text, QUIET)
}

fn start_with(format: LogFormat, default: &str) -> Result<()> {
    let wanted = env::LOG.get().and_then(|value| value.into_string().ok());
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let filter = EnvFilter::try_new(wanted.as_deref().unwrap_or(default)).map_err(|error| {
        let message = format!("the variable {} cannot be read: {error}", env::LOG.name);
        hinted(message, "use a level such as info, or callgate_proxy=debug")
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => {
            log.with_target(false).with_ansi(Color::of(&io::stderr()) == Color::On).init();
        }
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}
