//! Judgements for programs, with the keys of callgate's records.

use callgate_call::ToolCall;
use callgate_json::quote;
use callgate_policy::{
    ArgumentEffects, DenialScope, DenialText, EffectReport, Judgement, Matched, ReportedEffect,
    ReportedExtent, RuleError, RuleHit, Verdict,
};
use serde::Serialize;
use serde_json::value::RawValue;

/// A call, by its name, and its judgement: a line of `check --json`, and the answer of `evaluate`.
#[derive(Debug, Serialize)]
pub struct CheckOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    tool: &'a str,
    #[serde(flatten)]
    judged: JudgementOutput<'a>,
    /// What the model and the user would read, except for the record's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    /// Where it is judged, and what it would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    surface: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<EffectOutput<'a>>>,
}

/// What a call would do.
#[derive(Debug, Serialize)]
struct EffectOutput<'a> {
    /// `runs`, `deletes`, or `opaque` for a part that could not be read.
    kind: &'static str,
    /// What it does in one line; for an opaque part, why it could not be read.
    what: &'a str,
    argument: &'a str,
    /// The bytes of the argument's text: the first, and one past the last.
    span: [usize; 2],
    text: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    marks: &'a [&'static str],
    /// What an opaque part could do.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    could: &'a [&'static str],
    /// What a deletion touches, if a rule asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    extent: Option<ExtentOutput>,
}

/// What a deletion touches: for each number the least and the most it can be, `null` if that is not
/// known.
#[derive(Debug, Serialize)]
struct ExtentOutput {
    files: (u64, Option<u64>),
    bytes: (u64, Option<u64>),
    untracked: (u64, Option<u64>),
    crosses_mounts: Option<bool>,
}

impl ExtentOutput {
    fn of(extent: &ReportedExtent) -> Self {
        let ReportedExtent { files, bytes, untracked, crosses_mounts, .. } = *extent;
        Self { files, bytes, untracked, crosses_mounts }
    }
}

impl<'a> EffectOutput<'a> {
    fn of((argument, effect): (&'a ArgumentEffects, &'a ReportedEffect)) -> Self {
        let text = argument.text.get(effect.span.clone()).unwrap_or_default();
        Self {
            kind: effect.kind,
            what: &effect.what,
            argument: &argument.argument,
            span: [effect.span.start, effect.span.end],
            text: callgate_scan::redact(text).into_owned(),
            marks: &effect.marks,
            could: &effect.could,
            extent: effect.extent.as_ref().map(ExtentOutput::of),
        }
    }
}

impl<'a> CheckOutput<'a> {
    /// The output for this judgement.
    pub fn of(call: &'a ToolCall, judgement: &'a Judgement) -> Self {
        let judged = JudgementOutput::of(judgement);
        let (tool, notice) = (call.name.raw(), None);
        let surface = Some(call.origin.surface.as_str());
        Self { id: id(call), tool, judged, notice, surface, effects: None }
    }

    /// The same with what the call would do.
    pub fn with_effects(self, report: &'a EffectReport) -> Self {
        Self { effects: Some(report.all().map(EffectOutput::of).collect()), ..self }
    }

    /// The same for a call that is refused whatever the rules say.
    pub fn refused(self, policy: &'a str, rule: &'a str, reason: &'a str, hint: &'a str) -> Self {
        let judged = JudgementOutput {
            verdict: Verdict::Deny.as_str(),
            policy: Some(policy),
            rule: Some(rule),
            reason,
            hint: Some(hint),
            blocks: None,
            scope: Some(DenialScope::Tool.as_str()),
            uncovered: false,
            matched: None,
            rewritten: None,
            ..self.judged
        };
        Self { judged, notice: None, ..self }
    }

    /// The same with the text of the denial, if it is denied.
    pub fn worded(call: &'a ToolCall, judgement: &'a Judgement, text: &DenialText) -> Self {
        let notice = judgement.denial(call).map(|denial| text.notice(&denial));
        Self { notice, ..Self::of(call, judgement) }
    }
}

/// A judgement.
#[derive(Debug, Serialize)]
pub struct JudgementOutput<'a> {
    verdict: &'static str,
    policy: Option<&'a str>,
    rule: Option<&'a str>,
    reason: &'a str,
    hint: Option<&'a str>,
    /// The kind of action that the rule blocks, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<&'a str>,
    /// How much is blocked, if the call does not pass: the `tool`, this `use` of it, or the `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    uncovered: bool,
    matched: Option<ArgumentOutput<'a>>,
    deciding: Vec<MatchOutput<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sanitizers: Vec<MatchOutput<'a>>,
    /// The arguments with which the call passes, if a rule changed them. Free text is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewritten: Option<Box<RawValue>>,
    audits: Vec<MatchOutput<'a>>,
    shadows: Vec<MatchOutput<'a>>,
    errors: Vec<UnknownOutput<'a>>,
}

#[derive(Debug, Serialize)]
struct MatchOutput<'a> {
    policy: &'a str,
    rule: Option<&'a str>,
    verdict: &'static str,
    reason: &'a str,
    hint: Option<&'a str>,
    unknown: bool,
}

#[derive(Debug, Serialize)]
struct UnknownOutput<'a> {
    policy: &'a str,
    rule: &'a str,
    why: &'a str,
}

#[derive(Debug, Serialize)]
struct ArgumentOutput<'a> {
    path: &'a str,
    value: &'a str,
}

impl<'a> JudgementOutput<'a> {
    /// The output for this judgement.
    pub fn of(judgement: &'a Judgement) -> Self {
        Self {
            verdict: judgement.verdict.as_str(),
            policy: judgement.policy.as_deref(),
            rule: judgement.rule.as_deref(),
            reason: &judgement.reason,
            hint: judgement.hint.as_deref(),
            blocks: judgement.blocks.as_deref(),
            scope: (!judgement.verdict.passes()).then(|| judgement.scope.as_str()),
            uncovered: judgement.uncovered,
            matched: judgement.matched.as_ref().map(ArgumentOutput::of),
            deciding: judgement.deciding.iter().map(MatchOutput::of).collect(),
            sanitizers: judgement.sanitizers.iter().map(MatchOutput::of).collect(),
            rewritten: judgement
                .rewritten()
                .and_then(|text| one_line(text).or_else(|| one_line(&quote(text)))),
            audits: judgement.audits.iter().map(MatchOutput::of).collect(),
            shadows: judgement.shadows.iter().map(MatchOutput::of).collect(),
            errors: judgement.errors.iter().map(UnknownOutput::of).collect(),
        }
    }
}

impl<'a> MatchOutput<'a> {
    fn of(hit: &'a RuleHit) -> Self {
        Self {
            policy: &hit.policy,
            rule: hit.rule.as_deref(),
            verdict: hit.verdict.as_str(),
            reason: &hit.reason,
            hint: hit.hint.as_deref(),
            unknown: hit.unknown,
        }
    }
}

impl<'a> UnknownOutput<'a> {
    fn of(error: &'a RuleError) -> Self {
        Self { policy: &error.policy, rule: &error.rule, why: &error.why }
    }
}

impl<'a> ArgumentOutput<'a> {
    fn of(matched: &'a Matched) -> Self {
        Self { path: &matched.path, value: &matched.value }
    }
}

/// The id of a call, if it has one.
pub fn id(call: &ToolCall) -> Option<&str> {
    Some(call.id.as_str()).filter(|id| !id.is_empty())
}

/// The JSON on one line, otherwise unchanged: strict JSON has line ends only between its tokens.
pub fn one_line(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.trim_ascii().replace(['\n', '\r'], " ")).ok()
}
