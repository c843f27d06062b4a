//! What is judged on this machine right now, and what is not.

use callgate_call::Surface;
use callgate_config::{ResolvedConfig, word_for};
use callgate_proxy::InspectionMode;

use super::{gateway, mcp};

/// Three lists, each in words for people.
#[derive(Debug, Default)]
pub(super) struct Enforcement {
    pub(super) enforced: Vec<String>,
    /// Judged as soon as something is started or repaired, with what that is.
    pub(super) inactive: Vec<String>,
    pub(super) not_enforced: Vec<String>,
}

/// The policies on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoliciesOnDisk {
    Valid,
    /// A running gateway keeps the last valid ones in force; a new one does not start.
    Rejected,
}

const CALLS: &str = "calls in responses that go through the gateway";
const OFFERS: &str = "tools that requests offer";

pub(super) fn examine(
    resolved: &ResolvedConfig,
    policies: PoliciesOnDisk,
    gateway: gateway::GatewayRunning,
) -> Enforcement {
    let mut found = Enforcement::default();
    let Some(compiled) = resolved.policies.compiled.as_ref().or_else(|| empty(policies)) else {
        let why = "there are no policies";
        found.not_enforced.extend([CALLS, OFFERS].map(|what| format!("{what}: {why}")));
        found.enforced.push(mcp::enforced(resolved, gateway));
        found.not_enforced.extend(beyond());
        return found;
    };
    let calls = format!("{CALLS} ({})", providers(resolved));
    let (gate, why_inactive) = match (gateway, policies) {
        (gateway::GatewayRunning::Yes, PoliciesOnDisk::Valid) => (&mut found.enforced, ""),
        (gateway::GatewayRunning::Yes, PoliciesOnDisk::Rejected) => {
            (&mut found.enforced, ": by the last valid policies")
        }
        (gateway::GatewayRunning::No, PoliciesOnDisk::Valid) => {
            (&mut found.inactive, ": start it with `callgate serve`")
        }
        (gateway::GatewayRunning::No, PoliciesOnDisk::Rejected) => {
            (&mut found.not_enforced, ": a gateway does not start with a rejected policy")
        }
        (gateway::GatewayRunning::SomethingElse, _) => {
            (&mut found.inactive, ": another program uses the gateway's address")
        }
    };
    let mut not = Vec::new();
    if resolved.proxy.mode == InspectionMode::Off {
        let why = format!("`gateway.mode` is `{}`", word_for(InspectionMode::Off));
        not.extend([CALLS, OFFERS].map(|what| format!("{what}: {why}")));
    } else {
        gate.push(format!("{calls}{why_inactive}"));
        match (policies, compiled.concern(Surface::Inbound)) {
            (PoliciesOnDisk::Valid, true) => gate.push(format!("{OFFERS}{why_inactive}")),
            (PoliciesOnDisk::Valid, false) => {
                not.push(format!("{OFFERS}: no rule names the surface `inbound`"));
            }
            // Which surfaces the last valid policies name is not known here.
            (PoliciesOnDisk::Rejected, _) => {}
        }
    }
    match policies {
        PoliciesOnDisk::Valid => found.enforced.push(mcp::enforced(resolved, gateway)),
        PoliciesOnDisk::Rejected => {
            let why = "only those that were started before the policy was rejected";
            found.enforced.push(format!("{}: {why}", mcp::enforced(resolved, gateway)));
        }
    }
    found.not_enforced.extend(not);
    found.not_enforced.extend(beyond());
    found
}

/// Rejected policies are not known, which is not the same as no policies.
fn empty(policies: PoliciesOnDisk) -> Option<&'static callgate_policy::Policies> {
    static NONE: std::sync::LazyLock<callgate_policy::Policies> =
        std::sync::LazyLock::new(callgate_policy::Policies::none);
    (policies == PoliciesOnDisk::Rejected).then(|| &*NONE)
}

fn providers(resolved: &ResolvedConfig) -> String {
    let names: Vec<&str> = resolved.proxy.providers.iter().map(|it| it.name.as_str()).collect();
    names.join(", ")
}

/// What no gateway sees.
fn beyond() -> impl Iterator<Item = String> {
    let around = [
        "agents that do not go through the gateway",
        "MCP servers that an agent starts or reaches by itself",
    ];
    let later = ["agents' hooks", "connections"];
    let later = later.into_iter().map(|what| format!("{what}: not in this version"));
    around.into_iter().map(str::to_owned).chain(later)
}
