//! The condition `sql`: which statements a call would run on a database.

use callgate_document::{At, Mapping, Node, Problems, Yaml, texts};
use callgate_effects::statements::{Rows, Statement, statements};
use callgate_effects::{Action, EffectKind, Run, Word};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use crate::pattern::Wildcard;
use crate::tri::Tri;

/// Statements that a call runs.
#[derive(Debug, Clone)]
pub(crate) struct SqlCondition {
    /// Empty for every verb.
    verbs: Vec<String>,
    /// Empty for every table.
    tables: Vec<Wildcard>,
    written: String,
}

/// Stands for everything that destroys data.
const DESTRUCTIVE: &str = "destructive";

/// Stands for everything that reaches files or programs on the server.
const SYSTEM: &str = "system";

/// Functions that read or write files, or run something.
const SYSTEM_FUNCTIONS: &[&str] = &[
    "http_request",
    "lo_from_bytea",
    "openrowset",
    "opendatasource",
    "pg_file_write",
    "sp_add_job",
    "sp_oacreate",
    "sp_oamethod",
    "sp_execute_external_script",
    "sys_bineval",
    "xp_dirtree",
    "xp_regread",
    "xp_regwrite",
    "dblink",
    "dblink_connect",
    "dblink_exec",
    "postgres_execute",
    "mysql_execute",
    "utl_http",
    "http_get",
    "http_post",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_ls_dir",
    "lo_import",
    "lo_export",
    "readfile",
    "writefile",
    "load_extension",
    "load_file",
    "outfile",
    "dumpfile",
    "xp_cmdshell",
    "sys_exec",
    "sys_eval",
];

/// Packages of Oracle and extensions of PostgreSQL that do: what follows the dot does not matter.
const SYSTEM_PACKAGES: &[&str] = &[
    "dbms_java",
    "dbms_job",
    "dbms_scheduler",
    "dbms_xslprocessor",
    "utl_file",
    "utl_http",
    "utl_smtp",
    "utl_tcp",
];

/// Settings that name a program or a library, and languages that can do everything.
const SYSTEM_WORDS: &[&str] = &[
    "archive_command",
    "local_preload_libraries",
    "plperlu",
    "plpython2u",
    "plpython3u",
    "plpythonu",
    "pltclu",
    "restore_command",
    "session_preload_libraries",
    "shared_preload_libraries",
    "ssl_passphrase_command",
];

/// More rows than anybody deletes one by one.
const MANY_ROWS: u64 = 100_000;

/// The most words of one text that are looked at.
const MAX_WORDS: usize = 20_000;

impl EffectCondition for SqlCondition {
    const KEY: &'static str = "sql";

    const MEANING: &'static str = "a list of verbs, like `insert` or `drop`, or `{ verbs, tables }` with \
        globs of tables (`users`, `billing.*`): the call runs such a statement, on such a table; \
        `destructive` stands for `DROP`, `TRUNCATE`, `ALTER … DROP`, and `DELETE` or \
        `UPDATE` without a condition, on anything but a scratch database (`:memory:`, below \
        `/tmp`, or with `test`, `tmp` or `scratch` in its name), `system` for what reaches files \
        or programs on the server (`COPY … PROGRAM`, `pg_read_file`, `\\!`)";

