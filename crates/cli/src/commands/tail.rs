//! `callgate tail`: records as they come.

mod gateway;

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_audit::{Filter, RecordKind, RecordOrder, StoredRecord};
use callgate_control::{FeedEnd, FeedEvents, FeedRecord};
use callgate_store::{Location, RecordReader};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unicode_width::UnicodeWidthStr as _;

use self::gateway::FollowedGateway;
use crate::args;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, Color, talk};
use crate::report;
use crate::table::{self, truncated};
use crate::when;

/// How many past records are shown without `--limit`.
const PAST: usize = 10;

/// Soon enough for eyes, and nothing for the store.
const PAUSE: Duration = Duration::from_millis(250);

/// What is read at once; more comes with the next look.
const BATCH: usize = 1_000;

pub(crate) fn run(args: &args::TailArgs, config: Option<&Path>) -> Result<Exit> {
    let (settings, listen) = callgate_config::record_settings(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot wait for records")?;
    let reader = match args.no_follow {
        true => records::opened(&settings.store)?,
        false => match runtime.block_on(first_reader(&settings.store))? {
            Some(reader) => reader,
            None => return Ok(Exit::Success),
        },
    };
    let color = Color::of(&io::stdout());
    let mut tail = Tail { reader, filter: filter(args), json: args.json, color, after: 0 };
    let is_read = match args.after {
        Some(after) => tail.resume(after)?,
        None => tail.past(args.filters.part.limit.unwrap_or(PAST))?,
    };
    if !is_read || args.no_follow {
        return Ok(Exit::Success);
    }
    runtime.block_on(tail.follow(FollowedGateway::new(&listen, &settings.store)))
}

/// Opens the store, and waits for it if nothing was recorded yet. `None` if it is interrupted
/// first.
async fn first_reader(store: &Location) -> Result<Option<RecordReader>> {
    if let Some(reader) = records::opened_if_there(store)? {
        return Ok(Some(reader));
    }
    render::talk("no records yet; waiting for the first one (stop with Ctrl-C)\n");
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut failures = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = &mut interrupted => return Ok(None),
        }
        match records::opened_if_there(store) {
            Ok(Some(reader)) => return Ok(Some(reader)),
            Ok(None) if is_closed(&io::stdout()) => return Ok(None),
            Ok(None) => {}
            // The process that creates it may not have finished.
            Err(_) if failures < 20 => failures += 1,
            Err(error) => return Err(error),
        }
    }
}

fn filter(args: &args::TailArgs) -> Filter {
    // People see a turn by its calls.
    let kinds =
        RecordKind::ALL.iter().copied().filter(|kind| args.json || *kind != RecordKind::Turn);
    Filter { kinds: kinds.collect(), limit: None, ..args.filters.query() }
}

struct Tail {
    reader: RecordReader,
    filter: Filter,
    json: bool,
    color: Color,
    /// The last record that was looked at.
    after: u64,
}

impl Tail {
    /// Shows the newest records. False if stdout is closed.
    fn past(&mut self, limit: usize) -> Result<bool> {
        self.after = self.reader.last()?;
        let filter = Filter { limit: Some(limit), ..self.filter.clone() };
        let mut found = self.reader.records(&filter)?;
        found.reverse();
        self.after = found.last().map_or(self.after, |last| last.seq.max(self.after));
        self.print(&found)
    }

    /// Shows every record after this one. False if nobody reads them.
    fn resume(&mut self, after: u64) -> Result<bool> {
        let (first, last) = self.reader.extent()?;
        if after > last {
            let hint = "the store was replaced or restored since; begin again with `--after 0`";
            let what = format!("there is no record {after}: the newest one is {last}");
            return Err(render::hinted(what, hint));
        }
        if after + 1 < first {
            let (from, to) = (after + 1, first - 1);
            talk(&format!("warning: records {from} to {to} have expired and are not shown\n"));
        }
        self.after = after;
        self.new_ones()
    }

