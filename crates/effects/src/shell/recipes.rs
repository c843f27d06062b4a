//! Files that the text itself writes and that a program then obeys: `package.json`, `Makefile`,
//! manifests of containers.

use crate::bound::Bound;
use crate::effect::{Access, Action, Change, Why};
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

/// Effects among which the copy of a plugin is looked for.
const MAX_RECENT: usize = 256;

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
        self.builds_elsewhere(name, fields);
        self.plugin_written(name, fields);
        if self.written.is_empty() && self.out.ground.earlier.is_none() {
            return;
        }
        let Some(first) = fields.first() else { return };
        let folder = folder_of(name, fields);
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

    /// `make -C FOLDER`: what is in the folder says what runs.
    fn builds_elsewhere(&mut self, name: &str, fields: &[Field]) {
        let Some(file) = main_recipe(name) else { return };
        let folder = folder_of(name, fields);
        if let Some(first) = fields.first().filter(|_| folder.len() > 1) {
            let file = Field::new(Word::known(format!("{folder}{file}")), first.span.clone());
            self.read_file(&file, Access::Content);
        }
    }

    /// `zypper x` runs `zypper-x`, `git x` runs `git-x`: a program of that name that the text has made.
    fn plugin_written(&mut self, name: &str, fields: &[Field]) {
        let is_word = |field: &&Field| !field.word.known_start().starts_with('-');
        let Some(word) = fields.iter().skip(1).find(is_word).and_then(Field::text) else { return };
        if !has_plugins(name) {
            return;
        }
        let is_name = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name || self.out.effects.all().len() < 2 {
            return;
        }
        let end = format!("/{name}-{word}");
        let found = self.written.keys().find(|path| path.ends_with(&end)).cloned();
        let Some(first) = fields.first() else { return };
        if let Some(path) = found {
            let file = Field::new(Word::known(path), first.span.clone());
            return self.known_script(Language::Shell, &file);
        }
        let recent = self.out.effects.all().iter().rev().take(MAX_RECENT);
        let is_copied = { recent }.any(|effect| match &effect.action {
            Action::Writes(path, Change::Content) => path.resolved.known_part().ends_with(&end),
            _ => false,
        });
        if is_copied {
            self.opaque(Why::Code, Bound::ALL, first.span.clone());
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

/// Programs that run `NAME-WORD` from a folder of programs for a word that they do not know.
fn has_plugins(name: &str) -> bool {
    matches!(
        name,
        "brew"
            | "cargo"
            | "docker"
            | "gh"
            | "git"
            | "helm"
            | "hg"
            | "kubectl"
            | "mage"
            | "npm"
            | "pass"
            | "pyenv"
            | "rbenv"
            | "zypper"
    )
}

/// The file that says what a program builds or runs.
fn main_recipe(name: &str) -> Option<&'static str> {
    Some(match name {
        "make" | "gmake" => "Makefile",
        "npm" | "yarn" | "pnpm" | "bun" => "package.json",
        "cargo" => "Cargo.toml",
        "composer" => "composer.json",
        "gradle" | "gradlew" => "build.gradle",
        "just" => "justfile",
        "ninja" => "build.ninja",
        "poetry" | "uv" | "pdm" | "hatch" => "pyproject.toml",
        "pulumi" => "Pulumi.yaml",
        "swift" => "Package.swift",
        "task" => "Taskfile.yml",
        "terraform" | "tofu" => "main.tf",
        _ => return None,
    })
}

/// The folder in which a program looks for its files, with a `/`: `make -C FOLDER`.
fn folder_of(name: &str, fields: &[Field]) -> String {
    let names = [
        "-C",
        "--directory",
        "--prefix",
        "--cwd",
        "--dir",
        "--project-dir",
        "--project",
        "--working-dir",
        "--package-path",
        "-chdir",
    ];
    if matches!(name, "cmake" | "cmake3")
        && let Some(last) = fields.last().and_then(Field::text)
        && last.contains('/')
        && !last.starts_with('-')
    {
        return format!("{}/", last.trim_end_matches('/'));
    }
    let own = match name {
        "gradle" | "gradlew" => Some("-p"),
        "composer" | "task" => Some("-d"),
        _ => None,
    };
    let words: Vec<&str> = fields.iter().filter_map(Field::text).collect();
    let given = words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((name, folder)) if names.contains(&name) => Some(folder),
        _ if names.contains(word) || own == Some(*word) => words.get(at + 1).copied(),
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
    fn a_plugin_that_the_text_makes_is_followed() {
        let found = effects("printf 'cat x' > /w/bin/git-a; git a");
        assert!(found.iter().any(|line| line == "reads /w/x"), "{found:?}");
        let found = effects("cp ./run /w/bin/kubectl-a; kubectl a");
        assert!(found.iter().any(|line| line.starts_with("opaque")), "{found:?}");
        let found = effects("cp ./run /w/bin/kubectl-a; kubectl get pods");
        assert!(!found.iter().any(|line| line.starts_with("opaque")), "{found:?}");
    }

    #[test]
    fn a_project_in_another_folder_is_read() {
        for (text, file) in [
            ("make -C ../a test", "/a/Makefile"),
            ("npm --prefix=/a run x", "/a/package.json"),
            ("gradle -p /a build", "/a/build.gradle"),
            ("terraform -chdir=/a apply", "/a/main.tf"),
        ] {
            let found = effects(text);
            assert!(found.contains(&format!("reads {file}")), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_server_for_the_whole_network_listens() {
        for text in ["vite --host 0.0.0.0", "x --bind=0.0.0.0:80", "x -a tcp://0.0.0.0:80"] {
            let found = effects(text);
            assert!(found.iter().any(|line| line.starts_with("listens")), "{text}: {found:?}");
        }
        for text in ["echo --host 0.0.0.0", "vite --host localhost", "x --range 0.0.0.0/0"] {
            let found = effects(text);
            assert!(!found.iter().any(|line| line.starts_with("listens")), "{text}: {found:?}");
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
