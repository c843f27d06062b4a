//! Files that the text itself writes and that a program then obeys: `package.json`, `Makefile`,
//! manifests of containers.

use crate::marks::Mark;
use crate::model::Language;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::shell::output::Output;
use crate::word::Word;

/// Commands of one file that are analysed.
const MAX_COMMANDS: usize = 64;

/// How the commands of a file are found.
#[derive(Clone, Copy)]
enum Form {
    /// The values of `"scripts"`.
    PackageJson,
    /// Lines that begin with a blank.
    Indented,
    /// The whole file is code.
    Code(Language),
}

/// The files that a program obeys without being given their name.
fn recipes(name: &str) -> &'static [(&'static str, Form)] {
    const NODE: &[(&str, Form)] = &[("package.json", Form::PackageJson)];
    const MAKE: &[(&str, Form)] = &[
        ("Makefile", Form::Indented),
        ("makefile", Form::Indented),
        ("GNUmakefile", Form::Indented),
    ];
    const PYTHON: &[(&str, Form)] = &[("setup.py", Form::Code(Language::Python))];
    match name {
        "npm" | "yarn" | "pnpm" | "bun" | "npx" => NODE,
        "make" | "gmake" => MAKE,
        "just" => &[("justfile", Form::Indented), ("Justfile", Form::Indented)],
        "task" => &[("Taskfile.yml", Form::Indented)],
        "pip" | "pip3" | "uv" | "poetry" => PYTHON,
        "pytest" => &[("conftest.py", Form::Code(Language::Python))],
        "bundle" | "bundler" => &[("Gemfile", Form::Code(Language::Ruby))],
        "composer" => &[("composer.json", Form::PackageJson)],
        "cmake" => &[("CMakeLists.txt", Form::Code(Language::Other))],
        "git" => &[
            (".git/hooks/pre-commit", Form::Code(Language::Shell)),
            (".git/hooks/commit-msg", Form::Code(Language::Shell)),
            (".git/hooks/post-commit", Form::Code(Language::Shell)),
            (".git/hooks/pre-push", Form::Code(Language::Shell)),
            (".git/hooks/post-checkout", Form::Code(Language::Shell)),
            (".git/hooks/post-merge", Form::Code(Language::Shell)),
        ],
        "rake" => &[("Rakefile", Form::Code(Language::Ruby))],
        "direnv" => &[(".envrc", Form::Code(Language::Shell))],
        _ => &[],
    }
}

/// What a manifest says if a container gets the host, or an account every right.
const HOST_ACCESS: &[&str] = &[
    "privileged: true",
    "\"privileged\": true",
    "hostPID: true",
    "hostIPC: true",
    "\"/:/",
    "- /:/",
    "'/:/",
    "docker.sock:",
    "path: /\n",
    "path: / ",
    "path: /}",
    "path\":\"/\"",
    "path\": \"/\"",
    "path: \"/\"",
    "path: /etc",
    "path: /root",
    "path: /var/run/docker.sock",
    "pid: host",
    "pid: \"host\"",
    "SYS_ADMIN",
    "- ALL\n",
    "cluster-admin",
    "source: /\n",
];

impl Shell<'_, '_> {
    /// Commands in a file that the text has written and that the program now obeys.
    pub(crate) fn builds_written(&mut self, name: &str, fields: &[Field]) {
        if self.written.is_empty() && self.out.ground.earlier.is_none() {
            return;
        }
        let Some(first) = fields.first() else { return };
        let folder = folder_of(fields);
        for (file, form) in recipes(name) {
            self.obeys_file(Word::known(format!("{folder}{file}")), *form, first);
        }
        for file in modules(name, fields) {
            self.obeys_file(Word::known(file), Form::Code(Language::Python), first);
        }
        self.earlier_tests(name, first);
        // `make -f FILE`
        let is_file = |field: &&Field| matches!(field.text(), Some("-f" | "--file" | "--makefile"));
        let at = fields.iter().position(|field| is_file(&field));
        if matches!(name, "make" | "gmake" | "just")
            && let Some(file) = at.and_then(|at| fields.get(at + 1))
        {
            self.obeys_file(file.word.clone(), Form::Indented, first);
        }
    }

    fn obeys_file(&mut self, file: Word, form: Form, first: &Field) {
        let output = self.file_output(&Field::new(file, first.span.clone()));
        if let Some(text) = output.likely() {
            self.followed(&output, |shell| shell.obeys(text, form, first));
        }
    }

    fn obeys(&mut self, text: &str, form: Form, at: &Field) {
        let field = |text: &str| Field::new(Word::known(text), at.span.clone());
        match form {
            Form::Code(language) => self.code(language, &field(text)),
            Form::Indented => {
                let is_command = |line: &&str| line.starts_with(['\t', ' ']);
                for line in text.lines().filter(is_command).take(MAX_COMMANDS) {
                    let line = line.trim_start().trim_start_matches(['@', '-', '+']);
                    let line = line.strip_prefix("cmd:").unwrap_or(line).trim_start();
                    self.word_text(&field(&line.replace("$$", "$")));
                }
            }
            Form::PackageJson => {
                for script in scripts(text).take(MAX_COMMANDS) {
                    self.word_text(&field(&script));
                }
            }
        }
    }

