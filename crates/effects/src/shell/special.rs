//! Programs whose words mean something that the format of the models cannot say.

use std::rc::Rc;

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Purpose, Reach, Scope, Why};
use crate::host;
use crate::marks::{Mark, Marks};
use crate::model::{Language, WRITES};
use crate::shell::apply::{Context, is_path, joined, sets_registry};
use crate::shell::eval::{Fetched, Input, Shell};
use crate::shell::expand::Field;
use crate::shell::line::{Given, Line};
use crate::shell::output::Output;
use crate::word::Word;

/// Programs for a cloud whose words are nouns, then a verb. Sorted, because each command asks.
/// Other programs that manage a service; sorted.
const ADMINISTERS: &[&str] = &[
    "akamai",
    "algolia",
    "argo",
    "aws-nuke",
    "awx",
    "azd",
    "bk",
    "bosh",
    "buildkite-agent",
    "cilium",
    "circleci",
    "cloudctl",
    "contentful",
    "crossplane",
    "dapr",
    "dkron",
    "drone",
    "earthly",
    "fastly",
    "gitea",
    "harbor",
    "hasura",
    "hcp",
    "helmfile",
    "jenkins-cli",
    "jfrog",
    "juju",
    "kafkactl",
    "kcadm",
    "kn",
    "kong",
    "lacework",
    "logcli",
    "maas",
    "meltano",
    "minikube",
    "newrelic",
    "ngc",
    "odo",
    "oras",
    "pachctl",
    "pdctl",
    "percy",
    "prefect",
    "proxmox-backup-client",
    "pulsarctl",
    "qm",
    "rad",
    "rke",
    "rpk",
    "sanity",
    "shopify",
    "sloth",
    "snyk",
    "spacectl",
    "talosctl",
    "tea",
    "temporal",
    "tfe",
    "tkn",
    "trivy",
    "tsh",
    "twilio",
    "vcluster",
    "virsh",
    "wrangler",
    "zitadel",
];

const CLOUDS: &[&str] = &[
    "aliyun",
    "amplify",
    "appwrite",
    "argocd",
    "atlas",
    "auth0",
    "az",
    "azcopy",
    "b2",
    "bq",
    "cbt",
    "ccloud",
    "cf",
    "civo",
    "clever",
    "cockroach",
    "confluent",
    "consul",
    "convex",
    "copilot",
    "databricks",
    "datadog-ci",
    "doctl",
    "eas",
    "eb",
    "ecctl",
    "eksctl",
    "exo",
    "firebase",
    "flux",
    "fly",
    "flyctl",
    "gcloud",
    "gsutil",
    "hcloud",
    "heroku",
    "hf",
    "huggingface-cli",
    "ibmcloud",
    "influx",
    "kaggle",
    "kops",
    "koyeb",
    "linode-cli",
    "mc",
    "mongocli",
    "nats",
    "neonctl",
    "netlify",
    "nomad",
    "northflank",
    "oc",
    "oci",
    "okta",
    "openstack",
    "ovhcloud",
    "platform",
    "pscale",
    "rabbitmqadmin",
    "railway",
    "rancher",
    "render",
    "s3cmd",
    "scalingo",
    "scw",
    "sentry-cli",
    "serverless",
    "sls",
    "snow",
    "sst",
    "stackit",
    "supabase",
    "tccli",
    "temporal",
    "turso",
    "upctl",
    "velero",
    "vercel",
    "vultr-cli",
    "wrangler",
    "yc",
];

/// Tasks of frameworks that drop or empty a database.
const DROPPING_TASKS: &[&str] = &[
    "db:drop",
    "db:drop:all",
    "db:reset",
    "db:wipe",
    "db:purge",
    "db:schema:load",
    "db:migrate:reset",
    "migrate:fresh",
    "migrate:reset",
    "migrate:refresh",
    "schema:drop",
    "doctrine:database:drop",
    "doctrine:schema:drop",
    "orm:schema-tool:drop",
    "ecto.drop",
    "ecto.reset",
    "dropAll",
    "drop-all",
    "drop_all",
    "migrate:rollback-all",
    "liquibase:dropAll",
    "flyway:clean",
    "flywayClean",
    "ef:drop",
];

/// Whether a word is one of these tasks. Hardly any word has their punctuation or their capitals.
fn is_dropping_task(word: &str) -> bool {
    let may_be = word
        .bytes()
        .any(|byte| matches!(byte, b':' | b'.' | b'-' | b'_') || byte.is_ascii_uppercase());
    may_be && DROPPING_TASKS.contains(&word)
}

/// Tasks of frameworks that print secrets.
const REVEALING_TASKS: &[&str] = &[
    "config:show",
    "credentials:show",
    "debug:dotenv",
    "diffsettings",
    "encrypted:show",
    "env:decrypt",
    "secrets:reveal",
    "secrets:show",
];

/// Programs that have a console for code, and the names of such consoles.
const CONSOLES: &[&str] =
    &["rails", "manage.py", "django-admin", "artisan", "flask", "dbshell", "dbconsole"];

/// Installers that run code from any URL they are given.
const INSTALLERS: &[&str] = &[
    "conan",
    "cpan",
    "cpanm",
    "dart",
    "guix",
    "jbang",
    "kustomize",
    "luarocks",
    "mix",
    "nimble",
    "nix",
    "nix-build",
    "nix-env",
    "nix-shell",
    "opam",
    "pub",
    "raco",
    "ros",
    "scala",
    "scala-cli",
    "shards",
    "spack",
    "vagrant",
    "vcpkg",
];

/// Whether a program that is not known otherwise runs code from any URL.
pub(crate) fn is_installer(name: &str) -> bool {
    INSTALLERS.binary_search(&name).is_ok()
}

/// Programs with a prompt at which `!command` runs in a shell.
const ESCAPING: &[&str] = &[
    "aspell",
    "bc",
    "cdrecord",
    "dc",
    "ed",
    "ex",
    "ftp",
    "gdb",
    "ginsh",
    "gnuplot",
    "irb",
    "less",
    "lftp",
    "lynx",
    "mail",
    "mailx",
    "man",
    "more",
    "ncftp",
    "octave",
    "psftp",
    "red",
    "sftp",
    "smbclient",
    "tdbtool",
    "telnet",
    "tftp",
    "tnftp",
    "vi",
    "vim",
    "w3m",
];

/// What a plan of `terraform plan -destroy -out=FILE` is kept as.
const DESTROYING_PLAN: &str = "terraform destroy";

/// Builds run code of the folder they are in.
const BUILDERS: &[&str] = &[
    "make",
    "gmake",
    "cmake",
    "ninja",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "go",
    "gradle",
    "mvn",
    "ant",
    "bundle",
    "rake",
    "composer",
    "python",
    "python3",
    "node",
    "deno",
    "ruby",
    "perl",
    "php",
    "bash",
    "sh",
    "zsh",
    "docker-compose",
    "just",
    "meson",
    "configure",
    "setup",
    "install",
    "dotnet",
    "stack",
    "cabal",
    "mix",
    "swift",
    "gradlew",
    "mvnw",
];

impl Shell<'_, '_> {
    /// Code that PowerShell gets in base64, or on its input. Its flags may be shortened, in any case.
    fn powershell(&mut self, line: &Line<'_>, context: &Context) {
        let is_flag = |field: &Field, flag: &str| {
            let text = field.text().unwrap_or_default().to_ascii_lowercase();
            let name = text.strip_prefix(['-', '/', '\u{2013}', '\u{2014}', '\u{2015}']);
            name.is_some_and(|name| !name.is_empty() && flag.starts_with(name))
        };
        let is_encoded = |field: &Field| is_flag(field, "encodedcommand") || is_flag(field, "ec");
        // What follows is not for PowerShell itself.
        let is_code = |field: &Field| is_flag(field, "command") || is_flag(field, "file");
        let end = line.words.iter().position(is_code).unwrap_or(line.words.len());
        let own = line.words.get(..end).unwrap_or_default();
        if let Some(at) = own.iter().position(is_encoded) {
            if let Some(code) = line.words.get(at + 1) {
                self.code(Language::EncodedPowerShell, code);
            }
            return;
        }
        let reads_input = line.words.last().is_none_or(|last| {
            last.text() == Some("-") || last.word.known_start().starts_with('-')
        });
        if let (true, Some(input)) = (reads_input || line.operands.is_empty(), &context.input) {
            self.run_output(Language::PowerShell, &Rc::clone(input), &context.span);
        }
    }

    /// What the model of a program does not say.
    pub(crate) fn special(&mut self, line: &Line<'_>, fields: &[Field], context: &Context) {
        let Some(name) = line.models.first().and_then(|model| model.names.first()).copied() else {
            return;
        };
        let first = fields.first();
        let given = first.map(|field| field.word.known_part().rsplit('/').next().unwrap_or(""));
        if let Some(program) = given.filter(|given| CLOUDS.binary_search(given).is_ok()) {
            self.cloud(line, context);
            self.reveals(program, line, context);
            let is_unmarked = self.out.run_mut(context.run).is_some_and(|run| run.marks.is_empty());
            let found = if is_unmarked { admin_marks(program, fields) } else { Marks::NONE };
            for mark in found.iter().filter(|it| matches!(it, Mark::Accounts | Mark::Credentials)) {
                self.mark(context.run, mark);
            }
        }
        if given.is_some_and(|given| INSTALLERS.binary_search(&given).is_ok()) {
            self.installs_urls(line.words);
        }
        if let Some(program) = given {
            self.rows(program, fields, context.run);
        }
        match given {
            Some(program @ ("pkill" | "pgrep" | "killall")) => {
                self.finds_callgate(program, line, context);
            }
            Some("grep" | "egrep" | "rg" | "awk" | "gawk" | "mawk") => {
                self.looks_for_callgate(line, context);
            }
            Some("parallel") => self.parallel_input(line, context),
            Some("vim" | "vi" | "nvim" | "gvim" | "mvim" | "ex") => self.typed_keys(line, context),
            _ => {}
        }
        if given.is_some_and(|given| ESCAPING.binary_search(&given).is_ok()) {
            self.escapes(context);
        }
        if matches!(given, Some("service" | "rc-service"))
            && let [script, rest @ ..] = line.operands.as_slice()
            && script.word.known_start().starts_with("../")
        {
            let words = [std::slice::from_ref(script), rest].concat();
            drop(self.run(&words, None));
        }
        if matches!(given, Some("service" | "rc-service"))
            && let [service, verb, ..] = line.operands.as_slice()
        {
            let span = context.span.clone();
            let program = Field::new(Word::known("systemctl"), span);
            self.run(&[program, verb.clone(), service.clone()], None);
        }
        self.named_special(name, line, fields, context);
        if let Some(given) = given {
            self.spares_local(given, line, context);
        }
    }

