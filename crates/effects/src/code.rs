//! Inline code of interpreters: `python -c`, `node -e`, `awk`.
//!
//! The code is not parsed. It is scanned for calls that touch files, processes or hosts. If their
//! arguments are literals, they have the same effects as a command. If such a call, or a way to
//! build one, cannot be read, the code is opaque. Code without any of them has no effect.

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Connection, Effect, Purpose, Scope, Why};
use crate::host;
use std::borrow::Cow;
use std::rc::Rc;

use crate::marks::Mark;
use crate::model::Language;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::word::{Fill, Word};

mod calls;
mod cmd;
mod compiled;
mod expect;
mod expressions;
mod fold;
mod libraries;
mod magics;
pub(crate) mod powershell;
mod scanner;
mod small;
mod statements;
mod templates;
mod walks;

pub(crate) use statements::hooks_of_packages;

use calls::{Call, TABLES};
use scanner::{Scanner, Token};

/// Calls of one code that are analysed.
const MAX_CALLS: usize = 128;

/// Scans code and adds its effects.
pub(crate) fn scan(shell: &mut Shell<'_, '_>, language: Language, field: &Field) {
    if field.word.misses_value()
        && !is_substitution(language, field.word.known_start())
        && !has_quoted_gaps(&field.word)
    {
        shell.opaque(Why::Code, Bound::ALL, field.span.clone());
    }
    let text = field.word.known_part().to_owned();
    if !shell.enter(text.len()) {
        return;
    }
    match language {
        Language::Sed => small::sed(shell, &text, field),
        Language::Awk => small::awk(shell, &text, field),
        Language::AppleScript => small::apple_script(shell, &text, field),
        Language::Vim => small::vim(shell, &text, field),
        Language::Mongo => small::mongo(shell, &text, field),
        Language::PowerShell => powershell::scan(shell, &text, field),
        Language::EncodedPowerShell => powershell::encoded(shell, &text, field),
        Language::Cmd => cmd::scan(shell, &text, field),
        Language::Gdb => small::gdb(shell, &text, field),
        Language::Compiled => compiled::scan(shell, &text, field),
        Language::Expect => expect::scan(shell, &text, field),
        Language::Expression => expressions::scan(shell, &text, field),
        Language::Other if text.contains("get_env()") => shell.mark_parent(Mark::Credentials),
        Language::Other if is_quiet(&text) && field.word.is_known() => {}
        Language::Other => {
            shell.opaque(Why::Language, Bound::ALL, field.span.clone());
        }
        _ => scan_calls(shell, language, &text, field),
    }
    shell.depth -= 1;
}

