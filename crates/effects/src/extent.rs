//! How much a deletion touches, as far as that is known.

use std::fmt;
use std::ops::Add;

use crate::truth::Truth;

/// A number of which perhaps only bounds are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// It is not smaller.
    pub low: u64,
    /// It is not larger; `None` if it may be any number.
    pub high: Option<u64>,
}

impl Count {
    /// Any number.
    pub const UNKNOWN: Self = Self { low: 0, high: None };

    /// This number.
    pub const fn exactly(number: u64) -> Self {
        Self { low: number, high: Some(number) }
    }

    /// Whether it is larger than this.
    pub fn exceeds(self, limit: u64) -> Truth {
        match self.high {
            _ if self.low > limit => Truth::Yes,
            Some(high) if high <= limit => Truth::No,
            _ => Truth::Unknown,
        }
    }

    fn larger(self, other: Self) -> Self {
        let high = self.high.zip(other.high).map(|(one, other)| one.max(other));
        Self { low: self.low.max(other.low), high }
    }

    const fn at_most(self) -> Self {
        Self { low: 0, high: self.high }
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = self.high.zip(other.high).map(|(one, other)| one.saturating_add(other));
        Self { low: self.low.saturating_add(other.low), high }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (low, Some(high)) if low == high => write!(f, "{low}"),
            (0, Some(high)) => write!(f, "at most {high}"),
            (0, None) => f.write_str("an unknown number of"),
            (low, Some(high)) => write!(f, "{low} to {high}"),
            (low, None) => write!(f, "at least {low}"),
        }
    }
}

/// What a deletion touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Files and links, without folders.
    pub files: Count,
    /// Their size together.
    pub bytes: Count,
    /// How many of the files git does not have.
    pub untracked: Count,
    /// Whether some of them are on another file system than where the deletion begins.
    pub crosses_mounts: Truth,
}

impl Extent {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        files: Count::exactly(0),
        bytes: Count::exactly(0),
        untracked: Count::exactly(0),
        crosses_mounts: Truth::No,
    };

    /// It may be everything.
    pub const UNKNOWN: Self = Self {
        files: Count::UNKNOWN,
        bytes: Count::UNKNOWN,
        untracked: Count::UNKNOWN,
        crosses_mounts: Truth::Unknown,
    };

    /// A file that may exist, of any size.
    pub const A_FILE: Self = Self {
        files: Count { low: 0, high: Some(1) },
        bytes: Count::UNKNOWN,
        untracked: Count { low: 0, high: Some(1) },
        crosses_mounts: Truth::No,
    };

    /// The larger of two, number by number.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        Self {
            files: self.files.larger(other.files),
            bytes: self.bytes.larger(other.bytes),
            untracked: self.untracked.larger(other.untracked),
            crosses_mounts: self.crosses_mounts.or(other.crosses_mounts),
        }
    }

    /// An unknown part of it.
    #[must_use]
    pub fn part(self) -> Self {
        Self {
            files: self.files.at_most(),
            bytes: self.bytes.at_most(),
            untracked: self.untracked.at_most(),
            crosses_mounts: match self.crosses_mounts {
                Truth::No => Truth::No,
                Truth::Yes | Truth::Unknown => Truth::Unknown,
            },
        }
    }
}

impl Add for Extent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
            untracked: self.untracked + other.untracked,
            crosses_mounts: self.crosses_mounts.or(other.crosses_mounts),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, bytes, untracked, crosses_mounts } = self;
        let of = |count: &Count, unit: &'static str| match *count == Count::exactly(1) {
            true => unit.trim_end_matches('s'),
            false => unit,
        };
        let (file, byte) = (of(files, "files"), of(bytes, "bytes"));
        write!(f, "{files} {file}, {bytes} {byte}, {untracked} untracked")?;
        match crosses_mounts {
            Truth::Yes => f.write_str(", across mounts"),
            Truth::No | Truth::Unknown => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_answer_what_they_can() {
        let bounds = Count { low: 5, high: Some(9) };
        assert_eq!(bounds.exceeds(4), Truth::Yes);
        assert_eq!(bounds.exceeds(5), Truth::Unknown);
        assert_eq!(bounds.exceeds(9), Truth::No);
        assert_eq!((bounds + Count::UNKNOWN).exceeds(4), Truth::Yes);
        assert_eq!((bounds + Count::UNKNOWN).exceeds(99), Truth::Unknown);
        assert_eq!(Count::UNKNOWN.exceeds(u64::MAX), Truth::Unknown);
        assert_eq!(Extent::NOTHING.files.exceeds(0), Truth::No);
        assert_eq!(Extent::A_FILE.files.exceeds(1), Truth::No);
    }

    #[test]
    fn counts_read_like_words() {
        let shown = |low, high| Count { low, high }.to_string();
        assert_eq!(shown(3, Some(3)), "3");
        assert_eq!(shown(0, Some(3)), "at most 3");
        assert_eq!(shown(3, None), "at least 3");
        assert_eq!(shown(0, None), "an unknown number of");
        assert_eq!(shown(1, Some(3)), "1 to 3");
        let one = Count::exactly(1);
        let extent = Extent { files: one, bytes: one, ..Extent::NOTHING };
        assert_eq!(extent.to_string(), "1 file, 1 byte, 0 untracked");
    }
}
