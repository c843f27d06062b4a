//! An Ollama turn that continues after its calls were denied: the turn as the model produced it,
//! and the request that asks for more.

mod turn;

use super::request::error_result;
use crate::continued::{ContinueSpec, DeniedTurn, LastRequest, NotContinued, in_row};
use crate::json::{Edits, document, member, members, string_member};
use crate::request::RemovedCall;
use crate::usage;

pub(super) static CONTINUES: ContinueSpec = ContinueSpec {
    keep_alive: Some((None, EMPTY_LINE)),
    end_has_content: true,
    // It is not signed.
    keeps_thinking: true,
    ..ContinueSpec::of::<turn::Answer>(results, request, join, wants_json)
};

/// A line as models write many of: nothing is said yet.
const EMPTY_LINE: &str =
    "{\"model\":\"\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}";

/// What the last line counts.
const COUNTS: [&str; 6] = [
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
];

/// The error results, as messages.
fn results(calls: &[RemovedCall]) -> String {
    in_row(calls, error_result)
}

/// The request with the turn and its results at the end.
fn request(request: &str, turn: &DeniedTurn<'_>) -> Result<String, NotContinued> {
    let added = format!("{},{}", turn.content, results(turn.calls));
    LastRequest::read(request)?.with_messages(&added)
}

/// Whether the answer must be a JSON document, which a notice would break.
fn wants_json(request: &str) -> bool {
    let format = member(request, document(request), "format");
    format.is_some_and(|format| !["null", "\"\""].contains(&format.of(request)))
}

/// Whole answers as one: the texts of all, the rest of the last one, and the counts of all.
fn join(bodies: &[String], _: &str, last: &str) -> Option<String> {
    let message = member(last, document(last), "message")?;
    let mut edits = Edits::default();
    for (key, gap) in [("content", "\\n\\n"), ("thinking", "\\n\\n")] {
        let texts = bodies.iter().filter_map(|body| {
            let message = member(body, document(body), "message")?;
            string_member(body, message, key).map(|text| text.raw())
        });
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let text = format!("\"{}\"", texts.join(gap));
        match string_member(last, message, key) {
            Some(before) => edits.replace(before.span(), text),
            None if texts.is_empty() => {}
            None => edits.insert(message.start + 1, format!("\"{key}\":{text},")),
        }
    }
    let usage = bodies.iter().fold("{}".to_owned(), |all, body| usage::sum(&all, &counts(body)));
    set_counts(&mut edits, last, &usage);
    Some(edits.apply(last))
}

/// The counts in the last line of an answer.
pub(super) fn counts(line: &str) -> String {
    let all = members(line, document(line));
    let counts = all.iter().filter(|member| COUNTS.iter().any(|key| member.key.is(key)));
    let counts: Vec<&str> = counts.map(|member| member.span.of(line)).collect();
    format!("{{{}}}", counts.join(","))
}

/// Writes other counts into the last line.
pub(super) fn set_counts(edits: &mut Edits, line: &str, counts: &str) {
    let whole = document(line);
    for count in members(counts, document(counts)) {
        let value = count.value.of(counts);
        match member(line, whole, count.key.raw()) {
            Some(before) => edits.replace(before, value),
            None => edits.insert(whole.end - 1, format!(",{}", count.span.of(counts))),
        }
    }
}

#[cfg(test)]
mod tests;
