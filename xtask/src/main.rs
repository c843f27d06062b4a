//! The commands of this workspace. `cargo xtask` lists them.
//!
//! Everything runs on the pinned stable toolchain. What a command needs beyond that, it installs
//! below `.tools` (see [`setup`]) and says so.

mod bench;
mod binaries;
mod check;
mod fuzz;
mod instructions;
mod parallel;
mod setup;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use test::Extent;
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  check                      formatting, lints, the quick tests: under a minute when warm
  test                       what a change must pass; installs what it needs
  test --all                 and what only a release must pass; takes an hour
  bench                      speed of the hot paths and of the gateway, as tables
  bench gateway [options]    only the gateway; `--help` lists the options
  bench mcp [options]        only a wrapped MCP server, and what definitions cost
  bench replay [options]     only `policy replay`, over 100,000 records
  fuzz [seconds] [target]    every fuzz target (or one), 60 seconds each unless told otherwise;
                             `differential` has the official clients read mutated responses
  guard                      instruction counts against xtask/instructions.toml
  tidy                       crate directions, left-over markers, links, file sizes
  setup                      only install what `test` needs
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    let workspace = Workspace::find()?;
    match args {
        ["check"] => check::check(&workspace),
        ["test"] => test::test(&workspace, Extent::Usual),
        ["test", "--all"] => test::test(&workspace, Extent::All),
        ["bench"] => bench::bench(&workspace),
        ["bench", "gateway", options @ ..] => bench::gateway(&workspace, options),
        ["bench", "mcp", options @ ..] => bench::mcp(&workspace, options),
        ["bench", "replay", options @ ..] => bench::replay(&workspace, options),
        ["fuzz"] => fuzz::fuzz(&workspace, 60, None),
        ["fuzz", seconds] => fuzz::fuzz(&workspace, number(seconds)?, None),
        ["fuzz", seconds, target] => fuzz::fuzz(&workspace, number(seconds)?, Some(target)),
        ["guard"] => instructions::guard(&workspace),
        ["tidy"] => tidy::tidy(&workspace),
        ["setup"] => setup::everything(&workspace),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        other => bail!("no such command: `{}`\n\n{USAGE}", other.join(" ")),
    }
}

fn number(word: &str) -> Result<u64> {
    word.parse().with_context(|| format!("`{word}` is not a number of seconds"))
}
