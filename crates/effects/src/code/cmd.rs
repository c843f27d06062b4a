//! `cmd /c TEXT`: enough of its grammar to find the commands in a text. They are analysed as those of a
//! Unix shell that do the same.
//!
//! Commands are split at `&`, `|`, line ends and parentheses outside of quotes; `^` takes its meaning
//! from a character. `if` and `for` only say when a command runs.

use std::rc::Rc;

use crate::bound::Bound;
use crate::effect::{Access, Change, Why};
use crate::shell::eval::{Input, Shell};
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::word::{Fill, Word};

/// Commands of one text that are analysed.
const MAX_COMMANDS: usize = 128;

/// Values of one `for` that are followed.
const MAX_VALUES: usize = 8;

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let (commands, values) = Splitter::new(text, 0).commands();
    run_all(shell, commands, field);
    // Once more for every other value of a `for`.
    for value in 1..values.min(MAX_VALUES) {
        let (commands, _) = Splitter::new(text, value).commands();
        run_all(shell, commands, field);
    }
}

fn run_all(shell: &mut Shell<'_, '_>, commands: Vec<Command>, field: &Field) {
    let mut input: Input = None;
    for (number, command) in commands.into_iter().enumerate() {
        if number >= MAX_COMMANDS {
            return shell.opaque(Why::Size, Bound::ALL, field.span.clone());
        }
        let is_piped = command.is_piped;
        let output = run(shell, command, input.take(), field);
        input = is_piped.then(|| Rc::new(output));
    }
}

/// A command, up to what separates it from the next.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Word>,
    redirects: Vec<(Redirect, Word)>,
    /// Whether its output is the input of the next one.
    is_piped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirect {
    Read,
    Write,
    Append,
}

fn run(shell: &mut Shell<'_, '_>, command: Command, input: Input, field: &Field) -> Output {
    let at = |word: Word| Field::new(word, field.span.clone());
    for (redirect, target) in command.redirects {
        let target = at(target);
        match redirect {
            Redirect::Read => shell.read_file(&target, Access::Content),
            Redirect::Write => shell.write_file(&target, Change::Content),
            Redirect::Append => shell.write_file(&target, Change::Append),
        }
    }
    let words = without_prefix(command.words);
    let Some(first) = words.first() else { return Output::Nothing };
    let name = first.text().map(|name| name.trim_start_matches('@').to_ascii_lowercase());
    let Some(name) = name else {
        return shell.run(&words.into_iter().map(at).collect::<Vec<_>>(), input);
    };
    let operands: Vec<Word> = words.into_iter().skip(1).collect();
    let plain = match name.as_str() {
        "echo" | "echo." => return Output::Text(spoken(operands)),
        "set" if !operands.is_empty() => {
            sets(shell, &operands, field);
            return Output::Nothing;
        }
        "rem" | "exit" | "cls" | "title" | "ver" | "goto" | "setlocal" | "endlocal" | "shift" => {
            return Output::Nothing;
        }
        "set" => "printenv",
        "del" | "erase" | "rd" | "rmdir" => "rm",
        "type" | "more" => "cat",
        "copy" | "xcopy" => "cp",
        "move" | "ren" | "rename" => "mv",
        "cd" | "chdir" | "pushd" => "cd",
        "md" | "mkdir" => "mkdir",
        "dir" => "ls",
        other => other,
    };
    let is_own = matches!(plain, "rm" | "cat" | "cp" | "mv" | "cd" | "mkdir" | "ls");
    let is_switch = |word: &Word| word.known_start().starts_with('/');
    let is_tree = operands.iter().filter_map(Word::text).any(|it| it.eq_ignore_ascii_case("/s"));
    let mut line = vec![at(Word::known(plain))];
    if plain == "rm" && is_tree {
        line.push(at(Word::known("-r")));
    }
    line.extend(operands.into_iter().filter(|word| !is_own || !is_switch(word)).map(at));
    shell.run(&line, input)
}

/// What `echo` prints.
fn spoken(operands: Vec<Word>) -> Word {
    let mut text = Word::default();
    for (number, word) in operands.into_iter().enumerate() {
        if number > 0 {
            text.push(' ');
        }
        text.push_word(&word);
    }
    text
}

/// `set NAME=value`; `set /p` asks, and `set /a` computes.
fn sets(shell: &mut Shell<'_, '_>, operands: &[Word], field: &Field) {
    let text = spoken(operands.to_vec());
    let start = text.known_start();
    if let Some(end) = start.find('=').filter(|_| !start.starts_with('/')) {
        let (name, value) = (start.get(..end).unwrap_or_default().to_owned(), text.from(end + 1));
        shell.environment(name.trim(), value, field.span.clone());
    }
}

