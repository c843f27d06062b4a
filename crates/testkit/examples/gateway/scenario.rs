//! What is measured, and how.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::counts;
use crate::load::{self, Arrives, Delays};
use crate::measure::{micros, percentile};
use crate::mixed;
use crate::plan::Plan;
use crate::proxy::{Kind, Proxy, Start};
use crate::results::{Metric, Results};
use crate::script::Api;
use crate::upstream::Sent;

/// A group of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Startup,
    Memory,
    Burst,
    Live,
    Call,
    Json,
    /// Answers with text and a call.
    Mixed,
    /// Answers with little more than a call.
    Calls,
    Counts,
}

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rounds: usize,
    starts: usize,
    silent_streams: usize,
    /// Frames of each stream of a burst.
    burst: usize,
    /// Frames of each live stream.
    live: usize,
    /// Calls on each stream, one after the other.
    calls: usize,
    /// Bytes of arguments of a long call.
    long_call: usize,
    /// Requests on each connection.
    answers: usize,
    pub(crate) mixed: mixed::Sizes,
    /// Until memory has settled.
    settle: Duration,
}

impl Sizes {
    pub(crate) const FULL: Self = Self {
        rounds: 4,
        starts: 5,
        silent_streams: 1000,
        burst: 25_600,
        live: 500,
        calls: 25,
        long_call: 100 * 1024,
        answers: 500,
        mixed: mixed::Sizes::FULL,
        settle: Duration::from_millis(700),
    };
    pub(crate) const QUICK: Self = Self {
        rounds: 1,
        starts: 1,
        silent_streams: 50,
        burst: 1_024,
        live: 20,
        calls: 1,
        long_call: 8 * 1024,
        answers: 20,
        mixed: mixed::Sizes::QUICK,
        settle: Duration::from_millis(50),
    };
}

/// Streams of a burst, connections for whole answers.
pub(crate) const STREAMS: usize = 8;

/// Streams with calls: few and far apart, so that a call rarely waits for another's judgement.
const CALL_STREAMS: usize = 4;
const CALLS_APART_MS: u64 = 60;

/// Between the frames of a live stream.
pub(crate) const GAP_MS: u64 = 10;

/// Bytes of arguments of a call.
const CALL: usize = 4 * 1024;

/// Opened at once, of the silent streams.
const OPENING: usize = 20;

impl Scenario {
    pub(crate) const ALL: [Self; 9] = [
        Self::Startup,
        Self::Memory,
        Self::Burst,
        Self::Live,
        Self::Call,
        Self::Json,
        Self::Mixed,
        Self::Calls,
        Self::Counts,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Memory => "memory",
            Self::Burst => "burst",
            Self::Live => "live",
            Self::Call => "call",
            Self::Json => "json",
            Self::Mixed => "mixed",
            Self::Calls => "calls",
            Self::Counts => "counts",
        }
    }

    /// Whether it is of interest for a proxy.
    pub(crate) fn takes(self, kind: Kind) -> bool {
        match kind {
            Kind::Direct => matches!(self, Self::Live | Self::Call),
            Kind::CallgateDisk => matches!(self, Self::Call | Self::Mixed | Self::Calls),
            Kind::CallgateOff | Kind::CallgateMasked => matches!(self, Self::Live | Self::Burst),
            Kind::Bytecopy | Kind::Nginx | Kind::Callgate => true,
        }
    }

    /// Whether it starts its own processes.
    pub(crate) fn starts_afresh(self) -> bool {
        match self {
            Self::Startup | Self::Memory | Self::Mixed | Self::Calls | Self::Counts => true,
            Self::Burst | Self::Live | Self::Call | Self::Json => false,
        }
    }
}

/// One proxy in one scenario.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) kind: Kind,
    pub(crate) start: &'a Start,
    pub(crate) sent: &'a Sent,
    pub(crate) sizes: Sizes,
    pub(crate) dialects: &'a [Api],
    pub(crate) results: &'a mut Results,
}

