//! Inspects what a server sends to the client: results, texts and requests.

use callgate_audit::{CallOutcome, ReasonCode, RecordKind, RecordedVerdict};
use callgate_call::{Arguments, CallId, ToolCall, ToolName};
use callgate_json::quote;
use callgate_policy::{AlsoJudged, Denial, ExtraInput, Findings, Judgement, SpentLimits};
use callgate_scan::inspect::{Finding, InspectionContext, TextSource, inspect_json, strip};

use super::admission;
use super::call::{AllowedCall, ForwardedCall};
use super::pins::{self, denial, is_blocked};
use super::server_records::CheckResult;
use super::session::McpSession;
use super::settings::{CheckAction, McpSettings};
use crate::checks::{Check, CheckFailure, CheckFailures, CodedDenial};
use crate::clock::now;
use crate::new_record;
use crate::pipeline::unfit_extra_input;

/// The outcome of inspecting a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspected {
    /// Forward it unchanged.
    Pass,
    /// Forward this JSON instead.
    Replace(String),
    /// Do not forward it.
    Block(Box<Denial>),
}

/// What a server may request from a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRequest {
    /// A completion from the client's model.
    Sampling,
    /// Input from the user.
    Elicitation,
    /// The folders that the client works in.
    Roots,
}

impl ServerRequest {
    /// The JSON-RPC method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::Sampling => "sampling/createMessage",
            Self::Elicitation => "elicitation/create",
            Self::Roots => "roots/list",
        }
    }

    fn setting(self) -> &'static str {
        match self {
            Self::Sampling => "mcp.sampling",
            Self::Elicitation => "mcp.elicitation",
            Self::Roots => "mcp.roots",
        }
    }
}

/// What a client may read from a server, apart from calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRead<'a> {
    /// A resource, by its URI.
    Resource(&'a str),
    /// A prompt, by its name, with its arguments as JSON.
    Prompt {
        /// Its name.
        name: &'a str,
        /// Its arguments; empty if there are none.
        arguments: &'a str,
    },
}

impl McpSession {
    /// Inspects the result of a call, or the error in its place: raw JSON. Both the visible and the
    /// structured content are inspected, because models may get either.
    pub fn judge_result(&self, allowed: &AllowedCall, raw: &str) -> Inspected {
        let settings = self.settings();
        let call = &allowed.0.call;
        let inspection = self.inspect(&settings, TextSource::Result, raw);
        // The call itself was judged before. Now only the findings matter.
        let judgement = (!inspection.findings.is_empty()).then(|| {
            let found = Findings::Of(&inspection.findings);
            self.judge_by_rules(&allowed.0, found)
        });
        let named = NamedText { call, tool: &allowed.0.tool, place: "result" };
        self.conclude(&settings, named, inspection, judgement)
    }

    /// Judges a result by the rules, under every alias of its tool.
    fn judge_by_rules(&self, forwarded: &ForwardedCall, found: Findings<'_>) -> Judgement {
        let (policies, limits) = (self.policies(), SpentLimits::none());
        let judge = |call| policies.judge_with(call, &now(), &limits, found);
        let denied =
            forwarded.aliases.iter().map(|(_, call)| judge(call)).find(|it| !it.verdict.passes());
        denied.unwrap_or_else(|| judge(&forwarded.call))
    }

    /// Inspects any other text of the server: raw JSON.
    pub fn judge_text(&self, place: TextSource, raw: &str) -> Inspected {
        match self.inspect_text(place, word(place), raw) {
            (Some(denial), _) => Inspected::Block(denial),
            (None, Some(stripped)) => Inspected::Replace(stripped),
            (None, None) => Inspected::Pass,
        }
    }

