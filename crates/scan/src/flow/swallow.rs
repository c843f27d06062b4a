//! Text that is dropped while it comes, because it belongs to something that was already replaced.

use crate::detectors::format::{Closing, closing};
use crate::find::end_of_run;
use crate::partial::Follower;
use crate::set::{Begin, CompiledSet, OpenSecret};

/// What is being dropped.
#[derive(Debug)]
pub(super) enum Swallow {
    /// An armoured key, up to its last line.
    Armour,
    /// A long run, up to a space, a quote or a backslash.
    Run,
    /// A token in several parts, up to a character that cannot be in one.
    Token,
    /// The text that a caller's pattern may still match.
    Pattern(Box<Follower>),
    /// All of the rest.
    Rest,
}

/// Where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwallowEnd {
    /// After this many bytes.
    Here(usize),
    /// Not in this text. The part from `keep_from` on has to be passed in again.
    Beyond { keep_from: usize },
}

impl Swallow {
    pub(super) fn of(inside: &OpenSecret) -> Self {
        if inside.armour { Self::Armour } else { Self::Run }
    }

    /// The rest of a match that began with `held` and became too long.
    pub(super) fn rest_of(set: &CompiledSet, begun: Option<(usize, Begin)>, held: &str) -> Self {
        match begun {
            Some((at, Begin::Pattern(_))) => {
                let follower = set.partial().and_then(|partial| partial.follow(at));
                let Some(mut follower) = follower else { return Self::Rest };
                match follower.push(held.as_bytes()) {
                    None => Self::Pattern(Box::new(follower)),
                    Some(_) => Self::Run,
                }
            }
            Some((_, Begin::Detector { .. } | Begin::Word(_))) => Self::Run,
            None => Self::Token,
        }
    }

    pub(super) fn end(&mut self, text: &str) -> SwallowEnd {
        let all = SwallowEnd::Beyond { keep_from: text.len() };
        let ends = |length: usize| if length < text.len() { SwallowEnd::Here(length) } else { all };
        match self {
            Self::Armour => match closing(text) {
                Closing::At(end) => SwallowEnd::Here(end),
                Closing::NotYet { from } => SwallowEnd::Beyond { keep_from: from },
                Closing::Never => {
                    *self = Self::Rest;
                    all
                }
            },
            Self::Run => ends(end_of_run(text, 0)),
            Self::Token => {
                let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
                ends(text.bytes().take_while(inside).count())
            }
            Self::Pattern(follower) => match follower.push(text.as_bytes()) {
                Some(length) => SwallowEnd::Here(text.floor_char_boundary(length)),
                None => all,
            },
            Self::Rest => all,
        }
    }
}
