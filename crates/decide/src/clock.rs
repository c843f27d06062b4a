//! The only place that reads the clock.

use callgate_policy::Moment;
use jiff::Timestamp;

/// The current moment.
pub fn now() -> Moment {
    moment_of(timestamp())
}

/// The moment of a time on record.
pub fn moment_of(time: Timestamp) -> Moment {
    Moment::at(time.as_second())
}

/// The current time, for comparison with the expiry of a key.
pub(crate) fn timestamp() -> Timestamp {
    Timestamp::now()
}