impl Trial<'_> {
    /// A scenario that starts its own processes.
    pub(crate) async fn afresh(&mut self, scenario: Scenario) -> Result<()> {
        match scenario {
            Scenario::Startup => self.startup().await,
            Scenario::Counts => counts::count(self).await,
            Scenario::Mixed => mixed::mixed(self).await,
            Scenario::Calls => mixed::calls(self).await,
            _ => self.memory().await,
        }
    }

    /// A scenario on a proxy that is running.
    pub(crate) async fn on(&mut self, scenario: Scenario, proxy: &Proxy) -> Result<()> {
        match scenario {
            Scenario::Burst => {
                for api in self.dialects {
                    self.burst(proxy, *api).await?;
                }
                Ok(())
            }
            Scenario::Live => {
                let metrics = [Metric::Live16Cpu, Metric::Live16P50, Metric::Live16P99];
                self.live(proxy, 16, metrics).await?;
                let metrics = [Metric::Live200Cpu, Metric::Live200P50, Metric::Live200P99];
                self.live(proxy, 200, metrics).await?;
                for api in self.dialects.iter().filter(|api| **api != Api::Messages) {
                    self.live_of(proxy, *api).await?;
                }
                Ok(())
            }
            Scenario::Call => {
                let calls = self.sizes.calls;
                self.call(proxy, CALL, calls, [Metric::CallP50, Metric::CallP99].as_slice())
                    .await?;
                let (bytes, calls) = (self.sizes.long_call, calls.div_ceil(2));
                self.call(proxy, bytes, calls, &[Metric::LongCallP50]).await
            }
            _ => self.json(proxy).await,
        }
    }

    pub(crate) fn add(&mut self, metric: Metric, value: f64) {
        self.results.add(metric, self.kind, value);
    }

    async fn startup(&mut self) -> Result<()> {
        let mut took = Vec::new();
        for _ in 0..self.sizes.starts {
            took.push(Proxy::start(self.kind, self.start).await?.started_in);
        }
        let middle = percentile(&took, 0.5).context("no starts")?;
        self.add(Metric::Startup, micros(middle) / 1e3);
        Ok(())
    }

    async fn memory(&mut self) -> Result<()> {
        let proxy = Proxy::start(self.kind, self.start).await?;
        tokio::time::sleep(self.sizes.settle).await;
        self.add(Metric::Base, proxy.memory() as f64 / 1e6);
        for api in [Api::Messages, Api::Chat] {
            warm_up(&proxy, api).await?;
        }
        tokio::time::sleep(self.sizes.settle).await;
        let before = proxy.memory();
        let mut open = Vec::new();
        while open.len() < self.sizes.silent_streams {
            let mut opening = JoinSet::new();
            for _ in 0..OPENING.min(self.sizes.silent_streams - open.len()) {
                opening.spawn(load::silent(proxy.address));
            }
            while let Some(stream) = opening.join_next().await {
                open.push(stream??);
            }
        }
        tokio::time::sleep(self.sizes.settle).await;
        let more = proxy.memory().saturating_sub(before);
        self.add(Metric::Idle, more as f64 / 1024.0 / open.len() as f64);
        Ok(())
    }

    async fn burst(&mut self, proxy: &Proxy, api: Api) -> Result<()> {
        let plan = Plan::Burst { api, frames: self.sizes.burst };
        let before = proxy.cpu();
        let frames = burst(proxy, plan).await?;
        self.add(Metric::Burst(api), micros(proxy.cpu() - before) / frames as f64);
        Ok(())
    }

    async fn live_of(&mut self, proxy: &Proxy, api: Api) -> Result<()> {
        if self.kind == Kind::Direct {
            return Ok(());
        }
        let before = proxy.cpu();
        let delays = live(proxy, api, 16, self.sizes.live, self.sent).await?;
        let frames: usize = delays.iter().map(|delays| delays.frames).sum();
        self.add(Metric::Live(api), micros(proxy.cpu() - before) / frames as f64);
        Ok(())
    }

    async fn live(&mut self, proxy: &Proxy, streams: usize, metrics: [Metric; 3]) -> Result<()> {
        let before = proxy.cpu();
        let delays = live(proxy, Api::Messages, streams, self.sizes.live, self.sent).await?;
        let cpu = proxy.cpu() - before;
        let frames: usize = delays.iter().map(|delays| delays.frames).sum();
        let text: Vec<Duration> = delays.into_iter().flat_map(|delays| delays.text).collect();
        let [of_cpu, of_p50, of_p99] = metrics;
        if self.kind != Kind::Direct {
            self.add(of_cpu, micros(cpu) / frames as f64);
        }
        self.add(of_p50, micros(percentile(&text, 0.5).context("no text")?));
        self.add(of_p99, micros(percentile(&text, 0.99).context("no text")?));
        Ok(())
    }

    async fn call(
        &mut self,
        proxy: &Proxy,
        bytes: usize,
        calls: usize,
        metrics: &[Metric],
    ) -> Result<()> {
        self.sent.clear(CALL_STREAMS);
        let mut streams = JoinSet::new();
        for stream in 0..CALL_STREAMS {
            let (target, sent) = (proxy.address, self.sent.clone());
            let delay_us = CALLS_APART_MS * 1000 * stream as u64 / CALL_STREAMS as u64;
            let plan = Plan::Call { stream, bytes, delay_us };
            streams.spawn(async move {
                let mut delays = Vec::new();
                for _ in 0..calls {
                    let one = load::timed(target, plan, stream, &sent, Arrives::AsSent).await?;
                    delays.push(one.completing.context("no frame completed the call")?);
                }
                anyhow::Ok(delays)
            });
        }
        let mut delays = Vec::new();
        while let Some(of_one) = streams.join_next().await {
            delays.extend(of_one??);
        }
        for (metric, share) in metrics.iter().zip([0.5, 0.99]) {
            self.add(*metric, micros(percentile(&delays, share).context("no calls")?));
        }
        Ok(())
    }

    async fn json(&mut self, proxy: &Proxy) -> Result<()> {
        let before = proxy.cpu();
        let mut connections = JoinSet::new();
        for _ in 0..STREAMS {
            connections.spawn(load::answers(proxy.address, self.sizes.answers));
        }
        let mut took = Vec::new();
        while let Some(of_one) = connections.join_next().await {
            took.extend(of_one??);
        }
        self.add(Metric::JsonCpu, micros(proxy.cpu() - before) / took.len() as f64);
        self.add(Metric::JsonP50, micros(percentile(&took, 0.5).context("no answers")?));
        Ok(())
    }
}

