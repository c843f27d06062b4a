//! From `arg` and an operator to a condition.

use callgate_document::{
    At, Mapping, Node, Problems, Yaml, boolean, did_you_mean, text, word, wrong,
};
use callgate_effects::Role;
use globset::GlobBuilder;

use super::ArgumentCondition;
use crate::condition::KeyDoc;
use crate::lazy_regex::LazyRegex;
use crate::number::Number;
use crate::operator::{
    Base, Literal, LiteralValue, NumberComparison, OPERATORS, Operator, OperatorName,
};
use crate::path::{ArgumentPath, CONTEXT};

pub(super) const KEYS: &[KeyDoc] = &[
    KeyDoc {
        keys: &["arg"],
        meaning: "a path to an argument or a [role](#argument-roles), with exactly one of the \
                  operators below",
    },
    KeyDoc { keys: &["param_path", "operator", "value"], meaning: "the long form of the same" },
    KeyDoc {
        keys: &["equals", "not_equals"],
        meaning: "the same number (1 is 1.0) or the same text (1 is \"1\"); unknown if only a \
                  [lenient parser](#numbers) finds them equal (1 is \"01\")",
    },
    KeyDoc { keys: &["in", "not_in"], meaning: "equal to an element of a list" },
    KeyDoc { keys: &["contains", "not_contains"], meaning: "contains this text; case-sensitive" },
    KeyDoc { keys: &["starts_with", "not_starts_with"], meaning: "starts with this text" },
    KeyDoc {
        keys: &["matches", "not_matches"],
        meaning: "a regular expression matches somewhere in the text; case-sensitive; linear time",
    },
    KeyDoc {
        keys: &["glob", "not_glob"],
        meaning: "a path glob: `*` stops at `/`, `**` does not, `{a,b}`, `[ab]`",
    },
    KeyDoc {
        keys: &["exists"],
        meaning: "`true`: there is a value other than `null`; `false`: there is no such value",
    },
    KeyDoc {
        keys: &["gt", "gte", "lt", "lte"],
        meaning: "greater or less than a number; unknown for anything but a number",
    },
];

/// The parts of the condition as written.
struct ConditionParts<'n> {
    path: At<String>,
    operator: OperatorName,
    operand: &'n Node,
}

pub(super) fn compile(
    fields: &Mapping<'_>,
    problems: &mut Problems<'_>,
) -> Option<ArgumentCondition> {
    let parts = match fields.get("arg") {
        Some(path) => short_form(path, fields, problems),
        None => long_form(fields, problems),
    };
    let ConditionParts { path: written, operator: name, operand } = parts?;
    let path = compile_path(&written, problems);
    let operator = compile_operator(name, operand, problems);
    let (At { value: written, span }, operand) = (written, operand.to_json());
    Some(ArgumentCondition { path: path?, written, span, name, operator: operator?, operand })
}

/// `{ arg: path, equals: x }`
fn short_form<'n>(
    path: &Node,
    fields: &Mapping<'n>,
    problems: &mut Problems<'_>,
) -> Option<ConditionParts<'n>> {
    let path = text(path, "`arg`", problems);
    let operators: Vec<_> = fields
        .entries
        .iter()
        .filter_map(|(key, node)| {
            let (_, operator) = OPERATORS.iter().find(|(word, _)| *word == key.name)?;
            Some((*operator, key, node))
        })
        .collect();
    for (key, _) in fields.entries {
        if ["operator", "value"].contains(&key.name.as_str()) {
            let message = format!("`{}` belongs to the long form with `param_path`", key.name);
            problems.add(key.span, message).hint("write the operator as a key: `equals: …`");
        }
    }
    match operators.as_slice() {
        [(operator, _, operand)] => {
            Some(ConditionParts { path: path?, operator: *operator, operand })
        }
        // The unknown key that is there instead was already reported.
        [] if fields.entries.len() > 1 => None,
        [] => {
            problems.add(fields.start(), "this argument has no operator").hint(
                "add one of: equals, matches, contains, starts_with, in, glob, exists, gt, …",
            );
            None
        }
        [_, (_, second, _), ..] => {
            problems
                .add(second.span, format!("a second operator in one condition: `{}`", second.name))
                .hint("a condition takes one operator: write two conditions, in a list under `all` or `any`");
            None
        }
    }
}

/// `{ param_path: path, operator: equals, value: x }`
fn long_form<'n>(fields: &Mapping<'n>, problems: &mut Problems<'_>) -> Option<ConditionParts<'n>> {
    let path = text(fields.get("param_path")?, "`param_path`", problems);
    for key in ["operator", "value"] {
        if fields.get(key).is_none() {
            problems
                .add(fields.start(), format!("this condition has no `{key}`"))
                .hint("the long form is `{param_path, operator, value}`");
        }
    }
    for (key, _) in fields.entries {
        if OPERATORS.iter().any(|(word, _)| *word == key.name) {
            problems.add(key.span, format!("`{}` cannot be combined with `param_path`", key.name));
        }
    }
    let operator = text(fields.get("operator")?, "`operator`", problems)?;
    let operator = word(&operator, "operator", OPERATORS, &[], problems)?.value;
    Some(ConditionParts { path: path?, operator, operand: fields.get("value")? })
}

