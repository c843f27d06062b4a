//! `.rules` files of Codex. The strictest of all matching rules decides there, and here, because all
//! have the same priority.

use callgate_document::{Node, SourceSpan, Yaml};
use regex::Regex;

use super::context::ImportContext;
use super::tails;
use crate::command::{self, CommandPattern};
use crate::draft::{DraftPolicy, DraftRule, DraftVerdict, Operand, PolicyDraft, When};
use crate::read::starlark::{self, StarlarkCall};
use crate::read::{items, text};

/// The shell tools of Codex.
const SHELLS: [&str; 6] =
    ["exec_command", "unified_exec", "shell", "local_shell", "shell_command", "container.exec"];

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<PolicyDraft> {
    let calls = starlark::read(context.source, &mut context.problems)?;
    let mut policy = context.policy("codex");
    policy.about.push(
        "Calls that no rule decides pass here; in Codex, its sandbox and approvals decide."
            .to_owned(),
    );
    let mut allowed = Vec::new();
    for call in &calls {
        match call.name.as_str() {
            "prefix_rule" => {
                let Some(prefix) = Prefix::read(context, call) else { continue };
                match prefix.decision {
                    DraftVerdict::Allow => allowed.push(prefix),
                    _ => policy.rules.push(prefix.restricting(context)),
                }
            }
            "network_rule" => policy.rules.extend(network(context, call)),
            "host_executable" => context.left_out(
                call.span,
                "host_executable",
                "allowed commands are compared by the program's name; with a path they are not allowed",
            ),
            other => context.problem(call.span, format!("unknown function `{other}`")),
        }
    }
    policy.rules.extend(allow(context, allowed));
    if policy.rules.is_empty() {
        policy.default = Some("allow");
    }
    (!calls.is_empty()).then(|| PolicyDraft { policies: vec![policy] })
}

/// A rule about commands that begin with some words.
pub(super) struct Prefix {
    pub(super) at: SourceSpan,
    pub(super) written: String,
    pub(super) words: Vec<Vec<String>>,
    pub(super) decision: DraftVerdict,
    pub(super) reason: Option<String>,
    matching: Vec<String>,
    not_matching: Vec<String>,
}

impl Prefix {
    /// A rule of the file `requirements.toml`, which has no examples.
    pub(super) fn of_requirements(
        at: SourceSpan,
        words: Vec<Vec<String>>,
        decision: DraftVerdict,
    ) -> Self {
        let (matching, not_matching) = (Vec::new(), Vec::new());
        let written = shown(&words);
        Self { at, written, words, decision, reason: None, matching, not_matching }
    }

    fn read(context: &mut ImportContext<'_>, call: &StarlarkCall) -> Option<Self> {
        known_arguments(
            context,
            call,
            &["pattern", "decision", "justification", "match", "not_match"],
        );
        let Some(pattern) = call.get("pattern") else {
            context.problem(call.span, "this rule has no `pattern`");
            return None;
        };
        let words = words(context, pattern)?;
        let decision = match call.get("decision") {
            None => DraftVerdict::Allow,
            Some(node) => decision(context, node)?,
        };
        let examples = |key: &str| -> Vec<String> {
            let nodes = call.get(key).map(items).unwrap_or_default();
            nodes.iter().filter_map(example).collect()
        };
        let reason = call.get("justification").and_then(text).map(str::to_owned);
        let (matching, not_matching) = (examples("match"), examples("not_match"));
        let written = shown(&words);
        Some(Self { at: call.span, written, words, decision, reason, matching, not_matching })
    }

    pub(super) fn pattern(&self) -> CommandPattern {
        CommandPattern::words(&self.words)
    }

    pub(super) fn restricting(self, context: &mut ImportContext<'_>) -> DraftRule {
        let mut rule = context.rule(self.at, &self.written, self.decision);
        rule.tools = tails::texts(&["@shell"]);
        rule.when = Some(self.pattern().restricting());
        rule.reason = self.reason;
        rule.matching = self.matching;
        rule.not_matching = self.not_matching;
        rule
    }
}

