//! A session between a client and a server.

use std::sync::Arc;

use callgate_audit::{CallOutcome, McpFacts, ReasonCode};
use callgate_call::{Origin, OriginFields, Surface};
use callgate_policy::{Denial, Policies};
use callgate_registry::Launch;
use callgate_scan::inspect::{Finding, FindingClass, Severity, similar};
use callgate_store::Glance;
use parking_lot::{Mutex, MutexGuard};

use super::admission;
use super::budget::RecordBudgets;
use super::list::SessionLists;
use super::settings::McpSettings;
use super::state::RegistryCache;
use crate::checks::CheckFailures;
use crate::decider::{DeciderState, RequestContext};
use crate::new_record;

/// A session between a client and an MCP server. Its calls and texts are judged by the policies and
/// settings at the time of each. This is a handle: clones share the session.
#[derive(Debug, Clone)]
pub struct McpSession(Arc<McpSessionState>);

/// The state that all handles of a session share.
#[derive(Debug)]
pub struct McpSessionState {
    pub(crate) inner: Arc<DeciderState>,
    pub(crate) server: String,
    pub(crate) launch: Launch,
    pub(crate) context: RequestContext,
    /// Who chose the session name in the context.
    named_by: NamedBy,
    /// The last decision about whether the server may be used.
    admission: Mutex<Option<Admission>>,
    pub(crate) listing: Mutex<SessionLists>,
    /// How many more records of each kind the session may cause.
    pub(crate) budgets: RecordBudgets,
}

/// Whether a server may be used, with these settings.
#[derive(Debug)]
struct Admission {
    settings: Arc<McpSettings>,
    admitted: Result<(), Box<Denial>>,
}

/// Who chose the name of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedBy {
    Agent,
    Door,
}

impl std::ops::Deref for McpSession {
    type Target = McpSessionState;

    fn deref(&self) -> &McpSessionState {
        &self.0
    }
}

impl McpSessionState {
    pub(crate) fn settings(&self) -> Arc<McpSettings> {
        Arc::clone(&self.inner.in_force().mcp)
    }

    /// Facts about the server for records.
    pub(crate) fn facts(&self, settings: &McpSettings) -> McpFacts {
        let entry = settings.server(&self.server);
        McpFacts {
            server_type: entry.map(|entry| entry.kind.as_str().to_owned()),
            address: Some(
                entry.map_or_else(|| self.launch.shown().to_owned(), |entry| entry.address.clone()),
            ),
            ..McpFacts::default()
        }
    }
}

impl McpSession {
    pub(crate) fn new(
        inner: Arc<DeciderState>,
        server: &str,
        launch: &Launch,
        context: RequestContext,
    ) -> Self {
        let facts = OriginFields { surface: Surface::Mcp, ..(*context.origin).clone() };
        Self(Arc::new(McpSessionState {
            inner,
            server: server.to_owned(),
            launch: launch.clone(),
            context: RequestContext { origin: Origin::new(facts), ..context },
            named_by: NamedBy::Agent,
            admission: Mutex::default(),
            listing: Mutex::default(),
            budgets: RecordBudgets::default(),
        }))
    }

    /// Marks the session name as chosen by the door, because the agent did not send one. It groups
    /// the calls of one agent, but model calls are not recorded under it.
    pub fn named_by_door(mut self) -> Self {
        // No clone exists yet.
        if let Some(state) = Arc::get_mut(&mut self.0) {
            state.named_by = NamedBy::Door;
        }
        self
    }

    /// The session name under which a model call may have been recorded.
    pub(crate) fn agent_session<'a>(&'a self, call: Option<&'a str>) -> Option<&'a str> {
        let own = || match self.named_by {
            NamedBy::Agent => self.context.origin.session.as_deref(),
            NamedBy::Door => None,
        };
        call.or_else(own)
    }

    /// The server, by its name in the configuration.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The largest arguments that are judged.
    pub fn max_arguments(&self) -> usize {
        self.inner.in_force().settings.max_arguments
    }

    /// The text of a denial, for the model.
    pub fn denial_text(&self, denial: &Denial) -> String {
        self.inner.in_force().settings.denial.notice(denial)
    }

    /// Like [`Self::denial_text`], for a withheld result: the call itself did run.
    pub fn withheld_text(&self, denial: &Denial) -> String {
        self.inner.in_force().settings.denial.withheld(denial)
    }

    /// Whether the server may be used, with the current settings. Checked and recorded once per
    /// settings.
    pub fn admitted(&self) -> Result<(), Box<Denial>> {
        let settings = self.settings();
        let mut last = self.admission.lock();
        match &*last {
            Some(it) if Arc::ptr_eq(&it.settings, &settings) => it.admitted.clone(),
            _ => {
                let admitted = self.check_lists(&settings);
                *last = Some(Admission { settings, admitted: admitted.clone() });
                admitted
            }
        }
    }

    fn check_lists(&self, settings: &McpSettings) -> Result<(), Box<Denial>> {
        let mut failures = CheckFailures::default();
        failures.add(admission::server(settings, &self.server));
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        self.record_look_alike(settings);
        match failures.coded_denial(&self.server, None) {
            None => Ok(()),
            Some(refused) => {
                let record = Some(self.record_refused_server(&refused));
                Err(Box::new(Denial { record, ..refused.denial }))
            }
        }
    }

    /// The registry cache, after a refresh from the store.
    pub(crate) fn fresh_cache(&self) -> MutexGuard<'_, RegistryCache> {
        self.cache_at(self.inner.audit.glance())
    }

    /// The registry cache, refreshed to this snapshot of the store.
    pub(crate) fn cache_at(&self, glance: Glance<'_>) -> MutexGuard<'_, RegistryCache> {
        self.inner.refresh_cache_at(glance);
        self.inner.mcp_state.cache.lock()
    }

    /// The registry cache without a refresh, for the steps after the first.
    pub(crate) fn cache(&self) -> MutexGuard<'_, RegistryCache> {
        self.inner.mcp_state.cache.lock()
    }

    pub(crate) fn policies(&self) -> Arc<Policies> {
        self.inner.in_force().rules()
    }

    /// The origin of a call, which may name its own session.
    pub(crate) fn origin(&self, session: Option<&str>) -> Origin {
        let own = &self.context.origin;
        match session {
            Some(session) if own.session.as_deref() != Some(session) => {
                Origin::new(OriginFields { session: Some(session.to_owned()), ..(**own).clone() })
            }
            _ => own.clone(),
        }
    }

    /// Records an undeclared server whose name is easily mistaken for that of another.
    fn record_look_alike(&self, settings: &McpSettings) {
        if settings.server(&self.server).is_some() {
            return;
        }
        let mut cache = self.fresh_cache();
        let declared = settings.servers.iter().map(|entry| entry.id.as_str());
        let alike = |other: &&str| similar(&self.server, other).is_some();
        let other = declared.chain(cache.registry.servers()).find(alike).map(str::to_owned);
        let Some(other) = other else { return };
        let detail =
            format!("the name of the server `{}` is easily confused with `{other}`", self.server);
        let (class, severity) = (FindingClass::LookAlike, Severity::Medium);
        if cache.recently_recorded.is_new_of(&("look-alike", &detail)) {
            let finding = Finding { class, severity, detail, span: 0..0, path: String::new() };
            let origin = &self.context.origin;
            let mut record = self.found(settings, origin, "", "server", &[finding]);
            record.verdict = Some(new_record::without_rule(
                CallOutcome::Audit,
                ReasonCode::Finding,
                "something was found",
            ));
            self.inner.write(record);
        }
    }
}
