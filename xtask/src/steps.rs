//! Named steps: each says what it does and how long it took, and the first failure stops.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A run of steps.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    done: Vec<(String, Duration)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), done: Vec::new() }
    }

    /// Does `work` and reports it under `name`.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n== {name}");
        let begun = Instant::now();
        let result = work().with_context(|| format!("step `{name}` failed"))?;
        self.done.push((name.to_owned(), begun.elapsed()));
        Ok(result)
    }

    /// Prints what was done.
    pub(crate) fn finish(self) {
        eprintln!("\nall passed");
        for (name, took) in &self.done {
            eprintln!("  {:>7.1} s  {name}", took.as_secs_f64());
        }
        eprintln!("  {:>7.1} s  in all", self.begun.elapsed().as_secs_f64());
    }
}

/// Says and runs a command, with its output shown.
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

/// Whether a command can be started and succeeds.
pub(crate) fn works(command: &mut Command) -> bool {
    output(command).is_ok()
}

/// The command as one would type it, more or less.
fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name();
    let mut line = program.unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}