/// All allowed commands together: a line may consist of several of them.
fn allow(context: &mut ImportContext<'_>, prefixes: Vec<Prefix>) -> Option<DraftRule> {
    let at = prefixes.first()?.at;
    let mut rule = context.named_rule("allowed-commands", "", DraftVerdict::Allow);
    rule.about = prefixes.iter().map(|it| context.place(it.at, &it.written)).collect();
    rule.tools = tails::texts(&SHELLS);
    let patterns: Vec<_> = prefixes.iter().map(Prefix::pattern).collect();
    rule.when = Some(command::allowing(&patterns));
    let finds = matcher(rule.when.as_ref());
    for prefix in prefixes {
        let (kept, dropped): (Vec<_>, Vec<_>) =
            prefix.matching.into_iter().partition(|example| finds(example));
        let (not_kept, not_dropped): (Vec<_>, Vec<_>) =
            prefix.not_matching.into_iter().partition(|example| !finds(example));
        rule.matching.extend(kept);
        rule.not_matching.extend(not_kept);
        for example in dropped {
            let why =
                format!("the example `{example}` is not allowed: a shell acts on something in it");
            context.stricter(prefix.at, &prefix.written, &rule, why);
        }
        for example in not_dropped {
            let why = format!("the example `{example}` is left out: another rule allows it");
            context.left_out(prefix.at, &prefix.written, why);
        }
    }
    let why = "commands with redirections, variables, substitutions or subshells are not allowed by these rules";
    context.stricter(at, "allowed commands", &rule, why);
    Some(rule)
}

/// Whether a condition on the text of a command matches.
fn matcher(when: Option<&When>) -> impl Fn(&str) -> bool + use<> {
    let regex = match when {
        Some(When::Arg { value: Operand::Text(regex), .. }) => Regex::new(regex).ok(),
        _ => None,
    };
    move |command: &str| regex.as_ref().is_some_and(|regex| regex.is_match(command))
}

fn known_arguments(context: &mut ImportContext<'_>, call: &StarlarkCall, known: &[&str]) {
    for (name, node) in &call.arguments {
        if !known.contains(&name.as_str()) {
            context.problem(node.span, format!("unknown argument `{name}` of `{}`", call.name));
        }
    }
}

fn words(context: &mut ImportContext<'_>, pattern: &Node) -> Option<Vec<Vec<String>>> {
    let Yaml::List(nodes) = &pattern.value else {
        context.problem(pattern.span, "`pattern` must be a list of words");
        return None;
    };
    let mut words = Vec::new();
    for node in nodes {
        let alternatives: Vec<String> =
            items(node).iter().filter_map(text).map(str::to_owned).collect();
        if alternatives.is_empty() || alternatives.len() != items(node).len() {
            context.problem(node.span, "an element of `pattern` must be a word or a list of words");
            return None;
        }
        words.push(alternatives);
    }
    if words.is_empty() {
        context.problem(pattern.span, "`pattern` is empty");
        return None;
    }
    Some(words)
}

/// One of the three decisions.
pub(super) fn decision(context: &mut ImportContext<'_>, node: &Node) -> Option<DraftVerdict> {
    match text(node) {
        Some("allow") => Some(DraftVerdict::Allow),
        Some("prompt") => Some(DraftVerdict::Ask),
        Some("forbidden" | "deny") => Some(DraftVerdict::Deny),
        _ => {
            context.problem(node.span, "`decision` must be `allow`, `prompt` or `forbidden`");
            None
        }
    }
}

/// The text of an example, which is a command or a list of its words.
fn example(node: &Node) -> Option<String> {
    match &node.value {
        Yaml::String(text) => Some(text.clone()),
        Yaml::List(words) => {
            let words: Vec<String> = words.iter().filter_map(text).map(in_shell_quotes).collect();
            Some(words.join(" "))
        }
        _ => None,
    }
}

fn in_shell_quotes(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=@+,".contains(it);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The words of a pattern, for comments and reports.
fn shown(words: &[Vec<String>]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|alternatives| match alternatives.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join("|")),
        })
        .collect();
    words.join(" ")
}

fn network(context: &mut ImportContext<'_>, call: &StarlarkCall) -> Option<DraftRule> {
    known_arguments(context, call, &["host", "protocol", "decision", "justification"]);
    let (Some(host), Some(node)) = (call.get("host").and_then(text), call.get("decision")) else {
        context.problem(call.span, "this rule has no `host` or no `decision`");
        return None;
    };
    let written = format!("network {host}");
    let decision = decision(context, node)?;
    if decision.allows() {
        let why = "an allowed host says nothing about the command that connects to it";
        context.left_out(call.span, &written, why);
        return None;
    }
    let mut rule = context.rule(call.span, &written, decision);
    rule.when = Some(When::Effect("connects", vec![host.to_owned()]));
    rule.reason = call.get("justification").and_then(text).map(str::to_owned);
    context.stricter(call.span, &written, &rule, "the rule covers every protocol and every tool");
    Some(rule)
}

/// For tests of other readers.
pub(super) fn policy_of(context: &ImportContext<'_>, rules: Vec<DraftRule>) -> DraftPolicy {
    DraftPolicy { rules, ..context.policy("codex-requirements") }
}
