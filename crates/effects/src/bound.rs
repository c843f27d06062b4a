//! Sets of kinds of effects.

/// A kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EffectKind {
    /// Runs a program.
    Runs,
    /// Reads a file.
    Reads,
    /// Writes a file.
    Writes,
    /// Deletes a file.
    Deletes,
    /// Talks to a host.
    Connects,
    /// Changes a setting.
    Sets,
    /// Runs a database statement.
    Sql,
    /// Cannot be read from the call.
    Opaque,
}

impl EffectKind {
    /// How many kinds there are.
    pub const COUNT: usize = Self::Opaque as usize + 1;

    /// The kinds that a tool can have, with the words that policies use for them.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("runs", Self::Runs),
        ("reads", Self::Reads),
        ("writes", Self::Writes),
        ("deletes", Self::Deletes),
        ("connects", Self::Connects),
        ("sets", Self::Sets),
        ("sql", Self::Sql),
    ];
}

/// A set of kinds of effects: what a tool can do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bound(u8);

impl Bound {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Everything.
    pub const ALL: Self = Self(u8::MAX);
    /// What a command can do: everything.
    pub const COMMAND: Self = Self::ALL;
    /// Changes something: writes, deletes, runs, sets, connects or runs statements.
    pub const CHANGES: Self = Self(!(1 << EffectKind::Reads as u8 | 1 << EffectKind::Opaque as u8));

    /// The set of one kind.
    pub const fn just(kind: EffectKind) -> Self {
        Self(1 << kind as u8)
    }

    /// The set of these kinds.
    pub fn of(kinds: &[EffectKind]) -> Self {
        kinds.iter().fold(Self::NONE, |bound, kind| bound.with(*kind))
    }

    /// The set and that kind.
    #[must_use]
    pub const fn with(self, kind: EffectKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// What is in either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the kind is in the set.
    pub const fn contains(self, kind: EffectKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