    /// What the model of the program with this name does not say.
    fn named_special(&mut self, name: &str, line: &Line<'_>, fields: &[Field], context: &Context) {
        let given = fields.first();
        let given = given.map(|field| field.word.known_part().rsplit('/').next().unwrap_or(""));
        match name {
            "make" | "npm" | "just" | "rake" | "task" if names_destruction(fields) => {
                self.mark(context.run, Mark::Infrastructure);
            }
            // `npm config set registry https://…`, as it is by default.
            "npm" | "pip"
                if line.sub_command().starts_with("config") && names_default(line.words) =>
            {
                self.out.effects.forget(context.run, |action| {
                    matches!(action, Action::Sets(it) if sets_registry(it.name.known_part()))
                });
            }
            "find" if line.operands.is_empty() => self.finds_here(line, context),
            "git" => self.git(line, context),
            "systemctl"
                if line.words.iter().any(|it| it.word.known_part().contains("Environment")) =>
            {
                self.mark(context.run, Mark::Credentials);
            }
            "gh" if line.words.iter().any(|word| word.text() == Some("--admin")) => {
                self.mark(context.run, Mark::Guard);
            }
            "gh" | "glab" if line.sub_command() == "api" => self.forge_api(line, context),
            "gh" if line.sub_command() == "workflow run" && names_production(line.words) => {
                self.mark(context.run, Mark::Infrastructure);
            }
            "redis-cli" if only_asks_server(line) => {
                if let Some(run) = self.out.run_mut(context.run) {
                    run.marks.remove_all(&[Mark::Database]);
                }
            }
            // A setting names files that the server writes.
            "redis-cli" if sets_config(line) => {
                self.mark(context.run, Mark::Database);
                if let Some(value) = line.operands.get(3).filter(|field| is_path(&field.word)) {
                    self.write_file(value, Change::Folder);
                }
            }
            "redis-cli" if deletes_unknown_keys(line) || evaluates_flush(line) => {
                self.mark(context.run, Mark::Database);
            }
            "kubectl"
                if line.sub_command() == "patch"
                    && line.words.iter().any(|it| it.word.known_part().contains("finalizers")) =>
            {
                self.mark(context.run, Mark::Infrastructure);
            }
            "kubectl" if line.words.windows(2).any(is_raw_secrets) => {
                self.mark(context.run, Mark::Credentials);
            }
            "redis-cli" => self.redis_input(context),
            "gcloud" => self.startup_script(line),
            "curl" | "wget" | "http" => {
                self.cluster_request(line, context);
                self.database_request(line, context);
                if name == "wget" {
                    self.named_downloads(line);
                }
            }
            "stop-service" | "stop-process"
                if line.operands.is_empty() && self.looked_for_guard() =>
            {
                self.mark(context.run, Mark::Guard);
            }
            "finger" => {
                for field in &line.operands {
                    if let Some(at) = field.word.known_part().rfind('@') {
                        let address = host::parse_host(&field.word.from(at + 1), "");
                        self.connect(address, Purpose::Send, None, field.span.clone());
                    }
                }
            }
            "ssh-keygen" => self.makes_keys(line),
            "node" => self.shows_variables(line),
            "adb" => self.phone(line, context),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "cockroach" | "duckdb"
            | "clickhouse-client" => {
                self.sql_input(context);
                self.sql_files(line);
                if name == "psql" {
                    line.operands.iter().for_each(|operand| self.keyed_host(operand));
                }
                let is_host = |spelling: &str| matches!(spelling, "-h" | "--host");
                let host = line.flags.iter().find(|given| is_host(&given.spelling));
                let is_query = matches!(context.input.as_deref(), Some(Output::Text(_)));
                if !is_query {
                    self.ssh_input(host.and_then(|given| given.values.first()), context);
                }
            }
            "gsutil" if line.sub_command() == "rm" => {
                let is_pattern = |field: &Field| !field.word.is_known();
                if line.operands.iter().any(is_pattern) {
                    self.mark(context.run, Mark::Infrastructure);
                }
            }
            "nix" if given == Some("guix") => {
                let at = line.words.iter().position(|field| field.text() == Some("--"));
                if let Some(words) = at.and_then(|at| line.words.get(at + 1..)) {
                    self.wrapped(words, context.input.clone());
                }
            }
            "setx" => {
                if let [name, value, ..] = line.operands.as_slice()
                    && name.text().is_some_and(|name| {
                        name != "PATH"
                            && crate::shell::settings::meaning(&format!("env:{name}"))
                                == Some(crate::shell::settings::Meaning::Host)
                    })
                {
                    let mut setting = Word::known("env:");
                    setting.push_word(&name.word);
                    self.sets(setting, Some(value), Reach::Lasting);
                }
            }
            "npm" if line.sub_command() == "dlx" => self.package_program(&line.operands),
            "mongosh" if !line.operands.is_empty() => {
                if let Some(input) = &context.input {
                    self.run_output(Language::Mongo, &Rc::clone(input), &context.span);
                }
            }
            "swaks"
                if !line
                    .flags
                    .iter()
                    .any(|it| matches!(it.spelling.as_str(), "--server" | "-s")) =>
            {
                let is_to = |spelling: &str| matches!(spelling, "--to" | "-t");
                let to = line.flags.iter().find(|given| is_to(&given.spelling));
                if let Some(field) = to.and_then(|given| given.values.first()) {
                    let address = host::parse_host(&field.word, "");
                    self.connect(address, Purpose::Send, None, field.span.clone());
                }
            }
            "certbot" if given == Some("keytool") => {
                let has = |parts: &[&str]| {
                    let words = line.words.iter().map(|field| field.word.known_part());
                    words.into_iter().any(|word| parts.iter().any(|part| word.contains(part)))
                };
                if has(&["cacerts"]) && has(&["-import", "-delete", "-genkey"]) {
                    self.mark(context.run, Mark::Guard);
                }
            }
            "man" => {
                for field in line.operands.iter().filter(|field| is_path(&field.word)) {
                    self.read_file(field, Access::Content);
                }
            }
            "python" if self.module_reads_input(line) => {
                if let Some(input) = &context.input {
                    self.run_output(Language::Python, &Rc::clone(input), &context.span);
                }
            }
            "npx" => self.package_program(&line.operands),
            "bun" if line.sub_command() == "x" => self.package_program(&line.operands),
            "ssh" => self.ssh_input(line.operands.first(), context),
            "openssl" if line.sub_command() == "s_client" => {
                let host = line.flags.iter().find(|given| given.spelling.ends_with("-connect"));
                self.ssh_input(host.and_then(|given| given.values.first()), context);
            }
            "cmd" => {
                let is_start = |field: &Field| {
                    matches!(field.text(), Some("/c" | "/k" | "/C" | "/K" | "//c" | "//C"))
                };
                match (line.words.iter().position(is_start), &context.input) {
                    (Some(at), _) => {
                        let words = line.words.get(at + 1..).unwrap_or_default();
                        self.code(Language::Cmd, &joined(words));
                    }
                    (None, Some(input)) => {
                        self.run_output(Language::Cmd, &Rc::clone(input), &context.span);
                    }
                    (None, None) => {}
                }
            }
            // `java -jar jenkins-cli.jar groovy`
            "java" | "javac"
                if line
                    .words
                    .iter()
                    .any(|it| it.word.known_part().ends_with("jenkins-cli.jar"))
                    && line
                        .words
                        .iter()
                        .any(|it| matches!(it.text(), Some("groovy" | "groovysh"))) =>
            {
                self.opaque(Why::Language, Bound::ALL, context.span.clone());
            }
            "pwsh" => self.powershell(line, context),
            "invoke-webrequest" => self.web_request(line),
            "set-executionpolicy" => {
                let has = |word: &str| {
                    line.words
                        .iter()
                        .filter_map(Field::text)
                        .any(|it| it.eq_ignore_ascii_case(word))
                };
                if (has("bypass") || has("unrestricted")) && !has("process") {
                    self.mark(context.run, Mark::Guard);
                }
            }
            "copy-item" => {
                if let Some(target) = line.operands.get(1) {
                    self.copies_to_share(target);
                }
            }
            "cp" => {
                self.copies_nothing(line);
                self.keeps_copy(line);
                self.copies_as_links(line);
                self.copies_into(line);
                self.copies_written(line);
            }
            "tee" | "sponge" if is_empty_input(context) => {
                let appends = |field: &Field| matches!(field.text(), Some("-a" | "--append"));
                if !line.words.iter().any(appends) {
                    for file in &line.operands {
                        self.write_file(file, Change::Empty);
                    }
                }
            }
            "mv" | "install" | "rsync" | "ln" => {
                if name == "install" {
                    self.copies_nothing(line);
                }
                self.copies_into(line);
                self.copies_written(line);
                if name == "ln" {
                    self.makes_links(line);
                }
            }
            "rclone" => self.rclone(line),
            "chmod" => {
                self.installs_fetched(line);
                self.opens_keys(line, context);
            }
            "sed" => {
                self.plants_code(line, context);
                self.erases_in_place(name, line);
            }
            "patch" => {
                let named =
                    line.flags.iter().find(|it| matches!(it.spelling.as_str(), "-i" | "--input"));
                let file = named.and_then(|given| given.values.first()).or(line.operands.get(1));
                self.patches(file, context);
            }
            "gcc" | "cpp" | "clang" | "as" | "nasm" => self.includes(context),
            "mkfs" => self.formats(line, context),
            "fdisk" => self.partitions(line, context),
            "mount" => self.mounts_image(line, context),
            "dd" => self.writes_nothing(line),
            "kubectl" => {
                if line.sub_command() == "run" {
                    self.pod_program(line);
                }
                let is_config = |given: &&Given| given.spelling == "--kubeconfig";
                if let Some(given) = line.flags.iter().find(is_config)
                    && let Some(file) = given.values.first()
                {
                    self.known_recipe(file);
                }
                self.kubectl(line, context);
                self.cluster_secrets(line, context);
            }
            "aws" => {
                self.aws(line, context);
                self.reveals(name, line, context);
            }
            "gh" | "glab" | "helm" => self.reveals(name, line, context),
            "aria2c" | "axel" => self.named_downloads(line),
            "7z" => self.fills_sensitive_folder(context),
            "tar" | "unzip" | "bsdtar" => {
                self.fills_sensitive_folder(context);
                self.unpacked(line, context);
                if name == "tar" {
                    self.archive(line);
                    self.acts_at_checkpoints(line);
                }
            }
            "cpio" => self.packs_input(line, context),
            "jq" if plants(line.words) => self.plants_code(line, context),
            // A package from an address, for the next installation.
            "jq" if line.words.iter().any(|it| names_dependency(it.word.known_part())) => {
                self.installs_urls(line.words);
            }
            "jq" if line.operands.first().is_some_and(reads_variables) => {
                self.mark(context.run, Mark::Credentials);
            }
            "jq" if given == Some("yq") => {
                if let Some(file) = line.operands.first().filter(|field| is_plain_path(field)) {
                    self.read_file(file, Access::Content);
                }
            }
            "sudo" => self.root_shell(line, context),
            "su" => {
                let is_command = |field: &Field| matches!(field.text(), Some("-c" | "--command"));
                let at = line.operands.iter().position(is_command);
                if let Some(text) = at.and_then(|at| line.operands.get(at + 1)) {
                    self.word_text(text);
                }
            }
            "printenv" if line.words.is_empty() => self.prints_environment(context.run),
            "printenv" => {
                let is_secret =
                    |field: &Field| field.text().is_some_and(crate::shell::expand::names_secret);
                if line.operands.iter().any(is_secret) {
                    self.mark(context.run, Mark::Credentials);
                }
            }
            "kill" | "killall5" => self.kills_all(line, context),
            "socat" => {
                self.relay(line, context);
                self.redis_input(context);
            }
            "nc" => self.redis_input(context),
            "strace" => self.traces_into(line),
            "systemctl" if line.words.iter().any(|it| it.text() == Some("show-environment")) => {
                self.mark(context.run, Mark::Credentials);
            }
            "start-stop-daemon" => self.starts_daemon(line),
            "perl" | "ruby" => {
                self.erases_in_place(name, line);
                if name == "ruby" {
                    self.runs_module(line, context);
                }
            }
            "java" => {
                let source = line.operands.first();
                let is_source = |field: &&Field| field.word.known_part().ends_with(".java");
                if let Some(source) = source.filter(is_source) {
                    self.script(Language::Compiled, source, None);
                }
            }
            "go" if matches!(line.sub_command(), "run" | "test" | "build") => {
                let is_source = |field: &&Field| field.word.known_part().ends_with(".go");
                for source in line.operands.iter().filter(is_source) {
                    self.script(Language::Compiled, source, None);
                }
            }
            "ffmpeg" => self.filters(line),
            "sox" => self.delegates(line),
            "at" | "batch" if !line.operands.is_empty() => {
                self.run_input(Language::Shell, context);
            }
            "npm" => self.sets_script(line),
            "pip" => self.requirements(line),
            "docker"
                if matches!(line.sub_command(), "run" | "container run" | "service create") =>
            {
                self.image_program(&line.operands);
            }
            "docker" if line.sub_command() == "push" => self.pushes_image(context),
            "docker" if line.sub_command() == "cp" => self.copies_from_container(line),
            "docker" if line.sub_command().ends_with("exec") => self.names_container(line, context),
            "docker" if line.sub_command().starts_with("compose") => self.manifests(line, context),
            "docker-compose" => self.manifests(line, context),
            "fd" => self.found_by_fd(line),
            "grep" | "rg" => self.found_by_grep(line),
            "az" if line.sub_command() == "keyvault secret show" && selects_attribute(line) => {
                if let Some(run) = self.out.run_mut(context.run) {
                    run.marks.remove_all(&[Mark::Credentials]);
                }
            }
            "vault" if line.sub_command() == "read" && line.operands.iter().all(is_public_path) => {
                if let Some(run) = self.out.run_mut(context.run) {
                    run.marks.remove_all(&[Mark::Credentials]);
                }
            }
            "vault" if line.words.iter().any(|word| word.text() == Some("disable")) => {
                self.mark(context.run, Mark::Infrastructure);
            }
            "pulumi" if line.words.iter().any(|word| word.text() == Some("--show-secrets")) => {
                self.mark(context.run, Mark::Credentials);
            }
            "terraform" if self.has_destroying_arguments() => {
                self.mark(context.run, Mark::Infrastructure);
            }
            "terraform" if line.sub_command() == "plan" => self.plans(line),
            "terraform" if line.sub_command() == "apply" => self.applies(line, context),
            "terraform" if self.shows_output(line, context) => {
                self.mark(context.run, Mark::Credentials);
            }
            "terraform" if line.words.iter().any(|word| word.text() == Some("pull")) => {
                self.mark(context.run, Mark::Credentials);
            }
            "docker" if line.sub_command().ends_with("inspect") => {
                let shows = |field: &Field| {
                    let text = field.word.known_part();
                    text.contains(".Env") || text == "--showsecret"
                };
                if line.words.iter().any(shows) {
                    self.mark(context.run, Mark::Credentials);
                }
            }
            _ => {}
        }
    }

    /// Tasks of frameworks, whatever runs them: `rake db:drop`, `python manage.py flush`.
    pub(crate) fn tasks(&mut self, fields: &[Field], run: usize, input: &Input) {
        self.task_code(fields, input);
        self.sql_arguments(fields.get(1..).unwrap_or_default());
        self.sql_on_input(fields, input);
        let mut words = fields.iter().skip(1).filter_map(Field::text);
        // `rails db:drop --help`, `artisan migrate --pretend`, `console doctrine:schema:drop --dump-sql`
        let is_harmless =
            |field: &Field| matches!(field.text(), Some("--help" | "--pretend" | "--dump-sql"));
        let is_rake = |field: &Field| field.word.known_part().ends_with("rake");
        let tries = fields.iter().take(3).any(is_rake)
            && fields.iter().any(|field| field.text() == Some("--dry-run"));
        if tries || fields.last().is_some_and(is_harmless) {
            return;
        }
        if words.any(is_dropping_task) && !self.is_in_test() {
            return self.mark(run, Mark::Database);
        }
        // All of these tasks have a colon in their name, apart from one.
        let names = fields.iter().skip(1).take(4).filter_map(Field::text);
        if let Some(task) = names.into_iter().find(|it| it.contains(':') || *it == "diffsettings") {
            self.named_task(task, fields, run);
        }
        let is_django = |field: &Field| {
            field.text().is_some_and(|text| text.ends_with("manage.py") || text == "django-admin")
        };
        let Some(at) = fields.iter().take(4).position(is_django) else { return };
        let task = fields.get(at + 1).and_then(Field::text);
        if task == Some("dbshell")
            && let Some(sql) = fields.iter().skip_while(|field| field.text() != Some("-c")).nth(1)
        {
            let sql = sql.clone();
            return self.sql(&sql);
        }
        let undoes_all = task == Some("migrate")
            && fields.iter().skip(at + 2).any(|field| field.text() == Some("zero"));
        let drops = matches!(task, Some("flush" | "reset_db" | "reset_schema"));
        if (drops || undoes_all) && !self.is_in_test() {
            self.mark(run, Mark::Database);
        }
    }

    fn named_task(&mut self, task: &str, fields: &[Field], run: usize) {
        let all = || fields.iter().any(|field| field.text() == Some("--all"));
        if task == "migrate:rollback" && all() && !self.is_in_test() {
            self.mark(run, Mark::Database);
        }
        let is_edit = matches!(task, "credentials:edit" | "encrypted:edit" | "secrets:edit");
        if is_edit && self.edits_by_printing() || is_revealing_task(task) {
            self.mark(run, Mark::Credentials);
        }
    }

    /// `EDITOR=cat`: what would be edited is printed.
    fn edits_by_printing(&self) -> bool {
        self.out.effects.all().iter().rev().take(24).any(|effect| match &effect.action {
            Action::Sets(setting) => {
                let is_editor = matches!(setting.name.text(), Some("env:EDITOR" | "env:VISUAL"));
                let value = setting.value.as_ref().map_or("", Word::known_part);
                let program = value.split_whitespace().next().unwrap_or_default();
                is_editor
                    && matches!(
                        program,
                        "cat" | "less" | "more" | "head" | "tail" | "tee" | "bat" | "cp"
                    )
            }
            _ => false,
        })
    }

    /// `RAILS_ENV=test`: what follows works on a database for tests.
    pub(crate) fn is_in_test(&self) -> bool {
        self.out.effects.all().iter().any(|effect| match &effect.action {
            Action::Sets(setting) => {
                let is_mode = setting.name.text().is_some_and(|name| {
                    name.ends_with("_ENV")
                        || name.ends_with(":ENV")
                        || name.ends_with("DATABASE_URL")
                        || name.ends_with("SETTINGS_MODULE")
                        || name.ends_with("DB_NAME")
                });
                let value = setting.value.as_ref().and_then(Word::text).unwrap_or_default();
                is_mode
                    && value
                        .split(|letter: char| !letter.is_ascii_alphanumeric())
                        .any(|part| matches!(part, "test" | "testing" | "tests" | "ci" | "scratch"))
            }
            _ => false,
        })
    }

