//! Reading records, also while a gateway writes.

mod scan;

use std::io::Write;
use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{OpenError, ReadError};
use crate::place::Place;
use crate::schema;
use crate::settings::Location;
use crate::turns::HOUR;
use crate::verify::{self, Verified, VerifyError};
use callgate_audit::Stored;
use callgate_audit::{Body, ID_AT, completes, turn_of};
use callgate_audit::{Compiled, Filter, Order};
use callgate_audit::{Hash, hex};
use callgate_audit::{Kind, Principal, Record};
use callgate_audit::{Stats, Tally};
use scan::{Found, Scan};

/// Reads a store, without ever writing to it.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
}

impl Reader {
    /// How many records [`records`](Self::records) gives at most. [`for_each`](Self::for_each) and
    /// [`export`](Self::export) have no such bound.
    pub const MAX_RECORDS: usize = 10_000;

    /// Opens a store to read it. A gateway may write to it meanwhile.
    pub fn open(location: &Location) -> Result<Self, OpenError> {
        match location {
            Location::Memory => Err(OpenError::InMemory),
            Location::Sqlite(_) => Self::at(&Place::new(location)),
        }
    }

    pub(crate) fn at(place: &Place) -> Result<Self, OpenError> {
        place.reader().map(|connection| Self { connection })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The records that pass the filter; at most [`MAX_RECORDS`](Self::MAX_RECORDS).
    pub fn records(&self, filter: &Filter) -> Result<Vec<Stored>, ReadError> {
        let limit = filter.limit.unwrap_or(usize::MAX).min(Self::MAX_RECORDS);
        let filter = Filter { limit: Some(limit), ..filter.clone() };
        let mut records = Vec::new();
        self.for_each(&filter, |stored| {
            records.push(stored);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(records)
    }

    /// Hands over each record that passes the filter, until told to stop. Memory does not grow with
    /// their number, and a slow consumer holds up nobody.
    pub fn for_each(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(Stored) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let compiled = Compiled::new(filter)?;
        let mut left = filter.limit.unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(());
        }
        let from = self.first_of(filter)?;
        Scan::new(&self.connection, from, filter.order).run(|found| {
            let body = decode(&found)?;
            if body.record.completes.is_some() || !compiled.passes(&body.record) {
                return Ok(ControlFlow::Continue(()));
            }
            left -= 1;
            match visit(self.join(found, body)?)? {
                ControlFlow::Continue(()) if left > 0 => Ok(ControlFlow::Continue(())),
                _ => Ok(ControlFlow::Break(())),
            }
        })
    }

    /// The number of the newest record; 0 where there is none.
    pub fn last(&self) -> Result<u64, ReadError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM records";
        let last: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(last.max(0).unsigned_abs())
    }

    /// The record with this id, or with the only id that begins like this.
    pub fn show(&self, id: &str) -> Result<Stored, ReadError> {
        let prefix = id.trim().to_ascii_lowercase();
        let plain = |c: char| c.is_ascii_hexdigit() || c == '-';
        if prefix.is_empty() || prefix.len() > 36 || !prefix.chars().all(plain) {
            return Err(ReadError::NoRecord(id.chars().take(80).collect()));
        }
        let found = self.with_prefix(&prefix)?;
        match found.as_slice() {
            [] => Err(ReadError::NoRecord(prefix)),
            [(seq, _)] => self.at_seq(*seq)?.ok_or(ReadError::NoRecord(prefix)),
            several => {
                let some = several.iter().map(|(_, id)| id.clone()).collect();
                Err(ReadError::Ambiguous { prefix, some })
            }
        }
    }

    /// Counts over the records that pass the filter. Its limit and order do not matter.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, ReadError> {
        let compiled = Compiled::new(filter)?;
        let mut tally = Tally::new(&compiled);
        Scan::new(&self.connection, self.first_of(filter)?, Order::OldestFirst).run(|found| {
            tally.add(&decode(&found)?.record);
            Ok(ControlFlow::Continue(()))
        })?;
        // An older store that is only read does not know who asked.
        let knows_who = || schema::has_table(&self.connection, "sessions");
        let countable = filter.session.is_none() && filter.after.is_none();
        if countable && (filter.who.is_empty() || knows_who()?) {
            self.count_turns(&compiled, &mut tally)?;
        }
        Ok(tally.stats)
    }

