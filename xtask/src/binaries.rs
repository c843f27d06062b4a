//! The test binaries of the workspace, run several at a time. Many of them wait for processes and
//! sockets most of the time; one after the other, as `cargo test` runs them, they leave the machine
//! idle.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::steps::{Took, run_captured, shown};
use crate::workspace::Workspace;

/// They take longest, and are begun first so that none of them is left to run alone at the end.
const LONGEST: [&str; 7] = ["agents", "mcp", "gateway", "faults", "corpus", "sdk", "differential"];

/// More than there are cores, for what waits.
const MORE_THAN_CORES: usize = 2;

/// Something to run, and what to call it.
#[derive(Debug)]
pub(crate) struct Job {
    name: String,
    command: Command,
}

/// A job that has ended.
struct Ended {
    took: Took,
    /// Its output, if it failed.
    failure: Option<String>,
}

/// Runs tests, with what `prepare` adds to the command of each, and returns how long each took. A
/// test that fails does not keep the others from running.
pub(crate) fn run(mut jobs: Vec<Job>, prepare: impl Fn(&mut Command)) -> Result<Vec<Took>> {
    jobs.iter_mut().for_each(|job| prepare(&mut job.command));
    let ended = run_all(jobs)?;
    let mut failed = Vec::new();
    for Ended { took, failure } in &ended {
        if let Some(output) = failure {
            eprint!("\n-- {}: FAILED\n{output}", took.name);
            failed.push(took.name.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("these failed, see above: {}", failed.join(", "));
    }
    Ok(ended.into_iter().map(|ended| ended.took).collect())
}

/// Runs all jobs, several at a time. Shows the output of a job when it ends; of those that failed,
/// the caller shows it after all have ended.
fn run_all(jobs: Vec<Job>) -> Result<Vec<Ended>> {
    let at_once = thread::available_parallelism().map_or(1, usize::from) + MORE_THAN_CORES;
    let jobs = Mutex::new(VecDeque::from(jobs));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || -> Result<Vec<Ended>> {
        let mut ended = Vec::new();
        while let Some(job) = next() {
            ended.push(run_one(job)?);
        }
        Ok(ended)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        let mut ended = Vec::new();
        for worker in workers {
            let by_it = worker.join().map_err(|_| anyhow::anyhow!("running a test panicked"))?;
            ended.extend(by_it?);
        }
        Ok(ended)
    })
}

fn run_one(Job { name, mut command }: Job) -> Result<Ended> {
    let begun = Instant::now();
    let (status, output) = run_captured(&mut command)?;
    let took = Took { name, time: begun.elapsed() };
    let seconds = took.time.as_secs_f64();
    if status.success() {
        eprint!("\n-- {} ({seconds:.1} s)\n{}\n", took.name, output.trim());
        return Ok(Ended { took, failure: None });
    }
    eprintln!("\n-- {} ({seconds:.1} s): FAILED, with {status}; shown at the end", took.name);
    Ok(Ended { took, failure: Some(output) })
}

/// The arguments of cargo to build tests. Always of the whole workspace: of single packages, cargo
/// builds libraries with other features.
pub(crate) const BUILD: [&str; 4] = ["test", "--workspace", "--no-run", "--quiet"];

/// Builds tests with this command, and gives them.
pub(crate) fn build(mut cargo: Command) -> Result<Vec<Job>> {
    eprintln!("$ {}", shown(&cargo));
    let done = cargo
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !done.status.success() {
        bail!("the tests do not build");
    }
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    let jobs: Result<Vec<Job>> = output.lines().filter_map(|line| job(line).transpose()).collect();
    let mut jobs = jobs?;
    // What is not among the longest stays in the order of cargo.
    jobs.sort_by_key(|job| !LONGEST.iter().any(|long| job.name.ends_with(&format!(" {long}"))));
    Ok(jobs)
}

/// The tests in the documentation, which cargo builds and runs.
pub(crate) fn of_documentation(workspace: &Workspace) -> Job {
    let command = workspace.linting_cargo(&["test", "--workspace", "--doc", "--quiet"]);
    Job { name: "documentation tests".into(), command }
}

/// The job that a message of cargo is about, if it is about a test binary.
fn job(line: &str) -> Result<Option<Job>> {
    let message: Value =
        serde_json::from_str(line).context("cargo printed something that is not JSON")?;
    let text = |path: &str| message.pointer(path).and_then(Value::as_str);
    let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    let Some(executable) = text("/executable").filter(|_| is_test) else { return Ok(None) };
    let manifest = text("/manifest_path").map(PathBuf::from).context("a test without package")?;
    let folder = manifest.parent().unwrap_or(Path::new("."));
    let package = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut command = Command::new(executable);
    // As cargo runs it.
    command.arg("--quiet").current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    let name = format!("{package} {}", text("/target/name").unwrap_or_default());
    Ok(Some(Job { name, command }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.into(), command }
    }

    #[test]
    fn all_run_and_those_that_fail_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mark = |number| format!("touch {}/{number}", folder.path().display());
        let mut jobs: Vec<Job> = (0..20).map(|number| shell("fine", &mark(number))).collect();
        jobs.push(shell("bad", "echo one; echo two >&2; echo three; exit 3"));
        let ended = run_all(jobs).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 20);
        assert_eq!(ended.len(), 21);
        let failed =
            ended.iter().filter_map(|job| Some((&*job.took.name, job.failure.as_deref()?)));
        assert_eq!(failed.collect::<Vec<_>>(), [("bad", "one\ntwo\nthree\n")]);
    }

    #[test]
    fn only_test_binaries_are_run() {
        let message = |test: bool, executable: &str| {
            let line = format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/wire/Cargo.toml",
                "target":{{"name":"chunking"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            );
            job(&line).unwrap().map(|job| (job.name, job.command.get_program().to_owned()))
        };
        let found = message(true, r#""/t/chunking-1""#);
        assert_eq!(found, Some(("wire chunking".into(), "/t/chunking-1".into())));
        assert_eq!(message(true, "null"), None, "a library");
        assert_eq!(message(false, r#""/t/callgate""#), None, "a program");
        assert!(job("error").is_err());
    }
}
