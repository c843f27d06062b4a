//! What a command does, by the model of its program.

use std::rc::Rc;

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Connection, Purpose, Reach, Scope, Setting, Why};
use crate::host::{self, Address};
use crate::marks::Mark;
use crate::model::{Does, Language, Model, Value};
use crate::shell::eval::{Input, Shell};
use crate::shell::expand::Field;
use crate::shell::line::{Given, Line};
use crate::shell::output::Output;
use crate::shell::syntax::Span;
use crate::word::{Fill, Word};

/// The command at hand.
pub(crate) struct Context {
    /// Where its run is in the list of effects.
    pub(crate) run: usize,
    pub(crate) input: Input,
    pub(crate) span: Span,
    /// Whether it has operands or flags that say what to run.
    has_operands: bool,
}

impl Shell<'_, '_> {
    /// Applies a model to a command line and returns what the command prints.
    pub(crate) fn apply(
        &mut self,
        model: &'static Model,
        fields: &[Field],
        run: usize,
        input: Input,
    ) -> Output {
        let name = fields.first().map_or("", |field| field.word.known_part());
        let name = name.rsplit('/').next().unwrap_or(name);
        let name =
            if model.names.contains(&name) { name } else { model.names.first().unwrap_or(&"") };
        let line = Line::read(model, name, fields.get(1..).unwrap_or_default());
        let before = self.out.effects.all().len();
        let span = fields.first().map_or(0..0, |field| field.span.clone());
        // `bash -s` reads its input whatever the operands are.
        let reads_input = line.flags.iter().any(|given| {
            given.spelling == "-s"
                && given.flag.does.iter().any(|does| matches!(does, Does::RunsInput(_)))
        });
        let has_operands = !reads_input
            && (!line.operands.is_empty() || line.flags.iter().any(|given| given.flag.instead));
        let context = Context { run, input, span, has_operands };
        self.describe(&line, run);
        let folder = self.folder.clone();
        self.folders(&line);
        for model in line.all_models() {
            self.fixed(model.always, &context);
        }
        if !has_operands {
            self.fixed(line.model().map_or(&[], |model| model.bare), &context);
            line.own_here().for_each(|own| self.fixed(own.bare, &context));
        }
        self.flags(&line, &context);
        self.operands(&line, &context);
        self.special(&line, fields, &context);
        self.starts_shell(&line, before, &context);
        self.listens(fields, before);
        self.decided_by_words(&line, fields, &context);
        if let Some(run) = self.out.run_mut(run) {
            if line.is_dry_run() {
                run.marks.remove_all(&DRY);
            }
            let shows = line.asks_for_help()
                || !run.marks.is_empty() && crate::shell::shows::only_shows(fields);
            if shows {
                run.marks = crate::marks::Marks::NONE;
            }
            let always = line.all_models().flat_map(|model| model.always);
            if shows && { always }.any(|does| matches!(does, Does::WritesFile(..))) {
                self.out.effects.forget(before, |action| matches!(action, Action::Writes(..)));
            }
        }
        if model.names.first() == Some(&"openssl")
            && crate::shell::decided::hides_private_part(&line)
        {
            self.shows_public_part(before);
        }
        if line.only_compares() {
            self.out.effects.forget(before, |action| {
                matches!(action, Action::Connects(it) if it.purpose == Purpose::Send)
                    || matches!(action, Action::Writes(..) | Action::Deletes(..))
            });
        }
        let drops = self.out.run_mut(run).is_some_and(|run| run.marks.contains(Mark::Database));
        if drops
            && self.is_in_test()
            && let Some(run) = self.out.run_mut(run)
        {
            run.marks.remove_all(&[Mark::Database]);
        }
        self.folder = folder;
        self.downloads(before)
    }

    fn describe(&mut self, line: &Line<'_>, run: usize) {
        let known = line.flags.iter().filter_map(|given| given.flag.names.first().copied());
        let mut flags: Vec<String> = known.map(str::to_owned).collect();
        flags.extend(line.unknown.iter().map(|(name, _)| name.clone()));
        if let Some(run) = self.out.run_mut(run) {
            run.flags = flags;
            run.sub_command = line.sub_command().to_owned();
            run.knowledge = crate::effect::Knowledge::Modelled;
        }
    }

