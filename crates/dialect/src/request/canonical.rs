//! One canonical form for every spelling of a call: clients reformat arguments before they send
//! them back.

use callgate_json::{Error, Kind, Reader, Text};
use sha2::{Digest, Sha256};

use super::text::decode_lossy;

/// The digest of a call by its name and its arguments. The order of keys, white space, escapes and
/// the spelling of numbers make no difference, nor whether the arguments are empty or `{}`.
/// Arguments that are not JSON are compared as text.
pub fn call_digest(name: &str, arguments: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    match canonical(arguments) {
        Ok(json) if json == b"n" => hash.update(EMPTY),
        Ok(json) => hash.update(json),
        Err(_) if arguments.trim().is_empty() => hash.update(EMPTY),
        Err(_) => {
            hash.update(b"text");
            hash.update(arguments);
        }
    }
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

/// The canonical form of missing arguments.
const EMPTY: &[u8] = b"{}";

fn canonical(text: &str) -> Result<Vec<u8>, Error> {
    let mut reader = Reader::new(text);
    let mut out = Vec::with_capacity(text.len());
    value(&mut reader, text, &mut out)?;
    reader.end()?;
    Ok(out)
}

/// The reader limits the depth, and so the recursion.
fn value(reader: &mut Reader<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    match reader.kind()? {
        Kind::Null => {
            reader.skip()?;
            out.push(b'n');
        }
        Kind::Bool => out.push(if reader.skip()?.of(text) == "true" { b't' } else { b'f' }),
        Kind::Number => number(reader.skip()?.of(text), out),
        Kind::String => string(&reader.string()?, out),
        Kind::Array => {
            out.push(b'[');
            let mut elements = reader.array()?;
            while elements.next(reader)? {
                value(reader, text, out)?;
            }
            out.push(b']');
        }
        Kind::Object => object(reader, text, out)?,
    }
    Ok(())
}

/// A number as the double that clients parse; an infinite one becomes the `null` that they write
/// for it.
fn number(text: &str, out: &mut Vec<u8>) {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            // Some clients write `-0` as `0`.
            let number = if number == 0.0 { 0.0 } else { number };
            out.push(b'd');
            out.extend_from_slice(&number.to_le_bytes());
        }
        _ => out.push(b'n'),
    }
}

fn string(text: &Text<'_>, out: &mut Vec<u8>) {
    let text = decode_lossy(text);
    out.push(b's');
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Members in the order of their keys. Of duplicate keys the last one counts, as for nearly every
/// client.
fn object(reader: &mut Reader<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    let mut object = reader.object()?;
    while let Some(key) = object.next(reader)? {
        let mut member = Vec::new();
        string(&key, &mut member);
        value(reader, text, &mut member)?;
        members.push((decode_lossy(&key).into_owned(), member));
    }
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    out.push(b'{');
    for (place, (key, member)) in members.iter().enumerate() {
        if members.get(place + 1).is_none_or(|(next, _)| next != key) {
            out.extend_from_slice(member);
        }
    }
    out.push(b'}');
    Ok(())
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
