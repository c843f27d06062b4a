//! What a session has lately called on MCP servers, so that what one server gave is noticed when it
//! is sent to another, whichever processes the two went through.

use rusqlite::{Row, params};
use sha2::{Digest, Sha256};

use crate::buckets::halves;
use crate::database::{Database, Fault, Item};
use crate::error::StoreError;
use crate::receipt::Receipt;
use crate::store::{Glance, Store};
use callgate_audit::{RecordId, word};

/// One call of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowStep {
    /// When, in microseconds since 1970.
    pub at: i64,
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// What the call does: reads, sends. What the words mean is for whoever writes them to know.
    pub role: String,
    /// The record of the call.
    pub record: RecordId,
    /// The hash of its arguments.
    pub arguments: [u8; 32],
}

impl FlowStep {
    /// The most steps of one session that are found: its newest.
    pub const MAX_FOUND: usize = 1000;
    /// For how long a step is kept.
    pub const MAX_HOURS: i64 = 24;
    /// The most steps a store keeps. Beyond that, the owner with the most steps loses the oldest.
    pub const MAX_KEPT: i64 = 100_000;
}

/// Which steps belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowName {
    /// The principal whose steps they are. A client can name any session, but only its own.
    pub owner: String,
    /// The session, or whatever else the owner's steps are found by.
    pub name: String,
}

/// A step on its way into the store.
#[derive(Debug)]
pub(crate) struct SealedStep {
    session: FlowKey,
    step: FlowStep,
}

/// A session as it is kept.
pub(crate) type FlowKey = [u8; 32];

impl SealedStep {
    fn new(session: &FlowName, step: FlowStep) -> Self {
        let step = FlowStep {
            server: word(&step.server),
            tool: word(&step.tool),
            role: word(&step.role),
            ..step
        };
        Self { session: key(session), step }
    }

    pub(crate) fn insert(&self, store: &Database) -> Result<(), Fault> {
        let step = &self.step;
        store.execute(
            "INSERT INTO flows (session, at, server, tool, role, record, arguments) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.session,
                step.at,
                step.server,
                step.tool,
                step.role,
                step.record.to_string(),
                step.arguments
            ],
        )?;
        Ok(())
    }

    pub(crate) fn key(&self) -> &FlowKey {
        &self.session
    }

    pub(crate) fn size(&self) -> usize {
        self.step.server.len() + self.step.tool.len() + 256
    }
}

impl Store {
    /// Keeps a step of a session. Ready when other processes find it.
    pub fn add_flow(&self, session: &FlowName, step: FlowStep) -> Receipt {
        self.shared().put(sealed(session, step))
    }

    /// Keeps a step, unless something in the steps of its session since this time speaks against it.
    /// Both happen in one transaction: of two processes at once, one sees the step of the other.
    pub fn add_flow_unless<T>(
        &self,
        session: &FlowName,
        since: i64,
        step: FlowStep,
        against: impl FnOnce(Vec<FlowStep>) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let (shared, sealed) = (self.shared(), SealedStep::new(session, step));
        let add = |store: &Database| {
            let against = against(find(store, &sealed.session, since)?);
            if against.is_none() {
                sealed.insert(store)?;
            }
            Ok(against)
        };
        let against = shared
            .with_appending(|store| store.transaction(add))
            .map_err(|fault| StoreError::Failed(fault.why()))?;
        shared.known.add_flow(sealed.key());
        Ok(against)
    }

    /// Takes back the step of a call that was not made after all.
    pub fn remove_flow(&self, session: &FlowName, record: RecordId) -> Result<(), StoreError> {
        let remove = "DELETE FROM flows WHERE session = ?1 AND record = ?2";
        let (key, record) = (key(session), record.to_string());
        self.shared()
            .with_appending(|store| {
                store.transaction(|store| store.execute(remove, params![key, record]))
            })
            .map(drop)
            .map_err(|fault| StoreError::Failed(fault.why()))
    }

    /// The steps of a session since this time, in microseconds since 1970: the newest
    /// [`FlowStep::MAX_FOUND`], oldest first.
    pub fn flows(&self, session: &FlowName, since: i64) -> Result<Vec<FlowStep>, StoreError> {
        self.glance().flows(session, since)
    }
}

impl Glance<'_> {
    /// See [`Store::flows`].
    pub fn flows(&self, session: &FlowName, since: i64) -> Result<Vec<FlowStep>, StoreError> {
        let key = key(session);
        // Most sessions that are asked for have none, and that is known without asking the store.
        if !self.shared.known.may_have_flow(self.shared, self.view, &key)? {
            return Ok(Vec::new());
        }
        self.shared.with_looking(|store| {
            find(store, &key, since).map_err(|fault| StoreError::Failed(fault.why()))
        })
    }
}

pub(crate) fn sealed(session: &FlowName, step: FlowStep) -> Item {
    Item::Flow(SealedStep::new(session, step))
}

/// Clients name sessions, and name them anything: they are kept as hashes. The first half is the
/// owner's, so that all steps of an owner are found together.
fn key(session: &FlowName) -> FlowKey {
    let hash = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
    halves(&hash(&session.owner), &hash(&session.name))
}

fn find(store: &Database, session: &FlowKey, since: i64) -> Result<Vec<FlowStep>, Fault> {
    let mut query = store.connection().prepare_cached(
        "SELECT at, server, tool, role, record, arguments FROM flows \
         WHERE session = ?1 AND at >= ?2 ORDER BY at DESC, id DESC LIMIT ?3",
    )?;
    let most = FlowStep::MAX_FOUND as i64;
    let mut steps = Vec::new();
    for step in query.query_map(params![session, since, most], read)? {
        // A row that somebody made unreadable is no step.
        steps.extend(step?);
    }
    steps.reverse();
    Ok(steps)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<FlowStep>> {
    let record: String = row.get(4)?;
    let Ok(record) = record.parse() else { return Ok(None) };
    Ok(Some(FlowStep {
        at: row.get(0)?,
        server: row.get(1)?,
        tool: row.get(2)?,
        role: row.get(3)?,
        record,
        arguments: row.get(5)?,
    }))
}

/// Lets steps leave that are too old or too many. `now` is in microseconds.
pub(crate) fn prune(store: &Database, most: i64, now: i64) -> Result<(), Fault> {
    const HOUR: i64 = 60 * 60 * 1_000_000;
    let oldest = now.saturating_sub(FlowStep::MAX_HOURS * HOUR);
    let old = "SELECT 1 FROM flows WHERE at < ?1 LIMIT 1";
    if store.one(old, [oldest], |_| Ok(()))?.is_some() {
        store.execute("DELETE FROM flows WHERE at < ?1", [oldest])?;
    }
    let many = store.one("SELECT count(*) FROM flows", [], |row| row.get::<_, i64>(0))?;
    let surplus = many.unwrap_or(0).saturating_sub(most);
    if surplus > 0 {
        // Numbered from the newest of each owner, so that those with the most lose the most. Ids
        // are given in order: the oldest have the smallest.
        store.execute(
            "DELETE FROM flows WHERE id IN (SELECT id FROM (SELECT id, \
             row_number() OVER (PARTITION BY substr(session, 1, 16) ORDER BY id DESC) AS place \
             FROM flows) ORDER BY place DESC, id LIMIT ?1)",
            [surplus],
        )?;
    }
    Ok(())
}
