//! The store of records, opened as the config says.

use std::cell::Cell;
use std::path::Path;

use anyhow::Result;
use callgate_audit::{
    CallOutcome, Filter, RecordKind, RecordOrder, RecordedChange, RecordedPrincipal, RecordedTool,
    StoredRecord, WhoFilter,
};
use callgate_control::HintedError;
use callgate_registry::PinHash;
use callgate_store::{BackupError, Location, OpenError, ReadError, RecordReader};
use jiff::{SignedDuration, Timestamp};

use crate::args::{PrincipalFilterArgs, RecordFilterArgs};
use crate::call_text;
use crate::render::{count, hinted, printable, rule_name, talk};
use crate::table::{Fit, Listing};
use crate::when;

/// Opens the store to read it.
pub(crate) fn reader(config: Option<&Path>) -> Result<RecordReader> {
    opened(&callgate_config::audit_settings(config)?.store)
}

/// Opens a store whose place is known.
pub(crate) fn opened(store: &Location) -> Result<RecordReader> {
    announce_move(store);
    RecordReader::open(store).map(reporting).map_err(open_error)
}

/// Reports records that this version cannot read, and leaves them out of every list.
pub(crate) fn reporting(reader: RecordReader) -> RecordReader {
    let reported = Cell::new(0_usize);
    reader.with_unreadable(move |seq, why| {
        reported.set(reported.get() + 1);
        match reported.get() {
            1..=MOST_REPORTED => talk(&format!(
                "record {seq} cannot be read by this version of callgate: {}\n",
                printable(why)
            )),
            TOO_MANY => talk("more records cannot be read by this version of callgate\n"),
            _ => {}
        }
    })
}

/// How many unreadable records are reported one by one.
const MOST_REPORTED: usize = 3;
const TOO_MANY: usize = MOST_REPORTED + 1;

/// Says that opening this store moves the records of version 0.1, which may take a while.
pub(crate) fn announce_move(store: &Location) {
    let (Location::Sqlite(path), Some(records)) = (store, store.legacy_records()) else { return };
    let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
    talk(&format!(
        "moving {records} of callgate 0.1 into the journal; the old file is kept as `{}.0.1`\n",
        printable(&path.to_string_lossy())
    ));
}

/// Opens the store to read it; `None` if it does not exist yet.
pub(crate) fn reader_if_there(config: Option<&Path>) -> Result<Option<RecordReader>> {
    opened_if_there(&callgate_config::audit_settings(config)?.store)
}

/// The same for a store whose place is known; `None` if it does not exist yet.
pub(crate) fn opened_if_there(store: &Location) -> Result<Option<RecordReader>> {
    announce_move(store);
    match RecordReader::open(store) {
        Err(OpenError::Missing { .. }) => Ok(None),
        opened => Ok(Some(reporting(opened?))),
    }
}

/// The store's settings, if there is a store.
pub(crate) fn existing(config: Option<&Path>) -> Result<callgate_store::Settings> {
    let settings = callgate_config::audit_settings(config)?;
    match &settings.store {
        Location::Sqlite(path) if !settings.store.exists() => {
            Err(open_error(OpenError::Missing { path: path.clone() }))
        }
        Location::Memory => Err(open_error(OpenError::InMemory)),
        Location::Sqlite(_) => {
            announce_move(&settings.store);
            Ok(settings)
        }
    }
}

/// Whether nothing has been kept on this machine yet.
pub(crate) fn is_new(config: Option<&Path>) -> Result<bool> {
    let settings = callgate_config::audit_settings(config)?;
    Ok(matches!(&settings.store, Location::Sqlite(_)) && !settings.store.exists())
}

fn open_error(error: OpenError) -> anyhow::Error {
    open_problem(&error).into()
}

/// A backup of a store that does not exist reads like any other command on it.
pub(crate) fn backup_error(error: BackupError) -> anyhow::Error {
    match error {
        BackupError::Open(error) => open_error(error),
        error => HintedError::of(&error).into(),
    }
}

/// A store that does not exist yet is not an error: a new user has none.
pub(crate) fn open_problem(error: &OpenError) -> HintedError {
    match error {
        OpenError::Missing { path } => HintedError::hinted(
            format!("no records yet: there is no store at `{}`", path.display()),
            "start the gateway with `callgate serve`; `callgate demo` shows how it works",
        ),
        error => HintedError::of(error),
    }
}

/// The filter for the records of one request. The id says when the request came, so that few
/// records are searched; a turn takes less than a day.
pub(crate) fn of_request(request: &str, filter: Filter) -> Filter {
    let request = request.trim().to_ascii_lowercase();
    let begun = time_of(&request);
    let since = filter.since.or(begun);
    let day = SignedDuration::from_hours(24);
    let until = filter.until.or(begun.and_then(|begun| begun.checked_add(day).ok()));
    Filter { request: Some(request), since, until, ..filter }
}

