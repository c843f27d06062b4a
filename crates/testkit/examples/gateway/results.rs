//! What was measured, round by round.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::measure::median;
use crate::proxy::Kind;
use crate::script::Api;

/// What is measured of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    Burst(Api),
    Live16Cpu,
    Live16P50,
    Live16P99,
    Live200Cpu,
    Live200P50,
    Live200P99,
    /// 16 streams of another API: CPU.
    Live(Api),
    CallP50,
    CallP99,
    LongCallP50,
    JsonCpu,
    JsonP50,
    /// Text and a call in one answer, as fast as they go: CPU.
    MixedBurst,
    /// This many live streams of these: CPU, and how long the last frame of the call takes.
    MixedLive(Streams, Figure),
    /// This many streams of answers that are little more than a call: how many a second of CPU.
    Calls(Streams),
    Base,
    Idle,
    Startup,
    BurstInstructions,
    LiveInstructions,
    BurstSyscalls,
    LiveSyscalls,
}

/// Streams at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Streams(pub(crate) usize);

/// What is measured of live streams with text and a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Figure {
    Cpu,
    CallP50,
    CallP99,
}

impl Figure {
    fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU a frame, µs",
            Self::CallP50 => "last frame of the call p50, µs",
            Self::CallP99 => "last frame of the call p99, µs",
        }
    }
}

impl Metric {
    pub(crate) fn title(self) -> String {
        let fixed = match self {
            Self::Burst(api) => return format!("burst, {}: CPU a frame, µs", api.word()),
            Self::Live(api) => return format!("16 live, {}: CPU a frame, µs", api.word()),
            Self::MixedLive(Streams(streams), figure) => {
                return format!("mixed, {streams} live streams: {}", figure.title());
            }
            Self::Calls(Streams(streams)) => {
                return format!("calls, {streams} streams: calls a second of CPU");
            }
            Self::MixedBurst => "mixed, burst of 8 streams: CPU a frame, µs",
            Self::Live16Cpu => "16 live streams: CPU a frame, µs",
            Self::Live16P50 => "16 live streams: text frame p50, µs",
            Self::Live16P99 => "16 live streams: text frame p99, µs",
            Self::Live200Cpu => "200 live streams: CPU a frame, µs",
            Self::Live200P50 => "200 live streams: text frame p50, µs",
            Self::Live200P99 => "200 live streams: text frame p99, µs",
            Self::CallP50 => "call of 4 KB: last frame p50, µs",
            Self::CallP99 => "call of 4 KB: last frame p99, µs",
            Self::LongCallP50 => "call of 100 KB: last frame p50, µs",
            Self::JsonCpu => "whole answer of 2 KB: CPU, µs",
            Self::JsonP50 => "whole answer of 2 KB: p50, µs",
            Self::Base => "memory after start, MB",
            Self::Idle => "memory of a silent stream, KB",
            Self::Startup => "start to first answer, ms",
            Self::BurstInstructions => "burst, messages: instructions a frame",
            Self::LiveInstructions => "16 live streams: instructions a frame",
            Self::BurstSyscalls => "burst, messages: system calls a frame",
            Self::LiveSyscalls => "16 live streams: system calls a frame",
        };
        fixed.to_owned()
    }

    /// Digits after the point that mean something.
    pub(crate) fn digits(self) -> usize {
        match self {
            Self::Burst(_) | Self::MixedBurst | Self::BurstSyscalls | Self::LiveSyscalls => 2,
            Self::Live16Cpu
            | Self::Live200Cpu
            | Self::Live(_)
            | Self::MixedLive(_, Figure::Cpu)
            | Self::JsonCpu
            | Self::Base
            | Self::Idle
            | Self::Startup => 1,
            _ => 0,
        }
    }
}

/// Values by what was measured and of whom, one a round.
#[derive(Debug, Default)]
pub(crate) struct Results(BTreeMap<(Metric, Kind), Vec<f64>>);

impl Results {
    pub(crate) fn add(&mut self, metric: Metric, kind: Kind, value: f64) {
        self.0.entry((metric, kind)).or_default().push(value);
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = self.0.keys().map(|(metric, _)| *metric).collect();
        metrics.dedup();
        metrics
    }

    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let measured = |kind: &Kind| self.0.keys().any(|(_, of)| of == kind);
        Kind::ALL.into_iter().filter(measured).collect()
    }

    pub(crate) fn rounds(&self, metric: Metric, kind: Kind) -> &[f64] {
        self.0.get(&(metric, kind)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The middle of the rounds.
    pub(crate) fn median(&self, metric: Metric, kind: Kind) -> Option<f64> {
        median(self.rounds(metric, kind))
    }

    /// Each round's value, as a multiple of `base`'s in the same round.
    pub(crate) fn ratios(&self, metric: Metric, kind: Kind, base: Kind) -> Vec<f64> {
        let pairs = self.rounds(metric, kind).iter().zip(self.rounds(metric, base));
        pairs.filter(|(_, base)| **base > 0.0).map(|(value, base)| value / base).collect()
    }

    /// Everything, for programs.
    pub(crate) fn json(&self) -> Value {
        let rows = self.0.iter().map(|((metric, kind), rounds)| {
            let ratio = median(&self.ratios(*metric, *kind, Kind::Nginx));
            json!({
                "what": metric.title(), "proxy": kind.word(), "rounds": rounds,
                "median": median(rounds), "to_nginx": ratio,
            })
        });
        rows.collect()
    }
}
