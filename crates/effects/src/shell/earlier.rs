//! Files that earlier calls of the session have written, and what this text writes for later ones.
//!
//! A file may have changed since it was written, in a way that no call shows. So its text is only
//! likely: what it does is added to the effects, and what it hides is no reason to doubt a call.

use std::borrow::Cow;
use std::rc::Rc;

use callgate_call::{SessionFile, SessionFiles, WrittenContent};

use crate::bound::Bound;
use crate::effect::{Action, Change, Connection, Effect, Purpose, Scope, Why};
use crate::glob::word_matches;
use crate::host;
use crate::model::Language;
use crate::path::Path;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::word::{Fill, Word};

impl<'g> Shell<'_, 'g> {
    /// Keeps the content of a file that the text writes, for the rest of the text and for later calls.
    pub(crate) fn keep_file(&mut self, path: String, output: Rc<Output>) {
        let content = match output.as_ref() {
            Output::Text(word) => Some(WrittenContent::Whole(word.known_part().to_owned())),
            Output::Earlier { text, .. } => {
                Some(WrittenContent::Whole(text.known_part().to_owned()))
            }
            Output::Nothing => Some(WrittenContent::Whole(String::new())),
            Output::Network(connections) => {
                Some(WrittenContent::Fetched(connections.iter().map(address).collect()))
            }
            Output::File(_) | Output::Unknown => None,
        };
        if let Some(content) = content {
            self.out.wrote(&path, content);
        }
        self.written.insert(path, output);
    }

    /// Keeps what is added to a file that was there before.
    pub(crate) fn appended(&mut self, path: &str, output: &Output) {
        if let Output::Text(word) = output {
            self.out.wrote(path, WrittenContent::Appended(word.known_part().to_owned()));
        }
    }

    /// What a file delivers that this text has not written.
    pub(crate) fn earlier_output(&self, field: &Field) -> Output {
        let file = field.word.clone();
        let Some(found) = self.earlier_files(field).into_iter().next() else {
            return Output::File(file);
        };
        let path = self.resolve(&field.word).resolved;
        let text = match (path.text().and_then(|path| self.on_disk(path)), found.as_ref()) {
            (Some(text), _) => Word::known(text.into_owned()),
            (None, SessionFile::Fetched(addresses)) => {
                return Output::Network(connections(addresses));
            }
            (None, known) => Word::known(known.text().unwrap_or_default()),
        };
        Output::Earlier { file, text }
    }

    /// What is in a file on the disk, where that can be seen: it counts, not what the session once
    /// wrote there.
    fn on_disk(&self, path: &str) -> Option<Cow<'g, str>> {
        let resolver = self.out.ground.resolver.filter(|_| path.starts_with('/'))?;
        resolver.script(path)
    }

    /// The content of a file under its new name.
    pub(crate) fn earlier_file(&self, path: &str) -> Option<Rc<Output>> {
        match self.earlier_output(&Field::new(Word::known(path), 0..0)) {
            Output::File(_) => None,
            found => Some(Rc::new(found)),
        }
    }

    /// What the first operand of a filter delivers, if it is a file that a call has written.
    pub(crate) fn operand_output(&self, arguments: &[Field]) -> Option<Rc<Output>> {
        let is_operand = |field: &&Field| !field.word.known_start().starts_with('-');
        let output = self.file_output(arguments.iter().rfind(is_operand)?);
        output.likely().is_some().then_some(output)
    }

    /// A script of an earlier call, or every script that a pattern finds.
    pub(crate) fn earlier_script(&mut self, language: Language, field: &Field) {
        let language = match language {
            Language::Other => by_ending(field.word.known_part()).unwrap_or(language),
            language => language,
        };
        for file in self.earlier_files(field) {
            match file.as_ref() {
                SessionFile::Fetched(addresses) => {
                    let output = Rc::new(Output::Network(connections(addresses)));
                    self.run_output(language, &output, &field.span);
                    continue;
                }
                SessionFile::Beginning(_) => {
                    self.opaque(Why::Size, Bound::ALL, field.span.clone());
                }
                SessionFile::Whole(_) | SessionFile::Parts(_) => {}
            }
            self.follow_once(language, file.text().unwrap_or_default(), field);
        }
    }

    /// Follows a script, unless it is running already.
    fn follow_once(&mut self, language: Language, text: &str, field: &Field) {
        if self.out.following.iter().any(|running| running == text) {
            return;
        }
        self.out.following.push(text.to_owned());
        self.likely_code(language, &Field::new(Word::known(text), field.span.clone()));
        self.out.following.pop();
    }

    /// Tests of earlier calls that a test runner finds by itself.
    pub(crate) fn earlier_tests(&mut self, name: &str, first: &Field) {
        let (Some(files), Some(language)) = (self.out.ground.earlier, runs_tests(name)) else {
            return;
        };
        for (path, file) in files.all().filter(|(path, _)| is_test(path, language)) {
            let text = self.on_disk(path).or_else(|| file.text().map(Cow::Borrowed));
            self.follow_once(language, &text.unwrap_or_default(), first);
        }
    }

    /// Keeps what code writes into files: which of its literals go there is not known.
    pub(crate) fn keep_literals(&mut self, literals: &str, before: usize) {
        let written = |effect: &Effect| match &effect.action {
            // `Path("x").write_text(…)`: only what follows the path is not known.
            Action::Writes(Path { resolved, .. }, Change::Content | Change::Append) => {
                let known = resolved.known_part();
                let is_end = resolved.gaps().iter().all(|gap| gap.at == known.len());
                (is_end && !known.is_empty()).then(|| known.to_owned())
            }
            _ => None,
        };
        let files: Vec<_> = self.out.since(before).iter().filter_map(written).collect();
        for file in files.iter().take(MAX_WRITTEN) {
            self.out.wrote(file, WrittenContent::Appended(literals.to_owned()));
        }
    }

    /// Keeps what `sed -i s/OLD/NEW/` writes into its files.
    pub(crate) fn keep_edits(&mut self, fields: &[Field], before: usize) {
        let new = |field: &Field| {
            let text = field.text()?;
            let delimiter = text.strip_prefix('s')?.chars().next()?;
            text.split(delimiter).nth(2).map(str::to_owned)
        };
        let added: Vec<String> = fields.iter().filter_map(new).collect();
        if !added.is_empty() {
            self.keep_literals(&added.join("\n"), before);
        }
    }

    /// Code that probably runs.
    pub(crate) fn likely_code(&mut self, language: Language, field: &Field) {
        let language = field.text().and_then(first_line_language).unwrap_or(language);
        self.without_opaque(language, |shell| shell.code(language, field));
    }

    /// Runs something that was read from a file: see the head of this module.
    pub(crate) fn followed(&mut self, output: &Output, run: impl FnOnce(&mut Self)) {
        match output {
            Output::Earlier { .. } => self.without_opaque(Language::Other, run),
            _ => run(self),
        }
    }

    /// Keeps only that there was too much of a shell script: what comes after it was not analysed.
    fn without_opaque(&mut self, language: Language, run: impl FnOnce(&mut Self)) {
        let before = self.out.effects.all().len();
        run(self);
        let is_shell = language == Language::Shell;
        self.out.effects.forget(before, |action| match action {
            Action::Opaque(opaque) => !is_shell || opaque.why != Why::Size,
            Action::Runs(run) => !run.program.is_known(),
            // `rm -rf "$X"/…` may be the whole disk. A file that code removes is one it has made.
            Action::Deletes(path, Scope::Tree) => !is_shell && begins_unknown(path),
            Action::Reads(path, _) | Action::Writes(path, _) | Action::Deletes(path, _) => {
                begins_unknown(path)
            }
            Action::Connects(connection) => connection.host.is_unknown(),
            _ => false,
        });
    }

    /// The files of this call and of earlier ones that a word may mean.
    fn earlier_files(&self, field: &Field) -> Vec<Cow<'g, SessionFile>> {
        let resolved = self.resolve(&field.word).resolved;
        let own = found_by(&self.out.own, &resolved).into_iter().cloned();
        let mut found: Vec<_> = own.map(Cow::Owned).collect();
        let is_replaced = !found.is_empty() && resolved.is_known();
        if let Some(files) = self.out.ground.earlier.filter(|_| !is_replaced) {
            found.extend(found_by(files, &resolved).into_iter().map(Cow::Borrowed));
        }
        found
    }
}

