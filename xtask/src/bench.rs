//! Speed of the hot paths. The programs measure and print; this builds and runs them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::setup;
use crate::steps::run;
use crate::workspace::Workspace;

/// A program that measures: an example of a crate.
///
/// Without arguments it prints a table of wall times. With `<case> <rounds>` it does one thing that
/// often and prints nothing, for [`crate::instructions`].
#[derive(Debug)]
pub(crate) struct Program {
    /// The example.
    pub(crate) name: &'static str,
    /// The package that has it.
    package: &'static str,
    /// Its folder.
    folder: &'static str,
    /// What the package must have for it.
    features: &'static str,
}

pub(crate) const PROGRAMS: [Program; 4] = [
    Program { name: "frames", package: "callgate-testkit", folder: "crates/testkit", features: "" },
    Program {
        name: "judge_bench",
        package: "callgate-policy",
        folder: "crates/policy",
        features: "",
    },
    Program {
        name: "effects_bench",
        package: "callgate-policy",
        folder: "crates/policy",
        features: "",
    },
    Program {
        name: "registry_bench",
        package: "callgate-registry",
        folder: "crates/registry",
        features: "",
    },
];

/// The gateway as a whole, against other proxies. It has a table and options of its own.
const GATEWAY: Program = Program {
    name: "gateway",
    package: "callgate-testkit",
    folder: "crates/testkit",
    features: "",
};

/// The gateway's benchmark, with its options.
pub(crate) fn gateway(workspace: &Workspace, options: &[&str]) -> Result<()> {
    let nginx = setup::nginx(workspace)?;
    setup::valgrind()?;
    let callgate = shipped(workspace)?;
    let binary = GATEWAY.build(workspace)?;
    println!("\n{}", GATEWAY.name);
    run(Command::new(binary)
        .arg("--nginx")
        .arg(nginx)
        .arg("--callgate")
        .arg(callgate)
        .args(options))
}

/// A wrapped MCP server as a whole, against the same server directly.
const MCP: Program = Program {
    name: "mcp",
    package: "callgate-testkit",
    folder: "crates/testkit",
    features: "servers",
};

/// The benchmark of wrapped MCP servers, with its options, and what definitions cost.
pub(crate) fn mcp(workspace: &Workspace, options: &[&str]) -> Result<()> {
    let callgate = shipped(workspace)?;
    let binary = MCP.build(workspace)?;
    println!("\n{}", MCP.name);
    let mut bench = Command::new(binary);
    bench.arg("--callgate").arg(callgate);
    // Only if the servers are already installed: installing them takes longer than measuring.
    if let Some(everything) = setup::everything_server(workspace) {
        bench.arg("--everything").args(everything);
    }
    run(bench.args(options))?;
    for program in PROGRAMS.iter().filter(|program| program.name == "registry_bench") {
        let binary = program.build(workspace)?;
        println!("\n{}", program.name);
        run(&mut Command::new(binary))?;
    }
    Ok(())
}

/// Recorded calls, judged again.
const REPLAY: Program =
    Program { name: "replay_bench", package: "callgate", folder: "crates/cli", features: "" };

/// The benchmark of `policy replay`, with its options.
pub(crate) fn replay(workspace: &Workspace, options: &[&str]) -> Result<()> {
    let callgate = shipped(workspace)?;
    let binary = REPLAY.build(workspace)?;
    println!("\n{}", REPLAY.name);
    run(Command::new(binary).arg("--callgate").arg(callgate).args(options))
}

/// Everything.
pub(crate) fn bench(workspace: &Workspace) -> Result<()> {
    for program in &PROGRAMS {
        if !program.exists(workspace) {
            eprintln!("{} has no example `{}`: left out", program.package, program.name);
            continue;
        }
        let binary = program.build(workspace)?;
        println!("\n{}", program.name);
        run(&mut Command::new(binary))?;
    }
    replay(workspace, &[])?;
    mcp(workspace, &[])?;
    gateway(workspace, &[])
}

impl Program {
    pub(crate) fn exists(&self, workspace: &Workspace) -> bool {
        let examples = workspace.root.join(self.folder).join("examples");
        examples.join(format!("{}.rs", self.name)).exists()
            || examples.join(self.name).join("main.rs").exists()
    }

    /// Builds it with the profile of releases.
    fn build(&self, workspace: &Workspace) -> Result<PathBuf> {
        let mut command = workspace.cargo(&["build", "--quiet", "--profile", SHIPPED]);
        command.args(["--package", self.package, "--example", self.name]);
        if !self.features.is_empty() {
            command.args(["--features", self.features]);
        }
        run(&mut command)?;
        Ok(workspace.target.join(SHIPPED).join("examples").join(self.name))
    }

    /// Where it is once [`build_like_tests`] has built it.
    pub(crate) fn built_like_tests(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join("debug/examples").join(self.name)
    }
}

/// Builds programs with the profile and the features of the tests, which have nearly everything of
/// them built already.
pub(crate) fn build_like_tests(workspace: &Workspace, programs: &[&Program]) -> Result<()> {
    let mut command = workspace.linting_cargo(&["build", "--quiet", "--workspace"]);
    for program in programs {
        command.args(["--example", program.name]);
    }
    run(&mut command)
}

/// The profile of releases, and the folder that cargo builds it in.
const SHIPPED: &str = "release";

/// Builds callgate as it is shipped.
fn shipped(workspace: &Workspace) -> Result<PathBuf> {
    run(&mut workspace.cargo(&["build", "--profile", SHIPPED, "--package", "callgate"]))?;
    Ok(workspace.target.join(SHIPPED).join("callgate"))
}
