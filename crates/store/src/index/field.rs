//! What can be filtered or counted by.

/// A column of the index. The numbers are in the file; a number that was released keeps its meaning. Those
/// that are counted come first, so that counting reads one run of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Field {
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
    /// What is not in the record itself: see [`Flag`].
    Flag = 20,
    Surface = 21,
    Server = 22,
    /// Audit, shadow and sanitizing rules that matched in addition to the one that decided.
    RuleBeside = 23,
    Session = 24,
    Org = 25,
    Team = 26,
    Key = 27,
    Agent = 28,
}

impl Field {
    /// The last field that is counted.
    pub(crate) const LAST_COUNTED: Self = Self::Day;

    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// The field of that number, if it is counted.
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

/// The values of [`Field::Flag`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// It completes another record and is not shown by itself.
    Completes = 1,
    /// Its body could not be read. A query that meets it must report that, whatever it looks for.
    Unreadable = 2,
}

impl Flag {
    pub(crate) fn number(self) -> i64 {
        self as i64
    }
}
