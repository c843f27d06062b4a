//! What a call's name means, and what lists, pins and rates have against it.

use std::sync::Arc;

use callgate_audit::{McpFacts, RecordId};
use callgate_call::{Arguments, ArgumentsForm, ToolCall};
use callgate_policy::{ExtraInput, Findings, LimitKey};

use super::Subject;
use crate::clerk::NoAnswer;
use crate::clock::now;
use crate::decider::Inner;
use crate::mcp::{AtTool, Check, KnownTool, Meant, Objection, Objections};
use crate::settings::{OddArguments, Oversize, Settings};

/// A call of which is known what it names.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) subject: Arc<Subject>,
    pub(crate) target: Target,
    pub(crate) objections: Objections,
    /// The buckets of `mcp.rate` that it takes from.
    pub(crate) rate: Vec<LimitKey>,
    /// Whether what speaks against servers and tools stops calls.
    pub(crate) enforce: bool,
    /// It passes without anybody looking at its arguments.
    pub(crate) waived: bool,
}

/// What a call is for.
#[derive(Debug)]
pub(crate) enum Target {
    /// What a name in a model's answer means.
    Named(Meant),
    /// A tool of the server that it is on its way to.
    Server(Box<AtTool>),
}

impl Resolved {
    pub(crate) fn stops(&self) -> bool {
        self.objections.stops().next().is_some()
    }

    pub(crate) fn findings(&self) -> Findings<'_> {
        match &self.target {
            Target::Named(_) => Findings::NotInspected,
            Target::Server(at) => {
                let known = at.known.as_ref();
                known.map(|known| Findings::Of(&known.inspection.findings)).unwrap_or_default()
            }
        }
    }

    pub(crate) fn at_tool(&self) -> Option<&AtTool> {
        match &self.target {
            Target::Named(_) => None,
            Target::Server(at) => Some(at),
        }
    }

    pub(crate) fn known(&self) -> Option<&KnownTool> {
        self.at_tool().and_then(|at| at.known.as_ref())
    }

    /// The call that the model made, or that this one goes on with.
    pub(crate) fn joined(&self) -> Option<RecordId> {
        let goes_on = self.subject.at_server().and_then(|at| at.goes_on.as_ref());
        let joined = || self.at_tool().and_then(|at| at.joined.as_ref()).map(|it| it.record);
        goes_on.map(|first| first.record).or_else(joined)
    }

    /// What records say of the server.
    pub(crate) fn facts(&self) -> Option<McpFacts> {
        self.at_tool().map(|at| at.facts.clone())
    }
}

pub(crate) async fn resolve(
    inner: &Arc<Inner>,
    subject: Arc<Subject>,
) -> Result<Resolved, NoAnswer> {
    let mut resolved = match subject.at_server() {
        None => inner.resolve_named(subject).await?,
        Some(_) => {
            inner
                .ask(move |_| match subject.at_server() {
                    Some(at) => Ok(at.session.resolve(&subject, at)),
                    None => Err(NoAnswer),
                })
                .await??
        }
    };
    let subject = Arc::clone(&resolved.subject);
    let settings = &subject.in_force.settings;
    resolved.waived = is_waived(settings, &subject.call);
    resolved.objections.add(unfit(settings, &subject.call));
    resolved.objections.add(unfit_along(settings, &subject.along));
    if resolved.waived {
        resolved.objections.add(waived_along(&subject));
    }
    Ok(resolved)
}

/// Whether a call passes without anybody looking at its arguments.
fn is_waived(settings: &Settings, call: &ToolCall) -> bool {
    is_oversize(&call.arguments) && settings.oversize == Oversize::Allow
}

fn is_oversize(arguments: &Arguments) -> bool {
    matches!(arguments.form(), ArgumentsForm::Oversize(_))
}

/// Arguments that the operator wants nothing to be called with.
fn unfit(settings: &Settings, call: &ToolCall) -> Option<Objection> {
    let why = match is_oversize(&call.arguments) {
        true if settings.oversize == Oversize::Deny => "Its arguments are larger than the limit.",
        false if settings.arguments == OddArguments::Deny && call.arguments.value().is_err() => {
            "Its arguments are not one JSON object."
        }
        _ => return None,
    };
    Some(Objection::block(Check::Arguments, why.to_owned(), "Call it with one JSON object."))
}

/// What the operator wants nothing to be sent with.
pub(crate) fn unfit_along(settings: &Settings, along: &[ExtraInput]) -> Option<Objection> {
    let refuses = settings.oversize == Oversize::Deny;
    let large = along.iter().find(|along| refuses && is_oversize(&along.input))?;
    let reason = format!("Its `{}` is larger than the limit.", large.place);
    Some(Objection::block(Check::Arguments, reason, "Send less."))
}

/// What goes along with a call whose arguments nobody looks at. The call is not edited: what a rule
/// would replace is refused.
fn waived_along(subject: &Subject) -> Option<Objection> {
    let bare = ToolCall { arguments: Arguments::json(""), ..subject.call.clone() };
    let judged = subject.policies.judge_sent(&bare, &subject.along, &now(), Findings::Of(&[]));
    let stops = !judged.verdict.passes() || judged.is_rewritten();
    let reason = format!("What goes along with it does not pass: {}", judged.reason);
    stops.then(|| Objection::block(Check::Rules, reason, "Call it without that."))
}
