//! Differential fuzzing: mutated responses go through the gate, the official clients read what
//! comes out, and every call that a client hands to its program must have been judged and allowed
//! with the same name and equal arguments.
//!
//! A body comes from a number: the number picks a response of the corpus or makes one, mutates it,
//! and makes a policy for it. [`run`] tries as many as its [`Plan`] says. A violation is written to
//! a folder with everything that is needed to look at it, and made as small as possible.

mod body;
mod gated;
mod minimise;
mod mutate;
mod oracle;
mod pool;
mod report;
mod rules;
mod sample;
mod seeds;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use callgate_dialect::Dialect;
use callgate_policy::Policies;

use crate::rng::Rng;
use crate::sdk::ClientResults;
use gated::Gated;
use minimise::minimise;
use oracle::{check, is_dangerous};
use sample::BodySample;
use seeds::Seeds;

pub use body::RequestMode;
pub use oracle::{EXCEPTIONS, Violation, ViolationKind};
pub use pool::Pool;
pub use report::{FoundViolation, Report, Totals};

/// What to try.
#[derive(Debug)]
pub struct Plan {
    /// Where the numbers of the bodies come from.
    pub seed: u64,
    /// How many bodies of each kind.
    pub effort: Effort,
    /// The dialects.
    pub dialects: Vec<Dialect>,
    /// Clients whose violations are only counted: their names contain one of these.
    pub skip: Vec<String>,
    /// How many violations of each client and kind are made smaller: many have the same cause, and
    /// it takes long.
    pub minimised: usize,
    /// Where violations are written to.
    pub folder: PathBuf,
    /// What is done to the gate, to see that a broken one is noticed.
    pub sabotage: Sabotage,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub enum Effort {
    /// After this many streams of most dialects (more of some), and a quarter as many whole bodies.
    Bodies(usize),
    /// At a time.
    Until(Instant),
    /// After the one body of this dialect and mode with this number.
    One(Dialect, RequestMode, u64),
}

impl Effort {
    fn goes_on(self) -> bool {
        match self {
            Self::Until(end) => Instant::now() < end,
            Self::Bodies(_) | Self::One(..) => true,
        }
    }
}

/// A gate that is broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// It is not.
    None,
    /// The upstream's bytes leave as they came.
    PassAll,
    /// The last call that was allowed counts as not judged.
    ForgetOne,
}

/// Bodies in a batch, about: enough to keep the drivers busy.
const BATCH: usize = 120;

/// Tries bodies until the plan is fulfilled.
pub fn run(pool: &mut Pool, plan: &Plan) -> Report {
    let seeds = Seeds::load();
    let mut rng = Rng::new(plan.seed);
    let mut report = Report::default();
    if let Effort::One(dialect, mode, number) = plan.effort {
        batch(pool, plan, vec![BodySample::make(&seeds, dialect, mode, number)], &mut report);
        return report;
    }
    let streams = match plan.effort {
        Effort::Bodies(bodies) => bodies,
        _ => usize::MAX,
    };
    let at_once = (BATCH / plan.dialects.len().max(1)).clamp(1, streams);
    let mut done = 0;
    while done < streams && plan.effort.goes_on() {
        let mut samples = Vec::new();
        for &dialect in &plan.dialects {
            // There is less to vary in a whole body.
            let streams = at_once * weight(dialect);
            for (mode, count) in
                [(RequestMode::Stream, streams), (RequestMode::Whole, at_once.div_ceil(4))]
            {
                let made = (0..count).map(|_| BodySample::make(&seeds, dialect, mode, rng.next()));
                samples.extend(made);
            }
        }
        batch(pool, plan, samples, &mut report);
        done += at_once;
    }
    report
}

/// How many streams of a dialect are tried for one of the others: the more ways it has to say the
/// same, and the more clients that put calls together themselves, the more.
fn weight(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Responses => 4,
        Dialect::OpenAiChat | Dialect::Anthropic => 2,
        _ => 1,
    }
}

/// Sends samples through the gate and to the clients, and looks at what they made of them.
fn batch(pool: &mut Pool, plan: &Plan, samples: Vec<BodySample>, report: &mut Report) {
    let tried: Vec<Tried> = samples.into_iter().map(|sample| Tried::new(sample, plan)).collect();
    let mut bodies: Vec<(&BodySample, &[u8])> = Vec::new();
    for tried in &tried {
        bodies.push((&tried.sample, &tried.gated.out));
        if tried.is_read_directly() {
            bodies.push((&tried.sample, &tried.upstream));
        }
    }
    let mut seen = pool.read(&bodies).into_iter();
    for tried in &tried {
        let through = seen.next().expect("every body was read");
        let direct = if tried.is_read_directly() { seen.next() } else { None };
        judge(pool, plan, tried, &through, direct.as_ref(), report);
    }
}

/// A sample and what the gate made of it.
struct Tried {
    sample: BodySample,
    policies: Policies,
    upstream: Vec<u8>,
    gated: Gated,
}

impl Tried {
    fn new(sample: BodySample, plan: &Plan) -> Self {
        let policies = sample.policies();
        let upstream = sample.body.bytes();
        let mut gated = sample.gated(&policies);
        match plan.sabotage {
            Sabotage::None => {}
            Sabotage::PassAll => gated.out.clone_from(&upstream),
            Sabotage::ForgetOne => {
                let last = gated.judged.iter().rposition(|judged| judged.allowed);
                last.map(|place| gated.judged.remove(place));
            }
        }
        Self { sample, policies, upstream, gated }
    }

    fn is_identical(&self) -> bool {
        self.gated.out == self.upstream
    }

    /// Whether the clients read the upstream's bytes too. That takes as long again, and a part of
    /// them is enough to see how many are dangerous.
    fn is_read_directly(&self) -> bool {
        !self.is_identical() && self.sample.number.is_multiple_of(4)
    }
}

fn judge(
    pool: &mut Pool,
    plan: &Plan,
    tried: &Tried,
    through: &ClientResults,
    direct: Option<&ClientResults>,
    report: &mut Report,
) {
    let found = check(&tried.gated, &tried.policies, through);
    let totals = report.totals(tried.sample.body.dialect, tried.sample.body.mode);
    totals.bodies += 1;
    totals.identical += usize::from(tried.is_identical());
    if let Some(direct) = direct.or(tried.is_identical().then_some(through)) {
        totals.direct += 1;
        totals.dangerous += usize::from(is_dangerous(&tried.policies, direct));
    }
    totals.readings += through.len();
    totals.calls += found.calls;
    for name in found.excepted {
        *report.excepted.entry(name).or_default() += 1;
    }
    let mut kinds: BTreeMap<(String, ViolationKind), Violation> = BTreeMap::new();
    for violation in found.violations {
        kinds.entry((violation.client.clone(), violation.kind)).or_insert(violation);
    }
    for violation in kinds.into_values() {
        if plan.skip.iter().any(|skipped| violation.client.contains(skipped)) {
            report.skipped += 1;
            continue;
        }
        let minimal = (report.count(&tried.sample, &violation) < plan.minimised)
            .then(|| minimise(pool, &tried.sample, &violation));
        let finding = FoundViolation::new(tried, through, direct, violation, minimal.as_ref());
        finding.write(&plan.folder);
        report.findings.push(finding);
    }
}
