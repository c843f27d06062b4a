//! A recorded call, to be judged again.

use callgate_audit::{CallOutcome, InputLoss, ReasonCode, StoredRecord};
use callgate_call::{
    Arguments, CallId, FoundOrigin, Origin, OriginFields, Principal, Surface, ToolCall, ToolName,
    ValueOrigins,
};
use callgate_decide::moment_of;
use callgate_policy::{Judgement, Moment, Policies, SELF_PROTECTION, SpentLimits, Verdict};

use crate::render::rule_name;

/// A call as it was judged at the time.
#[derive(Clone)]
pub(crate) struct RecordedCall {
    pub(crate) call: ToolCall,
    pub(crate) moment: Moment,
}

/// Why a recorded call cannot be judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotReplayable {
    Redacted,
    Truncated,
    NoInput,
    NoName,
    NotByPolicy,
    Limited,
}

impl NotReplayable {
    /// Completes "not judged again: …".
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Redacted => "a secret in the arguments was redacted",
            Self::Truncated => "the arguments were too long to be recorded whole",
            Self::NoInput => "the arguments were not recorded",
            Self::NoName => "the name of the tool cannot be read",
            Self::NotByPolicy => "self-protection, or something other than a policy, decided",
            Self::Limited => "a limit decided, which depends on earlier calls",
        }
    }

    /// The word for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Redacted => "redacted",
            Self::Truncated => "truncated",
            Self::NoInput => "no_input",
            Self::NoName => "no_name",
            Self::NotByPolicy => "not_by_policy",
            Self::Limited => "limited",
        }
    }
}

impl RecordedCall {
    pub(crate) fn of(stored: &StoredRecord) -> Result<Self, NotReplayable> {
        let record = &stored.record;
        let tool = record.tool.as_ref().ok_or(NotReplayable::NoName)?;
        let origin = Self::origin_of(stored);
        let name = match &tool.server {
            Some(server) if origin.surface == Surface::Mcp => {
                format!("mcp__{server}__{}", tool.name)
            }
            _ => tool.name.clone(),
        };
        let call = ToolCall {
            id: CallId(tool.call_id.clone()),
            name: ToolName::parse(&name).map_err(|_| NotReplayable::NoName)?,
            arguments: arguments(stored)?,
            origin,
            caller: None,
        };
        Ok(Self { call, moment: moment_of(record.time) })
    }

    /// Who made the call, and where.
    pub(crate) fn origin_of(stored: &StoredRecord) -> Origin {
        let record = &stored.record;
        let mut origin = OriginFields::at(record.surface.unwrap_or(Surface::Response));
        let who = record.who.clone();
        origin.who = Principal { org: who.org, team: who.team, user: who.user, key: who.key };
        (origin.agent, origin.agent_proven) = (who.agent, who.agent_proven);
        origin.session = who.session;
        (origin.cwd, origin.home) = (record.cwd.clone(), record.home.clone());
        (origin.provider, origin.model) = (record.provider.clone(), record.model.clone());
        let found = record
            .origins
            .iter()
            .map(|fact| FoundOrigin { condition: fact.arg.clone(), holds: fact.only_tool_result });
        origin.values = ValueOrigins::Found(found.collect());
        Origin::new(origin)
    }

    /// Judges the call by these policies, as if it were made at its time again. Limits are not
    /// counted.
    pub(crate) fn judge(&self, policies: &Policies) -> Judgement {
        policies.judge(&self.call, &self.moment, &SpentLimits::none())
    }
}

fn arguments(stored: &StoredRecord) -> Result<Arguments, NotReplayable> {
    let input = stored.original_input()?;
    // Free text is not recorded as a JSON text, so a JSON text came as one: it is not an object.
    let is_json = input.trim_ascii_start().starts_with('{')
        || input.trim_ascii().is_empty()
        || serde_json::from_str::<serde::de::IgnoredAny>(input).is_ok();
    Ok(if is_json { Arguments::json(input) } else { Arguments::text(input) })
}

impl From<InputLoss> for NotReplayable {
    fn from(loss: InputLoss) -> Self {
        match loss {
            InputLoss::Missing => Self::NoInput,
            InputLoss::Redacted => Self::Redacted,
            InputLoss::Truncated => Self::Truncated,
        }
    }
}

/// What happened to a call, and which rule decided.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuleDecision {
    pub(crate) verdict: Verdict,
    pub(crate) rule: String,
}

impl RuleDecision {
    /// What is on record; an error if no rule of a policy decided that users write.
    pub(crate) fn recorded(stored: &StoredRecord) -> Result<Self, NotReplayable> {
        let verdict = stored.record.verdict.as_ref();
        match verdict.and_then(|verdict| verdict.policy.as_deref()) {
            Some(SELF_PROTECTION) => Err(NotReplayable::NotByPolicy),
            _ => Self::on_record(stored),
        }
    }

    /// What is on record; an error if no rule decided.
    pub(crate) fn on_record(stored: &StoredRecord) -> Result<Self, NotReplayable> {
        let verdict = stored.record.verdict.as_ref().ok_or(NotReplayable::NotByPolicy)?;
        let word = match (verdict.action, verdict.code) {
            (CallOutcome::Unjudged, _) => return Err(NotReplayable::NotByPolicy),
            (CallOutcome::Deny, Some(ReasonCode::ApprovalMissing)) => Verdict::Ask,
            (_, Some(code)) if !is_of_policy(code) => return Err(NotReplayable::NotByPolicy),
            (CallOutcome::Allow, _) => Verdict::Allow,
            (CallOutcome::Audit, _) => Verdict::Audit,
            (CallOutcome::Deny, _) => Verdict::Deny,
        };
        let rule = rule_name(verdict.policy.as_deref(), verdict.rule.as_deref());
        Ok(Self { verdict: word, rule })
    }

    /// Whether both mean the same for a call: it passes, waits or is stopped.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.verdict.course() == other.verdict.course()
    }

    pub(crate) fn of(judgement: &Judgement) -> Self {
        let rule = rule_name(judgement.policy.as_deref(), judgement.rule.as_deref());
        Self { verdict: judgement.verdict, rule }
    }
}

fn is_of_policy(code: ReasonCode) -> bool {
    matches!(
        code,
        ReasonCode::Rule | ReasonCode::Default | ReasonCode::NoPolicy | ReasonCode::RuleUnknown
    )
}
