//! The part of Starlark that rule files of Codex use: calls of functions with literal arguments.
//!
//! Anything else (variables, functions, loops, formatted strings) is an error: what it comes to is not
//! in the text.

use callgate_document::{Node, Problems, Source, SourceSpan, Yaml};

use super::span;

/// One call: `name(key = value, …)`.
#[derive(Debug)]
pub(crate) struct StarlarkCall {
    pub(crate) name: String,
    pub(crate) span: SourceSpan,
    pub(crate) arguments: Vec<(String, Node)>,
}

impl StarlarkCall {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.arguments.iter().find(|(known, _)| known == key).map(|(_, node)| node)
    }
}

/// Every call of a file, or the first problem.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Vec<StarlarkCall>> {
    match Reader::new(&source.text).calls() {
        Ok(calls) => Some(calls),
        Err(SyntaxProblem { at, message }) => {
            problems.add(at, message).hint(
                "only calls with literal arguments can be read, like `prefix_rule(pattern = [\"git\", \"push\"])`",
            );
            None
        }
    }
}

struct SyntaxProblem {
    at: SourceSpan,
    message: String,
}

#[derive(Debug, Clone, PartialEq)]
enum StarlarkToken {
    Name(String),
    Text(String),
    Sign(char),
    LineEnd,
}

struct Reader<'t> {
    text: &'t str,
    tokens: Vec<(StarlarkToken, usize, usize)>,
    at: usize,
}

