//! Statements that a program gets as an argument, whatever the program is: `turso db shell prod 'DROP …'`.

use crate::marks::Mark;
use crate::shell::apply::Context;
use crate::shell::eval::{Input, Shell};
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::shell::output::Output;

/// Verbs that begin a statement which changes something.
const VERBS: &[&str] = &[
    "drop ",
    "truncate ",
    "delete from ",
    "alter ",
    "update ",
    "insert ",
    "create or replace ",
    "merge ",
    "grant ",
    "revoke ",
    "replace into ",
    "begin;",
    "exec ",
    "call ",
    "with ",
];

/// Parts of a command line that say that a database is meant.
const SIGNS: &[&str] = &[
    "sql",
    "query",
    "ddl",
    "database",
    "dbal",
    "cql",
    "rds",
    "redshift",
    "athena",
    "spanner",
    "d1",
    "db",
    "typeorm",
    "sequelize",
    "knex",
    "prisma",
    "drizzle",
    "datasource",
    "hive",
    "impala",
    "presto",
    "trino",
    "spark",
    "statement",
    "execute-sql",
    "postgres",
];

/// Ports of databases that delete by a plain request: Elasticsearch, CouchDB, Qdrant, Solr, Weaviate,
/// RabbitMQ, Meilisearch, Typesense, Docker.
const PORTS: &[u16] = &[9200, 5984, 6333, 8983, 15672, 7700, 8108, 2375, 8529, 8086, 8200, 8500];

impl Shell<'_, '_> {
    /// Arguments, and values of flags, that are statements. Text for a program that says nothing of
    /// databases is only text.
    pub(crate) fn sql_arguments(&mut self, words: &[Field]) {
        let Some(at) = words.iter().take(64).position(is_statement) else { return };
        let is_sign = |field: &Field| {
            let text = field.word.known_start();
            let end = text.find([' ', '=']).map_or(text.len(), |at| at + 1);
            let head = text.get(..end.min(64)).unwrap_or(text).to_ascii_lowercase();
            head.split(|letter: char| !letter.is_ascii_alphanumeric())
                .any(|part| !part.is_empty() && SIGNS.iter().any(|sign| part.contains(sign)))
        };
        if !words.iter().take(at + 1).any(is_sign) {
            return;
        }
        for field in words.iter().skip(at).take(16).filter(|field| is_statement(field)) {
            let at = statement_start(field.word.known_start());
            self.sql(&field.from(at));
        }
    }

    /// `echo 'DROP …' | prisma db execute --stdin`
    pub(crate) fn sql_on_input(&mut self, fields: &[Field], input: &Input) {
        let Some(Output::Text(word)) = input.as_deref() else { return };
        let span = fields.first().map_or(0..0, |field| field.span.clone());
        let text = Field::new(word.clone(), span);
        let says = |field: &Field| {
            let text = field.word.known_start();
            text.len() <= 32 && SIGNS.iter().any(|sign| text.contains(sign))
        };
        if is_statement(&text) && fields.iter().take(8).any(says) {
            self.sql(&text);
        }
    }

    /// A request to a database that takes SQL, or that deletes whole collections.
    pub(crate) fn database_request(&mut self, line: &Line<'_>, context: &Context) {
        let bodies = line.flags.iter().filter(|given| {
            matches!(given.spelling.as_str(), "-d" | "--json" | "--post-data" | "--body-data")
                || given.spelling.starts_with("--data")
        });
        let bodies: Vec<Field> = bodies.flat_map(|given| given.values.iter().cloned()).collect();
        for body in bodies.iter().take(8).filter(|body| is_statement(body)) {
            self.sql(body);
        }
        let deletes = line.words.iter().take(16).any(|field| {
            matches!(
                field.text(),
                Some("DELETE" | "-XDELETE" | "--method=DELETE" | "--request=DELETE")
            )
        });
        if deletes && line.words.iter().take(16).any(deletes_collection) {
            self.mark(context.run, Mark::Database);
        }
    }
}

/// `http://localhost:9200/users`: all of a collection, not one document of it.
fn deletes_collection(field: &Field) -> bool {
    let text = field.word.known_start();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_scratch = |part: &&str| {
        part.split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|word| matches!(word, "test" | "tests" | "tmp" | "temp" | "scratch" | "testing"))
    };
    let is_whole = matches!(
        parts.as_slice(),
        [_] | ["collections" | "indexes" | "volumes" | "v1" | "_db" | "api", _]
            | ["api" | "v1", "queues" | "schema" | "volumes", ..]
    );
    port.is_some_and(|port| PORTS.contains(&port)) && is_whole && !parts.iter().any(is_scratch)
}

/// Where a statement begins in an argument: `--sql=DROP …`, `DROP …`.
fn statement_start(text: &str) -> usize {
    match text.find('=') {
        Some(equals)
            if text.starts_with('-') && !text.get(..equals).unwrap_or("").contains(' ') =>
        {
            equals + 1
        }
        _ => 0,
    }
}

fn is_statement(field: &Field) -> bool {
    let text = field.word.known_part();
    if text.len() < SHORTEST || !text.contains(' ') {
        return false;
    }
    let start = field.word.known_start();
    is_sql_statement(start.get(statement_start(start)..).unwrap_or_default())
}

/// The length of `DROP TABLE`: words are looked at in every command, and most are shorter.
const SHORTEST: usize = 10;

/// Whether a text begins like a statement that changes something.
pub(crate) fn is_sql_statement(text: &str) -> bool {
    let start = text.trim_start();
    VERBS
        .iter()
        .any(|verb| start.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    fn has(text: &str, line: &str) -> bool {
        let effects = command(text, &Ground::default());
        effects.all().iter().any(|effect| effect.action.to_string().trim_end() == line)
    }

    #[test]
    fn statements_are_found_in_the_arguments_of_any_client() {
        for text in [
            "turso db shell prod 'DROP TABLE users'",
            "heroku pg:psql -a shop -c 'DROP TABLE users'",
            "aws rds-data execute-statement --database shop --sql 'DROP TABLE users'",
            "gcloud spanner databases execute-sql db --sql='DROP TABLE users'",
            "npx typeorm query 'DROP TABLE users'",
            "php bin/console dbal:run-sql 'DROP TABLE users'",
            "./mvnw sql:execute -DsqlCommand='DROP TABLE users'",
            "echo 'DROP TABLE users' | npx prisma db execute --stdin",
            "curl -XPOST http://localhost:8123/ --data-binary 'DROP TABLE users'",
        ] {
            assert!(has(text, "sql DROP TABLE users"), "{text}");
        }
        for text in ["mytool note 'DROP TABLE users'", "gcloud run jobs list --filter='drop x'"] {
            assert!(!has(text, "sql DROP TABLE users"), "{text}");
        }
    }
}
