//! Answers with text and a call, as agents get them, and answers with little more than a call. Each
//! call is judged, recorded and let through.
//!
//! Each measurement has a store of its own. When the proxy has ended, the store must hold as many
//! calls as were made: a gateway that records nothing must not look fast.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::callgate;
use crate::http::Wire;
use crate::load::{self, Arrives, Delays};
use crate::measure::{micros, percentile};
use crate::plan::{Mix, Plan};
use crate::proxy::{Kind, Proxy};
use crate::results::{Figure, Metric, Streams};
use crate::scenario::{self, GAP_MS, STREAMS, Trial};
use crate::script::Api;
use crate::upstream::Sent;

/// An agent explains what it does, then calls a tool.
const ANSWER: Mix = Mix { texts: 150, pieces: 50 };

/// As little as there can be around a call.
const CALL: Mix = Mix { texts: 1, pieces: 1 };

/// Live streams at once.
const LIVE: [usize; 2] = [16, 200];

/// Streams at once that do little but call.
const CALLING: [usize; 2] = [8, 64];

/// Until all live streams are connected.
const CONNECTING_US: u64 = 100_000;

/// All live streams call within this time.
const SPREAD_US: u64 = 50_000;

/// How many answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// On each stream of a burst.
    burst: usize,
    /// On each live stream.
    live: usize,
    /// Of little more than a call, on all streams together.
    calls: usize,
    /// Of each kind before anything is measured, on each stream.
    warm_up: usize,
    /// A proxy that took hardly any CPU for this long has done all its work. Longer than a second
    /// in a full run, for that is how often callgate's store tidies up.
    quiet: Duration,
}

impl Sizes {
    pub(crate) const FULL: Self = Self {
        burst: 200,
        live: 3,
        calls: 12_800,
        warm_up: 10,
        quiet: Duration::from_millis(1100),
    };
    pub(crate) const QUICK: Self =
        Self { burst: 4, live: 1, calls: 128, warm_up: 1, quiet: Duration::from_millis(50) };
}

/// Answers with text and a call: as fast as they go, and live.
pub(crate) async fn mixed(trial: &mut Trial<'_>) -> Result<()> {
    let sizes = trial.sizes.mixed;
    let mut run = Run::start(trial).await?;
    run.repeat(STREAMS, ANSWER, sizes.warm_up).await?;
    let fast = run.repeat(STREAMS, ANSWER, sizes.burst).await?;
    trial.add(Metric::MixedBurst, micros(fast.cpu) / fast.frames as f64);
    // A byte copier live says nothing that nginx does not, and takes as long.
    if trial.kind != Kind::Bytecopy {
        for streams in LIVE {
            let live = run.live(streams, sizes.live, trial.sent).await?;
            let share = |share: f64| percentile(&live.calls, share).context("no calls");
            let of = |figure: Figure| Metric::MixedLive(Streams(streams), figure);
            trial.add(of(Figure::Cpu), micros(live.spent.cpu) / live.spent.frames as f64);
            trial.add(of(Figure::CallP50), micros(share(0.5)?));
            trial.add(of(Figure::CallP99), micros(share(0.99)?));
        }
    }
    run.end(trial)
}

/// Answers with little more than a call, one after the other.
pub(crate) async fn calls(trial: &mut Trial<'_>) -> Result<()> {
    let sizes = trial.sizes.mixed;
    let mut run = Run::start(trial).await?;
    run.repeat(STREAMS, CALL, sizes.warm_up).await?;
    for streams in CALLING {
        let times = sizes.calls.div_ceil(streams);
        let spent = run.repeat(streams, CALL, times).await?;
        let calls = (streams * times) as f64;
        trial.add(Metric::Calls(Streams(streams)), calls / spent.cpu.as_secs_f64());
    }
    run.end(trial)
}

/// A proxy of its own, and the calls that were made through it.
#[derive(Debug)]
struct Run {
    proxy: Proxy,
    calls: usize,
    quiet: Duration,
    /// What it has taken until it came to rest the last time.
    cpu: Duration,
}

/// What a measurement took of the proxy, and for how many frames.
#[derive(Debug)]
struct Spent {
    cpu: Duration,
    frames: usize,
}

#[derive(Debug)]
struct Live {
    spent: Spent,
    /// How long the last frame of each call was under way.
    calls: Vec<Duration>,
}

impl Run {
    async fn start(trial: &Trial<'_>) -> Result<Self> {
        let proxy = Proxy::start(trial.kind, trial.start).await?;
        scenario::warm_up(&proxy, Api::Messages).await?;
        let quiet = trial.sizes.mixed.quiet;
        let cpu = proxy.cpu_at_rest(quiet).await;
        Ok(Self { proxy, calls: 0, quiet, cpu })
    }

    /// `streams` streams, each with `answers` answers one after the other, as fast as they go.
    async fn repeat(&mut self, streams: usize, mix: Mix, times: usize) -> Result<Spent> {
        let mut running = JoinSet::new();
        for _ in 0..streams {
            running.spawn(load::repeated(self.proxy.address, Plan::Mixed { mix }, times));
        }
        let mut frames = 0;
        while let Some(of_one) = running.join_next().await {
            frames += of_one??;
        }
        self.calls += streams * times;
        Ok(self.spent(frames).await)
    }

    /// `streams` live streams, each with `answers` answers one after the other.
    async fn live(&mut self, streams: usize, times: usize, sent: &Sent) -> Result<Live> {
        sent.clear(streams);
        let mut running = JoinSet::new();
        for stream in 0..streams {
            let delay_us = CONNECTING_US + SPREAD_US * stream as u64 / streams as u64;
            let first = Plan::LiveMixed { mix: ANSWER, stream, gap_ms: GAP_MS, delay_us };
            let later = Plan::LiveMixed { mix: ANSWER, stream, gap_ms: GAP_MS, delay_us: 0 };
            let later = std::iter::repeat_n(later, times.saturating_sub(1));
            let plans = std::iter::once(first).chain(later).collect();
            running.spawn(in_turn(self.proxy.address, plans, stream, sent.clone()));
        }
        let mut all = Vec::new();
        while let Some(of_one) = running.join_next().await {
            all.extend(of_one??);
        }
        self.calls += streams * times;
        let frames = all.iter().map(|delays| delays.frames).sum();
        let spent = self.spent(frames).await;
        let calls: Option<Vec<Duration>> = all.iter().map(|delays| delays.completing).collect();
        Ok(Live { spent, calls: calls.context("a call was not completed")? })
    }

    /// What this many frames took since the proxy was last idle.
    async fn spent(&mut self, frames: usize) -> Spent {
        let now = self.proxy.cpu_at_rest(self.quiet).await;
        let before = std::mem::replace(&mut self.cpu, now);
        Spent { cpu: now.saturating_sub(before), frames }
    }

    /// Ends the proxy and looks whether it recorded each call.
    fn end(mut self, trial: &Trial<'_>) -> Result<()> {
        self.proxy.stop();
        if self.proxy.kind.records() {
            callgate::expect_recorded(&trial.start.callgate, self.proxy.home(), self.calls)?;
        }
        Ok(())
    }
}

/// One stream after the other on one connection.
async fn in_turn(
    target: std::net::SocketAddr,
    plans: Vec<Plan>,
    number: usize,
    sent: Sent,
) -> Result<Vec<Delays>> {
    let mut wire = Wire::connect(target).await?;
    let mut all = Vec::with_capacity(plans.len());
    for plan in plans {
        let arrives = Arrives::AsSent;
        all.push(load::timed_on(&mut wire, target, plan, number, &sent, arrives).await?);
    }
    Ok(all)
}
