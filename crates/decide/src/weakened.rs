//! Finds settings that stop less than those before them, or may.

use callgate_policy::Globs;

use crate::in_force::InForce;
use crate::mcp::{McpSettings, ToolRule};
use crate::settings::{OddArguments, OnFailure, Oversize, Settings};

/// The settings that became weaker, each in a few words.
pub(crate) fn settings(old: &InForce, new: &InForce) -> Vec<String> {
    let (was, is) = (&*old.mcp, &*new.mcp);
    let pairs = actions(was).into_iter().zip(actions(is));
    let milder = pairs.filter(|((_, was), (_, is))| is < was).map(|((path, _), _)| path);
    let others = lists(was, is).into_iter().chain(switches(was, is));
    let others = others.chain(failures(&old.settings, &new.settings));
    let weaker = others.filter(|(_, is_weaker)| *is_weaker).map(|(path, _)| path);
    milder.chain(weaker).map(|path| format!("`{path}` may stop less than before")).collect()
}

/// Settings with a strictness.
fn actions(mcp: &McpSettings) -> [(&'static str, u8); 7] {
    [
        ("mcp.pins.on_change", mcp.pins.on_change as u8),
        ("mcp.sampling", mcp.sampling as u8),
        ("mcp.elicitation", mcp.elicitation as u8),
        ("mcp.roots", mcp.roots as u8),
        ("mcp.flows.read_then_send", mcp.flows.read_then_send as u8),
        ("mcp.flows.take_over", mcp.flows.take_over as u8),
        ("mcp.flows.burst", mcp.flows.burst.map_or(0, |burst| burst.then as u8)),
    ]
}

fn switches(was: &McpSettings, is: &McpSettings) -> [(&'static str, bool); 5] {
    let found = match (was.inspect.block_at, is.inspect.block_at) {
        (Some(was), Some(is)) => is > was,
        (was, is) => was.is_some() && is.is_none(),
    };
    [
        ("mcp.enforce", was.enforce && !is.enforce),
        ("mcp.fail_closed", was.fail_closed && !is.fail_closed),
        ("mcp.pins.auto_trust_first", !was.pins.auto_trust_first && is.pins.auto_trust_first),
        ("mcp.inspect.strip", was.inspect.strip && !is.inspect.strip),
        ("mcp.inspect.block_at", found),
    ]
}

/// A denying list is weaker without one of its entries; an allowing list is weaker with an
/// additional one.
fn lists(was: &McpSettings, is: &McpSettings) -> [(&'static str, bool); 4] {
    let opened = |was: &Option<Globs>, is: &Option<Globs>| match (was, is) {
        (Some(was), Some(is)) => !was.includes(is),
        (was, is) => was.is_some() && is.is_none(),
    };
    let opened_tools = match (&was.allow_tools, &is.allow_tools) {
        (Some(was), Some(is)) => !has_all(was, is),
        (was, is) => was.is_some() && is.is_none(),
    };
    [
        ("mcp.deny_servers", !is.deny_servers.includes(&was.deny_servers)),
        ("mcp.allow_servers", opened(&was.allow_servers, &is.allow_servers)),
        ("mcp.deny_tools", !has_all(&is.deny_tools, &was.deny_tools)),
        ("mcp.allow_tools", opened_tools),
    ]
}

fn has_all(list: &[ToolRule], entries: &[ToolRule]) -> bool {
    entries.iter().all(|entry| list.contains(entry))
}

fn failures(was: &Settings, is: &Settings) -> [(&'static str, bool); 3] {
    let allows = |settings: &Settings| settings.on_failure == OnFailure::Allow;
    let waives = |settings: &Settings| settings.oversize == Oversize::Allow;
    let denied = was.oversize == Oversize::Deny && is.oversize != Oversize::Deny;
    let odd = was.arguments == OddArguments::Deny && is.arguments != OddArguments::Deny;
    [
        ("audit.on_failure", allows(is) && !allows(was)),
        ("oversize", denied || waives(is) && !waives(was)),
        ("arguments", odd),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mcp::CheckAction;

    fn with(change: impl FnOnce(&mut McpSettings)) -> InForce {
        let mut mcp = McpSettings::default();
        change(&mut mcp);
        InForce { policies: None, settings: Settings::default(), mcp: Arc::new(mcp) }
    }

    #[test]
    fn settings_that_stop_less_are_listed_and_stricter_ones_are_not() {
        let strict = with(|mcp| {
            mcp.deny_servers = Globs::new(["a", "b"]);
            mcp.allow_servers = Some(Globs::new(["c"]));
            mcp.fail_closed = true;
        });
        let lax = with(|mcp| {
            mcp.deny_servers = Globs::new(["a"]);
            mcp.allow_servers = Some(Globs::new(["c", "d"]));
            mcp.sampling = CheckAction::Alert;
            mcp.inspect.block_at = None;
        });
        let weakened = settings(&strict, &lax);
        for path in [
            "mcp.sampling",
            "mcp.deny_servers",
            "mcp.allow_servers",
            "mcp.fail_closed",
            "mcp.inspect.block_at",
        ] {
            assert!(
                weakened.contains(&format!("`{path}` may stop less than before")),
                "{path}: {weakened:?}"
            );
        }
        assert_eq!(weakened.len(), 5, "{weakened:?}");
        assert_eq!(settings(&lax, &strict), Vec::<String>::new());
        assert_eq!(settings(&lax, &lax), Vec::<String>::new());
    }
}