    /// A shell for a person, if nothing else runs and the words do not only ask for something.
    fn starts_shell(&mut self, line: &Line<'_>, before: usize, context: &Context) {
        let by_model = |model: &'static Model| {
            let bare = if context.has_operands { &[][..] } else { model.bare };
            model.always.contains(&Does::StartsShell) || bare.contains(&Does::StartsShell)
        };
        let by_flag = |given: &Given| given.flag.does.contains(&Does::StartsShell);
        let here = line.models.iter().copied().chain(line.own_here());
        if !{ here }.any(by_model) && !line.flags.iter().any(by_flag) {
            return;
        }
        const ASKS: &[&str] = &["--help", "-ls", "-list", "-V", "--version", "--print"];
        const OF_SCREEN: &[&str] = &["-r", "-x", "-X", "-d", "-v", "-wipe"];
        let is_screen = line.models.first().is_some_and(|model| model.names.contains(&"screen"));
        let asks = |field: &Field| {
            let Some(text) = field.text() else { return false };
            ASKS.contains(&text) || is_screen && OF_SCREEN.contains(&text)
        };
        let ran = self
            .out
            .since(before)
            .iter()
            .any(|it| matches!(it.action, Action::Runs(_) | Action::Opaque(_)));
        if !ran && !line.words.iter().any(asks) {
            let shell = Field::new(Word::known("sh"), context.span.clone());
            self.run(&[shell], context.input.clone());
        }
    }

    /// `--host 0.0.0.0`: anyone who can reach this machine can talk to the program.
    pub(crate) fn listens(&mut self, fields: &[Field], before: usize) {
        for (at, field) in fields.iter().enumerate().skip(1) {
            let text = field.word.known_part();
            // Both signs have one of these.
            if !text.bytes().any(|byte| matches!(byte, b'.' | b':')) {
                continue;
            }
            let Some(start) = EVERYWHERE.iter().find_map(|sign| text.find(sign)) else { continue };
            let (flag, value_at) = match text.get(..start).and_then(|it| it.find('=')) {
                Some(equals) if text.starts_with('-') => (text.get(..equals), equals + 1),
                _ => (fields.get(at - 1).and_then(Field::text), 0),
            };
            let value = text.get(value_at..).unwrap_or_default();
            let address = value.split_once("://").map_or(value, |(_, address)| address);
            let port = EVERYWHERE.iter().find_map(|sign| address.strip_prefix(sign));
            let is_port = |rest: &str| rest.bytes().all(|it| it == b':' || it.is_ascii_digit());
            if !flag.is_some_and(names_listener) || !port.is_some_and(is_port) {
                continue;
            }
            let is_known = |effect: &crate::effect::Effect| match &effect.action {
                Action::Connects(it) => it.host.text() == Some("0.0.0.0"),
                _ => false,
            };
            if self.out.since(before).iter().any(is_known) {
                return;
            }
            let address = host::parse_host(&Word::known("0.0.0.0"), "tcp");
            self.connect(address, Purpose::Listen, None, field.span.clone());
        }
    }

    /// `git -C folder`: what follows is relative to it.
    fn folders(&mut self, line: &Line<'_>) {
        for given in &line.flags {
            if given.flag.does.contains(&Does::Folder)
                && let Some(field) = given.values.first()
            {
                self.folder = self.resolve(&field.word).resolved;
            }
        }
    }

    fn flags(&mut self, line: &Line<'_>, context: &Context) {
        for given in &line.flags {
            let runs_words = given.flag.does.iter().any(|does| takes_words(*does));
            if runs_words {
                self.empties_found(line, given);
                let words = found_files(line, given);
                self.run_words(given.flag.does, &words, context);
            } else if given.flag.does.contains(&Does::Shell) && given.flag.instead {
                self.shell_flag(given, &line.operands);
            } else if given.flag.value == Value::Rest && given.values.len() > 1 {
                self.uses(given.flag.does, &joined(&given.values), context);
            } else if let Some(value) = given.values.first() {
                let with_words = words_of_code(given, line);
                self.uses(given.flag.does, with_words.as_ref().unwrap_or(value), context);
                if given.flag.does.contains(&Does::Shell) && is_foreign(self, &value.word) {
                    self.opaque(Why::Code, Bound::ALL, value.span.clone());
                }
                let loads = given.flag.does.iter().any(|does| matches!(does, Does::Script(_)));
                if loads && !given.flag.instead && self.is_dropped(&value.word) {
                    self.opaque(Why::Code, Bound::ALL, value.span.clone());
                }
                if given.flag.does.is_empty() {
                    self.silent_path(value);
                }
            } else {
                self.fixed(given.flag.does, context);
            }
        }
        // `agent -p --force`: a value that is itself a flag with a mark counts as that flag, too.
        for value in line.flags.iter().flat_map(|given| &given.values) {
            let Some(text) = value.text().filter(|text| text.starts_with("--")) else { continue };
            let flags = line.models.iter().flat_map(|model| model.flags.iter());
            let known = flags.filter(|flag| flag.names.contains(&text));
            for does in known.flat_map(|flag| flag.does) {
                if let Does::Marks(mark) = does {
                    self.mark(context.run, *mark);
                }
            }
        }
        for (name, value) in &line.unknown {
            if let Some(value) = value {
                self.stray(value);
                self.doubtful(name, value);
            }
        }
    }

    /// `find src -type f -exec truncate -s 0 {} +` leaves nothing of what is below the folder.
    fn empties_found(&mut self, line: &Line<'_>, given: &Given) {
        let first = given.values.first().and_then(Field::text);
        let is_all = given.flag.value == Value::ToSemicolon && name_test(line).is_none();
        if first == Some("truncate") && is_all {
            for folder in line.operands.iter().take(8) {
                self.write_file(folder, Change::Empty);
            }
        }
    }

    /// `sh -c TEXT NAME ARGUMENTS…`
    fn shell_flag(&mut self, given: &Given, operands: &[Field]) {
        let Some(text) = given.values.first() else { return };
        let words = operands.iter().map(|field| field.word.clone());
        let positional = self.positional.replace(words.clone().skip(1).collect());
        self.scoped(|shell| {
            if let Some(name) = words.into_iter().next() {
                shell.assign("0", name);
            }
            shell.word_text(text)
        });
        self.positional = positional;
    }

    fn operands(&mut self, line: &Line<'_>, context: &Context) {
        let Some(meaning) = line.meaning() else { return };
        let count = line.operands.len();
        for (at, field) in line.operands.iter().enumerate() {
            let is_last = at + 1 == count && count > 1 && at >= meaning.first.len();
            let usage = match (meaning.first.get(at), meaning.last) {
                (Some(first), _) => *first,
                (None, Some(last)) if is_last => last,
                (None, _) => meaning.rest,
            };
            if usage.iter().any(|does| {
                takes_words(*does)
                    || matches!(does, Does::Shell | Does::RemoteShell)
                        && meaning.first.get(at).is_none()
            }) {
                let rest = line.operands.get(at..).unwrap_or_default();
                if let Some(sign) = replaced_sign(line) {
                    let rest: Vec<Field> = rest.iter().map(|it| with_braces(it, sign)).collect();
                    return self.run_words(usage, &rest, context);
                }
                return self.run_words(usage, rest, context);
            }
            if usage.is_empty() {
                self.stray(field);
                if let Some((_, flag)) = line.doubtful.iter().find(|(place, _)| *place == at) {
                    self.doubtful(flag, field);
                }
            }
            if let Some((_, flag)) = line.doubtful.iter().find(|(place, _)| *place == at)
                && names_output(flag)
                && is_path(&field.word)
            {
                self.write_file(field, Change::Content);
            }
            if usage == [Does::Deletes(Scope::Tree)] && is_search(line) && name_test(line).is_some()
            {
                let found = Field::new(found_file(line, field.word.clone()), field.span.clone());
                self.uses(&[Does::Deletes(Scope::One)], &found, context);
                continue;
            }
            if matches!(usage, [Does::Script(Language::Shell)]) {
                let rest = line.operands.get(at + 1..).unwrap_or_default();
                self.as_script(field, rest, |shell| shell.uses(usage, field, context));
                continue;
            }
            self.uses(usage, field, context);
        }
    }

    /// Runs a script in a process of its own: it knows its name and its arguments, and keeps its
    /// variables and its folder.
    pub(crate) fn as_script(
        &mut self,
        script: &Field,
        arguments: &[Field],
        run: impl FnOnce(&mut Self),
    ) {
        let positional = self.positional.clone();
        if !arguments.is_empty() {
            self.positional = Some(arguments.iter().map(|field| field.word.clone()).collect());
        }
        self.scoped(|shell| {
            shell.name_script(&script.word);
            run(shell);
        });
        self.positional = positional;
    }

    /// A value that the model has no use for: a URL in it still says something.
    fn stray(&mut self, field: &Field) {
        // `aws … --policy file://x`
        let start = field.word.known_start();
        if let Some(at) = ["file://", "fileb://"].iter().find(|sign| start.starts_with(**sign)) {
            return self.read_file(&field.from(at.len()), Access::Content);
        }
        if field.word.known_start().contains("://")
            && let Some(address) = host::parse_url(&field.word)
            && address.host.text() != Some("")
        {
            self.connect(address, Purpose::Fetch, Some(&field.word), field.span.clone());
        }
    }

    /// A value that may belong to a flag that the model does not have.
    pub(crate) fn doubtful(&mut self, flag: &str, value: &Field) {
        // `--gtest_filter=Parser.*` chooses, `--tree-filter 'rm a'` runs.
        let chooses = flag.ends_with("filter") && !value.word.known_part().contains(' ');
        if names_command(flag) && !chooses {
            self.word_text(&shell_value(value));
        } else if names_source(flag)
            && let Some(address) = host::parse_url(&value.word)
        {
            self.connect(address, Purpose::Execute, Some(&value.word), value.span.clone());
        } else if names_output(flag) && is_path(&value.word) {
            self.write_file(value, Change::Content);
        } else if !names_key(flag) {
            self.stray_path(value);
        }
    }

    /// The value of a flag that does nothing by itself: a file of settings is read all the same. Keys
    /// that a program needs for its own work are not shown by it.
    fn silent_path(&mut self, field: &Field) {
        let Some(text) = field.text() else { return };
        if text.starts_with("file:") || text.starts_with("fileb:") {
            return self.stray(field);
        }
        let is_file = text.starts_with('/') && text.len() > 1 && !text.contains([' ', ':', '*']);
        let lower = text.to_ascii_lowercase();
        let is_key = ["/.", "key", "cred", "token", "secret", ".pem", "cert", "/dev/", "/proc/"]
            .iter()
            .any(|part| lower.contains(part));
        if is_file && !is_key {
            self.read_file(field, Access::Content);
        }
    }

    /// The value of a flag that the model does not have, and that names a file: it may be read, or run.
    fn stray_path(&mut self, field: &Field) {
        let start = field.word.known_start();
        let at = usize::from(start.starts_with('@'));
        let is_file = ["/", "~/", "../"]
            .iter()
            .any(|sign| start.get(at..).is_some_and(|start| start.starts_with(sign)));
        // `df -h /`: the root is a folder.
        if !is_file || start == "/" || start.contains([' ', ':', '\n']) {
            return;
        }
        let file = field.from(at);
        let name = file.word.known_part().rsplit('/').next().unwrap_or_default();
        if crate::shell::simple::is_shell(name) {
            self.run(&[file], None);
        } else if !self.own_program(&file) {
            self.read_file(&file, Access::Content);
        }
    }

    fn fixed(&mut self, usage: &[Does], context: &Context) {
        for does in usage {
            match does {
                Does::Marks(mark) => self.mark(context.run, *mark),
                Does::ReadsFile(path, access) => {
                    self.read_file(&Field::new(Word::known(*path), context.span.clone()), *access);
                }
                Does::WritesFile(path, change) => {
                    self.write_file(&Field::new(Word::known(*path), context.span.clone()), *change);
                }
                Does::DeletesFile(path, scope) => {
                    let field = Field::new(Word::known(*path), context.span.clone());
                    let could = Bound::just(EffectKind::Deletes);
                    self.path_effect(&field, could, |path| Action::Deletes(path, *scope));
                }
                Does::ConnectsTo(host, purpose) => {
                    let address = host::parse_host(&Word::known(*host), "https");
                    self.connect(address, *purpose, None, context.span.clone());
                }
                Does::RunsInput(language) if !context.has_operands => {
                    self.run_input(*language, context);
                }
                Does::Hides => self.opaque(Why::Language, Bound::ALL, context.span.clone()),
                Does::Sets(name, reach) => {
                    let setting = Setting { name: Word::known(*name), value: None, reach: *reach };
                    self.push(Action::Sets(setting), context.span.clone());
                }
                _ => {}
            }
        }
    }

    pub(crate) fn mark(&mut self, run: usize, mark: Mark) {
        if let Some(run) = self.out.run_mut(run) {
            run.marks.insert(mark);
        }
    }

    /// Uses one value.
    pub(crate) fn uses(&mut self, usage: &[Does], field: &Field, context: &Context) {
        let is_stream =
            matches!(field.text(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
        for does in usage {
            match does {
                Does::Reads(access) if !is_stream => {
                    // Many programs read more words from `@file`.
                    let start = field.word.known_start();
                    if start.starts_with("@/") || start.starts_with("@~") {
                        self.read_file(&field.from(1), *access);
                    } else {
                        self.read_file(field, *access);
                    }
                }
                Does::Writes(change) if !is_stream => self.write_file(field, *change),
                Does::Deletes(scope) => {
                    let could = Bound::just(EffectKind::Deletes);
                    self.path_effect(field, could, |path| Action::Deletes(path, *scope));
                }
                Does::Connects(purpose) => self.connects(field, *purpose, ""),
                Does::Transfers(purpose) => self.transfers(field, *purpose),
                Does::Repository(purpose) => self.repository(field, *purpose),
                Does::Package(registry) => self.package(field, *registry),
                Does::AtFile => self.at_file(field),
                Does::FieldFile => self.field_file(field),
                Does::KeyedFile(purpose) => self.keyed_file(field, *purpose),
                Does::KeyedHost => self.keyed_host(field),
                Does::Program => {
                    if is_foreign(self, &field.word) {
                        self.opaque(Why::Code, Bound::ALL, field.span.clone());
                    }
                    self.word_text(field);
                }
                Does::Shell | Does::RemoteShell => {
                    self.word_text(field);
                }
                Does::Code(language) if is_stream => self.run_input(*language, context),
                Does::Code(language) => self.code(*language, field),
                Does::Script(language) => self.script(*language, field, context.input.clone()),
                Does::Extension => {
                    let text = field.word.known_part();
                    if text.contains('/') || text.ends_with(".nse") || text.ends_with(".cow") {
                        self.read_file(field, Access::Content);
                        self.opaque(Why::Language, Bound::ALL, field.span.clone());
                    }
                }
                Does::Recipe if field.stream.is_some() => {
                    self.opaque(Why::Code, Bound::ALL, field.span.clone());
                }
                Does::Recipe if host::parse_url(&field.word).is_some() => {
                    self.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
                    self.connects(field, Purpose::Execute, "");
                }
                Does::Recipe if !is_stream => {
                    self.read_file(field, Access::Content);
                    self.known_recipe(field);
                }
                Does::Recipe => self.opaque(Why::Code, Bound::ALL, field.span.clone()),
                Does::Assigns(prefix, reach) => self.assigns(prefix, *reach, field),
                Does::Sets(name, reach) => self.sets(Word::known(*name), Some(field), *reach),
                Does::Mount => self.mount(field, context.run),
                Does::Forward => self.forward(field, context.run),
                Does::Sql => self.sql(field),
                Does::MarksIf(words, mark) => {
                    if field.text().is_some_and(|text| words.contains(&text)) {
                        self.mark(context.run, *mark);
                    }
                }
                Does::MarksIfContains(part, mark) => {
                    if field.word.known_part().contains(part) {
                        self.mark(context.run, *mark);
                    }
                }
                Does::Stops => {
                    if crate::guards::is_guard(field.word.known_part()) {
                        self.mark(context.run, Mark::Guard);
                    }
                }
                Does::Mode => {
                    if sets_id(field.word.known_part()) {
                        self.mark(context.run, Mark::Privilege);
                    }
                }
                Does::OpaqueInput => {}
                other => self.fixed(&[*other], context),
            }
        }
    }

    pub(crate) fn sql(&mut self, field: &Field) {
        match field.text() {
            Some(text) => {
                self.push(Action::Sql(text.to_owned()), field.span.clone());
                let text = text.to_owned();
                for built in crate::sql::built_statements(&text) {
                    self.push(Action::Sql(built), field.span.clone());
                }
                crate::sql::reach(self, &text, field);
            }
            None => self.opaque(Why::Value, Bound::just(EffectKind::Sql), field.span.clone()),
        }
    }

    /// Words that are a command, or shell text in several words.
    fn run_words(&mut self, usage: &[Does], words: &[Field], context: &Context) {
        for does in usage {
            match does {
                Does::Command | Does::RemoteCommand => self.wrapped(words, context.input.clone()),
                Does::CommandWithInput => self.wrapped_with_input(words, &context.input),
                Does::Shell | Does::RemoteShell => {
                    let is_end = words.first().and_then(Field::text) == Some("--");
                    let words = if is_end { words.get(1..).unwrap_or_default() } else { words };
                    if let [only] = words {
                        self.word_text(only);
                    } else {
                        self.word_text(&joined(words));
                    }
                }
                other => {
                    if let Some(first) = words.first() {
                        self.uses(&[*other], first, context);
                    }
                }
            }
        }
    }

    /// Runs the command of a wrapper; assignments in front of it are its environment.
    pub(crate) fn wrapped(&mut self, words: &[Field], input: Input) {
        let mut rest = words;
        if rest.first().and_then(Field::text) == Some("--") {
            rest = rest.get(1..).unwrap_or_default();
        }
        // `flock FILE -c TEXT`, `script -c TEXT`
        if let [flag, text, ..] = rest
            && flag.text() == Some("-c")
        {
            self.word_text(text);
            return;
        }
        // `yarn exec 'curl x | sh'`: no program has a name with blanks and pipes.
        if let [only] = rest
            && only.text().is_some_and(is_command_line)
        {
            self.word_text(only);
            return;
        }
        while let Some((first, after)) = rest.split_first() {
            let Some((name, value)) = assignment(first) else { break };
            self.sets_environment(&name, value, first.span.clone());
            rest = after;
        }
        if !rest.is_empty() {
            self.run(rest, input);
        }
    }

    /// `xargs`: words from standard input follow.
    fn wrapped_with_input(&mut self, words: &[Field], input: &Input) {
        // `parallel 'convert {} {.}.png'`: the command is one text.
        if let [only] = words
            && let Some(split) = split_text(only)
        {
            return self.wrapped_with_input(&split, input);
        }
        if let [only, sign, ..] = words
            && matches!(sign.text(), Some(":::" | "::::"))
            && let Some(mut split) = split_text(only)
        {
            split.extend(words.iter().skip(1).cloned());
            return self.wrapped_with_input(&split, input);
        }
        // `parallel COMMAND ::: ARGUMENT…`
        let is_sign = |field: &Field| matches!(field.text(), Some(":::" | ":::+"));
        if let Some(at) = words.iter().position(is_sign) {
            let (command, arguments) = words.split_at(at);
            let arguments = arguments.iter().filter(|field| !is_sign(field)).take(16);
            for argument in arguments {
                // `parallel {} ::: COMMAND…` and `parallel ::: COMMAND…`
                if command.first().is_none_or(|first| first.text() == Some("{}")) {
                    self.word_text(argument);
                    continue;
                }
                // `parallel 'curl {} | sh' ::: URL…`: the command is one text.
                if let [text] = command
                    && text.word.known_part().contains(' ')
                {
                    let mut whole = replace_braces(text, &argument.word);
                    if !text.word.known_part().contains("{}") {
                        whole.word.push(' ');
                        whole.word.push_word(&argument.word);
                    }
                    self.word_text(&whole);
                    continue;
                }
                let mut all: Vec<Field> =
                    command.iter().map(|field| replace_braces(field, &argument.word)).collect();
                let has_place = command.iter().any(|field| field.word.known_part().contains("{}"));
                if !has_place {
                    all.push(argument.clone());
                }
                self.wrapped(&all, None);
            }
            return;
        }
        let mut all = words.to_vec();
        let span = words.last().map_or(0..0, |field| field.span.clone());
        let text = match input.as_deref() {
            Some(Output::Text(word)) => Some(word.clone()),
            _ => None,
        };
        let more: Vec<Word> = match &text {
            Some(word) => word.split_blanks().into_iter().take(64).collect(),
            None => vec![Word::unknown()],
        };
        let replaces = all.iter().any(|field| field.word.known_part().contains("{}"));
        if replaces && let Some(text) = text.as_ref().and_then(Word::text) {
            // `-I{}`: each line is one item.
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(16) {
                let item = Word::known(line);
                let all: Vec<Field> =
                    words.iter().map(|field| replace_braces(field, &item)).collect();
                self.wrapped(&all, None);
            }
            return;
        }
        if replaces && runs_text(&all) && more.first().is_some_and(|first| !first.is_known()) {
            // An item is one word of the text, not more text.
            let first = more.first().cloned().unwrap_or_default();
            let item = Word::known(format!("${{{ITEM}}}"));
            all = all.iter().map(|field| replace_braces(field, &item)).collect();
            self.assign(ITEM, first);
        } else if replaces && let Some(first) = more.first() {
            all = all.iter().map(|field| replace_braces(field, first)).collect();
        } else if !words.is_empty() {
            all.extend(more.into_iter().map(|word| Field::new(word, span.clone())));
        }
        if !all.is_empty() {
            self.wrapped(&all, None);
        }
    }

    // Connections.

    pub(crate) fn connect(
        &mut self,
        address: Address,
        purpose: Purpose,
        url: Option<&Word>,
        span: Span,
    ) {
        // What the words of the command were made of leaves the machine with them.
        let is_made = purpose == Purpose::Fetch
            && (self.words_read || url.is_some_and(crate::host::carries_secret));
        let purpose = if is_made { Purpose::Send } else { purpose };
        // `api.$DOMAIN`: whose host it is, is not in the text.
        let mut address = address;
        if ends_unknown(&address.host) {
            address.host = Word::unknown();
        }
        let inner = url.and_then(inner_url);
        if let Some(file) = inner.as_ref().filter(|inner| is_local_file(inner)) {
            self.read_file(&Field::new(file.clone(), span.clone()), Access::Content);
        } else if let Some(inner) = inner {
            let address = host::parse_host(&inner, "");
            let connection = Connection {
                host: address.host,
                port: address.port,
                scheme: address.scheme,
                purpose: Purpose::Fetch,
                url: Some(inner),
            };
            self.push(Action::Connects(connection), span.clone());
        }
        if address.host.is_unknown() || address.host.known_part().is_empty() {
            let could = Bound::just(EffectKind::Connects);
            let is_plain = matches!(purpose, Purpose::Fetch | Purpose::Listen | Purpose::Remote);
            let why = if is_plain { Why::Target } else { Why::Value };
            self.opaque(why, could, span.clone());
            if address.host.is_known() {
                return;
            }
        }
        let connection = Connection {
            host: address.host,
            port: address.port,
            scheme: address.scheme,
            purpose,
            url: url.cloned(),
        };
        self.push(Action::Connects(connection), span);
    }

    /// `host/port` of `/dev/tcp`.
    pub(crate) fn socket(&mut self, word: &Word, span: Span) {
        let text = word.known_part();
        let slash = text.find('/').unwrap_or(text.len());
        let port = text.get(slash + 1..).and_then(|port| port.parse().ok());
        let host = word.until(slash);
        let host =
            host.text().map_or_else(|| host.clone(), |text| Word::known(host::normal_host(text)));
        let host = if word.is_unknown() { Word::unknown() } else { host };
        let address = Address { scheme: "tcp".to_owned(), host, port, path: Word::default() };
        self.connect(address, Purpose::Tunnel, None, span);
    }

    pub(crate) fn connects(&mut self, field: &Field, purpose: Purpose, scheme: &str) {
        if is_local_file(&field.word) {
            return self.read_file(field, Access::Content);
        }
        // `http :8000/api`
        if field.word.known_start().starts_with(':') {
            let mut local = Word::known("localhost");
            local.push_word(&field.word);
            let address = host::parse_host(&local, scheme);
            return self.connect(address, purpose, Some(&local), field.span.clone());
        }
        let address = host::parse_host(&field.word, scheme);
        self.connect(address, purpose, Some(&field.word), field.span.clone());
    }

    fn transfers(&mut self, field: &Field, purpose: Purpose) {
        if let Some(address) = host::parse_remote_path(&field.word) {
            return self.connect(address, purpose, Some(&field.word), field.span.clone());
        }
        match purpose {
            Purpose::Send => self.write_file(field, Change::Folder),
            _ => self.read_file(field, Access::Tree),
        }
    }

    fn repository(&mut self, field: &Field, purpose: Purpose) {
        // `ext::COMMAND` is a transport of git: blanks inside of a word are written `% `.
        if let Some(command) = field.text().and_then(|text| text.strip_prefix("ext::")) {
            let command = Word::known(command.replace("% ", " "));
            return drop(self.word_text(&Field::new(command, field.span.clone())));
        }
        // Manifests and modules name a repository without a scheme.
        let short = || super::rows::forge(field.text()?).filter(|_| purpose == Purpose::Execute);
        match host::parse_remote_path(&field.word).or_else(short) {
            Some(address) => self.connect(address, purpose, Some(&field.word), field.span.clone()),
            None if is_path(&field.word) => self.read_file(field, Access::Tree),
            None => {}
        }
    }

    /// Data goes to a file or to a URL.
    pub(crate) fn copies_to(&mut self, field: &Field) {
        match host::parse_url(&field.word) {
            Some(address) => {
                let span = field.span.clone();
                self.connect(address, Purpose::Send, Some(&field.word), span);
            }
            None => self.write_file(field, Change::Content),
        }
    }

    /// A mark for the command that runs what is analysed now.
    pub(crate) fn mark_parent(&mut self, mark: Mark) {
        let parent = self.parent;
        let is_it = |effect: &crate::effect::Effect| {
            effect.at.command == parent && matches!(effect.action, Action::Runs(_))
        };
        match self.out.effects.all().iter().rposition(is_it) {
            Some(at) => self.mark(at, mark),
            // Code that a tool runs by itself: there is no command yet.
            None => {
                let mut marks = crate::marks::Marks::NONE;
                marks.insert(mark);
                let code = Word::known("code");
                let run = crate::effect::Run {
                    program: code.clone(),
                    words: vec![code],
                    sub_command: String::new(),
                    flags: Vec::new(),
                    marks,
                    knowledge: crate::effect::Knowledge::Unmodelled,
                };
                self.out.push_run(run, 0..0, parent);
            }
        }
    }

    fn at_file(&mut self, field: &Field) {
        if field.word.known_start().starts_with('@') {
            let file = field.from(1);
            if file.text() != Some("-") {
                self.read_file(&file, Access::Content);
            }
        }
    }

    fn field_file(&mut self, field: &Field) {
        let text = field.word.known_part();
        let at =
            ["=@", "=<", "@"].iter().find_map(|sign| text.find(sign).map(|at| at + sign.len()));
        if let Some(at) = at {
            let end =
                text.get(at..).and_then(|rest| rest.find(';')).map_or(text.len(), |end| at + end);
            let word = field.word.until(end).from(at);
            if word.text() != Some("-") {
                self.read_file(&Field::new(word, field.span.clone()), Access::Content);
            }
        }
    }

    /// `id=x,src=FILE`, `type=local,dest=FOLDER`, `dir:FOLDER`, `json=FILE`
    fn keyed_file(&mut self, field: &Field, purpose: Purpose) {
        let text = field.word.known_part();
        let mut at = 0;
        for part in text.split(',').take(8) {
            let start = at;
            at += part.len() + 1;
            let (key, value) = part.split_once('=').unwrap_or(("", part));
            if matches!(key, "ref" | "registry") {
                let address = host::parse_host(&Word::known(value), "https");
                self.connect(address, purpose, None, field.span.clone());
                continue;
            }
            let value = value.split_once(":/").map_or(value, |(_, path)| {
                value.get(value.len() - path.len() - 1..).unwrap_or(value)
            });
            let is_file = matches!(key, "src" | "source" | "dest" | "file")
                || purpose == Purpose::Send && key.is_empty()
                || is_path(&Word::known(value));
            if !is_file || value.is_empty() || value == "-" {
                continue;
            }
            let end = start + part.len();
            let word = field.word.until(end).from(end - value.len());
            let file = Field::new(word, field.span.clone());
            match purpose {
                Purpose::Send => self.write_file(&file, Change::Content),
                _ => self.read_file(&file, Access::Content),
            }
        }
    }

    /// `host=NAME user=x`, `smtp=NAME`, `upstream:https://NAME`
    pub(crate) fn keyed_host(&mut self, field: &Field) {
        let text = field.word.known_part();
        let keys = ["host=", "hostaddr=", "smtp=", "upstream:"];
        let at = keys.iter().find_map(|key| text.find(key).map(|at| at + key.len()));
        let is_url = text.contains("://");
        let Some(at) = at.or(is_url.then_some(0)) else { return };
        let end = text.get(at..).and_then(|rest| rest.find([' ', ',', ';']));
        let value = field.word.until(end.map_or(text.len(), |end| at + end)).from(at);
        self.connects(&Field::new(value, field.span.clone()), Purpose::Fetch, "");
    }

    // Settings.

    fn assigns(&mut self, prefix: &str, reach: Reach, field: &Field) {
        let text = field.word.known_part();
        // `ssh -o 'ProxyCommand x'`
        let is_end = |letter| letter == '=' || prefix == "ssh:" && letter == ' ';
        let Some(equals) = text.find(is_end) else {
            // A file of settings: `cargo --config x.toml`.
            if prefix == "cargo:" {
                self.read_file(field, Access::Content);
                return self.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            let mut name = Word::known(prefix);
            name.push_word(&field.word);
            return self.sets(name, None, reach);
        };
        let mut name = Word::known(prefix);
        name.push_word(&field.word.until(equals));
        let mut value = field.from(equals + 1);
        if prefix == "ssh:" {
            self.ssh_option(text.get(..equals).unwrap_or_default(), &value);
        }
        // A text of TOML is in quotes.
        if prefix == "cargo:"
            && let Some(text) = value.text()
        {
            value.word = Word::known(text.trim().trim_matches(['"', '\'']));
        }
        self.sets(name, Some(&value), reach);
    }

    /// Options of ssh that name a host or a file.
    fn ssh_option(&mut self, name: &str, value: &Field) {
        match name.trim().to_ascii_lowercase().as_str() {
            "proxyjump" | "hostname" => self.connects(value, Purpose::Remote, ""),
            "userknownhostsfile" | "controlpath" if is_path(&value.word) => {
                self.write_file(value, Change::Content);
            }
            _ => {}
        }
    }

    /// A setting. What it makes the same command run is analysed at once.
    pub(crate) fn sets(&mut self, name: Word, value: Option<&Field>, reach: Reach) {
        use crate::shell::settings::{Meaning, meaning};
        let means = name.text().and_then(meaning);
        // `HTTP_PROXY= npm install` takes a proxy away.
        let is_empty = value.is_some_and(|it| it.text() == Some(""));
        let is_variable = name.text().is_some_and(|name| name.starts_with("env:"));
        let takes_away = !matches!(means, None | Some(Meaning::Guard));
        if is_variable
            && (takes_away && is_empty || reach == Reach::Command && keeps_local(&name, value))
            || means == Some(Meaning::Host) && sets_default_registry(&name, value)
        {
            return;
        }
        // Whether one commit is signed.
        let is_signing = name.text().is_some_and(|name| name.ends_with(".gpgsign"));
        if is_signing && reach == Reach::Command {
            return;
        }
        let loads = means == Some(Meaning::Loads);
        let loader = name.text().filter(|_| loads).map(str::to_owned);
        let is_path_setting = name.text() == Some("env:PATH");
        let is_login = name
            .text()
            .and_then(|name| name.strip_prefix("env:"))
            .is_some_and(crate::shell::settings::is_login);
        let span = value.map_or(0..0, |value| value.span.clone());
        let setting = Setting { name, value: value.map(|field| field.word.clone()), reach };
        self.push(Action::Sets(setting), span);
        let Some(value) = value else { return };
        if is_login {
            self.read_file(value, Access::Content);
        }
        if let Some(name) = loader {
            self.loads_foreign(&name, value);
        }
        if is_path_setting {
            self.keep_program_folders(&value.word);
            self.searches_foreign_folder(&value.word, &value.span);
        }
        match means {
            Some(Meaning::Command) if is_command(&value.word) => {
                let text = shell_value(value);
                if is_foreign(self, &text.word) {
                    self.opaque(Why::Code, Bound::ALL, text.span.clone());
                }
                self.word_text(&text);
            }
            Some(Meaning::Code(language)) => {
                if self.is_dropped(&value.word) {
                    self.opaque(Why::Code, Bound::ALL, value.span.clone());
                }
                self.script(language, value, None);
            }
            _ => {}
        }
    }

    // Containers and tunnels.

    fn mount(&mut self, field: &Field, run: usize) {
        let text = field.word.known_part();
        let is_named = ["source=", "src=", "device="].iter().any(|key| text.contains(key));
        let source = match (is_named, text.find(':'), text.find('=')) {
            (true, ..) => {
                let parts = text.split(',').map(|part| {
                    let part = part.strip_prefix("volume-opt=").unwrap_or(part);
                    part.split_once('=').unwrap_or((part, ""))
                });
                let find = |(key, _): &(&str, &str)| matches!(*key, "source" | "src" | "device");
                Word::known(parts.into_iter().find(find).map_or("", |(_, value)| value))
            }
            // `NAME=FOLDER` of a build.
            (false, None, Some(equals)) => field.word.from(equals + 1),
            (false, colon, _) => field.word.until(colon.unwrap_or(0)),
        };
        if !is_path(&source) {
            return;
        }
        let source = Field::new(source, field.span.clone());
        let resolved = self.resolve(&source.word).resolved;
        if resolved.text().is_some_and(gives_the_host) {
            self.mark(run, Mark::HostAccess);
        }
        self.read_file(&source, Access::Tree);
        let is_read_only = text.ends_with(":ro") || text.contains("readonly");
        if !is_read_only {
            self.write_file(&source, Change::Folder);
        }
    }

    fn forward(&mut self, field: &Field, run: usize) {
        self.mark(run, Mark::Tunnel);
        let parts: Vec<&str> = field.word.known_part().rsplitn(3, ':').collect();
        if let [port, host, _] = parts.as_slice() {
            let address = host::parse_host(&Word::known(format!("{host}:{port}")), "tcp");
            self.connect(address, Purpose::Tunnel, None, field.span.clone());
        }
    }

    // Code.

    /// Code on standard input.
    pub(crate) fn run_input(&mut self, language: Language, context: &Context) {
        let Some(input) = context.input.clone() else { return };
        self.run_output(language, &input, &context.span);
    }

    /// Runs what a command prints as code.
    pub(crate) fn run_output(&mut self, language: Language, output: &Rc<Output>, span: &Span) {
        match output.as_ref() {
            Output::Nothing => {}
            Output::Text(word) => self.code(language, &Field::new(word.clone(), span.clone())),
            Output::File(word) => {
                let field = Field::new(word.clone(), span.clone());
                self.opaque(Why::Code, Bound::ALL, span.clone());
                self.script(language, &field, None);
            }
            Output::Earlier { file, text } => {
                self.opaque(Why::Code, Bound::ALL, span.clone());
                if !file.is_unknown() {
                    self.read_file(&Field::new(file.clone(), span.clone()), Access::Content);
                }
                self.likely_code(language, &Field::new(text.clone(), span.clone()));
            }
            Output::Network(connections) => {
                self.opaque(Why::NetworkCode, Bound::ALL, span.clone());
                for connection in connections {
                    let executes = Connection { purpose: Purpose::Execute, ..connection.clone() };
                    self.push(Action::Connects(executes), span.clone());
                }
            }
            Output::Unknown => self.opaque(Why::Code, Bound::ALL, span.clone()),
        }
    }

    /// A file with code.
    pub(crate) fn script(&mut self, language: Language, field: &Field, input: Input) {
        let is_input =
            matches!(field.text(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
        if is_input && let Some(input) = input {
            return self.run_output(language, &input, &field.span);
        }
        if let Some(output) = self.descriptor_file(field) {
            return self.run_output(language, &output, &field.span);
        }
        if self.script_from_socket(field) {
            return;
        }
        if let Some(stream) = &field.stream {
            let stream = Rc::clone(stream);
            return self.run_output(language, &stream, &field.span);
        }
        if field.word.is_unknown() {
            return self.opaque(Why::Code, Bound::ALL, field.span.clone());
        }
        if is_input {
            return;
        }
        if host::parse_url(&field.word).is_some() {
            self.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
            return self.connects(field, Purpose::Execute, "");
        }
        if crate::guards::is_attack_tool(field.word.known_part()) {
            self.mark_parent(Mark::Guard);
        }
        // A share of another host.
        let share = field.word.known_start().replace('\\', "/");
        if share.starts_with("//") && share.matches('/').count() > 2 {
            self.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
        }
        self.read_file(field, Access::Content);
        self.known_script(language, field);
    }

    /// A script that the text itself has written, or that the resolver can read.
    pub(crate) fn known_script(&mut self, language: Language, field: &Field) {
        let path = self.resolve(&field.word);
        let Some(path) = path.resolved.text() else { return self.earlier_script(language, field) };
        if let Some(output) = self.written.get(path).cloned().or_else(|| self.fetched_output(path))
        {
            // A script in another language is as hidden as a file that was there before, unless it
            // names a host, a program or a file of the user.
            let is_plain = language == Language::Other
                && output.known().is_some_and(|text| !crate::code::reaches_out(text));
            return match output.as_ref() {
                Output::File(_) => {}
                _ if is_plain => {}
                _ => self.run_output(language, &output, &field.span),
            };
        }
        let script = self.out.ground.resolver.and_then(|resolver| resolver.script(path));
        if let Some(text) = script {
            // The file counts, not what the session once wrote there.
            let field = Field::new(Word::known(text.into_owned()), field.span.clone());
            return self.code(language, &field);
        }
        self.earlier_script(language, field);
    }

    /// A file of settings that the text itself has written: opaque if it names something that runs.
    pub(crate) fn known_recipe(&mut self, field: &Field) {
        let output = self.file_output(field);
        let Some(text) = output.likely() else { return };
        let runs = [
            "exec",
            "shell",
            "command",
            "/bin/",
            "system(",
            "script",
            "invoke",
            "hook",
            "load_module",
            "postup",
            "predown",
            "root /;",
            "root /home",
            "alias /;",
        ];
        let lower = text.to_ascii_lowercase();
        if runs.iter().any(|word| lower.contains(word)) {
            self.opaque(Why::Code, Bound::ALL, field.span.clone());
        }
    }

    /// A program that the text itself has written and made executable.
    pub(crate) fn own_program(&mut self, field: &Field) -> bool {
        let path = self.resolve(&field.word).resolved;
        let Some(path) = path.text().filter(|path| self.written.contains_key(*path)) else {
            return false;
        };
        let is_it = |effect: &crate::effect::Effect| {
            matches!(&effect.action, Action::Writes(changed, Change::Attributes)
                if changed.resolved.text() == Some(path))
        };
        let is_executable = self.out.effects.all().iter().any(is_it);
        if is_executable {
            self.known_script(Language::Shell, field);
        }
        is_executable
    }

    /// Code in the text.
    pub(crate) fn code(&mut self, language: Language, field: &Field) {
        match language {
            Language::Harmless => {}
            Language::Shell => drop(self.word_text(field)),
            _ => crate::code::scan(self, language, field),
        }
    }

    /// What was fetched is what the command prints, or the files that it has written.
    pub(crate) fn downloads(&mut self, before: usize) -> Output {
        let mut connections = Vec::new();
        let mut files = Vec::new();
        let mut folders = Vec::new();
        for effect in self.out.since(before) {
            match &effect.action {
                Action::Connects(connection) if connection.purpose == Purpose::Fetch => {
                    connections.push(connection.clone());
                }
                Action::Writes(path, Change::Folder) => {
                    folders.extend(path.resolved.text().map(str::to_owned));
                }
                Action::Writes(path, Change::Content) => {
                    files.extend(path.resolved.text().map(str::to_owned))
                }
                _ => {}
            }
        }
        if connections.is_empty() {
            return Output::Unknown;
        }
        for folder in folders {
            let names = connections.iter().filter_map(|connection| connection.url.as_ref()?.text());
            let is_end = |character: char| matches!(character, '/' | ':');
            let names = names.filter_map(|url| url.split(['?', '#']).next()?.rsplit(is_end).next());
            files.extend(names.map(|name| format!("{folder}/{name}")));
        }
        let output = Rc::new(Output::Network(connections));
        for file in files {
            self.keep_file(file, Rc::clone(&output));
        }
        Output::unshared(output)
    }
}

/// `{}` of `find -exec` is a file below the folder where the search begins.
fn found_files(line: &Line<'_>, given: &Given) -> Vec<Field> {
    if given.flag.value != Value::ToSemicolon {
        return given.values.clone();
    }
    let folder = line.operands.first().map_or_else(|| Word::known("."), |first| first.word.clone());
    let found = found_file(line, folder);
    given.values.iter().map(|field| replace_braces(field, &found)).collect()
}

/// A file that a search finds: `folder/…/*.o`, or `folder/*` if it may be any.
fn found_file(line: &Line<'_>, mut folder: Word) -> Word {
    folder.push('/');
    match name_test(line) {
        Some(pattern) => {
            folder.push_gap(Fill::Anything);
            folder.push('/');
            folder.push_word(&pattern);
        }
        None => folder.push_gap(Fill::Name),
    }
    folder
}

/// `python3 -c 'open(sys.argv[1], "w")' FILE`: code with the words that follow it in their places.
fn words_of_code(given: &Given, line: &Line<'_>) -> Option<Field> {
    const PLACES: &[(Language, &str, usize)] = &[
        (Language::Python, "sys.argv[", 1),
        (Language::JavaScript, "process.argv[", 1),
        (Language::Ruby, "ARGV[", 0),
        (Language::Perl, "$ARGV[", 0),
        (Language::Php, "$argv[", 1),
    ];
    let [Does::Code(language)] = given.flag.does else { return None };
    let (_, place, first) = PLACES.iter().find(|(known, ..)| known == language)?;
    let value = given.values.first()?;
    let text = value.text().filter(|text| text.contains(place))?;
    let mut text = text.to_owned();
    for (at, word) in line.operands.iter().take(8).enumerate() {
        let Some(word) = word.text() else { continue };
        let literal = format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'"));
        text = text.replace(&format!("{place}{}]", at + first), &literal);
    }
    Some(Field::new(Word::known(text), value.span.clone()))
}

/// `HTTP_PROXY=http://localhost:8888`: a proxy or a registry on this machine, for one command.
fn keeps_local(name: &Word, value: Option<&Field>) -> bool {
    let name = name.known_part().to_ascii_lowercase();
    let is_one = ["_proxy", "npm_config_registry", "index_url", ":goproxy"]
        .iter()
        .any(|end| name.ends_with(end));
    let address = value.filter(|_| is_one).and_then(|value| host::parse_url(&value.word));
    address
        .and_then(|address| address.host.text().map(crate::host::is_this_machine))
        .unwrap_or(false)
}

/// `npm config set registry https://…`: the one that the program uses anyway.
fn sets_default_registry(name: &Word, value: Option<&Field>) -> bool {
    let is_one = sets_registry(name.known_part());
    let address = value.filter(|_| is_one).and_then(|value| host::parse_url(&value.word));
    address.and_then(|address| address.host.text().map(crate::sets::is_registry)).unwrap_or(false)
}

/// Whether a setting says where packages come from.
pub(crate) fn sets_registry(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["registry", "registryserver", "index_url", "index-url", ":goproxy"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What a command does not do if it only says what it would do.
const DRY: [Mark; 15] = [
    Mark::ForcePush,
    Mark::RemoteDelete,
    Mark::History,
    Mark::Infrastructure,
    Mark::Database,
    Mark::Publishes,
    Mark::SkipsCheck,
    Mark::Guard,
    Mark::Disk,
    Mark::Privilege,
    Mark::Schedules,
    Mark::Accounts,
    Mark::Power,
    Mark::Kills,
    Mark::Network,
];

fn is_search(line: &Line<'_>) -> bool {
    line.models.first().is_some_and(|model| model.names.contains(&"find"))
}

/// Tests that leave some files out.
const TESTS: &[&str] = &[
    "-empty",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-size",
    "-newer",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-user",
    "-group",
    "-perm",
    "-links",
    "-inum",
    "-newermt",
    "-xtype",
    "-nouser",
];

/// The pattern that names must have, or any name if another test leaves some files out.
fn name_test(line: &Line<'_>) -> Option<Word> {
    let is_excluded = |value: &Field| {
        let at = line.words.iter().position(|word| word.span == value.span);
        let not = at.and_then(|at| at.checked_sub(2)).and_then(|at| line.words.get(at));
        matches!(not.and_then(Field::text), Some("-not" | "!"))
    };
    let given = line.flags.iter().find(|given| {
        matches!(given.spelling.as_str(), "-name" | "-iname")
            && !given.values.first().is_some_and(is_excluded)
            && given.values.first().and_then(Field::text).is_some_and(|text| text != "*")
    });
    if let Some(given) = given {
        return Some(glob_word(given.values.first()?.word.known_part()));
    }
    // `-not -path './x/*'` leaves only some files out.
    let mut before = "";
    let mut texts = line.words.iter().filter_map(Field::text).peekable();
    let mut is_tested = false;
    while let Some(word) = texts.next() {
        let is_negated = matches!(std::mem::replace(&mut before, word), "-not" | "!");
        let leaves_all = texts.peek().is_some_and(|value| leaves_all(word, value));
        is_tested |= TESTS.contains(&word) && !is_negated && !leaves_all;
    }
    is_tested.then(|| {
        let mut any = Word::default();
        // Not `*`, which would be everything in the folder.
        any.push_gap(Fill::Character);
        any.push_gap(Fill::Anything);
        any
    })
}

/// A test that every file passes: `-size +0`, `-mtime -9999`.
fn leaves_all(test: &str, value: &str) -> bool {
    let digits = value.get(1..).unwrap_or_default().trim_end_matches(['b', 'c', 'k']);
    let number = digits.parse::<u64>().ok();
    match (test, value.bytes().next()) {
        ("-size", Some(b'+')) => number == Some(0),
        ("-size", Some(b'-')) => value.ends_with(['G', 'T']),
        ("-newermt", Some(b'1')) => value.starts_with("19"),
        ("-mtime" | "-atime" | "-ctime", Some(b'-')) => number.is_some_and(|days| days >= 365),
        ("-mtime" | "-atime" | "-ctime", Some(b'+')) => number == Some(0),
        ("-mmin", Some(b'-')) => number.is_some_and(|minutes| minutes >= 500_000),
        _ => false,
    }
}

/// A pattern of the shell as a word with gaps.
pub(crate) fn glob_word(pattern: &str) -> Word {
    let mut word = Word::default();
    for character in pattern.chars() {
        match character {
            '*' => word.push_gap(Fill::Name),
            '?' => word.push_gap(Fill::Character),
            other => word.push(other),
        }
    }
    word
}

/// A command in one word: `lerna exec 'rm -rf dist'`. No program has such a name.
fn is_command_line(text: &str) -> bool {
    let Some((first, _)) = text.split_once(' ') else { return false };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.contains(['|', ';', '&', '>']) || !first.is_empty() && first.bytes().all(is_name)
}

fn takes_words(does: Does) -> bool {
    matches!(does, Does::Command | Does::RemoteCommand | Does::CommandWithInput)
}

/// Several words as one text, as `ssh` and `eval` join them.
pub(crate) fn joined(words: &[Field]) -> Field {
    let mut whole = Word::default();
    let mut span = words.first().map_or(0..0, |field| field.span.clone());
    for (at, field) in words.iter().enumerate() {
        if at > 0 {
            whole.push(' ');
        }
        whole.push_word(&field.word);
        span.end = span.end.max(field.span.end);
    }
    Field::new(whole, span)
}

/// `NAME=value`
pub(crate) fn assignment(field: &Field) -> Option<(String, Word)> {
    let start = field.word.known_start();
    let equals = start.find('=')?;
    let name = start.get(..equals)?;
    let is_name = !name.is_empty()
        && name.bytes().all(crate::shell::parse::is_name)
        && !name.starts_with(|character: char| character.is_ascii_digit());
    is_name.then(|| (name.to_owned(), field.word.from(equals + 1)))
}

/// A command in one word, taken apart at its blanks. `None` if it is more than plain words.
fn split_text(field: &Field) -> Option<Vec<Field>> {
    let text = field.text()?;
    let is_plain = !text.contains(['|', ';', '&', '$', '`', '<', '>', '(', '\'', '"', '\\', '\n']);
    let words = text.split_ascii_whitespace();
    (is_plain && text.trim().contains(' '))
        .then(|| words.map(|word| Field::new(Word::known(word), field.span.clone())).collect())
}

fn replace_braces(field: &Field, with: &Word) -> Field {
    let mut word = Word::default();
    let mut rest = field.word.clone();
    for _ in 0..16 {
        let Some(at) = rest.known_part().find("{}") else { break };
        word.push_word(&rest.until(at));
        word.push_word(with);
        rest = rest.from(at + 2);
    }
    word.push_word(&rest);
    Field::new(word, field.span.clone())
}

/// The sign that `xargs -I%` replaces, if it is not `{}`.
fn replaced_sign<'l>(line: &'l Line<'_>) -> Option<&'l str> {
    let is_sign = |given: &&Given| matches!(given.spelling.as_str(), "-I" | "-J" | "--replace");
    let given = line.flags.iter().find(is_sign)?;
    let sign = given.values.first().and_then(Field::text)?;
    (!sign.is_empty() && sign != "{}").then_some(sign)
}

fn with_braces(field: &Field, sign: &str) -> Field {
    match field.text() {
        Some(text) if text.contains(sign) => {
            Field::new(Word::known(text.replace(sign, "{}")), field.span.clone())
        }
        _ => field.clone(),
    }
}

/// The variable that stands for `{}` in shell text.
const ITEM: &str = "callgate_item";

/// Whether the words run shell text: `sh -c TEXT`.
fn runs_text(words: &[Field]) -> bool {
    let name = words.first().and_then(Field::text).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_flag = |field: &Field| {
        field.text().is_some_and(|text| text.starts_with('-') && text.ends_with('c'))
    };
    crate::shell::simple::is_shell(name) && words.iter().any(is_flag)
}

/// Whether the end of a host is missing, so that its domain is not known.
fn ends_unknown(host: &Word) -> bool {
    let last = host.gaps().last().filter(|gap| gap.fill == Fill::Anything);
    last.is_some_and(|gap| gap.at == host.known_part().len())
        && !host.known_start().starts_with(|first: char| first.is_ascii_digit())
}

/// A word that is a path rather than a name.
pub(crate) fn is_path(word: &Word) -> bool {
    let start = word.known_start();
    start.starts_with(['/', '~', '.'])
        || word.known_part().contains('/') && !word.known_part().contains("://")
}

fn is_local_file(word: &Word) -> bool {
    let start = word.known_start();
    start.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"))
}

/// A URL in the query or path of another one: `?url=http://…`.
fn inner_url(url: &Word) -> Option<Word> {
    let text = url.known_part();
    let outer = text.find("://")? + 3;
    let rest = text.get(outer..)?;
    let schemes = ["http://", "https://", "file://"];
    let at = schemes.iter().find_map(|scheme| rest.find(scheme))?;
    let inner = rest.get(at..)?.split(['&', ' ', '"', '\'']).next()?;
    Some(Word::known(inner))
}

/// Flags whose name says that packages come from there: `--add-source`, `--manifest-url`.
fn names_source(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_it =
        ["source", "registry", "repositor", "repos", "index", "feed", "manifest-url", "channel"];
    is_it.iter().any(|part| name.contains(part))
        && !["map", "resource", "port"].iter().any(|part| name.contains(part))
}

/// Flags for keys and settings of the program itself, which it does not print.
fn names_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "cert", "config", "identity", "credential", "token", "auth", "secret", "ca"]
        .iter()
        .any(|word| name.contains(word))
}

/// Addresses of the whole network.
const EVERYWHERE: &[&str] = &["0.0.0.0", "[::]"];

/// Flags that say where a server listens: `--host`, `-b`, `--server.address`.
fn names_listener(flag: &str) -> bool {
    let name = flag.rsplit(['-', '.', '_', ':']).next().unwrap_or(flag);
    matches!(
        name,
        "host"
            | "hostname"
            | "bind"
            | "listen"
            | "address"
            | "addr"
            | "ip"
            | "http"
            | "https"
            | "interface"
            | "inspect"
            | "brk"
            | "client"
            | "urls"
            | "runserver"
            | "publish"
            | "b"
            | "H"
            | "h"
            | "l"
            | "a"
            | "i"
            | "p"
            | "s"
            | "L"
    )
}

/// Flags whose name says that their value is a file that is written: `--junit-xml`, `--outFile`.
fn names_output(flag: &str) -> bool {
    let flag = flag.to_ascii_lowercase();
    flag.starts_with('-')
        && flag.len() > 3
        && (flag.ends_with("-out") || OUTPUTS.iter().any(|word| flag.contains(word)))
}

/// Parts of the names of such flags.
const OUTPUTS: &[&str] = &[
    "output",
    "outfile",
    "out-file",
    "outdir",
    "out-dir",
    "logfile",
    "log-file",
    "logdir",
    "log-dir",
    "logs-dir",
    "junit",
    "report",
    "cache-dir",
    "cachedir",
    "cache-folder",
    "dest-",
    "--dest",
    "coveragedir",
    "target-dir",
    "install-dir",
    "results-d",
    "store-dir",
    "modules-dir",
    "modules-folder",
    "basetemp",
    "export",
    "--save",
    "--dump",
    "extract-media",
    "temp-dir",
    "build-path",
    "artifact-dir",
    "hsts-file",
    "metadata-file",
    "iidfile",
    "graphviz",
    "trace-redirect",
    "diagnostic-dir",
    "prof-dir",
    "tool-path",
    "data-file",
    "declarationdir",
    "buildinfofile",
    "log-error",
    "-backup",
];

/// Flags whose name says that their value runs: `--exec`, `--pre-hook`.
fn names_command(flag: &str) -> bool {
    let flag = flag.to_ascii_lowercase();
    flag.starts_with("--")
        && ["exec", "command", "-cmd", "pipe", "hook", "pager", "editor", "program", "filter"]
            .iter()
            .any(|word| flag.contains(word))
}

/// Whether a program is neither known nor in the project or the system: it can be anything.
fn is_foreign(shell: &Shell<'_, '_>, word: &Word) -> bool {
    let first = word.known_start().split_whitespace().next().unwrap_or_default();
    if !first.starts_with(['/', '~']) {
        return false;
    }
    let name = first.rsplit('/').next().unwrap_or(first);
    let path = shell.resolve(&Word::known(first)).resolved;
    let is_system = ["/usr/", "/bin/", "/sbin/", "/opt/", "/lib", "/nix/", "/snap/"]
        .iter()
        .any(|folder| path.known_start().starts_with(folder));
    let is_own = shell
        .out
        .ground
        .workspace
        .is_some_and(|own| path.known_start().starts_with(own.trim_end_matches('/')));
    !is_system && !is_own && crate::programs::find(name).is_none()
}

/// `!cmd` is how aliases and helpers of git write shell text.
fn shell_value(field: &Field) -> Field {
    // `LESSOPEN='|command %s'` takes its input from a pipe.
    if field.word.known_start().starts_with(['!', '|']) { field.from(1) } else { field.clone() }
}

/// Values like `true`, `cache` or `osxkeychain` name no command of their own.
fn is_command(word: &Word) -> bool {
    !matches!(
        word.text().map(|text| text.split(" --").next().unwrap_or(text)),
        Some(
            "true" | "false" | "" | "cat" | "less" | "cache" | "store" | "manager" | "osxkeychain"
        )
    )
}

/// Whether a mode sets the bits for the rights of the owner or the group: `4755`, `u+s`, `g=rxs,o+x`.
fn sets_id(mode: &str) -> bool {
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        return mode.len() <= 6 && bits & 0o6000 != 0;
    }
    mode.len() <= 64
        && mode.split(',').any(|clause| {
            let (who, what) = clause.split_once(['+', '=']).unwrap_or_default();
            who.bytes().all(|byte| matches!(byte, b'u' | b'g' | b'o' | b'a'))
                && what.contains('s')
                && what.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'+')
        })
}

/// Folders that give a container the host.
fn gives_the_host(path: &str) -> bool {
    matches!(
        path,
        "/" | "/etc"
            | "/root"
            | "/var/run/docker.sock"
            | "/run/docker.sock"
            | "/proc"
            | "/sys"
            | "/dev"
            | "/var/run"
            | "/boot"
            | "/var/lib/docker"
            | "/home"
            | "/Users"
    )
}
