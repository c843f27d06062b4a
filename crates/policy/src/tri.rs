//! Three-valued logic (Kleene), and the set of values a condition may still take.

/// Whether a condition holds. What unknown means is decided by the rule as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tri {
    True,
    False,
    Unknown,
}

impl From<bool> for Tri {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl std::ops::Not for Tri {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl Tri {
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::False, Self::False) => Self::False,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        !(!self).or(!other)
    }

    /// Combines two readings of the same value: unknown unless both agree.
    pub(crate) fn agree(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }

    /// True if any value is. Stops at the first that is true.
    pub(crate) fn any(values: impl IntoIterator<Item = Self>) -> Self {
        let mut result = Self::False;
        for value in values {
            result = result.or(value);
            if result == Self::True {
                break;
            }
        }
        result
    }

    /// True if all values are. Stops at the first that is false.
    pub(crate) fn all(values: impl IntoIterator<Item = Self>) -> Self {
        !Self::any(values.into_iter().map(|value| !value))
    }
}

/// The set of values that a condition may have once the arguments are known. It may be too large,
/// because conditions on the same argument count as independent, but never too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Possible(u8);

impl Possible {
    /// Any value: it depends on the arguments.
    pub(crate) const OPEN: Self = Self(0b111);

    /// Only this value.
    pub(crate) fn only(value: Tri) -> Self {
        Self(match value {
            Tri::True => 0b001,
            Tri::False => 0b010,
            Tri::Unknown => 0b100,
        })
    }

    pub(crate) fn contains(self, value: Tri) -> bool {
        self.0 & Self::only(value).0 != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 {
            return Self(0);
        }
        let (both, either) = (self.0 & other.0, self.0 | other.0);
        // Unknown is left if one is unknown and the other is not false.
        let clear = Self::only(Tri::True).0 | Self::only(Tri::Unknown).0;
        let unclear = either & Self::only(Tri::Unknown).0;
        let unknown = if self.0 & clear != 0 && other.0 & clear != 0 { unclear } else { 0 };
        Self(both & Self::only(Tri::True).0 | either & Self::only(Tri::False).0 | unknown)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        !(!self).and(!other)
    }
}

impl std::ops::Not for Possible {
    type Output = Self;

    fn not(self) -> Self {
        let [yes, no, unknown] = [Tri::True, Tri::False, Tri::Unknown].map(|it| Self::only(it).0);
        let (was_yes, was_no) = (self.0 & yes != 0, self.0 & no != 0);
        Self(if was_yes { no } else { 0 } | if was_no { yes } else { 0 } | self.0 & unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Tri::{False, True, Unknown};

    #[test]
    fn kleene() {
        for (a, b, or, and) in [
            (True, True, True, True),
            (True, False, True, False),
            (True, Unknown, True, Unknown),
            (False, False, False, False),
            (False, Unknown, Unknown, False),
            (Unknown, Unknown, Unknown, Unknown),
        ] {
            assert_eq!((a.or(b), b.or(a)), (or, or), "{a:?} or {b:?}");
            assert_eq!((a.and(b), b.and(a)), (and, and), "{a:?} and {b:?}");
        }
        assert_eq!((!True, !False, !Unknown), (False, True, Unknown));
        assert_eq!((True.agree(True), False.agree(False)), (True, False));
        assert_eq!((True.agree(False), Unknown.agree(True)), (Unknown, Unknown));
        assert_eq!(Tri::any([]), False);
        assert_eq!(Tri::all([]), True);
    }

    #[test]
    fn sets_are_joined_value_by_value() {
        let values = [True, False, Unknown];
        let members = |set: u8| values.into_iter().filter(move |it| Possible(set).contains(*it));
        let set = |values: &mut dyn Iterator<Item = Tri>| {
            Possible(values.fold(0, |set, value| set | Possible::only(value).0))
        };
        for one in 0..8 {
            assert_eq!(!Possible(one), set(&mut members(one).map(|value| !value)));
            for two in 0..8 {
                let pairs = || members(one).flat_map(|a| members(two).map(move |b| (a, b)));
                let (a, b) = (Possible(one), Possible(two));
                assert_eq!(a.and(b), set(&mut pairs().map(|(a, b)| a.and(b))), "{a:?} {b:?}");
                assert_eq!(a.or(b), set(&mut pairs().map(|(a, b)| a.or(b))), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn sets_of_values() {
        let only = Possible::only;
        assert_eq!(only(False).and(Possible::OPEN), only(False));
        assert_eq!(only(True).or(Possible::OPEN), only(True));
        assert_eq!(only(True).and(Possible::OPEN), Possible::OPEN);
        assert!(!only(Unknown).and(Possible::OPEN).contains(True));
        assert_eq!(!only(True), only(False));
    }
}
