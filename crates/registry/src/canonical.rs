//! Parses a definition strictly, and writes it in the canonical form of RFC 8785.
//!
//! The writer is our own because it starts from our strict values, which keep numbers as text, and
//! because every list of tools passes through it. A test compares it with another implementation.

use std::cmp::Ordering;
use std::collections::HashSet;

use callgate_json::{Kind, Problem, Reader, Value};

use crate::definition::{Flaw, Unpinnable};
use crate::path::DefinitionPath;

/// The largest integer up to which all integers have distinct doubles. RFC 8785 writes doubles, so
/// with larger integers two different schemas could have the same hash.
const MAX_INTEGER: u64 = 1 << 53;

/// Parses a document that every client reads the same way, or returns what makes it ambiguous and
/// where.
pub(crate) fn read(text: &str) -> Result<Value, Unpinnable> {
    let mut walk =
        StrictReader { text, reader: Reader::new(text), path: DefinitionPath::default() };
    let value = walk.value()?;
    walk.reader.end().map_err(|error| walk.fault(error))?;
    Ok(value)
}

/// The canonical text of a value that was parsed strictly.
pub(crate) fn write(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// The canonical texts of an object and of the same object with only some of its members.
pub(crate) fn write_both(
    members: &[(String, Value)],
    chosen: impl Fn(&str) -> bool,
) -> (String, String) {
    let (mut all, mut some) = (String::with_capacity(1024), String::with_capacity(1024));
    all.push('{');
    some.push('{');
    for (key, value) in sorted(members) {
        let begin = all.len();
        write_member(key, value, begin > 1, &mut all);
        if chosen(key) {
            let member = all.get(begin..).unwrap_or("").trim_start_matches(',');
            some.push_str(if some.len() > 1 { "," } else { "" });
            some.push_str(member);
        }
    }
    all.push('}');
    some.push('}');
    (all, some)
}

struct StrictReader<'a> {
    text: &'a str,
    reader: Reader<'a>,
    path: DefinitionPath,
}

impl StrictReader<'_> {
    /// Recursion is bounded: the reader limits the depth.
    fn value(&mut self) -> Result<Value, Unpinnable> {
        match self.reader.kind().map_err(|error| self.fault(error))? {
            Kind::Null => self.scalar(|_| Ok(Value::Null)),
            Kind::Bool => self.scalar(|text| Ok(Value::Bool(text == "true"))),
            Kind::Number => self.scalar(|text| {
                check_number(text)?;
                Ok(Value::Number(text.to_owned()))
            }),
            Kind::String => {
                let text = self.reader.string().and_then(|text| text.decode());
                let text = text.map_err(|error| self.fault(error))?;
                Ok(Value::String(text.into_owned()))
            }
            Kind::Array => self.array(),
            Kind::Object => self.object(),
        }
    }

    fn scalar(&mut self, make: fn(&str) -> Result<Value, Flaw>) -> Result<Value, Unpinnable> {
        let span = self.reader.skip().map_err(|error| self.fault(error))?;
        make(span.of(self.text)).map_err(|flaw| Unpinnable::new(flaw, &self.path))
    }

    fn array(&mut self) -> Result<Value, Unpinnable> {
        let mut items = Vec::new();
        let mut elements = self.reader.array().map_err(|error| self.fault(error))?;
        while elements.next(&mut self.reader).map_err(|error| self.fault(error))? {
            self.path.enter_index(items.len());
            items.push(self.value()?);
            self.path.leave();
        }
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value, Unpinnable> {
        let mut members: Vec<(String, Value)> = Vec::new();
        let mut seen = SeenKeys::default();
        let mut object = self.reader.object().map_err(|error| self.fault(error))?;
        while let Some(key) = object.next(&mut self.reader).map_err(|error| self.fault(error))? {
            let name = key.decode().map_err(|error| self.fault(error))?.into_owned();
            self.path.enter_key(&name);
            if !seen.is_new(&name, &members) {
                return Err(Unpinnable::new(Flaw::DuplicateKey, &self.path));
            }
            members.push((name, self.value()?));
            self.path.leave();
        }
        Ok(Value::Object(members))
    }

    fn fault(&self, error: callgate_json::Error) -> Unpinnable {
        let flaw = match error.what {
            Problem::LoneSurrogate => Flaw::LoneSurrogate,
            Problem::TooDeep => Flaw::TooDeep,
            _ => Flaw::Unreadable(error),
        };
        Unpinnable::new(flaw, &self.path)
    }
}

/// Detects duplicate keys. A few keys are compared one by one; many go into a set, because
/// comparing them all would take quadratic time.
#[derive(Default)]
struct SeenKeys {
    many: HashSet<String>,
}

impl SeenKeys {
    const FEW: usize = 16;

    fn is_new(&mut self, key: &str, before: &[(String, Value)]) -> bool {
        if before.len() < Self::FEW {
            return before.iter().all(|(other, _)| other != key);
        }
        if self.many.is_empty() {
            self.many.extend(before.iter().map(|(key, _)| key.clone()));
        }
        self.many.insert(key.to_owned())
    }
}

/// Every client reads a number with a fraction or an exponent as a double. Some clients read plain
/// integers with all their digits.
fn check_number(text: &str) -> Result<(), Flaw> {
    if is_integer(text) {
        return match text.trim_start_matches('-').parse::<u64>() {
            Ok(integer) if integer <= MAX_INTEGER => Ok(()),
            _ => Err(Flaw::BigInteger),
        };
    }
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => Ok(()),
        _ => Err(Flaw::Infinite),
    }
}

fn is_integer(text: &str) -> bool {
    text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) => write_number(text, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, value)) in sorted(members).into_iter().enumerate() {
                write_member(key, value, at > 0, out);
            }
            out.push('}');
        }
    }
}

fn write_member(key: &str, value: &Value, follows: bool, out: &mut String) {
    out.push_str(if follows { "," } else { "" });
    write_text(key, out);
    out.push(':');
    write_value(value, out);
}

/// Writes a number like JavaScript. Integers that passed the check are already in this form.
fn write_number(text: &str, out: &mut String) {
    if is_integer(text) {
        return out.push_str(if text == "-0" { "0" } else { text });
    }
    let double = text.parse::<f64>().unwrap_or(0.0);
    out.push_str(ryu_js::Buffer::new().format(double));
}

/// Escapes only what JSON requires, in the form that RFC 8785 prescribes.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('\u{8}') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn sorted(members: &[(String, Value)]) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<(&str, &Value)> =
        members.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_unstable_by(|(one, _), (two, _)| by_utf_16(one, two));
    sorted
}

/// The order of RFC 8785: by UTF-16 code units, which differs from the order of UTF-8.
fn by_utf_16(one: &str, two: &str) -> Ordering {
    match one.is_ascii() && two.is_ascii() {
        true => one.cmp(two),
        false => one.encode_utf16().cmp(two.encode_utf16()),
    }
}