fn scan_calls(shell: &mut Shell<'_, '_>, language: Language, text: &str, field: &Field) {
    let Some((_, table)) = TABLES.iter().find(|(known, _)| *known == language) else { return };
    let text = fold::joined_lists(text);
    let text = text.as_ref();
    statements::scan(shell, text, field);
    walks::scan(shell, language, text, field);
    if matches!(language, Language::Python | Language::JavaScript) {
        libraries::scan(shell, text, field);
    }
    if language == Language::Python {
        magics::scan(shell, text, field);
    }
    let text = plain_modules(text, language);
    let text = text.as_ref();
    let sends = [
        "'POST'",
        "\"POST\"",
        "'PUT'",
        "\"PUT\"",
        "'PATCH'",
        "\"PATCH\"",
        "CURLOPT_POST",
        "CURLOPT_UPLOAD",
        "CURLOPT_PUT",
    ];
    let sends = sends.iter().any(|method| text.contains(method));
    if language == Language::JavaScript && calls_joined_name(text) {
        shell.opaque(Why::Language, Bound::ALL, field.span.clone());
    }
    if language == Language::JavaScript && text.contains("$`") {
        templates::scan(shell, text, field);
    }
    if language == Language::Php && text.contains("unlink") {
        deletes_found(shell, text, field);
    }
    let mut scanner = Scanner::new(text, language);
    let mut calls = 0;
    let before = shell.out.effects.all().len();
    let mut runs_value = false;
    // The path of `Path("x")`, which methods after it use.
    let mut receiver: Option<Word> = None;
    while let Some(token) = scanner.next() {
        let name = match token {
            Token::Command(command) => {
                shell.word_text(&Field::new(command, field.span.clone()));
                continue;
            }
            Token::File(literal) => {
                let word = match literal.text() {
                    Some(text) => crate::shell::glob_word(text),
                    None => literal,
                };
                shell.read_file(&Field::new(word, field.span.clone()), Access::Content);
                continue;
            }
            Token::Name(name) => name,
        };
        let whole = scanner.whole_name(name);
        let found = whole.as_deref().and_then(|name| calls::find(table, name, text));
        let Some(call) = found.or_else(|| calls::find(table, name, text)) else { continue };
        calls += 1;
        if calls > MAX_CALLS {
            shell.opaque(Why::Size, Bound::ALL, field.span.clone());
            return;
        }
        // `import { x } from "y"` names its module.
        if call == Call::Loads && name == "import" && !scanner.is_called() {
            continue;
        }
        if call == Call::Receiver {
            receiver = scanner.path(name).or(receiver);
            continue;
        }
        // `from urllib.request import urlretrieve as get` only names it.
        if language == Language::Python
            && call != Call::Dynamic
            && !scanner.is_called()
            && is_imported(text, scanner.rest())
        {
            continue;
        }
        let around = scanner.call_text();
        let behind = scanner.rest();
        let arguments = scanner.arguments();
        if call == Call::Environment && prints_whole(text, behind, name) {
            shell.mark_parent(Mark::Credentials);
        }
        let is_literal = around.trim_start_matches(['(', ' ']).starts_with(['\'', '"', '`']);
        runs_value |= call == Call::Dynamic && names_code(name) && !is_literal;
        if call == Call::Dynamic
            && names_code(name)
            && let Some(scanner::Argument::One(code)) = arguments.first()
            && (code.text().is_some() || is_compiled(text, around))
        {
            if code.text().is_some() {
                shell.code(language, &Field::new(code.clone(), field.span.clone()));
            }
            continue;
        }
        if call == Call::Dynamic && only_decodes(name, text) {
            continue;
        }
        if call == Call::Dynamic && name.ends_with("getattr") && names_plain(around) {
            continue;
        }
        // `exec(open("x.py").read())` is the script, and `{ execSync } =` only a name.
        let is_script = call == Call::Dynamic
            && name == "exec"
            && around.trim_start().starts_with("open(")
            && around.contains(['\'', '"']);
        let is_import = language == Language::JavaScript
            && matches!(call, Call::Shell | Call::Program)
            && is_destructured(text, scanner.rest());
        if is_script || is_import {
            continue;
        }
        // A name that is put together hides which module it is.
        if call == Call::Loads && joins_literals(around) {
            shell.opaque(Why::Language, Bound::ALL, field.span.clone());
            continue;
        }
        if call == Call::Writes(Change::Attributes) && sets_user_bit(around) {
            shell.mark_parent(Mark::Privilege);
        }
        match call {
            Call::Connects(Purpose::Fetch) if sends || sends_something(around) => {
                perform(shell, Call::Connects(Purpose::Send), &arguments, field);
            }
            // `file_get_contents(URL, false, $context)` with a context that posts.
            Call::Reads if sends && language == Language::Php && around.contains("://") => {
                perform(shell, Call::Connects(Purpose::Send), &arguments, field);
            }
            Call::ConnectsTo(Purpose::Fetch) | Call::Reads if sends_something(around) => {
                let outer = std::mem::replace(&mut shell.words_read, true);
                perform(shell, call, &arguments, field);
                shell.words_read = outer;
            }
            Call::Open => open_call(shell, &arguments, around, field),
            // `gethostbyname(secret.hex() + ".h.example")`
            Call::Resolves if resolves_data(around) => {
                let name = arguments.first().map_or_else(Word::unknown, |it| it.word());
                if name.misses_value() || name.is_unknown() {
                    perform(shell, Call::Connects(Purpose::Send), &arguments, field);
                }
            }
            Call::OnReceiver(inner) => {
                let own = name.rsplit_once('.').and_then(|(own, _)| scanner.constant(own)).cloned();
                // `p.read_text() for p in Path("x").glob("*")` names the path at the end.
                if own.is_none() && receiver.is_none() {
                    receiver = Some(later_path(text, language, table));
                }
                let word = own.or_else(|| receiver.clone()).unwrap_or_else(Word::unknown);
                let arguments = [scanner::Argument::One(word)];
                perform(shell, *inner, &arguments, field);
            }
            Call::Shell | Call::Program => {
                // What the code has fetched into a file may be what runs.
                drop(shell.downloads(before));
                perform(shell, call, &arguments, field);
            }
            call => perform(shell, call, &arguments, field),
        }
    }
    if runs_value {
        runs_fetched(shell, before, field);
    }
    let writes = |effect: &Effect| matches!(effect.action, Action::Writes(..));
    if shell.out.since(before).iter().any(writes) {
        shell.keep_literals(&Scanner::new(text, language).literals(), before);
    }
}

