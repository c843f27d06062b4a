//! Lists and objects of a request from which items are taken.

use callgate_call::json::{Error, Problem, Span};

use crate::json::{Edits, elements, members};

/// Members of objects and elements of lists. What holds nothing any more goes with what it held.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    /// The object or list.
    span: Span,
    items: Vec<Span>,
    gone: Vec<bool>,
    /// What is of no use without it.
    parent: Option<Item>,
}

/// One member or element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) group: usize,
    pub(super) place: usize,
}

/// A key as programs read it that ignore case.
pub(super) fn folded(key: &str) -> String {
    key.to_uppercase().to_lowercase()
}

impl Groups {
    /// The members of an object.
    pub(super) fn members(&mut self, data: &str, object: Span, parent: Option<Item>) -> usize {
        let items = members(data, object).into_iter().map(|member| member.span).collect();
        self.group(object, items, parent)
    }

    /// The elements of a list.
    pub(super) fn elements(&mut self, data: &str, list: Span, parent: Option<Item>) -> usize {
        self.group(list, elements(data, list), parent)
    }

    fn group(&mut self, span: Span, items: Vec<Span>, parent: Option<Item>) -> usize {
        if let Some(known) = self.all.iter().position(|group| group.span == span) {
            return known;
        }
        let gone = vec![false; items.len()];
        self.all.push(Group { span, items, gone, parent });
        self.all.len() - 1
    }

    /// The group of an object that was looked at before.
    pub(super) fn of_object(&self, object: Span) -> Option<usize> {
        self.all.iter().position(|group| group.span == object)
    }

    /// The keys of an object, each with its place and its value.
    pub(super) fn keys(&self, data: &str, group: usize) -> Vec<(usize, String, Span)> {
        let Some(group) = self.all.get(group) else { return Vec::new() };
        let named = members(data, group.span).into_iter().enumerate();
        named
            .map(|(place, member)| {
                let key = member.key.decode().map(|key| key.into_owned()).unwrap_or_default();
                (place, key, member.value)
            })
            .collect()
    }

    /// The one member of these names. Twice is an error, for providers differ in which they take; so is
    /// a name in another case, which some take and some do not.
    pub(super) fn one(
        &self,
        data: &str,
        group: usize,
        names: &[&str],
    ) -> Result<Option<(Item, Span)>, Error> {
        let mut found = None;
        for (place, key, value) in self.keys(data, group) {
            let is_named = names.contains(&key.as_str());
            if !is_named && !names.iter().any(|name| folded(name) == folded(&key)) {
                continue;
            }
            if !is_named || found.is_some() {
                return Err(Error::new(Problem::DuplicateKey, value.start));
            }
            found = Some((Item { group, place }, value));
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
            let Some(group) = self.all.get(place) else { continue };
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