/// Lists inside lists inside lists are not a rule.
const DEEPEST: usize = 8;

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, tokens: Vec::new(), at: 0 }
    }

    fn calls(mut self) -> Result<Vec<StarlarkCall>, SyntaxProblem> {
        self.tokens = tokens(self.text)?;
        let mut calls = Vec::new();
        while let Some((token, start, end)) = self.peek() {
            match token {
                StarlarkToken::LineEnd => self.at += 1,
                StarlarkToken::Name(name) => {
                    self.at += 1;
                    let span = span(self.text, start, end);
                    calls.push(StarlarkCall { name, span, arguments: self.arguments()? });
                    self.end_of_statement()?;
                }
                // A text of its own is a comment.
                StarlarkToken::Text(_) => {
                    self.at += 1;
                    self.end_of_statement()?;
                }
                StarlarkToken::Sign(_) => return Err(self.wrong("expected a call")),
            }
        }
        Ok(calls)
    }

    fn peek(&self) -> Option<(StarlarkToken, usize, usize)> {
        self.tokens.get(self.at).cloned()
    }

    /// The next token; the ends of lines do not count inside brackets.
    fn next(&mut self) -> Option<(StarlarkToken, usize, usize)> {
        while let Some((StarlarkToken::LineEnd, ..)) = self.peek() {
            self.at += 1;
        }
        let token = self.peek();
        self.at += 1;
        token
    }

    fn wrong(&self, message: &str) -> SyntaxProblem {
        let end = self.text.len();
        let (start, end) = self.peek().map_or((end, end), |(_, start, end)| (start, end));
        SyntaxProblem { at: span(self.text, start, end), message: message.to_owned() }
    }

    fn expect(&mut self, sign: char) -> Result<(), SyntaxProblem> {
        let before = self.at;
        match self.next() {
            Some((StarlarkToken::Sign(found), ..)) if found == sign => Ok(()),
            _ => {
                self.at = before;
                Err(self.wrong(&format!("expected `{sign}`")))
            }
        }
    }

    fn end_of_statement(&mut self) -> Result<(), SyntaxProblem> {
        match self.peek() {
            None => Ok(()),
            Some((StarlarkToken::LineEnd | StarlarkToken::Sign(';'), ..)) => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.wrong("expected the end of the line after a call")),
        }
    }

    fn arguments(&mut self) -> Result<Vec<(String, Node)>, SyntaxProblem> {
        self.expect('(')?;
        let mut arguments: Vec<(String, Node)> = Vec::new();
        loop {
            let before = self.at;
            match self.next() {
                Some((StarlarkToken::Sign(')'), ..)) => return Ok(arguments),
                Some((StarlarkToken::Name(name), ..)) => {
                    self.expect('=')?;
                    let value = self.value(0)?;
                    if arguments.iter().any(|(known, _)| *known == name) {
                        return Err(SyntaxProblem {
                            at: value.span,
                            message: format!("`{name}` is given twice"),
                        });
                    }
                    arguments.push((name, value));
                }
                _ => {
                    self.at = before;
                    return Err(self.wrong("expected an argument, like `decision = \"prompt\"`"));
                }
            }
            self.comma_or(')')?;
        }
    }

    /// After an argument or an item: a comma, or what closes the list (which stays).
    fn comma_or(&mut self, close: char) -> Result<(), SyntaxProblem> {
        let before = self.at;
        match self.next() {
            Some((StarlarkToken::Sign(','), ..)) => Ok(()),
            Some((StarlarkToken::Sign(sign), ..)) if sign == close => {
                self.at -= 1;
                Ok(())
            }
            _ => {
                self.at = before;
                Err(self.wrong(&format!("expected `,` or `{close}`")))
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxProblem> {
        let before = self.at;
        match self.next() {
            Some((StarlarkToken::Text(first), start, mut end)) => {
                let mut text = first;
                // Texts that follow each other are one.
                while let Some((StarlarkToken::Text(more), _, until)) = self.peek() {
                    text.push_str(&more);
                    end = until;
                    self.at += 1;
                }
                Ok(Node { span: span(self.text, start, end), value: Yaml::String(text) })
            }
            Some((StarlarkToken::Name(name), start, end)) if name == "None" => {
                Ok(Node { span: span(self.text, start, end), value: Yaml::Null })
            }
            Some((StarlarkToken::Sign('['), start, _)) if depth < DEEPEST => {
                self.list(start, depth)
            }
            _ => {
                self.at = before;
                Err(self.wrong("expected a text in quotes, or a list of them"))
            }
        }
    }

    fn list(&mut self, start: usize, depth: usize) -> Result<Node, SyntaxProblem> {
        let mut items = Vec::new();
        loop {
            let before = self.at;
            if let Some((StarlarkToken::Sign(']'), _, end)) = self.next() {
                return Ok(Node { span: span(self.text, start, end), value: Yaml::List(items) });
            }
            self.at = before;
            items.push(self.value(depth + 1)?);
            self.comma_or(']')?;
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(StarlarkToken, usize, usize)>, SyntaxProblem> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let start = at;
        match letter {
            '\n' => {
                at += 1;
                tokens.push((StarlarkToken::LineEnd, start, at));
            }
            _ if letter.is_whitespace() || letter == '\u{feff}' => at += letter.len_utf8(),
            '#' => at += rest.find('\n').unwrap_or(rest.len()),
            '\\' if rest.starts_with("\\\n") => at += 2,
            '"' | '\'' => {
                let (value, length) =
                    string(rest, Escapes::Read).ok_or_else(|| no_end(text, at))?;
                at += length;
                tokens.push((StarlarkToken::Text(value), start, at));
            }
            'r' if rest.starts_with("r\"") || rest.starts_with("r'") => {
                let inner = rest.get(1..).unwrap_or_default();
                let (value, length) =
                    string(inner, Escapes::Keep).ok_or_else(|| no_end(text, at))?;
                at += length + 1;
                tokens.push((StarlarkToken::Text(value), start, at));
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
                at += end.unwrap_or(rest.len());
                let name = text.get(start..at).unwrap_or_default().to_owned();
                tokens.push((StarlarkToken::Name(name), start, at));
            }
            _ => {
                at += letter.len_utf8();
                tokens.push((StarlarkToken::Sign(letter), start, at));
            }
        }
    }
    Ok(tokens)
}

fn no_end(text: &str, at: usize) -> SyntaxProblem {
    SyntaxProblem {
        at: span(text, at, at + 1),
        message: "this text has no end, or an escape that is not known".to_owned(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Read,
    Keep,
}

/// The value of a text in quotes, and its length with them.
fn string(rest: &str, escapes: Escapes) -> Option<(String, usize)> {
    let quote = rest.chars().next()?;
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let is_triple = rest.starts_with(&triple);
    let close = if is_triple { triple } else { quote.to_string() };
    let mut value = String::new();
    let mut at = close.len();
    loop {
        let left = rest.get(at..)?;
        if left.starts_with(&close) {
            return Some((value, at + close.len()));
        }
        let letter = left.chars().next()?;
        at += letter.len_utf8();
        match letter {
            '\n' if !is_triple => return None,
            '\\' => {
                let next = rest.get(at..)?.chars().next()?;
                at += next.len_utf8();
                if escapes == Escapes::Keep {
                    value.extend(['\\', next]);
                    continue;
                }
                if let Some(digits) = digits(next) {
                    let code = rest.get(at..at + digits)?;
                    // A sign is a number for Rust.
                    code.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
                    at += digits;
                    value.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                    continue;
                }
                value.push(match next {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '\\' | '"' | '\'' => next,
                    '\n' => continue,
                    _ => return None,
                });
            }
            _ => value.push(letter),
        }
    }
}

/// How many hexadecimal digits follow this escape.
fn digits(escape: char) -> Option<usize> {
    match escape {
        'x' => Some(2),
        'u' => Some(4),
        'U' => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Result<Vec<StarlarkCall>, String> {
        let source = Source { name: "t".into(), text: text.into() };
        let mut problems = Problems::new(&source);
        let calls = read(&source, &mut problems);
        let found = problems.into_list().pop();
        calls.ok_or_else(|| {
            found.map(|it| format!("{}:{}: {}", it.span.line, it.span.column, it.message)).unwrap()
        })
    }

    #[test]
    fn literal_calls_are_read() {
        let text = "# a\nprefix_rule(\n  pattern = [\"git\", ['push', \"pu\" \"ll\"],],  # b\n  \
                    decision=r'\\x', match = None)\n\nhost(name=\"\"\"a\nb\"\"\")\n";
        let calls = calls(text).unwrap();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].get("pattern").unwrap().to_json(), r#"["git",["push","pull"]]"#);
        assert_eq!(calls[0].get("decision").unwrap().to_json(), r#""\\x""#);
        assert_eq!(calls[1].get("name").unwrap().to_json(), r#""a\nb""#);
        assert_eq!(calls[1].span.line, 6);
    }

    #[test]
    fn escapes() {
        let read = calls(r#"f(a = "\x41\u00e9\U0001f600\n\"\\")"#).unwrap();
        assert_eq!(read[0].get("a").unwrap().to_json(), r#""Aé😀\n\"\\""#);
        for wrong in
            [r#"f(a = "\x4")"#, r#"f(a = "\ud800")"#, r#"f(a = "\q")"#, r#"f(a = "\u+041")"#]
        {
            assert!(calls(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn everything_else_is_an_error_with_its_place() {
        for (text, message) in [
            ("x = 1", "1:3: expected `(`"),
            ("\n\ndef f():\n  pass", "3:5: expected `(`"),
            ("f(a=b)", "1:5: expected a text in quotes, or a list of them"),
            ("f(a=\"x\" + \"y\")", "1:9: expected `,` or `)`"),
            ("f(\"x\")", "1:3: expected an argument, like `decision = \"prompt\"`"),
            ("f(a=\"x)", "1:5: this text has no end, or an escape that is not known"),
            ("f(a=\"x\", a=\"y\")", "1:12: `a` is given twice"),
            ("f() g()", "1:5: expected the end of the line after a call"),
            ("f(a=f\"x\")", "1:5: expected a text in quotes, or a list of them"),
        ] {
            assert_eq!(calls(text).unwrap_err(), message, "{text}");
        }
    }
}
