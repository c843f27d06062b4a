//! The fields that can be filtered or counted by.

/// A column of the index. The numbers are in the file, and a released number never changes its
/// meaning. Counted fields come first, so that counting reads one run of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum IndexField {
    Kind = 1,
    Action = 2,
    Tool = 3,
    /// The rule that decided.
    Rule = 4,
    Model = 5,
    Provider = 6,
    User = 7,
    /// The day, as a number.
    Day = 8,
    /// Facts that are not in the record itself: see [`IndexFlag`].
    Flag = 20,
    Surface = 21,
    Server = 22,
    /// Audit, shadow and sanitizing rules that matched in addition to the one that decided.
    OtherRule = 23,
    Session = 24,
    Org = 25,
    Team = 26,
    Key = 27,
    Agent = 28,
}

impl IndexField {
    /// The last field that is counted.
    pub(crate) const LAST_COUNTED: Self = Self::Day;

    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// The counted field with this number, if any.
    pub(crate) fn counted(number: i64) -> Option<Self> {
        let counted = [
            Self::Kind,
            Self::Action,
            Self::Tool,
            Self::Rule,
            Self::Model,
            Self::Provider,
            Self::User,
            Self::Day,
        ];
        counted.into_iter().find(|field| field.number() == number)
    }
}

/// The values of [`IndexField::Flag`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexFlag {
    /// It completes another record and is not shown on its own.
    Completes = 1,
    /// Its body could not be read. A query that comes across it must report that, whatever the
    /// filter is.
    Unreadable = 2,
}

impl IndexFlag {
    pub(crate) fn number(self) -> i64 {
        self as i64
    }
}
