//! Compiles a policy as written into one that can judge, or reports every problem at once.

use std::collections::HashMap;
use std::sync::Arc;

use callgate_call::{Surface, fold};
use callgate_document::{At, Problems, did_you_mean};
use callgate_effects::{Catalogue, Kind};

use crate::actors::Actors;
use crate::condition::{self, Condition};
use crate::limit::{LimitBy, Rate};
use crate::names::{Compare, RuleNames, Tools};
use crate::pattern::Wildcard;
use crate::policy::{Policy, PolicyHeader};
use crate::rule::{Limit, Rule, RuleRole};
use crate::source::{EnforcementMode, LimitSource, PolicySource, RuleSource};
use crate::{Verdict, sanitize, terms};
use callgate_document::Node;

/// The priority of a rule that states none.
pub(crate) const DEFAULT_PRIORITY: i64 = 100;

/// The surfaces of a rule that names none.
const DEFAULT_SURFACES: [Surface; 3] = [Surface::Response, Surface::Mcp, Surface::Hook];

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
    let shadow = source.mode == Some(EnforcementMode::Shadow);
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

/// Reports duplicate ids. Call rules and text rules share one set of ids.
pub(crate) fn unique_ids(source: &PolicySource, problems: &mut Problems<'_>) {
    let ids = source.rules.iter().filter_map(|rule| rule.id.as_ref());
    let of_text = source.text.iter().filter_map(|rule| rule.id.as_ref());
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for id in ids.chain(of_text) {
        if let Some(line) = seen.insert(&id.value, id.span.line) {
            problems
                .add(id.span, format!("duplicate rule id `{}`", id.value))
                .label(format!("the first is on line {line}"))
                .hint("notices and records name the id, so it must be unique in the file");
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
    let escalates = escalates(source.tools.as_deref().unwrap_or_default(), problems);
    let tools = source.tools.as_deref().filter(|_| !escalates);
    let tools = tools.map(|patterns| compile_tools(patterns, compare, kinds, problems));
    let cleaner = sanitize::compile(&source, problems);
    let terms = terms::compile(&source, problems);
    let is_shell = |tool: &At<String>| tool.value == Kind::Shell.to_string();
    let is_about_shells = source.tools.iter().flatten().any(is_shell);
    let when = match source.when.take() {
        Some(node) => condition::compile(&node, problems).map(|mut when| {
            if source.verdict == Some(Verdict::Allow) && when.looks_at_conversation() {
                origin_allows(&node, problems);
            }
            if is_about_shells {
                when.read_command_as_role();
            }
            Some(when)
        }),
        None => Some(None),
    };
    let when = match (when, escalates) {
        (Some(when), true) => Some(Some(Condition::escalates_and(when))),
        (when, _) => when,
    };
    let surfaces = surfaces(&source, when.as_ref().and_then(Option::as_ref), problems);
    if problems.len() > before {
        return None;
    }
    let (id, verdict) = (source.id?.value, source.verdict?);
    let folded = |patterns: Vec<At<String>>| -> Vec<Wildcard> {
        patterns.iter().map(|at| Wildcard::new(&fold(at.value.trim()))).collect()
    };
    let names = RuleNames { tools, servers: source.servers.map(folded), ..RuleNames::default() };
    let role = match (source.mode, verdict) {
        (Some(EnforcementMode::Shadow), _) => RuleRole::Shadow,
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
        examples: source.examples.matching.len() + source.examples.not_matching.len(),
        id,
    })
}

/// Where a value came from is a hint that something is wrong, never that everything is right: a tool
/// result can repeat what the user wrote, and the user can quote a tool result.
fn origin_allows(when: &Node, problems: &mut Problems<'_>) {
    problems
        .add(when.span, "a rule that allows cannot have a condition on `origin`")
        .hint("write a rule with `verdict: ask` or `deny` for values that come from a tool");
}

/// Whether the rule is about `@escalate`: not about certain tools, but about calls with arguments that
/// leave the sandbox of an agent.
fn escalates(tools: &[At<String>], problems: &mut Problems<'_>) -> bool {
    let word = Kind::Escalate.to_string();
    let Some(named) = tools.iter().find(|tool| tool.value == word) else { return false };
    if tools.len() > 1 {
        problems
            .add(named.span, format!("`{word}` cannot be combined with other tools in one rule"))
            .label("this depends on the arguments of a call, not on its name")
            .hint("write a separate rule, or use the condition `escalates: true`");
    }
    true
}

/// The surfaces of a rule. Only the texts of MCP servers are inspected: on any other surface a
/// condition on findings would always be unknown, and so count against every call.
fn surfaces(
    source: &RuleSource,
    when: Option<&Condition>,
    problems: &mut Problems<'_>,
) -> Vec<Surface> {
    let needs_findings = when.is_some_and(Condition::needs_findings);
    match &source.surfaces {
        None if needs_findings => vec![Surface::Mcp],
        None => DEFAULT_SURFACES.to_vec(),
        Some(named) => {
            let other = named.iter().find(|surface| **surface != Surface::Mcp);
            if let (true, Some(other)) = (needs_findings, other) {
                problems
                    .add(source.span, format!("a rule on `{other}` cannot have conditions on findings"))
                    .hint("only text from MCP servers is inspected: write `surface: mcp`, or leave it out");
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