    /// Judges a request from the server to the client, given the raw JSON of its parameters. A
    /// refusal goes to the server.
    pub fn judge_server_request(
        &self,
        what: ServerRequest,
        raw: &str,
    ) -> Result<Inspected, Box<Denial>> {
        let settings = self.settings();
        let check_action = match what {
            ServerRequest::Sampling => settings.sampling,
            ServerRequest::Elicitation => settings.elicitation,
            ServerRequest::Roots => settings.roots,
        };
        let reason = format!("`{}` asks for `{}`.", self.server, what.method());
        if check_action != CheckAction::Allow {
            let action = if is_blocked(&settings, check_action) {
                CallOutcome::Deny
            } else {
                CallOutcome::Audit
            };
            let (rule, code) = (what.setting(), ReasonCode::RequestDenied);
            let result = CheckResult { what: what.method(), rule, code, reason: &reason };
            let record = self.check_record(&settings, action, result);
            let id = record.id.to_string();
            self.write_within(&self.budgets.server_requests, record);
            if is_blocked(&settings, check_action) {
                let reason =
                    format!("The gateway of this client does not allow `{}`.", what.method());
                let hint = "Continue without it.";
                let refused = denial(what.setting(), what.method(), &reason, hint);
                return Err(Box::new(Denial { record: Some(id), ..refused }));
            }
        }
        let place = match what {
            ServerRequest::Sampling => TextSource::Sampling,
            ServerRequest::Elicitation | ServerRequest::Roots => TextSource::Elicitation,
        };
        Ok(self.judge_text(place, raw))
    }

