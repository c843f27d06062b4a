//! Where an argument stands: `command`, `options.path`, `items[0].name`, `items[*].name`, `$`,
//! and the fields of the call's context: `context.cwd`.

use callgate_call::json::Value;

/// A path in a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Path {
    /// Steps into the arguments. No steps is `$`, the whole input.
    Argument(Vec<Step>),
    /// A field of the context.
    Context(ContextField),
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
    Each,
}

/// What is readable under `context.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ContextField {
    Session,
    Cwd,
    Model,
    Provider,
    Hour,
    Weekday,
}

/// Every context field, by the word behind `context.`.
pub(crate) const CONTEXT: &[(&str, ContextField)] = &[
    ("session", ContextField::Session),
    ("cwd", ContextField::Cwd),
    ("model", ContextField::Model),
    ("provider", ContextField::Provider),
    ("hour", ContextField::Hour),
    ("weekday", ContextField::Weekday),
];

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found<'v> {
    Value(&'v Value),
    /// The path leads through a value that cannot be entered: text where an object was expected.
    WrongType,
}

impl Path {
    /// Reads a path, or says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(field) = text.strip_prefix("context.") {
            let known = CONTEXT.iter().find(|(word, _)| *word == field);
            return known.map(|(_, field)| Self::Context(*field)).ok_or_else(|| {
                format!("unknown context field `{field}`; for an argument write `$.{text}`")
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

    /// Whether it leads to all of the input: `$`.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self, Self::Argument(steps) if steps.is_empty())
    }

    /// Hands out everything that stands at this path. The free text of a custom tool is `$` and
    /// has no other arguments. On `$` an object hands out every scalar inside, so that a rule can
    /// look for a text wherever it stands.
    pub(crate) fn each<'v>(&self, root: &'v Value, visit: &mut impl FnMut(Found<'v>)) {
        match self {
            Self::Context(_) => {}
            Self::Argument(steps) if steps.is_empty() => scalars(root, visit),
            Self::Argument(_) if matches!(root, Value::String(_)) => {}
            Self::Argument(steps) => walk(steps, root, visit),
        }
    }
}

fn walk<'v>(steps: &[Step], value: &'v Value, visit: &mut impl FnMut(Found<'v>)) {
    let Some((step, rest)) = steps.split_first() else { return visit(Found::Value(value)) };
    match (step, value) {
        (_, Value::Null) => {}
        (Step::Key(key), Value::Object(_)) => {
            if let Some(member) = value.get(key) {
                walk(rest, member, visit);
            }
        }
        (Step::Index(at), Value::Array(items)) => {
            if let Some(item) = items.get(*at) {
                walk(rest, item, visit);
            }
        }
        (Step::Each, Value::Array(items)) => {
            for item in items {
                walk(rest, item, visit);
            }
        }
        _ => visit(Found::WrongType),
    }
}

/// Depth is bounded by the JSON reader.
fn scalars<'v>(value: &'v Value, visit: &mut impl FnMut(Found<'v>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(item, visit)),
        Value::Object(members) => members.iter().for_each(|(_, member)| scalars(member, visit)),
        scalar => visit(Found::Value(scalar)),
    }
}

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, behind) = bracket(inside)?;
            steps.push(step);
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(end);
            if key.is_empty() {
                return Err("a name is missing".into());
            }
            steps.push(Step::Key(key.to_owned()));
            rest = behind;
        }
        if let Some(behind) = rest.strip_prefix('.') {
            if behind.is_empty() {
                return Err("a name is missing behind the last `.`".into());
            }
            rest = behind;
        }
    }
    if steps.is_empty() { Err("the path is empty".into()) } else { Ok(steps) }
}

/// What stands in brackets: an index, `*`, or a quoted key.
fn bracket(inside: &str) -> Result<(Step, &str), String> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = format!("{quote}]");
            let (key, behind) = quoted.split_once(&end).ok_or("a quoted key is not closed")?;
            return Ok((Step::Key(key.to_owned()), behind));
        }
    }
    let (index, behind) = inside.split_once(']').ok_or("a `[` is not closed")?;
    if index == "*" {
        return Ok((Step::Each, behind));
    }
    let index = index.parse().map_err(|_| format!("`[{index}]` is neither a number nor `[*]`"))?;
    Ok((Step::Index(index), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, json: &str) -> Vec<String> {
        let root = Value::parse(json).unwrap();
        let mut found = Vec::new();
        Path::parse(path).unwrap().each(&root, &mut |item| {
            found.push(match item {
                Found::Value(Value::String(text) | Value::Number(text)) => text.clone(),
                Found::Value(other) => format!("{other:?}"),
                Found::WrongType => "wrong".into(),
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
            ("$", vec!["x", "1", "2", "1", "2", "Null"]),
        ] {
            assert_eq!(at(path, json), expected, "{path}");
        }
    }

    #[test]
    fn the_text_of_a_custom_tool_is_the_whole_input() {
        assert_eq!(at("$", r#""text""#), ["text"]);
        assert_eq!(at("command", r#""text""#), [""; 0]);
    }

    #[test]
    fn broken_paths_are_refused() {
        for path in ["a.", ".a", "a..b", "a[", "a[x]", "a['b]", "context.nothing", "a[-1]"] {
            assert!(Path::parse(path).is_err(), "{path}");
        }
    }
}
