//! `callgate mcp serve`: what callgate knows, for agents to ask.

mod evaluate;
mod explain;
mod health;
mod http;
mod known;
mod offer;
mod recent;
mod reload;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use callgate_config::Watch;
use callgate_mcp::{Changes, Service};

use self::http::Listener;
use self::known::PolicyContent;
use crate::args;
use crate::commands::serve::logging;
use crate::exit::Exit;
use crate::reload::changed_since;
use crate::render;

/// A user who types this at a terminal would wait forever.
fn print_notice() {
    if io::stdin().is_terminal() {
        render::talk(
            "This is an MCP server on standard input and output, with one message per line. Agents \
             start it themselves (`claude mcp add callgate -- callgate mcp serve`). Press Ctrl-D \
             to stop it.\n",
        );
    }
}

pub(super) fn run(args: &args::McpServeArgs, config: Option<&Path>) -> Result<Exit> {
    let resolved = reload::load(config)?;
    match args.listen {
        None => {
            logging::quiet()?;
            print_notice();
        }
        Some(_) => logging::start(args::LogFormat::Text)?,
    }
    let listener = args.listen.map(|listen| Listener::new(&resolved, listen)).transpose()?;
    let (changes, watched) = (Changes::default(), resolved.policies.watched.clone());
    let is_old = changed_since(&resolved.policies.sources);
    let known = Arc::new(PolicyContent::new(resolved));
    let reloader = reload::reloader(config, watched.clone(), Arc::clone(&known), changes.clone());
    let watch = Watch::start(watched, reloader).context("cannot watch the policy files")?;
    if is_old {
        watch.trigger();
    }
    recent::watch(Arc::clone(&known), changes.clone()).context("cannot watch the store")?;
    let service = Arc::new(Service::new(known));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = match listener {
        Some(listener) => runtime.block_on(listener.serve(service, &changes, watch)),
        None => runtime
            .block_on(callgate_mcp::serve_pipe(service, &changes))
            .context("cannot use standard input or output"),
    };
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}
