//! The recent steps of sessions, so that a call can be compared with earlier ones even if they went
//! through different processes: when data from one server is sent to another, for example.

use sha2::{Digest, Sha256};

use crate::database::Fault;
use crate::error::StoreError;
use crate::receipt::Receipt;
use crate::state::StateEntry;
use crate::state::meters::halves;
use crate::store::{Glance, Store};
use callgate_audit::{RecordId, seal_name};

/// One step of a session: a call, what a call did, a model call whose execution is expected or has
/// begun, or where a value came from. The key says which. The store does not interpret it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowStep {
    /// When, in microseconds since 1970.
    pub at: i64,
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool, or another name.
    pub tool: String,
    /// What the call does, such as reads or sends. The store does not interpret the word.
    pub role: String,
    /// The record of the call.
    pub record: RecordId,
    /// The hash of its arguments, or of what it did.
    pub arguments: [u8; 32],
}

impl FlowStep {
    /// The most steps of one session that a query returns: the newest.
    pub const MAX_FOUND: usize = 1000;
    /// How long a step is kept, in hours.
    pub const MAX_HOURS: i64 = 24;
    /// The most steps in a store. Beyond that, the owner with the most steps loses the oldest.
    pub const MAX_KEPT: i64 = 100_000;
}

/// Identifies the steps of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowName {
    /// The principal who owns the steps. A client can name any session, but only among its own.
    pub owner: String,
    /// The session, or another name by which the owner's steps are found.
    pub name: String,
}

/// A step that is ready to be stored.
#[derive(Debug)]
pub(crate) struct SealedStep {
    session: FlowKey,
    pub(crate) step: FlowStep,
}

/// The stored key of a session.
pub(crate) type FlowKey = [u8; 32];

impl SealedStep {
    pub(crate) fn new(session: &FlowName, step: FlowStep) -> Self {
        let step = FlowStep {
            server: seal_name(&step.server),
            tool: seal_name(&step.tool),
            role: seal_name(&step.role),
            ..step
        };
        Self { session: key(session), step }
    }

    pub(crate) fn key(&self) -> &FlowKey {
        &self.session
    }

    pub(crate) fn size(&self) -> usize {
        self.step.server.len() + self.step.tool.len() + 256
    }
}

/// The store of session steps; [`StateStore::store`](crate::state::StateStore::store) adds them.
/// Times are in microseconds since 1970.
pub(crate) trait HistoryStore {
    /// The steps of a session since this time: the newest [`FlowStep::MAX_FOUND`], oldest first.
    fn steps(&self, session: &FlowKey, since: i64) -> Result<Vec<FlowStep>, Fault>;

    /// Stores a step unless the steps of its session since this time rule it out. Returns whether
    /// it did. No other step can be added in between.
    fn add_unless(
        &self,
        step: &SealedStep,
        since: i64,
        speaks_against: &mut dyn FnMut(Vec<FlowStep>) -> bool,
    ) -> Result<bool, Fault>;

    /// Removes the step of this record.
    fn remove_step(&self, session: &FlowKey, record: RecordId) -> Result<(), Fault>;

    /// The sessions of all steps after this one, and the id of the last step.
    fn sessions_after(&self, step: i64) -> Result<(Vec<FlowKey>, i64), Fault>;
}

impl Store {
    /// Stores a step of a session. The receipt completes when other processes can find it.
    pub fn add_flow(&self, session: &FlowName, step: FlowStep) -> Receipt {
        self.shared().put(vec![StateEntry::Step(SealedStep::new(session, step))], Vec::new())
    }

    /// Stores a step, unless `against` finds a reason in the steps of its session since this time.
    /// Both happen in one transaction: of two concurrent processes, one sees the step of the other.
    pub fn add_flow_unless<T>(
        &self,
        session: &FlowName,
        since: i64,
        step: FlowStep,
        against: impl FnOnce(Vec<FlowStep>) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let (shared, sealed) = (self.shared(), SealedStep::new(session, step));
        let (mut against, mut objection) = (Some(against), None);
        let mut speaks_against = |steps: Vec<FlowStep>| {
            objection = against.take().and_then(|against| against(steps));
            objection.is_some()
        };
        shared.state.add_unless(&sealed, since, &mut speaks_against)?;
        shared.cache.add_flow(sealed.key());
        Ok(objection)
    }

    /// Removes the step of a call that was not made after all.
    pub fn remove_flow(&self, session: &FlowName, record: RecordId) -> Result<(), StoreError> {
        Ok(self.shared().state.remove_step(&key(session), record)?)
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
        let shared = self.shared;
        // Most sessions have no steps, and the cache knows that without a query.
        match shared.cache.may_have_flow(&shared.state, self.view, &key)? {
            true => Ok(shared.state.steps(&key, since)?),
            false => Ok(Vec::new()),
        }
    }
}

/// Clients choose the names of sessions, so they are stored as hashes. The first half is that of
/// the owner, so that all steps of an owner are found together.
pub(crate) fn key(session: &FlowName) -> FlowKey {
    let hash = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
    halves(&hash(&session.owner), &hash(&session.name))
}