    /// Checks the whole chain, in one view of the store, and tells how far it is: records checked,
    /// records in all. Records that are appended meanwhile are left for the next time.
    pub fn verify(&self, progress: impl FnMut(u64, u64)) -> Result<Verified, VerifyError> {
        verify::verify(&self.connection, progress)
    }

    /// Writes each record that passes the filter as one line of JSON, and says how many.
    pub fn export(&self, filter: &Filter, mut out: impl Write) -> Result<u64, ReadError> {
        let mut records = 0;
        self.for_each(filter, |stored| {
            serde_json::to_writer(&mut out, &stored.to_json()).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            records += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        out.flush()?;
        Ok(records)
    }

    /// Adds what belongs to a record: the hash before it, its turn, what completes it.
    fn join(&self, found: Found, body: Body<Record>) -> Result<Stored, ReadError> {
        let Body { mut record, mut input } = body;
        if input.is_none() && record.verdict.is_some() {
            let completing = self.joined(&completes(&record.id.to_string()))?;
            if let Some(Body { record: rest, input: proof }) = completing {
                input = proof;
                if let (Some(tool), Some(rest)) = (&mut record.tool, rest.tool) {
                    tool.input = rest.input;
                }
            }
        }
        if let Some(turn) = self.turn_of(&record)? {
            record.tokens = turn.tokens;
            record.stop_reason = turn.stop_reason;
        }
        Ok(Stored {
            seq: found.seq.unsigned_abs(),
            record,
            input,
            hash: hex(&found.hash),
            prev_hash: hex(&self.hash_before(found.seq)?),
        })
    }

    /// The turn of a record that is not one itself.
    fn turn_of(&self, record: &Record) -> Result<Option<Record>, ReadError> {
        match (record.kind, &record.request) {
            (Kind::Turn, _) | (_, None) => Ok(None),
            (_, Some(request)) => Ok(self.joined(&turn_of(request))?.map(|turn| turn.record)),
        }
    }

    fn joined(&self, joins: &str) -> Result<Option<Body<Record>>, ReadError> {
        let mut query = self.connection.prepare_cached(
            "SELECT seq, hash, body FROM records WHERE joins = ?1 ORDER BY seq DESC LIMIT 1",
        )?;
        let found = query.query_row([joins], Found::read).optional()?;
        found.map(|found| decode(&found)).transpose()
    }

    fn hash_before(&self, seq: i64) -> Result<Hash, ReadError> {
        let mut query = self.connection.prepare_cached(
            "SELECT hash FROM records WHERE seq = ?1 - 1 \
             UNION ALL SELECT hash FROM chain WHERE seq = ?1 - 1 LIMIT 1",
        )?;
        Ok(query.query_row([seq], |row| row.get(0)).optional()?.unwrap_or_default())
    }

    fn at_seq(&self, seq: i64) -> Result<Option<Stored>, ReadError> {
        let mut query =
            self.connection.prepare_cached("SELECT seq, hash, body FROM records WHERE seq = ?1")?;
        let Some(found) = query.query_row([seq], Found::read).optional()? else { return Ok(None) };
        let body = decode(&found)?;
        self.join(found, body).map(Some)
    }

    /// The number of the first record that can pass the filter.
    fn first_of(&self, filter: &Filter) -> Result<i64, ReadError> {
        let after = filter.after.map_or(0, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let since = match filter.since {
            Some(since) => self.first_since(since.as_microsecond())?,
            None => 1,
        };
        Ok(since.max(after.saturating_add(1)))
    }

    /// The number of the first record that was stored at this time or later. Times of storing never
    /// go back, so it can be searched for without an index; and no record is stored before the
    /// time it tells of.
    fn first_since(&self, micros: i64) -> Result<i64, ReadError> {
        let (mut low, mut high): (i64, i64) = self.connection.query_row(
            "SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) + 1 FROM records",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut query = self
            .connection
            .prepare_cached("SELECT at FROM records WHERE seq >= ?1 ORDER BY seq LIMIT 1")?;
        while low < high {
            let middle = low + (high - low) / 2;
            let at: Option<i64> = query.query_row([middle], |row| row.get(0)).optional()?;
            match at {
                Some(at) if at < micros => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Up to five records whose ids begin like this. Ids hold their time, so the search begins
    /// where records of that time can be; it ends an hour behind it, if something was found.
    fn with_prefix(&self, prefix: &str) -> Result<Vec<(i64, String)>, ReadError> {
        let (earliest, latest) = times_of(prefix);
        let from = self.first_since(earliest)?;
        let upto = self.first_since(latest.saturating_add(HOUR))?;
        let near = self.prefixed(prefix, from, upto)?;
        if near.is_empty() { self.prefixed(prefix, upto, i64::MAX) } else { Ok(near) }
    }

    fn prefixed(
        &self,
        prefix: &str,
        from: i64,
        upto: i64,
    ) -> Result<Vec<(i64, String)>, ReadError> {
        let mut query = self.connection.prepare_cached(
            "SELECT seq, substr(body, ?1, 36) FROM records WHERE seq >= ?2 AND seq < ?3 \
             AND substr(body, ?1, ?4) = ?5 ORDER BY seq LIMIT 5",
        )?;
        let (start, length) = (ID_AT as i64, prefix.len() as i64);
        let rows = query.query_map(params![start, from, upto, length, prefix], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn count_turns(&self, filter: &Compiled<'_>, tally: &mut Tally<'_>) -> Result<(), ReadError> {
        let hour = |time: jiff::Timestamp| time.as_microsecond().div_euclid(HOUR);
        let since = filter.filter.since.map_or(i64::MIN, hour);
        let until = filter.filter.until.map_or(i64::MAX, hour);
        let by_who = !filter.filter.who.is_empty();
        let who = if by_who { ", org, team, user, key, agent" } else { "" };
        let mut query = self.connection.prepare_cached(&format!(
            "SELECT model, turns, tokens_input, tokens_output, provider{who} FROM turns \
             WHERE hour >= ?1 AND hour <= ?2",
        ))?;
        let mut rows = query.query([since, until])?;
        tally.stats.turns.without_calls = Some(0);
        while let Some(row) = rows.next()? {
            let (model, provider): (String, String) = (row.get(0)?, row.get(4)?);
            let asked = if by_who { filter.passes_who(&who_of(row)?) } else { true };
            if asked && filter.passes_model(Some(&provider), Some(&model)) {
                let count = |index| row.get::<_, i64>(index).map(|it| it.max(0).unsigned_abs());
                tally.add_turns(count(1)?, count(2)?, count(3)?);
            }
        }
        Ok(())
    }
}

/// Who asked, in a row of turns. What is empty is not known.
fn who_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Principal> {
    let part =
        |at: usize| row.get::<_, String>(at).map(|text| Some(text).filter(|text| !text.is_empty()));
    Ok(Principal {
        org: part(5)?,
        team: part(6)?,
        user: part(7)?,
        key: part(8)?,
        agent: part(9)?,
        ..Principal::default()
    })
}

fn decode(found: &Found) -> Result<Body<Record>, ReadError> {
    serde_json::from_str(&found.body).map_err(|error| ReadError::Unreadable {
        seq: found.seq.unsigned_abs(),
        why: error.to_string(),
    })
}

/// The earliest and the latest time, in microseconds, of ids that begin like this: a UUIDv7 opens
/// with 48 bits of milliseconds.
fn times_of(prefix: &str) -> (i64, i64) {
    let digits: String = prefix.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    let millis = |fill: char| {
        let padded: String = digits.chars().chain(std::iter::repeat(fill)).take(12).collect();
        i64::from_str_radix(&padded, 16).unwrap_or(0)
    };
    (millis('0').saturating_mul(1000), (millis('f') + 1).saturating_mul(1000))
}