/// When a request came, by its id: a UUID of version 7 begins with the milliseconds.
fn time_of(request: &str) -> Option<Timestamp> {
    let (head, rest) = request.split_once('-')?;
    let (middle, rest) = rest.split_once('-')?;
    let is_timed = head.len() == 8 && middle.len() == 4 && rest.starts_with('7');
    let milliseconds = i64::from_str_radix(&format!("{head}{middle}"), 16).ok()?;
    Timestamp::from_millisecond(milliseconds).ok().filter(|_| is_timed)
}

impl RecordFilterArgs {
    /// The query that these flags describe.
    pub(crate) fn query(&self) -> Filter {
        Filter {
            session: self.session.clone(),
            tool: self.tool.clone(),
            server: self.server.clone(),
            surface: self.surface,
            verdict: self.verdict,
            rule: self.rule.clone(),
            model: self.model.clone(),
            provider: self.by.provider.clone(),
            who: self.by.who(),
            since: self.part.since,
            until: self.part.until,
            limit: self.part.limit,
            ..Filter::default()
        }
    }
}

impl PrincipalFilterArgs {
    /// The principals that these flags select.
    pub(crate) fn who(&self) -> WhoFilter {
        WhoFilter {
            user: self.user.clone(),
            team: self.team.clone(),
            org: self.org.clone(),
            agent: self.agent.clone(),
            key: self.key.clone(),
        }
    }
}

/// How many records are listed by default: a screenful or two.
pub(crate) const DEFAULT_LIMIT: usize = 50;

/// `allow`, `audit`, `deny` or `unjudged`; for text also `mask` and `block`; empty for what was
/// not decided.
pub(crate) fn verdict(stored: &StoredRecord) -> &str {
    if let Some(found) = &stored.record.guardrail {
        return &found.action;
    }
    stored.record.verdict.as_ref().map_or("", |verdict| verdict.action.as_str())
}

/// The tool, with its server.
pub(crate) fn tool(stored: &StoredRecord) -> String {
    match &stored.record.tool {
        Some(RecordedTool { name, server: Some(server), .. })
            if !name.contains(server.as_str()) =>
        {
            format!("{server}/{name}")
        }
        Some(tool) => tool.name.clone(),
        None => String::new(),
    }
}

/// The user who acted.
pub(crate) fn user(stored: &StoredRecord) -> String {
    stored.record.who.user.clone().unwrap_or_default()
}

/// The rule that decided.
pub(crate) fn rule(stored: &StoredRecord) -> String {
    match &stored.record.verdict {
        Some(verdict) if verdict.policy.is_some() || verdict.rule.is_some() => {
            rule_name(verdict.policy.as_deref(), verdict.rule.as_deref())
        }
        _ => String::new(),
    }
}

