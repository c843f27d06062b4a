//! Files of other systems to policies.

mod agentsh;
mod arfa;
mod claude_code;
mod codex_requirements;
mod codex_rules;
mod context;
mod cursor;
mod gemini;
mod opencode;
mod order;
mod servers;
mod superego;
mod tails;

use callgate_document::{Diagnostic, Problems, Source};
use callgate_effects::Catalogue;
use callgate_policy::Policies;

use crate::change::{DifferenceKind, RuleDifference};
use crate::draft::{DraftPolicy, DraftRule, PolicyDraft};
use crate::format::Format;
use crate::read;
use context::ImportContext;

/// A file that was read.
#[derive(Debug)]
pub struct Imported {
    /// The format it had.
    pub format: Format,
    /// What `text` is.
    pub target: ImportTarget,
    /// The result, as YAML.
    pub text: String,
    /// The number of rules in it.
    pub rules: usize,
    /// Every difference, in the order of the file.
    pub changes: Vec<RuleDifference>,
}

/// What an import results in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportTarget {
    /// A policy file.
    Policy,
    /// The section `mcp:` of a config file.
    Mcp,
}

/// The largest file that is read. Rule files are far smaller.
pub(crate) const LARGEST: usize = 4 * 1024 * 1024;

/// Reads a file of another system, or returns every problem in it. Without a format, the content
/// decides.
pub fn import(source: &Source, from: Option<Format>) -> Result<Imported, Vec<Diagnostic>> {
    let mut problems = Problems::new(source);
    if source.text.len() > LARGEST {
        problems
            .add(read::span(&source.text, 0, 0), "the file is too large")
            .hint("at most 4 MiB are read");
        return Err(problems.into_list());
    }
    let Some(format) = from.or_else(|| Format::sniff(source)) else {
        problems
            .add(read::span(&source.text, 0, 0), "the format of this file is not known")
            .hint(format!("name it with `--from`: {}", words()));
        return Err(problems.into_list());
    };
    let mut context = ImportContext::new(source);
    let outcome = read_as(format, &mut context);
    if outcome.is_none() {
        context.nothing();
    }
    let (problems, mut changes) = context.finish();
    let Some(outcome) = outcome.filter(|_| problems.is_empty()) else { return Err(problems) };
    let (target, text, rules) = match outcome {
        ReadOutcome::Section(text) => (ImportTarget::Mcp, text, 0),
        ReadOutcome::Policy(draft) => {
            let (text, rules) = checked(draft, source, &mut changes)?;
            (ImportTarget::Policy, text, rules)
        }
    };
    changes.sort_by_key(|change| change.span.start);
    Ok(Imported { format, target, text, rules, changes })
}

/// What a reader makes of a file.
enum ReadOutcome {
    Policy(PolicyDraft),
    Section(String),
}

fn read_as(format: Format, context: &mut ImportContext<'_>) -> Option<ReadOutcome> {
    let read = match format {
        Format::Agentsh => return agentsh::read(context).map(ReadOutcome::Section),
        Format::ClaudeCode => claude_code::read,
        Format::CodexRules => codex_rules::read,
        Format::CodexRequirements => codex_requirements::read,
        Format::Gemini => gemini::read,
        Format::Cursor => cursor::read,
        Format::Opencode => opencode::read,
        Format::Superego => superego::read,
        Format::Arfa => arfa::read,
    };
    read(context).map(ReadOutcome::Policy)
}

/// The text of a draft and the number of its rules. The text is compiled, so that nothing is printed
/// that would not load. Examples are dropped if they do not hold: the rules differ on purpose.
fn checked(
    mut draft: PolicyDraft,
    source: &Source,
    changes: &mut Vec<RuleDifference>,
) -> Result<(String, usize), Vec<Diagnostic>> {
    let text = draft.text();
    if compile(&text).is_ok() {
        return Ok((text, draft.rules()));
    }
    let mut dropped = 0;
    for rule in draft.policies.iter_mut().flat_map(|policy| &mut policy.rules) {
        let alone = PolicyDraft { policies: vec![policy_of(rule)] };
        if compile(&alone.text()).is_err() {
            dropped += rule.matching.len() + rule.not_matching.len();
            rule.matching.clear();
            rule.not_matching.clear();
        }
    }
    if dropped > 0 {
        changes.push(RuleDifference {
            span: read::span(&source.text, 0, 0),
            source: 0,
            written: "examples".to_owned(),
            rule: None,
            kind: DifferenceKind::LeftOut,
            message: format!("{dropped} examples do not hold for the rules, which cover more"),
        });
    }
    let text = draft.text();
    compile(&text).map_err(|found| not_usable(source, &found))?;
    Ok((text, draft.rules()))
}

fn policy_of(rule: &DraftRule) -> DraftPolicy {
    let rule = DraftRule { about: Vec::new(), ..rule.clone() };
    DraftPolicy { name: "one-rule".to_owned(), rules: vec![rule], ..DraftPolicy::default() }
}

fn compile(text: &str) -> Result<(), Vec<Diagnostic>> {
    let source = Source { name: "the imported policy".to_owned(), text: text.to_owned() };
    Policies::compile(&[source], &Catalogue::builtin()).map(|_| ())
}

/// The file is well-formed, and something in it becomes a rule that callgate does not accept.
fn not_usable(source: &Source, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut problems = Problems::new(source);
    for diagnostic in found {
        let at = read::span(&source.text, 0, 0);
        let mut message = format!("the rules cannot be expressed: {}", diagnostic.message);
        if !diagnostic.label.is_empty() {
            message.push_str(&format!(" ({})", diagnostic.label));
        }
        problems.add(at, message);
    }
    problems.into_list()
}

/// The words of all formats.
fn words() -> String {
    Format::ALL.map(Format::as_str).join(", ")
}
