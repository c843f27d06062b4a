//! Messages that callgate sends in place of a peer.

use callgate_json::quote;

use crate::message::Id;

/// The family of protocol revisions of a request. The newer one requires a type in every result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: a handshake, then requests.
    Legacy,
    /// From 2026-07-28: every request names its revision.
    Modern,
}

/// The result of a call that was not made. It is a result and not an error, because clients show
/// the text of a result to the model unchanged and wrap that of an error in their own words.
pub(crate) fn refused_call(id: &Id, era: Era, text: &str) -> String {
    let kind = match era {
        Era::Legacy => "",
        Era::Modern => r#""resultType":"complete","#,
    };
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{{kind}"content":[{{"type":"text","text":{}}}],"isError":true}}}}"#,
        id.json(),
        quote(text)
    )
}

/// An error.
pub(crate) fn error(id: Option<&Id>, code: i32, text: &str) -> String {
    let id = id.map_or_else(|| "null".to_owned(), Id::json);
    let text = quote(text);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{text}}}}}"#)
}

/// A transport error, which answers no message and so has no id.
pub(crate) fn transport_error(code: i32, text: &str) -> String {
    let text = quote(text);
    format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":{text}}}}}"#)
}

/// A header contradicts the body. The data names the header, for programs.
pub(crate) fn header_mismatch(id: Option<&Id>, header: &str, text: &str) -> String {
    let id = id.map(|id| format!(r#""id":{},"#, id.json())).unwrap_or_default();
    let (header, text) = (quote(header), quote(text));
    format!(
        r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{HEADER_MISMATCH},"message":{text},"data":{{"header":{header}}}}}}}"#
    )
}

/// The code that the protocol reserves for headers that contradict the body.
const HEADER_MISMATCH: i32 = -32020;

/// The answer to a server that requests something from the user: the same as if a person declined.
pub(crate) fn declined(id: &Id) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}}"#, id.json())
}

/// The code for refusals by policy. Our own codes are outside the range that the protocol reserves.
pub(crate) const REFUSED: i32 = 1403;

/// The code with which a client rejects a server's request for its user.
pub(crate) const REJECTED: i32 = -1;
