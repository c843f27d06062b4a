//! Why a rule is not about a call.

use callgate_call::Reading;

use crate::names::Names;
use crate::pattern::Wildcard;
use crate::rule::{Question, Rule, principal};
use crate::source::WhoField;
use crate::tri::Tri;

/// The first thing in which a call is not what a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The rule's key: `surface`, `tool`, `server`, `agent` or `who.team`.
    pub what: &'static str,
    /// What the rule wants there.
    pub wants: String,
    /// What the call has there, if anything.
    pub has: Option<String>,
}

pub(super) fn misfit(rule: &Rule, question: &Question<'_>) -> Option<Misfit> {
    surface(rule, question)
        .or_else(|| name(rule, question))
        .or_else(|| agent(rule, question))
        .or_else(|| who(rule, question))
}

fn surface(rule: &Rule, question: &Question<'_>) -> Option<Misfit> {
    let surface = question.call.origin.surface;
    if rule.applies_at(surface) {
        return None;
    }
    let wants = if rule.surfaces.contains(&surface) {
        "arguments, which a tool that is only offered does not have".to_owned()
    } else {
        rule.surfaces.iter().map(|surface| surface.as_str()).collect::<Vec<_>>().join(", ")
    };
    Some(Misfit { what: "surface", wants, has: Some(surface.as_str().to_owned()) })
}

/// Tool and server are asked together: `mcp__git__push` is one name for both.
fn name(rule: &Rule, question: &Question<'_>) -> Option<Misfit> {
    if rule.names(question) {
        return None;
    }
    let split_in_many = question.name.readings.len() > 1;
    if tool_fits(rule, question) {
        let servers = rule.names.servers.as_deref();
        let wants = servers.map_or_else(|| "none, as the rule allows".to_owned(), listed);
        let has = question.name.readings.iter().map(|reading: &Reading<'_>| reading.server);
        let has = has.collect::<Vec<_>>().join(" or ");
        return Some(Misfit {
            what: "server",
            wants,
            has: Some(has).filter(|has| !has.is_empty()),
        });
    }
    let mut has = question.call.name.raw().trim().to_owned();
    if split_in_many && !rule.restricts() {
        has.push_str(", which may be read in several ways");
    }
    Some(Misfit { what: "tool", wants: rule.tools.join(", "), has: Some(has) })
}

/// Whether the tool alone would do, on whatever server.
fn tool_fits(rule: &Rule, question: &Question<'_>) -> bool {
    let tools = rule.names.tools.clone();
    if rule.restricts() {
        Names { tools, ..Names::default() }.restrict(&question.name)
    } else {
        let servers = Some(vec![Wildcard::new("*")]);
        Names { tools, servers, ..Names::default() }.allow(&question.name)
    }
}

fn agent(rule: &Rule, question: &Question<'_>) -> Option<Misfit> {
    let agents = rule.agents.as_deref().filter(|_| rule.agent(question) == Tri::False)?;
    Some(Misfit {
        what: "agent",
        wants: listed(agents),
        has: question.call.origin.agent.as_deref().map(str::to_owned),
    })
}

fn who(rule: &Rule, question: &Question<'_>) -> Option<Misfit> {
    let (field, patterns) = rule.stranger(question)?;
    let what = match field {
        WhoField::Org => "who.org",
        WhoField::Team => "who.team",
        WhoField::User => "who.user",
        WhoField::Key => "who.key",
    };
    let has = principal(*field, question).map(str::to_owned);
    Some(Misfit { what, wants: listed(patterns), has })
}

fn listed(patterns: &[Wildcard]) -> String {
    patterns.iter().map(Wildcard::text).collect::<Vec<_>>().join(", ")
}
