//! What a server says and asks, on its way to the client.

use callgate_audit::{Action, Code, Kind};
use callgate_call::json::quote;
use callgate_call::{Arguments, CallId, ToolCall, ToolName};
use callgate_policy::{AlsoJudged, Denial, ExtraInput, Findings, Judgement, SpentLimits};
use callgate_scan::inspect::{Context, Finding, Place, inspect_json, strip};

use super::admission;
use super::call::{CallTicket, Ticket};
use super::check::{Check, Objection, Objections, code_of};
use super::pins::{self, denial, is_blocked};
use super::record::Watched;
use super::session::McpSession;
use super::settings::{McpSettings, Watch};
use crate::clock::now;
use crate::pipeline::unfit_along;
use crate::record;

/// What becomes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspected {
    /// It passes as it is.
    Pass,
    /// This takes its place: JSON, as the text was.
    Replace(String),
    /// It does not pass.
    Block(Box<Denial>),
}

/// What a server asks of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Something for the client's model.
    Sampling,
    /// Something of the user.
    Elicitation,
    /// Which folders the client works in.
    Roots,
}

impl Asked {
    /// The method by which it asks.
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

/// What a client reads from a server beside calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read<'a> {
    /// A resource, by its URI.
    Resource(&'a str),
    /// A prompt, by its name, with its arguments as JSON.
    Prompt {
        /// Its name.
        name: &'a str,
        /// What it is filled in with; empty for nothing.
        arguments: &'a str,
    },
}

impl McpSession {
    /// The result of a call, or an error in its place: raw JSON. Both what people see of it and
    /// what is structured are inspected, for models are given either.
    pub fn result(&self, ticket: &CallTicket, raw: &str) -> Inspected {
        let settings = self.settings();
        let call = &ticket.0.call;
        let looked = self.inspect(&settings, Place::Result, raw);
        // The call itself was judged before; what counts now is what was found.
        let judgement = (!looked.findings.is_empty()).then(|| {
            let found = Findings::Of(&looked.findings);
            self.judge_result(&ticket.0, found)
        });
        let named = Named { call, tool: &ticket.0.tool, place: "result" };
        self.conclude(&settings, named, looked, judgement)
    }

    /// What the rules say to a result, under every name that its tool may have been called by.
    fn judge_result(&self, ticket: &Ticket, found: Findings<'_>) -> Judgement {
        let (policies, limits) = (self.policies(), SpentLimits::none());
        let judge = |call| policies.judge_with(call, &now(), &limits, found);
        let denied =
            ticket.aliases.iter().map(|(_, call)| judge(call)).find(|it| !it.verdict.passes());
        denied.unwrap_or_else(|| judge(&ticket.call))
    }

    /// Any other text of the server: raw JSON.
    pub fn text(&self, place: Place, raw: &str) -> Inspected {
        match self.look(place, word(place), raw) {
            (Some(denial), _) => Inspected::Block(denial),
            (None, Some(stripped)) => Inspected::Replace(stripped),
            (None, None) => Inspected::Pass,
        }
    }

    /// A request of the server to the client: the raw JSON of its parameters. A refusal is for the
    /// server.
    pub fn asked(&self, what: Asked, raw: &str) -> Result<Inspected, Box<Denial>> {
        let settings = self.settings();
        let watch = match what {
            Asked::Sampling => settings.sampling,
            Asked::Elicitation => settings.elicitation,
            Asked::Roots => settings.roots,
        };
        let reason = format!("`{}` asks for `{}`.", self.server, what.method());
        if watch != Watch::Allow {
            let action = if is_blocked(&settings, watch) { Action::Deny } else { Action::Audit };
            let (rule, code) = (what.setting(), Code::RequestDenied);
            let told = Watched { what: what.method(), rule, code, reason: &reason };
            let record = self.watched(&settings, action, told);
            let id = record.id.to_string();
            self.write_within(&self.budgets.asked, record);
            if is_blocked(&settings, watch) {
                let reason = format!("This client's gateway refuses `{}`.", what.method());
                let hint = "Go on without it.";
                let refused = denial(what.setting(), what.method(), &reason, hint);
                return Err(Box::new(Denial { record: Some(id), ..refused }));
            }
        }
        let place = match what {
            Asked::Sampling => Place::Sampling,
            Asked::Elicitation | Asked::Roots => Place::Elicitation,
        };
        Ok(self.text(place, raw))
    }

