//! Who runs a command that changes something.

use callgate_audit::Principal;
use callgate_decide::{login_name, uid};

/// The user who runs this command, for the record of what it changes: the login name, or the number
/// of a user who has none.
pub(crate) fn operator() -> Principal {
    let user = login_name().or_else(|| uid().map(|uid| format!("uid:{uid}")));
    Principal { user, ..Principal::default() }
}
