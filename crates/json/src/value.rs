//! A small tree that keeps the order of keys and the text of numbers, as policies need.

use super::{Error, Kind, Problem, Reader};

/// A JSON value. Numbers keep their text, so that `1.0`, `1` and integers beyond 64 bits stay as
/// the model wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string, decoded.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object, in the order of the text, each key once.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Parses one document. A duplicate key is an error: some clients keep the last value, others
    /// the first.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut reader = Reader::new(text);
        let value = Self::read(&mut reader, text)?;
        reader.end()?;
        Ok(value)
    }

    /// The member with this key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The decoded text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Recursion is bounded: the reader limits the depth.
    fn read(reader: &mut Reader<'_>, text: &str) -> Result<Self, Error> {
        match reader.kind()? {
            Kind::Null => reader.skip().map(|_| Self::Null),
            Kind::Bool => reader.skip().map(|span| Self::Bool(span.of(text) == "true")),
            Kind::Number => reader.skip().map(|span| Self::Number(span.of(text).to_owned())),
            Kind::String => Ok(Self::String(reader.string()?.decode()?.into_owned())),
            Kind::Array => {
                let mut items = Vec::new();
                let mut elements = reader.array()?;
                while elements.next(reader)? {
                    items.push(Self::read(reader, text)?);
                }
                Ok(Self::Array(items))
            }
            Kind::Object => {
                let mut members: Vec<(String, Value)> = Vec::new();
                let mut seen = std::collections::HashSet::new();
                let mut object = reader.object()?;
                while let Some(key) = object.next(reader)? {
                    let name = key.decode()?.into_owned();
                    if !seen.insert(name.clone()) {
                        return Err(Error::new(Problem::DuplicateKey, key.span().start));
                    }
                    members.push((name, Self::read(reader, text)?));
                }
                Ok(Self::Object(members))
            }
        }
    }
}
