//! Words of the syntax tree to the words a program receives.

use std::rc::Rc;

use crate::marks::Mark;
use crate::shell::eval::Shell;
use crate::shell::output::Output;
use crate::shell::syntax::{
    Letters, List, Op, Parameter, Part, Piece, Quoting, ShellWord, Side, Span,
};
use crate::text::Text;
use crate::word::{Fill, Word};

/// A word that a program receives.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) word: Word,
    /// Where it is in the text of the argument.
    pub(crate) span: Span,
    /// What a process substitution delivers under this name.
    pub(crate) stream: Option<Rc<Output>>,
    /// The commands that read what is written under this name.
    pub(crate) sink: Option<Rc<List>>,
}

impl Field {
    pub(crate) fn new(word: Word, span: Span) -> Self {
        Self { word, span, stream: None, sink: None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.word.text()
    }

    /// The part from that byte of the known text on.
    pub(crate) fn from(&self, at: usize) -> Self {
        Self { word: self.word.from(at), span: self.span.clone(), stream: None, sink: None }
    }
}

/// More words than this from braces are not made: the rest is unknown.
const MAX_BRACES: usize = 64;

/// Words of more pieces keep their braces: nobody writes them, and expanding takes long.
const MAX_PIECES: usize = 200;

/// Collects the fields of one word.
struct Splitter {
    fields: Vec<Word>,
    current: Option<Word>,
    stream: Option<Rc<Output>>,
    sink: Option<Rc<List>>,
}

impl Splitter {
    fn current(&mut self) -> &mut Word {
        self.current.get_or_insert_default()
    }

    fn cut(&mut self) {
        self.fields.extend(self.current.take());
    }

    /// Adds an unquoted value: blanks split it.
    fn push_split(&mut self, value: &Word, separators: &str) {
        let Some(text) = value.text() else {
            return self.current().push_word(value);
        };
        for character in text.chars() {
            if separators.contains(character) {
                self.cut();
            } else if let Some(fill) = glob_fill(character) {
                self.current().push_gap(fill);
            } else {
                self.current().push(character);
            }
        }
    }
}

/// A `*` or `?` in an unquoted value is a pattern, too.
fn glob_fill(character: char) -> Option<Fill> {
    match character {
        '*' => Some(Fill::Name),
        '?' => Some(Fill::Character),
        _ => None,
    }
}

impl Shell<'_, '_> {
    /// All fields that a word becomes.
    pub(crate) fn fields(&mut self, word: &ShellWord, into: &mut Vec<Field>) {
        let span = self.place(&word.span);
        if let [Piece::Text(text, _)] = &*word.pieces {
            return into.push(Field::new(Word::of(text.clone()), span));
        }
        let has_braces = word.pieces.iter().any(|piece| matches!(piece, Piece::Brace(_)));
        if !has_braces || word.pieces.len() > MAX_PIECES {
            return self.split(&word.pieces, &span, into);
        }
        for pieces in super::braces::expand(&word.pieces, MAX_BRACES) {
            self.split(&pieces, &span, into);
        }
    }

    fn split(&mut self, pieces: &[Piece], span: &Span, into: &mut Vec<Field>) {
        let mut splitter = Splitter { fields: Vec::new(), current: None, stream: None, sink: None };
        for piece in pieces {
            self.piece(piece, &mut splitter);
        }
        splitter.cut();
        let (stream, sink) = (splitter.stream, splitter.sink);
        into.extend(splitter.fields.into_iter().map(|word| Field {
            word: word.shared(),
            span: span.clone(),
            stream: stream.clone(),
            sink: sink.clone(),
        }));
    }

    /// One word, without splitting: the value of an assignment, a here-document.
    pub(crate) fn joined(&mut self, pieces: &[Piece]) -> Word {
        let mut splitter = Splitter { fields: Vec::new(), current: None, stream: None, sink: None };
        for piece in pieces {
            match piece {
                Piece::Parameter(parameter, _) => {
                    let value = self.parameter(parameter);
                    splitter.current().push_word(&value);
                }
                Piece::Command(list, _) => {
                    let value = self.substituted(list);
                    splitter.current().push_word(&value);
                }
                Piece::Backquoted(text, _) => {
                    let value = self.substituted_text(text);
                    splitter.current().push_word(&value);
                }
                Piece::Brace(sign) => splitter.current().push(*sign),
                other => self.piece(other, &mut splitter),
            }
        }
        splitter.current.unwrap_or_default()
    }