    /// Code for the console of a framework: `rails runner CODE`, `manage.py shell -c CODE`.
    fn task_code(&mut self, fields: &[Field], input: &Input) {
        let has = |names: &[&str]| {
            fields.iter().take(5).filter_map(Field::text).any(|word| {
                let name = word.rsplit('/').next().unwrap_or(word);
                names.contains(&name)
            })
        };
        let after = |name: &str| {
            let at = fields.iter().position(|field| field.text() == Some(name))?;
            fields.get(at + 1).cloned()
        };
        if !has(CONSOLES) {
            return;
        }
        let (language, code) = if has(&["rails"]) && has(&["runner", "r"]) {
            (Language::Ruby, after("runner").or_else(|| after("r")))
        } else if has(&["rails"]) && has(&["console", "c"]) {
            (Language::Ruby, None)
        } else if has(&["manage.py", "django-admin"]) && has(&["shell", "shell_plus"]) {
            (Language::Python, after("-c").or_else(|| after("--command")))
        } else if has(&["artisan"]) && has(&["tinker"]) {
            let joined = fields.iter().find_map(|field| {
                let start = field.word.known_start();
                start.starts_with("--execute=").then(|| field.from("--execute=".len()))
            });
            (Language::Php, joined.or_else(|| after("--execute")))
        } else if has(&["flask"]) && has(&["shell"]) {
            (Language::Python, None)
        } else if has(&["dbshell", "dbconsole"]) {
            if let Some(Output::Text(word)) = input.as_deref() {
                let span = fields.first().map_or(0..0, |field| field.span.clone());
                self.sql(&Field::new(word.clone(), span));
            }
            return;
        } else {
            return;
        };
        let input = match input.as_deref() {
            Some(Output::Text(word)) => {
                let span = fields.first().map_or(0..0, |field| field.span.clone());
                Some(Field::new(word.clone(), span))
            }
            _ => None,
        };
        if let Some(code) = code.or(input) {
            self.code(language, &code);
        }
    }

    /// `sudo bash`: everything that follows has the rights of root.
    fn root_shell(&mut self, line: &Line<'_>, context: &Context) {
        let is_shell = |field: &Field| {
            field.text().is_some_and(|text| {
                crate::shell::simple::is_shell(text.rsplit('/').next().unwrap_or(text))
            })
        };
        let is_login = |spelling: &str| matches!(spelling, "-i" | "-s" | "--login" | "--shell");
        let is_login = line.flags.iter().any(|given| is_login(&given.spelling))
            || line.unknown.iter().any(|(name, _)| is_login(name));
        if is_login {
            self.mark(context.run, Mark::Privilege);
        }
        if let [only] = line.operands.as_slice()
            && is_shell(only)
            && context.input.is_none()
        {
            self.mark(context.run, Mark::Privilege);
        }
    }

    /// The whole environment of a container, in which its secrets are. One's own is everyday work.
    pub(crate) fn prints_environment(&mut self, run: usize) {
        let mut above = self.parent;
        let mut is_inside = false;
        while let Some(command) = above.and_then(|at| self.out.effects.commands.get(at)) {
            let name = command.program.text().unwrap_or_default();
            is_inside |= matches!(
                name,
                "dotenv"
                    | "dotenvx"
                    | "env-cmd"
                    | "docker"
                    | "podman"
                    | "kubectl"
                    | "docker-compose"
                    | "nerdctl"
                    | "oc"
                    | "crictl"
                    | "fly"
                    | "flyctl"
                    | "heroku"
                    | "railway"
                    | "scalingo"
                    | "gcloud"
                    | "eb"
                    | "copilot"
                    | "aws-vault"
                    | "berglas"
                    | "chamber"
                    | "doppler"
                    | "infisical"
                    | "op"
                    | "summon"
                    | "teller"
            );
            above = command.parent;
        }
        match &mut self.piped_secrets {
            Some(piped) if is_inside => piped.push(run),
            None if is_inside => self.mark(run, Mark::Credentials),
            _ => {}
        }
    }

    /// `--metadata=startup-script='curl … | bash'` runs on the machine that it is given to.
    /// `ruby -run -e httpd FOLDER`: the library of that name has small programs.
    fn runs_module(&mut self, line: &Line<'_>, context: &Context) {
        let has_library = line.words.iter().any(|field| field.text() == Some("-run"));
        let code = line.flags.iter().find(|given| given.spelling == "-e" && has_library);
        let Some(name) = code.and_then(|given| given.values.first()) else { return };
        match name.text() {
            Some("httpd") => {
                let address = host::parse_host(&Word::known("0.0.0.0"), "http");
                self.connect(address, Purpose::Listen, None, context.span.clone());
            }
            Some("cp" | "mv" | "ln" | "rm" | "rmdir" | "mkdir" | "install" | "chmod" | "touch") => {
                let end = |field: &&Field| field.text() == Some("--");
                let words = line.operands.iter().filter(|field| !end(field)).cloned();
                let words: Vec<Field> = std::iter::once(name.clone()).chain(words).collect();
                drop(self.run(&words, None));
            }
            _ => {}
        }
    }

