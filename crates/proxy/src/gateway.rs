//! One request, from its head to the head of its answer.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use callgate_call::{Origin, OriginFields, Surface};
use callgate_decide::{AuditHealth, Context, Decider, PolicyState, RemovedEntry};
use callgate_dialect::Dialect;
use http::header::{CONTENT_TYPE, UPGRADE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use uuid::Uuid;

use crate::access::{self, Denied, Principal, Trust};
use crate::answer;
use crate::headers;
use crate::metrics::Metrics;
use crate::mount::{Mount, Mounts, Visitor};
use crate::outgoing::Outgoing;
use crate::respond::{REQUEST_ID, Refusal, json};
use crate::restore::{self, Binding};
use crate::route::{Nowhere, Own, Route, Routes, Treatment, Way, is_plain};
use crate::settings::{Mode, Settings};
use crate::upstream::Upstreams;
use crate::upward;

/// The gateway. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gateway(Arc<ArcSwap<Inner>>);

/// Everything a request needs. A request keeps what was in force when it came; a reload makes another
/// one for those that come later.
pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) routes: Routes,
    /// Settings that were changed and that only a restart applies, by their names.
    pub(crate) restart_needed: Vec<String>,
    pub(crate) mounts: Mounts,
    pub(crate) upstreams: Upstreams,
    pub(crate) decider: Decider,
    pub(crate) metrics: Metrics,
    pub(crate) trust: Trust,
}

/// One request that goes to a provider.
pub(crate) struct Exchange {
    pub(crate) way: Way,
    pub(crate) method: Method,
    pub(crate) binding: Binding,
    pub(crate) context: Context,
    /// What is to be kept once the provider has taken the request: the calls it answers.
    pub(crate) answered: OnceLock<RemovedEntry>,
}

impl Gateway {
    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(inner)))
    }

    /// What a request that comes now is served with.
    pub(crate) fn now(&self) -> Arc<Inner> {
        self.0.load_full()
    }

    /// Serves later requests with something else.
    pub(crate) fn replace(&self, inner: Inner) {
        self.0.store(Arc::new(inner));
    }

    /// Answers a request, whatever comes.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Outgoing> {
        self.now().answer(request).await
    }
}

impl Inner {
    async fn answer(&self, request: Request<Incoming>) -> Response<Outgoing> {
        let id = Uuid::now_v7().to_string();
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let mut dialect = None;
        let mut response = match self.try_answer(request, &id, &mut dialect).await {
            Ok(response) => response,
            Err(refusal) => {
                self.metrics.refused();
                let shown = shown(&path);
                tracing::warn!(%method, path = shown, request = id, ?refusal, "refused");
                match self.mounts.find(&path) {
                    Some(mount) => refusal.at_door(&*mount),
                    None => refusal.into_response(dialect),
                }
            }
        };
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    /// `dialect` is set as soon as it is known, for the form of a refusal.
    async fn try_answer(
        &self,
        request: Request<Incoming>,
        id: &str,
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
            Route::Own(own) => self.own(own, &request),
            Route::Nowhere(why, _) if wants_upgrade(request.headers()) => {
                tracing::debug!(?why, "an upgrade");
                Err(Refusal::Upgrade)
            }
            Route::Nowhere(why, _) => Err(Refusal::Nowhere(why)),
            Route::Up(way) => self.up(way, request, id).await,
        }
    }

    /// Lets another door answer whoever may come in.
    async fn mounted(
        &self,
        mount: &dyn Mount,
        mut request: Request<Incoming>,
        id: &str,
    ) -> Result<Response<Outgoing>, Refusal> {
        let inner = self;
        access::check_site(&request, inner.trust).map_err(Refusal::Door)?;
        if !is_plain(request.uri().path()) {
            return Err(Refusal::Nowhere(Nowhere::Crooked));
        }
        if wants_upgrade(request.headers()) {
            return Err(Refusal::Upgrade);
        }
        let given = access::Given::of(request.headers(), request.extensions());
        let principal =
            access::principal(given, inner.trust, None, &inner.decider).map_err(Refusal::Door)?;
        let (agent, session) = claims(request.headers());
        let visitor = Visitor { who: principal.who, agent, session, request: id.to_owned() };
        headers::upward(request.headers_mut(), true);
        let uri = request.uri();
        if access::holds_key(request.headers(), uri.path(), uri.query()) {
            return Err(Refusal::Door(Denied::MisplacedKey));
        }
        Ok(mount.answer(visitor, request).await.map(Outgoing::Mounted))
    }

