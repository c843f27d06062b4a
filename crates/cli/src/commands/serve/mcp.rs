//! MCP servers on the network, behind the gateway's address.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use callgate_call::ClientInfo;
use callgate_config::{McpServer, ResolvedConfig};
use callgate_decide::Decider;
use callgate_decide::mcp::ServerKind;
use callgate_mcp::{HttpDoor, HttpServer, HttpSettings, PATH, ServerType};
use callgate_proxy::{Mount, MountBody, Mounts, system_roots};
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;

use crate::render::hinted;

/// The door of MCP servers, as the gateway sees it.
struct Mounted(Arc<HttpDoor>);

impl Mount for Mounted {
    fn answer(
        &self,
        client: ClientInfo,
        request: Request<Incoming>,
    ) -> Pin<Box<dyn Future<Output = Response<MountBody>> + Send>> {
        let door = Arc::clone(&self.0);
        Box::pin(async move { door.answer(client, request).await })
    }

    fn refusal(&self, text: &str) -> String {
        callgate_mcp::refusal(text)
    }
}

/// The door to the servers on the network, if any are declared. Must be called inside a runtime.
pub(super) fn door(resolved: &ResolvedConfig, decider: &Decider) -> Result<Option<Arc<HttpDoor>>> {
    let servers = resolved.mcp_servers.iter().filter_map(|server| network(server).transpose());
    let servers: Vec<HttpServer> = servers.collect::<Result<_>>()?;
    if servers.is_empty() {
        return Ok(None);
    }
    let settings = HttpSettings {
        max_message: resolved.mcp_message_limit,
        max_conversations: resolved.mcp_conversations,
        list_timeout: resolved.mcp_list_timeout,
        connect: resolved.proxy.timeouts.connect,
        head: resolved.proxy.timeouts.head,
        client_body: resolved.proxy.timeouts.client_body,
    };
    let door = HttpDoor::new(decider, servers, &system_roots(), &settings);
    let door = Arc::new(door.context("TLS cannot be set up")?);
    let listing = Arc::clone(&door);
    tokio::spawn(async move { listing.list().await });
    Ok(Some(door))
}

/// The door, where clients find it.
pub(super) fn mounts(door: Option<&Arc<HttpDoor>>) -> Mounts {
    door.map_or_else(Mounts::default, |door| {
        Mounts::default().at(PATH, Arc::new(Mounted(Arc::clone(door))))
    })
}

/// A server, if it is one on the network.
fn network(server: &McpServer) -> Result<Option<HttpServer>> {
    let kind = match server.kind {
        ServerKind::Stdio => return Ok(None),
        ServerKind::Http => ServerType::Streamable,
        ServerKind::Sse => ServerType::Events,
    };
    let Some(url) = server.url.clone() else { return Ok(None) };
    let bearer = server.bearer_env.as_deref().map(bearer).transpose()?;
    let (id, tls_fingerprint) = (server.id.clone(), server.tls_fingerprint.clone());
    Ok(Some(HttpServer { id, kind, url, bearer, tls_fingerprint }))
}

fn bearer(variable: &str) -> Result<HeaderValue> {
    let token = std::env::var(variable).unwrap_or_default();
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim())).map_err(|_| {
        hinted(
            format!("the token in {variable} is not a valid header value"),
            "it must be one line without control characters",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}