    /// Names of ImageMagick and sox that are no files: `label:@FILE`, `msl:FILE`, `|COMMAND`.
    fn delegates(&mut self, line: &Line<'_>) {
        for field in &line.operands {
            let text = field.word.known_part();
            if let Some(at) = text.find('|') {
                drop(self.word_text(&field.from(at + 1)));
                continue;
            }
            let Some((kind, file)) = text.split_once(':') else { continue };
            let at = text.len() - file.len() + usize::from(file.starts_with('@'));
            let names_file = match kind {
                "msl" | "mvg" | "text" | "ephemeral" | "pango" | "gradient" => !file.is_empty(),
                "label" | "caption" => file.starts_with('@'),
                _ => false,
            };
            if names_file {
                self.read_file(&field.from(at), Access::Content);
            }
            if kind == "msl" {
                self.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
        }
        let pipe = line.words.iter().find(|field| field.word.known_part().contains("%pipe%"));
        if let Some(field) = pipe {
            let at = field.word.known_part().find("%pipe%").map_or(0, |at| at + "%pipe%".len());
            drop(self.word_text(&field.from(at)));
        }
    }

    /// Filters of ffmpeg that read files or load libraries: `-vf subtitles=FILE`, `-af ladspa=file=X`.
    fn filters(&mut self, line: &Line<'_>) {
        const READING: &[&str] =
            &["movie=", "subtitles=", "textfile=", "ass=", "lut3d=", "concat:", "lut1d="];
        for field in line.words {
            let text = field.word.known_part();
            if ["ladspa=", "frei0r=", "lv2="].iter().any(|sign| text.contains(sign)) {
                self.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            let Some(sign) = READING.iter().find(|sign| text.contains(**sign)) else { continue };
            let at = text.find(sign).map_or(0, |at| at + sign.len());
            let end = text.get(at..).and_then(|rest| rest.find([':', ',', '|', '[']));
            let word = field.word.until(end.map_or(text.len(), |end| at + end)).from(at);
            if !word.known_part().is_empty() {
                self.read_file(&Field::new(word, field.span.clone()), Access::Content);
            }
        }
        for target in &line.operands {
            if let Some(address) = host::parse_url(&target.word) {
                self.connect(address, Purpose::Send, Some(&target.word), target.span.clone());
            }
        }
    }

    fn startup_script(&mut self, line: &Line<'_>) {
        const KEY: &str = "startup-script=";
        for field in line.words {
            if let Some(at) = field.word.known_part().find(KEY) {
                self.word_text(&field.from(at + KEY.len()));
            }
        }
    }

    /// `printf 'FLUSHALL\n' | redis-cli --pipe`
    fn redis_input(&mut self, context: &Context) {
        const EMPTIES: &[&str] = &["flushall", "flushdb", "shutdown", "replicaof", "slaveof"];
        let Some(text) = context.input.as_deref().and_then(Output::known) else { return };
        let first = |line: &str| line.split_whitespace().next().map(str::to_ascii_lowercase);
        if text.lines().filter_map(first).any(|verb| EMPTIES.contains(&verb.as_str())) {
            self.mark(context.run, Mark::Database);
        }
    }

    /// What is unpacked into `~/.ssh` may be any file that gives others access.
    fn fills_sensitive_folder(&mut self, context: &Context) {
        const FOLDERS: &[&str] = &["/.ssh", "/autostart", "/systemd/user", "/.config/fish"];
        let filled = self.out.since(context.run).iter().find_map(|effect| match &effect.action {
            Action::Writes(path, Change::Folder) => {
                let folder = path.resolved.text()?.trim_end_matches('/');
                FOLDERS.iter().any(|end| folder.ends_with(end)).then(|| path.resolved.clone())
            }
            _ => None,
        });
        if let Some(mut file) = filled {
            file.push('/');
            file.push_gap(crate::word::Fill::Name);
            self.write_file(&Field::new(file, context.span.clone()), Change::Content);
        }
    }

    /// `kill -9 -1` ends every process, `kill 1` the first one.
    fn kills_all(&mut self, line: &Line<'_>, context: &Context) {
        let last = line.words.last().and_then(Field::text);
        if line.words.is_empty() || matches!(last, Some("-1" | "1")) && line.words.len() < 4 {
            self.mark(context.run, Mark::Power);
        }
        if line.words.iter().any(|field| field.word.is_unknown()) && self.looked_for_guard() {
            self.mark(context.run, Mark::Guard);
        }
    }

    /// `chmod 644 ~/.ssh/id_rsa`: others can read a key.
    fn opens_keys(&mut self, line: &Line<'_>, context: &Context) {
        const FOLDERS: &[&str] = &["/.ssh", "/.gnupg", "/.aws", "/.kube", "/.netrc", "/.pgpass"];
        const PUBLIC: &[&str] = &[".pub", "/config", "/known_hosts", "/authorized_keys"];
        let Some((mode, files)) = line.operands.split_first() else { return };
        let is_key = |field: &Field| {
            let path = field.word.known_part();
            FOLDERS.iter().any(|part| path.contains(part))
                && !PUBLIC.iter().any(|end| path.ends_with(end))
        };
        if mode.text().is_some_and(opens_to_others) && files.iter().any(is_key) {
            self.mark(context.run, Mark::Guard);
        }
    }

    /// `sed -i 's#x#curl … | sh#' package.json`: what comes from another host will run.
    fn plants_code(&mut self, line: &Line<'_>, context: &Context) {
        if plants(line.words) {
            self.opaque(Why::Code, Bound::ALL, context.span.clone());
        }
    }

    /// `ssh-keygen -f FILE` writes the key, unless it only shows something of it.
    fn makes_keys(&mut self, line: &Line<'_>) {
        const SHOWS: &[&str] = &["-l", "-y", "-e", "-B", "-L", "-F", "-R", "-H", "-Y", "-D", "-s"];
        let shows = line.flags.iter().any(|given| SHOWS.contains(&given.spelling.as_str()))
            || line.unknown.iter().any(|(name, _)| SHOWS.contains(&name.as_str()));
        if shows {
            return;
        }
        let named = line.flags.iter().find(|given| given.spelling == "-f");
        if let Some(file) = named.and_then(|given| given.values.first()).cloned() {
            self.write_file(&file, Change::Content);
        }
    }

    /// `node --env-file=.env -p process.env`: the variables of the file are for the code.
    fn shows_variables(&mut self, line: &Line<'_>) {
        let has = |name: &str| line.flags.iter().find(|given| given.spelling.starts_with(name));
        let code = has("-e").or_else(|| has("-p")).or_else(|| has("--eval"));
        if code.or_else(|| has("--print")).is_some()
            && let Some(file) = has("--env-file").and_then(|given| given.values.first()).cloned()
        {
            self.read_file(&file, Access::Content);
        }
        // `node -r dotenv/config -e 'console.log(process.env.KEY)'`
        let loads = has("-r").or_else(|| has("--require")).or_else(|| has("--import"));
        let module = loads.and_then(|given| given.values.first());
        let is_dotenv = module.is_some_and(|it| it.word.known_start().starts_with("dotenv"));
        let code = code.or_else(|| has("--print")).and_then(|given| given.values.first());
        if is_dotenv && let Some(code) = code.filter(|code| shows_value(code.word.known_part())) {
            let file = Field::new(Word::known(".env"), code.span.clone());
            self.read_file(&file, Access::Content);
        }
    }

    /// `kill $(pgrep auditd)`: a process that was looked for shortly before guards the machine.
    fn looked_for_guard(&self) -> bool {
        self.out.effects.all().iter().rev().take(24).any(|effect| {
            let Action::Runs(run) = &effect.action else { return false };
            let looks = matches!(
                run.program.text(),
                Some(
                    "pgrep"
                        | "pidof"
                        | "grep"
                        | "egrep"
                        | "awk"
                        | "ps"
                        | "lsof"
                        | "Get-Service"
                        | "Get-Process"
                        | "gsv"
                        | "gps"
                )
            );
            let is_guard = |word: &Word| crate::guards::is_guard(word.known_part());
            looks && run.words.iter().skip(1).any(is_guard)
        })
    }

    /// `npm pkg set scripts.x=TEXT`: the text runs with the next `npm run x`.
    fn sets_script(&mut self, line: &Line<'_>) {
        let mut words = line.words.iter().filter_map(Field::text);
        if words.next() != Some("pkg") || words.next() != Some("set") {
            return;
        }
        for field in line.words.iter().skip(2) {
            let text = field.word.known_part();
            if text.starts_with("scripts.")
                && let Some(at) = text.find('=')
            {
                self.word_text(&field.from(at + 1));
            }
        }
    }

    /// `pip install -r URL`
    fn requirements(&mut self, line: &Line<'_>) {
        for given in &line.flags {
            let is_list = matches!(given.spelling.as_str(), "-r" | "--requirement" | "-c");
            if is_list
                && let Some(field) = given.values.first()
                && let Some(address) = host::parse_url(&field.word)
            {
                self.connect(address, Purpose::Execute, Some(&field.word), field.span.clone());
            }
        }
    }

    /// `docker exec pg-test psql …`: what runs there works on the data of that container. Its name is
    /// another word of the run, as that of a database would be.
    fn names_container(&mut self, line: &Line<'_>, context: &Context) {
        let is_container = |field: &&Field| field.text().is_some_and(names_scratch);
        let file = line.words.iter().find(|it| it.word.known_part().ends_with("ml"));
        let name = line.operands.first().filter(is_container).or(file.filter(is_container));
        let Some(name) = name.and_then(Field::text).map(str::to_owned) else { return };
        let count = self.out.since(context.run + 1).len();
        for at in context.run + 1..=context.run + count.min(16) {
            if let Some(run) = self.out.run_mut(at) {
                run.words.push(Word::known(format!("container={name}")));
            }
        }
    }

    /// The registry of an image that is pushed gets something; nothing of it runs here.
    fn pushes_image(&mut self, context: &Context) {
        let executes = |effect: &crate::effect::Effect| match &effect.action {
            Action::Connects(it) if it.purpose == Purpose::Execute => Some(it.clone()),
            _ => None,
        };
        let registries: Vec<_> = self.out.since(context.run).iter().filter_map(executes).collect();
        self.out.effects.forget(
            context.run,
            |action| matches!(action, Action::Connects(it) if it.purpose == Purpose::Execute),
        );
        for registry in registries {
            let sends = crate::effect::Connection { purpose: Purpose::Send, ..registry };
            self.push(Action::Connects(sends), context.span.clone());
        }
    }

    fn copies_from_container(&mut self, line: &Line<'_>) {
        let is_local = |field: &&Field| !field.word.known_part().contains(':');
        if let [source, target] = line.operands.as_slice() {
            match source.word.known_part().find(':') {
                // Secrets have the same names in a container.
                Some(colon) => self.read_file(&source.from(colon + 1), Access::Content),
                None => self.read_file(source, Access::Tree),
            }
            if let Some(target) = Some(target).filter(is_local) {
                self.write_file(target, Change::Folder);
                // What it takes out of the container is read here.
                if let Some(colon) = source.word.known_part().find(':') {
                    self.read_file(&source.from(colon + 1), Access::Content);
                }
            }
        }
    }

    /// `grep -r --include='.env*' x ..`: files of these names are read, wherever they are below.
    fn found_by_grep(&mut self, line: &Line<'_>) {
        let patterns: Vec<Field> = line
            .words
            .iter()
            .zip(line.words.iter().skip(1).map(Some).chain([None]))
            .filter_map(|(word, next)| {
                let start = word.word.known_start();
                match start {
                    "-g" | "--glob" | "--iglob" | "--include" => next.cloned(),
                    _ => ["--include=", "--glob=", "--iglob=", "-g"]
                        .iter()
                        .find(|flag| start.starts_with(**flag))
                        .map(|flag| word.from(flag.len())),
                }
            })
            .collect();
        let folder = line.operands.iter().skip(1).find(|field| is_path(&field.word));
        for pattern in patterns.iter().take(8) {
            let Some(text) = pattern.text().filter(|text| !text.starts_with('!')) else { continue };
            let mut word = folder.map_or_else(|| Word::known("."), |field| field.word.clone());
            word.push('/');
            word.push_gap(crate::word::Fill::Anything);
            word.push('/');
            word.push_word(&crate::shell::glob_word(text.trim_start_matches("**/")));
            self.read_file(&Field::new(word, pattern.span.clone()), Access::Content);
        }
    }

    /// `fd PATTERN -x COMMAND`: the command gets each file that the pattern finds.
    fn found_by_fd(&mut self, line: &Line<'_>) {
        let is_run = |spelling: &str| matches!(spelling, "-x" | "--exec" | "-X" | "--exec-batch");
        let Some(given) = line.flags.iter().find(|given| is_run(&given.spelling)) else { return };
        let ext = line.flags.iter().find(|given| {
            matches!(given.spelling.as_str(), "-e" | "--extension" | "-g" | "--glob")
        });
        if let Some(value) = ext.and_then(|given| given.values.first()).and_then(Field::text) {
            let folder = line
                .operands
                .get(1)
                .or_else(|| line.operands.first().filter(|field| is_path(&field.word)));
            let mut word = folder.map_or_else(|| Word::known("."), |field| field.word.clone());
            word.push('/');
            word.push_gap(crate::word::Fill::Anything);
            word.push_str("/any.");
            word.push_str(value);
            let span = given.values.last().map_or(0..0, |field| field.span.clone());
            let mut words = given.values.clone();
            words.push(Field::new(word, span));
            return drop(self.run(&words, None));
        }
        let pattern = line.operands.first().map_or("", |field| field.word.known_part());
        let name: String = pattern.chars().filter(|c| !matches!(c, '^' | '$' | '\\')).collect();
        let mut words = given.values.clone();
        let has_place = words.iter().any(|field| field.word.known_part().contains("{}"));
        let takes_away = words.first().and_then(Field::text).is_some_and(|name| {
            matches!(name, "rm" | "unlink" | "shred" | "truncate" | "trash" | "rmdir")
        });
        if matches!(name.as_str(), "" | "." | "*" | ".*") && !has_place && takes_away {
            let folder =
                line.operands.get(1).map_or_else(|| Word::known("."), |it| it.word.clone());
            let mut word = folder;
            word.push('/');
            word.push_gap(crate::word::Fill::Name);
            let span = words.last().map_or(0..0, |field| field.span.clone());
            words.push(Field::new(word, span));
            return drop(self.run(&words, None));
        }
        let is_name = name.len() > 1 && !name.contains(['*', '+', '[', '(', '|', '?']);
        if is_name && !has_place {
            let span = words.last().map_or(0..0, |field| field.span.clone());
            words.push(Field::new(Word::known(name), span));
            self.run(&words, None);
        }
    }

    /// Installers that take packages from any URL.
    pub(crate) fn installs_urls(&mut self, words: &[Field]) {
        for field in words {
            let text = field.word.known_part();
            let Some(at) = text.find("http://").or_else(|| text.find("https://")) else { continue };
            let rest = text.get(at..).unwrap_or_default();
            let url = rest.split(['"', '\'', ' ', ')']).next().unwrap_or(rest);
            let url = Word::known(url);
            if let Some(address) = host::parse_url(&url) {
                self.connect(address, Purpose::Execute, Some(&url), field.span.clone());
            }
        }
    }

    /// `parallel` without a command runs each line that it reads; with `--pipe`, the command reads them.
    fn parallel_input(&mut self, line: &Line<'_>, context: &Context) {
        let is_pipe = line
            .words
            .iter()
            .any(|word| matches!(word.text(), Some("--pipe" | "--pipepart" | "--spreadstdin")));
        if is_pipe {
            return self.wrapped(&line.operands, context.input.clone());
        }
        let is_list = |spelling: &str| matches!(spelling, "-a" | "--arg-file");
        let list = line.flags.iter().find(|given| is_list(&given.spelling));
        if line.operands.is_empty()
            && let Some(file) = list.and_then(|given| given.values.first()).cloned()
        {
            self.script(Language::Shell, &file, None);
        }
    }

    /// `vim -s FILE` types what is in the file. After `-e` the same letter only means silence.
    fn typed_keys(&mut self, line: &Line<'_>, context: &Context) {
        const CLEARS: &[&str] = &["%d", "1,$d", "%delete", "0,$d", "%!true", "ggdG"];
        let clears = line.flags.iter().flat_map(|given| &given.values).any(|value| {
            let text = value.word.known_part().trim_start_matches([':', '+', ' ']);
            CLEARS.iter().any(|clear| {
                text.strip_prefix(clear).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
            })
        });
        for file in line.operands.iter().take(16).filter(|_| clears) {
            self.write_file(file, Change::Empty);
        }
        let mut words = line.words.iter().filter_map(Field::text);
        let is_ex =
            line.words.iter().filter_map(Field::text).any(|word| matches!(word, "-e" | "-E"));
        if words.any(|word| word == "-s") && !is_ex {
            self.opaque(Why::Code, Bound::ALL, context.span.clone());
        }
    }

    /// `find -delete` begins in the folder at hand.
    fn finds_here(&mut self, line: &Line<'_>, context: &Context) {
        if line.words.iter().any(|word| word.text() == Some("-delete"))
            && !line
                .words
                .iter()
                .any(|word| matches!(word.text(), Some("-name" | "-iname" | "-path")))
        {
            let here = Field::new(Word::known("."), context.span.clone());
            let could = Bound::just(EffectKind::Deletes);
            self.path_effect(&here, could, |path| Action::Deletes(path, Scope::Tree));
        }
    }

    fn takes_files(&mut self, paths: &[Field]) {
        for path in paths.iter().take(32).filter(|path| path.word.known_part() != ".") {
            self.write_file(path, Change::Content);
        }
    }

    /// Lines of the input that begin with `!` run in a shell.
    fn escapes(&mut self, context: &Context) {
        let text = context.input.as_deref().and_then(Output::known).map(str::to_owned);
        for line in text.as_deref().unwrap_or_default().lines().take(64) {
            if let Some(command) = line.trim_start().strip_prefix('!') {
                let command = Word::known(command.trim_start_matches('!').trim());
                self.word_text(&Field::new(command, context.span.clone()));
            }
        }
    }

    fn git(&mut self, line: &Line<'_>, context: &Context) {
        let has = |names: &[&str]| {
            line.flags.iter().any(|given| names.contains(&given.spelling.as_str()))
                || line.unknown.iter().any(|(name, _)| names.contains(&name.as_str()))
        };
        if self.git_alias(line, context) {
            return;
        }
        self.git_in_steps(line, context);
        self.skips_hooks(line, context);
        for field in line.words.iter().filter(|it| it.word.known_start().starts_with("ext::")) {
            self.word_text(&field.from("ext::".len()));
        }
        match (line.sub_command(), line.operands.as_slice()) {
            ("config" | "config set" | "config get" | "config get-all" | "config list", _)
                if reads_config(line) =>
            {
                let shows = |field: &Field| field.word.known_part().ends_with("extraheader");
                if line.words.iter().any(shows) {
                    self.mark(context.run, Mark::Credentials);
                }
                self.forget_settings(context);
                let is_file = |field: &Field| matches!(field.text(), Some("--file" | "-f"));
                if let Some(file) = line.words.iter().skip_while(|it| !is_file(it)).nth(1) {
                    self.read_file(&file.clone(), Access::Content);
                }
            }
            ("config" | "config set" | "config unset", _) if turns_checks_on(line) => {
                self.forget_settings(context);
            }
            // Files as they are in another commit.
            ("checkout", [_, paths @ ..]) => self.takes_files(paths),
            ("restore", paths) if has(&["--source", "-s"]) => self.takes_files(paths),
            ("config" | "config set", [key, value, ..]) => {
                if let (Some(key), Some(value)) = (key.text(), value.text())
                    && let Some(name) = key.strip_prefix("alias.")
                {
                    self.aliases.insert(format!("git {name}"), value.to_owned());
                    // `alias.st status` is a short name, and what it does is judged when it is used.
                    if is_plain_alias(value) {
                        return self.forget_settings(context);
                    }
                }
                // Git's own monitor, or none at all.
                let is_switch = matches!(value.text(), Some("true" | "false"));
                if is_switch && key.text() == Some("core.fsmonitor") {
                    return self.forget_settings(context);
                }
                if key.text().is_some_and(|key| key.starts_with("credential."))
                    && value.text().is_some_and(is_known_helper)
                {
                    return;
                }
                let mut name = Word::known("git:");
                name.push_word(&key.word);
                self.sets(name, Some(value), Reach::Lasting);
            }
            ("clone", [address, rest @ ..]) => {
                self.keeps_settings(line);
                let known = address.word.known_part().trim_end_matches('/');
                let name = known.rsplit(['/', ':']).next().unwrap_or(known);
                let bare = Word::known(name.trim_end_matches(".git"));
                let folder = rest.first().map_or(&bare, |folder| &folder.word);
                self.fetched(&address.word, folder);
            }
            ("submodule add", [address, rest @ ..]) => {
                if let Some(folder) = rest.first() {
                    self.fetched(&address.word, &folder.word);
                }
            }
            ("apply" | "am", operands) if !has(&["--check", "--stat", "--numstat"]) => {
                self.patches(operands.first(), context);
            }
            ("show" | "cat-file" | "archive", operands) => {
                for field in operands {
                    self.reads_revision(field);
                }
                if line.sub_command() == "archive" {
                    for field in operands.iter().skip(1) {
                        self.read_file(field, Access::Content);
                    }
                }
            }
            ("grep", operands) if has(&["--no-index"]) => {
                let pattern = usize::from(!has(&["-e", "-f"]));
                match operands.get(pattern..).filter(|files| !files.is_empty()) {
                    Some(files) => {
                        for file in files {
                            self.read_file(file, Access::Tree);
                        }
                    }
                    None => {
                        let folder = match self.folder.known_part() {
                            "" => Word::known("."),
                            _ => self.folder.clone(),
                        };
                        self.read_file(&Field::new(folder, context.span.clone()), Access::Tree);
                    }
                }
            }
            ("grep", _) => self.reads_after_dashes(line),
            ("blame" | "annotate", operands) => {
                for field in operands {
                    self.read_file(field, Access::Content);
                }
            }
            ("diff", operands) => {
                for field in operands.iter().filter(|field| !is_revision(field)) {
                    self.read_file(field, Access::Content);
                }
            }
            ("log" | "whatchanged" | "stash show", operands) if has(&["-p", "--patch", "-u"]) => {
                for field in operands.iter().filter(|field| !is_revision(field)) {
                    self.read_file(field, Access::Content);
                }
            }
            ("clean", []) if has(&["-f", "--force"]) && has(&["-C"]) => {
                let folder = Field::new(self.folder.clone(), context.span.clone());
                let could = Bound::just(EffectKind::Deletes);
                self.path_effect(&folder, could, |path| Action::Deletes(path, Scope::Tree));
            }
            _ => {}
        }
    }

    /// A command that only names settings does not change them.
    fn forget_settings(&mut self, context: &Context) {
        self.out.effects.forget(context.run, |action| matches!(action, Action::Sets(_)));
        if let Some(run) = self.out.run_mut(context.run) {
            run.marks.remove_all(&[Mark::Guard]);
        }
    }

    /// A patch that is in the text: on standard input, or in a file that the text has written.
    fn patches(&mut self, file: Option<&Field>, context: &Context) {
        let text = match file.filter(|field| field.text() != Some("-")) {
            Some(field) => self.file_output(field).likely().map(str::to_owned),
            None => context.input.as_deref().and_then(Output::likely).map(str::to_owned),
        };
        match text {
            Some(text) => self.patch_files(&text, &context.span),
            // Any file below the folder.
            None => {
                let folder = Field::new(Word::known("."), context.span.clone());
                let path = self.resolve(&folder.word).resolved;
                let is_own = |own: &str| path.known_start().starts_with(own.trim_end_matches('/'));
                let is_outside = !self.out.ground.workspace.is_some_and(is_own);
                if is_outside && path.known_start().starts_with('/') {
                    self.write_file(&folder, Change::Folder);
                }
            }
        }
    }

    /// `git clone -c NAME=VALUE` keeps the setting in the new repository.
    fn keeps_settings(&mut self, line: &Line<'_>) {
        let is_setting = |spelling: &str| matches!(spelling, "-c" | "--config");
        let given = line.flags.iter().filter(|given| is_setting(&given.spelling));
        for field in given.filter_map(|given| given.values.first()) {
            let text = field.word.known_part();
            // A key of its own is not code of others.
            let is_key = text.to_ascii_lowercase().starts_with("core.sshcommand=ssh ");
            if let Some(at) = text.find('=').filter(|_| !is_key) {
                let mut name = Word::known("git:");
                name.push_word(&field.word.until(at));
                self.sets(name, Some(&field.from(at + 1)), Reach::Lasting);
            }
        }
    }

    /// `git -c alias.x='push --force' x origin main`, or an alias that the text itself has set.
    fn git_alias(&mut self, line: &Line<'_>, context: &Context) -> bool {
        let Some(name) = line.operands.first().and_then(Field::text) else { return false };
        if !line.sub_command().is_empty() {
            return false;
        }
        let prefix = format!("alias.{name}=");
        let given = line.words.iter().filter_map(Field::text);
        let given =
            given.filter_map(|word| word.strip_prefix(&prefix)).next_back().map(str::to_owned);
        let kept = self.aliases.get(&format!("git {name}")).cloned();
        let Some(meaning) = given.or(kept) else { return false };
        let mut whole = match meaning.strip_prefix('!') {
            Some(text) => Word::known(text),
            None => Word::known(format!("git {meaning}")),
        };
        let at = line.words.iter().position(|field| field.text() == Some(name));
        for field in line.words.iter().skip(at.map_or(usize::MAX, |at| at + 1)) {
            whole.push(' ');
            whole.push_word(&field.word);
        }
        self.word_text(&Field::new(whole, context.span.clone()));
        true
    }

    /// `REVISION:PATH`
    fn reads_revision(&mut self, field: &Field) {
        let Some(colon) = field.word.known_part().find(':') else { return };
        let path = field.from(colon + 1);
        if !path.word.known_part().is_empty() {
            self.read_file(&path, Access::Content);
        }
    }

    /// `git grep PATTERN -- FILE…`
    fn reads_after_dashes(&mut self, line: &Line<'_>) {
        let files = line.words.iter().skip_while(|field| field.text() != Some("--")).skip(1);
        for field in files.filter(|field| !field.word.known_start().starts_with(':')) {
            self.read_file(field, Access::Content);
        }
    }

    /// What follows comes from another host: it runs as code from the network.
    fn fetched(&mut self, address: &Word, folder: &Word) {
        let Some(address) = host::parse_remote_path(address) else { return };
        let folder = self.resolve(folder).resolved;
        let connection = crate::effect::Connection {
            host: address.host,
            port: address.port,
            scheme: address.scheme,
            purpose: Purpose::Fetch,
            url: None,
        };
        self.keep_fetched(&folder, Rc::new(Output::Network(vec![connection])));
    }

    fn keep_fetched(&mut self, folder: &Word, output: Rc<Output>) {
        if let Some(folder) = folder.text().filter(|folder| folder.len() > 1)
            && self.fetched.len() < 16
        {
            self.fetched.push(Fetched { folder: folder.to_owned(), output });
        }
    }

    /// The text is below a folder that came from another host.
    pub(crate) fn fetched_output(&self, path: &str) -> Option<Rc<Output>> {
        let is_below = |fetched: &&Fetched| {
            path.strip_prefix(fetched.folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.fetched.iter().find(is_below).map(|fetched| Rc::clone(&fetched.output))
    }

    /// A build in a folder that came from another host runs its code.
    pub(crate) fn builds_fetched(&mut self, name: &str, fields: &[Field]) {
        let Some(first) = fields.first() else { return };
        if self.fetched.is_empty() || !BUILDERS.contains(&name) {
            return;
        }
        let names_file = fields.iter().skip(1).any(|field| is_path(&field.word));
        let folder = self.folder.text().map(str::to_owned);
        let is_inside = folder.is_some_and(|folder| {
            let is_own = self.out.ground.workspace.is_some_and(|own| own == folder);
            !is_own && self.fetched_output(&format!("{folder}/x")).is_some()
        });
        if is_inside && !names_file {
            self.opaque(Why::NetworkCode, Bound::ALL, first.span.clone());
        }
    }

    fn sql_input(&mut self, context: &Context) {
        let Some(Output::Text(word)) = context.input.as_deref() else { return };
        self.sql(&Field::new(word.clone(), context.span.clone()));
    }

    /// `psql -f FILE`, if the text itself has written the file.
    fn sql_files(&mut self, line: &Line<'_>) {
        let is_file =
            |spelling: &str| matches!(spelling, "-f" | "--file" | "--queries-file" | "-i");
        let given = line.flags.iter().filter(|given| is_file(&given.spelling));
        let files: Vec<Field> = given.filter_map(|given| given.values.first().cloned()).collect();
        for file in files {
            self.sql_file(&file);
        }
    }

    /// Statements in a file that the text itself has written.
    pub(crate) fn sql_file(&mut self, file: &Field) {
        // `psql -f <(echo …)`
        let output = match &file.stream {
            Some(stream) => Rc::clone(stream),
            None => self.file_output(file),
        };
        if let Output::Text(word) | Output::Earlier { text: word, .. } = output.as_ref() {
            self.sql(&Field::new(word.clone(), file.span.clone()));
        }
    }

    /// `tar c . | ssh host …`: what is piped in leaves the machine.
    fn ssh_input(&mut self, host: Option<&Field>, context: &Context) {
        let sends = match context.input.as_deref() {
            // `echo | openssl s_client …` only ends the conversation.
            Some(Output::Text(word)) => {
                !word.text().is_some_and(|text| matches!(text.trim(), "" | "Q" | "QUIT"))
            }
            Some(Output::File(_) | Output::Earlier { .. } | Output::Unknown) => true,
            _ => false,
        };
        if sends && let Some(host) = host {
            let address = host::parse_host(&host.word, "");
            self.connect(address, Purpose::Send, None, host.span.clone());
        }
    }

    /// `//host/share`: files go to another host.
    fn copies_to_share(&mut self, target: &Field) {
        let text = target.word.known_start();
        if let Some(host) = text.strip_prefix("//").and_then(|rest| rest.split('/').next())
            && !host.is_empty()
        {
            let address = host::parse_host(&Word::known(host), "smb");
            self.connect(address, Purpose::Send, None, target.span.clone());
        }
    }

    /// A cmdlet that is not known: its verb and its noun say what it does.
    pub(crate) fn cmdlet(&mut self, name: &str, fields: &[Field], run: usize) {
        let Some((verb, noun)) = name.split_once('-') else { return };
        let (verb, noun) = (verb.to_ascii_lowercase(), noun.to_ascii_lowercase());
        let has = |parts: &[&str]| parts.iter().any(|part| noun.contains(part));
        let is_forced = fields.iter().skip(1).filter_map(Field::text).any(|word| {
            let word = word.to_ascii_lowercase();
            word.starts_with("-force")
                || word == "-confirm:$false"
                || word.starts_with("-deletebucket")
        });
        let is_of_directory = ["ad", "az", "mg", "azuread", "msol", "exo", "gcs", "aws"]
            .iter()
            .any(|vendor| noun.starts_with(vendor));
        let shared =
            ["user", "group", "computer", "organizationalunit", "domain", "policy", "mailbox"];
        let mark = match verb.as_str() {
            "remove" | "disable" if is_of_directory && has(&shared) => Mark::Infrastructure,
            "add" | "new" | "set" | "grant" | "reset" | "unlock"
                if has(&[
                    "groupmember",
                    "roleassignment",
                    "accountpassword",
                    "rolemember",
                    "adminpassword",
                    "mailboxpermission",
                    "localgroupmember",
                    "inboxrule",
                    "apppassword",
                ]) =>
            {
                Mark::Accounts
            }
            "set" | "new" | "add"
                if has(&[
                    "dnsclientserveraddress",
                    "dnsclientnrptrule",
                    "netroute",
                    "vpnconnection",
                ]) =>
            {
                Mark::Network
            }
            "set" | "new" if has(&["adpolicy", "conditionalaccess"]) => Mark::Guard,
            "remove" | "clear" | "reset"
                if is_forced && !has(&["item", "variable", "job", "module"]) =>
            {
                Mark::Infrastructure
            }
            "get" | "export"
                if has(&["secret", "credential", "password", "accesskey", "storagekey"]) =>
            {
                Mark::Credentials
            }
            "stop" | "disable" | "remove" | "suspend"
                if has(&["defender", "firewall", "bitlocker", "audit", "protection", "backup"]) =>
            {
                Mark::Guard
            }
            _ => return,
        };
        self.mark(run, mark);
    }

    /// A request of PowerShell that carries something.
    fn web_request(&mut self, line: &Line<'_>) {
        let value = |name: &str| {
            let is_it = |spelling: &str| spelling.eq_ignore_ascii_case(name);
            let given = line.flags.iter().find(|given| is_it(&given.spelling))?;
            given.values.first().cloned()
        };
        let posts = value("-method").is_some_and(|method| {
            matches!(
                method.text().map(str::to_lowercase).as_deref(),
                Some("post" | "put" | "patch")
            )
        });
        let carries = ["-infile", "-body", "-form"].iter().any(|name| value(name).is_some());
        if (posts || carries)
            && let Some(target) = value("-uri").or_else(|| line.operands.first().cloned())
        {
            let address = host::parse_host(&target.word, "");
            self.connect(address, Purpose::Send, Some(&target.word), target.span.clone());
        }
    }

    /// `cp NAME FOLDER/` writes `FOLDER/NAME`.
    fn copies_into(&mut self, line: &Line<'_>) {
        let Some((target, sources)) = line.operands.split_last() else { return };
        let resolved = self.resolve(&target.word).resolved;
        let is_home = resolved.text().is_some_and(|text| text == self.home() || text == "~");
        let is_folder = matches!(target.word.known_part(), "." | "..")
            || target.word.known_part().ends_with(['/'])
            || target.word.known_part().ends_with("/.");
        if !is_home && !is_folder {
            return;
        }
        for source in sources.iter().take(32) {
            let text = source.word.known_part().trim_end_matches('/');
            let at = text.rfind('/').map_or(0, |slash| slash + 1);
            let name = source.word.from(at);
            if name.is_unknown() || name.known_part().is_empty() || text.contains(':') {
                continue;
            }
            let mut path = target.word.clone();
            path.push('/');
            path.push_word(&name);
            self.write_file(&Field::new(path, target.span.clone()), Change::Content);
        }
    }

    /// `cp .env.example .env`: what is in the new file is known to be no secret, or was read before.
    fn keeps_copy(&mut self, line: &Line<'_>) {
        let [source, target] = line.operands.as_slice() else { return };
        if self.branches > 0 || source.text().is_none() || self.own_files.len() > 16 {
            return;
        }
        let path = self.resolve(&target.word).resolved;
        if let Some(path) = path.text() {
            self.own_files.insert(path.to_owned());
        }
    }

    /// What the text has written, or what came from another host, is the same under its new name.
    fn copies_written(&mut self, line: &Line<'_>) {
        let Some((target, sources)) = line.operands.split_last() else { return };
        for source in sources.iter().take(32) {
            let from = self.resolve(&source.word).resolved;
            let Some(from) = from.text() else { continue };
            let output = self.written.get(from).cloned().or_else(|| self.fetched_output(from));
            let Some(output) = output.or_else(|| self.earlier_file(from)) else { continue };
            let to = self.resolve(&target.word).resolved;
            let Some(to) = to.text() else { continue };
            let name = from.rsplit('/').next().unwrap_or(from);
            self.keep_file(format!("{}/{name}", to.trim_end_matches('/')), Rc::clone(&output));
            self.keep_file(to.to_owned(), output);
        }
    }

    /// A file from another host that becomes a program in a folder for programs is installed.
    fn installs_fetched(&mut self, line: &Line<'_>) {
        for field in &line.operands {
            let path = self.resolve(&field.word).resolved;
            let Some(path) = path.text().filter(|path| path.contains("/bin/")) else { continue };
            let output = self.written.get(path).map(|output| output.as_ref().clone());
            let Some(Output::Network(connections)) = output else { continue };
            for connection in connections {
                let purpose = Purpose::Execute;
                let executes = crate::effect::Connection { purpose, ..connection };
                self.push(Action::Connects(executes), field.span.clone());
            }
        }
    }

    /// `:webdav:folder` is a remote of rclone that only its flags describe.
    fn rclone(&mut self, line: &Line<'_>) {
        let sends = matches!(
            line.sub_command(),
            "copy" | "sync" | "move" | "copyto" | "moveto" | "bisync" | "rcat"
        );
        let Some(target) = line.operands.last().filter(|_| sends) else { return };
        let text = target.word.known_part();
        // What the source does not have is deleted.
        if line.sub_command() == "sync" && !text.contains(':') {
            let could = Bound::just(EffectKind::Deletes);
            self.path_effect(target, could, |path| Action::Deletes(path, Scope::Tree));
        }
        let Some(rest) = text.strip_prefix(':') else { return };
        let backend = rest.split([',', ':']).next().unwrap_or(rest);
        let url = line.words.iter().find_map(|field| {
            let text = field.word.known_part();
            text.find("://")?;
            let at = text.find('=').map_or(0, |at| at + 1);
            Some(field.word.from(at))
        });
        let address = match &url {
            Some(url) => host::parse_host(url, ""),
            None => host::parse_host(&Word::known(backend), ""),
        };
        self.connect(address, Purpose::Send, url.as_ref(), target.span.clone());
    }

    /// `#include "/x"` and `.incbin "/x"` in code on standard input.
    fn includes(&mut self, context: &Context) {
        let text = context.input.as_deref().and_then(Output::known).map(str::to_owned);
        for line in text.as_deref().unwrap_or_default().lines().take(256) {
            let line = line.trim_start();
            let is_include = ["#include", "# include", ".incbin", ".include", "%include"]
                .iter()
                .any(|word| line.starts_with(word));
            if let Some(path) = line.split('"').nth(1).filter(|_| is_include) {
                let file = Field::new(Word::known(path), context.span.clone());
                self.read_file(&file, Access::Content);
            }
        }
    }

    /// A file system in a file of the project is no disk, nor is a device that stands for such a file.
    fn formats(&mut self, line: &Line<'_>, context: &Context) {
        let is_disk = |field: &Field| {
            let path = self.resolve(&field.word).resolved;
            path.text().is_none_or(|path| path.starts_with("/dev/") && !is_loop(path))
        };
        let is_image = |field: &&Field| {
            field.word.known_part().contains('.') || is_loop(field.word.known_part())
        };
        let formats_image = line.operands.iter().any(|field| is_image(&field))
            && !line.operands.iter().any(is_disk);
        if !formats_image {
            self.mark(context.run, Mark::Disk);
        }
    }

    /// The programs for partitions name the disk, or the image, first.
    fn partitions(&mut self, line: &Line<'_>, context: &Context) {
        let changes = line.meaning().is_some_and(|it| it.rest.contains(&WRITES));
        let first = line.operands.first().filter(|_| changes);
        let is_image = |field: &Field| {
            let path = self.resolve(&field.word).resolved;
            path.text().is_some_and(|path| {
                is_loop(path) || !path.starts_with("/dev/") && path.contains('.')
            })
        };
        if first.is_some_and(|first| !is_image(first)) {
            self.mark(context.run, Mark::Disk);
        }
    }

    /// `mount -o loop disk.img /mnt`: what is in an image becomes a folder of its own.
    fn mounts_image(&mut self, line: &Line<'_>, context: &Context) {
        let [source, target] = line.operands.as_slice() else { return };
        let text = source.word.known_part();
        let is_image = is_loop(text)
            || [".img", ".iso", ".squashfs", ".sqsh", ".dmg", ".raw"]
                .iter()
                .any(|end| text.ends_with(end));
        let path = self.resolve(&target.word).resolved;
        let is_apart = path.text().is_some_and(|path| {
            let own = self.out.ground.workspace.unwrap_or("/mnt");
            ["/mnt", "/media", "/tmp", own].iter().any(|place| {
                path.strip_prefix(place)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        });
        let only_mounts = line
            .flags
            .iter()
            .all(|given| matches!(given.spelling.as_str(), "-o" | "--options" | "-t" | "--types"));
        if is_image && is_apart && only_mounts {
            if let Some(run) = self.out.run_mut(context.run) {
                run.marks.remove_all(&[Mark::HostAccess]);
            }
            self.out.effects.forget(context.run, |action| matches!(action, Action::Writes(..)));
        }
    }

    /// `cp /dev/null FILE` empties the file.
    fn copies_nothing(&mut self, line: &Line<'_>) {
        if let [source, target] = line.operands.as_slice()
            && source.text() == Some("/dev/null")
        {
            self.write_file(target, Change::Empty);
        }
    }

    /// `dd if=/dev/zero of=FILE` leaves nothing of what was in the file.
    fn writes_nothing(&mut self, line: &Line<'_>) {
        let value = |name: &str| {
            let given = line.flags.iter().find(|given| given.spelling == name)?;
            given.values.first().cloned()
        };
        let is_empty = value("if=").is_some_and(|field| {
            matches!(field.text(), Some("/dev/null" | "/dev/zero" | "/dev/urandom" | "/dev/random"))
        });
        if is_empty && let Some(target) = value("of=") {
            self.write_file(&target, Change::Empty);
        }
    }

    fn kubectl(&mut self, line: &Line<'_>, context: &Context) {
        let first = line.operands.first().and_then(Field::text).unwrap_or_default();
        let noun = first.split('/').next().unwrap_or(first);
        match line.sub_command() {
            "get" if noun.split(',').any(|noun| matches!(noun, "secret" | "secrets")) => {
                let shows = line.words.iter().filter_map(Field::text).any(|word| {
                    let value = word.strip_prefix("-o").unwrap_or(word);
                    let value = value.strip_prefix("--output").unwrap_or(value);
                    let value = value.trim_start_matches('=');
                    // Columns of names and types show no value.
                    let rest = value.replace(".metadata", "").to_ascii_lowercase();
                    let names_all =
                        ["data", "*", "..", "{.}", "{@}", "{{.}}", "items[0]}", "json."]
                            .iter()
                            .any(|part| rest.contains(part));
                    let is_harmless = (value.starts_with("custom-columns")
                        || value.starts_with("jsonpath=") && value.contains("{."))
                        && !names_all;
                    !is_harmless
                        && ["yaml", "json", "jsonpath", "go-template", "template", "custom-columns"]
                            .iter()
                            .any(|format| value.starts_with(format))
                });
                if shows {
                    self.mark(context.run, Mark::Credentials);
                }
            }
            "config" if line.words.iter().any(|word| word.text() == Some("--raw")) => {
                self.mark(context.run, Mark::Credentials);
            }
            "cp" => self.copies_from_container(line),
            "debug" if noun == "node" => self.mark(context.run, Mark::HostAccess),
            "scale" if line.words.iter().any(|word| word.text() == Some("--replicas=0")) => {
                self.mark(context.run, Mark::Infrastructure);
            }
            "replace"
                if line.words.iter().any(|word| {
                    matches!(word.text(), Some("--force" | "--raw"))
                        || word.word.known_start().starts_with("--raw=")
                }) =>
            {
                self.mark(context.run, Mark::Infrastructure);
            }
            "apply" | "create" | "replace" => self.manifests(line, context),
            "delete" => {
                // A pod or a job comes back by itself; anything else stays deleted.
                let comes_back = |noun: &str| {
                    matches!(
                        noun,
                        "" | "pod"
                            | "pods"
                            | "po"
                            | "job"
                            | "jobs"
                            | "event"
                            | "events"
                            | "ev"
                            | "replicaset"
                            | "rs"
                            | "lease"
                            | "leases"
                            | "cm"
                            | "configmap"
                            | "configmaps"
                    )
                };
                let mut nouns = line.operands.iter().enumerate().filter_map(|(at, field)| {
                    let text = field.text()?;
                    let (noun, _) = text.split_once('/').unwrap_or((text, ""));
                    (at == 0 || text.contains('/')).then_some(noun)
                });
                let is_service = nouns.any(|nouns| {
                    !nouns.split(',').all(|noun| comes_back(noun.split('.').next().unwrap_or(noun)))
                });
                let is_hidden = line.operands.first().is_some_and(|field| field.text().is_none());
                let is_raw =
                    line.words.iter().any(|word| word.word.known_start().starts_with("--raw"));
                if is_service || is_hidden || is_raw {
                    self.mark(context.run, Mark::Infrastructure);
                }
            }
            _ => {}
        }
    }

    /// All services of AWS name what they destroy alike.
    fn aws(&mut self, line: &Line<'_>, context: &Context) {
        let mut words = line.words.iter().filter_map(Field::text);
        // After the service, whose name may have a dash, too: `cognito-idp`.
        let mut words = words.by_ref().filter(|word| !word.starts_with('-')).skip(1);
        let Some(verb) = words.find(|word| word.contains('-')) else {
            return;
        };
        self.sql_arguments(line.words);
        let destroys = [
            "delete-",
            "terminate-",
            "purge-",
            "deregister-",
            "schedule-key-deletion",
            "stop-instances",
            "stop-db-",
        ];
        let is_small = [
            "delete-message",
            "delete-tags",
            "deregister-targets",
            "delete-alarms",
            "delete-change-set",
        ];
        if destroys.iter().any(|start| verb.starts_with(start)) && !is_small.contains(&verb) {
            self.mark(context.run, Mark::Infrastructure);
        }
        let words: Vec<&str> = line.words.iter().filter_map(Field::text).collect();
        let stops = words.iter().zip(words.iter().skip(1)).any(|pair| {
            matches!(pair, (&"--desired-count" | &"--desired-capacity" | &"--max-size", &"0"))
        });
        let is_unprotected = words.iter().any(|word| {
            matches!(*word, "--no-deletion-protection" | "--no-enable-termination-protection")
                || word.starts_with("--desired-count=0")
        });
        if stops || is_unprotected {
            self.mark(context.run, Mark::Infrastructure);
        }
        let opens = words.iter().any(|word| {
            word.contains("BlockPublicAcls=false")
                || word.contains("BlockPublicPolicy=false")
                || matches!(*word, "public-read" | "public-read-write" | "0.0.0.0/0" | "::/0")
                || word.contains("CidrIp=0.0.0.0/0")
                || word.contains("\"Principal\":\"*\"")
                || word.contains("\"Principal\": \"*\"")
        });
        let is_off = words.iter().any(|word| {
            matches!(
                *word,
                "stop-logging"
                    | "delete-trail"
                    | "disable-key"
                    | "delete-detector"
                    | "delete-public-access-block"
                    | "delete-alarms"
                    | "disable-alarm-actions"
                    | "deactivate-mfa-device"
                    | "delete-account-password-policy"
                    | "disassociate-web-acl"
                    | "stop-configuration-recorder"
                    | "Status=Suspended"
                    | "--publicly-accessible"
            )
        });
        let shares = words
            .windows(2)
            .any(|pair| matches!(pair, ["--principal", "*"] | ["--group-names" | "--add", "all"]));
        let is_share = verb.ends_with("-attribute")
            || verb.starts_with("add-") && verb.ends_with("-permission");
        let adds = words
            .iter()
            .any(|word| matches!(*word, "--user-ids" | "--group-names" | "--principal"))
            || words.contains(&"--operation-type") && words.contains(&"add");
        if opens || is_off || shares || is_share && adds {
            self.mark(context.run, Mark::Guard);
        }
    }

    /// What a program manages is on this machine: an emulator of a cloud, a cluster for tests.
    fn spares_local(&mut self, given: &str, line: &Line<'_>, context: &Context) {
        let value = |names: &[&str]| {
            let mut words = line.words.iter().map(|field| field.word.known_part());
            let mut found = None;
            while let Some(word) = words.next() {
                found = names
                    .iter()
                    .find_map(|name| match word.strip_prefix(name)? {
                        "" => words.next(),
                        rest => rest.strip_prefix('='),
                    })
                    .or(found);
            }
            found
        };
        let is_local = match given {
            "awslocal" => true,
            "aws" | "aws2" => match value(&["--endpoint-url"]) {
                Some(url) => is_emulator(url),
                None => self.has_local_endpoint(),
            },
            "kubectl" | "k" | "oc" | "helm" | "kubecolor" | "velero" | "flux" | "istioctl" => {
                value(&["--context", "--kube-context"]).is_some_and(is_own_cluster)
            }
            "mc" => {
                let mut targets = line.operands.iter().map(|field| field.word.known_start());
                !line.operands.is_empty() && targets.all(|target| target.starts_with("local"))
            }
            _ => false,
        };
        if !is_local {
            return;
        }
        if let Some(run) = self.out.run_mut(context.run) {
            run.marks.remove_all(&[Mark::Infrastructure]);
            if given.starts_with("aws") {
                run.marks = Marks::NONE;
            }
        }
        // `s3://bucket` is there, too.
        if given.starts_with("aws") {
            self.out.effects.forget(
                context.run,
                |action| matches!(action, Action::Connects(it) if it.purpose == Purpose::Send),
            );
        }
    }

    /// `AWS_ENDPOINT_URL=http://localhost:4566`
    fn has_local_endpoint(&self) -> bool {
        let mut settings = self.out.effects.all().iter().rev().filter_map(|it| match &it.action {
            Action::Sets(setting) => Some(setting),
            _ => None,
        });
        let is_endpoint =
            |name: &Word| name.text().is_some_and(|name| name.starts_with("env:AWS_ENDPOINT_URL"));
        let url = settings.find(|setting| is_endpoint(&setting.name));
        url.and_then(|it| it.value.as_ref()).and_then(Word::text).is_some_and(is_emulator)
    }

    /// A plan that destroys is a file until it is applied.
    fn plans(&mut self, line: &Line<'_>) {
        let is_destroy = |field: &Field| matches!(field.text(), Some("-destroy" | "--destroy"));
        let out = line.flags.iter().find(|given| given.spelling.ends_with("-out"));
        let file = out.and_then(|given| given.values.first());
        if let Some(file) = file.filter(|_| line.words.iter().any(is_destroy))
            && let Some(path) = self.resolve(&file.word).resolved.text()
        {
            let plan = Output::Text(Word::known(DESTROYING_PLAN));
            self.keep_file(path.to_owned(), Rc::new(plan));
        }
    }

    /// `TF_CLI_ARGS_apply=-destroy terraform apply`
    fn has_destroying_arguments(&self) -> bool {
        self.out.effects.all().iter().rev().take(24).any(|effect| match &effect.action {
            Action::Sets(setting) => {
                let name = setting.name.text().unwrap_or_default();
                let value = setting.value.as_ref().map_or("", Word::known_part);
                name.starts_with("env:TF_CLI_ARGS") && value.contains("-destroy")
            }
            _ => false,
        })
    }

    fn applies(&mut self, line: &Line<'_>, context: &Context) {
        let destroys = line.operands.iter().any(|field| {
            let output = self.file_output(field);
            output.likely() == Some(DESTROYING_PLAN)
        });
        if destroys {
            self.mark(context.run, Mark::Infrastructure);
        }
    }

    fn cloud(&mut self, line: &Line<'_>, context: &Context) {
        let destroys = |word: &str| {
            let verb = word.rsplit(':').next().unwrap_or(word);
            matches!(
                verb,
                "-purge"
                    | "delete"
                    | "destroy"
                    | "purge"
                    | "terminate"
                    | "delete-batch"
                    | "teardown"
                    | "rb"
                    | "nuke"
            ) || verb.starts_with("delete-")
        };
        // Not the values of flags: `heroku config -a shop`.
        let values = || line.flags.iter().flat_map(|given| &given.values);
        let is_value = |field: &Field| values().any(|value| value.span == field.span);
        let words = line.words.iter().filter(|field| !is_value(field)).filter_map(Field::text);
        let mut words = words.filter(|it| !it.starts_with('-'));
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let shows = match first {
            "config" | "env" | "variables" | "vars" | "secrets" => {
                matches!(second, "" | "get" | "pull" | "show" | "download" | "export")
                    && !(first == "config" && matches!(second, "show" | "get"))
            }
            "projects" => second == "api-keys",
            "config:get" | "env:list" | "env:get" | "pg:credentials:url" | "variable" => true,
            _ => false,
        };
        if shows {
            self.mark(context.run, Mark::Credentials);
        }
        let opens = line.words.iter().filter_map(Field::text).any(|word| {
            let value = word.split_once('=').map_or(word, |(_, value)| value);
            matches!(
                value,
                "0.0.0.0/0" | "::/0" | "allUsers" | "allAuthenticatedUsers" | "public-read"
            )
        });
        let is_public = line.words.windows(2).any(|pair| match pair {
            [flag, value] => {
                let flag = flag.text().unwrap_or_default();
                let value = value.text().unwrap_or_default();
                flag == "--public-access" && matches!(value, "blob" | "container")
                    || flag.starts_with("--source-address-prefix") && value == "*"
            }
            _ => false,
        });
        let words = || line.words.iter().filter_map(Field::text);
        if words().any(|word| matches!(word, "set-password" | "reset-password")) {
            self.mark(context.run, Mark::Accounts);
        }
        let unprotects = words().any(|word| {
            matches!(word, "--no-deletion-protection" | "--no-enable-deletion-protection")
        });
        if opens || is_public || unprotects || (first, second) == ("services", "disable") {
            self.mark(context.run, Mark::Guard);
        }
        let has_pattern = |word: &str| word.starts_with("gs://") && word.contains('*');
        if words().any(has_pattern) && words().any(|word| word == "rm") {
            self.mark(context.run, Mark::Infrastructure);
        }
        let scales_to_none =
            first == "ps:scale" && words().skip(1).any(|word| word.ends_with("=0"));
        let asks = words().take(6).any(|word| matches!(word, "can-i" | "who-can"));
        if !asks && line.words.iter().filter_map(Field::text).take(6).any(destroys)
            || removes_unasked(line.words)
            || scales_to_none
        {
            self.mark(context.run, Mark::Infrastructure);
        }
        self.sql_arguments(line.words);
        self.sql_on_input(line.words, &context.input);
    }

    /// A program that manages a service, by the words of its sub-commands.
    pub(crate) fn administers(&mut self, name: &str, fields: &[Field], run: usize) {
        let bare = name.strip_suffix(".sh").unwrap_or(name);
        if CLOUDS.binary_search(&bare).is_err() && ADMINISTERS.binary_search(&bare).is_err() {
            return;
        }
        for mark in admin_marks(bare, fields).iter() {
            self.mark(run, mark);
        }
        let verb = fields.get(1).and_then(Field::text);
        if matches!(verb, Some("destroy" | "nuke" | "teardown")) {
            self.mark(run, Mark::Infrastructure);
        }
    }

    /// A program that is not known, and that destroys something without asking.
    pub(crate) fn destroys_unasked(&mut self, fields: &[Field], run: usize) {
        let words = fields.get(1..).unwrap_or_default();
        let texts = || words.iter().filter_map(Field::text);
        let destroys = texts().take(4).any(|word| {
            matches!(word, "delete" | "destroy" | "purge" | "terminate" | "teardown" | "nuke")
        });
        if destroys && texts().any(|text| UNASKED.contains(&text)) {
            self.mark(run, Mark::Infrastructure);
        }
    }

    /// The API of GitHub or GitLab by its paths.
    fn forge_api(&mut self, line: &Line<'_>, context: &Context) {
        let texts: Vec<&str> = line.words.iter().map(|field| field.word.known_part()).collect();
        let is_lab = line.models.first().is_some_and(|model| model.names.contains(&"glab"));
        if is_lab && texts.iter().any(|text| text.contains("/variables")) {
            self.mark(context.run, Mark::Credentials);
        }
        let writes = texts.iter().any(|text| {
            let flags = ["-f", "-F", "--field", "--raw-field", "--input"];
            flags.contains(text) || matches!(*text, "POST" | "PUT" | "PATCH" | "DELETE")
        });
        if !writes {
            return;
        }
        let has =
            |parts: &[&str]| texts.iter().any(|text| parts.iter().any(|part| text.contains(part)));
        if has(&[
            "/collaborators",
            "/keys",
            "/memberships",
            "/invitations",
            "/deploy_keys",
            "/members",
        ]) {
            self.mark(context.run, Mark::Accounts);
        }
        if has(&[
            "/protection",
            "/rulesets",
            "/actions/permissions",
            "/vulnerability-alerts",
            "/automated-security-fixes",
            "/protected_branches",
            "/push_rule",
        ]) {
            self.mark(context.run, Mark::Guard);
        }
        let mutates = has(&["mutation"]);
        if mutates && has(&["delete", "remove", "transfer", "archive", "Delete"]) {
            self.mark(context.run, Mark::RemoteDelete);
        }
        if mutates && has(&["BranchProtection", "Ruleset"]) {
            self.mark(context.run, Mark::Guard);
        }
        if has(&["hooks"]) {
            let urls: Vec<Field> = line
                .words
                .iter()
                .filter_map(|field| field.word.known_part().find("http").map(|at| field.from(at)))
                .collect();
            for url in urls {
                let address = host::parse_host(&url.word, "https");
                self.connect(address, Purpose::Send, Some(&url.word), url.span.clone());
            }
        }
    }

    /// Requests that delete through an API of the cluster, or that use the socket of Docker.
    fn cluster_request(&mut self, line: &Line<'_>, context: &Context) {
        let has =
            |part: &str| line.words.iter().any(|field| field.word.known_part().contains(part));
        let deletes = has("DELETE");
        if deletes && (has("/api/v1/namespaces") || has("/apis/")) {
            self.mark(context.run, Mark::Infrastructure);
        }
        if has("docker.sock") && (deletes || has("POST") || has("-d") || has("--data")) {
            self.mark(context.run, Mark::HostAccess);
        }
    }

    /// A phone is a computer of its own: only what takes it over or wipes it counts.
    fn phone(&mut self, line: &Line<'_>, context: &Context) {
        let text = joined(line.words).word;
        let has = |parts: &[&str]| parts.iter().any(|part| text.known_part().contains(part));
        let first = line.words.iter().filter_map(Field::text).find(|word| !word.starts_with('-'));
        if matches!(first, Some("root" | "remount" | "disable-verity"))
            || has(&["chmod 6", "chmod 4", "u+s", "/xbin/su"])
        {
            self.mark(context.run, Mark::Privilege);
        }
        if has(&["rm -rf /", "rm -r /sdcard", "rm -fr /"]) {
            self.mark(context.run, Mark::Disk);
        }
        if has(&["wipe_data", "--wipe", "MASTER_CLEAR", "FACTORY_RESET"])
            || line.words.iter().any(|word| matches!(word.text(), Some("-w" | "erase" | "format")))
                && line.models.first().is_some_and(|model| model.names.contains(&"fastboot"))
            || has(&["oem unlock", "flashing unlock"])
        {
            self.mark(context.run, Mark::Disk);
        }
        if has(&["setenforce 0", "verifier_verify_adb_installs 0"]) {
            self.mark(context.run, Mark::Guard);
        }
    }

    /// A file from another host that a package manager installs.
    pub(crate) fn installs_download(&mut self, name: &str, fields: &[Field]) {
        const INSTALLERS: &[&str] = &[
            "adb",
            "dpkg",
            "rpm",
            "apt",
            "apt-get",
            "dnf",
            "yum",
            "zypper",
            "snap",
            "flatpak",
            "installer",
            "pacman",
            "apk",
            "msiexec",
            "open",
            "xdg-open",
            "gdebi",
            "code",
            "cursor",
        ];
        let has_download = || self.written.values().any(|it| matches!(**it, Output::Network(_)));
        if self.written.is_empty() || !has_download() || !INSTALLERS.contains(&name) {
            return;
        }
        let is_download = |field: &Field| {
            let path = self.resolve(&field.word).resolved;
            let output = path.text().and_then(|path| self.written.get(path));
            output.is_some_and(|output| matches!(output.as_ref(), Output::Network(_)))
        };
        if let Some(field) = fields.iter().skip(1).find(|field| is_download(field)) {
            let span = field.span.clone();
            self.opaque(Why::NetworkCode, Bound::ALL, span);
        }
    }

    /// Hooks of the project are left out: `HUSKY=0 git commit`.
    fn skips_hooks(&mut self, line: &Line<'_>, context: &Context) {
        if !matches!(line.sub_command(), "commit" | "push" | "merge" | "rebase" | "cherry-pick") {
            return;
        }
        let recent = self.out.effects.all().iter().rev().take(24);
        let skips = { recent }.any(|effect| match &effect.action {
            Action::Sets(setting) => {
                let value = setting.value.as_ref().and_then(Word::text).unwrap_or_default();
                match setting.name.text().unwrap_or_default() {
                    "git:core.hooksPath" | "git:core.hookspath" => true,
                    "env:HUSKY" | "env:LEFTHOOK" => value == "0",
                    "env:HUSKY_SKIP_HOOKS" | "env:OVERCOMMIT_DISABLE" => value != "0",
                    "env:SKIP" | "env:LEFTHOOK_EXCLUDE" => !value.is_empty(),
                    _ => false,
                }
            }
            _ => false,
        });
        if skips {
            self.mark(context.run, Mark::SkipsCheck);
        }
    }

    /// Without a name of their own, downloads are called as in the URL.
    fn named_downloads(&mut self, line: &Line<'_>) {
        let is_named = line.flags.iter().any(|given| {
            matches!(given.spelling.as_str(), "-O" | "--output-document" | "-o" | "--out")
        });
        if is_named {
            return;
        }
        let folder = line.flags.iter().find(|given| {
            matches!(given.spelling.as_str(), "-P" | "--directory-prefix" | "-d" | "--dir")
        });
        let folder = folder.and_then(|given| given.values.first()).map(|field| field.word.clone());
        for field in &line.operands {
            let Some(address) = host::parse_url(&field.word) else { continue };
            let url = field.word.known_part();
            let name = url.split(['?', '#']).next().and_then(|url| url.rsplit('/').next());
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            let mut path = folder.clone().unwrap_or_else(|| Word::known("."));
            path.push('/');
            path.push_str(name);
            let connection = crate::effect::Connection {
                host: address.host,
                port: address.port,
                scheme: address.scheme,
                purpose: Purpose::Fetch,
                url: Some(field.word.clone()),
            };
            if let Some(path) = self.resolve(&path).resolved.text() {
                self.keep_file(path.to_owned(), Rc::new(Output::Network(vec![connection])));
            }
        }
    }

    /// `--checkpoint-action=exec=COMMAND`. Other actions print, or wait.
    fn acts_at_checkpoints(&mut self, line: &Line<'_>) {
        let actions = line.flags.iter().filter(|it| it.spelling == "--checkpoint-action");
        for action in actions.filter_map(|given| given.values.first()) {
            let start = action.word.known_start();
            if start.starts_with("exec=") {
                self.word_text(&action.from(5));
            } else if start.is_empty() {
                self.opaque(Why::Code, Bound::ALL, action.span.clone());
            }
        }
    }

    /// `strace -o '|COMMAND'`
    fn traces_into(&mut self, line: &Line<'_>) {
        let outputs =
            line.flags.iter().filter(|it| matches!(it.spelling.as_str(), "-o" | "--output"));
        for output in outputs.filter_map(|given| given.values.first()) {
            if output.word.known_start().starts_with(['|', '!']) {
                self.word_text(&output.from(1));
            }
        }
    }

    /// `start-stop-daemon --start --exec PROGRAM -- ARGUMENT…`
    fn starts_daemon(&mut self, line: &Line<'_>) {
        let names = ["--exec", "-x", "--startas", "-a"];
        let given = line.flags.iter().rfind(|it| names.contains(&it.spelling.as_str()));
        if let Some(program) = given.and_then(|given| given.values.first())
            && !line.operands.is_empty()
        {
            let mut words = vec![program.clone()];
            words.extend(line.operands.iter().cloned());
            self.run(&words, None);
        }
    }

    /// The archive of `tar`: a file that is written, or a place on another host.
    fn archive(&mut self, line: &Line<'_>) {
        let has = |names: &[&str]| {
            line.flags.iter().any(|given| names.contains(&given.spelling.as_str()))
        };
        let is_file = |spelling: &str| matches!(spelling, "-f" | "--file");
        let given = line.flags.iter().find(|given| is_file(&given.spelling));
        let Some(file) = given.and_then(|given| given.values.first()) else { return };
        let creates = has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A"]);
        let is_local = line.words.iter().any(|word| word.text() == Some("--force-local"));
        let address = host::parse_remote_path(&file.word).filter(|_| !is_local);
        if let Some(address) = address {
            let purpose = if creates { Purpose::Send } else { Purpose::Fetch };
            self.connect(address, purpose, None, file.span.clone());
        } else if creates && file.text() != Some("-") {
            self.write_file(file, Change::Content);
        }
    }

    /// `… | cpio -o` reads the files that its input names.
    fn packs_input(&mut self, line: &Line<'_>, context: &Context) {
        let packs = line.flags.iter().any(|given| {
            matches!(given.spelling.as_str(), "-o" | "--create" | "-p" | "--pass-through")
        });
        if let Some(Output::Text(names)) = context.input.as_deref().filter(|_| packs) {
            for name in names.split_blanks().into_iter().take(64) {
                self.read_file(&Field::new(name, context.span.clone()), Access::Content);
            }
        }
    }

    /// An archive from another host: everything in the folder comes from there.
    fn unpacked(&mut self, line: &Line<'_>, context: &Context) {
        let archive = line.words.iter().find_map(|field| {
            let path = self.resolve(&field.word);
            let output = path.resolved.text().and_then(|path| self.written.get(path))?;
            matches!(output.as_ref(), Output::Network(_)).then(|| Rc::clone(output))
        });
        let input = context.input.clone().filter(|output| matches!(**output, Output::Network(_)));
        let Some(output) = archive.or(input) else { return };
        let target = line
            .flags
            .iter()
            .find(|given| matches!(given.spelling.as_str(), "-C" | "--directory" | "-d" | "--cd"));
        let folder = target.and_then(|given| given.values.first());
        let folder = match folder {
            Some(field) => self.resolve(&field.word).resolved,
            None => self.folder.clone(),
        };
        self.keep_fetched(&folder, output);
    }
}

/// Sub-commands of git that only show something, or keep it.
fn is_plain_alias(value: &str) -> bool {
    const PLAIN: &[&str] = &[
        "add",
        "blame",
        "branch",
        "checkout",
        "cherry-pick",
        "commit",
        "describe",
        "diff",
        "fetch",
        "log",
        "ls-files",
        "pull",
        "rebase",
        "reflog",
        "restore",
        "rev-parse",
        "shortlog",
        "show",
        "stash",
        "status",
        "switch",
        "tag",
        "worktree",
    ];
    let mut words = value.split_whitespace();
    words.next().is_some_and(|first| PLAIN.contains(&first))
        && words.all(|word| !matches!(word, "-c" | "-x" | "--exec" | "--ext-diff" | "--no-verify"))
        && !value.contains(['!', '`', ';', '|', '&'])
}

/// Whether a container or a file of compose says in its name that it is for tests.
fn names_scratch(name: &str) -> bool {
    !name.contains(' ')
        && name
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|part| matches!(part, "test" | "tests" | "testing" | "tmp" | "temp" | "scratch"))
}

/// Words of tasks that take something away, and those that say that it is in use.
const TAKES_AWAY: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "erase",
    "nuke",
    "purge",
    "reset",
    "teardown",
    "terminate",
    "wipe",
];
const IN_USE: &[&str] = &["live", "prd", "prod", "production"];

/// What the sub-commands of a program that manages a service say, read like the name of a tool.
fn admin_marks(program: &str, fields: &[Field]) -> Marks {
    let texts = fields.iter().skip(1).filter_map(Field::text);
    let commands = texts.take_while(|word| !word.starts_with('-') && !word.contains('='));
    let commands: Vec<String> = commands.take(4).flat_map(crate::tools::deeds::split).collect();
    let words: Vec<&str> = commands.iter().map(String::as_str).collect();
    crate::tools::deeds::of_name(&words, &[program.split('-').next().unwrap_or(program)])
}

/// `make destroy-prod`, `npm run db:wipe -- --env production`
pub(crate) fn names_destruction(fields: &[Field]) -> bool {
    let texts = || fields.iter().skip(1).take(8).filter_map(Field::text);
    let runs = texts().any(|text| matches!(text, "run" | "run-script") || text.contains(':'));
    let is_npm = fields
        .first()
        .and_then(Field::text)
        .is_some_and(|name| matches!(name, "npm" | "yarn" | "pnpm"));
    if is_npm && !runs {
        return false;
    }
    let parts = || texts().flat_map(|it| it.split(|c: char| !c.is_ascii_alphanumeric()));
    let first =
        texts().find(|text| !text.starts_with('-') && !matches!(*text, "run" | "run-script"));
    let is_plain = first.is_some_and(|task| matches!(task, "destroy" | "nuke" | "destroy-all"));
    let takes = texts().filter(|text| !text.starts_with('-') && !text.contains('=')).any(|text| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| TAKES_AWAY.contains(&part))
    });
    let forces = || texts().any(|text| matches!(text, "--force" | "--accept-data-loss"));
    is_plain
        || takes && parts().any(|part| IN_USE.contains(&part))
        || first.is_some_and(|task| task.ends_with("db:push")) && forces()
}

/// `./scripts/destroy.sh --prod`
pub(crate) fn script_destroys(fields: &[Field]) -> bool {
    let name = fields.first().and_then(Field::text).and_then(|path| path.rsplit('/').next());
    let words = ["destroy", "nuke", "wipe", "teardown", "drop"];
    if !name.is_some_and(|name| words.iter().any(|word| name.contains(word))) {
        return false;
    }
    let parts = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect()
    };
    let takes = name.is_some_and(|name| {
        parts(name)
            .iter()
            .any(|part| matches!(part.as_str(), "destroy" | "nuke" | "wipe" | "teardown" | "drop"))
    });
    takes
        && fields
            .iter()
            .take(8)
            .filter_map(Field::text)
            .any(|text| parts(text).iter().any(|part| IN_USE.contains(&part.as_str())))
}

/// `-f env=production`, `deploy-prod.yml`
fn names_production(words: &[Field]) -> bool {
    words.iter().filter_map(Field::text).any(|text| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| IN_USE.contains(&part))
    })
}