/// `tmp_path / "a"`: where the file is cannot be read.
fn begins_unknown(path: &Path) -> bool {
    path.resolved.gaps().first().is_some_and(|gap| gap.at == 0 && gap.fill == Fill::Anything)
}

/// The files that a path may mean. Of `"$DIR"/run.sh` only the name is known, of `*.sh` a pattern,
/// which is compared with whole paths if its folder is known.
fn found_by<'f>(files: &'f SessionFiles, path: &Word) -> Vec<&'f SessionFile> {
    if let Some(path) = path.text() {
        return files.at(path);
    }
    let slash = path.known_part().rfind('/').map_or(0, |at| at + 1);
    let name = path.from(slash);
    if let Some(name) = name.text() {
        return files.at(name);
    }
    if name.is_unknown() {
        return Vec::new();
    }
    let is_whole = path.known_start().starts_with('/') && !path.misses_value();
    let depth = |path: &str| path.matches('/').count();
    let is_found = |known: &str| match is_whole && known.starts_with('/') {
        true => depth(known) == depth(path.known_part()) && word_matches(path, known),
        false => word_matches(&name, known.rsplit('/').next().unwrap_or(known)),
    };
    let found = files.all().filter(|(known, _)| is_found(known)).map(|(_, file)| file);
    found.take(MAX_FOUND).collect()
}

