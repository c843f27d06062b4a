//! Proofs that a call was judged and may run.

use std::hash::{DefaultHasher, Hash, Hasher};

use callgate_call::{Arguments, ArgumentsForm, CallId, ToolCall, ToolName};

/// Proof that one call may run: its id, name and arguments were judged. Only a
/// [`Judgement`](crate::Judgement) that lets the call pass creates one, and it cannot be copied.
///
/// ```compile_fail
/// fn twice(permit: callgate_policy::Permit) -> callgate_policy::Permit {
///     permit.clone()
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    pub(crate) fingerprint: CallFingerprint,
    pub(crate) rewritten: Option<String>,
}

impl Permit {
    /// Whether this permit is for that call.
    pub fn covers(&self, call: &ToolCall) -> bool {
        self.fingerprint == CallFingerprint::of(call)
    }

    /// The arguments with which the call must run, if sanitizers changed them. The permit still
    /// covers the original call.
    pub fn rewritten(&self) -> Option<&str> {
        self.rewritten.as_deref()
    }
}

/// Proof that one record is in the store. Only the store creates one: `cargo xtask tidy` rejects the
/// constructor everywhere else, except in tests.
#[derive(Debug)]
pub struct WriteProof {
    record: u128,
}

impl WriteProof {
    /// The store has written the record with this id.
    pub fn by_the_store(record: u128) -> Self {
        Self { record }
    }
}

/// A proof whose record is written. No door releases a call without one.
///
/// ```compile_fail
/// fn forgets_to_record(permit: callgate_policy::Permit) -> callgate_policy::Recorded<callgate_policy::Permit> {
///     callgate_policy::Recorded::new(permit)
/// }
/// ```
#[derive(Debug)]
pub struct Recorded<T>(T);

impl<T> Recorded<T> {
    /// Joins a proof with the proof that its record, the one with this id, is written. `None` if
    /// another one is.
    pub fn new(proof: T, record: u128, written: &WriteProof) -> Option<Self> {
        (written.record == record).then_some(Self(proof))
    }

    /// The store failed, and the operator said `audit.on_failure: allow`. Used in one place, which
    /// `cargo xtask tidy` checks.
    pub fn although_the_store_failed(proof: T) -> Self {
        Self(proof)
    }

    /// For `callgate filter`, which writes no records. Used there and in tests, which `cargo xtask
    /// tidy` checks.
    pub fn without_a_store(proof: T) -> Self {
        Self(proof)
    }
}

impl<T> std::ops::Deref for Recorded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Proof that a call of this id and name may run whatever its arguments are.
#[derive(Debug)]
pub struct NamePermit {
    pub(crate) fingerprint: NameFingerprint,
}

impl NamePermit {
    /// Whether this permit is for a call of that id and name.
    pub fn covers(&self, id: &CallId, name: &ToolName) -> bool {
        self.fingerprint == NameFingerprint::of(id, name)
    }
}

/// Identifies the call of a judgement or a permit. Arguments can be a megabyte, so only their hash
/// is kept. The hash never leaves the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallFingerprint {
    name: NameFingerprint,
    arguments: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameFingerprint(u64);

impl CallFingerprint {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let name = NameFingerprint::of(&call.id, &call.name);
        Self { name, arguments: arguments_hash(&call.arguments) }
    }
}

impl NameFingerprint {
    pub(crate) fn of(id: &CallId, name: &ToolName) -> Self {
        let mut hasher = DefaultHasher::new();
        id.as_str().hash(&mut hasher);
        name.raw().hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Includes the form: the text `{}` of a custom tool is not the empty object.
fn arguments_hash(arguments: &Arguments) -> u64 {
    let mut hasher = DefaultHasher::new();
    let form: u8 = match arguments.form() {
        ArgumentsForm::Json(_) => 0,
        ArgumentsForm::Text(_) => 1,
        ArgumentsForm::Oversize(_) => 2,
        ArgumentsForm::Pending => 3,
    };
    form.hash(&mut hasher);
    arguments.raw().hash(&mut hasher);
    hasher.finish()
}
