//! Warnings about rules that are valid but probably a mistake.

mod arguments;

use std::collections::HashMap;

use callgate_call::Surface;
use callgate_document::{Diagnostic, Source, SourceSpan, Warning};
use callgate_scan::inspect::plain_name;

use crate::condition::Condition;
use crate::names::Tools;
use crate::policy::Policy;
use crate::rule::{Rule, RuleRole};
use crate::source::PolicySource;
use crate::verdict::Verdict;

pub(crate) use arguments::unknown_arguments;

/// The spans of the rules of one policy, taken before they are compiled.
#[derive(Debug)]
pub(crate) struct RuleSpans {
    spans: HashMap<String, SourceSpan>,
}

impl RuleSpans {
    pub(crate) fn of(policy: &PolicySource) -> Self {
        let spans = policy.rules.iter().filter_map(|rule| {
            let id = rule.id.as_ref()?;
            Some((id.value.clone(), rule.span))
        });
        Self { spans: spans.collect() }
    }

    pub(crate) fn check(
        &self,
        policy: &Policy,
        source: &Source,
        served: &[Surface],
    ) -> Vec<Warning> {
        let mut alike: HashMap<String, Vec<&Rule>> = HashMap::new();
        for rule in &policy.rules {
            alike.entry(canonical(rule)).or_default().push(rule);
        }
        let mut warnings = Vec::new();
        let allowed = allowed_by_name(policy);
        for rule in &policy.rules {
            let others = alike.get(&canonical(rule)).map_or(&[][..], Vec::as_slice);
            let found = never(rule)
                .or_else(|| unserved(rule, served))
                .or_else(|| hidden(rule, others))
                .or_else(|| takes_back(rule, &allowed))
                .or_else(|| without_conversation(rule, served))
                .or_else(|| without_disk(rule, served));
            if let Some((message, hint)) = found {
                warnings.push(self.warning(rule, message, hint, source));
            }
        }
        warnings
    }

    fn warning(
        &self,
        rule: &Rule,
        message: String,
        hint: &'static str,
        source: &Source,
    ) -> Warning {
        let span = self.spans.get(&rule.id).copied().unwrap_or_default();
        let (source, hint) = (source.name.clone(), Some(hint.to_owned()));
        Warning(Diagnostic { source, span, message, label: String::new(), hint })
    }
}

