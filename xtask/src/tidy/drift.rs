//! Long files and long functions: shown, for they are often a sign and sometimes right.

use super::files::File;

const FILE: usize = 700;
const FUNCTION: usize = 70;

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
    long
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
        } else if begins_function(code) && !code.ends_with([';', '}']) {
            open.push((number, indent));
        }
    }
    found
}

fn begins_function(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let modifier = |word: &&str| {
        word.starts_with("pub") || ["const", "async", "unsafe", "extern", "in"].contains(word)
    };
    words.find(|word| !modifier(word)) == Some("fn")
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
    fn length_is_told() {
        let body = "    x();\n".repeat(FILE);
        let file = File::new("a.rs", format!("fn a() {{\n{body}}}\n").into_bytes());
        assert_eq!(check(&file).len(), 2);
    }
}