    fn piece(&mut self, piece: &Piece, splitter: &mut Splitter) {
        match piece {
            Piece::Text(text, _) => splitter.current().push_text(text),
            Piece::Brace(sign) => splitter.current().push(*sign),
            Piece::Glob(fill, _) => splitter.current().push_gap(*fill),
            Piece::Tilde(user) => {
                let home = self.tilde(user);
                splitter.current().push_word(&home);
            }
            Piece::Parameter(parameter, quoting) => {
                self.parameter_piece(parameter, *quoting, splitter)
            }
            Piece::Command(list, quoting) => {
                let value = self.substituted(list);
                self.push_value(&value, *quoting, splitter);
            }
            Piece::Backquoted(text, quoting) => {
                let value = self.substituted_text(text);
                self.push_value(&value, *quoting, splitter);
            }
            Piece::Arithmetic(pieces) => {
                let (text, is_fetched) = self.traced(|shell| shell.joined(pieces));
                let span = self.place(&(0..0));
                self.evaluate(&text, is_fetched, &span);
                let value = super::arithmetic::value(&text, |name| self.number(name));
                splitter.current().push_word(&value);
            }
            Piece::Process(list) => {
                let output = self.nested(list);
                splitter.stream = Some(Rc::new(output));
                splitter.current().push_text(&Text::Fixed("/dev/fd/63"));
            }
            Piece::Sink(list) => {
                self.nested(list);
                splitter.stream = Some(Rc::new(Output::Unknown));
                splitter.sink = Some(Rc::clone(list));
                splitter.current().push_text(&Text::Fixed("/dev/fd/63"));
            }
        }
    }

    fn push_value(&mut self, value: &Word, quoting: Quoting, splitter: &mut Splitter) {
        match quoting {
            Quoting::Quoted => splitter.current().push_word(value),
            Quoting::Bare => {
                let separators = self.separators();
                splitter.push_split(value, &separators);
            }
        }
    }

    /// `$@` and arrays are several words; anything else is one value.
    fn parameter_piece(
        &mut self,
        parameter: &Parameter,
        quoting: Quoting,
        splitter: &mut Splitter,
    ) {
        let is_list = matches!(parameter.name.as_str(), "@" | "*")
            || matches!(parameter.index.as_deref(), Some("@" | "*"));
        let slice = match &parameter.op {
            Op::Value => Some(""),
            Op::Slice(slice) => Some(slice.as_str()),
            _ => None,
        };
        let Some(slice) = slice.filter(|_| is_list) else {
            let value = self.parameter(parameter);
            return self.push_value(&value, quoting, splitter);
        };
        let is_positional = matches!(parameter.name.as_str(), "@" | "*");
        let list = elements(self.list_of(&parameter.name), slice, is_positional);
        for (at, value) in list.iter().enumerate() {
            if at > 0 {
                splitter.cut();
            }
            self.push_value(value, quoting, splitter);
        }
    }

    /// A variable that the text has filled with a secret, or that only the environment has.
    fn uses_variable(&mut self, name: &str, is_set: bool) {
        if self.secret_variables.contains(name)
            && let Some(secrets) = &mut self.secrets
        {
            secrets.push(name.to_owned());
        } else if !is_set {
            self.reads_variable(name);
        }
    }

    /// A variable whose name says that it is a secret comes from the environment.
    fn reads_variable(&mut self, name: &str) {
        let is_secret = names_secret(name);
        match &mut self.secrets {
            _ if !is_secret => {}
            Some(secrets) => secrets.push(name.to_owned()),
            None => self.reads_environ(),
        }
    }

    fn reads_environ(&mut self) {
        let span = self.place(&(0..0));
        let field = Field::new(Word::known("/proc/self/environ"), span);
        self.read_file(&field, crate::effect::Access::Content);
    }

