//! Text of another language in an argument: SQL for a tool of a database whatever the argument is called,
//! what is typed into a client that runs, code of a framework.

use callgate_json::Value;

use crate::analysis::Analysis;
use crate::effect::{Action, Knowledge, Run};
use crate::marks::{Mark, Marks};
use crate::model::Language;
use crate::path::working_folder;
use crate::shell::eval::Shell;
use crate::shell::is_sql_statement;
use crate::tools::naming::has;
use crate::tools::{Call, known, whole};
use crate::word::Word;

/// Words in the names of servers and tools that say that they run SQL.
const DATABASES: &[&str] = &[
    "sql",
    "psql",
    "pg",
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "mssql",
    "oracle",
    "database",
    "db",
    "snowflake",
    "bigquery",
    "clickhouse",
    "duckdb",
    "redshift",
    "supabase",
    "neon",
    "planetscale",
    "cockroach",
    "turso",
    "d1",
    "prisma",
    "query",
    "databricks",
    "trino",
];

/// Words of tools that type into something that runs already.
const TYPES: &[&str] = &["stdin", "interact", "input", "repl"];

/// Words of tools that take code, the language, and the argument.
const CODE: &[(&str, Language)] = &[
    ("tinker", Language::Php),
    ("artisan", Language::Php),
    ("tidewave", Language::Other),
    ("elixir", Language::Other),
    ("automator", Language::AppleScript),
    ("applescript", Language::AppleScript),
    ("osascript", Language::AppleScript),
    ("mongosh", Language::Mongo),
];

const CODE_KEYS: &[&str] =
    &["code", "script", "script_content", "scriptcontent", "expression", "snippet", "source"];

pub(super) fn analyse(analysis: &mut Analysis<'_>, call: &Call<'_>) {
    let Value::Object(members) = call.value else { return };
    let words: Vec<&str> = call.server.iter().chain(&call.words).map(String::as_str).collect();
    let is_database = has(&words, DATABASES);
    let types = has(&words, TYPES);
    let language =
        CODE.iter().find(|(word, _)| words.contains(word)).map(|(_, language)| *language);
    for (key, value) in members.iter().take(32) {
        let Some(text) = value.as_str().filter(|text| text.len() < 1 << 16) else { continue };
        let lower = key.to_ascii_lowercase();
        let is_asked = has(&words, &["search", "explain", "docs", "suggest", "ask", "validate"]);
        let is_query = matches!(lower.as_str(), "sql" | "query" | "statement");
        if is_database && !is_asked && !is_query && is_sql_statement(text) {
            known::query(analysis, call, key, text);
        } else if types && let Some(statement) = typed_statement(text) {
            known::query(analysis, call, key, statement);
        }
        if let Some(language) = language.filter(|_| CODE_KEYS.contains(&lower.as_str())) {
            analysis.argument(key, text);
            let folder = working_folder(analysis.ground);
            Shell::new(analysis, folder).code(language, &whole(text));
        }
    }
    let texts = || members.iter().filter_map(|(_, value)| value.as_str());
    if let Some(mark) = destroys(&words, texts) {
        push_mark(analysis, call, mark);
    }
}

/// What is typed from the first line on that is a statement: an answer may come before it.
fn typed_statement(text: &str) -> Option<&str> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_sql_statement(line) {
            return text.get(at..);
        }
        // What follows goes into a file.
        if line.contains("<<") {
            return None;
        }
        at += line.len();
    }
    None
}

/// What the words of the name and the text of an argument say together.
fn destroys<'t, T: Iterator<Item = &'t str>>(
    words: &[&str],
    texts: impl Fn() -> T,
) -> Option<Mark> {
    let contains = |parts: &[&str]| {
        texts().filter(|text| text.len() < 1 << 16).any(|text| {
            let lower = text.to_ascii_lowercase();
            parts.iter().all(|part| lower.contains(part))
        })
    };
    let is_redis = has(words, &["redis", "valkey", "keydb", "dragonfly"]);
    if is_redis && (contains(&["flushall"]) || contains(&["flushdb"])) {
        return Some(Mark::Database);
    }
    // `MATCH (n) CALL (n) { DETACH DELETE n }`
    let is_graph = has(words, &["neo4j", "cypher", "memgraph"]);
    if is_graph && contains(&["match (n)", "delete n"]) && !contains(&[" where "]) {
        return Some(Mark::Database);
    }
    // A container of this database is a table.
    if has(words, &["cosmosdb", "cosmos"])
        && has(words, &["delete"])
        && has(words, &["container", "database"])
    {
        return Some(Mark::Database);
    }
    // The disk of the machine is empty afterwards.
    let is_machine =
        has(words, &["server", "instance", "vm", "droplet", "linode", "machine", "node"]);
    if is_machine && has(words, &["rebuild", "reimage", "reinstall"]) {
        return Some(Mark::Infrastructure);
    }
    None
}

fn push_mark(analysis: &mut Analysis<'_>, call: &Call<'_>, mark: Mark) {
    let mut marks = Marks::NONE;
    marks.insert(mark);
    let run = Run {
        program: Word::known(call.name.as_str()),
        words: [call.name.as_str()]
            .into_iter()
            .chain(known::scratch_database(call))
            .map(Word::known)
            .collect(),
        sub_command: String::new(),
        flags: Vec::new(),
        marks,
        knowledge: Knowledge::Unmodelled,
    };
    analysis.push(Action::Runs(run), 0..0, None);
}