    /// Sends a request up, and its answer down.
    async fn up(
        &self,
        way: Way,
        request: Request<Incoming>,
        id: &str,
    ) -> Result<Response<Outgoing>, Refusal> {
        let inner = self;
        let provider = &way.site.provider;
        if wants_upgrade(request.headers()) {
            return Err(Refusal::Upgrade);
        }
        let uri = request.uri();
        if let Some(why) = inner.routes.unread(&way, uri.path(), uri.query()) {
            return Err(Refusal::Nowhere(why));
        }
        let (parts, body) = request.into_parts();
        let query_key = access::query_key(parts.uri.query());
        let query_key = query_key.as_deref();
        let given = access::Given::of(&parts.headers, &parts.extensions).with_query(query_key);
        let principal = access::principal(given, inner.trust, Some(provider), &inner.decider)
            .map_err(Refusal::Access)?;
        let in_query = access::query_credentials(parts.uri.query());
        let binding = binding(&parts.headers, &in_query, &principal, &provider.name);
        let origin = origin(&parts.headers, &principal, &way);
        let context = Context {
            origin,
            request: Some(id.to_owned()),
            dialect: Some(way.dialect.as_str().to_owned()),
        };
        let (method, answered) = (parts.method.clone(), OnceLock::new());
        let exchange = Exchange { way, method, binding, context, answered };
        let request = upward::request(inner, &exchange, &principal, parts, body).await?;
        let target = &exchange.way.site.target;
        let stalled = request.body().stalled();
        let sent = inner.upstreams.send(target, request).await;
        let response = sent.map_err(|error| match stalled.and_then(|it| it.get()) {
            Some(limit) => Refusal::Stalled(limit),
            None => Refusal::Upstream(error),
        })?;
        inner.metrics.answered(&exchange.way.site.provider.name, response.status().as_u16());
        answer::down(inner, exchange, response).await
    }

    /// What the gateway says of itself. Counts are for those who may use it.
    fn own<B>(&self, own: Own, request: &Request<B>) -> Result<Response<Outgoing>, Refusal> {
        let inner = self;
        match own {
            Own::Hello => Ok(json(StatusCode::OK, r#"{"callgate":"gateway"}"#.to_owned())),
            Own::Health => Ok(self.health(StatusCode::OK)),
            Own::Ready => Ok(self.health(StatusCode::SERVICE_UNAVAILABLE)),
            Own::Metrics => {
                let given = access::Given::of(request.headers(), request.extensions());
                access::principal(given, inner.trust, None, &inner.decider)
                    .map_err(Refusal::Access)?;
                let mut response = json(StatusCode::OK, inner.metrics.page(&inner.decider));
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                Ok(response)
            }
        }
    }

    /// Alive as long as it answers; ready as long as calls can pass. A rejected policy file is
    /// told of, and the last good one is in force.
    fn health(&self, while_failing: StatusCode) -> Response<Outgoing> {
        let decider = &self.decider;
        let failing = match decider.audit_health() {
            AuditHealth::Ok => None,
            AuditHealth::Failing { why, .. } => Some(why),
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
        // Why is in the log: whoever asks here may be anybody.
        let body = serde_json::json!({
            "status": word,
            "records": if failing.is_some() { "failing" } else { "ok" },
            "policies": match (decider.judges(), &policy) {
                (false, _) => "none",
                (true, None) => "current",
                (true, Some(_)) => "rejected, last good ones in force",
            },
            // Names only: a value may be a secret.
            "restart_needed": self.restart_needed,
        });
        json(status, body.to_string())
    }

    /// Whether the answer goes through the gate.
    pub(crate) fn inspects(&self, treatment: Treatment) -> bool {
        matches!(treatment, Treatment::Inspect(_)) && self.judges()
    }

    /// Whether anything is judged.
    pub(crate) fn judges(&self) -> bool {
        self.settings.mode != Mode::Off && self.decider.judges()
    }
}

/// A path for the log: a client that was set up wrongly may have a key in it. Only segments that are
/// words are shown, and versions.
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
    principal: &Principal,
    provider: &str,
) -> Binding {
    // With a key of our own all clients are one to the provider; they are told apart by who they are.
    let credentials = if principal.swap {
        Vec::new()
    } else {
        let in_query = in_query.iter().map(String::as_bytes);
        headers::credentials(headers).into_iter().chain(in_query).collect()
    };
    restore::binding(&principal.who, provider, &credentials)
}

/// Who asks whom. What a client says of its agent and session is a claim.
fn origin(headers: &HeaderMap, principal: &Principal, way: &Way) -> Origin {
    let (agent, session) = claims(headers);
    Origin::new(OriginFields {
        who: principal.who.clone(),
        agent,
        session,
        provider: Some(way.site.provider.name.clone()),
        model: way.model(),
        ..OriginFields::at(Surface::Response)
    })
}

/// The agent and the session that a client claims to be.
fn claims(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let cut = |text: &str| text.chars().take(MAX_CLAIM).collect::<String>();
    let session = SESSIONS.iter().find_map(|name| text(name));
    let agent = text("x-callgate-agent").or_else(|| agent_of(text(USER_AGENT.as_str())?));
    (agent.map(cut), session.map(cut))
}

/// Nobody's name is longer.
const MAX_CLAIM: usize = 200;

/// Headers in which agents name their session.
const SESSIONS: [&str; 3] = ["x-callgate-session", "x-claude-code-session-id", "session-id"];

/// The agent by its `User-Agent`: the first product, by the name it is known under.
fn agent_of(user_agent: &str) -> Option<&str> {
    let product = user_agent.split(['/', ' ']).next().filter(|product| !product.is_empty())?;
    Some(match product {
        "claude-cli" => "claude-code",
        "codex_cli_rs" | "codex_exec" => "codex",
        "GeminiCLI" => "gemini-cli",
        other => other,
    })
}
