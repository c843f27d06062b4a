//! The agents' end: asks, reads, and checks that every byte arrives as it was sent.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::http::{Flow, Wire};
use crate::plan::Plan;
use crate::proxy::Kind;
use crate::said::Said;
use crate::script::{self, Script};
use crate::upstream::Sent;

/// How a stream arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrives {
    /// Byte for byte.
    AsSent,
    /// With the same text.
    Masked,
}

impl Arrives {
    pub(crate) fn through(kind: Kind) -> Self {
        if kind == Kind::CallgateMasked { Self::Masked } else { Self::AsSent }
    }

    fn check(self, plan: Plan) -> Checked {
        match self {
            Self::AsSent => Checked::Bytes(Check::new(plan.script())),
            Self::Masked => Checked::Text(Box::new(Said::new(plan.api(), plan.script()))),
        }
    }
}

/// One or the other way to compare.
#[derive(Debug)]
enum Checked {
    Bytes(Check),
    Text(Box<Said>),
}

impl Checked {
    fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Bytes(check) => check.feed(bytes),
            Self::Text(said) => said.feed(bytes),
        }
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Self::Bytes(check) => check.finish(),
            Self::Text(said) => said.finish(),
        }
    }

    fn whole(&self) -> usize {
        match self {
            Self::Bytes(check) => check.whole,
            Self::Text(said) => said.whole,
        }
    }

    fn script(&self) -> &Script {
        match self {
            Self::Bytes(check) => &check.script,
            Self::Text(said) => said.script(),
        }
    }
}

/// Compares a body with what was sent, and knows which frames are whole.
#[derive(Debug)]
struct Check {
    script: Script,
    /// Frames that have arrived.
    whole: usize,
    /// Bytes of the next one that have arrived.
    within: usize,
}

impl Check {
    fn new(script: Script) -> Self {
        Self { script, whole: 0, within: 0 }
    }

    fn feed(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let frame = self.script.frame(self.whole).context("more came than was sent")?;
            let expected = frame.get(self.within..).unwrap_or_default();
            let (now, later) = bytes.split_at(expected.len().min(bytes.len()));
            if !expected.starts_with(now) {
                bail!(
                    "frame {} came changed:\n sent {:?}\n came {:?}",
                    self.whole,
                    String::from_utf8_lossy(expected),
                    String::from_utf8_lossy(now)
                );
            }
            bytes = later;
            self.within += now.len();
            if self.within == frame.len() {
                self.whole += 1;
                self.within = 0;
            }
        }
        Ok(())
    }

    /// Begins from the first frame again.
    fn restart(&mut self) {
        self.whole = 0;
        self.within = 0;
    }

    fn finish(&self) -> Result<()> {
        let all = self.script.len();
        ensure!(self.whole == all, "only {} of {all} frames came", self.whole);
        Ok(())
    }
}

/// Reads one stream to its end. Gives the number of frames.
pub(crate) async fn stream(target: SocketAddr, plan: Plan, arrives: Arrives) -> Result<usize> {
    let mut wire = Wire::connect(target).await?;
    let mut check = arrives.check(plan);
    ask(&mut wire, target, plan, |bytes| {
        check.feed(bytes)?;
        Ok(Flow::Continue)
    })
    .await?;
    check.finish()?;
    Ok(check.script().len())
}

/// Reads this many streams of one plan, one after the other on one connection. Gives the number of
/// frames.
pub(crate) async fn repeated(target: SocketAddr, plan: Plan, times: usize) -> Result<usize> {
    let mut wire = Wire::connect(target).await?;
    let mut check = Check::new(plan.script());
    for _ in 0..times {
        check.restart();
        ask(&mut wire, target, plan, |bytes| {
            check.feed(bytes)?;
            Ok(Flow::Continue)
        })
        .await?;
        check.finish()?;
    }
    Ok(times * check.script.len())
}

/// How long the frames of one stream were under way.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    pub(crate) text: Vec<Duration>,
    pub(crate) completing: Option<Duration>,
    pub(crate) frames: usize,
}

/// Reads one stream of a plan that notes when frames are sent.
pub(crate) async fn timed(
    target: SocketAddr,
    plan: Plan,
    number: usize,
    sent: &Sent,
    arrives: Arrives,
) -> Result<Delays> {
    timed_on(&mut Wire::connect(target).await?, target, plan, number, sent, arrives).await
}

/// Reads such a stream on a connection that is there already.
pub(crate) async fn timed_on(
    wire: &mut Wire,
    target: SocketAddr,
    plan: Plan,
    number: usize,
    sent: &Sent,
    arrives: Arrives,
) -> Result<Delays> {
    let mut check = arrives.check(plan);
    let mut delays = Delays { frames: check.script().len(), ..Delays::default() };
    let (texts, completing) = (check.script().texts(), check.script().completing());
    ask(wire, target, plan, |bytes| {
        let now = Instant::now();
        let before = check.whole();
        check.feed(bytes)?;
        for frame in before..check.whole() {
            if texts.contains(&frame) {
                delays.text.push(sent.age(number, frame, now)?);
            } else if completing == Some(frame) {
                delays.completing = Some(sent.age(number, frame, now)?);
            }
        }
        Ok(Flow::Continue)
    })
    .await?;
    check.finish()?;
    Ok(delays)
}

/// Opens a stream that falls silent, and leaves it open.
pub(crate) async fn silent(target: SocketAddr) -> Result<Wire> {
    let mut wire = Wire::connect(target).await?;
    let script = Plan::Idle.script();
    let awaited = script.texts().end;
    let mut check = Check::new(script);
    ask(&mut wire, target, Plan::Idle, |bytes| {
        check.feed(bytes)?;
        Ok(if check.whole == awaited { Flow::Stop } else { Flow::Continue })
    })
    .await?;
    Ok(wire)
}

/// Asks for whole answers, one after the other on one connection. Gives how long each took.
pub(crate) async fn answers(target: SocketAddr, requests: usize) -> Result<Vec<Duration>> {
    let mut wire = Wire::connect(target).await?;
    let expected = script::json_answer();
    let mut took = Vec::with_capacity(requests);
    for _ in 0..requests {
        let begun = Instant::now();
        let mut came = Vec::with_capacity(expected.len());
        ask(&mut wire, target, Plan::Json, |bytes| {
            came.extend_from_slice(bytes);
            Ok(Flow::Continue)
        })
        .await?;
        ensure!(came == expected.as_bytes(), "an answer came changed");
        took.push(begun.elapsed());
    }
    Ok(took)
}

/// One request on a connection, its answer to `each`.
async fn ask(
    wire: &mut Wire,
    target: SocketAddr,
    plan: Plan,
    each: impl FnMut(&[u8]) -> Result<Flow>,
) -> Result<()> {
    wire.write(&plan.request(&target.to_string())).await?;
    let head = wire.head().await?.context("closed without an answer")?;
    head.expect_ok()?;
    wire.body(&head, each).await
}
