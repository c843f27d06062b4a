//! Checks tools against pins and findings.

use callgate_audit::ReasonCode;
use callgate_policy::Denial;
use callgate_registry::{ItemIdentity, ItemKind, PinStatus};
use callgate_scan::inspect::Finding;

use super::settings::{CheckAction, McpSettings};
use super::state::Inspection;
use crate::checks::{Check, CheckFailure};

/// Checks something against its pin. Without a pin everything passes, unless first definitions need
/// a person's trust too.
pub(crate) fn check(
    settings: &McpSettings,
    identity: &ItemIdentity,
    state: PinStatus,
) -> Option<CheckFailure> {
    let action = settings.pins.on_change;
    let stop =
        |reason: String, hint: String| Some(CheckFailure::new(Check::Pin, action, reason, &hint));
    let changed = |reason: String, hint: String| {
        stop(reason, hint).map(|it| it.with_code(ReasonCode::PinChanged))
    };
    match state {
        PinStatus::Trusted => None,
        PinStatus::Unseen if settings.pins.auto_trust_first => None,
        PinStatus::Unseen => stop(
            format!("{} has not been seen yet, so no one has trusted it.", subject(identity)),
            "Use a tool that the server lists.".to_owned(),
        ),
        PinStatus::Changed => changed(
            format!(
                "{} is no longer what was trusted: its definition or its server has changed.",
                subject(identity)
            ),
            format!(
                "Use another tool, and ask the operator to review the change: `{}`.",
                command("diff", identity)
            ),
        ),
        PinStatus::Quarantined => stop(
            format!("{} is new, and no one has trusted it yet.", subject(identity)),
            format!(
                "Use another tool, and ask the operator to review this one: `{}`, then `{}`.",
                command("list", identity),
                command("trust", identity)
            ),
        ),
    }
}

/// The finding that hides this definition, if any.
pub(crate) fn findings(
    settings: &McpSettings,
    tool: &str,
    inspection: &Inspection,
) -> Option<CheckFailure> {
    let found = match settings.inspect.strip {
        true => &inspection.remaining,
        false => &inspection.findings,
    };
    let blocking_finding = blocking_finding(settings, found)?;
    let reason =
        format!("The definition of `{tool}` contains {}.", describe_finding(blocking_finding));
    Some(CheckFailure::block(
        Check::Finding,
        reason,
        "Use another tool, and tell the user what was found.",
    ))
}

/// The worst finding, if its severity reaches the blocking threshold.
pub(crate) fn blocking_finding<'f>(
    settings: &McpSettings,
    found: &'f [Finding],
) -> Option<&'f Finding> {
    let least = settings.inspect.block_at?;
    found.iter().filter(|it| it.severity >= least).max_by_key(|it| it.severity)
}

/// Describes a finding in our own words. The model reads the denial and must not get the text that
/// was found; the record has it.
pub(crate) fn describe_finding(finding: &Finding) -> String {
    format!("{} ({}, {})", finding.class.meaning(), finding.class, finding.severity)
}

fn subject(identity: &ItemIdentity) -> String {
    let ItemIdentity { server, kind, name } = identity;
    match kind {
        ItemKind::Tool => format!("The tool `{name}` of `{server}`"),
        ItemKind::Prompt => format!("The prompt `{name}` of `{server}`"),
        ItemKind::Instructions => format!("The self-description of `{server}`"),
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

/// A denial of a server's request or text.
pub(crate) fn denial(rule: &str, subject: &str, reason: &str, hint: &str) -> Denial {
    Denial {
        rule: Some(rule.to_owned()),
        hint: Some(hint.to_owned()),
        ..Denial::refused(subject, reason)
    }
}

/// Whether this action blocks, with these settings.
pub(crate) fn is_blocked(settings: &McpSettings, action: CheckAction) -> bool {
    settings.enforce && action == CheckAction::Block
}
