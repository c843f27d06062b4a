//! Walks the syntax tree of shell text and collects effects.
//!
//! Nothing is executed. Values that the text itself fixes are followed: variables, functions,
//! aliases, the working directory, the output of `echo` and of decoders. Both sides of a
//! condition count.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Opaque, Reach, Scope, Setting, Why};
use crate::marks::Mark;
use crate::path::Path;
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::shell::parse;
use crate::shell::sources;
use crate::shell::syntax::{
    Assign, AssignValue, Command, Form, HereDoc, Link, List, Pipeline, Redirect, Span, Target,
    Trouble,
};
use crate::word::Word;

/// How deep texts in texts, functions and wrappers are followed.
const MAX_DEPTH: usize = 24;
/// How many commands of one call are analysed. Loops and functions count each time.
const MAX_COMMANDS: usize = 400;
/// How many values of one variable are followed.
const MAX_VALUES: usize = 16;

/// How many links of one call are followed.
const MAX_LINKS: usize = 48;

/// Longer values are not followed.
const MAX_VALUE: usize = 1 << 15;

/// A value that the text fixes. Several, if it depends on a condition or a loop.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// At least one.
    pub(crate) values: Vec<Word>,
    /// The elements, if it is an array.
    pub(crate) list: Option<Vec<Word>>,
}

/// A function that the text defines.
#[derive(Clone)]
pub(crate) struct Function {
    body: Rc<Command>,
    heredocs: Rc<Vec<HereDoc>>,
    locator: Locator,
}

/// How spans of the text at hand become spans of the argument.
#[derive(Debug, Clone)]
pub(crate) enum Locator {
    /// The text is part of the argument, from this byte on.
    At(usize),
    /// The text was made from this part of the argument.
    Within(Span),
}

/// What standard input of a command is.
pub(crate) type Input = Option<Rc<Output>>;

pub(crate) struct Shell<'a, 'g> {
    pub(crate) out: &'a mut Analysis<'g>,
    /// Shared with the shells around this one until one of them changes it.
    pub(crate) variables: Rc<HashMap<String, Variable>>,
    pub(crate) functions: HashMap<String, Function>,
    pub(crate) aliases: HashMap<String, String>,
    /// Files that the text itself has written, by resolved path.
    pub(crate) written: HashMap<String, Rc<Output>>,
    /// The working directory, resolved. Empty if it is not known and was not changed.
    pub(crate) folder: Word,
    /// `$1` and so on; `None` outside of functions and `sh -c`.
    pub(crate) positional: Option<Vec<Word>>,
    pub(crate) heredocs: Rc<Vec<HereDoc>>,
    pub(crate) locator: Locator,
    /// The command that runs what is analysed now.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// Which of several values of a variable counts now.
    choice: usize,
    /// How many values the variables of the current command have.
    choices: usize,
    /// Inside a branch that may not run.
    pub(crate) branches: usize,
    /// The words of the command at hand were made of what a command read.
    pub(crate) words_read: bool,
    /// Variables whose value a command has read.
    pub(crate) read_variables: HashSet<String>,
    /// A part of the word at hand came from another host.
    pub(crate) word_fetched: bool,
    /// Variables whose value came from another host.
    pub(crate) fetched_variables: HashSet<String>,
    /// Variables that are numbers: what they are given is evaluated.
    pub(crate) integers: HashSet<String>,
    /// Folders that came from another host.
    pub(crate) fetched: Vec<Fetched>,
    /// Secret variables that the words of the command at hand use; `None` outside of commands.
    pub(crate) secrets: Option<Vec<String>>,
    /// Commands of the pipeline at hand that print a secret; `None` outside of one.
    pub(crate) piped_secrets: Option<Vec<usize>>,
    /// Variables that hold what a program printed as a secret.
    pub(crate) secret_variables: HashSet<String>,
    /// Symbolic links that the text makes, and where they lead.
    pub(crate) links: Vec<(String, Word)>,
    /// What descriptors above 2 deliver.
    pub(crate) descriptors: HashMap<u32, Rc<Output>>,
    /// Folders that the text puts in front of the search path.
    pub(crate) program_folders: Vec<String>,
    /// Files whose content the text has replaced with that of others, which it has read.
    pub(crate) own_files: HashSet<String>,
}

/// A folder whose files came from another host.
pub(crate) struct Fetched {
    pub(crate) folder: String,
    pub(crate) output: Rc<Output>,
}

impl<'a, 'g> Shell<'a, 'g> {
    pub(crate) fn new(out: &'a mut Analysis<'g>, folder: Word) -> Self {
        Self {
            out,
            variables: Rc::default(),
            functions: HashMap::new(),
            aliases: HashMap::new(),
            written: HashMap::new(),
            folder,
            positional: None,
            heredocs: Rc::default(),
            locator: Locator::At(0),
            parent: None,
            depth: 0,
            choice: 0,
            choices: 1,
            branches: 0,
            words_read: false,
            read_variables: HashSet::new(),
            word_fetched: false,
            fetched_variables: HashSet::new(),
            integers: HashSet::new(),
            fetched: Vec::new(),
            secrets: None,
            piped_secrets: None,
            secret_variables: HashSet::new(),
            links: Vec::new(),
            descriptors: HashMap::new(),
            program_folders: Vec::new(),
            own_files: HashSet::new(),
        }
    }

