//! Database statements in code: SQL in literals, and methods of libraries that delete every row.

use crate::bound::Bound;
use crate::effect::{Action, Why};
use crate::marks::Mark;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Literals of one code that are looked at.
const MAX_LITERALS: usize = 256;

/// Calls that run a statement. Without one of them, SQL in a literal is only text.
const RUNS: &[&str] = &[
    "execute",
    ".query",
    ".exec(",
    ">exec(",
    ".exec_params(",
    ">do(",
    "do_query",
    "queryRaw",
    "mysqli_query",
    "pg_query",
    ">query(",
    ".raw(",
    "db.run(",
    ".run(\"",
    ".run('",
    "sql`",
    ".prepare(",
    ">prepare(",
    "read_sql",
    "sql(",
    ".text(",
    "unsafe(",
    "DB::",
];

/// How statements begin that destroy data or give rights.
const VERBS: &[&str] = &["drop ", "delete ", "truncate ", "update ", "alter ", "grant ", "create "];

/// Methods that delete every row, or a whole database.
const WIPES: &[&str] = &[
    ".objects.all().delete(",
    ".delete_all",
    ".destroy_all",
    "deleteMany()",
    "deleteMany({})",
    "delete_many({})",
    "delete_many()",
    "remove({})",
    ".drop_all(",
    "dropDatabase(",
    "drop_database(",
    "drop_collection(",
    "dropCollection(",
    "flushall(",
    "flushAll(",
    "flushdb(",
    "flushDb(",
    "::truncate()",
    "dropAllSchemas(",
    "dropSchema(",
    ".drop_table(",
    "dropTable(",
    "delete_by_query",
    ".indices.delete(",
    "destroy({ truncate: true",
    "destroy({truncate: true",
    "Repo.delete_all",
    ".all.each(&:destroy",
    ".all.each(&:delete",
    ".objects.filter().delete(",
    "::query()->delete()",
    "::query()->truncate()",
    "dropAllTables(",
    "Schema::drop(",
    "Schema.drop",
    "sync({force:true",
    "sync({ force: true",
    "if_exists='replace'",
    "if_exists=\"replace\"",
    "').truncate()",
    "\").truncate()",
    "').del()",
    "\").del()",
    "')->truncate()",
    "\")->truncate()",
    "')->delete()",
    "\")->delete()",
    ".queryset.delete(",
];

/// Libraries for clouds and forges.
const SERVICES: &[&str] = &[
    "boto3",
    "aws-sdk",
    "google.cloud",
    "azure.mgmt",
    "azure.storage",
    "kubernetes",
    "huggingface_hub",
    "HfApi",
    "octokit",
    "Octokit",
    "github",
    "gitlab",
    "cloudflare",
    "digitalocean",
    "docker",
    "@google-cloud",
    "@azure",
    "openstack",
    "hcloud",
    "stripe",
    "firebase",
    "supabase",
    "pulumi",
];

/// Their methods that destroy something.
const DESTROYS: &[&str] = &[
    ".delete()",
    ".delete_",
    ".begin_delete",
    "delete(force=True",
    ".deleteRepo",
    ".delete_repo",
    "terminate_instances",
    "terminateInstances",
    ".destroy(",
    "TerminateInstancesCommand",
    "Delete",
    ".remove_",
    "purge_",
    "deregister_",
    "schedule_key_deletion",
    "repos.delete",
    ".prune(",
    "deleteBucket",
    "deleteObject",
    "deleteProject",
    "empty_bucket",
    "removeBucket",
    "deleteUser",
    "remove(force=True",
    "remove(v=True",
];

/// Whether the code destroys something in a cloud or on a forge.
fn destroys_elsewhere(text: &str) -> bool {
    let is_small =
        ["delete_message", "DeleteMessage", "delete_item(", "DeleteItem", "DeleteObjectCommand"];
    SERVICES.iter().any(|name| text.contains(name))
        && DESTROYS.iter().any(|call| text.contains(call))
        && !is_small.iter().any(|call| text.contains(call))
}

