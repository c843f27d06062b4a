//! Arguments that are written out: strings, numbers, lists, objects, and constants that are one.

use std::collections::HashMap;

use callgate_json::quote;

use super::tokens::{ScriptToken, TokenKind};

/// A value that is written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptLiteral {
    Text(String),
    /// A number, `true`, `false` or `null`, as JSON.
    Word(String),
    List(Vec<ScriptLiteral>),
    Object(Vec<(String, ScriptLiteral)>),
}

impl ScriptLiteral {
    /// Recursion is bounded by [`MAX_DEPTH`].
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Text(text) => quote(text),
            Self::Word(word) => word.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::to_json).collect::<Vec<_>>().join(","))
            }
            Self::Object(members) => {
                let member =
                    |(key, value): &(String, Self)| format!("{}:{}", quote(key), value.to_json());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// How deep lists and objects are read.
const MAX_DEPTH: usize = 16;

/// Reads literals among the tokens of a script.
pub(super) struct Reader<'t> {
    tokens: &'t [ScriptToken],
    /// How often each name occurs in the script.
    names: HashMap<&'t str, usize>,
    /// Names that are declared once as a literal.
    constants: HashMap<&'t str, ScriptLiteral>,
    /// How often the name of a constant was read, as a value or as a key.
    read: HashMap<&'t str, usize>,
    /// The constants that each call uses.
    calls: Vec<Vec<&'t str>>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t [ScriptToken]) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        for token in tokens {
            if let TokenKind::Name(name) = &token.kind {
                *names.entry(name).or_default() += 1;
            }
        }
        let (constants, read, calls) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut reader = Self { tokens, names, constants, read, calls };
        reader.find_constants();
        reader
    }

    /// `const name = literal;`, unless the name is declared twice.
    fn find_constants(&mut self) {
        let mut declared: HashMap<&str, usize> = HashMap::new();
        for at in 0..self.tokens.len() {
            let [Some("const"), Some(name)] = [self.name(at), self.name(at + 1)] else { continue };
            if !self.is(at + 2, '=') {
                continue;
            }
            *declared.entry(name).or_default() += 1;
            let mut used = Vec::new();
            let Some((literal, end)) = self.value(at + 3, 0, &mut used) else { continue };
            let ends = self.tokens.get(end).is_none_or(|token| token.is(';') || begins(token));
            if ends && used.is_empty() {
                self.constants.insert(name, literal);
                self.read.insert(name, 1);
            }
        }
        self.constants.retain(|name, _| declared.get(name) == Some(&1));
    }

    /// The arguments after an opening parenthesis: `None` if they are put together, an inner `None` if
    /// there are none.
    pub(super) fn arguments(&mut self, at: usize) -> Option<Option<ScriptLiteral>> {
        let mut used = Vec::new();
        let found = match self.is(at, ')') {
            true => Some(None),
            false => self.value(at, 0, &mut used).and_then(|(literal, end)| {
                let end = if self.is(end, ',') { end + 1 } else { end };
                self.is(end, ')').then_some(Some(literal))
            }),
        };
        for name in &used {
            *self.read.entry(name).or_default() += 1;
        }
        self.calls.push(used);
        found
    }

    /// For each call, whether all its constants are nothing but that: every occurrence of the name is
    /// its declaration, or was read as a value or a key.
    pub(super) fn constants_of_calls(&self) -> impl Iterator<Item = bool> {
        let is_only = |name: &&str| {
            !self.constants.contains_key(name) || self.names.get(name) == self.read.get(name)
        };
        self.calls.iter().map(move |used| used.iter().all(is_only))
    }

    fn name(&self, at: usize) -> Option<&'t str> {
        match &self.tokens.get(at)?.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    fn is(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(sign))
    }

    /// The value at this place, and where it ends.
    fn value(
        &self,
        at: usize,
        depth: usize,
        used: &mut Vec<&'t str>,
    ) -> Option<(ScriptLiteral, usize)> {
        let (mut value, mut end) = self.operand(at, depth, used)?;
        while self.is(end, '+') {
            let (ScriptLiteral::Text(mut text), Some((ScriptLiteral::Text(more), after))) =
                (value, self.operand(end + 1, depth, used))
            else {
                return None;
            };
            text.push_str(&more);
            (value, end) = (ScriptLiteral::Text(text), after);
        }
        Some((value, end))
    }

    fn operand(
        &self,
        at: usize,
        depth: usize,
        used: &mut Vec<&'t str>,
    ) -> Option<(ScriptLiteral, usize)> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &self.tokens.get(at)?.kind {
            TokenKind::Text(text) => Some((ScriptLiteral::Text(text.clone()), at + 1)),
            TokenKind::Number(number) => Some((ScriptLiteral::Word(plain(number)?), at + 1)),
            TokenKind::Sign('-') => match &self.tokens.get(at + 1)?.kind {
                TokenKind::Number(number) => {
                    Some((ScriptLiteral::Word(format!("-{}", plain(number)?)), at + 2))
                }
                _ => None,
            },
            TokenKind::Name(word) if matches!(word.as_str(), "true" | "false" | "null") => {
                Some((ScriptLiteral::Word(word.clone()), at + 1))
            }
            TokenKind::Name(word) => {
                let literal = self.constants.get(word.as_str())?.clone();
                used.push(word);
                Some((literal, at + 1))
            }
            TokenKind::Sign('[') => self.list(at + 1, depth, used),
            TokenKind::Sign('{') => self.object(at + 1, depth, used),
            _ => None,
        }
    }

    fn list(
        &self,
        mut at: usize,
        depth: usize,
        used: &mut Vec<&'t str>,
    ) -> Option<(ScriptLiteral, usize)> {
        let mut items = Vec::new();
        while !self.is(at, ']') {
            let (item, end) = self.value(at, depth + 1, used)?;
            items.push(item);
            at = self.separator(end, ']')?;
        }
        Some((ScriptLiteral::List(items), at + 1))
    }

    fn object(
        &self,
        mut at: usize,
        depth: usize,
        used: &mut Vec<&'t str>,
    ) -> Option<(ScriptLiteral, usize)> {
        let mut members: Vec<(String, ScriptLiteral)> = Vec::new();
        while !self.is(at, '}') {
            let key = match &self.tokens.get(at)?.kind {
                TokenKind::Name(name) => {
                    // As a key, or as the constant of the same name.
                    used.push(name);
                    name
                }
                TokenKind::Text(key) => key,
                _ => return None,
            };
            let (value, end) = match self.is(at + 1, ':') {
                true => self.value(at + 2, depth + 1, used)?,
                false => (self.constants.get(self.name(at)?)?.clone(), at + 1),
            };
            // The last one of a name counts.
            members.retain(|(known, _)| known != key);
            members.push((key.clone(), value));
            at = self.separator(end, '}')?;
        }
        Some((ScriptLiteral::Object(members), at + 1))
    }

    fn separator(&self, at: usize, closing: char) -> Option<usize> {
        match self.is(at, ',') {
            true => Some(at + 1),
            false => self.is(at, closing).then_some(at),
        }
    }
}

/// A number that JSON has, too.
fn plain(number: &str) -> Option<String> {
    let is_digits = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = number.parse::<f64>().ok().filter(|value| is_digits && value.is_finite())?;
    Some(value.to_string())
}

/// Whether a token on a line of its own cannot continue the expression of the line before.
fn begins(token: &ScriptToken) -> bool {
    token.begins_line && matches!(token.kind, TokenKind::Name(_))
}
