//! Joins arguments that come in pieces: values with their paths.
//!
//! Clients that join them split the path in a simple way and append text to text. If clients would
//! disagree on a piece, the call is refused.

use callgate_json::{Error, Kind, Problem, Reader as Json, Text, decode_into, quote};

use crate::json::{Fields, decode, text_or_null};

/// Arguments that are being joined.
#[derive(Debug, Default)]
pub(super) struct Partial {
    root: Vec<(String, Node)>,
    /// How much text they contain.
    size: usize,
    /// Why they cannot be joined.
    broken: Option<&'static str>,
}

#[derive(Debug)]
enum Node {
    /// A text, and whether more of it will come.
    Text {
        text: String,
        half: Option<u16>,
        continues: bool,
    },
    /// Any other value without members, unchanged.
    Plain(String),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
}

/// A step of a path.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
}

/// The value of one piece.
enum Value {
    Text(String),
    Plain(String),
    /// It is missing.
    Missing,
}

/// The most text that is joined: the frames of a denied call are not stored, so nothing else limits
/// it.
const MAX_SIZE: usize = 4 << 20;

/// The most steps of a path. Arguments may not nest deeper than the JSON reader allows.
const MAX_STEPS: usize = 64;

const PATH: &str = "a path in its streamed arguments cannot be followed";
const VALUE: &str = "a value in its streamed arguments cannot be read";

impl Partial {
    /// Adds a list of pieces. Returns whether one of them will continue.
    pub(super) fn add(&mut self, list: &str) -> Result<bool, Error> {
        self.size += list.len();
        if self.size > MAX_SIZE {
            self.breaks("its streamed arguments are too large");
        }
        let mut json = Json::new(list);
        let mut continues = false;
        let mut array = json.array()?;
        while array.next(&mut json)? {
            continues |= self.piece(&mut json, list)?;
        }
        Ok(continues)
    }

    /// Sets why the call cannot be joined.
    pub(super) fn breaks(&mut self, why: &'static str) {
        self.broken.get_or_insert(why);
    }

    /// The arguments as JSON, and why they are invalid, if they are.
    pub(super) fn finish(mut self) -> (String, Option<&'static str>) {
        let mut out = String::new();
        let mut whole = true;
        write_object(&self.root, &mut out, &mut whole);
        if !whole {
            self.breaks(VALUE);
        }
        (out, self.broken)
    }

    fn piece(&mut self, json: &mut Json<'_>, list: &str) -> Result<bool, Error> {
        let (mut path, mut found, mut continues) = (None, Vec::new(), false);
        let mut null = false;
        let mut object = Fields::camel_or_snake(&PIECE).enter(json)?;
        while let Some(place) = object.next(json)? {
            let kind = json.kind()?;
            match place {
                0 => path = decode(text_or_null(json)?)?,
                1 if kind != Kind::Null => {
                    let text: Text<'_> = json.string()?;
                    found.push(Value::Text(text.raw().to_owned()));
                }
                place @ (2 | 3) if kind != Kind::Null => {
                    let wanted = if place == 2 { Kind::Number } else { Kind::Bool };
                    if kind != wanted {
                        return Err(Error::new(Problem::WrongType, json.position()));
                    }
                    found.push(Value::Plain(json.skip()?.of(list).to_owned()));
                }
                4 => {
                    null = true;
                    json.skip()?;
                }
                5 => continues = json.skip()?.of(list) == "true",
                _ => json.ignore()?,
            }
        }
        if self.broken.is_some() {
            return Ok(continues);
        }
        let value = match (found.pop(), found.is_empty(), null) {
            (Some(value), true, false) => value,
            (None, _, true) => Value::Plain("null".to_owned()),
            (None, _, false) => Value::Missing,
            _ => {
                self.breaks(VALUE);
                return Ok(continues);
            }
        };
        match path.as_deref().and_then(steps) {
            Some(path) => {
                if let Err(why) = set(&mut self.root, &path, value, continues) {
                    self.breaks(why);
                }
            }
            None => self.breaks(PATH),
        }
        Ok(continues)
    }
}