    const KIND: EffectKind = EffectKind::Sql;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let before = problems.len();
        let (verbs, tables) = match &node.value {
            Yaml::Map(_) => long_form(node, problems)?,
            _ => (texts(node, "`sql`", problems), Vec::new()),
        };
        for verb in &verbs {
            if !verb.value.chars().all(|letter| letter.is_ascii_alphabetic()) {
                problems
                    .add(verb.span, format!("`{}` is not the verb of a statement", verb.value))
                    .hint("one word, like `drop`, `insert` or `destructive`");
            }
        }
        let verbs = verbs.iter().map(|verb| verb.value.to_ascii_lowercase()).collect();
        let tables = tables.iter().map(|it| Wildcard::new(&it.value.to_lowercase())).collect();
        let written = node.to_json();
        (problems.len() == before).then_some(Self { verbs, tables, written })
    }

    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        let Action::Sql(text) = found.action() else { return None };
        let is_scratch = found.run().is_some_and(is_scratch);
        if !self.tables.is_empty()
            && let Some(parsed) = statements(text)
        {
            let fits = |it: &Statement| self.has_verb(it, is_scratch) && self.names_table(it);
            return Some(parsed.iter().any(fits).into());
        }
        let words = words(text);
        let holds = |verb: &String| match verb.as_str() {
            DESTRUCTIVE => !is_scratch && (is_destructive(&words) || destroys(text)),
            SYSTEM => reaches_system(text, &words),
            verb => words.split(|word| word == ";").any(|statement| has_verb(statement, verb)),
        };
        let holds = self.verbs.is_empty() || self.verbs.iter().any(holds);
        Some(match (holds, self.tables.is_empty()) {
            (false, _) => Tri::False,
            (true, true) => Tri::True,
            // Which tables a text names is not known if it cannot be parsed.
            (true, false) => Tri::Unknown,
        })
    }

    fn operand(&self) -> &str {
        &self.written
    }
}

impl SqlCondition {
    fn has_verb(&self, statement: &Statement, is_scratch: bool) -> bool {
        let destroys = match statement.verb.as_str() {
            "drop" | "truncate" => true,
            "delete" | "update" => statement.rows == Rows::All,
            _ => false,
        };
        let is_it = |verb: &String| match verb.as_str() {
            DESTRUCTIVE => destroys && !is_scratch,
            verb => verb == statement.verb,
        };
        self.verbs.is_empty() || self.verbs.iter().any(is_it)
    }

    /// A table counts by its own name and with its schema.
    fn names_table(&self, statement: &Statement) -> bool {
        statement.tables.iter().any(|table| {
            let own = table.rsplit('.').next().unwrap_or(table);
            self.tables.iter().any(|glob| glob.matches(table) || glob.matches(own))
        })
    }
}

/// `{ verbs: [delete], tables: [users] }`
fn long_form(node: &Node, problems: &mut Problems<'_>) -> Option<(TextList, TextList)> {
    let fields = Mapping::of(node, "`sql`", problems)?;
    fields.check(&["verbs", "tables"], &[], problems);
    let mut read = |key: &str| {
        let node = fields.get(key);
        node.map(|node| texts(node, &format!("`{key}`"), problems)).unwrap_or_default()
    };
    let (verbs, tables) = (read("verbs"), read("tables"));
    if verbs.is_empty() && tables.is_empty() {
        problems.add(node.span, "`sql` names nothing").hint("write `{ tables: [users] }`");
    }
    if let Some(verb) = verbs.iter().find(|verb| verb.value == SYSTEM && !tables.is_empty()) {
        problems
            .add(verb.span, "`system` is about files and programs, not about tables")
            .hint("use a condition of its own: `any: [{ sql: [system] }, …]`");
    }
    Some((verbs, tables))
}

type TextList = Vec<At<String>>;

/// Whether a command works on a database that may be thrown away.
pub(super) fn is_scratch(run: &Run) -> bool {
    // Of a name with a gap, only the folder before the gap counts.
    let in_folder = |word: &Word| {
        let start = word.known_start();
        start.starts_with("/tmp/") && !start.contains([' ', ';']) && !start.contains("..")
    };
    if run.words.iter().skip(1).any(|word| word.text().is_none() && in_folder(word)) {
        return true;
    }
    let words = run.words.iter().skip(1).filter_map(|word| word.text());
    { words }.any(|word| {
        // A statement is not the name of a database.
        let word = if word.contains("://") { word.split('?').next().unwrap_or(word) } else { word };
        let name = word.rsplit('=').next().unwrap_or(word);
        !name.contains(' ')
            && (name == ":memory:"
                || name == "--local"
                || name.starts_with("/tmp/")
                || name
                    .split(|letter: char| !letter.is_ascii_alphanumeric())
                    .any(|part| SCRATCH.contains(&part)))
    })
}

