//! The ways to the server.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Direct,
    /// Behind a program that only copies.
    Copy,
    /// Behind callgate, records safe against its own end.
    Process,
    /// Behind callgate, records safe against a power cut.
    Disk,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Direct, Self::Copy, Self::Process, Self::Disk];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Copy => "copy",
            Self::Process => "callgate, durability: process",
            Self::Disk => "callgate, durability: disk",
        }
    }
}

/// Where callgate has its files.
pub(crate) struct Place {
    folder: TempDir,
    callgate: String,
}

/// Rules that must see the arguments, and do not match.
pub(crate) const RULES: &str = "policy: bench
rules:
  - { id: no-delete, tool: 'delete_*', verdict: deny, reason: Nothing is deleted. }
  - { id: no-etc, when: { arg: path, starts_with: /etc/ }, verdict: deny, reason: Not there. }
  - { id: no-keys, when: { arg: message, matches: 'sk-[a-z0-9]{20}' }, verdict: deny, reason: No keys. }
";

impl Place {
    pub(crate) fn new(callgate: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("rules.yaml"), RULES)?;
        for durability in ["process", "disk"] {
            let config = format!(
                "store: sqlite:{durability}.db\npolicies: [rules.yaml]\naudit: {{ durability: {durability} }}\n"
            );
            fs::write(folder.path().join(format!("{durability}.yaml")), config)?;
        }
        Ok(Self { folder, callgate: callgate.to_owned() })
    }

    /// The command that leads to a server by a way.
    pub(crate) fn command(&self, way: Way, server: &[String]) -> Result<Command> {
        let us = std::env::current_exe()?;
        let config = match way {
            Way::Direct => {
                let (program, args) = server.split_first().context("there is no command")?;
                let mut command = Command::new(program);
                command.args(args);
                return Ok(command);
            }
            Way::Copy => {
                let mut command = Command::new(us);
                command.arg("copy").args(server);
                return Ok(command);
            }
            Way::Process => "process.yaml",
            Way::Disk => "disk.yaml",
        };
        let mut command = Command::new(&self.callgate);
        command.arg("--config").arg(self.folder.path().join(config));
        command.args(["mcp", "wrap", "--server", "bench", "--"]).args(server);
        Ok(command)
    }
}
