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

/// Whether this character is a letter of ASCII or left out, once it is folded.
pub(crate) fn folds_to_ascii(c: char) -> bool {
    let folded = |c: char| c.to_uppercase().flat_map(char::to_lowercase).any(|c| c.is_ascii());
    if c.is_ascii() { c.is_ascii_alphabetic() || matches!(c, '_' | '-') } else { folded(c) }
}

/// Whether a text, once it is folded, ends with this word.
pub(crate) fn ends_with(text: &str, word: &str) -> bool {
    let mut letters = word.chars().rev();
    let Some(mut expected) = letters.next() else { return true };
    for c in text.chars().rev().filter(|c| !matches!(c, '_' | '-')) {
        if c.is_ascii() {
            if c.to_ascii_lowercase() != expected {
                return false;
            }
            match letters.next() {
                Some(letter) => expected = letter,
                None => return true,
            }
            continue;
        }
        // Few characters become several: `ﬆ`, for example.
        let mut folded = [None; 8];
        for (place, c) in folded.iter_mut().zip(c.to_uppercase().flat_map(char::to_lowercase)) {
            *place = Some(c);
        }
        for c in folded.into_iter().rev().flatten() {
            if c != expected {
                return false;
            }
            match letters.next() {
                Some(letter) => expected = letter,
                None => return true,
            }
        }
    }
    false
}

/// Whether this key may have the name of a call.
pub(crate) fn is_name(key: &str) -> bool {
    NAMES.contains(&key)
}

const NAMES: [&str; 2] = ["name", "toolname"];

/// The key of a call's id, in results too.
pub(crate) const CALL_ID: &str = "callid";

/// The words of which every call has one, at the end of a key or of its type.
pub(crate) fn words_of_calls() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain([CALL_ID]).chain(CALL_ENDS)
}

/// The bytes with which a text may end that ends with one of these words.
pub(crate) const LAST_BYTES: [bool; 256] = last_bytes();

#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
const fn last_bytes() -> [bool; 256] {
    let mut last = [false; 256];
    let words = [NAMES[0], NAMES[1], CALL_ID, CALL_ENDS[0], CALL_ENDS[1], CALL_ENDS[2]];
    let mut word = 0;
    while word < words.len() {
        let bytes = words[word].as_bytes();
        let byte = bytes[bytes.len() - 1];
        last[byte as usize] = true;
        last[byte.to_ascii_uppercase() as usize] = true;
        word += 1;
    }
    // What folding leaves out, and the last byte of a letter that is not of ASCII.
    last[b'_' as usize] = true;
    last[b'-' as usize] = true;
    let mut byte = 0x80;
    while byte < last.len() {
        last[byte] = true;
        byte += 1;
    }
    last
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
