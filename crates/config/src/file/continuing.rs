//! `continue`: how far a turn continues after all of its calls were denied.

use std::time::Duration;

use callgate_document::{At, Problems};
use callgate_gate::Notice;
use callgate_proxy::ContinueSettings;

use super::read::Section;

/// `continue`.
#[derive(Debug, Default)]
pub(crate) struct WrittenContinue {
    rounds: Option<At<u64>>,
    tokens: Option<At<u64>>,
    time: Option<At<Duration>>,
    notice: Option<At<Notice>>,
}

impl WrittenContinue {
    /// The settings that it describes.
    pub(crate) fn resolved(self) -> ContinueSettings {
        let standard = ContinueSettings::default();
        let rounds = self.rounds.and_then(|at| usize::try_from(at.value).ok());
        ContinueSettings {
            rounds: rounds.unwrap_or(standard.rounds),
            tokens: self.tokens.map_or(standard.tokens, |at| at.value),
            time: self.time.map_or(standard.time, |at| at.value),
            notice: self.notice.map_or(standard.notice, |at| at.value),
        }
    }
}

pub(super) fn continuing(section: &Section<'_>, problems: &mut Problems<'_>) -> WrittenContinue {
    WrittenContinue {
        rounds: section.count("rounds", problems),
        tokens: section.count("tokens", problems),
        time: section.duration("time", problems),
        notice: section.word("notice", problems),
    }
}
