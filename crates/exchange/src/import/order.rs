//! Rules of which the first that matches decides.
//!
//! Each gets a priority of its own. One thing needs care: there, a rule about commands looks at one
//! command, and the strictest result for all commands of a line counts. Here it looks at the whole line.
//! So a rule that asks, before one that denies, matches only lines that consist of its commands. It is
//! repeated at the end for all other lines, and rules that allow make an exception for it.

use super::context::ImportContext;
use crate::command::{self, CommandPattern};
use crate::draft::{DraftRule, DraftVerdict, When, number_in_order};

/// One rule in the order of the system that it comes from.
pub(super) struct Ordered {
    pub(super) rule: DraftRule,
    /// Set if it is about commands. The rule then has no condition yet.
    pub(super) commands: Option<Vec<CommandPattern>>,
}

impl Ordered {
    pub(super) fn plain(rule: DraftRule) -> Self {
        Self { rule, commands: None }
    }

    pub(super) fn commands(rule: DraftRule, patterns: Vec<CommandPattern>) -> Self {
        Self { rule, commands: Some(patterns) }
    }
}

/// The rules with their priorities; the first of the list decides first.
pub(super) fn prioritised(
    context: &mut ImportContext<'_>,
    ordered: Vec<Ordered>,
) -> Vec<DraftRule> {
    let mut rules = Vec::new();
    let mut at_the_end = Vec::new();
    let mut exceptions: Vec<When> = Vec::new();
    let last_deny = ordered.iter().rposition(|it| it.rule.verdict == DraftVerdict::Deny);
    for (at, Ordered { mut rule, commands }) in ordered.into_iter().enumerate() {
        let Some(patterns) = commands else {
            if rule.verdict.allows() && !exceptions.is_empty() {
                let own = rule.when.take().into_iter();
                rule.when =
                    When::all(own.chain(exceptions.iter().cloned().map(When::negated)).collect());
            }
            rules.push(rule);
            continue;
        };
        let wide = When::any(patterns.iter().map(CommandPattern::restricting).collect());
        if rule.verdict.allows() {
            let mut all = vec![command::allowing(&patterns)];
            all.extend(exceptions.iter().cloned().map(When::negated));
            rule.when = When::all(all);
        } else if rule.verdict == DraftVerdict::Deny || last_deny.is_none_or(|deny| deny < at) {
            rule.when = wide;
        } else {
            let mut again = context.named_rule(&format!("{} elsewhere", rule.id), "", rule.verdict);
            again.about = rule.about.clone();
            again.tools = rule.tools.clone();
            again.reason = rule.reason.clone();
            again.when = wide.clone();
            at_the_end.push(again);
            exceptions.extend(wide);
            rule.when = Some(command::allowing(&patterns));
        }
        rules.push(rule);
    }
    rules.extend(at_the_end);
    number_in_order(&mut rules);
    rules
}
