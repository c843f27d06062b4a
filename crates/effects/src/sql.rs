//! Files, programs and hosts that SQL text reaches: `COPY … FROM PROGRAM`, `readfile('x')`, `\! cmd`.
//!
//! Which statements run is found by the policy; this is only about what leaves the database.

use crate::bound::Bound;
use crate::effect::{Access, Change, Why};
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Longer text is not searched.
const MAX_TEXT: usize = 1 << 16;

#[derive(Debug, PartialEq)]
enum SqlToken {
    /// In lower case.
    Word(String),
    Literal(String),
    Sign(char),
}

/// Adds what SQL text does outside of the database.
pub(crate) fn reach(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    if text.len() > MAX_TEXT || !shell.enter(text.len()) {
        return;
    }
    for line in text.lines() {
        client_command(shell, line.trim_start(), field);
        // `select … \g |sh`
        for (at, _) in line.match_indices(" \\").take(16) {
            client_command(shell, line.get(at + 1..).unwrap_or_default(), field);
        }
    }
    let tokens = tokens(text);
    for (at, token) in tokens.iter().enumerate() {
        if let SqlToken::Word(word) = token {
            statement(shell, word, tokens.get(at + 1..).unwrap_or_default(), field);
        }
    }
    shell.depth -= 1;
}

/// Words that end what was put together before.
const STARTS: [&str; 8] =
    ["execute", "immediate", "loop", "begin", "then", "select", "perform", "prepare"];

/// Statements that a query prints, for another program to run: `SELECT 'DROP TABLE ' || name …`.
pub(crate) fn printed_statements(text: &str) -> Option<String> {
    let lower = text.get(..MAX_TEXT).unwrap_or(text).to_ascii_lowercase();
    let is_query = lower.trim_start().starts_with("select") || lower.contains("select ");
    let built = if is_query { literals(text) } else { Vec::new() };
    (!built.is_empty()).then(|| built.join(";\n"))
}

/// Statements that the text puts together before it runs them: `EXECUTE 'DR' || 'OP TABLE t'`.
pub(crate) fn built_statements(text: &str) -> Vec<String> {
    let runs = [
        "execute",
        "exec(",
        "exec (",
        "prepare",
        "immediate",
        "sp_executesql",
        "dblink",
        "sp_msforeach",
    ];
    let lower = text.to_ascii_lowercase();
    if text.len() > MAX_TEXT || !runs.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    literals(text)
}

/// Literals that begin like a statement that changes something.
fn literals(text: &str) -> Vec<String> {
    if text.len() > MAX_TEXT {
        return Vec::new();
    }
    let mut built = Vec::new();
    let mut current = String::new();
    for token in tokens(text) {
        match token {
            SqlToken::Literal(part) => current.push_str(&part),
            SqlToken::Sign('|' | '+' | ',' | '(' | ')') => {}
            SqlToken::Word(word) if matches!(word.as_str(), "concat" | "format" | "n" | "e") => {}
            SqlToken::Word(word) if STARTS.contains(&word.as_str()) => {
                built.extend(Some(std::mem::take(&mut current)).filter(|it| !it.is_empty()));
            }
            // What is between two literals is a value.
            SqlToken::Word(_) if !current.is_empty() => current.push_str(" x "),
            _ => built.extend(Some(std::mem::take(&mut current)).filter(|it| !it.is_empty())),
        }
    }
    built.extend(Some(current).filter(|it| !it.is_empty()));
    built.retain(|statement| {
        let start = statement.trim_start().to_ascii_lowercase();
        ["drop ", "delete ", "truncate ", "update ", "alter ", "grant "]
            .iter()
            .any(|verb| start.starts_with(verb))
    });
    built
}

