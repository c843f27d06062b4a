//! Several answers that the provider stores, which the client knows as one response.
//!
//! The client has the id of the first answer. A request continues the last one instead; reading the
//! response gives the last one, with the items of the answers before it.

use crate::continued::StoredTurn;
use crate::json::{
    Edits, document, elements, list_of, member, raw_member, set, string_member, text_member,
};
use crate::request::{StoredAnswers, whole_object};
use crate::usage::{sum, usage_in};

/// The members of a response that stay those of the first answer.
pub(super) const IDENTITY: [&str; 3] = ["id", "created_at", "previous_response_id"];

/// Those members of a response; `None` if nobody can refer to it.
pub(super) fn identity(data: &str, response: callgate_json::Span) -> Option<String> {
    let is_kept = member(data, response, "store").is_none_or(|store| store.of(data) != "false");
    if !is_kept || raw_member(data, response, "id").is_empty() {
        return None;
    }
    let of_response = |key| Some(format!("\"{key}\":{}", member(data, response, key)?.of(data)));
    let members: Vec<String> = IDENTITY.into_iter().filter_map(of_response).collect();
    Some(format!("{{{}}}", members.join(",")))
}

/// What the provider stores of a turn.
pub(super) fn stored(turn: StoredTurn<'_>) -> Option<StoredAnswers> {
    let id_of =
        |identity: &&str| Some(text_member(identity, document(identity), "id")?.into_owned());
    let ids: Vec<String> = turn.identities.iter().map(id_of).collect::<Option<_>>()?;
    let (first, last) = (turn.identities.first()?, ids.last()?.clone());
    let mut items = Vec::new();
    for answer in turn.shown {
        let output = elements(answer, member(answer, document(answer), "output")?);
        items.extend(output.iter().map(|item| item.of(answer)));
    }
    let mut edits = Edits::default();
    set(&mut edits, first, document(first), "output", &list_of(&items));
    if turn.usage != "{}" {
        set(&mut edits, first, document(first), "usage", turn.usage);
    }
    let (behind, shown) = (turn.behind.to_owned(), edits.apply(first));
    Some(StoredAnswers { ids, last, behind, shown })
}

/// The last answer, with the answers before it ([`StoredAnswers::shown`]) as one response; `None`
/// if it is not a response.
pub fn read_again(last: &str, shown: &str) -> Option<String> {
    let whole = whole_object(last)?;
    let before = document(shown);
    let mut edits = Edits::default();
    let output = member(last, whole, "output")?;
    let list = |text, at| elements(text, at).iter().map(|item| item.of(text).to_owned()).collect();
    let mut items: Vec<String> = list(shown, member(shown, before, "output")?);
    items.append(&mut list(last, output));
    edits.replace(output, list_of(&items));
    for key in IDENTITY {
        let value = member(shown, before, key).map(|value| value.of(shown));
        if let (Some(at), Some(value)) = (member(last, whole, key), value) {
            edits.replace(at, value);
        }
    }
    if let (Some((at, usage)), Some((_, spent))) = (usage_in(last, whole), usage_in(shown, before))
    {
        edits.replace(at, sum(spent, usage));
    }
    Some(edits.apply(last))
}

/// The ids of the messages in these items.
pub(crate) fn message_ids(items: &str) -> Vec<String> {
    let list = format!("[{items}]");
    let id = |item: &callgate_json::Span| {
        let is_message = string_member(&list, *item, "type").is_some_and(|kind| kind.is("message"));
        Some(text_member(&list, *item, "id").filter(|_| is_message)?.into_owned())
    };
    elements(&list, document(&list)).iter().filter_map(id).collect()
}

/// The ids of the messages in the answers that the client received before the last one.
pub(crate) fn shown_message_ids(shown: &str) -> Vec<String> {
    let output = member(shown, document(shown), "output").map(|at| at.of(shown));
    let items = output.and_then(|list| list.strip_prefix('[')?.strip_suffix(']'));
    items.map(message_ids).unwrap_or_default()
}
