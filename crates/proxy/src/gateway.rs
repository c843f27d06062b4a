//! Handles one request, from its head to the head of its response.

use std::convert::Infallible;
use std::sync::Arc;

use arc_swap::ArcSwap;
use callgate_call::{ClientInfo, Origin, OriginFields, Surface};
use callgate_decide::{Decider, PolicyState, RequestContext, WriteHealth};
use callgate_dialect::Dialect;
use http::header::{CONTENT_TYPE, UPGRADE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::sync::watch;
use uuid::Uuid;

use crate::access::{self, AccessDenied, RequestSender, Trust};
use crate::client_response;
use crate::headers::{self, BodyUse};
use crate::kept_body::BodyRoom;
use crate::metrics::Metrics;
use crate::mount::{Mount, Mounts};
use crate::outgoing::Outgoing;
use crate::provider_request::{self, Prepared, RequestFacts};
use crate::refusal::{REQUEST_ID, Refusal, json};
use crate::restore::{self, Binding};
use crate::route::{NoRoute, OwnEndpoint, ProviderRoute, Route, Routes, Treatment, is_plain};
use crate::settings::{InspectionMode, Settings};
use crate::stored_response;
use crate::upstream::Upstreams;

/// The gateway. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<ArcSwap<LoadedGateway>>);

/// Everything that a request needs. A request keeps the settings that were in force when it
/// arrived; a reload creates a new `LoadedGateway` for later ones.
pub(crate) struct LoadedGateway {
    pub(crate) settings: Settings,
    pub(crate) routes: Routes,
    /// Names of changed settings that take effect only after a restart.
    pub(crate) restart_needed: Vec<String>,
    pub(crate) mounts: Mounts,
    pub(crate) upstreams: Upstreams,
    pub(crate) decider: Decider,
    pub(crate) metrics: Metrics,
    pub(crate) trust: Trust,
    /// The memory for bodies that are kept until their turn ends.
    pub(crate) body_room: BodyRoom,
    /// True once the gateway is stopping.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// One request to a provider.
#[derive(Clone)]
pub(crate) struct ProviderExchange {
    pub(crate) route: ProviderRoute,
    pub(crate) method: Method,
    pub(crate) binding: Binding,
    pub(crate) context: RequestContext,
}

impl Gateway {
    pub(crate) fn new(inner: LoadedGateway) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(inner)))
    }

    /// The state for a request that arrives now.
    pub(crate) fn now(&self) -> Arc<LoadedGateway> {
        self.0.load_full()
    }

    /// Replaces the state for later requests.
    pub(crate) fn replace(&self, inner: LoadedGateway) {
        self.0.store(Arc::new(inner));
    }
}

