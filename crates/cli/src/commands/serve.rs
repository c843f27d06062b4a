//! `callgate serve`: the gateway.

pub(crate) mod api;
mod banner;
mod decisions;
mod descriptors;
mod log_queue;
pub(crate) mod logging;
mod mcp;
mod running;
pub(crate) mod signals;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_config::{ResolvedConfig, StartSettings};
use callgate_decide::Decider;
use callgate_proxy::{BoundGateway, StartError};
use callgate_store::{Indexing, Store};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::args::{self, LogFormat};
use crate::exit::Exit;
use crate::reload::{self, Reloader};
use crate::render::hinted;

use api::{ApiTask, GatewayState};
use running::{Flags, RunningGateway};
use signals::Signals;

pub(crate) fn run(args: &args::ServeArgs, config: Option<&Path>) -> Result<Exit> {
    let flags = Flags::of(args);
    logging::start(args.log_format)?;
    let mut resolved = flags.load(config)?;
    reload::warn_of_exposed(&resolved.policies);
    let started = running::start_settings(&resolved);
    fit_connections(&mut resolved);
    // A gateway has time to build the index; shims and hooks do not.
    resolved.audit.indexing = Indexing::Here;
    crate::records::announce_move(&resolved.audit.store);
    let audit = Store::open(&resolved.audit)?;
    let policies = resolved.policies.compiled.take();
    let decider = Decider::new(policies, audit.clone(), resolved.decide.clone());
    decider.set_mcp(reload::shared_limits(resolved.mcp.clone()));
    decisions::show(&decider, args.log_format);
    let runtime = runtime(resolved.proxy.workers).context("cannot start the runtime")?;
    let known = Arc::new(GatewayState::new(&resolved, decider.clone(), audit.clone()));
    let config = config.map(Path::to_owned);
    let reload_context = ReloadContext { flags, started, known, config, format: args.log_format };
    runtime.block_on(serve(resolved, decider, reload_context))?;
    // Streams that are cut off write their record when they are dropped, so this comes before the
    // last flush.
    runtime.shutdown_timeout(CUT_OFF);
    if let Err(error) = audit.flush().wait() {
        return Err(hinted(
            format!("the last records could not be written: {error}"),
            "calls that were released are recorded; check the disk of the store",
        ));
    }
    Ok(Exit::Success)
}

/// Serves no more clients at once than there can be connections.
fn fit_connections(resolved: &mut ResolvedConfig) {
    let room = descriptors::raise();
    let wanted = resolved.proxy.max_connections;
    resolved.proxy.max_connections = wanted.min(room);
    if room < wanted.min(FEW_CLIENTS) {
        tracing::warn!(
            room,
            "only a few clients can connect at a time, because the system limits open files; \
             raise `ulimit -Hn`, or LimitNOFILE of the service"
        );
    }
}

/// What a reload goes by.
struct ReloadContext {
    flags: Flags,
    started: StartSettings,
    known: Arc<GatewayState>,
    config: Option<PathBuf>,
    format: LogFormat,
}

async fn serve(
    resolved: ResolvedConfig,
    decider: Decider,
    reload_context: ReloadContext,
) -> Result<()> {
    let signals = Signals::new().context("cannot listen for signals")?;
    let door = mcp::door(&resolved, &decider)?;
    let mounts = mcp::mounts(door.as_ref());
    let server = BoundGateway::start(resolved.proxy.clone(), decider.clone(), mounts)
        .await
        .map_err(start_error)?;
    let address = server.address().context("the listener has no address")?;
    let api = ApiTask::start(&resolved.api, Arc::clone(&reload_context.known))?;
    decider.loaded(&reload::source(&resolved));
    let ReloadContext { flags, started, known, config, format } = reload_context;
    banner::show(&banner::Facts::of(&resolved, address, &decider, &api.shown()), format);
    let gateway = RunningGateway { flags, control: server.reloader(), known };
    let (config, policies) = (config.as_deref(), &resolved.policies);
    let watch = Reloader::watch(config, policies, decider, gateway, started)?;
    tokio::spawn(signals::reload_on_hangup(signals.hangup, watch));
    let (stop, stopping) = oneshot::channel();
    let stopping = async {
        // A sender that is gone asks for the same.
        let _ = stopping.await;
        door.iter().for_each(|door| door.end());
    };
    tokio::select! {
        () = server.serve(stopping) => {}
        () = signals.stop.asked_twice(stop) => {}
    }
    api.end().await;
    logging::notice("stopped");
    Ok(())
}

/// One worker needs no threads that steal from each other.
fn runtime(workers: usize) -> io::Result<Runtime> {
    match workers {
        0 | 1 => Builder::new_current_thread().enable_all().build(),
        workers => Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
    }
}

pub(crate) fn start_error(error: StartError) -> anyhow::Error {
    let message = error.to_string();
    let hint = match &error {
        StartError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            "another program uses this port, perhaps a running gateway (check with `callgate \
             doctor`); choose another port with --listen"
        }
        StartError::Listen { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            "ports below 1024 are reserved for the system; choose another with --listen"
        }
        StartError::Listen { .. } => "give an address of this machine, such as 127.0.0.1:8484",
        StartError::Provider { .. } => "correct `base_url` in the config",
        StartError::Tls(_) => "install the system's certificates, or set SSL_CERT_FILE",
    };
    hinted(message, hint)
}

/// A gateway for a team may have this many clients. With room for fewer, a warning is logged.
const FEW_CLIENTS: usize = 1000;

/// How long work that cannot be cancelled, such as a DNS lookup, may delay the end.
const CUT_OFF: Duration = Duration::from_secs(1);
