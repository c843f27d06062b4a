//! Simple commands: from words to the program that runs.

use std::rc::Rc;

use crate::bound::Bound;
use crate::effect::{Access, Change, Knowledge, Purpose, Run, SubCommand, Why};
use crate::host;
use crate::marks::{Mark, Marks};
use crate::model::Language;
use crate::programs;
use crate::shell::apply::{assignment, is_path};
use crate::shell::eval::{Input, Shell};
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::shell::settings;
use crate::shell::syntax::{Assign, Redirect, ShellWord, Span, Target};
use crate::word::Word;

impl Shell<'_, '_> {
    /// A command of assignments, words and redirections.
    pub(crate) fn simple(
        &mut self,
        assigns: &[Assign],
        words: &[ShellWord],
        redirects: &[Redirect],
        _span: &Span,
        input: Input,
    ) -> Output {
        let before = self.out.effects.all().len();
        let secrets = self.secrets.replace(Vec::new());
        let output = self.simple_command(assigns, words, redirects, input);
        let used = std::mem::replace(&mut self.secrets, secrets);
        self.show_secrets(&used.unwrap_or_default(), before);
        self.keeps_to_its_service(before);
        output
    }

    fn simple_command(
        &mut self,
        assigns: &[Assign],
        words: &[ShellWord],
        redirects: &[Redirect],
        input: Input,
    ) -> Output {
        let before = self.out.effects.all().len();
        let outer = std::mem::take(&mut self.words_read);
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            self.fields(word, &mut fields);
        }
        self.words_read |= self.has_read(before);
        let printed = if prints_nothing(&fields) { Change::Empty } else { Change::Content };
        let streams = self.redirects(redirects, input, printed);
        if fields.is_empty() {
            assigns.iter().for_each(|assign| self.apply_assign(assign));
            self.words_read = outer;
            // A lone `< file` prints it in zsh, and in `$(< file)`.
            let reads = |it: &Redirect| matches!(it.target, Target::Read(_));
            let printed = match &streams.input {
                Some(input) if assigns.is_empty() && redirects.iter().any(reads) => {
                    input.as_ref().clone()
                }
                _ => Output::Nothing,
            };
            return self.deliver_all(printed, &streams);
        }
        for assign in assigns {
            self.environment_of_command(assign);
        }
        if fields.len() == 1 && fields.first().and_then(Field::text) == Some("exec") {
            self.feed_later(&streams.sinks);
        }
        let output = self.run(&fields, streams.input.clone());
        if let Some(name) = assigned_name(&fields) {
            self.keeps_credentials(&name, before);
        }
        self.words_read = outer;
        if streams.is_cut { self.deliver_all(output, &streams) } else { output }
    }

    /// `NAME=value command`
    fn environment_of_command(&mut self, assign: &Assign) {
        let before = self.out.effects.all().len();
        let ((value, _), is_fetched) = self.traced(|shell| shell.assigned(assign));
        self.keeps_credentials(&assign.name, before);
        let span = self.place(&assign.span);
        self.sets_prompt(&assign.name, &value, is_fetched, &span);
        self.environment(&assign.name, value, span);
    }

    pub(crate) fn environment(&mut self, name: &str, value: Word, span: Span) {
        // Libraries of the system that find bugs, or replace the allocator.
        let path = value.known_part();
        let tools =
            ["asan", "tsan", "ubsan", "lsan", "jemalloc", "tcmalloc", "mimalloc", "eatmydata"];
        let is_system = path.starts_with("/usr/lib") || path.starts_with("/opt/homebrew/lib");
        if is_system && value.is_known() && tools.iter().any(|tool| path.contains(tool)) {
            return;
        }
        let field = Field::new(value.clone(), span.clone());
        if settings::names_folder_to_write(name) {
            self.write_file(&field, Change::Folder);
        } else if settings::names_server(name) {
            self.connects(&field, Purpose::Fetch, "");
        }
        match settings::meaning(&format!("env:{name}")) {
            Some(_) => self.sets(
                Word::known(format!("env:{name}")),
                Some(&field),
                crate::effect::Reach::Command,
            ),
            None => {
                self.sets_environment(name, value, span);
            }
        }
    }

    /// Runs a command line and returns what it prints.
    pub(crate) fn run(&mut self, fields: &[Field], input: Input) -> Output {
        let Some(first) = fields.first() else { return Output::Nothing };
        if !self.enter(0) {
            return Output::Unknown;
        }
        let output = self.run_program(first, fields, input);
        self.depth -= 1;
        output
    }

    fn run_program(&mut self, first: &Field, fields: &[Field], input: Input) -> Output {
        if let Some(name) = first.text()
            && let Some(output) = self.defined(name, fields, input.clone())
        {
            return output;
        }
        let end = fields.last().map_or(first.span.end, |last| last.span.end.max(first.span.end));
        let span = first.span.start..end;
        let program = program_name(&first.word);
        let command =
            SubCommand { program: program.clone(), span: span.clone(), parent: self.parent };
        let index = self.out.command(command);
        let outer = self.parent.replace(index);
        let words = fields.iter().map(|field| field.word.clone()).collect();
        let run = Run {
            program: program.clone(),
            words,
            sub_command: String::new(),
            flags: Vec::new(),
            marks: Marks::NONE,
            knowledge: Knowledge::Unmodelled,
        };
        let run = self.out.push_run(run, span, self.parent);
        let output = match program.text() {
            Some(name) => {
                self.builds_fetched(name, fields);
                self.installs_download(name, fields);
                self.builds_written(name, fields);
                self.shell_of_root(name, fields, run, &input);
                self.shell_of_reader(name, fields, &first.span, &input);
                match self.written_program(name).filter(|_| !is_path(&first.word)) {
                    Some(written) => {
                        self.run_output(Language::Shell, &written, &first.span);
                        Output::Unknown
                    }
                    None => self.dispatch(name, fields, run, input),
                }
            }
            None => match self.named_by_variable(first) {
                Some(name) => {
                    if let Some(run) = self.out.run_mut(run) {
                        run.program = Word::known(name.as_str());
                    }
                    self.dispatch(&name, fields, run, input)
                }
                None => self.unknown_program(first, fields),
            },
        };
        if let Some(name) = program.text() {
            self.takes_back(name, fields, run);
        }
        self.parent = outer;
        output
    }

    /// Aliases and functions that the text defines.
    fn defined(&mut self, name: &str, fields: &[Field], input: Input) -> Option<Output> {
        let arguments = fields.get(1..).unwrap_or_default();
        if let Some(alias) = self.aliases.get(name).cloned() {
            let mut whole = Word::known(alias);
            for field in arguments {
                whole.push(' ');
                whole.push_word(&field.word);
            }
            let removed = self.aliases.remove(name);
            let span = fields.first().map_or(0..0, |field| field.span.clone());
            let output = self.word_text(&Field::new(whole, span));
            self.aliases.extend(removed.map(|alias| (name.to_owned(), alias)));
            return Some(output);
        }
        let function = self.functions.get(name).cloned()?;
        let words = arguments.iter().map(|field| field.word.clone()).collect();
        Some(self.call(&function, words, input))
    }

    /// `"$PYTHON" -m pytest`: a variable of the environment that is called like a program holds it.
    /// One that the text sets has a value, so it does not get here.
    fn named_by_variable(&self, first: &Field) -> Option<String> {
        let written = self.out.source.get(first.span.clone())?.trim_matches('"');
        let name = written.strip_prefix('$')?;
        let name = name.strip_prefix('{').map_or(Some(name), |name| name.strip_suffix('}'))?;
        let is_upper = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let name = name.to_ascii_lowercase();
        let is_set = self.variables.keys().any(|known| known.eq_ignore_ascii_case(&name));
        (is_upper && !is_set && IN_VARIABLES.contains(&name.as_str())).then_some(name)
    }

    /// The name of the program is not in the text. What can be read of its words is still read.
    fn unknown_program(&mut self, first: &Field, fields: &[Field]) -> Output {
        self.opaque(Why::Program, Bound::ALL, first.span.clone());
        self.show_arguments(fields);
        Output::Unknown
    }

    fn dispatch(&mut self, name: &str, fields: &[Field], run: usize, input: Input) -> Output {
        if let Some(output) = self.builtin(name, fields, run, &input) {
            return output;
        }
        let before = self.out.effects.all().len();
        if let Some(model) = find_model(name) {
            self.written_as_program(fields);
            let output = self.apply(model, fields, run, input.clone());
            if runs_tasks(name) {
                self.tasks(fields, run, &input);
            }
            if matches!(name, "sed" | "gsed") {
                self.keep_edits(fields, before);
            }
            self.installs_from(name, fields, before);
            return self.printed(name, fields, &input, before).unwrap_or(output);
        }
        if let Some(output) = self.printed(name, fields, &input, before) {
            self.show_arguments(fields);
            return output;
        }
        let ending = super::earlier::by_ending(name);
        if let Some(first) = fields.first().filter(|it| is_path(&it.word) || ending.is_some()) {
            let language = ending.unwrap_or(Language::Shell);
            let arguments = fields.get(1..).unwrap_or_default();
            self.as_script(first, arguments, |shell| shell.known_script(language, first));
        } else if let Some(output) = self.installed(name) {
            let span = fields.first().map_or(0..0, |field| field.span.clone());
            self.run_output(Language::Shell, &output, &span);
        }
        if crate::guards::is_attack_tool(name) {
            self.attacks(run, fields);
        }
        if fields.first().is_some_and(|first| is_path(&first.word)) {
            self.init_script(fields);
        }
        self.tasks(fields, run, &input);
        self.installs_from(name, fields, before);
        self.destroys_unasked(fields, run);
        self.administers(name, fields, run);
        self.reveals_by_flag(fields, run);
        self.rows(name, fields, run);
        if fields.len() > 1 && name.len() <= LONGEST_INSTALLER && super::special::is_installer(name)
        {
            self.installs_urls(fields.get(1..).unwrap_or_default());
        }
        let is_script = fields.first().is_some_and(|first| is_path(&first.word));
        let names = matches!(
            name,
            "task" | "nx" | "mage" | "invoke" | "inv" | "grunt" | "gulp" | "fab" | "cap" | "doit"
        );
        if names && super::special::names_destruction(fields)
            || is_script && super::special::script_destroys(fields)
        {
            self.mark(run, Mark::Infrastructure);
        }
        self.cmdlet(name, fields, run);
        self.listens(fields, before);
        if let Some(at) = inner_command(fields) {
            self.run(fields.get(at..).unwrap_or_default(), input);
        }
        self.show_arguments(fields);
        self.downloads(before)
    }

    /// `/tmp/git`: what the text has written there runs, whatever a program of that name does.
    fn written_as_program(&mut self, fields: &[Field]) {
        if self.written.is_empty() && self.fetched.is_empty() {
            return;
        }
        let Some(first) = fields.first().filter(|first| is_path(&first.word)) else { return };
        let path = self.resolve(&first.word).resolved;
        let is_written = path.text().is_some_and(|path| {
            self.written.contains_key(path) || self.fetched_output(path).is_some()
        });
        if is_written {
            let arguments = fields.get(1..).unwrap_or_default();
            self.as_script(first, arguments, |shell| {
                shell.known_script(Language::Shell, first);
            });
        }
    }

    /// A program that only attackers need.
    fn attacks(&mut self, run: usize, fields: &[Field]) {
        self.mark(run, Mark::Guard);
        let span = fields.first().map_or(0..0, |field| field.span.clone());
        self.opaque(Why::Language, Bound::ALL, span);
    }

    /// `/etc/init.d/auditd stop` is `systemctl stop auditd`.
    fn init_script(&mut self, fields: &[Field]) {
        let [script, verb, ..] = fields else { return };
        let path = script.word.known_part();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !folder.ends_with("/init.d") && !folder.ends_with("/rc.d") {
            return;
        }
        let program = Field::new(Word::known("systemctl"), script.span.clone());
        let service = script.from(folder.len() + 1);
        self.run(&[program, verb.clone(), service], None);
    }

    /// A shell without a script, below `sudo`: what is typed there has the rights of root.
    fn shell_of_root(&mut self, name: &str, fields: &[Field], run: usize, input: &Input) {
        let is_bare = fields.iter().skip(1).all(|field| {
            let start = field.word.known_start();
            start.starts_with('-') && !start.contains('c')
        });
        if !is_shell(name) || !is_bare || input.is_some() {
            return;
        }
        let mut above = self.parent;
        while let Some(command) = above.and_then(|at| self.out.effects.commands.get(at)) {
            let name = command.program.text().unwrap_or_default();
            if matches!(name, "sudo" | "doas" | "pkexec" | "run0" | "sudoedit" | "please") {
                return self.mark(run, Mark::Privilege);
            }
            above = command.parent;
        }
    }

    /// A shell that an editor, a pager or an archiver starts, or one without a script that an
    /// interpreter starts: it gets around rules on commands.
    fn shell_of_reader(&mut self, name: &str, fields: &[Field], span: &Span, input: &Input) {
        if !is_shell(name) {
            return;
        }
        let command = |at: usize| self.out.effects.commands.get(at);
        let above = self.parent.and_then(command).and_then(|own| own.parent).and_then(command);
        let Some(above) = above.and_then(|above| above.program.text()) else { return };
        let is_bare = input.is_none()
            && fields.iter().skip(1).all(|field| {
                let start = field.word.known_start();
                start.starts_with(['-', '+']) && !start.contains('c')
            });
        if READERS.contains(&above) || is_bare && starts_shells(above) {
            self.opaque(Why::Code, Bound::ALL, span.clone());
        }
    }

    /// A program by its bare name that came from another host into a folder for programs.
    fn installed(&self, name: &str) -> Option<Rc<Output>> {
        if self.written.is_empty() {
            return None;
        }
        let end = format!("bin/{name}");
        let is_it = |path: &&String| path.ends_with(&end);
        let path = self.written.keys().find(is_it)?;
        let output = self.written.get(path)?;
        matches!(output.as_ref(), Output::Network(_)).then(|| Rc::clone(output))
    }

    /// Paths and URLs that the words of an unknown program show.
    fn show_arguments(&mut self, fields: &[Field]) {
        let mut flag = "";
        for field in fields.iter().skip(1) {
            let start = field.word.known_start();
            if shows_nothing(field.word.known_part()) {
                flag = if start.starts_with('-') { start } else { "" };
                continue;
            }
            let is_file = is_path(&field.word) || looks_like_path(&field.word);
            if !flag.is_empty() && !start.starts_with('-') && is_file {
                if writes_by_flag(flag) {
                    self.write_file(field, Change::Content);
                    flag = "";
                    continue;
                } else if is_path(&field.word) && is_own_key(flag, start) {
                    flag = "";
                    continue;
                }
            }
            if is_target(flag) || start.split_once('=').is_some_and(|(name, _)| is_target(name)) {
                self.sends_to(field);
            }
            flag = if start.starts_with('-') && !start.contains('=') { start } else { "" };
            self.show_argument(field);
        }
    }

    /// The URL that a flag names as the target.
    fn sends_to(&mut self, field: &Field) {
        let at = field.word.known_start().find("=").map_or(0, |at| at + 1);
        let value = field.from(at);
        if let Some(address) = host::parse_url(&value.word) {
            self.connect(address, Purpose::Send, Some(&value.word), field.span.clone());
        }
    }

    fn show_argument(&mut self, field: &Field) {
        let start = field.word.known_start();
        if start.len() > 4096 {
            return;
        }
        // `--file=PATH`, `name=PATH`, `@PATH`
        let value_at = match start.find('=') {
            Some(equals) if start.starts_with('-') || assignment(field).is_some() => equals + 1,
            _ => usize::from(start.starts_with('@')),
        };
        let at = usize::from(
            value_at > 0 && start.get(value_at..).is_some_and(|it| it.starts_with('@')),
        );
        let value = if value_at > 0 { field.from(value_at + at) } else { field.clone() };
        if value_at > 0 && start.starts_with("--") {
            self.doubtful(start.get(..value_at - 1).unwrap_or_default(), &value);
        }
        if let Some(address) = host::parse_url(&value.word) {
            // `sqlite:///x.db` has no host.
            if address.host.text() == Some("") {
                return;
            }
            return self.connect(address, Purpose::Fetch, Some(&value.word), field.span.clone());
        }
        if is_disk(&value.word) {
            // What is not known to read a disk may write to it.
            self.write_file(&value, Change::Content);
        } else if looks_like_path(&value.word) {
            self.read_file(&value, Access::Content);
        }
    }
}