/// Scripts that run whenever a package is installed: what they would run counts.
pub(crate) fn hooks_of_packages(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    for hook in ["preinstall", "postinstall", "prepublish", "prepare", "preprepare"] {
        for (at, _) in text.match_indices(hook).take(4) {
            let after = text.get(at + hook.len()..).unwrap_or_default();
            let after = after.trim_start_matches(['"', '\'', '\\', ']', ' ']);
            let Some(value) = after.strip_prefix([':', '=']) else { continue };
            let Some(literal) = literals(value).next() else { continue };
            if value.trim_start().starts_with(['"', '\'', '`', '\\']) {
                let command = crate::shell::ansi::unescape(literal);
                drop(shell.word_text(&Field::new(Word::known(command), field.span.clone())));
            }
        }
    }
}

/// Arguments that make a library run code of a stranger.
const LOADS_CODE: &[&str] =
    &["trust_remote_code=True", "trust_repo=True", "allow_pickle=True, url", "torch.hub.load("];

/// Settings of frameworks that are secrets.
const SHOWS: &[&str] = &[
    "Rails.application.credentials",
    "secret_key_base",
    "settings.SECRET_KEY",
    "settings.DATABASES",
    "keyring.get_password",
    "dotenv_values(",
    "netrc().hosts",
    "netrc.netrc(",
    ".authenticators(",
    "browser_cookie3.",
    "rookiepy.",
    "get_frozen_credentials",
    "get_secret_value",
    ".get_credentials()",
    "getPassword(",
    "keytar.getPassword",
    "win32cred",
    "SecItemCopyMatching",
    "application.secrets",
    "app.secret_key",
    "app.config['SECRET",
    "app.config[\"SECRET",
];

/// Calls that take the whole environment.
const DUMPS: &[&str] = &[
    "%ENV",
    "ENV.to_h",
    "ENV.to_a",
    "ENV.each",
    "ENV.map",
    "ENV.sort",
    "ENV.inspect",
    "print_r(getenv())",
    "var_dump(getenv())",
    "print_r($_ENV",
    "var_dump($_ENV",
    "json_encode($_ENV",
    "json_encode(getenv())",
    "env.toObject()",
    "(Bun.env)",
    "System.getenv()",
];

/// How code names one variable of the environment.
const VARIABLES: &[&str] = &[
    "process.env.",
    "process.env[",
    "os.environ[",
    "os.environ.get(",
    "os.getenv(",
    "ENV[",
    "ENV.fetch(",
    "$ENV{",
    "getenv(",
    "Deno.env.get(",
    "Bun.env.",
];

/// What stands in front of a value that is printed.
const PRINTS: &[&str] =
    &["print(", "log(", "puts ", "puts(", "echo ", "print ", "write(", "p ", "info("];

/// `print(os.environ["API_TOKEN"])`: a secret by its name, printed as it is.
fn prints_variable(text: &str) -> bool {
    VARIABLES.iter().any(|sign| {
        text.match_indices(sign).take(16).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end_matches(['(', '"', '\\']);
            let after = text.get(at + sign.len()..).unwrap_or_default();
            let after = after.trim_start_matches(['"', '\\', '\'']);
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, rest) = after.split_at(end.unwrap_or(after.len()));
            let rest = rest.trim_start_matches(['"', '\\', '\'', ']', ')', '}']).trim_start();
            let is_whole = rest.is_empty() || rest.starts_with([';', '\n', ')', '`', '+']);
            let open = text.get(..at).unwrap_or_default();
            let is_printed = open.trim().is_empty()
                || PRINTS
                    .iter()
                    .any(|print| open.ends_with(print) || before.ends_with(print.trim()));
            is_whole && is_printed && crate::shell::expand::names_secret(name)
        })
    })
}

