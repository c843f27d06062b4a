//! The parts of a record that the index stores.

use std::borrow::Cow;

use callgate_audit::{CallOutcome, RecordKind};
use callgate_call::Surface;
use jiff::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::field::IndexField;

/// The parts of a body that the index stores. Everything else is skipped without being copied.
#[derive(Debug, Deserialize)]
pub(super) struct Columns<'a> {
    #[serde(borrow)]
    record: RecordColumns<'a>,
}

#[derive(Debug, Deserialize)]
struct RecordColumns<'a> {
    id: Uuid,
    time: Timestamp,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    surface: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    who: WhoColumns<'a>,
    #[serde(default, borrow)]
    provider: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    model: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    tool: Option<ToolColumns<'a>>,
    #[serde(default, borrow)]
    verdict: Option<VerdictColumns<'a>>,
    #[serde(default)]
    tokens: TokenColumns,
    #[serde(default)]
    completes: Option<Uuid>,
}

/// Text that borrows if possible, also inside an `Option`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Default, Deserialize)]
struct WhoColumns<'a> {
    #[serde(default, borrow)]
    org: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    team: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    user: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    agent: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    session: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    key: Option<BorrowedText<'a>>,
}

#[derive(Debug, Deserialize)]
struct ToolColumns<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow)]
    server: Option<BorrowedText<'a>>,
}

#[derive(Debug, Deserialize)]
struct VerdictColumns<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(default, borrow)]
    rule: Option<BorrowedText<'a>>,
    #[serde(default, borrow)]
    shadows: Vec<HitColumns<'a>>,
    #[serde(default, borrow)]
    audits: Vec<HitColumns<'a>>,
    #[serde(default, borrow)]
    sanitized: Vec<HitColumns<'a>>,
}

#[derive(Debug, Deserialize)]
struct HitColumns<'a> {
    #[serde(default, borrow)]
    rule: Option<BorrowedText<'a>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct TokenColumns {
    #[serde(default)]
    pub(super) input: Option<u64>,
    #[serde(default)]
    pub(super) output: Option<u64>,
}

impl<'a> Columns<'a> {
    /// Reads a body. `None` if it is not a record that this version knows.
    pub(super) fn read(body: &'a str) -> Option<Self> {
        let columns: Self = serde_json::from_str(body).ok()?;
        let RecordColumns { kind, surface, verdict, .. } = &columns.record;
        let known = RecordKind::from_word(kind).is_some()
            && surface.as_ref().is_none_or(|it| Surface::from_word(&it.0).is_some())
            && verdict.as_ref().is_none_or(|it| CallOutcome::from_word(&it.action).is_some());
        known.then_some(columns)
    }

    pub(super) fn id(&self) -> [u8; 16] {
        *self.record.id.as_bytes()
    }

    /// When it happened, in nanoseconds since 1970.
    pub(super) fn time(&self) -> i64 {
        nanoseconds(self.record.time)
    }

    /// The day it happened on, counted from 1970.
    pub(super) fn day(&self) -> i64 {
        day_of(self.record.time)
    }

    /// Whether it completes another record.
    pub(super) fn completes(&self) -> bool {
        self.record.completes.is_some()
    }

    pub(super) fn tokens(&self) -> TokenColumns {
        self.record.tokens
    }

    /// Passes on every name in it that a filter can ask for.
    pub(super) fn names<E>(
        &self,
        mut visit: impl FnMut(IndexField, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let RecordColumns { surface, who, provider, model, tool, verdict, .. } = &self.record;
        visit(IndexField::Kind, &self.record.kind)?;
        let server = tool.as_ref().and_then(|tool| tool.server.as_ref());
        let rule = verdict.as_ref().and_then(|verdict| verdict.rule.as_ref());
        let optional = [
            (IndexField::Surface, surface.as_ref()),
            (IndexField::Provider, provider.as_ref()),
            (IndexField::Model, model.as_ref()),
            (IndexField::Server, server),
            (IndexField::Rule, rule),
            (IndexField::Org, who.org.as_ref()),
            (IndexField::Team, who.team.as_ref()),
            (IndexField::User, who.user.as_ref()),
            (IndexField::Agent, who.agent.as_ref()),
            (IndexField::Session, who.session.as_ref()),
            (IndexField::Key, who.key.as_ref()),
        ];
        for (field, text) in optional {
            text.map_or(Ok(()), |BorrowedText(text)| visit(field, text))?;
        }
        if let Some(tool) = tool {
            visit(IndexField::Tool, &tool.name)?;
        }
        let Some(verdict) = verdict else { return Ok(()) };
        visit(IndexField::Action, &verdict.action)?;
        let companion = verdict.shadows.iter().chain(&verdict.audits).chain(&verdict.sanitized);
        for BorrowedText(rule) in companion.filter_map(|hit| hit.rule.as_ref()) {
            visit(IndexField::OtherRule, rule)?;
        }
        Ok(())
    }
}

/// A time as the index stores it. Times out of range are moved to the nearest one in range, which
/// keeps their order.
pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    let time = time.as_nanosecond();
    let nearest = if time < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(time).unwrap_or(nearest)
}

fn day_of(time: Timestamp) -> i64 {
    const DAY: i128 = 24 * 3600 * 1_000_000_000;
    i64::try_from(time.as_nanosecond().div_euclid(DAY)).unwrap_or(0)
}