/// Code that runs a value and has fetched something before runs what it has fetched.
fn runs_fetched(shell: &mut Shell<'_, '_>, before: usize, field: &Field) {
    let fetched: Vec<Connection> = shell
        .out
        .since(before)
        .iter()
        .filter_map(|effect| match &effect.action {
            Action::Connects(it) if it.purpose == Purpose::Fetch => Some(it.clone()),
            _ => None,
        })
        .collect();
    if !fetched.is_empty() {
        shell.run_output(Language::Other, &Rc::new(Output::Network(fetched)), &field.span);
    }
}

/// The first path that code names for methods, wherever that is.
fn later_path(text: &str, language: Language, table: calls::Table) -> Word {
    let mut scanner = Scanner::new(text, language);
    while let Some(token) = scanner.next() {
        if let Token::Name(name) = token
            && calls::find(table, name, text) == Some(Call::Receiver)
            && let Some(path) = scanner.path(name)
        {
            return path;
        }
    }
    Word::unknown()
}

/// `require('fs').x` and `__import__('os').x` as `fs.x` and `os.x`.
fn plain_modules(text: &str, language: Language) -> Cow<'_, str> {
    let loader = match language {
        Language::JavaScript if text.contains("require(") => "require(",
        Language::Python if text.contains("__import__(") => "__import__(",
        Language::Python if text.contains("pathlib.") => {
            return Cow::Owned(text.replace("pathlib.", ""));
        }
        _ => return Cow::Borrowed(text),
    };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(loader) {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let inside = after.get(loader.len()..).unwrap_or_default();
        let module = inside.find(')').and_then(|end| {
            let literal = inside.get(..end)?.trim();
            let name = literal.trim_matches(['\'', '"', '`']);
            let name = name.strip_prefix("node:").unwrap_or(name);
            let is_name = !name.is_empty()
                && literal.len() > name.len()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            is_name.then_some((name, end + 1))
        });
        match module {
            Some((name, end)) => {
                plain.push_str(name);
                rest = inside.get(end..).unwrap_or_default();
            }
            None => {
                plain.push_str(loader);
                rest = inside;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Whether the name that ends here is one of `{ a, b } = …`, which keeps its name.
fn is_destructured(text: &str, rest: &str) -> bool {
    let before = text.get(..text.len() - rest.len()).unwrap_or_default();
    let opens = before.rsplit(['(', ';', ')']).next().is_some_and(|part| part.contains('{'));
    let is_end = rest.trim_start().starts_with(['}', ',']);
    let after = rest.split_once('}').map(|(_, after)| after.trim_start()).unwrap_or_default();
    opens
        && is_end
        && (after.starts_with('=') && !after.starts_with("==") || after.starts_with("from"))
}

/// `process["ex" + "ec"]("…")`: the name of what is called is put together.
fn calls_joined_name(text: &str) -> bool {
    if !text.contains('+') || !text.contains("](") {
        return false;
    }
    let plain: String = text.chars().filter(|letter| *letter != ' ').collect();
    plain.match_indices("](").take(16).any(|(end, _)| {
        let before = plain.get(..end).unwrap_or_default();
        let inside = before.rsplit('[').next().unwrap_or_default();
        inside.starts_with(['\'', '"']) && joins_literals(inside)
    })
}

/// `foreach (glob("x/*") as $f) unlink($f);`
fn deletes_found(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    for after in text.split("glob(").skip(1).take(16) {
        let quote = after.trim_start().chars().next().filter(|it| matches!(it, '\'' | '"'));
        let literal = quote.and_then(|quote| after.split(quote).nth(1));
        if let Some(pattern) = literal {
            let word = crate::shell::glob_word(pattern);
            deletes(shell, &Field::new(word, field.span.clone()), Scope::One);
        }
    }
}

/// Whether a name that is looked up is made of what was read or encoded.
fn resolves_data(arguments: &str) -> bool {
    let makes =
        ["open(", "read", "encode", "hex", "base64", "b32", "environ", "env", "ENV", "btoa"];
    makes.iter().any(|sign| arguments.contains(sign)) && arguments.contains(['+', '{', '.'])
}

/// A call that only decodes, in code that runs nothing.
fn only_decodes(name: &str, text: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let decodes = [
        "b64decode",
        "fromhex",
        "unhexlify",
        "decompress",
        "atob",
        "fromCharCode",
        "decode_base64",
        "decode64",
    ];
    let runs = [
        "exec",
        "eval",
        "compile",
        "system",
        "open",
        "spawn",
        "subprocess",
        "import_module",
        "__import__",
        "loads",
        "getattr",
        "Function",
        "require",
        "vm.",
        "run",
        "request",
        "fetch",
        // Perl and Ruby.
        "`",
        "%x",
        "qx",
        "&{",
        "&$",
        "->$",
        "do ",
        "send",
        "method(",
        "Object",
    ];
    if !decodes.contains(&last) {
        return false;
    }
    // What reads data, and what is decoded, runs nothing.
    let mut text = Cow::Borrowed(text);
    for plain in ["json.loads(", "tomllib.loads(", "decode(open(", "decompress(open("] {
        if text.contains(plain) {
            text = Cow::Owned(text.replace(plain, "("));
        }
    }
    !runs.iter().any(|call| text.contains(call))
}

/// `'o' + 's'`
fn joins_literals(arguments: &str) -> bool {
    let plain: String = arguments.chars().filter(|letter| *letter != ' ').collect();
    ["'+'", "\"+\"", "'+\"", "\"+'"].iter().any(|sign| plain.contains(sign))
}

/// Whether the name that ends here is a part of `import …` or `from … import …`.
fn is_imported(text: &str, rest: &str) -> bool {
    let before = text.get(..text.len() - rest.len()).unwrap_or_default();
    let statement = before.rsplit(['\n', ';']).next().unwrap_or(before).trim_start();
    statement.starts_with("import ") || statement.starts_with("from ")
}

/// Calls that run their first argument as code of the same language.
fn names_code(name: &str) -> bool {
    matches!(name, "exec" | "eval" | "compile" | "instance_eval")
}

/// `exec(code)`, where `code = compile("…", …)`.
fn is_compiled(text: &str, arguments: &str) -> bool {
    let name = arguments.trim_start_matches(['(', ' ']);
    let name = name.split([',', ')', ' ']).next().unwrap_or_default();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name
        && ["=compile('", "= compile('", "=compile(\"", "= compile(\""].iter().any(|sign| {
            text.contains(&format!("{name}{sign}")) || text.contains(&format!("{name} {sign}"))
        })
}

/// Whether the environment as a whole is printed: `print(os.environ)`, not `os.environ["HOME"]`.
fn prints_whole(text: &str, rest: &str, name: &str) -> bool {
    let end = text.len() - rest.len();
    let before = text.get(..end.saturating_sub(name.len())).unwrap_or_default();
    let start = before.floor_char_boundary(before.len().saturating_sub(24));
    let before = before.get(start..).unwrap_or_default();
    // `"X" in os.environ`, `Object.keys(process.env)`: no value of it.
    let near = before.trim_end();
    if near.ends_with(" in") || near.ends_with("keys(") || near.ends_with("len(") {
        return false;
    }
    let prints = [
        "print(",
        "log(",
        "table(",
        "dir(",
        "stringify(",
        "dumps(",
        "puts ",
        "inspect",
        "dump(",
        "p ",
    ];
    let is_one = rest.starts_with(['[', '.', '{'])
        && !rest.starts_with(".items")
        && !rest.starts_with(".to_h")
        && !rest.starts_with(".each");
    let is_value = text.trim().trim_end_matches(';') == name;
    is_value
        || !is_one && prints.iter().any(|call| before.contains(call)) && !before.contains("env=")
}

/// Whether every missing value is inside of a literal: it is data there.
fn has_quoted_gaps(word: &Word) -> bool {
    let text = word.known_part();
    let mut gaps = word.gaps().iter().filter(|gap| gap.fill == Fill::Anything).peekable();
    let (mut quote, mut is_escaped) = (None, false);
    for (at, letter) in text.char_indices() {
        while gaps.next_if(|gap| gap.at <= at).is_some() {
            if quote.is_none() {
                return false;
            }
        }
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' | '"' if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            _ => {}
        }
    }
    gaps.next().is_none()
}

/// `s/old/$NEW/`: the missing value is text that replaces something.
fn is_substitution(language: Language, start: &str) -> bool {
    let rest = start.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ',');
    let mut letters = rest.strip_prefix('s').unwrap_or_default().chars();
    let starts = letters.next().is_some_and(|sign| sign.is_ascii_punctuation() && sign != '(');
    matches!(language, Language::Sed | Language::Perl) && starts
}

/// Whether an attribute is named in the text, and nothing that runs or deletes.
fn names_plain(arguments: &str) -> bool {
    let second = arguments.split(',').nth(1).unwrap_or_default();
    let second = second.trim().trim_end_matches(')');
    let name = second.trim_matches(['\'', '"']);
    let is_literal = second.len() == name.len() + 2;
    if !is_literal || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return false;
    }
    let acts = ["system", "exec", "open", "spawn", "run", "call", "eval", "rm", "remove", "import"];
    let lower = name.to_ascii_lowercase();
    !name.is_empty() && !name.starts_with('_') && !acts.iter().any(|act| lower.contains(act))
}

