//! The model's end: streams what a [`Plan`] asks for, and notes when each frame was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::time::sleep_until;

use crate::http::{Flow, Wire};
use crate::plan::Plan;
use crate::script::{self, Api, Script, TEXTS};

/// The head of a stream.
fn head(api: Api) -> Vec<u8> {
    let kind = api.content_type();
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncache-control: no-cache\r\nrequest-id: req_011CSHoEeqs5C35K2UUqR7Fy\r\ntransfer-encoding: chunked\r\n\r\n").into_bytes()
}

const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Between the frames of a call. Long enough that a frame has arrived before the next is sent.
const CALL_GAP: Duration = Duration::from_millis(4);

/// Frames in one write of an answer with text and a call: as many as hyper, which is inside of many
/// servers, writes at once.
const FRAMES_PER_WRITE: usize = 16;

/// Rounds of text frames in one write of a burst: about 50 KB.
const ROUNDS_PER_WRITE: usize = 4;

/// A running upstream. It lives as long as the runtime.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) sent: Sent,
}

/// When the frames of each stream were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<Vec<Instant>>>>);

impl Sent {
    /// Makes room for this many streams and forgets the earlier ones.
    pub(crate) fn clear(&self, streams: usize) {
        *self.lock() = vec![Vec::new(); streams];
    }

    fn note(&self, stream: usize) {
        let now = Instant::now();
        if let Some(times) = self.lock().get_mut(stream) {
            times.push(now);
        }
    }

    fn restart(&self, stream: usize) {
        if let Some(times) = self.lock().get_mut(stream) {
            times.clear();
        }
    }

    /// How long the frame at a place has been under way.
    pub(crate) fn age(&self, stream: usize, frame: usize, now: Instant) -> Result<Duration> {
        let sent = self.lock().get(stream).and_then(|times| times.get(frame).copied());
        let sent = sent.context("a frame came before it was sent")?;
        Ok(now.saturating_duration_since(sent))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn start() -> Result<Upstream> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let upstream = Upstream { address: listener.local_addr()?, sent: Sent::default() };
    let sent = upstream.sent.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let sent = sent.clone();
            // Ends with its connection: an error is a client that went away.
            tokio::spawn(async move { serve(Wire::new(socket)?, &sent).await });
        }
    });
    Ok(upstream)
}

async fn serve(mut wire: Wire, sent: &Sent) -> Result<()> {
    let mut prepared = None;
    while let Some(head) = wire.head().await? {
        let mut body = Vec::new();
        wire.body(&head, |piece| {
            body.extend_from_slice(piece);
            Ok(Flow::Continue)
        })
        .await?;
        let plan = Plan::find(&body).context("a request without a plan")?;
        answer(&mut wire, plan, sent, &mut prepared).await?;
    }
    Ok(())
}

/// The answer to a plan, ready to be sent. A connection asks for the same one again and again, and
/// to make it takes longer than many a proxy takes to forward it.
#[derive(Debug)]
struct Prepared {
    plan: Plan,
    writes: Vec<Vec<u8>>,
}

impl Prepared {
    /// The answer that was prepared before, if it is to the same plan.
    fn of(plan: Plan, last: &mut Option<Self>) -> &Self {
        let fits = last.take().filter(|last| last.plan == plan);
        last.insert(fits.unwrap_or_else(|| Self::new(plan)))
    }

    fn new(plan: Plan) -> Self {
        let script = plan.script();
        let chunks: Vec<Vec<u8>> = (0..script.len())
            .filter_map(|at| script.frame(at))
            .map(|frame| script::chunk(frame))
            .collect();
        let mut writes: Vec<Vec<u8>> =
            chunks.chunks(FRAMES_PER_WRITE).map(<[Vec<u8>]>::concat).collect();
        if let Some(first) = writes.first_mut() {
            first.splice(..0, head(plan.api()));
        }
        if let Some(last) = writes.last_mut() {
            last.extend_from_slice(LAST_CHUNK);
        }
        Self { plan, writes }
    }
}

