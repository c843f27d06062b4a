//! The words by which a call is known where no reader of an API has taken it: for calls in the wrong
//! places of a response, and for calls in errors. All words are folded, see [`fold`].

use std::borrow::Cow;

/// A key or a type without case, underscores and hyphens: APIs and programs differ in those.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    let folded = text.to_uppercase().to_lowercase();
    Cow::Owned(folded.chars().filter(|c| !matches!(c, '_' | '-')).collect())
}

/// Whether the name of a call may stand under this key.
pub(crate) fn is_name(key: &str) -> bool {
    matches!(key, "name" | "toolname")
}

/// Whether the arguments of a call may stand under this key.
pub(crate) fn is_input(key: &str) -> bool {
    matches!(key, "input" | "arguments" | "parameters" | "args")
}

/// Whether the arguments of a call that is named by its type may stand under this key. Elsewhere
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

/// Whether something of this type is a call.
pub(crate) fn is_call(kind: &str) -> bool {
    CALL_ENDS.iter().any(|end| kind.ends_with(end))
}

/// How types of calls end. An approval asks the client to let the provider make a call.
pub(crate) const CALL_ENDS: [&str; 3] = ["call", "tooluse", "approvalrequest"];

/// Whether something of this type is what a tool gave back, or a list of tools.
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
