//! Real coding agents with callgate on both sides of them: `callgate serve` between them and their
//! model, `callgate mcp wrap` and `/mcp/<server>` between them and their servers.
//!
//! The model is scripted, the servers are scripted, the agents are not: they are the packages of
//! `agents/node/package-lock.json`, run without an account and without a network.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

mod agent;
mod installed;
mod model;
mod process;
mod scenes;
mod servers;
mod world;

use agent::Agent;
use installed::Installed;

/// Every scene with every agent, each by itself.
macro_rules! with {
    ($($name:ident: $agent:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn runs_what_is_allowed_and_it_is_joined_to_the_models_call() {
                let Some(installed) = Installed::find() else { return };
                scenes::allowed($agent, &installed);
            }

            #[test]
            fn does_not_run_what_is_denied_in_the_answer_and_the_model_learns_why() {
                let Some(installed) = Installed::find() else { return };
                scenes::denied_in_the_answer($agent, &installed);
            }

            #[test]
            fn ends_its_turn_where_nothing_is_left_and_goes_on_later() {
                let Some(installed) = Installed::find() else { return };
                scenes::nothing_left($agent, &installed);
            }

            #[test]
            fn finishes_its_task_another_way_after_two_denials() {
                let Some(installed) = Installed::find() else { return };
                scenes::another_way($agent, &installed);
            }

            #[test]
            fn thinks_of_another_way_after_a_denial() {
                let Some(installed) = Installed::find() else { return };
                scenes::thinks_of_another_way($agent, &installed);
            }

            #[test]
            fn goes_on_where_a_server_is_not_asked() {
                let Some(installed) = Installed::find() else { return };
                scenes::denied_at_the_server($agent, &installed);
            }
        }
    )*};
}

with! {
    claude_code: Agent::ClaudeCode;
    codex: Agent::Codex;
    gemini: Agent::Gemini;
    opencode: Agent::OpenCode;
}

#[test]
fn what_a_program_of_the_model_calls_is_judged_at_the_server() {
    let Some(installed) = Installed::find() else { return };
    scenes::called_by_a_program(&installed);
}

/// Where each agent reads rules, below its home or the folder where it works.
#[test]
fn agents_enforce_the_rules_that_were_exported_to_them() {
    let Some(installed) = Installed::find() else { return };
    for (agent, to, place) in [
        (Agent::ClaudeCode, "claude-code", ".claude/settings.json"),
        (Agent::Codex, "codex", ".codex/rules/callgate.rules"),
        (Agent::Gemini, "gemini", ".gemini/policies/callgate.toml"),
        (Agent::OpenCode, "opencode", "opencode.json"),
    ] {
        scenes::rules_of_its_own(agent, &installed, to, place);
    }
}