/// Flags whose value is usually a file that is written.
fn writes_by_flag(flag: &str) -> bool {
    matches!(flag, "-o" | "-O" | "-out" | "--out" | "--output" | "--outfile" | "--output-file")
}

/// Flags that say where something goes to.
fn is_target(flag: &str) -> bool {
    matches!(
        flag,
        "--output"
            | "--dest"
            | "--destination"
            | "--target"
            | "--to"
            | "--upload"
            | "--sink"
            | "--push"
    )
}

/// `server --key key.pem`: a program uses a key of the project for its own work.
fn is_own_key(flag: &str, value: &str) -> bool {
    let mut parts = flag.strip_prefix("--").unwrap_or_default().split(['-', '_']);
    let is_key = parts.any(|part| matches!(part, "key" | "keyfile" | "cert" | "kubeconfig" | "ks"))
        || flag == "--env-file";
    is_key && !value.starts_with(['/', '~']) && !value.contains("..")
}

/// `export NAME=value`
fn assigned_name(fields: &[Field]) -> Option<String> {
    let first = fields.first().and_then(Field::text)?;
    let declares = matches!(first, "export" | "local" | "declare" | "typeset" | "readonly");
    let (name, _) = assignment(fields.get(1).filter(|_| declares)?)?;
    Some(name)
}