    /// Analyses text as a part of what runs now.
    pub(crate) fn text(&mut self, text: &str, locator: Locator) -> Output {
        if !self.enter(text.len()) {
            return Output::Unknown;
        }
        let script = parse::parse(text);
        let outer_heredocs = std::mem::replace(&mut self.heredocs, Rc::new(script.heredocs));
        let outer_locator = std::mem::replace(&mut self.locator, locator);
        if let Some((trouble, span)) = script.trouble {
            let why = if trouble == Trouble::Size { Why::Size } else { Why::Syntax };
            let span = self.place(&span);
            self.opaque(why, Bound::ALL, span);
        }
        let output = self.list(&script.list, None);
        self.heredocs = outer_heredocs;
        self.locator = outer_locator;
        self.depth -= 1;
        output
    }

    /// Text that a word of the argument holds: its spans are inside that word where possible.
    pub(crate) fn word_text(&mut self, field: &Field) -> Output {
        let text = field.word.known_part().to_owned();
        if field.word.misses_value() {
            self.opaque(Why::Code, Bound::ALL, field.span.clone());
        }
        let locator = self.inside(field, &text);
        self.text(&text, locator)
    }

    pub(crate) fn inside(&self, field: &Field, text: &str) -> Locator {
        let source = self.out.source.get(field.span.clone()).unwrap_or_default();
        match source.find(text) {
            Some(at) if !text.is_empty() => Locator::At(field.span.start + at),
            _ => Locator::Within(field.span.clone()),
        }
    }

    /// Goes one level deeper. `false`, with an opaque effect, if that is too deep or too much.
    pub(crate) fn enter(&mut self, bytes: usize) -> bool {
        let fits = self.depth < MAX_DEPTH && self.out.take_step() && self.out.take_bytes(bytes);
        if fits {
            self.depth += 1;
        } else {
            let span = self.place(&(0..0));
            self.opaque(Why::Size, Bound::ALL, span);
        }
        fits
    }

    pub(crate) fn place(&self, span: &Span) -> Span {
        match &self.locator {
            Locator::At(base) => span.start + base..span.end + base,
            Locator::Within(outer) => outer.clone(),
        }
    }

    pub(crate) fn push(&mut self, action: Action, span: Span) {
        self.out.push(action, span, self.parent);
    }

    pub(crate) fn opaque(&mut self, why: Why, could: Bound, span: Span) {
        self.push(Action::Opaque(Opaque { why, could }), span);
    }

    // Lists and pipelines.

    pub(crate) fn list(&mut self, list: &List, input: Input) -> Output {
        let mut whole = Output::Nothing;
        let mut chain = Chain::default();
        for pipeline in list {
            if self.out.commands() > MAX_COMMANDS {
                let span = self.place(&(0..0));
                self.opaque(Why::Size, Bound::ALL, span);
                break;
            }
            chain.next(pipeline, self);
            let is_branch = usize::from(pipeline.link != Link::Then);
            self.branches += is_branch;
            let before = self.out.effects.all().len();
            let output = self.pipeline(pipeline, input.clone());
            self.branches -= is_branch;
            // `which python3 || which python`: one of the two.
            let is_other = pipeline.link == Link::Or && self.only_looked_up(before);
            if !is_other || whole.known().is_none_or(str::is_empty) {
                whole = whole.then(output);
            }
        }
        whole
    }

    /// Whether all that ran since then looked for a program.
    fn only_looked_up(&self, before: usize) -> bool {
        self.out.since(before).iter().all(|effect| match &effect.action {
            Action::Runs(run) => matches!(run.program.text(), Some("which" | "command" | "type")),
            _ => false,
        })
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: Input) -> Output {
        if let [command] = pipeline.commands.as_slice() {
            return self.command(command, input);
        }
        let mut stream = input;
        let outer = self.piped_secrets.replace(Vec::new());
        let before = self.out.effects.all().len();
        for command in &pipeline.commands {
            let output = self.scoped(|shell| shell.command(command, stream.clone()));
            stream = Some(Rc::new(output));
        }
        let printed = std::mem::replace(&mut self.piped_secrets, outer).unwrap_or_default();
        self.prints_secrets(&printed, before);
        stream.map_or(Output::Nothing, Output::unshared)
    }