/// Whether a mode has the bit that lets a program run as its owner: `0o4755`, `S_ISUID`.
fn sets_user_bit(arguments: &str) -> bool {
    let is_mode = |token: &str| {
        let digits = token.trim_start_matches("0o").trim_start_matches('0');
        digits.len() == 4
            && digits.starts_with(['4', '6', '7'])
            && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'))
            && token.starts_with('0')
    };
    arguments.contains("S_ISUID")
        || arguments.contains("u+s")
        || arguments.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_mode)
}

/// Code in a language that is not known. It does nothing to files, programs or hosts if none of
/// its names says so; arithmetic and printing are common.
fn is_quiet(text: &str) -> bool {
    let text = HARMLESS.iter().fold(text.to_owned(), |text, part| text.replace(part, " "));
    let text = without_packages(&text);
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let acts = |name: &str| {
        let lower = name.to_ascii_lowercase();
        STEMS.iter().any(|stem| lower.contains(stem)) || segments(name).any(|it| is_act(&it))
    };
    let escapes = |line: &str| line.trim_start().starts_with(['!', ':', '.']);
    text.len() < 4096
        && !text.contains(['`', '|', '\\'])
        && !text.contains("/bin/")
        && !text.lines().any(escapes)
        && !text.split(|letter| !is_name(letter)).any(acts)
}

