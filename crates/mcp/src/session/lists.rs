//! Lists of tools, prompts and resources: what a client may not see is cut out.

use callgate_call::json::{Edits, Fields, Reader, Span, elements};
use callgate_decide::mcp::{Item, ListPage};

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Which page it is.
    Tools(ListPage),
    Prompts,
    Resources,
}

/// The entries of a list; `None` if there is no list, or two.
pub(super) fn items(text: &str, result: Span, list: List) -> Option<Vec<Span>> {
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
            (Some(0), List::Tools(_)) | (Some(1), List::Prompts) | (Some(2 | 3), List::Resources)
        );
        if is_it && found.replace(value).is_some() {
            return None;
        }
    }
    Some(elements(text, found?))
}

/// The text with the entries as they may be seen; `None` if as they are.
pub(super) fn edited(text: &str, entries: &[Span], verdicts: &[Item]) -> Option<String> {
    let mut edits = Edits::default();
    for (entry, verdict) in entries.iter().zip(verdicts) {
        if let Item::Replace(stripped) = verdict {
            edits.replace(*entry, stripped.as_str());
        }
    }
    // What nobody judged is not shown.
    let is_hidden =
        |place: usize| !matches!(verdicts.get(place), Some(Item::Keep | Item::Replace(_)));
    edits.remove(entries, is_hidden);
    (!edits.is_empty()).then(|| edits.apply(text))
}
