//! The classes and severities of findings.

use std::fmt;
use std::str::FromStr;

/// The class of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingClass {
    /// Text with instructions for the model.
    Directive,
    /// A file with keys or credentials that the model is asked to read or send.
    SensitivePath,
    /// Data that is to be sent somewhere.
    Exfiltration,
    /// The name of another server's tool.
    CrossReference,
    /// Characters that people do not see and a model reads.
    HiddenText,
    /// Terminal control sequences.
    TerminalEscape,
    /// Text that looks harmless until it is decoded.
    EncodedPayload,
    /// A schema that asks for more than its tool needs, or that cannot be fully parsed.
    SchemaTrick,
    /// A name that looks like another.
    LookAlike,
    /// A document that cannot be parsed, so that nothing is known about it.
    Unreadable,
}

impl FindingClass {
    /// All classes, in the order of the reference.
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

    /// Its name in rules and records. It does not change between versions.
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
                "text that gives instructions to the model, or keeps something from the user"
            }
            Self::SensitivePath => "a request to read or send a file with credentials",
            Self::Exfiltration => {
                "a request to send data of the user or the conversation elsewhere"
            }
            Self::CrossReference => "instructions about another server's tool",
            Self::HiddenText => "characters that people cannot see but a model reads",
            Self::TerminalEscape => "terminal control sequences",
            Self::EncodedPayload => "encoded text that decodes to one of the other findings",
            Self::SchemaTrick => {
                "a schema that asks for more than its tool needs, or hides its size"
            }
            Self::LookAlike => "a name that looks like another name",
            Self::Unreadable => {
                "a document that cannot be parsed strictly, so its content is unknown"
            }
        }
    }
}

impl fmt::Display for FindingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A name that is not a class or a severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord(pub String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a known name", self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl FromStr for FindingClass {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|class| class.word() == word);
        found.ok_or_else(|| UnknownWord(word.into()))
    }
}

/// The severity of a finding. `High` and above blocks by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a line in the log.
    Low,
    /// Unusual, but also seen in honest servers.
    Medium,
    /// No honest server writes this.
    High,
    /// An attack: several signs together.
    Critical,
}

impl Severity {
    /// From the lowest to the highest.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Its name in rules and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The next higher one.
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
        for class in FindingClass::ALL {
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