/// `: > file` and `cat /dev/null > file` leave nothing in the file.
fn prints_nothing(fields: &[Field]) -> bool {
    if fields.len() > 3 {
        return false;
    }
    let words: Option<Vec<&str>> = fields.iter().map(Field::text).collect();
    matches!(
        words.as_deref(),
        Some([] | [":" | "true"] | ["cat", "/dev/null"] | ["echo", "-n"] | ["printf", ""])
    ) || matches!(words.as_deref(), Some(["echo" | "printf", "-n", ""]))
}

/// Programs whose words may be tasks of a framework.
fn runs_tasks(name: &str) -> bool {
    matches!(
        name,
        "rake"
            | "rails"
            | "php"
            | "python"
            | "python3"
            | "bundle"
            | "npx"
            | "pnpm"
            | "yarn"
            | "npm"
            | "bun"
            | "mix"
            | "uv"
            | "poetry"
            | "pipenv"
            | "liquibase"
            | "knex"
            | "typeorm"
            | "docker"
            | "docker-compose"
            | "sequelize"
            | "sequelize-cli"
            | "django-admin"
            | "artisan"
            | "composer"
            | "flask"
            | "mvn"
            | "gradle"
            | "mvnw"
            | "gradlew"
    )
}

/// The shells.
pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "csh" | "tcsh" | "fish" | "rbash"
    )
}