/// Whether a program manages what is in a cloud or a cluster.
pub(crate) fn is_cloud(name: &str) -> bool {
    CLOUDS.binary_search(&name).is_ok()
        || matches!(
            name,
            "aws" | "kubectl" | "helm" | "terraform" | "docker" | "gh" | "glab" | "vault"
        )
}

fn is_revealing_task(word: &str) -> bool {
    REVEALING_TASKS.binary_search(&word).is_ok()
}

/// `http://localhost:4566`, `http://localstack:4566`: a server on this machine, or in a container next
/// to this one.
fn is_emulator(url: &str) -> bool {
    const NAMES: &[&str] = &["localstack", "dynamodb-local", "dynamodb", "minio", "moto"];
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', ':', '?']).next().unwrap_or(rest);
    host::is_this_machine(host)
        || matches!(host, "host.docker.internal" | "0.0.0.0")
        || NAMES.contains(&host)
        || host.ends_with(".localhost.localstack.cloud")
        || host == "localhost.localstack.cloud"
}

/// The names that tools give to the contexts of clusters on this machine.
fn is_own_cluster(context: &str) -> bool {
    matches!(
        context,
        "minikube"
            | "docker-desktop"
            | "docker-for-desktop"
            | "rancher-desktop"
            | "orbstack"
            | "colima"
            | "kind"
            | "microk8s"
    ) || ["kind-", "k3d-", "colima-"].iter().any(|start| context.starts_with(start))
}

