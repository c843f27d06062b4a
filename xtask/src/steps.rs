//! Named steps: each prints what it does and how long it took, and the first failure stops the run.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::parallel::{Aside, Ended, Lane};

/// How long something took.
#[derive(Debug)]
pub(crate) struct Took {
    pub(crate) name: String,
    pub(crate) time: Duration,
}

/// A run of steps.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    done: Vec<Took>,
    /// Parts of steps, of which the slowest are listed at the end.
    parts: Vec<Took>,
    parallel: Option<Lane>,
}

/// How many of the slowest parts are listed.
const SLOWEST: usize = 10;

impl Steps {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), done: Vec::new(), parts: Vec::new(), parallel: None }
    }

    /// Starts steps that run in parallel to those that follow.
    pub(crate) fn run_in_parallel(&mut self, asides: &'static [Aside]) {
        let names: Vec<&str> = asides.iter().map(|aside| aside.name).collect();
        eprintln!("\n== in parallel: {}", names.join(", "));
        self.parallel = Some(Lane::start(asides));
    }

    /// Does `work` and reports it under `name`, unless a parallel step has failed.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        while let Some(ended) = self.parallel.as_ref().and_then(Lane::ended) {
            self.note(ended)?;
        }
        eprintln!("\n== {name}");
        let begun = Instant::now();
        let result = work().with_context(|| format!("step `{name}` failed"))?;
        self.done.push(Took { name: name.to_owned(), time: begun.elapsed() });
        Ok(result)
    }

    /// Takes note of how long the parts of a step took.
    pub(crate) fn parts(&mut self, parts: Vec<Took>) {
        self.parts.extend(parts);
    }

    /// Waits until the parallel step called `name` has ended.
    pub(crate) fn wait_for(&mut self, name: &str) -> Result<()> {
        while !self.done.iter().any(|done| done.name == name) {
            let ended = self.parallel.as_ref().and_then(Lane::wait);
            self.note(ended.with_context(|| format!("no step `{name}` runs in parallel"))?)?;
        }
        Ok(())
    }

    fn note(&mut self, Ended { name, took, result }: Ended) -> Result<()> {
        result.with_context(|| format!("step `{name}` failed"))?;
        self.done.push(Took { name: name.to_owned(), time: took });
        Ok(())
    }

    /// Waits for the parallel steps, and prints what was done.
    pub(crate) fn finish(mut self) -> Result<()> {
        while let Some(ended) = self.parallel.as_ref().and_then(Lane::wait) {
            self.note(ended)?;
        }
        eprintln!("\nall passed");
        self.done.iter().for_each(Took::print);
        Took { name: "in all".to_owned(), time: self.begun.elapsed() }.print();
        if !self.parts.is_empty() {
            eprintln!("\nthe slowest parts (several run at a time)");
            self.parts.sort_by_key(|part| std::cmp::Reverse(part.time));
            self.parts.iter().take(SLOWEST).for_each(Took::print);
        }
        Ok(())
    }
}

impl Took {
    fn print(&self) {
        eprintln!("  {:>7.1} s  {}", self.time.as_secs_f64(), self.name);
    }
}

/// Prints and runs a command, and shows its output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command quietly and gives what it wrote to stdout.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        bail!("`{}` ended with {}\n{}", shown(command), done.status, said.trim_end());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Runs a command quietly and gives how it ended and all that it wrote, in the order in which it
/// did.
///
/// By way of a file: a pipe ends only with the last process that has it, and one that is left
/// behind would be waited for.
pub(crate) fn run_captured(command: &mut Command) -> Result<(ExitStatus, String)> {
    let mut file = unnamed_file().context("cannot capture the output of a command")?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file.try_clone()?);
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

/// A file that is gone when nobody has it open.
fn unnamed_file() -> std::io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("callgate-xtask-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).append(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Whether a command can be started and succeeds.
pub(crate) fn works(command: &mut Command) -> bool {
    output(command).is_ok()
}

/// The command as one would type it, more or less.
pub(crate) fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name();
    let mut line = program.unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}
