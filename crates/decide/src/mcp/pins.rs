//! What pins and findings have against a tool.

use callgate_audit::Code;
use callgate_policy::Denial;
use callgate_registry::{ItemIdentity, ItemKind, PinStatus};
use callgate_scan::inspect::Finding;

use super::check::{Check, Objection};
use super::desk::Inspection;
use super::settings::{McpSettings, Watch};

/// What the pin of something says. What was never seen is held to nothing, unless the first
/// definition is not trusted either.
pub(crate) fn check(
    settings: &McpSettings,
    identity: &ItemIdentity,
    state: PinStatus,
) -> Option<Objection> {
    let watch = settings.pins.on_change;
    let stop =
        |reason: String, hint: String| Some(Objection::new(Check::Pin, watch, reason, &hint));
    let changed =
        |reason: String, hint: String| stop(reason, hint).map(|it| it.coded(Code::PinChanged));
    match state {
        PinStatus::Trusted => None,
        PinStatus::Unseen if settings.pins.auto_trust_first => None,
        PinStatus::Unseen => stop(
            format!("{} has not been seen, so nobody can have trusted it.", subject(identity)),
            "Use a tool that the server lists.".to_owned(),
        ),
        PinStatus::Changed => changed(
            format!(
                "{} is no longer what was trusted: its definition or its server has changed.",
                subject(identity)
            ),
            format!(
                "Use another tool, and tell the operator to look at the change: `{}`.",
                command("diff", identity)
            ),
        ),
        PinStatus::Quarantined => stop(
            format!("{} is new, and nobody has trusted it yet.", subject(identity)),
            format!(
                "Use another tool, and tell the operator to look at it: `{}`, then `{}`.",
                command("list", identity),
                command("trust", identity)
            ),
        ),
    }
}

/// What was found in a definition, if it is as bad as is not shown.
pub(crate) fn findings(
    settings: &McpSettings,
    tool: &str,
    inspection: &Inspection,
) -> Option<Objection> {
    let found = match settings.inspect.strip {
        true => &inspection.remaining,
        false => &inspection.findings,
    };
    let worst = worst(settings, found)?;
    let reason = format!("The definition of `{tool}` holds {}.", named(worst));
    Some(Objection::block(
        Check::Finding,
        reason,
        "Use another tool, and tell the user what was found.",
    ))
}

/// The worst finding, if it is as bad as stops what it was found in.
pub(crate) fn worst<'f>(settings: &McpSettings, found: &'f [Finding]) -> Option<&'f Finding> {
    let least = settings.inspect.block_at?;
    found.iter().filter(|it| it.severity >= least).max_by_key(|it| it.severity)
}

/// A finding in words of our own: a denial is read by the model, which must not be given the very
/// text that was found. The record has it.
pub(crate) fn named(finding: &Finding) -> String {
    format!("{} ({}, {})", finding.class.meaning(), finding.class, finding.severity)
}

fn subject(identity: &ItemIdentity) -> String {
    let ItemIdentity { server, kind, name } = identity;
    match kind {
        ItemKind::Tool => format!("The tool `{name}` of `{server}`"),
        ItemKind::Prompt => format!("The prompt `{name}` of `{server}`"),
        ItemKind::Instructions => format!("What `{server}` says of itself"),
    }
}

/// A command for the operator.
fn command(what: &str, identity: &ItemIdentity) -> String {
    let ItemIdentity { server, kind, name } = identity;
    match kind {
        ItemKind::Tool => format!("callgate mcp pins {what} --server {server} --tool {name}"),
        ItemKind::Prompt => format!("callgate mcp pins {what} --server {server} --prompt {name}"),
        ItemKind::Instructions => {
            format!("callgate mcp pins {what} --server {server} --instructions")
        }
    }
}

/// A denial of something that a server asks or says.
pub(crate) fn denial(rule: &str, subject: &str, reason: &str, hint: &str) -> Denial {
    Denial {
        rule: Some(rule.to_owned()),
        hint: Some(hint.to_owned()),
        ..Denial::refused(subject, reason)
    }
}

/// Whether something that is watched is stopped.
pub(crate) fn is_blocked(settings: &McpSettings, watch: Watch) -> bool {
    settings.enforce && watch == Watch::Block
}
