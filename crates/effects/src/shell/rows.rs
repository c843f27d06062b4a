//! Programs of which a few words are all that matters, one row each: what they destroy, and which of
//! their commands run code from an address.

use crate::effect::Purpose;
use crate::host::{self, Address};
use crate::marks::Mark;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Words of a command that are looked at.
const MAX_WORDS: usize = 32;

/// Programs, words that are all in the command, and what it then does; sorted by the program.
const DEEDS: &[(&str, &[&str], Mark)] = &[
    ("adb", &["backup"], Mark::Credentials),
    ("airflow", &["dags", "delete"], Mark::Infrastructure),
    ("airflow", &["db", "reset"], Mark::Database),
    ("bench", &["drop-site"], Mark::Database),
    ("cbt", &["deletefamily"], Mark::Database),
    ("cbt", &["deletetable"], Mark::Database),
    ("dagster", &["run", "wipe"], Mark::Database),
    ("db2", &["drop", "database"], Mark::Database),
    ("duplicity", &["remove-all-but-n-full"], Mark::Infrastructure),
    ("fastlane", &["match", "nuke"], Mark::Infrastructure),
    ("fastlane", &["nuke"], Mark::Infrastructure),
    ("firewall-cmd", &["--set-default-zone=trusted"], Mark::Guard),
    ("fossil", &["purge"], Mark::History),
    ("goose", &["down-to"], Mark::Database),
    ("goose", &["reset"], Mark::Database),
    ("hasura", &["metadata", "clear"], Mark::Infrastructure),
    ("hg", &["strip"], Mark::History),
    ("kopia", &["snapshot", "delete"], Mark::Infrastructure),
    ("kubeadm", &["token", "--print-join-command"], Mark::Credentials),
    ("mlflow", &["gc"], Mark::Database),
    ("nomad", &["system", "gc"], Mark::Infrastructure),
    ("p4", &["obliterate"], Mark::Infrastructure),
    ("pg_dropcluster", &[], Mark::Database),
    ("prefect", &["delete"], Mark::Infrastructure),
    ("regctl", &["delete"], Mark::RemoteDelete),
    ("sqitch", &["revert"], Mark::Database),
    ("sshx", &[], Mark::Tunnel),
    ("stripe", &["delete"], Mark::Infrastructure),
    ("teleconsole", &[], Mark::Tunnel),
    ("upterm", &["host"], Mark::Tunnel),
    ("wandb", &["artifact", "rm"], Mark::Infrastructure),
    ("websocketd", &["bash"], Mark::Tunnel),
    ("websocketd", &["sh"], Mark::Tunnel),
];

/// Programs, a word of the command (none: any command), and what comes from the addresses that it then
/// names; sorted by the program. A template runs its hooks, a manifest its containers.
const SOURCES: &[(&str, &str)] = &[
    ("act", "-W"),
    ("asdf", "plugin"),
    ("aws", "--template-url"),
    ("buck2", "run"),
    ("chef-client", ""),
    ("chezmoi", "init"),
    ("clojure", "-Sdeps"),
    ("cookiecutter", ""),
    ("copier", "copy"),
    ("cpanm", ""),
    ("create-expo-app", ""),
    ("create-next-app", ""),
    ("dagger", ""),
    ("dart", "activate"),
    ("django-admin", "--template"),
    ("earthly", ""),
    ("fastlane", "add_plugin"),
    ("flutter", "activate"),
    ("garden", "deploy"),
    ("goose", "run"),
    ("helmfile", ""),
    ("kapp", "deploy"),
    ("kedro", "new"),
    ("kustomize", "build"),
    ("lein", "new"),
    ("meteor", "create"),
    ("mint", "install"),
    ("mise", "plugin"),
    ("mise", "use"),
    ("mlflow", "run"),
    ("mvn", "archetype:generate"),
    ("nix", "profile"),
    ("nomad", "run"),
    ("proto", "plugin"),
    ("pulumi", "new"),
    ("ray", "submit"),
    ("sam", "init"),
    ("sbt", ""),
    ("serverless", "create"),
    ("skaffold", "dev"),
    ("skaffold", "run"),
    ("sls", "create"),
    ("spark-shell", ""),
    ("startproject", "--template"),
    ("streamlit", "run"),
    ("tilt", "up"),
    ("uv", "run"),
    ("waypoint", "up"),
    ("yadm", "clone"),
    ("yo", ""),
    ("zenml", "import"),
];

