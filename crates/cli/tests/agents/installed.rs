//! The agents that `cargo xtask test` has installed.

use std::path::{Path, PathBuf};

use crate::agent::Agent;

/// Where the agents are.
pub(crate) struct Installed {
    pub(crate) node: PathBuf,
}

impl Installed {
    /// `None`, said loudly, without `cargo xtask test`, which sets them up.
    pub(crate) fn find() -> Option<Self> {
        let node = std::env::var_os("CALLGATE_AGENTS_NODE").map(PathBuf::from);
        if node.is_none() {
            callgate_testkit::skipped("no agents here (`cargo xtask test` sets them up)");
        }
        node.map(|node| Self { node })
    }

    /// The program of an agent: for Node, except that of opencode.
    pub(crate) fn program(agent: Agent) -> PathBuf {
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/node/node_modules");
        packages.join(match agent {
            Agent::ClaudeCode => "@anthropic-ai/claude-code/cli-wrapper.cjs",
            Agent::Codex | Agent::CodexPrograms => "@openai/codex/bin/codex.js",
            Agent::Gemini => "@google/gemini-cli/bundle/gemini.js",
            // Install scripts, which would link it into its package, do not run.
            Agent::OpenCode if cfg!(target_arch = "aarch64") => "opencode-linux-arm64/bin/opencode",
            Agent::OpenCode => "opencode-linux-x64-baseline/bin/opencode",
        })
    }
}
