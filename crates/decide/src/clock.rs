//! The only place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

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

/// Microseconds since 1970.
pub(crate) fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
