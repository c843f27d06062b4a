//! Names, literals and arguments in code of any language with C-like calls.

use std::collections::HashMap;

use crate::model::Language;
use crate::word::{Fill, Word};

mod formats;

/// Longer constants are not kept.
const MAX_CONSTANT: usize = 4096;
/// More text of literals is not kept.
const MAX_LITERALS: usize = 1 << 16;
/// Names that the code gives to constants or modules.
const MAX_NAMES: usize = 64;

/// Something in the code that may do something.
pub(crate) enum Token<'t> {
    /// A name with its dots: `os.path.join`.
    Name(&'t str),
    /// A command in backquotes.
    Command(Word),
    /// A literal that names a file, for a call that is not known.
    File(Word),
}

/// An argument of a call.
pub(crate) enum Argument {
    One(Word),
    List(Vec<Word>),
}

impl Argument {
    pub(crate) fn word(&self) -> Word {
        match self {
            Self::One(word) => word.clone(),
            Self::List(words) => words.first().cloned().unwrap_or_else(Word::unknown),
        }
    }

    pub(crate) fn words(&self) -> Vec<Word> {
        match self {
            Self::One(word) => vec![word.clone()],
            Self::List(words) => words.clone(),
        }
    }
}

pub(crate) struct Scanner<'t> {
    text: &'t str,
    pos: usize,
    language: Language,
    /// Variables with a constant value.
    constants: HashMap<&'t str, Word>,
    /// Other names of modules: `import os as o`, `const h = https`.
    modules: HashMap<&'t str, &'t str>,
    /// How often a loop may still be looked for. The bound keeps the scan linear.
    searches: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, language: Language) -> Self {
        let (constants, modules) = (HashMap::new(), HashMap::new());
        Self { text, pos: 0, language, constants, modules, searches: MAX_NAMES }
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.pos += character.len_utf8();
        Some(character)
    }

    /// The next name or command; literals and comments are passed over.
    pub(crate) fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let byte = self.peek();
            match byte {
                0 if self.pos >= self.text.len() => return None,
                b'\'' | b'"' => {
                    let is_shown = self.is_shown();
                    let literal = self.string();
                    if !is_shown && is_file(&literal) {
                        return Some(Token::File(literal));
                    }
                }
                b'`' if self.runs_backquotes() => return Some(Token::Command(self.string())),
                b'`' => drop(self.string()),
                b'#' if self.language != Language::JavaScript && self.language != Language::Lua => {
                    self.skip_line()
                }
                b'/' if self.rest().starts_with("//")
                    && !matches!(
                        self.language,
                        Language::Python | Language::Ruby | Language::Perl
                    ) =>
                {
                    self.skip_line()
                }
                b'%' if self.language == Language::Ruby && self.rest().starts_with("%x") => {
                    self.pos += 2;
                    return Some(Token::Command(self.bracketed()));
                }
                b'/' if matches!(
                    self.language,
                    Language::Perl | Language::Ruby | Language::JavaScript
                ) && self.regular_expression() => {}
                byte if is_start(byte) => {
                    let name = self.name();
                    if self.language == Language::Perl {
                        self.quote_like(name);
                    }
                    if name == "qx" && self.language == Language::Perl {
                        return Some(Token::Command(self.bracketed()));
                    }
                    self.bind(name);
                    return Some(Token::Name(name));
                }
                _ => drop(self.bump()),
            }
        }
    }

    /// The literals of the code, each on lines of its own.
    pub(crate) fn literals(mut self) -> String {
        let mut text = String::new();
        while self.pos < self.text.len() && text.len() < MAX_LITERALS {
            match self.peek() {
                b'\'' | b'"' | b'`' => {
                    text.push_str(self.string().known_part());
                    text.push('\n');
                }
                _ => drop(self.bump()),
            }
        }
        text
    }

    /// Whether the literal that begins here is only printed.
    fn is_shown(&self) -> bool {
        let start = self.pos.saturating_sub(16);
        let start = self.text.ceil_char_boundary(start);
        let before = self.text.get(start..self.pos).unwrap_or_default().trim_end();
        ["print(", "log(", "puts", "echo", "print", "require(", "import", "from"]
            .iter()
            .any(|name| before.ends_with(name))
    }

    /// The value of a variable that the code itself fixes.
    pub(crate) fn constant(&self, name: &str) -> Option<&Word> {
        self.constants.get(name)
    }

    /// A name with the module that its first part stands for.
    pub(crate) fn whole_name(&self, name: &str) -> Option<String> {
        let Some((first, rest)) = name.split_once('.') else {
            // `from m import f as g`
            return self.modules.get(name).map(|name| (*name).to_owned());
        };
        let module = self.modules.get(first)?;
        Some(format!("{module}.{rest}"))
    }

    /// The rest of the call whose name was just read, up to its closing parenthesis.
    pub(crate) fn call_text(&self) -> &'t str {
        let rest = self.rest();
        let rest = rest.get(..rest.floor_char_boundary(rest.len().min(2000))).unwrap_or(rest);
        let mut depth = 0_usize;
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' if depth <= 1 => return rest.get(..at).unwrap_or(rest),
                b')' => depth -= 1,
                b';' | b'\n' if depth == 0 => return rest.get(..at).unwrap_or(rest),
                _ => {}
            }
        }
        rest
    }

    /// Whether the name that was just read is called.
    pub(crate) fn is_called(&self) -> bool {
        self.rest().trim_start().starts_with('(')
    }

    /// `name = value`: keeps a constant, or another name of a module.
    fn bind(&mut self, name: &'t str) {
        let start = self.pos;
        if self.constants.len() + self.modules.len() > MAX_NAMES {
            return;
        }
        self.blanks();
        let rest = self.rest();
        if name == "for" && self.language == Language::Python {
            self.bind_loop();
        } else if name == "import" && self.language == Language::Python {
            let line = rest.split(['\n', ';']).next().unwrap_or_default();
            for part in line.split(',') {
                if let Some((module, other)) = part.split_once(" as ") {
                    let module = module.trim().trim_start_matches('(').trim();
                    self.modules.insert(other.trim().trim_end_matches(')'), module);
                }
            }
        } else if rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>") {
            self.pos += 1;
            self.blanks();
            let length = self.rest().bytes().take_while(|byte| is_part(*byte)).count();
            let value = self.rest().get(..length).unwrap_or_default();
            let is_module = MODULES.contains(&value);
            if is_module {
                self.modules.insert(name, value);
            } else if !matches!(self.peek(), b'{' | b'(') || self.rest().starts_with("(Path") {
                if self.peek() == b'(' {
                    self.pos += 1;
                }
                let word = self.expression();
                if word.is_unknown() || word.known_part().len() > MAX_CONSTANT {
                    self.constants.remove(name);
                } else {
                    self.constants.insert(name, word);
                }
            }
        }
        self.pos = start;
    }

    /// `for NAME in EXPRESSION`: the name stands for what is found there.
    fn bind_loop(&mut self) {
        let name = self.rest();
        let length = name.bytes().take_while(|byte| is_part(*byte) && *byte != b'.').count();
        let name = name.get(..length).unwrap_or_default();
        self.pos += length;
        self.blanks();
        if name.is_empty() || !self.rest().starts_with("in ") {
            return;
        }
        self.pos += 3;
        self.blanks();
        for wrapper in ["sorted(", "list(", "reversed(", "set(", "tqdm(", "iter("] {
            if self.rest().starts_with(wrapper) {
                self.pos += wrapper.len();
            }
        }
        let word = self.expression();
        if !word.is_unknown() && word.known_part().len() <= MAX_CONSTANT {
            self.constants.insert(name, word);
        }
    }

    /// Passes over `/…/` where a regular expression can be.
    fn regular_expression(&mut self) -> bool {
        let before = self.text.get(..self.pos).unwrap_or_default().trim_end();
        let is_place = before.is_empty()
            || before.ends_with(['(', ',', '=', '~', '!', '&', '|', '{', ';', '}', ':', '?', '['])
            || ["if", "unless", "and", "or", "split", "grep", "return", "when", "not"]
                .iter()
                .any(|word| before.ends_with(word));
        if !is_place {
            return false;
        }
        self.pos += 1;
        self.section(b'/')
    }

    /// Passes over text up to a delimiter that is not escaped.
    fn section(&mut self, delimiter: u8) -> bool {
        let mut is_escaped = false;
        while self.pos < self.text.len() {
            let byte = self.peek();
            self.bump();
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'\n' if delimiter == b'/' => return true,
                byte if byte == delimiter => return true,
                _ => {}
            }
        }
        true
    }

    /// `s/a/b/`, `m{x}`, `tr/a/b/`, `qr/x/` of Perl: their text is no code, unless a flag says so.
    fn quote_like(&mut self, name: &str) {
        let sections = match name {
            "s" | "y" | "tr" => 2,
            "m" | "qr" | "q" | "qq" | "qw" => 1,
            _ => return,
        };
        let open = self.peek();
        let is_delimiter = open.is_ascii_punctuation()
            && !matches!(open, b',' | b';' | b')' | b'=' | b'.' | b'-' | b'_');
        if !is_delimiter {
            return;
        }
        let close = match open {
            b'(' => b')',
            b'{' => b'}',
            b'[' => b']',
            b'<' => b'>',
            other => other,
        };
        let start = self.pos;
        self.pos += 1;
        self.section(close);
        let second = self.pos;
        if sections == 2 {
            if open != close {
                self.blanks();
                self.pos += 1;
            }
            self.section(close);
        }
        let flags = self.rest().bytes().take_while(u8::is_ascii_alphabetic).collect::<Vec<_>>();
        // `s/x/code/e` runs its second part.
        if name == "s" && flags.contains(&b'e') {
            self.pos = second;
        }
        self.pos = self.pos.max(start + 1);
    }

    fn runs_backquotes(&self) -> bool {
        matches!(self.language, Language::Perl | Language::Ruby | Language::Php)
    }

    fn skip_line(&mut self) {
        self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let mut length = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        // `a ? b : c` and `key: value` are not part of a name.
        while length > 0 && matches!(rest.as_bytes().get(length - 1), Some(b'.' | b':' | b'?')) {
            length -= 1;
        }
        self.pos += length.max(1);
        rest.get(..length).unwrap_or_default()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
    }

    /// The arguments of the call whose name was just read. At most four are of interest.
    pub(crate) fn arguments(&mut self) -> Vec<Argument> {
        let after_name = self.pos;
        self.blanks();
        let has_paren = self.peek() == b'(';
        if has_paren {
            self.pos += 1;
            // `connect(("host", 1))`
            self.blanks();
            if self.peek() == b'(' {
                self.pos += 1;
            }
        } else if !matches!(self.language, Language::Perl | Language::Ruby | Language::Php) {
            self.pos = after_name;
            return Vec::new();
        }
        let mut arguments = Vec::new();
        while arguments.len() < 8 {
            self.blanks();
            let argument = self.argument();
            let Some(argument) = argument else { break };
            arguments.push(argument);
            self.blanks();
            if self.peek() == b',' {
                self.pos += 1;
            } else {
                break;
            }
        }
        // A name inside of an argument may be a call of its own.
        arguments
    }

    fn argument(&mut self) -> Option<Argument> {
        match self.peek() {
            b')' | b';' | b'}' | 0 => None,
            b'[' => {
                self.pos += 1;
                let mut words = Vec::new();
                while words.len() < 64 {
                    self.blanks();
                    if matches!(self.peek(), b']' | 0) {
                        self.bump();
                        break;
                    }
                    words.push(self.expression());
                    self.blanks();
                    if self.peek() == b',' {
                        self.pos += 1;
                    } else if self.peek() != b']' {
                        // Something that is not a plain list.
                        words.push(Word::unknown());
                        break;
                    }
                }
                Some(Argument::List(words))
            }
            _ => Some(Argument::One(self.expression())),
        }
    }

    /// The path that begins with the name that was just read: `Path("a") / "b"`.
    pub(crate) fn path(&mut self, name: &str) -> Option<Word> {
        let after = self.pos;
        self.pos = after.saturating_sub(name.len());
        let word = self.expression();
        // Never back: the same name would be read again and again.
        self.pos = self.pos.max(after);
        (!word.is_unknown()).then_some(word)
    }

    /// A literal, literals that are joined, or something unknown.
    fn expression(&mut self) -> Word {
        self.expression_at(0)
    }

    /// An unknown name stays in front of the scanner: it may be a call of its own.
    fn expression_at(&mut self, depth: usize) -> Word {
        let mut word = Word::default();
        let mut resume = None;
        loop {
            self.blanks();
            self.prefix();
            let start = self.pos;
            match self.peek() {
                b'\'' | b'"' | b'`' => {
                    let part = self.string();
                    // `"vne"[::-1]`
                    let reversed = part.text().filter(|_| self.rest().starts_with("[::-1]"));
                    let reversed = reversed.map(|text| text.chars().rev().collect::<String>());
                    match reversed {
                        Some(text) => {
                            self.pos += "[::-1]".len();
                            word.push_str(&text);
                        }
                        None => {
                            let part = self.filled(part, depth);
                            word.push_word(&part);
                        }
                    }
                }
                byte if byte.is_ascii_digit() => {
                    let is_part: fn(&u8) -> bool = match self.rest().starts_with("0x") {
                        true => u8::is_ascii_alphanumeric,
                        false => u8::is_ascii_digit,
                    };
                    let length = self.rest().bytes().take_while(is_part).count();
                    word.push_str(self.rest().get(..length).unwrap_or_default());
                    self.pos += length;
                }
                byte if is_start(byte) && depth < 4 => match self.value_of_name(depth) {
                    Some(part) => word.push_word(&part),
                    None => {
                        word.push_gap(Fill::Anything);
                        resume.get_or_insert(start);
                    }
                },
                b'$' if matches!(self.language, Language::Perl | Language::Php) => {
                    self.pos += 1;
                    let rest = self.rest();
                    let home = ["ENV{HOME}", "ENV{'HOME'}", "_SERVER['HOME']", "_ENV['HOME']"];
                    if let Some(home) = home.iter().find(|home| rest.starts_with(**home)) {
                        self.pos += home.len();
                        word.push('~');
                    } else {
                        let name = self.name();
                        match self.constants.get(name) {
                            Some(value) => word.push_word(value),
                            None => word.push_gap(Fill::Anything),
                        }
                    }
                }
                b'[' => match self.joined_list(depth) {
                    Some(part) => word.push_word(&part),
                    None => {
                        word.push_gap(Fill::Anything);
                        break;
                    }
                },
                _ => {
                    word.push_gap(Fill::Anything);
                    break;
                }
            }
            self.blanks();
            match self.peek() {
                // `"a" + "b"`, `"a" . "b"`, `"a" "b"`
                b'+' => self.pos += 1,
                b'.' if matches!(self.language, Language::Perl | Language::Php) => self.pos += 1,
                b'\'' | b'"' => {}
                b'.' if self.path_method(&mut word, depth) => {
                    self.blanks();
                    if self.language != Language::Python || self.peek() != b'/' {
                        break;
                    }
                    self.pos += 1;
                    word.push('/');
                }
                // `"a" .. "b"`
                b'.' if self.language == Language::Lua && self.rest().starts_with("..") => {
                    self.pos += 2;
                }
                b'%' | b'.' | b'[' | b'*' | b'(' => {
                    word.push_gap(Fill::Anything);
                    break;
                }
                // `Path.home() / ".ssh"`
                b'/' if self.language == Language::Python
                    && !self.rest().starts_with("//")
                    && depth < 4 =>
                {
                    self.pos += 1;
                    word.push('/');
                }
                _ => break,
            }
        }
        self.pos = resume.unwrap_or(self.pos);
        word
    }

    /// `.expanduser()` and similar calls keep the path, `.joinpath("a", "b")` adds to it.
    /// `.rglob("*.py")`, `.glob("*.py")`: files below the path.
    fn finds_below(&mut self, word: &mut Word) -> bool {
        let rest = self.rest();
        let Some((method, is_deep)) = [(".rglob(", true), (".glob(", false)]
            .into_iter()
            .find(|(method, _)| rest.starts_with(method))
        else {
            return false;
        };
        self.pos += method.len();
        self.blanks();
        if !matches!(self.peek(), b'\'' | b'"') {
            self.pos -= method.len();
            return false;
        }
        let pattern = self.string();
        word.push('/');
        if is_deep {
            word.push_gap(Fill::Anything);
            word.push('/');
        }
        word.push_word(&crate::shell::glob_word(pattern.known_part()));
        if self.peek() == b')' {
            self.pos += 1;
        }
        true
    }

    fn path_method(&mut self, word: &mut Word, depth: usize) -> bool {
        let rest = self.rest();
        for keeps in [".expanduser()", ".resolve()", ".absolute()", ".as_posix()", ".to_s"] {
            if rest.starts_with(keeps) {
                self.pos += keeps.len();
                return true;
            }
        }
        if rest.starts_with(".parent") && !rest.starts_with(".parents") {
            self.pos += ".parent".len();
            word.push_str("/..");
            return true;
        }
        if self.finds_below(word) {
            return true;
        }
        let rest = self.rest();
        if depth > 3 || !rest.starts_with(".joinpath(") {
            return false;
        }
        self.pos += ".joinpath(".len();
        loop {
            self.blanks();
            if matches!(self.peek(), b')' | 0) {
                self.pos += 1;
                return true;
            }
            word.push('/');
            let part = self.expression_at(depth + 1);
            word.push_word(&part);
            self.blanks();
            if self.peek() == b',' {
                self.pos += 1;
            } else if self.peek() != b')' {
                return true;
            }
        }
    }

    /// `f(x) for x in EXPRESSION`: the loop follows its body.
    fn looped(&mut self, name: &str, depth: usize) -> Option<Word> {
        let is_plain = self.language == Language::Python && depth < 2 && name.len() < 32;
        if !is_plain || name.contains('.') || self.searches == 0 {
            return None;
        }
        self.searches -= 1;
        let sign = format!("for {name} in ");
        let rest = self.rest();
        let near = rest.get(..rest.floor_char_boundary(rest.len().min(4096))).unwrap_or(rest);
        let at = near.find(&sign)?;
        let start = self.pos;
        self.pos += at + sign.len();
        for wrapper in ["sorted(", "list(", "glob.glob(", "glob.iglob(", "iglob("] {
            if self.rest().starts_with(wrapper) {
                self.pos += wrapper.len();
            }
        }
        let lists = ["os.listdir(", "listdir("].into_iter().find(|it| self.rest().starts_with(it));
        self.pos += lists.map_or(0, str::len);
        let mut word = self.expression_at(depth + 2);
        self.pos = start;
        if lists.is_some() && !word.is_unknown() {
            word.push_str("/*");
        }
        let word = word.text().map_or_else(|| word.clone(), crate::shell::glob_word);
        (!word.is_unknown()).then_some(word)
    }

    /// A variable, or a call that only puts paths together. `None` for any other name.
    fn value_of_name(&mut self, depth: usize) -> Option<Word> {
        let name = self.name();
        if matches!(name, "process.env.HOME" | "HOME") {
            return Some(Word::known("~"));
        }
        if let Some(value) = self.constants.get(name) {
            return Some(value.clone());
        }
        if let Some(value) = self.looped(name, depth) {
            return Some(value);
        }
        if ["getusersitepackages", "getsitepackages"].iter().any(|call| name.ends_with(call)) {
            self.pos += self.rest().find(')').map_or(0, |at| at + 1);
            return Some(Word::known("~/.local/lib/python3/site-packages"));
        }
        if matches!(name, "process.cwd" | "os.getcwd" | "Path.cwd" | "Dir.pwd" | "getcwd") {
            if self.rest().starts_with("()") {
                self.pos += 2;
            }
            return Some(Word::known("."));
        }
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let joins = matches!(
            last,
            "join"
                | "expanduser"
                | "expandvars"
                | "resolve"
                | "abspath"
                | "realpath"
                | "Path"
                | "str"
                | "expand_path"
                | "ip_address"
                | "IPv4Address"
                | "long2ip"
        );
        let is_home = matches!(last, "homedir" | "home") || name == "Dir.home";
        let is_variable = name == "os.environ" || name == "ENV" || last == "getenv";
        self.blanks();
        if is_home || is_variable {
            return Some(self.home_of(is_home));
        }
        if !joins || self.peek() != b'(' {
            return None;
        }
        self.pos += 1;
        let mut whole = Word::default();
        loop {
            self.blanks();
            if matches!(self.peek(), b')' | 0) {
                self.pos += 1;
                return Some(whole);
            }
            if !whole.known_part().is_empty() {
                whole.push('/');
            }
            let part = self.expression_at(depth + 1);
            whole.push_word(&part);
            self.blanks();
            match self.peek() {
                b',' => self.pos += 1,
                b')' => {}
                _ => {
                    whole.push_gap(Fill::Anything);
                    return Some(whole);
                }
            }
        }
    }

    /// `os.homedir()`, `os.environ['HOME']`, `getenv("HOME")`
    fn home_of(&mut self, is_home: bool) -> Word {
        let rest = self.rest();
        let end = rest.find([')', ']']).filter(|end| *end < 24);
        let Some(end) = end else {
            return if is_home { Word::known("~") } else { Word::unknown() };
        };
        let inside = rest.get(..end).unwrap_or_default();
        let names_home = is_home || inside.contains("HOME");
        self.pos += end + 1;
        if names_home { Word::known("~") } else { Word::unknown() }
    }

    /// `r"…"`, `b'…'`, `f"…"`
    fn prefix(&mut self) {
        let bytes = self.rest().as_bytes();
        let letters = bytes
            .iter()
            .take(2)
            .take_while(|byte| matches!(byte.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f'))
            .count();
        if letters > 0 && matches!(bytes.get(letters), Some(b'\'' | b'"')) {
            self.pos += letters;
        }
    }

    /// A literal with its quotes. Interpolation leaves a gap.
    fn string(&mut self) -> Word {
        let quote = self.peek();
        let before = self.text.get(..self.pos).unwrap_or_default();
        let is_formatted = self.language == Language::Python && before.ends_with(['f', 'F']);
        let triple = [quote; 3];
        let is_triple =
            self.rest().as_bytes().starts_with(&triple) && self.language == Language::Python;
        self.pos += if is_triple { 3 } else { 1 };
        let mut word = Word::default();
        while self.pos < self.text.len() {
            let byte = self.peek();
            if byte == quote && (!is_triple || self.rest().as_bytes().starts_with(&triple)) {
                self.pos += if is_triple { 3 } else { 1 };
                return word;
            }
            match byte {
                b'\\' => {
                    let rest = self.rest();
                    let length = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                    let length = if rest.as_bytes().get(1) == Some(&b'x') {
                        4.min(rest.len())
                    } else {
                        length
                    };
                    let escape = rest.get(..length).unwrap_or(rest);
                    word.push_str(&crate::shell::ansi::unescape(escape));
                    self.pos += escape.len();
                }
                b'$' | b'#' if self.interpolates(quote) => self.interpolated(&mut word),
                b'{' if is_formatted => self.interpolated(&mut word),
                _ => word.push(self.bump().unwrap_or(' ')),
            }
        }
        word
    }

    fn interpolates(&self, quote: u8) -> bool {
        let next = self.text.as_bytes().get(self.pos + 1).copied().unwrap_or(0);
        match (self.language, self.peek()) {
            (Language::JavaScript, b'$') => quote == b'`' && next == b'{',
            (Language::Ruby, b'#') => quote != b'\'' && next == b'{',
            (Language::Perl | Language::Php, b'$') => {
                quote != b'\'' && (is_start(next) || next == b'{')
            }
            _ => false,
        }
    }

    /// A value inside of a literal: known if it is a constant of the code.
    fn interpolated(&mut self, word: &mut Word) {
        let start = self.pos;
        self.skip_interpolation();
        let inside = self.text.get(start..self.pos).unwrap_or_default();
        let name = inside.trim_matches(['$', '#', '{', '}', ' ']);
        let is_home = name == "ENV{HOME" || name == "process.env.HOME" || name == "ENV['HOME']";
        match self.constants.get(name) {
            Some(value) => word.push_word(value),
            None if is_home => word.push('~'),
            None => word.push_gap(Fill::Anything),
        }
    }

    fn skip_interpolation(&mut self) {
        let rest = self.rest();
        let is_braced = rest.starts_with('{') || rest.as_bytes().get(1) == Some(&b'{');
        let length = if is_braced {
            rest.find('}').map_or(rest.len(), |at| at + 1)
        } else {
            1 + rest
                .bytes()
                .skip(1)
                .take_while(|byte| is_start(*byte) || byte.is_ascii_digit())
                .count()
        };
        self.pos += length;
    }

    /// `qx{…}`, `%x(…)`
    fn bracketed(&mut self) -> Word {
        let Some(open) = self.bump() else { return Word::unknown() };
        let close = match open {
            '(' => ')',
            '{' => '}',
            '[' => ']',
            '<' => '>',
            other => other,
        };
        let rest = self.rest();
        let length = rest.find(close).unwrap_or(rest.len());
        let text = rest.get(..length).unwrap_or_default();
        self.pos = (self.pos + length + 1).min(self.text.len());
        let mut word = Word::known(text);
        if text.contains("#{") || text.contains('$') {
            word.push_gap(Fill::Anything);
        }
        word
    }
}

/// Whether a literal is the path of a file outside of the folder at hand, or of a hidden one.
fn is_file(literal: &Word) -> bool {
    let text = literal.known_part();
    let is_path = ["/", "~/", "../", "./."].iter().any(|sign| text.starts_with(sign))
        || text.starts_with(".env")
        || text.starts_with(".ssh")
        || text.starts_with(".aws");
    is_path
        && (3..200).contains(&text.len())
        && !text.contains([' ', '\n', '\t', '<', '>', '(', '{', '\\', ';', ','])
        && !text.starts_with("//")
}

/// Modules that code gives other names.
const MODULES: &[&str] = &[
    "fs",
    "os",
    "net",
    "http",
    "https",
    "child_process",
    "path",
    "tls",
    "dgram",
    "subprocess",
    "shutil",
    "socket",
    "requests",
    "urllib.request",
];

fn is_part(byte: u8) -> bool {
    is_start(byte) || byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'?')
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}