/// Where the command begins that an unknown program may run: `wrapper sh -c TEXT`.
fn inner_command(fields: &[Field]) -> Option<usize> {
    (1..fields.len().min(16)).find(|at| {
        let Some(text) = fields.get(*at).and_then(Field::text) else { return false };
        if text.len() > LONGEST_INNER && !text.contains('/') {
            return false;
        }
        let name = text.rsplit('/').next().unwrap_or(text);
        let next = fields.get(at + 1).and_then(Field::text);
        if is_shell(name) {
            return text.starts_with('/') || next.is_none_or(|next| next.starts_with('-'));
        }
        let runs_code = matches!(name, "python" | "python3" | "node" | "perl" | "ruby" | "php");
        if runs_code {
            return next.is_some_and(|next| matches!(next, "-c" | "-e" | "-r"));
        }
        let acts = matches!(name, "rm" | "sudo" | "dd" | "shred" | "chmod" | "chown" | "env");
        acts && next.is_some()
    })
}

/// The length of `python3`, the longest name above.
const LONGEST_INNER: usize = 7;

/// Whether a text is neither a path nor a URL, nor has one after `=` or `@`. Most words are like
/// that.
pub(crate) fn shows_nothing(text: &str) -> bool {
    !text.starts_with(['~', '@']) && !text.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'='))
}