/// The command without the words that only say when or how it runs.
fn without_prefix(mut words: Vec<Word>) -> Vec<Word> {
    let mut start = 0;
    while let Some(rest) = words.get(start..) {
        let Some(first) = rest.first().and_then(Word::text) else { break };
        let behind = rest.get(1..).unwrap_or_default();
        let skipped = match first.trim_start_matches('@').to_ascii_lowercase().as_str() {
            "else" | "call" | "do" => 1,
            "if" => 1 + condition(behind),
            "for" => match rest.iter().position(|it| is(it, "do")) {
                Some(at) => at + 1,
                None => return Vec::new(),
            },
            "start" => 1 + start_options(behind),
            _ => break,
        };
        start += skipped;
    }
    words.drain(..start.min(words.len()));
    words
}

fn is(word: &Word, text: &str) -> bool {
    word.text().is_some_and(|word| word.eq_ignore_ascii_case(text))
}

/// The number of words of the condition of an `if`.
fn condition(words: &[Word]) -> usize {
    let is_option = |word: &&Word| is(word, "/i") || is(word, "not");
    let options = words.iter().take_while(is_option).count();
    let rest = words.get(options..).unwrap_or_default();
    let Some(first) = rest.first() else { return options };
    let operator = rest.get(1).and_then(Word::text).unwrap_or_default().to_ascii_lowercase();
    let compares = |word: &Word| word.known_part().contains("==");
    options
        + match () {
            () if ["exist", "defined", "errorlevel"].iter().any(|it| is(first, it)) => 2,
            () if compares(first) && !first.known_part().ends_with("==") => 1,
            () if compares(first) => 2,
            () if operator == "==" => 3,
            () if operator.starts_with("==") => 2,
            () if matches!(operator.as_str(), "equ" | "neq" | "lss" | "leq" | "gtr" | "geq") => 3,
            () => 1,
        }
}

/// The number of words of the options of `start`. A title is in quotes, and so may be a program.
fn start_options(words: &[Word]) -> usize {
    let is_option = |word: &&Word| {
        word.known_start().starts_with('/') || word.text().is_some_and(str::is_empty)
    };
    words.iter().take_while(is_option).count()
}

/// Splits a text into commands.
struct Splitter<'t> {
    rest: &'t str,
    commands: Vec<Command>,
    current: Command,
    word: Option<Word>,
    /// The redirection whose target comes next.
    redirect: Option<Redirect>,
    /// The value that the variable of a `for` has now.
    each: Option<Word>,
    /// Which value that is.
    chosen: usize,
    /// How many values the longest list has.
    values: usize,
}

impl<'t> Splitter<'t> {
    fn new(text: &'t str, chosen: usize) -> Self {
        let (commands, current) = (Vec::new(), Command::default());
        Self {
            rest: text,
            commands,
            current,
            word: None,
            redirect: None,
            each: None,
            chosen,
            values: 0,
        }
    }

    fn commands(mut self) -> (Vec<Command>, usize) {
        while let Some(next) = self.rest.chars().next() {
            self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
            self.character(next);
            if self.commands.len() > MAX_COMMANDS {
                break;
            }
        }
        self.end_command(false);
        (self.commands, self.values)
    }

    fn character(&mut self, next: char) {
        match next {
            '"' => self.quoted(),
            '^' => {
                if let Some(escaped) = self.take() {
                    self.word.get_or_insert_default().push(escaped);
                }
            }
            '%' | '!' => self.variable(next),
            ' ' | '\t' | '\r' | ',' | ';' => self.end_word(),
            '\n' | '&' => self.end_command(false),
            '|' if self.rest.starts_with('|') => {
                self.take();
                self.end_command(false);
            }
            '|' => self.end_command(true),
            '(' if self.is_for() => self.skip_list(),
            '(' if self.word.is_none() => self.end_command(false),
            ')' => self.end_command(false),
            '>' | '<' => self.redirection(next),
            '*' => self.word.get_or_insert_default().push_gap(Fill::Name),
            '\\' => self.word.get_or_insert_default().push('/'),
            other => self.word.get_or_insert_default().push(other),
        }
    }

    fn take(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        Some(next)
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(next) = self.take() {
            match next {
                '"' => return,
                '%' | '!' => self.variable(next),
                '\\' => self.word.get_or_insert_default().push('/'),
                other => self.word.get_or_insert_default().push(other),
            }
        }
    }