/// The words of a text in lower case, `;`, `(`, `)` and `=` included. Comments and names in quotes
/// are left out. A text in quotes is a `'`, unless it is code that runs.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if words.len() >= MAX_WORDS {
            break;
        }
        let taken = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            // `/*!50000 DROP … */` is code for MySQL.
            '/' if rest.starts_with("/*!") => {
                let code = rest.get(3..).unwrap_or_default();
                rest.len() - code.trim_start_matches(|letter: char| letter.is_ascii_digit()).len()
            }
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' => {
                let runs =
                    matches!(words.last().map(String::as_str), Some("execute" | "immediate"));
                words.push("'".to_owned());
                if runs { 1 } else { quoted(rest, '\'') }
            }
            '"' | '`' => {
                words.push("name".to_owned());
                quoted(rest, first)
            }
            letter if letter.is_alphanumeric() || letter == '_' => {
                let is_in = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
                let end = rest.find(|letter| !is_in(letter)).unwrap_or(rest.len());
                words.push(rest.get(..end).unwrap_or_default().to_lowercase());
                end
            }
            ';' | '(' | ')' | '=' | '\\' => {
                words.push(first.to_string());
                1
            }
            other => other.len_utf8(),
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    words
}

/// How long a text in quotes is, with both quotes.
fn quoted(text: &str, quote: char) -> usize {
    text.get(1..).and_then(|rest| rest.find(quote)).map_or(text.len(), |end| end + 2)
}

/// Whether a statement begins with this verb, or has one inside that does.
fn has_verb(statement: &[String], verb: &str) -> bool {
    (0..statement.len())
        .any(|at| statement.get(at).is_some_and(|word| word == verb) && begins(statement, at))
}

fn reaches_system(text: &str, words: &[String]) -> bool {
    let copies = words.iter().any(|word| word == "copy") && words.iter().any(|it| it == "program");
    let calls = words.iter().any(|word| {
        let package = word.split('.').next().unwrap_or(word);
        let function = word.rsplit('.').next().unwrap_or(word);
        SYSTEM_FUNCTIONS.contains(&function)
            || SYSTEM_FUNCTIONS.contains(&package)
            || SYSTEM_PACKAGES.contains(&package)
            || word == "cron.schedule"
            || word == "net.http_post"
            || word == "net.http_get"
    });
    let sets = words.iter().any(|word| matches!(word.as_str(), "set" | "language" | "extension"))
        && words.iter().any(|word| SYSTEM_WORDS.contains(&word.as_str()));
    let has = |name: &str| words.iter().any(|word| word == name);
    // Another server that this one gets its rows from, or gives them to.
    let changes = has("create") || has("alter");
    let links = changes && (has("subscription") || has("foreign") && has("server"));
    let stops = words.first().is_some_and(|word| word == "shutdown");
    let enables = text.contains("'xp_cmdshell'") || text.contains("'Ole Automation");
    copies
        || calls
        || sets
        || links
        || stops
        || enables
        || runs_value(words)
        || text.contains("\\!")
        || text.trim_start().starts_with(".shell")
}

/// `EXEC(@text)`, `EXECUTE IMMEDIATE text`: which statement runs is not in the text.
fn runs_value(words: &[String]) -> bool {
    let is_literal = |word: Option<&String>| word.is_none_or(|it| matches!(it.as_str(), "'" | "n"));
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1);
        match (word.as_str(), next.map(String::as_str)) {
            ("exec", Some("(")) => !is_literal(words.get(at + 2)),
            ("immediate", Some(_)) => {
                let executes = at.checked_sub(1).and_then(|at| words.get(at));
                executes.is_some_and(|it| it == "execute") && !is_literal(next)
            }
            ("sp_executesql", Some(_)) => !is_literal(next),
            _ => false,
        }
    })
}

