//! A rule file as written: every field optional, every value with its span.

pub(crate) mod finding;
mod text;

use callgate_call::Surface;
use callgate_document::{
    At, Mapping, Node, Problems, Source, SourceSpan, Yaml, integer, list, text, texts, word,
};
use callgate_scan::inspect::Finding;

use crate::Verdict;
use crate::actors::{WhoField, WhoGlobs};
use crate::document::PolicyDocument;
use crate::limit::LimitBy;
use crate::moment::Moment;
use crate::sketch::{PolicySketch, RuleSketch};
use crate::terms::{self, TermsSource};
pub(crate) use text::TextRuleSource;

/// One policy.
#[derive(Debug)]
pub(crate) struct PolicySource {
    pub(crate) name: Option<At<String>>,
    /// The principals that it applies to. Agents are a separate field, as in a rule.
    pub(crate) who: Vec<WhoGlobs>,
    pub(crate) agents: Option<Vec<At<String>>>,
    pub(crate) mode: Option<EnforcementMode>,
    pub(crate) default: Option<Verdict>,
    pub(crate) defaults: Vec<(Surface, Verdict)>,
    pub(crate) rules: Vec<RuleSource>,
    pub(crate) text: Vec<TextRuleSource>,
    pub(crate) sketch: PolicySketch,
}

/// One rule.
#[derive(Debug)]
pub(crate) struct RuleSource {
    pub(crate) span: SourceSpan,
    pub(crate) id: Option<At<String>>,
    pub(crate) surfaces: Option<Vec<Surface>>,
    pub(crate) tools: Option<Vec<At<String>>>,
    pub(crate) servers: Option<Vec<At<String>>>,
    pub(crate) agents: Option<Vec<At<String>>>,
    pub(crate) who: Vec<WhoGlobs>,
    /// Compiled together with the rest of the rule.
    pub(crate) when: Option<Node>,
    pub(crate) limit: Option<LimitSource>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) sanitize: Option<SanitizeSource>,
    pub(crate) terms: Vec<TermsSource>,
    pub(crate) priority: Option<i64>,
    pub(crate) mode: Option<EnforcementMode>,
    pub(crate) reason: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) blocks: Option<String>,
    pub(crate) examples: ExamplesSource,
    pub(crate) sketch: RuleSketch,
}

/// A rate.
#[derive(Debug)]
pub(crate) struct LimitSource {
    pub(crate) calls: i64,
    pub(crate) seconds: u32,
    pub(crate) burst: Option<i64>,
    pub(crate) by: Option<Vec<LimitBy>>,
}

/// What a rule replaces.
#[derive(Debug)]
pub(crate) struct SanitizeSource {
    pub(crate) span: SourceSpan,
    pub(crate) detectors: Vec<At<String>>,
    pub(crate) replace: Option<callgate_scan::Replace>,
}

/// Calls a rule must and must not match.
#[derive(Debug, Default)]
pub(crate) struct ExamplesSource {
    pub(crate) matching: Vec<ExampleSource>,
    pub(crate) not_matching: Vec<ExampleSource>,
}

/// One example call.
#[derive(Debug)]
pub(crate) struct ExampleSource {
    pub(crate) span: SourceSpan,
    pub(crate) tool: At<String>,
    pub(crate) server: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) who: callgate_call::Principal,
    pub(crate) cwd: Option<String>,
    pub(crate) surface: Option<Surface>,
    pub(crate) input: Option<Node>,
    pub(crate) finding: Option<Finding>,
    pub(crate) time: Option<Moment>,
}

/// Whether a verdict has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnforcementMode {
    Enforce,
    Shadow,
}

/// The keys of a policy.
pub const POLICY_KEYS: &[&str] = &["policy", "for", "mode", "default", "defaults", "rules", "text"];

/// Reads every policy of a document.
pub(crate) fn policies(
    document: &PolicyDocument<'_>,
    problems: &mut Problems<'_>,
) -> Vec<PolicySource> {
    match document.policies() {
        None => policies_of_file(document.source(), problems),
        Some(nodes) => policies_of(nodes, problems),
    }
}

fn policies_of_file(source: &Source, problems: &mut Problems<'_>) -> Vec<PolicySource> {
    let Some(root) = callgate_document::parse(source, problems) else { return Vec::new() };
    let Some(fields) = Mapping::of(&root, "a policy file", problems) else { return Vec::new() };
    match fields.get("policies") {
        None => vec![policy(&fields, problems)],
        Some(node) => {
            fields.check(&["policies"], &[], problems);
            policies_of(list(node, "`policies`", problems), problems)
        }
    }
}

