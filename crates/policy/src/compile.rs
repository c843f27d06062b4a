//! From a policy as written to one that can judge, or every problem at once.

use std::collections::HashMap;
use std::sync::Arc;

use callgate_call::{Surface, fold};
use callgate_effects::{Catalogue, Kind};
use globset::GlobBuilder;
use regex::RegexBuilder;

use crate::actors::Actors;
use crate::condition::{Condition, Test};
use crate::diagnostic::{Problems, did_you_mean};
use crate::limit::{LimitBy, Rate};
use crate::names::{Compare, Names, Tools};
use crate::node::{Node, Yaml};
use crate::number::Number;
use crate::operator::{Base, Comparison, Literal, LiteralValue, Operator, OperatorName};
use crate::path::{CONTEXT, Path};
use crate::pattern::Wildcard;
use crate::policy::{Policy, PolicyHeader};
use crate::rule::{Limit, Rule, RuleRole};
use crate::secret::SecretTest;
use crate::source::read::{At, boolean, number, text, wrong};
use crate::source::{ConditionSource, LimitSource, Mode, PolicySource, RuleSource};
use crate::{Verdict, sanitize, terms};

/// All rules have this priority unless they say otherwise.
pub(crate) const DEFAULT_PRIORITY: i64 = 100;

/// The surfaces of a rule that names none.
const DEFAULT_SURFACES: [Surface; 3] = [Surface::Response, Surface::Mcp, Surface::Hook];

/// A regular expression that compiles to more than this is refused: 1 MiB holds hundreds of
/// alternatives, and ten thousand such rules must still fit into memory.
const REGEX_SIZE: usize = 1 << 20;

/// Compiles one policy. Rules with a problem are left out; the caller rejects the file anyway.
pub(crate) fn policy(
    source: PolicySource,
    catalogue: &Catalogue,
    problems: &mut Problems<'_>,
) -> Policy {
    let name = source.name.map(|at| at.value).unwrap_or_default();
    let mut kinds = Kinds { catalogue, made: HashMap::new() };
    let mut rules = Vec::new();
    for rule in source.rules {
        let compiled = compile_rule(rule, &name, &mut kinds, problems);
        rules.extend(compiled.into_iter().flat_map(sanitize::split));
    }
    let shadow = source.mode == Some(Mode::Shadow);
    let mut defaults = Surface::ALL.map(|surface| {
        let own = DEFAULT_SURFACES.contains(&surface);
        let default = if own { source.default } else { None };
        (surface, default.unwrap_or(Verdict::Allow))
    });
    for (surface, default) in &mut defaults {
        if let Some((_, verdict)) = source.defaults.iter().find(|(named, _)| named == surface) {
            *default = *verdict;
        }
    }
    let audience = Actors::new(source.agents, source.who);
    Policy::new(PolicyHeader { name, audience, shadow, defaults, sketch: source.sketch }, rules)
}

/// Reports ids that stand twice. Rules about calls and rules about text share them.
pub(crate) fn unique_ids(source: &PolicySource, problems: &mut Problems<'_>) {
    let ids = source.rules.iter().filter_map(|rule| rule.id.as_ref());
    let of_text = source.text.iter().filter_map(|rule| rule.id.as_ref());
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for id in ids.chain(of_text) {
        if let Some(line) = seen.insert(&id.value, id.span.line) {
            problems
                .add(id.span, format!("a second rule `{}`", id.value))
                .label(format!("the first is on line {line}"))
                .hint("ids are told to people and must be unique in the file");
        }
    }
}

fn compile_rule(
    mut source: RuleSource,
    policy: &str,
    kinds: &mut Kinds<'_>,
    problems: &mut Problems<'_>,
) -> Option<Rule> {
    let before = problems.len();
    let compare = match source.verdict {
        Some(Verdict::Allow) => Compare::Exactly,
        _ => Compare::Spellings,
    };
    let tools = source.tools.as_deref();
    let tools = tools.map(|patterns| compile_tools(patterns, compare, kinds, problems));
    let cleaner = sanitize::compile(&source, problems);
    let terms = terms::compile(&source, problems);
    let when = match source.when.take() {
        Some(when) => compile_condition(when, problems).map(Some),
        None => Some(None),
    };
    let surfaces = surfaces(&source, when.as_ref().and_then(Option::as_ref), problems);
    if problems.len() > before {
        return None;
    }
    let (id, verdict) = (source.id?.value, source.verdict?);
    let folded = |patterns: Vec<At<String>>| -> Vec<Wildcard> {
        patterns.iter().map(|at| Wildcard::new(&fold(at.value.trim()))).collect()
    };
    let names = Names { tools, servers: source.servers.map(folded), ..Names::default() };
    let role = match (source.mode, verdict) {
        (Some(Mode::Shadow), _) => RuleRole::Shadow,
        (_, Verdict::Audit) => RuleRole::Audit,
        (_, Verdict::Sanitize) => RuleRole::Sanitize,
        _ => RuleRole::Decide,
    };
    Some(Rule {
        policy: policy.to_owned(),
        surfaces,
        names: match compare {
            Compare::Exactly => names,
            Compare::Spellings => names.with_spellings(),
        },
        tools: source.tools.into_iter().flatten().map(|at| at.value).collect(),
        actors: Actors::new(source.agents, source.who),
        when: when?,
        limit: source.limit.map(compile_limit),
        verdict,
        priority: source.priority.unwrap_or(DEFAULT_PRIORITY),
        role,
        cleaner: cleaner.map(Arc::new),
        terms: terms.map(Arc::new),
        reason: source.reason.unwrap_or_else(|| format!("rule `{id}` says {verdict}")),
        hint: source.hint,
        blocks: source.blocks,
        id,
    })
}

