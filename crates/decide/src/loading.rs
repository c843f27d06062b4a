//! Replaces the policies in force, and records each change.

use std::sync::Arc;

use callgate_audit::{PolicyFacts, PolicyFile, Record, RecordKind};
use callgate_policy::Policies;

use crate::decider::Decider;
use crate::in_force::InForce;
use crate::weakened;

/// Whether the latest policies are in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyState {
    /// The latest policies are in force.
    Current,
    /// A later version was rejected; the last good one is in force.
    Rejected {
        /// What was wrong with the rejected version.
        why: String,
    },
}

/// Where policies come from, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyProvenance {
    /// How the operator refers to them: files and built-in policies.
    pub detail: String,
    /// The files.
    pub files: Vec<PolicyFile>,
}

fn digest(policies: &Policies) -> String {
    policies.digest().to_owned()
}

impl Decider {
    /// Records the policies in force at the start.
    pub fn loaded(&self, source: &PolicyProvenance) {
        let digest = self.inner().in_force().policies.as_deref().map(digest);
        self.write_loaded(source, PolicyFacts { digest, ..PolicyFacts::default() });
    }

    /// Replaces policies and settings, for responses and calls that begin from now on. Returns what
    /// the new ones no longer stop, or may not; the caller shows that to the operator. `also` lists
    /// other settings that became weaker, for the same record.
    pub fn swap(
        &self,
        in_force: InForce,
        source: &PolicyProvenance,
        also: Vec<String>,
    ) -> Vec<String> {
        let now = Arc::new(in_force);
        let before = self.inner().in_force.swap(Arc::clone(&now));
        *self.inner().state.lock() = PolicyState::Current;
        let (old, new) = (before.rules(), now.rules());
        let changes = new.changes_since(&old);
        let facts = PolicyFacts {
            digest: Some(digest(&new)),
            before: Some(digest(&old)),
            added: changes.added,
            removed: changes.removed,
            changed: changes.changed,
            ..PolicyFacts::default()
        };
        self.write_loaded(source, facts);
        let weakened = [changes.weakened, weakened::settings(&before, &now), also].concat();
        if !weakened.is_empty() {
            self.write_weakened(source, &weakened);
        }
        weakened
    }

    fn write_loaded(&self, source: &PolicyProvenance, facts: PolicyFacts) {
        let mut record = Record::new(RecordKind::PolicyLoaded);
        record.detail = Some(source.detail.clone());
        record.policies = Some(PolicyFacts { files: source.files.clone(), ..facts });
        self.write(record);
    }

    fn write_weakened(&self, source: &PolicyProvenance, weakened: &[String]) {
        let mut record = Record::new(RecordKind::Weakened);
        record.detail = Some(source.detail.clone());
        record.policies = Some(PolicyFacts {
            digest: self.inner().in_force().policies.as_deref().map(digest),
            files: source.files.clone(),
            weakened: weakened.to_vec(),
            ..PolicyFacts::default()
        });
        self.write(record);
    }

    /// Records that new policies were rejected.
    pub fn reject(&self, why: &str) {
        *self.inner().state.lock() = PolicyState::Rejected { why: why.to_owned() };
        let mut record = Record::new(RecordKind::PolicyRejected);
        record.detail = Some(why.to_owned());
        self.write(record);
    }

    /// Whether the latest policies are in force.
    pub fn policy_state(&self) -> PolicyState {
        self.inner().state.lock().clone()
    }
}
