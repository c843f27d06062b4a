//! Shell text to its syntax tree: the grammar of bash, by recursive descent.
//!
//! Time is linear in the text. Depth and the number of commands are bounded. After an error the
//! parser continues at the next command, so that everything that can be read is read; the error is
//! part of the result.

use std::rc::Rc;

use crate::shell::subscripts;
use crate::shell::syntax::{
    Assign, AssignValue, Command, Form, HereDoc, Link, List, Piece, Pieces, Pipeline, Quoting,
    Redirect, Script, ShellWord, Span, Target, Trouble,
};
use crate::text::Text;

/// Nested constructs. People write fewer than ten.
const MAX_DEPTH: usize = 48;
/// Commands of one text. More of them are not analysed.
const MAX_COMMANDS: usize = 512;

/// Parses shell text.
pub(crate) fn parse(text: &str) -> Script {
    parse_by(text, u8::MAX)
}

/// The same, byte by byte. Tests compare it.
#[cfg(test)]
pub(crate) fn parse_slowly(text: &str) -> Script {
    parse_by(text, 0)
}

fn parse_by(text: &str, runs: u8) -> Script {
    let whole: Rc<str> = Rc::from(text);
    let mut parser = Parser::new(&whole, runs);
    let mut list = List::new();
    loop {
        parser.list(&mut list, &[]);
        if parser.is_full() || parser.at_end() {
            break;
        }
        // A closing word or sign without an opening one.
        parser.fail(Trouble::Syntax);
        parser.skip_token();
    }
    parser.read_heredocs();
    Script { list, heredocs: parser.heredocs, trouble: parser.trouble }
}

/// Text in which `$`, backquotes and `\\` count, as in a here-document.
pub(crate) struct Expandable {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) heredocs: Vec<HereDoc>,
    /// It could not be read to its end.
    pub(crate) is_broken: bool,
}

/// Parses text that the shell expands again.
pub(crate) fn parse_expandable(text: &str) -> Expandable {
    let whole: Rc<str> = Rc::from(text);
    let mut parser = Parser::new(&whole, u8::MAX);
    let pieces = parser.pieces_between(0, text.len(), super::pieces::Mode::HereDoc);
    parser.read_heredocs();
    Expandable { pieces, heredocs: parser.heredocs, is_broken: parser.trouble.is_some() }
}

pub(crate) struct Parser<'t> {
    pub(crate) text: &'t str,
    /// The same text; words are parts of it.
    pub(crate) whole: &'t Rc<str>,
    /// The classes of bytes that are taken many at a time.
    pub(crate) runs: u8,
    pub(crate) pos: usize,
    pub(crate) end: usize,
    pub(crate) depth: usize,
    commands: usize,
    pub(crate) trouble: Option<(Trouble, Span)>,
    pub(crate) heredocs: Vec<HereDoc>,
    /// Here-documents whose body follows at the next line break: index, delimiter, form.
    waiting: Vec<Waiting>,
}

struct Waiting {
    index: usize,
    delimiter: String,
    expands: bool,
    strips_tabs: bool,
}

