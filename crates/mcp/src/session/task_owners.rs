//! The owners of tasks at a server that many principals use with one token, so that it cannot
//! distinguish them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of tasks per server whose owner is remembered: more than a server has that
/// forgets them after an hour, at ten per second. At this number the principal who starts another
/// one loses its oldest. If it has none, the principal with the most loses one, and then the server
/// alone decides who may access that task.
const MAX_OWNED: usize = 65_536;

/// The tasks that a server has started, by owner.
#[derive(Debug, Default)]
pub(crate) struct TaskOwners {
    all: HashMap<u64, Tasks>,
    count: usize,
}

/// Tasks by the hashes of their ids, which may be of any length.
#[derive(Debug, Default)]
struct Tasks {
    known: HashSet<u64>,
    /// Oldest first.
    order: VecDeque<u64>,
}

impl TaskOwners {
    /// Notes a task that the server has started for a principal.
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

    /// Whether a task belongs to others, and not to this principal.
    pub(super) fn belongs_to_another(&self, who: u64, task: &str) -> bool {
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
    fn tasks_belong_to_the_principal_they_were_started_for() {
        let mut owners = TaskOwners::default();
        owners.add(1, "a");
        assert!(!owners.belongs_to_another(1, "a") && owners.belongs_to_another(2, "a"));
        assert!(!owners.belongs_to_another(2, "nobody knows"));
        // A server that restarts its counter may give the same id to two principals.
        owners.add(2, "a");
        assert!(!owners.belongs_to_another(1, "a") && !owners.belongs_to_another(2, "a"));
    }

    #[test]
    fn the_principal_with_the_most_tasks_loses_one() {
        let mut owners = TaskOwners::default();
        owners.add(1, "mine");
        for number in 0..2 * MAX_OWNED {
            owners.add(2, &number.to_string());
            owners.add(2, &number.to_string());
        }
        assert_eq!(owners.count, MAX_OWNED);
        assert!(owners.belongs_to_another(2, "mine"), "nobody else's is forgotten");
        assert!(
            !owners.belongs_to_another(1, "0")
                && owners.belongs_to_another(1, &(2 * MAX_OWNED - 1).to_string())
        );
        owners.add(3, "new");
        assert!(owners.belongs_to_another(2, "mine") && owners.belongs_to_another(1, "new"));
        assert_eq!(owners.count, MAX_OWNED);
    }
}
