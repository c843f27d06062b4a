//! The words and signs of a script in JavaScript.

use std::ops::Range;

/// A word, a literal or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScriptToken {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
    /// Whether a line ends in front of it.
    pub(super) begins_line: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name(String),
    /// A string, or a template without values.
    Text(String),
    /// A template with values; the tokens of the values follow in parentheses.
    Template,
    Number(String),
    /// A regular expression.
    Pattern,
    Sign(char),
}

impl ScriptToken {
    pub(super) fn is(&self, sign: char) -> bool {
        self.kind == TokenKind::Sign(sign)
    }
}

/// Names after which an expression begins.
pub(super) const KEYWORDS: [&str; 16] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "await",
    "yield",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "instanceof",
    "const",
    "let",
];

/// A longer script is not read.
const MAX_TOKENS: usize = 20_000;

/// Values in values of a template that are read.
const MAX_DEPTH: usize = 8;

type UnreadableScript = &'static str;

const UNREADABLE: UnreadableScript = "it is not plain JavaScript";

/// The tokens of a text; or why they are not known for certain.
pub(super) fn tokens(text: &str) -> Result<Vec<ScriptToken>, UnreadableScript> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), begins_line: true, depth: 0 };
    lexer.run(None)?;
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<ScriptToken>,
    begins_line: bool,
    depth: usize,
}

