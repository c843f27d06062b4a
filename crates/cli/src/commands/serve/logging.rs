//! The log of the gateway, on stderr. It holds names and counts; header values, bodies and arguments
//! of calls never go into it.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use anyhow::Result;
use callgate_config::env;
use tracing_subscriber::EnvFilter;

use super::log_queue;
use crate::args::LogFormat;
use crate::render::{self, Color, hinted};

/// Warnings, and everything callgate itself logs.
const DEFAULT: &str = "warn,callgate=info";

/// Only warnings: for commands whose standard error is read by others, too.
const QUIET: &str = "warn";

/// The format of the log, once it has started.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

pub(crate) fn start(format: LogFormat) -> Result<()> {
    start_with(format, DEFAULT)
}

/// The same for a command that takes the place of another program.
pub(crate) fn quiet() -> Result<()> {
    start_with(LogFormat::Text, QUIET)
}

fn start_with(format: LogFormat, default: &str) -> Result<()> {
    let wanted = env::LOG.get().and_then(|value| value.into_string().ok());
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let (filter, rejected) = match EnvFilter::try_new(wanted.as_deref().unwrap_or(default)) {
        Ok(filter) => (filter, Ok(())),
        Err(error) => {
            let message =
                format!("the variable {} is not a valid log filter: {error}", env::LOG.name);
            let hint = "use a level such as `info`, or a filter such as `callgate_proxy=debug`";
            (EnvFilter::new(default), Err(hinted(message, hint)))
        }
    };
    // An event that cannot be written is lost. Reporting that on stderr would panic where stderr is
    // closed, and end the call that was logged.
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(log_queue::get)
        .log_internal_errors(false);
    match format {
        LogFormat::Text => {
            log.with_target(false).with_ansi(Color::of(&io::stderr()) == Color::On).init();
        }
        LogFormat::Json => log.json().init(),
    }
    // The error of the filter is logged in the format that was asked for.
    FORMAT.get_or_init(|| format);
    rejected
}

/// Whether every line on stderr has to be JSON.
fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// A message for people on stderr; a line of the log where that is JSON.
pub(crate) fn notice(message: &str) {
    if is_json() {
        tracing::info!("{message}");
    } else {
        talk(&format!("{message}\n"));
    }
}

/// Text for people on stderr, in its place among the lines of the log.
pub(super) fn talk(text: &str) {
    let _ = log_queue::get().write_all(text.as_bytes());
}

/// Waits until the log is written, at the end of the program.
pub(crate) fn finish() {
    log_queue::finish();
}

/// The error that ends the program.
pub(crate) fn fatal(error: &anyhow::Error) {
    if !is_json() {
        finish();
        return render::error(error);
    }
    let (message, hint) = render::message_and_hint(error);
    let problems = error.downcast_ref::<callgate_config::ConfigError>().map(crate::reload::why);
    tracing::error!(hint, problems, "{message}");
}
