//! One declared server, and the conversations with it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;
use std::time::Instant;

use callgate_call::{Origin, OriginFields, Surface, Who};
use callgate_decide::mcp::{Launch, McpSession};
use callgate_decide::{Context, Decider};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, watch};
use url::Url;

use super::old::Channels;
use super::upstream::Upstream;
use super::{HttpSettings, ServerType, Visitor};
use crate::session::{Memory, Owners, Session};

/// The header by which the older revisions name a conversation.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Refusals on their way to one server at once. A server that asks faster than it takes them is not
/// told of the rest, and waits for its answers.
const MAX_TELLING: usize = 64;

/// A declared server.
pub(super) struct Site {
    pub(super) id: String,
    pub(super) kind: ServerType,
    pub(super) url: Url,
    pub(super) upstream: Upstream,
    pub(super) settings: HttpSettings,
    /// Conversations of the oldest transport.
    pub(super) channels: Channels,
    /// Whoever says something to the server in a client's place holds one of these.
    pub(super) telling: Arc<Semaphore>,
    /// Whether we stop.
    pub(super) ends: watch::Receiver<bool>,
    launch: Launch,
    decider: Decider,
    conversations: Mutex<HashMap<Key, Known>>,
    /// Whose the server's tasks are.
    tasks: Arc<Mutex<Owners>>,
}

/// Whose conversation it is, and which.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    /// Nobody goes on with what another began.
    who: u64,
    which: Which,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Which {
    /// The server's name for it.
    Named(String),
    /// Without a name: by what a client says of itself.
    Claimed(u64),
}

impl Key {
    fn named(visitor: &Visitor, name: &str) -> Self {
        Self { who: principal(visitor), which: Which::Named(name.to_owned()) }
    }

    fn of(visitor: &Visitor, name: Option<&str>) -> Self {
        match name {
            Some(name) => Self::named(visitor, name),
            None => Self { who: principal(visitor), which: Which::Claimed(claims(visitor)) },
        }
    }
}

struct Known {
    conversation: Arc<Conversation>,
    used: Instant,
}

/// What becomes of a conversation under the same name that another request has begun meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    Keep,
    Replace,
}

/// One client and the server, over many requests.
pub(super) struct Conversation {
    pub(super) desk: Arc<McpSession>,
    memory: Arc<Mutex<Memory>>,
    /// Where the server names the conversation, its requests have ids of one count.
    session: Option<Arc<AsyncMutex<Session>>>,
    /// Whoever lists the tools holds this; when that last failed.
    pub(super) listing: AsyncMutex<Option<Instant>>,
}

impl Conversation {
    /// The state that a request of it works on.
    pub(super) fn session(&self) -> Arc<AsyncMutex<Session>> {
        match &self.session {
            Some(session) => Arc::clone(session),
            None => Arc::new(AsyncMutex::new(self.fresh())),
        }
    }

    fn fresh(&self) -> Session {
        Session::of_requests(Arc::clone(&self.desk), Arc::clone(&self.memory))
    }

    /// Why the server may not be spoken to now.
    pub(super) fn refused(&self) -> Option<String> {
        self.desk.admitted().err().map(|denial| self.desk.denial_text(&denial))
    }

    /// Whether requests of it belong together.
    pub(super) fn is_named(&self) -> bool {
        self.session.is_some()
    }
}

impl Site {
    pub(super) fn new(
        (id, kind, url): (String, ServerType, Url),
        upstream: Upstream,
        decider: Decider,
        settings: HttpSettings,
        ends: watch::Receiver<bool>,
    ) -> Self {
        let launch = Launch::origin(&url.origin().ascii_serialization());
        Self {
            id,
            kind,
            url,
            upstream,
            settings,
            channels: Channels::default(),
            ends,
            telling: Arc::new(Semaphore::new(MAX_TELLING)),
            launch,
            decider,
            conversations: Mutex::default(),
            tasks: Arc::default(),
        }
    }

