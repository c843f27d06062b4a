//! Helpers that set up a server and make calls.

use callgate_audit::{Filter, Record, RecordOrder};
use callgate_call::{Arguments, Origin, OriginFields, Principal, Surface};
use callgate_effects::Catalogue;
use callgate_policy::{Policies, Source};
use callgate_store::{Durability, Location, Retention, Store};

use super::super::*;
use crate::{Decider, Denial, RequestContext, Settings};

pub(super) struct World {
    pub(super) decider: Decider,
    pub(super) audit: Store,
}

pub(super) const ECHO: &str = r#"{"name":"echo","description":"Says it again."}"#;

pub(super) fn audit() -> Store {
    let (durability, retention) = (Durability::Process, Retention::default());
    let store = Location::Memory;
    Store::open(&callgate_store::Settings {
        durability,
        retention,
        ..callgate_store::Settings::at(store)
    })
    .unwrap()
}

pub(super) fn policies(rules: &str) -> Policies {
    let text = format!("policy: p\nrules:\n{rules}");
    let source = Source { name: "p.yaml".into(), text };
    Policies::compile(&[source], &Catalogue::builtin()).unwrap().0
}

impl World {
    pub(super) fn new(settings: McpSettings) -> Self {
        Self::with_rules(settings, "  []\n")
    }

    pub(super) fn with_rules(settings: McpSettings, rules: &str) -> Self {
        Self::at(audit(), settings, rules)
    }

    /// A process that waits for its store only briefly.
    pub(super) fn impatient(settings: McpSettings) -> Self {
        let audit = audit();
        let own = Settings {
            record_timeout: std::time::Duration::from_millis(500),
            ..Settings::default()
        };
        let decider = Decider::new(Some(policies("  []\n")), audit.clone(), own);
        decider.set_mcp(settings);
        Self { decider, audit }
    }

    /// Keeps the store from answering queries until the result is dropped.
    pub(super) fn keep_store_busy(&self) -> std::sync::mpsc::Sender<()> {
        let (sender, done) = std::sync::mpsc::channel::<()>();
        self.audit.do_later(move |_| _ = done.recv()).unwrap();
        sender
    }

    /// A process that uses this store.
    pub(super) fn at(audit: Store, settings: McpSettings, rules: &str) -> Self {
        let decider = Decider::new(Some(policies(rules)), audit.clone(), Settings::default());
        decider.set_mcp(settings);
        Self { decider, audit }
    }

    pub(super) fn session(&self, server: &str) -> McpSession {
        let launch = Launch::command(server, &["--stdio"], None);
        let facts = OriginFields { session: Some("s1".into()), ..OriginFields::at(Surface::Mcp) };
        self.decider.mcp(server, &launch, RequestContext::new(Origin::new(facts)))
    }

    /// The same session, as claimed by the holder of a gateway key.
    pub(super) fn session_of(&self, key: &str, server: &str) -> McpSession {
        let launch = Launch::command(server, &["--stdio"], None);
        let who = Principal { key: Some(key.into()), ..Principal::default() };
        let facts =
            OriginFields { who, session: Some("s1".into()), ..OriginFields::at(Surface::Mcp) };
        self.decider.mcp(server, &launch, RequestContext::new(Origin::new(facts)))
    }

    /// A session whose server has listed these tools.
    pub(super) fn listed(&self, server: &str, tools: &[&str]) -> McpSession {
        let session = self.session(server);
        session.judge_tools(tools, ListPage::ONLY);
        session
    }

    pub(super) fn records(&self) -> Vec<Record> {
        self.audit.flush().wait().unwrap();
        let filter = Filter { order: RecordOrder::OldestFirst, ..Filter::default() };
        let stored = self.audit.reader().unwrap().records(&filter).unwrap();
        stored.into_iter().map(|stored| stored.record).collect()
    }

    pub(super) fn last(&self, kind: callgate_audit::RecordKind) -> Record {
        self.records().into_iter().rfind(|record| record.kind == kind).unwrap()
    }
}

pub(super) fn decide(pending: McpPending) -> McpDecision {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(pending)
}

/// A call without arguments.
pub(super) fn call(session: &McpSession, tool: &str) -> Result<AllowedCall, Box<Denial>> {
    call_with(session, tool, "{}")
}

pub(super) fn call_with(
    session: &McpSession,
    tool: &str,
    arguments: &str,
) -> Result<AllowedCall, Box<Denial>> {
    match decide(session.call(McpCall::new(tool, Arguments::json(arguments)))) {
        McpDecision::Allow { call, .. } => Ok(call),
        McpDecision::Deny(denial) => Err(Box::new(denial)),
    }
}

/// The check or rule that stops a call; empty if it passes.
pub(super) fn stopped_by(session: &McpSession, tool: &str) -> String {
    call(session, tool).err().and_then(|denial| denial.rule).unwrap_or_default()
}

pub(super) fn entry(id: &str) -> ServerEntry {
    ServerEntry {
        id: id.to_owned(),
        kind: ServerKind::Stdio,
        address: format!("/usr/bin/{id}"),
        reads: Globs::default(),
        sends: Globs::default(),
        rate: None,
    }
}

pub(super) fn globs(patterns: &[&str]) -> Globs {
    Globs::new(patterns)
}

pub(super) fn tool_rule(server: &str, tool: &str, hash: Option<&str>) -> ToolRule {
    ToolRule { server: globs(&[server]), tool: globs(&[tool]), hash: hash.map(str::to_owned) }
}

pub(super) fn rate(calls: u32, burst: u32) -> Rate {
    Rate { calls, seconds: 60, burst }
}

/// The text of a denial, for the model.
pub(super) fn model_message(denial: &Denial) -> String {
    callgate_policy::DenialText::default().notice(denial)
}