/// Words that end a list.
type Stops = [&'static str];

impl<'t> Parser<'t> {
    fn new(whole: &'t Rc<str>, runs: u8) -> Self {
        Self {
            text: whole,
            whole,
            runs,
            pos: 0,
            end: whole.len(),
            depth: 0,
            commands: 0,
            trouble: None,
            heredocs: Vec::new(),
            waiting: Vec::new(),
        }
    }

    // Looking at the text.

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.end
    }

    pub(crate) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    /// The byte that many bytes ahead; 0 after the end.
    pub(crate) fn peek_at(&self, ahead: usize) -> u8 {
        let at = self.pos + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.pos..self.end).unwrap_or_default()
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to.min(self.end)).unwrap_or_default()
    }

    /// The same as a text that shares the whole one.
    pub(crate) fn part(&self, from: usize, to: usize) -> Text {
        let length = self.slice(from, to).len();
        Text::part(self.whole, from, from + length)
    }

    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let has = self.rest().starts_with(sign);
        if has {
            self.pos += sign.len();
        }
        has
    }

    /// Moves over one character.
    pub(crate) fn bump(&mut self) -> Option<char> {
        let character = self.rest().chars().next();
        // Always continues, also if the position is not between two characters.
        self.pos = (self.pos + character.map_or(1, char::len_utf8)).min(self.end);
        character
    }

    pub(crate) fn fail(&mut self, trouble: Trouble) {
        let at = self.pos.min(self.end);
        self.trouble.get_or_insert((trouble, at..self.end));
    }

    fn is_full(&self) -> bool {
        matches!(self.trouble, Some((Trouble::Size, _)))
    }

    /// Blanks, escaped line breaks and comments.
    pub(crate) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.peek_at(1) == b'\n' => self.pos += 2,
                b'\\' if self.peek_at(1) == b'\r' && self.peek_at(2) == b'\n' => self.pos += 3,
                b'\r' if self.peek_at(1) == b'\n' || self.pos + 1 == self.end => self.pos += 1,
                b'#' => {
                    let line = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.pos += line;
                }
                _ => return,
            }
        }
    }

    /// Blanks, line breaks and what may be between two commands of a list.
    fn lines(&mut self) {
        loop {
            self.blanks();
            if self.peek() != b'\n' || self.at_end() {
                return;
            }
            self.line_break();
        }
    }

    fn line_break(&mut self) {
        self.pos += 1;
        if !self.waiting.is_empty() {
            self.read_heredocs();
        }
    }

    fn skip_token(&mut self) {
        self.bump();
    }

    /// Whether a reserved word is next, as a whole word.
    fn at_word(&self, word: &str) -> bool {
        let rest = self.rest();
        rest.starts_with(word) && rest.as_bytes().get(word.len()).is_none_or(|b| ends_word(*b))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let has = self.at_word(word);
        if has {
            self.pos += word.len();
        }
        has
    }

    /// Takes the word that must be next.
    fn expect_word(&mut self, word: &str) {
        self.lines();
        if !self.eat_word(word) {
            self.fail(Trouble::Syntax);
        }
    }

    // Lists and pipelines.

    /// A list up to one of these words, a closing sign, or the end.
    pub(crate) fn list(&mut self, list: &mut List, stops: &Stops) {
        let mut link = Link::Then;
        while !self.is_full() {
            self.lines();
            if self.at_end() || self.at_close() || stops.iter().any(|stop| self.at_word(stop)) {
                if link != Link::Then {
                    self.fail(Trouble::Syntax);
                }
                return;
            }
            let start = self.pos;
            let commands = self.pipeline();
            list.push(Pipeline { commands, link });
            link = self.separator();
            if self.pos == start {
                // Nothing was taken: not a command. Continue after it.
                self.fail(Trouble::Syntax);
                self.skip_token();
            }
        }
    }

    /// `)` or `;;` and `}` as a word: what ends a list from outside of it.
    fn at_close(&self) -> bool {
        match self.peek() {
            b')' => true,
            b';' => matches!(self.peek_at(1), b';' | b'&'),
            b'}' => self.at_word("}"),
            _ => false,
        }
    }

    fn separator(&mut self) -> Link {
        self.blanks();
        if self.eat("&&") {
            return Link::And;
        }
        if self.eat("||") {
            return Link::Or;
        }
        let ends_case = self.peek() == b';' && matches!(self.peek_at(1), b';' | b'&');
        if matches!(self.peek(), b'&' | b';') && !ends_case {
            self.pos += 1;
        } else if self.peek() == b'\n' && !self.at_end() {
            self.line_break();
        }
        Link::Then
    }

    fn pipeline(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            self.lines();
            while self.eat_word("!") || self.eat_time() {
                self.blanks();
            }
            commands.push(self.command());
            self.blanks();
            let is_pipe = self.peek() == b'|' && self.peek_at(1) != b'|';
            if !is_pipe || self.is_full() {
                return commands;
            }
            self.pos += 1;
            if self.peek() == b'&' {
                self.pos += 1;
            }
            self.lines();
            if self.at_end() {
                self.fail(Trouble::Syntax);
                return commands;
            }
        }
    }

    fn eat_time(&mut self) -> bool {
        if !self.eat_word("time") {
            return false;
        }
        self.blanks();
        self.eat_word("-p");
        true
    }

    // Commands.

    fn command(&mut self) -> Command {
        let start = self.pos;
        self.commands += 1;
        self.depth += 1;
        if self.commands > MAX_COMMANDS || self.depth > MAX_DEPTH {
            self.fail(Trouble::Size);
            self.pos = self.end;
            self.depth -= 1;
            let form = Form::Group(List::new());
            return Command { form, redirects: Vec::new(), span: start..start };
        }
        let mut redirects = Vec::new();
        let form = match self.compound() {
            Some(form) => {
                self.redirects(&mut redirects);
                form
            }
            None => self.simple(&mut redirects),
        };
        self.depth -= 1;
        Command { form, redirects, span: start..self.pos }
    }

    fn compound(&mut self) -> Option<Form> {
        match self.peek() {
            b'(' if self.peek_at(1) == b'(' => Some(self.double_parens()),
            b'(' => Some(self.subshell()),
            b'{' if self.eat_word("{") => Some(self.until_close("}")),
            b'[' if self.at_word("[[") => Some(self.test()),
            b'i' if self.eat_word("if") => Some(self.if_clause()),
            b'w' if self.eat_word("while") => Some(self.loop_clause()),
            b'u' if self.eat_word("until") => Some(self.loop_clause()),
            b'f' if self.eat_word("for") => Some(self.for_clause()),
            b's' if self.eat_word("select") => Some(self.for_clause()),
            b'c' if self.eat_word("case") => Some(self.case_clause()),
            b'f' if self.eat_word("function") => Some(self.function_clause()),
            b'c' if self.eat_word("coproc") => Some(self.coproc()),
            _ => self.function_by_parens(),
        }
    }

    fn until_close(&mut self, close: &'static str) -> Form {
        let mut list = List::new();
        self.list(&mut list, &[close]);
        if !self.eat(close) {
            self.fail(Trouble::Syntax);
        }
        Form::Group(list)
    }

    fn subshell(&mut self) -> Form {
        self.pos += 1;
        match self.until_close(")") {
            Form::Group(list) => Form::Subshell(list),
            other => other,
        }
    }

    /// `((…))` is arithmetic, unless it is two subshells: `((ls); (ls))`.
    fn double_parens(&mut self) -> Form {
        let start = self.pos;
        if let Some(close) = self.arithmetic_end(self.pos + 2) {
            let pieces = self.pieces_between(start + 2, close, super::pieces::Mode::Arithmetic);
            let pieces = Pieces::Many(pieces);
            self.pos = close + 2;
            return Form::Arithmetic(ShellWord { pieces, span: start..self.pos });
        }
        self.subshell()
    }

    /// Where the `))` is that closes arithmetic. `None` if the parentheses close one by one.
    pub(crate) fn arithmetic_end(&self, from: usize) -> Option<usize> {
        let mut open = 0_usize;
        let bytes = self.text.as_bytes().get(..self.end)?;
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return (bytes.get(at + 1) == Some(&b')')).then_some(at),
                b'\\' => at += 1,
                b'\'' | b'\n' | b';' if open > 0 || *byte != b';' => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn test(&mut self) -> Form {
        self.pos += 2;
        let mut words = Vec::new();
        loop {
            self.lines();
            if self.eat_word("]]") {
                return Form::Test(words);
            }
            if self.at_end() || self.is_full() {
                self.fail(Trouble::Syntax);
                return Form::Test(words);
            }
            // Inside of it, operators and parentheses are parts of an expression.
            let before = self.pos;
            let is_pattern = words.last().is_some_and(is_regex_operator);
            words.push(if is_pattern { self.regex_word() } else { self.word() });
            if self.pos == before {
                self.bump();
            }
        }
    }

    fn if_clause(&mut self) -> Form {
        let mut list = List::new();
        self.list(&mut list, &["then"]);
        self.expect_word("then");
        loop {
            self.list(&mut list, &["elif", "else", "fi"]);
            if self.eat_word("elif") {
                self.list(&mut list, &["then"]);
                self.expect_word("then");
            } else if !self.eat_word("else") {
                break;
            }
        }
        self.expect_word("fi");
        Form::Branches(list)
    }

    fn loop_clause(&mut self) -> Form {
        let mut list = List::new();
        self.list(&mut list, &["do"]);
        self.expect_word("do");
        self.list(&mut list, &["done"]);
        self.expect_word("done");
        Form::Branches(list)
    }

    fn for_clause(&mut self) -> Form {
        self.blanks();
        if self.rest().starts_with("((") {
            let Form::Arithmetic(word) = self.double_parens() else {
                self.fail(Trouble::Syntax);
                return Form::Group(List::new());
            };
            let body = self.do_group();
            return Form::For { name: String::new(), words: Some(vec![word]), body };
        }
        let name = self.name();
        self.lines();
        let mut words = None;
        if self.eat_word("in") {
            let mut list = Vec::new();
            self.words_until_line_end(&mut list);
            words = Some(list);
        }
        Form::For { name, words, body: self.do_group() }
    }

    fn do_group(&mut self) -> List {
        self.lines();
        if self.peek() == b';' {
            self.pos += 1;
        }
        self.lines();
        let mut body = List::new();
        if self.eat_word("{") {
            // Bash accepts braces here, too.
            self.list(&mut body, &["}"]);
            self.expect_word("}");
            return body;
        }
        self.expect_word("do");
        self.list(&mut body, &["done"]);
        self.expect_word("done");
        body
    }

    fn words_until_line_end(&mut self, words: &mut Vec<ShellWord>) {
        loop {
            self.blanks();
            if self.at_end() || matches!(self.peek(), b';' | b'\n' | b'&' | b'|' | b')') {
                return;
            }
            let before = self.pos;
            words.push(self.word());
            if self.pos == before {
                self.fail(Trouble::Syntax);
                self.bump();
            }
        }
    }

    fn case_clause(&mut self) -> Form {
        self.blanks();
        let word = self.word();
        self.expect_word("in");
        let mut branches = Vec::new();
        loop {
            self.lines();
            if self.at_end() || self.is_full() || self.at_word("esac") {
                self.expect_word("esac");
                return Form::Case { word, branches };
            }
            self.eat("(");
            let patterns = self.case_patterns();
            let mut list = List::new();
            self.list(&mut list, &["esac"]);
            let before = self.pos;
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            branches.push((patterns, list));
            if self.pos == before && !self.at_word("esac") && !self.at_end() {
                self.fail(Trouble::Syntax);
                self.bump();
            }
        }
    }

    fn case_patterns(&mut self) -> Vec<ShellWord> {
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            patterns.push(self.word());
            self.blanks();
            if self.eat("|") {
                continue;
            }
            if !self.eat(")") {
                self.fail(Trouble::Syntax);
            }
            return patterns;
        }
    }

    fn function_clause(&mut self) -> Form {
        self.blanks();
        let name = self.function_name();
        self.blanks();
        if self.eat("(") {
            self.blanks();
            self.eat(")");
        }
        self.function_body(name)
    }

    /// `name() command`
    fn function_by_parens(&mut self) -> Option<Form> {
        let rest = self.rest().as_bytes();
        let length = rest.iter().position(|byte| !is_function_name(*byte))?;
        let after = rest.get(length..)?;
        let blanks = after.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        let after = after.get(blanks..)?;
        if length == 0 || after.first() != Some(&b'(') {
            return None;
        }
        let inner = after.get(1..)?.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        if after.get(1 + inner) != Some(&b')') {
            return None;
        }
        let name = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length + blanks + 1 + inner + 1;
        Some(self.function_body(name))
    }

    fn function_body(&mut self, name: String) -> Form {
        self.lines();
        if self.at_end() {
            self.fail(Trouble::Syntax);
        }
        Form::Function { name, body: Rc::new(self.command()) }
    }

    fn coproc(&mut self) -> Form {
        self.blanks();
        // `coproc NAME { …; }`
        let start = self.pos;
        let name = self.name();
        self.blanks();
        if name.is_empty() || !(self.at_word("{") || self.peek() == b'(') {
            self.pos = start;
        }
        let commands = vec![self.command()];
        Form::Group(vec![Pipeline { commands, link: Link::Then }])
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        let name = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length;
        name
    }

    fn function_name(&mut self) -> String {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !is_function_name(byte)).unwrap_or(rest.len());
        let name = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length;
        name
    }

    // Simple commands.

    fn simple(&mut self, redirects: &mut Vec<Redirect>) -> Form {
        let mut assigns = Vec::new();
        // `declare -A NAME=(…)`: arrays that the words declare.
        let mut arrays = Vec::new();
        let mut words: Vec<ShellWord> = Vec::new();
        let mut takes_assigns = true;
        loop {
            self.blanks();
            if self.at_end() || self.is_full() {
                break;
            }
            if self.redirect(redirects) {
                continue;
            }
            if takes_assigns && let Some(assign) = self.assign(words.is_empty()) {
                if words.is_empty() {
                    assigns.push(assign);
                } else {
                    arrays.push(assign);
                }
                continue;
            }
            if matches!(self.peek(), b'\n' | b';' | b'&' | b'|' | b')') {
                break;
            }
            if self.peek() == b'(' {
                // `echo a(b)`: bash refuses it.
                self.fail(Trouble::Syntax);
                self.bump();
                continue;
            }
            let before = self.pos;
            words.push(self.word());
            if words.len() == 1 {
                takes_assigns = is_declaration(words.first());
            }
            if self.pos == before {
                break;
            }
        }
        let is_flag = |word: &ShellWord| matches!(word.pieces.first(), Some(Piece::Text(text, _)) if text.starts_with('-'));
        if !arrays.is_empty() && assigns.is_empty() && words.iter().skip(1).all(is_flag) {
            return Form::Simple { assigns: arrays, words: Vec::new() };
        }
        words.extend(arrays.into_iter().map(array_as_word));
        Form::Simple { assigns, words }
    }

    /// An assignment in front of a command; after `declare` only an array has a form of its own.
    fn assign(&mut self, is_first: bool) -> Option<Assign> {
        let start = self.pos;
        let rest = self.rest().as_bytes();
        let length = rest.iter().position(|byte| !is_name(*byte))?;
        if length == 0 || rest.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut at = length;
        let mut adds = false;
        let mut index = 0..0;
        if rest.get(at) == Some(&b'[') {
            let inside = subscripts::length(rest.get(at..)?)?;
            index = start + at + 1..start + at + 1 + inside;
            at += inside + 2;
            adds = true;
        }
        if rest.get(at) == Some(&b'+') {
            adds = true;
            at += 1;
        }
        if rest.get(at) != Some(&b'=') {
            return None;
        }
        let is_array = rest.get(at + 1) == Some(&b'(');
        if !is_first && !is_array {
            return None;
        }
        let name = self.slice(start, start + length).to_owned();
        let element = self.slice(index.start, index.end).to_owned();
        let index = self.subscript(index);
        self.pos = start + at + 1;
        let value = if is_array {
            self.pos += 1;
            AssignValue::Array(self.array())
        } else {
            AssignValue::Word(self.assigned_word())
        };
        Some(Assign { name, element, index, adds, value, span: start..self.pos })
    }

    fn array(&mut self) -> Vec<ShellWord> {
        let mut words = Vec::new();
        loop {
            self.lines();
            if self.eat(")") {
                return words;
            }
            if self.at_end() || self.is_full() {
                self.fail(Trouble::Syntax);
                return words;
            }
            let before = self.pos;
            words.push(self.word());
            if self.pos == before {
                self.fail(Trouble::Syntax);
                self.bump();
            }
        }
    }

    // Redirections.

    fn redirects(&mut self, redirects: &mut Vec<Redirect>) {
        loop {
            self.blanks();
            if !self.redirect(redirects) {
                return;
            }
        }
    }

    fn redirect(&mut self, redirects: &mut Vec<Redirect>) -> bool {
        if !matches!(self.peek(), b'0'..=b'9' | b'{' | b'<' | b'>' | b'&') {
            return false;
        }
        let start = self.pos;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).take(6).count();
        let named = self.descriptor_name();
        self.pos += if digits > 0 { digits } else { named };
        let fd = self.slice(start, start + digits).parse().ok();
        let is_process = matches!(self.peek(), b'<' | b'>') && self.peek_at(1) == b'(';
        let make: fn(ShellWord) -> Target = if is_process && digits == 0 && named == 0 {
            return false;
        } else if self.eat("<<<") {
            Target::HereString
        } else if self.rest().starts_with("<<") {
            self.pos += 2;
            let target = self.heredoc();
            redirects.push(Redirect { fd, target, span: start..self.pos });
            return true;
        } else if self.eat("&>>") || self.eat(">>") {
            Target::Append
        } else if self.eat("<>") {
            Target::ReadWrite
        } else if self.eat(">&") || self.eat("<&") {
            Target::Duplicate
        } else if self.eat("&>") || self.eat(">|") || self.eat(">") {
            Target::Write
        } else if self.eat("<") {
            Target::Read
        } else {
            self.pos = start;
            return false;
        };
        self.blanks();
        let word = self.word();
        if word.pieces.is_empty() && word.span.is_empty() {
            self.fail(Trouble::Syntax);
        }
        redirects.push(Redirect { fd, target: make(word), span: start..self.pos });
        true
    }

    /// The length of `{name}` in front of a redirection.
    fn descriptor_name(&self) -> usize {
        let rest = self.rest().as_bytes();
        if rest.first() != Some(&b'{') {
            return 0;
        }
        let is_part = |byte: &&u8| is_name(**byte) || matches!(byte, b'[' | b']');
        let length = rest.iter().skip(1).take(32).take_while(is_part).count();
        let is_one = rest.get(length + 1) == Some(&b'}')
            && matches!(rest.get(length + 2), Some(b'<' | b'>'))
            && length > 0;
        if is_one { length + 2 } else { 0 }
    }

    fn heredoc(&mut self) -> Target {
        let strips_tabs = self.eat("-");
        self.blanks();
        let start = self.pos;
        let word = self.word();
        let expands = !self.slice(start, self.pos).contains(['\'', '"', '\\']);
        let delimiter = word.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Text(part, _) => text.push_str(part),
                Piece::Glob(_, part) => text.push_str(part),
                Piece::Brace(sign) => text.push(*sign),
                _ => {}
            }
            text
        });
        let index = self.heredocs.len();
        let body = ShellWord { pieces: Pieces::NONE, span: self.pos..self.pos };
        self.heredocs.push(HereDoc { body });
        self.waiting.push(Waiting { index, delimiter, expands, strips_tabs });
        Target::HereDoc(index)
    }

    /// The bodies of the here-documents of the line that has ended.
    fn read_heredocs(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let start = self.pos;
            let mut end = None;
            while !self.at_end() {
                let line_start = self.pos;
                let length = self.rest().find('\n');
                let line = self.slice(line_start, length.map_or(self.end, |l| line_start + l));
                self.pos = length.map_or(self.end, |length| line_start + length + 1);
                let line = line.strip_suffix('\r').unwrap_or(line);
                let bare = if waiting.strips_tabs { line.trim_start_matches('\t') } else { line };
                if bare == waiting.delimiter {
                    end = Some(line_start);
                    break;
                }
            }
            let after = self.pos;
            let body = self.heredoc_body(start, end.unwrap_or(after), &waiting);
            self.pos = after;
            if let Some(heredoc) = self.heredocs.get_mut(waiting.index) {
                heredoc.body = body;
            }
        }
    }

    fn heredoc_body(&mut self, from: usize, to: usize, waiting: &Waiting) -> ShellWord {
        let pieces = if waiting.expands && self.depth < MAX_DEPTH {
            Pieces::Many(self.pieces_between(from, to, super::pieces::Mode::HereDoc))
        } else {
            Pieces::One(Piece::Text(self.part(from, to), Quoting::Quoted))
        };
        ShellWord { pieces, span: from..to }
    }
}