/// Whether a statement changes every row of a table, however its condition hides that.
fn destroys(text: &str) -> bool {
    let changes_all =
        |it: &Statement| it.rows == Rows::All && matches!(it.verb.as_str(), "delete" | "update");
    statements(text).is_some_and(|found| found.iter().any(changes_all))
}

fn is_destructive(words: &[String]) -> bool {
    let own = own_tables(words);
    words.split(|word| word == ";").any(|statement| {
        !drops_own(statement, &own)
            && !drops_scratch(statement)
            && (statement_destroys(statement) || replaces_all(statement))
    })
}

/// `DROP DATABASE IF EXISTS shop_test`, `DROP TABLE tmp_import`: nothing else is named.
fn drops_scratch(statement: &[String]) -> bool {
    let mut words = statement.iter().map(String::as_str).filter(|word| {
        !matches!(*word, "if" | "exists" | "cascade" | "restrict" | "with" | "force" | "(" | ")")
    });
    let known: &[&str] = match (words.next(), words.next()) {
        (Some("drop"), Some("database" | "schema")) => SCRATCH,
        (Some("drop" | "truncate"), Some("table")) => &["tmp", "temp", "scratch"],
        _ => return false,
    };
    let (Some(name), None) = (words.next(), words.next()) else { return false };
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| known.contains(&part))
}

/// Parts of the names of databases that may be thrown away.
const SCRATCH: &[&str] = &["test", "tests", "testing", "tmp", "temp", "scratch"];

/// Tables that the same text creates.
fn own_tables(words: &[String]) -> Vec<&str> {
    let statements = words.split(|word| word == ";");
    let created = statements.filter(|statement| statement.first().is_some_and(|it| it == "create"));
    created.filter_map(|statement| named_table(statement)).collect()
}

/// The name after `TABLE [IF [NOT] EXISTS]`.
fn named_table(statement: &[String]) -> Option<&str> {
    // `TRUNCATE t`
    let is_short = |at: &usize| statement.first().is_some_and(|it| it == "truncate") && *at == 0;
    let at = statement.iter().position(|word| word == "table");
    let at = at.or_else(|| Some(0).filter(is_short))?;
    let mut rest = statement.iter().skip(at + 1).map(String::as_str);
    rest.find(|word| !matches!(*word, "if" | "not" | "exists"))
}

/// A table that was made for this text alone is dropped again.
fn drops_own(statement: &[String], own: &[&str]) -> bool {
    let is_drop =
        statement.first().is_some_and(|word| matches!(word.as_str(), "drop" | "truncate"));
    is_drop && named_table(statement).is_some_and(|name| name != "name" && own.contains(&name))
}

/// Statements that leave a table without rows in other words.
fn replaces_all(statement: &[String]) -> bool {
    let has = |words: &[&str]| {
        statement
            .windows(words.len())
            .any(|window| window.iter().zip(words).all(|(one, two)| one == two))
    };
    if has(&["create", "or", "replace", "database"]) || has(&["create", "or", "replace", "schema"])
    {
        return true;
    }
    // `INSERT OVERWRITE TABLE t SELECT … WHERE false`
    if has(&["insert", "overwrite"]) {
        let is_narrow = statement.iter().any(|word| word == "partition");
        return !is_narrow;
    }
    let restores = statement.first().is_some_and(|word| word == "restore")
        && has(&["database"])
        && statement.iter().any(|word| word == "replace");
    if restores {
        return true;
    }
    let is_replaced = has(&["create", "or", "replace", "table"])
        && (has(&["where", "false"]) || has(&["limit", "0"]) || has(&["where", "1", "=", "0"])
            // Nothing is put into it: `CREATE OR REPLACE TABLE t LIKE t`.
            || !["select", "as", "clone", "external"].iter().any(|word| has(&[word])));
    let is_merged = statement.first().is_some_and(|word| word == "merge")
        && (has(&["when", "matched", "then", "delete"])
            || has(&["by", "source", "then", "delete"]));
    is_replaced || is_merged
}