/// Code of Julia without the packages that it adds from the general registry.
fn without_packages(text: &str) -> Cow<'_, str> {
    const ADDS: &str = "Pkg.add(";
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(ADDS) {
        let is_name =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | ',' | ' ' | '[' | ']');
        let Some((names, behind)) = after.split_once(')') else { break };
        plain.push_str(before);
        if !names.contains('"') || !names.chars().all(is_name) {
            plain.push_str("package ");
        }
        rest = behind;
    }
    if plain.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// `readFile` and `read_file` are `read` and `file`.
fn segments(name: &str) -> impl Iterator<Item = String> {
    let mut parts: Vec<String> = Vec::new();
    let mut was_lower = false;
    for letter in name.chars() {
        let starts = letter == '_' || letter.is_uppercase() && was_lower || parts.is_empty();
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if starts {
            parts.push(String::new());
        }
        if letter != '_'
            && let Some(last) = parts.last_mut()
        {
            last.extend(letter.to_lowercase());
        }
    }
    parts.into_iter()
}

fn is_act(segment: &str) -> bool {
    ACTS.contains(&segment)
}

/// Whether a script in a language that is not known names something outside of the project.
pub(crate) fn reaches_out(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "http://",
        "https://",
        "cmd(",
        "exec",
        "shell",
        "openconnection",
        "socket",
        "getenv",
        "get_env",
        "runtime",
        "processbuilder",
        "/bin/",
        ".ssh",
        ".aws",
        "rm_rf",
        "file.rm",
        "deletedirectory",
        "user.home",
        "base64",
        "eval",
        "popen",
        "system(",
        "port.open",
        "unlink",
        "rmtree",
        "http_client",
        "/etc/",
        "urlsession",
        "webclient",
        "ffi",
    ];
    let lower = text.to_ascii_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Parts of a text that only print, or join expressions.
