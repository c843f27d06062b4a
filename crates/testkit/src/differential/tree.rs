//! JSON that can be taken apart, and that may have the same key twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Text(String),
    /// A number, a boolean or null, as JSON.
    Plain(String),
}

/// The position of a value: which child of the root, which child of that, and so on.
pub(super) type Path = Vec<usize>;

impl Tree {
    pub(super) fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(super) fn plain(value: impl fmt::Display) -> Self {
        Self::Plain(value.to_string())
    }

    /// The paths of all values below the root.
    pub(super) fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.add_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn add_paths(&self, here: &mut Path, paths: &mut Vec<Path>) {
        for (place, child) in self.children().enumerate() {
            here.push(place);
            paths.push(here.clone());
            child.add_paths(here, paths);
            here.pop();
        }
    }

    fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Object(members) => Box::new(members.iter().map(|(_, value)| value)),
            Self::Array(items) => Box::new(items.iter()),
            Self::Text(_) | Self::Plain(_) => Box::new(std::iter::empty()),
        }
    }

    pub(super) fn get(&self, path: &[usize]) -> Option<&Self> {
        let [place, rest @ ..] = path else { return Some(self) };
        self.children().nth(*place)?.get(rest)
    }

    pub(super) fn get_mut(&mut self, path: &[usize]) -> Option<&mut Self> {
        let [place, rest @ ..] = path else { return Some(self) };
        match self {
            Self::Object(members) => members.get_mut(*place)?.1.get_mut(rest),
            Self::Array(items) => items.get_mut(*place)?.get_mut(rest),
            Self::Text(_) | Self::Plain(_) => None,
        }
    }

    /// The key of a member; `None` for the items of a list.
    pub(super) fn key(&self, path: &[usize]) -> Option<&str> {
        let (place, parent) = path.split_last()?;
        match self.get(parent)? {
            Self::Object(members) => members.get(*place).map(|(key, _)| key.as_str()),
            _ => None,
        }
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, path: &[usize]) -> Option<Self> {
        let (place, parent) = path.split_last()?;
        match self.get_mut(parent)? {
            Self::Object(members) if *place < members.len() => Some(members.remove(*place).1),
            Self::Array(items) if *place < items.len() => Some(items.remove(*place)),
            _ => None,
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        match self {
            Self::Text(text) => out.write_str(&quoted(text)),
            Self::Plain(json) => out.write_str(json),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(out, "[{}]", items.join(","))
            }
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| format!("{}:{value}", quoted(key));
                let members: Vec<String> = members.iter().map(member).collect();
                write!(out, "{{{}}}", members.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Builder)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::plain("null"))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::plain(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::plain(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::plain(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::plain(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Tree::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_keeps_order_and_equal_keys() {
        let json = r#"{"b":[1,-2,1.5,null,true],"a":{"x":"\"q\"","x":{}}}"#;
        let mut tree = Tree::parse(json).unwrap();
        assert_eq!(tree.to_string(), json);
        assert_eq!(tree.paths().len(), 9);
        assert_eq!(tree.key(&[1, 1]), Some("x"));
        assert_eq!(tree.remove(&[1, 0]), Some(Tree::Text("\"q\"".into())));
        assert_eq!(tree.to_string(), r#"{"b":[1,-2,1.5,null,true],"a":{"x":{}}}"#);
    }
}
