//! What a finding can be, and how bad it is.

use std::fmt;
use std::str::FromStr;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Text that gives orders to the model.
    Directive,
    /// A file of keys or credentials that the model is asked to read or hand over.
    SensitivePath,
    /// Data that is to be sent somewhere.
    Exfiltration,
    /// The name of another server's tool.
    CrossReference,
    /// Characters that nobody sees and a model reads.
    HiddenText,
    /// Sequences that steer a terminal.
    TerminalEscape,
    /// Text that reads harmless until it is decoded.
    EncodedPayload,
    /// A schema that asks for more than its tool needs, or that cannot be read whole.
    SchemaTrick,
    /// A name that looks like another.
    LookAlike,
    /// A document that cannot be read, so that nothing can be said about it.
    Unreadable,
}

impl Class {
    /// Every class, in the order of the reference.
    pub const ALL: [Self; 10] = [
        Self::Directive,
        Self::SensitivePath,
        Self::Exfiltration,
        Self::CrossReference,
        Self::HiddenText,
        Self::TerminalEscape,
        Self::EncodedPayload,
        Self::SchemaTrick,
        Self::LookAlike,
        Self::Unreadable,
    ];

    /// Its word in rules and records. It does not change between versions.
    pub fn word(self) -> &'static str {
        match self {
            Self::Directive => "directive",
            Self::SensitivePath => "sensitive-path",
            Self::Exfiltration => "exfiltration",
            Self::CrossReference => "cross-reference",
            Self::HiddenText => "hidden-text",
            Self::TerminalEscape => "terminal-escape",
            Self::EncodedPayload => "encoded-payload",
            Self::SchemaTrick => "schema-trick",
            Self::LookAlike => "look-alike",
            Self::Unreadable => "unreadable",
        }
    }

    /// What it means, in one line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Directive => {
                "text that gives orders to the model, or keeps something from the user"
            }
            Self::SensitivePath => "the model is asked to read or hand over a file of credentials",
            Self::Exfiltration => "data of the user or of the conversation is to be sent somewhere",
            Self::CrossReference => "a text steers the use of another server's tool",
            Self::HiddenText => "characters that nobody sees and a model reads",
            Self::TerminalEscape => "sequences that steer a terminal",
            Self::EncodedPayload => "encoded text that decodes to one of the other findings",
            Self::SchemaTrick => {
                "a schema that asks for more than its tool needs, or hides its size"
            }
            Self::LookAlike => "a name that looks like another name",
            Self::Unreadable => {
                "a document that cannot be read strictly, so nothing is known of it"
            }
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that names no class or no severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord(pub String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no such word", self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl FromStr for Class {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|class| class.word() == word);
        found.ok_or_else(|| UnknownWord(word.into()))
    }
}

/// How bad a finding is. What is `High` or worse stops by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth a line in the log.
    Low,
    /// Odd, and seen in honest servers too.
    Medium,
    /// No honest server writes this.
    High,
    /// An attack: several signs together.
    Critical,
}

impl Severity {
    /// From the mildest to the worst.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Its word in rules and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The next worse one.
    pub(super) fn raised(self) -> Self {
        match self {
            Self::Low => Self::Medium,
            Self::Medium => Self::High,
            Self::High | Self::Critical => Self::Critical,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Severity {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|severity| severity.word() == word);
        found.ok_or_else(|| UnknownWord(word.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for class in Class::ALL {
            assert_eq!(class.word().parse(), Ok(class));
            assert!(class.word().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            assert!(!class.meaning().contains('\n'));
        }
        for severity in Severity::ALL {
            assert_eq!(severity.word().parse(), Ok(severity));
        }
        assert_eq!("High".parse::<Severity>(), Err(UnknownWord("High".into())));
        assert!(Severity::Low < Severity::Medium && Severity::High < Severity::Critical);
    }
}
