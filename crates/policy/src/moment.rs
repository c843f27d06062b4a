//! The time of a judgement. It is passed in: this crate has no clock.

/// When a call is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    unix_seconds: i64,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "seven names that need no words")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The first Monday of 2024, for moments that are only a day of the week and an hour.
const SOME_MONDAY: i64 = 1_704_067_200;

impl Moment {
    /// The moment this many seconds after 1970 in UTC.
    pub const fn at(unix_seconds: i64) -> Self {
        Self { unix_seconds }
    }

    /// This hour of such a day in UTC, in some week.
    pub const fn on(weekday: Weekday, hour: u8) -> Self {
        Self::at(SOME_MONDAY + weekday as i64 * DAY + hour as i64 * HOUR)
    }

    /// Reads a time with its offset, such as `2026-03-29T01:30:00Z`.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim().parse::<jiff::Timestamp>().ok().map(|time| Self::at(time.as_second()))
    }

    /// The seconds since 1970.
    pub fn unix_seconds(self) -> i64 {
        self.unix_seconds
    }

    /// The hour in UTC, 0 to 23: `context.hour`.
    pub fn hour(self) -> u8 {
        u8::try_from(self.unix_seconds.rem_euclid(DAY) / HOUR).unwrap_or(0)
    }

    /// The day in UTC: `context.weekday`.
    pub fn weekday(self) -> Weekday {
        // The epoch was a Thursday, the fourth day from Monday.
        let day = (self.unix_seconds.div_euclid(DAY) + 3).rem_euclid(7);
        let day = usize::try_from(day).ok().and_then(|day| Weekday::ALL.get(day));
        day.copied().unwrap_or(Weekday::Monday)
    }
}

impl Weekday {
    /// Every day, from Monday on.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// The word that rules compare with, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Monday => "monday",
            Self::Tuesday => "tuesday",
            Self::Wednesday => "wednesday",
            Self::Thursday => "thursday",
            Self::Friday => "friday",
            Self::Saturday => "saturday",
            Self::Sunday => "sunday",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_days_are_in_utc() {
        for (seconds, hour, weekday) in [
            (0, 0, Weekday::Thursday),
            (-1, 23, Weekday::Wednesday),
            (1_700_000_000, 22, Weekday::Tuesday),
            (1_709_209_800, 12, Weekday::Thursday),
            (4 * DAY - 1, 23, Weekday::Sunday),
        ] {
            let moment = Moment::at(seconds);
            assert_eq!((moment.hour(), moment.weekday()), (hour, weekday), "{seconds}");
        }
        for weekday in Weekday::ALL {
            let moment = Moment::on(weekday, 23);
            assert_eq!((moment.hour(), moment.weekday()), (23, weekday));
        }
    }
}
