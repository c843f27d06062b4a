//! The decider: the policies in force, the limits, the record.

use std::sync::Arc;

use arc_swap::ArcSwap;
use callgate_audit::{Action, Code, Kind, Record};
use callgate_call::Origin;
use callgate_policy::{DenialText, Direction, Policies, TextGuard, TextHit};
use callgate_store::{
    Health, KeyInfo, KeyRefusal, Receipt, RemovedEntry, RemovedMatches, RemovedQuery, Store,
};
use parking_lot::Mutex;

use crate::advertised::Told;
use crate::clerk::Clerk;
use crate::clock;
use crate::hearing::Hearing;
use crate::in_force::InForce;
use crate::limits::Buckets;
use crate::loading::PolicyState;
use crate::mcp::{Desk, Launch, McpSession, McpSettings};
use crate::record;
use crate::settings::Settings;

/// Judges, counts and records for every door of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Decider(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) in_force: ArcSwap<InForce>,
    pub(crate) state: Mutex<PolicyState>,
    pub(crate) buckets: Mutex<Buckets>,
    pub(crate) audit: Store,
    told: Mutex<Told>,
    /// What concerns MCP servers.
    pub(crate) desk: Desk,
    pub(crate) clerk: Clerk,
}

/// What is known about a response before anything of it has come.
#[derive(Debug, Clone)]
pub struct Context {
    /// Who asked whom.
    pub origin: Origin,
    /// Names the request in every record of it.
    pub request: Option<String>,
    /// What the provider speaks.
    pub dialect: Option<String>,
}

impl Context {
    /// A context of which only the origin is known.
    pub fn new(origin: Origin) -> Self {
        Self { origin, request: None, dialect: None }
    }
}

impl Inner {
    /// What a call that begins now is judged by.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        self.in_force.load_full()
    }

    /// Writes a record for which nobody waits. Should it fail, the store's health tells.
    pub(crate) fn write(&self, record: Record) {
        let receipt = self.audit.append(record);
        // Refused at once: the queue is full.
        if receipt.is_ready()
            && let Err(error) = receipt.wait()
        {
            tracing::error!(%error, "a record is lost");
        }
    }
}

impl Decider {
    /// A decider. Without policies nothing is judged, which is not the same as policies that
    /// allow everything.
    pub fn new(policies: Option<Policies>, audit: Store, settings: Settings) -> Self {
        let policies = policies.map(Arc::new);
        Self(Arc::new(Inner {
            in_force: ArcSwap::from_pointee(InForce { policies, settings, mcp: Arc::default() }),
            state: Mutex::new(PolicyState::Current),
            buckets: Mutex::default(),
            audit,
            told: Mutex::default(),
            desk: Desk::default(),
            clerk: Clerk::default(),
        }))
    }

    /// A hearing for one response, by the policies of this moment; `None` if nothing is judged.
    pub fn hearing(&self, context: Context) -> Option<Hearing> {
        let in_force = self.0.in_force();
        if !in_force.judges() {
            return None;
        }
        if in_force.mcp.restricts_names() {
            // So that all tools are known when the first name comes.
            self.0.ask_to_refresh();
        }
        Some(Hearing::new(Arc::clone(&self.0), in_force, context))
    }

    /// What a call that begins now is judged by, for whoever explains it. A door asks a hearing.
    pub fn in_force(&self) -> Arc<InForce> {
        self.0.in_force()
    }

    pub(crate) fn policies(&self) -> Option<Arc<Policies>> {
        self.0.in_force.load().policies.clone()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// A conversation with an MCP server: by its name in the configuration, and how it was
    /// started or reached.
    pub fn mcp(&self, server: &str, launch: &Launch, context: Context) -> McpSession {
        McpSession::new(Arc::clone(&self.0), server, launch, context)
    }

    /// Puts these settings about MCP servers in force, also for conversations that have begun.
    pub fn set_mcp(&self, settings: McpSettings) {
        let mcp = Arc::new(settings);
        self.0.in_force.rcu(|now| InForce { mcp: Arc::clone(&mcp), ..(**now).clone() });
    }

    /// The settings about MCP servers that are in force.
    pub fn mcp_settings(&self) -> Arc<McpSettings> {
        Arc::clone(&self.0.in_force.load().mcp)
    }

    pub(crate) fn told<T>(&self, ask: impl FnOnce(&mut Told) -> T) -> T {
        ask(&mut self.0.told.lock())
    }

    pub(crate) fn write(&self, record: Record) {
        self.0.write(record);
    }

    /// Whether there is anything to judge by.
    pub fn judges(&self) -> bool {
        self.0.in_force.load().judges()
    }

    /// Records a response that nobody judged.
    pub fn unjudged(&self, context: &Context, why: &str) {
        let mut record = record::begin(Kind::Turn, context, &context.origin);
        record.verdict = Some(record::without_rule(Action::Unjudged, Code::Unjudged, why));
        self.0.write(record);
    }

    /// What the policies of this moment say about what a request says; `None` if nothing.
    pub fn request_guard(&self, origin: &Origin) -> Option<TextGuard> {
        self.0.in_force.load().policies.as_ref()?.text_guard(Direction::Request, origin)
    }

    /// Rules about text found something in a request, each so many times.
    pub fn request_hits(&self, context: &Context, hits: &[(TextHit, usize)]) {
        for (hit, times) in hits {
            let mut record = record::guardrail(context, Direction::Request, hit);
            if *times > 1 {
                record.detail = Some(format!("{times} times"));
            }
            self.0.write(record);
        }
    }

    /// Records that calls which were taken out of a turn could not be put back into a request.
    pub fn not_restored(&self, context: &Context, why: &str) {
        let mut record = record::begin(Kind::ToolCallWarning, context, &context.origin);
        record.detail = Some(format!("not restored: {why}"));
        self.0.write(record);
    }

    /// How denials are worded.
    pub fn denial_text(&self) -> Arc<DenialText> {
        Arc::clone(&self.0.in_force.load().settings.denial)
    }

    /// Whether records can be written.
    pub fn audit_health(&self) -> Health {
        self.0.audit.health()
    }

    /// The gateway key that was presented, if it is active now.
    pub fn find_key(&self, presented: &str) -> Result<KeyInfo, KeyRefusal> {
        self.0.audit.find_key(presented, clock::timestamp())
    }

    /// Whether calls were taken out of responses to this client. Asked for every request, so it
    /// is answered from memory.
    pub fn has_removed(&self, binding: &[u8; 32]) -> bool {
        self.0.audit.has_removed(binding)
    }

    /// What was taken out of turns that have one of these signs or keys. It reads the store, so it is
    /// not for a thread that others wait for.
    pub fn find_removed(&self, binding: &[u8; 32], sought: &RemovedQuery) -> RemovedMatches {
        self.0.audit.find_removed(binding, sought).unwrap_or_else(|error| {
            tracing::error!(%error, "removed calls cannot be read, so none is restored");
            RemovedMatches::default()
        })
    }

    /// Whether anything was taken out of a turn that has one of these signs.
    pub fn contains_removed(&self, binding: &[u8; 32], signs: &[[u8; 32]]) -> bool {
        self.0.audit.contains_removed(binding, signs).unwrap_or_else(|error| {
            tracing::error!(%error, "removed calls cannot be looked up");
            false
        })
    }

    /// Keeps what was taken out of a turn, to be put back into a later request.
    pub fn keep_removed(&self, entry: RemovedEntry) -> Receipt {
        self.0.audit.keep_removed(entry)
    }
}
