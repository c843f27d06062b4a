//! The decider: the policies in force, the limits and the record.

use std::sync::Arc;

use arc_swap::ArcSwap;
use callgate_audit::{CallOutcome, ReasonCode, Record, RecordKind};
use callgate_call::Origin;
use callgate_policy::{DenialText, Direction, Policies, TextGuard, TextHit};
use callgate_store::{
    KeyInfo, KeyRefusal, Receipt, RemovedEntry, RemovedMatches, RemovedQuery, Store, WriteHealth,
};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::clock;
use crate::in_force::InForce;
use crate::limits::Buckets;
use crate::loading::PolicyState;
use crate::mcp::{Launch, McpSession, McpSettings, McpState};
use crate::new_record;
use crate::observer::{ObservedDecisions, Observer};
use crate::offer::RecentlyRecorded;
use crate::pipeline::durable;
use crate::response_decider::ResponseDecider;
use crate::session_steps::KeyedStep;
use crate::settings::Settings;
use crate::store_query::{PinRefresh, StoreUnavailable};
use crate::storing::Storing;

/// Judges, counts and records for every door of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Decider(Arc<DeciderState>);

#[derive(Debug)]
pub(crate) struct DeciderState {
    pub(crate) in_force: ArcSwap<InForce>,
    pub(crate) state: Mutex<PolicyState>,
    pub(crate) buckets: Mutex<Buckets>,
    pub(crate) audit: Store,
    recently_recorded: Mutex<RecentlyRecorded>,
    /// State about MCP servers.
    pub(crate) mcp_state: McpState,
    pub(crate) pin_refresh: PinRefresh,
    pub(crate) observer: Observer,
}

/// What is known about a response before its first byte.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Who sent the request, and to whom.
    pub origin: Origin,
    /// The id of the request, which all its records carry.
    pub request: Option<Arc<str>>,
    /// The API of the provider.
    pub dialect: Option<&'static str>,
}

impl RequestContext {
    /// A context with only the origin.
    pub fn new(origin: Origin) -> Self {
        Self { origin, request: None, dialect: None }
    }
}

impl DeciderState {
    /// The policies and settings for a call that begins now.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        self.in_force.load_full()
    }

    /// Writes a record without waiting for it. A failure shows in the store's health.
    pub(crate) fn write(&self, record: Record) {
        self.observer.see(&record);
        if let Err(error) = self.audit.append_soon(record) {
            tracing::error!(%error, "a record was lost");
        }
    }
}

impl DeciderState {
    /// Writes the record of a denial, then what later calls may ask about it. The record is written
    /// even if the steps cannot be stored. The denial waits for neither; the next call has its turn
    /// when the steps are stored, or will not be.
    pub(crate) fn write_denial(
        &self,
        record: Record,
        steps: Vec<KeyedStep>,
        turn: Option<oneshot::Sender<()>>,
    ) {
        self.write(record);
        if steps.is_empty() {
            return;
        }
        let store = |(session, step)| self.audit.add_flow(&session, step);
        let receipts: Vec<Receipt> = steps.into_iter().map(store).collect();
        let timeout = self.in_force().settings.record_timeout;
        let stored = async move {
            for receipt in receipts {
                if let Err(why) = durable(receipt, timeout).await {
                    tracing::error!(why, "what a denied call did is not known to later calls");
                }
            }
            drop(turn);
        };
        // Without a runtime there is no door, and nobody reads a log.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(stored);
        }
    }
}

impl Decider {
    /// Creates a decider. `None` for the policies means that nothing is judged, which is not the
    /// same as policies that allow everything.
    pub fn new(policies: Option<Policies>, audit: Store, settings: Settings) -> Self {
        let policies = policies.map(Arc::new);
        Self(Arc::new(DeciderState {
            in_force: ArcSwap::from_pointee(InForce { policies, settings, mcp: Arc::default() }),
            state: Mutex::new(PolicyState::Current),
            buckets: Mutex::default(),
            audit,
            recently_recorded: Mutex::default(),
            mcp_state: McpState::default(),
            pin_refresh: PinRefresh::default(),
            observer: Observer::default(),
        }))
    }

    /// Shows these decisions to `observe`, with their records: calls that pass without their input.
    /// It is called on threads that carry streams, so it must not wait. Only the first observer
    /// counts.
    pub fn observe(
        &self,
        decisions: ObservedDecisions,
        observe: impl Fn(&Record) + Send + Sync + 'static,
    ) {
        self.0.observer.set(decisions, observe);
    }

    /// A decider for one response, with the policies in force now; `None` if nothing is judged.
    pub fn response_decider(&self, context: RequestContext) -> Option<ResponseDecider> {
        let in_force = self.0.in_force();
        if !in_force.judges() {
            return None;
        }
        if in_force.mcp.restricts_names() {
            // Then all tools are known when the first name arrives.
            self.0.request_refresh();
        }
        Some(ResponseDecider::new(Arc::clone(&self.0), in_force, context))
    }

    /// The policies and settings for a call that begins now, for explanations. Doors use a
    /// [`ResponseDecider`].
    pub fn in_force(&self) -> Arc<InForce> {
        self.0.in_force()
    }

    pub(crate) fn policies(&self) -> Option<Arc<Policies>> {
        self.0.in_force.load().policies.clone()
    }