    /// Shows new records until it is interrupted or stdout is closed. They come from the feed of a
    /// gateway while one is running, and from the store otherwise.
    async fn follow(mut self, mut gateway: FollowedGateway) -> Result<Exit> {
        // Asked for once: an interrupt while records are read must not be missed.
        let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
        let mut feed: Option<FeedEvents> = None;
        loop {
            if feed.is_none() {
                feed = tokio::select! {
                    feed = gateway.feed(&self.filter, self.after) => feed,
                    _ = &mut interrupted => return Ok(Exit::Success),
                };
            }
            let is_read = tokio::select! {
                received = next(&mut feed) => match received {
                    Ok(records) => self.show_feed(&records)?,
                    Err(end) => {
                        gateway.ended(&end);
                        feed = None;
                        self.new_ones()?
                    }
                },
                () = tokio::time::sleep(PAUSE) => match feed {
                    Some(_) => true,
                    None => self.new_ones()?,
                },
                _ = &mut interrupted => return Ok(Exit::Success),
            };
            if !is_read || is_closed(&io::stdout()) {
                return Ok(Exit::Success);
            }
        }
    }

    /// Shows records from the feed of a gateway. False if stdout is closed.
    fn show_feed(&mut self, records: &[FeedRecord]) -> Result<bool> {
        let mut text = String::new();
        for record in records {
            self.after = self.after.max(record.seq);
            text.push_str(&match self.json {
                true => format!("{}\n", record.json),
                false => {
                    self.line(&StoredRecord::from_json(serde_json::from_str(&record.json)?)?)?
                }
            });
        }
        write_now(&text)
    }

    fn new_ones(&mut self) -> Result<bool> {
        loop {
            let last = self.reader.last()?;
            let filter = Filter {
                after: Some(self.after),
                order: RecordOrder::OldestFirst,
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

    /// Prints records at once. False if stdout is closed.
    fn print(&self, found: &[StoredRecord]) -> Result<bool> {
        let mut text = String::new();
        for stored in found {
            text.push_str(&self.line(stored)?);
        }
        write_now(&text)
    }

    fn line(&self, stored: &StoredRecord) -> Result<String> {
        if self.json {
            return Ok(report::line(&stored.to_json())?);
        }
        let word = match records::verdict(stored) {
            "" => stored.record.kind.as_str(),
            verdict => verdict,
        };
        let (time, width) = (when::shown(stored.record.time), table::terminal_width());
        let room = width.map_or(usize::MAX, |width| {
            width.saturating_sub(time.width() + word.width().max(5) + 6)
        });
        let call = truncated(&render::printable(&records::call(stored)), room / 2);
        let (rule, why) = (records::rule(stored), records::why(stored));
        let by = match records::user(stored) {
            user if user.is_empty() => String::new(),
            user => format!("by {user}"),
        };
        let parts = [call.as_str(), rule.as_str(), why.as_str(), by.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let what = truncated(&render::printable(&parts.join("  ")), room);
        let word = render::paint_word(&format!("{word:<5}"), word, self.color);
        Ok(format!("{time}  {word}  {what}\n"))
    }
}

/// The next records of a gateway's feed. Pending forever without a gateway.
async fn next(feed: &mut Option<FeedEvents>) -> Result<Vec<FeedRecord>, FeedEnd> {
    let Some(feed) = feed else { return std::future::pending().await };
    let mut records = vec![feed.next().await?];
    records.extend(feed.ready());
    Ok(records)
}

/// Writes at once. False if stdout is closed.
fn write_now(text: &str) -> Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        done => done.map(|()| true).context("cannot write to stdout"),
    }
}

/// Whether the reader of stdout is gone: without new records, no write would notice.
fn is_closed(stdout: &io::Stdout) -> bool {
    let mut asked = [PollFd::new(stdout, PollFlags::empty())];
    let polled = poll(&mut asked, Some(&Timespec::default()));
    let gone = PollFlags::ERR | PollFlags::HUP;
    polled.is_ok() && asked.iter().any(|stdout| stdout.revents().intersects(gone))
}
