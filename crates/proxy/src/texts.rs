//! Applies text rules to requests.

use callgate_decide::{TextGuard, TextHit};
use callgate_dialect::request;
use http::HeaderMap;

use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::headers;
use crate::refusal::Refusal;
use crate::route::{TextFormat, Treatment};
use crate::settings::InspectionMode;

/// The rules that apply to this request, if any.
pub(crate) fn guard(
    inner: &LoadedGateway,
    exchange: &ProviderExchange,
    headers: &HeaderMap,
) -> Option<TextGuard> {
    let has_text = match exchange.route.treatment {
        Treatment::Inspect(_)
        | Treatment::PassRestored(_)
        | Treatment::PassText(TextFormat::Json) => true,
        Treatment::PassText(TextFormat::JsonOrForm) => !headers::is_form(headers),
        Treatment::Pass | Treatment::Opened | Treatment::Refuse(_) => false,
    };
    let reads = inner.settings.mode == InspectionMode::Full;
    if !has_text || !reads {
        return None;
    }
    inner.decider.request_guard(&exchange.context.origin)
}

/// The request with its texts masked; `None` if it stays unchanged. A request that a rule blocks,
/// or that cannot be read, does not reach the provider at all.
pub(crate) fn judge(
    inner: &LoadedGateway,
    exchange: &ProviderExchange,
    guard: &TextGuard,
    body: &[u8],
) -> Result<Option<String>, Refusal> {
    let unreadable = |why: &str| {
        Refusal::BadRequest(format!(
            "text rules must be able to read it, and it is not valid {why}"
        ))
    };
    let body = std::str::from_utf8(body).map_err(|_| unreadable("UTF-8"))?;
    let texts = match exchange.route.treatment {
        Treatment::PassText(_) => request::plain_texts(body),
        _ => request::texts(body),
    };
    let texts = texts.map_err(|error| unreadable(&format!("JSON: {error}")))?;
    let (mut matches, mut changes) = (TextMatches::default(), Vec::new());
    for place in texts {
        let outcome = guard.whole(&place.text(body));
        matches.add(outcome.hits, outcome.blocked);
        changes.extend(outcome.text.map(|masked| place.changed(&masked)));
    }
    for (hit, _) in &matches.hits {
        inner.metrics.count_text_match(hit, "request");
    }
    inner.decider.record_request_hits(&exchange.context, &matches.hits);
    if matches.blocked {
        let denial = inner.decider.denial_text();
        let message = denial.custom_content().unwrap_or("it was stopped by a content policy");
        return Err(Refusal::Blocked(message.to_owned()));
    }
    Ok((!changes.is_empty()).then(|| request::with_texts(body, changes)))
}

/// The matches in a request. A request contains its whole conversation, so each match is reported
/// once, with its count.
#[derive(Default)]
struct TextMatches {
    hits: Vec<(TextHit, usize)>,
    blocked: bool,
}

impl TextMatches {
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

/// Maximum number of different matches that are reported per request. There are about as many rules
/// and detectors.
const MAX_HITS: usize = 64;
