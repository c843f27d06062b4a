//! Every kind of secret that is known, from special to general: where two see the same text, the
//! first one names it.
//!
//! To add one, add an entry with its samples to a file here; the tests sweep the list. The forms
//! are those the vendors publish: prefix, alphabet, length. Checksums are not checked: a key with a
//! mistyped last letter is still nothing to show.

mod address;
mod assignment;
pub(crate) mod format;
mod http;
mod national;
mod personal;
mod vendor;

use crate::detector::{Detector, Group};

/// All detectors, in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Detector> {
    format::DETECTORS
        .iter()
        .chain(&vendor::DETECTORS)
        .chain(&http::DETECTORS)
        .chain(&assignment::DETECTORS)
        .chain(&personal::DETECTORS)
        .chain(&national::DETECTORS)
        .chain(&address::DETECTORS)
}

/// What one word asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chosen {
    Group(Group),
    One(&'static str),
}

impl Chosen {
    pub(crate) fn has(self, detector: &Detector) -> bool {
        match self {
            Self::Group(group) => detector.group == group,
            Self::One(name) => detector.name == name,
        }
    }
}

const GROUPS: [(&str, Group); 2] = [("secret", Group::Secret), ("personal", Group::Personal)];

/// What a name of a detector or a group asks for.
pub(crate) fn choose(name: &str) -> Option<Chosen> {
    let group = GROUPS.iter().find(|(word, _)| *word == name);
    let group = group.map(|(_, group)| Chosen::Group(*group));
    group.or_else(|| all().find(|it| it.name == name).map(|it| Chosen::One(it.name)))
}

/// The name that was probably meant.
pub(crate) fn near(name: &str) -> Option<&'static str> {
    let known = GROUPS.iter().map(|(word, _)| *word).chain(all().map(|it| it.name));
    let (steps, word) = known.map(|word| (distance(name, word), word)).min()?;
    (steps <= 2.max(name.len() / 3)).then_some(word)
}

/// How many characters must change, one row of the classic table at a time.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, pair) in b.bytes().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (left + 1).min(above + 1).min(diagonal + usize::from(x != y));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// A detector, for people who list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectorInfo {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// The group it belongs to.
    pub group: Group,
    /// What it finds.
    pub what: &'static str,
}

/// Every detector there is, from special to general.
pub fn detectors() -> impl Iterator<Item = DetectorInfo> {
    all().map(|it| DetectorInfo { name: it.name, group: it.group, what: it.what })
}

#[cfg(test)]
mod tests;
