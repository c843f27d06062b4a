//! `callgate tail`: records as they come.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_audit::{Filter, Kind, Order, Reader, Stored};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::args;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, Color};
use crate::report;
use crate::when;

/// What is shown of the past, unless `--limit` says so.
const PAST: usize = 10;

/// Soon enough for eyes, and nothing for the store.
const PAUSE: Duration = Duration::from_millis(250);

/// What is read at once; more comes with the next look.
const BATCH: usize = 1_000;

pub(crate) fn run(args: &args::Tail, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    let color = Color::of(&io::stdout());
    let mut tail = Tail { reader, filter: filter(args), json: args.json, color, after: 0 };
    if !tail.past(args.filters.part.limit.unwrap_or(PAST))? || args.no_follow {
        return Ok(Exit::Success);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot wait for records")?.block_on(tail.follow())
}

fn filter(args: &args::Tail) -> Filter {
    // People see a turn by its calls.
    let kinds = Kind::ALL.iter().copied().filter(|kind| args.json || *kind != Kind::Turn);
    Filter { kinds: kinds.collect(), limit: None, ..args.filters.query() }
}

struct Tail {
    reader: Reader,
    filter: Filter,
    json: bool,
    color: Color,
    /// The last record that was looked at.
    after: u64,
}

impl Tail {
    /// Shows the newest records. False if nobody reads them.
    fn past(&mut self, limit: usize) -> Result<bool> {
        self.after = self.reader.last()?;
        let filter = Filter { limit: Some(limit), ..self.filter.clone() };
        let mut found = self.reader.records(&filter)?;
        found.reverse();
        self.after = found.last().map_or(self.after, |last| last.seq.max(self.after));
        self.print(&found)
    }

    /// Shows new records until it is interrupted, or nobody reads them any more.
    async fn follow(mut self) -> Result<Exit> {
        // Asked for once: an interrupt while records are read must not be missed.
        let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
        loop {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = &mut interrupted => return Ok(Exit::Success),
            }
            if is_closed(&io::stdout()) || !self.new_ones()? {
                return Ok(Exit::Success);
            }
        }
    }

    fn new_ones(&mut self) -> Result<bool> {
        loop {
            let last = self.reader.last()?;
            let filter = Filter {
                after: Some(self.after),
                order: Order::OldestFirst,
                limit: Some(BATCH),
                ..self.filter.clone()
            };
            let found = self.reader.records(&filter)?;
            let is_full = found.len() == BATCH;
            let newest = found.last().map_or(self.after, |newest| newest.seq);
            // What the filter leaves out need not be looked at again.
            self.after = if is_full { newest } else { newest.max(last) };
            if !self.print(&found)? {
                return Ok(false);
            }
            if !is_full {
                return Ok(true);
            }
        }
    }

    /// Prints records at once. False if nobody reads them.
    fn print(&self, found: &[Stored]) -> Result<bool> {
        let mut text = String::new();
        for stored in found {
            text.push_str(&self.line(stored)?);
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            done => done.map(|()| true).context("cannot write to stdout"),
        }
    }

    fn line(&self, stored: &Stored) -> Result<String> {
        if self.json {
            return Ok(report::line(&stored.to_json())?);
        }
        let word = match records::verdict(stored) {
            "" => stored.record.kind.as_str(),
            verdict => verdict,
        };
        let (tool, rule, why) =
            (records::tool(stored), records::rule(stored), records::why(stored));
        let time = when::shown(stored.record.time);
        let line = render::verdict_words(word, &tool, &rule, &why, self.color);
        let by = match records::user(stored) {
            user if user.is_empty() => String::new(),
            user => format!("  by {}", render::printable(&user)),
        };
        Ok(format!("{time}  {}{by}\n", line.trim_end_matches('\n')))
    }
}

/// Whether the other side of a pipe is gone: a tail without news would not notice by writing.
fn is_closed(stdout: &io::Stdout) -> bool {
    let mut asked = [PollFd::new(stdout, PollFlags::empty())];
    let told = poll(&mut asked, Some(&Timespec::default()));
    let gone = PollFlags::ERR | PollFlags::HUP;
    told.is_ok() && asked.iter().any(|stdout| stdout.revents().intersects(gone))
}
