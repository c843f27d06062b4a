//! The decider: the policies in force, the limits, the record.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use callgate_audit::{
    Action, Audit, FoundRemoved, Health, KeyInfo, KeyRefusal, Kind, Receipt, Record, RemovedEntry,
    SoughtRemoved,
};
use callgate_call::Origin;
use callgate_policy::{DenialText, Direction, Policies, TextGuard, TextHit};
use parking_lot::Mutex;

use crate::advertised::Told;
use crate::clerk::Clerk;
use crate::clock;
use crate::hearing::Hearing;
use crate::limits::Buckets;
use crate::mcp::{Desk, Launch, McpSession, McpSettings};
use crate::record;
use crate::settings::Settings;

/// Judges, counts and records for every door of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Decider(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    /// `None`: nothing is judged.
    policies: ArcSwapOption<Policies>,
    state: Mutex<PolicyState>,
    pub(crate) buckets: Mutex<Buckets>,
    pub(crate) audit: Audit,
    pub(crate) settings: Settings,
    told: Mutex<Told>,
    /// What concerns MCP servers.
    pub(crate) desk: Desk,
    pub(crate) clerk: Clerk,
}

/// Whether the policies in force are those that were last written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyState {
    /// They are.
    Current,
    /// A later version was rejected; the last good one is in force.
    Rejected {
        /// What was wrong with it.
        why: String,
    },
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
    pub(crate) fn policies(&self) -> Option<Arc<Policies>> {
        self.policies.load_full()
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
    pub fn new(policies: Option<Policies>, audit: Audit, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            policies: ArcSwapOption::from_pointee(policies),
            state: Mutex::new(PolicyState::Current),
            buckets: Mutex::default(),
            audit,
            settings,
            told: Mutex::default(),
            desk: Desk::default(),
            clerk: Clerk::default(),
        }))
    }

    /// A hearing for one response, by the policies of this moment; `None` if there are none.
    pub fn hearing(&self, context: Context) -> Option<Hearing> {
        let restricts = self.0.desk.settings.load().restricts_names();
        let policies = match self.0.policies() {
            Some(policies) => policies,
            // What is said about MCP servers holds without rules too.
            None if restricts => Arc::default(),
            None => return None,
        };
        if restricts {
            // So that all tools are known when the first name comes.
            self.0.ask_to_refresh();
        }
        Some(Hearing::new(Arc::clone(&self.0), policies, context))
    }

    pub(crate) fn policies(&self) -> Option<Arc<Policies>> {
        self.0.policies()
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
        self.0.desk.settings.store(Arc::new(settings));
    }

    /// The settings about MCP servers that are in force.
    pub fn mcp_settings(&self) -> Arc<McpSettings> {
        self.0.desk.settings.load_full()
    }

    pub(crate) fn told<T>(&self, ask: impl FnOnce(&mut Told) -> T) -> T {
        ask(&mut self.0.told.lock())
    }

    pub(crate) fn write(&self, record: Record) {
        self.0.write(record);
    }

    /// Whether there is anything to judge by.
    pub fn judges(&self) -> bool {
        self.0.policies.load().is_some() || self.0.desk.settings.load().restricts_names()
    }

    /// Records a response that nobody judged.
    pub fn unjudged(&self, context: &Context, why: &str) {
        let mut record = record::begin(Kind::Turn, context, &context.origin);
        record.verdict = Some(record::without_rule(Action::Unjudged, why));
        self.0.write(record);
    }

    /// What the policies of this moment say about what a request says; `None` if nothing.
    pub fn request_guard(&self) -> Option<TextGuard> {
        self.0.policies.load().as_ref()?.text_guard(Direction::Request)
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

    /// Records which policies are in force at the start.
    pub fn loaded(&self, detail: &str) {
        self.tell(Kind::PolicyLoaded, detail);
    }

    /// Records that calls which were taken out of a turn could not be put back into a request.
    pub fn not_restored(&self, context: &Context, why: &str) {
        let mut record = record::begin(Kind::ToolCallWarning, context, &context.origin);
        record.detail = Some(format!("not restored: {why}"));
        self.0.write(record);
    }

    /// Puts other policies in force, for hearings that begin from now on.
    pub fn swap(&self, policies: Option<Policies>, detail: &str) {
        self.0.policies.store(policies.map(Arc::new));
        *self.0.state.lock() = PolicyState::Current;
        self.loaded(detail);
    }

    /// Other policies were to be put in force, and are not fit for it.
    pub fn reject(&self, why: &str) {
        *self.0.state.lock() = PolicyState::Rejected { why: why.to_owned() };
        self.tell(Kind::PolicyRejected, why);
    }

    /// Records an event that belongs to no response.
    fn tell(&self, kind: Kind, detail: &str) {
        let mut record = Record::new(kind);
        record.detail = Some(detail.to_owned());
        self.0.write(record);
    }

    /// Whether the policies in force are those that were last written.
    pub fn policy_state(&self) -> PolicyState {
        self.0.state.lock().clone()
    }

    /// How denials are worded.
    pub fn denial_text(&self) -> Arc<DenialText> {
        Arc::clone(&self.0.settings.denial)
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
    pub fn find_removed(&self, binding: &[u8; 32], sought: &SoughtRemoved) -> FoundRemoved {
        self.0.audit.find_removed(binding, sought).unwrap_or_else(|error| {
            tracing::error!(%error, "removed calls cannot be read, so none is restored");
            FoundRemoved::default()
        })
    }

    /// Whether anything was taken out of a turn that has one of these signs.
    pub fn knows_removed(&self, binding: &[u8; 32], signs: &[[u8; 32]]) -> bool {
        self.0.audit.knows_removed(binding, signs).unwrap_or_else(|error| {
            tracing::error!(%error, "removed calls cannot be looked up");
            false
        })
    }

    /// Keeps what was taken out of a turn, to be put back into a later request.
    pub fn keep_removed(&self, entry: RemovedEntry) -> Receipt {
        self.0.audit.keep_removed(entry)
    }
}