async fn answer(
    wire: &mut Wire,
    plan: Plan,
    sent: &Sent,
    prepared: &mut Option<Prepared>,
) -> Result<()> {
    match plan {
        Plan::Json => {
            let body = script::json_answer();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_011CSHoEeqs5C35K2UUqR7Fy\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            wire.write((head + &body).as_bytes()).await
        }
        Plan::Mixed { .. } => {
            for write in &Prepared::of(plan, prepared).writes {
                wire.write(write).await?;
            }
            Ok(())
        }
        Plan::Burst { .. } => {
            wire.write(&head(plan.api())).await?;
            burst(wire, &plan.script()).await
        }
        Plan::Live { stream, gap_ms, delay_us, .. } => {
            let pace = Pace::new(delay_us, Duration::from_millis(gap_ms));
            wire.write(&head(plan.api())).await?;
            paced(wire, &plan.script(), stream, pace, sent).await
        }
        Plan::Call { stream, delay_us, .. } => {
            let pace = Pace::new(delay_us, CALL_GAP);
            wire.write(&head(plan.api())).await?;
            paced(wire, &plan.script(), stream, pace, sent).await
        }
        Plan::LiveMixed { stream, gap_ms, delay_us, .. } => {
            let pace = Pace::new(delay_us, Duration::from_millis(gap_ms));
            wire.write(&head(plan.api())).await?;
            in_groups(wire, &plan.script(), stream, pace, sent).await
        }
        Plan::Idle => {
            let script = plan.script();
            let mut bytes = head(plan.api());
            for frame in (0..script.texts().end).filter_map(|at| script.frame(at)) {
                bytes.extend(script::chunk(frame));
            }
            wire.write(&bytes).await?;
            wire.closed().await;
            Ok(())
        }
    }
}

/// Everything at once: one frame to a chunk, many chunks to a write.
async fn burst(wire: &mut Wire, script: &Script) -> Result<()> {
    let texts = script.texts();
    let rounds = texts.len() / (TEXTS * ROUNDS_PER_WRITE);
    let rest = texts.start + rounds * TEXTS * ROUNDS_PER_WRITE;
    let encode = |frames: std::ops::Range<usize>| -> Vec<u8> {
        frames.filter_map(|at| script.frame(at)).flat_map(|frame| script::chunk(frame)).collect()
    };
    wire.write(&encode(0..texts.start)).await?;
    let block = encode(texts.start..texts.start + TEXTS).repeat(ROUNDS_PER_WRITE);
    for _ in 0..rounds {
        wire.write(&block).await?;
    }
    wire.write(&encode(rest..script.len())).await?;
    wire.write(LAST_CHUNK).await
}

/// When the frames of a stream are due.
#[derive(Debug, Clone, Copy)]
struct Pace {
    begin: Instant,
    gap: Duration,
}

impl Pace {
    fn new(delay_us: u64, gap: Duration) -> Self {
        Self { begin: Instant::now() + Duration::from_micros(delay_us), gap }
    }
}

/// One frame at a time, each a write of its own, with its time noted.
async fn paced(
    wire: &mut Wire,
    script: &Script,
    stream: usize,
    pace: Pace,
    sent: &Sent,
) -> Result<()> {
    sent.restart(stream);
    let mut due = pace.begin;
    for frame in (0..script.len()).filter_map(|at| script.frame(at)) {
        sleep_until(due.into()).await;
        due += pace.gap;
        let chunk = script::chunk(frame);
        sent.note(stream);
        wire.write(&chunk).await?;
    }
    wire.write(LAST_CHUNK).await
}

/// Like [`paced`], but the frames that a model sends together come in one write.
async fn in_groups(
    wire: &mut Wire,
    script: &Script,
    stream: usize,
    pace: Pace,
    sent: &Sent,
) -> Result<()> {
    sent.restart(stream);
    let mut due = pace.begin;
    for group in script.groups() {
        sleep_until(due.into()).await;
        due += pace.gap;
        let is_last = group.end == script.len();
        let mut write = Vec::new();
        for frame in group.filter_map(|at| script.frame(at)) {
            write.extend(script::chunk(frame));
            sent.note(stream);
        }
        if is_last {
            write.extend_from_slice(LAST_CHUNK);
        }
        wire.write(&write).await?;
    }
    Ok(())
}