/// `env('APP_KEY')`, `config('database.connections.mysql.password')`
fn shows_setting(text: &str) -> bool {
    ["env(", "config("].iter().any(|call| {
        text.match_indices(call).take(32).any(|(at, _)| {
            // `setenv(`, `os.getenv(`
            if text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphanumeric()) {
                return false;
            }
            let after = text.get(at + call.len()..).unwrap_or_default();
            let name = after.trim_start_matches(['\'', '"', '\\']);
            let name = name.split(['\'', '"', ')']).next().unwrap_or_default().to_ascii_lowercase();
            ["password", "secret", "_key", "token", ".key"].iter().any(|part| name.contains(part))
        })
    })
}

/// Literals, joined where the code puts them together: `"DEL" + "ETE FROM t"`.
fn joined_literals(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut end = None;
    for literal in literals(text) {
        let start = literal.as_ptr() as usize - text.as_ptr() as usize;
        let between = end.and_then(|end| text.get(end..start)).unwrap_or(";");
        let is_joined =
            between.chars().all(|c| matches!(c, '+' | '.' | ' ' | '\n' | '"' | '\'' | '`'));
        match all.last_mut().filter(|_| is_joined) {
            Some(last) => last.push_str(literal),
            None => all.push(literal.to_owned()),
        }
        end = Some(start + literal.len());
    }
    all
}

/// Adds what the code does to databases.
pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let is_scratch = is_scratch(text);
    if !is_scratch && (WIPES.iter().any(|wipe| text.contains(wipe)) || deletes_query(text)) {
        shell.mark_parent(Mark::Database);
    }
    if destroys_elsewhere(text) {
        shell.mark_parent(Mark::Infrastructure);
    }
    let loads =
        ["pickle.load", "torch.load(", "joblib.load(", "dill.load", "marshal.load", "exec_module("];
    let fetches = [
        "urlopen(",
        "requests.get(",
        "urlretrieve(",
        "httpx.get(",
        "fetch(",
        "urllib.request.urlopen",
        "wget.download(",
    ];
    let loads_fetched = loads.iter().any(|call| text.contains(call))
        && fetches.iter().any(|call| text.contains(call));
    hooks_of_packages(shell, text, field);
    let endless = [
        "while 1",
        "while(1)",
        "while (1)",
        "while True",
        "iter(int",
        "for(;;)",
        "loop {",
        "loop do",
    ];
    let forks = text.contains("fork()") || text.contains("fork while");
    if forks && endless.iter().any(|sign| text.contains(sign)) {
        shell.mark_parent(Mark::Exhausts);
    }
    let gives_host = ["privileged=True", "pid_mode='host'", "{'/':", "{\"/\":"];
    if text.contains("docker") && gives_host.iter().any(|sign| text.contains(sign)) {
        shell.mark_parent(Mark::HostAccess);
    }
    if loads_fetched || LOADS_CODE.iter().any(|sign| text.contains(sign)) {
        shell.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
    }
    let is_process = text.contains("psutil") && text.contains(".environ()");
    let is_dump = DUMPS.iter().any(|call| text.contains(call));
    if is_dump
        || prints_variable(text)
        || is_process
        // A program that uses its own settings does not print them.
        || shell.out.following.is_empty()
            && (SHOWS.iter().any(|sign| text.contains(sign)) || shows_setting(text))
    {
        shell.mark_parent(Mark::Credentials);
    }
    if is_scratch || !RUNS.iter().any(|call| text.contains(call)) {
        return;
    }
    for literal in joined_literals(text).into_iter().take(MAX_LITERALS) {
        let start = literal.trim_start();
        let is_statement = VERBS.iter().any(|verb| {
            start.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb))
        });
        if is_statement {
            let statement = Word::known(start.trim_end());
            let Some(text) = statement.text() else { continue };
            shell.push(Action::Sql(text.to_owned()), field.span.clone());
        }
    }
}

/// `session.query(User).delete()`, without a filter in between.
fn deletes_query(text: &str) -> bool {
    text.match_indices(".query(").any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let call = rest.split(['\n', ';']).next().unwrap_or_default();
        call.contains(").delete()") && !call.contains("filter") && !call.contains("where")
    })
}

