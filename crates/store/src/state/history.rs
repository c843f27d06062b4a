//! What a session has lately called on MCP servers, so that what one server gave is noticed when it
//! is sent to another, whichever processes the two went through.

use sha2::{Digest, Sha256};

use crate::database::Fault;
use crate::error::StoreError;
use crate::receipt::Receipt;
use crate::state::Kept;
use crate::state::meters::halves;
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
    pub(crate) step: FlowStep,
}

/// A session as it is kept.
pub(crate) type FlowKey = [u8; 32];

impl SealedStep {
    pub(crate) fn new(session: &FlowName, step: FlowStep) -> Self {
        let step = FlowStep {
            server: word(&step.server),
            tool: word(&step.tool),
            role: word(&step.role),
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

/// Where the steps of sessions are kept; [`State::keep`](crate::state::State::keep) adds them. Times are in
/// microseconds since 1970.
pub(crate) trait History {
    /// The steps of a session since this time: the newest [`FlowStep::MAX_FOUND`], oldest first.
    fn steps(&self, session: &FlowKey, since: i64) -> Result<Vec<FlowStep>, Fault>;

    /// Keeps a step, unless its session's steps since this time speak against it, and says whether it did.
    /// Nobody adds a step in between.
    fn add_unless(
        &self,
        step: &SealedStep,
        since: i64,
        speaks_against: &mut dyn FnMut(Vec<FlowStep>) -> bool,
    ) -> Result<bool, Fault>;

    /// Forgets the step that tells of this record.
    fn take_back(&self, session: &FlowKey, record: RecordId) -> Result<(), Fault>;

    /// The sessions of all steps behind this one, and the number of the last step.
    fn sessions_after(&self, step: i64) -> Result<(Vec<FlowKey>, i64), Fault>;
}

impl Store {
    /// Keeps a step of a session. Ready when other processes find it.
    pub fn add_flow(&self, session: &FlowName, step: FlowStep) -> Receipt {
        self.shared().put(vec![Kept::Step(SealedStep::new(session, step))], Vec::new())
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
        let (mut against, mut objection) = (Some(against), None);
        let mut speaks_against = |steps: Vec<FlowStep>| {
            objection = against.take().and_then(|against| against(steps));
            objection.is_some()
        };
        shared.state.add_unless(&sealed, since, &mut speaks_against)?;
        shared.known.add_flow(sealed.key());
        Ok(objection)
    }

    /// Takes back the step of a call that was not made after all.
    pub fn remove_flow(&self, session: &FlowName, record: RecordId) -> Result<(), StoreError> {
        Ok(self.shared().state.take_back(&key(session), record)?)
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
        // Most sessions that are asked for have none, and that is known without asking the store.
        match shared.known.may_have_flow(&shared.state, self.view, &key)? {
            true => Ok(shared.state.steps(&key, since)?),
            false => Ok(Vec::new()),
        }
    }
}

/// Clients name sessions, and name them anything: they are kept as hashes. The first half is the
/// owner's, so that all steps of an owner are found together.
fn key(session: &FlowName) -> FlowKey {
    let hash = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
    halves(&hash(&session.owner), &hash(&session.name))
}