/// Files that one pattern finds and that are analysed.
const MAX_FOUND: usize = 256;
/// Files that one code writes and that are kept.
const MAX_WRITTEN: usize = 16;

fn address(connection: &Connection) -> String {
    let url = connection.url.as_ref().map(|url| url.known_part().to_owned());
    url.unwrap_or_else(|| connection.host.known_part().to_owned())
}

fn connections(addresses: &[String]) -> Vec<Connection> {
    let connection = |text: &String| {
        let url = Word::known(text.as_str());
        let address = host::parse_host(&url, "https");
        let (scheme, purpose) = (address.scheme, Purpose::Fetch);
        Connection { host: address.host, port: address.port, scheme, purpose, url: Some(url) }
    };
    addresses.iter().map(connection).collect()
}

/// The language that the first line of a program names: `#!/usr/bin/env python3`.
pub(crate) fn first_line_language(text: &str) -> Option<Language> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split(['/', ' ', '\t']).rev();
    words.find_map(|word| {
        let name = word.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        Some(match name {
            "sh" | "bash" | "zsh" | "dash" | "ksh" => Language::Shell,
            "python" => Language::Python,
            "node" | "deno" | "bun" | "tsx" => Language::JavaScript,
            "perl" => Language::Perl,
            "ruby" => Language::Ruby,
            "php" => Language::Php,
            _ => return None,
        })
    })
}

/// The language that the ending of a script's name says.
pub(crate) fn by_ending(name: &str) -> Option<Language> {
    Some(match name.rsplit_once('.')?.1 {
        "sh" | "bash" | "zsh" => Language::Shell,
        "py" => Language::Python,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => Language::JavaScript,
        "rb" => Language::Ruby,
        "pl" => Language::Perl,
        "php" => Language::Php,
        "ps1" => Language::PowerShell,
        "bat" | "cmd" => Language::Cmd,
        _ => return None,
    })
}

/// The language of the tests that a program finds by itself.
fn runs_tests(name: &str) -> Option<Language> {
    match name {
        "pytest" | "py.test" | "tox" | "nox" => Some(Language::Python),
        "npm" | "yarn" | "pnpm" | "bun" | "npx" | "jest" | "vitest" | "mocha" | "node" => {
            Some(Language::JavaScript)
        }
        "rspec" | "rake" => Some(Language::Ruby),
        _ => None,
    }
}