fn statement(shell: &mut Shell<'_, '_>, word: &str, rest: &[SqlToken], field: &Field) {
    let named = |text: &str| Field::new(crate::shell::glob_word(text), field.span.clone());
    let argument = match rest {
        [SqlToken::Sign('('), SqlToken::Literal(text), ..] => Some(text.as_str()),
        _ => None,
    };
    match (word, argument, rest) {
        (
            "pg_read_file"
            | "pg_read_binary_file"
            | "load_file"
            | "lo_import"
            | "readfile"
            | "read_csv"
            | "read_csv_auto"
            | "read_parquet"
            | "read_json"
            | "read_json_auto"
            | "read_text"
            | "read_blob"
            | "read_ndjson"
            | "read_json_objects"
            | "read_xlsx"
            | "st_read"
            | "sqlite_scan"
            | "sqlite_attach"
            | "sqlite_query"
            | "iceberg_scan"
            | "delta_scan"
            | "parquet_scan"
            | "parquet_metadata"
            | "sniff_csv"
            | "bfilename"
            | "utl_file",
            Some(path),
            _,
        ) => shell.read_file(&named(path), Access::Content),
        ("pg_ls_dir" | "pg_stat_file" | "glob", Some(path), _) => {
            shell.read_file(&named(path), Access::Names);
        }
        ("writefile", Some(path), _) => shell.write_file(&named(path), Change::Content),
        ("load_extension" | "lo_export" | "sys_exec" | "sys_eval" | "dblink", _, _)
            if rest.first() == Some(&SqlToken::Sign('(')) =>
        {
            shell.opaque(Why::Language, Bound::ALL, field.span.clone());
        }
        ("outfile" | "dumpfile", _, [SqlToken::Literal(path), ..]) => {
            shell.write_file(&named(path), Change::Content);
        }
        ("infile", _, [SqlToken::Literal(path), ..]) => {
            shell.read_file(&named(path), Access::Content);
        }
        ("xp_cmdshell", _, [SqlToken::Literal(text), ..]) => drop(shell.word_text(&named(text))),
        (
            "attach",
            _,
            [SqlToken::Literal(path), ..] | [SqlToken::Word(_), SqlToken::Literal(path), ..],
        ) => {
            shell.read_file(&named(path), Access::Content);
            shell.write_file(&named(path), Change::Content);
            // A database that is called like a program or a page is one.
            if !is_database(path) {
                shell.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
        }
        ("export" | "unload" | "backup", _, _) => {
            for token in rest.iter().take(64) {
                match token {
                    SqlToken::Literal(target) if target.contains("://") => {
                        shell.copies_to(&named(target));
                    }
                    SqlToken::Literal(target) if target.starts_with("\\\\") => {
                        let host = target.trim_start_matches('\\').split('\\').next();
                        let share = format!("smb://{}", host.unwrap_or_default());
                        shell.copies_to(&named(&share));
                    }
                    SqlToken::Sign(';') => break,
                    _ => {}
                }
            }
        }
        // `SELECT * FROM '/x.csv'` and `file('/x')` read a file.
        ("from" | "join", _, [SqlToken::Literal(path), ..])
            if path.contains('/') && !path.contains("://") =>
        {
            shell.read_file(&named(path), Access::Content);
        }
        ("file", Some(path), _) => shell.read_file(&named(path), Access::Content),
        // `url('https://…?' || (SELECT …))` carries rows away.
        ("url" | "s3", Some(target), [_, _, SqlToken::Sign('|'), ..]) if target.contains("://") => {
            shell.copies_to(&named(target));
        }
        // `INSERT INTO FUNCTION url('https://…')`, `CREATE STAGE x URL='s3://…'`
        (
            "function",
            _,
            [SqlToken::Word(_), SqlToken::Sign('('), SqlToken::Literal(target), ..],
        )
        | ("url", _, [SqlToken::Sign('='), SqlToken::Literal(target), ..])
            if target.contains("://") =>
        {
            shell.copies_to(&named(target));
        }
        (
            "vacuum",
            _,
            [SqlToken::Word(_), SqlToken::Literal(path), ..]
            | [SqlToken::Word(_), SqlToken::Word(_), SqlToken::Literal(path), ..],
        ) => shell.write_file(&named(path), Change::Content),
        // `edit(VALUE, EDITOR)` of sqlite3 runs the editor.
        ("edit", _, [SqlToken::Sign('('), rest @ ..]) => {
            let editor = rest.iter().take_while(|token| **token != SqlToken::Sign(')'));
            if let Some(SqlToken::Literal(command)) = editor.last() {
                drop(shell.word_text(&named(command)));
            }
        }
        ("copy", _, _) => copy(shell, rest, field),
        _ => {}
    }
}

/// Names that databases have; `:memory:` and the empty name are not on disk.
fn is_database(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    path.contains(":memory:")
        || path.starts_with("file:")
        || ending.is_none_or(|ending| ending.contains("db") || ending.contains("sqlite"))
}

/// `COPY t FROM 'file'`, `COPY t TO PROGRAM 'cmd'`
fn copy(shell: &mut Shell<'_, '_>, rest: &[SqlToken], field: &Field) {
    let named = |text: &str| Field::new(Word::known(text), field.span.clone());
    let statement =
        rest.iter().position(|token| *token == SqlToken::Sign(';')).unwrap_or(rest.len());
    let statement = rest.get(..statement).unwrap_or(rest);
    for window in statement.windows(3) {
        if let [SqlToken::Word(_), SqlToken::Word(program), SqlToken::Literal(text)] = window
            && program == "program"
        {
            shell.word_text(&named(text));
        }
    }
    for window in statement.windows(2) {
        match window {
            [SqlToken::Word(word), SqlToken::Literal(path)] if word == "from" => {
                shell.read_file(&named(path), Access::Content);
            }
            [SqlToken::Word(word), SqlToken::Literal(path)] if word == "to" => {
                shell.copies_to(&named(path));
            }
            [SqlToken::Word(word), SqlToken::Literal(path)]
                if word == "into" && path.contains("://") =>
            {
                shell.copies_to(&named(path));
            }
            _ => {}
        }
    }
}

/// The command of `|command`, which may be in quotes.
fn piped_command(rest: &str) -> Option<&str> {
    let quote = rest.chars().next().filter(|sign| matches!(sign, '\'' | '"'));
    match quote {
        Some(quote) => rest.get(1..)?.split(quote).next()?.trim_start().strip_prefix('|'),
        None => rest.strip_prefix('|'),
    }
}

/// Commands of psql, mysql and sqlite3 themselves.
fn client_command(shell: &mut Shell<'_, '_>, line: &str, field: &Field) {
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim().trim_end_matches(';');
    let named = |text: &str| {
        let text = text.trim().trim_matches(['\'', '"']);
        Field::new(Word::known(text), field.span.clone())
    };
    let piped = piped_command(rest);
    if line.starts_with('\\') {
        // psql replaces backquotes by what the command prints.
        for command in line.split('`').skip(1).step_by(2).take(16) {
            drop(shell.word_text(&named(command)));
        }
    }
    if let Some(text) = line.strip_prefix("\\!") {
        return drop(shell.word_text(&named(text)));
    }
    match verb {
        ".shell" | ".system" | "system" => drop(shell.word_text(&named(rest))),
        ".read" | ".output" | ".once" | ".import" | "\\o" | "\\g" | "\\gx" | "\\out" | "\\w"
            if piped.is_some() =>
        {
            let command = piped.unwrap_or_default();
            drop(shell.word_text(&named(command)));
            // What a query prints is code for a shell.
            let name = command.trim().rsplit('/').next().unwrap_or_default();
            if crate::shell::simple::is_shell(name) {
                shell.hidden_code(field);
            }
        }
        "put" | "PUT" if rest.starts_with("file://") => {
            let file = rest.split_whitespace().next().unwrap_or_default();
            shell.read_file(&named(file), Access::Content);
        }
        // The database is replaced by a copy.
        ".restore" => shell.mark_parent(crate::marks::Mark::Database),
        ".archive" | ".ar" => {
            for path in rest.split_whitespace().filter(|word| !word.starts_with('-')).take(16) {
                shell.read_file(&named(path), Access::Content);
            }
        }
        ".read" | ".import" | "\\i" | "\\ir" | "\\include" | "source" | "\\." => {
            let first = rest.split_whitespace().next().unwrap_or_default();
            shell.read_file(&named(first), Access::Content);
            shell.sql_file(&named(first));
        }
        ".output" | ".once" | ".backup" | ".save" | ".clone" | ".log" | ".trace" | "\\o"
        | "\\out" | "\\w"
            if !rest.is_empty() =>
        {
            let last = rest.split_whitespace().next_back().unwrap_or_default();
            shell.write_file(&named(last), Change::Content);
        }
        "\\copy" => {
            let words: Vec<&str> = rest.split_whitespace().collect();
            if words.iter().any(|word| word.eq_ignore_ascii_case("program")) {
                let command = rest.split('\'').nth(1).unwrap_or_default();
                drop(shell.word_text(&named(command)));
            }
            for pair in words.windows(2) {
                match pair {
                    [from, path] if from.eq_ignore_ascii_case("from") => {
                        shell.read_file(&named(path), Access::Content);
                    }
                    [to, path] if to.eq_ignore_ascii_case("to") => {
                        shell.write_file(&named(path), Change::Content);
                    }
                    _ => {}
                }
            }
        }
        ".load" | "\\gexec" => shell.opaque(Why::Language, Bound::ALL, field.span.clone()),
        _ => {}
    }
}

fn tokens(text: &str) -> Vec<SqlToken> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => {
                let (literal, length) = quoted(rest);
                tokens.push(SqlToken::Literal(literal));
                length
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            letter if letter.is_alphabetic() || letter == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                let length = end.unwrap_or(rest.len());
                tokens.push(SqlToken::Word(rest.get(..length).unwrap_or_default().to_lowercase()));
                length
            }
            blank if blank.is_whitespace() => blank.len_utf8(),
            sign => {
                tokens.push(SqlToken::Sign(sign));
                sign.len_utf8()
            }
        };
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    tokens
}

