//! Files that earlier calls of the session have written, and what this text writes for later ones.
//!
//! A file may have changed since it was written, in a way that no call shows. So its text is only
//! likely: what it does is added to the effects, and what it hides is no reason to doubt a call.

use std::rc::Rc;

use callgate_call::{SessionFile, WrittenContent};

use crate::effect::{Action, Connection, Purpose};
use crate::host;
use crate::model::Language;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::word::Word;

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
        match self.earlier_files(field).into_iter().next() {
            Some(SessionFile::Fetched(addresses)) => Output::Network(connections(addresses)),
            Some(SessionFile::Whole(text) | SessionFile::Parts(text)) => {
                Output::Earlier { file, text: Word::known(text.as_str()) }
            }
            None => Output::File(file),
        }
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

    /// A script of an earlier call.
    pub(crate) fn earlier_script(&mut self, language: Language, field: &Field) {
        for file in self.earlier_files(field) {
            match file {
                SessionFile::Fetched(addresses) => {
                    let output = Rc::new(Output::Network(connections(addresses)));
                    self.run_output(language, &output, &field.span);
                }
                SessionFile::Whole(text) | SessionFile::Parts(text) => {
                    let text = Field::new(Word::known(text.as_str()), field.span.clone());
                    self.likely_code(language, &text);
                }
            }
        }
    }

    /// Tests of earlier calls that a test runner finds by itself.
    pub(crate) fn earlier_tests(&mut self, name: &str, first: &Field) {
        let (Some(files), Some(language)) = (self.out.ground.earlier, runs_tests(name)) else {
            return;
        };
        for (path, file) in files.all() {
            if let Some(text) = file.text().filter(|_| is_test(path, language)) {
                self.likely_code(language, &Field::new(Word::known(text), first.span.clone()));
            }
        }
    }

    /// Code that probably runs.
    pub(crate) fn likely_code(&mut self, language: Language, field: &Field) {
        let language = field.text().and_then(first_line_language).unwrap_or(language);
        self.without_opaque(|shell| shell.code(language, field));
    }

    /// Runs something that was read from a file: see the head of this module.
    pub(crate) fn followed(&mut self, output: &Output, run: impl FnOnce(&mut Self)) {
        match output {
            Output::Earlier { .. } => self.without_opaque(run),
            _ => run(self),
        }
    }

    fn without_opaque(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.out.effects.all().len();
        run(self);
        self.out.effects.forget(before, |action| match action {
            Action::Opaque(_) => true,
            Action::Runs(run) => !run.program.is_known(),
            _ => false,
        });
    }

    /// The files of earlier calls that a word may mean. Of `"$DIR"/run.sh` only the name is known.
    fn earlier_files(&self, field: &Field) -> Vec<&'g SessionFile> {
        let Some(files) = self.out.ground.earlier else { return Vec::new() };
        let resolved = self.resolve(&field.word).resolved;
        match resolved.text() {
            Some(path) => files.at(path),
            None => {
                let slash = resolved.known_part().rfind('/').map_or(0, |at| at + 1);
                let name = resolved.from(slash);
                name.text().map(|name| files.at(name)).unwrap_or_default()
            }
        }
    }
}

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
fn first_line_language(text: &str) -> Option<Language> {
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
        ] {
            let found = effects(&commands);
            assert!(found.iter().any(|line| line == "reads /w/x"), "{commands:?}: {found:?}");
        }
        let commands = ["echo 'cat x' > a", "mv a b", "sh b"];
        assert!(effects(&commands).contains(&"reads /w/x".to_owned()));
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