const HARMLESS: &[&str] = &[
    "System.out",
    "System.version",
    "System.otp_release",
    "IO.puts",
    "IO.inspect",
    "io:format",
    "erlang:system_info",
    "using Pkg",
    "Pkg.test()",
    "Pkg.status()",
    "Pkg.instantiate()",
    "|>",
    "||",
    "\\n",
    "\\t",
    "\\e",
];

/// Parts of names that touch something outside of the program, wherever they are in a name.
const STEMS: &[&str] = &[
    "system",
    "exec",
    "spawn",
    "popen",
    "fopen",
    "fwrite",
    "fputs",
    "unlink",
    "socket",
    "http",
    "shell",
    "process",
    "getenv",
    "environ",
    "ccall",
    "forname",
    "getmethod",
    "classloader",
    "fromcharcode",
    "base64",
    "unsafe",
    "readfile",
    "writefile",
    "deletefile",
    "runtime",
    "reflect",
    "download",
    "upload",
];

/// Whole words in names that do.
const ACTS: &[&str] = &[
    "proc",
    "open",
    "file",
    "files",
    "read",
    "write",
    "directory",
    "dir",
    "sock",
    "connect",
    "fetch",
    "request",
    "remove",
    "delete",
    "kill",
    "eval",
    "load",
    "command",
    "native",
    "decode",
    "copy",
    "rename",
    "send",
    "compile",
    "script",
    "source",
    "foreign",
    "invoke",
    "stream",
    "client",
    "server",
    "curl",
    "port",
    "fork",
    "class",
    "os",
    "sh",
    "rm",
    "cp",
    "mv",
    "cmd",
    "env",
    "net",
    "url",
    "uri",
    "ffi",
    "run",
    "call",
    "chr",
    "log4j",
    "ftp",
    "sys",
    "qx",
    "pipe",
    "path",
    "term",
    "interpreter",
    "vm",
    "dlopen",
    "lib",
    "wget",
    "ssh",
    "bash",
    "zsh",
    "powershell",
    "pkg",
    "package",
];