/// An array after `declare` is kept as one word that shows its name.
fn array_as_word(assign: Assign) -> ShellWord {
    let mut pieces = vec![Piece::Text(format!("{}=", assign.name).into(), Quoting::Quoted)];
    pieces.extend(assign.index);
    match assign.value {
        AssignValue::Word(word) => pieces.extend(word.pieces.into_list()),
        AssignValue::Array(words) => {
            for (at, word) in words.into_iter().enumerate() {
                if at > 0 {
                    pieces.push(Piece::Text(Text::Fixed(" "), Quoting::Quoted));
                }
                pieces.extend(word.pieces.into_list());
            }
        }
    }
    ShellWord { pieces: Pieces::Many(pieces), span: assign.span }
}

fn is_declaration(word: Option<&ShellWord>) -> bool {
    let Some([Piece::Text(text, _)]) = word.map(|word| &*word.pieces) else {
        return false;
    };
    matches!(text.as_str(), "declare" | "local" | "export" | "readonly" | "typeset")
}

fn is_regex_operator(word: &ShellWord) -> bool {
    matches!(&*word.pieces, [Piece::Text(text, _)] if text.as_str() == "=~")
}

/// A byte of a variable's name.
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_function_name(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'-' | b'.' | b':' | b'@' | b'+') || byte >= 0x80
}

/// Whether a byte ends a word.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}
