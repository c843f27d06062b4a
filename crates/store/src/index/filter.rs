//! A filter, translated for one index.

use rusqlite::Connection;

use super::columns::nanoseconds;
use super::field::IndexField;
use super::filled::Filled;
use super::{Index, IndexError, names};
use crate::error::ReadError;
use callgate_audit::{Filter, FilterPattern};

/// A filter, translated for one index: the values of each field, and the time range.
#[derive(Debug)]
pub(crate) struct IndexFilter {
    /// The generation of the index in which the values were looked up.
    pub(super) generation: i64,
    /// The conditions that apply to turns as well. Each must hold.
    pub(super) of_turns: Vec<FieldCondition>,
    /// The conditions that apply only to other records. Each must hold too.
    pub(super) of_others: Vec<FieldCondition>,
    /// The earliest and the latest time, both inclusive.
    pub(super) since: i64,
    pub(super) until: i64,
}

/// Holds for a record that has one of these values in one of these fields.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldCondition(pub(super) Vec<(IndexField, Vec<i64>)>);

impl IndexFilter {
    /// All conditions, those with the fewest values first, because they may already leave no
    /// record.
    pub(super) fn cheapest_first(&self) -> Vec<&FieldCondition> {
        let mut all: Vec<&FieldCondition> = self.of_turns.iter().chain(&self.of_others).collect();
        all.sort_by_key(|FieldCondition(any)| any.iter().map(|(_, ids)| ids.len()).sum::<usize>());
        all
    }

    /// Whether a record with this time may pass.
    pub(crate) fn is_in_time(&self, time: i64) -> bool {
        self.since <= time && time <= self.until
    }
}

impl Index {
    /// Looks up the values of a filter. The caller handles its `after`, limit and order.
    pub(crate) fn translate(&self, filter: &Filter) -> Result<IndexFilter, IndexError> {
        let view = self.connection.unchecked_transaction()?;
        let wanted = IndexFilter {
            generation: Filled::read(&view)?.generation,
            of_turns: of_turns(&view, filter)?,
            of_others: of_others(&view, filter)?,
            since: filter.since.map_or(i64::MIN, nanoseconds),
            until: filter.until.map_or(i64::MAX, |until| match nanoseconds(until) {
                i64::MAX => i64::MAX,
                until => until.saturating_sub(1),
            }),
        };
        Ok(wanted)
    }
}

fn of_turns(view: &Connection, filter: &Filter) -> Result<Vec<FieldCondition>, IndexError> {
    let who = &filter.who;
    let patterns = [
        (IndexField::Model, &filter.model),
        (IndexField::Provider, &filter.provider),
        (IndexField::User, &who.user),
        (IndexField::Team, &who.team),
        (IndexField::Org, &who.org),
        (IndexField::Agent, &who.agent),
        (IndexField::Key, &who.key),
    ];
    let mut conditions = matching(view, &patterns)?;
    if let Some(session) = &filter.session {
        conditions.push(one_of(view, &[IndexField::Session], &[session])?);
    }
    Ok(conditions)
}

fn of_others(view: &Connection, filter: &Filter) -> Result<Vec<FieldCondition>, IndexError> {
    let patterns = [(IndexField::Tool, &filter.tool), (IndexField::Server, &filter.server)];
    let mut conditions = matching(view, &patterns)?;
    if !filter.kinds.is_empty() {
        let words: Vec<&str> = filter.kinds.iter().map(|kind| kind.as_str()).collect();
        conditions.push(one_of(view, &[IndexField::Kind], &words)?);
    }
    if let Some(surface) = filter.surface {
        conditions.push(one_of(view, &[IndexField::Surface], &[surface.as_str()])?);
    }
    if let Some(action) = filter.verdict {
        conditions.push(one_of(view, &[IndexField::Action], &[action.as_str()])?);
    }
    if let Some(rule) = &filter.rule {
        conditions.push(one_of(view, &[IndexField::Rule, IndexField::OtherRule], &[rule])?);
    }
    Ok(conditions)
}

fn matching(
    view: &Connection,
    patterns: &[(IndexField, &Option<String>)],
) -> Result<Vec<FieldCondition>, IndexError> {
    let mut conditions = Vec::new();
    for (field, pattern) in patterns {
        let Some(pattern) = pattern else { continue };
        let pattern = FilterPattern::new(pattern).map_err(ReadError::from)?;
        conditions.push(FieldCondition(vec![(*field, names::matching(view, *field, &pattern)?)]));
    }
    Ok(conditions)
}

/// One of these words in one of these fields.
fn one_of(
    view: &Connection,
    fields: &[IndexField],
    words: &[&str],
) -> Result<FieldCondition, IndexError> {
    let mut any = Vec::new();
    for field in fields {
        let mut ids = Vec::new();
        for word in words {
            ids.extend(names::find(view, *field, word)?);
        }
        any.push((*field, ids));
    }
    Ok(FieldCondition(any))
}
