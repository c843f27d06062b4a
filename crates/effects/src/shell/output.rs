//! What a command prints, as far as the text fixes it.

use std::rc::Rc;

use crate::effect::Connection;
use crate::word::Word;

/// More text than this is not followed.
const MAX_TEXT: usize = 1 << 16;

/// What a command prints.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Nothing.
    Nothing,
    /// Text, of which parts may be unknown.
    Text(Word),
    /// The content of a file.
    File(Word),
    /// The content of a file that an earlier call has written. It may have changed since, so this
    /// text is only likely.
    Earlier {
        /// The file; unknown if this was made of one.
        file: Word,
        /// The text.
        text: Word,
    },
    /// What a host sends.
    Network(Vec<Connection>),
    /// Anything.
    Unknown,
}

impl Output {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.push('\n');
        Self::Text(Word::known(text))
    }

    /// This output, followed by another.
    pub(crate) fn then(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) => other,
            (this, Self::Nothing) => this,
            (Self::Network(mut one), Self::Network(two)) => {
                one.extend(two);
                Self::Network(one)
            }
            (network @ Self::Network(_), _) | (_, network @ Self::Network(_)) => network,
            (Self::Text(mut one), Self::Text(two)) => {
                if one.known_part().len() + two.known_part().len() > MAX_TEXT {
                    return Self::Unknown;
                }
                one.push_word(&two);
                Self::Text(one)
            }
            _ => Self::Unknown,
        }
    }

    /// Either this output or another.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => Self::Nothing,
            (Self::Text(one), Self::Text(two)) if one == two => Self::Text(one),
            (network @ Self::Network(_), _) | (_, network @ Self::Network(_)) => network,
            _ => Self::Unknown,
        }
    }

    /// The value that a substitution has.
    pub(crate) fn into_value(self) -> Word {
        match self {
            Self::Nothing => Word::default(),
            Self::Text(word) => match word.text() {
                Some(text) => Word::known(text.trim_end_matches('\n')),
                None => {
                    let end = word.known_part().trim_end_matches('\n').len();
                    let ends_in_gap = word.gaps().last().is_some_and(|gap| gap.at >= end);
                    if ends_in_gap { word } else { word.until(end) }
                }
            },
            _ => Word::unknown(),
        }
    }

    pub(crate) fn unshared(shared: Rc<Self>) -> Self {
        Rc::try_unwrap(shared).unwrap_or_else(|shared| shared.as_ref().clone())
    }

    /// The text, if all of it is known or likely.
    pub(crate) fn likely(&self) -> Option<&str> {
        match self {
            Self::Earlier { text, .. } => text.text(),
            other => other.known(),
        }
    }

    /// The text, if all of it is known.
    pub(crate) fn known(&self) -> Option<&str> {
        match self {
            Self::Text(word) => word.text(),
            _ => None,
        }
    }
}
