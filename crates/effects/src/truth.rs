//! Three-valued answers.

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truth {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// That depends on something that is not known.
    Unknown,
}

impl Truth {
    /// Holds if either holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::No,
        }
    }

    /// Holds if both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.not().or(other.not()).not()
    }

    /// Holds if this does not.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "reads like the other connectives")]
    pub fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }

    /// `Yes` or `No`.
    pub fn from_bool(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