/// `/dev/sda1`, `/dev/nvme0n1`
fn is_disk(word: &Word) -> bool {
    const DISKS: &[&str] =
        &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "md", "dm-", "mapper/"];
    let name = word.known_start().strip_prefix("/dev/");
    name.is_some_and(|name| DISKS.iter().any(|start| name.starts_with(start)))
}

fn looks_like_path(word: &Word) -> bool {
    let text = word.known_part();
    let is_plain = !text.contains([' ', '\n', '(', '{', '<', '|', ';', '$']);
    let is_flag = text.starts_with('-');
    is_plain
        && !is_flag
        && !word.is_unknown()
        && (is_path(word) || text.contains('.'))
        && text.len() > 1
}

/// The model of a program; names are tried in lower case too, because macOS finds `/bin/RM`.
/// The length of the longest name of an installer.
const LONGEST_INSTALLER: usize = 9;
/// Programs for texts and files that have no need of a shell.
const READERS: &[&str] = &[
    "cpio", "ed", "emacs", "ex", "ftp", "gdb", "less", "lldb", "man", "more", "most", "mysql",
    "nano", "nvim", "pg", "psql", "rsync", "rvim", "scp", "sftp", "sqlite3", "tar", "vi", "view",
    "vim", "vimdiff", "zip", "unzip",
];

