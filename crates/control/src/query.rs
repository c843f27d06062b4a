//! Filters as the query of a URL, in both directions.

use std::fmt::Display;
use std::str::FromStr;

use callgate_audit::{CallOutcome, Filter, RecordKind, RecordOrder};
use callgate_call::Surface;
use jiff::Timestamp;
use url::form_urlencoded::{self, Serializer};

use crate::problem::HintedError;

/// The known parameters.
const KNOWN: [&str; 19] = [
    "after", "limit", "kind", "session", "request", "tool", "server", "surface", "verdict", "rule",
    "model", "provider", "user", "team", "org", "agent", "key", "since", "until",
];

/// The filter of a query, oldest records first. An unknown parameter is an error: a misspelt filter
/// must not show everything.
pub(crate) fn parse(query: &str) -> Result<Filter, HintedError> {
    let mut filter = Filter { order: RecordOrder::OldestFirst, ..Filter::default() };
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let (key, value) = (key.as_ref(), value.as_ref());
        match key {
            "after" => put(&mut filter.after, key, number(key, value)?)?,
            "limit" => put(&mut filter.limit, key, number(key, value)?)?,
            "kind" => filter.kinds.push(kind(value)?),
            "surface" => {
                let words = Surface::ALL.map(Surface::as_str);
                put(&mut filter.surface, key, word(key, value, Surface::from_word, &words)?)?;
            }
            "verdict" => {
                let words = CallOutcome::ALL.map(CallOutcome::as_str);
                put(&mut filter.verdict, key, word(key, value, CallOutcome::from_word, &words)?)?;
            }
            "since" => put(&mut filter.since, key, time(key, value)?)?,
            "until" => put(&mut filter.until, key, time(key, value)?)?,
            _ => put(text(&mut filter, key)?, key, value.to_owned())?,
        }
    }
    Ok(filter)
}

/// The field for a parameter that takes any text.
fn text<'a>(filter: &'a mut Filter, key: &str) -> Result<&'a mut Option<String>, HintedError> {
    Ok(match key {
        "session" => &mut filter.session,
        "request" => &mut filter.request,
        "tool" => &mut filter.tool,
        "server" => &mut filter.server,
        "rule" => &mut filter.rule,
        "model" => &mut filter.model,
        "provider" => &mut filter.provider,
        "user" => &mut filter.who.user,
        "team" => &mut filter.who.team,
        "org" => &mut filter.who.org,
        "agent" => &mut filter.who.agent,
        "key" => &mut filter.who.key,
        _ => {
            let hint = format!("there are {}", KNOWN.join(", "));
            return Err(HintedError::hinted(format!("unknown parameter `{key}`"), hint));
        }
    })
}

/// The query of a filter. It has no order, because there is only one.
pub(crate) fn write(filter: &Filter) -> String {
    let mut query = Serializer::new(String::new());
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            query.append_pair(key, &value);
        }
    };
    put("after", filter.after.map(|after| after.to_string()));
    put("limit", filter.limit.map(|limit| limit.to_string()));
    for kind in &filter.kinds {
        put("kind", Some(kind.as_str().to_owned()));
    }
    put("session", filter.session.clone());
    put("request", filter.request.clone());
    put("tool", filter.tool.clone());
    put("server", filter.server.clone());
    put("surface", filter.surface.map(|surface| surface.as_str().to_owned()));
    put("verdict", filter.verdict.map(|verdict| verdict.as_str().to_owned()));
    put("rule", filter.rule.clone());
    put("model", filter.model.clone());
    put("provider", filter.provider.clone());
    put("user", filter.who.user.clone());
    put("team", filter.who.team.clone());
    put("org", filter.who.org.clone());
    put("agent", filter.who.agent.clone());
    put("key", filter.who.key.clone());
    put("since", filter.since.map(|since| since.to_string()));
    put("until", filter.until.map(|until| until.to_string()));
    query.finish()
}

fn put<T>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), HintedError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(HintedError::new(format!("`{key}` appears twice"))),
    }
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, HintedError> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = Some(value).filter(|_| is_number).and_then(|value| value.parse().ok());
    number.ok_or_else(|| HintedError::new(format!("`{key}` is not a number: `{value}`")))
}

fn kind(value: &str) -> Result<RecordKind, HintedError> {
    let kind = RecordKind::ALL.iter().copied().find(|kind| kind.as_str() == value);
    kind.ok_or_else(|| unknown("kind", value, RecordKind::ALL.iter().map(|kind| kind.as_str())))
}

fn word<T>(
    key: &str,
    value: &str,
    read: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, HintedError> {
    read(value).ok_or_else(|| unknown(key, value, words.iter().copied()))
}

fn time(key: &str, value: &str) -> Result<Timestamp, HintedError> {
    value.parse().map_err(|_| {
        let hint = "write a time like `2026-01-31T12:00:00Z`";
        HintedError::hinted(format!("`{key}` is not a time: `{value}`"), hint)
    })
}

fn unknown<'a>(
    key: &str,
    value: impl Display,
    words: impl Iterator<Item = &'a str>,
) -> HintedError {
    let words: Vec<&str> = words.collect();
    HintedError::hinted(
        format!("unknown {key} `{value}`"),
        format!("there are {}", words.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use callgate_audit::WhoFilter;

    use super::*;

    #[test]
    fn a_filter_comes_back() {
        let filter = Filter {
            kinds: vec![RecordKind::ToolCall, RecordKind::Turn],
            session: Some("a b&c=d".to_owned()),
            request: Some("019a".to_owned()),
            tool: Some("mcp__*".to_owned()),
            server: Some("größe+".to_owned()),
            surface: Some(Surface::Mcp),
            verdict: Some(CallOutcome::Deny),
            rule: Some("no-rm".to_owned()),
            model: Some("m?".to_owned()),
            provider: Some("open*".to_owned()),
            who: WhoFilter {
                user: Some("ada".to_owned()),
                team: Some("web".to_owned()),
                org: Some("acme".to_owned()),
                agent: Some("claude*".to_owned()),
                key: Some("laptop".to_owned()),
            },
            since: Some("2026-01-31T12:00:00.5Z".parse().unwrap()),
            until: Some("2026-02-01T00:00:00Z".parse().unwrap()),
            after: Some(7),
            limit: Some(9),
            order: RecordOrder::OldestFirst,
        };
        assert_eq!(parse(&write(&filter)), Ok(filter));
    }

    #[test]
    fn unknown_parameters_are_refused() {
        for (query, expected) in [
            ("tol=x", "unknown parameter `tol`"),
            ("after=-1", "`after` is not a number"),
            ("after=+1", "`after` is not a number"),
            ("after=99999999999999999999", "`after` is not a number"),
            ("after=1&after=2", "`after` appears twice"),
            ("kind=call", "unknown kind `call`"),
            ("verdict=block", "unknown verdict `block`"),
            ("surface=web", "unknown surface `web`"),
            ("since=yesterday", "`since` is not a time"),
        ] {
            let problem = parse(query).unwrap_err();
            assert!(problem.message().contains(expected), "{query}: {problem}");
        }
    }
}
