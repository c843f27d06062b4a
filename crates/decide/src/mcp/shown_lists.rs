//! The lists that servers have shown their clients. Equal lists are stored once.
//!
//! A gateway has thousands of sessions with a server, and nearly all of them see the same list.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use callgate_registry::Version;
use parking_lot::Mutex;

/// Maximum number of tools, or prompts, that a session remembers. Any others are checked against
/// what the registry has last seen.
const MAX_ITEMS: usize = 10_000;

/// Maximum size of all distinct lists. Lists beyond it are not remembered; their items are checked
/// against what the registry has last seen.
const MAX_BYTES: usize = 256 << 20;

/// Approximate memory per definition in addition to its name and text: hashes, launch data, tables.
const ITEM_OVERHEAD: usize = 512;

/// Definitions as a server shows them, by name.
type ShownDefinitions = HashMap<Arc<str>, Arc<Version>>;

/// What the server of one session has shown of one kind. Another process may use another instance
/// of the server, which may show something else.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownItems(Arc<SharedList>);

#[derive(Debug, Default)]
struct SharedList {
    items: ShownDefinitions,
    _reserved: Option<ReservedBytes>,
}

/// The bytes that a list accounts for. Returned on drop.
#[derive(Debug)]
struct ReservedBytes {
    bytes: usize,
    used_bytes: Arc<AtomicUsize>,
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        self.used_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// All lists that any session has been shown.
#[derive(Debug)]
pub(crate) struct ShownLists {
    /// By hash. A list is dropped with the last session that was shown it.
    lists: Mutex<HashMap<u64, Weak<SharedList>>>,
    used_bytes: Arc<AtomicUsize>,
    max_bytes: usize,
}

impl Default for ShownLists {
    fn default() -> Self {
        Self::new(MAX_BYTES)
    }
}

impl ShownItems {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Version>> {
        self.0.items.get(name).map(Arc::clone)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.items.keys().map(|name| &**name)
    }
}

impl ShownLists {
    fn new(max_bytes: usize) -> Self {
        Self { lists: Mutex::default(), used_bytes: Arc::default(), max_bytes }
    }

    /// What a session has been shown, including these new items.
    pub(crate) fn add(&self, before: &ShownItems, more: Vec<(String, Version)>) -> ShownItems {
        let mut items = before.0.items.clone();
        for (name, version) in more {
            if items.len() < MAX_ITEMS || items.contains_key(name.as_str()) {
                items.insert(name.into(), Arc::new(version));
            }
        }
        let (key, mut lists) = (hash(&items), self.lists.lock());
        // A matching hash proves nothing, because it is not keyed. Compare the items.
        if let Some(known) = lists.get(&key).and_then(Weak::upgrade)
            && known.items == items
        {
            return ShownItems(known);
        }
        let Some(reserve) = self.reserve(size(&items)) else { return ShownItems::default() };
        let list = Arc::new(SharedList { items, _reserved: Some(reserve) });
        lists.retain(|_, list| list.strong_count() > 0);
        lists.insert(key, Arc::downgrade(&list));
        ShownItems(list)
    }

    /// Accounts for the bytes of a list, if they fit.
    fn reserve(&self, bytes: usize) -> Option<ReservedBytes> {
        let fits = |used_bytes: usize| {
            used_bytes.checked_add(bytes).filter(|used_bytes| *used_bytes <= self.max_bytes)
        };
        self.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(ReservedBytes { bytes, used_bytes: Arc::clone(&self.used_bytes) })
    }
}

/// Equal for equal items in any order.
fn hash(items: &ShownDefinitions) -> u64 {
    items.iter().fold(0, |sum, (name, version)| {
        let mut hash = DefaultHasher::new();
        (name, &version.launch, &version.hash, &version.whole).hash(&mut hash);
        sum.wrapping_add(hash.finish())
    })
}

fn size(items: &ShownDefinitions) -> usize {
    items.iter().map(|(name, version)| name.len() + version.definition.len() + ITEM_OVERHEAD).sum()
}

#[cfg(test)]
mod tests {
    use callgate_registry::{Definition, ItemKind, Launch};

    use super::*;

    fn tool(name: &str, description: &str) -> (String, Version) {
        let raw = format!(r#"{{"name":"{name}","description":"{description}"}}"#);
        let definition = Definition::read(ItemKind::Tool, &raw).unwrap();
        (name.to_owned(), Version::new(&Launch::command("s", &["x"], None), &definition))
    }

    #[test]
    fn equal_lists_are_one_and_go_with_their_last_reader() {
        let shown_lists = ShownLists::default();
        let [one, same] = [0, 1].map(|_| {
            let first =
                shown_lists.add(&ShownItems::default(), vec![tool("a", "A"), tool("b", "B")]);
            shown_lists.add(&first, vec![tool("c", "C")])
        });
        assert!(Arc::ptr_eq(&one.0, &same.0));
        let other = shown_lists.add(&one, vec![tool("c", "Another one")]);
        assert!(!Arc::ptr_eq(&one.0, &other.0));
        let text = |shown: &ShownItems| shown.get("c").unwrap().definition.clone();
        assert!(text(&one).contains("\"C\"") && text(&other).contains("Another one"));
        assert_eq!(
            shown_lists.lists.lock().values().filter(|list| list.strong_count() > 0).count(),
            2
        );
        drop((one, same, other));
        assert_eq!(shown_lists.used_bytes.load(Ordering::Relaxed), 0);
        shown_lists.add(&ShownItems::default(), vec![tool("d", "D")]);
        assert_eq!(shown_lists.lists.lock().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn lists_beyond_the_bound_are_not_remembered() {
        let shown_lists = ShownLists::new(3 * ITEM_OVERHEAD);
        let lists: Vec<ShownItems> = ["1", "2", "3"]
            .map(|description| {
                shown_lists.add(&ShownItems::default(), vec![tool("a", description)])
            })
            .into();
        let known: Vec<bool> = lists.iter().map(|list| list.get("a").is_some()).collect();
        assert_eq!(known, [true, true, false]);
        drop(lists);
        assert!(shown_lists.add(&ShownItems::default(), vec![tool("a", "3")]).get("a").is_some());
    }

    #[test]
    fn a_list_is_remembered_up_to_a_number() {
        let shown_lists = ShownLists::default();
        let all = (0..=MAX_ITEMS).map(|number| tool(&format!("t{number}"), "T")).collect();
        let shown = shown_lists.add(&ShownItems::default(), all);
        assert!(shown.get("t0").is_some() && shown.get(&format!("t{MAX_ITEMS}")).is_none());
        let shown = shown_lists.add(&shown, vec![tool("t0", "Another one")]);
        assert!(shown.get("t0").unwrap().definition.contains("Another one"));
    }
}
