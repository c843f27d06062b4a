//! The digest of a call, however clients reformat it before they send it back.

use callgate_call::canonical_arguments;
use sha2::{Digest, Sha256};

/// The digest of a call by its name and its [canonical arguments](canonical_arguments).
pub fn call_digest(name: &str, arguments: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(canonical_arguments(arguments));
    hash.finalize().into()
}

/// The digest of calls by their positions, names and arguments.
pub fn calls_digest<'a>(calls: impl IntoIterator<Item = (usize, &'a str, &'a str)>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for (place, name, arguments) in calls {
        hash.update((place as u64).to_le_bytes());
        hash.update(call_digest(name, arguments));
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_call_are_alike() {
        let same = |one: &str, other: &str| call_digest("t", one) == call_digest("t", other);
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, "{ \"b\" : [ true , null ],\n\"a\" : 1.0 }"),
            (r#"{"a":"\u00fc\ud83d\ude00\/"}"#, "{\"a\":\"ü😀/\"}"),
            (r#"{"n":10000000000000000000000}"#, r#"{"n":1e22}"#),
            (r#"{"n":9007199254740993}"#, r#"{"n":9007199254740992}"#),
            (r#"{"n":-0.0}"#, r#"{"n":0}"#),
            (r#"{"n":1e999}"#, r#"{"n":null}"#),
            (r#"{"h":"\ud800"}"#, r#"{"h":"\ufffd"}"#),
            (r#"{"k":1,"\u006b":2}"#, r#"{"k":2}"#),
            ("", "{}"),
            ("  ", " { } "),
            ("null", "{}"),
            ("*** free text", "*** free text"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn other_calls_are_not() {
        let list = [
            "{}",
            "{\"a\":1}",
            "{\"a\":2}",
            "{\"a\":\"1\"}",
            "{\"a\":[1]}",
            "{\"a\":[[1]]}",
            "{\"a\":[1,1]}",
            "{\"a\":[11]}",
            "{\"a\":true}",
            "{\"a\":{\"b\":1}}",
            "{\"a\":{},\"b\":1}",
            "{\"b\":1}",
            "[]",
            "free",
            "fre e",
        ];
        for (place, one) in list.iter().enumerate() {
            for other in list.iter().skip(place + 1) {
                assert_ne!(call_digest("t", one), call_digest("t", other), "{one} and {other}");
            }
            assert_ne!(call_digest("t", one), call_digest("u", one));
        }
    }
}
