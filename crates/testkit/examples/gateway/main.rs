//! The gateway against nginx, a plain byte copier and nothing at all, in one run.
//!
//! One process plays the upstream and the agents, on one core; each proxy has the other core to
//! itself, with one worker. Everything goes over loopback, and every byte that arrives is compared
//! with what was sent. Rounds are interleaved, and each round begins with another proxy.

mod args;
mod bytecopy;
mod callgate;
mod counts;
mod goals;
mod http;
mod load;
mod measure;
mod mixed;
mod nginx;
mod plan;
mod proxy;
mod results;
mod said;
mod scenario;
mod script;
mod table;
mod upstream;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use args::{Args, Priority};
use proxy::{Kind, Proxy, Start};
use results::Results;
use scenario::{Scenario, Sizes, Trial};
use script::Api;
use upstream::Upstream;

/// The longest a single measurement may take, also under valgrind.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words.as_slice() {
        [role, listen, upstream] if role == "bytecopy" => {
            runtime.block_on(bytecopy::serve(listen, upstream))
        }
        [word] if word == "--help" => {
            print!("{}", args::USAGE);
            Ok(())
        }
        words => runtime.block_on(bench(&Args::read(words)?)),
    }
}

async fn bench(args: &Args) -> Result<()> {
    let begun = Instant::now();
    if args.priority == Priority::First {
        go_first()?;
    }
    let upstream = upstream::start().await?;
    let start = Start {
        upstream: upstream.address,
        rules: args.rules,
        callgate: args.callgate.clone(),
        nginx: args.nginx.clone(),
        core: pin(),
        under: Vec::new(),
    };
    let mut results = Results::default();
    for round in 0..args.rounds {
        eprintln!("round {} of {}", round + 1, args.rounds);
        let mut order = args.proxies.clone();
        let first = round % order.len().max(1);
        order.rotate_left(first);
        // Counts hardly differ from round to round, and take long.
        let scenarios = args.scenarios.iter().copied();
        let scenarios: Vec<Scenario> =
            scenarios.filter(|it| round == 0 || *it != Scenario::Counts).collect();
        let (sizes, dialects) = (args.sizes, args.dialects.clone());
        let trials = Trials { scenarios, order, sizes, dialects };
        trials.run(&start, &upstream, &mut results).await?;
    }
    println!("{}\n{}", table::measured(&results), table::goals(&results));
    println!(
        "{} rounds, {} rules, {:.0} s; every frame arrived as it was sent, every masked text as said",
        args.rounds,
        args.rules,
        begun.elapsed().as_secs_f64()
    );
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&results.json())?;
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// What is done in one round.
struct Trials {
    scenarios: Vec<Scenario>,
    order: Vec<Kind>,
    sizes: Sizes,
    dialects: Vec<Api>,
}

impl Trials {
    async fn run(&self, start: &Start, upstream: &Upstream, results: &mut Results) -> Result<()> {
        let mut running = BTreeMap::new();
        for &scenario in &self.scenarios {
            if scenario.starts_afresh() {
                running.clear();
            }
            for &kind in self.order.iter().filter(|kind| scenario.takes(**kind)) {
                let (sent, sizes) = (&upstream.sent, self.sizes);
                let dialects = self.dialects.as_slice();
                let results = &mut *results;
                let mut trial = Trial { kind, start, sent, sizes, dialects, results };
                let work = async {
                    if scenario.starts_afresh() {
                        return trial.afresh(scenario).await;
                    }
                    let proxy = keep_running(&mut running, kind, start, &self.dialects).await?;
                    trial.on(scenario, proxy).await
                };
                let done = tokio::time::timeout(PATIENCE, work).await;
                let what = || format!("{} through {}", scenario.word(), kind.word());
                done.with_context(what)?.with_context(what)?;
            }
        }
        Ok(())
    }
}

/// The proxy of a round, started when it is first needed.
async fn keep_running<'a>(
    running: &'a mut BTreeMap<Kind, Proxy>,
    kind: Kind,
    start: &Start,
    dialects: &[Api],
) -> Result<&'a Proxy> {
    if let std::collections::btree_map::Entry::Vacant(place) = running.entry(kind) {
        let proxy = Proxy::start(kind, start).await?;
        for api in dialects {
            scenario::warm_up(&proxy, *api).await?;
        }
        place.insert(proxy);
    }
    running.get(&kind).context("it was just started")
}

/// Asks the scheduler to run us, and the proxies that we start, before everything else.
fn go_first() -> Result<()> {
    let us = std::process::id().to_string();
    let done = Command::new("chrt").args(["--fifo", "--all-tasks", "--pid", "1", &us]).status();
    anyhow::ensure!(done.is_ok_and(|status| status.success()), "`--first` needs chrt, and root");
    Ok(())
}

/// Takes the first core for ourselves and gives the one for the proxies. On a machine with one
/// core, or without `taskset`, everything shares.
fn pin() -> Option<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let us = std::process::id().to_string();
    let pinned = Command::new("taskset")
        .args(["--all-tasks", "--cpu-list", "--pid", "0", &us])
        .stdout(Stdio::null())
        .status();
    if cores > 1 && pinned.is_ok_and(|status| status.success()) {
        return Some(1);
    }
    eprintln!("note: not pinned to cores, so the numbers are rough");
    None
}