    /// Reports the secrets that a command has used, unless each went to its own service only.
    pub(crate) fn show_secrets(&mut self, secrets: &[String], before: usize) {
        let connections = self.out.since(before).iter().filter_map(|effect| match &effect.action {
            crate::effect::Action::Connects(connection) => Some(connection.host.text()),
            _ => None,
        });
        let hosts: Option<Vec<&str>> = connections.collect();
        let stays = |secret: &String| {
            hosts.as_ref().is_some_and(|hosts| {
                !hosts.is_empty() && hosts.iter().all(|host| crate::host::is_own(secret, host))
            })
        };
        if secrets.iter().all(stays) {
            return;
        }
        let is_print = |effect: &crate::effect::Effect| {
            matches!(&effect.action, crate::effect::Action::Runs(run)
                if matches!(run.program.text(), Some("echo" | "printf")))
        };
        let print = self.out.since(before).iter().position(is_print).map(|at| before + at);
        match (print, &mut self.piped_secrets) {
            (Some(run), Some(piped)) => piped.push(run),
            (Some(run), None) => self.mark(run, Mark::Credentials),
            (None, _) => {}
        }
        self.reads_environ();
    }

    /// `curl -H "Authorization: Bearer $(gh auth token)" https://api.github.com`: what the program
    /// prints goes to its own service only.
    fn own_credentials(&self, before: usize) -> Vec<usize> {
        let effects = self.out.since(before);
        let hosts: Option<Vec<&str>> = effects
            .iter()
            .filter_map(|effect| match &effect.action {
                crate::effect::Action::Connects(connection) => Some(connection.host.text()),
                _ => None,
            })
            .collect();
        let Some(hosts) = hosts.filter(|hosts| !hosts.is_empty()) else { return Vec::new() };
        let is_own = |program: &str| {
            matches!(program, "gh" | "gcloud" | "az" | "glab")
                && hosts.iter().all(|host| crate::host::is_own(program, host))
        };
        let runs = effects.iter().enumerate();
        runs.filter(|(_, effect)| match &effect.action {
            crate::effect::Action::Runs(run) => run.program.text().is_some_and(is_own),
            _ => false,
        })
        .map(|(at, _)| before + at)
        .collect()
    }

    pub(crate) fn keeps_to_its_service(&mut self, before: usize) {
        for run in self.own_credentials(before) {
            if let Some(run) = self.out.run_mut(run) {
                run.marks.remove_all(&[Mark::Credentials]);
            }
        }
    }

    /// What prints a secret into a pipe shows it if the last program passes its input on. Others
    /// need it (`docker login --password-stdin`), or count it.
    pub(crate) fn prints_secrets(&mut self, printed: &[usize], before: usize) {
        self.searches_environment(before);
        self.searches_settings(before);
        self.takes_credentials(before);
        let last = self.out.since(before).iter().rev().find_map(|effect| match &effect.action {
            crate::effect::Action::Runs(run) => run.program.text(),
            _ => None,
        });
        let passes_all = last.is_some_and(|name| {
            matches!(
                name,
                "cat"
                    | "tee"
                    | "head"
                    | "tail"
                    | "od"
                    | "hexdump"
                    | "less"
                    | "nl"
                    | "sort"
                    | "uniq"
                    | "more"
                    | "bat"
                    | "batcat"
                    | "base64"
                    | "base32"
                    | "xxd"
                    | "rev"
                    | "tac"
                    | "column"
                    | "fold"
                    | "env"
                    | "printenv"
            )
        });
        let passes_on = passes_all || last.is_some_and(crate::shell::decode::is_decoder);
        let is_environment = |shell: &mut Self, run: usize| {
            let run = shell.out.run_mut(run);
            run.is_some_and(|run| matches!(run.program.text(), Some("env" | "printenv")))
        };
        for run in printed.iter().filter(|_| passes_on) {
            // A part of the environment that is searched for is no secret by itself.
            if passes_all || !is_environment(self, *run) {
                self.mark(*run, Mark::Credentials);
            }
        }
    }

    /// `env | grep -i token`
    fn searches_environment(&mut self, before: usize) {
        let runs = || {
            self.out.since(before).iter().enumerate().filter_map(|(at, effect)| {
                match &effect.action {
                    crate::effect::Action::Runs(run) => Some((before + at, run)),
                    _ => None,
                }
            })
        };
        let is_environment = |run: &crate::effect::Run| {
            matches!(run.program.text(), Some("env" | "printenv" | "set" | "export" | "declare"))
                && run.words.iter().skip(1).all(|word| word.known_start().starts_with('-'))
        };
        let Some((at, _)) = runs().find(|(_, run)| is_environment(run)) else { return };
        let is_filter = |run: &crate::effect::Run| {
            matches!(
                run.program.text(),
                Some("grep" | "egrep" | "rg" | "ag" | "awk" | "wc" | "cut" | "fzf" | "jq")
            )
        };
        let looks_for_secret = runs().any(|(_, run)| {
            is_filter(run)
                && run.words.iter().skip(1).any(|word| {
                    let lower = word.known_part().to_ascii_lowercase();
                    lower.trim_matches(['^', '_', '=']) == "pass"
                        || ["token", "secret", "passw", "key", "cred", "auth"]
                            .iter()
                            .any(|part| lower.contains(part))
                })
        });
        if looks_for_secret {
            self.mark(at, Mark::Credentials);
        }
    }

