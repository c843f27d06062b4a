//! Read access to the state for readers of records: pins, marks of calls, and counts of responses
//! without calls.

use rusqlite::{Connection, OpenFlags, Row};

use callgate_audit::{CompiledFilter, RecordedPrincipal, StatsCounter};

use super::schema::STATE;
use super::{marks, pins};
use crate::error::{OpenError, ReadError};
use crate::place::{COMMON, Patience, StorePlace};
use crate::schema::FileKind;
use crate::state::marks::CallMark;
use crate::state::pins::StoredPin;
use crate::state::turns::HOUR;

/// The state of a store, open for reading.
#[derive(Debug)]
pub(crate) struct StateReader(Connection);

impl StateReader {
    /// Opens the state of the store at this place; `None` if it has none.
    pub(crate) fn open(store: &StorePlace) -> Result<Option<Self>, OpenError> {
        let state = store.state();
        let mut connection = match &state {
            StorePlace::File(path) if matches!(path.try_exists(), Ok(false)) => return Ok(None),
            StorePlace::File(path) => {
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON)
            }
            StorePlace::Memory(uri) => {
                Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON)
            }
        }
        .map_err(|error| state.unreadable(&error))?;
        let patience = Patience::new();
        connection
            .busy_handler(Some(move |count| patience.wait(count)))
            .map_err(|error| state.unreadable(&error))?;
        let identity = match STATE.identify(&connection) {
            Ok(identity) => identity,
            Err(error) => {
                // Without write access to the folder, SQLite cannot create the index of its log. If
                // there is no log either, there is no writer and no index is needed.
                connection = state.immutable().ok_or_else(|| state.unreadable(&error))?;
                STATE.identify(&connection).map_err(|error| state.unreadable(&error))?
            }
        };
        state.check(&STATE, &identity)?;
        Ok((identity != FileKind::Empty).then_some(Self(connection)))
    }

    /// Every pin, by server, kind and name.
    pub(crate) fn pins(&self) -> Result<Vec<StoredPin>, ReadError> {
        Ok(pins::all(&self.0)?)
    }

    /// Every mark of a call, the newest first.
    pub(crate) fn marks(&self) -> Result<Vec<CallMark>, ReadError> {
        Ok(marks::all(&self.0)?)
    }

    /// Adds the responses without calls that pass.
    pub(crate) fn count_turns(
        &self,
        filter: &CompiledFilter<'_>,
        tally: &mut StatsCounter<'_>,
    ) -> Result<(), ReadError> {
        let hour = |time: jiff::Timestamp| time.as_microsecond().div_euclid(HOUR);
        let since = filter.filter.since.map_or(i64::MIN, hour);
        let until = filter.filter.until.map_or(i64::MAX, hour);
        let mut query = self.0.prepare_cached(
            "SELECT model, turns, tokens_input, tokens_output, provider, org, team, user, key, agent \
             FROM turns WHERE hour >= ?1 AND hour <= ?2",
        )?;
        let mut rows = query.query([since, until])?;
        while let Some(row) = rows.next()? {
            let (model, provider): (String, String) = (row.get(0)?, row.get(4)?);
            let asked = filter.filter.who.is_empty() || filter.passes_who(&who_of(row)?);
            if asked && filter.passes_model(Some(&provider), Some(&model)) {
                let count = |index| row.get::<_, i64>(index).map(|it| it.max(0).unsigned_abs());
                tally.add_turns(count(1)?, count(2)?, count(3)?);
            }
        }
        Ok(())
    }
}

/// The principal in a row of turns. Empty columns are unknown.
fn who_of(row: &Row<'_>) -> rusqlite::Result<RecordedPrincipal> {
    let part =
        |at: usize| row.get::<_, String>(at).map(|text| Some(text).filter(|text| !text.is_empty()));
    Ok(RecordedPrincipal {
        org: part(5)?,
        team: part(6)?,
        user: part(7)?,
        key: part(8)?,
        agent: part(9)?,
        ..RecordedPrincipal::default()
    })
}
