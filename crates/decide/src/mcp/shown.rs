//! What servers have shown their clients, held once for all conversations that were shown the same.
//!
//! A gateway has thousands of conversations with one server, and nearly all of them see one list.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use callgate_registry::Version;
use parking_lot::Mutex;

/// Tools, or prompts, that are remembered as one conversation's server shows them. The others are held
/// to what the registry has seen last.
const MAX_ITEMS: usize = 10_000;

/// What all lists that differ may take together. Those beyond are not remembered: what they list is held
/// to what the registry has seen last.
const MAX_BYTES: usize = 256 << 20;

/// What a definition takes beside its name and its text: hashes, how the server was started, tables.
const BESIDE: usize = 512;

/// Definitions as a server shows them, by name.
type Items = HashMap<Arc<str>, Arc<Version>>;

/// What one conversation's server has shown of one kind. Another process may speak to another instance
/// of the server, which shows something else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown(Arc<List>);

#[derive(Debug, Default)]
struct List {
    items: Items,
    _room: Option<Room>,
}

/// What a list takes. Given back with it.
#[derive(Debug)]
struct Room {
    bytes: usize,
    taken: Arc<AtomicUsize>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// All lists that some conversation was shown.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// By their hash. They go with the last conversation that was shown them.
    lists: Mutex<HashMap<u64, Weak<List>>>,
    taken: Arc<AtomicUsize>,
    most: usize,
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new(MAX_BYTES)
    }
}

impl Shown {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Version>> {
        self.0.items.get(name).map(Arc::clone)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.items.keys().map(|name| &**name)
    }
}

impl Shelf {
    fn new(most: usize) -> Self {
        Self { lists: Mutex::default(), taken: Arc::default(), most }
    }

    /// What a conversation was shown, now that it was shown more.
    pub(crate) fn add(&self, before: &Shown, more: Vec<(String, Version)>) -> Shown {
        let mut items = before.0.items.clone();
        for (name, version) in more {
            if items.len() < MAX_ITEMS || items.contains_key(name.as_str()) {
                items.insert(name.into(), Arc::new(version));
            }
        }
        let (key, mut lists) = (hash(&items), self.lists.lock());
        // The hash alone says nothing: it is no secret.
        if let Some(known) = lists.get(&key).and_then(Weak::upgrade)
            && known.items == items
        {
            return Shown(known);
        }
        let Some(room) = self.room(size(&items)) else { return Shown::default() };
        let list = Arc::new(List { items, _room: Some(room) });
        lists.retain(|_, list| list.strong_count() > 0);
        lists.insert(key, Arc::downgrade(&list));
        Shown(list)
    }

    /// Room for a list, if there is any.
    fn room(&self, bytes: usize) -> Option<Room> {
        let fits = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Room { bytes, taken: Arc::clone(&self.taken) })
    }
}

/// The same for the same items, in whichever order.
fn hash(items: &Items) -> u64 {
    items.iter().fold(0, |sum, (name, version)| {
        let mut hash = DefaultHasher::new();
        (name, &version.launch, &version.hash, &version.whole).hash(&mut hash);
        sum.wrapping_add(hash.finish())
    })
}

fn size(items: &Items) -> usize {
    items.iter().map(|(name, version)| name.len() + version.definition.len() + BESIDE).sum()
}

#[cfg(test)]
mod tests {
    use callgate_registry::{Definition, ItemKind, Launch};

    use super::*;

    fn tool(name: &str, says: &str) -> (String, Version) {
        let raw = format!(r#"{{"name":"{name}","description":"{says}"}}"#);
        let definition = Definition::read(ItemKind::Tool, &raw).unwrap();
        (name.to_owned(), Version::new(&Launch::command("s", &["x"], None), &definition))
    }

    #[test]
    fn equal_lists_are_one_and_go_with_their_last_reader() {
        let shelf = Shelf::default();
        let [one, same] = [0, 1].map(|_| {
            let first = shelf.add(&Shown::default(), vec![tool("a", "A"), tool("b", "B")]);
            shelf.add(&first, vec![tool("c", "C")])
        });
        assert!(Arc::ptr_eq(&one.0, &same.0));
        let other = shelf.add(&one, vec![tool("c", "Another one")]);
        assert!(!Arc::ptr_eq(&one.0, &other.0));
        let text = |shown: &Shown| shown.get("c").unwrap().definition.clone();
        assert!(text(&one).contains("\"C\"") && text(&other).contains("Another one"));
        assert_eq!(shelf.lists.lock().values().filter(|list| list.strong_count() > 0).count(), 2);
        drop((one, same, other));
        assert_eq!(shelf.taken.load(Ordering::Relaxed), 0);
        shelf.add(&Shown::default(), vec![tool("d", "D")]);
        assert_eq!(shelf.lists.lock().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn lists_beyond_the_bound_are_not_remembered() {
        let shelf = Shelf::new(3 * BESIDE);
        let lists: Vec<Shown> =
            ["1", "2", "3"].map(|says| shelf.add(&Shown::default(), vec![tool("a", says)])).into();
        let known: Vec<bool> = lists.iter().map(|list| list.get("a").is_some()).collect();
        assert_eq!(known, [true, true, false]);
        drop(lists);
        assert!(shelf.add(&Shown::default(), vec![tool("a", "3")]).get("a").is_some());
    }

    #[test]
    fn a_list_is_remembered_up_to_a_number() {
        let shelf = Shelf::default();
        let all = (0..=MAX_ITEMS).map(|number| tool(&format!("t{number}"), "T")).collect();
        let shown = shelf.add(&Shown::default(), all);
        assert!(shown.get("t0").is_some() && shown.get(&format!("t{MAX_ITEMS}")).is_none());
        let shown = shelf.add(&shown, vec![tool("t0", "Another one")]);
        assert!(shown.get("t0").unwrap().definition.contains("Another one"));
    }
}
