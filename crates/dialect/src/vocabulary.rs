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
#[inline]
fn ends_with(text: &[u8], word: &str) -> bool {
    let mut letters = word.bytes().rev();
    let mut rest = text;
    while let Some((last, before)) = rest.split_last() {
        match last {
            b'_' | b'-' => {}
            0x80.. => return may_fold(rest) && folds_to_end(text, word),
            last => match letters.next() {
                Some(letter) if letter == last.to_ascii_lowercase() => {}
                Some(_) => return false,
                None => return true,
            },
        }
        rest = before;
    }
    letters.next().is_none()
}

/// Whether the last letter of a text, which is not of ASCII, is one of ASCII once it is folded.
fn may_fold(text: &[u8]) -> bool {
    let start = text.iter().rposition(|byte| !matches!(byte, 0x80..=0xbf)).unwrap_or(0);
    let letter = text.get(start..).and_then(|letter| std::str::from_utf8(letter).ok());
    letter.is_none_or(|letter| letter.chars().any(folds_to_ascii))
}

/// Like [`ends_with`], for a text with such letters.
#[cold]
fn folds_to_end(text: &[u8], word: &str) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return true };
    // The last letters are enough: folding leaves no letter out.
    let letters = text.chars().filter(|c| !matches!(c, '_' | '-')).rev().take(word.len());
    let tail: Vec<char> = letters.collect();
    let folded = tail.into_iter().rev().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.collect::<String>().ends_with(word)
}

/// Whether this key may have the name of a call.
pub(crate) fn is_name(key: &str) -> bool {
    NAMES.contains(&key)
}

const NAMES: [&str; 2] = ["name", "toolname"];

/// The key of a call's id, in results too.
pub(crate) const CALL_ID: &str = "callid";

/// The words of which every call has one, at the end of a key or of its type.
pub(crate) const WORDS_OF_CALLS: [&str; 6] =
    [NAMES[0], NAMES[1], CALL_ID, CALL_ENDS[0], CALL_ENDS[1], CALL_ENDS[2]];

/// Whether a key or a value, once it is folded, ends with one of these words.
#[inline]
pub(crate) fn ends_like_call(text: &[u8]) -> bool {
    let last = text.last().and_then(|last| WORDS_BY_LAST.get(usize::from(*last)));
    let words = last.copied().unwrap_or(0);
    // Most words end with another letter.
    words != 0 && ends_with_one_of(text, words)
}

fn ends_with_one_of(text: &[u8], words: u8) -> bool {
    let is_possible = |place: usize| words & (1 << place) != 0;
    let mut possible = WORDS_OF_CALLS.iter().enumerate().filter(|(place, _)| is_possible(*place));
    possible.any(|(_, word)| ends_with(text, word))
}

/// For each byte, the words with which a text may end that ends with this byte, one bit each.
const WORDS_BY_LAST: [u8; 256] = words_by_last();

#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
const fn words_by_last() -> [u8; 256] {
    let mut words = [0; 256];
    let mut word = 0;
    while word < WORDS_OF_CALLS.len() {
        let bytes = WORDS_OF_CALLS[word].as_bytes();
        let byte = bytes[bytes.len() - 1];
        let bit = 1 << word;
        words[byte as usize] |= bit;
        words[byte.to_ascii_uppercase() as usize] |= bit;
        // What folding leaves out, and the last byte of a letter that is not of ASCII.
        words[b'_' as usize] |= bit;
        words[b'-' as usize] |= bit;
        let mut other = 0x80;
        while other < words.len() {
            words[other] |= bit;
            other += 1;
        }
        word += 1;
    }
    words
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