    /// Whether the client may read something. Rules name it `resources/read` with a `uri`, or
    /// `prompts/get` with a `name` and `arguments`. Answers what takes the place of what goes along.
    pub fn reads(
        &self,
        what: Read<'_>,
        along: Vec<ExtraInput>,
    ) -> Result<Vec<Option<String>>, Box<Denial>> {
        let settings = self.settings();
        let (method, arguments) = match what {
            Read::Resource(uri) => ("resources/read", format!(r#"{{"uri":{}}}"#, quote(uri))),
            Read::Prompt { name, arguments } => {
                let filled = if arguments.trim().is_empty() { "{}" } else { arguments };
                ("prompts/get", format!(r#"{{"name":{},"arguments":{filled}}}"#, quote(name)))
            }
        };
        let call = self.named(method, Arguments::json(arguments))?;
        let mut objections = Objections::default();
        objections.add(admission::server(&settings, &self.server));
        if let Read::Prompt { name, .. } = what {
            objections.add(self.check_prompt(&settings, name));
        }
        if !settings.enforce {
            objections.soften();
        }
        let along = self.readable(along);
        let others = AlsoJudged { readings: &[], extra: &along };
        let (limits, policies) = (SpentLimits::none(), self.policies());
        let judgement = policies.judge_also(&call, others, &now(), &limits, Findings::NotInspected);
        objections.add(unfit_along(&self.inner.in_force().settings, &along));
        objections.add(judgement.rewritten().map(|_| irreplaceable()));
        let mut record =
            record::call(Kind::McpToolCalled, &self.context, &call, record::Input::Known);
        if let Some(tool) = &mut record.tool {
            tool.name = method.to_owned();
        }
        record.verdict = Some(objections.verdict(&judgement));
        record.mcp = Some(self.facts(&settings));
        let id = record.id.to_string();
        self.inner.write(record);
        match objections.denial(method, judgement.denial(&call)) {
            None => Ok(judgement.rewritten_extra().to_vec()),
            Some(denial) => Err(Box::new(Denial { record: Some(id), ..denial })),
        }
    }

    /// A text that is no result: what stops it, and what is left of it if something was taken out.
    pub(crate) fn look(
        &self,
        place: Place,
        word: &str,
        raw: &str,
    ) -> (Option<Box<Denial>>, Option<String>) {
        let settings = self.settings();
        let call = match self.named(word, Arguments::json("")) {
            Ok(call) => call,
            Err(denial) => return (Some(denial), None),
        };
        let looked = self.inspect(&settings, place, raw);
        let found = Findings::Of(&looked.findings);
        let judgement = self.policies().judge_text(&call, &now(), found);
        let named = Named { call: &call, tool: word, place: word };
        match self.conclude(&settings, named, looked, Some(judgement)) {
            Inspected::Pass => (None, None),
            Inspected::Replace(stripped) => (None, Some(stripped)),
            Inspected::Block(denial) => (Some(denial), None),
        }
    }

    fn inspect(&self, settings: &McpSettings, place: Place, raw: &str) -> Looked {
        // A message may have no parameters at all.
        if raw.trim().is_empty() {
            return Looked { findings: Vec::new(), stripped: None, worst: None };
        }
        // As they were at the last call: what is asked for with every text must cost nothing.
        let known = self.known_books().others(&self.server);
        let context = Context { place, known: &known };
        let findings = inspect_json(raw, &context);
        let stripped = settings.inspect.strip.then(|| strip(raw)).flatten();
        let worst = match &stripped {
            Some(stripped) => pins::worst(settings, &inspect_json(stripped, &context)).cloned(),
            None => pins::worst(settings, &findings).cloned(),
        };
        Looked { findings, stripped, worst }
    }

    /// What comes of an inspection, and its record if anything was found.
    fn conclude(
        &self,
        settings: &McpSettings,
        named: Named<'_>,
        looked: Looked,
        judgement: Option<Judgement>,
    ) -> Inspected {
        let by_rule = judgement.as_ref().and_then(|it| it.denial(named.call));
        let by_setting = looked.worst.as_ref().filter(|_| settings.enforce).map(|worst| {
            let reason = format!("What `{}` sent holds {}.", self.server, pins::named(worst));
            let hint = "Go on without it, and tell the user what was found.";
            denial(Check::Finding.word(), named.call.name.raw(), &reason, hint)
        });
        let denial = by_setting.or(by_rule);
        if looked.findings.is_empty() && denial.is_none() {
            return Inspected::Pass;
        }
        let origin = &named.call.origin;
        let mut record = self.found(settings, origin, named.tool, named.place, &looked.findings);
        let action = match (&denial, &looked.stripped) {
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
        match (denial, looked.stripped) {
            (Some(denial), _) => Inspected::Block(Box::new(Denial { record: Some(id), ..denial })),
            (None, Some(stripped)) => Inspected::Replace(stripped),
            (None, None) => Inspected::Pass,
        }
    }

    /// Something of this server as rules name it.
    pub(crate) fn named(&self, what: &str, arguments: Arguments) -> Result<ToolCall, Box<Denial>> {
        let name = ToolName::on(&self.server, what);
        let name = name.map_err(|why| Box::new(Denial::refused(what, &why.to_string())))?;
        let (id, origin) = (CallId::default(), self.context.origin.clone());
        Ok(ToolCall { id, name, arguments, origin, caller: None })
    }
}

/// A rule would replace a part of what is asked for: then it would be something else.
fn irreplaceable() -> Objection {
    let reason = "What it asks for holds something that a rule replaces.".to_owned();
    Objection::block(Check::Rules, reason, "Ask without it.")
}

/// What an inspection found in a text.
struct Looked {
    findings: Vec<Finding>,
    /// What is left of the text, if something was taken out.
    stripped: Option<String>,
    /// The worst of what is left, if it is as bad as stops a text.
    worst: Option<Finding>,
}

/// A text, as rules and records name it.
#[derive(Clone, Copy)]
struct Named<'a> {
    call: &'a ToolCall,
    tool: &'a str,
    place: &'a str,
}

fn verdict(denial: Option<&Denial>, judgement: Option<&Judgement>) -> callgate_audit::Verdict {
    let rules = judgement.map(record::verdict);
    let Some(denial) = denial else {
        let mut verdict = record::without_rule(Action::Audit, Code::Finding, "something was found");
        verdict.audits = rules.map(|rules| rules.audits).unwrap_or_default();
        return verdict;
    };
    let mut verdict = record::without_rule(Action::Deny, code_of(denial), &denial.reason);
    verdict.policy.clone_from(&denial.policy);
    verdict.rule.clone_from(&denial.rule);
    verdict.hint.clone_from(&denial.hint);
    verdict
}

/// How records and rules call a place.
fn word(place: Place) -> &'static str {
    match place {
        Place::Definition => "tools/list",
        Place::Instructions => "instructions",
        Place::Prompt => "prompts/get",
        Place::Resource => "resources/read",
        Place::Result => "result",
        Place::Progress => "notifications",
        Place::Sampling => "sampling/createMessage",
        Place::Elicitation => "elicitation/create",
    }
}