/// Programs with a language of their own, or with a flag for commands, that have no need of a shell
/// for a person.
fn starts_shells(name: &str) -> bool {
    let bare = unversioned(name).unwrap_or(name);
    matches!(
        bare,
        "awk"
            | "gawk"
            | "mawk"
            | "nawk"
            | "perl"
            | "python"
            | "python3"
            | "pypy"
            | "ruby"
            | "lua"
            | "luajit"
            | "php"
            | "node"
            | "bun"
            | "deno"
            | "tclsh"
            | "wish"
            | "guile"
            | "cpan"
            | "irb"
            | "ghci"
            | "R"
            | "Rscript"
            | "busybox"
            | "toybox"
            | "find"
            | "fd"
            | "ssh-keygen"
            | "expect"
            | "openssl"
            | "osascript"
            | "socat"
    )
}

/// Programs that builds get through a variable of their name.
const IN_VARIABLES: &[&str] = &[
    "bash", "browser", "cargo", "cc", "clang", "cmake", "docker", "editor", "gcc", "git", "go",
    "java", "make", "node", "npm", "pager", "visual", "npx", "perl", "php", "pip", "pip3", "pnpm",
    "python", "python3", "ruby", "rustc", "sh", "yarn",
];

fn find_model(name: &str) -> Option<&'static crate::model::Model> {
    programs::find(name)
        .or_else(|| {
            let has_upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
            has_upper.then(|| programs::find(&name.to_ascii_lowercase())).flatten()
        })
        .or_else(|| programs::find(unversioned(name)?))
}

/// `python3.12` is `python3`, `clang-17` is `clang`.
fn unversioned(name: &str) -> Option<&str> {
    let bare = name.trim_end_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '-')
    });
    (bare.len() < name.len() && !bare.is_empty()).then_some(bare)
}

/// The name without folders and without `.exe`.
fn program_name(word: &Word) -> Word {
    let text = word.known_part();
    let at = text.rfind(['/', '\\']).map_or(0, |at| at + 1);
    // A gap after the last slash keeps the name unknown; one in front of it does not.
    let name = if at == 0 { word.clone() } else { word.from(at) };
    match name.text().and_then(|text| text.strip_suffix(".exe")) {
        Some(bare) => name.until(bare.len()),
        None => name,
    }
}

impl Shell<'_, '_> {
    /// Whether a setting turns something on that runs: used by `export` and `env`.
    pub(crate) fn exports(&mut self, field: &Field) {
        match assignment(field) {
            Some((name, value)) => {
                self.assign(&name, value.clone());
                self.sets_prompt(&name, &value, false, &field.span);
                if name == "PATH" {
                    self.searches_foreign_folder(&value, &field.span);
                }
                self.environment(&name, value, field.span.clone());
            }
            None => {
                let Some(name) = field.text().map(str::to_owned) else { return };
                if let Some(value) = self.lookup(&name, None) {
                    self.sets_environment(&name, value, field.span.clone());
                }
            }
        }
    }
}
