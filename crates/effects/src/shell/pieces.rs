//! Words of shell text: quotes, expansions and patterns.

use std::rc::Rc;

use crate::shell::ansi;
use crate::shell::parse::{Parser, ends_word, is_name};
use crate::shell::subscripts;
use crate::shell::syntax::{
    Letters, List, Op, Parameter, Part, Piece, Pieces, Quoting, ShellWord, Side, Trouble,
};
use crate::text::Text;
use crate::word::Fill;

/// Where pieces are read, which decides what is special.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A word of a command.
    Word,
    /// The value of an assignment: `~` counts after `:` too.
    Assign,
    /// The pattern after `=~`: operators are part of it.
    Regex,
    /// Inside double quotes.
    Quoted,
    /// The body of a here-document: only `$`, backquotes and `\` count.
    HereDoc,
    /// Inside `$((…))`.
    Arithmetic,
    /// The word inside `${name:-word}`, outside of double quotes.
    Braces,
    /// The same inside double quotes.
    QuotedBraces,
}

impl Mode {
    fn quoting(self) -> Quoting {
        match self {
            Self::Word | Self::Assign | Self::Regex | Self::Braces => Quoting::Bare,
            Self::Quoted | Self::HereDoc | Self::Arithmetic | Self::QuotedBraces => Quoting::Quoted,
        }
    }

    fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Assign | Self::Regex)
    }
}

/// Pieces that have been read, and text that is not yet a piece.
struct Collected {
    list: Vec<Piece>,
    text: Text,
    quoting: Quoting,
    /// Braces that are open outside of quotes.
    open: usize,
}

impl Collected {
    fn new(mode: Mode) -> Self {
        Self { list: Vec::new(), text: Text::default(), quoting: mode.quoting(), open: 0 }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.list.push(Piece::Text(std::mem::take(&mut self.text), self.quoting));
        }
    }

    fn push(&mut self, piece: Piece) {
        self.flush();
        self.list.push(piece);
    }

    fn finish(mut self) -> Vec<Piece> {
        self.flush();
        self.list
    }
}

/// A byte that means itself wherever it is.
const PLAIN: u8 = 1;
/// A byte that means itself after the start of a word, as long as no brace is open.
const INNER: u8 = 2;
/// A byte that means itself inside quotes.
const QUOTED: u8 = 4;

/// The classes of each byte. What is in none of them is looked at by itself.
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let mut class = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => PLAIN,
            b'_' | b'-' | b'.' | b'/' | b':' | b'=' | b'%' | b'^' => PLAIN,
            b'~' | b',' => INNER,
            _ => 0,
        };
        if byte != 0 && !matches!(byte, b'\\' | b'$' | b'`' | b'"' | b'}') {
            class |= QUOTED;
        }
        #[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 places")]
        {
            classes[byte as usize] = class;
        }
        byte += 1;
    }
    classes
}

