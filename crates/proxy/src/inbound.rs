//! Tools that a request offers: judged, and denied ones refused or taken out.

use callgate_decide::{Denial, Offer};
use callgate_dialect::request::{Tool, advertised};

use crate::gateway::{Exchange, Inner};
use crate::respond::Refusal;
use crate::settings::Inbound;

/// The request without the tools that are denied; `None` if it may go as it came.
pub(crate) fn judged(
    inner: &Inner,
    exchange: &Exchange,
    request: &str,
) -> Result<Option<String>, Refusal> {
    let found = advertised(exchange.way.dialect, request)
        .map_err(|why| Refusal::BadRequest(format!("its tools cannot be read: {why}")))?;
    let definition = |tool: &Tool| tool.definition.of(request);
    let offers: Vec<Offer<'_>> = found
        .tools()
        .iter()
        .map(|tool| Offer { name: &tool.name, definition: definition(tool), except: &tool.except })
        .collect();
    let denied = inner.decider.offers(&exchange.context, &offers);
    let Some((_, first)) = denied.first() else { return Ok(None) };
    match inner.settings.inbound {
        Inbound::Reject => Err(Refusal::Blocked(told(first, denied.len() - 1))),
        Inbound::Strip => {
            let places: Vec<usize> = denied.iter().map(|(place, _)| *place).collect();
            let left = found.without(request, &places);
            let unclean = |why| {
                let told = told(first, denied.len() - 1);
                Refusal::Blocked(format!("{told} It could not be taken out: {why}."))
            };
            left.map(Some).map_err(unclean)
        }
    }
}

/// What is denied, why, and the way out.
fn told(denial: &Denial, more: usize) -> String {
    let whole = denial.tool.strip_prefix("mcp__").and_then(|rest| rest.strip_suffix("__*"));
    let (mut text, way_out) = match whole {
        Some(server) => (
            format!("the request offers all tools of the server `{server}` to the model"),
            "List those the model needs, or take the server out of the request.",
        ),
        None => (
            format!("the request offers the tool `{}` to the model", denial.tool),
            "Take the tool out of the request.",
        ),
    };
    if more > 0 {
        text.push_str(&format!(" (and {more} more that are denied)"));
    }
    match &denial.rule {
        Some(rule) => text.push_str(&format!(", which the rule `{rule}` does not allow: ")),
        None => text.push_str(", which the policy does not allow: "),
    }
    text.push_str(&denial.reason);
    let hint = denial.hint.as_deref().unwrap_or(way_out);
    text.push(' ');
    text.push_str(hint);
    if let Some(record) = &denial.record {
        text.push_str(&format!(" Record: {record}"));
    }
    text
}