    /// Runs something in a subshell: what it changes in the shell is undone.
    pub(crate) fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let variables = Rc::clone(&self.variables);
        let folder = self.folder.clone();
        let result = run(self);
        self.variables = variables;
        self.folder = folder;
        result
    }

    /// `$0` and `${BASH_SOURCE[0]}`: scripts find their folder with them.
    pub(crate) fn name_script(&mut self, path: &Word) {
        let variables = Rc::make_mut(&mut self.variables);
        for name in ["0", "BASH_SOURCE"] {
            let variable = Variable { values: vec![path.clone()], list: Some(vec![path.clone()]) };
            variables.insert(name.to_owned(), variable);
        }
    }

    /// A list in a substitution.
    pub(crate) fn nested(&mut self, list: &Rc<List>) -> Output {
        if !self.enter(0) {
            return Output::Unknown;
        }
        let (choice, choices) = (self.choice, self.choices);
        let output = self.scoped(|shell| shell.list(list, None));
        (self.choice, self.choices) = (choice, choices);
        self.depth -= 1;
        output
    }

    /// The value of `$(…)`.
    pub(crate) fn substituted(&mut self, list: &Rc<List>) -> Word {
        let before = self.out.effects.all().len();
        let output = self.nested(list);
        self.word_fetched |= matches!(output, Output::Network(_)) && !self.prints_report(before);
        output.into_value()
    }

    pub(crate) fn substituted_text(&mut self, text: &str) -> Word {
        let locator = Locator::Within(self.place(&(0..0)));
        let before = self.out.effects.all().len();
        let output = self.scoped(|shell| shell.text(text, locator));
        self.word_fetched |= matches!(output, Output::Network(_)) && !self.prints_report(before);
        output.into_value()
    }

    fn command(&mut self, command: &Command, input: Input) -> Output {
        if !self.enter(0) {
            return Output::Unknown;
        }
        let output = self.form(command, input);
        self.depth -= 1;
        output
    }

    fn form(&mut self, command: &Command, input: Input) -> Output {
        if let Form::Simple { assigns, words } = &command.form {
            return self.each_choice(|shell| {
                shell.simple(assigns, words, &command.redirects, &command.span, input.clone())
            });
        }
        let mut streams = self.redirects(&command.redirects, input, Change::Content);
        let input = streams.input.take();
        let output = match &command.form {
            Form::Subshell(list) => self.scoped(|shell| shell.list(list, input)),
            Form::Group(list) => self.list(list, input),
            Form::Branches(list) => self.branch(|shell| shell.list(list, input)),
            Form::For { name, words, body } => self.for_loop(name, words.as_deref(), body, input),
            Form::Case { word, branches } => {
                self.joined(&word.pieces);
                for (patterns, list) in branches {
                    patterns.iter().for_each(|pattern| drop(self.joined(&pattern.pieces)));
                    let input = input.clone();
                    self.branch(|shell| shell.list(list, input));
                }
                Output::Unknown
            }
            Form::Function { name, body } => {
                let function = Function {
                    body: Rc::clone(body),
                    heredocs: Rc::clone(&self.heredocs),
                    locator: self.locator.clone(),
                };
                if super::callbacks::is_hook(name) {
                    self.call(&function, vec![Word::unknown()], None);
                }
                self.functions.insert(name.clone(), function);
                self.replaces_program(name, &command.span);
                Output::Nothing
            }
            Form::Test(words) => {
                self.test_command(words);
                Output::Nothing
            }
            Form::Arithmetic(word) => {
                self.arithmetic_command(word);
                Output::Nothing
            }
            Form::Simple { .. } => Output::Nothing,
        };
        self.deliver_all(output, &streams)
    }

    fn branch<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.branches += 1;
        let result = run(self);
        self.branches -= 1;
        result
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[crate::shell::syntax::ShellWord]>,
        body: &List,
        input: Input,
    ) -> Output {
        let mut fields = Vec::new();
        let before = self.out.effects.all().len();
        match words {
            Some(words) => words.iter().for_each(|word| self.fields(word, &mut fields)),
            None => fields.extend(self.list_of("@").into_iter().map(|word| Field::new(word, 0..0))),
        }
        let mut values: Vec<Word> = fields.into_iter().map(|field| field.word).collect();
        if values.len() > MAX_VALUES {
            values.truncate(MAX_VALUES - 1);
            values.push(Word::unknown());
        }
        if values.is_empty() {
            values.push(Word::unknown());
        }
        if self.has_read(before) && self.has_encoded(before) {
            self.read_variables.insert(name.to_owned());
        }
        Rc::make_mut(&mut self.variables).insert(name.to_owned(), Variable { values, list: None });
        self.branch(|shell| shell.list(body, input));
        Output::Unknown
    }

    /// Runs a command once for each value of the variables it uses.
    fn each_choice(&mut self, mut run: impl FnMut(&mut Self) -> Output) -> Output {
        let outer = (self.choice, self.choices);
        (self.choice, self.choices) = (0, 1);
        let mut output = run(self);
        while self.choice + 1 < self.choices {
            self.choice += 1;
            output = output.or(run(self));
        }
        (self.choice, self.choices) = outer;
        output
    }

    /// Calls a function that the text defines.
    pub(crate) fn call(
        &mut self,
        function: &Function,
        arguments: Vec<Word>,
        input: Input,
    ) -> Output {
        if !self.enter(0) {
            return Output::Unknown;
        }
        let positional = self.positional.replace(arguments);
        let heredocs = std::mem::replace(&mut self.heredocs, Rc::clone(&function.heredocs));
        let locator = std::mem::replace(&mut self.locator, function.locator.clone());
        let (choice, choices) = (self.choice, self.choices);
        let output = self.command(&function.body, input);
        (self.choice, self.choices) = (choice, choices);
        self.positional = positional;
        self.heredocs = heredocs;
        self.locator = locator;
        self.depth -= 1;
        output
    }

    // Variables.

    pub(crate) fn home(&self) -> &str {
        self.out.ground.home.unwrap_or("~")
    }

    /// The value of a variable. Values that are used again and again use up the budget.
    pub(crate) fn lookup(&mut self, name: &str, index: Option<&str>) -> Option<Word> {
        self.words_read |= self.read_variables.contains(name);
        self.word_fetched |= self.fetched_variables.contains(name);
        let value = self.lookup_free(name, index)?;
        let length = value.known_part().len();
        if length > 64 && !self.out.take_bytes(length) {
            return Some(Word::unknown());
        }
        Some(value)
    }

    /// The value of a variable; `None` if the text does not fix it and nothing else is known.
    fn lookup_free(&mut self, name: &str, index: Option<&str>) -> Option<Word> {
        if let Some(variable) = self.variables.get(name) {
            if let (Some(list), Some(index)) = (&variable.list, index) {
                let at = index.parse::<usize>();
                return Some(match at {
                    Ok(at) => list.get(at).cloned().unwrap_or_default(),
                    Err(_) if matches!(index, "@" | "*") => joined(list),
                    // A name or a variable: it may be any element.
                    Err(_) if list.len() <= MAX_VALUES => {
                        self.choices = self.choices.max(list.len());
                        let at = self.choice.min(list.len().saturating_sub(1));
                        list.get(at).cloned().unwrap_or_default()
                    }
                    Err(_) => Word::unknown(),
                });
            }
            self.choices = self.choices.max(variable.values.len());
            let at = self.choice.min(variable.values.len().saturating_sub(1));
            return variable.values.get(at).cloned();
        }
        match name {
            "HOME" => Some(Word::known(self.home())),
            "PWD" | "OLDPWD" if name == "PWD" => Some(self.folder_text()),
            "IFS" => Some(Word::known(" \t\n")),
            "#" => self.positional.as_ref().map(|list| Word::known(list.len().to_string())),
            "@" | "*" => self.positional.as_deref().map(joined),
            "0" => Some(Word::known("bash")),
            "$" | "!" | "?" | "-" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => {
                Some(crate::shell::arithmetic::unknown_number())
            }
            "SHELL" => Some(Word::known("/bin/bash")),
            "HISTFILE" => Some(Word::known("~/.bash_history")),
            "SSH_AUTH_SOCK" | "DISPLAY" | "USER" | "LOGNAME" | "HOSTNAME" => None,
            "TMPDIR" | "TMP" | "TEMP" => Some(Word::known("/tmp")),
            // Where the clouds tell programs to fetch credentials.
            "ECS_CONTAINER_METADATA_URI" | "ECS_CONTAINER_METADATA_URI_V4" => {
                Some(Word::known("http://169.254.170.2"))
            }
            "AWS_CONTAINER_CREDENTIALS_FULL_URI" => Some(Word::known("http://169.254.170.23")),
            "IDENTITY_ENDPOINT" | "MSI_ENDPOINT" => Some(Word::known("http://169.254.169.254")),
            _ => {
                let at: usize = name.parse().ok()?;
                let list = self.positional.as_ref()?;
                Some(list.get(at.checked_sub(1)?).cloned().unwrap_or_default())
            }
        }
    }

    fn folder_text(&self) -> Word {
        if self.folder.known_part().is_empty() && self.folder.is_known() {
            Word::known(".")
        } else {
            self.folder.clone()
        }
    }

    /// What an unset variable is. A positional one outside of a script is empty.
    pub(crate) fn unset(&self, name: &str) -> Word {
        let is_positional = name.bytes().all(|byte| byte.is_ascii_digit());
        if is_positional && self.positional.is_none() && self.depth < 4 {
            return Word::default();
        }
        Word::unknown()
    }

    /// The elements of `$@` or of an array.
    pub(crate) fn list_of(&mut self, name: &str) -> Vec<Word> {
        if matches!(name, "@" | "*") {
            return self.positional.clone().unwrap_or_else(|| vec![Word::unknown()]);
        }
        match self.variables.get(name) {
            Some(Variable { list: Some(list), .. }) => list.clone(),
            Some(_) => self.lookup(name, None).into_iter().collect(),
            None => vec![Word::unknown()],
        }
    }

    pub(crate) fn number(&mut self, name: &str) -> Option<i64> {
        self.lookup(name, None)?.text()?.trim().parse().ok()
    }

    pub(crate) fn separators(&self) -> String {
        let set = self.variables.get("IFS").and_then(|variable| variable.values.last());
        set.and_then(Word::text).unwrap_or(" \t\n").to_owned()
    }

    /// Gives a variable a value. In a branch, the values that it had stay possible.
    pub(crate) fn assign(&mut self, name: &str, value: Word) {
        let value = if value.known_part().len() > MAX_VALUE { Word::unknown() } else { value };
        let variables = Rc::make_mut(&mut self.variables);
        let known = variables.get_mut(name);
        match known {
            Some(known) if self.branches > 0 => {
                known.list = None;
                if !known.values.contains(&value) && known.values.len() < MAX_VALUES {
                    known.values.push(value);
                }
            }
            _ => {
                variables.insert(name.to_owned(), Variable { values: vec![value], list: None });
            }
        }
    }

    /// Remembers whether the value of a variable came from another host.
    pub(crate) fn keep_origin(&mut self, name: &str, is_fetched: bool) {
        if !is_fetched {
            self.fetched_variables.remove(name);
        } else if self.fetched_variables.len() < 64 {
            self.fetched_variables.insert(name.to_owned());
        }
    }

    /// Evaluates an assignment.
    pub(crate) fn assigned(&mut self, assign: &Assign) -> (Word, Option<Vec<Word>>) {
        if !assign.index.is_empty() {
            let span = self.place(&assign.span);
            let (index, is_fetched) = self.traced(|shell| shell.joined(&assign.index));
            self.evaluate(&index, is_fetched, &span);
        }
        match &assign.value {
            AssignValue::Word(word) => {
                let mut value = self.joined(&word.pieces);
                if assign.adds
                    && let Some(mut old) = self.lookup(&assign.name, None)
                {
                    old.push_word(&value);
                    value = old;
                }
                (value, None)
            }
            AssignValue::Array(words) => {
                let mut fields = Vec::new();
                words.iter().for_each(|word| self.fields(word, &mut fields));
                let mut list: Vec<Word> =
                    if assign.adds { self.list_of(&assign.name) } else { Vec::new() };
                list.extend(fields.into_iter().map(|field| element(field.word)));
                (list.first().cloned().unwrap_or_default(), Some(list))
            }
        }
    }

    /// Whether something was read since there were that many effects.
    pub(crate) fn has_read(&self, before: usize) -> bool {
        self.out.since(before).iter().any(|effect| {
            matches!(&effect.action, Action::Reads(path, Access::Content | Access::Tree)
                if path.resolved.text() != Some("/proc/self/environ"))
        })
    }

    /// A function that takes the place of a program.
    fn replaces_program(&mut self, name: &str, span: &Span) {
        if name == "callgate" || crate::programs::find(name).is_some() {
            let name = Word::known(format!("function:{name}"));
            let setting = Setting { name, value: None, reach: Reach::Command };
            let span = self.place(span);
            self.push(Action::Sets(setting), span);
        }
    }

    pub(crate) fn apply_assign(&mut self, assign: &Assign) {
        let before = self.out.effects.all().len();
        let span = self.place(&assign.span);
        let ((value, list), is_fetched) = self.traced(|shell| shell.assigned(assign));
        self.sets_prompt(&assign.name, &value, is_fetched, &span);
        self.keep_origin(&assign.name, is_fetched);
        if self.integers.contains(&assign.name) {
            self.evaluate(&value, is_fetched, &span);
        }
        self.keeps_credentials(&assign.name, before);
        let is_made = value.misses_value() && (self.has_read(before) || self.words_read);
        if is_made && self.read_variables.len() < 64 {
            self.read_variables.insert(assign.name.clone());
        }
        if assign.name == "BASH_ALIASES" {
            self.alias_element(&assign.element, &value, &span);
        }
        if super::settings::runs_something(&assign.name) {
            self.sets_environment(&assign.name, value.clone(), span);
        }
        self.assign(&assign.name, value);
        if let Some(list) = list
            && let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(&assign.name)
        {
            variable.list = Some(list);
        }
    }

    /// Programs in a folder that anyone can write to: which one runs is not in the text.
    pub(crate) fn searches_foreign_folder(&mut self, value: &Word, span: &Span) {
        let first = value.known_start().split(':').next().unwrap_or_default();
        let is_foreign = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"].iter().any(|folder| {
            first.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if is_foreign {
            self.opaque(Why::Program, Bound::ALL, span.clone());
        }
    }

    /// Keeps the folders of a new search path: what the text has written there runs by its name.
    pub(crate) fn keep_program_folders(&mut self, value: &Word) {
        let folders = value.known_part().split(':').filter(|folder| !folder.is_empty());
        for folder in folders.take(8) {
            let folder = self.resolve(&Word::known(folder)).resolved;
            if let Some(folder) = folder.text()
                && self.program_folders.len() < 16
            {
                self.program_folders.push(folder.to_owned());
            }
        }
    }

    pub(crate) fn sets_environment(&mut self, name: &str, value: Word, span: Span) {
        if name == "PATH" {
            self.keep_program_folders(&value);
            self.searches_foreign_folder(&value, &span);
        }
        if !self.written.is_empty() {
            self.own_program(&Field::new(value.clone(), span.clone()));
        }
        if crate::shell::settings::is_login(name) {
            self.read_file(&Field::new(value.clone(), span.clone()), Access::Content);
        }
        let name = Word::known(format!("env:{name}"));
        let setting = Setting { name, value: Some(value), reach: Reach::Command };
        self.push(Action::Sets(setting), span);
    }

    // Redirections.

    /// Opens files. The change is what standard output does to the file that it goes to.
    pub(crate) fn redirects(
        &mut self,
        redirects: &[Redirect],
        input: Input,
        change: Change,
    ) -> Streams {
        let mut streams = Streams { input, ..Streams::default() };
        for redirect in redirects {
            self.redirect(redirect, &mut streams, change);
        }
        streams
    }

    fn redirect(&mut self, redirect: &Redirect, streams: &mut Streams, printed: Change) {
        let span = self.place(&redirect.span);
        let is_output = redirect.fd.is_none_or(|fd| fd == 1);
        match &redirect.target {
            Target::HereDoc(index) => {
                let heredocs = Rc::clone(&self.heredocs);
                let body = heredocs.get(*index).map(|heredoc| self.joined(&heredoc.body.pieces));
                streams.input = Some(Rc::new(Output::Text(body.unwrap_or_default())));
            }
            Target::HereString(word) => {
                let text = self.joined(&word.pieces);
                streams.input = Some(Rc::new(Output::Text(text)));
            }
            Target::Read(word) => {
                let fields = self.one_field(word);
                if let Some(field) = fields {
                    let opened = self.open_input(&field, span);
                    match redirect.fd.filter(|fd| *fd > 2) {
                        Some(fd) => self.keep_descriptor(fd, opened),
                        None => streams.input = Some(opened),
                    }
                }
            }
            Target::Write(word) | Target::Append(word) => {
                let change = if matches!(redirect.target, Target::Append(_)) {
                    Change::Append
                } else if is_output {
                    printed
                } else {
                    Change::Content
                };
                if let Some(field) = self.one_field(word) {
                    self.open_output(&field, change, span, is_output.then_some(streams));
                }
            }
            Target::ReadWrite(word) => {
                if let Some(field) = self.one_field(word) {
                    streams.input = Some(self.open_input(&field, span.clone()));
                    self.open_output(&field, Change::Content, span, None);
                }
            }
            Target::Duplicate(word) => {
                let Some(field) = self.one_field(word) else { return };
                // `>&"${PROC[1]}"`: a missing value stands for a number.
                let is_descriptor = field.word.is_unknown()
                    || field.text().is_some_and(|text| {
                        text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                    });
                if let Some(output) = field.text().and_then(|text| self.descriptor(text)) {
                    streams.input = Some(output);
                }
                if !is_descriptor {
                    self.open_output(&field, Change::Content, span, Some(streams));
                }
            }
        }
    }

    fn one_field(&mut self, word: &crate::shell::syntax::ShellWord) -> Option<Field> {
        let mut fields = Vec::new();
        self.fields(word, &mut fields);
        fields.into_iter().next()
    }

    fn open_input(&mut self, field: &Field, span: Span) -> Rc<Output> {
        if let Some(stream) = &field.stream {
            return Rc::clone(stream);
        }
        if field.text() == Some("/dev/null") {
            return Rc::new(Output::Nothing);
        }
        if let Some(output) = self.descriptor_file(field) {
            return output;
        }
        if self.device(field, &span) {
            return Rc::new(Output::Unknown);
        }
        self.read_file(field, Access::Content);
        self.file_output(field)
    }

    /// What a file delivers: known if the text has written it.
    pub(crate) fn file_output(&self, field: &Field) -> Rc<Output> {
        let path = self.resolve(&field.word);
        let known = path.resolved.text().and_then(|path| self.written.get(path));
        known.map_or_else(|| Rc::new(self.earlier_output(field)), Rc::clone)
    }

    fn open_output(
        &mut self,
        field: &Field,
        change: Change,
        span: Span,
        streams: Option<&mut Streams>,
    ) {
        if let Some(streams) = streams {
            streams.is_cut = true;
            streams.sinks.extend(field.sink.clone());
            let path = self.resolve(&field.word);
            if let Some(path) = path.resolved.text() {
                streams.outputs.push((path.to_owned(), change));
            }
        }
        if field.stream.is_none() && !self.device(field, &span) {
            self.write_file(field, change);
        }
    }

    /// `/dev/null` does nothing, `/dev/tcp/host/port` connects.
    fn device(&mut self, field: &Field, span: &Span) -> bool {
        let start = field.word.known_start();
        if start.starts_with("/dev/tcp/") || start.starts_with("/dev/udp/") {
            self.socket(&field.word.from("/dev/tcp/".len()), span.clone());
            return true;
        }
        is_quiet_device(start)
    }

    /// Gives what a command prints to the files and commands that it is redirected to.
    pub(crate) fn deliver_all(&mut self, output: Output, streams: &Streams) -> Output {
        if !streams.sinks.is_empty() {
            self.feed(&Rc::new(output.clone()), &streams.sinks);
        }
        self.deliver(output, &streams.outputs)
    }

    /// Keeps what a command prints in the files that it is redirected to.
    fn deliver(&mut self, output: Output, files: &[(String, Change)]) -> Output {
        if files.is_empty() {
            return output;
        }
        let output = Rc::new(output);
        for (path, change) in files {
            let whole = match (change, self.written.get(path)) {
                (Change::Append, Some(old)) => {
                    Rc::new(old.as_ref().clone().then(output.as_ref().clone()))
                }
                (Change::Append, None) => {
                    self.appended(path, &output);
                    Rc::new(Output::Unknown)
                }
                _ => Rc::clone(&output),
            };
            self.keep_file(path.clone(), whole);
        }
        Output::Nothing
    }

    // Paths.

    pub(crate) fn resolve(&self, word: &Word) -> Path {
        let path = Path::resolve(word, &self.folder, self.out.ground);
        let start = path.resolved.known_start();
        // `link/` is the folder after the link, `link` the link itself.
        let is_folder = word.known_part().ends_with('/');
        let is_below = |link: &&(String, Word)| {
            let rest = start.strip_prefix(link.0.as_str());
            rest.is_some_and(|rest| rest.starts_with('/') || rest.is_empty() && is_folder)
        };
        let Some((link, target)) = self.links.iter().rev().find(is_below) else { return path };
        let mut behind = target.clone();
        behind.push_word(&path.resolved.from(link.len()));
        Path { written: path.written, ..Path::resolve(&behind, &self.folder, self.out.ground) }
    }

    /// Where a link that the text has made leads: its content is that of the target.
    fn follow(&self, field: &Field) -> Option<Field> {
        if self.links.is_empty() {
            return None;
        }
        let path = Path::resolve(&field.word, &self.folder, self.out.ground).resolved;
        let path = path.text()?;
        let (_, target) = self.links.iter().rev().find(|(link, _)| link == path)?;
        (target.text() != Some(path)).then(|| Field::new(target.clone(), field.span.clone()))
    }

    /// `ln -s TARGET LINK`: paths below the link are below the target.
    pub(crate) fn keep_link(&mut self, target: &Field, link: &Field) {
        let span = link.span.clone();
        let behind = self.follow(target);
        let target = self.resolve(&behind.as_ref().unwrap_or(target).word).resolved;
        let link = self.resolve(&link.word).resolved;
        let Some(link) = link.text().filter(|link| link.len() > 1) else { return };
        if self.links.len() < MAX_LINKS {
            self.links.push((link.to_owned(), target));
        } else {
            self.opaque(Why::Size, Bound::ALL, span);
        }
    }

    /// A program that the text has written into a folder that it searches first.
    pub(crate) fn written_program(&self, name: &str) -> Option<Rc<Output>> {
        if name.contains('/') {
            return None;
        }
        let find = |folder: &String| self.written.get(&format!("{folder}/{name}")).cloned();
        self.program_folders.iter().rev().find_map(find)
    }

    pub(crate) fn read_file(&mut self, field: &Field, access: Access) {
        let start = field.word.known_start();
        let is_url = ["http://", "https://", "ftp://"].iter().any(|sign| start.starts_with(sign));
        if is_url && let Some(address) = crate::host::parse_url(&field.word) {
            let span = field.span.clone();
            return self.connect(address, crate::effect::Purpose::Fetch, Some(&field.word), span);
        }
        let followed = self.follow(field).filter(|_| access != Access::Names);
        let field = followed.as_ref().unwrap_or(field);
        let quiet = is_quiet_device(field.word.known_start());
        // What the text itself has just written there is no secret.
        let is_own = !self.own_files.is_empty()
            && self
                .resolve(&field.word)
                .resolved
                .text()
                .is_some_and(|path| self.own_files.contains(path));
        if field.stream.is_none() && !quiet && !is_own {
            let could = Bound::just(EffectKind::Reads);
            self.path_effect(field, could, |path| Action::Reads(path, access));
        }
    }

    pub(crate) fn write_file(&mut self, field: &Field, change: Change) {
        // A device whose name is not in the text may be a disk.
        if field.word.known_start() == "/dev/" && field.word.misses_value() {
            let disk = Word::known("/dev/disk/unknown");
            return self.write_file(&Field::new(disk, field.span.clone()), change);
        }
        let followed = self.follow(field).filter(|_| change != Change::Link);
        let field = followed.as_ref().unwrap_or(field);
        if !is_quiet_device(field.word.known_start()) {
            let could = Bound::just(EffectKind::Writes);
            self.path_effect(field, could, |path| Action::Writes(path, change));
            if self.hides_program(field) {
                self.mark_parent(Mark::Schedules);
            }
        }
    }

    /// Whether a file is found instead of a program that everybody knows: `~/.local/bin/git`. It runs
    /// whenever that program is called.
    fn hides_program(&self, field: &Field) -> bool {
        let path = self.resolve(&field.word).resolved;
        let Some((folder, name)) = path.text().and_then(|path| path.rsplit_once('/')) else {
            return false;
        };
        let is_of_user =
            !["/usr/", "/bin", "/sbin", "/opt/"].iter().any(|it| folder.starts_with(it));
        let is_searched = [".local/bin", "~/bin"].iter().any(|end| folder.ends_with(end))
            || self.out.ground.home.is_some_and(|home| folder.strip_prefix(home) == Some("/bin"));
        is_of_user && is_searched && crate::programs::find(name).is_some()
    }

    pub(crate) fn path_effect(
        &mut self,
        field: &Field,
        could: Bound,
        make: impl FnOnce(Path) -> Action,
    ) {
        let starts_unknown = field.word.misses_value() && field.word.known_start().is_empty();
        if !starts_unknown && !field.word.is_unknown() {
            let path = self.resolve(&field.word);
            let action = make(path);
            if let Some(folder) = sources::whole_folder(&field.word, &action) {
                let path = self.resolve(&folder);
                self.push(sources::on(&action, path), field.span.clone());
            }
            return self.push(action, field.span.clone());
        }
        let action = make(self.resolve(&field.word));
        if starts_unknown {
            let is_much = matches!(
                action,
                Action::Deletes(_, Scope::Tree) | Action::Writes(_, Change::Empty)
            );
            let why = if is_much { Why::Value } else { Why::Target };
            self.opaque(why, could, field.span.clone());
        }
        if !field.word.is_unknown() {
            self.push(action, field.span.clone());
        }
    }
}

