//! Times as people type and read them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A time ago, a date, or a time; without a zone, in that of this machine.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    parse_at(text.trim(), Timestamp::now(), &TimeZone::system())
        .ok_or_else(|| "use a time ago such as `30m`, `2h`, `7d` or `1w`, `today`, `yesterday`, a date such as `2026-01-31`, or a time such as `2026-01-31T12:00:00Z`".to_owned())
}

/// When something expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never,
    At(Timestamp),
}

impl Expiry {
    pub(crate) fn time(self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(time) => Some(time),
        }
    }
}

/// `never`, a time from now on, a date, or a time; not in the past.
pub(crate) fn expiry(text: &str) -> Result<Expiry, String> {
    expiry_at(text.trim(), Timestamp::now(), &TimeZone::system())
}

fn expiry_at(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Expiry, String> {
    if text == "never" {
        return Ok(Expiry::Never);
    }
    let time = match length(text) {
        Some(length) => now.checked_add(length).ok(),
        None => point(text, zone),
    };
    match time {
        Some(time) if time < now => Err("this is in the past; use a later time".to_owned()),
        Some(time) => Ok(Expiry::At(time)),
        None => Err("use a time from now such as `12h` or `90d`, a date such as `2027-01-31`, a time such as `2027-01-31T12:00:00Z`, or `never`".to_owned()),
    }
}

fn parse_at(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let today = now.to_zoned(zone.clone()).date();
    let midnight = |date: Date| date.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp());
    match (text, length(text)) {
        ("today", _) => midnight(today),
        ("yesterday", _) => today.yesterday().ok().and_then(midnight),
        (_, Some(ago)) => now.checked_sub(ago).ok(),
        (_, None) => point(text, zone),
    }
}

/// A date or a time.
fn point(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let local = |time: DateTime| time.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp());
    // A date alone would also be read as a time; both give midnight.
    match text.parse::<Date>() {
        Ok(date) if text.len() <= "2026-01-31".len() => local(date.at(0, 0, 0, 0)),
        _ => text.parse::<DateTime>().ok().and_then(local),
    }
}

/// A length of time, in one unit.
fn length(text: &str) -> Option<SignedDuration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let seconds: i64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

/// A time in the zone of this machine, to the second.
pub(crate) fn shown(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The same as short as it can be: without the date today, without the seconds before.
pub(crate) fn brief(time: Timestamp) -> String {
    brief_at(time, Timestamp::now(), &TimeZone::system())
}

fn brief_at(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (time, now) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let format = if time.date() == now.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M" };
    time.strftime(format).to_string()
}

/// The same with the zone and the fraction, where it matters.
pub(crate) fn shown_exactly(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S%.3f %:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_type_them() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let table = [
            ("30m", Some("2026-03-10T11:30:00Z")),
            ("2h", Some("2026-03-10T10:00:00Z")),
            ("7d", Some("2026-03-03T12:00:00Z")),
            ("0s", Some("2026-03-10T12:00:00Z")),
            ("2026-03-09", Some("2026-03-08T22:00:00Z")),
            ("2026-03-09T08:00", Some("2026-03-09T06:00:00Z")),
            ("2026-03-09 08:00:30", Some("2026-03-09T06:00:30Z")),
            ("2026-03-09T08:00:00Z", Some("2026-03-09T08:00:00Z")),
            ("2026-03-09T08:00:00+01:00", Some("2026-03-09T07:00:00Z")),
            ("1w", Some("2026-03-03T12:00:00Z")),
            ("today", Some("2026-03-09T22:00:00Z")),
            ("yesterday", Some("2026-03-08T22:00:00Z")),
            ("tomorrow", None),
            ("2", None),
            ("-2h", None),
            ("2026-13-01", None),
            ("9999999999999999999d", None),
        ];
        for (text, expected) in table {
            let expected = expected.map(|time| time.parse::<Timestamp>().unwrap());
            assert_eq!(parse_at(text, now, &zone), expected, "{text}");
        }
    }

    #[test]
    fn today_needs_no_date() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let brief = |time: &str| brief_at(time.parse().unwrap(), now, &zone);
        assert_eq!(brief("2026-03-10T08:01:02Z"), "10:01:02");
        assert_eq!(brief("2026-03-09T22:00:00Z"), "00:00:00", "by the zone of this machine");
        assert_eq!(brief("2026-03-09T21:59:59Z"), "2026-03-09 23:59");
    }

    #[test]
    fn expiries_lie_ahead() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let read = |text| expiry_at(text, now, &zone);
        let at = |time: &str| Ok(Expiry::At(time.parse().unwrap()));
        assert_eq!(read("never"), Ok(Expiry::Never));
        assert_eq!(read("90d"), at("2026-06-08T12:00:00Z"));
        assert_eq!(read("0s"), at("2026-03-10T12:00:00Z"));
        assert_eq!(read("2026-04-01"), at("2026-03-31T22:00:00Z"));
        assert_eq!(read("2026-03-10T12:00:01Z"), at("2026-03-10T12:00:01Z"));
        assert_eq!(read("2026-03-09"), Err("this is in the past; use a later time".to_owned()));
        assert!(read("soon").unwrap_err().starts_with("use a time from now"));
        assert!(read("9999999999d").is_err());
    }
}