type LintAdvice = (String, &'static str);

/// A rule that no call can match.
fn never(rule: &Rule) -> Option<LintAdvice> {
    let nowhere = rule.surfaces.iter().all(|surface| !rule.applies_at(*surface));
    if nowhere {
        let message =
            format!("rule `{}` can never match: tools in a request have no arguments", rule.id);
        return Some((message, "name another surface, or remove the condition on arguments"));
    }
    let tools = rule.names.tools.as_ref()?;
    let empty = tools
        .parts()
        .all(|part| part.literals.is_empty() && part.patterns.is_empty() && !part.any_server);
    if empty {
        let message = format!("rule `{}` can never match: no known tool is of that kind", rule.id);
        return Some((message, "add tools of that kind to the catalogue"));
    }
    let unreachable = rule.verdict == Verdict::Allow
        && tools.literals.is_empty()
        && tools.kinds.is_empty()
        && tools
            .patterns
            .iter()
            .all(|pattern| pattern.parts.len() > 1 && !pattern.whole.is_literal());
    unreachable.then(|| {
        let message = format!("rule `{}` can never match: its tool names several servers", rule.id);
        (message, "a rule that allows must name one server")
    })
}

/// A rule whose surfaces nothing serves.
fn unserved(rule: &Rule, served: &[Surface]) -> Option<LintAdvice> {
    let idle = !rule.surfaces.iter().any(|surface| served.contains(surface));
    idle.then(|| {
        let surfaces: Vec<&str> = rule.surfaces.iter().map(|surface| surface.as_str()).collect();
        let message = format!(
            "rule `{}` has no effect: nothing serves its surface ({})",
            rule.id,
            surfaces.join(", ")
        );
        (message, "the rule is kept, and applies once something serves it")
    })
}

/// A rule that can never decide, because another rule with the same conditions always decides
/// first. Rules with a limit are left out: they match at different times even with the same
/// conditions.
fn hidden(rule: &Rule, alike: &[&Rule]) -> Option<LintAdvice> {
    let decides = |rule: &Rule| rule.role == RuleRole::Decide && rule.limit.is_none();
    if !decides(rule) {
        return None;
    }
    let mut comes_later = false;
    let hider = alike.iter().find(|other| {
        if other.id == rule.id {
            comes_later = true;
            return false;
        }
        // A rule that allows reads names more narrowly than one that restricts.
        let covers = decides(other) && other.verdict >= rule.verdict;
        let order = other.rank().cmp(&rule.rank());
        covers && (order.is_lt() || (order.is_eq() && !comes_later))
    })?;
    let message =
        format!("rule `{}` never decides: `{}` has the same conditions", rule.id, hider.id);
    Some((message, "remove one of the two, or give them different conditions"))
}

/// A rule on the origin of a value, on a surface whose door does not see the conversation.
fn without_conversation(rule: &Rule, served: &[Surface]) -> Option<LintAdvice> {
    let asks = rule.when.as_ref().is_some_and(Condition::looks_at_conversation);
    let blind = [Surface::Mcp, Surface::Hook];
    let is_blind = |surface: &&Surface| blind.contains(surface) && served.contains(surface);
    let surface = rule.surfaces.iter().find(is_blind).filter(|_| asks)?;
    let message = format!(
        "rule `{}` asks where a value came from, which is unknown on `{surface}` unless the gateway \
         has judged the same call: there it matches every value",
        rule.id
    );
    Some((message, "write `surface: response`, or let the agent use the gateway for its model"))
}

/// A rule on how much is deleted, on a surface whose door does not see the agent's disk.
fn without_disk(rule: &Rule, served: &[Surface]) -> Option<LintAdvice> {
    let asks = rule.when.as_ref().is_some_and(Condition::asks_how_much);
    let is_blind = |surface: &&Surface| **surface != Surface::Hook && served.contains(surface);
    let surface = rule.surfaces.iter().find(is_blind).filter(|_| asks)?;
    let message = format!(
        "rule `{}` asks how much a call deletes, which is unknown on `{surface}`: there it {} \
         every folder that is deleted",
        rule.id,
        if rule.restricts() { "matches" } else { "does not match" }
    );
    Some((message, "only a local door sees the disk: write `surface: hook`, or name `paths`"))
}

/// The names of tools without a server that rules allow, each with its rule.
fn allowed_by_name<'p>(policy: &'p Policy) -> Vec<(&'p Rule, &'p str)> {
    let by_name = |rule: &&Rule| rule.verdict == Verdict::Allow && rule.names.servers.is_none();
    let names = |rule: &'p Rule| {
        let tools = rule.names.tools.iter();
        tools.flat_map(Tools::bare).map(move |name| (rule, name))
    };
    let mut all: Vec<(&Rule, &str)> = policy.rules.iter().filter(by_name).flat_map(names).collect();
    all.sort_by_key(|(_, name)| *name);
    all
}

/// A rule that denies a whole server, and with it a name that another rule allows: `git_status` may
/// be the tool `status` of the server `git`.
fn takes_back(rule: &Rule, allowed: &[(&Rule, &str)]) -> Option<LintAdvice> {
    if rule.verdict != Verdict::Deny || rule.role != RuleRole::Decide || rule.names.tools.is_some()
    {
        return None;
    }
    let servers = || rule.names.all_servers().filter(|server| server.is_literal());
    let is_of = |name: &str, server: &str| {
        let rest = plain_name(name).strip_prefix(server).map(str::to_owned);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    let (other, name) = allowed
        .iter()
        // A pattern never allows a name that may belong to a server, whatever its priority.
        .filter(|(other, name)| other.priority >= rule.priority || name.contains(['*', '?']))
        .find(|(_, name)| servers().any(|server| is_of(name, server.text())))?;
    let message = format!(
        "rule `{}` also denies `{name}`, which `{}` allows: it may be a tool of that server",
        rule.id, other.id
    );
    Some((
        message,
        "name the server's tools here, or allow the others one by one with a lower `priority`",
    ))
}

/// A rule's conditions as a text that is the same for the same conditions.
fn canonical(rule: &Rule) -> String {
    let tools = rule.names.tools.as_ref().map(|tools| {
        let mut names: Vec<&str> = tools.literals.iter().map(String::as_str).collect();
        names.extend(tools.patterns.iter().map(|pattern| pattern.whole.text()));
        names.sort_unstable();
        let mut kinds: Vec<_> = tools.kinds.iter().map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        (names, kinds)
    });
    let when = rule.when.as_ref().map(Condition::canonical);
    format!("{:?} {tools:?} {:?} {:?} {when:?}", rule.surfaces, rule.names.servers, rule.actors)
}