/// Whether a statement destroys data. Statements may hide inside others: `WITH x AS (DELETE …)`.
fn statement_destroys(statement: &[String]) -> bool {
    let word = |at: usize| statement.get(at).map_or("", String::as_str);
    // A plan runs nothing.
    if word(0) == "explain" && !statement.iter().any(|it| it == "analyze" || it == "analyse") {
        return false;
    }
    (0..statement.len()).any(|at| match word(at) {
        "drop" => {
            let alters = statement.iter().take(at).any(|word| word == "alter");
            !matches!(word(at + 1), "constraint" | "default" | "not" | "index" | "view" | "trigger")
                && (alters || begins(statement, at))
        }
        "truncate" => begins(statement, at) && word(at + 1) != "(",
        // `DELETE a, b FROM a JOIN b`
        "delete" if !alters_rows(statement, at) => {
            let has_from = word(at + 1) == "from"
                || begins(statement, at)
                    && statement.iter().skip(at + 1).take(12).any(|word| word == "from");
            has_from && has_no_condition(statement, at)
        }
        // Changes of ClickHouse: `ALTER TABLE t DELETE WHERE 1`.
        "delete" | "update" if alters_rows(statement, at) => has_no_condition(statement, at),
        // SurrealDB.
        "remove" => {
            begins(statement, at)
                && matches!(
                    word(at + 1),
                    "database" | "table" | "namespace" | "db" | "ns" | "scope"
                )
        }
        // What a restore or a replica needs.
        "reset" => begins(statement, at) && matches!(word(at + 1), "master" | "binary"),
        "purge" => {
            begins(statement, at) && matches!(word(at + 1), "binary" | "master" | "recyclebin")
        }
        "retain" => statement.first().is_some_and(|it| it == "vacuum") && word(at + 1) == "0",
        "data_retention_time_in_days" => word(at + 1) == "=" && word(at + 2) == "0",
        "pg_drop_replication_slot" => word(at + 1) == "(",
        "partition" => at > 0 && word(at - 1) == "truncate",
        "offline" => statement.iter().take(2).map(String::as_str).eq(["alter", "database"]),
        // `MERGE … WHEN MATCHED THEN UPDATE SET`
        "update" if statement.iter().take(at).any(|word| word == "matched") => false,
        "delete" => false,
        "update" => {
            begins(statement, at)
                && statement.iter().any(|word| word == "set")
                && has_no_condition(statement, at)
        }
        "flushall" | "flushdb" => true,
        _ => false,
    })
}

/// `ALTER TABLE t DELETE WHERE …`, and not a constraint `ON DELETE`.
fn alters_rows(statement: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| statement.get(at));
    statement.first().is_some_and(|it| it == "alter")
        && before.is_some_and(|it| it != "on")
        && statement.iter().skip(at).any(|it| it == "where")
}

/// Whether a verb is where a statement begins, and not part of `ON DELETE` or a name.
fn begins(statement: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| statement.get(at)).map(String::as_str);
    matches!(
        before,
        None | Some("(" | "'" | "begin" | "then" | "execute" | "as" | "analyze" | "\\" | "loop")
    )
}

