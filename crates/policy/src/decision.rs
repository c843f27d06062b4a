//! What happens to a call: the answer that doors and the gate receive.

use crate::denial::Denial;
use crate::permit::{NamePermit, Permit, Recorded};

/// The decision about a call. A judgement alone lets nothing leave, nor does a permit without its
/// record:
///
/// ```compile_fail
/// fn forgets_to_judge(denial: callgate_policy::Denial) -> callgate_policy::Decision {
///     callgate_policy::Decision::Allow(denial)
/// }
/// ```
///
/// ```compile_fail
/// fn forgets_to_record(permit: callgate_policy::Permit) -> callgate_policy::Decision {
///     callgate_policy::Decision::Allow(permit)
/// }
/// ```
///
/// ```
/// use callgate_policy::{Decision, Permit, Recorded};
///
/// fn records(permit: Recorded<Permit>) -> Decision {
///     Decision::Allow(permit)
/// }
/// ```
#[derive(Debug)]
pub enum Decision {
    /// It may leave: it was judged, and its record is written.
    Allow(Recorded<Permit>),
    /// It may not.
    Deny(Denial),
}

/// The decision about a call whose name is known and whose arguments are not.
#[derive(Debug)]
pub enum NameDecision {
    /// The call may stream: no rule could still change the outcome. Its last part waits for the
    /// [`Decision`] about the whole call.
    Stream(NamePermit),
    /// The call is denied, whatever its arguments.
    Deny(Denial),
    /// A rule needs the arguments: the call is held.
    NeedArguments,
}
