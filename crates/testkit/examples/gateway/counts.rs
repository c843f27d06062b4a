//! Instructions and system calls a frame: steadier than times, and slow to take.
//!
//! Instructions in user space come from callgrind, as the difference between two runs of which one
//! streams twice as much. System calls come from the kernel's tracing through perf, on a proxy that
//! runs at full speed. What is not installed is left out.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::plan::Plan;
use crate::proxy::{Proxy, Start};
use crate::results::Metric;
use crate::scenario::{self, STREAMS, Trial};
use crate::script::Api;
use crate::upstream::Sent;

/// Frames of each stream; the second run streams twice as many.
const BURST: usize = 2_048;
const LIVE: usize = 100;
const LIVE_STREAMS: usize = 16;

pub(crate) async fn count(trial: &mut Trial<'_>) -> Result<()> {
    for load in [Load::Burst, Load::Live] {
        if let Some(calls) = system_calls(trial, load).await? {
            trial.results.add(load.of_system_calls(), trial.kind, calls);
        }
        if installed("valgrind") {
            let few = instructions(trial, load, 1).await?;
            let many = instructions(trial, load, 2).await?;
            let each = many.saturating_sub(few) as f64 / load.frames(1) as f64;
            trial.results.add(load.of_instructions(), trial.kind, each);
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Load {
    Burst,
    Live,
}

impl Load {
    /// Text frames of all streams.
    fn frames(self, times: usize) -> usize {
        match self {
            Self::Burst => BURST * STREAMS * times,
            Self::Live => LIVE * LIVE_STREAMS * times,
        }
    }

    fn of_instructions(self) -> Metric {
        match self {
            Self::Burst => Metric::BurstInstructions,
            Self::Live => Metric::LiveInstructions,
        }
    }

    fn of_system_calls(self) -> Metric {
        match self {
            Self::Burst => Metric::BurstSyscalls,
            Self::Live => Metric::LiveSyscalls,
        }
    }

    async fn run(self, proxy: &Proxy, times: usize, sent: &Sent) -> Result<()> {
        match self {
            Self::Burst => {
                let plan = Plan::Burst { api: Api::Messages, frames: BURST * times };
                scenario::burst(proxy, plan).await?;
            }
            Self::Live => {
                scenario::live(proxy, Api::Messages, LIVE_STREAMS, LIVE * times, sent).await?;
            }
        }
        Ok(())
    }
}

/// Instructions of a whole life: start, load, end.
async fn instructions(trial: &Trial<'_>, load: Load, times: usize) -> Result<u64> {
    let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let under = valgrind.map(str::to_owned).to_vec();
    let start = Start { under, ..trial.start.clone() };
    let mut proxy = Proxy::start(trial.kind, &start).await?;
    load.run(&proxy, times, trial.sent).await?;
    proxy.stop();
    // One such line for each process.
    let log = proxy.log();
    let counts = log.lines().filter_map(|line| line.split_once("Collected :"));
    let all: u64 = counts.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum();
    anyhow::ensure!(all > 0, "valgrind counted nothing\n{log}");
    Ok(all)
}

/// System calls a frame; `None` where they cannot be counted.
async fn system_calls(trial: &Trial<'_>, load: Load) -> Result<Option<f64>> {
    let proxy = Proxy::start(trial.kind, trial.start).await?;
    scenario::warm_up(&proxy, Api::Messages).await?;
    let processes: Vec<String> = proxy.processes().iter().map(u32::to_string).collect();
    let perf = Command::new("perf")
        .args(["stat", "--field-separator=;", "--event=raw_syscalls:sys_enter", "--pid"])
        .arg(processes.join(","))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(perf) = perf else { return Ok(None) };
    // Until it has attached itself.
    tokio::time::sleep(Duration::from_millis(300)).await;
    load.run(&proxy, 4, trial.sent).await?;
    let interrupt = format!("kill -INT {}", perf.id());
    Command::new("sh").args(["-c", &interrupt]).status().context("sh")?;
    let said = perf.wait_with_output()?.stderr;
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find(|line| line.contains("sys_enter"));
    let count = line.and_then(|line| line.split(';').next()?.parse::<f64>().ok());
    Ok(count.map(|count| count / load.frames(4) as f64))
}

fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
