//! A declared server and the conversations with it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;
use std::time::Instant;

use callgate_call::{ClientInfo, Origin, OriginFields, Principal, Surface};
use callgate_decide::mcp::{Launch, McpSession};
use callgate_decide::{Decider, RequestContext};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, watch};
use url::Url;

use super::legacy_sse::LegacyStreams;
use super::upstream::ServerClient;
use super::{HttpSettings, ServerType};
use crate::session::{OngoingCalls, RpcSession, TaskOwners};

/// The header with which the older revisions name a conversation.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Maximum number of refusals that are being sent to one server. A server that sends requests
/// faster than it reads refusals does not get the rest, and waits for those answers.
const MAX_REFUSALS_IN_FLIGHT: usize = 64;

/// A declared server.
pub(super) struct Site {
    pub(super) id: String,
    pub(super) kind: ServerType,
    pub(super) url: Url,
    pub(super) upstream: ServerClient,
    pub(super) settings: HttpSettings,
    /// Conversations of the oldest transport.
    pub(super) channels: LegacyStreams,
    /// Limits the messages that are being sent to the server in place of clients.
    pub(super) refusals_in_flight: Arc<Semaphore>,
    /// True once callgate is stopping.
    pub(super) stopping: watch::Receiver<bool>,
    launch: Launch,
    decider: Decider,
    conversations: Mutex<HashMap<ConversationKey, KnownConversation>>,
    /// The owners of the server's tasks.
    tasks: Arc<Mutex<TaskOwners>>,
}

/// Identifies a conversation and its owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ConversationKey {
    /// A hash of the principal. Nobody can continue a conversation of another.
    who: u64,
    name: ConversationName,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ConversationName {
    /// The server's name for it.
    Named(String),
    /// Without a name: a hash of what the client states about itself.
    Claimed(u64),
}

impl ConversationKey {
    fn named(client: &ClientInfo, name: &str) -> Self {
        Self { who: principal(client), name: ConversationName::Named(name.to_owned()) }
    }

    fn of(client: &ClientInfo, name: Option<&str>) -> Self {
        match name {
            Some(name) => Self::named(client, name),
            None => {
                Self { who: principal(client), name: ConversationName::Claimed(claims(client)) }
            }
        }
    }
}

struct KnownConversation {
    conversation: Arc<HttpConversation>,
    used: Instant,
}

/// What to do with a conversation of the same name that another request has started in the
/// meantime.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnConflict {
    Keep,
    Replace,
}

/// A client and a server, over many requests.
pub(super) struct HttpConversation {
    pub(super) mcp_session: McpSession,
    ongoing_calls: Arc<Mutex<OngoingCalls>>,
    /// Shared by all requests, if the server named the conversation: their ids are then unique in
    /// it.
    session: Option<Arc<AsyncMutex<RpcSession>>>,
    /// Locked while tools are being listed. Holds the time of the last failure.
    pub(super) listing: AsyncMutex<Option<Instant>>,
}

impl HttpConversation {
    /// The session state for a request.
    pub(super) fn session(&self) -> Arc<AsyncMutex<RpcSession>> {
        match &self.session {
            Some(session) => Arc::clone(session),
            None => Arc::new(AsyncMutex::new(self.fresh())),
        }
    }

    fn fresh(&self) -> RpcSession {
        RpcSession::of_requests(self.mcp_session.clone(), Arc::clone(&self.ongoing_calls))
    }

    /// Why the server may not be used now, if so.
    pub(super) fn refused(&self) -> Option<String> {
        self.mcp_session.admitted().err().map(|denial| self.mcp_session.denial_text(&denial))
    }

    /// Whether its requests belong together.
    pub(super) fn is_named(&self) -> bool {
        self.session.is_some()
    }
}

impl Site {
    pub(super) fn new(
        (id, kind, url): (String, ServerType, Url),
        upstream: ServerClient,
        decider: Decider,
        settings: HttpSettings,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let launch = Launch::origin(&url.origin().ascii_serialization());
        Self {
            id,
            kind,
            url,
            upstream,
            settings,
            channels: LegacyStreams::default(),
            stopping,
            refusals_in_flight: Arc::new(Semaphore::new(MAX_REFUSALS_IN_FLIGHT)),
            launch,
            decider,
            conversations: Mutex::default(),
            tasks: Arc::default(),
        }
    }

    /// The conversation of a request. All requests of a client without a name belong to one
    /// conversation, because they share what the client was shown. Returns `None` for a
    /// conversation of another principal, which must not be continued: the server may not
    /// distinguish principals, because all requests carry our token.
    pub(super) fn conversation(
        &self,
        client: &ClientInfo,
        named: Option<&str>,
    ) -> Option<Arc<HttpConversation>> {
        let key = ConversationKey::of(client, named);
        let mut all = self.conversations.lock();
        if let Some(known) = all.get_mut(&key) {
            known.used = Instant::now();
            return Some(Arc::clone(&known.conversation));
        }
        if named.is_some() && all.keys().any(|other| other.name == key.name) {
            return None;
        }
        drop(all);
        let conversation = self.begin(client, named.is_some());
        Some(match named {
            None => self.remember(key, conversation, OnConflict::Keep),
            // The server decides whether a conversation of this name exists.
            Some(_) => conversation,
        })
    }

