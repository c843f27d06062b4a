//! Instruction counts as a guard against regressions: unlike times, they are the same on every
//! run, however busy the machine.
//!
//! `xtask/instructions.toml` has one line per case: `"<program> <case>" = <limit>`. The program is
//! run under callgrind with two numbers of rounds; their difference, divided, is the cost of one
//! round without the start of the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::{self, PROGRAMS};
use crate::setup;
use crate::workspace::Workspace;

/// The fewer rounds of a measurement; the other run does twice as many.
const ROUNDS: u64 = 200;

pub(crate) fn guard(workspace: &Workspace) -> Result<()> {
    let text = fs::read_to_string(workspace.root.join("xtask/instructions.toml"))
        .context("xtask/instructions.toml")?;
    let limits = limits(&text)?;
    if limits.is_empty() {
        eprintln!("xtask/instructions.toml guards nothing");
        return Ok(());
    }
    setup::valgrind()?;
    let binaries = build(workspace, &limits)?;
    println!("{:>12} {:>12}  instructions per round", "measured", "limit");
    let mut above = Vec::new();
    for limit in &limits {
        let binary = binaries.get(limit.program.as_str()).context("a program was not built")?;
        let measured = per_round(binary, &limit.case)?;
        println!("{measured:>12} {:>12}  {} {}", limit.most, limit.program, limit.case);
        if measured > limit.most {
            above.push(format!("{} {}", limit.program, limit.case));
        }
    }
    if !above.is_empty() {
        bail!(
            "above the limit of xtask/instructions.toml: {}\nhint: make it cheaper, or raise the \
             limit in the same change and say why",
            above.join(", ")
        );
    }
    Ok(())
}

/// One line of the file.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    program: String,
    case: String,
    most: u64,
}

fn limits(text: &str) -> Result<Vec<Limit>> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(limit).collect()
}

fn limit(line: &str) -> Result<Limit> {
    let parse = || {
        let (key, number) = line.split_once('=')?;
        let (program, case) = key.trim().trim_matches('"').split_once(' ')?;
        let number = number.split('#').next()?.trim().replace('_', "");
        Some(Limit {
            program: program.into(),
            case: case.trim().into(),
            most: number.parse().ok()?,
        })
    };
    parse().with_context(|| format!("`{line}` is not `\"<program> <case>\" = <limit>`"))
}

/// Builds the programs with the profile of the tests: optimised, and mostly built already. What is
/// shipped takes fewer instructions, but a regression shows in both.
fn build(workspace: &Workspace, limits: &[Limit]) -> Result<BTreeMap<String, PathBuf>> {
    let mut programs = BTreeMap::new();
    for Limit { program: name, .. } in limits {
        let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
            bail!("xtask/instructions.toml names `{name}`, which is not a program");
        };
        programs.insert(name.clone(), program);
    }
    bench::build_like_tests(workspace, &programs.values().copied().collect::<Vec<_>>())?;
    let built =
        programs.into_iter().map(|(name, program)| (name, program.built_like_tests(workspace)));
    Ok(built.collect())
}

fn per_round(binary: &Path, case: &str) -> Result<u64> {
    let of = |rounds: u64| instructions(binary, &[case, &rounds.to_string()]);
    let (few, many) = (of(ROUNDS)?, of(2 * ROUNDS)?);
    Ok(many.saturating_sub(few) / ROUNDS)
}

/// How many instructions a run of `binary` takes.
pub(crate) fn instructions(binary: &Path, args: &[&str]) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary).args(args);
    let done = command.output().context("cannot start valgrind")?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if !done.status.success() {
        bail!("`{} {}` failed under valgrind\n{said}", binary.display(), args.join(" "));
    }
    collected(&said).with_context(|| format!("valgrind counted nothing:\n{said}"))
}

/// The number after `Collected :`, the total of callgrind.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.split_once("Collected :"))?.1;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let text = "# head-room: a tenth\n\n\"frames text\" = 1_200 # was 1100\nframes call = 7\n";
        let expected = [("frames", "text", 1200), ("frames", "call", 7)];
        let expected = expected.map(|(program, case, most)| Limit {
            program: program.into(),
            case: case.into(),
            most,
        });
        assert_eq!(limits(text).unwrap(), expected);
        assert!(limits("frames = 7").is_err());
        assert!(limits("\"frames text\" = many").is_err());
    }

    #[test]
    fn the_total_is_found() {
        let said = "==1== Events    : Ir\n==1== Collected : 123456\n==1== \n";
        assert_eq!(collected(said), Some(123_456));
        assert_eq!(collected("==1== nothing"), None);
    }
}