/// `kubectl get --raw /api/v1/secrets`
fn is_raw_secrets(words: &[Field]) -> bool {
    let [flag, path] = words else { return false };
    let path = path.word.known_part();
    flag.text() == Some("--raw") && path.split(['/', '?']).any(|part| part == "secrets")
}

/// Whether code prints variables of the environment, and not only whether they are there.
fn shows_value(code: &str) -> bool {
    const ONLY_ASKS: &[&str] =
        &["!!process", "Boolean(", "Object.keys", ".length", "in process.env"];
    code.contains("process.env")
        && (code.contains("console.") || code.contains("stdout") || !code.contains('('))
        && !ONLY_ASKS.iter().any(|sign| code.contains(sign))
}

/// `EVAL "return redis.call('FLUSH'..'ALL')" 0`
fn evaluates_flush(line: &Line<'_>) -> bool {
    let mut words = line.words.iter().filter_map(Field::text);
    words.any(|word| word.eq_ignore_ascii_case("eval"))
        && words.next().is_some_and(|script| {
            let letters = script.bytes().filter(u8::is_ascii_alphabetic);
            let letters: Vec<u8> = letters.map(|byte| byte.to_ascii_lowercase()).collect();
            let has = |word: &[u8]| letters.windows(word.len()).any(|part| part == word);
            has(b"flushall") || has(b"flushdb")
        })
}

