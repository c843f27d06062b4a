//! What the shell does itself, and programs whose command line follows rules of its own.

use std::rc::Rc;

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Reach, Setting, Why};
use crate::model::Language;
use crate::shell::apply::{assignment, is_path, joined};
use crate::shell::eval::{Input, Shell, Variable};
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::shell::{ansi, decode};
use crate::word::Word;

impl Shell<'_, '_> {
    /// Runs a command that has no model because the shell has it built in. `None` if it has not.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        fields: &[Field],
        run: usize,
        input: &Input,
    ) -> Option<Output> {
        let arguments = fields.get(1..).unwrap_or_default();
        self.callbacks(name, arguments);
        let output = match name {
            "cd" | "pushd" | "chdir" => self.cd(arguments),
            "popd" => {
                self.folder = Word::unknown();
                Output::Nothing
            }
            "export" | "declare" | "local" | "typeset" | "readonly" => {
                self.declare(name, arguments, run)
            }
            "unset" => {
                self.name_variables(arguments);
                for field in arguments {
                    let Some(name) = field.text() else { continue };
                    Rc::make_mut(&mut self.variables).remove(name);
                    self.removes(name, field);
                }
                Output::Nothing
            }
            "alias" => self.alias(arguments),
            "unalias" => Output::Nothing,
            "eval" => self.word_text(&joined(arguments)),
            "source" | "." => self.source(arguments, input),
            "exec" | "builtin" | "noglob" | "nocorrect" => self.exec(arguments, input),
            "command" => self.command_builtin(arguments, input),
            "trap" => {
                self.trap(arguments);
                Output::Nothing
            }
            "env" => {
                if arguments.is_empty() {
                    self.prints_environment(run);
                }
                self.env(arguments, input)
            }
            "hash" => {
                self.remember_program(arguments);
                Output::Nothing
            }
            "jobs" => Output::Text(crate::shell::arithmetic::unknown_number()),
            "read" | "mapfile" | "readarray" => self.read(arguments, input),
            "set" => self.set(arguments),
            "shift" => {
                if let Some(positional) = &mut self.positional {
                    positional.drain(..positional.len().min(1));
                }
                Output::Nothing
            }
            "let" => {
                for field in arguments {
                    self.evaluate(&field.word, false, &field.span);
                }
                Output::Nothing
            }
            "test" | "[" => self.test(arguments),
            "echo" => echo(arguments),
            "printf" => self.printf(arguments),
            "pwd" => self.lookup("PWD", None).map_or(Output::Unknown, Output::Text),
            "true" | ":" | "false" | "exit" | "return" | "break" | "continue" | "wait"
            | "shopt" | "setopt" | "getopts" | "fg" | "bg" | "disown" | "umask" | "ulimit"
            | "times" | "bind" | "complete" | "compgen" | "enable" | "logout" | "dirs"
            | "suspend" => Output::Nothing,
            "type" | "which" | "whereis" | "whence" => self.which(arguments),
            "apply_patch" | "applypatch" => self.patch(arguments, input),
            "history" | "fc" => {
                // `history -r FILE`, `history -w FILE`
                let named = arguments.windows(2).find_map(|pair| match pair {
                    [flag, file] if matches!(flag.text(), Some("-r" | "-w" | "-a" | "-n")) => {
                        Some(file.clone()).filter(|file| is_path(&file.word))
                    }
                    _ => None,
                });
                let own = || {
                    let span = fields.first().map_or(0..0, |field| field.span.clone());
                    Field::new(Word::known("~/.bash_history"), span)
                };
                let field = named.unwrap_or_else(own);
                let is_reading = !arguments
                    .iter()
                    .any(|field| matches!(field.text(), Some("-c" | "-d" | "-w" | "-a")));
                match is_reading {
                    true => self.read_file(&field, Access::Content),
                    false => self.write_file(&field, crate::effect::Change::Content),
                }
                Output::Unknown
            }
            _ => return None,
        };
        if let Some(run) = self.out.run_mut(run) {
            run.knowledge = crate::effect::Knowledge::Modelled;
        }
        Some(output)
    }

    /// A variable that is removed, if that turns something off.
    fn removes(&mut self, name: &str, field: &Field) {
        let matters = matches!(name, "HISTFILE" | "HISTSIZE" | "PROMPT_COMMAND")
            || name.ends_with("_BASE_URL")
            || name.starts_with("CALLGATE");
        if matters {
            let name = Word::known(format!("env:{name}"));
            let setting = Setting { name, value: None, reach: Reach::Command };
            self.push(Action::Sets(setting), field.span.clone());
        }
    }

    fn cd(&mut self, arguments: &[Field]) -> Output {
        let target = arguments.iter().find(|field| {
            !field.text().is_some_and(|text| text.starts_with('-') && text.len() > 1)
        });
        self.folder = match target {
            None => self.resolve(&Word::known("~")).resolved,
            Some(field) if field.text() == Some("-") => Word::unknown(),
            Some(field) => self.resolve(&field.word).resolved.shared(),
        };
        Output::Nothing
    }

    fn declare(&mut self, name: &str, arguments: &[Field], run: usize) -> Output {
        let is_export = name == "export"
            || arguments.iter().any(|field| {
                field.text().is_some_and(|text| text.starts_with('-') && text.contains('x'))
            });
        if arguments.is_empty()
            || arguments
                .iter()
                .all(|field| matches!(field.text(), Some("-p" | "-x" | "-px" | "-xp")))
        {
            self.prints_environment(run);
            self.reads_environment(arguments);
            return Output::Unknown;
        }
        let has = |letter: char| {
            let flags = arguments.iter().filter_map(Field::text);
            flags.take_while(|text| text.starts_with('-')).any(|text| text.contains(letter))
        };
        let (is_number, is_reference) = (has('i'), has('n'));
        for field in arguments {
            if field.word.known_start().starts_with('-') {
                continue;
            }
            self.name_variable(&field.word, false, &field.span);
            if is_number || is_reference {
                self.typed(field, is_number);
            }
            if is_export {
                self.exports(field);
            } else if let Some((name, value)) = assignment(field) {
                self.sets_prompt(&name, &value, false, &field.span);
                self.assign(&name, value);
            }
        }
        Output::Nothing
    }

    /// `declare -i` makes a variable a number, `declare -n` another name for a variable.
    fn typed(&mut self, field: &Field, is_number: bool) {
        let (name, value) = match assignment(field) {
            Some((name, value)) => (Some(name), value),
            None => (field.text().map(str::to_owned), Word::default()),
        };
        if !is_number {
            return self.name_variable(&value, false, &field.span);
        }
        self.evaluate(&value, false, &field.span);
        if self.integers.len() < 64 {
            self.integers.extend(name);
        }
    }

    fn reads_environment(&mut self, arguments: &[Field]) {
        let span =
            arguments.first().map_or_else(|| self.place(&(0..0)), |field| field.span.clone());
        self.read_file(&Field::new(Word::known("/proc/self/environ"), span), Access::Content);
    }

    fn alias(&mut self, arguments: &[Field]) -> Output {
        // fish keeps it for every later shell.
        if let [flag, name, ..] = arguments
            && matches!(flag.text(), Some("--save" | "-s"))
            && !name.word.known_part().contains('=')
        {
            let mut file = Word::known("~/.config/fish/functions/");
            file.push_word(&name.word);
            self.write_file(&Field::new(file, name.span.clone()), Change::Content);
        }
        for field in arguments {
            let text = field.word.known_part().to_owned();
            let Some(equals) = text.find('=') else { continue };
            let name = text.get(..equals).unwrap_or_default().to_owned();
            let value = field.word.from(equals + 1);
            let setting = Setting {
                name: Word::known(format!("alias:{name}")),
                value: Some(value.clone()),
                reach: Reach::Command,
            };
            self.push(Action::Sets(setting), field.span.clone());
            self.aliases.insert(name, value.known_part().to_owned());
        }
        Output::Nothing
    }

    fn source(&mut self, arguments: &[Field], input: &Input) -> Output {
        if let Some(first) = arguments.first() {
            self.script(Language::Shell, first, input.clone());
        } else if let Some(input) = input {
            // `… | source` of fish.
            self.run_output(Language::Shell, input, &(0..0));
        }
        Output::Unknown
    }

    fn exec(&mut self, arguments: &[Field], input: &Input) -> Output {
        let mut rest = arguments;
        while let Some((first, after)) = rest.split_first() {
            match first.text() {
                Some("-a") => rest = after.get(1..).unwrap_or_default(),
                Some(flag) if flag.starts_with('-') => rest = after,
                _ => break,
            }
        }
        self.run(rest, input.clone())
    }

    fn command_builtin(&mut self, arguments: &[Field], input: &Input) -> Output {
        let is_question = arguments
            .iter()
            .take_while(|field| field.word.known_start().starts_with('-'))
            .any(|field| field.text().is_some_and(|text| text.contains(['v', 'V'])));
        if is_question { self.which(arguments) } else { self.exec(arguments, input) }
    }

    /// `which sh` prints a path whose last part is the name.
    fn which(&mut self, arguments: &[Field]) -> Output {
        let name = arguments.iter().rev().find(|field| !field.word.known_start().starts_with('-'));
        match name.and_then(Field::text) {
            Some(name) => Output::line(format!("/usr/bin/{name}")),
            None => Output::Unknown,
        }
    }

    fn env(&mut self, arguments: &[Field], input: &Input) -> Output {
        let mut rest = arguments;
        while let Some((first, after)) = rest.split_first() {
            let text = first.word.known_start();
            let joined_text = text
                .strip_prefix("--split-string=")
                .or_else(|| text.strip_prefix("-S").filter(|rest| !rest.is_empty()));
            if let Some(value) = joined_text {
                let from = text.len() - value.len();
                return self.split_string(&first.from(from), after);
            }
            match text {
                "-S" | "--split-string" => {
                    let Some((value, after)) = after.split_first() else { return Output::Unknown };
                    return self.split_string(value, after);
                }
                "-u" | "--unset" => {
                    if let Some(field) = after.first() {
                        self.removes(field.text().unwrap_or_default(), field);
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                "-C" | "--chdir" => {
                    if let Some(folder) = after.first() {
                        self.folder = self.resolve(&folder.word).resolved;
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                _ if text.starts_with('-') => rest = after,
                _ => match assignment(first) {
                    Some((name, value)) => {
                        self.environment(&name, value, first.span.clone());
                        rest = after;
                    }
                    None if self.function_in_environment(first) => rest = after,
                    None => return self.run(rest, input.clone()),
                },
            }
        }
        self.reads_environment(arguments);
        Output::Unknown
    }

    fn split_string(&mut self, value: &Field, after: &[Field]) -> Output {
        let mut words = vec![value.clone()];
        words.extend(after.iter().cloned());
        self.word_text(&joined(&words))
    }

    /// `read` fills variables from standard input.
    fn read(&mut self, arguments: &[Field], input: &Input) -> Output {
        self.name_variables(arguments);
        let is_fetched = matches!(input.as_deref(), Some(Output::Network(_)));
        let known = input.as_deref().and_then(Output::known).map(str::to_owned);
        let names: Vec<String> = arguments
            .iter()
            .filter_map(Field::text)
            .filter(|text| {
                !text.is_empty()
                    && text.bytes().all(crate::shell::parse::is_name)
                    && !text.starts_with(|c: char| c.is_ascii_digit())
            })
            .map(str::to_owned)
            .collect();
        let mut words =
            known.as_deref().map(|text| text.lines().next().unwrap_or_default().split_whitespace());
        let count = names.len();
        for (at, name) in names.iter().enumerate() {
            let value = match &mut words {
                Some(words) if at + 1 == count => {
                    Word::known(words.by_ref().collect::<Vec<_>>().join(" "))
                }
                Some(words) => words.next().map_or_else(Word::default, Word::known),
                None => names_of(input),
            };
            self.keep_origin(name, is_fetched);
            let variable = Variable { values: vec![value], list: None };
            Rc::make_mut(&mut self.variables).insert(name.clone(), variable);
        }
        Output::Nothing
    }

    fn set(&mut self, arguments: &[Field]) -> Output {
        if arguments.is_empty() {
            self.reads_environment(arguments);
            return Output::Unknown;
        }
        self.sets_for_good(arguments);
        if let [flag, option, ..] = arguments
            && flag.text() == Some("+o")
            && option.text() == Some("history")
        {
            self.removes("HISTFILE", option);
        }
        let dashes = arguments.iter().position(|field| field.text() == Some("--"));
        if let Some(at) = dashes {
            let words = arguments.iter().skip(at + 1).map(|field| field.word.clone());
            self.positional = Some(words.collect());
        }
        Output::Nothing
    }

    /// `set -Ux NAME VALUE` of fish: every later shell has the variable.
    fn sets_for_good(&mut self, arguments: &[Field]) {
        let is_universal = |field: &Field| {
            let start = field.word.known_start();
            start == "--universal"
                || start.starts_with('-') && !start.starts_with("--") && start.contains('U')
        };
        let Some(at) = arguments.iter().take(3).position(is_universal) else { return };
        let mut words =
            arguments.iter().skip(at + 1).filter(|it| !it.word.known_start().starts_with('-'));
        let (Some(name), value) = (words.next(), words.next()) else { return };
        let name = name.word.known_part();
        let name = if name == "fish_user_paths" { "PATH" } else { name };
        let name = Word::known(format!("env:{name}"));
        self.sets(name, value, Reach::Lasting);
    }

    /// Tests look at names and attributes only.
    fn test(&mut self, arguments: &[Field]) -> Output {
        for pair in arguments.windows(2) {
            let [flag, file] = pair else { continue };
            if matches!(flag.text(), Some("-v" | "-R")) {
                self.name_variable(&file.word, false, &file.span);
            }
            let is_file_test = flag.text().is_some_and(|text| {
                text.len() == 2
                    && text.starts_with('-')
                    && text.contains(['e', 'f', 'd', 'r', 'w', 'x', 's', 'L', 'h', 'p', 'S'])
            });
            if is_file_test && !file.word.is_unknown() {
                self.read_file(file, Access::Names);
            }
        }
        Output::Nothing
    }

    fn printf(&mut self, arguments: &[Field]) -> Output {
        let (variable, rest) = match arguments {
            [flag, name, rest @ ..] if flag.text() == Some("-v") => {
                (name.text().map(str::to_owned), rest)
            }
            [dashes, rest @ ..] if dashes.text() == Some("--") => (None, rest),
            rest => (None, rest),
        };
        let Some((format, values)) = rest.split_first() else { return Output::Nothing };
        let text = format.text().and_then(|format| formatted(format, values));
        let text = text.unwrap_or_else(|| partly(rest));
        if let Some(name) = variable {
            self.name_variable(&Word::known(name.as_str()), false, &format.span);
            self.assign(&name, text);
            return Output::Nothing;
        }
        Output::Text(text)
    }

    /// Codex' program for patches: the patch is the first argument or standard input.
    fn patch(&mut self, arguments: &[Field], input: &Input) -> Output {
        let text = match (arguments.first(), input.as_deref()) {
            (Some(first), _) => first.text().map(str::to_owned),
            (None, Some(input)) => input.known().map(str::to_owned),
            (None, None) => None,
        };
        let span =
            arguments.first().map_or_else(|| self.place(&(0..0)), |field| field.span.clone());
        let Some(text) = text else {
            let could = Bound::of(&[EffectKind::Writes, EffectKind::Deletes]);
            self.opaque(Why::Value, could, span);
            return Output::Nothing;
        };
        self.patch_files(&text, &span);
        Output::Nothing
    }

    /// Writes and deletes the files of a patch.
    pub(crate) fn patch_files(&mut self, text: &str, span: &std::ops::Range<usize>) {
        crate::tools::written::keep_patch(self.out, text);
        for (touch, name, _) in crate::patch::targets(text) {
            let field = Field::new(Word::known(name), span.clone());
            match touch {
                crate::patch::Touch::Writes => {
                    self.write_file(&field, crate::effect::Change::Content)
                }
                crate::patch::Touch::Deletes | crate::patch::Touch::Moves => {
                    if touch == crate::patch::Touch::Moves {
                        self.read_file(&field, Access::Content);
                    }
                    let could = Bound::just(EffectKind::Deletes);
                    self.path_effect(&field, could, |path| {
                        Action::Deletes(path, crate::effect::Scope::One)
                    });
                }
            }
        }
    }

    /// Stands for input that runs and is not in the text.
    pub(crate) fn hidden_code(&mut self, field: &Field) {
        self.opaque(Why::Code, Bound::ALL, field.span.clone());
    }

    /// What a program prints, where the text fixes it.
    pub(crate) fn printed(
        &mut self,
        name: &str,
        fields: &[Field],
        input: &Input,
        before: usize,
    ) -> Option<Output> {
        let arguments = fields.get(1..).unwrap_or_default();
        let texts = || -> Vec<&str> {
            arguments.iter().map(|field| field.text().unwrap_or("\u{fffd}")).collect()
        };
        match name {
            "cat" | "tac" | "tee" | "head" | "tail" | "less" | "more" | "sort" | "uniq" | "pv"
            | "sponge" | "buffer" | "zcat" | "gunzip" => {
                let is_count = |text: &str| {
                    let digits = text.trim_start_matches('+');
                    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
                };
                let file = arguments.iter().find(|field| {
                    !field.word.known_start().starts_with('-')
                        && !field.text().is_some_and(is_count)
                });
                // Bytes out of the middle of a file are something else than the file.
                let is_carved = matches!(name, "head" | "tail")
                    && arguments.iter().any(|field| {
                        let start = field.word.known_start();
                        start.starts_with("-c") || start.starts_with("--bytes")
                    });
                match (name, file, input) {
                    _ if is_carved && input.is_none() => None,
                    ("head", None, Some(input)) if is_carved && input.known().is_some() => {
                        let text = decode::filter(name, &texts(), input.known());
                        Some(text.map_or_else(|| input.as_ref().clone(), Output::line))
                    }
                    ("tee" | "sponge", _, Some(input)) => {
                        self.keep_written(before, input);
                        self.feed_arguments(arguments, input);
                        Some(input.as_ref().clone())
                    }
                    (_, Some(file), _) => Some(match &file.stream {
                        Some(stream) => stream.as_ref().clone(),
                        None => self.file_output(file).as_ref().clone(),
                    }),
                    (_, None, Some(input)) => Some(input.as_ref().clone()),
                    _ => None,
                }
            }
            "find" | "fd" | "fdfind" | "ls" | "rg" | "grep" | "egrep" | "git" | "locate"
            | "plocate" | "mlocate" | "mdfind" => {
                self.prints_names(name, arguments).or_else(|| passed_names(name, arguments, input))
            }
            _ if prints_setup(name, arguments)
                && fields.first().is_some_and(|it| is_installed(&it.word)) =>
            {
                Some(Output::Nothing)
            }
            // It quotes what it prints, for `eval`.
            "getopt" => Some(Output::line("--")),
            "npm" | "pnpm" | "yarn" if texts().starts_with(&["config", "get", "userconfig"]) => {
                Some(Output::line("~/.npmrc"))
            }
            "python" | "python3"
                if texts().iter().any(|text| {
                    text.contains("sitepackages")
                        || *text == "--user-site"
                        || text.contains("purelib")
                }) =>
            {
                Some(Output::line("~/.local/lib/python3/site-packages"))
            }
            "gcc" | "cc" | "clang" | "g++" | "clang++" => {
                let name =
                    texts().iter().find_map(|text| text.strip_prefix("-print-file-name="))?;
                Some(Output::line(format!("/usr/lib/{name}")))
            }
            "mktemp" => Some(Output::Text(self.temporary(arguments))),
            "basename" | "dirname" => decode::path_part(name, &texts()).map(Output::line),
            "nproc" | "seq" => Some(Output::Text(crate::shell::arithmetic::unknown_number())),
            "date" if prints_digits(&texts()) => {
                Some(Output::Text(crate::shell::arithmetic::unknown_number()))
            }
            "whoami" | "id" | "hostname" | "date" | "uname" | "wc" | "arch" => {
                Some(Output::Text(one_name()))
            }
            "psql" | "mysql" | "mariadb" | "sqlite3" | "duckdb" => {
                let built = texts().iter().find_map(|text| crate::sql::printed_statements(text))?;
                Some(Output::Text(Word::known(built)))
            }
            _ => {
                if let Some(Output::Network(connections)) = input.as_deref()
                    && decode::is_decoder(name)
                {
                    return Some(Output::Network(connections.clone()));
                }
                let input = match input {
                    Some(input) => Rc::clone(input),
                    None if decode::is_decoder(name) => self.operand_output(arguments)?,
                    None => return None,
                };
                let text = decode::filter(name, &texts(), input.likely());
                let text = Word::known(text?);
                Some(match input.known() {
                    Some(_) => Output::Text(text),
                    None => Output::Earlier { file: Word::unknown(), text },
                })
            }
        }
    }

    /// The file that `mktemp` makes. Each run has a name of its own, so that what is written there
    /// can be followed.
    fn temporary(&self, arguments: &[Field]) -> Word {
        let mut folder = Word::known("/tmp");
        let mut name = None;
        let mut is_below = false;
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let start = field.word.known_start();
            match start {
                "-p" => {
                    is_below = true;
                    if let Some(value) = words.next() {
                        folder = value.word.clone();
                    }
                }
                "-t" => is_below = true,
                "--suffix" => drop(words.next()),
                _ if start.starts_with("--tmpdir=") => {
                    is_below = true;
                    folder = field.word.from("--tmpdir=".len());
                }
                "--tmpdir" => is_below = true,
                _ if start.starts_with('-') => {}
                _ => name = Some(field.word.clone()),
            }
        }
        let Some(name) = name else {
            folder.push_str(&format!("/tmp.{:010}", self.parent.unwrap_or_default()));
            return folder;
        };
        if !is_below || name.known_part().contains('/') {
            return name;
        }
        folder.push('/');
        folder.push_word(&name);
        folder
    }

    /// `tee` keeps its input in the files it writes.
    fn keep_written(&mut self, before: usize, input: &Rc<Output>) {
        let files: Vec<String> = self
            .out
            .since(before)
            .iter()
            .filter_map(|effect| match &effect.action {
                Action::Writes(path, _) => path.resolved.text().map(str::to_owned),
                _ => None,
            })
            .collect();
        for file in files {
            self.keep_file(file, Rc::clone(input));
        }
    }

    /// Names of files below a known folder.
    fn prints_names(&mut self, name: &str, arguments: &[Field]) -> Option<Output> {
        let operands =
            || arguments.iter().filter(|field| !field.word.known_start().starts_with('-'));
        let folder = match name {
            "find" => {
                operands().next().map_or_else(|| Word::known("."), |field| field.word.clone())
            }
            "git" => {
                let is_names = arguments.iter().any(|field| {
                    matches!(field.text(), Some("ls-files" | "--name-only" | "--others"))
                }) || is_listing_grep(arguments);
                if arguments.iter().any(|field| field.text() == Some("--show-toplevel")) {
                    let top = self.out.ground.workspace.unwrap_or(".");
                    return Some(Output::line(top));
                }
                if let Some(path) = own_path(arguments) {
                    return Some(Output::line(path));
                }
                if arguments.first().and_then(Field::text) == Some("rev-parse")
                    || arguments.first().and_then(Field::text) == Some("branch")
                {
                    return Some(Output::Text(one_name()));
                }
                if let Some(pattern) = pathspec(arguments).filter(|_| is_names) {
                    return Some(Output::Text(pattern));
                }
                is_names.then(|| Word::known("."))?
            }
            // `ls folder/*` prints whole paths, `ls folder` only names.
            "ls" => {
                let is_itself = arguments.iter().any(|field| {
                    field.text().is_some_and(|text| text.starts_with('-') && text.contains('d'))
                });
                let pattern = operands().find(|field| is_itself || !field.word.is_known());
                let word = pattern.map_or_else(one_name, |field| field.word.clone());
                return Some(Output::Text(word));
            }
            "grep" | "rg" => {
                let lists = arguments.iter().any(|field| {
                    field.text().is_some_and(|text| {
                        text.starts_with('-') && text.contains('l') && !text.starts_with("--")
                            || text == "--files-with-matches"
                    })
                });
                if !lists {
                    return None;
                }
                operands().nth(1).map_or_else(|| Word::known("."), |field| field.word.clone())
            }
            "locate" | "plocate" | "mlocate" | "mdfind" => {
                return operands().next_back().and_then(Field::text).map(located);
            }
            _ => Word::known("."),
        };
        // Without a test of names it may be every file of the folder.
        let test = arguments.windows(2).find_map(|pair| match pair {
            [flag, pattern] if matches!(flag.text(), Some("-name" | "-iname")) => pattern.text(),
            _ => None,
        });
        let mut names = folder;
        names.push('/');
        match test.filter(|pattern| *pattern != "*") {
            Some(pattern) => {
                names.push_gap(crate::word::Fill::Anything);
                names.push('/');
                names.push_word(&crate::shell::glob_word(pattern));
            }
            None if matches!(name, "find" | "git") => names.push_gap(crate::word::Fill::Name),
            None => names.push_gap(crate::word::Fill::Anything),
        }
        Some(Output::Text(names))
    }
}

/// Files anywhere whose names have this text in them.
fn located(text: &str) -> Output {
    let mut names = Word::known("/");
    names.push_gap(crate::word::Fill::Anything);
    names.push('/');
    names.push_gap(crate::word::Fill::Name);
    names.push_word(&crate::shell::glob_word(text));
    names.push_gap(crate::word::Fill::Name);
    Output::Text(names)
}

/// `git ls-files -- '*.o' 'x/*'`: the names have one of these forms; the first one stands for all.
fn pathspec(arguments: &[Field]) -> Option<Word> {
    let listing = arguments.iter().position(|field| field.text() == Some("ls-files"))?;
    let is_pattern = |field: &&Field| {
        let text = field.word.known_part();
        !text.starts_with('-') && text.len() > 1 && text != "." && !text.starts_with(':')
    };
    let pattern = arguments.iter().skip(listing + 1).find(is_pattern)?;
    let text = pattern.text()?;
    let mut word = Word::known("./");
    // With a folder in front, only what is below it.
    if let Some(folder) = text.strip_suffix("/**").or_else(|| text.strip_suffix("/*")) {
        word.push_str(folder);
        word.push('/');
        word.push_gap(crate::word::Fill::Name);
        return Some(word);
    }
    if !text.contains('/') {
        word.push_gap(crate::word::Fill::Anything);
        word.push('/');
    }
    word.push_word(&crate::shell::glob_word(text));
    Some(word)
}

/// `… | grep PATTERN` passes some of the names on.
fn passed_names(name: &str, arguments: &[Field], input: &Input) -> Option<Output> {
    let operands = arguments.iter().filter(|field| !field.word.known_start().starts_with('-'));
    let is_filter = matches!(name, "grep" | "egrep" | "rg") && operands.count() <= 1;
    match input.as_deref() {
        Some(Output::Text(word)) if is_filter && !word.is_known() => {
            Some(Output::Text(word.clone()))
        }
        _ => None,
    }
}

/// A program that is found by its name, or named in a folder in which package managers put it.
fn is_installed(program: &Word) -> bool {
    const FOLDERS: &[&str] = &[
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/opt/homebrew/bin/",
        "/home/linuxbrew/.linuxbrew/bin/",
        "/opt/local/bin/",
        "/run/current-system/sw/bin/",
    ];
    !is_path(program)
        || program.text().is_some_and(|text| {
            let folder = text.rfind('/').map_or("", |at| text.get(..=at).unwrap_or_default());
            FOLDERS.contains(&folder)
        })
}

/// Programs that print settings for the shell which is to read them: `eval "$(ssh-agent -s)"`.
fn prints_setup(name: &str, arguments: &[Field]) -> bool {
    let word = |at: usize| arguments.get(at).and_then(Field::text).unwrap_or_default();
    let first = word(0);
    match name {
        "ssh-agent" | "dircolors" | "lesspipe" | "register-python-argcomplete" => true,
        "pyenv" | "rbenv" | "nodenv" | "goenv" | "jenv" | "starship" | "zoxide" | "atuin" => {
            first == "init"
        }
        "direnv" => matches!(first, "hook" | "export"),
        "brew" => first == "shellenv",
        "luarocks" => first == "path",
        "perl" => arguments.iter().any(|field| field.text() == Some("-Mlocal::lib")),
        "thefuck" => matches!(first, "--alias" | "-a"),
        "fasd" => first == "--init",
        "oh-my-posh" | "navi" => matches!(first, "init" | "widget"),
        "rustup" => first == "completions",
        "fnm" | "opam" | "docker-machine" => first == "env",
        "mise" | "rtx" => matches!(first, "activate" | "hook-env"),
        "conda" | "mamba" | "micromamba" => first.starts_with("shell"),
        "minikube" => matches!(first, "docker-env" | "podman-env"),
        "poetry" => first == "env" && word(1) == "activate",
        "fzf" => matches!(first, "--bash" | "--zsh"),
        "kubectl" | "helm" | "gh" | "npm" | "docker" | "kind" | "pip" | "uv" | "just" => {
            matches!(first, "completion" | "completions" | "generate-shell-completion")
        }
        "mcfly" => first == "init",
        "sheldon" => first == "source",
        "carapace" => first == "_carapace",
        // Any program that is installed prints its own completions.
        _ => {
            matches!(first, "completion" | "completions")
                && arguments.len() < 4
                && crate::programs::find(name).is_none()
        }
    }
}

/// `git grep -l`
fn is_listing_grep(arguments: &[Field]) -> bool {
    let lists = |field: &Field| {
        field.text().is_some_and(|text| {
            text == "--files-with-matches"
                || text.starts_with('-') && !text.starts_with("--") && text.contains('l')
        })
    };
    arguments.first().and_then(Field::text) == Some("grep") && arguments.iter().any(lists)
}

/// `date +%Y-%m-%d` prints digits and signs, `date +pem` prints `pem`.
fn prints_digits(arguments: &[&str]) -> bool {
    arguments.iter().filter_map(|argument| argument.strip_prefix('+')).all(|format| {
        let mut letters = format.chars();
        let mut is_plain = true;
        while let Some(letter) = letters.next() {
            is_plain &= match letter {
                '%' => letters.next().is_some(),
                other => !other.is_alphabetic() || other == 'T',
            };
        }
        is_plain
    })
}

/// A value of which only the place is known.
fn names_of(input: &Input) -> Word {
    match input.as_deref() {
        Some(Output::Text(word)) if !word.is_known() => word.clone(),
        _ => Word::unknown(),
    }
}

/// The path below `.git` that `git rev-parse` prints.
fn own_path(arguments: &[Field]) -> Option<String> {
    let is_asked = arguments.iter().any(|field| field.text() == Some("rev-parse"));
    let mut words = arguments.iter().filter(|_| is_asked).filter_map(Field::text);
    let asked = words.find(|word| {
        matches!(*word, "--git-dir" | "--absolute-git-dir" | "--git-common-dir" | "--git-path")
    })?;
    match asked {
        "--git-path" => Some(format!(".git/{}", words.next().unwrap_or_default())),
        _ => Some(".git".to_owned()),
    }
}

fn one_name() -> Word {
    let mut word = Word::default();
    word.push_gap(crate::word::Fill::Name);
    word
}

fn partly(fields: &[Field]) -> Word {
    joined(fields).word
}

/// What `printf` makes of values of which some are not known: a sign that no text has stands for each.
fn formatted(format: &str, values: &[Field]) -> Option<Word> {
    const FIRST: u32 = 0xf_0000;
    let signs: Vec<String> = (FIRST..)
        .zip(values)
        .map(|(sign, field)| match field.text() {
            Some(text) => text.to_owned(),
            None => char::from_u32(sign).map(String::from).unwrap_or_default(),
        })
        .collect();
    let texts: Vec<&str> = signs.iter().map(String::as_str).collect();
    let text = decode::printf(format, &texts)?;
    if values.iter().all(|field| field.word.is_known()) {
        return Some(Word::known(text));
    }
    let mut word = Word::default();
    for letter in text.chars() {
        let at = u32::from(letter).checked_sub(FIRST).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| values.get(at)).filter(|field| !field.word.is_known()) {
            Some(field) => word.push_word(&field.word),
            None => word.push(letter),
        }
    }
    Some(word)
}

fn echo(arguments: &[Field]) -> Output {
    let mut rest = arguments;
    let (mut escapes, mut line) = (false, true);
    while let Some((first, after)) = rest.split_first() {
        let Some(flags) = first.text().and_then(|text| text.strip_prefix('-')) else { break };
        if flags.is_empty() || !flags.bytes().all(|byte| matches!(byte, b'n' | b'e' | b'E')) {
            break;
        }
        escapes |= flags.contains('e');
        line &= !flags.contains('n');
        rest = after;
    }
    let mut text = joined(rest).word;
    if escapes && let Some(known) = text.text() {
        text = Word::known(ansi::unescape(known));
    }
    if line {
        text.push('\n');
    }
    Output::Text(text)
}
