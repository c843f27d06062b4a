//! The text rules of one direction, for each actor only those of the policies that apply to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use callgate_call::OriginFields;
use callgate_scan::Unusable;

use super::{Direction, TextGuard, TextRule};
use crate::tri::Tri;

/// More combinations of rules than this are put together anew each time.
const MAX_KEPT: usize = 256;

/// All rules of one direction, together and in the combinations that actors had so far.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    rules: Vec<Arc<TextRule>>,
    all: Option<TextGuard>,
    /// By which rules apply. Few callers differ in that, so each combination is made once.
    some: Mutex<HashMap<Vec<bool>, Option<TextGuard>>>,
}

impl Guards {
    pub(crate) fn new(rules: &[Arc<TextRule>], direction: Direction) -> Result<Self, Unusable> {
        let reads = |rule: &&Arc<TextRule>| rule.directions.contains(&direction);
        let rules: Vec<_> = rules.iter().filter(reads).cloned().collect();
        let all = TextGuard::new(&rules)?;
        Ok(Self { rules, all, some: Mutex::default() })
    }

    /// What reads the texts of this actor; `None` if no rule does. A rule applies where it is not
    /// known whether it does.
    pub(crate) fn find(&self, actor: &OriginFields) -> Option<TextGuard> {
        let applies: Vec<bool> =
            self.rules.iter().map(|rule| rule.audience.include(actor) != Tri::False).collect();
        if applies.iter().all(|applies| *applies) {
            return self.all.clone();
        }
        let mut some = self.some.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = some.get(&applies) {
            return known.clone();
        }
        let guard = self.guard_of(&applies);
        if some.len() < MAX_KEPT {
            some.insert(applies, guard.clone());
        }
        guard
    }

    /// Some of the rules. All of them fit together, so fewer do; if not, all of them read.
    fn guard_of(&self, applies: &[bool]) -> Option<TextGuard> {
        let rules = self.rules.iter().zip(applies).filter(|(_, applies)| **applies);
        let rules: Vec<_> = rules.map(|(rule, _)| Arc::clone(rule)).collect();
        TextGuard::new(&rules).unwrap_or_else(|_| self.all.clone())
    }
}
