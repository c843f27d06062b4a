//! One call of an answer, put together from its pieces.

use callgate_json::{Span, Value, decode_into};

use crate::json::{Edits, document, member, raw_member, remove_members, set, string_member};

/// A call with what was added to it.
pub(super) struct OpenCall {
    /// Its first piece.
    start: String,
    index: Option<i64>,
    /// The raw contents of string members that came in pieces.
    name: String,
    arguments: String,
}

impl OpenCall {
    pub(super) fn new(data: &str, entry: Span) -> Self {
        Self {
            start: entry.of(data).to_owned(),
            index: index(data, entry),
            name: String::new(),
            arguments: String::new(),
        }
    }

    /// Whether the piece belongs to this call: it has its index, and no id of another call.
    pub(super) fn takes(&self, data: &str, entry: Span) -> bool {
        let (id, own) = (id(data, entry), self.id());
        let same_id = id.is_none() || own.is_none() || id == own;
        index(data, entry) == self.index && same_id
    }

    /// Adds a piece: an entry of a list, or a legacy call.
    pub(super) fn add(&mut self, data: &str, entry: Span) {
        let inner = inner(data, entry).unwrap_or(entry);
        self.name.push_str(raw_member(data, inner, "name"));
        for key in ["arguments", "input"] {
            self.arguments.push_str(raw_member(data, inner, key));
        }
    }

    pub(super) fn id(&self) -> Option<String> {
        id(&self.start, document(&self.start))
    }

    /// Whether its arguments are complete. Free text may always continue.
    pub(super) fn is_whole(&self) -> bool {
        let call = self.finish();
        let whole = document(&call);
        let inner = inner(&call, whole).unwrap_or(whole);
        let (mut half, mut text) = (None, String::new());
        decode_into(raw_member(&call, inner, "arguments"), &mut half, &mut text);
        Value::parse(&text).is_ok()
    }

    /// The call as a request has it.
    pub(super) fn finish(&self) -> String {
        let (start, whole) = (self.start.as_str(), document(&self.start));
        let mut edits = Edits::default();
        remove_members(&mut edits, start, whole, |member| member.key.is("index"));
        let inner = inner(start, whole).unwrap_or(whole);
        let longer = |key: &str, more: &str| format!("\"{}{more}\"", raw_member(start, inner, key));
        if !self.name.is_empty() {
            set(&mut edits, start, inner, "name", &longer("name", &self.name));
        }
        let is_custom = member(start, whole, "custom").is_some();
        let key = if is_custom { "input" } else { "arguments" };
        let is_text = string_member(start, inner, key).is_some();
        if !self.arguments.is_empty() || (!is_text && member(start, inner, key).is_none()) {
            set(&mut edits, start, inner, key, &longer(key, &self.arguments));
        }
        edits.apply(start)
    }
}

/// The object inside an entry of a list; `None` for a legacy call.
fn inner(data: &str, entry: Span) -> Option<Span> {
    ["function", "custom"].into_iter().find_map(|key| member(data, entry, key))
}

fn index(data: &str, entry: Span) -> Option<i64> {
    member(data, entry, "index")?.of(data).parse().ok()
}

fn id(data: &str, entry: Span) -> Option<String> {
    let id = string_member(data, entry, "id").filter(|id| !id.is_empty())?;
    id.decode().ok().map(|id| id.into_owned())
}
