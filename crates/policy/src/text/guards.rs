//! The text rules of one direction, and for each caller only those of the policies that apply to
//! it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use callgate_call::OriginFields;
use callgate_scan::Unusable;

use super::{Direction, TextGuard, TextRule};
use crate::tri::Tri;

/// The most combinations of rules that are cached. Further ones are built each time.
const MAX_KEPT: usize = 256;

/// All rules of one direction, and the combinations of them that callers needed so far.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    rules: Vec<Arc<TextRule>>,
    all: Option<TextGuard>,
    /// Keyed by which rules apply. Callers differ little in that, so each combination is built
    /// once.
    some: Mutex<HashMap<Vec<bool>, Option<TextGuard>>>,
}

impl Guards {
    pub(crate) fn new(rules: &[Arc<TextRule>], direction: Direction) -> Result<Self, Unusable> {
        let reads = |rule: &&Arc<TextRule>| rule.directions.contains(&direction);
        let rules: Vec<_> = rules.iter().filter(reads).cloned().collect();
        let all = TextGuard::new(&rules)?;
        Ok(Self { rules, all, some: Mutex::default() })
    }

    /// The rules for this caller; `None` if there are none. A rule applies if it is unknown whether
    /// it does.
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

    /// The guard for some of the rules. All of them compile together, so fewer do; should that
    /// fail, all of them apply.
    fn guard_of(&self, applies: &[bool]) -> Option<TextGuard> {
        let rules = self.rules.iter().zip(applies).filter(|(_, applies)| **applies);
        let rules: Vec<_> = rules.map(|(rule, _)| Arc::clone(rule)).collect();
        TextGuard::new(&rules).unwrap_or_else(|_| self.all.clone())
    }
}