/// A little of everything, so that what is made once has been made.
pub(crate) async fn warm_up(proxy: &Proxy, api: Api) -> Result<()> {
    burst(proxy, Plan::Burst { api, frames: 512 }).await?;
    load::answers(proxy.address, 10).await?;
    Ok(())
}

/// The streams of a burst, at once. Gives the number of frames.
pub(crate) async fn burst(proxy: &Proxy, plan: Plan) -> Result<usize> {
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        streams.spawn(load::stream(proxy.address, plan, Arrives::through(proxy.kind)));
    }
    let mut frames = 0;
    while let Some(of_one) = streams.join_next().await {
        frames += of_one??;
    }
    Ok(frames)
}

/// Live streams, each a little after the one before it.
pub(crate) async fn live(
    proxy: &Proxy,
    api: Api,
    streams: usize,
    frames: usize,
    sent: &Sent,
) -> Result<Vec<Delays>> {
    sent.clear(streams);
    let mut running = JoinSet::new();
    for stream in 0..streams {
        let (target, sent) = (proxy.address, sent.clone());
        let delay_us = apart(stream, streams, GAP_MS);
        let arrives = Arrives::through(proxy.kind);
        let plan = Plan::Live { api, stream, frames, gap_ms: GAP_MS, delay_us };
        running.spawn(async move { load::timed(target, plan, stream, &sent, arrives).await });
    }
    let mut all = Vec::new();
    while let Some(of_one) = running.join_next().await {
        all.push(of_one??);
    }
    Ok(all)
}

/// Spreads streams over the time between two frames. All begin after a tenth of a second, when all
/// are connected.
fn apart(stream: usize, streams: usize, gap_ms: u64) -> u64 {
    100_000 + gap_ms * 1000 * stream as u64 / streams as u64
}