    /// `%NAME%`, `!NAME!`, and the `%f` of a `for`.
    fn variable(&mut self, sign: char) {
        let length = |text: &str| {
            text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '~' | ':'))
        };
        let end = length(self.rest).filter(|end| *end > 0);
        let name = end.and_then(|end| self.rest.get(..end));
        let closes =
            end.is_some_and(|end| self.rest.get(end..).unwrap_or_default().starts_with(sign));
        let word = self.word.get_or_insert_default();
        match (name, end) {
            (Some(name), Some(end)) if closes => {
                match name.to_ascii_lowercase().as_str() {
                    "userprofile" | "homepath" | "home" => word.push('~'),
                    "appdata" => word.push_str("~/AppData/Roaming"),
                    "localappdata" => word.push_str("~/AppData/Local"),
                    "programdata" => word.push_str("C:/ProgramData"),
                    "windir" | "systemroot" => word.push_str("C:/Windows"),
                    "systemdrive" => word.push_str("C:"),
                    "public" => word.push_str("C:/Users/Public"),
                    "comspec" => word.push_str("cmd"),
                    "temp" | "tmp" => word.push_str("/tmp"),
                    "cd" => word.push('.'),
                    _ => word.push_gap(Fill::Anything),
                }
                self.rest = self.rest.get(end + 1..).unwrap_or_default();
            }
            _ if sign == '!' => word.push('!'),
            _ => {
                // `%f`, `%%f`, `%~dp0`, `%1`
                match &self.each {
                    Some(each) => word.push_word(each),
                    None => word.push_gap(Fill::Anything),
                }
                let rest = self.rest.trim_start_matches(['%', '~']);
                let letters = rest.chars().next().map_or(0, char::len_utf8);
                self.rest = rest.get(letters..).unwrap_or_default();
            }
        }
    }

    fn redirection(&mut self, sign: char) {
        // `2>` belongs to the sign.
        if self.word.as_ref().and_then(Word::text).is_some_and(|it| matches!(it, "0" | "1" | "2")) {
            self.word = None;
        }
        self.end_word();
        let is_append = sign == '>' && self.rest.starts_with('>');
        if is_append {
            self.take();
        }
        // `2>&1` goes where the other one goes.
        if self.rest.starts_with('&') {
            self.rest = self.rest.get(2..).unwrap_or_default();
            return;
        }
        self.redirect = Some(match (sign, is_append) {
            ('<', _) => Redirect::Read,
            (_, true) => Redirect::Append,
            (_, false) => Redirect::Write,
        });
    }

    /// Whether the parenthesis that comes is the list of a `for`.
    fn is_for(&self) -> bool {
        let words = &self.current.words;
        let last = self.word.as_ref().or(words.last());
        words.first().is_some_and(|it| is(it, "for") || is(it, "@for"))
            && last.is_some_and(|it| is(it, "in"))
    }

    /// The list of a `for`: names, or a command in quotes whose output it is.
    fn skip_list(&mut self) {
        self.end_word();
        let end = self.rest.find(')').unwrap_or(self.rest.len());
        let list = self.rest.get(..end).unwrap_or_default().trim();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        let is_command = self.current.words.iter().any(|it| is(it, "/f"));
        let mut values = list.split([' ', ',', ';', '\t']).filter(|value| !value.is_empty());
        let count = values.clone().take(MAX_VALUES + 1).count();
        let is_followed = !is_command && !list.contains('%') && (1..=MAX_VALUES).contains(&count);
        self.each = values
            .nth(self.chosen.min(count.saturating_sub(1)))
            .filter(|_| is_followed)
            .map(|value| crate::shell::glob_word(&value.trim_matches('"').replace('\\', "/")));
        if is_followed {
            self.values = self.values.max(count);
        }
        let inside = list.strip_prefix(['\'', '`']).filter(|_| is_command);
        if let Some(inside) = inside {
            let inside = inside.strip_suffix(['\'', '`']).unwrap_or(inside);
            self.commands.extend(Splitter::new(inside, 0).commands().0);
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirect.take() {
            Some(_) if is(&word, "nul") || is(&word, "con") => {}
            Some(redirect) => self.current.redirects.push((redirect, word)),
            None => self.current.words.push(word),
        }
    }

    fn end_command(&mut self, is_piped: bool) {
        self.end_word();
        self.redirect = None;
        let command = std::mem::take(&mut self.current);
        if !command.words.is_empty() || !command.redirects.is_empty() {
            self.commands.push(Command { is_piped, ..command });
        }
    }
}