/// Whether the arguments of a call hold what was read, or the environment.
fn sends_something(arguments: &str) -> bool {
    [
        "data=",
        "json=",
        "files=",
        "body",
        "environ",
        "process.env",
        "ENV[",
        "getenv(",
        "readFile",
        "open(",
        "file_get_contents(",
        "File.read",
        "`",
    ]
    .iter()
    .any(|sign| arguments.contains(sign))
}

fn perform(shell: &mut Shell<'_, '_>, call: Call, arguments: &[scanner::Argument], field: &Field) {
    let value = |at: usize| {
        let word = arguments.get(at).map_or_else(Word::unknown, |argument| argument.word());
        Field::new(word, field.span.clone())
    };
    let first = value(0);
    match call {
        Call::Shell => match arguments.first() {
            Some(scanner::Argument::List(words)) => {
                let words: Vec<Field> =
                    words.iter().map(|word| Field::new(word.clone(), field.span.clone())).collect();
                shell.run(&words, None);
            }
            Some(scanner::Argument::One(_))
                if arguments.len() > 1
                    && (arguments.iter().all(is_known) || is_flag(arguments.get(1))) =>
            {
                perform(shell, Call::Program, arguments, field);
            }
            Some(scanner::Argument::One(word)) if !word.is_unknown() => {
                shell.word_text(&first);
            }
            _ => shell.hidden_code(&first),
        },
        Call::Program => {
            let words: Vec<Field> = arguments
                .iter()
                .flat_map(|argument| argument.words())
                .map(|word| Field::new(word, field.span.clone()))
                .collect();
            if words.first().is_none_or(|word| word.word.is_unknown()) {
                return shell.hidden_code(&first);
            }
            shell.run(&words, None);
        }
        Call::Open => open(shell, &first, arguments.get(1)),
        Call::ReadsPattern => {
            let first = match first.text() {
                Some(text) => Field::new(crate::shell::glob_word(text), field.span.clone()),
                None => first,
            };
            shell.read_file(&first, Access::Content);
        }
        Call::Includes => match host::parse_url(&first.word) {
            Some(_) => {
                shell.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
                connects(shell, &first, None, Purpose::Execute);
            }
            None if first.word.is_unknown() => {
                shell.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            None if shell.is_dropped(&first.word) => {
                shell.opaque(Why::Code, Bound::ALL, field.span.clone());
            }
            None => shell.read_file(&first, Access::Content),
        },
        Call::Reads => shell.read_file(&first, Access::Content),
        Call::ReadsPath => {
            let start = first.word.known_start();
            if start.starts_with(['~', '/', '.']) || start.contains('/') {
                shell.read_file(&first, Access::Content);
            }
        }
        Call::Resolves => {}
        Call::Lists => {
            if !first.word.is_unknown() {
                shell.read_file(&first, Access::Names);
            }
        }
        Call::Writes(_) if host::parse_url(&first.word).is_some() => {
            connects(shell, &first, None, Purpose::Send);
        }
        Call::Writes(change) => shell.write_file(&first, change),
        Call::Deletes(scope) => deletes(shell, &first, scope),
        Call::Copies => {
            shell.read_file(&first, Access::Tree);
            shell.write_file(&value(1), Change::Content);
        }
        Call::Moves => {
            deletes(shell, &first, Scope::Tree);
            shell.write_file(&value(1), Change::Content);
        }
        Call::ConnectsTo(purpose) => {
            if host::parse_url(&first.word).is_some() {
                connects(shell, &first, None, purpose);
            }
        }
        Call::Connects(purpose) => connects(shell, &first, arguments.get(1), purpose),
        Call::Downloads => {
            connects(shell, &first, None, Purpose::Fetch);
            let target = value(1);
            if target.word.is_known() && !target.word.known_part().is_empty() {
                shell.write_file(&target, Change::Content);
            }
        }
        Call::Environment => {
            let file = Field::new(Word::known("/proc/self/environ"), field.span.clone());
            shell.read_file(&file, Access::Content);
        }
        Call::Loads => match first.text() {
            Some(_) => {}
            None => shell.opaque(Why::Language, Bound::ALL, field.span.clone()),
        },
        Call::Dynamic => shell.opaque(Why::Language, Bound::ALL, field.span.clone()),
        Call::Harmless | Call::Receiver | Call::OnReceiver(_) => {}
    }
}

fn is_flag(argument: Option<&scanner::Argument>) -> bool {
    matches!(argument, Some(scanner::Argument::One(word)) if word.known_start().starts_with('-'))
}

fn is_known(argument: &scanner::Argument) -> bool {
    matches!(argument, scanner::Argument::One(word) if word.is_known())
}

fn deletes(shell: &mut Shell<'_, '_>, field: &Field, scope: Scope) {
    let could = Bound::just(EffectKind::Deletes);
    shell.path_effect(field, could, |path| Action::Deletes(path, scope));
}

fn connects(
    shell: &mut Shell<'_, '_>,
    first: &Field,
    second: Option<&scanner::Argument>,
    purpose: Purpose,
) {
    let mut target = first.word.clone();
    // `connect(4444, "host")`
    let is_port = target.text().is_some_and(|port| port.parse::<u16>().is_ok());
    if is_port && let Some(host) = second.map(|argument| argument.word()) {
        let port = std::mem::replace(&mut target, host);
        if target.is_unknown() {
            target = Word::known("localhost");
        }
        target.push(':');
        target.push_word(&port);
        let address = host::parse_host(&target, "");
        return shell.connect(address, purpose, Some(&target), first.span.clone());
    }
    // `bind(("", 0))` asks for any free port, `bind(("", 4444))` listens to everyone.
    if target.text() == Some("") {
        let port = second.map(|argument| argument.word());
        if port.as_ref().and_then(Word::text) == Some("0") {
            return;
        }
        target = Word::known("0.0.0.0");
    }
    // `connect("host", 4444)`
    if let Some(port) = second.map(|argument| argument.word())
        && port.text().is_some_and(|port| port.parse::<u16>().is_ok())
    {
        target.push(':');
        target.push_word(&port);
    }
    if target.known_start().starts_with("file:") {
        return shell.read_file(&Field::new(target, first.span.clone()), Access::Content);
    }
    let address = host::parse_host(&target, "");
    shell.connect(address, purpose, Some(&target), first.span.clone());
}

/// `open(path, mode="w")` and `os.open(path, os.O_WRONLY)` name the mode, `open(path, "w")` does not.
fn open_call(
    shell: &mut Shell<'_, '_>,
    arguments: &[scanner::Argument],
    around: &str,
    field: &Field,
) {
    let named = around.split("mode=").nth(1).map(|rest| rest.get(1..).unwrap_or_default());
    let named = named.and_then(|rest| rest.split(['\'', '"']).next()).map(Word::known);
    let flags = ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| around.contains(flag));
    let named = if flags { Some(Word::known("w")) } else { named };
    let named = named.map(scanner::Argument::One);
    let path = arguments.first().map_or_else(Word::unknown, |argument| argument.word());
    open(shell, &Field::new(path, field.span.clone()), named.as_ref().or_else(|| arguments.get(1)));
}

/// `open(path, mode)`: the mode says what is done.
fn open(shell: &mut Shell<'_, '_>, path: &Field, mode: Option<&scanner::Argument>) {
    let mode = mode.map(|argument| argument.word());
    let mode = mode.as_ref().and_then(Word::text).unwrap_or("r");
    // Perl: `open(F, "<", "x")` and `open(F, "cmd|")` are read by the scanner's table.
    if mode.contains(['w', 'a', 'x', '>', '+']) {
        let change = if mode.contains('a') || mode.contains(">>") {
            Change::Append
        } else {
            Change::Content
        };
        shell.write_file(path, change);
    }
    if mode.contains(['r', '+', '<']) {
        shell.read_file(path, Access::Content);
    }
}
