//! The server over HTTP, with the gateway's access checks.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use callgate_call::ClientInfo;
use callgate_config::{ResolvedConfig, Watch};
use callgate_decide::Decider;
use callgate_mcp::{Changes, Http, PATH, Service};
use callgate_proxy::{BoundGateway, InspectionMode, Mount, MountBody, Mounts};
use callgate_store::Store;
use http::{Request, Response};
use hyper::body::Incoming;
use tokio::sync::oneshot;

use super::known::PolicyContent;
use crate::commands::serve::signals::{self, Signals};
use crate::commands::serve::start_error;
use crate::render;

/// A server over HTTP, before it listens.
pub(super) struct Listener {
    settings: callgate_proxy::Settings,
    decider: Decider,
}

impl Listener {
    /// With the gateway's settings, but for what it forwards: nothing. Gateway keys are in the store.
    pub(super) fn new(resolved: &ResolvedConfig, listen: SocketAddr) -> Result<Self> {
        crate::records::announce_move(&resolved.audit.store);
        let audit = Store::open(&resolved.audit)?;
        let decider = Decider::new(None, audit, resolved.decide.clone());
        let settings = callgate_proxy::Settings {
            listen,
            providers: Vec::new(),
            passthrough: Vec::new(),
            mode: InspectionMode::Off,
            ..resolved.proxy.clone()
        };
        Ok(Self { settings, decider })
    }

    /// Serves until it is asked to stop.
    pub(super) async fn serve(
        self,
        service: Arc<Service<PolicyContent>>,
        changes: &Changes,
        watch: Watch,
    ) -> Result<()> {
        let signals = Signals::new().context("cannot listen for signals")?;
        let door: Arc<dyn Mount> =
            Arc::new(MountedServer(Arc::new(Http::new(service, changes.clone()))));
        let paths = std::iter::once(PATH).chain(GATEWAYS_OWN);
        let mounts = paths.fold(Mounts::default(), |all, path| all.at(path, Arc::clone(&door)));
        let server =
            BoundGateway::start(self.settings, self.decider, mounts).await.map_err(start_error)?;
        let address = server.address().context("the listener has no address")?;
        render::talk(&banner(address));
        tokio::spawn(signals::reload_on_hangup(signals.hangup, watch));
        let (stop, stopping) = oneshot::channel();
        let stopping = async {
            // A sender that is gone asks for the same.
            let _ = stopping.await;
            // Subscriptions would never finish by themselves.
            changes.end();
        };
        tokio::select! {
            () = server.serve(stopping) => {}
            () = signals.stop.asked_twice(stop) => {}
        }
        render::talk("stopped\n");
        Ok(())
    }
}

/// A gateway's own pages would be wrong here, because nothing is judged.
const GATEWAYS_OWN: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

fn banner(address: SocketAddr) -> String {
    let mut text = format!("callgate {} as an MCP server\n", env!("CARGO_PKG_VERSION"));
    text.push_str(&format!("listening on http://{address}{PATH}\n"));
    if !address.ip().is_loopback() {
        text.push_str(
            "\nOn this address every request needs a gateway key, in the header x-callgate-key:\n  \
             callgate keys add NAME\n",
        );
    }
    text
}

/// What is mounted.
struct MountedServer(Arc<Http<PolicyContent>>);

impl Mount for MountedServer {
    fn answer(
        &self,
        _: ClientInfo,
        request: Request<Incoming>,
    ) -> Pin<Box<dyn Future<Output = Response<MountBody>> + Send>> {
        let http = Arc::clone(&self.0);
        Box::pin(async move { http.answer(request).await })
    }

    fn refusal(&self, text: &str) -> String {
        callgate_mcp::refusal(text)
    }
}