fn policies_of(nodes: &[Node], problems: &mut Problems<'_>) -> Vec<PolicySource> {
    let mut read = Vec::new();
    for node in nodes {
        if let Yaml::String(name) = &node.value {
            problems
                .add(node.span, format!("`{name}` is not a policy"))
                .hint("only a config file can name other policies: give this file with `--config`");
            continue;
        }
        let fields = Mapping::of(node, "a policy", problems);
        read.extend(fields.map(|fields| policy(&fields, problems)));
    }
    read
}

fn policy(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> PolicySource {
    let known = problems.len();
    fields.check(POLICY_KEYS, &[], problems);
    let name = fields.get("policy").and_then(|node| text(node, "`policy`", problems));
    if fields.get("policy").is_none() {
        problems
            .add(fields.start(), "the policy has no name")
            .hint("begin with `policy: some-name`");
    }
    let says_something =
        ["rules", "text", "default", "defaults"].iter().any(|key| fields.get(key).is_some());
    // Not reported together with another problem, which explains more.
    if !says_something && problems.len() == known {
        // A file that was truncated while it was written looks like this.
        problems
            .add(fields.start(), "the policy is empty")
            .hint("add `rules`, or `default: allow` if it should allow everything");
    }
    let mut rules = Vec::new();
    if let Some(node) = fields.get("rules") {
        for node in list(node, "`rules`", problems) {
            let fields = Mapping::of(node, "a rule", problems);
            rules.extend(fields.map(|fields| rule(&fields, problems)));
        }
    }
    let (who, agents) = fields.get("for").map(|node| audience(node, problems)).unwrap_or_default();
    let text = fields.get("text").map(|node| text::rules(node, problems)).unwrap_or_default();
    PolicySource {
        sketch: sketch(fields, &rules, &text),
        name,
        who,
        agents,
        mode: fields.get("mode").and_then(|node| mode(node, problems)),
        default: fields.get("default").and_then(|node| default(node, problems)),
        defaults: fields.get("defaults").map(|node| defaults(node, problems)).unwrap_or_default(),
        rules,
        text,
    }
}

const RULE_KEYS: &[&str] = &[
    "id", "surface", "tool", "server", "agent", "who", "when", "limit", "verdict", "priority",
    "mode", "reason", "hint", "blocks", "examples", "sanitize", "ask", "review",
];
const RULE_KEYS_LATER: &[&str] = &["cap"];

fn rule(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> RuleSource {
    fields.check(RULE_KEYS, RULE_KEYS_LATER, problems);
    for (key, hint) in [("id", "add `id: some-name`"), ("verdict", "add `verdict: deny`")] {
        if fields.get(key).is_none() {
            problems.add(fields.start(), format!("this rule has no `{key}`")).hint(hint);
        }
    }
    let mut optional_texts =
        |key: &str| fields.get(key).map(|node| texts(node, &format!("`{key}`"), problems));
    let (tools, servers, agents) =
        (optional_texts("tool"), optional_texts("server"), optional_texts("agent"));
    let mut optional_text =
        |key: &str| fields.get(key).and_then(|node| text(node, &format!("`{key}`"), problems));
    let (id, reason, hint) = (optional_text("id"), optional_text("reason"), optional_text("hint"));
    let blocks = optional_text("blocks");
    RuleSource {
        span: id.as_ref().map_or(fields.start(), |id| id.span),
        id,
        surfaces: fields.get("surface").map(|node| surfaces(node, problems)),
        tools,
        servers,
        agents,
        who: fields.get("who").map(|node| who(node, problems)).unwrap_or_default(),
        when: fields.get("when").cloned(),
        limit: fields.get("limit").and_then(|node| limit(node, problems)),
        verdict: fields.get("verdict").and_then(|node| verdict(node, problems)),
        sanitize: fields.get("sanitize").and_then(|node| sanitize(node, problems)),
        terms: terms::read(fields, problems),
        priority: fields
            .get("priority")
            .and_then(|node| integer(node, "`priority`", PRIORITIES, problems)),
        mode: fields.get("mode").and_then(|node| mode(node, problems)),
        reason: reason.map(|at| at.value),
        hint: hint.map(|at| at.value),
        blocks: blocks.map(|at| at.value),
        examples: fields.get("examples").map(|node| examples(node, problems)).unwrap_or_default(),
        sketch: RuleSketch::of(fields),
    }
}

fn sketch(fields: &Mapping<'_>, rules: &[RuleSource], text: &[TextRuleSource]) -> PolicySketch {
    let rules = rules.iter().filter_map(|rule| Some((rule.id.as_ref()?, rule.sketch)));
    let text = text.iter().filter_map(|rule| Some((rule.id.as_ref()?, rule.sketch)));
    PolicySketch::new(fields, rules.chain(text).map(|(id, it)| (id.value.as_str(), it)))
}

/// Wide enough for any numbering scheme, narrow enough to catch a typing error.
const PRIORITIES: std::ops::RangeInclusive<i64> = -1_000_000..=1_000_000;

fn mode(node: &Node, problems: &mut Problems<'_>) -> Option<EnforcementMode> {
    let known = [("enforce", EnforcementMode::Enforce), ("shadow", EnforcementMode::Shadow)];
    let text = text(node, "`mode`", problems)?;
    word(&text, "mode", &known, &[], problems).map(|at| at.value)
}

const DEFAULTS: &[(&str, Verdict)] =
    &[("allow", Verdict::Allow), ("audit", Verdict::Audit), ("deny", Verdict::Deny)];
const VERDICTS: &[(&str, Verdict)] = &[
    ("allow", Verdict::Allow),
    ("audit", Verdict::Audit),
    ("deny", Verdict::Deny),
    ("sanitize", Verdict::Sanitize),
    ("ask", Verdict::Ask),
    ("pending_approval", Verdict::Ask),
    ("review", Verdict::Review),
    ("sample", Verdict::Review),
];
const VERDICTS_LATER: &[&str] = &["cap", "cap_cost"];

fn verdict(node: &Node, problems: &mut Problems<'_>) -> Option<Verdict> {
    let text = text(node, "`verdict`", problems)?;
    word(&text, "verdict", VERDICTS, VERDICTS_LATER, problems).map(|at| at.value)
}

fn default(node: &Node, problems: &mut Problems<'_>) -> Option<Verdict> {
    let text = text(node, "`default`", problems)?;
    word(&text, "default", DEFAULTS, &[], problems).map(|at| at.value)
}

fn defaults(node: &Node, problems: &mut Problems<'_>) -> Vec<(Surface, Verdict)> {
    let Some(fields) = Mapping::of(node, "`defaults`", problems) else { return Vec::new() };
    fields.check(&Surface::ALL.map(Surface::as_str), &[], problems);
    let entries = Surface::ALL.into_iter().filter_map(|surface| {
        let node = fields.get(surface.as_str())?;
        Some((surface, default(node, problems)?))
    });
    entries.collect()
}

fn sanitize(node: &Node, problems: &mut Problems<'_>) -> Option<SanitizeSource> {
    let fields = Mapping::of(node, "`sanitize`", problems)?;
    fields.check(&["detectors", "replace"], &[], problems);
    let detectors = fields.get("detectors").map(|node| texts(node, "`detectors`", problems));
    if detectors.is_none() {
        problems
            .add(fields.start(), "`sanitize` has no `detectors`")
            .hint("name what is replaced: `detectors: [secret]`");
    }
    Some(SanitizeSource {
        span: fields.start(),
        detectors: detectors.unwrap_or_default(),
        replace: fields.get("replace").and_then(|node| text::replace(node, problems)),
    })
}

fn surfaces(node: &Node, problems: &mut Problems<'_>) -> Vec<Surface> {
    let words = texts(node, "`surface`", problems);
    words.iter().filter_map(|text| surface(text, problems)).collect()
}

fn surface(text: &At<String>, problems: &mut Problems<'_>) -> Option<Surface> {
    let known = Surface::ALL.map(|surface| (surface.as_str(), surface));
    word(text, "surface", &known, &[], problems).map(|at| at.value)
}

/// Reads the principals that a rule applies to.
fn who(node: &Node, problems: &mut Problems<'_>) -> Vec<WhoGlobs> {
    let Some(fields) = Mapping::of(node, "`who`", problems) else { return Vec::new() };
    fields.check(&WhoField::ALL.map(WhoField::as_str), &[], problems);
    if fields.entries.is_empty() {
        problems.add(node.span, "`who` is empty");
    }
    named(&fields, "who", problems)
}

/// Reads the principals and agents that a policy applies to.
fn audience(node: &Node, problems: &mut Problems<'_>) -> (Vec<WhoGlobs>, Option<Vec<At<String>>>) {
    if !matches!(node.value, Yaml::Map(_)) {
        problems.add(node.span, "`for` must be a mapping").hint(
            "name the callers, like `for: { team: payments }` or `for: { user: [ann, bob] }`",
        );
        return Default::default();
    }
    let Some(fields) = Mapping::of(node, "`for`", problems) else { return Default::default() };
    fields.check(FOR_KEYS, &[], problems);
    if fields.entries.is_empty() {
        problems
            .add(node.span, "`for` is empty")
            .hint("leave `for` out if the policy applies to everyone");
    }
    let agents = fields.get("agent").map(|node| texts(node, "`for.agent`", problems));
    (named(&fields, "for", problems), agents)
}

/// The keys of `for`.
const FOR_KEYS: &[&str] = &["org", "team", "user", "key", "agent"];

fn named(fields: &Mapping<'_>, under: &str, problems: &mut Problems<'_>) -> Vec<WhoGlobs> {
    let globs = |field: WhoField| {
        let key = field.as_str();
        Some((field, texts(fields.get(key)?, &format!("`{under}.{key}`"), problems)))
    };
    WhoField::ALL.into_iter().filter_map(globs).collect()
}

fn limit(node: &Node, problems: &mut Problems<'_>) -> Option<LimitSource> {
    const COUNT: std::ops::RangeInclusive<i64> = 1..=1_000_000_000;
    let fields = Mapping::of(node, "`limit`", problems)?;
    fields.check(&["calls", "per", "burst", "by"], &[], problems);
    for key in ["calls", "per"] {
        if fields.get(key).is_none() {
            problems
                .add(fields.start(), format!("this limit has no `{key}`"))
                .hint("write it like `limit: { calls: 10, per: minute }`");
        }
    }
    let calls = fields.get("calls").and_then(|n| integer(n, "`calls`", COUNT, problems));
    let burst = fields.get("burst").and_then(|n| integer(n, "`burst`", COUNT, problems));
    let per = fields.get("per").and_then(|node| {
        let known = [("second", 1), ("minute", 60), ("hour", 3_600), ("day", 86_400)];
        let text = text(node, "`per`", problems)?;
        word(&text, "period", &known, &[], problems)
    });
    let by = fields.get("by").map(|node| {
        let words = texts(node, "`by`", problems);
        let known = LimitBy::ALL.map(|by| (by.as_str(), by));
        let by = words.iter().filter_map(|text| word(text, "field", &known, &[], problems));
        by.map(|at| at.value).collect()
    });
    Some(LimitSource { calls: calls?, seconds: per?.value, burst, by })
}

fn examples(node: &Node, problems: &mut Problems<'_>) -> ExamplesSource {
    let Some(fields) = Mapping::of(node, "`examples`", problems) else {
        return ExamplesSource::default();
    };
    fields.check(&["match", "no_match"], &[], problems);
    let mut read = |key: &str| -> Vec<ExampleSource> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        let nodes = list(node, &format!("`{key}`"), problems);
        nodes.iter().filter_map(|node| example(node, problems)).collect()
    };
    ExamplesSource { matching: read("match"), not_matching: read("no_match") }
}

fn example(node: &Node, problems: &mut Problems<'_>) -> Option<ExampleSource> {
    let fields = Mapping::of(node, "an example", problems)?;
    const KEYS: &[&str] =
        &["tool", "input", "server", "agent", "who", "cwd", "surface", "finding", "time"];
    fields.check(KEYS, &[], problems);
    if fields.get("tool").is_none() {
        problems.add(fields.start(), "this example has no `tool`");
    }
    let mut optional =
        |key: &str| fields.get(key).and_then(|node| text(node, &format!("`{key}`"), problems));
    let (tool, server, agent) = (optional("tool"), optional("server"), optional("agent"));
    let (cwd, surface_word) = (optional("cwd"), optional("surface"));
    Some(ExampleSource {
        span: fields.start(),
        tool: tool?,
        server: server.map(|at| at.value),
        agent: agent.map(|at| at.value),
        who: fields.get("who").map(|node| example_who(node, problems)).unwrap_or_default(),
        cwd: cwd.map(|at| at.value),
        surface: surface_word.and_then(|text| surface(&text, problems)),
        input: fields.get("input").cloned(),
        finding: fields.get("finding").and_then(|node| finding::example(node, problems)),
        time: fields.get("time").and_then(|node| moment(node, problems)),
    })
}

/// Reads a time with its offset.
pub fn moment(node: &Node, problems: &mut Problems<'_>) -> Option<Moment> {
    let written = text(node, "`time`", problems)?;
    let moment = Moment::parse(&written.value);
    if moment.is_none() {
        problems
            .add(node.span, format!("`{}` is not a time with an offset", written.value))
            .hint("write it like `2026-03-29T01:30:00Z` or `2026-03-29T03:30:00+02:00`");
    }
    moment
}

/// Reads the caller in an example. Fields that are left out are unknown, as at a door.
fn example_who(node: &Node, problems: &mut Problems<'_>) -> callgate_call::Principal {
    let Some(fields) = Mapping::of(node, "`who`", problems) else { return Default::default() };
    fields.check(&WhoField::ALL.map(WhoField::as_str), &[], problems);
    let mut value = |field: WhoField| {
        let key = field.as_str();
        text(fields.get(key)?, &format!("`who.{key}`"), problems).map(|at| at.value)
    };
    callgate_call::Principal {
        org: value(WhoField::Org),
        team: value(WhoField::Team),
        user: value(WhoField::User),
        key: value(WhoField::Key),
    }
}