/// The whole input of the tool on one line, with secrets redacted.
pub(crate) fn input(stored: &StoredRecord) -> String {
    let input = stored.record.tool.as_ref().and_then(|tool| tool.input.as_deref());
    let input = callgate_scan::redact_json(input.unwrap_or_default());
    input.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The reason or the event, reduced to its first line: a rejected policy lists all its problems.
pub(crate) fn why(stored: &StoredRecord) -> String {
    let record = &stored.record;
    match (record.kind, &record.policies, &record.change) {
        (RecordKind::SessionStarted | RecordKind::SessionEnded, ..) => return session(&record.who),
        (RecordKind::Weakened, Some(facts), _) => return facts.weakened.join("; "),
        (_, _, Some(change)) => return changed(change),
        _ => {}
    }
    let reason = stored.record.verdict.as_ref().and_then(|verdict| verdict.reason.as_deref());
    let why = reason.or(stored.record.detail.as_deref()).unwrap_or_default();
    let why = why.lines().next().unwrap_or_default();
    match &stored.record.guardrail {
        Some(found) => format!("{} in the {}: {why}", found.kind, found.direction),
        None => why.to_owned(),
    }
}

/// Whose session it is.
fn session(who: &RecordedPrincipal) -> String {
    let parts = [&who.session, &who.agent, &who.key, &who.user];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    parts.join(", ")
}

/// What a person changed: `renew key ci: expires A -> B`.
fn changed(change: &RecordedChange) -> String {
    let RecordedChange { what, name, action, after, .. } = change;
    let value = |field: &str, value: &str| match field {
        "hash" | "seen_hash" => PinHash::stored(value).short().to_owned(),
        _ => value.to_owned(),
    };
    let differences: Vec<String> = change
        .differences()
        .map(|(field, was, is)| match (was, is) {
            (Some(was), Some(is)) => {
                format!("{field} {} -> {}", value(field, was), value(field, is))
            }
            (None, Some(is)) => format!("{field} {}", value(field, is)),
            (Some(was), None) if after.is_empty() => format!("{field} was {}", value(field, was)),
            (Some(_), None) => format!("{field} removed"),
            (None, None) => field.to_owned(),
        })
        .collect();
    let differences = match differences.as_slice() {
        [] => String::new(),
        some => format!(": {}", some.join(", ")),
    };
    format!("{action} {} {name}{differences}", what.as_str())
}

/// The record's number: short, and `calls show` accepts it.
pub(crate) fn number(stored: &StoredRecord) -> String {
    stored.seq.to_string()
}

/// The record that a user names: by its number, by its id, or by the beginning of its id.
pub(crate) fn find(reader: &RecordReader, name: &str) -> Result<StoredRecord> {
    let Some(number) = as_number(name.trim()) else {
        return reader.show(name).map_err(|error| not_found(reader, error));
    };
    let after = Some(number.saturating_sub(1));
    let filter =
        Filter { after, order: RecordOrder::OldestFirst, limit: Some(1), ..Filter::default() };
    let found = reader.records(&filter)?.into_iter().find(|stored| stored.seq == number);
    found.ok_or_else(|| {
        let last = reader.last().unwrap_or_default();
        hinted(
            format!("there is no record {number}"),
            format!("the newest record is {last}; older ones may have expired"),
        )
    })
}

/// The call that a user names, like [`find`]; an error if the record is not one of a call.
pub(crate) fn find_call(reader: &RecordReader, name: &str) -> Result<StoredRecord> {
    let stored = find(reader, name)?;
    if stored.record.kind.is_call() {
        return Ok(stored);
    }
    let (number, kind) = (stored.seq, stored.record.kind.as_str());
    let message = format!("record {number} is not a call: it is a `{kind}`");
    Err(hinted(message, "`callgate calls` lists the calls"))
}

/// Why an id does not lead to a record. If it leads to several, prints them, so that the user can
/// choose.
fn not_found(reader: &RecordReader, error: ReadError) -> anyhow::Error {
    let ReadError::Ambiguous { prefix, some } = &error else {
        return hinted(error.to_string(), "`callgate calls` lists the records with their numbers");
    };
    let found: Vec<StoredRecord> = some.iter().filter_map(|id| reader.show(id).ok()).collect();
    let head = ["record", "time", "type", "verdict", "call"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(3);
    for stored in &found {
        table.row([
            number(stored),
            time(stored, Fit::Terminal),
            stored.record.kind.as_str().to_owned(),
            verdict(stored).to_owned(),
            call(stored),
        ]);
    }
    talk(&format!("{}\n", table.text()));
    hinted(
        format!("several records have an id that begins with `{prefix}`"),
        "use a longer prefix, or the number of the record: `callgate calls show NUMBER`",
    )
}

/// A number has no leading zero, and an id always has one: it begins with the time in
/// milliseconds, as 12 hexadecimal digits.
fn as_number(name: &str) -> Option<u64> {
    if name.starts_with('0') { None } else { name.parse().ok() }
}

/// The id, which only a wide table has room for.
pub(crate) fn id(stored: &StoredRecord, fit: Fit) -> String {
    match fit {
        Fit::Terminal => String::new(),
        Fit::Whole => stored.record.id.to_string(),
    }
}

/// When it happened: to the second; on a terminal, today's records show only the time.
pub(crate) fn time(stored: &StoredRecord, fit: Fit) -> String {
    match fit.width() {
        Some(_) => when::brief(stored.record.time),
        None => when::shown(stored.record.time),
    }
}

/// The call on one line: `Bash: git push --force`.
pub(crate) fn call(stored: &StoredRecord) -> String {
    let named = stored.record.tool.as_ref().filter(|tool| !tool.name.trim().is_empty());
    let Some(called) = named else {
        let no_name = if stored.record.kind.is_call() { NO_NAME } else { "" };
        return no_name.to_owned();
    };
    let argument = call_text::argument(&called.name, called.input.as_deref());
    call_text::joined(&tool(stored), &argument)
}

/// What stands for a call whose tool has no name.
const NO_NAME: &str = "(a tool without a name)";

/// The rule that decided, or the one that rewrote the arguments of a call that passed.
pub(crate) fn rule_or_rewrite(stored: &StoredRecord) -> String {
    let rewrote = stored.record.verdict.as_ref().and_then(|verdict| verdict.sanitized.first());
    match rewrote {
        Some(hit) if verdict(stored) != CallOutcome::Deny.as_str() => {
            format!("{} (rewritten)", rule_name(Some(&hit.policy), hit.rule.as_deref()))
        }
        _ => rule(stored),
    }
}