impl LoadedGateway {
    /// Answers any request.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Outgoing>, Infallible> {
        let id = request_id();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let mut dialect = None;
        let mut response = match self.try_answer(request, &id, &mut dialect).await {
            Ok(response) => response,
            Err(refusal) => {
                self.metrics.count_refusal();
                let path = uri.path();
                let shown = shown(path);
                let why = refusal.message();
                tracing::warn!(%method, path = shown, request = &*id, why, "refused");
                match self.mounts.find(path) {
                    Some(mount) => refusal.at_door(&*mount),
                    None => refusal.into_response(dialect),
                }
            }
        };
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }

    /// `dialect` is set as soon as it is known, because it decides the form of a refusal.
    async fn try_answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        id: &Arc<str>,
        dialect: &mut Option<Dialect>,
    ) -> Result<Response<Outgoing>, Refusal> {
        if let Some(mount) = self.mounts.find(request.uri().path()) {
            return self.mounted(&*mount, request, id).await;
        }
        let versioned = request.headers().contains_key("anthropic-version");
        let route = self.routes.find(request.method(), request.uri().path(), versioned);
        *dialect = route.dialect();
        access::check_site(&request, self.trust).map_err(Refusal::Access)?;
        match route {
            Route::Gateway(own) => self.own(own, &request),
            Route::Refused(why, _) if wants_upgrade(request.headers()) => {
                tracing::debug!(?why, "refused a protocol upgrade");
                Err(Refusal::Upgrade)
            }
            Route::Refused(why, _) => Err(Refusal::NoRoute(why)),
            Route::Provider(route) => self.up(route, request, id).await,
        }
    }

    /// Passes a request to a mounted door, if the client has access.
    async fn mounted(
        &self,
        mount: &dyn Mount,
        mut request: Request<Incoming>,
        id: &str,
    ) -> Result<Response<Outgoing>, Refusal> {
        access::check_site(&request, self.trust).map_err(Refusal::Door)?;
        if !is_plain(request.uri().path()) {
            return Err(Refusal::NoRoute(NoRoute::AmbiguousPath));
        }
        if wants_upgrade(request.headers()) {
            return Err(Refusal::Upgrade);
        }
        let given = access::Credentials::of(request.headers(), request.extensions());
        let principal =
            access::principal(given, self.trust, None, &self.decider).map_err(Refusal::Door)?;
        let (agent, session) = claims(request.headers());
        let client = ClientInfo { who: principal.who, agent, session, request: id.to_owned() };
        headers::for_provider(request.headers_mut(), BodyUse::Read);
        let uri = request.uri();
        if access::contains_gateway_key(request.headers(), uri.path(), uri.query()) {
            return Err(Refusal::Door(AccessDenied::MisplacedKey));
        }
        Ok(mount.answer(client, request).await.map(Outgoing::Mounted))
    }

    /// Forwards a request to the provider, and its response to the client.
    async fn up(
        self: &Arc<Self>,
        mut route: ProviderRoute,
        request: Request<Incoming>,
        id: &Arc<str>,
    ) -> Result<Response<Outgoing>, Refusal> {
        let site = Arc::clone(&route.site);
        let provider = &site.provider;
        if wants_upgrade(request.headers()) {
            return Err(Refusal::Upgrade);
        }
        let uri = request.uri();
        if let Some(why) = self.routes.unread(&route, uri.path(), uri.query()) {
            return Err(Refusal::NoRoute(why));
        }
        let (parts, body) = request.into_parts();
        let query_key = access::query_key(parts.uri.query());
        let query_key = query_key.as_deref();
        let given =
            access::Credentials::of(&parts.headers, &parts.extensions).with_query(query_key);
        let principal = access::principal(given, self.trust, Some(provider), &self.decider)
            .map_err(Refusal::Access)?;
        let in_query = access::query_credentials(parts.uri.query());
        let binding = binding(&parts.headers, &in_query, &principal, &provider.name);
        let origin = origin(&parts.headers, &principal, &route);
        let context = RequestContext {
            origin,
            request: Some(Arc::clone(id)),
            dialect: Some(route.dialect.as_str()),
        };
        let method = parts.method.clone();
        let named = stored_response::find(self, &binding, &route.path).await;
        let (deleted, earlier) = match named {
            Some(named) if method == Method::DELETE => (Some(named), None),
            Some(named) if self.inspects(route.treatment) => {
                (None, Some(named.redirect(&mut route, parts.uri.query())?))
            }
            Some(_) | None => (None, None),
        };
        let exchange = ProviderExchange { route, method, binding, context };
        let Prepared { request, facts } =
            provider_request::prepare(self, &exchange, &principal, parts, body).await?;
        let facts = RequestFacts { earlier, ..facts };
        if let Some(deleted) = deleted {
            let refused = deleted.delete_others(self, &exchange, principal.key(), &request).await?;
            if let Some(response) = refused {
                let facts = RequestFacts::default();
                return client_response::prepare(self, exchange, facts, response).await;
            }
        }
        let target = &exchange.route.site.target;
        let stalled = request.body().stalled();
        let sent = self.upstreams.send(target, request).await;
        let response = sent.map_err(|error| match stalled.and_then(|it| it.get()) {
            Some(limit) => Refusal::Stalled(limit),
            None => Refusal::Upstream(error),
        })?;
        self.metrics.count_response(&exchange.route.site.provider.name, response.status().as_u16());
        client_response::prepare(self, exchange, facts, response).await
    }

    /// The gateway's own endpoints. Only clients with access may read metrics.
    fn own<B>(
        &self,
        own: OwnEndpoint,
        request: &Request<B>,
    ) -> Result<Response<Outgoing>, Refusal> {
        match own {
            OwnEndpoint::Hello => Ok(json(StatusCode::OK, r#"{"callgate":"gateway"}"#.to_owned())),
            OwnEndpoint::Health => Ok(self.health(StatusCode::OK)),
            OwnEndpoint::Ready => Ok(self.health(StatusCode::SERVICE_UNAVAILABLE)),
            OwnEndpoint::Metrics => {
                let given = access::Credentials::of(request.headers(), request.extensions());
                access::principal(given, self.trust, None, &self.decider)
                    .map_err(Refusal::Access)?;
                let mut response = json(StatusCode::OK, self.metrics.page(&self.decider));
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                Ok(response)
            }
        }
    }

    /// Reports whether records can be written; if not, with the status `while_failing`, which is an
    /// error only for readiness: the process is alive. Also reports a rejected policy file, in
    /// which case the last valid one is in force.
    fn health(&self, while_failing: StatusCode) -> Response<Outgoing> {
        let decider = &self.decider;
        let failing = match decider.audit_health() {
            WriteHealth::Ok => None,
            WriteHealth::Failing { why, .. } => Some(why),
        };
        let policy = match decider.policy_state() {
            PolicyState::Current => None,
            PolicyState::Rejected { why } => Some(why),
        };
        let status = if failing.is_some() { while_failing } else { StatusCode::OK };
        let word = match (&failing, &policy) {
            (None, None) => "ok",
            (Some(_), _) => "failing",
            (None, Some(_)) => "degraded",
        };
        // The reason is only in the log, because anyone may read this.
        let body = serde_json::json!({
            "status": word,
            "records": if failing.is_some() { "failing" } else { "ok" },
            "policies": match (decider.judges(), &policy) {
                (false, _) => "none",
                (true, None) => "current",
                (true, Some(_)) => "rejected, last good ones in force",
            },
            // Only names: a value may be a secret.
            "restart_needed": self.restart_needed,
        });
        json(status, body.to_string())
    }

    /// Whether the response goes through the gate.
    pub(crate) fn inspects(&self, treatment: Treatment) -> bool {
        matches!(treatment, Treatment::Inspect(_)) && self.judges()
    }

    /// Whether anything is judged.
    pub(crate) fn judges(&self) -> bool {
        self.settings.mode != InspectionMode::Off && self.decider.judges()
    }
}

/// A new id for a request, which its records and its response carry.
fn request_id() -> Arc<str> {
    let id = Uuid::now_v7().hyphenated();
    (*id.encode_lower(&mut Uuid::encode_buffer())).into()
}

/// A path for the log. A misconfigured client may have put a key in it, so only segments that are
/// plain words or versions are shown.
fn shown(path: &str) -> String {
    let is_version = |part: &str| {
        let rest = part.strip_prefix('v').unwrap_or_default();
        rest.len() <= 8 && rest.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_word = |part: &str| {
        let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.');
        part.len() <= 24 && part.chars().all(is_letter)
    };
    let part = |part: &str| match is_word(part) || is_version(part) {
        true => part.to_owned(),
        false => "*".to_owned(),
    };
    let segment = |segment: &str| segment.split(':').map(part).collect::<Vec<_>>().join(":");
    path.split('/').take(MAX_SHOWN).map(segment).collect::<Vec<_>>().join("/")
}

/// No path that callgate knows has more segments.
const MAX_SHOWN: usize = 16;

fn wants_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE)
        && headers.get_all(UPGRADE).iter().any(|value| {
            value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("websocket"))
        })
}

