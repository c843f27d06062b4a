//! What callgate is to reach: first, and in the end.

use crate::measure::median;
use crate::proxy::Kind;
use crate::results::{Figure, Metric, Results, Streams};
use crate::script::Api;

/// A goal, and the figure on the way there.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    kind: Kind,
    measure: Measure,
    pub(crate) better: Better,
    pub(crate) first: Option<f64>,
    pub(crate) last: Option<f64>,
}

/// On which side of its figures a goal is met.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Better {
    Less,
    More,
}

/// How a goal is read from what was measured.
#[derive(Debug, Clone, Copy)]
enum Measure {
    /// As a multiple of a proxy's, in the same round.
    Times(Metric, Kind),
    /// As it is.
    Plain(Metric),
    /// How much more than nginx's.
    Added(Metric),
}

/// Where callgate stands.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) middle: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) unit: &'static str,
}

use Kind::{Callgate, CallgateDisk, CallgateMasked, CallgateOff, Nginx};
use Measure::{Added, Plain, Times};

pub(crate) const GOALS: [Goal; 38] = [
    goal("burst, messages: CPU a frame", Times(Metric::Burst(Api::Messages), Nginx))
        .figures(1.6, 1.25),
    goal("burst, chat: CPU a frame", Times(Metric::Burst(Api::Chat), Nginx)).figures(1.6, 1.4),
    goal("burst, messages: against bytecopy", Times(Metric::Burst(Api::Messages), Kind::Bytecopy))
        .last(0.2),
    goal("200 live streams: CPU a frame", Times(Metric::Live200Cpu, Nginx)).figures(1.15, 1.05),
    goal("burst, messages: masked against not", Times(Metric::Burst(Api::Messages), Callgate))
        .of(CallgateMasked)
        .last(1.4),
    goal("burst, chat: masked against not", Times(Metric::Burst(Api::Chat), Callgate))
        .of(CallgateMasked)
        .last(1.4),
    goal("16 live: masked against not", Times(Metric::Live16Cpu, Callgate))
        .of(CallgateMasked)
        .last(1.4),
    goal("200 live: masked against not", Times(Metric::Live200Cpu, Callgate))
        .of(CallgateMasked)
        .last(1.4),
    goal("whole answer of 2 KB: CPU", Times(Metric::JsonCpu, Nginx)).last(1.2),
    goal("burst: instructions a frame", Plain(Metric::BurstInstructions)).last(4_900.0),
    goal("burst: system calls a frame", Plain(Metric::BurstSyscalls)).last(0.12),
    goal("16 live: instructions a frame", Plain(Metric::LiveInstructions)).last(7_200.0),
    goal("16 live: system calls a frame", Plain(Metric::LiveSyscalls)).last(2.9),
    goal("16 live: text frame p50", Times(Metric::Live16P50, Nginx)).last(1.1),
    goal("16 live: text frame p99", Times(Metric::Live16P99, Nginx)).last(1.25),
    goal("16 live: p50 against mode off", Times(Metric::Live16P50, CallgateOff)).last(1.05),
    goal("call of 4 KB: last frame p50", Times(Metric::CallP50, Nginx)).figures(1.3, 1.2),
    goal("the same, durability: disk", Times(Metric::CallP50, Nginx)).of(CallgateDisk),
    goal("the same, disk, more than nginx", Added(Metric::CallP50)).of(CallgateDisk),
    goal("call of 100 KB: more than nginx", Added(Metric::LongCallP50)).last(300.0),
    goal("mixed, burst: CPU a frame", Times(Metric::MixedBurst, Nginx)).figures(1.6, 1.25),
    goal("the same, durability: disk", Times(Metric::MixedBurst, Nginx))
        .of(CallgateDisk)
        .figures(1.6, 1.25),
    goal("mixed, 16 live: CPU a frame", Times(live(16, Figure::Cpu), Nginx)).figures(1.25, 1.1),
    goal("the same, durability: disk", Times(live(16, Figure::Cpu), Nginx))
        .of(CallgateDisk)
        .figures(1.25, 1.1),
    goal("mixed, 200 live: CPU a frame", Times(live(200, Figure::Cpu), Nginx)).figures(1.25, 1.1),
    goal("the same, durability: disk", Times(live(200, Figure::Cpu), Nginx))
        .of(CallgateDisk)
        .figures(1.25, 1.1),
    goal("mixed, 16 live: call p50, disk", Plain(live(16, Figure::CallP50)))
        .of(CallgateDisk)
        .figures(5_000.0, 2_000.0),
    goal("mixed, 16 live: call p99, disk", Plain(live(16, Figure::CallP99))).of(CallgateDisk),
    goal("mixed, 200 live: call p50, disk", Plain(live(200, Figure::CallP50)))
        .of(CallgateDisk)
        .figures(5_000.0, 2_000.0),
    goal("mixed, 200 live: call p99, disk", Plain(live(200, Figure::CallP99))).of(CallgateDisk),
    goal("calls, 64 streams: a second of CPU", Plain(Metric::Calls(Streams(64))))
        .at_least(10_000.0, 16_000.0),
    goal("the same, durability: disk", Plain(Metric::Calls(Streams(64))))
        .of(CallgateDisk)
        .at_least(10_000.0, 16_000.0),
    goal("calls, 8 streams: a second of CPU", Plain(Metric::Calls(Streams(8)))),
    goal("the same, durability: disk", Plain(Metric::Calls(Streams(8)))).of(CallgateDisk),
    goal("calls, 64 streams: against nginx", Times(Metric::Calls(Streams(64)), Nginx)),
    goal("memory of a silent stream", Plain(Metric::Idle)).figures(32.0, 10.0),
    goal("memory after start", Plain(Metric::Base)).figures(12.0, 8.0),
    goal("start to first answer", Times(Metric::Startup, Nginx)).last(1.5),
];

const fn goal(what: &'static str, measure: Measure) -> Goal {
    Goal { what, kind: Callgate, measure, better: Better::Less, first: None, last: None }
}

const fn live(streams: usize, figure: Figure) -> Metric {
    Metric::MixedLive(Streams(streams), figure)
}

impl Goal {
    const fn figures(self, first: f64, last: f64) -> Self {
        Self { first: Some(first), last: Some(last), ..self }
    }

    /// Figures of which more is better.
    const fn at_least(self, first: f64, last: f64) -> Self {
        Self { better: Better::More, ..self.figures(first, last) }
    }

    const fn last(self, last: f64) -> Self {
        Self { last: Some(last), ..self }
    }

    const fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn standing(&self, results: &Results) -> Option<Standing> {
        let (values, unit) = match self.measure {
            Times(metric, base) => (results.ratios(metric, self.kind, base), "x"),
            Plain(metric) => (results.rounds(metric, self.kind).to_vec(), unit(metric)),
            Added(metric) => {
                let ours = results.rounds(metric, self.kind).iter();
                let pairs = ours.zip(results.rounds(metric, Nginx));
                (pairs.map(|(ours, theirs)| ours - theirs).collect(), " µs")
            }
        };
        Some(Standing {
            middle: median(&values)?,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            unit,
        })
    }
}

fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::Idle => " KB",
        Metric::Base => " MB",
        Metric::MixedLive(_, Figure::CallP50 | Figure::CallP99) => " µs",
        _ => "",
    }
}
