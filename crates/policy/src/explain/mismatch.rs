//! Why a rule does not apply to a call.

use callgate_call::NameReading;

use crate::actors::{ActorMismatch, Actors};
use crate::names::RuleNames;
use crate::pattern::Wildcard;
use crate::policy::Policy;
use crate::rule::{Question, Rule};

/// The first key of a rule that a call does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleMismatch {
    /// The key of the rule or its policy: `surface`, `tool`, `server`, `agent`, `who.team` or
    /// `for.team`.
    pub what: String,
    /// What the rule expects there.
    pub wants: String,
    /// What the call has there, if anything.
    pub has: Option<String>,
}

pub(super) fn mismatch(rule: &Rule, question: &Question<'_>) -> Option<RuleMismatch> {
    surface(rule, question)
        .or_else(|| name(rule, question))
        .or_else(|| actor("who", &rule.actors, question))
}

/// Why a whole policy does not apply to a call.
pub(super) fn policy_mismatch(policy: &Policy, question: &Question<'_>) -> Option<RuleMismatch> {
    actor("for", &policy.audience, question)
}

fn surface(rule: &Rule, question: &Question<'_>) -> Option<RuleMismatch> {
    let surface = question.call.origin.surface;
    if rule.applies_at(surface) {
        return None;
    }
    let wants = if rule.surfaces.contains(&surface) {
        "arguments, and an offered tool has none yet".to_owned()
    } else {
        rule.surfaces.iter().map(|surface| surface.as_str()).collect::<Vec<_>>().join(", ")
    };
    Some(RuleMismatch { what: "surface".to_owned(), wants, has: Some(surface.as_str().to_owned()) })
}

/// Tool and server are compared together: `mcp__git__push` names both.
fn name(rule: &Rule, question: &Question<'_>) -> Option<RuleMismatch> {
    if rule.names(question) {
        return None;
    }
    let split_in_many = question.name.readings.len() > 1;
    if tool_fits(rule, question) {
        let servers = rule.names.servers.as_deref();
        let wants = servers.map_or_else(|| "none, because the rule allows".to_owned(), listed);
        let has = question.name.readings.iter().map(|reading: &NameReading<'_>| reading.server);
        let has = has.collect::<Vec<_>>().join(" or ");
        return Some(RuleMismatch {
            what: "server".to_owned(),
            wants,
            has: Some(has).filter(|has| !has.is_empty()),
        });
    }
    let mut has = question.call.name.raw().trim().to_owned();
    if split_in_many && !rule.restricts() {
        has.push_str(", which may be read in several ways");
    }
    Some(RuleMismatch { what: "tool".to_owned(), wants: rule.tools.join(", "), has: Some(has) })
}

/// Whether the tool matches on any server.
fn tool_fits(rule: &Rule, question: &Question<'_>) -> bool {
    let tools = rule.names.tools.clone();
    if rule.restricts() {
        RuleNames { tools, ..RuleNames::default() }.restrict(&question.name)
    } else {
        let servers = Some(vec![Wildcard::new("*")]);
        RuleNames { tools, servers, ..RuleNames::default() }.allow(&question.name)
    }
}

fn actor(under: &str, actors: &Actors, question: &Question<'_>) -> Option<RuleMismatch> {
    let ActorMismatch { field, wants, has } = actors.mismatch(&question.call.origin)?;
    // In a rule, `agent` is a key of its own.
    let what = match (under, field) {
        ("who", "agent") => field.to_owned(),
        _ => format!("{under}.{field}"),
    };
    Some(RuleMismatch { what, wants: listed(wants), has: has.map(str::to_owned) })
}

fn listed(patterns: &[Wildcard]) -> String {
    patterns.iter().map(Wildcard::text).collect::<Vec<_>>().join(", ")
}
