//! Sizes like `64KiB` and durations like `10m`.

use std::time::Duration;

/// Decimal and binary units, in any case: `kB` is 1000 bytes, `KiB` 1024.
const SIZES: [(&str, u64); 10] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// What a size looks like, for hints.
pub(crate) const SIZE_HINT: &str = "write it like `64KiB`, `1MB` or a number of bytes";

/// What a duration looks like, for hints.
pub(crate) const DURATION_HINT: &str = "write it with a unit: `500ms`, `10s`, `10m`, `2h` or `90d`";

/// The size in bytes; `None` if it is not a size.
pub(crate) fn size(text: &str) -> Option<u64> {
    quantity(text, &SIZES)
}

/// A duration of at least a millisecond.
pub fn duration(text: &str) -> Option<Duration> {
    quantity(text, &DURATIONS).map(Duration::from_millis)
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start().to_ascii_lowercase();
    let (_, factor) = units.iter().find(|(word, _)| *word == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor).filter(|value| *value > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let table = [
            ("123", Some(123)),
            ("1 KiB", Some(1024)),
            ("64KB", Some(64_000)),
            ("1MiB", Some(1 << 20)),
            ("2gib", Some(2 << 30)),
            ("0", None),
            ("-1", None),
            ("1.5MiB", None),
            ("MiB", None),
            ("1 M", None),
            ("", None),
            ("99999999999999999999", None),
            ("99999999999TiB", None),
        ];
        for (text, bytes) in table {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    #[test]
    fn durations() {
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(duration("10s"), seconds(10));
        assert_eq!(duration("10 m"), seconds(600));
        assert_eq!(duration("90d"), seconds(90 * 86_400));
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        for text in ["10", "0s", "s", "1y", "-1s", "1h30m"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