/// Whether the code works on a database that may be thrown away.
fn is_scratch(text: &str) -> bool {
    [":memory:", "/tmp/", "test.db", "test.sqlite", "_test", "scratch", "localhost/test"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// The texts in quotes, without looking at what is around them.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let open = rest.find(['\'', '"', '`'])?;
        let quote = rest.get(open..open + 1)?;
        let triple = quote.repeat(3);
        let after = rest.get(open..)?;
        let mark = if after.starts_with(&triple) { triple.as_str() } else { quote };
        let inside = after.get(mark.len()..)?;
        let end = closing(inside, mark);
        rest = inside.get(end + mark.len()..).unwrap_or_default();
        inside.get(..end)
    })
}

fn closing(text: &str, mark: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if text.get(at..).is_some_and(|rest| rest.starts_with(mark)) => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    fn found(text: &str) -> (bool, bool) {
        let effects = command(text, &Ground::default());
        let sql = effects.all().iter().any(|effect| effect.action.to_string().starts_with("sql "));
        let marked = effects.all().iter().any(|effect| match &effect.action {
            crate::Action::Runs(run) => run.marks.contains(crate::Mark::Database),
            _ => false,
        });
        (sql, marked)
    }

    #[test]
    fn statements_in_literals_are_found() {
        for text in [
            "python3 -c \"c.execute('DROP TABLE users')\"",
            "python3 - <<'P'\nc.execute(sa.text(\"DELETE FROM users\"))\nP",
            "python3 - <<'P'\nc.execute(\"\"\"\n  truncate users\"\"\")\nP",
            "node -e \"c.query('TRUNCATE users')\"",
            "php -r 'new PDO(\"x\")->exec(\"DROP TABLE users\");'",
        ] {
            assert!(found(text).0, "{text}");
        }
    }

    #[test]
    fn code_that_prints_secrets_of_the_environment_is_marked() {
        let is_marked = |text: &str| {
            let effects = command(text, &Ground::default());
            effects.all().iter().any(|effect| match &effect.action {
                crate::Action::Runs(run) => run.marks.contains(crate::Mark::Credentials),
                _ => false,
            })
        };
        for text in [
            "node -p process.env.AWS_SECRET_ACCESS_KEY",
            "python3 -c \"import os; print(os.environ['API_TOKEN'])\"",
            "ruby -e 'puts ENV.to_h'",
            "perl -e 'print \"$_=$ENV{$_}\" for keys %ENV'",
            "php -r 'print_r(getenv());'",
        ] {
            assert!(is_marked(text), "{text}");
        }
        for text in [
            "node -p process.env.NODE_ENV",
            "node -e \"console.log(process.env.API_TOKEN ? 'set' : 'missing')\"",
            "python3 -c \"import os; print(bool(os.environ.get('API_TOKEN')))\"",
            "python3 -c \"import os; print(len(os.environ['API_TOKEN']))\"",
            "node -e \"fetch('https://api.github.com', {headers: {a: process.env.GITHUB_TOKEN}})\"",
        ] {
            assert!(!is_marked(text), "{text}");
        }
    }

    #[test]
    fn methods_that_delete_every_row_are_marked() {
        for text in [
            "node -e 'prisma.user.deleteMany()'",
            "python3 -c 'session.query(User).delete()'",
            "ruby -e 'User.delete_all'",
        ] {
            assert!(found(text).1, "{text}");
        }
        let filtered = "python3 -c 'session.query(User).filter(User.id == 1).delete()'";
        assert!(!found(filtered).1);
    }

    #[test]
    fn text_and_scratch_databases_are_left_alone() {
        for text in [
            "python3 -c \"print('DROP TABLE users')\"",
            "python3 -c \"import sqlite3; sqlite3.connect(':memory:').execute('DROP TABLE a')\"",
        ] {
            assert!(!found(text).0, "{text}");
        }
    }
}
