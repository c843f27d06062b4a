//! The words that identify a call that no reader has taken: for calls in unexpected places of a
//! response, and for calls in errors. All words are folded, see [`fold`].

use std::borrow::Cow;

/// A key or a type without case, underscores and hyphens: APIs and programs differ in those.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    let folded = text.to_uppercase().to_lowercase();
    Cow::Owned(folded.chars().filter(|c| !matches!(c, '_' | '-')).collect())
}

/// Whether this key may have the name of a call.
pub(crate) fn is_name(key: &str) -> bool {
    matches!(key, "name" | "toolname")
}

/// Whether this key may have the arguments of a call.
pub(crate) fn is_input(key: &str) -> bool {
    matches!(key, "input" | "arguments" | "parameters" | "args")
}

/// Whether this key may have the arguments of a call that is named by its type. In other objects
/// these words mean many things.
pub(crate) fn is_input_by_type(key: &str) -> bool {
    matches!(key, "action" | "actions" | "operation" | "queries")
}

/// Whether APIs put calls under this key.
pub(crate) fn is_place_of_calls(key: &str) -> bool {
    key == "function" || ONE_CALL.contains(&key) || MANY_CALLS.contains(&key)
}

/// Keys of one call. A `function` may be the definition of a tool too.
pub(crate) const ONE_CALL: [&str; 3] = ["functioncall", "toolcall", "tooluse"];

/// Keys of a list of calls.
pub(crate) const MANY_CALLS: [&str; 3] = ["functioncalls", "toolcalls", "tooluses"];

/// Whether this is the type of a call.
pub(crate) fn is_call(kind: &str) -> bool {
    CALL_ENDS.iter().any(|end| kind.ends_with(end))
}

/// The suffixes of call types. An approval asks the client to let the provider make a call.
pub(crate) const CALL_ENDS: [&str; 3] = ["call", "tooluse", "approvalrequest"];

/// Whether this is the type of a tool result, or of a list of tools.
pub(crate) fn is_result(kind: &str) -> bool {
    kind.ends_with("calloutput") || kind.ends_with("result") || OTHERS.contains(&kind)
}

const OTHERS: [&str; 6] = [
    "programoutput",
    "toolsearchoutput",
    "mcplisttools",
    "mcpapprovalresponse",
    "additionaltools",
    "itemreference",
];
