//! Text that is cheap to copy. Most words of a command are parts of the command itself: they share its text.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A text.
#[derive(Clone)]
pub(crate) enum Text {
    /// A part of a text that is shared.
    Shared { whole: Rc<str>, from: u32, to: u32 },
    /// A text that is being put together.
    Owned(String),
    /// A text of callgate's own.
    Fixed(&'static str),
}

impl Text {
    /// A part of a text, which lies between characters.
    pub(crate) fn part(whole: &Rc<str>, from: usize, to: usize) -> Self {
        match (u32::try_from(from), u32::try_from(to)) {
            (Ok(from), Ok(to)) => Self::Shared { whole: Rc::clone(whole), from, to },
            _ => Self::Owned(whole.get(from..to).unwrap_or_default().to_owned()),
        }
    }

    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Shared { whole, from, to } => {
                whole.get(*from as usize..*to as usize).unwrap_or_default()
            }
            Self::Owned(text) => text,
            Self::Fixed(text) => text,
        }
    }

    /// Its length in bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.as_str().len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// The part between two bytes; `None` if they are not between characters.
    pub(crate) fn get(&self, from: usize, to: usize) -> Option<Self> {
        let part = self.as_str().get(from..to)?;
        Some(match self {
            Self::Shared { whole, from: start, .. } => {
                let start = *start as usize;
                Self::part(whole, start + from, start + to)
            }
            Self::Owned(_) => Self::Owned(part.to_owned()),
            Self::Fixed(text) => Self::Fixed(text.get(from..to)?),
        })
    }

    /// Adds text at the end.
    pub(crate) fn push_str(&mut self, text: &str) {
        self.edit(text.len(), |own| own.push_str(text));
    }

    /// Adds a character at the end.
    pub(crate) fn push(&mut self, character: char) {
        self.edit(character.len_utf8(), |own| own.push(character));
    }

    /// Adds a part of a shared text. Parts that follow each other stay one part.
    pub(crate) fn push_part(&mut self, whole: &Rc<str>, from: usize, to: usize) {
        if self.is_empty() {
            *self = Self::part(whole, from, to);
            return;
        }
        if let (Self::Shared { whole: own, to: end, .. }, Ok(to)) = (&mut *self, u32::try_from(to))
            && *end as usize == from
            && Rc::ptr_eq(own, whole)
        {
            *end = to;
            return;
        }
        self.push_str(whole.get(from..to).unwrap_or_default());
    }

    /// The same text, so that copies share it.
    pub(crate) fn shared(self) -> Self {
        match self {
            Self::Owned(text) if text.is_empty() => Self::default(),
            Self::Owned(text) => {
                let whole: Rc<str> = Rc::from(text);
                let length = whole.len();
                Self::part(&whole, 0, length)
            }
            other => other,
        }
    }

    fn edit(&mut self, more: usize, add: impl FnOnce(&mut String)) {
        if let Self::Owned(text) = self {
            return add(text);
        }
        let known = self.as_str();
        let mut text = String::with_capacity(known.len() + more);
        text.push_str(known);
        add(&mut text);
        *self = Self::Owned(text);
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Fixed("")
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Owned(text)
    }
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_follow_each_other_stay_one() {
        let whole: Rc<str> = Rc::from("echo füße");
        let mut text = Text::default();
        text.push_part(&whole, 0, 4);
        text.push_part(&whole, 4, 5);
        assert!(matches!(text, Text::Shared { from: 0, to: 5, .. }));
        text.push_part(&whole, 6, 11);
        assert_eq!(text.as_str(), "echo üße");
    }

    #[test]
    fn every_form_has_the_same_parts() {
        let whole: Rc<str> = Rc::from("xaübx");
        let shared = Text::part(&whole, 1, 5);
        for text in [shared.clone(), Text::Owned("aüb".to_owned()), Text::Fixed("aüb")] {
            assert_eq!(text, shared);
            assert_eq!(text.get(1, 3).as_deref(), Some("ü"));
            assert_eq!(text.get(3, 4).as_deref(), Some("b"));
            assert_eq!(text.get(2, 4), None);
            assert_eq!(text.get(1, 9), None);
            assert_eq!(text.clone().shared(), shared);
            let mut longer = text.clone();
            longer.push_str("c");
            longer.push('d');
            assert_eq!(longer.as_str(), "aübcd");
        }
    }
}