/// Standard input, and the files that standard output goes to.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) input: Input,
    pub(crate) outputs: Vec<(String, Change)>,
    /// The commands of `>(…)` that it goes to.
    pub(crate) sinks: Vec<Rc<List>>,
    /// Standard output goes to a file, not on.
    pub(crate) is_cut: bool,
}

/// Files that stand for standard streams or nothing.
pub(crate) fn is_quiet_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/urandom"
            | "/dev/random"
    ) || path.starts_with("/dev/fd/")
        || path.starts_with("/proc/self/fd/")
}

/// `[key]=value` in an array is the value.
fn element(word: Word) -> Word {
    use crate::word::Fill;
    let has_key = word.known_part().starts_with('=')
        && word.gaps().first().is_some_and(|gap| gap.at == 0 && gap.fill == Fill::Character);
    if has_key { word.from(1) } else { word }
}

fn joined(list: &[Word]) -> Word {
    let mut whole = Word::default();
    for (at, word) in list.iter().enumerate() {
        if at > 0 {
            whole.push(' ');
        }
        whole.push_word(word);
    }
    whole
}

/// A chain of `&&`: a `cd` inside of it may not have happened once the chain is over.
#[derive(Default)]
struct Chain {
    /// The folder at the start of a chain in which something could fail.
    before: Option<Word>,
    /// Something in the chain could fail in front of a `cd`.
    is_risky: bool,
}

impl Chain {
    fn next(&mut self, pipeline: &Pipeline, shell: &mut Shell<'_, '_>) {
        if pipeline.link == Link::Then {
            if self.is_risky && self.before.as_ref().is_some_and(|before| *before != shell.folder) {
                shell.folder = Word::unknown();
            }
            self.before = Some(shell.folder.clone());
            self.is_risky = false;
        }
        let is_safe = pipeline.commands.iter().all(rarely_fails);
        self.is_risky |= !is_safe;
    }
}

fn rarely_fails(command: &Command) -> bool {
    use crate::shell::syntax::Piece;
    let Form::Simple { words, .. } = &command.form else { return true };
    let Some(Piece::Text(name, _)) = words.first().and_then(|word| word.pieces.first()) else {
        return words.is_empty();
    };
    !matches!(name.as_str(), "false" | "test" | "[" | "grep" | "exit" | "return" | "kill")
}