    /// Manifests that the text has written, for `docker compose` and `kubectl apply`.
    pub(crate) fn manifests(&mut self, line: &Line<'_>, context: &Context) {
        if line.words.iter().any(|word| word.text() == Some("config")) {
            return;
        }
        let is_file = |spelling: &str| matches!(spelling, "-f" | "--file" | "--filename");
        let given = line.flags.iter().filter(|given| is_file(&given.spelling));
        let mut files: Vec<Field> =
            given.filter_map(|given| given.values.first().cloned()).collect();
        let usual = [
            "docker-compose.yml",
            "docker-compose.yaml",
            "compose.yml",
            "compose.yaml",
            "docker-compose.override.yml",
            "compose.override.yml",
        ];
        if files.is_empty() {
            let known = |name| Field::new(Word::known(name), context.span.clone());
            files.extend(usual.into_iter().map(known));
        }
        let is_such = |output: &Output| {
            let text = match output {
                Output::Text(word) | Output::Earlier { text: word, .. } => word.known_part(),
                _ => "",
            };
            gives_host(text)
        };
        let by_file = files.iter().any(|file| is_such(&self.file_output(file)));
        let by_input = context.input.as_deref().is_some_and(is_such);
        if by_file || by_input {
            self.mark(context.run, Mark::HostAccess);
        }
    }
}

/// The folder in which a program looks for its files, with a `/`: `make -C FOLDER`.
fn folder_of(fields: &[Field]) -> String {
    let names = ["-C", "--directory", "--prefix", "--cwd"];
    let words: Vec<&str> = fields.iter().filter_map(Field::text).collect();
    let given = words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((name, folder)) if names.contains(&name) => Some(folder),
        _ if names.contains(word) => words.get(at + 1).copied(),
        _ => None,
    });
    given.map_or_else(String::new, |folder| format!("{}/", folder.trim_end_matches('/')))
}

/// The files that `python -m NAME` may run.
fn modules(name: &str, fields: &[Field]) -> Vec<String> {
    if !name.starts_with("python") && !name.starts_with("pypy") {
        return Vec::new();
    }
    let at = fields.iter().position(|field| field.text() == Some("-m"));
    let module = at.and_then(|at| fields.get(at + 1)).and_then(Field::text);
    let path = module.map(|module| module.replace('.', "/"));
    path.map_or_else(Vec::new, |path| vec![format!("{path}.py"), format!("{path}/__main__.py")])
}

/// Whether a manifest gives a container the host.
pub(crate) fn gives_host(text: &str) -> bool {
    HOST_ACCESS.iter().any(|sign| text.contains(sign))
}

/// Whether a manifest binds a role that may do nearly everything, or takes a guard of the cluster away.
pub(crate) fn gives_rights(text: &str) -> bool {
    let plain: String = text.chars().filter(|letter| !matches!(letter, ' ' | '"' | '\'')).collect();
    let binds = plain.contains("kind:ClusterRoleBinding") || plain.contains("kind:RoleBinding");
    let is_power = ["name:cluster-admin", "name:admin", "name:system:masters"]
        .iter()
        .any(|name| plain.contains(name));
    binds && is_power
}

/// The values of `"scripts"` in a `package.json`.
fn scripts(text: &str) -> impl Iterator<Item = String> {
    let inside = text.split_once("\"scripts\"").map_or("", |(_, after)| after);
    let inside = inside.split('}').next().unwrap_or_default();
    let mut literals = Vec::new();
    let mut rest = inside;
    while let Some(open) = rest.find('"')
        && literals.len() < 2 * MAX_COMMANDS
    {
        let after = rest.get(open + 1..).unwrap_or_default();
        let mut is_escaped = false;
        let end = after.find(|character| {
            let ends = character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            ends
        });
        let end = end.unwrap_or(after.len());
        literals.push(after.get(..end).unwrap_or_default().replace("\\\"", "\""));
        rest = after.get(end + 1..).unwrap_or_default();
    }
    literals.into_iter().skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use crate::{Action, Ground, Mark, command};

    fn effects(text: &str) -> Vec<String> {
        let effects = command(text, &Ground { cwd: Some("/w"), ..Ground::default() });
        effects.all().iter().map(|effect| effect.action.to_string()).collect()
    }

    #[test]
    fn commands_in_written_files_are_followed() {
        for text in [
            "echo '{\"scripts\":{\"a\":\"cat x\"}}' > package.json && npm run a",
            "echo '{\"scripts\":{\"a\":\"cat x\"}}' > p && mv p package.json && npm run a",
            "printf 'all:\\n\\t@cat x\\n' > Makefile; make",
            "printf 'all:\\n\\tcat x\\n' > m; make -f m",
        ] {
            let found = effects(text);
            assert!(found.iter().any(|line| line == "reads /w/x"), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_written_manifest_that_gives_the_host_is_marked() {
        let marked = |text: &str| {
            let effects = command(text, &Ground { cwd: Some("/w"), ..Ground::default() });
            effects.all().iter().any(|effect| match &effect.action {
                Action::Runs(run) => run.marks.contains(Mark::HostAccess),
                _ => false,
            })
        };
        assert!(marked("printf 'a:\\n  privileged: true\\n' > c.yml; docker compose -f c.yml up"));
        assert!(marked("kubectl apply -f - <<'Y'\nspec:\n  hostPID: true\nY"));
        assert!(!marked("kubectl apply -f - <<'Y'\nkind: ConfigMap\nY"));
    }
}