    /// Remembers a conversation that the server continues and that was unknown here.
    pub(super) fn adopt(
        &self,
        client: &ClientInfo,
        named: &str,
        conversation: &Arc<HttpConversation>,
    ) {
        let key = ConversationKey::named(client, named);
        self.remember(key, Arc::clone(conversation), OnConflict::Keep);
    }

    /// Remembers a new conversation under the name that the server gave it.
    pub(super) fn name(
        &self,
        client: &ClientInfo,
        named: &str,
        conversation: Arc<HttpConversation>,
    ) {
        let key = ConversationKey::named(client, named);
        self.remember(key, conversation, OnConflict::Replace);
    }

    pub(super) fn forget(&self, client: &ClientInfo, named: &str) {
        let key = ConversationKey::named(client, named);
        self.conversations.lock().remove(&key);
    }

    /// Remembers a conversation, and returns the remembered one.
    fn remember(
        &self,
        key: ConversationKey,
        conversation: Arc<HttpConversation>,
        meanwhile: OnConflict,
    ) -> Arc<HttpConversation> {
        let mut all = self.conversations.lock();
        if let (OnConflict::Keep, Some(known)) = (meanwhile, all.get(&key)) {
            return Arc::clone(&known.conversation);
        }
        if all.len() >= self.settings.max_conversations && !all.contains_key(&key) {
            // A principal who starts one too many loses its own oldest one, as long as it has any.
            let oldest = all.iter().min_by_key(|(it, known)| (it.who != key.who, known.used));
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|oldest| all.remove(&oldest));
        }
        let known =
            KnownConversation { conversation: Arc::clone(&conversation), used: Instant::now() };
        all.insert(key, known);
        conversation
    }

    /// A conversation that is not remembered.
    pub(super) fn begin(&self, client: &ClientInfo, is_named: bool) -> Arc<HttpConversation> {
        let mcp_session = self.mcp_session(client);
        let ongoing_calls = OngoingCalls::of(principal(client), Arc::clone(&self.tasks));
        let mut conversation = HttpConversation {
            mcp_session,
            ongoing_calls: Arc::new(Mutex::new(ongoing_calls)),
            session: None,
            listing: AsyncMutex::default(),
        };
        if is_named {
            conversation.session = Some(Arc::new(AsyncMutex::new(conversation.fresh())));
        }
        Arc::new(conversation)
    }

    /// The decider for a client's calls.
    pub(super) fn mcp_session(&self, client: &ClientInfo) -> McpSession {
        let origin = Origin::new(OriginFields {
            who: client.who.clone(),
            agent: client.agent.clone(),
            session: client.session.clone(),
            ..OriginFields::at(Surface::Mcp)
        });
        let context = RequestContext {
            request: Some(client.request.as_str().into()),
            ..RequestContext::new(origin)
        };
        self.decider.mcp(&self.id, &self.launch, context)
    }
}

/// A hash of the principal.
fn principal(client: &ClientInfo) -> u64 {
    let Principal { org, team, user, key } = &client.who;
    hash(&(org, team, user, key))
}

/// A hash of what a client states about itself.
fn claims(client: &ClientInfo) -> u64 {
    hash(&(&client.agent, &client.session))
}

fn hash(of: &impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    of.hash(&mut hash);
    hash.finish()
}

/// The client's headers to forward to the server.
pub(super) fn forwarded_headers(mut headers: HeaderMap) -> HeaderMap {
    // They describe the client's body, or the web page it runs in: both were checked here.
    for name in NOT_FORWARDED {
        headers.remove(name);
    }
    // Some servers treat an underscore as a hyphen, so such a header could pass for one that is
    // checked here.
    let is_alike = |name: &&HeaderName| {
        name.as_str().contains('_') && name.as_str().replace('_', "-").starts_with("mcp-")
    };
    let alike: Vec<HeaderName> = headers.keys().filter(is_alike).cloned().collect();
    for name in alike {
        headers.remove(name);
    }
    headers
}

const NOT_FORWARDED: [&str; 12] = [
    "origin",
    "referer",
    "cookie",
    "forwarded",
    "content-length",
    "content-encoding",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-dest",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// The headers of our own message, in a conversation whose other messages have these headers.
pub(super) fn own(headers: &HeaderMap) -> HeaderMap {
    let mut own = HeaderMap::new();
    for (name, value) in headers {
        let is_of_body = name.as_str().starts_with("mcp-param-")
            || matches!(name.as_str(), "mcp-method" | "mcp-name" | "last-event-id");
        if !is_of_body {
            own.append(name.clone(), value.clone());
        }
    }
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    own.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    own
}
