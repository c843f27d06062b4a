//! The path to an argument: `command`, `options.path`, `items[0].name`, `items[*].name`, `$`, and
//! the fields of the call's context: `context.cwd`. `@command` is whatever argument has that role.

use callgate_effects::Role;
use callgate_json::{Value, equal_ignoring_case};

use crate::tri::Tri;

/// A path as a rule uses it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ArgumentPath {
    /// Steps into the arguments. No steps is `$`, the whole input.
    Argument(Vec<PathStep>),
    /// A field of the context.
    Context(ContextField),
    /// The arguments that carry a role. Which ones these are depends on the tool.
    Role(Role),
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum PathStep {
    Key(String),
    Index(usize),
    Each,
}

/// A field of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ContextField {
    Session,
    Cwd,
    Model,
    Provider,
    Hour,
    Weekday,
}

/// Every context field, by its name after `context.`.
pub(crate) const CONTEXT: &[(&str, ContextField)] = &[
    ("session", ContextField::Session),
    ("cwd", ContextField::Cwd),
    ("model", ContextField::Model),
    ("provider", ContextField::Provider),
    ("hour", ContextField::Hour),
    ("weekday", ContextField::Weekday),
];

/// Something at a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PathItem<'v> {
    Value(&'v Value),
    /// A key of an object. Only `$` leads to keys.
    Key(&'v str),
    /// The path leads into a value that has no members, such as text where an object was expected.
    WrongType,
}

impl ArgumentPath {
    /// Parses a path, or returns what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(field) = text.strip_prefix("context.") {
            let known = CONTEXT.iter().find(|(word, _)| *word == field);
            return known.map(|(_, field)| Self::Context(*field)).ok_or_else(|| {
                format!("unknown context field `{field}`; for an argument write `$.{text}`")
            });
        }
        if let Some(word) = text.strip_prefix('@') {
            return Role::from_word(word).map(Self::Role).ok_or_else(|| {
                format!("unknown role `{text}`; for an argument of that name write `$.{text}`")
            });
        }
        match text.strip_prefix('$') {
            Some("") => Ok(Self::Argument(Vec::new())),
            Some(rest) if rest.starts_with('[') => steps(rest).map(Self::Argument),
            Some(rest) => match rest.strip_prefix('.') {
                Some(rest) => steps(rest).map(Self::Argument),
                None => steps(text).map(Self::Argument),
            },
            None => steps(text).map(Self::Argument),
        }
    }

    /// Whether it leads to the whole input: `$`.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self, Self::Argument(steps) if steps.is_empty())
    }

    /// Whether `holds` is true for anything at this path. The free text of a custom tool is `$`,
    /// and there are no other arguments. `$` leads to every key and every scalar of an object, so
    /// that a rule can search for a text anywhere.
    ///
    /// If programs read different members for one key, all of those are tried. Unless they agree,
    /// the result is unknown.
    pub(crate) fn any<'v>(
        &self,
        root: &'v Value,
        holds: &mut impl FnMut(PathItem<'v>) -> Tri,
    ) -> Tri {
        match self {
            Self::Context(_) | Self::Role(_) => Tri::False,
            Self::Argument(steps) if steps.is_empty() => everything(root, holds),
            Self::Argument(_) if matches!(root, Value::String(_)) => Tri::False,
            Self::Argument(steps) => walk(steps, root, holds),
        }
    }

    /// Visits everything that any program may read at this path.
    pub(crate) fn each<'v>(&self, root: &'v Value, visit: &mut impl FnMut(PathItem<'v>)) {
        self.any(root, &mut |found| {
            visit(found);
            Tri::False
        });
    }

    /// The first key along the path that only some programs take for the key in the path.
    pub(crate) fn unclear_key<'v>(&self, root: &'v Value) -> Option<&'v str> {
        match self {
            Self::Context(_) | Self::Role(_) => None,
            Self::Argument(steps) => unclear_key(steps, root),
        }
    }
}