const PIECE: [&str; 6] =
    ["jsonPath", "stringValue", "numberValue", "boolValue", "nullValue", "willContinue"];

/// The steps of a path such as `$.list[0].name`. Clients disagree on quoted keys.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for name in path.strip_prefix("$.")?.split('.') {
        let (key, places) = match name.find('[') {
            Some(at) => name.split_at_checked(at)?,
            None => (name, ""),
        };
        if key.is_empty() || key.contains([']', '\'', '"', '\\', '*', '?', '$', '@']) {
            return None;
        }
        steps.push(Step::Key(key.to_owned()));
        let mut rest = places;
        while let Some(inner) = rest.strip_prefix('[') {
            let (place, behind) = inner.split_once(']')?;
            let is_plain = place == "0" || !place.starts_with('0');
            let is_number = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit());
            if !is_plain || !is_number {
                return None;
            }
            steps.push(Step::Place(place.parse().ok()?));
            rest = behind;
        }
        if !rest.is_empty() || steps.len() > MAX_STEPS {
            return None;
        }
    }
    Some(steps)
}

fn set(
    object: &mut Vec<(String, Node)>,
    path: &[Step],
    value: Value,
    continues: bool,
) -> Result<(), &'static str> {
    let [Step::Key(key), rest @ ..] = path else { return Err(PATH) };
    if let Some((_, node)) = object.iter_mut().find(|(known, _)| known == key) {
        return change(node, rest, value, continues);
    }
    if let Some(node) = make(rest, value, continues)? {
        object.push((key.clone(), node));
    }
    Ok(())
}

/// Adds to an existing node.
fn change(
    node: &mut Node,
    path: &[Step],
    value: Value,
    continues: bool,
) -> Result<(), &'static str> {
    match (node, path) {
        (_, _) if matches!(value, Value::Missing) => Ok(()),
        (Node::Object(object), [Step::Key(_), ..]) => set(object, path, value, continues),
        (Node::Array(array), [Step::Place(place), rest @ ..]) => {
            if let Some(node) = array.get_mut(*place) {
                return change(node, rest, value, continues);
            }
            // Clients fill a gap in different ways.
            if *place != array.len() {
                return Err(PATH);
            }
            array.extend(make(rest, value, continues)?);
            Ok(())
        }
        (Node::Text { text, half, continues: open }, []) => {
            let Value::Text(more) = value else { return Err(VALUE) };
            // After its end, some clients append to it, and some start over.
            if !*open && !more.is_empty() {
                return Err(VALUE);
            }
            if !decode_into(&more, half, text) {
                return Err(VALUE);
            }
            *open = *open && continues;
            Ok(())
        }
        _ => Err(VALUE),
    }
}

/// A new value, with all nodes on its path.
fn make(path: &[Step], value: Value, continues: bool) -> Result<Option<Node>, &'static str> {
    if let [first, rest @ ..] = path {
        let Some(inner) = make(rest, value, continues)? else { return Ok(None) };
        return match first {
            Step::Key(key) => Ok(Some(Node::Object(vec![(key.clone(), inner)]))),
            Step::Place(0) => Ok(Some(Node::Array(vec![inner]))),
            Step::Place(_) => Err(PATH),
        };
    }
    match value {
        Value::Missing => Ok(None),
        Value::Plain(text) => Ok(Some(Node::Plain(text))),
        Value::Text(raw) => {
            let (mut text, mut half) = (String::new(), None);
            match decode_into(&raw, &mut half, &mut text) {
                true => Ok(Some(Node::Text { text, half, continues })),
                false => Err(VALUE),
            }
        }
    }
}

