//! Finds members in which a frame repeats its text as tokens: if the text changes, they must be
//! removed.

use std::sync::LazyLock;

use callgate_json::{Error, Kind, Reader, Span, has_escape};
use memchr::memmem::Finder;

/// The replacement of every such member: an empty value of the same type.
pub fn echoes(data: &str) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    match look(&mut Reader::new(data), &mut found) {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// Whether a frame may repeat its text, at `text`: cheaper than searching for it.
pub fn may_echo(data: &str, text: Span) -> bool {
    let before = data.get(..text.start).unwrap_or(data);
    let behind = data.get(text.end..).unwrap_or("");
    may_contain_key(before) || may_contain_key(behind)
}

/// Whether the part may contain such a key. A key may be spelled with escapes; an empty value
/// repeats nothing.
fn may_contain_key(part: &str) -> bool {
    static FINDERS: LazyLock<[Finder<'static>; 3]> =
        LazyLock::new(|| ["logprobs", "token_likelihoods", LISTED].map(Finder::new));
    let says = |at: usize, key: &Finder<'_>| {
        let value = part.get(at + key.needle().len()..).unwrap_or("");
        !["\":[]", "\":null"].iter().any(|nothing| value.starts_with(nothing))
    };
    has_escape(part)
        || FINDERS.iter().any(|key| key.find_iter(part.as_bytes()).any(|at| says(at, key)))
}

/// Chat and Responses, Gemini, Gemini as its proxies spell it, and Cohere before version 2.
const KEYS: [&str; 4] = ["logprobs", "logprobsResult", "logprobs_result", "token_likelihoods"];

/// AI21. Other APIs count their tokens under this name: only a list repeats the text.
const LISTED: &str = "tokens";

fn look(json: &mut Reader<'_>, found: &mut Vec<(Span, String)>) -> Result<(), Error> {
    match json.kind()? {
        Kind::Object => {
            let mut object = json.object()?;
            while let Some(key) = object.next(json)? {
                let is_list = key.is(LISTED) && json.kind()? == Kind::Array;
                if !is_list && !KEYS.iter().any(|name| key.is(name)) {
                    look(json, found)?;
                    continue;
                }
                let nothing = match json.kind()? {
                    Kind::Array => "[]",
                    _ => "null",
                };
                found.push((json.skip()?, nothing.to_owned()));
            }
        }
        Kind::Array => {
            let mut array = json.array()?;
            while array.next(json)? {
                look(json, found)?;
            }
        }
        _ => drop(json.skip()?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::departure::Departure;

    #[test]
    fn tokens_are_found_wherever_they_stand() {
        let data = r#"{"choices":[{"logprobs":{"content":[{"token":"sk"}]}}],"x":{"logpr\u006fbs":[1]},"y":[{"logprobs":null}],"tokens":[1],"usage":{"tokens":{"n":1}}}"#;
        let departure = Departure { masks: echoes(data), ..Departure::default() };
        let left = r#"{"choices":[{"logprobs":null}],"x":{"logpr\u006fbs":[]},"y":[{"logprobs":null}],"tokens":[],"usage":{"tokens":{"n":1}}}"#;
        assert_eq!(departure.masked(data), left);
        assert!(echoes("[DONE]").is_empty());
    }

    #[test]
    fn a_frame_without_tokens_is_not_looked_through() {
        for (data, may) in [
            (r#"{"x":1,"text":"TEXT","logprobs":[]}"#, false),
            (r#"{"logprobs":null,"text":"TEXT"}"#, false),
            (r#"{"logprobs": null,"text":"TEXT"}"#, true),
            (r#"{"text":"TEXT","logprobs":{"content":["T"]}}"#, true),
            (r#"{"text":"TEXT","logprobs_result":[1]}"#, true),
            (r#"{"l\u006fgprobs":[1],"text":"TEXT"}"#, true),
        ] {
            let start = data.find("TEXT").unwrap();
            assert_eq!(may_echo(data, Span { start, end: start + 4 }), may, "{data}");
        }
    }
}