/// Where a value is in the arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValuePosition {
    /// The position of the member or element at each level.
    pub(crate) steps: Vec<usize>,
    /// The first key on the way that only some programs take for the key in the path.
    pub(crate) unclear_key: Option<String>,
}

impl ValuePosition {
    /// The value there.
    pub(crate) fn value<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(root, |value, at| match value {
            Value::Object(members) => members.get(*at).map(|(_, member)| member),
            Value::Array(items) => items.get(*at),
            _ => None,
        })
    }

    /// The path to it, as a rule would write it.
    pub(crate) fn path(&self, root: &Value) -> String {
        let (mut path, mut value) = (String::new(), root);
        for at in &self.steps {
            let inner = match value {
                Value::Object(members) => members.get(*at).map(|(key, member)| {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(&format!("{dot}{key}"));
                    member
                }),
                Value::Array(items) => {
                    path.push_str(&format!("[{at}]"));
                    items.get(*at)
                }
                _ => None,
            };
            let Some(inner) = inner else { break };
            value = inner;
        }
        if path.is_empty() { "$".to_owned() } else { path }
    }

    /// The elements of a list; the place itself for anything else.
    pub(crate) fn elements(self, root: &Value) -> Vec<Self> {
        match self.value(root) {
            Some(Value::Array(items)) => (0..items.len()).map(|at| self.inside(at)).collect(),
            _ => vec![self],
        }
    }

    fn inside(&self, at: usize) -> Self {
        let mut place = self.clone();
        place.steps.push(at);
        place
    }

    fn unless_exact(mut self, key: &str) -> Self {
        self.unclear_key.get_or_insert_with(|| key.to_owned());
        self
    }
}

impl ArgumentPath {
    /// Adds every place that any program may read at this path. A single value counts as a list of
    /// one, and a value of another type than the path expects has no such place. `$` is the free text
    /// of a custom tool.
    pub(crate) fn places(&self, root: &Value, found: &mut Vec<ValuePosition>) {
        match (self, root) {
            (Self::Argument(steps), Value::String(_)) if steps.is_empty() => {
                found.push(ValuePosition::default());
            }
            (Self::Argument(steps), Value::Object(_)) if !steps.is_empty() => {
                add_places(steps, root, ValuePosition::default(), found);
            }
            _ => {}
        }
    }
}

/// Recursion is bounded: by the path, and for prototypes by the depth of the JSON.
fn add_places(
    steps: &[PathStep],
    value: &Value,
    place: ValuePosition,
    found: &mut Vec<ValuePosition>,
) {
    let Some((step, rest)) = steps.split_first() else { return found.push(place) };
    match (step, value) {
        (PathStep::Key(key), Value::Object(members)) => {
            let has_exact = members.iter().any(|(name, _)| name == key);
            for (at, (name, member)) in members.iter().enumerate() {
                let inner = place.inside(at);
                match member {
                    _ if name == key => add_places(rest, member, inner, found),
                    _ if equal_ignoring_case(name, key) => {
                        add_places(rest, member, inner.unless_exact(name), found);
                    }
                    Value::Object(_) if name == "__proto__" && !has_exact => {
                        add_places(steps, member, inner.unless_exact(name), found);
                    }
                    _ => {}
                }
            }
        }
        (PathStep::Index(at), Value::Array(items)) => {
            if let Some(item) = items.get(*at) {
                add_places(rest, item, place.inside(*at), found);
            }
        }
        (PathStep::Each, Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                add_places(rest, item, place.inside(at), found);
            }
        }
        (PathStep::Each, other) => add_places(rest, other, place, found),
        _ => {}
    }
}