/// Where a rule applies. Only MCP servers' texts are inspected: a condition on findings would be
/// unknown elsewhere, and so count against every call.
fn surfaces(
    source: &RuleSource,
    when: Option<&Condition>,
    problems: &mut Problems<'_>,
) -> Vec<Surface> {
    let asks_findings = when.is_some_and(Condition::asks_findings);
    match &source.surfaces {
        None if asks_findings => vec![Surface::Mcp],
        None => DEFAULT_SURFACES.to_vec(),
        Some(named) => {
            let other = named.iter().find(|surface| **surface != Surface::Mcp);
            if let (true, Some(other)) = (asks_findings, other) {
                problems
                    .add(source.span, format!("a rule on `{other}` cannot ask for findings"))
                    .hint("only what MCP servers say is inspected: write `surface: mcp`, or leave it out");
            }
            named.clone()
        }
    }
}

/// The tools of each kind, made once for all rules.
struct Kinds<'c> {
    catalogue: &'c Catalogue,
    made: HashMap<(Kind, Compare), Arc<Tools>>,
}

impl Kinds<'_> {
    fn get(&mut self, kind: Kind, compare: Compare) -> Arc<Tools> {
        let made = self.made.entry((kind, compare));
        let make = || Arc::new(Tools::of_kind(kind, self.catalogue, compare));
        Arc::clone(made.or_insert_with(make))
    }
}

fn compile_tools(
    patterns: &[At<String>],
    compare: Compare,
    kinds: &mut Kinds<'_>,
    problems: &mut Problems<'_>,
) -> Tools {
    let mut tools = Tools::default();
    for pattern in patterns {
        let Some(word) = pattern.value.strip_prefix('@') else {
            match compare {
                Compare::Exactly => tools.add(&pattern.value),
                Compare::Spellings => tools.add_spellings(&pattern.value),
            }
            continue;
        };
        match Kind::from_word(word) {
            Some(kind) => tools.kinds.push((kind, kinds.get(kind, compare))),
            None => {
                let words = Kind::ALL.map(|kind| kind.to_string());
                let hint = did_you_mean(&pattern.value, words.iter().map(String::as_str))
                    .unwrap_or_else(|| format!("one of: {}", words.join(", ")));
                problems.add(pattern.span, format!("unknown kind `{}`", pattern.value)).hint(hint);
            }
        }
    }
    tools
}

fn compile_limit(source: LimitSource) -> Limit {
    // The reader bounds both numbers.
    let number = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    let calls = number(source.calls);
    let burst = source.burst.map_or(calls, number);
    Limit {
        rate: Rate { calls, seconds: source.seconds, burst },
        by: source.by.unwrap_or_else(|| vec![LimitBy::Session]),
    }
}

fn compile_condition(source: ConditionSource, problems: &mut Problems<'_>) -> Option<Condition> {
    let mut every = |parts: Vec<ConditionSource>| -> Option<Vec<Condition>> {
        // All of them before giving up: each may have its own problem.
        let parts: Vec<_> = parts.into_iter().map(|p| compile_condition(p, problems)).collect();
        parts.into_iter().collect()
    };
    match source {
        ConditionSource::Any(parts) => every(parts).map(Condition::Any),
        ConditionSource::All(parts) => every(parts).map(Condition::All),
        ConditionSource::Not(part) => {
            compile_condition(*part, problems).map(|part| Condition::Not(Box::new(part)))
        }
        ConditionSource::Test { path, operator, value } => {
            let compiled = compile_path(&path, problems);
            let test = compile_operator(operator, &value, problems);
            let (path, written, operand) = (compiled?, path.value, value.to_json());
            Some(Condition::Test(Test { path, written, name: operator, operator: test?, operand }))
        }
        ConditionSource::Secret(names) => {
            SecretTest::compile(&names, problems).map(Condition::Secret)
        }
        ConditionSource::Finding(test) => Some(Condition::Finding(test)),
    }
}

fn compile_path(path: &At<String>, problems: &mut Problems<'_>) -> Option<Path> {
    let parsed = Path::parse(&path.value);
    if let Err(why) = &parsed {
        let field = path.value.strip_prefix("context.");
        let hint = field.map(|field| {
            let known = CONTEXT.iter().map(|(word, _)| *word);
            did_you_mean(field, known.clone())
                .unwrap_or_else(|| format!("known: {}", known.collect::<Vec<_>>().join(", ")))
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
        Base::Gt => compare(Comparison::Gt, problems),
        Base::Gte => compare(Comparison::Gte, problems),
        Base::Lt => compare(Comparison::Lt, problems),
        Base::Lte => compare(Comparison::Lte, problems),
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
                .add(node.span, format!("{what} is nothing"))
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

fn regex(pattern: At<String>, problems: &mut Problems<'_>) -> Option<Operator> {
    match RegexBuilder::new(&pattern.value).size_limit(REGEX_SIZE).build() {
        Ok(regex) => Some(Operator::Matches(regex)),
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
                .hint("look-around and back-references are left out: matching takes linear time");
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
                .hint("`*` stops at `/`, `**` does not; `{a,b}` is either, `[ab]` one of");
            None
        }
    }
}
