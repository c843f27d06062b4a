//! Lists of tools, prompts and resources: removes entries that a client may not see.

use callgate_decide::mcp::{ListAction, ListPage};
use callgate_json::{Edits, Fields, Reader, Span, document, elements, members};

use crate::params;

/// The kind of list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    /// With the position of the page.
    Tools(ListPage),
    Prompts,
    Resources,
}

/// The entries of a list; `None` if there is no list, or more than one.
pub(super) fn items(text: &str, result: Span, list: ListKind) -> Option<Vec<Span>> {
    let mut reader = Reader::at(text, result);
    let mut fields = Fields::new(&["tools", "prompts", "resources", "resourcetemplates"]);
    let (mut found, mut object) = (None, reader.object().ok()?);
    while let Some(key) = object.next(&mut reader).ok()? {
        let place = match key.is("resourceTemplates") {
            true => Some(3),
            false => fields.find(&key).ok()?,
        };
        let value = reader.skip().ok()?;
        let is_it = matches!(
            (place, list),
            (Some(0), ListKind::Tools(_))
                | (Some(1), ListKind::Prompts)
                | (Some(2 | 3), ListKind::Resources)
        );
        if is_it && found.replace(value).is_some() {
            return None;
        }
    }
    let found = found?;
    // Some clients accept an object or a string in its place, but it is not a list.
    found.of(text).starts_with('[').then(|| elements(text, found))
}

/// The cursor of the next page; `None` on the last one, where servers also send `null` or an empty
/// text.
pub(super) fn next_cursor(text: &str, result: Span) -> Option<String> {
    params::text_member(text, result, "nextCursor").filter(|next| !next.is_empty())
}

/// The result without the entries of its list.
pub(super) fn without_entries(text: &str, result: Span, entries: &[Span]) -> String {
    let mut edits = Edits::default();
    edits.remove(entries, |_| true);
    let whole = edits.apply(text);
    let shorter = text.len() - whole.len();
    Span { start: result.start, end: result.end - shorter }.of(&whole).to_owned()
}

/// Whether an entry has a key that some clients confuse with another: clients that ignore case
/// would see something else than was inspected.
pub(super) fn has_odd_keys(raw: &str) -> bool {
    members(raw, document(raw)).iter().any(|member| {
        let key = member.key.decode().unwrap_or_default();
        KEYS.iter().any(|known| *known != key && known.eq_ignore_ascii_case(&key))
    })
}

const KEYS: [&str; 13] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "icons",
    "arguments",
    "uri",
    "uriTemplate",
    "mimeType",
    "_meta",
];

/// The name of an entry, for people.
pub(super) fn name_of(raw: &str) -> String {
    let name = params::text_member(raw, document(raw), "name");
    name.map_or_else(|| "an entry without a name".to_owned(), |name| format!("`{name}`"))
}

/// The text with only the allowed entries; `None` if it stays unchanged.
pub(super) fn edited(text: &str, entries: &[Span], verdicts: &[ListAction]) -> Option<String> {
    let mut edits = Edits::default();
    for (entry, verdict) in entries.iter().zip(verdicts) {
        if let ListAction::Replace(stripped) = verdict {
            edits.replace(*entry, stripped.as_str());
        }
    }
    // An entry without a verdict is hidden.
    let is_hidden = |place: usize| {
        !matches!(verdicts.get(place), Some(ListAction::Keep | ListAction::Replace(_)))
    };
    edits.remove(entries, is_hidden);
    (!edits.is_empty()).then(|| edits.apply(text))
}