    /// The conversation that a request belongs to. Without a name, all of one client are one: what
    /// they have in common is what they were shown.
    /// One that is somebody else's is not to be gone on with: `None`. The server may not know them
    /// apart, for all come with our token.
    pub(super) fn conversation(
        &self,
        visitor: &Visitor,
        named: Option<&str>,
    ) -> Option<Arc<Conversation>> {
        let key = Key::of(visitor, named);
        let mut all = self.conversations.lock();
        if let Some(known) = all.get_mut(&key) {
            known.used = Instant::now();
            return Some(Arc::clone(&known.conversation));
        }
        if named.is_some() && all.keys().any(|other| other.which == key.which) {
            return None;
        }
        drop(all);
        let conversation = self.begin(visitor, named.is_some());
        Some(match named {
            None => self.remember(key, conversation, Meanwhile::Keep),
            // Whether there is one of this name, the server will say.
            Some(_) => conversation,
        })
    }

    /// The server goes on with a conversation that we did not know, or not any more.
    pub(super) fn continues(
        &self,
        visitor: &Visitor,
        named: &str,
        conversation: &Arc<Conversation>,
    ) {
        let key = Key::named(visitor, named);
        self.remember(key, Arc::clone(conversation), Meanwhile::Keep);
    }

    /// The server has named a conversation that just began.
    pub(super) fn name(&self, visitor: &Visitor, named: &str, begun: Arc<Conversation>) {
        let key = Key::named(visitor, named);
        self.remember(key, begun, Meanwhile::Replace);
    }

    pub(super) fn forget(&self, visitor: &Visitor, named: &str) {
        let key = Key::named(visitor, named);
        self.conversations.lock().remove(&key);
    }

    /// Remembers a conversation, and gives the one that is remembered.
    fn remember(
        &self,
        key: Key,
        conversation: Arc<Conversation>,
        meanwhile: Meanwhile,
    ) -> Arc<Conversation> {
        let mut all = self.conversations.lock();
        if let (Meanwhile::Keep, Some(known)) = (meanwhile, all.get(&key)) {
            return Arc::clone(&known.conversation);
        }
        if all.len() >= self.settings.max_conversations && !all.contains_key(&key) {
            // Whoever begins another one makes room for it with their own, as long as they have any.
            let oldest = all.iter().min_by_key(|(it, known)| (it.who != key.who, known.used));
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|oldest| all.remove(&oldest));
        }
        let known = Known { conversation: Arc::clone(&conversation), used: Instant::now() };
        all.insert(key, known);
        conversation
    }

    /// A conversation that is not remembered.
    pub(super) fn begin(&self, visitor: &Visitor, is_named: bool) -> Arc<Conversation> {
        let desk = self.desk(visitor);
        let memory = Memory::of(principal(visitor), Arc::clone(&self.tasks));
        let mut conversation = Conversation {
            desk,
            memory: Arc::new(Mutex::new(memory)),
            session: None,
            listing: AsyncMutex::default(),
        };
        if is_named {
            conversation.session = Some(Arc::new(AsyncMutex::new(conversation.fresh())));
        }
        Arc::new(conversation)
    }

    /// What decides about a client's calls.
    pub(super) fn desk(&self, visitor: &Visitor) -> Arc<McpSession> {
        let origin = Origin::new(OriginFields {
            who: visitor.who.clone(),
            agent: visitor.agent.clone(),
            session: visitor.session.clone(),
            ..OriginFields::at(Surface::Mcp)
        });
        let context = Context { request: Some(visitor.request.clone()), ..Context::new(origin) };
        Arc::new(self.decider.mcp(&self.id, &self.launch, context))
    }
}

/// Whose key it is.
fn principal(visitor: &Visitor) -> u64 {
    let Who { org, team, user, key } = &visitor.who;
    hash(&(org, team, user, key))
}

/// What a client says of itself.
fn claims(visitor: &Visitor) -> u64 {
    hash(&(&visitor.agent, &visitor.session))
}

fn hash(of: &impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    of.hash(&mut hash);
    hash.finish()
}

/// What goes to the server of a client's head.
pub(super) fn upward(mut headers: HeaderMap) -> HeaderMap {
    // They speak of the client's body, or of the page it stands on: that was looked at here.
    for name in LEFT_OUT {
        headers.remove(name);
    }
    // Some servers take an underscore for a hyphen, and such a header for one that is checked here.
    let is_alike = |name: &&HeaderName| {
        name.as_str().contains('_') && name.as_str().replace('_', "-").starts_with("mcp-")
    };
    let alike: Vec<HeaderName> = headers.keys().filter(is_alike).cloned().collect();
    for name in alike {
        headers.remove(name);
    }
    headers
}

const LEFT_OUT: [&str; 12] = [
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

/// The head of a message of our own, said in a conversation whose other heads are these.
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