    pub(crate) fn inner(&self) -> &Arc<DeciderState> {
        &self.0
    }

    /// A session with an MCP server, given its name in the configuration and how it was started or
    /// reached.
    pub fn mcp(&self, server: &str, launch: &Launch, context: RequestContext) -> McpSession {
        McpSession::new(Arc::clone(&self.0), server, launch, context)
    }

    /// Replaces the settings about MCP servers, also for sessions that have begun.
    pub fn set_mcp(&self, settings: McpSettings) {
        let mcp = Arc::new(settings);
        self.0.in_force.rcu(|now| InForce { mcp: Arc::clone(&mcp), ..(**now).clone() });
    }

    /// The current settings about MCP servers.
    pub fn mcp_settings(&self) -> Arc<McpSettings> {
        Arc::clone(&self.0.in_force.load().mcp)
    }

    pub(crate) fn recently_recorded<T>(&self, ask: impl FnOnce(&mut RecentlyRecorded) -> T) -> T {
        ask(&mut self.0.recently_recorded.lock())
    }

    pub(crate) fn write(&self, record: Record) {
        self.0.write(record);
    }

    /// Whether there are policies or settings to judge by.
    pub fn judges(&self) -> bool {
        self.0.in_force.load().judges()
    }

    /// Whether a call in a response could be denied by what is in force now.
    pub fn may_deny(&self) -> bool {
        let in_force = self.0.in_force.load();
        let rules = in_force.policies.as_ref();
        in_force.mcp.restricts_names()
            || rules.is_some_and(|rules| rules.may_deny(callgate_call::Surface::Response))
    }

    /// Records a response that was not judged.
    pub fn record_unjudged(&self, context: &RequestContext, why: &str) {
        let mut record = new_record::begin(RecordKind::Turn, context, &context.origin);
        record.verdict =
            Some(new_record::without_rule(CallOutcome::Unjudged, ReasonCode::Unjudged, why));
        self.0.write(record);
    }

    /// Whether a rule asks about the conversation before a call.
    pub fn looks_at_conversation(&self) -> bool {
        let in_force = self.0.in_force.load();
        in_force.policies.as_ref().is_some_and(|policies| policies.looks_at_conversation())
    }

    /// The text rules that currently apply to requests, if any.
    pub fn request_guard(&self, origin: &Origin) -> Option<TextGuard> {
        self.0.in_force.load().policies.as_ref()?.text_guard(Direction::Request, origin)
    }

    /// Records the matches of text rules in a request, each with how often it matched.
    pub fn record_request_hits(&self, context: &RequestContext, hits: &[(TextHit, usize)]) {
        for (hit, times) in hits {
            let mut record = new_record::guardrail(context, Direction::Request, hit);
            if *times > 1 {
                record.detail = Some(format!("{times} times"));
            }
            self.0.write(record);
        }
    }

    /// Records that calls that were removed from a response could not be put back into a request.
    pub fn record_not_restored(&self, context: &RequestContext, why: &str) {
        let mut record = new_record::begin(RecordKind::ToolCallWarning, context, &context.origin);
        record.detail = Some(format!("not restored: {why}"));
        self.0.write(record);
    }

    /// The wording of denials.
    pub fn denial_text(&self) -> Arc<DenialText> {
        Arc::clone(&self.0.in_force.load().settings.denial)
    }

    /// Whether records can be written.
    pub fn audit_health(&self) -> WriteHealth {
        self.0.audit.health()
    }

    /// The gateway key that was presented, if it is active now.
    pub fn find_key(&self, presented: &str) -> Result<KeyInfo, KeyRefusal> {
        self.0.audit.find_key(presented, clock::timestamp())
    }

    /// Whether calls were removed from responses to this client. Runs for every request, so it only
    /// looks in memory.
    pub fn has_removed(&self, binding: &[u8; 32]) -> bool {
        self.0.audit.has_removed(binding)
    }

    /// The calls that were removed from turns with one of these fingerprints or keys. It reads the
    /// store, so do not call it on a thread that carries streams. If the store cannot be read, the
    /// reason is logged.
    pub fn find_removed(
        &self,
        binding: &[u8; 32],
        sought: &RemovedQuery,
    ) -> Result<RemovedMatches, StoreUnavailable> {
        self.0.audit.find_removed(binding, sought).map_err(|error| {
            tracing::error!(%error, "removed calls cannot be read, so none are restored");
            StoreUnavailable
        })
    }

    /// Whether a call was removed from a turn with one of these fingerprints. If the store cannot be
    /// read, the reason is logged.
    pub fn contains_removed(
        &self,
        binding: &[u8; 32],
        signs: &[[u8; 32]],
    ) -> Result<bool, StoreUnavailable> {
        self.0.audit.contains_removed(binding, signs).map_err(|error| {
            tracing::error!(%error, "removed calls cannot be looked up");
            StoreUnavailable
        })
    }

    /// Stores a turn with removed calls, so that they can be put back into a later request.
    pub fn keep_removed(&self, entry: RemovedEntry) -> Storing {
        let timeout = self.0.in_force.load().settings.record_timeout;
        Storing::new(self.0.audit.keep_removed(entry), timeout)
    }
}
