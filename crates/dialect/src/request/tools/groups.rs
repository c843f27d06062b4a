//! Lists and objects of a request from which items are taken.

use std::collections::{HashMap, HashSet};

use callgate_call::json::{Error, Problem, Span};

use crate::json::{Edits, elements, members};

/// Members of objects and elements of lists. What holds nothing any more goes with what it held.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    /// Which group an object or list is, by where it starts and ends.
    known: HashMap<(usize, usize), usize>,
}

#[derive(Debug)]
struct Group {
    items: Vec<Span>,
    /// Of an object: the key and the value of each item.
    keys: Vec<(String, Span)>,
    gone: Vec<bool>,
    /// Items that only mean something behind others, like a mark of what is cached.
    idle: HashSet<usize>,
    /// What is of no use without it.
    parent: Option<Item>,
}

/// One member or element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) group: usize,
    pub(super) place: usize,
}

impl Item {
    /// What stands in no object or list, and is never taken.
    pub(super) const NONE: Self = Self { group: usize::MAX, place: 0 };
}

/// A key as programs read it that ignore case.
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

    /// The group of an object that was looked at before.
    pub(super) fn of_object(&self, object: Span) -> Option<usize> {
        self.known.get(&(object.start, object.end)).copied()
    }

    /// Says that an item only means something behind another one.
    pub(super) fn set_idle(&mut self, item: Item) {
        if let Some(group) = self.all.get_mut(item.group) {
            group.idle.insert(item.place);
        }
    }

    /// The keys of an object, each with its place and its value.
    pub(super) fn keys(&self, group: usize) -> Vec<(usize, String, Span)> {
        let keys = self.all.get(group).map(|group| group.keys.as_slice()).unwrap_or_default();
        let named = keys.iter().enumerate();
        named.map(|(place, (key, value))| (place, key.clone(), *value)).collect()
    }

    /// The one member of these names. Twice is an error, for providers differ in which they take; so is
    /// a name in another case, which some take and some do not.
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

    /// Whether the item goes, or anything it stands in.
    pub(super) fn is_gone(&self, item: Item) -> bool {
        let Some(group) = self.all.get(item.group) else { return false };
        group.gone.get(item.place).copied().unwrap_or(false)
            || group.parent.is_some_and(|parent| self.is_gone(parent))
    }

    /// What holds nothing any more goes too. Inner groups were found behind the outer ones.
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

    /// The splices: those inside of something that goes are not made.
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
    /// What only means something behind another item goes with the last of those before it.
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
