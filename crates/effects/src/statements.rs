//! The statements of SQL text: the verb of each, the tables it names, and whether it reaches every
//! row. Read by the parser of `sqlparser`, in whichever dialect accepts the text.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, ObjectName, ObjectNamePart, Statement as Ast, UnaryOperator, Value,
    visit_relations, visit_statements,
};
use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

/// Longer text is not parsed.
const MAX_TEXT: usize = 1 << 16;
/// Nor is a text with more tokens between two semicolons: a tree gets as deep as a statement is long,
/// and it is walked recursively.
const MAX_TOKENS: usize = 1500;
/// How deep expressions in parentheses and queries in queries may be.
const MAX_DEPTH: usize = 25;

/// A statement, or one inside of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its first word in lower case; `select` for every query.
    pub verb: String,
    /// The tables that it names, in lower case: `users`, `billing.invoices`.
    pub tables: Vec<String>,
    /// Which rows it changes.
    pub rows: Rows,
}

/// Which rows a statement changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// None, or those of a condition.
    Some,
    /// All of a table: `DELETE FROM users`, `UPDATE users SET x = 1 WHERE true`.
    All,
}

/// The statements of a text. `None` if no dialect accepts it.
pub fn statements(text: &str) -> Option<Vec<Statement>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let dialects: [&dyn Dialect; 5] = [
        &PostgreSqlDialect {},
        &MySqlDialect {},
        &SQLiteDialect {},
        &MsSqlDialect {},
        &GenericDialect {},
    ];
    dialects.into_iter().find_map(|dialect| read(text, dialect))
}

fn read(text: &str, dialect: &dyn Dialect) -> Option<Vec<Statement>> {
    let tokens = Tokenizer::new(dialect, text).tokenize_with_location().ok()?;
    let is_short = |part: &[sqlparser::tokenizer::TokenWithSpan]| part.len() <= MAX_TOKENS;
    if !tokens.split(|it| it.token == Token::SemiColon).all(is_short) {
        return None;
    }
    let parser = Parser::new(dialect).with_recursion_limit(MAX_DEPTH);
    let parsed = parser.with_tokens_with_locations(tokens).parse_statements().ok()?;
    let mut found = Vec::new();
    for statement in &parsed {
        // A plan runs nothing.
        if let Ast::Explain { analyze: false, .. } = statement {
            found.push(Statement {
                verb: "explain".to_owned(),
                tables: Vec::new(),
                rows: Rows::Some,
            });
            continue;
        }
        let _ = visit_statements(statement, |inner| {
            found.push(of(inner));
            ControlFlow::<()>::Continue(())
        });
    }
    Some(found)
}

fn of(statement: &Ast) -> Statement {
    let mut tables = Vec::new();
    let _ = visit_relations(statement, |name| {
        tables.push(table(name));
        ControlFlow::<()>::Continue(())
    });
    tables.sort();
    tables.dedup();
    let is_one = tables.len() == 1;
    let rows = |condition: Option<&Expr>| rows(condition, is_one);
    let (verb, named, rows) = match statement {
        Ast::Query(_) => ("select", &[][..], Rows::Some),
        Ast::Insert(_) => ("insert", &[][..], Rows::Some),
        Ast::Update(update) => ("update", &[][..], rows(update.selection.as_ref())),
        Ast::Delete(delete) => {
            let rows = match &delete.limit {
                None if delete.using.is_none() => rows(delete.selection.as_ref()),
                Some(limit) if is_many(limit) => rows(delete.selection.as_ref()),
                _ => Rows::Some,
            };
            ("delete", delete.tables.as_slice(), rows)
        }
        Ast::Truncate(_) => ("truncate", &[][..], Rows::All),
        Ast::Drop { names, .. } => ("drop", names.as_slice(), Rows::All),
        Ast::AlterTable(_) => ("alter", &[][..], Rows::Some),
        Ast::CreateTable(_) => ("create", &[][..], Rows::Some),
        Ast::Merge(_) => ("merge", &[][..], Rows::Some),
        Ast::Copy { .. } => ("copy", &[][..], Rows::Some),
        Ast::Grant(_) => ("grant", &[][..], Rows::Some),
        Ast::Revoke(_) => ("revoke", &[][..], Rows::Some),
        _ => ("", &[][..], Rows::Some),
    };
    tables.extend(named.iter().map(table));
    tables.sort();
    tables.dedup();
    Statement { verb: verb.to_owned(), tables, rows }
}

/// A limit that no table reaches.
fn is_many(limit: &Expr) -> bool {
    const MANY: u64 = 100_000;
    match limit {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse::<u64>().is_ok_and(|rows| rows >= MANY),
            _ => false,
        },
        _ => false,
    }
}

fn table(name: &ObjectName) -> String {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(name) => name.value.to_lowercase(),
        ObjectNamePart::Function(function) => function.name.value.to_lowercase(),
    };
    name.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Which rows a condition leaves; whether the statement names one table only.
fn rows(condition: Option<&Expr>, is_one: bool) -> Rows {
    match condition {
        Some(Expr::InSubquery { expr, subquery, negated: false })
            if is_one && selects_all(subquery, expr) =>
        {
            Rows::All
        }
        Some(condition) if !is_always_true(condition) => Rows::Some,
        _ => Rows::All,
    }
}

