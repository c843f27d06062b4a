//! The last request of a turn, which becomes the next one.

use callgate_json::Span;

use super::NotContinued;
use crate::json::{Edits, at_path, document, elements, member, string_member, text_member};
use crate::request::whole_object;

/// Why a request has no next one: it would demand the same call again.
pub(crate) const DENIED_TOOL: &str = "the request demands a tool that is denied";
/// Why a request has no next one: a call cannot be answered.
pub(crate) const NO_ID: &str = "a result cannot name a call without an id";

/// The first reason that holds, as an error.
pub(crate) fn refuse_if<const N: usize>(
    reasons: [(bool, &'static str); N],
) -> Result<(), NotContinued> {
    match reasons.into_iter().find(|(holds, _)| *holds) {
        Some((_, why)) => Err(NotContinued(why)),
        None => Ok(()),
    }
}

/// Whether the format at this path of a request is something else than text: a JSON document, which
/// a notice would break.
pub(crate) fn wants_format(request: &str, path: &[&str]) -> bool {
    let format = at_path(request, document(request), path);
    let kind = format.and_then(|format| string_member(request, format, "type"));
    kind.is_some_and(|kind| !kind.is("text"))
}

/// The last request of a turn.
#[derive(Clone, Copy)]
pub(crate) struct LastRequest<'a> {
    pub(crate) text: &'a str,
    /// Its object.
    pub(crate) whole: Span,
}

impl<'a> LastRequest<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, NotContinued> {
        let whole = whole_object(text).ok_or(NotContinued("the request cannot be read"))?;
        Ok(Self { text, whole })
    }

    /// The value of a member.
    pub(crate) fn at(&self, key: &str) -> Option<Span> {
        member(self.text, self.whole, key)
    }

    /// Whether the text under `key` of the object is one of these names.
    pub(crate) fn is_one_of(&self, object: Span, key: &str, names: &[&str]) -> bool {
        text_member(self.text, object, key).is_some_and(|name| names.contains(&name.as_ref()))
    }

    /// The request with more messages at the end. The last one must not be the model's.
    pub(crate) fn with_messages(self, added: &str) -> Result<String, NotContinued> {
        let last = self.at("messages").and_then(|list| elements(self.text, list).last().copied());
        let last = last.ok_or(NotContinued("the request has no messages"))?;
        let role = string_member(self.text, last, "role");
        self.with_more(last, role.is_some_and(|role| role.is("assistant")), added)
    }

    /// The request with more messages behind this one, which must not be the model's.
    pub(crate) fn with_more(
        self,
        last: Span,
        is_of_model: bool,
        added: &str,
    ) -> Result<String, NotContinued> {
        refuse_if([(is_of_model, "the request holds the beginning of the answer")])?;
        let mut edits = Edits::default();
        edits.insert(last.end, format!(",{added}"));
        Ok(edits.apply(self.text))
    }

    /// The request with a message of the assistant with this content, and one of the user with the
    /// results.
    pub(crate) fn with_blocks(self, content: &str, results: &str) -> Result<String, NotContinued> {
        self.with_messages(&format!(
            "{{\"role\":\"assistant\",\"content\":{content}}},\
             {{\"role\":\"user\",\"content\":{results}}}"
        ))
    }
}