pub(in crate::condition) fn compile_path(
    path: &At<String>,
    problems: &mut Problems<'_>,
) -> Option<ArgumentPath> {
    let parsed = ArgumentPath::parse(&path.value);
    if let Err(why) = &parsed {
        let field = path.value.strip_prefix("context.");
        let hint = field.map(|field| {
            let known = CONTEXT.iter().map(|(word, _)| *word);
            did_you_mean(field, known.clone())
                .unwrap_or_else(|| format!("known: {}", known.collect::<Vec<_>>().join(", ")))
        });
        let hint = hint.or_else(|| {
            let roles = Role::ALL.map(|role| role.to_string());
            let near = did_you_mean(&path.value, roles.iter().map(String::as_str));
            let known = || format!("known: {}", roles.join(", "));
            path.value.starts_with('@').then(|| near.unwrap_or_else(known))
        });
        let hint = hint.unwrap_or_else(|| "like `options.path`, `items[*].name` or `$`".into());
        problems
            .add(path.span, format!("cannot read the path `{}`", path.value))
            .label(why.as_str())
            .hint(hint);
    }
    parsed.ok()
}

fn compile_operator(
    name: OperatorName,
    value: &Node,
    problems: &mut Problems<'_>,
) -> Option<Operator> {
    let what = format!("the value of `{}`", name.as_str());
    let compare = |comparison, problems: &mut Problems<'_>| {
        number(value, &what, problems).map(|bound| Operator::Compare(comparison, bound))
    };
    match name.base {
        Base::Equals => literal(value, &what, problems).map(Operator::Equals),
        Base::In => literals(value, &what, problems).map(Operator::In),
        Base::Contains => text(value, &what, problems).map(|at| Operator::Contains(at.value)),
        Base::StartsWith => text(value, &what, problems).map(|at| Operator::StartsWith(at.value)),
        Base::Matches => regex(text(value, &what, problems)?, problems),
        Base::Glob => glob(text(value, &what, problems)?, problems),
        Base::Exists => boolean(value, &what, problems).map(Operator::Exists),
        Base::Gt => compare(NumberComparison::Gt, problems),
        Base::Gte => compare(NumberComparison::Gte, problems),
        Base::Lt => compare(NumberComparison::Lt, problems),
        Base::Lte => compare(NumberComparison::Lte, problems),
    }
}

fn literal(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<Literal> {
    match &node.value {
        Yaml::String(text) => Some(Literal { text: text.clone(), value: LiteralValue::Text }),
        Yaml::Bool(value) => {
            Some(Literal { text: value.to_string(), value: LiteralValue::Bool(*value) })
        }
        Yaml::Number { json, .. } => {
            let value = Number::parse(json).map_or(LiteralValue::Text, LiteralValue::Number);
            Some(Literal { text: json.clone(), value })
        }
        Yaml::Null => {
            problems
                .add(node.span, format!("{what} is null"))
                .hint("to ask whether an argument is missing, write `exists: false`");
            None
        }
        Yaml::List(_) | Yaml::Map(_) => {
            wrong(node, what, "text, a number, true or false", problems);
            None
        }
    }
}

fn literals(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<Vec<Literal>> {
    let Yaml::List(items) = &node.value else {
        wrong(node, what, "a list", problems);
        return None;
    };
    if items.is_empty() {
        problems.add(node.span, format!("{what} is an empty list, which nothing can match"));
        return None;
    }
    let literals: Vec<_> = items.iter().map(|item| literal(item, what, problems)).collect();
    literals.into_iter().collect()
}

/// What to do about a pattern that the engine does not support.
pub(crate) fn regex_hint(why: &str) -> Option<String> {
    let unsupported = why.contains("look-around") || why.contains("backreference");
    unsupported.then(|| {
        "look-around and back-references are not supported, so that matching takes linear time"
            .to_owned()
    })
}

/// Reads a number of any size.
fn number(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<Number> {
    let number = match &node.value {
        Yaml::Number { json, .. } => Number::parse(json),
        _ => None,
    };
    if number.is_none() {
        wrong(node, what, "a number", problems);
    }
    number
}

fn regex(pattern: At<String>, problems: &mut Problems<'_>) -> Option<Operator> {
    if problems.are_of_builtin() {
        return Some(Operator::Matches(LazyRegex::tested(&pattern.value)));
    }
    match LazyRegex::compile(&pattern.value) {
        Ok(pattern) => Some(Operator::Matches(pattern)),
        Err(regex::Error::CompiledTooBig(_)) => {
            problems
                .add(pattern.span, "this regular expression is too large")
                .hint("use fewer or smaller repetitions, `(?-u)` classes, or several rules");
            None
        }
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            problems
                .add(pattern.span, "cannot read this regular expression")
                .label(why)
                .maybe_hint(regex_hint(why));
            None
        }
    }
}

fn glob(pattern: At<String>, problems: &mut Problems<'_>) -> Option<Operator> {
    match GlobBuilder::new(&pattern.value).literal_separator(true).build() {
        Ok(glob) => Some(Operator::Glob(glob.compile_matcher())),
        Err(error) => {
            problems
                .add(pattern.span, "cannot read this glob")
                .label(error.kind().to_string())
                .hint("`*` stops at `/`, `**` does not; `{a,b}` matches either text, `[ab]` either character");
            None
        }
    }
}