fn walk<'v>(
    steps: &[PathStep],
    value: &'v Value,
    holds: &mut impl FnMut(PathItem<'v>) -> Tri,
) -> Tri {
    let Some((step, rest)) = steps.split_first() else { return holds(PathItem::Value(value)) };
    match (step, value) {
        (_, Value::Null) => Tri::False,
        (PathStep::Key(key), Value::Object(members)) => {
            let exact = value.get(key);
            let exact = exact.map_or(Tri::False, |member| walk(rest, member, holds));
            ambiguous_members(key, members).fold(exact, |result, (_, other)| {
                result.agree(match other {
                    AmbiguousMember::Case(member) => walk(rest, member, &mut *holds),
                    AmbiguousMember::Prototype(object) => walk(steps, object, &mut *holds),
                })
            })
        }
        (PathStep::Index(at), Value::Array(items)) => {
            items.get(*at).map_or(Tri::False, |item| walk(rest, item, holds))
        }
        (PathStep::Each, Value::Array(items)) => {
            Tri::any(items.iter().map(|item| walk(rest, item, &mut *holds)))
        }
        _ => holds(PathItem::WrongType),
    }
}

/// A member that only some programs take for the one with a certain key.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AmbiguousMember<'v> {
    /// A member whose key differs in case. Go and .NET ignore case and keep the last of several
    /// members, other programs keep the exact one, and Go even merges objects. Each of them reads a
    /// value that is in one of the members.
    Case(&'v Value),
    /// JavaScript that copies members one by one makes this the object's prototype. Its members
    /// then look like the object's own, unless the object has a member with the same key.
    Prototype(&'v Value),
}

fn ambiguous_members<'v>(
    key: &str,
    members: &'v [(String, Value)],
) -> impl Iterator<Item = (&'v str, AmbiguousMember<'v>)> {
    members.iter().filter_map(move |(name, member)| match member {
        _ if name == key => None,
        _ if equal_ignoring_case(name, key) => Some((name.as_str(), AmbiguousMember::Case(member))),
        Value::Object(_) if name == "__proto__" && !members.iter().any(|(name, _)| name == key) => {
            Some((name.as_str(), AmbiguousMember::Prototype(member)))
        }
        _ => None,
    })
}

fn unclear_key<'v>(steps: &[PathStep], value: &'v Value) -> Option<&'v str> {
    let (step, rest) = steps.split_first()?;
    match (step, value) {
        (PathStep::Key(key), Value::Object(members)) => {
            let other = ambiguous_members(key, members).next().map(|(name, _)| name);
            other.or_else(|| value.get(key).and_then(|member| unclear_key(rest, member)))
        }
        (PathStep::Index(at), Value::Array(items)) => {
            items.get(*at).and_then(|item| unclear_key(rest, item))
        }
        (PathStep::Each, Value::Array(items)) => {
            items.iter().find_map(|item| unclear_key(rest, item))
        }
        _ => None,
    }
}

/// Whether `holds` is true for any key or scalar in a value. Recursion is bounded: the JSON reader
/// limits the depth.
pub(crate) fn everything<'v>(value: &'v Value, holds: &mut impl FnMut(PathItem<'v>) -> Tri) -> Tri {
    match value {
        Value::Array(items) => Tri::any(items.iter().map(|item| everything(item, &mut *holds))),
        Value::Object(members) => {
            Tri::any(members.iter().map(|(key, member)| match holds(PathItem::Key(key)) {
                Tri::True => Tri::True,
                of_key => of_key.or(everything(member, &mut *holds)),
            }))
        }
        scalar => holds(PathItem::Value(scalar)),
    }
}

fn steps(text: &str) -> Result<Vec<PathStep>, String> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = bracket(inside)?;
            steps.push(step);
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            if key.is_empty() {
                return Err("a name is missing".into());
            }
            steps.push(PathStep::Key(key.to_owned()));
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('.') {
            if after.is_empty() {
                return Err("a name is missing after the last `.`".into());
            }
            rest = after;
        }
    }
    if steps.is_empty() { Err("the path is empty".into()) } else { Ok(steps) }
}

