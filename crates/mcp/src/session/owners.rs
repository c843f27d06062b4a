//! Whose tasks are whose, at a server that many speak to with one token: it cannot tell them apart.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Tasks of one server whose owner is remembered: more than are kept by a server that forgets them
/// after an hour, at ten a second. Past it the oldest of whoever begins another one is forgotten, and of
/// somebody who has none the oldest of whoever has most: then the server alone decides who may ask.
const MAX_OWNED: usize = 65_536;

/// The tasks that a server has begun, by whoever it has begun them for.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    all: HashMap<u64, Tasks>,
    count: usize,
}

/// Tasks by the hashes of their ids, which may be as long as a server likes.
#[derive(Debug, Default)]
struct Tasks {
    known: HashSet<u64>,
    /// The oldest first.
    order: VecDeque<u64>,
}

impl Owners {
    /// The server has begun a task for somebody.
    pub(super) fn add(&mut self, who: u64, task: &str) {
        let task = hash(task);
        if self.all.get(&who).is_some_and(|tasks| tasks.known.contains(&task)) {
            return;
        }
        if self.count >= MAX_OWNED {
            self.forget_one(who);
        }
        let tasks = self.all.entry(who).or_default();
        tasks.known.insert(task);
        tasks.order.push_back(task);
        self.count += 1;
    }

    /// Whether a task was begun for others, and not for this one.
    pub(super) fn is_anothers(&self, who: u64, task: &str) -> bool {
        let task = hash(task);
        let is_of = |tasks: &Tasks| tasks.known.contains(&task);
        !self.all.get(&who).is_some_and(is_of) && self.all.values().any(is_of)
    }

    fn forget_one(&mut self, who: u64) {
        let most = || self.all.iter().max_by_key(|(_, tasks)| tasks.order.len());
        let from = match self.all.contains_key(&who) {
            true => Some(who),
            false => most().map(|(who, _)| *who),
        };
        let Some(from) = from else { return };
        let Some(tasks) = self.all.get_mut(&from) else { return };
        if let Some(oldest) = tasks.order.pop_front() {
            tasks.known.remove(&oldest);
            self.count -= 1;
        }
        if tasks.order.is_empty() {
            self.all.remove(&from);
        }
    }
}

fn hash(task: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    task.hash(&mut hash);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_belong_to_whom_they_were_begun_for() {
        let mut owners = Owners::default();
        owners.add(1, "a");
        assert!(!owners.is_anothers(1, "a") && owners.is_anothers(2, "a"));
        assert!(!owners.is_anothers(2, "nobody knows"));
        // A server that counts anew after a restart gives one id to two.
        owners.add(2, "a");
        assert!(!owners.is_anothers(1, "a") && !owners.is_anothers(2, "a"));
    }

    #[test]
    fn whoever_has_many_makes_room_with_those() {
        let mut owners = Owners::default();
        owners.add(1, "mine");
        for number in 0..2 * MAX_OWNED {
            owners.add(2, &number.to_string());
            owners.add(2, &number.to_string());
        }
        assert_eq!(owners.count, MAX_OWNED);
        assert!(owners.is_anothers(2, "mine"), "nobody else's is forgotten");
        assert!(
            !owners.is_anothers(1, "0") && owners.is_anothers(1, &(2 * MAX_OWNED - 1).to_string())
        );
        owners.add(3, "new");
        assert!(owners.is_anothers(2, "mine") && owners.is_anothers(1, "new"));
        assert_eq!(owners.count, MAX_OWNED);
    }
}
