//! How clients of Gemini read: by lines, by blank lines, by the grammar, and by every part.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Call, events, text};

/// What each kind of client makes of a stream.
pub(super) fn readings(body: &str) -> BTreeMap<&'static str, Vec<Call>> {
    if body.trim_start().starts_with('[') {
        return BTreeMap::from([("list", calls(&list(body), Keys::Both, Candidates::All))]);
    }
    let lax = events(body);
    let documents: Vec<&Value> = lax.iter().map(|(_, document)| document).collect();
    let (python, js) = (python(body), javascript(body));
    BTreeMap::from([
        ("python", calls(&python, Keys::Both, Candidates::All)),
        ("javascript", calls(&js, Keys::Camel, Candidates::All)),
        ("vercel", assembled(&documents)),
        ("each piece", calls(documents.iter().copied(), Keys::Both, Candidates::All)),
    ])
}

/// The calls of a whole response, or of the elements of a streamed list.
pub(super) fn whole(document: &Value) -> Vec<Call> {
    match document {
        Value::Array(elements) => calls(elements, Keys::Both, Candidates::All),
        document => calls([document], Keys::Both, Candidates::All),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Camel,
    Both,
}

#[derive(Clone, Copy, PartialEq)]
enum Candidates {
    First,
    All,
}

/// The parts of a document that are calls, or pieces of some.
fn parts(document: &Value, keys: Keys, candidates: Candidates) -> Vec<&Value> {
    let inner = if document["response"].is_object() { &document["response"] } else { document };
    let most = if candidates == Candidates::First { 1 } else { usize::MAX };
    let candidates = inner["candidates"].as_array().into_iter().flatten().take(most);
    let parts = candidates.filter_map(|candidate| candidate["content"]["parts"].as_array());
    let mut found = Vec::new();
    for part in parts.flatten() {
        let Some(object) = part.as_object() else { continue };
        let snake = object.get("function_call").filter(|_| keys == Keys::Both);
        found.extend(object.get("functionCall").into_iter().chain(snake));
    }
    found
}

/// Every part with a name or with arguments is a call.
fn calls<'a>(
    documents: impl IntoIterator<Item = &'a Value>,
    keys: Keys,
    candidates: Candidates,
) -> Vec<Call> {
    let parts = documents.into_iter().flat_map(|document| parts(document, keys, candidates));
    parts
        .filter(|call| {
            !call["name"].is_null()
                || !call["args"].is_null()
                || !call["partialArgs"].is_null()
                || !call["partial_args"].is_null()
        })
        .map(|call| (text(&call["name"]), text(&call["args"])))
        .collect()
}

/// One client splits lines as Python does, wants `data: ` to the letter, and takes other lines for
/// documents when their brackets close. It stops at what it cannot read.
fn python(body: &str) -> Vec<Value> {
    let mut documents = Vec::new();
    let (mut data, mut bare, mut depth) = (Vec::new(), String::new(), 0_i64);
    let body = body.replace("\r\n", "\n");
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    for line in body.split(ends).chain([""]) {
        let document = if let Some(value) = line.strip_prefix("data: ") {
            data.push(value);
            continue;
        } else if line.is_empty() {
            if data.is_empty() {
                continue;
            }
            std::mem::take(&mut data).join("\n")
        } else {
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            bare.push_str(line);
            if depth != 0 {
                continue;
            }
            std::mem::take(&mut bare)
        };
        match serde_json::from_str::<Value>(&document) {
            Ok(document) if document["error"].is_null() => documents.push(document),
            _ => return documents,
        }
    }
    documents.extend(serde_json::from_str::<Value>(&bare).ok());
    documents
}

/// One client splits at blank lines of one kind, and wants an event to begin with `data:`. A rest is
/// read as well, though it fails at it.
fn javascript(body: &str) -> Vec<Value> {
    let mut documents = Vec::new();
    let mut rest = body;
    loop {
        let ends = ["\n\n", "\r\r", "\r\n\r\n"].map(|end| rest.find(end).map(|at| (at, end.len())));
        let end = ends.into_iter().flatten().min();
        let (event, behind) = match end {
            Some((at, length)) => (&rest[..at], Some(&rest[at + length..])),
            None => (rest, None),
        };
        let event = event.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if let Some(data) = event.strip_prefix("data:") {
            match serde_json::from_str(data.trim()) {
                Ok(document) => documents.push(document),
                Err(_) => return documents,
            }
        }
        match behind {
            Some(behind) => rest = behind,
            None => return documents,
        }
    }
}

/// The elements of a list that came so far.
fn list(body: &str) -> Vec<Value> {
    let mut documents = Vec::new();
    let Some(mut rest) = body.trim_start().strip_prefix('[') else { return documents };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(document)) = stream.next() else { return documents };
        rest = &rest[stream.byte_offset()..];
        documents.push(document);
    }
}

/// One client looks at the first candidate, and puts pieces together: a part without a name adds to
/// the call that began last and has not ended.
fn assembled(documents: &[&Value]) -> Vec<Call> {
    let (mut whole, mut open): (Vec<Call>, Vec<(String, Value)>) = (Vec::new(), Vec::new());
    let done = |open: &mut Vec<(String, Value)>, whole: &mut Vec<Call>| {
        whole.extend(open.pop().map(|(name, arguments)| (name, arguments.to_string())));
    };
    let documents = documents.iter().copied();
    for call in documents.flat_map(|document| parts(document, Keys::Camel, Candidates::First)) {
        let pieces = call["partialArgs"].as_array();
        let (named, goes_on) = (call["name"].is_string(), call["willContinue"] == true);
        if pieces.is_some() || (named && goes_on) {
            if named {
                open.push((text(&call["name"]), Value::Object(Default::default())));
            }
            let Some((_, arguments)) = open.last_mut() else { continue };
            for piece in pieces.into_iter().flatten() {
                add(arguments, piece);
            }
            let continues = |piece: &Value| piece["willContinue"] == true;
            if pieces.is_some() && !goes_on && !pieces.into_iter().flatten().any(continues) {
                done(&mut open, &mut whole);
            }
        } else if named {
            whole.push((text(&call["name"]), text(&call["args"])));
        } else if call["args"].is_null() && call["willContinue"].is_null() {
            done(&mut open, &mut whole);
        }
    }
    while !open.is_empty() {
        done(&mut open, &mut whole);
    }
    whole
}

/// Puts a value where its path leads.
fn add(arguments: &mut Value, piece: &Value) {
    let path = piece["jsonPath"].as_str().unwrap_or("").trim_start_matches("$.").to_owned();
    let mut place = arguments;
    for step in path.split(['.', '[']) {
        let key = step.trim_end_matches(']');
        place = match key.parse::<usize>() {
            Ok(at) if at < 1000 && (place.is_array() || place.is_null()) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let list = place.as_array_mut().unwrap();
                while list.len() <= at {
                    list.push(Value::Null);
                }
                &mut list[at]
            }
            _ => {
                if !place.is_object() {
                    *place = Value::Object(Default::default());
                }
                place.as_object_mut().unwrap().entry(key).or_insert(Value::Null)
            }
        };
    }
    let values = ["stringValue", "numberValue", "boolValue"].map(|key| &piece[key]);
    let value = values.into_iter().find(|value| !value.is_null()).unwrap_or(&Value::Null);
    match (place.as_str(), value.as_str()) {
        (Some(before), Some(more)) => *place = Value::String(format!("{before}{more}")),
        _ => *place = value.clone(),
    }
}