    /// Whether the client may read something. Rules see it as `resources/read` with a `uri`, or as
    /// `prompts/get` with a `name` and `arguments`. Returns a replacement for each extra input that
    /// a rule changed.
    pub fn judge_read(
        &self,
        what: ClientRead<'_>,
        extra_inputs: Vec<ExtraInput>,
    ) -> Result<Vec<Option<String>>, Box<Denial>> {
        let settings = self.settings();
        let (method, arguments) = match what {
            ClientRead::Resource(uri) => ("resources/read", format!(r#"{{"uri":{}}}"#, quote(uri))),
            ClientRead::Prompt { name, arguments } => {
                let filled = if arguments.trim().is_empty() { "{}" } else { arguments };
                ("prompts/get", format!(r#"{{"name":{},"arguments":{filled}}}"#, quote(name)))
            }
        };
        let call = self.named(method, Arguments::json(arguments))?;
        let mut failures = CheckFailures::default();
        failures.add(admission::server(&settings, &self.server));
        if let ClientRead::Prompt { name, .. } = what {
            failures.add(self.check_prompt(&settings, name));
        }
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        let extra_inputs = self.readable(extra_inputs);
        let others = AlsoJudged { readings: &[], extra: &extra_inputs };
        let (limits, policies) = (SpentLimits::none(), self.policies());
        let judgement = policies.judge_also(&call, others, &now(), &limits, Findings::NotInspected);
        failures.add(unfit_extra_input(&self.inner.in_force().settings, &extra_inputs));
        failures.add(judgement.rewritten().map(|_| irreplaceable()));
        let mut record = new_record::call(
            RecordKind::McpToolCalled,
            &self.context,
            &call,
            new_record::ArgumentsState::Known,
        );
        if let Some(tool) = &mut record.tool {
            tool.name = method.to_owned();
        }
        record.verdict = Some(failures.verdict(&judgement));
        record.mcp = Some(self.facts(&settings));
        let id = record.id.to_string();
        self.inner.write(record);
        match failures.denial(method, judgement.denial(&call)) {
            None => Ok(judgement.rewritten_extra().to_vec()),
            Some(denial) => Err(Box::new(Denial { record: Some(id), ..denial })),
        }
    }

    /// Inspects a text that is not a result. Returns the reason to block it, and the stripped text
    /// if something was removed.
    pub(crate) fn inspect_text(
        &self,
        place: TextSource,
        word: &str,
        raw: &str,
    ) -> (Option<Box<Denial>>, Option<String>) {
        let settings = self.settings();
        let call = match self.named(word, Arguments::json("")) {
            Ok(call) => call,
            Err(denial) => return (Some(denial), None),
        };
        let inspection = self.inspect(&settings, place, raw);
        let found = Findings::Of(&inspection.findings);
        let judgement = self.policies().judge_text(&call, &now(), found);
        let named = NamedText { call: &call, tool: word, place: word };
        match self.conclude(&settings, named, inspection, Some(judgement)) {
            Inspected::Pass => (None, None),
            Inspected::Replace(stripped) => (None, Some(stripped)),
            Inspected::Block(denial) => (Some(denial), None),
        }
    }

    fn inspect(&self, settings: &McpSettings, place: TextSource, raw: &str) -> TextInspection {
        // A message may have no parameters at all.
        if raw.trim().is_empty() {
            return TextInspection { findings: Vec::new(), stripped: None, blocking_finding: None };
        }
        // Without a refresh: this runs for every text and must be cheap.
        let known = self.cache().others(&self.server);
        let context = InspectionContext { place, known: &known };
        let findings = inspect_json(raw, &context);
        let stripped = settings.inspect.strip.then(|| strip(raw)).flatten();
        let blocking_finding = match &stripped {
            Some(stripped) => {
                pins::blocking_finding(settings, &inspect_json(stripped, &context)).cloned()
            }
            None => pins::blocking_finding(settings, &findings).cloned(),
        };
        TextInspection { findings, stripped, blocking_finding }
    }

    /// Turns an inspection into an outcome, and records any findings.
    fn conclude(
        &self,
        settings: &McpSettings,
        named: NamedText<'_>,
        inspection: TextInspection,
        judgement: Option<Judgement>,
    ) -> Inspected {
        let by_rule = judgement.as_ref().and_then(|it| CodedDenial::by_rules(it, named.call));
        let by_setting = inspection.blocking_finding.as_ref().filter(|_| settings.enforce).map(
            |blocking_finding| {
                let reason = format!(
                    "The text that `{}` sent contains {}.",
                    self.server,
                    pins::describe_finding(blocking_finding)
                );
                let hint = "Continue without it, and tell the user what was found.";
                let rule = Check::Finding.word();
                let denial = denial(rule, named.call.name.raw(), &reason, hint);
                CodedDenial { denial, code: ReasonCode::Finding }
            },
        );
        let denial = by_setting.or(by_rule);
        if inspection.findings.is_empty() && denial.is_none() {
            return Inspected::Pass;
        }
        let origin = &named.call.origin;
        let mut record =
            self.found(settings, origin, named.tool, named.place, &inspection.findings);
        let action = match (&denial, &inspection.stripped) {
            (Some(_), _) => "block",
            (None, Some(_)) => "mask",
            (None, None) => "audit",
        };
        if let Some(guardrail) = &mut record.guardrail {
            guardrail.action = action.to_owned();
        }
        record.verdict = Some(verdict(denial.as_ref(), judgement.as_ref()));
        let id = record.id.to_string();
        self.write_within(&self.budgets.findings, record);
        match (denial, inspection.stripped) {
            (Some(coded), _) => {
                Inspected::Block(Box::new(Denial { record: Some(id), ..coded.denial }))
            }
            (None, Some(stripped)) => Inspected::Replace(stripped),
            (None, None) => Inspected::Pass,
        }
    }

    /// A pseudo-call, so that rules can match something of this server by name.
    pub(crate) fn named(&self, what: &str, arguments: Arguments) -> Result<ToolCall, Box<Denial>> {
        let name = ToolName::on(&self.server, what);
        let name = name.map_err(|why| Box::new(Denial::refused(what, &why.to_string())))?;
        let (id, origin) = (CallId::default(), self.context.origin.clone());
        Ok(ToolCall { id, name, arguments, origin, caller: None })
    }
}

/// Fails a read that a rule would change: a changed read would be a different one.
fn irreplaceable() -> CheckFailure {
    let reason = "The request contains something that a rule replaces.".to_owned();
    CheckFailure::block(Check::Rules, reason, "Send the request without it.")
}

/// The result of inspecting a text.
struct TextInspection {
    findings: Vec<Finding>,
    /// The text after stripping, if something was removed.
    stripped: Option<String>,
    /// The worst finding after stripping, if its severity reaches the blocking threshold.
    blocking_finding: Option<Finding>,
}

/// A text with its names in rules and records.
#[derive(Clone, Copy)]
struct NamedText<'a> {
    call: &'a ToolCall,
    tool: &'a str,
    place: &'a str,
}

fn verdict(denial: Option<&CodedDenial>, judgement: Option<&Judgement>) -> RecordedVerdict {
    if let Some(denial) = denial {
        return denial.verdict();
    }
    let mut verdict =
        new_record::without_rule(CallOutcome::Audit, ReasonCode::Finding, "something was found");
    let rules = judgement.map(new_record::verdict);
    verdict.audits = rules.map(|rules| rules.audits).unwrap_or_default();
    verdict
}

/// The name of a place in records and rules.
fn word(place: TextSource) -> &'static str {
    match place {
        TextSource::Definition => "tools/list",
        TextSource::Instructions => "instructions",
        TextSource::Prompt => "prompts/get",
        TextSource::Resource => "resources/read",
        TextSource::Result => "result",
        TextSource::Progress => "notifications",
        TextSource::Sampling => "sampling/createMessage",
        TextSource::Elicitation => "elicitation/create",
    }
}
