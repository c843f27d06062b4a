//! `callgate serve`: the gateway.

mod banner;
mod logging;
mod reload;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use callgate_audit::Audit;
use callgate_call::Surface;
use callgate_config::{Resolved, Watch};
use callgate_decide::Decider;
use callgate_proxy::{Server, StartError};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::args;
use crate::exit::Exit;
use crate::render::{self, hinted};

/// The surfaces a gateway serves.
const SERVED: [Surface; 1] = [Surface::Response];

pub(crate) fn run(args: &args::Serve, config: Option<&Path>) -> Result<Exit> {
    let mut resolved = callgate_config::load(config, &SERVED)?;
    if let Some(listen) = args.listen {
        resolved.proxy.listen = listen;
    }
    resolved.check_variables()?;
    logging::start(args.log_format)?;
    let audit = Audit::open(&resolved.audit)?;
    let policies = resolved.policies.compiled.take();
    let decider = Decider::new(policies, audit.clone(), resolved.decide.clone());
    decider.loaded(&reload::detail(&resolved.policies));
    let runtime = runtime(resolved.proxy.workers).context("cannot start the runtime")?;
    runtime.block_on(serve(resolved, decider, config.map(Path::to_owned)))?;
    if let Err(error) = audit.flush().wait() {
        return Err(hinted(
            format!("the last records are not written: {error}"),
            "calls that were released are recorded; look at the store's disk",
        ));
    }
    Ok(Exit::Success)
}

async fn serve(resolved: Resolved, decider: Decider, config: Option<PathBuf>) -> Result<()> {
    let server =
        Server::start(resolved.proxy.clone(), decider.clone()).await.map_err(start_error)?;
    let address = server.address().context("the listener has no address")?;
    render::talk(&banner::text(&resolved, address, &decider));
    let watched = resolved.policies.watched.clone();
    let reloader = reload::Reloader::new(config, decider);
    let watch = Watch::start(watched, reloader).context("cannot watch the policy files")?;
    tokio::spawn(reload_on_hangup(watch));
    server.serve(stopped()).await;
    render::talk("stopped\n");
    Ok(())
}

/// One worker needs no threads that steal from each other.
fn runtime(workers: usize) -> io::Result<Runtime> {
    match workers {
        0 | 1 => Builder::new_current_thread().enable_all().build(),
        workers => Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
    }
}

/// Ends when the process is asked to stop.
async fn stopped() {
    let mut terminate = signal(SignalKind::terminate()).ok();
    let terminated = async {
        match &mut terminate {
            Some(terminate) => terminate.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    render::talk("stopping: streams may finish, new requests are not taken\n");
}

/// SIGHUP loads the policies anew, whether a change was seen or not.
async fn reload_on_hangup(watch: Watch) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    while hangup.recv().await.is_some() {
        watch.trigger();
    }
}

fn start_error(error: StartError) -> anyhow::Error {
    let message = error.to_string();
    let hint = match &error {
        StartError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            "another program has this port, maybe a gateway that runs already (`callgate \
             doctor`); choose another with --listen"
        }
        StartError::Listen { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for the system; choose another with --listen"
        }
        StartError::Listen { .. } => "give an address of this machine, such as 127.0.0.1:8484",
        StartError::Provider { .. } => "correct `base_url` in the config",
        StartError::Tls(_) => "install the system's certificates, or set SSL_CERT_FILE",
    };
    hinted(message, hint)
}
