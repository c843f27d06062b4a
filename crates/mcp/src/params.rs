//! Reads the parameters that callgate inspects.

use std::borrow::Cow;

use callgate_json::{Error, Fields, Kind, Member, Problem, Reader, Span, Text, member};

use crate::answers::Era;

/// The key with which a request of the newer revisions names its revision.
pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// The parameters of a request that names a tool, a prompt or a resource.
#[derive(Debug)]
pub(crate) struct NamedParams<'a> {
    /// The tool, the prompt, or the URI of the resource.
    pub(crate) name: Cow<'a, str>,
    /// The value of `arguments`, if there is one other than `null`.
    pub(crate) arguments: Option<Span>,
    /// Where that value is, or the `null`: arguments are replaced there, not added a second time.
    pub(crate) arguments_at: Option<Span>,
    pub(crate) meta: Option<Span>,
    /// The other members, including the metadata.
    pub(crate) other_members: Vec<Member<'a>>,
    /// Whether this continues a call, after the server asked the client for input.
    pub(crate) continues: bool,
}

impl<'a> NamedParams<'a> {
    /// Reads parameters with a name under `key`: `name` or `uri`.
    pub(crate) fn read(text: &'a str, params: Span, key: NameKey) -> Result<Self, Error> {
        let mut reader = Reader::at(text, params);
        let mut fields = Fields::new(&["name", "uri", "arguments", "_meta"]);
        let (mut name, mut meta, mut continues) = (None, None, false);
        let (mut arguments, mut arguments_at) = (None, None);
        let mut other_members = Vec::new();
        let mut object = reader.object()?;
        while let Some(member) = object.next(&mut reader)? {
            match fields.find(&member)? {
                Some(0) if key == NameKey::Name => name = Some(reader.string()?.decode()?),
                Some(1) if key == NameKey::Uri => name = Some(reader.string()?.decode()?),
                Some(2) => {
                    let is_null = reader.kind()? == Kind::Null;
                    let at = reader.skip()?;
                    (arguments, arguments_at) = ((!is_null).then_some(at), Some(at));
                }
                Some(3) => {
                    meta = value(&mut reader)?;
                    other_members.extend(meta.map(|meta| of(member, meta)));
                }
                _ => {
                    continues |= member.is("requestState") || member.is("inputResponses");
                    other_members.push(of(member, reader.skip()?));
                }
            }
        }
        let name = name.ok_or_else(|| Error::new(Problem::WrongType, params.start))?;
        Ok(Self { name, arguments, arguments_at, meta, other_members, continues })
    }
}

/// The key under which a request names its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKey {
    Name,
    Uri,
}

fn of(key: Text<'_>, value: Span) -> Member<'_> {
    Member { key, span: key.span().to(value), value }
}

/// A value; `null` counts as missing.
fn value(reader: &mut Reader<'_>) -> Result<Option<Span>, Error> {
    match reader.kind()? {
        Kind::Null => reader.skip().map(|_| None),
        _ => reader.skip().map(Some),
    }
}

/// The metadata of a request.
#[derive(Debug, Default)]
pub(crate) struct RequestMeta {
    /// The model's id of the call, if the agent sends it.
    pub(crate) call_id: Option<String>,
    pub(crate) session: Option<String>,
}

impl RequestMeta {
    pub(crate) fn read(text: &str, meta: Option<Span>) -> Self {
        let Some(meta) = meta else { return Self::default() };
        let string = |key| member(text, meta, key).and_then(|span| string(text, span));
        // Claude Code, then Codex.
        let call_id = string("claudecode/toolUseId").or_else(|| string("callId"));
        Self { call_id, session: string("sessionId").or_else(|| string("threadId")) }
    }
}

/// The family of revisions of a request with this metadata.
pub(crate) fn era(text: &str, meta: Option<Span>) -> Era {
    match meta.and_then(|meta| member(text, meta, REVISION)) {
        Some(_) => Era::Modern,
        None => Era::Legacy,
    }
}

/// The metadata that makes our own request look like one of the same client.
pub(crate) fn own_meta(text: &str, meta: Option<Span>) -> Option<String> {
    let meta = meta?;
    member(text, meta, REVISION)?;
    let members = [REVISION, CAPABILITIES, CLIENT].into_iter().filter_map(|key| {
        let value = member(text, meta, key)?;
        Some(format!("\"{key}\":{}", value.of(text)))
    });
    Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// The metadata in the parameters.
pub(crate) fn meta(text: &str, params: Option<Span>) -> Option<Span> {
    member(text, params?, "_meta")
}

/// The value of a member, if it is a string.
pub(crate) fn text_member(text: &str, object: Span, key: &str) -> Option<String> {
    string(text, member(text, object, key)?)
}

/// The value at this position, if it is a string.
pub(crate) fn string(text: &str, span: Span) -> Option<String> {
    let read: Result<Text<'_>, Error> = Reader::at(text, span).string();
    read.and_then(|read| read.decode().map(Cow::into_owned)).ok()
}

/// Whether a matching string occurs in a value, at any depth.
pub(crate) fn holds_text(text: &str, span: Span, is_it: &impl Fn(&str) -> bool) -> bool {
    search(&mut Reader::at(text, span), is_it).unwrap_or(false)
}

/// The reader bounds the depth.
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
        // A string with a lone surrogate is invalid, so no server can have created it.
        Kind::String => found = reader.string()?.decode().is_ok_and(|text| is_it(&text)),
        _ => {
            reader.skip()?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use callgate_json::document;

    use super::*;

    fn named(text: &str) -> Result<NamedParams<'_>, Error> {
        NamedParams::read(text, document(text), NameKey::Name)
    }

    #[test]
    fn a_call() {
        let text =
            r#"{"_meta":{"claudecode/toolUseId":"toolu_1"},"name":"a\u0062","arguments":{"x":1}}"#;
        let call = named(text).unwrap();
        assert_eq!((call.name.as_ref(), call.continues), ("ab", false));
        assert_eq!(call.arguments.unwrap().of(text), r#"{"x":1}"#);
        assert_eq!(RequestMeta::read(text, call.meta).call_id.as_deref(), Some("toolu_1"));
        assert_eq!(era(text, call.meta), Era::Legacy);
        assert!(named(r#"{"name":"a","requestState":"s","arguments":null}"#).unwrap().continues);
    }

    #[test]
    fn invalid_names_are_refused() {
        for text in
            [r#"{"arguments":{}}"#, r#"{"name":1}"#, r#"{"name":"a","Name":"b"}"#, r#"{"uri":"a"}"#]
        {
            assert!(named(text).is_err(), "{text}");
        }
    }

    #[test]
    fn our_own_request_has_the_same_revision() {
        let text = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1,"io.modelcontextprotocol/clientCapabilities":{"a":{}}}"#;
        assert_eq!(
            own_meta(text, Some(document(text))).unwrap(),
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":{}}}"#
        );
        assert_eq!(era(text, Some(document(text))), Era::Modern);
        assert_eq!(own_meta("{}", Some(document("{}"))), None);
    }
}
