//! Records about servers.

use callgate_audit::{
    CallOutcome, FindingFact, McpFacts, ReasonCode, Record, RecordKind, RecordedTool, TextRuleMatch,
};
use callgate_call::Origin;
use callgate_scan::inspect::Finding;

use super::session::McpSession;
use super::settings::McpSettings;
use crate::checks::CodedDenial;
use crate::new_record;

impl McpSession {
    /// Starts a record about this server.
    pub(crate) fn record(&self, kind: RecordKind, origin: &Origin, tool: &str) -> Record {
        let mut record = new_record::begin(kind, &self.context, origin);
        record.tool = Some(RecordedTool {
            name: tool.to_owned(),
            server: Some(self.server.clone()),
            ..RecordedTool::default()
        });
        record
    }

    /// Records that the server itself is refused, and returns the id of the record.
    pub(crate) fn record_refused_server(&self, refused: &CodedDenial) -> String {
        let CodedDenial { denial, code } = refused;
        let rule = denial.rule.as_deref().unwrap_or_default();
        let result = CheckResult { what: "", rule, code: *code, reason: &denial.reason };
        let mut record = self.check_record(&self.settings(), CallOutcome::Deny, result);
        if let Some(verdict) = &mut record.verdict {
            verdict.hint.clone_from(&denial.hint);
        }
        let id = record.id.to_string();
        self.inner.write(record);
        id
    }

    /// A record of something other than a call that a setting checks.
    pub(crate) fn check_record(
        &self,
        settings: &McpSettings,
        action: CallOutcome,
        result: CheckResult<'_>,
    ) -> Record {
        let mut record = self.record(RecordKind::Guardrail, &self.context.origin, result.what);
        let mut verdict = new_record::without_rule(action, result.code, result.reason);
        verdict.rule = Some(result.rule.to_owned());
        record.verdict = Some(verdict);
        record.guardrail = Some(TextRuleMatch {
            action: if action == CallOutcome::Deny { "block" } else { "audit" }.to_owned(),
            kind: result.rule.to_owned(),
            direction: "response".to_owned(),
        });
        record.mcp = Some(self.facts(settings));
        record
    }

    /// A record of findings in a text.
    pub(crate) fn found(
        &self,
        settings: &McpSettings,
        origin: &Origin,
        tool: &str,
        place: &str,
        findings: &[Finding],
    ) -> Record {
        let mut record = self.record(RecordKind::Guardrail, origin, tool);
        let worst = findings.iter().max_by_key(|finding| finding.severity);
        record.guardrail = Some(TextRuleMatch {
            action: "audit".to_owned(),
            kind: worst.map_or("mcp", |finding| finding.class.word()).to_owned(),
            direction: "response".to_owned(),
        });
        record.mcp = Some(McpFacts {
            place: Some(place.to_owned()),
            findings: facts(findings),
            ..self.facts(settings)
        });
        record
    }
}

/// The result of a check on something other than a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckResult<'a> {
    /// What the server requested; empty for the server itself.
    pub(crate) what: &'a str,
    /// The setting that applies.
    pub(crate) rule: &'a str,
    pub(crate) code: ReasonCode,
    pub(crate) reason: &'a str,
}

/// Findings in the form of records.
pub(crate) fn facts(findings: &[Finding]) -> Vec<FindingFact> {
    let fact = |finding: &Finding| FindingFact {
        class: finding.class.word().to_owned(),
        severity: finding.severity.word().to_owned(),
        path: finding.path.clone(),
        detail: finding.detail.clone(),
    };
    findings.iter().map(fact).collect()
}