/// `… | xargs redis-cli del`
fn deletes_unknown_keys(line: &Line<'_>) -> bool {
    let is_verb = |field: &Field| {
        let is_it = |text: &str| ["del", "unlink"].iter().any(|it| text.eq_ignore_ascii_case(it));
        field.text().is_some_and(is_it)
    };
    line.words.iter().any(is_verb) && line.operands.iter().any(|field| field.word.is_unknown())
}

/// A removal that asks nobody: `x rm --recursive --force y`.
fn removes_unasked(words: &[Field]) -> bool {
    let is_verb = |text: &str| matches!(text, "rm" | "remove" | "del");
    let texts = || words.iter().filter_map(Field::text);
    texts().take(4).any(is_verb) && texts().any(|text| UNASKED.contains(&text))
}

/// Flags with which a program does not ask before it destroys something.
const UNASKED: &[&str] = &[
    "--force",
    "-f",
    "--yes",
    "-y",
    "--confirm",
    "--all",
    "--cascade",
    "--recursive",
    "-r",
    "--auto-approve",
    "--no-prompt",
    "--purge",
    "--non-interactive",
    "--assume-yes",
    "--quiet",
    "--no-interaction",
    "--skip-confirmation",
];

/// `git config --get KEY`, or `git config KEY` without a value.
fn reads_config(line: &Line<'_>) -> bool {
    const READS: [&str; 7] =
        ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--show-origin"];
    let is_flag = |text: &str| READS.contains(&text);
    if matches!(line.sub_command(), "config get" | "config get-all" | "config list") {
        return true;
    }
    let words: Vec<&str> = line.words.iter().map(|field| field.word.known_start()).collect();
    let changes = ["--unset", "--unset-all", "--add", "--replace-all", "--edit", "-e", "set"];
    if words.iter().any(|word| changes.contains(word)) {
        return false;
    }
    let config = words.iter().position(|word| *word == "config").map_or(0, |at| at + 1);
    let mut plain = 0;
    let mut rest = words.iter().skip(config);
    while let Some(word) = rest.next() {
        match *word {
            "-f" | "--file" | "--blob" | "--type" | "--default" => drop(rest.next()),
            flag if flag.starts_with('-') => {}
            _ => plain += 1,
        }
    }
    words.iter().any(|word| is_flag(word)) || plain < 2
}