/// A literal and its length with the quotes. A doubled quote is a quote.
fn quoted(text: &str) -> (String, usize) {
    let mut literal = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character != '\'' {
            literal.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == '\'') {
            literal.push('\'');
            characters.next();
        } else {
            return (literal, at + 1);
        }
    }
    (literal, text.len())
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    fn effects(text: &str) -> Vec<String> {
        let effects = command(text, &Ground::default());
        effects.all().iter().map(|effect| effect.action.to_string()).collect()
    }

    #[test]
    fn sql_reaches_files_programs_and_hosts() {
        for (text, expected) in [
            ("psql -c \"copy t from '/x/a'\"", "reads /x/a"),
            ("psql -c \"COPY t TO '/x/a'\"", "writes /x/a"),
            ("psql -c \"COPY t FROM PROGRAM 'cat a'\"", "reads a"),
            ("psql <<< \"select pg_read_file('/x/a')\"", "reads /x/a"),
            ("mysql -e \"select load_file('/x/a')\"", "reads /x/a"),
            ("mysql -e \"select 1 into outfile '/x/a'\"", "writes /x/a"),
            ("sqlite3 a.db \"select readfile('/x/a')\"", "reads /x/a"),
            ("sqlite3 a.db \".system cat b\"", "runs cat b"),
            ("psql -c '\\! cat b'", "runs cat b"),
            ("sqlite3 :memory: \".read '|cat b'\"", "runs cat b"),
            ("sqlite3 a.db \".import '|cat b' t\"", "runs cat b"),
            ("sqlite3 a.db \".once |sh\" \"select 'x'\"", "opaque code"),
            ("sqlite3 a.db \".log /x/a\" 'select 1'", "writes /x/a"),
            ("sqlite3 a.db \"vacuum into '/x/a'\"", "writes /x/a"),
            ("sqlite3 a.db \"attach '/x/a' as c\"", "writes /x/a"),
            ("sqlite3 a.db \"select edit('x','cat b')\"", "runs cat b"),
            ("sqlite3 a.db '.archive --create /x/a'", "reads /x/a"),
            ("psql -c '\\set x `cat b`'", "runs cat b"),
            ("psql -c '\\o |sh' -c 'select 1'", "opaque code"),
            ("psql <<< 'select 1 \\g |sh'", "opaque code"),
            ("psql -c \"\\copy t from program 'cat b'\"", "runs cat b"),
            ("duckdb a.db \"COPY t TO 'https://h.example/x'\"", "sends h.example:443"),
        ] {
            let found = effects(text);
            assert!(found.iter().any(|line| line == expected), "{text}: {found:?}");
        }
    }

    #[test]
    fn statements_that_are_put_together_are_found() {
        for text in [
            "DO $$ BEGIN EXECUTE 'DR' || 'OP SCHEMA public CASCADE'; END $$",
            "SET @s = CONCAT('DR','OP TABLE users'); PREPARE p FROM @s; EXECUTE p",
            "EXEC('DR'+'OP TABLE users')",
            "LOOP EXECUTE format('DROP TABLE %I CASCADE', r.tablename); END LOOP",
        ] {
            let built = super::built_statements(text);
            assert!(
                built.iter().any(|statement| statement.starts_with("DROP ")),
                "{text}: {built:?}"
            );
        }
        assert!(super::built_statements("SELECT 'drop table a'").is_empty());
    }

    #[test]
    fn words_in_literals_and_comments_reach_nothing() {
        for text in [
            "psql -c \"select * from t where note = 'copy t from ''/x/a'''\"",
            "psql -c \"select 1 -- load_file('/x/a')\"",
        ] {
            let found = effects(text);
            assert!(!found.iter().any(|line| line.starts_with("reads")), "{text}: {found:?}");
        }
    }
}
