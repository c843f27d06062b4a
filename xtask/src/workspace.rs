//! Where things are, and what cargo knows about them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::steps::output;

/// The workspace this program belongs to.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Its root folder.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    /// `cargo metadata` of the members.
    pub(crate) metadata: Value,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask is not in a workspace")?;
        let json = output(
            Command::new(cargo_path())
                .args(["metadata", "--format-version", "1", "--no-deps"])
                .current_dir(root),
        )?;
        let metadata: Value = serde_json::from_str(&json).context("cargo metadata")?;
        let folder = |key: &str| metadata.get(key).and_then(Value::as_str).map(PathBuf::from);
        Ok(Self {
            root: folder("workspace_root").context("cargo metadata names no root")?,
            target: folder("target_directory").context("cargo metadata names no target folder")?,
            metadata,
        })
    }

    /// A cargo command at the root.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new(cargo_path());
        command.args(args).current_dir(&self.root);
        command
    }

    /// The same, with clippy as the compiler of the workspace's own crates: it reports what it
    /// finds while it compiles, and any warning is an error. Building and linting together costs
    /// little more than building; apart, every library is compiled twice.
    pub(crate) fn linting_cargo(&self, args: &[&str]) -> Command {
        let mut command = self.cargo(args);
        command.env("RUSTC_WORKSPACE_WRAPPER", clippy_path());
        // How `cargo clippy` passes on what follows its `--`.
        command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
        // What is built once, from nothing, has no use for notes on how to build it again.
        command.env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Where installed tools live. Not in the target folder, so that `cargo clean` keeps them.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join(".tools")
    }
}

/// Next to the cargo that runs this program.
fn clippy_path() -> PathBuf {
    cargo_path().with_file_name("clippy-driver")
}

/// The cargo that runs us, so that every step uses the same toolchain.
pub(crate) fn cargo_path() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}
