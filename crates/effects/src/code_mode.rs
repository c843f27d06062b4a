//! Scripts that call tools: Codex' `exec`, whose argument is JavaScript with `tools.NAME({…})`.
//!
//! The script is not run and hardly parsed. Its calls are known if each one names its tool in the text
//! and nothing in it could reach the tools in another way. What could is refused as hidden, whether it
//! does or not: a name in brackets that is put together, `eval`, the constructor of a function, `tools`
//! as a value.

mod literal;
mod tokens;

use std::ops::Range;

use literal::{Reader, ScriptLiteral};
use tokens::{ScriptToken, TokenKind, tokens};

/// What a script shows of its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The calls that it names, in the order of the text.
    pub calls: Vec<ScriptCall>,
    /// Why there may be other calls, too.
    pub hidden: Option<&'static str>,
}

/// A call in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCall {
    /// The tool, as the script names it: `exec_command`, `mcp__git__push`.
    pub name: String,
    /// Its arguments.
    pub arguments: ScriptArguments,
    /// The bytes from its name to its first argument.
    pub span: Range<usize>,
}

/// The arguments of a call in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptArguments {
    /// An object, as JSON.
    Json(String),
    /// A text.
    Text(String),
    /// Something that the script puts together.
    Computed,
}

impl Script {
    /// Whether all of it is known: every call with its arguments.
    pub fn is_known(&self) -> bool {
        let computed = |call: &ScriptCall| call.arguments == ScriptArguments::Computed;
        self.hidden.is_none() && !self.calls.iter().any(computed)
    }

    /// Reads a script.
    pub fn read(text: &str) -> Self {
        match tokens(text) {
            Ok(tokens) => Self::of(&tokens),
            Err(why) => Self { calls: Vec::new(), hidden: Some(why) },
        }
    }

    fn of(tokens: &[ScriptToken]) -> Self {
        let mut script = Self { calls: Vec::new(), hidden: None };
        let mut reader = Reader::new(tokens);
        for at in 0..tokens.len() {
            if let Some(why) = reaches_further(tokens, at) {
                script.hidden.get_or_insert(why);
            }
            if !is_name(tokens.get(at), TOOLS) {
                continue;
            }
            match call(&mut reader, tokens, at) {
                Some(call) => script.calls.push(call),
                None => {
                    script.hidden.get_or_insert("`tools` is used as a value");
                }
            }
            if script.calls.len() >= MAX_CALLS {
                script.hidden.get_or_insert("it has too many calls");
                break;
            }
        }
        // A constant that is also something else may have another value where it is used.
        for call in script.calls.iter_mut().zip(reader.constants_of_calls()) {
            if let (call, false) = call {
                call.arguments = ScriptArguments::Computed;
            }
        }
        script
    }
}

const TOOLS: &str = "tools";

/// Calls of one script that are read.
const MAX_CALLS: usize = 256;

/// The call that begins with the `tools` at this place.
fn call(reader: &mut Reader<'_>, tokens: &[ScriptToken], at: usize) -> Option<ScriptCall> {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    if before.is_some_and(|token| token.is('.')) {
        return None;
    }
    // `tools.name(` or `tools["name"](`. A member of a tool, such as `call`, is not a tool.
    let is_dot = tokens.get(at + 1)?.is('.');
    let name = match &tokens.get(at + 2)?.kind {
        TokenKind::Name(name) if is_dot => name,
        TokenKind::Text(name) if tokens.get(at + 1)?.is('[') && tokens.get(at + 3)?.is(']') => name,
        _ => return None,
    };
    let next = at + if is_dot { 3 } else { 4 };
    if !tokens.get(next)?.is('(') {
        return None;
    }
    let span = tokens.get(at)?.span.start..tokens.get(next)?.span.end;
    let arguments = match reader.arguments(next + 1) {
        None => ScriptArguments::Computed,
        Some(None) => ScriptArguments::Json("{}".to_owned()),
        Some(Some(ScriptLiteral::Text(text))) => ScriptArguments::Text(text),
        Some(Some(literal @ ScriptLiteral::Object(_))) => ScriptArguments::Json(literal.to_json()),
        Some(Some(_)) => ScriptArguments::Computed,
    };
    Some(ScriptCall { name: name.clone(), arguments, span })
}

fn is_name(token: Option<&ScriptToken>, wanted: &str) -> bool {
    matches!(token, Some(ScriptToken { kind: TokenKind::Name(name), .. }) if name == wanted)
}

/// Why the token at this place may lead to tools that the text does not name.
fn reaches_further(tokens: &[ScriptToken], at: usize) -> Option<&'static str> {
    let token = tokens.get(at)?;
    match &token.kind {
        TokenKind::Name(word) | TokenKind::Text(word) if REACHING.contains(&word.as_str()) => {
            Some("it uses a word that can run other code")
        }
        TokenKind::Sign('[') if at.checked_sub(1).is_some_and(|at| ends_value(tokens.get(at))) => {
            let inside = tokens.get(at + 1).map(|token| &token.kind);
            let is_plain = matches!(inside, Some(TokenKind::Number(_) | TokenKind::Text(_)))
                && tokens.get(at + 2).is_some_and(|token| token.is(']'));
            (!is_plain).then_some("it puts the name of a member together")
        }
        TokenKind::Sign(']') if tokens.get(at + 1).is_some_and(|token| token.is(':')) => {
            Some("it puts the name of a member together")
        }
        _ => None,
    }
}

/// Whether brackets after this token are those of a member.
fn ends_value(token: Option<&ScriptToken>) -> bool {
    match token.map(|token| &token.kind) {
        Some(TokenKind::Name(name)) => !tokens::KEYWORDS.contains(&name.as_str()),
        Some(
            TokenKind::Text(_) | TokenKind::Template | TokenKind::Number(_) | TokenKind::Pattern,
        ) => true,
        Some(TokenKind::Sign(sign)) => matches!(sign, ')' | ']' | '}'),
        None => false,
    }
}

/// Words through which a script can run text, or get at `tools` and other globals.
const REACHING: [&str; 33] = [
    "eval",
    "Function",
    "AsyncFunction",
    "GeneratorFunction",
    "AsyncGeneratorFunction",
    "constructor",
    "prototype",
    "__proto__",
    "globalThis",
    "window",
    "self",
    "global",
    "this",
    "with",
    "import",
    "require",
    "module",
    "process",
    "Deno",
    "Bun",
    "WebAssembly",
    "Reflect",
    "Proxy",
    "getPrototypeOf",
    "setPrototypeOf",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
    "getOwnPropertyNames",
    "__lookupGetter__",
    "__lookupSetter__",
    "__defineGetter__",
    "__defineSetter__",
    "prepareStackTrace",
];

#[cfg(test)]
mod tests;
