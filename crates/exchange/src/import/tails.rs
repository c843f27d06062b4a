//! What an agent does with calls that none of its rules decides.

use super::context::ImportContext;
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, When};

/// Adds rules for what the rules of the file do not decide: those that allow, then those that stop.
pub(super) fn add(policy: &mut DraftPolicy, tail: Vec<DraftRule>) {
    let used = policy.rules.iter().filter_map(|rule| rule.priority);
    let last = used.max().unwrap_or_default().max(USUAL);
    for mut rule in tail {
        rule.priority = Some(if rule.verdict.allows() { last + USUAL } else { last + 2 * USUAL });
        policy.rules.push(rule);
    }
}

/// The priority of a rule that sets none.
const USUAL: i64 = 100;

/// Tools that read files, by what agents call them.
pub(super) const READERS: [&str; 10] = [
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "read_file",
    "list_directory",
    "grep_search",
    "glob",
    "read_many_files",
];

/// A rule that allows reading in the workspace.
pub(super) fn reads(context: &mut ImportContext<'_>, agent: &str) -> DraftRule {
    let about = format!("{agent} reads in the workspace without asking.");
    let mut rule = context.named_rule("reads-in-the-workspace", &about, DraftVerdict::Allow);
    rule.tools = texts(&READERS);
    rule.when = Some(When::Effect("reads", vec!["workspace".into(), "workspace/**".into()]));
    rule
}

/// A rule that allows tools that do nothing by themselves.
pub(super) fn harmless(context: &mut ImportContext<'_>, agent: &str, tools: &[&str]) -> DraftRule {
    let about = format!("{agent} uses these without asking.");
    let mut rule = context.named_rule("tools-without-a-question", &about, DraftVerdict::Allow);
    rule.tools = texts(tools);
    rule
}

/// A rule that allows edits in the workspace.
pub(super) fn edits(context: &mut ImportContext<'_>, agent: &str) -> DraftRule {
    let about = format!("{agent} edits in the workspace without asking, in this mode.");
    let mut rule = context.named_rule("edits-in-the-workspace", &about, DraftVerdict::Allow);
    rule.tools = texts(&["Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace"]);
    rule.when = Some(When::Effect("writes", vec!["workspace/**".into()]));
    rule
}

/// What happens to everything else.
pub(super) fn rest(
    context: &mut ImportContext<'_>,
    agent: &str,
    decision: DraftVerdict,
) -> DraftRule {
    let does = match decision {
        DraftVerdict::Deny => "refuses",
        _ => "asks about",
    };
    let about = format!("{agent} {does} everything else. Remove this rule to let it pass here.");
    let mut rule = context.named_rule("everything-else", &about, decision);
    rule.reason = Some(format!("No rule allows this call, and {agent} {does} such calls."));
    rule
}

pub(super) fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}
