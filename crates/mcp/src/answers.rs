//! What callgate says in a peer's place.

use callgate_call::json::quote;

use crate::message::Id;

/// Which of the two families of revisions a request speaks. The newer one wants every result to
/// say what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: a handshake, then requests.
    Legacy,
    /// From 2026-07-28: every request says its revision.
    Modern,
}

/// The result of a call that was not made. A result, not an error: clients show the text of a result
/// to the model as it is, and wrap that of an error in their own.
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

/// An error of the transport, which answers no message and so has no id.
pub(crate) fn transport_error(code: i32, text: &str) -> String {
    let text = quote(text);
    format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":{text}}}}}"#)
}

/// A header says something else than the body. The data name it, for programs.
pub(crate) fn header_mismatch(id: Option<&Id>, header: &str, text: &str) -> String {
    let id = id.map(|id| format!(r#""id":{},"#, id.json())).unwrap_or_default();
    let (header, text) = (quote(header), quote(text));
    format!(
        r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{HEADER_MISMATCH},"message":{text},"data":{{"header":{header}}}}}}}"#
    )
}

/// What the protocol reserves for headers that are not what the body says.
const HEADER_MISMATCH: i32 = -32020;

/// The answer to a server that wants something from the user: a person would decline like this.
pub(crate) fn declined(id: &Id) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}}"#, id.json())
}

/// What the policies refuse. Codes of our own lie outside the range that the protocol reserves.
pub(crate) const REFUSED: i32 = 1403;

/// What a client answers when its user says no to a server.
pub(crate) const REJECTED: i32 = -1;