/// Parses the inside of brackets: an index, `*`, or a quoted key.
fn bracket(inside: &str) -> Result<(PathStep, &str), String> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = format!("{quote}]");
            let (key, after) = quoted.split_once(&end).ok_or("a quoted key is not closed")?;
            return Ok((PathStep::Key(key.to_owned()), after));
        }
    }
    let (index, after) = inside.split_once(']').ok_or("a `[` is not closed")?;
    if index == "*" {
        return Ok((PathStep::Each, after));
    }
    let index = index.parse().map_err(|_| format!("`[{index}]` is neither a number nor `[*]`"))?;
    Ok((PathStep::Index(index), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, json: &str) -> Vec<String> {
        let root = Value::parse(json).unwrap();
        let mut found = Vec::new();
        ArgumentPath::parse(path).unwrap().each(&root, &mut |item| {
            found.push(match item {
                PathItem::Value(Value::String(text) | Value::Number(text)) => text.clone(),
                PathItem::Value(other) => format!("{other:?}"),
                PathItem::Key(key) => format!("key {key}"),
                PathItem::WrongType => "wrong".into(),
            });
        });
        found
    }

    #[test]
    fn paths_lead_to_values() {
        let json = r#"{"a":"x","o":{"p":1,"a.b":2},"l":[{"n":"1"},{"n":"2"},{}],"z":null}"#;
        for (path, expected) in [
            ("a", vec!["x"]),
            ("$.a", vec!["x"]),
            ("o.p", vec!["1"]),
            ("o['a.b']", vec!["2"]),
            (r#"o["a.b"]"#, vec!["2"]),
            ("l[1].n", vec!["2"]),
            ("l[*].n", vec!["1", "2"]),
            ("l[9].n", vec![]),
            ("z", vec!["Null"]),
            ("z.deeper", vec![]),
            ("missing.deeper", vec![]),
            ("a.deeper", vec!["wrong"]),
            ("l.n", vec!["wrong"]),
            ("o[0]", vec!["wrong"]),
        ] {
            assert_eq!(at(path, json), expected, "{path}");
        }
        let all = [
            "key a", "x", "key o", "key p", "1", "key a.b", "2", "key l", "key n", "1", "key n",
            "2", "key z", "Null",
        ];
        assert_eq!(at("$", json), all);
    }

    #[test]
    fn keys_that_some_programs_take_for_the_one_of_the_path() {
        let json = r#"{"A":1,"a":2,"\u212a":{"X":3,"x":4},"l":[{"N":5},{"n":6}],
            "__proto__":{"p":7,"a":8,"__proto__":{"q":9}}}"#;
        for (path, expected) in [
            ("a", vec!["2", "1"]),
            ("k.x", vec!["4", "3"]),
            ("l[*].n", vec!["5", "6"]),
            ("p", vec!["7"]),
            ("q", vec!["9"]),
            ("__proto__.p", vec!["7"]),
        ] {
            assert_eq!(at(path, json), expected, "{path}");
        }
        let root = Value::parse(json).unwrap();
        let unclear =
            |path: &str| ArgumentPath::parse(path).unwrap().unclear_key(&root).map(str::to_owned);
        assert_eq!(unclear("a").as_deref(), Some("A"));
        assert_eq!(unclear("l[*].n").as_deref(), Some("N"));
        assert_eq!(unclear("p").as_deref(), Some("__proto__"));
        assert_eq!(unclear("l[1].n"), None);
    }

    #[test]
    fn the_text_of_a_custom_tool_is_the_whole_input() {
        assert_eq!(at("$", r#""text""#), ["text"]);
        assert_eq!(at("command", r#""text""#), [""; 0]);
    }

    #[test]
    fn broken_paths_are_refused() {
        for path in ["a.", ".a", "a..b", "a[", "a[x]", "a['b]", "context.nothing", "a[-1]"] {
            assert!(ArgumentPath::parse(path).is_err(), "{path}");
        }
    }
}