    fn tilde(&self, user: &str) -> Word {
        match user {
            "" => Word::known(self.home()).shared(),
            "+" => self.folder.clone(),
            "-" => Word::unknown(),
            "root" => Word::known("/root"),
            user => Word::known(format!("~{user}")),
        }
    }

    /// The value of a parameter expansion.
    pub(crate) fn parameter(&mut self, parameter: &Parameter) -> Word {
        self.evaluate_subscript(parameter);
        let (value, is_fetched) =
            self.traced(|shell| shell.lookup(&parameter.name, parameter.index.as_deref()));
        self.evaluate_operation(parameter, value.as_ref(), is_fetched);
        // Whether it is set, and how long it is, does not show it.
        if !matches!(parameter.op, Op::Alternative(_) | Op::Length | Op::Indirect) {
            self.uses_variable(&parameter.name, value.is_some());
        }
        match &parameter.op {
            Op::Value => value.unwrap_or_else(|| self.unset(&parameter.name)),
            Op::Default { word, assigns } => {
                let default = self.joined(word);
                match value {
                    Some(value) if value.text() != Some("") => value,
                    _ => {
                        if *assigns {
                            self.assign(&parameter.name, default.clone());
                        }
                        default
                    }
                }
            }
            Op::Alternative(word) => {
                let alternative = self.joined(word);
                if value.is_some() { alternative } else { maybe(alternative) }
            }
            Op::Slice(slice) => {
                let value = value.or_else(|| known_start_of(&parameter.name));
                value.and_then(|value| sliced(&value, slice)).unwrap_or_else(Word::unknown)
            }
            Op::Trim { from, longest, pattern } => {
                let pattern = self.joined(pattern);
                value
                    .and_then(|value| trimmed(&value, *from, *longest, &pattern))
                    .unwrap_or_else(Word::unknown)
            }
            Op::Replace { all, pattern, with } => {
                let (pattern, with) = (self.joined(pattern), self.joined(with));
                value
                    .and_then(|value| replaced(&value, &pattern, &with, *all))
                    .unwrap_or_else(Word::unknown)
            }
            Op::Case { letters, part } => {
                value.and_then(|value| cased(&value, *letters, *part)).unwrap_or_else(Word::unknown)
            }
            Op::Length => match value.as_ref().and_then(Word::text) {
                Some(text) => Word::known(text.chars().count().to_string()),
                None => Word::unknown(),
            },
            Op::Indirect => {
                let name = value.as_ref().and_then(Word::text).map(str::to_owned);
                let Some(name) = name else { return Word::unknown() };
                let value = self.lookup(&name, None);
                self.uses_variable(&name, value.is_some());
                value.unwrap_or_else(Word::unknown)
            }
            Op::Required(pieces) => {
                self.joined(pieces);
                value.filter(|value| !value.is_unknown()).unwrap_or_else(|| {
                    // It is not empty, so what follows is not in the root or the folder at hand.
                    let mut name = Word::known("_");
                    name.push_gap(Fill::Name);
                    name
                })
            }
            Op::Other(pieces) => {
                self.joined(pieces);
                Word::unknown()
            }
        }
    }
}

/// `${list[@]:1:2}`. The first of `$@` has the number one.
fn elements(list: Vec<Word>, slice: &str, is_positional: bool) -> Vec<Word> {
    let mut numbers = slice.splitn(2, ':').map(|number| number.trim().parse::<usize>().ok());
    let Some(offset) = numbers.next().flatten() else { return list };
    let skipped = offset.saturating_sub(usize::from(is_positional));
    let count = numbers.next().flatten().unwrap_or(usize::MAX);
    list.into_iter().skip(skipped).take(count).collect()
}

/// Whether the name of a variable says that it holds a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
        || name == "PASS"
        || ["_PASS", "_PWD", "_APIKEY", "_ENCRYPTION_KEY", "_SIGNING_KEY", "_MASTER_KEY"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// The value, or nothing: a gap says so.
fn maybe(value: Word) -> Word {
    if value.text() == Some("") { value } else { Word::unknown() }
}

/// What is known about a variable of the environment that holds absolute paths.
fn known_start_of(name: &str) -> Option<Word> {
    let is_path =
        matches!(name, "PATH" | "SHELL" | "BASH" | "OLDPWD" | "TMPDIR" | "XDG_RUNTIME_DIR");
    is_path.then(|| {
        let mut word = Word::known("/");
        word.push_gap(Fill::Anything);
        word
    })
}

fn sliced(value: &Word, slice: &str) -> Option<Word> {
    if value.misses_value() {
        // The part in front of the first gap.
        let (offset, length) = slice.split_once(':')?;
        let start = offset.trim().parse::<usize>().ok()?;
        let end = start.checked_add(length.trim().parse::<usize>().ok()?)?;
        return value.known_start().get(start..end).map(Word::known);
    }
    let text = value.text()?;
    let mut numbers = slice.splitn(2, ':').map(|number| number.trim().parse::<i64>().ok());
    let offset = numbers.next()??;
    let length = numbers.next();
    let characters: Vec<char> = text.chars().collect();
    let count = i64::try_from(characters.len()).ok()?;
    let start = if offset < 0 { (count + offset).max(0) } else { offset.min(count) };
    let end = match length {
        None => count,
        Some(length) => {
            let length = length?;
            if length < 0 { (count + length).max(start) } else { (start + length).min(count) }
        }
    };
    let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    Some(Word::known(characters.get(range)?.iter().collect::<String>()))
}

fn trimmed(value: &Word, from: Side, longest: bool, pattern: &Word) -> Option<Word> {
    let Some(text) = value.text() else { return trimmed_partly(value, from, longest, pattern) };
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // Long values are not worth the time.
    if cuts.len() > 256 {
        return None;
    }
    let wants_late = (from == Side::Start) == longest;
    if wants_late {
        cuts.reverse();
    }
    let fits = |cut: &usize| {
        let part = if from == Side::Start { text.get(..*cut) } else { text.get(*cut..) };
        part.is_some_and(|part| crate::glob::word_matches(pattern, part))
    };
    let Some(cut) = cuts.into_iter().find(fits) else { return Some(value.clone()) };
    let rest = if from == Side::Start { text.get(cut..) } else { text.get(..cut) };
    rest.map(Word::known)
}

/// `${f%.png}` and `${f##*/}` of a name that the shell finds: `*.png`, `src/*.ts`.
fn trimmed_partly(value: &Word, from: Side, longest: bool, pattern: &Word) -> Option<Word> {
    if value.misses_value() {
        return None;
    }
    if from == Side::Start {
        let is_folder = longest && pattern.to_string() == "*/";
        let at = value.known_part().rfind('/').map_or(0, |at| at + 1);
        return is_folder.then(|| value.from(at));
    }
    let end = pattern.text()?;
    let cut = value.known_part().strip_suffix(end)?.len();
    let is_whole = value.gaps().iter().all(|gap| gap.at <= cut);
    is_whole.then(|| value.without_end(cut))
}

fn replaced(value: &Word, pattern: &Word, with: &Word, all: bool) -> Option<Word> {
    let (text, pattern, with) = (value.text()?, pattern.text()?, with.text()?);
    if pattern.is_empty() {
        return Some(value.clone());
    }
    // Bounded: a value that explodes is not worth reading.
    if text.len().saturating_mul(with.len().max(1)) > 1 << 16 {
        return None;
    }
    Some(Word::known(if all {
        text.replace(pattern, with)
    } else {
        text.replacen(pattern, with, 1)
    }))
}

fn cased(value: &Word, case: Letters, part: Part) -> Option<Word> {
    let text = value.text()?;
    let change = |text: &str| match case {
        Letters::Upper => text.to_uppercase(),
        Letters::Lower => text.to_lowercase(),
    };
    if part == Part::All {
        return Some(Word::known(change(text)));
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = text.split_at_checked(first)?;
    Some(Word::known(change(head) + tail))
}
