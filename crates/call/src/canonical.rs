//! One canonical form for every spelling of arguments: clients reformat what the model wrote before
//! they call a server with it or send it back.

use callgate_json::{Error, Kind, Reader, Text};

/// Equal for texts that clients treat as the same arguments, and different for others. The order of
/// keys, white space, escapes and the spelling of numbers make no difference, nor whether the
/// arguments are missing, `null` or `{}`. What is not JSON is compared as text.
pub fn canonical_arguments(text: &str) -> Vec<u8> {
    match document(text) {
        Ok(json) if json == NULL => EMPTY.to_vec(),
        Ok(json) => json,
        Err(_) if text.trim().is_empty() => EMPTY.to_vec(),
        Err(_) => [b"text", text.as_bytes()].concat(),
    }
}

/// The canonical form of missing arguments.
const EMPTY: &[u8] = b"{}";

const NULL: &[u8] = b"n";

fn document(text: &str) -> Result<Vec<u8>, Error> {
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
    let text = text.decode_lossy();
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
        members.push((key.decode_lossy().into_owned(), member));
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