impl Lexer<'_> {
    /// Reads to the end, or to the brace that closes a value of a template.
    fn run(&mut self, closes: Option<char>) -> Result<(), UnreadableScript> {
        let mut braces = 0usize;
        while let Some(next) = self.peek() {
            let start = self.at;
            match next {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => {
                    self.begins_line = true;
                    self.bump();
                }
                _ if next.is_whitespace() || next == '\u{feff}' => drop(self.bump()),
                '/' => self.slash()?,
                '"' | '\'' => self.string(next)?,
                '`' => self.template()?,
                _ if next.is_ascii_digit() => self.number(),
                _ if is_name_part(next) => self.name(),
                '<' if self.rest().starts_with("<!--") => return Err(UNREADABLE),
                '-' if self.rest().starts_with("-->") => return Err(UNREADABLE),
                // Escapes in names, and what no script begins with.
                '\\' | '#' | '@' => return Err(UNREADABLE),
                '}' if closes == Some('}') && braces == 0 => return Ok(()),
                sign => {
                    braces = match sign {
                        '{' => braces + 1,
                        '}' => braces.saturating_sub(1),
                        _ => braces,
                    };
                    self.bump();
                    self.push(TokenKind::Sign(sign), start);
                }
            }
            if self.tokens.len() > MAX_TOKENS {
                return Err("it is too long");
            }
        }
        if closes.is_some() { Err(UNREADABLE) } else { Ok(()) }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let begins_line = std::mem::take(&mut self.begins_line);
        self.tokens.push(ScriptToken { kind, span: start..self.at, begins_line });
    }

    fn name(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(is_name_part) {
            self.bump();
        }
        let name = self.text.get(start..self.at).unwrap_or_default().to_owned();
        self.push(TokenKind::Name(name), start);
    }

    fn number(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_')) {
            self.bump();
        }
        let number = self.text.get(start..self.at).unwrap_or_default().to_owned();
        self.push(TokenKind::Number(number), start);
    }

    /// A comment, a division or a regular expression. Where it is not clear which of the last two it
    /// is, a quote in the one would be the beginning of a string in the other.
    fn slash(&mut self) -> Result<(), UnreadableScript> {
        let start = self.at;
        if self.rest().starts_with("//") {
            let ends = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            self.at += self.rest().find(ends).unwrap_or(self.rest().len());
            return Ok(());
        }
        if self.rest().starts_with("/*") {
            let comment = self.rest();
            let end = comment.get(2..).and_then(|rest| rest.find("*/")).ok_or(UNREADABLE)? + 4;
            self.begins_line |= comment.get(..end).is_some_and(|it| it.contains('\n'));
            self.at += end;
            return Ok(());
        }
        let divides = match self.tokens.last().map(|token| &token.kind) {
            Some(TokenKind::Name(name)) => !KEYWORDS.contains(&name.as_str()),
            Some(
                TokenKind::Text(_)
                | TokenKind::Template
                | TokenKind::Number(_)
                | TokenKind::Pattern,
            ) => true,
            Some(TokenKind::Sign(']')) => true,
            Some(TokenKind::Sign(')' | '}')) => return Err("a slash in it can mean two things"),
            Some(TokenKind::Sign(_)) | None => false,
        };
        self.bump();
        if divides {
            self.push(TokenKind::Sign('/'), start);
            return Ok(());
        }
        let mut in_class = false;
        loop {
            match self.bump().ok_or(UNREADABLE)? {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => return Err(UNREADABLE),
                '\\' => drop(self.bump()),
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                _ => {}
            }
        }
        while self.peek().is_some_and(is_name_part) {
            self.bump();
        }
        self.push(TokenKind::Pattern, start);
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<(), UnreadableScript> {
        let start = self.at;
        self.bump();
        let mut text = Characters::default();
        loop {
            match self.bump().ok_or(UNREADABLE)? {
                c if c == quote => break,
                '\n' | '\r' => return Err(UNREADABLE),
                '\\' => self.escape(&mut text)?,
                other => text.push(other)?,
            }
        }
        let text = text.finish()?;
        self.push(TokenKind::Text(text), start);
        Ok(())
    }

    fn template(&mut self) -> Result<(), UnreadableScript> {
        let start = self.at;
        self.bump();
        let mut text = Characters::default();
        let mut values = Vec::new();
        loop {
            match self.bump().ok_or(UNREADABLE)? {
                '`' => break,
                '\\' => self.escape(&mut text)?,
                '$' if self.peek() == Some('{') => {
                    self.bump();
                    values.extend(self.value()?);
                }
                other => text.push(other)?,
            }
        }
        if values.is_empty() {
            let text = text.finish()?;
            self.push(TokenKind::Text(text), start);
            return Ok(());
        }
        self.push(TokenKind::Template, start);
        self.tokens.append(&mut values);
        Ok(())
    }

    /// The tokens of a value in a template, in parentheses.
    fn value(&mut self) -> Result<Vec<ScriptToken>, UnreadableScript> {
        if self.depth >= MAX_DEPTH {
            return Err("it is nested too deeply");
        }
        let start = self.at;
        let outer = std::mem::take(&mut self.tokens);
        self.depth += 1;
        self.push(TokenKind::Sign('('), start);
        self.run(Some('}'))?;
        self.bump();
        self.push(TokenKind::Sign(')'), start);
        self.depth -= 1;
        Ok(std::mem::replace(&mut self.tokens, outer))
    }

    fn escape(&mut self, text: &mut Characters) -> Result<(), UnreadableScript> {
        let simple = match self.bump().ok_or(UNREADABLE)? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => '\0',
            '0'..='9' => return Err(UNREADABLE),
            'x' => return text.push_unit(self.hex(2)?),
            'u' if self.peek() == Some('{') => {
                self.bump();
                let digits = self.rest().find('}').filter(|end| *end <= 6).ok_or(UNREADABLE)?;
                let character = char::from_u32(self.hex(digits)?).ok_or(UNREADABLE)?;
                self.bump();
                return text.push(character);
            }
            'u' => return text.push_unit(self.hex(4)?),
            '\r' => {
                if self.peek() == Some('\n') {
                    self.bump();
                }
                return Ok(());
            }
            '\n' | '\u{2028}' | '\u{2029}' => return Ok(()),
            other => other,
        };
        text.push(simple)
    }

    fn hex(&mut self, digits: usize) -> Result<u32, UnreadableScript> {
        let text = self.rest().get(..digits).ok_or(UNREADABLE)?;
        let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(text, 16).ok().filter(|_| is_hex).ok_or(UNREADABLE)?;
        self.at += digits;
        Ok(number)
    }
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '\u{200c}' | '\u{200d}')
}

/// The characters of a string, whose escapes may be halves of one.
#[derive(Default)]
struct Characters {
    text: String,
    half: Option<u32>,
}

impl Characters {
    fn push(&mut self, character: char) -> Result<(), UnreadableScript> {
        if self.half.is_some() {
            return Err(UNREADABLE);
        }
        self.text.push(character);
        Ok(())
    }

    fn push_unit(&mut self, unit: u32) -> Result<(), UnreadableScript> {
        let number = match (self.half.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.half = Some(unit);
                return Ok(());
            }
            (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00),
            (Some(_), _) => return Err(UNREADABLE),
            (None, unit) => unit,
        };
        self.text.push(char::from_u32(number).ok_or(UNREADABLE)?);
        Ok(())
    }

    fn finish(self) -> Result<String, UnreadableScript> {
        if self.half.is_some() { Err(UNREADABLE) } else { Ok(self.text) }
    }
}