impl Parser<'_> {
    /// The next word. Empty if there is none.
    pub(crate) fn word(&mut self) -> ShellWord {
        self.word_in(Mode::Word)
    }

    /// The value of an assignment.
    pub(crate) fn assigned_word(&mut self) -> ShellWord {
        self.word_in(Mode::Assign)
    }

    /// The pattern after `=~`.
    pub(crate) fn regex_word(&mut self) -> ShellWord {
        self.word_in(Mode::Regex)
    }

    fn word_in(&mut self, mode: Mode) -> ShellWord {
        let start = self.pos;
        let pieces = match self.plain_word(mode) {
            Some(text) => Pieces::One(Piece::Text(text, mode.quoting())),
            None => Pieces::Many(self.pieces(mode, None)),
        };
        ShellWord { pieces, span: start..self.pos }
    }

    /// The pieces of a part of the text. The position stays.
    pub(crate) fn pieces_between(&mut self, from: usize, to: usize, mode: Mode) -> Vec<Piece> {
        let (pos, end) = (self.pos, self.end);
        (self.pos, self.end) = (from, to.min(end));
        let pieces = self.pieces(mode, None);
        (self.pos, self.end) = (pos, end);
        pieces
    }

    /// A whole word without any sign that means something.
    fn plain_word(&mut self, mode: Mode) -> Option<Text> {
        let is_plain = CLASSES.get(usize::from(self.peek())).is_some_and(|it| it & PLAIN != 0);
        if !is_plain || mode == Mode::Regex {
            return None;
        }
        // Behind the start of a word, a few more signs mean nothing.
        let classes = if mode == Mode::Word { PLAIN | INNER } else { PLAIN };
        let length = self.plain_length(classes, &[]);
        if length == 0 {
            return None;
        }
        let start = self.pos;
        self.pos += length;
        if self.at_end() || self.word_ends(mode) {
            return Some(self.part(start, self.pos));
        }
        self.pos = start;
        None
    }

    /// How many of the next bytes are of these classes and no stops.
    fn plain_length(&self, classes: u8, stops: &[u8]) -> usize {
        let rest = self.text.as_bytes().get(self.pos..self.end).unwrap_or_default();
        let classes = classes & self.runs;
        let is_plain = |byte: &u8| {
            CLASSES.get(usize::from(*byte)).is_some_and(|class| class & classes != 0)
                && !stops.contains(byte)
        };
        rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
    }

    /// Reads pieces until the word ends, or until the stop byte, which is not taken.
    fn pieces(&mut self, mode: Mode, stops: Option<&[u8]>) -> Vec<Piece> {
        let mut pieces = Collected::new(mode);
        let classes = match mode.quoting() {
            Quoting::Bare => PLAIN,
            Quoting::Quoted => PLAIN | QUOTED,
        };
        while !self.at_end() {
            let length = self.plain_length(classes, stops.unwrap_or_default());
            if length > 0 {
                pieces.text.push_part(self.whole, self.pos, self.pos + length);
                self.pos += length;
                continue;
            }
            let byte = self.peek();
            if stops.is_some_and(|stops| stops.contains(&byte)) {
                break;
            }
            if mode.is_word() && self.word_ends(mode) {
                break;
            }
            match byte {
                b'\\' => self.escape(&mut pieces, mode),
                b'$' => self.dollar(&mut pieces, mode),
                b'`' => self.backquotes(&mut pieces),
                b'\'' if matches!(mode, Mode::Word | Mode::Assign | Mode::Regex | Mode::Braces) => {
                    self.single_quotes(&mut pieces);
                }
                b'"' if !matches!(mode, Mode::HereDoc | Mode::Quoted) => {
                    self.double_quotes(&mut pieces);
                }
                _ if mode == Mode::Word || mode == Mode::Assign || mode == Mode::Braces => {
                    self.bare(&mut pieces, mode);
                }
                _ => self.literal(&mut pieces),
            }
        }
        pieces.finish()
    }

    fn word_ends(&self, mode: Mode) -> bool {
        let byte = self.peek();
        if !ends_word(byte) {
            return false;
        }
        match byte {
            // A carriage return is part of a word, except at the end of a line.
            b'\r' => self.peek_at(1) == b'\n' || self.pos + 1 >= self.end,
            b'<' | b'>' if self.peek_at(1) == b'(' => mode == Mode::Regex,
            b'(' | b')' | b'|' | b'<' | b'>' | b'&' | b';' => mode != Mode::Regex,
            _ => true,
        }
    }

    fn literal(&mut self, pieces: &mut Collected) {
        let start = self.pos;
        if self.bump().is_some() {
            pieces.text.push_part(self.whole, start, self.pos);
        }
    }

    /// Outside of quotes: patterns, braces, tildes, process substitutions.
    fn bare(&mut self, pieces: &mut Collected, mode: Mode) {
        let is_start = pieces.list.is_empty() && pieces.text.is_empty();
        match self.peek() {
            b'<' | b'>' if mode != Mode::Braces => self.process(pieces),
            b'~' if is_start || (mode == Mode::Assign && pieces.text.ends_with(':')) => {
                self.tilde(pieces);
            }
            b'*' | b'?' | b'@' | b'!' | b'+' if self.peek_at(1) == b'(' && mode == Mode::Word => {
                self.extended_glob(pieces);
            }
            b'*' => self.glob(pieces, Fill::Name, 1),
            b'?' => self.glob(pieces, Fill::Character, 1),
            b'[' => match self.bracket_length() {
                Some(length) => self.glob(pieces, Fill::Character, length),
                None => self.literal(pieces),
            },
            sign @ (b'{' | b',' | b'}') if mode == Mode::Word => {
                self.pos += 1;
                match sign {
                    b'{' => pieces.open += 1,
                    b'}' if pieces.open > 0 => pieces.open -= 1,
                    b',' if pieces.open > 0 => {}
                    _ => return pieces.text.push(char::from(sign)),
                }
                pieces.push(Piece::Brace(char::from(sign)));
            }
            _ => self.literal(pieces),
        }
    }

    fn glob(&mut self, pieces: &mut Collected, fill: Fill, length: usize) {
        let spelled = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length;
        pieces.push(Piece::Glob(fill, spelled));
    }

    /// The length of `[abc]`, if it closes within this word.
    fn bracket_length(&self) -> Option<usize> {
        let rest = self.rest().as_bytes();
        let inside = rest.get(1..)?;
        // A `]` directly after `[`, `[!` or `[^` is part of the set.
        let skip = usize::from(matches!(inside.first(), Some(b'!' | b'^')));
        let after = inside.get(skip + 1..)?;
        let end = after.iter().take(64).position(|byte| {
            *byte == b']' || ends_word(*byte) || matches!(byte, b'$' | b'`' | b'"' | b'\'' | b'\\')
        })?;
        // `http://[::1]:8080` names an address.
        let set = inside.get(..skip + 1 + end)?;
        let is_address = set.iter().filter(|byte| **byte == b':').count() > 1
            && set.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
        (after.get(end) == Some(&b']') && !is_address).then_some(1 + skip + 1 + end + 1)
    }

    /// `@(a|b)`, `!(x)` and zsh's `*(.)`: some names.
    fn extended_glob(&mut self, pieces: &mut Collected) {
        let rest = self.rest();
        let length = rest.find(')').map_or(rest.len(), |at| at + 1);
        self.glob(pieces, Fill::Name, length);
    }

    fn tilde(&mut self, pieces: &mut Collected) {
        let rest = self.rest().as_bytes();
        let after = rest.get(1..).unwrap_or_default();
        let is_user = |byte: &u8| is_name(*byte) || matches!(byte, b'-' | b'.' | b'+');
        let length = after.iter().position(|byte| !is_user(byte)).unwrap_or(after.len());
        let closes = after.get(length).is_none_or(|byte| {
            matches!(byte, b'/' | b':') || ends_word(*byte) || *byte == b'}' || *byte == b','
        });
        if !closes {
            return self.literal(pieces);
        }
        let user = self.slice(self.pos + 1, self.pos + 1 + length).to_owned();
        self.pos += 1 + length;
        pieces.push(Piece::Tilde(user));
    }

    fn process(&mut self, pieces: &mut Collected) {
        let is_sink = self.peek() == b'>';
        self.pos += 2;
        let list = Rc::new(self.nested_list());
        pieces.push(if is_sink { Piece::Sink(list) } else { Piece::Process(list) });
    }

    /// A list up to `)`, which is taken.
    fn nested_list(&mut self) -> List {
        let mut list = List::new();
        self.list(&mut list, &[]);
        while !self.at_end() && self.peek() != b')' {
            self.fail(Trouble::Syntax);
            self.bump();
            self.list(&mut list, &[]);
        }
        if !self.eat(")") {
            self.fail(Trouble::Syntax);
        }
        list
    }

    // Quotes.

    fn escape(&mut self, pieces: &mut Collected, mode: Mode) {
        let next = self.peek_at(1);
        if next == b'\n' {
            self.pos += 2;
            return;
        }
        let keeps = match mode {
            Mode::Quoted | Mode::QuotedBraces => !matches!(next, b'$' | b'`' | b'"' | b'\\' | b'}'),
            Mode::HereDoc => !matches!(next, b'$' | b'`' | b'\\'),
            _ => false,
        };
        self.pos += 1;
        if keeps {
            pieces.text.push('\\');
            return;
        }
        let quoted = self.bump().unwrap_or('\\');
        match mode.quoting() {
            Quoting::Quoted => pieces.text.push(quoted),
            Quoting::Bare => pieces.push(Piece::Text(quoted.to_string().into(), Quoting::Quoted)),
        }
    }

    fn single_quotes(&mut self, pieces: &mut Collected) {
        self.pos += 1;
        let length = self.rest().find('\'').unwrap_or_else(|| {
            self.fail(Trouble::Syntax);
            self.rest().len()
        });
        let text = self.part(self.pos, self.pos + length);
        self.pos = (self.pos + length + 1).min(self.end);
        pieces.push(Piece::Text(text, Quoting::Quoted));
    }

    fn double_quotes(&mut self, pieces: &mut Collected) {
        self.pos += 1;
        let inside = self.pieces(Mode::Quoted, Some(b"\""));
        if !self.eat("\"") {
            self.fail(Trouble::Syntax);
        }
        pieces.flush();
        if inside.is_empty() {
            pieces.push(Piece::Text(Text::default(), Quoting::Quoted));
        }
        pieces.list.extend(inside);
    }

    /// Backquotes: parsed in place, unless escapes inside change the text.
    fn backquotes(&mut self, pieces: &mut Collected) {
        self.pos += 1;
        let start = self.pos;
        let mut has_escape = false;
        while !self.at_end() && self.peek() != b'`' {
            if self.peek() == b'\\' {
                has_escape = true;
                self.pos += 1;
            }
            self.bump();
        }
        let end = self.pos.min(self.end);
        if !self.eat("`") {
            self.fail(Trouble::Syntax);
        }
        let quoting = pieces.quoting;
        if has_escape {
            let text = self
                .slice(start, end)
                .replace("\\`", "`")
                .replace("\\\\", "\\")
                .replace("\\$", "$");
            return pieces.push(Piece::Backquoted(text, quoting));
        }
        let after = self.pos;
        let outer_end = self.end;
        (self.pos, self.end) = (start, end);
        let mut list = List::new();
        self.list(&mut list, &[]);
        if !self.at_end() {
            self.fail(Trouble::Syntax);
        }
        (self.pos, self.end) = (after, outer_end);
        pieces.push(Piece::Command(Rc::new(list), quoting));
    }

    // Expansions.

    fn dollar(&mut self, pieces: &mut Collected, mode: Mode) {
        match self.peek_at(1) {
            b'(' => self.substitution(pieces),
            b'{' => self.braced_parameter(pieces, mode),
            b'\'' if mode.quoting() == Quoting::Bare => {
                self.pos += 2;
                let (text, length) = ansi::decode(self.rest());
                if length > self.rest().len() {
                    self.fail(Trouble::Syntax);
                }
                self.pos = (self.pos + length).min(self.end);
                pieces.push(Piece::Text(text.into(), Quoting::Quoted));
            }
            b'"' if mode.quoting() == Quoting::Bare => {
                self.pos += 1;
                self.double_quotes(pieces);
            }
            byte if is_name(byte)
                || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') =>
            {
                self.pos += 1;
                let name = self.parameter_name();
                let parameter =
                    Parameter { name, index: None, subscript: Vec::new(), op: Op::Value };
                pieces.push(Piece::Parameter(Box::new(parameter), mode.quoting()));
            }
            _ => self.literal(pieces),
        }
    }

    fn substitution(&mut self, pieces: &mut Collected) {
        if self.peek_at(2) == b'('
            && let Some(close) = self.arithmetic_end(self.pos + 3)
        {
            self.depth += 1;
            let inside = if self.depth < 48 {
                self.pieces_between(self.pos + 3, close, Mode::Arithmetic)
            } else {
                self.fail(Trouble::Size);
                Vec::new()
            };
            self.depth -= 1;
            self.pos = close + 2;
            return pieces.push(Piece::Arithmetic(inside));
        }
        self.pos += 2;
        let list = self.nested_list();
        let quoting = pieces.quoting;
        pieces.push(Piece::Command(Rc::new(list), quoting));
    }

    fn parameter_name(&mut self) -> String {
        let rest = self.rest().as_bytes();
        let length = match rest.first() {
            Some(byte) if byte.is_ascii_digit() => 1,
            Some(byte) if is_name(*byte) => {
                rest.iter().position(|byte| !is_name(*byte)).unwrap_or(rest.len())
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            _ => 0,
        };
        let name = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length;
        name
    }

    fn braced_parameter(&mut self, pieces: &mut Collected, mode: Mode) {
        self.pos += 2;
        self.depth += 1;
        let quoting = mode.quoting();
        if self.depth > 48 {
            self.fail(Trouble::Size);
            self.pos = self.end;
        }
        let is_length = self.peek() == b'#'
            && (is_name(self.peek_at(1)) || matches!(self.peek_at(1), b'@' | b'*'));
        let is_indirect = self.peek() == b'!' && is_name(self.peek_at(1));
        self.pos += usize::from(is_length || is_indirect);
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).take(9).count();
        let name = if digits > 0 {
            self.pos += digits;
            self.slice(self.pos - digits, self.pos).to_owned()
        } else {
            self.parameter_name()
        };
        let (index, subscript) = self.index();
        let mut op = self.operation(quoting);
        if is_length {
            op = Op::Length;
        } else if is_indirect {
            op = Op::Indirect;
        }
        if !self.eat("}") {
            self.fail(Trouble::Syntax);
        }
        self.depth -= 1;
        let parameter = Parameter { name, index, subscript, op };
        pieces.push(Piece::Parameter(Box::new(parameter), quoting));
    }

    /// `[…]` as written, and its pieces if it has to be expanded.
    fn index(&mut self) -> (Option<String>, Vec<Piece>) {
        let length = match self.peek() {
            b'[' => subscripts::length(self.rest().as_bytes()),
            _ => None,
        };
        let Some(length) = length else { return (None, Vec::new()) };
        let start = self.pos + 1;
        let index = self.slice(start, start + length).to_owned();
        let pieces = self.subscript(start..start + length);
        self.pos = start + length + 1;
        (Some(index), pieces)
    }

    fn operation(&mut self, quoting: Quoting) -> Op {
        let mode = if quoting == Quoting::Quoted { Mode::QuotedBraces } else { Mode::Braces };
        let has_colon = self.peek() == b':' && matches!(self.peek_at(1), b'-' | b'=' | b'+' | b'?');
        self.pos += usize::from(has_colon);
        let (first, second) = (self.peek(), self.peek_at(1));
        let doubled = first == second;
        match first {
            b'}' => Op::Value,
            b'-' | b'=' => {
                self.pos += 1;
                Op::Default { word: self.pieces(mode, Some(b"}")), assigns: first == b'=' }
            }
            b'+' => {
                self.pos += 1;
                Op::Alternative(self.pieces(mode, Some(b"}")))
            }
            b'?' => {
                self.pos += 1;
                Op::Required(self.pieces(mode, Some(b"}")))
            }
            b':' => {
                let start = self.pos + 1;
                let pieces = self.pieces(mode, Some(b"}"));
                let is_plain = pieces.iter().all(|piece| matches!(piece, Piece::Text(..)));
                if is_plain {
                    Op::Slice(self.slice(start, self.pos).to_owned())
                } else {
                    Op::Other(pieces)
                }
            }
            b'#' | b'%' => {
                self.pos += 1 + usize::from(doubled);
                let from = if first == b'#' { Side::Start } else { Side::End };
                Op::Trim { from, longest: doubled, pattern: self.pieces(mode, Some(b"}")) }
            }
            b'/' => {
                self.pos += 1 + usize::from(doubled);
                let pattern = self.pieces(mode, Some(b"/}"));
                let with = if self.eat("/") { self.pieces(mode, Some(b"}")) } else { Vec::new() };
                Op::Replace { all: doubled, pattern, with }
            }
            b'^' | b',' if second == b'}' || (doubled && self.peek_at(2) == b'}') => {
                self.pos += 1 + usize::from(doubled);
                let letters = if first == b'^' { Letters::Upper } else { Letters::Lower };
                Op::Case { letters, part: if doubled { Part::All } else { Part::First } }
            }
            _ => Op::Other(self.pieces(mode, Some(b"}"))),
        }
    }
}
