//! Judges the tools that a request offers. Denied ones are refused or removed.

use callgate_decide::{Denial, Offer};
use callgate_dialect::request::{Tool, advertised};

use crate::gateway::{LoadedGateway, ProviderExchange};
use crate::refusal::Refusal;
use crate::settings::Inbound;

/// The request without denied tools; `None` if it stays unchanged.
pub(crate) fn judge(
    inner: &LoadedGateway,
    exchange: &ProviderExchange,
    request: &str,
) -> Result<Option<String>, Refusal> {
    let model = model_of(&exchange.route.path);
    let found = advertised(exchange.route.dialect, request, model.as_deref())
        .map_err(|why| Refusal::BadRequest(format!("the tools it offers cannot be read: {why}")))?;
    let definition = |tool: &Tool| tool.definition.of(request);
    let offers: Vec<Offer<'_>> = found
        .tools()
        .iter()
        .map(|tool| Offer {
            name: &tool.name,
            also: &tool.also,
            definition: definition(tool),
            except: &tool.except,
        })
        .collect();
    let denied = inner.decider.judge_offers(&exchange.context, &offers);
    let Some((_, first)) = denied.first() else { return Ok(None) };
    match inner.settings.inbound {
        Inbound::Reject => Err(Refusal::Blocked(denial_message(first, denied.len() - 1))),
        Inbound::Strip => {
            let places: Vec<usize> = denied.iter().map(|(place, _)| *place).collect();
            let left = found.without(request, &places);
            let unclean = |why| {
                let denial_message = denial_message(first, denied.len() - 1);
                Refusal::Blocked(format!("{denial_message} It could not be removed: {why}."))
            };
            left.map(Some).map_err(unclean)
        }
    }
}

/// The model in the path. In an accepted path only colons and slashes may be percent-encoded.
fn model_of(path: &str) -> Option<String> {
    let segments: Vec<&str> = path.split('/').collect();
    let is_before = |segment: &&str| matches!(*segment, "model" | "models" | "deployments");
    let before = segments.iter().rposition(is_before)?;
    let mut name = (*segments.get(before + 1)?).to_owned();
    for (encoded, plain) in [("%3A", ":"), ("%3a", ":"), ("%2F", "/"), ("%2f", "/")] {
        name = name.replace(encoded, plain);
    }
    Some(name)
}

/// Explains what is denied, why, and what to do.
fn denial_message(denial: &Denial, more: usize) -> String {
    let (mut text, way_out) = describe_offer(&denial.tool);
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

/// Describes an offer, and what the client can do about it.
fn describe_offer(tool: &str) -> (String, &'static str) {
    if let Some(model) = tool.strip_prefix("model:") {
        let text = format!("the request is for the model `{model}`, which uses tools of its own");
        return (text, "Use another model.");
    }
    let whole = tool.strip_prefix("mcp__").and_then(|rest| rest.strip_suffix("__*"));
    let Some(server) = whole else {
        let text = format!("the request offers the tool `{tool}` to the model");
        return (text, "Remove the tool from the request.");
    };
    let kept = server.split_once(':').filter(|(kind, _)| STORED_AT_PROVIDER.contains(kind));
    match kept {
        Some((kind, id)) => {
            let text = format!("the request uses the {kind} `{id}`, which may include any tool");
            (text, "Put what the model needs into the request itself.")
        }
        None => {
            let text =
                format!("the request offers all tools of the server `{server}` to the model");
            (text, "List the tools that the model needs, or remove the server from the request.")
        }
    }
}

/// What a provider may have stored for a request, including tools.
const STORED_AT_PROVIDER: [&str; 3] = ["agent", "prompt", "preset"];
