//! Definitions on their way into the registry and the store.

use callgate_registry::{Definition, FirstUse, ItemIdentity, Observation, Pin, PinChange};
use parking_lot::MutexGuard;

use super::check::{Check, Objection};
use super::desk::{Books, now_micros};
use super::session::McpSession;
use super::settings::McpSettings;
use super::store;
use crate::settings::OnFailure;

/// A definition and what is new about it or speaks against keeping it; or why it has no reading.
pub(crate) type Seen = Result<(Definition, Result<Option<News>, Objection>), String>;

/// What is new about a definition.
#[derive(Debug)]
pub(crate) enum News {
    New,
    Changed(Box<PinChange>),
    Reverted,
    MetaMoved,
}

impl News {
    pub(crate) fn detail(&self) -> Option<String> {
        match self {
            Self::New => None,
            Self::Changed(change) => Some(match &change.launch {
                None => format!("was {}, is {}", change.was, change.is),
                Some((was, is)) => format!(
                    "was {}, is {}; the server was {}, is {}",
                    change.was,
                    change.is,
                    was.shown(),
                    is.shown()
                ),
            }),
            Self::Reverted => Some("it is again as it was trusted".to_owned()),
            Self::MetaMoved => Some("something that is not pinned has changed".to_owned()),
        }
    }
}

/// Other processes may see the same tools at once. Each round one of them has kept its pin, so a
/// few are enough; whoever still loses then holds to what the store has.
const ROUNDS: usize = 4;

impl McpSession {
    /// Takes in definitions and keeps what is new of them, for every process.
    pub(crate) fn observe(&self, settings: &McpSettings, mut seen: Vec<Seen>) -> Vec<Seen> {
        let first = match settings.pins.auto_trust_first {
            true => FirstUse::Trust,
            false => FirstUse::Quarantine,
        };
        let mut books = self.books();
        let mut open: Vec<usize> = (0..seen.len()).collect();
        for _ in 0..ROUNDS {
            let mut dirty = Vec::new();
            for place in open.drain(..) {
                let Some(Ok((definition, observed))) = seen.get_mut(place) else { continue };
                let identity = ItemIdentity::of(self.server.as_str(), definition);
                match self.observe_one(&mut books, &identity, definition, first) {
                    Ok((news, pin)) => {
                        // What was new in an earlier round stays so.
                        let before = std::mem::replace(observed, Ok(None)).unwrap_or_default();
                        *observed = Ok(news.or(before));
                        dirty.extend(pin.map(|pin| (place, pin)));
                    }
                    Err(objection) => *observed = Err(objection),
                }
            }
            if dirty.is_empty() {
                break;
            }
            books.changed();
            open = self.keep(&mut books, &mut seen, dirty);
        }
        seen
    }

    fn observe_one(
        &self,
        books: &mut Books,
        identity: &ItemIdentity,
        definition: &Definition,
        first: FirstUse,
    ) -> Result<(Option<News>, Option<Pin>), Objection> {
        let at = now_micros();
        let observed = books.registry.observe(identity, &self.launch, definition, first, at);
        let observed = observed.map_err(|full| {
            Objection::block(
                Check::Pin,
                full.to_string(),
                "Ask the operator to look at the server.",
            )
        })?;
        let pin = books.registry.get(identity).filter(|_| observed.is_dirty).cloned();
        let news = match observed.what {
            Observation::New => Some(News::New),
            Observation::Changed(change) if change.is_news => Some(News::Changed(Box::new(change))),
            Observation::Reverted => Some(News::Reverted),
            Observation::OnlyMetaMoved => Some(News::MetaMoved),
            Observation::Same | Observation::Changed(_) => None,
        };
        Ok((news, pin))
    }

    /// Keeps pins in the store, all at once. Answers which are to be looked at again, for another
    /// process was faster.
    fn keep(
        &self,
        books: &mut MutexGuard<'_, Books>,
        seen: &mut [Seen],
        dirty: Vec<(usize, Pin)>,
    ) -> Vec<usize> {
        let pins: Vec<&Pin> = dirty.iter().map(|(_, pin)| pin).collect();
        // Unlocked, because threads that carry streams use the books and must not wait for the store.
        let kept = MutexGuard::unlocked(books, || store::keep_all(&self.inner.audit, &pins));
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                tracing::error!(%error, "pins of an MCP server cannot be kept");
                if self.inner.in_force().settings.on_failure == OnFailure::Deny {
                    for (place, _) in dirty {
                        if let Some(Ok((_, observed))) = seen.get_mut(place) {
                            *observed = Err(unkept());
                        }
                    }
                }
                return Vec::new();
            }
        };
        let mut again = Vec::new();
        for ((place, pin), kept) in dirty.into_iter().zip(kept) {
            match kept {
                store::Kept::Ours(pin) => books.registry.put(*pin),
                store::Kept::Theirs(theirs) => {
                    books.registry.reset(&pin.identity);
                    theirs.into_iter().for_each(|theirs| books.registry.put(*theirs));
                    again.push(place);
                }
            }
        }
        books.changed();
        again
    }
}

fn unkept() -> Objection {
    Objection::block(
        Check::Store,
        "Its pin could not be kept.".to_owned(),
        "Tell the operator: callgate's store cannot be written.",
    )
}
