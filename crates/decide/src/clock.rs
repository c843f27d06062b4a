//! The only place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use callgate_policy::{Moment, Weekday};
use jiff::Timestamp;

/// The current moment in UTC. Rules for another time zone give their hours in UTC.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    moment(since.as_secs())
}

/// The moment of a time on record.
pub fn moment_of(time: Timestamp) -> Moment {
    moment(u64::try_from(time.as_second()).unwrap_or_default())
}

/// The current time, for comparison with the expiry of a key.
pub(crate) fn timestamp() -> Timestamp {
    Timestamp::now()
}

fn moment(unix_seconds: u64) -> Moment {
    let hour = u8::try_from(unix_seconds / 3600 % 24).unwrap_or(0);
    // The epoch was a Thursday, the fourth day from Monday.
    let day = usize::try_from((unix_seconds / 86_400 + 3) % 7).unwrap_or(0);
    let weekday = Weekday::ALL.get(day).copied().unwrap_or(Weekday::Monday);
    Moment { hour, weekday }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_utc() {
        let at = |seconds, hour, weekday| {
            assert_eq!(moment(seconds), Moment { hour, weekday });
        };
        at(0, 0, Weekday::Thursday);
        at(1_700_000_000, 22, Weekday::Tuesday);
        at(1_709_209_800, 12, Weekday::Thursday);
        at(4 * 86_400 - 1, 23, Weekday::Sunday);
    }
}
