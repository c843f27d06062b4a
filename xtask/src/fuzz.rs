//! Fuzzing on the stable toolchain: the flags of `cargo fuzz run --sanitizer none`, without it.
//!
//! A target is a file in `fuzz/targets`. It starts from the seeds in `crates/testkit/src/fuzz` and
//! from what earlier runs found. [`differential`] is not one of them: it needs the official
//! clients.

mod differential;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::setup;
use crate::steps::{output, run};
use crate::workspace::Workspace;

/// Coverage that the engine needs, and the cfg that tells code it is being fuzzed.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    --cfg fuzzing";

/// Longest input. Longer ones are slower and find nothing new here.
const MAX_LEN: usize = 8 * 1024;

/// Runs every target, or one, for this many seconds.
pub(crate) fn fuzz(workspace: &Workspace, seconds: u64, only: Option<&str>) -> Result<()> {
    if only == Some(differential::NAME) {
        return differential::run(workspace, seconds);
    }
    let mut targets = targets(&workspace.root)?;
    if let Some(only) = only {
        let known = targets.join(", ");
        targets.retain(|target| target == only);
        if targets.is_empty() {
            bail!("no fuzz target `{only}`; there are {known}, {}", differential::NAME);
        }
    }
    setup::compiler()?;
    let binaries = build(workspace)?;
    let left = Mutex::new(targets.into_iter());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Result<()> {
        while let Some(target) = next() {
            fuzz_one(workspace, &binaries, &target, seconds)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().map_err(|_| anyhow::anyhow!("running a fuzz target panicked"))?
        })
    })?;
    // Alone: the clients fill the machine.
    if only.is_none() { differential::run(workspace, seconds) } else { Ok(()) }
}

/// Targets that run at a time.
const AT_ONCE: usize = 2;

fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = fs::read_dir(root.join("fuzz/targets")).context("fuzz/targets")?;
    let mut names: Vec<String> = folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// Builds all targets; gives the folder they are in.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    // Named, so that the flags do not reach build scripts and macros, which lack the engine.
    let host = host()?;
    let built = workspace.target.join("fuzz");
    run(workspace
        .cargo(&["build", "--release", "--quiet", "--locked", "--target", &host])
        .args(["--manifest-path", "fuzz/Cargo.toml", "--target-dir"])
        .arg(&built)
        .env("RUSTFLAGS", FLAGS))?;
    Ok(built.join(host).join("release"))
}

fn host() -> Result<String> {
    let said = output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

fn fuzz_one(workspace: &Workspace, binaries: &Path, target: &str, seconds: u64) -> Result<()> {
    let corpus = workspace.target.join("fuzz-corpus").join(target);
    let artifacts = workspace.target.join("fuzz-artifacts").join(target);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let seeds = output(Command::new(binaries.join("plant")).arg(target).arg(&corpus))?;

    let mut command = Command::new(binaries.join(target));
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={MAX_LEN}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1", "-verbosity=1"])
        .arg(&corpus);
    let done = command.output().with_context(|| format!("cannot start fuzz target {target}"))?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if !done.status.success() {
        let from = said.find("panicked at").or(said.find("==")).unwrap_or(0);
        let tail = said.get(from..).unwrap_or(&said);
        bail!(
            "fuzz target `{target}` found a failure\n{}\nhint: the input is in {}; run it again \
             with {} <input>",
            tail.trim_end(),
            artifacts.display(),
            binaries.join(target).display()
        );
    }
    let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    println!("{target:<12} {:>10} runs from {} seeds", runs.unwrap_or("?").trim(), seeds.trim());
    Ok(())
}