/// `true`, `1`, `1 = 1`, `x = x OR …`.
fn is_always_true(condition: &Expr) -> bool {
    match condition {
        Expr::Value(value) => match &value.value {
            Value::Boolean(is_true) => *is_true,
            Value::Number(number, _) => number.chars().any(|digit| matches!(digit, '1'..='9')),
            _ => false,
        },
        Expr::Nested(inner) => is_always_true(inner),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => match expr.as_ref() {
            Expr::Value(value) => value.value == Value::Boolean(false),
            _ => false,
        },
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            is_always_true(left) || is_always_true(right)
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            is_always_true(left) && is_always_true(right)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => left == right,
        _ => false,
    }
}

/// `SELECT id FROM users`: every value of the column.
fn selects_all(query: &sqlparser::ast::Query, column: &Expr) -> bool {
    let sqlparser::ast::SetExpr::Select(select) = query.body.as_ref() else { return false };
    let is_column = matches!(
        select.projection.as_slice(),
        [sqlparser::ast::SelectItem::UnnamedExpr(found)] if found == column
    );
    let is_plain = matches!(select.from.as_slice(), [only] if only.joins.is_empty());
    is_column
        && is_plain
        && select.selection.is_none()
        && select.having.is_none()
        && query.limit_clause.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let found = statements(text).unwrap_or_else(|| panic!("not read: {text}"));
        let all = |it: &Statement| if it.rows == Rows::All { " all" } else { "" };
        found.iter().map(|it| format!("{} {}{}", it.verb, it.tables.join(","), all(it))).collect()
    }

    #[test]
    fn verbs_tables_and_rows() {
        for (text, expected) in [
            ("SELECT * FROM a JOIN public.b ON true", &["select a,public.b"][..]),
            ("delete from Users", &["delete users all"]),
            ("DELETE FROM users WHERE id = 1", &["delete users"]),
            ("DELETE FROM users WHERE (1=1)", &["delete users all"]),
            ("UPDATE users SET a = 1 WHERE true OR id = 2", &["update users all"]),
            ("DELETE FROM a WHERE id IN (SELECT id FROM a)", &["delete a all"]),
            ("DELETE FROM a WHERE id IN (SELECT id FROM a WHERE b)", &["delete a"]),
            ("UPDATE `users` SET a = 1 WHERE id IN (SELECT id FROM old)", &["update old,users"]),
            ("/* x */ DROP TABLE a, \"B\"; -- y\nTRUNCATE c", &["drop a,b all", "truncate c all"]),
            ("INSERT INTO a VALUES ('drop table b')", &["insert a"]),
            ("ALTER TABLE a DROP COLUMN b", &["alter a"]),
            ("EXPLAIN DELETE FROM users", &["explain "]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn statements_inside_of_others_are_found() {
        let found = shown("WITH x AS (DELETE FROM users RETURNING *) SELECT count(*) FROM x");
        assert!(found.contains(&"delete users all".to_owned()), "{found:?}");
    }

    #[test]
    fn what_no_dialect_accepts_is_not_read() {
        for text in ["", "x y z", "DROP TABLE", "SELECT (", "\\! rm"] {
            assert!(statements(text).is_none_or(|found| found.is_empty()), "{text}");
        }
    }

    /// Half of what a thread of the gateway has.
    const STACK: usize = 1 << 20;

    #[test]
    fn no_text_needs_much_of_the_stack() {
        let chain = |start: &str, link: &str| format!("{start}{}", link.repeat(700 / link.len()));
        let nest = |open: &str, close: &str, depth: usize| {
            format!("SELECT {}1{} FROM a", open.repeat(depth), close.repeat(depth))
        };
        let mut texts = vec![
            chain("SELECT 1", " + 1"),
            chain("DELETE FROM a WHERE b", " AND b"),
            chain("SELECT 'a'", " || 'a'"),
            chain("SELECT 1", " UNION SELECT 1"),
            chain("SELECT * FROM a", " JOIN a"),
            chain("SELECT ", "NOT "),
            chain("SELECT ", "- "),
            chain("SELECT a", "[1]"),
            chain("SELECT a", "::int"),
        ];
        for depth in [MAX_DEPTH / 4, MAX_DEPTH / 2, MAX_DEPTH - 1, MAX_DEPTH, 500] {
            texts.push(nest("(", ")", depth));
            texts.push(nest("f(", ")", depth));
            texts.push(nest("(SELECT ", ")", depth));
            texts.push(nest("CASE WHEN true THEN ", " END", depth));
            texts.push(nest("a IN (SELECT ", ")", depth));
            texts.push(nest("EXISTS (WITH x AS (SELECT ", ") SELECT 1)", depth));
        }
        let parse = move || texts.iter().filter(|text| statements(text).is_some()).count();
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(parse).unwrap();
        assert!(thread.join().unwrap() > 10);
    }

    #[test]
    fn long_and_deep_text_is_bounded() {
        let long = format!("SELECT 1{}", " + 1".repeat(20_000));
        assert_eq!(statements(&long), None);
        let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
        assert_eq!(statements(&deep), None);
        let fits = format!("SELECT 1{} FROM a", " + 1".repeat(200));
        assert_eq!(statements(&fits).map(|found| found.len()), Some(1));
        let many = "DELETE FROM a;".repeat(3_000);
        assert_eq!(statements(&many).map(|found| found.len()), Some(3_000));
    }
}
