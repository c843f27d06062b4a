//! A table as CSV: a line of names, then lines of values, in quotes where they need it.

use callgate_document::{Key, Node, Problems, Source, Yaml};

use super::span;

/// Reads a table into a list of mappings. Empty fields are left out.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Node> {
    let text = &source.text;
    let mut rows = rows(text, problems)?.into_iter();
    let Some(names) = rows.next() else {
        problems.add(span(text, 0, 0), "the table is empty");
        return None;
    };
    let mut items = Vec::new();
    for row in rows {
        if row.len() != names.len() {
            let at = row.first().map_or(0, |field| field.start);
            let message = format!("this row has {} fields instead of {}", row.len(), names.len());
            problems.add(span(text, at, at), message);
            return None;
        }
        items.push(mapping(&names, row, text));
    }
    Some(Node { span: span(text, 0, text.len()), value: Yaml::List(items) })
}

struct CsvField {
    value: String,
    start: usize,
    end: usize,
}

fn mapping(names: &[CsvField], row: Vec<CsvField>, text: &str) -> Node {
    let start = row.first().map_or(0, |field| field.start);
    let end = row.last().map_or(start, |field| field.end);
    let mut entries: Vec<(Key, Node)> = Vec::new();
    for (name, field) in names.iter().zip(row) {
        let name = name.value.trim().to_owned();
        if field.value.is_empty() || entries.iter().any(|(known, _)| known.name == name) {
            continue;
        }
        let at = span(text, field.start, field.end);
        entries.push((Key { name, span: at }, Node { span: at, value: Yaml::String(field.value) }));
    }
    Node { span: span(text, start, end), value: Yaml::Map(entries) }
}

/// The rows, without empty ones.
fn rows(text: &str, problems: &mut Problems<'_>) -> Option<Vec<Vec<CsvField>>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let rest = text.get(at..)?;
        let (value, length) = match rest.starts_with('"') {
            true => match in_quotes(rest) {
                Some(found) => found,
                None => {
                    problems.add(span(text, at, at + 1), "this quoted field has no end");
                    return None;
                }
            },
            false => {
                let end = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
                (rest.get(..end)?.to_owned(), end)
            }
        };
        row.push(CsvField { value, start: at, end: at + length });
        at += length;
        let rest = text.get(at..)?;
        let end = ["\r\n", "\n", "\r"].iter().find(|end| rest.starts_with(**end));
        if let Some(end) = end {
            at += end.len();
            finish(&mut row, &mut rows);
        } else if rest.starts_with(',') {
            at += 1;
            if at == text.len() {
                row.push(CsvField { value: String::new(), start: at, end: at });
            }
        } else if !rest.is_empty() {
            problems.add(span(text, at, at + 1), "after a quoted field there must be a comma");
            return None;
        }
    }
    finish(&mut row, &mut rows);
    Some(rows)
}

fn finish(row: &mut Vec<CsvField>, rows: &mut Vec<Vec<CsvField>>) {
    let row = std::mem::take(row);
    if !row.iter().all(|field| field.value.is_empty()) {
        rows.push(row);
    }
}

/// The value of a field in quotes, and its length with them.
fn in_quotes(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if letters.peek().is_some_and(|(_, next)| *next == '"') => {
                letters.next();
                value.push('"');
            }
            '"' => return Some((value, at + 1)),
            _ => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<String, String> {
        let source = Source { name: "t".into(), text: text.into() };
        let mut problems = Problems::new(&source);
        let node = read(&source, &mut problems);
        let message =
            problems.into_list().pop().map(|it| format!("{}: {}", it.span.line, it.message));
        node.map(|node| node.to_json()).ok_or_else(|| message.unwrap_or_default())
    }

    #[test]
    fn quotes_commas_and_empty_fields() {
        let json = tree("a,b,c\r\n1,\"x,\"\"y\"\"\",\n\n,,3\n").unwrap();
        assert_eq!(json, r#"[{"a":"1","b":"x,\"y\""},{"c":"3"}]"#);
        assert_eq!(tree("a,b\n1,").unwrap(), r#"[{"a":"1"}]"#);
    }

    #[test]
    fn broken_tables_have_a_place() {
        assert_eq!(tree("a,b\n1\n").unwrap_err(), "2: this row has 1 fields instead of 2");
        assert_eq!(tree("a\n\"x\n").unwrap_err(), "2: this quoted field has no end");
        assert_eq!(
            tree("a\n\"x\"y\n").unwrap_err(),
            "2: after a quoted field there must be a comma"
        );
        assert_eq!(tree("").unwrap_err(), "1: the table is empty");
    }
}