/// `git config http.sslVerify true`, `git config --unset http.sslVerify`: as it is by default.
fn turns_checks_on(line: &Line<'_>) -> bool {
    let mut texts = line.words.iter().filter_map(Field::text);
    let is_check = |word: &str| word.eq_ignore_ascii_case("http.sslVerify");
    let unsets = line
        .words
        .iter()
        .filter_map(Field::text)
        .any(|word| matches!(word, "--unset" | "--unset-all" | "unset"));
    texts.any(is_check)
        && (unsets || matches!(texts.next(), Some("true" | "yes" | "on" | "1")))
        && texts.next().is_none()
}

/// Whether words name a registry, and only those that programs use by default.
fn names_default(words: &[Field]) -> bool {
    let mut urls = words.iter().filter_map(|field| {
        let at = field.word.known_part().find("http")?;
        host::parse_url(&field.word.from(at))
    });
    let is_default =
        |address: host::Address| address.host.text().is_some_and(crate::sets::is_registry);
    urls.next().is_some_and(is_default) && urls.all(is_default)
}

/// Whether the text of a filter gives what it changes a download that a shell runs.
/// `.dependencies.x = "https://…"` in a filter.
fn names_dependency(filter: &str) -> bool {
    filter.contains("ependencies") && filter.contains("://") && filter.contains('=')
}

/// `redis-cli CONFIG RESETSTAT`, `redis-cli MODULE LIST`: questions to a server.
fn only_asks_server(line: &Line<'_>) -> bool {
    let word = |at: usize| {
        line.operands.get(at).and_then(Field::text).unwrap_or_default().to_ascii_lowercase()
    };
    matches!(
        (word(0).as_str(), word(1).as_str()),
        ("config", "get" | "help" | "resetstat")
            | ("module", "list" | "help")
            | ("debug", "object" | "help" | "jmap" | "stringmatch-len" | "digest" | "digest-value")
    )
}

/// `/dev/loop0` stands for a file.
fn is_loop(path: &str) -> bool {
    path.starts_with("/dev/loop")
}

/// `redis-cli CONFIG SET dir /x`
fn sets_config(line: &Line<'_>) -> bool {
    let word = |at: usize| line.operands.get(at).and_then(Field::text).unwrap_or_default();
    word(0).eq_ignore_ascii_case("config") && !word(1).eq_ignore_ascii_case("get")
}

fn is_empty_input(context: &Context) -> bool {
    match context.input.as_deref() {
        Some(Output::Nothing) => true,
        Some(Output::File(file)) => file.text() == Some("/dev/null"),
        _ => false,
    }
}

fn plants(words: &[Field]) -> bool {
    words.iter().take(8).map(|word| word.word.known_part()).any(|text| {
        let fetched = text.find("curl ").or_else(|| text.find("wget "));
        let rest = fetched.and_then(|at| text.get(at..)).unwrap_or_default();
        ["|sh", "| sh", "|bash", "| bash", "|zsh", "| zsh"].iter().any(|end| rest.contains(end))
    })
}

/// Paths of Vault with settings and public parts, which hold no secret.
fn is_public_path(field: &Field) -> bool {
    let Some(path) = field.text() else { return false };
    let parts: Vec<&str> = path.split('/').collect();
    let has = |known: &[&str]| parts.iter().any(|part| known.contains(part));
    let is_setting = matches!(parts.first(), Some(&("sys" | "auth" | "identity" | "transit")))
        || has(&["config", "roles", "role", "cert", "ca", "crl", "issuer", "connection"]);
    is_setting && !has(&["token", "raw", "secret-id", "export", "datakey", "oidc", "kv", "secret"])
}

/// `--query attributes.expires`: one field of a secret that is not its value.
fn selects_attribute(line: &Line<'_>) -> bool {
    let query = line.flags.iter().find(|given| given.spelling == "--query");
    let query = query.and_then(|given| given.values.first()).and_then(Field::text);
    query.is_some_and(|query| {
        query.starts_with("attributes.") || matches!(query, "id" | "name" | "tags" | "contentType")
    })
}

/// Whether a mode lets others than the owner read or write.
fn opens_to_others(mode: &str) -> bool {
    match u32::from_str_radix(mode, 8) {
        Ok(bits) => bits & 0o066 != 0,
        Err(_) => ["o+r", "o+w", "a+r", "a+w", "+r", "+w", "go+r", "g+r", "o=r", "a=r", "ugo+r"]
            .iter()
            .any(|start| mode.split(',').any(|clause| clause.starts_with(start))),
    }
}

/// Whether a helper for passwords is one of those that come with git.
fn is_known_helper(value: &str) -> bool {
    let name = value.split_whitespace().next().unwrap_or_default();
    let known =
        ["", "cache", "store", "osxkeychain", "manager", "manager-core", "libsecret", "wincred"];
    known.contains(&name) && !value.contains(['/', '!', ';'])
}

/// `env`, `$ENV.API_TOKEN` and `strenv(API_TOKEN)` of jq and yq: all variables, or a secret one.
fn reads_variables(filter: &Field) -> bool {
    let text = filter.word.known_part();
    text.match_indices("env").chain(text.match_indices("ENV")).take(16).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 3..).unwrap_or_default();
        let is_upper = text.get(at..).is_some_and(|rest| rest.starts_with("ENV"));
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '"' | '$');
        let is_own = match is_upper {
            true => before.ends_with('$'),
            false => before.ends_with("str") || !before.ends_with(is_part),
        };
        let named = after.strip_prefix(['.', '(', '[']).map(|rest| rest.trim_start_matches('"'));
        let is_word =
            after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        is_own
            && !is_word
            && match named {
                Some(name) => {
                    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                    crate::shell::expand::names_secret(
                        name.get(..end.unwrap_or(name.len())).unwrap_or(name),
                    )
                }
                None => !after.trim_start().starts_with("| keys"),
            }
    })
}

/// A path rather than an expression.
fn is_plain_path(field: &Field) -> bool {
    let text = field.word.known_part();
    (text.starts_with(['/', '~']) || text.contains('/')) && !text.contains([' ', '|', '(', '='])
}

/// `HEAD~1`, `main..dev`, a hash.
fn is_revision(field: &Field) -> bool {
    field.text().is_some_and(|text| {
        text.starts_with("HEAD") || text.contains("..") && !text.contains("../")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_that_read_the_environment_are_found() {
        let reads = |text: &str| reads_variables(&Field::new(Word::known(text), 0..0));
        for text in ["env", "$ENV.API_TOKEN", "env.AWS_SECRET_ACCESS_KEY", "strenv(API_TOKEN)"] {
            assert!(reads(text), "{text}");
        }
        for text in [".env", ".a.environment", "$ENV.HOME", "env.NODE_ENV", ".x | keys", "{env: 1}"]
        {
            assert!(!reads(text), "{text}");
        }
    }

    #[test]
    fn lists_that_are_searched_are_sorted() {
        assert!(
            CLOUDS.is_sorted()
                && REVEALING_TASKS.is_sorted()
                && INSTALLERS.is_sorted()
                && ESCAPING.is_sorted()
        );
    }
}
