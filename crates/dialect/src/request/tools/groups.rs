//! The lists and objects of a request from which items are removed.

use std::collections::{HashMap, HashSet};

use callgate_json::{Error, Problem, Span};

use crate::json::{Edits, elements, members};

/// Members of objects and elements of lists. A container that becomes empty is removed with its
/// content.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    /// The group of an object or list, by its start and end.
    known: HashMap<(usize, usize), usize>,
}

#[derive(Debug)]
struct Group {
    items: Vec<Span>,
    /// For an object: the key and the value of each item.
    keys: Vec<(String, Span)>,
    gone: Vec<bool>,
    /// Items that only mean something after others, like a cache mark.
    idle: HashSet<usize>,
    /// The item that contains it, and is removed with it.
    parent: Option<Item>,
}

/// One member or element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) group: usize,
    pub(super) place: usize,
}

impl Item {
    /// An item that is not in an object or list, and is never removed.
    pub(super) const NONE: Self = Self { group: usize::MAX, place: 0 };
}

/// A key as seen by programs that ignore case.
pub(super) fn folded(key: &str) -> String {
    key.to_uppercase().to_lowercase()
}

impl Groups {
    /// The members of an object.
    pub(super) fn members(&mut self, data: &str, object: Span, parent: Option<Item>) -> usize {
        let known = self.known.get(&(object.start, object.end));
        if let Some(known) = known {
            return *known;
        }
        let (mut items, mut keys) = (Vec::new(), Vec::new());
        for member in members(data, object) {
            let key = member.key.decode().map(|key| key.into_owned()).unwrap_or_default();
            items.push(member.span);
            keys.push((key, member.value));
        }
        self.group(object, items, keys, parent)
    }

    /// The elements of a list.
    pub(super) fn elements(&mut self, data: &str, list: Span, parent: Option<Item>) -> usize {
        self.group(list, elements(data, list), Vec::new(), parent)
    }

    fn group(
        &mut self,
        span: Span,
        items: Vec<Span>,
        keys: Vec<(String, Span)>,
        parent: Option<Item>,
    ) -> usize {
        let next = self.all.len();
        let known = *self.known.entry((span.start, span.end)).or_insert(next);
        if known == next {
            let gone = vec![false; items.len()];
            self.all.push(Group { items, keys, gone, idle: HashSet::new(), parent });
        }
        known
    }

    /// The group of an object that was added before.
    pub(super) fn of_object(&self, object: Span) -> Option<usize> {
        self.known.get(&(object.start, object.end)).copied()
    }

    /// Marks an item that only means something after another one.
    pub(super) fn set_idle(&mut self, item: Item) {
        if let Some(group) = self.all.get_mut(item.group) {
            group.idle.insert(item.place);
        }
    }

    /// The keys of an object, each with its index and its value.
    pub(super) fn keys(&self, group: usize) -> Vec<(usize, String, Span)> {
        let keys = self.all.get(group).map(|group| group.keys.as_slice()).unwrap_or_default();
        let named = keys.iter().enumerate();
        named.map(|(place, (key, value))| (place, key.clone(), *value)).collect()
    }

    /// The one member with one of these names. A duplicate is an error, because providers differ in
    /// which one they use; so is a name in another case, which only some accept.
    pub(super) fn one(&self, group: usize, names: &[&str]) -> Result<Option<(Item, Span)>, Error> {
        let mut found = None;
        let keys = self.all.get(group).map(|group| group.keys.as_slice()).unwrap_or_default();
        for (place, (key, value)) in keys.iter().enumerate() {
            let is_named = names.contains(&key.as_str());
            if !is_named && !names.iter().any(|name| folded(name) == folded(key)) {
                continue;
            }
            if !is_named || found.is_some() {
                return Err(Error::new(Problem::DuplicateKey, value.start));
            }
            found = Some((Item { group, place }, *value));
        }
        Ok(found)
    }

    pub(super) fn take(&mut self, item: Item) {
        let group = self.all.get_mut(item.group);
        if let Some(gone) = group.and_then(|group| group.gone.get_mut(item.place)) {
            *gone = true;
        }
    }

    /// Whether the item is removed, or anything that contains it.
    pub(super) fn is_gone(&self, item: Item) -> bool {
        let Some(group) = self.all.get(item.group) else { return false };
        group.gone.get(item.place).copied().unwrap_or(false)
            || group.parent.is_some_and(|parent| self.is_gone(parent))
    }

    /// Removes containers that became empty. Inner groups were added after the outer ones.
    pub(super) fn take_emptied(&mut self) {
        for place in (0..self.all.len()).rev() {
            let Some(group) = self.all.get_mut(place) else { continue };
            group.take_idle();
            let emptied = !group.gone.is_empty() && group.gone.iter().all(|gone| *gone);
            if let (true, Some(parent)) = (emptied, group.parent) {
                self.take(parent);
            }
        }
    }

    /// The splices, except for those inside of something that is removed.
    pub(super) fn edits(&self) -> Edits {
        let mut edits = Edits::default();
        for group in &self.all {
            if group.parent.is_some_and(|parent| self.is_gone(parent)) {
                continue;
            }
            edits.remove(&group.items, |place| group.gone.get(place).copied().unwrap_or(false));
        }
        edits
    }
}

impl Group {
    /// Removes an item that only means something after others together with the last of those.
    fn take_idle(&mut self) {
        if self.idle.is_empty() || !self.gone.contains(&true) {
            return;
        }
        let mut follows = false;
        for (place, gone) in self.gone.iter_mut().enumerate() {
            let is_idle = self.idle.contains(&place);
            *gone = *gone || (is_idle && !follows);
            if !*gone {
                follows = !is_idle;
            }
        }
    }
}
