//! Rules about text, on what a request says.

use callgate_decide::{TextGuard, TextHit};
use callgate_dialect::request;
use http::HeaderMap;

use crate::gateway::{Exchange, Inner};
use crate::headers;
use crate::respond::Refusal;
use crate::route::{Said, Treatment};
use crate::settings::Mode;

/// The rules that read this request, if any does.
pub(crate) fn guard(inner: &Inner, exchange: &Exchange, headers: &HeaderMap) -> Option<TextGuard> {
    let speaks = match exchange.way.treatment {
        Treatment::Inspect(_) | Treatment::PassRestored(_) | Treatment::PassSaid(Said::Json) => {
            true
        }
        Treatment::PassSaid(Said::JsonOrForm) => !headers::is_form(headers),
        Treatment::Pass | Treatment::Opened | Treatment::Refuse(_) => false,
    };
    let reads = inner.settings.mode == Mode::Full;
    if !speaks || !reads {
        return None;
    }
    inner.decider.request_guard(&exchange.context.origin)
}

/// The request with its texts masked; `None` if it stays as it is. Nothing of a request that a
/// rule blocks goes to the provider, and nothing of one that cannot be read.
pub(crate) fn judge(
    inner: &Inner,
    exchange: &Exchange,
    guard: &TextGuard,
    body: &[u8],
) -> Result<Option<String>, Refusal> {
    let unreadable = |why: &str| {
        Refusal::BadRequest(format!("rules about text must read it, and it is not {why}"))
    };
    let body = std::str::from_utf8(body).map_err(|_| unreadable("UTF-8"))?;
    let texts = match exchange.way.treatment {
        Treatment::PassSaid(_) => request::plain_texts(body),
        _ => request::texts(body),
    };
    let texts = texts.map_err(|error| unreadable(&format!("JSON: {error}")))?;
    let (mut found, mut changes) = (Found::default(), Vec::new());
    for said in texts {
        let outcome = guard.whole(&said.text(body));
        found.add(outcome.hits, outcome.blocked);
        changes.extend(outcome.text.map(|masked| said.changed(&masked)));
    }
    for (hit, _) in &found.hits {
        inner.metrics.found(hit, "request");
    }
    inner.decider.record_request_hits(&exchange.context, &found.hits);
    if found.blocked {
        let denial = inner.decider.denial_text();
        let told = denial.custom_content().unwrap_or("it was stopped by a content policy");
        return Err(Refusal::Blocked(told.to_owned()));
    }
    Ok((!changes.is_empty()).then(|| request::with_texts(body, changes)))
}

/// What was found. A request carries its whole conversation, so each thing is told once, with how
/// often it was found.
#[derive(Default)]
struct Found {
    hits: Vec<(TextHit, usize)>,
    blocked: bool,
}

impl Found {
    fn add(&mut self, hits: Vec<TextHit>, blocked: bool) {
        self.blocked |= blocked;
        for hit in hits {
            if let Some((_, times)) = self.hits.iter_mut().find(|(known, _)| *known == hit) {
                *times += 1;
            } else if self.hits.len() < MAX_HITS {
                self.hits.push((hit, 1));
            }
        }
    }
}

/// Kinds of things in one request that are told of: there are as many as rules and detectors.
const MAX_HITS: usize = 64;
