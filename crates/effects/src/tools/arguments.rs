//! Finds the arguments that a path of the catalogue names: `command`, `edits[*].path`, `$`.

use callgate_json::Value;

/// Values of one role that are looked at.
const MAX_FOUND: usize = 256;

/// An argument: its path in the call, and its value.
pub(crate) type Found<'v> = (String, &'v Value);

/// All values at that path. Keys are compared without regard to case, as some clients do.
pub(crate) fn find<'v>(root: &'v Value, path: &str) -> Vec<Found<'v>> {
    if path == "$" {
        return if root.as_str().is_some() { vec![("$".to_owned(), root)] } else { Vec::new() };
    }
    let mut found: Vec<Found<'v>> = vec![(String::new(), root)];
    for step in path.split('.') {
        let (key, is_list) = step.strip_suffix("[*]").map_or((step, false), |key| (key, true));
        found = found
            .into_iter()
            .flat_map(|(path, value)| members(&path, value, key))
            .take(MAX_FOUND)
            .collect();
        if is_list {
            found = found
                .into_iter()
                .flat_map(|(path, value)| elements(&path, value))
                .take(MAX_FOUND)
                .collect();
        }
    }
    found
}

fn members<'v>(path: &str, value: &'v Value, key: &str) -> Vec<Found<'v>> {
    let Value::Object(members) = value else { return Vec::new() };
    let fits = members.iter().filter(|(known, _)| known.eq_ignore_ascii_case(key));
    fits.map(|(known, value)| (join(path, known), value)).collect()
}

/// The elements of a list; a single value counts as a list of one.
pub(crate) fn elements<'v>(path: &str, value: &'v Value) -> Vec<Found<'v>> {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, item)| (format!("{path}[{at}]"), item)).collect()
        }
        other => vec![(path.to_owned(), other)],
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