/// What follows the program or the project that these run is for it to read.
const RUNS_ONE: &[&str] = &["run", "submit"];

/// Short names of hosts that keep repositories, as these programs and `terraform` read them.
const FORGES: &[(&str, &str)] = &[
    ("gh:", "https://github.com/"),
    ("github:", "https://github.com/"),
    ("gl:", "https://gitlab.com/"),
    ("gitlab:", "https://gitlab.com/"),
    ("bb:", "https://bitbucket.org/"),
    ("bitbucket:", "https://bitbucket.org/"),
    ("github.com/", "https://github.com/"),
    ("gitlab.com/", "https://gitlab.com/"),
    ("bitbucket.org/", "https://bitbucket.org/"),
];

/// Programs that copy images to a registry.
const IMAGE_TOOLS: &[&str] = &["crane", "helm", "oras", "regctl", "skopeo"];

/// What only shows what would happen.
const ONLY_SHOWS: &[&str] = &["--help", "-h", "--pretend", "--dry-run", "--version"];

impl Shell<'_, '_> {
    /// Marks and connections of a program that has a row.
    pub(crate) fn rows(&mut self, program: &str, fields: &[Field], run: usize) {
        let words = fields.get(1..).unwrap_or_default();
        let words = words.get(..words.len().min(MAX_WORDS)).unwrap_or(words);
        let has = |word: &str| words.iter().any(|field| field.text() == Some(word));
        let deeds = rows_of(DEEDS, program, |row| row.0);
        let is_shown = || ONLY_SHOWS.iter().any(|word| has(word));
        let found = deeds.iter().find(|(_, needed, _)| needed.iter().all(|word| has(word)));
        if let Some((_, _, mark)) = found.filter(|_| !is_shown()) {
            self.mark(run, *mark);
        }
        let sources = rows_of(SOURCES, program, |row| row.0);
        let is_given = |word: &str| {
            let starts = |field: &Field| field.word.known_start().starts_with(word);
            if word.starts_with('-') { words.iter().any(starts) } else { has(word) }
        };
        let found = sources.iter().find(|(_, word)| word.is_empty() || is_given(word));
        if let Some((_, verb)) = found.filter(|_| !is_shown()) {
            let end = if RUNS_ONE.contains(verb) { program_end(words, verb) } else { words.len() };
            for field in words.get(..end).unwrap_or(words) {
                self.runs_from(field);
            }
        }
        if IMAGE_TOOLS.contains(&program) && (has("push") || has("copy") || has("cp")) {
            self.sends_image(program, words);
        }
    }

    /// Code comes from every address in a word: `--template=https://…`, `{:git/url "https://…"}`.
    fn runs_from(&mut self, field: &Field) {
        let text = field.word.known_part();
        let value = text.split_once('=').map_or(text, |(_, value)| value);
        let found = forge(value).or_else(|| {
            let schemes = ["https://", "http://", "git://", "ssh://"];
            let at = schemes.iter().filter_map(|scheme| text.find(scheme)).min()?;
            let url = text.get(at..)?.split(['"', '\'', ' ', ')', ',']).next()?;
            host::parse_url(&Word::known(url))
        });
        if let Some(address) = found {
            self.connect(address, Purpose::Execute, Some(&field.word), field.span.clone());
        }
    }