/// Whether nothing, or only something that is always true, follows `WHERE`.
fn has_no_condition(statement: &[String], at: usize) -> bool {
    let rest = statement.get(at..).unwrap_or_default();
    let Some(condition) = rest.iter().position(|word| word == "where") else {
        let limit = rest.iter().position(|word| word == "limit").map(|at| rest.get(at + 1));
        let is_small = |limit: Option<&String>| {
            limit.is_none_or(|text| text.parse::<u64>().is_ok_and(|rows| rows < MANY_ROWS))
        };
        let joins = |word: &String| matches!(word.as_str(), "on" | "natural");
        let is_joined = rest.iter().any(|word| word == "using") && rest.iter().any(joins);
        return !limit.is_some_and(is_small) && !is_joined;
    };
    let after: Vec<&str> = rest.iter().skip(condition + 1).map(String::as_str).collect();
    match after.as_slice() {
        ["true" | "1" | "not"] | ["true", ")", ..] | ["true" | "1", "settings", ..] => true,
        [one, "=", two] | [one, "=", two, ")" | "settings", ..] => one == two,
        [] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_finds_what_words_do_not() {
        for text in [
            "DELETE FROM users WHERE id = id OR 1 = 1",
            "DELETE FROM users WHERE NOT false",
            "UPDATE users SET a = (SELECT 1 WHERE b = 2)",
        ] {
            assert!(!is_destructive(&words(text)) && destroys(text), "{text}");
        }
    }

    #[test]
    fn destructive_statements_are_found() {
        for text in [
            "DROP TABLE users",
            "DROP/**/TABLE/**/users",
            "SELECT 1; DrOp TaBlE users; --",
            "BEGIN;\nDROP TABLE users;\nCOMMIT;",
            "/*!50000 DROP TABLE users */",
            "DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$",
            "WITH x AS (DELETE FROM users RETURNING *) SELECT count(*) FROM x",
            "ALTER TABLE users DROP COLUMN email",
            "DELETE FROM users",
            "DELETE FROM users WHERE 1=1",
            "delete from users where true;",
            "update users set admin=1",
            "truncate users",
            "DELETE FROM users LIMIT 100000000",
            "-- clean up\nDROP SCHEMA public CASCADE",
            "ALTER TABLE logs DELETE WHERE 1 SETTINGS mutations_sync = 2",
            "CREATE OR REPLACE TABLE raw.events LIKE raw.events",
            "REMOVE DATABASE shop",
            "RESET MASTER",
            "VACUUM events RETAIN 0 HOURS",
        ] {
            assert!(is_destructive(&words(text)), "{text}");
        }
    }

    #[test]
    fn statements_that_reach_files_or_programs_are_found() {
        for text in [
            "SELECT pg_read_file('/etc/shadow')",
            "COPY (SELECT 1) TO PROGRAM 'id'",
            "\\! cat x",
            "select readfile('/x')",
            "BEGIN DBMS_SCHEDULER.create_job('j', job_action=>'/bin/sh'); END;",
            "DECLARE @q nvarchar(9)=CHAR(68); EXEC(@q)",
            "EXECUTE IMMEDIATE v_sql",
            "CREATE FUNCTION f() RETURNS int AS 'import os' LANGUAGE plpython3u",
            "ALTER SYSTEM SET archive_command = 'id'",
        ] {
            assert!(reaches_system(text, &words(text)), "{text}");
        }
        for text in [
            "SELECT program FROM courses",
            "COPY a TO STDOUT",
            "EXEC sp_executesql N'SELECT 1'",
            "EXECUTE IMMEDIATE 'SELECT 1'",
            "EXEC dbo.recalculate 7",
        ] {
            assert!(!reaches_system(text, &words(text)), "{text}");
        }
    }

    #[test]
    fn other_statements_are_left_alone() {
        for text in [
            "SELECT * FROM orders WHERE note = 'drop table x'",
            "SELECT TRUNCATE(price, 2) FROM items",
            "DELETE FROM sessions WHERE expires_at < now()",
            "DELETE FROM sessions LIMIT 500",
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a",
            "UPDATE users SET name='x' WHERE id=1",
            "CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE)",
            "ALTER TABLE a DROP CONSTRAINT b",
            "ALTER TABLE logs DELETE WHERE day < '2024-01-01'",
            "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES c ON DELETE CASCADE",
            "CREATE OR REPLACE TABLE a AS SELECT * FROM b",
            "VACUUM users",
            "EXPLAIN DELETE FROM users",
            "INSERT INTO a VALUES ('drop table b')",
            "select \"drop\" from a -- drop table a",
            "INSERT INTO a (b) VALUES (1) ON CONFLICT (b) DO UPDATE SET b = 2",
        ] {
            assert!(!is_destructive(&words(text)), "{text}");
        }
    }
}