fn binding(
    headers: &HeaderMap,
    in_query: &[String],
    principal: &RequestSender,
    provider: &str,
) -> Binding {
    // With our own key the provider sees all clients as one, so the principal distinguishes them.
    let credentials = if principal.swap {
        Vec::new()
    } else {
        let in_query = in_query.iter().map(String::as_bytes);
        headers::credentials(headers).into_iter().chain(in_query).collect()
    };
    restore::binding(&principal.who, provider, &credentials)
}

/// Who sends the request, and to whom. The agent and the session are unverified.
fn origin(headers: &HeaderMap, principal: &RequestSender, route: &ProviderRoute) -> Origin {
    let (agent, session) = claims(headers);
    Origin::new(OriginFields {
        who: principal.who.clone(),
        agent,
        session,
        provider: Some(route.site.provider.name.clone()),
        model: route.model(),
        ..OriginFields::at(Surface::Response)
    })
}

/// The agent and the session that the client names.
fn claims(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let cut = |text: &str| text.chars().take(MAX_CLAIM).collect::<String>();
    let session = SESSIONS.iter().find_map(|name| text(name));
    let agent = text("x-callgate-agent").or_else(|| agent_of(text(USER_AGENT.as_str())?));
    (agent.map(cut), session.map(cut))
}

/// No real name is longer.
const MAX_CLAIM: usize = 200;

/// Headers in which agents name their session.
const SESSIONS: [&str; 3] = ["x-callgate-session", "x-claude-code-session-id", "session-id"];

/// The agent from its `User-Agent`: the first product, by its common name.
fn agent_of(user_agent: &str) -> Option<&str> {
    let product = user_agent.split(['/', ' ']).next().filter(|product| !product.is_empty())?;
    Some(match product {
        "claude-cli" => "claude-code",
        "codex_cli_rs" | "codex_exec" => "codex",
        "GeminiCLI" => "gemini-cli",
        other => other,
    })
}