fn write_object(object: &[(String, Node)], out: &mut String, whole: &mut bool) {
    out.push('{');
    for (number, (key, node)) in object.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        out.push_str(&quote(key));
        out.push(':');
        write_node(node, out, whole);
    }
    out.push('}');
}

fn write_node(node: &Node, out: &mut String, whole: &mut bool) {
    match node {
        Node::Plain(text) => out.push_str(text),
        Node::Object(object) => write_object(object, out, whole),
        Node::Text { text, half, .. } => {
            *whole &= half.is_none();
            out.push_str(&quote(text));
        }
        Node::Array(array) => {
            out.push('[');
            for (number, node) in array.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                write_node(node, out, whole);
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_together(lists: &[&str]) -> (String, Option<&'static str>) {
        let mut partial = Partial::default();
        for list in lists {
            partial.add(list).unwrap();
        }
        partial.finish()
    }

    #[test]
    fn texts_grow_and_lists_are_filled_in_order() {
        let (text, broken) = put_together(&[
            r#"[{"jsonPath":"$.list[0].name","stringValue":"Gr\u00fc","willContinue":true}]"#,
            r#"[{"jsonPath":"$.list[0].name","stringValue":"\u00dfe"}]"#,
            r#"[{"jsonPath":"$.list[0].n","numberValue":1.50},{"jsonPath":"$.list[1]","nullValue":null}]"#,
            r#"[{"jsonPath":"$.deep.er[0][0]","boolValue":true},{"jsonPath":"$.deep.er[0][1]","stringValue":"\ud83d","willContinue":true}]"#,
            r#"[{"jsonPath":"$.deep.er[0][1]","stringValue":"\ude00"}]"#,
            r#"[{"jsonPath":"$.nothing"}]"#,
        ]);
        assert_eq!(broken, None);
        let want = r#"{"list":[{"name":"Grüße","n":1.50},null],"deep":{"er":[[true,"😀"]]}}"#;
        assert_eq!(text, want);
        assert_eq!(put_together(&[]), ("{}".to_owned(), None));
    }

    #[test]
    fn pieces_that_clients_read_differently_are_refused() {
        for lists in [
            &[r#"[{"jsonPath":"$","stringValue":"x"}]"#] as &[&str],
            &[r#"[{"stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$['a.b']","stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$.a[1]","stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$.a[00]","stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$.a[-1]","stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$.a[0]x","stringValue":"x"}]"#],
            &[r#"[{"jsonPath":"$.a","stringValue":"x","numberValue":1}]"#],
            &[
                r#"[{"jsonPath":"$.a","stringValue":"x"}]"#,
                r#"[{"jsonPath":"$.a","stringValue":"y"}]"#,
            ],
            &[
                r#"[{"jsonPath":"$.a","numberValue":1}]"#,
                r#"[{"jsonPath":"$.a","stringValue":"y"}]"#,
            ],
            &[
                r#"[{"jsonPath":"$.a","stringValue":"x"}]"#,
                r#"[{"jsonPath":"$.a.b","stringValue":"y"}]"#,
            ],
            &[
                r#"[{"jsonPath":"$.a.b","stringValue":"x"}]"#,
                r#"[{"jsonPath":"$.a[0]","stringValue":"y"}]"#,
            ],
            &[r#"[{"jsonPath":"$.a","stringValue":"\ud83d"}]"#],
        ] {
            assert!(put_together(lists).1.is_some(), "{lists:?}");
        }
    }

    #[test]
    fn other_types_are_unreadable() {
        for list in [
            "{}",
            "[1]",
            r#"[{"jsonPath":1,"stringValue":"x"}]"#,
            r#"[{"jsonPath":"$.a","stringValue":1}]"#,
            r#"[{"jsonPath":"$.a","numberValue":"1"}]"#,
            r#"[{"jsonPath":"$.a","json_path":"$.b","stringValue":"x"}]"#,
        ] {
            assert!(Partial::default().add(list).is_err(), "{list}");
        }
    }
}
