//! Who runs a command that changes something.

use callgate_audit::RecordedPrincipal;
use callgate_decide::login;

/// The user who runs this command, for the record of what it changes.
pub(crate) fn operator() -> RecordedPrincipal {
    RecordedPrincipal { user: login::own(), ..RecordedPrincipal::default() }
}
