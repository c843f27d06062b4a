//! The parameters that are looked at.

use std::borrow::Cow;

use callgate_call::json::{Error, Fields, Kind, Member, Problem, Reader, Span, Text, member};

use crate::answers::Era;

/// The key by which a request of the newer revisions says which one it speaks.
pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// The parameters of a request that names something: a tool, a prompt or a resource.
#[derive(Debug)]
pub(crate) struct Named<'a> {
    /// The tool, the prompt, or the URI of the resource.
    pub(crate) name: Cow<'a, str>,
    /// The value of `arguments`, where there is one.
    pub(crate) arguments: Option<Span>,
    pub(crate) meta: Option<Span>,
    /// The other members, the metadata among them.
    pub(crate) beside: Vec<Member<'a>>,
    /// Whether the server has asked back before: this is the same call once more.
    pub(crate) continues: bool,
}

impl<'a> Named<'a> {
    /// Reads parameters whose name stands under `key`: `name` or `uri`.
    pub(crate) fn read(text: &'a str, params: Span, key: NameKey) -> Result<Self, Error> {
        let mut reader = Reader::at(text, params);
        let mut fields = Fields::new(&["name", "uri", "arguments", "_meta"]);
        let (mut name, mut arguments, mut meta, mut continues) = (None, None, None, false);
        let mut beside = Vec::new();
        let mut object = reader.object()?;
        while let Some(member) = object.next(&mut reader)? {
            match fields.find(&member)? {
                Some(0) if key == NameKey::Name => name = Some(reader.string()?.decode()?),
                Some(1) if key == NameKey::Uri => name = Some(reader.string()?.decode()?),
                Some(2) => arguments = value(&mut reader)?,
                Some(3) => {
                    meta = value(&mut reader)?;
                    beside.extend(meta.map(|meta| of(member, meta)));
                }
                _ => {
                    continues |= member.is("requestState") || member.is("inputResponses");
                    beside.push(of(member, reader.skip()?));
                }
            }
        }
        let name = name.ok_or_else(|| Error::new(Problem::WrongType, params.start))?;
        Ok(Self { name, arguments, meta, beside, continues })
    }
}

/// Under which key a request names what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKey {
    Name,
    Uri,
}

fn of(key: Text<'_>, value: Span) -> Member<'_> {
    Member { key, span: key.span().to(value), value }
}

/// A value; `null` is none.
fn value(reader: &mut Reader<'_>) -> Result<Option<Span>, Error> {
    match reader.kind()? {
        Kind::Null => reader.skip().map(|_| None),
        _ => reader.skip().map(Some),
    }
}

/// What the metadata of a request say of it.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    /// The model's id of the call, where the agent sends it.
    pub(crate) call_id: Option<String>,
    pub(crate) session: Option<String>,
}

impl Meta {
    pub(crate) fn read(text: &str, meta: Option<Span>) -> Self {
        let Some(meta) = meta else { return Self::default() };
        let string = |key| member(text, meta, key).and_then(|span| string(text, span));
        // Claude Code, then Codex.
        let call_id = string("claudecode/toolUseId").or_else(|| string("callId"));
        Self { call_id, session: string("sessionId").or_else(|| string("threadId")) }
    }
}

/// The family of revisions that a request with these metadata speaks.
pub(crate) fn era(text: &str, meta: Option<Span>) -> Era {
    match meta.and_then(|meta| member(text, meta, REVISION)) {
        Some(_) => Era::Modern,
        None => Era::Legacy,
    }
}

/// What a request of our own must say to be taken for one of the same client.
pub(crate) fn own_meta(text: &str, meta: Option<Span>) -> Option<String> {
    let meta = meta?;
    member(text, meta, REVISION)?;
    let members = [REVISION, CAPABILITIES, CLIENT].into_iter().filter_map(|key| {
        let value = member(text, meta, key)?;
        Some(format!("\"{key}\":{}", value.of(text)))
    });
    Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// The metadata among the parameters.
pub(crate) fn meta(text: &str, params: Option<Span>) -> Option<Span> {
    member(text, params?, "_meta")
}

/// The text of a member, if it is one.
pub(crate) fn text_member(text: &str, object: Span, key: &str) -> Option<String> {
    string(text, member(text, object, key)?)
}

/// The text that stands there, if it is one.
pub(crate) fn string(text: &str, span: Span) -> Option<String> {
    let read: Result<Text<'_>, Error> = Reader::at(text, span).string();
    read.and_then(|read| read.decode().map(Cow::into_owned)).ok()
}

/// Whether a text is among what stands there, at any depth.
pub(crate) fn holds_text(text: &str, span: Span, is_it: &impl Fn(&str) -> bool) -> bool {
    search(&mut Reader::at(text, span), is_it).unwrap_or(false)
}

/// Depth is bounded by the reader.
fn search(reader: &mut Reader<'_>, is_it: &impl Fn(&str) -> bool) -> Result<bool, Error> {
    let mut found = false;
    match reader.kind()? {
        Kind::Object => {
            let mut object = reader.object()?;
            while object.next(reader)?.is_some() {
                found |= search(reader, is_it)?;
            }
        }
        Kind::Array => {
            let mut array = reader.array()?;
            while array.next(reader)? {
                found |= search(reader, is_it)?;
            }
        }
        // Half of a character makes it no text, and none that somebody has given.
        Kind::String => found = reader.string()?.decode().is_ok_and(|text| is_it(&text)),
        _ => {
            reader.skip()?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use callgate_call::json::document;

    use super::*;

    fn named(text: &str) -> Result<Named<'_>, Error> {
        Named::read(text, document(text), NameKey::Name)
    }

    #[test]
    fn a_call() {
        let text =
            r#"{"_meta":{"claudecode/toolUseId":"toolu_1"},"name":"a\u0062","arguments":{"x":1}}"#;
        let call = named(text).unwrap();
        assert_eq!((call.name.as_ref(), call.continues), ("ab", false));
        assert_eq!(call.arguments.unwrap().of(text), r#"{"x":1}"#);
        assert_eq!(Meta::read(text, call.meta).call_id.as_deref(), Some("toolu_1"));
        assert_eq!(era(text, call.meta), Era::Legacy);
        assert!(named(r#"{"name":"a","requestState":"s","arguments":null}"#).unwrap().continues);
    }

    #[test]
    fn names_that_are_none() {
        for text in
            [r#"{"arguments":{}}"#, r#"{"name":1}"#, r#"{"name":"a","Name":"b"}"#, r#"{"uri":"a"}"#]
        {
            assert!(named(text).is_err(), "{text}");
        }
    }

    #[test]
    fn our_own_request_speaks_the_same_revision() {
        let text = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1,"io.modelcontextprotocol/clientCapabilities":{"a":{}}}"#;
        assert_eq!(
            own_meta(text, Some(document(text))).unwrap(),
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":{}}}"#
        );
        assert_eq!(era(text, Some(document(text))), Era::Modern);
        assert_eq!(own_meta("{}", Some(document("{}"))), None);
    }
}