fn is_test(path: &str, language: Language) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match language {
        Language::Python => {
            name == "conftest.py"
                || name.ends_with(".py")
                    && (name.starts_with("test_") || name.ends_with("_test.py"))
        }
        Language::JavaScript => name.contains(".test.") || name.contains(".spec."),
        Language::Ruby => name.ends_with("_spec.rb") || name.ends_with("_test.rb"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use callgate_call::{FileWrite, SessionFiles, WrittenContent};

    use crate::{Ground, command};

    const W: Ground<'_> = Ground {
        cwd: Some("/w"),
        home: Some("/home/u"),
        workspace: Some("/w"),
        resolver: None,
        earlier: None,
    };

    /// The effects of the last of these commands, which run one after the other.
    fn effects(commands: &[&str]) -> Vec<String> {
        let mut files = SessionFiles::default();
        let mut effects = Vec::new();
        for text in commands {
            let found = command(text, &Ground { earlier: Some(&files), ..W });
            effects = found.all().iter().map(|effect| effect.action.to_string()).collect();
            found.files.into_iter().for_each(|write| files.apply(write));
        }
        effects
    }

    #[test]
    fn a_later_command_runs_what_an_earlier_one_has_written() {
        for commands in [
            ["echo 'cat x' > a.sh", "bash a.sh"],
            ["echo 'cat x' > /w/a.sh", "./a.sh"],
            ["echo 'cat x' > a", ". ./a"],
            ["echo 'cat x' | tee a", "sh \"$PWD/a\""],
            ["echo Y2F0IHgK > a", "base64 -d a | sh"],
            ["echo Y2F0IHgK > a", "base64 -d < a | sh"],
            ["printf 'all:\\n\\tcat x\\n' > Makefile", "make"],
            ["echo '{\"scripts\":{\"a\":\"cat x\"}}' > package.json", "npm run a"],
            ["echo \"open('x').read()\" > test_a.py", "pytest"],
            ["printf '#!/usr/bin/env python3\\nopen(\"x\").read()\\n' > a", "./a"],
            ["echo 'cat x' > a.sh", "for f in *.sh; do sh $f; done"],
            ["echo 'cat x' > a.sh", "find . -name '*.sh' -exec sh {} \\;"],
            ["echo 'cat x' > b/a.sh", "ls b/*.sh | while read -r f; do bash \"$f\"; done"],
            ["python3 -c \"open('a.sh', 'w').write('cat x')\"", "sh a.sh"],
            ["python3 -c \"Path('a.sh').write_text('cat x')\"", "sh a.sh"],
            ["true", "python3 -c \"open('a.sh', 'w').write('cat x')\"; sh a.sh"],
            ["node -e \"fs.writeFileSync('a.sh', 'cat x')\"", "sh a.sh"],
            ["sed -i 's/true/cat x/' a.sh", "./a.sh"],
            ["echo \"open('x').read()\" > b/a.py", "python3 -m b.a"],
            ["echo \"open('x').read()\" > a.py", "uv run a.py"],
            ["echo \"fs.readFileSync('x')\" > a.ts", "npx tsx a.ts"],
            ["echo 'Get-Content x' > a.ps1", "pwsh a.ps1"],
            ["printf 'all:\\n\\tcat x\\n' > b/Makefile", "make -C b all"],
            ["echo 'cat \"$1\"' > a.sh", "bash a.sh x"],
            ["echo 'cat \"$1\"' > a.sh", "./a.sh x"],
            ["echo './a.sh; cat x' > a.sh", "./a.sh"],
        ] {
            let found = effects(&commands);
            assert!(found.iter().any(|line| line == "reads /w/x"), "{commands:?}: {found:?}");
        }
        let commands = ["echo 'cat x' > a", "mv a b", "sh b"];
        assert!(effects(&commands).contains(&"reads /w/x".to_owned()));
    }

    #[test]
    fn a_pattern_runs_only_what_it_finds() {
        for commands in [
            ["echo 'cat x' > a.py", "for f in *.sh; do sh $f; done"],
            ["echo 'cat x' > b/a.sh", "for f in *.sh; do sh $f; done"],
            ["echo 'cat x' > a.sh", "sh \"$UNKNOWN\""],
        ] {
            let found = effects(&commands);
            assert!(!found.iter().any(|line| line == "reads /w/x"), "{commands:?}: {found:?}");
        }
    }

    #[test]
    fn a_pattern_finds_what_the_same_call_has_written() {
        let found = effects(&["echo 'cat x' > a.sh; for f in *.sh; do sh $f; done"]);
        assert!(found.iter().any(|line| line == "reads /w/x"), "{found:?}");
    }

    #[test]
    fn too_much_of_a_script_is_no_way_around_its_end() {
        let long = "true\n".repeat(10_000);
        let found = effects(&[&format!("cat > a.sh <<'E'\n{long}rm -rf x\nE"), "sh a.sh"]);
        assert!(found.contains(&"opaque size".to_owned()), "{}", found.len());
    }

    #[test]
    fn a_script_whose_text_was_forgotten_is_opaque() {
        let mut files = SessionFiles::default();
        let long = "# x\n".repeat(SessionFiles::MAX_FILE);
        let content = WrittenContent::Whole(long);
        files.apply(FileWrite { path: "/w/a.sh".to_owned(), content });
        let ground = Ground { earlier: Some(&files), ..W };
        let found = |text: &str| {
            command(text, &ground).all().iter().any(|it| it.action.to_string() == "opaque size")
        };
        assert!(found("bash a.sh"));
        assert!(!found("cat a.sh; bash b.sh"));
    }

    #[test]
    fn what_came_from_another_host_runs_as_such() {
        let found = effects(&["curl -o i.sh https://a.example/i.sh", "bash i.sh"]);
        assert!(found.contains(&"executes a.example:443".to_owned()), "{found:?}");
    }

    #[test]
    fn what_a_file_hides_is_no_reason_to_doubt_a_later_call() {
        let found = effects(&["echo 'eval \"$X\"; \"$1\" y; cat x' > a.sh", "bash a.sh"]);
        assert!(found.contains(&"reads /w/x".to_owned()), "{found:?}");
        assert!(!found.iter().any(|line| line.starts_with("opaque")), "{found:?}");
    }

    #[test]
    fn a_file_that_code_makes_somewhere_and_removes_is_not_an_effect() {
        let test = "def test_a(tmp_path):\n    p = tmp_path / 'a'\n    p.unlink()\n";
        let found = effects(&[&format!("cat > test_a.py <<'E'\n{test}E"), "pytest"]);
        assert!(!found.iter().any(|line| line.starts_with("deletes")), "{found:?}");
        let found = effects(&["echo 'rm -rf \"$DIR\"/a' > a.sh", "sh a.sh"]);
        assert!(found.iter().any(|line| line.starts_with("deletes-tree")), "{found:?}");
    }

    #[test]
    fn a_host_or_a_variable_that_code_uses_is_no_reason_to_stop_a_test() {
        let test = "requests.post(server.url_for('/x'), json={})\nos.getenv('API_KEY')\n";
        let text = format!("cat > test_a.py <<'E'\n{test}E");
        let mut files = SessionFiles::default();
        let written = command(&text, &W);
        written.files.into_iter().for_each(|write| files.apply(write));
        let found = command("pytest", &Ground { earlier: Some(&files), ..W });
        let is_harmless = |effect: &crate::Effect| match &effect.action {
            crate::Action::Runs(run) => run.marks.is_empty(),
            action => !matches!(action, crate::Action::Connects(_)),
        };
        assert!(found.all().iter().all(is_harmless), "{:?}", found.all());
    }

    #[test]
    fn a_script_finds_its_own_folder() {
        let script = "ROOT=\"$(cd \"$(dirname \"$0\")/..\" && pwd)\"\nrm -rf \"$ROOT/dist\"\n";
        let write = format!("cat > s/a.sh <<'E'\n{script}E");
        for run in ["bash s/a.sh", "s/a.sh", "cd s && ./a.sh"] {
            let found = effects(&[&write, run]);
            assert!(found.contains(&"deletes-tree /w/dist".to_owned()), "{run}: {found:?}");
        }
        let write = write.replace("$0", "${BASH_SOURCE[0]}");
        let found = effects(&[&write, "./s/a.sh"]);
        assert!(found.contains(&"deletes-tree /w/dist".to_owned()), "{found:?}");
    }

    #[test]
    fn a_shell_that_only_checks_a_script_does_not_run_it() {
        let found = effects(&["echo 'rm -rf x' > a.sh", "bash -n a.sh"]);
        assert!(!found.iter().any(|line| line.contains("deletes")), "{found:?}");
    }

    #[test]
    fn reading_a_file_does_not_run_it() {
        let found = effects(&["echo 'rm -rf x' > a.sh", "cat a.sh | head; git add a.sh"]);
        assert!(!found.iter().any(|line| line.contains("deletes")), "{found:?}");
    }

    #[test]
    fn a_pipe_from_a_file_stays_opaque() {
        // The file may have changed since.
        let found = effects(&["echo 'cat x' > a", "cat a | sh"]);
        assert!(found.contains(&"opaque code".to_owned()), "{found:?}");
        assert!(found.contains(&"reads /w/x".to_owned()), "{found:?}");
    }

    #[test]
    fn what_is_appended_is_kept_as_a_part() {
        let found = command("echo 'cat x' >> a", &W).files;
        let content = WrittenContent::Appended("cat x\n".to_owned());
        assert_eq!(found, [FileWrite { path: "/w/a".to_owned(), content }]);
    }
}
