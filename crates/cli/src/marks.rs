//! What people say about the verdicts on recorded calls.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use callgate_audit::{CallOutcome, CompiledFilter, Filter, RecordId, StoredRecord};
use callgate_store::{CallMark, Opinion, RecordReader};
use serde::Serialize;
use serde_json::Value;

use crate::records;
use crate::replay;
use crate::when;

/// The marks of all calls.
#[derive(Debug, Default)]
pub(crate) struct CallMarks(HashMap<RecordId, CallMark>);

impl CallMarks {
    pub(crate) fn of(reader: &RecordReader) -> Result<Self> {
        let marks = reader.marks()?;
        Ok(Self(marks.into_iter().map(|mark| (mark.record, mark)).collect()))
    }

    pub(crate) fn opinion(&self, stored: &StoredRecord) -> Option<Opinion> {
        self.0.get(&stored.record.id).map(|mark| mark.opinion)
    }

    /// What a record is marked as, by whom and when.
    pub(crate) fn described(&self, stored: &StoredRecord) -> Option<String> {
        let mark = self.0.get(&stored.record.id)?;
        let by = mark.by.as_ref().map(|user| format!(", by {user}")).unwrap_or_default();
        Some(format!("{}{by}, {}", mark.opinion.as_str(), when::shown(mark.at)))
    }

    /// A record as JSON, with its mark.
    pub(crate) fn json(&self, stored: &StoredRecord) -> Value {
        let mut json = stored.to_json();
        if let (Value::Object(fields), Some(opinion)) = (&mut json, self.opinion(stored)) {
            fields.insert("mark".to_owned(), opinion.as_str().into());
        }
        json
    }

    /// The marked calls that pass a filter, the newest first.
    pub(crate) fn calls(
        &self,
        reader: &RecordReader,
        filter: &Filter,
        opinion: Option<Opinion>,
    ) -> Result<Vec<StoredRecord>> {
        let filter = Filter { kinds: replay::calls().kinds, ..filter.clone() };
        let compiled = CompiledFilter::new(&filter)?;
        let mut found: Vec<StoredRecord> = self
            .0
            .values()
            .filter(|mark| opinion.is_none_or(|opinion| mark.opinion == opinion))
            // A record may have expired before its mark.
            .filter_map(|mark| reader.show(&mark.record.to_string()).ok())
            .filter(|stored| compiled.passes(&stored.record))
            .collect();
        found.sort_by_key(|stored| std::cmp::Reverse(stored.seq));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found)
    }
}

/// How often a rule has stopped something that it should not have.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FalseAlarms {
    /// The calls that it has denied.
    pub(crate) denied: u64,
    /// Those of them that are marked.
    pub(crate) wrong: u64,
    pub(crate) right: u64,
    /// The share of its denials that is marked wrong.
    pub(crate) rate: f64,
}

/// The false alarms of each rule that has a marked denial.
pub(crate) fn false_alarms(
    reader: &RecordReader,
    filter: &Filter,
) -> Result<BTreeMap<String, FalseAlarms>> {
    let filter = Filter { verdict: Some(CallOutcome::Deny), limit: None, ..filter.clone() };
    let mut rules: BTreeMap<String, FalseAlarms> = BTreeMap::new();
    let marks = CallMarks::of(reader)?;
    for stored in marks.calls(reader, &filter, None)? {
        let rule = stored.record.verdict.as_ref().and_then(|verdict| verdict.rule.clone());
        let (Some(rule), Some(opinion)) = (rule, marks.opinion(&stored)) else { continue };
        let alarms = rules.entry(rule).or_default();
        match opinion {
            Opinion::Wrong => alarms.wrong += 1,
            Opinion::Right => alarms.right += 1,
        }
    }
    if rules.is_empty() {
        return Ok(rules);
    }
    let denied = reader.stats(&filter)?.rules;
    for (rule, alarms) in &mut rules {
        alarms.denied = denied.get(rule).copied().unwrap_or_default().max(alarms.wrong);
        alarms.rate = alarms.wrong as f64 / alarms.denied.max(1) as f64;
    }
    Ok(rules)
}

/// The rule column of lists: the rule that decided, and the mark.
pub(crate) fn rule_with_mark(stored: &StoredRecord, marks: &CallMarks) -> String {
    let rule = records::rule_or_rewrite(stored);
    match marks.opinion(stored) {
        Some(opinion) => format!("{rule} (marked {})", opinion.as_str()).trim_start().to_owned(),
        None => rule,
    }
}
