//! One conversation between a client and a server.

use std::sync::Arc;

use callgate_audit::{Action, Code, McpFacts};
use callgate_call::{Origin, OriginFields, Surface};
use callgate_policy::{Denial, Policies};
use callgate_registry::Launch;
use callgate_scan::inspect::{Class, Finding, Severity, similar};
use callgate_store::Glance;
use parking_lot::{Mutex, MutexGuard};

use super::admission;
use super::budget::Budgets;
use super::check::Objections;
use super::desk::Books;
use super::list::Listing;
use super::settings::McpSettings;
use crate::decider::{Context, Inner};
use crate::record;

/// One conversation between a client and an MCP server. Its calls and texts are judged by the
/// policies and settings of the moment. A handle: clones share the conversation.
#[derive(Debug, Clone)]
pub struct McpSession(Arc<Conversation>);

/// What the handles of a conversation share.
#[derive(Debug)]
pub struct Conversation {
    pub(crate) inner: Arc<Inner>,
    pub(crate) server: String,
    pub(crate) launch: Launch,
    pub(crate) context: Context,
    /// Whether the session of the context is the agent's own name for it.
    named: Named,
    /// The last answer to whether the server may be spoken to.
    admission: Mutex<Option<Admission>>,
    pub(crate) listing: Mutex<Listing>,
    /// How many records of each sort it may still cause.
    pub(crate) budgets: Budgets,
}

/// Whether a server may be spoken to, by these settings.
#[derive(Debug)]
struct Admission {
    settings: Arc<McpSettings>,
    admitted: Result<(), Box<Denial>>,
}

/// Who named the session of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    ByAgent,
    ByDoor,
}

impl std::ops::Deref for McpSession {
    type Target = Conversation;

    fn deref(&self) -> &Conversation {
        &self.0
    }
}

impl McpSession {
    pub(crate) fn new(inner: Arc<Inner>, server: &str, launch: &Launch, context: Context) -> Self {
        let facts = OriginFields { surface: Surface::Mcp, ..(*context.origin).clone() };
        Self(Arc::new(Conversation {
            inner,
            server: server.to_owned(),
            launch: launch.clone(),
            context: Context { origin: Origin::new(facts), ..context },
            named: Named::ByAgent,
            admission: Mutex::default(),
            listing: Mutex::default(),
            budgets: Budgets::default(),
        }))
    }

    /// The same, where the agent did not name its session and the door has made up a name: calls of
    /// one agent stand together under it, but no model's call was seen in it.
    pub fn named_by_door(mut self) -> Self {
        // Nobody else has it yet.
        if let Some(conversation) = Arc::get_mut(&mut self.0) {
            conversation.named = Named::ByDoor;
        }
        self
    }

    /// The session under which a model's call may have been seen.
    pub(crate) fn told<'a>(&'a self, call: Option<&'a str>) -> Option<&'a str> {
        let own = || match self.named {
            Named::ByAgent => self.context.origin.session.as_deref(),
            Named::ByDoor => None,
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

    /// A denial, as the model reads it.
    pub fn denial_text(&self, denial: &Denial) -> String {
        self.inner.in_force().settings.denial.notice(denial)
    }

    /// The same about what a server sent back: what was called did run.
    pub fn withheld_text(&self, denial: &Denial) -> String {
        self.inner.in_force().settings.denial.withheld(denial)
    }

    /// Whether the server may be spoken to at all, by the settings of the moment. It is looked at and
    /// recorded once for each settings, however often it is asked.
    pub fn admitted(&self) -> Result<(), Box<Denial>> {
        let settings = self.settings();
        let mut last = self.admission.lock();
        match &*last {
            Some(it) if Arc::ptr_eq(&it.settings, &settings) => it.admitted.clone(),
            _ => {
                let admitted = self.ask_lists(&settings);
                *last = Some(Admission { settings, admitted: admitted.clone() });
                admitted
            }
        }
    }

    fn ask_lists(&self, settings: &McpSettings) -> Result<(), Box<Denial>> {
        let mut objections = Objections::default();
        objections.add(admission::server(settings, &self.server));
        if !settings.enforce {
            objections.soften();
        }
        self.tell_look_alike(settings);
        match objections.denial(&self.server, None) {
            None => Ok(()),
            Some(mut denial) => {
                denial.record = self.tell_refused(&denial);
                Err(Box::new(denial))
            }
        }
    }

    /// What is known of servers, as the store has it by now.
    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.books_at(self.inner.audit.glance())
    }

    /// The same as the store was at this glance.
    pub(crate) fn books_at(&self, glance: Glance<'_>) -> MutexGuard<'_, Books> {
        self.inner.refresh_books_at(glance);
        self.inner.desk.books.lock()
    }

    /// The same as it was a moment ago: for the many steps of one list.
    pub(crate) fn known_books(&self) -> MutexGuard<'_, Books> {
        self.inner.desk.books.lock()
    }

    pub(crate) fn settings(&self) -> Arc<McpSettings> {
        Arc::clone(&self.inner.in_force().mcp)
    }

    pub(crate) fn policies(&self) -> Arc<Policies> {
        self.inner.in_force().rules()
    }

    /// The origin of a call that may name its own session.
    pub(crate) fn origin(&self, session: Option<&str>) -> Origin {
        let own = &self.context.origin;
        match session {
            Some(named) if own.session.as_deref() != Some(named) => {
                Origin::new(OriginFields { session: Some(named.to_owned()), ..(**own).clone() })
            }
            _ => own.clone(),
        }
    }

    /// What records say of the server.
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

    /// Tells of a server that nobody declared and that is easily taken for another one.
    fn tell_look_alike(&self, settings: &McpSettings) {
        if settings.server(&self.server).is_some() {
            return;
        }
        let mut books = self.books();
        let declared = settings.servers.iter().map(|entry| entry.id.as_str());
        let alike = |other: &&str| similar(&self.server, other).is_some();
        let other = declared.chain(books.registry.servers()).find(alike).map(str::to_owned);
        let Some(other) = other else { return };
        let detail = format!("the server `{}` is easily taken for `{other}`", self.server);
        let (class, severity) = (Class::LookAlike, Severity::Medium);
        if books.told.is_new_of(&("look-alike", &detail)) {
            let finding = Finding { class, severity, detail, span: 0..0, path: String::new() };
            let origin = &self.context.origin;
            let mut record = self.found(settings, origin, "", "server", &[finding]);
            record.verdict =
                Some(record::without_rule(Action::Audit, Code::Finding, "something was found"));
            self.inner.write(record);
        }
    }
}