    /// `oras push HOST/x`, `skopeo copy … docker://HOST/x`: the image goes to that host.
    fn sends_image(&mut self, program: &str, words: &[Field]) {
        let is_operand = |field: &&Field| !field.word.known_start().starts_with('-');
        let targets = words.iter().filter(is_operand).skip(1);
        let target = if program == "oras" { { targets }.next() } else { targets.last() };
        let Some(field) = target else { return };
        let text = field.word.known_part();
        let bare = ["docker://", "oci://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let bare = bare.unwrap_or(text);
        let Some((name, _)) = bare.split_once('/').filter(|(name, _)| name.contains('.')) else {
            return;
        };
        if !name.starts_with('.') {
            let address = host::parse_host(&Word::known(name), "https");
            self.connect(address, Purpose::Send, None, field.span.clone());
        }
    }
}

/// Where the arguments of what is run begin: after the first operand behind the verb.
fn program_end(words: &[Field], verb: &str) -> usize {
    let from = words.iter().position(|field| field.text() == Some(verb)).map_or(0, |at| at + 1);
    let rest = words.get(from..).unwrap_or_default();
    let operand = rest.iter().position(|field| !field.word.known_start().starts_with('-'));
    operand.map_or(words.len(), |at| from + at + 1)
}

/// `gh:user/repo`, `github.com/user/repo`
pub(crate) fn forge(text: &str) -> Option<Address> {
    let (short, whole) = FORGES.iter().find(|(short, _)| text.starts_with(short))?;
    let rest = text.get(short.len()..).filter(|rest| rest.contains('/'))?;
    host::parse_url(&Word::known(format!("{whole}{rest}")))
}

/// The rows of a program in a sorted table.
fn rows_of<'t, R>(table: &'t [R], program: &str, name: impl Fn(&R) -> &'static str) -> &'t [R] {
    let from = table.partition_point(|row| name(row) < program);
    let rest = table.get(from..).unwrap_or_default();
    let count = rest.partition_point(|row| name(row) == program);
    rest.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ground, command};

    fn shown(text: &str) -> String {
        let ground = Ground { cwd: Some("/w"), workspace: Some("/w"), ..Ground::default() };
        let mut all = String::new();
        for effect in command(text, &ground).all() {
            all.push_str(&effect.action.to_string());
            if let crate::Action::Runs(run) = &effect.action {
                all.push_str(&format!(" <{}>", run.marks));
            }
            all.push('\n');
        }
        all
    }

    #[test]
    fn tables_are_sorted() {
        assert!(DEEDS.is_sorted_by_key(|row| row.0));
        assert!(SOURCES.is_sorted());
    }

    #[test]
    fn rows_are_found() {
        for (text, sign) in [
            ("sqitch revert -y", "<database>"),
            ("hg strip -r 10", "<history>"),
            ("cookiecutter gh:a/b", "executes github.com:443"),
            ("cookiecutter --checkout x https://x.example/b.git", "executes x.example:443"),
            ("pulumi new https://x.example/t", "executes x.example:443"),
            (
                "django-admin startproject --template=https://x.example/t.zip a",
                "executes x.example",
            ),
            ("uv run https://x.example/a.py", "executes x.example:443"),
            ("kubectl apply -k 'github.com/a/b//c?ref=main'", "executes github.com:443"),
            ("terraform init -from-module=github.com/a/b", "executes github.com:443"),
            ("skopeo copy oci:a docker://x.example/b", "sends x.example:443"),
            ("oras push x.example/a:1 ./src", "sends x.example:443"),
        ] {
            assert!(shown(text).contains(sign), "{text}: {}", shown(text));
        }
        for text in [
            "sqitch status",
            "hg log",
            "cookiecutter ./template",
            "cookiecutter gh:a/b --help",
            "copier copy gh:a/b . --pretend",
            "pulumi new typescript",
            "streamlit run app.py",
            "uv run pytest",
            "uv run a.py https://x.example/data.csv",
            "streamlit run app.py -- --url https://x.example",
            "mise use node@22",
            "kubectl apply -k overlays/dev",
            "skopeo copy docker://x.example/b oci:a",
        ] {
            let shown = shown(text);
            let signs = ["<database>", "<history>", "executes", "sends"];
            assert!(!signs.iter().any(|sign| shown.contains(sign)), "{text}: {shown}");
        }
    }
}
