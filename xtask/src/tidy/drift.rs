//! Long files and functions, structs with many fields or flags: shown, because they are often a
//! sign of something and sometimes right.

use super::files::File;

const FILE: usize = 700;
const FUNCTION: usize = 70;
const FIELDS: usize = 15;
const FLAGS: usize = 3;

pub(crate) fn check(file: &File) -> Vec<String> {
    if !file.is("rs") {
        return Vec::new();
    }
    let mut long: Vec<String> = functions(file)
        .into_iter()
        .filter(|(_, lines)| *lines > FUNCTION)
        .map(|(at, lines)| format!("{}:{at}: a function of {lines} lines", file.name))
        .collect();
    let lines = file.lines().count();
    if lines > FILE {
        long.push(format!("{}: {lines} lines", file.name));
    }
    let large = structs(file).into_iter().filter(|it| it.fields > FIELDS || it.flags > FLAGS);
    long.extend(large.map(|Struct { at, fields, flags }| {
        format!("{}:{at}: a struct with {fields} fields, {flags} of them flags", file.name)
    }));
    long
}

#[derive(Debug, PartialEq)]
struct Struct {
    /// Its first line.
    at: usize,
    fields: usize,
    flags: usize,
}

/// The structs with named fields. Goes by what rustfmt does: each field begins a line of its own,
/// indented by four, and the brace that ends the struct is indented like its first line.
fn structs(file: &File) -> Vec<Struct> {
    let mut open: Option<(Struct, usize)> = None;
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        match &mut open {
            Some((_, column)) if code.starts_with('}') && indent == *column => {
                found.extend(open.take().map(|(it, _)| it));
            }
            Some((it, column)) if indent == *column + 4 => count_field(code, it),
            None if begins(code, "struct") && code.ends_with('{') => {
                open = Some((Struct { at: number, fields: 0, flags: 0 }, indent));
            }
            _ => {}
        }
    }
    found
}

fn count_field(code: &str, it: &mut Struct) {
    let Some((name, kind)) = code.split_once(": ").filter(|_| !code.starts_with("//")) else {
        return;
    };
    let name = name.rsplit(' ').next().unwrap_or_default();
    if !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
        it.fields += 1;
        it.flags += usize::from(kind == "bool,");
    }
}

/// Where functions begin and how long they are. Goes by what rustfmt does: a function ends at the
/// first closing brace that is indented like its first line.
fn functions(file: &File) -> Vec<(usize, usize)> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with('}') {
            while let Some(&(at, column)) = open.last().filter(|(_, column)| *column >= indent) {
                if column == indent {
                    found.push((at, number - at + 1));
                }
                open.pop();
            }
        } else if begins(code, "fn") && !code.ends_with([';', '}']) {
            open.push((number, indent));
        }
    }
    found
}

/// Whether the line begins an item of this kind, whatever its visibility.
fn begins(code: &str, kind: &str) -> bool {
    let mut words = code.split_whitespace();
    let modifier = |word: &&str| {
        word.starts_with("pub") || ["const", "async", "unsafe", "extern", "in"].contains(word)
    };
    words.find(|word| !modifier(word)) == Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured() {
        let text = "impl A {\n    pub(crate) fn one(\n        a: u8,\n    ) -> u8 {\n        if a {\n            b\n        }\n    }\n    fn short() {}\n}\nconst fn two() {\n}\n";
        let file = File::new("a.rs", text.as_bytes().to_vec());
        assert_eq!(functions(&file), [(2, 7), (11, 2)]);
    }

    #[test]
    fn fields_and_flags_are_counted() {
        let text = "pub(crate) struct One {\n    /// Note: this.\n    pub(crate) a: bool,\n    b: Vec<u8>,\n    c: fn(\n        d: bool,\n    ),\n}\nstruct Two;\nstruct Three {\n    e: bool,\n}\n";
        let file = File::new("a.rs", text.as_bytes().to_vec());
        let one = Struct { at: 1, fields: 3, flags: 1 };
        let three = Struct { at: 10, fields: 1, flags: 1 };
        assert_eq!(structs(&file), [one, three]);
    }

    #[test]
    fn a_struct_of_flags_is_reported() {
        let flags: String = (0..=FLAGS).map(|at| format!("    a{at}: bool,\n")).collect();
        let file = File::new("a.rs", format!("struct A {{\n{flags}}}\n").into_bytes());
        assert_eq!(check(&file), ["a.rs:1: a struct with 4 fields, 4 of them flags"]);
    }

    #[test]
    fn length_is_reported() {
        let body = "    x();\n".repeat(FILE);
        let file = File::new("a.rs", format!("fn a() {{\n{body}}}\n").into_bytes());
        assert_eq!(check(&file).len(), 2);
    }
}
