//! Differential fuzzing with the official clients: `cargo xtask fuzz SECONDS differential`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool for the one who holds it")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use callgate_dialect::Dialect;
use callgate_testkit::differential::{self, Effort, Plan, Pool, RequestMode, Sabotage};
use callgate_testkit::sdk;

const USAGE: &str = "\
usage: differential [options]

  --seconds N                stop after N seconds (60)
  --bodies N                 stop after N bodies of each dialect and mode
  --one DIALECT MODE NUMBER  try only the body with this number, as a finding names it
  --seed N                   begin with this seed; without it, every run tries something new
  --dialect NAME             only this dialect; may be repeated
  --skip TEXT                only count violations of clients with TEXT in their name
  --minimise N               minimise N violations of each client and kind (3)
  --folder PATH              where findings are written (target/differential)
";

fn main() -> ExitCode {
    let mut plan = Plan {
        seed: SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs(),
        effort: seconds("60"),
        dialects: Vec::new(),
        skip: Vec::new(),
        minimised: 3,
        folder: PathBuf::from("target/differential"),
        sabotage: Sabotage::None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut next = || args.next().unwrap_or_else(|| panic!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--seconds" => plan.effort = seconds(&next()),
            "--bodies" => plan.effort = Effort::Bodies(next().parse().unwrap()),
            "--one" => {
                let (dialect, mode) = (next(), next());
                let mode = RequestMode::ALL.into_iter().find(|known| known.as_str() == mode);
                let number = next().parse().unwrap();
                plan.effort = Effort::One(dialect_of(&dialect), mode.unwrap(), number);
            }
            "--seed" => plan.seed = next().parse().unwrap(),
            "--dialect" => plan.dialects.push(dialect_of(&next())),
            "--skip" => plan.skip.push(next()),
            "--minimise" => plan.minimised = next().parse().unwrap(),
            "--folder" => plan.folder = next().into(),
            _ => {
                eprint!("{USAGE}");
                return ExitCode::FAILURE;
            }
        }
    }
    if plan.dialects.is_empty() {
        plan.dialects = Dialect::ALL.to_vec();
    }
    let Some(interpreters) = sdk::interpreters() else { return ExitCode::FAILURE };
    let mut pool = Pool::start(&interpreters, plan.folder.join("bodies"));
    let report = differential::run(&mut pool, &plan);
    println!("seed {}\n{report}", plan.seed);
    if report.findings.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("the findings are in {}", plan.folder.display());
    ExitCode::FAILURE
}

fn seconds(number: &str) -> Effort {
    Effort::Until(Instant::now() + Duration::from_secs(number.parse().unwrap()))
}

fn dialect_of(name: &str) -> Dialect {
    let known = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == name);
    known.unwrap_or_else(|| panic!("no dialect `{name}`"))
}
